//! The table of a contest's workers.

use referee_match::times::show_time;
use referee_protocol::sanitize::sanitize;
use referee_runner::workers::{KnownWorker, since_last_seen};

/// Returns a table of workers; what they do now is of interest only if the contest is `running`.
pub(super) fn worker_rows(workers: &[KnownWorker], running: bool) -> Vec<Vec<String>> {
    let head = ["worker", "busy", "played", "sandbox"];
    let now = ["last seen", "state"];
    let dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    let row = |worker: &KnownWorker| {
        let sandbox = worker.sandbox.as_ref().map(|sandbox| sanitize(&sandbox.level));
        let busy = if running { worker.games.len() } else { 0 };
        let mut row = vec![
            dash(sanitize(&worker.name)),
            format!("{busy} of {}", worker.slots),
            worker.played.to_string(),
            dash(sandbox.unwrap_or_default()),
        ];
        if running {
            row.extend([dash(last_seen(worker)), sanitize(&worker.state())]);
        }
        row
    };
    let now = now.iter().filter(|_| running);
    let head = head.iter().chain(now).map(|&text| text.to_owned()).collect();
    std::iter::once(head).chain(workers.iter().map(row)).collect()
}

/// Returns when a worker last reported; empty if not known.
fn last_seen(worker: &KnownWorker) -> String {
    match since_last_seen(worker).map(|it| it.as_secs()) {
        None => String::new(),
        Some(0) => "now".to_owned(),
        Some(seconds) => show_time(seconds * 1000) + " ago",
    }
}
