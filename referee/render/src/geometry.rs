//! The geometry of all pictures: the places of cells, their outlines and neighbours, the bands along
//! edges that belong to colours, the letters of camps, and the names of rows and columns.
//!
//! Lengths are whole hundredths of a unit, so that outlines of neighbours meet exactly and the same
//! view gives the same numbers on every machine. A hexagon is 40 units high with its point at the
//! top, a square is 32 units wide, as are two half-cells between points. Everything follows from
//! [`Layout::place`], from which the terminal draws, too.

use super::naming::names;
use referee_games::board::{Cell, Layout};
use referee_games::view::{Colour, Edge, GroundKind, View};
use std::collections::{BTreeMap, BTreeSet};

/// From the middle of a hexagon to its points.
const RADIUS: i32 = 2000;
/// From the middle of a hexagon to its upright sides: half the square root of three radii.
const APOTHEM: i32 = 1732;
/// From the middle of a square to its sides.
const HALF: i32 = 1600;
/// From the middle of a point's octagon to its corners along a side: half a side.
const CUT: i32 = 663;
/// How far a band reaches outwards.
const BAND: i32 = 900;
/// The radius of the disc with a letter on a band or beside a camp.
pub(super) const BADGE: i32 = 950;
/// The height of letters that name rows and columns.
pub(super) const NAME_SIZE: i32 = 1300;
/// Room around everything.
const MARGIN: i32 = 500;
/// Longer edges have their letter twice.
const LONG_EDGE: usize = 8;

/// A place or a vector, in hundredths of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    /// To the right.
    pub(super) x: i32,
    /// Downwards.
    pub(super) y: i32,
}

/// Where everything is drawn. The upper left corner is at zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) width: i32,
    pub(super) height: i32,
    /// The outline of every cell around its middle, clockwise.
    pub(super) outline: Vec<Point>,
    /// Whether the cells are points with lines between them.
    pub(super) is_points: bool,
    /// From a cell's middle to its nearest side.
    pub(super) reach: i32,
    /// The cells, in the shape's order.
    pub(super) cells: Vec<CellPlace>,
    /// The edges that belong to a colour, in the view's order.
    pub(super) bands: Vec<Band>,
    /// The letters of the camps that colours want to reach, outside the board.
    pub(super) camps: Vec<Badge>,
    /// The lines between points.
    pub(super) lines: Vec<(Point, Point)>,
    /// The names of rows and columns on two sides, or of points; empty unless they were asked for.
    pub(super) names: Vec<NamePlace>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CellPlace {
    pub(super) cell: Cell,
    /// Its name for people.
    pub(super) name: String,
    pub(super) at: Point,
    /// Its row, from 0 at the top.
    pub(super) row: usize,
    /// Its neighbours, as indexes into the list of cells.
    pub(super) near: Vec<usize>,
}

/// A band along the outer sides of an edge's cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Band {
    /// Whose edge it is.
    pub(super) colour: Colour,
    /// The corners of its parts, in order: one part, unless the cells aren't next to each other.
    pub(super) outlines: Vec<Vec<Point>>,
    pub(super) badges: Vec<Badge>,
}

/// A colour's letter outside the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Badge {
    pub(super) colour: Colour,
    pub(super) at: Point,
}

/// The name of a row or a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamePlace {
    pub(super) text: String,
    pub(super) at: Point,
}

impl Geometry {
    /// Lays out a view; `flip` turns it by half a turn. The result depends on the view's shape, labels,
    /// edges and camps, not on the pieces.
    pub(super) fn of(view: &View, flip: bool, coordinates: bool) -> Self {
        let grid = Grid { shape: &view.shape, flip };
        let rows: BTreeSet<i32> =
            view.shape.cells().into_iter().map(|cell| grid.at(cell).y).collect();
        let mut geometry = Self {
            width: 0,
            height: 0,
            outline: grid.outline(),
            is_points: grid.is_points(),
            reach: grid.reach(),
            cells: spots(view, grid, &rows.into_iter().collect::<Vec<_>>()),
            bands: bands(view, grid),
            camps: camps(view, grid),
            lines: lines_between_points(grid),
            names: Vec::new(),
        };
        if coordinates {
            let far = if view.edges.is_empty() { RADIUS } else { RADIUS + BADGE + 100 };
            geometry.names = name_places(view, grid, far + NAME_SIZE / 2);
        }
        geometry.settle();
        geometry
    }

