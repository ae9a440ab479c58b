//! The names of rows and columns, and their sides of the board.

use referee_games::board::{Cell, Layout, Shape};
use referee_games::view::{Labels, View};
use std::collections::BTreeMap;

/// A name outside the board, next to a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// The cell at the end of the row or column.
    pub(super) beside: Cell,
    /// The direction outwards, in half-cells and rows as in
    /// [`Shape::place`](referee_games::board::Shape::place).
    pub(super) towards: (i32, i32),
    pub(super) text: String,
}

/// Returns the names of a board: if cells are numbered, the numbers of the first and last cell of each
/// row; otherwise the name of each row and column at one of its ends.
pub(super) fn names(view: &View) -> Vec<Name> {
    // Points have names of their own.
    let Layout::Shape(shape) = view.shape else { return Vec::new() };
    match view.labels {
        Labels::Number => numbers(shape),
        Labels::Pair | Labels::LetterNumber => {
            let axes = [Axis::First, Axis::Second];
            axes.into_iter().flat_map(|axis| along(view, shape, axis)).collect()
        }
    }
}

/// One of a cell's two coordinates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    First,
    Second,
}

/// Returns a name for every line of cells that share this coordinate, beyond one of its ends.
fn along(view: &View, shape: Shape, axis: Axis) -> Vec<Name> {
    // On a hexagon the two sides are the upper left and the right; elsewhere the lines end at
    // the smallest value of the other coordinate.
    let step = match (axis, shape) {
        (Axis::First, _) => (0, -1),
        (Axis::Second, Shape::Hexagon(_) | Shape::Star(_)) => (1, 0),
        (Axis::Second, _) => (-1, 0),
    };
    let name = |end: Cell| {
        let (x, y) = shape.place(end);
        let (next_x, next_y) = shape.place(end.step(step));
        let text = match (axis, view.labels) {
            (Axis::First, Labels::LetterNumber) => (i16::from(end.0) + 1).to_string(),
            (Axis::First, _) => end.0.to_string(),
            (Axis::Second, Labels::LetterNumber) => letter(end),
            (Axis::Second, _) => end.1.to_string(),
        };
        Name { beside: end, towards: (next_x - x, next_y - y), text }
    };
    let ends = shape.cells().into_iter().filter(|cell| !shape.contains(cell.step(step)));
    ends.map(name).collect()
}

/// Returns the letter of the cell's second coordinate.
fn letter(cell: Cell) -> String {
    char::from(b'a'.saturating_add_signed(cell.1)).to_string()
}

/// Returns the numbers of the cells at both ends of each row; one number for a row of one cell.
fn numbers(shape: Shape) -> Vec<Name> {
    let mut rows: BTreeMap<i32, Vec<(i32, usize, Cell)>> = BTreeMap::new();
    for (number, cell) in (1..).zip(shape.cells()) {
        let (x, y) = shape.place(cell);
        rows.entry(y).or_default().push((x, number, cell));
    }
    let mut names = Vec::new();
    for row in rows.into_values() {
        let first = row.iter().min().map(|end| (end, -2));
        let last = row.iter().max().filter(|_| row.len() > 1).map(|end| (end, 2));
        for (&(_, number, beside), dx) in first.into_iter().chain(last) {
            names.push(Name { beside, towards: (dx, 0), text: number.to_string() });
        }
    }
    names
}
