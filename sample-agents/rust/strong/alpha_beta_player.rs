//! The alpha-beta player of Chinese Checkers, Chexers and Freckers, which differ only in their boards.

use crate::alpha_beta::{Board, Move, Search};
use crate::player::{Choice, Clock, Player, figures};
use referee_games::Game;
use std::collections::HashMap;

/// The constants of a game, and conversions from the rules' types.
pub(crate) trait SearchGame: 'static {
    type Game: Game;
    type Board<'a>: Board;

    /// The tables of a game.
    fn new(game: &Self::Game) -> Self;
    fn board(&self, game: &Self::Game) -> Self::Board<'_>;
    /// An action as the board knows it.
    fn search_move(&self, action: &<Self::Game as Game>::Action) -> Move;
}

/// A player of such a game.
pub(crate) struct AlphaBetaPlayer<F> {
    field: F,
    search: Search,
    /// The number of occurrences of each position, by its key.
    been: HashMap<u64, usize>,
}

impl<F: SearchGame> Player for AlphaBetaPlayer<F> {
    type Game = F::Game;

    fn start(game: &F::Game, seat: usize, _seed: u64) -> Self {
        let mut player =
            Self { field: F::new(game), search: Search::new(seat), been: HashMap::new() };
        player.observe(game);
        player
    }

    fn observe(&mut self, game: &F::Game) {
        *self.been.entry(self.field.board(game).key()).or_insert(0) += 1;
    }

    fn choose(
        &mut self,
        game: &F::Game,
        actions: &[<F::Game as Game>::Action],
        clock: &Clock<'_>,
    ) -> Option<Choice<<F::Game as Game>::Action>> {
        let board = self.field.board(game);
        let moves: Vec<Move> =
            actions.iter().map(|action| self.field.search_move(action)).collect();
        let been = |key: u64| self.been.get(&key).copied().unwrap_or(0);
        let mut budget = clock.policy.turn(clock.begun, clock.left_ms);
        let found = self.search.best(&board, &moves, been, &mut budget);
        let info = figures(found.depth, f64::from(found.value), budget.spent);
        Some(Choice { action: actions[found.index].clone(), info })
    }
}