    /// Measures everything, and moves its upper left corner to zero.
    fn settle(&mut self) {
        let mut all: Vec<Point> = Vec::new();
        for spot in &self.cells {
            all.extend(self.outline.iter().map(|corner| spot.at.plus(*corner)));
        }
        let around = |at: Point, x: i32, y: i32| [at.plus(Point { x, y }), at.less(Point { x, y })];
        for band in &self.bands {
            all.extend(band.outlines.iter().flatten());
            all.extend(band.badges.iter().flat_map(|badge| around(badge.at, BADGE, BADGE)));
        }
        all.extend(self.camps.iter().flat_map(|badge| around(badge.at, BADGE, BADGE)));
        for name in &self.names {
            all.extend(around(name.at, half_width(&name.text), NAME_SIZE / 2));
        }
        let range = |side: fn(&Point) -> i32| {
            let sides = || all.iter().map(side);
            (sides().min().unwrap_or(0), sides().max().unwrap_or(0))
        };
        let (left, right) = range(|point| point.x);
        let (top, bottom) = range(|point| point.y);
        let by = Point { x: MARGIN - left, y: MARGIN - top };
        self.width = right - left + 2 * MARGIN;
        self.height = bottom - top + 2 * MARGIN;
        self.shift(by);
    }

    fn shift(&mut self, by: Point) {
        let bands = self.bands.iter_mut();
        let of_bands = bands.flat_map(|band| {
            band.outlines
                .iter_mut()
                .flatten()
                .chain(band.badges.iter_mut().map(|badge| &mut badge.at))
        });
        let places = self.cells.iter_mut().map(|spot| &mut spot.at);
        let camps = self.camps.iter_mut().map(|badge| &mut badge.at);
        let lines = self.lines.iter_mut().flat_map(|(from, to)| [from, to]);
        let names = self.names.iter_mut().map(|name| &mut name.at);
        for place in places.chain(of_bands).chain(camps).chain(lines).chain(names) {
            *place = place.plus(by);
        }
    }

    /// Returns the middle of each cell.
    pub(super) fn places(&self) -> BTreeMap<Cell, Point> {
        self.cells.iter().map(|spot| (spot.cell, spot.at)).collect()
    }
}

impl Point {
    #[must_use]
    pub(super) fn plus(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y }
    }

    #[must_use]
    pub(super) fn less(self, other: Self) -> Self {
        Self { x: self.x - other.x, y: self.y - other.y }
    }

    /// Returns a vector of this length in the same direction; of zero, zero.
    #[must_use]
    pub(super) fn with_length(self, length: i32) -> Self {
        let (x, y) = (i64::from(self.x), i64::from(self.y));
        let own = (x * x + y * y).isqrt().max(1);
        let scaled = |value: i64| i32::try_from(value * i64::from(length) / own).unwrap_or(0);
        Self { x: scaled(x), y: scaled(y) }
    }

    fn middle(self, other: Self) -> Self {
        Self { x: i32::midpoint(self.x, other.x), y: i32::midpoint(self.y, other.y) }
    }

    fn squared(self) -> i64 {
        i64::from(self.x).pow(2) + i64::from(self.y).pow(2)
    }
}

/// Converts a shape's places to points.
#[derive(Clone, Copy, Debug)]
struct Grid<'a> {
    shape: &'a Layout,
    flip: bool,
}

impl Grid<'_> {
    fn is_square(self) -> bool {
        self.shape.is_grid()
    }

    fn is_points(self) -> bool {
        matches!(self.shape, Layout::Points(_))
    }

    fn reach(self) -> i32 {
        if self.is_square() || self.is_points() { HALF } else { APOTHEM }
    }

    /// Converts a place or a direction in columns and lines.
    fn point(self, (x, y): (i32, i32)) -> Point {
        let (column, row) = match self.shape {
            Layout::Points(_) => (HALF / 2, HALF),
            _ if self.is_square() => (HALF, 2 * HALF),
            _ => (APOTHEM, 3 * RADIUS / 2),
        };
        let direction = if self.flip { -1 } else { 1 };
        Point { x: direction * x * column, y: direction * y * row }
    }

    fn at(self, cell: Cell) -> Point {
        self.point(self.shape.place(cell))
    }

    /// Returns a cell's outline; half a turn doesn't change it.
    fn outline(self) -> Vec<Point> {
        let corners: &[(i32, i32)] = if self.is_square() {
            &[(-HALF, -HALF), (HALF, -HALF), (HALF, HALF), (-HALF, HALF)]
        } else if self.is_points() {
            &[
                (-CUT, -HALF),
                (CUT, -HALF),
                (HALF, -CUT),
                (HALF, CUT),
                (CUT, HALF),
                (-CUT, HALF),
                (-HALF, CUT),
                (-HALF, -CUT),
            ]
        } else {
            const SIDE: i32 = RADIUS / 2;
            &[
                (0, -RADIUS),
                (APOTHEM, -SIDE),
                (APOTHEM, SIDE),
                (0, RADIUS),
                (-APOTHEM, SIDE),
                (-APOTHEM, -SIDE),
            ]
        };
        corners.iter().map(|&(x, y)| Point { x, y }).collect()
    }

    /// Returns the direction across each side, in half-cells and rows, in the outline's order.
    fn across(self) -> &'static [(i32, i32)] {
        if self.is_square() {
            &[(0, -1), (2, 0), (0, 1), (-2, 0)]
        } else if self.is_points() {
            // Points touch nothing, so there is nothing to draw a band along.
            &[]
        } else {
            &[(1, -1), (2, 0), (1, 1), (-1, 1), (-2, 0), (-1, -1)]
        }
    }

    /// Returns whether there is no cell across this side.
    fn is_outer(self, cell: Cell, across: (i32, i32)) -> bool {
        let here = self.shape.place(cell);
        let there = (here.0 + across.0, here.1 + across.1);
        let there = |other: Cell| self.shape.place(other) == there;
        !self.shape.neighbours(cell).into_iter().any(there)
    }

    /// Returns the two ends of a cell's side, clockwise. On a flipped board it is the opposite side.
    fn side(self, cell: Cell, side: usize) -> (Point, Point) {
        let outline = self.outline();
        let count = outline.len();
        let first = if self.flip { (side + count / 2) % count } else { side };
        let at = self.at(cell);
        (at.plus(outline[first]), at.plus(outline[(first + 1) % count]))
    }
}

