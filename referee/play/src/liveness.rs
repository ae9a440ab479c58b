//! Whether a transcript that has no end is still written: nobody who reads a file can know, but a match
//! that is silent for longer than whoever is asked may think is over.

use referee_protocol::{ClockSettings, TurnEvent};
use std::time::{Duration, SystemTime};

/// A file that isn't written for so long, beyond what the seat that is asked may take, is nobody's.
const SILENCE: Duration = Duration::from_secs(60);
/// What a seat may take counts up to this: without a clock that is a year.
const THINKING_MAX: Duration = Duration::from_secs(600);

/// Whether a transcript without an end is still written, as far as can be told: it was not long ago,
/// and who is asked may take some time.
pub fn is_written(
    changed: SystemTime,
    asked: Option<&TurnEvent>,
    clock: Option<&ClockSettings>,
) -> bool {
    let cap = clock.and_then(|clock| clock.move_ms);
    let left = asked.and_then(|asked| asked.left_ms.into_iter().chain(cap).min());
    let thinking = Duration::from_millis(left.unwrap_or(0)).min(THINKING_MAX);
    // A clock that was set back makes it young.
    changed.elapsed().is_ok_and(|age| age < SILENCE + thinking) || changed > SystemTime::now()
}

/// Whether a file that was last written then may still be written at all.
pub fn may_be_written(changed: SystemTime) -> bool {
    changed.elapsed().map_or(true, |age| age < SILENCE + THINKING_MAX)
}
