//! The runner: plays the games of a schedule until all have a result. The schedule decides what is played
//! next, the backend plays it, the writer stores it. A game counts only when it is stored.

use super::backend::{
    Backend, BackendEvent, FinishedGame, NoResult, Unplayed, VoidGame, WorkerCount,
};
use super::folder::{Folder, RULES_FOLDER};
use super::queue::Queue;
use super::store::{Store, VoidAttempt};
use super::voids::VoidTally;
use super::writer::{Entry, ResultWriter, WrittenBatch, disk_failure};
use referee_contest::wording::{count as count_of, games};
use referee_contest::{Contest, Player, Record, Schedule, half_points};
use referee_match::RULES;
use referee_play::interrupts::{Interrupt, Interrupts};
use referee_play::pool::Played;
use referee_play::replace_file::replace;
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The contest stops after this many games in a row without a result.
const FAILURES_MAX: u32 = 20;

/// For a player that can't be built or started no more than this counts as waiting: there may have been no machine.
const GIVEN_UP_WAIT_MAX: Duration = Duration::from_secs(600);

/// The progress of a contest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Games that count.
    pub played: u64,
    /// The most games that the contest can have.
    pub most: u64,
    /// Faults, over all agents.
    pub faults: u64,
    /// Void attempts in this run.
    pub void: u64,
    /// The player who leads by the share of points, with the half points won and those at stake.
    pub leader: Option<(Player, u64, u64)>,
    /// The workers, where games are played on other machines.
    pub workers: Option<WorkerCount>,
}

/// How a run ended.
#[derive(Debug)]
pub struct RunResult {
    /// What ended it early, if something did.
    pub interrupted: Option<Interrupt>,
    /// Why it could not continue, if so.
    pub failure: Option<Failure>,
    /// All games are played.
    pub over: bool,
    /// Games that were void as often as the policy allows, with the last reason.
    pub given_up: Vec<(u64, String)>,
    /// The players whose agents can't be built or started where the games are played.
    pub unplayable: BTreeSet<Player>,
    /// For how long others had to wait for builds of players' agents where the games are played: until the first result
    /// of each.
    pub waits: BTreeMap<Player, Duration>,
    /// The progress.
    pub progress: Progress,
}

/// What a run shows to its user.
pub trait Observer {
    /// Shows new progress.
    fn update(&mut self, progress: &Progress, schedule: &Schedule);

    /// Prints a message.
    fn print(&mut self, text: &str);

    /// Takes a match that was played on this machine, with its record if it counts. They end in any order.
    fn ended(&mut self, _played: Played, _record: Option<&Record>) {}

    /// Handles the user's next key or signal. Cancel safe.
    fn attend(&mut self) -> impl Future<Output = ()>;
}

/// Runs a contest.
#[derive(Debug)]
pub struct Runner {
    /// The contest.
    pub contest: Arc<Contest>,
    /// The schedule with the stored results.
    pub schedule: Schedule,
    points: Points,
    queue: Queue,
    /// The contest's folder and what writes to it; a series in memory has none.
    stored: Option<(Folder, ResultWriter)>,
    voids: VoidTally,
    failures_in_a_row: u32,
    /// How often in a row the rules of a game have failed, by its place in the contest's list of games.
    rules_failures: BTreeMap<usize, u32>,
    given_up: Vec<(u64, String)>,
    unplayable: BTreeSet<Player>,
    pub(crate) waits: BTreeMap<Player, Duration>,
    began: Instant,
    failure: Option<Failure>,
    progress: Progress,
}

impl Runner {
    /// Opens a contest at the state in its store.
    pub fn open(contest: Arc<Contest>, folder: Folder, mut store: Store) -> Result<Self, Failure> {
        store.fence()?;
        let mut schedule = Schedule::new(contest.clone());
        let mut points = Points::new(&contest);
        // In schedule order: later games may depend on earlier results.
        let mut unknown = None;
        store.each_result(|number, places| {
            if !points.count(&mut schedule, number, places) {
                unknown.get_or_insert(number);
            }
        })?;
        if let Some(number) = unknown {
            let (path, root) = (folder.store(), folder.root().display());
            return Err(Failure::operation(format!(
                "{}: the results before game {number} give a schedule without this game",
                path.display()
            ))
            .help(format!("`referee verify {root}` shows what differs")));
        }
        let progress = Progress { faults: store.faults()?, ..Progress::default() };
        let voids = VoidTally::of(&store.voids()?);
        let writer = ResultWriter::start(folder.clone(), store)
            .map_err(|error| Failure::machine(format!("can't store results: {error}")))?;
        let stored = Some((folder, writer));
        let new = Self::new(contest, schedule, 0..u64::MAX);
        Ok(Self { points, stored, voids, progress, ..new })
    }

