//! What a view is drawn on: the cells of a shape, points at given places, or nothing but text.

use super::{Cell, Shape};
use std::sync::Arc;

/// The layout of a board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// No cells: the view has only text.
    #[default]
    Nothing,
    /// The cells of a shape.
    Shape(Shape),
    /// Points with lines between them. A cell is the point's number and 0.
    Points(Arc<Points>),
}

/// Points at given places, and the lines between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points {
    places: Vec<(u8, u8)>,
    lines: Vec<(u8, u8)>,
    names: Vec<String>,
}

impl Points {
    /// The most points: their numbers are coordinates of cells.
    pub const MAX: usize = 120;
    /// The most lines.
    pub const LINES_MAX: usize = 1000;
    /// The farthest place to the right and downwards, in half-cells.
    pub const REACH: u8 = 50;
    /// The longest name, in characters.
    pub const NAME_MAX: usize = 4;

    /// Creates points at these places, in half-cells to the right and downwards; no two are less than a
    /// cell apart. A line joins two points by their numbers. Names may be left out; there is one for
    /// each point otherwise.
    pub fn new(
        places: Vec<(u8, u8)>,
        lines: Vec<(u8, u8)>,
        names: Vec<String>,
    ) -> Result<Self, String> {
        if places.is_empty() || places.len() > Self::MAX {
            return Err(format!("there must be 1 to {} places, not {}", Self::MAX, places.len()));
        }
        for (number, &(x, y)) in places.iter().enumerate() {
            if x > Self::REACH || y > Self::REACH {
                return Err(format!("place {number} is beyond {} half-cells", Self::REACH));
            }
            let near = |&(other_x, other_y): &(u8, u8)| {
                let (dx, dy) = (u32::from(x.abs_diff(other_x)), u32::from(y.abs_diff(other_y)));
                dx * dx + dy * dy < 4
            };
            if let Some(other) = places[..number].iter().position(near) {
                return Err(format!("places {other} and {number} are less than a cell apart"));
            }
        }
        if lines.len() > Self::LINES_MAX {
            return Err(format!("there may be {} lines, not {}", Self::LINES_MAX, lines.len()));
        }
        let count = places.len();
        let wrong = |&(from, to): &(u8, u8)| {
            from == to || usize::from(from) >= count || usize::from(to) >= count
        };
        if let Some((from, to)) = lines.iter().find(|line| wrong(line)) {
            return Err(format!("the line [{from},{to}] doesn't join two of the {count} places"));
        }
        if !names.is_empty() && names.len() != count {
            return Err(format!("there are {} names for {count} places", names.len()));
        }
        let is_name = |name: &String| {
            (1..=Self::NAME_MAX).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_graphic())
        };
        if let Some(name) = names.iter().find(|name| !is_name(name)) {
            return Err(format!(
                "the name {name:?} is not 1 to {} printable ASCII characters without blanks",
                Self::NAME_MAX
            ));
        }
        Ok(Self { places, lines, names })
    }

    /// Returns the lines, as pairs of cells.
    pub fn lines(&self) -> impl Iterator<Item = (Cell, Cell)> {
        self.lines.iter().map(|&(from, to)| (point(from), point(to)))
    }

    /// Returns the name of a point: its number if it has none.
    pub fn name(&self, cell: Cell) -> String {
        let number = usize::try_from(cell.0).unwrap_or(usize::MAX);
        self.names.get(number).cloned().unwrap_or_else(|| cell.0.to_string())
    }

    fn contains(&self, cell: Cell) -> bool {
        usize::try_from(cell.0).is_ok_and(|number| number < self.places.len()) && cell.1 == 0
    }
}

fn point(number: u8) -> Cell {
    Cell(number.cast_signed(), 0)
}

impl From<Shape> for Layout {
    fn from(shape: Shape) -> Self {
        Self::Shape(shape)
    }
}

impl From<Points> for Layout {
    fn from(points: Points) -> Self {
        Self::Points(Arc::new(points))
    }
}

impl Layout {
    /// Returns the shape, if it is one.
    pub fn shape(&self) -> Option<Shape> {
        match self {
            Self::Shape(shape) => Some(*shape),
            Self::Nothing | Self::Points(_) => None,
        }
    }

    /// Whether the cells are squares.
    pub fn is_grid(&self) -> bool {
        matches!(self, Self::Shape(Shape::Grid(..)))
    }

