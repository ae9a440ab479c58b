//! What a picture of a board shows, as plain data. Renderers know shapes and marks, not games.

use crate::board::{Cell, Shape};
use serde::Serialize;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// A board to draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct View {
    /// The board's shape.
    pub shape: Shape,
    /// How cells are named.
    pub labels: Labels,
    /// The pieces; at most one per cell.
    pub pieces: Vec<Piece>,
    /// Marks on the cells themselves; at most one per cell.
    pub ground: Vec<Ground>,
    /// Edges of the board that belong to a colour.
    pub edges: Vec<Edge>,
    /// The cells that the last action's piece went through, from first to last; one cell for a
    /// placed piece, none if nothing moved.
    pub last: Vec<Cell>,
    /// Cells that decided the game, such as a winning chain, in order.
    pub chain: Vec<Cell>,
    /// Numbers to show beside the board, such as exits so far.
    pub figures: Vec<Figure>,
}

/// How cells are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Labels {
    /// `3,1`: both coordinates.
    Pair,
    /// `12`: the number in the order of the shape's cells, from 1.
    Number,
    /// `c4`: the second coordinate as a letter, the first plus one as a number.
    LetterNumber,
}

/// A piece on a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// Where.
    pub at: Cell,
    /// Its colour, which also gives its letter.
    pub colour: Colour,
}

/// A mark on a cell itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Ground {
    /// Where.
    pub at: Cell,
    /// What it means.
    pub kind: GroundKind,
}

/// What a marked cell means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GroundKind {
    /// The camp that this colour must reach.
    Target(Colour),
    /// A pad that a piece can be on, unlike other cells.
    Pad,
}

/// An edge of the board that belongs to a colour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// The owner.
    pub colour: Colour,
    /// The cells along it, in order.
    pub cells: Vec<Cell>,
    /// The offset from each cell of the edge to where its mark is drawn, outside the board, in the
    /// units of [`Shape::place`].
    pub outward: (i8, i8),
}

/// A number to show beside the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// What it counts: `exits`, `pegs`.
    pub name: &'static str,
    /// The colour that it belongs to, if any.
    pub colour: Option<Colour>,
    /// The value.
    pub value: String,
}

/// What an action did besides moving its piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
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

/// The colour of a piece.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Colour {
    /// R
    Red,
    /// G
    Green,
    /// B
    Blue,
    /// Y
    Yellow,
    /// P
    Purple,
    /// O
    Orange,
    /// B; never on one board with blue
    Black,
    /// The one kind of piece in a puzzle: `o`
    Peg,
}

impl View {
    /// Returns what the last action did besides moving its piece, given the board before it.
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
    pub fn figures_by_name(&self) -> Vec<(&'static str, Vec<&Figure>)> {
        let mut kinds: Vec<(&'static str, Vec<&Figure>)> = Vec::new();
        for figure in &self.figures {
            match kinds.iter_mut().find(|(name, _)| *name == figure.name) {
                Some((_, figures)) => figures.push(figure),
                None => kinds.push((figure.name, vec![figure])),
            }
        }
        kinds
    }
}

impl Colour {
    /// All colours.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Returns the colour with this name on the wire.
    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Returns the name on the wire.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the letter where no colour is shown.
    pub fn letter(self) -> char {
        match self {
            Self::Peg => 'o',
            _ => char::from(self.name().as_bytes()[0].to_ascii_uppercase()),
        }
    }
}

impl Labels {
    /// Returns the cell's name.
    pub fn label(self, shape: Shape, cell: Cell) -> String {
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
    use super::{Cell, Change, Colour, Ground, GroundKind, Labels, Piece, View};
    use crate::board::Shape;

    fn view(pieces: &[(i8, Colour)], pads: &[i8], last: &[i8]) -> View {
        let cell = |&column: &i8| Cell(0, column);
        View {
            shape: Shape::Square(8),
            labels: Labels::Pair,
            pieces: pieces
                .iter()
                .map(|(column, colour)| Piece { at: cell(column), colour: *colour })
                .collect(),
            ground: pads
                .iter()
                .map(|column| Ground { at: cell(column), kind: GroundKind::Pad })
                .collect(),
            edges: Vec::new(),
            last: last.iter().map(cell).collect(),
            chain: Vec::new(),
            figures: Vec::new(),
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
