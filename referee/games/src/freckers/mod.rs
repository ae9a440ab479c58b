//! Freckers: two teams of six frogs cross a pond on lily pads that disappear and grow again.
//!
//! Source: Rules for the Game of Freckers (COMP30024, University of Melbourne, February 2025,
//! v1.1).

mod action;
mod cells;
mod estimate;
mod routes;
mod setup;
#[cfg(test)]
mod tests;

pub use action::{Action, Direction};
pub use setup::{Landing, Position, Setup};

use crate::ActionKey;
use crate::board::{Cell, Layout};
use crate::game::{IgnoredInEq, seat_of};
use crate::setup_fields::check_limit;
use crate::view::{Colour, Edge, Figure, Ground, GroundKind, Labels, Piece, View};
use crate::{Game, Illegal, Turn};
use cells::{Cells, OPPOSITE, SHAPE};
use referee_protocol::{Outcome, Seat};
use routes::{DIRECTIONS_MAX, directions};
use std::sync::Arc;

const SEATS: usize = 2;
const FROGS: u32 = 6;
const COLOURS: [Colour; SEATS] = [Colour::Red, Colour::Blue];
/// Beyond each seat's opposite row, in the units of [`Shape::place`](crate::board::Shape::place).
const OUTWARD: [(i8, i8); SEATS] = [(0, 1), (0, -1)];

/// A game of Freckers in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Freckers {
    setup: Arc<Setup>,
    board: Board,
    /// The number of actions so far.
    turn: u32,
    /// The cells of the last move's path; empty after growth.
    last: IgnoredInEq<Vec<Cell>>,
}

/// What is on the board, and whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Board {
    frogs: [Cells; SEATS],
    /// The free pads; every frog is on another one.
    pads: Cells,
    mover: usize,
    landing: Landing,
}

impl Board {
    fn all_frogs(&self) -> Cells {
        self.frogs[0] | self.frogs[1]
    }

    /// Moves a frog of the mover to a free pad, and ends its turn.
    fn go(&mut self, from: Cells, to: Cells) {
        self.frogs[self.mover] ^= from | to;
        self.pads ^= to;
        self.mover ^= 1;
    }

    /// Grows pads around the mover's frogs, and ends its turn.
    fn grow(&mut self) {
        self.pads |= cells::around(self.frogs[self.mover]) & !self.all_frogs();
        self.mover ^= 1;
    }

    fn across(&self, seat: usize) -> u32 {
        (self.frogs[seat] & OPPOSITE[seat]).count_ones()
    }
}

impl Freckers {
    fn usual_start(setup: Setup) -> Self {
        let row = |row: u32, columns: Cells| columns << (8 * row);
        let board = Board {
            frogs: [row(0, 0x7E), row(7, 0x7E)],
            pads: row(0, 0x81) | row(1, 0x7E) | row(6, 0x7E) | row(7, 0x81),
            mover: 0,
            landing: setup.landing,
        };
        Self { setup: Arc::new(setup), board, turn: 0, last: IgnoredInEq::default() }
    }

    /// Sets the position. Fails if no game can reach it.
    fn set_up(&mut self, position: &Position) -> Result<(), Illegal> {
        let refused = |text: String| Illegal::new(format!("position: {text}"));
        let mut taken = 0;
        let mut gather = |list: &[Cell]| {
            let mut set = 0;
            for &cell in list {
                let Some(cell) = SHAPE.find(cell.pair()) else {
                    return Err(refused(format!("{},{} is off the board", cell.0, cell.1)));
                };
                if taken & cells::only(cell) != 0 {
                    let text = format!("{},{} is named twice among frogs and pads", cell.0, cell.1);
                    return Err(refused(text));
                }
                taken |= cells::only(cell);
                set |= cells::only(cell);
            }
            Ok(set)
        };
        self.board.frogs = [gather(&position.frogs[0])?, gather(&position.frogs[1])?];
        self.board.pads = gather(&position.pads)?;
        if self.board.frogs.iter().any(|frogs| frogs.count_ones() != FROGS) {
            return Err(refused(format!("frogs: each player has {FROGS}")));
        }
        if (0..SEATS).all(|seat| self.board.across(seat) == FROGS) {
            return Err(refused("frogs: only one player can be across".to_owned()));
        }
        self.board.mover = usize::from(position.to_move);
        if self.board.mover >= SEATS {
            return Err(refused(format!("to_move: there is no seat {}", position.to_move)));
        }
        let limit = self.setup.turn_limit;
        if position.turn > limit {
            return Err(refused(format!("turn: the game ends after {limit} actions")));
        }
        self.turn = position.turn;
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.winner().is_some() || self.turn >= self.setup.turn_limit
    }

