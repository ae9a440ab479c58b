//! Hex: two sides place stones on a diamond, and each tries to connect its two borders.
//!
//! Rules: Board Games on Hexagonal Grids, section 4.1. What they leave open (larger boards, the
//! first colour, the swap) is a switch in the [`Setup`].

mod action;
mod board;
mod chain;
mod estimate;
mod setup;
mod board_mapping;
mod htp;
mod sgf;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod dialogues;

pub use action::Action;
pub use setup::{Position, Setup, Side, Swap};

use crate::board::{Cell, Layout, Shape};
use crate::game::IgnoredInEq;
use crate::view::{Colour, Edge, Labels, Piece, View};
use crate::{ActionFields, DialectKind, Game, Illegal, NotationKind, Turn};
use crate::{ActionKey, Numbering};
use board::Board;
use referee_protocol::{Outcome, Seat};
use std::sync::Arc;

/// A game of Hex.
#[derive(Clone, Debug, PartialEq)]
pub struct Hex {
    first: Side,
    swap: Swap,
    /// The setup's position, if it has one.
    began_with: Option<Arc<Position>>,
    board: Board,
    /// Turns so far.
    turn: u16,
    /// Whether the seats have exchanged colours.
    exchanged: bool,
    winner: Option<Side>,
    /// The index of the last stone, only for the view.
    last: IgnoredInEq<Option<u16>>,
}

impl Hex {
    /// Returns the colour that a seat has now.
    pub fn side(&self, seat: Seat) -> Side {
        if (seat.0 == 0) == self.exchanged { self.first.other() } else { self.first }
    }

    /// Returns the seat that has this colour now.
    fn seat(&self, side: Side) -> Seat {
        Seat(u8::from(side != self.side(Seat(0))))
    }

    /// Returns the seat to move; the seats alternate.
    fn mover(&self) -> Seat {
        Seat(u8::from(self.turn % 2 == 1))
    }

    /// Returns whether this is the one turn on which a swap is allowed.
    fn may_swap(&self) -> bool {
        self.turn == 1 && self.swap != Swap::None && self.winner.is_none()
    }

    fn place(&mut self, at: [i64; 2]) -> Result<(), Illegal> {
        let Some(index) = self.board.find(at) else {
            return Err(Illegal::new(format!("{} is off the board", action::name_of(at))));
        };
        if !self.board.is_empty(index) {
            return Err(Illegal::new(format!("{} is occupied", action::name_of(at))));
        }
        let side = self.side(self.mover());
        if self.board.place(index, side) {
            self.winner = Some(side);
        }
        self.last = IgnoredInEq(u16::try_from(index).ok());
        Ok(())
    }

    fn swap_over(&mut self) -> Result<(), Illegal> {
        if self.swap == Swap::None {
            return Err(Illegal::new("this setup has no swap"));
        }
        if !self.may_swap() {
            return Err(Illegal::new(
                "only the second player may swap, and only on its first turn",
            ));
        }
        if self.swap == Swap::Sides {
            // The mark stays on the stone that has a new owner.
            self.exchanged = true;
            return Ok(());
        }
        let (row, column, _) = self.stones().next().expect("on turn 1 there is one stone").0;
        let side = self.side(self.mover());
        self.board = Board::new(self.board.size());
        let index = self.board.index(column, row);
        self.board.place(index, side);
        self.last = IgnoredInEq(u16::try_from(index).ok());
        Ok(())
    }

    /// Returns every stone in the order of the cells.
    fn stones(&self) -> impl Iterator<Item = ((u8, u8, usize), Side)> {
        let stone = |cell: (u8, u8, usize)| self.board.stone(cell.2).map(|side| (cell, side));
        self.board.cells().filter_map(stone)
    }

    fn empty_cells(&self) -> impl Iterator<Item = (u8, u8, usize)> {
        self.board.cells().filter(|&(_, _, index)| self.board.is_empty(index))
    }
}

