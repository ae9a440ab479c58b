//! Positions as planes, made from the picture of the board.

use crate::CellIndex;
use crate::board::Cell;
use crate::program::RulesFailure;
use crate::view::{Colour, Figure, GroundKind, Kind, View};
use crate::{AnyGame, Turn};
use referee_protocol::Seat;

/// The planes of a game: each an array of [`CellIndex::height`] by [`CellIndex::width`] numbers from 0 to 1.
#[derive(Clone, Debug)]
pub struct Planes {
    index: CellIndex,
    kinds: Vec<Plane>,
    seats: usize,
}

/// What a plane shows. Seats count from the observing one, in order of play: 0 is its own.
#[derive(Clone, Debug, PartialEq)]
enum Plane {
    /// The cells of the board.
    Board,
    /// The pieces of a seat.
    Pieces(usize),
    /// The pieces of a kind that is no seat's, or that has another text.
    Kind(Kind),
    /// The marked cells.
    Ground,
    /// The camp that a seat must reach.
    Target(usize),
    /// The edges of a seat.
    Edge(usize),
    /// The cells where the last action began and ended.
    Last,
    /// Everywhere 1 if the observing seat is to move.
    ToMove,
    /// Everywhere the fraction that a figure shows, such as 1/4: that of a seat, or the only one.
    Figure(String, Option<usize>),
}

impl Planes {
    /// Returns the planes for games that begin like this one: from its usual start, not from a position.
    /// Fails if the rules fail to make a picture.
    pub fn new(start: &dyn AnyGame) -> Result<Self, RulesFailure> {
        let (view, seats) = (start.view_or_failure()?, start.seats());
        let index = CellIndex::new(&view.shape);
        let colours = colours(start, &view);
        let mut kinds = Vec::new();
        if index.has_gaps() {
            kinds.push(Plane::Board);
        }
        if !index.cells.is_empty() {
            kinds.extend((0..seats).map(Plane::Pieces));
            let is_seats =
                |kind: &Kind| kind.text.is_none() && colours.contains(&Some(kind.colour));
            kinds
                .extend(view.kinds.iter().filter(|kind| !is_seats(kind)).cloned().map(Plane::Kind));
        }
        let is_mark = |kind: GroundKind| !matches!(kind, GroundKind::Target(_));
        if view.ground.iter().any(|mark| is_mark(mark.kind)) {
            kinds.push(Plane::Ground);
        }
        if view.ground.iter().any(|mark| !is_mark(mark.kind)) {
            kinds.extend((0..seats).map(Plane::Target));
        }
        if !view.edges.is_empty() {
            kinds.extend((0..seats).map(Plane::Edge));
        }
        if !index.cells.is_empty() {
            kinds.push(Plane::Last);
        }
        if seats > 1 {
            kinds.push(Plane::ToMove);
        }
        for figure in view.figures.iter().filter(|figure| fraction(&figure.value).is_some()) {
            let seat = figure.colour.and_then(|own| colours.iter().position(|it| *it == Some(own)));
            if figure.colour.is_none() || seat.is_some() {
                kinds.push(Plane::Figure(figure.name.clone().into_owned(), seat));
            }
        }
        Ok(Self { index, kinds, seats })
    }

    /// The cells of the board, and where they are on a plane.
    pub fn index(&self) -> &CellIndex {
        &self.index
    }

    /// The number of planes, rows and columns.
    pub fn shape(&self) -> [usize; 3] {
        [self.kinds.len(), self.index.height, self.index.width]
    }

