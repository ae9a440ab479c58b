//! Board shapes: their cells, the order and neighbours of the cells, and where each is drawn. Rules
//! and renderers share this geometry.

mod layout;

pub use layout::{Layout, Points};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cell by its two coordinates: row and column on diamonds, triangles and grids, axial q and r
/// (r runs downwards) on hexagons and stars; the number and 0 where cells are points.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
pub struct Cell(pub i8, pub i8);

impl Cell {
    /// Returns the coordinates as on the wire.
    pub fn pair(self) -> [i64; 2] {
        [self.0.into(), self.1.into()]
    }

    /// Returns the cell one step away.
    #[must_use]
    pub fn step(self, (first, second): (i8, i8)) -> Self {
        Self(self.0 + first, self.1 + second)
    }
}

/// The shape of a board. All but the grid are parts of a hexagonal one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// n x n cells `[r,c]`, drawn with (0,0) at the top, rows running down-left and columns
    /// down-right.
    Diamond(u8),
    /// n rows of 1, 2, .. n cells `[r,c]` with 0 <= c <= r.
    Triangle(u8),
    /// Axial cells with |q|, |r| and |q+r| at most the radius.
    Hexagon(u8),
    /// A six-pointed star with points of n rows around a hexagon of radius n, in axial cells.
    Star(u8),
    /// Rows and columns of square cells `[r,c]` with eight neighbours each.
    Grid(u8, u8),
}

/// The six steps where neighbours share one coordinate or change both in opposite directions.
const OPPOSED: &[(i8, i8)] = &[(-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0)];
/// The six steps on a triangle of left-aligned rows.
const ALIGNED: &[(i8, i8)] = &[(-1, -1), (-1, 0), (0, -1), (0, 1), (1, 0), (1, 1)];
/// The eight steps on a grid.
const AROUND: &[(i8, i8)] = &[(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)];

impl Shape {
    /// Whether the cell is on the board.
    pub fn contains(self, cell: Cell) -> bool {
        let (a, b) = (i16::from(cell.0), i16::from(cell.1));
        match self {
            Self::Diamond(n) => {
                let n = i16::from(n);
                (0..n).contains(&a) && (0..n).contains(&b)
            }
            Self::Grid(rows, columns) => {
                (0..i16::from(rows)).contains(&a) && (0..i16::from(columns)).contains(&b)
            }
            Self::Triangle(n) => a < i16::from(n) && (0..=a).contains(&b),
            Self::Hexagon(radius) => {
                let radius = i16::from(radius);
                a.abs() <= radius && b.abs() <= radius && (a + b).abs() <= radius
            }
            Self::Star(n) => {
                let n = i16::from(n);
                let cube = [a, b, -a - b];
                cube.iter().all(|&x| x <= n) || cube.iter().all(|&x| x >= -n)
            }
        }
    }

    /// Returns the cell with these coordinates, if it is on the board. Accepts any integers, since
    /// they come from an agent.
    pub fn find(self, at: [i64; 2]) -> Option<Cell> {
        let cell = Cell(i8::try_from(at[0]).ok()?, i8::try_from(at[1]).ok()?);
        // Half the range is kept for steps off the board.
        let near = cell.0.unsigned_abs() < 64 && cell.1.unsigned_abs() < 64;
        (near && self.contains(cell)).then_some(cell)
    }

    /// Returns every cell once, sorted by coordinates; on a star row by row from the top and from
    /// left to right, as its positions are numbered.
    pub fn cells(self) -> Vec<Cell> {
        let reach = match self {
            Self::Diamond(n) | Self::Triangle(n) | Self::Hexagon(n) => n,
            Self::Grid(rows, columns) => rows.max(columns),
            Self::Star(n) => 2 * n,
        }
        .cast_signed();
        let range = || -reach..=reach;
        let mut cells: Vec<Cell> = range()
            .flat_map(|a| range().map(move |b| Cell(a, b)))
            .filter(|&cell| self.contains(cell))
            .collect();
        if matches!(self, Self::Star(_)) {
            cells.sort_by_key(|cell| (cell.1, cell.0));
        }
        cells
    }

