//! Peg Solitaire: pegs jump over pegs, which are removed, until no jump or one peg is left.
//!
//! Rules: Board Games on Hexagonal Grids, section 4.3. The version with the last peg in the cell
//! that was open at the start is a switch in the [`Setup`].

mod action;
mod estimate;
mod parity;
mod pegs;
mod setup;
#[cfg(test)]
mod tests;

pub use action::Action;
pub use setup::{BoardShape, Finish, Position, Setup};

use crate::ActionKey;
use crate::board::{Cell, Layout, Shape};
use crate::game::IgnoredInEq;
use crate::notation::format_pair;
use crate::view::{Colour, Figure, Labels, Piece, View};
use crate::{Game, Illegal, Turn};
use pegs::{Pegs, between};
use referee_protocol::{Outcome, Seat};
use std::sync::Arc;

/// A game of Peg Solitaire.
#[derive(Clone, Debug, PartialEq)]
pub struct PegSolitaire {
    board_shape: BoardShape,
    size: u8,
    finish: Finish,
    /// The cells that were open at the start.
    open: Pegs,
    /// The setup's position, if it has one.
    began_with: Option<Arc<Position>>,
    board: Pegs,
    pegs: Pegs,
    /// Jumps so far.
    moves: u64,
    /// Whether no jump is left.
    over: bool,
    /// The last jump, only for the view.
    last: IgnoredInEq<Option<(Cell, Cell)>>,
}

impl PegSolitaire {
    fn shape(&self) -> Shape {
        self.board_shape.of(self.size)
    }

    /// Returns the cell in which the last peg must be, if it matters.
    fn end(&self) -> Option<Cell> {
        match self.finish {
            Finish::Any => None,
            Finish::Start => self.open.cells().next(),
        }
    }

    /// Returns whether no jump is left; a single peg has none either.
    fn is_over(&self) -> bool {
        self.pegs.count_jumps(self.shape(), &self.board) == 0
    }

    /// Returns the cells of a jump, or the rule that it breaks.
    fn check(&self, from: [i64; 2], to: [i64; 2]) -> Result<(Cell, Cell), Illegal> {
        let cell = |at| {
            let off = || Illegal::new(format!("{} is off the board", format_pair(at)));
            self.shape().find(at).ok_or_else(off)
        };
        let (start, end) = (cell(from)?, cell(to)?);
        let straight = |&step: &(i8, i8)| start.step(step).step(step) == end;
        if !self.shape().steps().iter().any(straight) {
            return Err(Illegal::new(format!(
                "a jump goes two cells in a straight line: {} to {} doesn't",
                format_pair(from),
                format_pair(to)
            )));
        }
        if !self.pegs.has(start) {
            return Err(Illegal::new(format!("there is no peg on {}", format_pair(from))));
        }
        let over = between(start, end);
        if !self.pegs.has(over) {
            let over = format_pair(over.pair());
            return Err(Illegal::new(format!("a jump goes over a peg: there is none on {over}")));
        }
        if self.pegs.has(end) {
            let end = format_pair(to);
            return Err(Illegal::new(format!("{end} is occupied")));
        }
        Ok((start, end))
    }
}

