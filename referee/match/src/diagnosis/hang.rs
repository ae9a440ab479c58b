//! What an agent does that doesn't answer and uses no CPU time: whether it has read its input, what it waits for, and
//! where.

use super::{Evidence, Wait};

/// Returns what the agent does, and how to fix it; `None` if it is just waiting for more input, or isn't known.
pub(super) fn explain(known: &Evidence<'_>) -> Option<(String, String)> {
    let used = known.used?;
    let (doing, fix) = match used.wait? {
        Wait::Time => (
            "sleeps",
            "remove the pause, or keep it shorter than `left_ms` of the `turn`, which is in milliseconds",
        ),
        Wait::Thread => (
            "waits for a lock or another thread",
            "find out who holds the lock, or which thread has ended without a result",
        ),
        Wait::Process => (
            "waits for a process that it started",
            "close the input of that process, read what it writes, or give the wait a time limit",
        ),
        Wait::Network => (
            "waits for a network connection",
            "do without: agents have no network; put what it would download into its folder",
        ),
        Wait::Output => (
            "waits until somebody reads what it writes",
            "read what the processes write that it started, and write less in a turn",
        ),
        Wait::Input | Wait::Events => return None,
    };
    let place = known.place.map(|place| format!(" in {place}")).unwrap_or_default();
    let read = match used.unread? {
        0 => "it has read its input, and",
        _ => "it has not read its input, and",
    };
    Some((format!("{read} {doing}{place}"), fix.to_owned()))
}