    /// Returns the steps to a cell's neighbours, in a fixed order.
    pub fn steps(self) -> &'static [(i8, i8)] {
        match self {
            Self::Diamond(_) | Self::Hexagon(_) | Self::Star(_) => OPPOSED,
            Self::Triangle(_) => ALIGNED,
            Self::Grid(..) => AROUND,
        }
    }

    /// Returns the cell's neighbours on the board.
    pub fn neighbours(self, cell: Cell) -> impl Iterator<Item = Cell> {
        self.steps().iter().map(move |&step| cell.step(step)).filter(move |&to| self.contains(to))
    }

    /// Returns where the cell's centre is drawn: x to the right in half-cells, y downwards in rows.
    /// Adjacent cells of a row are two half-cells apart. On all shapes but the grid, a neighbour
    /// in the next row is one half-cell to the left or right.
    pub fn place(self, cell: Cell) -> (i32, i32) {
        let (a, b) = (i32::from(cell.0), i32::from(cell.1));
        match self {
            Self::Diamond(_) => (b - a, a + b),
            Self::Triangle(_) => (2 * b - a, a),
            Self::Hexagon(_) | Self::Star(_) => (2 * a + b, b),
            Self::Grid(..) => (2 * b, a),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, Shape};

    #[test]
    fn every_shape_has_its_cells_and_degrees() {
        for (shape, cells, degrees) in [
            (Shape::Diamond(4), 16, vec![(2, 2), (3, 2), (4, 8), (6, 4)]),
            (Shape::Triangle(5), 15, vec![(2, 3), (4, 9), (6, 3)]),
            (Shape::Hexagon(3), 37, vec![(3, 6), (4, 12), (6, 19)]),
            (Shape::Star(4), 121, vec![(2, 6), (4, 36), (5, 6), (6, 73)]),
            (Shape::Grid(8, 8), 64, vec![(3, 4), (5, 24), (8, 36)]),
            (Shape::Grid(2, 3), 6, vec![(3, 4), (5, 2)]),
            (Shape::Grid(1, 26), 26, vec![(1, 2), (2, 24)]),
        ] {
            let all = shape.cells();
            assert_eq!(all.len(), cells, "{shape:?}");
            let degree = |cell: &Cell| shape.neighbours(*cell).count();
            let counted: Vec<(usize, usize)> = (1..=8)
                .map(|wanted| (wanted, all.iter().filter(|cell| degree(cell) == wanted).count()))
                .filter(|&(_, count)| count > 0)
                .collect();
            assert_eq!(counted, degrees, "{shape:?}");
        }
    }

    #[test]
    fn a_star_is_numbered_row_by_row() {
        let cells = Shape::Star(4).cells();
        let widths: Vec<usize> =
            (-8..=8).map(|row| cells.iter().filter(|cell| cell.1 == row).count()).collect();
        assert_eq!(widths, [1, 2, 3, 4, 13, 12, 11, 10, 9, 10, 11, 12, 13, 4, 3, 2, 1]);
        assert_eq!(Shape::Star(4).place(cells[0]), (0, -8));
    }

    #[test]
    fn neighbours_are_drawn_side_by_side_or_in_the_next_row() {
        let hexagonal = [Shape::Diamond(5), Shape::Triangle(5), Shape::Hexagon(3), Shape::Star(4)];
        for shape in hexagonal {
            for cell in shape.cells() {
                let (x, y) = shape.place(cell);
                for neighbour in shape.neighbours(cell) {
                    let (nx, ny) = shape.place(neighbour);
                    let offset = ((nx - x).abs(), (ny - y).abs());
                    assert!(matches!(offset, (2, 0) | (1, 1)), "{shape:?} {cell:?} {neighbour:?}");
                }
            }
        }
    }

    #[test]
    fn coordinates_out_of_range_are_off_the_board() {
        for at in [[i64::MAX, 0], [0, i64::MIN], [-1, 0], [0, 300], [127, 127]] {
            assert_eq!(Shape::Diamond(26).find(at), None, "{at:?}");
            assert_eq!(Shape::Star(5).find(at).filter(|_| at != [-1, 0]), None, "{at:?}");
        }
    }
}