impl Game for PegSolitaire {
    const NAME: &'static str = "peg-solitaire";
    const RULES: u32 = 1;
    const ABOUT: &str = include_str!("about.json");
    const KINDS: &'static [(&'static str, usize)] = &[("jump", 2)];
    type Setup = Setup;
    type Action = Action;
    type Position = Position;

    fn start(mut setup: Setup) -> Result<Self, Illegal> {
        let size = setup::size_of(&setup)?;
        let shape = setup.shape.of(size);
        let open = setup::open_of(&setup, shape)?;
        let board = Pegs::all(shape);
        let mut game = Self {
            board_shape: setup.shape,
            size,
            finish: setup.finish,
            open,
            began_with: None,
            board,
            pegs: open.outside(&board),
            moves: 0,
            over: false,
            last: IgnoredInEq(None),
        };
        if let Some(mut position) = setup.position.take() {
            game.pegs = setup::pegs_of(&position, &setup, shape, open)?;
            game.moves = position.moves;
            position.pegs = setup::list_of(game.pegs);
            position.open = setup::list_of(open);
            game.began_with = Some(Arc::new(position));
        }
        game.over = game.is_over();
        Ok(game)
    }

    fn setup(&self) -> Setup {
        let position = self.position();
        Setup {
            shape: position.shape,
            size: position.size,
            open: position.open,
            finish: self.finish,
            position: self.began_with.as_deref().cloned(),
        }
    }

    fn colours(&self) -> Vec<&'static str> {
        vec![Colour::Peg.into()]
    }

    fn turn(&self) -> Turn {
        if !self.over {
            return Turn::Of(Seat(0));
        }
        let left = self.pegs.count();
        let solved = left == 1 && self.end().is_none_or(|cell| self.pegs.has(cell));
        let reason = if solved { "solved" } else { "stuck" };
        Turn::Over(Outcome::puzzle(solved, i64::from(left), reason))
    }

    fn turn_number(&self) -> u64 {
        self.moves
    }

    fn actions(&self) -> Vec<Action> {
        if self.over {
            return Vec::new();
        }
        let jump = |(from, to): (Cell, Cell)| Action::Jump { from: from.pair(), to: to.pair() };
        self.pegs.jumps(self.shape(), self.board).map(jump).collect()
    }

    fn play(&mut self, action: &Action) -> Result<Action, Illegal> {
        if self.over {
            return Err(Illegal::game_over());
        }
        let Action::Jump { from, to } = *action;
        let (from, to) = self.check(from, to)?;
        self.pegs = self.pegs.after(from, to);
        self.moves += 1;
        self.last = IgnoredInEq(Some((from, to)));
        self.over = self.is_over();
        Ok(action.clone())
    }

    fn key(&self, Action::Jump { from, to }: &Action) -> Option<ActionKey> {
        ActionKey::between(0, *from, *to)
    }

    fn action(&self, ActionKey { cells, .. }: ActionKey) -> Action {
        let [from, to] = cells.map(Cell::pair);
        Action::Jump { from, to }
    }

    fn layout(&self) -> Layout {
        self.shape().into()
    }

    fn position(&self) -> Position {
        Position {
            shape: self.board_shape,
            size: i64::from(self.size),
            pegs: setup::list_of(self.pegs),
            open: setup::list_of(self.open),
            moves: self.moves,
        }
    }

    fn view(&self) -> View {
        View {
            pieces: self.pegs.cells().map(|at| Piece::new(at, Colour::Peg)).collect(),
            last: self.last.0.map_or_else(Vec::new, |(from, to)| vec![from, to]),
            figures: vec![Figure {
                name: "pegs".into(),
                colour: None,
                value: self.pegs.count().to_string(),
            }],
            ..View::new(self.shape(), Labels::Pair)
        }
    }

    fn estimate(&self, _seat: Seat) -> i64 {
        estimate::estimate(self.shape(), self.board, self.pegs, self.end())
    }

    fn notes(&self) -> Vec<String> {
        let Some(proof) = parity::unsolvable_reason(self.shape(), self.pegs, self.end()) else {
            return Vec::new();
        };
        if self.began_with.is_some() {
            return vec![format!("this position can't be solved: {proof}")];
        }
        let opening = (self.finish == Finish::Any).then(|| parity::solvable_opening(self.shape()));
        let instead = match opening.flatten() {
            Some(Cell(row, column)) => {
                format!("with the open cell {row},{column} instead it can be solved")
            }
            None => "on this board no start with one open cell can be solved".to_owned(),
        };
        vec![format!("this start can't be solved: {proof}; {instead}")]
    }
}