    /// Returns the seat whose frogs are all on the opposite row.
    fn winner(&self) -> Option<usize> {
        (0..SEATS).find(|&seat| self.board.across(seat) == FROGS)
    }

    /// Checks a move and returns its path.
    fn check_move(
        &self,
        from: [i64; 2],
        directions: Option<&[Direction]>,
        to: Option<[i64; 2]>,
    ) -> Result<Vec<Cell>, Illegal> {
        if let Some(directions) = directions {
            if directions.is_empty() {
                return Err(Illegal::new("a move has at least one direction"));
            }
            if directions.len() > DIRECTIONS_MAX {
                let rule = format!("a move has at most {DIRECTIONS_MAX} directions");
                return Err(Illegal::new(rule));
            }
        }
        let start = on_board(from)?;
        let colour = COLOURS[self.board.mover].name();
        if self.board.frogs[self.board.mover] & cells::only(start) == 0 {
            return Err(Illegal::new(format!("{colour} has no frog on {}", show(start))));
        }
        let end = to.map(on_board).transpose()?;
        let path = match (directions, end) {
            (Some(directions), _) => self.board.walk(start, directions)?,
            (None, Some(end)) => self.board.routes(start).path(end).ok_or_else(|| {
                let (start, end) = (show(start), show(end));
                Illegal::new(format!(
                    "no step and no sequence of jumps leads from {start} to a free pad on {end}"
                ))
            })?,
            (None, None) => {
                return Err(Illegal::new("a move needs `directions`, `to` or both"));
            }
        };
        let reached = path[path.len() - 1];
        match end {
            Some(end) if end != reached => {
                let (led, sent) = (show(reached), show(end));
                let rule = "`directions` and `to` must agree";
                Err(Illegal::new(format!("{rule}: the directions lead to {led}, not to {sent}")))
            }
            _ => Ok(path),
        }
    }
}

