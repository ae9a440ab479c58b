//! Routes games from orders to the pool of match threads, and each result back to the order.

use referee_play::drive::Finished;
use referee_play::pool::{Job, Played};
use referee_process::lock::lock;
use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use tokio::sync::{mpsc, oneshot};

/// A match, or why it failed.
pub(super) type JobResult = io::Result<Finished>;

/// Routes jobs to the pool and results back.
#[derive(Debug, Default)]
pub(super) struct JobRouter {
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    waiting: Mutex<BTreeMap<u64, oneshot::Sender<JobResult>>>,
}

impl JobRouter {
    /// Opens it: jobs go to this channel.
    pub(super) fn open(&self, jobs: mpsc::Sender<Job>) {
        *lock(&self.jobs) = Some(jobs);
    }

    /// Closes it: no more games are played, and callers that wait get `None`.
    pub(super) fn close(&self) {
        *lock(&self.jobs) = None;
        lock(&self.waiting).clear();
    }

    /// Plays a game; `None` if it is closed.
    pub(super) async fn play(&self, job: Job) -> Option<JobResult> {
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

    /// Routes a result to its caller.
    pub(super) fn take(&self, played: Played) {
        if let Some(waiting) = lock(&self.waiting).remove(&played.number) {
            // The caller may be gone.
            waiting.send(played.result).ok();
        }
    }

    /// Returns the games that were requested and are not over.
    pub(super) fn games(&self) -> Vec<u64> {
        lock(&self.waiting).keys().copied().collect()
    }
}