    /// Whether the cell is on the board.
    pub fn contains(&self, cell: Cell) -> bool {
        match self {
            Self::Nothing => false,
            Self::Shape(shape) => shape.contains(cell),
            Self::Points(points) => points.contains(cell),
        }
    }

    /// Returns the cell with these coordinates, if it is on the board. Accepts any integers.
    pub fn find(&self, at: [i64; 2]) -> Option<Cell> {
        match self {
            Self::Nothing => None,
            Self::Shape(shape) => shape.find(at),
            Self::Points(points) => {
                let cell = Cell(i8::try_from(at[0]).ok()?, i8::try_from(at[1]).ok()?);
                points.contains(cell).then_some(cell)
            }
        }
    }

    /// Returns every cell once, in the shape's order or by number.
    pub fn cells(&self) -> Vec<Cell> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Shape(shape) => shape.cells(),
            Self::Points(points) => (0_u8..).zip(&points.places).map(|(at, _)| point(at)).collect(),
        }
    }

    /// Returns the cell's neighbours, in a fixed order: on points those at the other ends of its lines.
    pub fn neighbours(&self, cell: Cell) -> Vec<Cell> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Shape(shape) => shape.neighbours(cell).collect(),
            Self::Points(points) => {
                let other = |(from, to): (Cell, Cell)| match cell {
                    _ if cell == from => Some(to),
                    _ if cell == to => Some(from),
                    _ => None,
                };
                let mut near: Vec<Cell> = points.lines().filter_map(other).collect();
                near.sort_unstable();
                near.dedup();
                near
            }
        }
    }

    /// Returns where the cell's middle is drawn in text: columns to the right, lines downwards. On points a
    /// half-cell is two columns wide and a line high, elsewhere as in [`Shape::place`].
    pub fn place(&self, cell: Cell) -> (i32, i32) {
        match self {
            Self::Nothing => (0, 0),
            Self::Shape(shape) => shape.place(cell),
            Self::Points(points) => {
                let number = usize::try_from(cell.0).unwrap_or(usize::MAX);
                let (x, y) = points.places.get(number).copied().unwrap_or_default();
                (2 * i32::from(x), i32::from(y))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, Layout, Points};

    #[test]
    fn points_have_numbers_names_and_neighbours() {
        let places = vec![(0, 0), (4, 0), (2, 3)];
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let layout: Layout =
            Points::new(places, vec![(0, 1), (2, 0), (0, 2)], names).unwrap().into();
        assert_eq!(layout.cells(), [Cell(0, 0), Cell(1, 0), Cell(2, 0)]);
        assert_eq!(layout.neighbours(Cell(0, 0)), [Cell(1, 0), Cell(2, 0)]);
        assert_eq!(layout.neighbours(Cell(1, 0)), [Cell(0, 0)]);
        assert_eq!(layout.place(Cell(2, 0)), (4, 3));
        assert_eq!(layout.find([2, 0]), Some(Cell(2, 0)));
        for at in [[3, 0], [0, 1], [-1, 0], [300, 0]] {
            assert_eq!(layout.find(at), None);
        }
    }

    #[test]
    fn points_that_cannot_be_drawn_are_refused() {
        let name = |name: &str| vec![name.to_owned()];
        for (places, lines, names, problem) in [
            (vec![], vec![], vec![], "1 to 120 places, not 0"),
            (vec![(0, 0); 121], vec![], vec![], "1 to 120 places, not 121"),
            (vec![(0, 51)], vec![], vec![], "place 0 is beyond 50 half-cells"),
            (vec![(3, 3), (9, 9), (4, 4)], vec![], vec![], "places 0 and 2 are less than a cell"),
            (vec![(0, 0), (2, 0)], vec![(0, 2)], vec![], "[0,2] doesn't join two of the 2 places"),
            (vec![(0, 0), (2, 0)], vec![(1, 1)], vec![], "[1,1] doesn't join"),
            (vec![(0, 0), (2, 0)], vec![(0, 1); 1001], vec![], "1000 lines, not 1001"),
            (vec![(0, 0), (2, 0)], vec![], name("a"), "1 names for 2 places"),
            (vec![(0, 0)], vec![], name("a b"), "the name \"a b\" is not 1 to 4 printable"),
            (vec![(0, 0)], vec![], name("abcde"), "the name \"abcde\""),
        ] {
            let error = Points::new(places, lines, names).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
