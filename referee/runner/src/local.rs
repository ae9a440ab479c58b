//! The backend on this machine: a pool of cores.

use super::backend::{Backend, BackendEvent, FinishedGame, NoResult, VoidGame, kinds};
use super::folder::Folder;
use super::jobs::{GameRecords, JobBuilder};
use super::writer::disk_failure;
use referee_contest::{Contest, Fixture, Player, Schedule, Void};
use referee_play::agent_spec::AgentSpec;
use referee_play::destination::Destination;
use referee_play::interrupts::Interrupts;
use referee_play::pool::{Job, Played, Pool, PoolSize, Threads, reserve_slot};
use referee_play::reach::ReadableFiles;
use referee_play::running_matches::RunningMatches;
use referee_process::Failure;
use referee_process::sandbox::Sandbox;
use referee_protocol::plain::count;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The agents, cores and sandbox of a contest on this machine.
#[derive(Clone, Debug)]
pub struct LocalSetup {
    /// The agents, by player; each has its player's name.
    pub specs: Vec<Arc<AgentSpec>>,
    /// The files that they may read.
    pub readable_files: Arc<ReadableFiles>,
    /// How many matches at once, and where.
    pub room: PoolSize,
    /// The sandbox.
    pub sandbox: Sandbox,
    /// The list of live matches.
    pub playing: RunningMatches,
}

/// Plays games on this machine.
#[derive(Debug)]
pub struct Local {
    contest: Arc<Contest>,
    folder: Folder,
    setup: LocalSetup,
    builder: JobBuilder,
    records: GameRecords,
    /// The submitted games.
    submitted: BTreeMap<u64, Fixture>,
    jobs: Option<mpsc::Sender<Job>>,
    results: mpsc::Receiver<Played>,
    threads: Threads,
}

impl Local {
    /// Starts the pool.
    pub fn start(
        contest: Arc<Contest>,
        folder: Folder,
        setup: LocalSetup,
        interrupts: &Interrupts,
    ) -> Result<Self, Failure> {
        let (room, sandbox) = (setup.room, setup.sandbox.clone());
        let playing = setup.playing.clone();
        let builder = JobBuilder::new(contest.clone(), kinds(&contest)?);
        let records = GameRecords::default();
        let (orders, paused) = (interrupts.orders(), interrupts.paused_time());
        let pool = Pool::start(room, sandbox, orders, paused, records.watching(), playing)
            .map_err(|error| Failure::machine(format!("can't start matches: {error}")))?;
        let Pool { jobs, results, threads } = pool;
        Ok(Self {
            contest,
            folder,
            setup,
            builder,
            records,
            submitted: BTreeMap::new(),
            jobs: Some(jobs),
            results,
            threads,
        })
    }

    /// Returns a game as a job for the pool.
    fn job(&mut self, fixture: &Fixture) -> Result<Job, Failure> {
        let number = fixture.number;
        let path = self.folder.path(&Folder::transcript(number));
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| disk_failure(folder, &error))?;
        }
        let seat = |player: Player| self.setup.specs[player.index()].clone();
        // A file that exists is from a killed run, and its game doesn't count.
        let destination = Destination::File { path, force: true };
        let job = self.builder.job(fixture, seat, self.setup.readable_files.clone(), destination);
        job.map_err(|error| Failure::operation(format!("game {number}: {error}")))
    }

    /// Returns the outcome of a submitted game.
    fn finished(&mut self, played: Played) -> Option<FinishedGame> {
        let number = played.number;
        let fixture = self.submitted.remove(&number)?;
        let record = self.records.take(number);
        let transcript = Folder::transcript(number);
        let no_result = |void: Void| NoResult::Void(VoidGame { void, transcript: None });
        let result = match played.result {
            Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                Err(NoResult::Halt(disk_failure(&self.folder.path(&transcript), &error)))
            }
            Err(error) => {
                Err(no_result(Void { cause: "machine".to_owned(), text: error.to_string() }))
            }
            Ok(finished) => {
                let seal = finished.seal.map_or_else(String::new, |seal| seal.sha256);
                let record = record.record(&fixture, &self.contest.policy, transcript, seal);
                record.map(Box::new).map_err(no_result)
            }
        };
        Some(FinishedGame { number, void_games: Vec::new(), result })
    }
}

impl Backend for Local {
    const BLOCKS: bool = false;

    async fn next(&mut self, _: &Schedule, wants: bool) -> BackendEvent {
        loop {
            let jobs = self.jobs.as_ref().filter(|_| wants);
            let played = tokio::select! {
                Some(_) = reserve_slot(jobs) => return BackendEvent::HasRoom,
                played = self.results.recv() => played,
            };
            let Some(played) = played else { return BackendEvent::Gone };
            if let Some(game) = self.finished(played) {
                return BackendEvent::Finished(Box::new(game));
            }
        }
    }

    fn submit(&mut self, fixtures: Vec<Fixture>) -> Result<(), Failure> {
        for fixture in fixtures {
            let job = self.job(&fixture)?;
            self.submitted.insert(fixture.number, fixture);
            if let Some(jobs) = &self.jobs {
                // The queue has room: no one else sends. If the pool has ended, `next` reports it.
                jobs.try_send(job).ok();
            }
        }
        Ok(())
    }

    fn stored(&mut self, _: &[u64]) {}

    fn close(&mut self) {
        self.jobs = None;
    }

    fn in_progress(&self) -> String {
        // One more game may be submitted that has not started.
        count(self.submitted.len().min(self.setup.room.matches) as u64, "game")
    }

    async fn finish(self, _: bool) -> Option<String> {
        self.threads.join();
        None
    }
}