    /// Returns a runner that plays the games with these numbers and stores nothing.
    pub fn in_memory(contest: Arc<Contest>, games: Range<u64>) -> Self {
        let schedule = Schedule::new(contest.clone());
        Self::new(contest, schedule, games)
    }

    fn new(contest: Arc<Contest>, schedule: Schedule, games: Range<u64>) -> Self {
        // Agents of games with the same draws could tell each other what they see.
        let queue = Queue::new(games, contest.duplicate_deals);
        Self {
            points: Points::new(&contest),
            contest,
            schedule,
            queue,
            stored: None,
            voids: VoidTally::default(),
            failures_in_a_row: 0,
            rules_failures: BTreeMap::new(),
            given_up: Vec::new(),
            unplayable: BTreeSet::new(),
            waits: BTreeMap::new(),
            began: Instant::now(),
            failure: None,
            progress: Progress::default(),
        }
    }

    /// Plays all games that have no result yet.
    pub async fn play<B: Backend>(
        mut self,
        mut backend: B,
        interrupts: &mut Interrupts,
        observer: &mut impl Observer,
    ) -> RunResult {
        self.run(&mut backend, interrupts, observer).await;
        let over = self.schedule.is_over();
        if let Some(left) = backend.finish(over).await {
            observer.print(&left);
        }
        self.leave(interrupts)
    }

    /// Waits until all results are stored, and ends the run.
    pub fn leave(mut self, interrupts: &Interrupts) -> RunResult {
        let over = self.schedule.is_over();
        for number in self.queue.unplayed(&self.schedule) {
            let known = self.given_up.iter().any(|(given_up, _)| *given_up == number);
            let fixture = self.schedule.fixture(number).filter(|_| !known);
            let game = fixture.and_then(|it| self.contest.games.get(it.game));
            self.given_up.extend(game.map(|game| (number, broken(&game.name))));
        }
        if let Some((_, writer)) = self.stored {
            writer.finish();
        }
        RunResult {
            interrupted: interrupts.received().filter(|_| !over),
            failure: self.failure,
            over,
            given_up: self.given_up,
            unplayable: self.unplayable,
            waits: self.waits,
            progress: self.progress,
        }
    }

    async fn run<B: Backend>(
        &mut self,
        backend: &mut B,
        interrupts: &mut Interrupts,
        observer: &mut impl Observer,
    ) {
        let mut is_open = true;
        self.update(backend, observer);
        loop {
            let halted = self.failure.is_some() || interrupts.received().is_some();
            if self.failure.is_some() && !interrupts.is_stopped() {
                interrupts.stop("the contest can't continue".to_owned());
            }
            if self.schedule.is_over() && self.queue.is_playing() && !interrupts.is_stopped() {
                // These games began before the deciding results arrived.
                interrupts.stop("the contest is decided".to_owned());
            }
            let wanted = if halted { None } else { self.queue.wanted(&self.schedule) };
            let is_writing = self.stored.as_ref().is_some_and(|(_, writer)| writer.is_busy());
            let idle = wanted.is_none() && !self.queue.is_playing() && !is_writing;
            if idle || halted || interrupts.is_stopped() {
                backend.close();
            }
            if !is_open && !is_writing {
                break;
            }
            tokio::select! {
                event = backend.next(&self.schedule, wanted.is_some()), if is_open => {
                    is_open = !matches!(event, BackendEvent::Gone);
                    self.on_event(event, wanted, backend, interrupts.is_stopped(), observer);
                }
                batch = next_batch(&mut self.stored), if is_writing => {
                    self.on_stored(batch, backend, observer);
                }
                () = interrupts.next() => report_signal(interrupts, backend, observer),
                () = observer.attend() => {}
            }
        }
    }

