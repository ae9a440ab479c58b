//! Simulates contests without games, for the tests of formats.

use super::{Field, Format, Pairing, PairingResult};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Returns the random generator of a test.
pub(super) fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Plays a contest to its end, and calls `look` before each stage.
pub(super) fn play(
    format: &dyn Format,
    field: Field,
    mut result: impl FnMut(&Pairing) -> Vec<u32>,
    mut look: impl FnMut(&[PairingResult], &[Pairing]),
) -> Vec<PairingResult> {
    let mut past = Vec::new();
    loop {
        let next = format.next(field, &past);
        look(&past, &next);
        if next.is_empty() {
            return past;
        }
        past.extend(next.into_iter().map(|pairing| {
            let half_points = result(&pairing);
            PairingResult { pairing, block_half_points: vec![half_points.clone()], half_points }
        }));
    }
}

/// Returns results for players of known strength (in logits): in each of `games` games a player is
/// placed by strength and luck, such that the odds between two players are e to the power of the
/// difference.
pub(super) fn by_strength(
    strength: &[f64],
    games: usize,
    mut random: ChaCha8Rng,
) -> impl FnMut(&Pairing) -> Vec<u32> {
    move |pairing| {
        let mut half_points = vec![0; pairing.players.len()];
        for _ in 0..games {
            let mut luck = || -f64::ln(-f64::ln(random.random_range(1e-9..1.0)));
            let shown: Vec<f64> =
                pairing.players.iter().map(|player| strength[player.index()] + luck()).collect();
            for (own, sum) in shown.iter().zip(&mut half_points) {
                *sum += shown.iter().map(|other| if other < own { 2 } else { 0 }).sum::<u32>();
            }
        }
        half_points
    }
}
