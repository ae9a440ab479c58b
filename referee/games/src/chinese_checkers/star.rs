//! Tables of the star for each size: the lines through every position, and the six points.

use super::CellSet;
use crate::Illegal;
use crate::board::{Cell, Shape};
use std::fmt::Display;
use std::sync::OnceLock;

/// The possible sizes of a star: the rows of one point.
pub(super) const SIZES: std::ops::RangeInclusive<u64> = 2..=5;

/// A star's positions by index: the number on the board minus one.
#[derive(Debug)]
pub(super) struct Star {
    pub(super) shape: Shape,
    pub(super) cells: Vec<Cell>,
    /// The positions beside each one.
    pub(super) neighbours: Vec<CellSet>,
    /// For each position and each of the shape's six steps, the positions in that direction up to the
    /// rim. On a star a line is never interrupted. The direction opposite to `d` is `5 - d`.
    rays: Vec<[Ray; 6]>,
    /// The points clockwise from the top, each as its rows from the tip inwards.
    pub(super) points: [Vec<CellSet>; 6],
}

/// Positions on a line, nearest first.
#[derive(Clone, Copy, Debug, Default)]
struct Ray {
    length: u8,
    cells: [u8; RAY_MAX],
}

/// The longest line without its first position, on the largest board: from one tip to another.
const RAY_MAX: usize = 15;

impl Ray {
    fn cells(&self) -> &[u8] {
        &self.cells[..usize::from(self.length)]
    }
}

impl FromIterator<u8> for Ray {
    fn from_iter<I: IntoIterator<Item = u8>>(cells: I) -> Self {
        let mut ray = Self::default();
        for cell in cells {
            ray.cells[usize::from(ray.length)] = cell;
            ray.length += 1;
        }
        ray
    }
}

impl Star {
    /// Returns the tables for a size within [`SIZES`].
    pub(super) fn of(size: u64) -> &'static Self {
        static STARS: [OnceLock<Star>; 4] = [const { OnceLock::new() }; 4];
        let index = usize::try_from(size - SIZES.start()).expect("a size within its range");
        STARS[index].get_or_init(|| Self::new(u8::try_from(size).expect("a size within its range")))
    }

    fn new(size: u8) -> Self {
        let shape = Shape::Star(size);
        let cells = shape.cells();
        let index = |cell: Cell| {
            let index = cells.iter().position(|&other| other == cell);
            u8::try_from(index.expect("the cell is on the board")).expect("at most 181 cells")
        };
        let ray = |from: Cell, step| {
            let line = std::iter::successors(Some(from), |cell| Some(cell.step(step)));
            line.skip(1).take_while(|&cell| shape.contains(cell)).map(index).collect()
        };
        let rays: Vec<[Ray; 6]> = cells
            .iter()
            .map(|&cell| std::array::from_fn(|direction| ray(cell, shape.steps()[direction])))
            .collect();
        let neighbours = rays
            .iter()
            .map(|rays| rays.iter().filter_map(|ray| ray.cells().first().copied()).collect());
        let neighbours = neighbours.collect();
        let points = std::array::from_fn(|point| {
            let beyond = |cell: &Cell| beyond_the_hexagon(*cell, point, size.cast_signed());
            let row = |depth: i8| {
                let inside = cells.iter().filter(|cell| beyond(cell) == depth);
                inside.map(|&cell| index(cell)).collect()
            };
            (1..=size.cast_signed()).rev().map(row).collect()
        });
        Self { shape, cells, neighbours, rays, points }
    }

    /// Returns the index of a position by its number on the board.
    pub(super) fn index(&self, number: i64) -> Option<u8> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        (index < self.cells.len()).then(|| u8::try_from(index).expect("at most 181 cells"))
    }

    /// Returns the index of a position by its number on the board, or why there is none.
    pub(super) fn find(&self, number: impl TryInto<i64> + Display + Copy) -> Result<u8, Illegal> {
        number.try_into().ok().and_then(|number| self.index(number)).ok_or_else(|| {
            let last = self.cells.len();
            Illegal::new(format!("there is no position {number}: the board has 1 to {last}"))
        })
    }

    pub(super) fn ray(&self, from: u8, direction: usize) -> &[u8] {
        self.rays[usize::from(from)][direction].cells()
    }

    /// Returns every position of a point.
    pub(super) fn point(&self, point: usize) -> CellSet {
        self.points[point].iter().copied().fold(CellSet::EMPTY, CellSet::or)
    }

    pub(super) fn cell(&self, index: u8) -> Cell {
        self.cells[usize::from(index)]
    }

    /// Returns the number of steps between two positions.
    pub(super) fn distance(&self, from: u8, to: u8) -> u8 {
        let (from, to) = (self.cell(from), self.cell(to));
        let (q, r) = (to.0 - from.0, to.1 - from.1);
        q.unsigned_abs().max(r.unsigned_abs()).max((q + r).unsigned_abs())
    }

    /// Returns the direction from one position to another, if they are on one line.
    pub(super) fn direction(&self, from: u8, to: u8) -> Option<usize> {
        let (a, b) = (self.cell(from), self.cell(to));
        let (q, r) = (b.0 - a.0, b.1 - a.1);
        if from == to || (q != 0 && r != 0 && q + r != 0) {
            return None;
        }
        self.shape.steps().iter().position(|&step| step == (q.signum(), r.signum()))
    }
}

/// Returns how many rows a cell is beyond the middle hexagon's side at this point; positive only in
/// the point itself.
fn beyond_the_hexagon(cell: Cell, point: usize, size: i8) -> i8 {
    let Cell(q, r) = cell;
    let outwards = [-r, q, q + r, r, -q, -q - r];
    outwards[point] - size
}

#[cfg(test)]
mod tests {
    use super::{CellSet, SIZES, Star};

    #[test]
    fn points_are_numbered_clockwise_from_the_top() {
        let star = Star::of(4);
        let numbers =
            |point| star.point(point).iter().map(|cell| u32::from(cell) + 1).collect::<Vec<_>>();
        assert_eq!(numbers(0), (1..=10).collect::<Vec<_>>());
        assert_eq!(numbers(3), (112..=121).collect::<Vec<_>>());
        assert_eq!(numbers(1), [20, 21, 22, 23, 33, 34, 35, 45, 46, 56]);
        assert_eq!(numbers(5), [11, 12, 13, 14, 24, 25, 26, 36, 37, 47]);
        assert_eq!(numbers(2).last(), Some(&111));
        assert_eq!(numbers(4).last(), Some(&102));
    }

    #[test]
    fn every_size_has_its_points_and_uninterrupted_lines() {
        for size in SIZES {
            let star = Star::of(size);
            let rows = usize::try_from(size).unwrap();
            assert_eq!(star.cells.len(), 1 + 3 * rows * (rows + 1) + 3 * rows * (rows + 1));
            for point in 0..6 {
                let widths: Vec<usize> = star.points[point].iter().map(CellSet::len).collect();
                assert_eq!(widths, (1..=rows).collect::<Vec<_>>());
            }
            for (from, to) in pairs(star) {
                let on_ray = star.direction(from, to).map(|direction| {
                    let distance = usize::from(star.distance(from, to));
                    star.ray(from, direction).get(distance - 1) == Some(&to)
                });
                assert_ne!(on_ray, Some(false), "{from} {to}");
            }
        }
    }

    fn pairs(star: &Star) -> impl Iterator<Item = (u8, u8)> {
        let count = u8::try_from(star.cells.len()).unwrap();
        (0..count).flat_map(move |from| (0..count).map(move |to| (from, to)))
    }
}
