//! `workers.json`: what is known of a contest's workers. The coordinator writes it, whoever looks on
//! reads it; nothing depends on it.

use super::folder::{Folder, WORKERS_FILE};
use nix::fcntl::OFlag;
use referee_play::replace_file::replace;
use referee_protocol::Sandbox;
use referee_protocol::plain::{tame_line, tame_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// So many workers are kept; of more, those that were heard of longest ago are left out.
pub const WORKERS_MAX: usize = 4_096;
/// A larger file isn't one.
const BYTES_MAX: u64 = 32 << 20;

/// Writes what is known now in the place of what was known.
pub fn write(folder: &Folder, workers: &Workers) -> io::Result<()> {
    replace(&folder.path(WORKERS_FILE), &serde_json::to_vec(workers)?)
}

/// For how long nothing has been heard of a worker; `None` where that isn't known.
pub fn silence(told: &WorkerTold) -> Option<Duration> {
    let seen: jiff::Timestamp = told.seen.parse().ok()?;
    Some(Duration::try_from(jiff::Timestamp::now().duration_since(seen)).unwrap_or_default())
}

/// What was known last; nobody where the contest is played on one machine.
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
    /// In the order in which they came.
    pub workers: Vec<WorkerTold>,
    /// What the command that resumes the contest has to say to have them play: `--on`, the server,
    /// and how it is asked, without what is secret.
    #[serde(default)]
    pub on: Vec<String>,
}

/// A worker, as its coordinator knows it. What it says of itself is tame, and no longer than can be
/// shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkerTold {
    /// Drawn when it was started.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What it is started as, to be asked for by contests; empty where it has none.
    pub class: String,
    /// `x86_64`, `aarch64`.
    pub arch: String,
    /// Cores that it may use.
    pub cores: u32,
    /// Memory that it may use, in MiB.
    pub memory_mb: u64,
    /// How many matches it plays at once.
    pub slots: u32,
    /// The games that are under way.
    pub games: Vec<u64>,
    /// Games that it has played for this contest.
    pub played: u64,
    /// How fast it is with all slots at work, in thousand positions a second and core.
    pub speed: f64,
    /// How much slower the slowest twentieth of its time is than the median: 1 is perfectly even.
    pub noise: f64,
    /// What its agents are kept apart by.
    pub sandbox: Option<Sandbox>,
    /// Why it takes no games of this contest, if so.
    pub refused: Option<String>,
    /// It takes no more games.
    pub leaving: bool,
    /// Nothing has been heard of it for so long that its games were given to others.
    pub lost: bool,
    /// How often it could not play what it was given.
    pub faults: u64,
    /// The last reason for that.
    pub fault: Option<String>,
    /// When it was last heard of, RFC 3339, by the coordinator's clock.
    pub seen: String,
}

impl WorkerTold {
    /// What it does, or why it does nothing, in words.
    pub fn state(&self) -> String {
        let mut parts = Vec::new();
        if self.lost {
            parts.push("lost".to_owned());
        } else if let Some(why) = &self.refused {
            parts.push(format!("doesn't fit: {why}"));
        } else if self.leaving {
            parts.push(if self.games.is_empty() { "left" } else { "leaving" }.to_owned());
        } else {
            parts.push(if self.games.is_empty() { "waiting" } else { "playing" }.to_owned());
        }
        if let Some(fault) = &self.fault {
            let times = if self.faults == 1 { "once" } else { &format!("{} times", self.faults) };
            parts.push(format!("failed {times}: {fault}"));
        }
        parts.join("; ")
    }
}

impl Workers {
    /// A worker could not play what it was given.
    pub fn failed(&mut self, id: &str, why: &str) {
        if let Some(told) = self.known(id) {
            told.faults += 1;
            told.fault = Some(tame_line(why));
        }
    }

    /// Nothing is heard of a worker any more.
    pub fn lost(&mut self, id: &str) {
        if let Some(told) = self.known(id) {
            told.lost = true;
            told.games.clear();
        }
    }

    fn known(&mut self, id: &str) -> Option<&mut WorkerTold> {
        self.workers.iter_mut().find(|told| told.id == id)
    }

    /// The worker with this id, or a new one in the place of who was heard of longest ago. `None`
    /// where that is no id.
    pub fn place(&mut self, id: &str) -> Option<&mut WorkerTold> {
        if id.is_empty() || tame_name(id) != id {
            return None;
        }
        if let Some(index) = self.workers.iter().position(|told| told.id == id) {
            return self.workers.get_mut(index);
        }
        if self.workers.len() >= WORKERS_MAX {
            let oldest = self.workers.iter().enumerate().min_by_key(|(_, told)| told.seen.clone());
            let oldest = oldest.map(|(index, _)| index)?;
            self.workers.remove(oldest);
        }
        self.workers.push(WorkerTold::default());
        self.workers.last_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::{WorkerTold, Workers, read, silence, write};
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
        let told = WorkerTold { speed: 1.5, games: vec![3], seen, ..WorkerTold::default() };
        *workers.place("a").unwrap() = WorkerTold { id: "a".to_owned(), ..told };
        write(&folder, &workers).unwrap();
        write(&folder, &workers).unwrap();
        assert_eq!(read(&folder), workers);
        assert!(silence(&workers.workers[0]).unwrap() < Duration::from_secs(600));
        workers.workers[0].seen = "2999-01-01T00:00:00Z".to_owned();
        assert_eq!(silence(&workers.workers[0]), Some(Duration::ZERO));
        workers.workers[0].seen = "then".to_owned();
        assert_eq!(silence(&workers.workers[0]), None);
        std::fs::write(folder.path("workers.json"), "{").unwrap();
        assert_eq!(read(&folder), Workers::default());
    }
}