    /// The number of all numbers.
    pub fn len(&self) -> usize {
        self.shape().iter().product()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the name of each plane.
    pub fn names(&self) -> Vec<String> {
        let of = |seat: usize| match (seat, self.seats) {
            (_, 1) => String::new(),
            (0, _) => " of own".to_owned(),
            (_, 2) => " of opponent".to_owned(),
            (seat, _) => format!(" of opponent {seat}"),
        };
        let name = |plane: &Plane| match plane {
            Plane::Board => "board".to_owned(),
            Plane::Pieces(seat) => format!("pieces{}", of(*seat)),
            Plane::Kind(kind) => format!("pieces named {}", kind.name),
            Plane::Ground => "marked cells".to_owned(),
            Plane::Target(seat) => format!("target{}", of(*seat)),
            Plane::Edge(seat) => format!("edge{}", of(*seat)),
            Plane::Last => "last action".to_owned(),
            Plane::ToMove => "to move".to_owned(),
            Plane::Figure(name, None) => name.clone(),
            Plane::Figure(name, Some(seat)) => format!("{name}{}", of(*seat)),
        };
        self.kinds.iter().map(name).collect()
    }

    /// Writes the planes as `seat` sees the game. `out` has [`Planes::len`] numbers. Fails if the rules fail to make a
    /// picture.
    pub fn write(
        &self,
        game: &dyn AnyGame,
        seat: Seat,
        out: &mut [f32],
    ) -> Result<(), RulesFailure> {
        out.fill(0.0);
        let view = game.view_or_failure()?;
        let colours = colours(game, &view);
        // The colour of the seat that plays so many turns after the observing one.
        let colour = |after: usize| colours[(seat.index() + after) % self.seats];
        let size = self.index.height * self.index.width;
        for (plane, out) in self.kinds.iter().zip(out.chunks_exact_mut(size)) {
            let mut cells = |cells: &mut dyn Iterator<Item = Cell>| {
                for cell in cells {
                    if let Some(place) = self.index.place(cell) {
                        out[place] = 1.0;
                    }
                }
            };
            match plane {
                Plane::Board => cells(&mut self.index.cells.iter().copied()),
                Plane::Pieces(after) => {
                    let own = colour(*after);
                    let own = view.pieces.iter().filter(|piece| Some(piece.colour) == own);
                    cells(&mut own.map(|piece| piece.at));
                }
                Plane::Kind(kind) => {
                    let own = |(colour, text)| (colour, text) == (kind.colour, kind.text);
                    let pieces = view.pieces.iter();
                    let pieces = pieces.filter(|piece| own((piece.colour, piece.text)));
                    cells(&mut pieces.map(|piece| piece.at));
                }
                Plane::Ground => {
                    let is_mark = |kind| !matches!(kind, GroundKind::Target(_));
                    let marks = view.ground.iter().filter(|mark| is_mark(mark.kind));
                    cells(&mut marks.map(|mark| mark.at));
                }
                Plane::Target(after) => {
                    let own = colour(*after).map(GroundKind::Target);
                    let camp = view.ground.iter().filter(|mark| Some(mark.kind) == own);
                    cells(&mut camp.map(|mark| mark.at));
                }
                Plane::Edge(after) => {
                    let own = colour(*after);
                    let edges = view.edges.iter().filter(|edge| Some(edge.colour) == own);
                    cells(&mut edges.flat_map(|edge| edge.cells.iter().copied()));
                }
                // Not the cells between: which of several paths is shown is no part of the position.
                Plane::Last => {
                    cells(&mut view.last.first().into_iter().chain(view.last.last()).copied());
                }
                Plane::ToMove => {
                    if matches!(game.turn(), Turn::Of(mover) if mover == seat) {
                        out.fill(1.0);
                    }
                }
                Plane::Figure(name, after) => {
                    let own = after.map(&colour);
                    let is_it = |figure: &&Figure| {
                        figure.name == *name && own.is_none_or(|own| figure.colour == own)
                    };
                    let figure = view.figures.iter().find(is_it);
                    out.fill(figure.and_then(|it| fraction(&it.value)).unwrap_or_default());
                }
            }
        }
        Ok(())
    }
}

/// Returns each seat's colour in a picture.
fn colours(game: &dyn AnyGame, view: &View) -> Vec<Option<Colour>> {
    game.current_colours().iter().map(|name| view.colour_of(name)).collect()
}

/// Reads a figure such as `1/4` or `1 of 4`.
fn fraction(value: &str) -> Option<f32> {
    let (part, whole) = value.split_once('/').or_else(|| value.split_once(" of "))?;
    let (part, whole) = (part.trim().parse::<u16>().ok()?, whole.trim().parse::<u16>().ok()?);
    (whole > 0).then(|| (f32::from(part) / f32::from(whole)).min(1.0))
}
