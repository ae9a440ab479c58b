//! Random games of a program.

use super::Problem;
use referee_games::wire::{Move, Ply, PlyTurn, StateJson};
use serde_json::Value;

/// How a game came about.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) setup: Value,
    pub(super) moves: Vec<Move>,
    /// The name of each outcome that was drawn.
    pub(super) drawn: Vec<String>,
}

/// A game: its moves, and every ply with its legal actions.
#[derive(Clone, Debug, Default)]
pub(super) struct Game {
    pub(super) number: u64,
    pub(super) setup: Value,
    pub(super) seats: usize,
    pub(super) moves: Vec<Move>,
    /// What was recorded of each move.
    pub(super) recorded: Vec<Value>,
    /// One more than moves.
    pub(super) plies: Vec<Kept>,
    /// The next move, if the rules failed at it.
    pub(super) failed: Option<Failed>,
}

/// A move at which the rules failed.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    pub(super) step: Move,
    pub(super) problem: Problem,
}

/// A ply of a game. Its actions are text: as values they take thirty times the memory.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) state: StateJson,
    pub(super) turn: PlyTurn,
    actions: Option<Box<str>>,
}

impl Kept {
    pub(super) fn new(ply: Ply) -> Self {
        let actions = ply.actions.and_then(|listed| serde_json::to_string(&listed).ok());
        Self { state: ply.state, turn: ply.turn, actions: actions.map(String::into_boxed_str) }
    }

    /// The bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.state.as_str().len() + self.actions.as_ref().map_or(0, |listed| listed.len())
    }

    pub(super) fn ply(&self) -> Ply {
        let actions = self.actions.as_deref().and_then(|text| serde_json::from_str(text).ok());
        Ply {
            state: self.state.clone(),
            turn: self.turn.clone(),
            actions,
            position: Value::Null,
            view: None,
            notes: Vec::new(),
            estimate: Vec::new(),
            seen: Vec::new(),
            told: Vec::new(),
            views: Vec::new(),
        }
    }
}

impl Game {
    /// Returns the ply after so many moves, as a request for its actions returned it.
    pub(super) fn ply(&self, spot: usize) -> Ply {
        self.plies[spot].ply()
    }

    pub(super) fn bytes(&self) -> usize {
        self.plies.iter().map(Kept::bytes).sum()
    }

    /// Returns how the position after so many moves came about.
    pub(super) fn case(&self, spot: usize) -> Case {
        let moves = self.moves[..spot.min(self.moves.len())].to_vec();
        let name = |(step, ply): (&Move, &Kept)| match (step, &ply.turn) {
            (Move::Draw { draw }, PlyTurn::Chance(chance)) => Some(chance.label(*draw)),
            _ => None,
        };
        let drawn = moves.iter().zip(&self.plies).filter_map(name).collect();
        Case { setup: self.setup.clone(), moves, drawn }
    }
}