    fn on_event<B: Backend>(
        &mut self,
        event: BackendEvent,
        wanted: Option<u64>,
        backend: &mut B,
        stopped: bool,
        observer: &mut impl Observer,
    ) {
        match event {
            BackendEvent::HasRoom => {
                let submitted = wanted.map_or(Ok(()), |number| self.submit(number, backend));
                if let Err(failure) = submitted {
                    self.failure = Some(failure);
                }
            }
            BackendEvent::Finished(game) => {
                let void = self.progress.void;
                self.on_finished(*game, stopped, backend, observer);
                if self.progress.void > void {
                    self.update(backend, observer);
                }
            }
            BackendEvent::Dropped(numbers, why) => self.on_dropped(&numbers, why, observer),
            BackendEvent::Building(player, time) => self.waited(player, time),
            BackendEvent::SandboxKnown(sandbox) => {
                self.store(Entry::Session(sandbox), backend, observer);
            }
            BackendEvent::Message(text) => observer.print(&text),
            BackendEvent::Changed => self.update(backend, observer),
            BackendEvent::Failed(failure) => {
                self.failure.get_or_insert(failure);
            }
            BackendEvent::Gone => {}
        }
    }

    /// Submits a game, and where the backend wants them together the others of its block.
    fn submit<B: Backend>(&mut self, number: u64, backend: &mut B) -> Result<(), Failure> {
        let block = if B::BLOCKS { self.schedule.block_of(number) } else { number..number + 1 };
        let numbers = self.queue.take(number, block, &self.schedule);
        let fixture = |&number: &u64| {
            let missing = || Failure::operation(format!("the schedule has no game {number}"));
            let mut fixture = self.schedule.fixture(number).ok_or_else(missing)?;
            if self.stored.is_some() {
                self.voids.limit(&self.contest, &mut fixture);
            }
            Ok(fixture)
        };
        let fixtures = numbers.iter().map(fixture).collect::<Result<Vec<_>, Failure>>()?;
        backend.submit(fixtures)?;
        self.queue.submitted(numbers);
        Ok(())
    }

    fn on_finished<B: Backend>(
        &mut self,
        game: FinishedGame,
        stopped: bool,
        backend: &mut B,
        observer: &mut impl Observer,
    ) {
        let number = game.number;
        self.queue.ended(number);
        if let Some(played) = game.played {
            observer.ended(played, game.result.as_deref().ok());
        }
        self.given_up.retain(|(given_up, _)| *given_up != number);
        for void in game.void_games {
            self.add_void(number, void, backend, observer);
        }
        match game.result {
            Ok(record) => {
                self.failures_in_a_row = 0;
                self.rules_failures.remove(&record.game);
                self.queue.written(number);
                self.store(Entry::Game(record, game.sha256), backend, observer);
            }
            Err(NoResult::Halt(failure)) => self.halt(number, failure),
            Err(NoResult::Void(game)) => {
                if stopped || game.void.cause == "interrupted" {
                    // The referee stopped it: the attempt doesn't count as void.
                    return self.remove_transcript(number);
                }
                if let Some((folder, _)) = &self.stored
                    && game.void.cause == "disk_full"
                {
                    let full = io::ErrorKind::StorageFull.into();
                    return self.halt(number, disk_failure(folder.root(), &full));
                }
                let text = game.void.text.clone();
                self.add_void(number, game, backend, observer);
                if !self.queue.retry(number, self.contest.policy.void_retries, &self.schedule) {
                    self.given_up.push((number, text));
                }
            }
        }
    }

    /// Records a void attempt.
    fn add_void<B: Backend>(
        &mut self,
        number: u64,
        game: VoidGame,
        backend: &mut B,
        observer: &mut impl Observer,
    ) {
        let VoidGame { void, transcript } = game;
        let void = self.voids.count(self.schedule.fixture(number).as_ref(), number, void);
        let keep = |folder: &Folder| {
            let kept = Folder::void_transcript(number, void.attempt);
            let path = |name: &str| folder.path(name);
            let moved = match transcript {
                None => std::fs::rename(path(&Folder::transcript(number)), path(&kept)),
                Some(bytes) => replace(&path(&kept), &bytes),
            };
            moved.is_ok().then_some(kept)
        };
        let transcript = self.stored.as_ref().and_then(|(folder, _)| keep(folder));
        observer.print(&format!("game {number} is void ({}): {}", void.cause, void.text));
        if let Some(again) = self.command_to_see_again(number, &void, transcript.as_deref()) {
            observer.print(&format!("see it again: {again}"));
        }
        self.progress.void += 1;
        let is_by_rules = void.cause == RULES;
        let are_broken = is_by_rules && self.voids.are_rules_broken(&self.contest);
        let culprit = void.player.filter(|_| self.stored.is_some() && !are_broken);
        if culprit.is_none() {
            // What players may cause has its own limit: two of them could use up a game's tries.
            self.queue.count_try(number);
        }
        match culprit {
            Some(player) => self.report_cause(player, observer),
            None if is_by_rules => self.count_rules(number, observer),
            None => self.count_failure(&void.text),
        }
        self.store(Entry::Void(VoidAttempt { transcript, ..void }), backend, observer);
    }

