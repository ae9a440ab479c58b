//! `greedy`: looks one action ahead.

use crate::board::Board;
use crate::board_player::{Choice, Chooser};
use crate::evaluation::evaluate;
use crate::puzzle;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use referee_protocol::Seat;

/// Plays the action with the best position after it by the game's own estimate; of equal ones a
/// random one. Plans a puzzle to its end, if a search by the estimate finds one.
#[derive(Debug)]
pub(crate) struct Greedy;

impl Chooser for Greedy {
    fn choose<B: Board>(
        &mut self,
        game: &B,
        seat: Seat,
        actions: Vec<B::Action>,
        random: &mut ChaCha8Rng,
    ) -> Choice<B::Action> {
        let after = |action: &B::Action| {
            let mut next = game.clone();
            next.play_listed(action);
            evaluate(&next, seat)
        };
        let values: Vec<i64> = actions.iter().map(after).collect();
        let best = values.iter().copied().max();
        let equals: Vec<B::Action> = actions
            .into_iter()
            .zip(values)
            .filter(|&(_, value)| Some(value) == best)
            .map(|(action, _)| action)
            .collect();
        let action = equals.choose(random).expect("one of the actions is the best").clone();
        Choice { action, info: None }
    }

    fn plan<B: Board>(&mut self, game: &B) -> Vec<B::Action> {
        puzzle::best_first(game).actions
    }
}
