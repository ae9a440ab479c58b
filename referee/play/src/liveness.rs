//! Guessing whether a transcript without an end is still being written: a match without output for
//! longer than the current turn may take is over.

use referee_protocol::{ClockSettings, TurnEvent};
use std::time::{Duration, SystemTime};

/// A file without output for this long, beyond the time of the current turn, has no writer.
const SILENCE: Duration = Duration::from_secs(60);
/// The most that the time of a turn counts: without a clock it is a year.
const THINKING_MAX: Duration = Duration::from_secs(600);

/// Whether a transcript without an end is probably still being written: it changed recently, given the
/// time that the current turn may take.
pub fn is_written(
    changed: SystemTime,
    asked: Option<&TurnEvent>,
    clock: Option<&ClockSettings>,
) -> bool {
    let cap = clock.and_then(|clock| clock.move_ms);
    let left = asked.and_then(|asked| asked.left_ms.into_iter().chain(cap).min());
    let thinking = Duration::from_millis(left.unwrap_or(0)).min(THINKING_MAX);
    is_younger(changed, SILENCE + thinking)
}

/// Whether a file that changed at this time may still be written at all.
pub fn may_be_written(changed: SystemTime) -> bool {
    is_younger(changed, SILENCE + THINKING_MAX)
}

/// Whether a file changed within this time. Clocks differ a little, but a file from the future is not being written:
/// whoever copies a file can give it any time.
fn is_younger(changed: SystemTime, most: Duration) -> bool {
    changed.elapsed().map_or_else(|ahead| ahead.duration() < SILENCE, |age| age < most)
}
