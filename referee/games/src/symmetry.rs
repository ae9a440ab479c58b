//! The ways to turn and mirror a board that keep a game's rules.

use crate::board::{Cell, Shape};
use crate::view::{Colour, GroundKind, View};
use crate::{AnyGame, CellIndex};

/// A way to turn or mirror the board. Seats may take the parts of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symmetry {
    /// The number of the cell that each cell becomes.
    pub cells: Vec<usize>,
    /// The seat whose part each seat takes.
    pub seats: Vec<usize>,
}

/// Returns the symmetries of a built-in game, the identity first. A symmetry maps the picture at the usual start to
/// itself, with pieces, camps and edges, and keeps the order of play. What a program's rules do to a
/// board is unknown, so its only one is the identity.
pub fn symmetries(start: &dyn AnyGame) -> Vec<Symmetry> {
    let layout = start.layout();
    let index = CellIndex::new(&layout);
    let seats = start.seats();
    let identity =
        Symmetry { cells: (0..index.cells.len()).collect(), seats: (0..seats).collect() };
    let Some(shape) = layout.shape().filter(|_| start.kind().program().is_none()) else {
        return vec![identity];
    };
    let view = start.view();
    let names = start.current_colours();
    let colours: Vec<Option<Colour>> = names.iter().map(|name| view.colour_of(name)).collect();
    let usual = marks(&view, Some);
    let mut found = vec![identity];
    for turn in turns(shape) {
        let number = |&cell: &Cell| turn(cell).and_then(|cell| index.number(cell));
        let Some(cells) = index.cells.iter().map(number).collect::<Option<Vec<usize>>>() else {
            continue;
        };
        for shift in 0..seats {
            let seat = |seat: usize| (seat + shift) % seats;
            let colour = |colour: Colour| match colours.iter().position(|it| *it == Some(colour)) {
                Some(own) => colours[seat(own)],
                None => Some(colour),
            };
            let mut turned = marks(&view, colour);
            for (_, cell) in &mut turned {
                *cell = turn(*cell).expect("it is on the board");
            }
            turned.sort_unstable();
            let symmetry = Symmetry { cells: cells.clone(), seats: (0..seats).map(seat).collect() };
            if turned == usual && !found.contains(&symmetry) {
                found.push(symmetry);
            }
        }
    }
    found
}

/// What is on a cell: its kind and its colour.
type Mark = (u8, Option<Colour>);

/// Returns what is on the cells of a picture, with other colours.
fn marks(view: &View, colour: impl Fn(Colour) -> Option<Colour>) -> Vec<(Mark, Cell)> {
    let pieces = view.pieces.iter().map(|piece| ((0, colour(piece.colour)), piece.at));
    let ground = view.ground.iter().map(|mark| match mark.kind {
        GroundKind::Target(own) => ((1, colour(own)), mark.at),
        GroundKind::Tint(own) => ((2, colour(own)), mark.at),
        GroundKind::Pad => ((3, None), mark.at),
    });
    let edges = view.edges.iter().flat_map(|edge| {
        let own = colour(edge.colour);
        edge.cells.iter().map(move |&cell| ((4, own), cell))
    });
    let mut marks: Vec<(Mark, Cell)> = pieces.chain(ground).chain(edges).collect();
    marks.sort_unstable();
    marks
}

/// A turn of a board: the cell that a cell becomes.
type TurnOf = Box<dyn Fn(Cell) -> Option<Cell>>;

/// Returns the turns of a shape. On all but the grid cells have six neighbours, so they are among the twelve of a
/// hexagon.
fn turns(shape: Shape) -> Vec<TurnOf> {
    match shape {
        Shape::Grid(rows, columns) => {
            let (rows, columns) = (rows.cast_signed() - 1, columns.cast_signed() - 1);
            let flip = move |rows_too: bool, columns_too: bool, swap: bool| -> TurnOf {
                Box::new(move |Cell(row, column)| {
                    let row = if rows_too { rows - row } else { row };
                    let column = if columns_too { columns - column } else { column };
                    Some(if swap { Cell(column, row) } else { Cell(row, column) })
                })
            };
            let both = [false, true];
            let each = |swap| both.map(|row| both.map(|column| flip(row, column, swap)));
            let square = rows == columns;
            let swapped = square.then(|| each(true)).into_iter().flatten().flatten();
            each(false).into_iter().flatten().chain(swapped).collect()
        }
        Shape::Diamond(size) => {
            let last = size.cast_signed() - 1;
            let turn = |rotated: bool, mirrored: bool| -> TurnOf {
                Box::new(move |Cell(row, column)| {
                    let (row, column) =
                        if rotated { (last - row, last - column) } else { (row, column) };
                    Some(if mirrored { Cell(column, row) } else { Cell(row, column) })
                })
            };
            let both = [false, true];
            both.map(|rotated| both.map(|mirrored| turn(rotated, mirrored)))
                .into_iter()
                .flatten()
                .collect()
        }
        // Rows from the top, columns from the left, and the diagonals from the right add up to size - 1.
        Shape::Triangle(size) => {
            let last = size.cast_signed() - 1;
            let parts = move |Cell(row, column)| [last - row, column, row - column];
            permutations(move |order, _| {
                Box::new(move |cell| {
                    let parts = parts(cell);
                    let [below, left, _] = order.map(|place| parts[place]);
                    Some(Cell(last - below, left))
                })
            })
        }
        // The three coordinates of a hexagonal board add up to 0.
        Shape::Hexagon(_) | Shape::Star(_) => permutations(|order, negative| {
            Box::new(move |Cell(q, r)| {
                let parts = [q, r, -q - r];
                let [q, r, _] = order.map(|place| parts[place]);
                Some(if negative { Cell(-q, -r) } else { Cell(q, r) })
            })
        }),
    }
}

/// Returns what becomes of each order of three coordinates, with both signs.
fn permutations(turn: impl Fn([usize; 3], bool) -> TurnOf) -> Vec<TurnOf> {
    let orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
    orders.into_iter().flat_map(|order| [false, true].map(|sign| turn(order, sign))).collect()
}

#[cfg(test)]
mod tests {
    use super::turns;
    use crate::CellIndex;
    use crate::board::{Layout, Shape};
    use std::collections::BTreeSet;

    #[test]
    fn a_turn_keeps_neighbours() {
        for (shape, count) in [
            (Shape::Diamond(5), 4),
            (Shape::Triangle(5), 6),
            (Shape::Hexagon(3), 12),
            (Shape::Star(2), 12),
            (Shape::Grid(4, 4), 8),
            (Shape::Grid(3, 5), 4),
        ] {
            let index = CellIndex::new(&Layout::Shape(shape));
            let mut different = BTreeSet::new();
            for turn in turns(shape) {
                let turned: Vec<_> = index.cells.iter().map(|&cell| turn(cell).unwrap()).collect();
                for (&cell, &to) in index.cells.iter().zip(&turned) {
                    let near: BTreeSet<_> =
                        shape.neighbours(cell).map(|cell| turn(cell).unwrap()).collect();
                    assert_eq!(near, shape.neighbours(to).collect(), "{shape:?} {cell:?}");
                }
                different.insert(turned);
            }
            assert_eq!(different.len(), count, "{shape:?}");
        }
    }
}
