//! Random games of a program.

use referee_games::wire::{Move, Ply};
use serde_json::Value;

/// How a game came about.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) setup: Value,
    pub(super) moves: Vec<Move>,
}

/// A game: its moves, and every ply with its legal actions.
#[derive(Clone, Debug, Default)]
pub(super) struct Game {
    pub(super) number: u64,
    pub(super) setup: Value,
    pub(super) seats: usize,
    pub(super) moves: Vec<Move>,
    /// One more than moves.
    pub(super) plies: Vec<Ply>,
}

impl Game {
    /// Returns how the position after so many moves came about.
    pub(super) fn case(&self, spot: usize) -> Case {
        let moves = self.moves[..spot.min(self.moves.len())].to_vec();
        Case { setup: self.setup.clone(), moves }
    }
}
