//! Between the orders of a contest and the pool that plays its games: each game's end comes to whoever
//! asked for it.

use referee_contest::Onlooker;
use referee_play::drive::Finished;
use referee_play::pool::{Job, Played, Watching};
use referee_process::lock::lock;
use referee_runner::staging::Notes;
use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use tokio::sync::{mpsc, oneshot};

/// A game that has come to an end.
#[derive(Debug)]
pub(super) struct Ended {
    /// The match, or what kept it from being one.
    pub(super) result: io::Result<Finished>,
    /// What was seen of it.
    pub(super) seen: Onlooker,
}

/// Where games are asked for.
#[derive(Debug, Default)]
pub(super) struct Desk {
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    waiting: Mutex<BTreeMap<u64, oneshot::Sender<Ended>>>,
    notes: Notes,
}

impl Desk {
    /// What looks on at all games for it.
    pub(super) fn watching(&self) -> Box<Watching> {
        self.notes.watching()
    }

    /// Games can be asked for from now on.
    pub(super) fn open(&self, jobs: mpsc::Sender<Job>) {
        *lock(&self.jobs) = Some(jobs);
    }

    /// No game can be asked for any more, and whoever waits for one is told.
    pub(super) fn close(&self) {
        *lock(&self.jobs) = None;
        lock(&self.waiting).clear();
    }

    /// Has a game played; `None` where nobody plays here any more.
    pub(super) async fn play(&self, job: Job) -> Option<Ended> {
        let jobs = lock(&self.jobs).clone()?;
        let (ended, wait) = oneshot::channel();
        let number = job.number;
        lock(&self.waiting).insert(number, ended);
        if jobs.send(job).await.is_err() {
            lock(&self.waiting).remove(&number);
            return None;
        }
        drop(jobs);
        wait.await.ok()
    }

    /// Passes on that a game has ended.
    pub(super) fn take(&self, played: Played) {
        let seen = self.notes.take(played.number);
        if let Some(waiting) = lock(&self.waiting).remove(&played.number) {
            // Whoever asked may have been told to drop it meanwhile.
            waiting.send(Ended { result: played.result, seen }).ok();
        }
    }

    /// The games that were asked for and have not ended.
    pub(super) fn games(&self) -> Vec<u64> {
        lock(&self.waiting).keys().copied().collect()
    }
}
