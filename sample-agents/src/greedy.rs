//! `greedy`: looks one action ahead.

use crate::board::Board;
use crate::board_player::{Choice, Chooser};
use crate::evaluation::evaluate;
use crate::puzzle;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use referee_protocol::Seat;

/// The number of random choices of the others that are tried where several seats choose at once.
const OTHERS_TRIED: u8 = 16;

/// Plays the action with the best position after it by the game's own estimate; of equal ones a
/// random one. Where several seats choose at once, the others are taken to choose at random. Plans a
/// puzzle to its end, if a search by the estimate finds one.
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
        let mut seed = None;
        let after = |action: &B::Action| {
            let mut next = game.clone();
            next.play_listed(action);
            if next.is_between_choices() {
                // The others' choices are the same after each action, to compare actions, not choices.
                mean(&next, seat, *seed.get_or_insert_with(|| random.random()))
            } else {
                evaluate(&next, seat)
            }
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

/// Returns the mean value of the positions after random choices of the seats that have still to choose.
fn mean<B: Board>(game: &B, seat: Seat, seed: u64) -> i64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut value_after_others = || {
        let mut next = game.clone();
        for _ in 1..game.seats() {
            if next.is_between_choices()
                && let Some(action) = next.actions().choose(&mut random)
            {
                next.play_listed(action);
            }
        }
        evaluate(&next, seat)
    };
    (0..OTHERS_TRIED).map(|_| value_after_others()).sum::<i64>() / i64::from(OTHERS_TRIED)
}