impl Game for Hex {
    const NAME: &'static str = "hex";
    const RULES: u32 = 1;
    const ABOUT: &str = include_str!("about.json");
    const DIALECTS: &'static [DialectKind] = &[htp::KIND];
    const NOTATIONS: &'static [NotationKind] = &[sgf::KIND];
    const KINDS: &'static [(&'static str, usize)] = &[("place", 1), ("swap", 0)];
    type Setup = Setup;
    type Action = Action;
    type Position = Position;

    fn start(mut setup: Setup) -> Result<Self, Illegal> {
        let size = setup::size_of(&setup)?;
        let mut game = Self {
            first: setup.first,
            swap: setup.swap,
            began_with: None,
            board: Board::new(size),
            turn: 0,
            exchanged: false,
            winner: None,
            last: IgnoredInEq(None),
        };
        if let Some(mut position) = setup.position.take() {
            position.stones.iter_mut().for_each(|stones| stones.sort_unstable());
            (game.board, game.winner) = setup::board_of(&position, &setup, size)?;
            game.turn =
                u16::try_from(position.turn).expect("there are about as many turns as stones");
            game.exchanged = position.colours[0] != setup.first;
            game.began_with = Some(Arc::new(position));
        }
        Ok(game)
    }

    fn setup(&self) -> Setup {
        Setup {
            size: i64::from(self.board.size()),
            first: self.first,
            swap: self.swap,
            position: self.began_with.as_deref().cloned(),
        }
    }

    fn colours(&self) -> Vec<&'static str> {
        self.setup().colours().map(Side::name).to_vec()
    }

    fn current_colours(&self) -> Vec<&'static str> {
        Seat::all(2).map(|seat| self.side(seat).name()).collect()
    }

    fn turn(&self) -> Turn {
        match self.winner {
            None => Turn::Of(self.mover()),
            Some(side) => Turn::Over(Outcome::won_by(self.seat(side), 2, "connected")),
        }
    }

    fn turn_number(&self) -> u64 {
        u64::from(self.turn)
    }

    fn actions(&self) -> Vec<Action> {
        if self.winner.is_some() {
            return Vec::new();
        }
        let place = |(row, column, _)| Action::Place { at: [i64::from(row), i64::from(column)] };
        let swap = self.may_swap().then_some(Action::Swap {});
        self.empty_cells().map(place).chain(swap).collect()
    }

    fn play(&mut self, action: &Action) -> Result<Action, Illegal> {
        if self.winner.is_some() {
            return Err(Illegal::game_over());
        }
        match *action {
            Action::Place { at } => self.place(at)?,
            Action::Swap {} => self.swap_over()?,
        }
        self.turn += 1;
        Ok(action.clone())
    }

    fn key(&self, action: &Action) -> Option<ActionKey> {
        match *action {
            Action::Place { at } => ActionKey::at(0, at),
            Action::Swap {} => Some(ActionKey::of(1)),
        }
    }

    fn action(&self, ActionKey { kind, cells: [at, _] }: ActionKey) -> Action {
        if kind == 0 { Action::Place { at: at.pair() } } else { Action::Swap {} }
    }

    fn legal_numbers(&self, numbering: &Numbering) -> Vec<usize> {
        if self.winner.is_some() {
            return Vec::new();
        }
        // Cells are numbered in the order in which they are listed, and the swap comes after them.
        let mut numbers = self.board.empty_numbers();
        numbers.extend(self.may_swap().then(|| numbering.total() - 1));
        numbers
    }

    fn layout(&self) -> Layout {
        Shape::Diamond(self.board.size()).into()
    }

    fn play_at_random(&mut self, below: &mut dyn FnMut(u64) -> u64, plies_max: u64) {
        if self.winner.is_some() {
            return;
        }
        // Only a stone changes what can be played, and takes away one cell: no list is made anew.
        let mut empty: Vec<usize> = self.empty_cells().map(|(_, _, index)| index).collect();
        for _ in 0..plies_max {
            let swap = u64::from(self.may_swap());
            let chosen = usize::try_from(below(empty.len() as u64 + swap)).unwrap_or_default();
            if chosen == empty.len() {
                self.swap_over().expect("a swap is legal");
                empty = self.empty_cells().map(|(_, _, index)| index).collect();
            } else {
                let index = empty.swap_remove(chosen);
                let side = self.side(self.mover());
                self.winner = self.board.place(index, side).then_some(side);
                self.last = IgnoredInEq(u16::try_from(index).ok());
            }
            self.turn += 1;
            if self.winner.is_some() {
                return;
            }
        }
    }

    fn read_fields(fields: &ActionFields<'_>) -> Option<Action> {
        let [at] = fields.fields(["at"]).filter(|_| fields.kind() == "place")?;
        Some(Action::Place { at: at.pair()? })
    }

    fn position(&self) -> Position {
        let mut stones = [Vec::new(), Vec::new()];
        for ((row, column, _), side) in self.stones() {
            stones[usize::from(side == Side::Red)].push([i64::from(row), i64::from(column)]);
        }
        Position {
            to_move: self.mover().0,
            size: i64::from(self.board.size()),
            stones,
            colours: [self.side(Seat(0)), self.side(Seat(1))],
            turn: self.turn_number(),
        }
    }

    fn view(&self) -> View {
        let cell =
            |(row, column, _): (u8, u8, usize)| Cell(row.cast_signed(), column.cast_signed());
        let piece = |(at, side)| Piece::new(cell(at), colour(side));
        let last = |&(_, _, index): &(u8, u8, usize)| self.last.0.map(usize::from) == Some(index);
        let last = self.board.cells().find(last);
        View {
            pieces: self.stones().map(piece).collect(),
            edges: edges(self.board.size()),
            last: last.map(cell).into_iter().collect(),
            chain: self.winner.map_or_else(Vec::new, |side| chain::shortest(&self.board, side)),
            ..View::new(Shape::Diamond(self.board.size()), Labels::LetterNumber)
        }
    }

    fn estimate(&self, seat: Seat) -> i64 {
        estimate::estimate(&self.board, self.side(seat), self.mover() == seat)
    }
}

fn colour(side: Side) -> Colour {
    match side {
        Side::Black => Colour::Black,
        Side::Red => Colour::Red,
    }
}

/// Returns the four borders. With (0,0) at the top, column 0 is in the north-west and row 0 in the
/// north-east.
fn edges(size: u8) -> Vec<Edge> {
    let size = size.cast_signed();
    let end = size - 1;
    [
        (Side::Black, (-1, -1), 0),
        (Side::Black, (1, 1), end),
        (Side::Red, (1, -1), 0),
        (Side::Red, (-1, 1), end),
    ]
    .into_iter()
    .map(|(side, outward, line)| {
        let cell = |along| match side {
            Side::Black => Cell(along, line),
            Side::Red => Cell(line, along),
        };
        Edge { colour: colour(side), cells: (0..size).map(cell).collect(), outward }
    })
    .collect()
}
