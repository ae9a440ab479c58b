//! How many matches run at once.

use super::global::Global;
use referee_process::{cores, memory_kills};
use referee_protocol::Limits;

/// Returns how many matches run at once if nobody has said so: one for each core, as far as there is memory for all that
/// their agents may have.
pub(super) fn usual(seats: usize, limits: &Limits) -> usize {
    let fitting = memory_kills::machine_mb().map(|all| all / agents_mb(1, seats, limits).max(1));
    let fitting = fitting.and_then(|fitting| usize::try_from(fitting).ok());
    cores::count().min(fitting.unwrap_or(usize::MAX)).max(1)
}

/// Notes that the agents of so many matches may have more memory than there is: then the system kills some of them, not
/// always those that have most.
pub(super) fn note_memory(matches: usize, seats: usize, limits: &Limits, global: &Global) {
    let may = agents_mb(matches, seats, limits);
    let short = memory_kills::machine_mb().filter(|&all| all < may);
    global.note(short.map(|all| {
        format!(
            "the agents of all matches at once may have {may} MB, and this machine has {all} MB: if no memory is left, \
             matches are void; play fewer at once (--jobs), or lower `memory_mb`"
        )
    }));
}

fn agents_mb(matches: usize, seats: usize, limits: &Limits) -> u64 {
    let agents = u64::try_from(matches.saturating_mul(seats)).unwrap_or(u64::MAX);
    limits.memory_mb.saturating_mul(agents)
}
