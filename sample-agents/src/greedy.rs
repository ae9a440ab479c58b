//! `greedy`: looks one action ahead.

use crate::on_board::{Choice, Chooser};
use crate::puzzle;
use crate::worth::worth;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use referee_games::Game;
use referee_protocol::Seat;

/// Picks the action after which the seat stands best by the game's own estimate, and among equals
/// any. A puzzle it plans to the end, where a search by the estimate finds one.
#[derive(Debug)]
pub(crate) struct Greedy;

impl Chooser for Greedy {
    fn choose<G: Game>(
        &mut self,
        game: &G,
        seat: Seat,
        actions: Vec<G::Action>,
        random: &mut ChaCha8Rng,
    ) -> Choice<G::Action> {
        let after = |action: &G::Action| {
            let mut next = game.clone();
            next.play_listed(action);
            worth(&next, seat)
        };
        let worths: Vec<i64> = actions.iter().map(after).collect();
        let best = worths.iter().copied().max();
        let equals: Vec<G::Action> = actions
            .into_iter()
            .zip(worths)
            .filter(|&(_, worth)| Some(worth) == best)
            .map(|(action, _)| action)
            .collect();
        let action = equals.choose(random).expect("one of the actions is the best").clone();
        Choice { action, info: None }
    }

    fn plan<G: Game>(&mut self, game: &G) -> Vec<G::Action> {
        puzzle::best_first(game).actions
    }
}
