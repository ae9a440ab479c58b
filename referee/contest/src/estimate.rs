//! Estimates how long a contest takes, from random play and the clock.

use crate::openings::{play_any, started};
use crate::{Contest, OpeningError};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use referee_games::{AnyGame, Games, Turn};
use referee_match::named_seed;
use referee_protocol::ClockSettings;
use schemars::JsonSchema;
use serde::Serialize;

/// How many random games are played for each game of the contest.
const PLAYOUTS: u64 = 6;
/// The most turns of a random game.
const TURNS_MAX: u64 = 2000;
/// The time of a quick turn, in milliseconds.
pub const QUICK_TURN_MS: u64 = 10;
/// The size of a transcript, in bytes: its frame, and the three lines of a turn. Measured with
/// agents that send only their actions.
const FRAME_BYTES: u64 = 2000;
const TURN_BYTES: u64 = 420;

/// The average match of a contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Estimate {
    /// Turns of a random game.
    pub turns: u64,
    /// Milliseconds if every turn takes 10 ms.
    pub quick_ms: u64,
    /// Milliseconds if every agent uses its whole clock.
    pub most_ms: u64,
    /// Bytes of its transcript.
    pub bytes: u64,
}

/// Estimates the average match from random games, drawn from the contest's seed.
pub fn estimate(contest: &Contest, games: &Games) -> Result<Estimate, OpeningError> {
    let (mut sum, mut count) = (0, 0);
    for (index, game) in contest.games.iter().enumerate() {
        let Ok(kind) = game.kind(games) else { continue };
        for number in 0..PLAYOUTS {
            let setup = contest.opening(kind, index, number)?;
            let start = started(kind, &setup)?;
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

/// Plays a random game and returns its number of turns.
fn playout(mut game: Box<dyn AnyGame>, seed: u64) -> u64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for turns in 0..TURNS_MAX {
        if matches!(game.turn(), Turn::Over(_)) || !play_any(game.as_mut(), &mut random) {
            return turns;
        }
    }
    TURNS_MAX
}

/// Returns the time of a match in which all agents start together and then use their whole clocks.
/// No setting is longer than a year, so the sums don't overflow.
fn longest_ms(clock: &ClockSettings, turns: u64, seats: u64) -> u64 {
    let own = turns.div_ceil(seats.max(1));
    let moves = clock.move_ms.map(|ms| ms * own);
    let bank = clock.bank_ms.map(|ms| ms + clock.increment_ms * own);
    let each = moves.into_iter().chain(bank).min().unwrap_or(0);
    clock.start_ms + seats * each
}