    /// Says when an agent has caused as many void attempts as it may. They don't stop the contest.
    fn report_cause(&self, player: Player, observer: &mut impl Observer) {
        let (caused, most) = (self.voids.caused_by(player), self.contest.policy.agent_voids);
        if caused == most {
            let name = sanitize(&self.contest.players[player.index()].name);
            let attempts = count_of(u64::from(caused), "void attempt");
            observer.print(&format!(
                "{name} has caused {attempts}, the limit (agent_voids): further ones count as its faults"
            ));
        }
    }

    /// Returns the command that asks the rules again what they failed at, if they did and the match is recorded.
    fn command_to_see_again(
        &self,
        number: u64,
        void: &VoidAttempt,
        transcript: Option<&str>,
    ) -> Option<String> {
        // Once for each game: the next attempts usually fail at the same.
        let transcript = transcript.filter(|_| void.cause == RULES && void.attempt == 1)?;
        let (folder, _) = self.stored.as_ref()?;
        let game = self.schedule.fixture(number)?.game;
        let rules = self.rules_of(game)?;
        let file = folder.path(transcript).display().to_string();
        Some(command(&["referee", "position", &rules, "--transcript", &file]))
    }

    /// Returns the folder with the contest's copy of a game program.
    fn rules_of(&self, game: usize) -> Option<String> {
        let program = self.contest.games.get(game)?.program.as_ref()?;
        let (folder, _) = self.stored.as_ref()?;
        Some(folder.path(RULES_FOLDER).join(&program.digest).display().to_string())
    }

    /// Counts failures of a game's rules in a row. After too many no more of its games are played.
    fn count_rules(&mut self, number: u64, observer: &mut impl Observer) {
        let Some(fixture) = self.schedule.fixture(number) else { return };
        let Some(game) = self.contest.games.get(fixture.game) else { return };
        let failures = self.rules_failures.entry(fixture.game).or_default();
        *failures += 1;
        if *failures != FAILURES_MAX {
            return;
        }
        let text = broken(&game.name);
        let help = self.rules_of(fixture.game).map(|rules| {
            let check = command(&["referee", "game", "check", &rules]);
            format!("`{check}` shows what is wrong with them")
        });
        self.queue.stop(fixture.game, &self.schedule);
        let is_broken = |failures: &&u32| **failures >= FAILURES_MAX;
        if self.rules_failures.values().filter(is_broken).count() == self.contest.games.len() {
            self.failure.get_or_insert(Failure::operation(text).or_help(help));
        } else {
            let help = help.map_or_else(String::new, |help| format!(": {help}"));
            observer.print(&format!("{text}; no more of its games are played{help}"));
        }
    }

    /// Counts games in a row without a result, and stops the contest when there are too many.
    fn count_failure(&mut self, why: &str) {
        self.failures_in_a_row += 1;
        if self.failures_in_a_row >= FAILURES_MAX {
            let failure = format!("{FAILURES_MAX} games in a row had no result; the last: {why}");
            let help = self.stored.as_ref().map(|(folder, _)| {
                let root = folder.root().display();
                format!("fix the problem above, then run `referee contest resume {root}`")
            });
            self.failure.get_or_insert(Failure::machine(failure).or_help(help));
        }
    }

    /// Notes for how long others have waited for a player's agent. What comes after its first result holds nobody up.
    pub(crate) fn waited(&mut self, player: Player, time: Duration) {
        if !self.schedule.has_result_of(player) {
            let longest = self.waits.entry(player).or_default();
            *longest = time.max(*longest);
        }
    }

    /// Takes submitted games back that will not be played.
    fn on_dropped(&mut self, numbers: &[u64], why: Option<Unplayed>, observer: &mut impl Observer) {
        for number in numbers {
            self.queue.ended(*number);
        }
        let Some(Unplayed { why, player }) = why else { return };
        // A reason is printed once; the end of the run names all games.
        if !self.given_up.iter().any(|(_, known)| *known == why) {
            observer.print(&format!("{} could not be played: {why}", games(numbers)));
        }
        self.given_up.extend(numbers.iter().map(|&number| (number, why.clone())));
        match player {
            // The games of others may be played.
            Some(player) => {
                self.unplayable.insert(player);
                self.waited(player, self.began.elapsed().min(GIVEN_UP_WAIT_MAX));
            }
            None => self.count_failure(&why),
        }
    }

