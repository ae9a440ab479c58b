//! What a picture of a board shows, as plain data. Renderers know shapes and marks, not games.

mod colour;
mod text;

pub use colour::Colour;
pub use text::PieceText;

use crate::board::{Cell, Layout};
use serde::Serialize;
use std::borrow::Cow;
use std::sync::Arc;

/// A board to draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The board's cells; none if only text is shown.
    pub shape: Layout,
    /// How cells are named.
    pub labels: Labels,
    /// The names of the pieces, in the order of the game's description. Empty if pieces are called
    /// by their colours.
    pub kinds: Arc<[Kind]>,
    /// The pieces; at most one per cell.
    pub pieces: Vec<Piece>,
    /// Marks on the cells themselves; at most one per cell.
    pub ground: Vec<Ground>,
    /// Edges of the board that belong to a colour.
    pub edges: Vec<Edge>,
    /// The path of the last action's piece, from first to last cell; one cell for a placed piece,
    /// none if nothing moved.
    pub last: Vec<Cell>,
    /// Cells that decided the game, such as a winning chain, in order.
    pub chain: Vec<Cell>,
    /// Numbers to show beside the board, such as exits so far.
    pub figures: Vec<Figure>,
    /// Rows of items beside the board, such as hands and captured pieces.
    pub rows: Vec<Row>,
    /// Lines of text in a fixed-width font, shown below the board or, if it has no shape, instead
    /// of it.
    pub text: String,
}

/// A kind of piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name: `cross`.
    pub name: String,
    /// The colour of its pieces.
    pub colour: Colour,
    /// The text on its pieces.
    pub text: Option<PieceText>,
}

/// How cells are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labels {
    /// `3,1`: both coordinates.
    Pair,
    /// `12`: the number in the order of the shape's cells, from 1.
    Number,
    /// `c4`: the second coordinate as a letter, the first plus one as a number.
    LetterNumber,
}

/// A piece on a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where.
    pub at: Cell,
    /// Its colour, which also gives its letter.
    pub colour: Colour,
    /// The text on it, instead of that letter.
    pub text: Option<PieceText>,
}

/// A mark on a cell itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ground {
    /// Where.
    pub at: Cell,
    /// Its meaning.
    pub kind: GroundKind,
}

/// The meaning of a marked cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroundKind {
    /// The camp that this colour must reach.
    Target(Colour),
    /// The cell itself has this colour.
    Tint(Colour),
    /// A pad that a piece can be on, unlike other cells.
    Pad,
}

/// An edge of the board that belongs to a colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The owner.
    pub colour: Colour,
    /// The cells along it, in order.
    pub cells: Vec<Cell>,
    /// The offset from each cell of the edge to where its mark is drawn, outside the board, in the
    /// units of [`Shape::place`](crate::board::Shape::place).
    pub outward: (i8, i8),
}

/// A number to show beside the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// The thing that it counts: `exits`, `pegs`.
    pub name: Cow<'static, str>,
    /// The colour that it belongs to, if any.
    pub colour: Option<Colour>,
    /// The value.
    pub value: String,
}

/// A row of items beside the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name: `hand`, `captured`.
    pub name: Cow<'static, str>,
    /// The colour that it belongs to, if any.
    pub colour: Option<Colour>,
    /// Its items, in order.
    pub items: Vec<Item>,
}

/// An item of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its colour; that of its row if it has none of its own.
    pub colour: Option<Colour>,
    /// The text on it.
    pub text: Option<PieceText>,
}

/// An effect of an action besides moving its piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A piece of this colour was taken off the board.
    Taken(Colour),
    /// A piece had this colour before.
    Recoloured(Colour),
    /// The action's own piece, of this colour, left the board.
    Exited(Colour),
    /// A pad grew.
    Grown,
}

impl View {
    /// Returns an empty board.
    pub fn new(shape: impl Into<Layout>, labels: Labels) -> Self {
        Self {
            shape: shape.into(),
            labels,
            kinds: Arc::default(),
            pieces: Vec::new(),
            ground: Vec::new(),
            edges: Vec::new(),
            last: Vec::new(),
            chain: Vec::new(),
            figures: Vec::new(),
            rows: Vec::new(),
            text: String::new(),
        }
    }

