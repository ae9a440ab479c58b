//! `workers.json`: the workers of a contest. The coordinator writes it for those who watch the contest;
//! no result depends on it.

use super::folder::{Folder, WORKERS_FILE};
use nix::fcntl::OFlag;
use referee_play::replace_file::replace;
use referee_protocol::SandboxRecord;
use referee_protocol::sanitize::{sanitize_line, sanitize_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// The most workers in the file; of more, those not seen for longest are left out.
pub const WORKERS_MAX: usize = 4_096;
/// Larger files are not read.
const BYTES_MAX: u64 = 32 << 20;

/// Replaces the file.
pub fn write(folder: &Folder, workers: &Workers) -> io::Result<()> {
    replace(&folder.path(WORKERS_FILE), &serde_json::to_vec(workers)?)
}

/// Returns the time since a worker was last seen; `None` if that isn't known.
pub fn since_last_seen(worker: &KnownWorker) -> Option<Duration> {
    let seen: jiff::Timestamp = worker.seen.parse().ok()?;
    Some(Duration::try_from(jiff::Timestamp::now().duration_since(seen)).unwrap_or_default())
}

/// Reads the file; without one the contest has no workers.
pub fn read(folder: &Folder) -> Workers {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
        .open(folder.path(WORKERS_FILE));
    let mut bytes = Vec::new();
    let taken = file.and_then(|file| file.take(BYTES_MAX).read_to_end(&mut bytes));
    taken.ok().and_then(|_| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// The workers of a contest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workers {
    /// In the order of joining.
    pub workers: Vec<KnownWorker>,
    /// The arguments with which a resumed contest uses them: `--on`, the server, and how to connect to
    /// it, without secrets.
    #[serde(default)]
    pub on: Vec<String>,
    /// The contest's id on the server. A change of the contest gives it another one.
    #[serde(default)]
    pub id: String,
}

/// A contest on a server, as `contest status --on URL --json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServedContest {
    /// Its id on the server.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its share of the workers' time, relative to the other contests.
    pub priority: u32,
    /// When it began or was resumed, RFC 3339.
    pub since: String,
    /// The version of Referee that its workers need.
    pub referee: String,
    /// Orders that no worker has taken.
    pub waiting: u64,
    /// Orders that workers hold.
    pub held: u64,
    /// Reports that the coordinator has not taken.
    pub reports: u64,
    /// The workers that have just reported to it.
    pub workers: Vec<KnownWorker>,
}

/// A worker, as its coordinator knows it. Texts from the worker are sanitized and cut.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KnownWorker {
    /// The id, drawn when the worker starts.
    pub id: String,
    /// The name that people see.
    pub name: String,
    /// The architecture: `x86_64`, `aarch64`.
    pub arch: String,
    /// The cores that it may use.
    pub cores: u32,
    /// How many matches it plays at once.
    pub slots: u32,
    /// The games that it plays now.
    pub games: Vec<u64>,
    /// The number of games that it has played for this contest.
    pub played: u64,
    /// The sandbox of its agents.
    pub sandbox: Option<SandboxRecord>,
    /// Why it can't play this contest, if so.
    pub refused: Option<String>,
    /// Whether it takes no more games.
    pub leaving: bool,
    /// The contest that it plays now, if that is another one.
    pub elsewhere: Option<String>,
    /// Whether it was silent for so long that others got its games.
    pub lost: bool,
    /// How many orders it could not play.
    pub faults: u64,
    /// The last reason.
    pub fault: Option<String>,
    /// When it was last seen, RFC 3339, by the coordinator's clock.
    pub seen: String,
}

impl KnownWorker {
    /// Returns what it does, or why it does nothing, in words.
    pub fn state(&self) -> String {
        let state = match &self.refused {
            _ if self.lost => "lost".to_owned(),
            Some(why) => format!("doesn't fit: {why}"),
            None => match (&self.elsewhere, self.leaving, self.games.is_empty()) {
                (Some(contest), _, true) => format!("playing contest {contest}"),
                (None, true, true) => "left".to_owned(),
                (_, true, false) => "leaving".to_owned(),
                (None, false, true) => "waiting".to_owned(),
                (_, false, false) => "playing".to_owned(),
            },
        };
        let Some(fault) = &self.fault else { return state };
        let times = if self.faults == 1 { "once" } else { &format!("{} times", self.faults) };
        format!("{state}; failed {times}: {fault}")
    }
}

impl Workers {
    /// Records that a worker could not play an order.
    pub fn failed(&mut self, id: &str, why: &str) {
        if let Some(worker) = self.find(id) {
            worker.faults += 1;
            worker.fault = Some(sanitize_line(why));
        }
    }

    /// Records that a worker is silent.
    pub fn lost(&mut self, id: &str) {
        if let Some(worker) = self.find(id) {
            worker.lost = true;
            worker.games.clear();
        }
    }

    fn find(&mut self, id: &str) -> Option<&mut KnownWorker> {
        self.workers.iter_mut().find(|worker| worker.id == id)
    }

    /// Returns the worker with this id, or a new one; if there are too many, it replaces the one not
    /// seen for longest. `None` if the id is invalid.
    pub fn entry(&mut self, id: &str) -> Option<&mut KnownWorker> {
        if id.is_empty() || sanitize_name(id) != id {
            return None;
        }
        if let Some(index) = self.workers.iter().position(|worker| worker.id == id) {
            return self.workers.get_mut(index);
        }
        if self.workers.len() >= WORKERS_MAX {
            let workers = self.workers.iter().enumerate();
            let (oldest, _) = workers.min_by_key(|(_, worker)| worker.seen.clone())?;
            self.workers.remove(oldest);
        }
        self.workers.push(KnownWorker::default());
        self.workers.last_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::{KnownWorker, Workers, read, since_last_seen, write};
    use crate::folder::Folder;
    use std::time::Duration;

    #[test]
    fn what_is_written_is_read() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("contest.db"), "").unwrap();
        let folder = Folder::open(place.path()).unwrap();
        assert_eq!(read(&folder), Workers::default());
        let mut workers = Workers::default();
        let seen = jiff::Timestamp::now().to_string();
        let worker = KnownWorker { played: 1, games: vec![3], seen, ..KnownWorker::default() };
        *workers.entry("a").unwrap() = KnownWorker { id: "a".to_owned(), ..worker };
        write(&folder, &workers).unwrap();
        write(&folder, &workers).unwrap();
        assert_eq!(read(&folder), workers);
        assert!(since_last_seen(&workers.workers[0]).unwrap() < Duration::from_secs(600));
        workers.workers[0].seen = "2999-01-01T00:00:00Z".to_owned();
        assert_eq!(since_last_seen(&workers.workers[0]), Some(Duration::ZERO));
        workers.workers[0].seen = "then".to_owned();
        assert_eq!(since_last_seen(&workers.workers[0]), None);
        std::fs::write(folder.path("workers.json"), "{").unwrap();
        assert_eq!(read(&folder), Workers::default());
    }
}
