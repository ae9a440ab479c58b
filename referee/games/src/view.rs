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