    /// Returns the colour that a name stands for: that of the kind of piece, or the colour itself.
    pub fn colour_of(&self, name: &str) -> Option<Colour> {
        let kind = self.kinds.iter().find(|kind| kind.name == name);
        kind.map(|kind| kind.colour).or_else(|| Colour::named(name))
    }

    /// Returns a colour's name: that of the only kind of piece that has it, or its own; if it has none, that of the
    /// first kind.
    pub fn name_of(&self, colour: Colour) -> Cow<'_, str> {
        let mut kinds = self.kinds.iter().filter(|kind| kind.colour == colour);
        match (kinds.next(), kinds.next(), colour) {
            (Some(first), None, _) | (Some(first), _, Colour::Rgb(..)) => {
                Cow::Borrowed(&first.name)
            }
            _ => colour.name(),
        }
    }

    /// Returns the letter that stands for a colour in plain text. No two colours of the kinds of
    /// pieces share one.
    pub fn letter(&self, colour: Colour) -> char {
        let mut letters: Vec<(Colour, char)> = Vec::new();
        for kind in &*self.kinds {
            if letters.iter().any(|(other, _)| *other == kind.colour) {
                continue;
            }
            let name = self.name_of(kind.colour).to_ascii_uppercase();
            let own = name.chars().chain('A'..='Z').filter(char::is_ascii_uppercase);
            let free = |letter: &char| letters.iter().all(|(_, other)| other != letter);
            let letter = own.into_iter().find(free).unwrap_or('?');
            letters.push((kind.colour, letter));
        }
        let found = letters.into_iter().find(|(other, _)| *other == colour);
        found.map_or_else(|| colour.letter(), |(_, letter)| letter)
    }

    /// Returns whether a piece's text identifies its colour: the legend has it, if there is one, it isn't a number, and
    /// pieces of other colours have other texts.
    pub fn text_names_colour(&self, piece: &Piece) -> bool {
        let Some(text) = piece.text else { return false };
        let other = |(colour, its): (Colour, Option<PieceText>)| {
            colour != piece.colour && its == Some(text)
        };
        let kinds = self.kinds.iter().map(|kind| (kind.colour, kind.text));
        let is_listed =
            self.kinds.is_empty() || kinds.clone().any(|kind| kind == (piece.colour, piece.text));
        let pieces = self.pieces.iter().map(|piece| (piece.colour, piece.text));
        is_listed
            && !text.as_str().bytes().all(|byte| byte.is_ascii_digit())
            && !kinds.chain(pieces).any(other)
    }

    /// Returns the letter of a camp, an edge or a coloured cell: lower case, like no piece but the peg.
    pub fn small_letter(&self, colour: Colour) -> char {
        match colour {
            Colour::Peg if self.kinds.is_empty() => 'x',
            _ => self.letter(colour).to_ascii_lowercase(),
        }
    }

    /// Returns the effects of the last action besides moving its piece, given the board before it.
    pub fn changes_since(&self, before: &Self) -> Vec<(Cell, Change)> {
        let (from, to) = match self.last[..] {
            [] => (None, None),
            [only] => (Some(only), None),
            [from, .., to] => (Some(from), Some(to)),
        };
        let now = |cell: Cell| self.pieces.iter().find(|piece| piece.at == cell);
        let change = |old: &Piece| {
            let change = match now(old.at) {
                Some(new) if new.colour == old.colour || to == Some(old.at) => return None,
                Some(_) => Change::Recoloured(old.colour),
                None if from != Some(old.at) => Change::Taken(old.colour),
                None if to.is_none() => Change::Exited(old.colour),
                None => return None,
            };
            Some((old.at, change))
        };
        let pads = |view: &Self| -> Vec<Cell> {
            let pads = view.ground.iter().filter(|ground| ground.kind == GroundKind::Pad);
            pads.map(|pad| pad.at).collect()
        };
        let old = pads(before);
        let grown = pads(self).into_iter().filter(|cell| !old.contains(cell));
        let grown = grown.map(|cell| (cell, Change::Grown));
        before.pieces.iter().filter_map(change).chain(grown).collect()
    }

    /// Returns the figures grouped by name, in order of first appearance.
    pub fn figures_by_name(&self) -> Vec<(&str, Vec<&Figure>)> {
        let mut kinds: Vec<(&str, Vec<&Figure>)> = Vec::new();
        for figure in &self.figures {
            match kinds.iter_mut().find(|(name, _)| *name == figure.name) {
                Some((_, figures)) => figures.push(figure),
                None => kinds.push((&figure.name, vec![figure])),
            }
        }
        kinds
    }
}

