//! Contests played without games, for the tests of formats.

use super::{Field, Format, Met, Pairing};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// The generator of a test.
pub(super) fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Plays a contest to its end, with a look at what was played before each stage.
pub(super) fn play(
    format: &dyn Format,
    field: Field,
    mut result: impl FnMut(&Pairing) -> Vec<u32>,
    mut look: impl FnMut(&[Met], &[Pairing]),
) -> Vec<Met> {
    let mut past = Vec::new();
    loop {
        let next = format.next(field, &past);
        look(&past, &next);
        if next.is_empty() {
            return past;
        }
        past.extend(next.into_iter().map(|pairing| {
            let halves = result(&pairing);
            Met { pairing, blocks: vec![halves.clone()], halves }
        }));
    }
}

/// What players of known strength (in logits) get: in each of so many games each is placed by its
/// strength and luck, so that of two the odds of the better one are e to the difference.
pub(super) fn by_strength(
    strength: &[f64],
    games: usize,
    mut random: ChaCha8Rng,
) -> impl FnMut(&Pairing) -> Vec<u32> {
    move |pairing| {
        let mut halves = vec![0; pairing.players.len()];
        for _ in 0..games {
            let mut luck = || -f64::ln(-f64::ln(random.random_range(1e-9..1.0)));
            let shown: Vec<f64> =
                pairing.players.iter().map(|player| strength[player.index()] + luck()).collect();
            for (own, sum) in shown.iter().zip(&mut halves) {
                *sum += shown.iter().map(|other| if other < own { 2 } else { 0 }).sum::<u32>();
            }
        }
        halves
    }
}
