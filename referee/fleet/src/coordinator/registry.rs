//! The list of workers for users: `workers.json`, and messages about them.

use crate::Heartbeat;
use crate::workers::record_heartbeat;
use referee_protocol::sanitize::{sanitize_line, sanitize_name};
use referee_runner::folder::Folder;
use referee_runner::workers;
use referee_runner::workers::Workers;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The minimum interval at which the file is written.
const WRITE_INTERVAL: Duration = Duration::from_secs(3);
/// The maximum number of different messages about workers, and of those that may come again in each period.
const MESSAGES_MAX: usize = 200;
const PERIOD: Duration = Duration::from_secs(3600);
/// How long no worker may be connected before a message says how to start one.
const NO_WORKER_TIME: Duration = Duration::from_secs(9);

/// The known workers.
#[derive(Debug)]
pub(super) struct WorkerRegistry {
    folder: Folder,
    workers: Workers,
    changed: bool,
    written: Instant,
    began: Instant,
    /// Whether that message was printed or is not needed any more.
    no_worker_reported: bool,
    reported: BTreeSet<String>,
    /// When this period began, and how many messages there were in it.
    period: (Instant, usize),
}

impl WorkerRegistry {
    /// `on` is the arguments with which the contest is resumed on this server, `id` its id there.
    pub(super) fn new(folder: Folder, on: Vec<String>, id: String) -> Self {
        let now = Instant::now();
        let workers = Workers { on, id, ..Workers::default() };
        let reported = BTreeSet::new();
        let mut registry = Self {
            folder,
            workers,
            changed: true,
            written: now,
            began: now,
            no_worker_reported: false,
            reported,
            period: (now, 0),
        };
        // Even if this process is killed soon, the server is known.
        registry.write();
        registry
    }

    /// Records a heartbeat; returns a message to print, if any.
    pub(super) fn heartbeat(&mut self, beat: &Heartbeat) -> Option<String> {
        let mut known = self.workers.workers.iter();
        let was_lost = known.any(|worker| worker.lost && worker.id == beat.worker.id);
        record_heartbeat(&mut self.workers, beat, &jiff::Timestamp::now().to_string());
        (self.changed, self.no_worker_reported) = (true, true);
        if was_lost {
            return self.often(format!("worker {} is back", sanitize_name(&beat.worker.name)));
        }
        let refused = beat.refused.as_ref()?;
        let (name, why) = (sanitize_name(&beat.worker.name), sanitize_line(refused));
        self.once(format!("worker {name} takes no games: {why}"))
    }

    /// Records a failure; returns a message to print, if any.
    pub(super) fn failed(&mut self, id: &str, why: &str) -> Option<String> {
        self.workers.failed(id, why);
        self.changed = true;
        let name = self.workers.workers.iter().find(|worker| worker.id == id);
        let name = name.map_or_else(|| sanitize_name(id), |worker| worker.name.clone());
        self.once(format!("worker {name}: {}", sanitize_line(why)))
    }

    /// A worker has left; returns a message to print, if any.
    pub(super) fn left(&mut self, name: &str) -> Option<String> {
        self.often(format!("worker {} has left", sanitize_name(name)))
    }

    /// A worker that held so many orders is silent; returns a message to print, if any.
    pub(super) fn lost(&mut self, id: &str, name: &str, orders: usize) -> Option<String> {
        self.workers.lost(id);
        self.changed = true;
        let had = match orders {
            0 => String::new(),
            1 => "; its order goes to another worker".to_owned(),
            _ => format!("; its {orders} orders go to other workers"),
        };
        self.often(format!("warning: lost contact with worker {}{had}", sanitize_name(name)))
    }

    /// All workers play other contests; returns a message to print, if any.
    pub(super) fn all_away(&mut self) -> Option<String> {
        let names = self.workers.workers.iter().filter(|worker| !worker.lost);
        let names: BTreeSet<&str> =
            names.filter_map(|worker| worker.elsewhere.as_deref()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        self.once(format!(
            "waiting for workers: all of them play other contests now ({}), and come back for this \
             contest's share of their time",
            names.join(", ")
        ))
    }

    /// Returns a text that may come again, unless there were too many in this period.
    fn often(&mut self, text: String) -> Option<String> {
        if self.period.0.elapsed() >= PERIOD {
            self.period = (Instant::now(), 0);
        }
        self.period.1 += 1;
        (self.period.1 <= MESSAGES_MAX).then_some(text)
    }

    fn once(&mut self, text: String) -> Option<String> {
        let new = self.reported.len() < MESSAGES_MAX && self.reported.insert(text.clone());
        new.then_some(text)
    }

    /// Writes the file if it is due; returns a message to print, if any.
    pub(super) fn tick(&mut self, shown: &str) -> Option<String> {
        if self.changed && self.written.elapsed() >= WRITE_INTERVAL {
            self.write();
        }
        let is_due = !self.no_worker_reported && self.began.elapsed() >= NO_WORKER_TIME;
        self.no_worker_reported |= is_due;
        is_due.then(|| {
            format!("no worker has connected yet; start one with `referee worker {shown}`")
        })
    }

    /// Writes the file.
    pub(super) fn write(&mut self) {
        if let Err(error) = workers::write(&self.folder, &self.workers) {
            tracing::debug!("can't write the list of workers: {error}");
        }
        (self.changed, self.written) = (false, Instant::now());
    }
}
