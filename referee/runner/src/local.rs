//! The field on this machine: a pool of cores.

use super::clerk::disk_failure;
use super::field::{Came, Field, Missed, Sign, Spoiled, kinds};
use super::folder::Folder;
use super::staging::{Notes, Staging};
use referee_contest::{Contest, Fixture, Player, Schedule, Void};
use referee_play::agent_spec::AgentSpec;
use referee_play::destination::Destination;
use referee_play::interrupts::Interrupts;
use referee_play::pool::{Job, Played, Pool, PoolSize, Threads, reserve_slot};
use referee_play::reach::ReadableFiles;
use referee_play::running_matches::RunningMatches;
use referee_process::Failure;
use referee_process::sandbox::Enclosure;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc;

/// What games are played with on this machine.
#[derive(Clone, Debug)]
pub struct Equipment {
    /// Who plays, by player; each has its player's name.
    pub specs: Vec<Arc<AgentSpec>>,
    /// What they may read.
    pub readable_files: Arc<ReadableFiles>,
    /// How many matches at once, and where.
    pub room: PoolSize,
    /// What agents are started in.
    pub enclosure: Enclosure,
    /// Where the games that are under way are noted.
    pub playing: RunningMatches,
}

/// Games on this machine.
#[derive(Debug)]
pub struct Local {
    contest: Arc<Contest>,
    folder: Folder,
    equipment: Equipment,
    staging: Staging,
    notes: Notes,
    /// Games that were asked for, with what the schedule says of them.
    asked: BTreeMap<u64, Fixture>,
    jobs: Option<mpsc::Sender<Job>>,
    results: mpsc::Receiver<Played>,
    threads: Threads,
}

impl Local {
    /// Starts the pool.
    pub fn start(
        contest: Arc<Contest>,
        folder: Folder,
        equipment: Equipment,
        interrupts: &Interrupts,
    ) -> Result<Self, Failure> {
        let (room, enclosure) = (equipment.room, equipment.enclosure.clone());
        let playing = equipment.playing.clone();
        let staging = Staging::new(contest.clone(), kinds(&contest)?);
        let notes = Notes::default();
        let (orders, paused) = (interrupts.orders(), interrupts.paused_time());
        let pool = Pool::start(room, enclosure, orders, paused, notes.watching(), playing)
            .map_err(|error| Failure::machine(format!("matches can't be started: {error}")))?;
        let Pool { jobs, results, threads } = pool;
        Ok(Self {
            contest,
            folder,
            equipment,
            staging,
            notes,
            asked: BTreeMap::new(),
            jobs: Some(jobs),
            results,
            threads,
        })
    }

    /// The game as the pool takes it.
    fn job(&mut self, fixture: &Fixture) -> Result<Job, Failure> {
        let number = fixture.number;
        let path = self.folder.path(&Folder::transcript(number));
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| disk_failure(folder, &error))?;
        }
        let seat = |player: Player| self.equipment.specs[player.index()].clone();
        // What is there was never counted: its run was killed.
        let destination = Destination::File { path, force: true };
        let job =
            self.staging.job(fixture, seat, self.equipment.readable_files.clone(), destination);
        job.map_err(|error| Failure::operation(format!("game {number}: {error}")))
    }

    /// What came of a game that was asked for.
    fn came(&mut self, played: Played) -> Option<Came> {
        let number = played.number;
        let fixture = self.asked.remove(&number)?;
        let noted = self.notes.take(number);
        let transcript = Folder::transcript(number);
        let missed = |void: Void| Missed::Void(Spoiled { void, transcript: None });
        let result = match played.result {
            Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                Err(Missed::Halt(disk_failure(&self.folder.path(&transcript), &error)))
            }
            Err(error) => {
                Err(missed(Void { cause: "machine".to_owned(), text: error.to_string() }))
            }
            Ok(finished) => {
                let seal = finished.seal.map_or_else(String::new, |seal| seal.sha256);
                let record = noted.record(&fixture, &self.contest.policy, transcript, seal);
                record.map(Box::new).map_err(missed)
            }
        };
        Some(Came { number, spoiled: Vec::new(), result })
    }
}

impl Field for Local {
    const BLOCKS: bool = false;

    async fn next(&mut self, _: &Schedule, wants: bool) -> Sign {
        loop {
            let jobs = self.jobs.as_ref().filter(|_| wants);
            let played = tokio::select! {
                Some(_) = reserve_slot(jobs) => return Sign::Place,
                played = self.results.recv() => played,
            };
            let Some(played) = played else { return Sign::Gone };
            if let Some(came) = self.came(played) {
                return Sign::Came(Box::new(came));
            }
        }
    }

    fn ask(&mut self, fixtures: Vec<Fixture>) -> Result<(), Failure> {
        for fixture in fixtures {
            let job = self.job(&fixture)?;
            self.asked.insert(fixture.number, fixture);
            if let Some(jobs) = &self.jobs {
                // There was a place, and nobody else asks. A pool that is gone tells so itself.
                jobs.try_send(job).ok();
            }
        }
        Ok(())
    }

    fn kept(&mut self, _: &[u64]) {}

    fn close(&mut self) {
        self.jobs = None;
    }

    fn under_way(&self) -> String {
        // One more may have been asked for; it isn't begun.
        format!("{} under way", self.asked.len().min(self.equipment.room.matches))
    }

    async fn finish(self, _: bool) -> Option<String> {
        self.threads.join();
        None
    }
}
