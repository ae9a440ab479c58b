//! Who is there, for people: `workers.json`, and lines worth telling.

use crate::Beat;
use crate::workers::record_beat;
use referee_protocol::plain::{tame_line, tame_name};
use referee_runner::folder::Folder;
use referee_runner::workers;
use referee_runner::workers::Workers;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How often the file is written at most.
const WRITTEN: Duration = Duration::from_secs(3);
/// So many different things are told of workers that refuse or fail.
const TOLD_MAX: usize = 200;
/// How long nobody may be there before it is said how somebody can.
const LONELY: Duration = Duration::from_secs(5);

/// The roll of workers.
#[derive(Debug)]
pub(super) struct Roll {
    folder: Folder,
    workers: Workers,
    changed: bool,
    written: Instant,
    began: Instant,
    /// Told already, or not needed any more.
    told_lonely: bool,
    told: BTreeSet<String>,
}

impl Roll {
    /// `on` is what the command that resumes the contest has to say of the server.
    pub(super) fn new(folder: Folder, on: Vec<String>) -> Self {
        let now = Instant::now();
        let workers = Workers { on, ..Workers::default() };
        let told = BTreeSet::new();
        let mut roll = Self {
            folder,
            workers,
            changed: true,
            written: now,
            began: now,
            told_lonely: false,
            told,
        };
        // However soon this is killed, the server is known.
        roll.write();
        roll
    }

    /// A worker has said that it is there. What is to be told of it, if anything.
    pub(super) fn beat(&mut self, beat: &Beat) -> Option<String> {
        record_beat(&mut self.workers, beat, &jiff::Timestamp::now().to_string());
        (self.changed, self.told_lonely) = (true, true);
        let refused = beat.refused.as_ref()?;
        let (name, why) = (tame_name(&beat.worker.name), tame_line(refused));
        self.once(format!("worker {name} takes no games: {why}"))
    }

    /// A worker has failed. What is to be told of it, if anything.
    pub(super) fn failed(&mut self, id: &str, why: &str) -> Option<String> {
        self.workers.failed(id, why);
        self.changed = true;
        let name = self.workers.workers.iter().find(|told| told.id == id);
        let name = name.map_or_else(|| tame_name(id), |told| told.name.clone());
        self.once(format!("worker {name}: {}", tame_line(why)))
    }

    pub(super) fn lost(&mut self, id: &str) {
        self.workers.lost(id);
        self.changed = true;
    }

    fn once(&mut self, text: String) -> Option<String> {
        let new = self.told.len() < TOLD_MAX && self.told.insert(text.clone());
        new.then_some(text)
    }

    /// Writes what has changed, now and then. What is to be told, if anything.
    pub(super) fn tick(&mut self, shown: &str) -> Option<String> {
        if self.changed && self.written.elapsed() >= WRITTEN {
            self.write();
        }
        let lonely = !self.told_lonely && self.began.elapsed() >= LONELY;
        self.told_lonely |= lonely;
        lonely.then(|| format!("no worker is there yet; `referee worker {shown}` starts one"))
    }

    /// Writes what is known.
    pub(super) fn write(&mut self) {
        if let Err(error) = workers::write(&self.folder, &self.workers) {
            tracing::debug!("the list of workers is not written: {error}");
        }
        (self.changed, self.written) = (false, Instant::now());
    }
}