impl Change {
    /// Returns the colour that the piece had.
    pub fn colour(self) -> Option<Colour> {
        match self {
            Self::Taken(colour) | Self::Recoloured(colour) | Self::Exited(colour) => Some(colour),
            Self::Grown => None,
        }
    }
}

impl Piece {
    /// Returns a piece with its colour's letter.
    pub fn new(at: Cell, colour: Colour) -> Self {
        Self { at, colour, text: None }
    }
}

impl Labels {
    /// Returns the cell's name.
    pub fn label(self, shape: &Layout, cell: Cell) -> String {
        if let Layout::Points(points) = shape {
            return points.name(cell);
        }
        match self {
            Self::Pair => format!("{},{}", cell.0, cell.1),
            Self::Number => {
                let number = shape.cells().iter().position(|&other| other == cell);
                number.map_or_else(|| "?".to_owned(), |index| (index + 1).to_string())
            }
            Self::LetterNumber => {
                let letter = char::from(b'a'.saturating_add_signed(cell.1));
                format!("{letter}{}", i16::from(cell.0) + 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, Change, Colour, Ground, GroundKind, Kind, Labels, Piece, View};
    use crate::board::Shape;

    fn view(pieces: &[(i8, Colour)], pads: &[i8], last: &[i8]) -> View {
        let cell = |&column: &i8| Cell(0, column);
        View {
            pieces: pieces
                .iter()
                .map(|(column, colour)| Piece::new(cell(column), *colour))
                .collect(),
            ground: pads
                .iter()
                .map(|column| Ground { at: cell(column), kind: GroundKind::Pad })
                .collect(),
            last: last.iter().map(cell).collect(),
            ..View::new(Shape::Grid(8, 8), Labels::Pair)
        }
    }

    #[test]
    fn letters_differ_whatever_the_colours() {
        let kind = |(name, colour): (&str, &str)| Kind {
            name: name.to_owned(),
            colour: Colour::named(colour).unwrap(),
            text: None,
        };
        for (kinds, letters) in [
            (vec![], "RB"),
            (vec![("cross", "red"), ("nought", "blue")], "CN"),
            (vec![("black", "black"), ("blue", "blue"), ("brown", "#804000")], "BLR"),
            (vec![("amber", "#d08020"), ("king", "#d08020"), ("slate", "#203850")], "AS"),
            (vec![("king", "white"), ("pawn", "white"), ("zz", "black"), ("z", "#000001")], "WZA"),
            (vec![("\u{e9}", "red")], "A"),
        ] {
            let mut view = View::new(Shape::Grid(1, 1), Labels::Pair);
            view.kinds = kinds.into_iter().map(kind).collect();
            let mut colours: Vec<Colour> = view.kinds.iter().map(|kind| kind.colour).collect();
            colours.dedup();
            if colours.is_empty() {
                colours = vec![Colour::Red, Colour::Blue];
            }
            let shown: String = colours.into_iter().map(|colour| view.letter(colour)).collect();
            assert_eq!(shown, letters);
        }
    }

    #[test]
    fn an_action_takes_recolours_exits_and_grows() {
        use Colour::{Blue, Red};
        let before = view(&[(0, Red), (1, Blue), (5, Blue)], &[3], &[]);
        for (after, expected) in [
            (view(&[(2, Red), (5, Blue)], &[3], &[0, 2]), vec![(1, Change::Taken(Blue))]),
            (
                view(&[(2, Red), (1, Red), (5, Blue)], &[3], &[0, 2]),
                vec![(1, Change::Recoloured(Blue))],
            ),
            (view(&[(1, Blue), (5, Blue)], &[3], &[0]), vec![(0, Change::Exited(Red))]),
            (
                view(&[(0, Red), (1, Blue), (5, Red)], &[3], &[5]),
                vec![(5, Change::Recoloured(Blue))],
            ),
            (view(&[(0, Red), (1, Blue), (5, Blue)], &[3, 4], &[]), vec![(4, Change::Grown)]),
            (view(&[(0, Red), (1, Blue), (5, Blue)], &[3], &[]), vec![]),
        ] {
            let expected: Vec<(Cell, Change)> =
                expected.into_iter().map(|(column, change)| (Cell(0, column), change)).collect();
            assert_eq!(after.changes_since(&before), expected);
        }
    }
}
