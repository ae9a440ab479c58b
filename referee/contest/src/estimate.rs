//! How long a contest may take: sums over what random play and the clock give. No promise.

use super::openings::play_any;
use super::{Contest, OpeningError};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use referee_games::{AnyGame, Turn, kind};
use referee_match::named_seed;
use referee_protocol::ClockSettings;
use schemars::JsonSchema;
use serde::Serialize;

/// How many games are played at random, a game of the contest.
const PLAYOUTS: u64 = 6;
/// A playout is given up after so many turns, which then count.
const TURNS_MAX: u64 = 2000;
/// What a turn takes where agents are quick, in milliseconds.
pub const QUICK_TURN_MS: u64 = 10;
/// What a transcript takes on the disk, in bytes: its frame, and the three lines of a turn. It was
/// measured with agents that say nothing but their actions.
const FRAME_BYTES: u64 = 2000;
const TURN_BYTES: u64 = 420;

/// What one match of a contest takes, on average over its games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Estimate {
    /// Turns of a game in which every action is drawn.
    pub turns: u64,
    /// Milliseconds where every turn takes 10 ms.
    pub quick_ms: u64,
    /// Milliseconds where every agent uses its whole clock.
    pub most_ms: u64,
    /// Bytes of its transcript.
    pub bytes: u64,
}

/// Plays some games of the contest at random, drawn from its seed.
pub fn estimate(contest: &Contest) -> Result<Estimate, OpeningError> {
    let (mut sum, mut count) = (0, 0);
    for (index, game) in contest.games.iter().enumerate() {
        let Some(kind) = kind(&game.game) else { continue };
        for number in 0..PLAYOUTS {
            let setup = contest.opening(kind, index, number)?;
            let start =
                kind.start(&setup).map_err(|error| OpeningError::Setup(error.to_string()))?;
            let name = format!("{}:estimate:{index}:{number}", contest.seed);
            sum += playout(start, named_seed(&name));
            count += 1;
        }
    }
    let turns = sum / count.max(1);
    Ok(Estimate {
        turns,
        quick_ms: turns * QUICK_TURN_MS,
        most_ms: longest_ms(&contest.clock, turns, contest.seats() as u64),
        bytes: FRAME_BYTES + turns * TURN_BYTES,
    })
}

/// The turns of a game in which every action is drawn.
fn playout(mut game: Box<dyn AnyGame>, seed: u64) -> u64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for turns in 0..TURNS_MAX {
        if matches!(game.turn(), Turn::Over(_)) || !play_any(game.as_mut(), &mut random) {
            return turns;
        }
    }
    TURNS_MAX
}

/// A match in which all start together and then each seat uses its whole clock in its turns. No
/// setting is longer than a year, so that the sums fit.
fn longest_ms(clock: &ClockSettings, turns: u64, seats: u64) -> u64 {
    let own = turns.div_ceil(seats.max(1));
    let moves = clock.move_ms.map(|ms| ms * own);
    let bank = clock.bank_ms.map(|ms| ms + clock.increment_ms * own);
    let each = moves.into_iter().chain(bank).min().unwrap_or(0);
    clock.start_ms + seats * each
}