impl Game for Freckers {
    const NAME: &'static str = "freckers";
    const RULES: u32 = 1;
    const ABOUT: &str = include_str!("about.json");
    const KINDS: &'static [(&'static str, usize)] = &[("move", 2), ("grow", 0)];
    type Setup = Setup;
    type Action = Action;
    type Position = Position;

    fn start(setup: Setup) -> Result<Self, Illegal> {
        check_limit("turn_limit", setup.turn_limit)?;
        let position = setup.position.clone();
        let mut game = Self::usual_start(setup);
        if let Some(position) = position {
            game.set_up(&position)?;
            // With its lists sorted.
            let position = Some(game.position());
            Arc::make_mut(&mut game.setup).position = position;
        }
        Ok(game)
    }

    fn setup(&self) -> Setup {
        Setup::clone(&self.setup)
    }

    fn colours(&self) -> Vec<&'static str> {
        COLOURS.map(Colour::into).to_vec()
    }

    fn turn(&self) -> Turn {
        let across = [self.board.across(0), self.board.across(1)];
        let outcome = if let Some(winner) = self.winner() {
            Outcome::won_by(seat_of(winner), SEATS, "all_across")
        } else if self.turn < self.setup.turn_limit {
            return Turn::Of(seat_of(self.board.mover));
        } else if across[0] == across[1] {
            Outcome::drawn(SEATS, "turn_limit")
        } else {
            let winner = seat_of(usize::from(across[1] > across[0]));
            Outcome::won_by(winner, SEATS, "turn_limit")
        };
        Turn::Over(outcome.with_scores(across.map(i64::from).to_vec()))
    }

    fn turn_number(&self) -> u64 {
        self.turn.into()
    }

    fn actions(&self) -> Vec<Action> {
        if self.is_over() {
            return Vec::new();
        }
        let mut actions = Vec::new();
        for from in cells::members(self.board.frogs[self.board.mover]) {
            let routes = self.board.routes(from);
            let paths = cells::members(routes.ends()).filter_map(|end| routes.path(end));
            actions.extend(paths.map(|path| Action::Move {
                from: from.pair(),
                to: path.last().map(|end| end.pair()),
                directions: Some(directions(&path)),
            }));
        }
        actions.push(Action::Grow {});
        actions
    }

    fn play(&mut self, action: &Action) -> Result<Action, Illegal> {
        if self.is_over() {
            return Err(Illegal::game_over());
        }
        let recorded = match action {
            Action::Grow {} => {
                self.board.grow();
                self.last = IgnoredInEq::default();
                Action::Grow {}
            }
            Action::Move { from, directions: written, to } => {
                let path = self.check_move(*from, written.as_deref(), *to)?;
                let (start, end) = (path[0], path[path.len() - 1]);
                self.board.go(cells::only(start), cells::only(end));
                let written = written.clone().unwrap_or_else(|| directions(&path));
                self.last = IgnoredInEq(path);
                Action::Move { from: *from, directions: Some(written), to: Some(end.pair()) }
            }
        };
        self.turn += 1;
        Ok(recorded)
    }

    fn key(&self, action: &Action) -> Option<ActionKey> {
        match *action {
            Action::Move { from, to, .. } => ActionKey::between(0, from, to?),
            Action::Grow {} => Some(ActionKey::of(1)),
        }
    }

    fn action(&self, ActionKey { kind, cells: [from, to] }: ActionKey) -> Action {
        if kind == 0 {
            Action::Move { directions: None, from: from.pair(), to: Some(to.pair()) }
        } else {
            Action::Grow {}
        }
    }

    fn layout(&self) -> Layout {
        SHAPE.into()
    }

    fn position(&self) -> Position {
        Position {
            to_move: seat_of(self.board.mover).0,
            frogs: self.board.frogs.map(|set| cells::members(set).collect()),
            pads: cells::members(self.board.pads).collect(),
            turn: self.turn,
        }
    }

    fn view(&self) -> View {
        let seats = || (0..SEATS).map(|seat| (seat, COLOURS[seat]));
        let pad = |at| Ground { at, kind: GroundKind::Pad };
        View {
            pieces: seats()
                .flat_map(|(seat, colour)| {
                    cells::members(self.board.frogs[seat]).map(move |at| Piece::new(at, colour))
                })
                .collect(),
            ground: cells::members(self.board.pads).map(pad).collect(),
            edges: seats()
                .map(|(seat, colour)| Edge {
                    colour,
                    cells: cells::members(OPPOSITE[seat]).collect(),
                    outward: OUTWARD[seat],
                })
                .collect(),
            last: self.last.0.clone(),
            figures: seats()
                .map(|(seat, colour)| Figure {
                    name: "across".into(),
                    colour: Some(colour),
                    value: format!("{}/{FROGS}", self.board.across(seat)),
                })
                .collect(),
            ..View::new(SHAPE, Labels::Pair)
        }
    }

    fn estimate(&self, seat: Seat) -> i64 {
        estimate::estimate(&self.board, seat.index())
    }
}

fn on_board(at: [i64; 2]) -> Result<Cell, Illegal> {
    SHAPE.find(at).ok_or_else(|| Illegal::new(format!("{},{} is off the board", at[0], at[1])))
}

fn show(cell: Cell) -> String {
    format!("{},{}", cell.0, cell.1)
}
