//! The backend on this machine: a pool of cores.

use super::backend::{Backend, BackendEvent, FinishedGame, NoResult, VoidGame};
use super::folder::Folder;
use super::jobs::JobBuilder;
use super::writer::disk_failure;
use referee_contest::wording::count;
use referee_contest::{Contest, Fixture, OpeningError, Player, Record, Schedule, Void};
use referee_games::SetupError;
use referee_match::RULES;
use referee_play::agent_spec::AgentSpec;
use referee_play::destination::Destination;
use referee_play::drive::ProcessesLeft;
use referee_play::interrupts::Interrupts;
use referee_play::pool::{Job, Played, Pool, PoolSize, Threads, Watching, reserve_slot};
use referee_play::reach::ReadableFiles;
use referee_play::running_matches::RunningMatches;
use referee_process::Failure;
use referee_process::files::is_disk_full;
use referee_process::open_folder::OpenFolder;
use referee_process::sandbox::Sandbox;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The games that are played on this machine.
pub trait GameJobs {
    /// Returns a game as a job for the pool. May change who sits where.
    fn job(&mut self, fixture: &mut Fixture) -> Result<Job, NoResult>;
}

/// The games of a contest, which end in its folder.
#[derive(Debug)]
pub struct ContestGames {
    /// The contest's folder.
    pub folder: Folder,
    /// The agents, by player; each has its player's name.
    pub specs: Vec<Arc<AgentSpec>>,
    /// The files that they may read.
    pub readable_files: Arc<ReadableFiles>,
    /// Builds the matches.
    pub builder: JobBuilder,
}

impl GameJobs for ContestGames {
    fn job(&mut self, fixture: &mut Fixture) -> Result<Job, NoResult> {
        let number = fixture.number;
        let path = self.folder.path(Folder::transcript(number));
        if let Some(folder) = path.parent() {
            OpenFolder::create_all(folder)
                .map_err(|error| NoResult::Halt(disk_failure(folder, &error)))?;
        }
        // In somebody else's folder it may lead to another file, which would be overwritten.
        if path.is_symlink() && path.metadata().map_or(true, |it| it.is_file()) {
            std::fs::remove_file(&path)
                .map_err(|error| NoResult::Halt(disk_failure(&path, &error)))?;
        }
        let seat = |player: Player| self.specs[player.index()].clone();
        // A file that exists is from a killed run, and its game doesn't count.
        let destination = Destination::File { path, force: true };
        let job = self.builder.job(fixture, seat, self.readable_files.clone(), destination);
        job.map_err(|error| no_opening(number, &error))
    }
}

/// Why a game without an opening has no result.
pub fn no_opening(number: u64, error: &OpeningError) -> NoResult {
    match error {
        OpeningError::Rules(text) => no_result(RULES, text.clone()),
        _ => NoResult::Halt(Failure::operation(format!("game {number}: {error}"))),
    }
}

fn no_result(cause: &str, text: String) -> NoResult {
    void(Void { cause: cause.to_owned(), text, seat: None })
}

fn void(void: Void) -> NoResult {
    NoResult::Void(VoidGame { void, transcript: None })
}

/// Returns why a game has no result that the machine could not play to its end, and at whose seat.
pub fn not_finished(error: &io::Error) -> Void {
    let setup = error.get_ref().and_then(|it| it.downcast_ref::<SetupError>());
    Void {
        cause: if setup.is_some_and(|it| it.rules_failed) { RULES } else { "machine" }.to_owned(),
        text: error.to_string(),
        seat: ProcessesLeft::seat_in(error),
    }
}

/// Plays games on this machine.
#[derive(Debug)]
pub struct Local<G> {
    contest: Arc<Contest>,
    games: G,
    matches_at_once: usize,
    /// The submitted games.
    submitted: BTreeMap<u64, Fixture>,
    /// Games that could not begin.
    ready: VecDeque<FinishedGame>,
    jobs: Option<mpsc::Sender<Job>>,
    results: mpsc::Receiver<Played>,
    threads: Threads,
}

impl<G: GameJobs> Local<G> {
    /// Starts the pool. `watching` sees the events of each game.
    pub fn start(
        contest: Arc<Contest>,
        games: G,
        (pool_size, sandbox): (PoolSize, Sandbox),
        playing: RunningMatches,
        interrupts: &Interrupts,
        watching: Box<Watching>,
    ) -> Result<Self, Failure> {
        let (orders, paused) = (interrupts.orders(), interrupts.paused_time());
        let pool = Pool::start(pool_size, sandbox, orders, paused, watching, playing)
            .map_err(|error| Failure::machine(format!("can't start matches: {error}")))?;
        let Pool { jobs, results, threads } = pool;
        Ok(Self {
            contest,
            games,
            matches_at_once: pool_size.matches,
            submitted: BTreeMap::new(),
            ready: VecDeque::new(),
            jobs: Some(jobs),
            results,
            threads,
        })
    }

    /// Returns the outcome of a submitted game.
    fn finished(&mut self, mut played: Played) -> Option<FinishedGame> {
        let number = played.number;
        let fixture = self.submitted.remove(&number)?;
        let result = match &mut played.result {
            Err(error) if is_disk_full(error) => {
                let path = played.transcript.as_deref().unwrap_or(Path::new("transcript"));
                Err(NoResult::Halt(disk_failure(path, error)))
            }
            Err(error) => Err(void(not_finished(error))),
            Ok(finished) => {
                let seal = finished.seal.as_ref().map_or("", |it| &it.seal.sha256).to_owned();
                let transcript = Folder::transcript(number);
                let tally = *std::mem::take(&mut finished.tally);
                let record = Record::of(tally, &fixture, &self.contest.policy, transcript, seal);
                record.map(Box::new).map_err(void)
            }
        };
        let finished = played.result.as_ref().ok();
        let sha256 = finished.and_then(|it| Some(it.seal.as_ref()?.sha256.clone()));
        let (void_games, played) = (Vec::new(), Some(played));
        Some(FinishedGame { number, void_games, result, sha256, played })
    }
}

impl<G: GameJobs> Backend for Local<G> {
    const BLOCKS: bool = false;

    async fn next(&mut self, _: &Schedule, wants: bool) -> BackendEvent {
        loop {
            if let Some(game) = self.ready.pop_front() {
                return BackendEvent::Finished(Box::new(game));
            }
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
        for mut fixture in fixtures {
            let number = fixture.number;
            let job = match self.games.job(&mut fixture) {
                Ok(job) => job,
                Err(NoResult::Halt(failure)) => return Err(failure),
                Err(void) => {
                    let (result, void_games) = (Err(void), Vec::new());
                    let game =
                        FinishedGame { number, void_games, result, sha256: None, played: None };
                    self.ready.push_back(game);
                    continue;
                }
            };
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
        count(self.submitted.len().min(self.matches_at_once) as u64, "game")
    }

    async fn finish(self, _: bool) -> Option<String> {
        self.threads.join();
        None
    }
}
