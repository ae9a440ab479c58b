//! The workers of a contest that is played on many machines, for its page.

use super::listing::games_of;
use super::rows::Row;
use referee_runner::folder::{Folder, GAMES_FOLDER};
use referee_runner::workers::{WorkerTold, Workers, silence};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// So many workers are shown: those that were heard of last.
const SHOWN_MAX: usize = 500;

/// The workers of a contest; none is busy where nobody is `running` it.
pub(super) fn rows(workers: &Workers, running: bool) -> Vec<Value> {
    let mut shown: Vec<&WorkerTold> = workers.workers.iter().collect();
    if shown.len() > SHOWN_MAX {
        shown.sort_by(|a, b| b.seen.cmp(&a.seen));
        shown.truncate(SHOWN_MAX);
    }
    let row = |worker: &WorkerTold| {
        let silence = silence(worker).filter(|_| running);
        json!({
            "name": worker.name,
            "class": worker.class,
            "busy": if running { worker.games.len() } else { 0 },
            "slots": worker.slots,
            "played": worker.played,
            "speed": worker.speed,
            "noise": worker.noise,
            "sandbox": worker.sandbox.as_ref().map_or("", |sandbox| sandbox.level.as_str()),
            // For how long nothing has been heard of it.
            "silent_s": silence.map(|silence| silence.as_secs()),
            "state": if running { worker.state() } else { String::new() },
        })
    };
    shown.into_iter().map(row).collect()
}

/// Says beside each match of a contest that is under way which worker plays it.
pub(super) fn name_workers(live: &mut [Row], contest: &str, workers: &Workers) {
    let of = |worker: &WorkerTold| {
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
