//! The Checker Puzzle: Chinese Checkers for one, on a diamond. Source: IT-3105's "Basic Chinese
//! Checker Puzzle".

mod action;
mod board;
mod estimate;
mod paths;
mod setup;
#[cfg(test)]
mod tests;

pub use action::Action;
pub use setup::{Position, Setup};

use crate::ActionKey;
use crate::board::{Cell, Layout};
use crate::setup_fields::check_path_length;
use crate::view::{Colour, Figure, Ground, GroundKind, Labels, Piece, View};
use crate::{Game, Illegal, Turn};
use board::{Diamond, Pieces};
use paths::Mover;
use referee_protocol::{Outcome, Seat};
use std::sync::Arc;

/// A puzzle in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckerPuzzle {
    rules: Arc<Rules>,
    pieces: Pieces,
    moves: u64,
    /// The path of the last move; empty at the start.
    last: Vec<u16>,
}

/// The constants of a puzzle.
#[derive(Debug, PartialEq)]
struct Rules {
    setup: Setup,
    diamond: Diamond,
    goal: Pieces,
}

impl Game for CheckerPuzzle {
    const NAME: &'static str = "checker-puzzle";
    const RULES: u32 = 1;
    const ABOUT: &str = include_str!("about.json");
    const KINDS: &'static [(&'static str, usize)] = &[("move", 2)];

    type Setup = Setup;
    type Action = Action;
    type Position = Position;

    fn start(mut setup: Setup) -> Result<Self, Illegal> {
        setup.check()?;
        let (size, depth) = (setup.size, setup.depth);
        let diamond = Diamond::new(size);
        let goal = diamond.top(depth);
        let (mut pieces, mut moves) = (diamond.bottom(depth), 0);
        if let Some(position) = &mut setup.position {
            pieces = position.place((size, depth), diamond, goal.len())?;
            moves = position.moves;
        }
        let rules = Arc::new(Rules { setup, diamond, goal });
        Ok(Self { rules, pieces, moves, last: Vec::new() })
    }

    fn setup(&self) -> Setup {
        self.rules.setup.clone()
    }

    fn colours(&self) -> Vec<&'static str> {
        vec![Colour::Peg.into()]
    }

    fn turn(&self) -> Turn {
        let moves = i64::try_from(self.moves).unwrap_or(i64::MAX);
        if self.is_solved() {
            Turn::Over(Outcome::puzzle(true, moves, "solved"))
        } else if self.moves >= self.rules.setup.max_moves {
            Turn::Over(Outcome::puzzle(false, moves, "move_limit"))
        } else {
            Turn::Of(Seat(0))
        }
    }

    fn turn_number(&self) -> u64 {
        self.moves
    }

    fn actions(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.is_over() {
            return actions;
        }
        for start in self.pieces.iter() {
            self.mover(start).each_path(|path| actions.push(self.recorded(&path)));
        }
        actions
    }

    fn play(&mut self, action: &Action) -> Result<Action, Illegal> {
        if self.is_over() {
            return Err(Illegal::game_over());
        }
        let Action::Move { path } = action;
        let path = self.complete(path)?;
        let action = self.recorded(&path);
        self.shift(path);
        Ok(action)
    }

    fn key(&self, Action::Move { path }: &Action) -> Option<ActionKey> {
        ActionKey::between(0, *path.first()?, *path.last()?)
    }

    fn action(&self, ActionKey { cells, .. }: ActionKey) -> Action {
        Action::Move { path: cells.map(Cell::pair).to_vec() }
    }

    fn layout(&self) -> Layout {
        self.rules.diamond.shape().into()
    }

    fn play_listed(&mut self, action: &Action) {
        let Action::Move { path } = action;
        let cell = |&at| self.rules.diamond.find(at).expect("a listed cell");
        self.shift(path.iter().map(cell).collect());
    }

    fn position(&self) -> Position {
        Position {
            size: self.rules.setup.size,
            depth: self.rules.setup.depth,
            pieces: self.pieces.iter().map(|cell| self.rules.diamond.at(cell)).collect(),
            moves: self.moves,
        }
    }

    fn view(&self) -> View {
        let diamond = self.rules.diamond;
        let piece = |cell| Piece::new(diamond.cell(cell), Colour::Peg);
        let mark = |cell| Ground { at: diamond.cell(cell), kind: GroundKind::Target(Colour::Peg) };
        let figure =
            |name: &'static str, value: String| Figure { name: name.into(), colour: None, value };
        let arrived = self.pieces.iter().filter(|&cell| self.rules.goal.contains(cell)).count();
        View {
            pieces: self.pieces.iter().map(piece).collect(),
            ground: self.rules.goal.iter().map(mark).collect(),
            last: self.last.iter().map(|&cell| diamond.cell(cell)).collect(),
            figures: vec![
                figure("moves", self.moves.to_string()),
                figure("pieces home", format!("{arrived} of {}", self.pieces.len())),
            ],
            ..View::new(diamond.shape(), Labels::Pair)
        }
    }

    fn estimate(&self, _seat: Seat) -> i64 {
        self.progress()
    }
}

impl CheckerPuzzle {
    fn is_solved(&self) -> bool {
        self.pieces == self.rules.goal
    }

    fn is_over(&self) -> bool {
        self.is_solved() || self.moves >= self.rules.setup.max_moves
    }

    /// Returns the move generator for the piece on `start`.
    fn mover(&self, start: u16) -> Mover {
        let mut others = self.pieces;
        others.remove(start);
        Mover { diamond: self.rules.diamond, start, others }
    }

    /// Checks a path and returns its complete form.
    fn complete(&self, path: &[[i64; 2]]) -> Result<Vec<u16>, Illegal> {
        check_path_length(path.len())?;
        let cell = |&[row, column]: &[i64; 2]| {
            let off = || Illegal::new(format!("[{row},{column}] is off the board"));
            self.rules.diamond.find([row, column]).ok_or_else(off)
        };
        let cells: Vec<u16> = path.iter().map(cell).collect::<Result<_, _>>()?;
        if !self.pieces.contains(cells[0]) {
            let [row, column] = path[0];
            return Err(Illegal::new(format!("there is no piece on [{row},{column}]")));
        }
        self.mover(cells[0]).complete(cells)
    }

    /// Moves a piece along a legal path.
    fn shift(&mut self, path: Vec<u16>) {
        self.pieces.remove(path[0]);
        self.pieces.insert(path[path.len() - 1]);
        self.last = path;
        self.moves += 1;
    }

    /// Returns a complete path as an action.
    fn recorded(&self, path: &[u16]) -> Action {
        Action::Move { path: path.iter().map(|&cell| self.rules.diamond.at(cell)).collect() }
    }
}