fn spots(view: &View, grid: Grid<'_>, rows: &[i32]) -> Vec<CellPlace> {
    let shape = &view.shape;
    let cells = shape.cells();
    let index: BTreeMap<Cell, usize> =
        cells.iter().enumerate().map(|(index, &cell)| (cell, index)).collect();
    let spot = |&cell: &Cell| {
        let at = grid.at(cell);
        CellPlace {
            cell,
            name: view.labels.label(shape, cell),
            at,
            row: rows.binary_search(&at.y).unwrap_or_default(),
            near: shape
                .neighbours(cell)
                .into_iter()
                .filter_map(|near| index.get(&near).copied())
                .collect(),
        }
    };
    cells.iter().map(spot).collect()
}

/// Returns the outer sides of an edge's cells: they face outwards, and no cell has a neighbour there.
fn outer_sides(edge: &Edge, grid: Grid<'_>) -> Vec<usize> {
    let outward = (i32::from(edge.outward.0), i32::from(edge.outward.1));
    let out = grid.point(outward);
    let looks_out = |across: (i32, i32)| {
        let way = grid.point(across);
        i64::from(way.x) * i64::from(out.x) + i64::from(way.y) * i64::from(out.y) > 0
    };
    let sides = grid.across().iter().enumerate();
    let outer = sides.filter(|&(_, &across)| {
        looks_out(across) && edge.cells.iter().all(|&cell| grid.is_outer(cell, across))
    });
    outer.map(|(side, _)| side).collect()
}

fn bands(view: &View, grid: Grid<'_>) -> Vec<Band> {
    let on_board = |edge: &Edge| Edge {
        cells: edge.cells.iter().copied().filter(|&cell| view.shape.contains(cell)).collect(),
        ..edge.clone()
    };
    let edges: Vec<Edge> = view.edges.iter().map(on_board).collect();
    let sides_of = |edge: &Edge| -> Vec<(Point, Point)> {
        let sides = outer_sides(edge, grid);
        let of = |&cell: &Cell| sides.iter().map(move |&side| (cell, side)).collect::<Vec<_>>();
        edge.cells.iter().flat_map(of).map(|(cell, side)| grid.side(cell, side)).collect()
    };
    let all: Vec<Vec<(Point, Point)>> = edges.iter().map(sides_of).collect();
    let band = |(index, edge): (usize, &Edge)| {
        let others: BTreeSet<(Point, Point)> = all
            .iter()
            .enumerate()
            .filter(|&(other, _)| other != index)
            .flat_map(|(_, s)| s)
            .copied()
            .collect();
        let directions = outer_sides(edge, grid).into_iter().map(|side| grid.across()[side]);
        let normal =
            directions.map(|across| grid.point(across)).fold(Point::default(), Point::plus);
        let out = normal.with_length(BAND);
        let outlined = |line: Vec<Point>| {
            let outside = line.iter().rev().map(|corner| corner.plus(out));
            line.iter().copied().chain(outside).collect()
        };
        let lines = lines(&all[index], &others);
        Band {
            colour: edge.colour,
            outlines: lines.into_iter().map(outlined).collect(),
            badges: edge_badges(edge, grid, normal),
        }
    };
    edges.iter().enumerate().map(band).collect()
}