    fn remove_transcript(&self, number: u64) {
        if let Some((folder, _)) = &self.stored {
            std::fs::remove_file(folder.path(Folder::transcript(number))).ok();
        }
    }

    /// Stops the contest; the game will be played again.
    fn halt(&mut self, number: u64, failure: Failure) {
        self.remove_transcript(number);
        self.failure.get_or_insert(failure);
    }

    /// Sends an entry to the disk; a series in memory counts it at once.
    fn store<B: Backend>(&mut self, entry: Entry, backend: &mut B, observer: &mut impl Observer) {
        match &mut self.stored {
            Some((_, writer)) => writer.send(entry),
            None => self.on_stored(Ok(vec![entry]), backend, observer),
        }
    }

    /// Counts the games of a batch that is on the disk.
    fn on_stored<B: Backend>(
        &mut self,
        batch: WrittenBatch,
        backend: &mut B,
        observer: &mut impl Observer,
    ) {
        match batch {
            Ok(entries) => {
                let mut numbers = Vec::with_capacity(entries.len());
                for entry in entries {
                    match entry {
                        Entry::Game(game, _) => {
                            let number = game.number;
                            numbers.push(number);
                            self.queue.stored(number);
                            self.points.count(&mut self.schedule, number, &game.places);
                            let faults =
                                game.seats.iter().filter(|seat| seat.own_fault().is_some());
                            self.progress.faults += faults.count() as u64;
                        }
                        Entry::Void(void) => numbers.push(void.number),
                        Entry::Session(_) => {}
                    }
                }
                backend.stored(&numbers);
            }
            Err(failure) => {
                self.failure.get_or_insert(failure);
            }
        }
        self.update(backend, observer);
    }

    fn update<B: Backend>(&mut self, backend: &B, observer: &mut impl Observer) {
        self.progress.leader = self.points.leader();
        self.progress.played = self.schedule.played();
        self.progress.most = self.schedule.size().1;
        self.progress.workers = backend.worker_count();
        observer.update(&self.progress, &self.schedule);
    }
}

fn command(words: &[&str]) -> String {
    shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "))
}

/// Says that the rules of a game fail again and again.
fn broken(name: &str) -> String {
    format!("the rules of {} failed {FAILURES_MAX} times in a row", sanitize(name))
}

/// Waits for the next batch that is on the disk.
async fn next_batch(stored: &mut Option<(Folder, ResultWriter)>) -> WrittenBatch {
    match stored {
        Some((_, writer)) => writer.next().await,
        None => std::future::pending().await,
    }
}

/// Half points won and half points at stake, by player.
#[derive(Debug)]
struct Points(Vec<(u64, u64)>);

impl Points {
    fn new(contest: &Contest) -> Self {
        Self(vec![(0, 0); contest.players.len()])
    }

    /// Adds a stored result to the schedule and to the points; `false` if the schedule doesn't have the game.
    fn count(&mut self, schedule: &mut Schedule, number: u64, places: &[u32]) -> bool {
        let Some(fixture) = schedule.fixture(number) else { return false };
        if !schedule.record(number, places) {
            return false;
        }
        let stake = 2 * (places.len() as u64 - 1).max(1);
        for (player, won) in fixture.players.iter().zip(half_points(places)) {
            let (won_so_far, at_stake) = &mut self.0[player.index()];
            *won_so_far += u64::from(won);
            *at_stake += stake;
        }
        true
    }

    /// Returns the player who leads by the share of points, since some have played more games than others.
    fn leader(&self) -> Option<(Player, u64, u64)> {
        let players = Player::all(self.0.len()).zip(&self.0);
        let best = players.filter(|(_, (_, stake))| *stake > 0).max_by(|a, b| {
            let ((_, (won_a, stake_a)), (_, (won_b, stake_b))) = (a, b);
            (won_a * stake_b).cmp(&(won_b * stake_a)).then(b.0.cmp(&a.0))
        });
        best.map(|(player, &(won, stake))| (player, won, stake))
    }
}

/// Prints what the first signal or the planned end does.
fn report_signal<B: Backend>(interrupts: &Interrupts, backend: &B, observer: &mut impl Observer) {
    if let Some(received) = interrupts.received().filter(|_| !interrupts.is_stopped()) {
        let (why, again) = match received {
            Interrupt::Deadline => ("the time for this run is over: ", ""),
            Interrupt::NewAgents => ("there are new agents: ", ""),
            _ => ("", " again"),
        };
        let games = backend.in_progress();
        observer.print(&format!("{why}finishing {games}; press Ctrl-C{again} to stop now"));
    }
}
