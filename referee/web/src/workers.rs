//! The workers of a contest on many machines, for its page.

use super::listing::games_of;
use super::rows::Row;
use referee_runner::folder::{Folder, GAMES_FOLDER};
use referee_runner::workers::{KnownWorker, Workers, since_last_seen};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The most workers that are shown: those seen last.
const SHOWN_MAX: usize = 500;

/// Returns the rows of a contest's workers; none is busy unless the contest is `running`.
pub(super) fn worker_rows(workers: &Workers, running: bool) -> Vec<Value> {
    let mut shown: Vec<&KnownWorker> = workers.workers.iter().collect();
    if shown.len() > SHOWN_MAX {
        shown.sort_by(|a, b| b.seen.cmp(&a.seen));
        shown.truncate(SHOWN_MAX);
    }
    let row = |worker: &KnownWorker| {
        let silent = since_last_seen(worker).filter(|_| running);
        json!({
            "name": worker.name,
            "busy": if running { worker.games.len() } else { 0 },
            "slots": worker.slots,
            "played": worker.played,
            "sandbox": worker.sandbox.as_ref().map_or("", |sandbox| sandbox.level.as_str()),
            // The time since it was last seen.
            "silent_s": silent.map(|silent| silent.as_secs()),
            "state": if running { worker.state() } else { String::new() },
        })
    };
    shown.into_iter().map(row).collect()
}

/// Adds to each live match of a contest which worker plays it.
pub(super) fn name_workers(live: &mut [Row], contest: &str, workers: &Workers) {
    let of = |worker: &KnownWorker| {
        let name = worker.name.clone();
        let games = worker.games.clone();
        games.into_iter().map(move |number| (Folder::transcript(number), name.clone()))
    };
    let names: BTreeMap<String, String> = workers.workers.iter().flat_map(of).collect();
    let folder = games_of(contest);
    for row in live {
        let below = row.file.strip_prefix(&folder).map(|below| format!("{GAMES_FOLDER}{below}"));
        row.worker = below.and_then(|file| names.get(&file).cloned());
    }
}
