//! A picture of a board as plain data: renderers know shapes and marks, never games.

use crate::board::{Cell, Shape};
use serde::Serialize;

/// A board as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct View {
    /// The board's shape.
    pub shape: Shape,
    /// How people name a cell of it.
    pub labels: Labels,
    /// What stands on the cells; at most one piece a cell.
    pub pieces: Vec<Piece>,
    /// What cells without or beneath a piece mean; at most one mark a cell.
    pub ground: Vec<Ground>,
    /// Edges that belong to somebody.
    pub edges: Vec<Edge>,
    /// The last action: the cells that its piece went through, from first to last; one cell for a
    /// piece that was placed, none if nothing on the board was moved.
    pub last: Vec<Cell>,
    /// Cells that decided the game, such as a winning chain, in order.
    pub chain: Vec<Cell>,
    /// Figures worth a line, such as exits so far: what and how much, by seat or in general.
    pub figures: Vec<Figure>,
}

/// How people name cells.
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

/// Something that stands on a cell.
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
    /// The camp that this colour wants to reach.
    Target(Colour),
    /// A pad that can be stood on, where other cells can't.
    Pad,
}

/// An edge of the board that belongs to a colour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// Whose.
    pub colour: Colour,
    /// The cells along it, in order.
    pub cells: Vec<Cell>,
    /// The direction outwards, in the units of [`Shape::place`]: beside every cell of the edge,
    /// this far away, there is room for a mark.
    pub outward: (i8, i8),
}

/// A figure to show beside the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// What it counts: `exits`, `pegs`.
    pub name: &'static str,
    /// Whose it is, where it belongs to a colour.
    pub colour: Option<Colour>,
    /// How much.
    pub value: String,
}

/// The colours that pieces have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
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
    /// The figures by what they count, in the order in which each kind first comes.
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
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Red,
        Self::Green,
        Self::Blue,
        Self::Yellow,
        Self::Purple,
        Self::Orange,
        Self::Black,
        Self::Peg,
    ];

    /// The colour of this name on the wire.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|colour| colour.name() == name)
    }

    /// By colour, in the order of [`Colour::ALL`]: the name on the wire, and the letter that tells it
    /// without colour.
    const NAMES: [(&'static str, char); 8] = [
        ("red", 'R'),
        ("green", 'G'),
        ("blue", 'B'),
        ("yellow", 'Y'),
        ("purple", 'P'),
        ("orange", 'O'),
        ("black", 'B'),
        ("peg", 'o'),
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }

    /// The letter that tells it without colour.
    pub fn letter(self) -> char {
        Self::NAMES[self as usize].1
    }
}

impl Labels {
    /// The cell's name.
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
