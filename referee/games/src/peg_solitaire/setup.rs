//! The setup, the position, and their checks.

use super::pegs::{Pegs, SIZE_MAX};
use crate::Illegal;
use crate::board::{Cell, Shape};
use crate::notation::format_pair;
use crate::setup_fields::deserialize_some;
use serde::{Deserialize, Serialize};

/// The shape of the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum BoardShape {
    /// Rows of 1, 2, .. cells.
    #[default]
    Triangle,
    /// As many cells in every row as rows.
    Diamond,
}

impl BoardShape {
    /// Returns the shape with this number of rows.
    pub fn of(self, rows: u8) -> Shape {
        match self {
            Self::Triangle => Shape::Triangle(rows),
            Self::Diamond => Shape::Diamond(rows),
        }
    }

    /// Returns the smallest and the default number of rows.
    fn sizes(self) -> (i64, i64) {
        match self {
            Self::Triangle => (4, 5),
            Self::Diamond => (3, 6),
        }
    }

    /// Returns the cell that is open by default.
    fn middle(self, size: i64) -> [i64; 2] {
        let end = size.saturating_sub(1);
        match self {
            Self::Triangle => [end.saturating_mul(2) / 3, end / 3],
            Self::Diamond => [end / 2, end / 2],
        }
    }
}

/// Which last peg solves the puzzle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// Any.
    #[default]
    Any,
    /// One in the cell that was open at the start.
    Start,
}

/// A setup. Integers are wide, so that a value out of range has a clear error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RawSetup")]
pub struct Setup {
    /// The board's shape. Defaults to the position's, or else a triangle.
    pub shape: BoardShape,
    /// The rows: triangle 4 to 12, diamond 3 to 12. Defaults to the position's, or else 5 and 6.
    pub size: i64,
    /// The cells that are open at the start, sorted. Defaults to the position's, or else the middle.
    pub open: Vec<[i64; 2]>,
    /// Which last peg solves the puzzle.
    pub finish: Finish,
    /// The position to start from instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

/// A setup as written: every field is optional.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawSetup {
    #[serde(deserialize_with = "deserialize_some")]
    shape: Option<BoardShape>,
    #[serde(deserialize_with = "deserialize_some")]
    size: Option<i64>,
    #[serde(deserialize_with = "deserialize_some")]
    open: Option<Vec<[i64; 2]>>,
    finish: Finish,
    #[serde(deserialize_with = "deserialize_some")]
    position: Option<Position>,
}

impl From<RawSetup> for Setup {
    fn from(raw: RawSetup) -> Self {
        let position = raw.position.as_ref();
        let shape = raw.shape.or(position.map(|position| position.shape)).unwrap_or_default();
        let size = raw.size.or(position.map(|position| position.size));
        let size = size.unwrap_or_else(|| shape.sizes().1);
        let open = raw.open.or_else(|| position.map(|position| position.open.clone()));
        let open = open.unwrap_or_else(|| vec![shape.middle(size)]);
        Self { shape, size, open, finish: raw.finish, position: raw.position }
    }
}

/// The position as in `turn.position` and `setup.position`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The board's shape.
    pub shape: BoardShape,
    /// Rows.
    pub size: i64,
    /// The cells with pegs, sorted.
    pub pegs: Vec<[i64; 2]>,
    /// The cells that were open at the start, sorted.
    pub open: Vec<[i64; 2]>,
    /// Jumps so far.
    pub moves: u64,
}

/// Returns the number of rows, if it is in range.
pub(super) fn size_of(setup: &Setup) -> Result<u8, Illegal> {
    let (board_shape, size) = (setup.shape, setup.size);
    let rows = u8::try_from(size).ok();
    rows.filter(|_| (board_shape.sizes().0..=SIZE_MAX).contains(&size)).ok_or_else(|| {
        let least = board_shape.sizes().0;
        Illegal::new(format!("size: a {board_shape} has {least} to {SIZE_MAX} rows, not {size}"))
    })
}

/// Returns the cells that are open at the start.
pub(super) fn open_of(setup: &Setup, shape: Shape) -> Result<Pegs, Illegal> {
    let open = set_of(&setup.open, shape).map_err(|text| Illegal::new(format!("open: {text}")))?;
    if open == Pegs::all(shape) {
        return Err(Illegal::new("open: at least one cell must have a peg"));
    }
    if setup.finish == Finish::Start && open.count() != 1 {
        return Err(Illegal::new("finish: \"start\" needs exactly one open cell"));
    }
    Ok(open)
}

/// Returns the position's pegs. Fails if no game under this setup can reach it.
pub(super) fn pegs_of(
    position: &Position,
    setup: &Setup,
    shape: Shape,
    open: Pegs,
) -> Result<Pegs, Illegal> {
    let refused = |text: String| Illegal::new(format!("position: {text}"));
    let agrees = |same: bool, name: &str| {
        if same { Ok(()) } else { Err(refused(format!("its {name} differs from the setup's"))) }
    };
    agrees(position.shape == setup.shape, "shape")?;
    agrees(position.size == setup.size, "size")?;
    let known = set_of(&position.open, shape).map_err(|text| refused(format!("open: {text}")))?;
    agrees(known == open, "list of cells that were open")?;
    let pegs = set_of(&position.pegs, shape).map_err(|text| refused(format!("pegs: {text}")))?;
    let at_first = u64::from(Pegs::all(shape).count() - open.count());
    let left = u64::from(pegs.count());
    // Every jump removes one peg.
    if left == 0 || position.moves.checked_add(left) != Some(at_first) {
        let moves = position.moves;
        return Err(refused(format!(
            "{left} of {at_first} pegs can't be left after {moves} jumps"
        )));
    }
    Ok(pegs)
}

/// Converts cells to a set. Fails if one is off the board or named twice.
fn set_of(cells: &[[i64; 2]], shape: Shape) -> Result<Pegs, String> {
    let mut set = Pegs::default();
    for &at in cells {
        let cell = shape.find(at).ok_or_else(|| format!("{} is off the board", format_pair(at)))?;
        if set.has(cell) {
            return Err(format!("{} is named twice", format_pair(at)));
        }
        set.set(cell, true);
    }
    Ok(set)
}

/// Converts a set of cells to a sorted list.
pub(super) fn list_of(set: Pegs) -> Vec<[i64; 2]> {
    set.cells().map(Cell::pair).collect()
}