/// Joins sides into lines of corners: one, unless the cells aren't next to each other. A side at an end that
/// another edge shares is cut in half.
fn lines(sides: &[(Point, Point)], others: &BTreeSet<(Point, Point)>) -> Vec<Vec<Point>> {
    let ends: BTreeSet<Point> = sides.iter().map(|side| side.1).collect();
    let from: BTreeMap<Point, Point> = sides.iter().copied().collect();
    let mut begun = BTreeSet::new();
    let starts = sides.iter().map(|side| side.0);
    let starts = starts.filter(|start| !ends.contains(start) && begun.insert(*start));
    let line = |start: Point| {
        let mut at = start;
        let mut corners = vec![at];
        while let Some(&next) = from.get(&at).filter(|_| corners.len() <= sides.len()) {
            corners.push(next);
            at = next;
        }
        let last = corners.len() - 1;
        if others.contains(&(corners[0], corners[1])) {
            corners[0] = corners[0].middle(corners[1]);
        }
        if others.contains(&(corners[last - 1], corners[last])) {
            corners[last] = corners[last - 1].middle(corners[last]);
        }
        corners
    };
    starts.map(line).collect()
}

/// Returns the letter in the middle of the edge; on a long one twice, at its quarters. It is between
/// two cells, where no row or column has its name.
fn edge_badges(edge: &Edge, grid: Grid<'_>, normal: Point) -> Vec<Badge> {
    let count = edge.cells.len();
    let quarter = count / 4;
    let at = if count > LONG_EDGE { vec![quarter, count - 1 - quarter] } else { vec![count / 2] };
    let badge = |index: usize| {
        let cell = grid.at(*edge.cells.get(index)?);
        // The two outer sides of a hexagon meet there; on squares it is where two cells meet.
        let before = edge.cells.get(index.wrapping_sub(1)).filter(|_| grid.is_square());
        let from = before.map_or(cell, |&before| cell.middle(grid.at(before)));
        let far = if grid.is_square() { HALF } else { RADIUS };
        // Cells in the middle of the board have no outer sides.
        let outward = (i32::from(edge.outward.0), i32::from(edge.outward.1));
        let out = if normal == Point::default() { grid.point(outward) } else { normal };
        Some(Badge { colour: edge.colour, at: from.plus(out.with_length(far + BADGE)) })
    };
    at.into_iter().filter_map(badge).collect()
}

/// Returns the letters of the camps, each outside beside the camp's cell that is farthest from the
/// board's middle.
fn camps(view: &View, grid: Grid<'_>) -> Vec<Badge> {
    let cells = view.shape.cells();
    let corner = |pick: fn(i32, i32) -> i32| {
        let places = cells.iter().map(|&cell| grid.at(cell));
        places.reduce(|a, b| Point { x: pick(a.x, b.x), y: pick(a.y, b.y) }).unwrap_or_default()
    };
    let middle = corner(i32::min).middle(corner(i32::max));
    let mut farthest: BTreeMap<Colour, (i64, Cell)> = BTreeMap::new();
    for ground in &view.ground {
        if let GroundKind::Target(colour) = ground.kind {
            let distance = grid.at(ground.at).less(middle).squared();
            let far = farthest.entry(colour).or_default();
            *far = (distance, ground.at).max(*far);
        }
    }
    let badge = |(colour, (_, cell))| {
        let at = grid.at(cell);
        let out = at.less(middle).with_length(RADIUS + BADGE + MARGIN);
        Badge { colour, at: at.plus(out) }
    };
    farthest.into_iter().map(badge).collect()
}

fn lines_between_points(grid: Grid<'_>) -> Vec<(Point, Point)> {
    match grid.shape {
        Layout::Points(points) => {
            points.lines().map(|(from, to)| (grid.at(from), grid.at(to))).collect()
        }
        Layout::Nothing | Layout::Shape(_) => Vec::new(),
    }
}

fn name_places(view: &View, grid: Grid<'_>, far: i32) -> Vec<NamePlace> {
    if let Layout::Points(points) = grid.shape {
        // Beside the lower right corner of the piece on it, where fewest lines are.
        let place = |cell: Cell| {
            let text = points.name(cell);
            let by = Point { x: HALF * 70 / 100 + half_width(&text), y: HALF * 85 / 100 };
            NamePlace { text, at: grid.at(cell).plus(by) }
        };
        return view.shape.cells().into_iter().map(place).collect();
    }
    let place = |name: super::naming::Name| {
        // At the side, a long name begins where a short one does.
        let longer = if name.towards.1 == 0 { half_width(&name.text) - half_width("0") } else { 0 };
        let towards = grid.point(name.towards).with_length(far + longer);
        NamePlace { text: name.text, at: grid.at(name.beside).plus(towards) }
    };
    names(view).into_iter().map(place).collect()
}

fn half_width(name: &str) -> i32 {
    i32::try_from(name.len()).unwrap_or(0) * NAME_SIZE * 32 / 100
}
