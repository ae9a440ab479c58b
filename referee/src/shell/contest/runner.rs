//! The runner: plays the games of a schedule until they all have a result, and keeps each as it
//! comes. What is played next is the schedule's business, what has been kept the clerk's; nothing
//! that is only in memory here counts.

use super::clerk::{Clerk, Entry, Group, disk_failure};
use super::folder::Folder;
use super::store::{Store, VoidAttempt};
use crate::contest::{Contest, Fixture, Onlooker, Player, Schedule, halves};
use crate::failure::Failure;
use crate::shell::contender::Contender;
use crate::shell::destination::Destination;
use crate::shell::human::People;
use crate::shell::interrupts::{Interrupt, Interrupts};
use crate::shell::playing::Playing;
use crate::shell::pool::{Job, Played, Pool, Room, Watching, free_place};
use crate::shell::sandbox::Enclosure;
use crate::shell::sandbox::reach::Reaches;
use referee_games::{Kind, kind};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex};

/// So many games in a row that the machine spoils are enough to stop.
const VOID_ROW_MAX: u32 = 20;

/// What is run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The contest.
    pub contest: Arc<Contest>,
    /// Who plays, by player; each has its player's name.
    pub contenders: Vec<Arc<Contender>>,
    /// What they may read.
    pub reaches: Arc<Reaches>,
    /// How many matches at once, and where.
    pub room: Room,
    /// What agents are started in.
    pub enclosure: Enclosure,
    /// Where everything goes.
    pub folder: Folder,
    /// Where the games that are under way are noted.
    pub playing: Playing,
}

/// How far a contest is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Games that count.
    pub played: u64,
    /// Games that are known to be played.
    pub known: u64,
    /// The most games that the contest can have.
    pub most: u64,
    /// Faults, over all agents.
    pub faults: u64,
    /// Attempts that don't count, in this run.
    pub void: u64,
    /// Who leads by points, and with how many halves of how many.
    pub leader: Option<(Player, u64, u64)>,
}

/// What a run came to.
#[derive(Debug)]
pub struct Ended {
    /// The signal that ended it, if one did.
    pub interrupted: Option<Interrupt>,
    /// Why it could not go on, if so.
    pub failure: Option<Failure>,
    /// Everything is played.
    pub over: bool,
    /// Games that were void as often as the policy allows, and why the last time.
    pub given_up: Vec<(u64, String)>,
    /// How far it is.
    pub progress: Progress,
}

/// Somebody who looks on.
pub trait Spectator {
    /// Something has changed.
    fn see(&mut self, progress: &Progress, schedule: &Schedule);

    /// Something worth a line has happened.
    fn tell(&mut self, text: &str);

    /// What they want to see.
    type Wish;

    /// Waits until something is wanted. Can be dropped and called again.
    fn wish(&mut self) -> impl Future<Output = Self::Wish>;

    /// Shows it.
    fn fulfil(&mut self, wish: Self::Wish);
}

impl Run {
    /// Plays what the store doesn't have yet.
    pub async fn play(
        self,
        mut store: Store,
        interrupts: &mut Interrupts,
        spectator: &mut impl Spectator,
    ) -> Result<Ended, Failure> {
        store.claim()?;
        let mut runner = Runner::new(self, &store)?;
        let machine =
            |error: io::Error| Failure::machine(format!("matches can't be started: {error}"));
        let clerk = Clerk::start(runner.run.folder.clone(), store).map_err(machine)?;
        let watching = runner.watching();
        let enclosure = runner.run.enclosure.clone();
        let (orders, paused) = (interrupts.orders(), interrupts.paused_time());
        let playing = runner.run.playing.clone();
        let pool = Pool::start(runner.run.room, enclosure, orders, paused, watching, playing);
        runner.work(pool.map_err(machine)?, clerk, interrupts, spectator).await;
        Ok(runner.ended(interrupts.received()))
    }
}

/// What onlookers have noted, by game.
type Notes = Arc<Mutex<BTreeMap<u64, Onlooker>>>;

struct Runner {
    run: Run,
    kinds: Vec<Kind>,
    schedule: Schedule,
    notes: Notes,
    /// Every game below it was asked for or has a result.
    next: u64,
    retries: VecDeque<u64>,
    under_way: BTreeMap<u64, Fixture>,
    /// Void attempts of each game, ever.
    attempts: BTreeMap<u64, u32>,
    /// The same in this run.
    tries: BTreeMap<u64, u32>,
    void_row: u32,
    given_up: Vec<(u64, String)>,
    /// The setup that was made last: the games of a block share it.
    setup: Option<(usize, u64, Value)>,
    failure: Option<Failure>,
    progress: Progress,
    /// Halves won and halves at stake, by player.
    tally: Vec<(u64, u64)>,
}

impl Runner {
    fn new(run: Run, store: &Store) -> Result<Self, Failure> {
        let kinds = run.contest.games.iter().map(|game| {
            kind(&game.game).ok_or_else(|| {
                Failure::operation(format!("there is no game {:?} in this version", game.game))
            })
        });
        let kinds = kinds.collect::<Result<_, _>>()?;
        let contest = run.contest.clone();
        let mut runner = Self {
            kinds,
            schedule: Schedule::new(contest.clone()),
            notes: Notes::default(),
            next: 0,
            retries: VecDeque::new(),
            under_way: BTreeMap::new(),
            attempts: store.attempts()?,
            tries: BTreeMap::new(),
            void_row: 0,
            given_up: Vec::new(),
            setup: None,
            failure: None,
            progress: Progress::default(),
            tally: vec![(0, 0); contest.players.len()],
            run,
        };
        // In schedule order, so that each is known when its result comes.
        let mut stray = None;
        store.each_result(|number, places| {
            if !runner.count(number, places) {
                stray.get_or_insert(number);
            }
        })?;
        if let Some(number) = stray {
            let path = store.path().display();
            return Err(Failure::operation(format!(
                "{path}: game {number} is not in the schedule that follows from the games before it"
            ))
            .help("`referee verify` on the folder tells what differs"));
        }
        runner.progress.faults = store.faults()?;
        Ok(runner)
    }

    /// Takes in a result that is kept.
    fn count(&mut self, number: u64, places: &[u32]) -> bool {
        let Some(fixture) = self.schedule.fixture(number) else { return false };
        if !self.schedule.record(number, places) {
            return false;
        }
        let stake = 2 * (places.len() as u64 - 1).max(1);
        for (player, won) in fixture.players.iter().zip(halves(places)) {
            let (halves, at_stake) = &mut self.tally[player.index()];
            *halves += u64::from(won);
            *at_stake += stake;
        }
        true
    }

    fn watching(&self) -> Box<Watching> {
        let notes = self.notes.clone();
        Box::new(move |number| {
            let (notes, mut onlooker) = (notes.clone(), Onlooker::default());
            Box::new(move |event, _| {
                onlooker.see(event);
                if matches!(event, referee_protocol::Event::Over(_))
                    && let Ok(mut notes) = notes.lock()
                {
                    notes.insert(number, std::mem::take(&mut onlooker));
                }
            })
        })
    }

    async fn work(
        &mut self,
        pool: Pool,
        mut clerk: Clerk,
        interrupts: &mut Interrupts,
        spectator: &mut impl Spectator,
    ) {
        let (jobs, mut results, threads) = pool.split();
        let mut jobs = Some(jobs);
        let mut pool_is_there = true;
        self.look(spectator);
        loop {
            let halted = self.failure.is_some() || interrupts.received().is_some();
            if self.failure.is_some() && !interrupts.is_stopped() {
                interrupts.stop("the contest can't go on".to_owned());
            }
            if self.schedule.is_over() && !self.under_way.is_empty() && !interrupts.is_stopped() {
                // Begun before the results that decided it were in.
                interrupts.stop("the contest is decided".to_owned());
            }
            let wanted = if halted { None } else { self.wanted() };
            let idle = wanted.is_none() && self.under_way.is_empty() && !clerk.is_busy();
            if idle || halted || interrupts.is_stopped() {
                jobs = None;
            }
            if !pool_is_there && !clerk.is_busy() {
                break;
            }
            tokio::select! {
                Some(place) = free_place(jobs.as_ref().filter(|_| wanted.is_some())) => {
                    match wanted.map_or(Ok(None), |number| self.job(number).map(Some)) {
                        Ok(Some(job)) => place.send(job),
                        Ok(None) => {}
                        Err(failure) => self.failure = Some(failure),
                    }
                }
                played = results.recv(), if pool_is_there => match played {
                    Some(played) => self.take(played, &mut clerk, interrupts, spectator),
                    None => pool_is_there = false,
                },
                group = clerk.next(), if clerk.is_busy() => self.kept(group, spectator),
                () = interrupts.next() => self.interrupted(interrupts, spectator),
                wish = spectator.wish() => spectator.fulfil(wish),
            }
        }
        threads.join();
        clerk.finish();
    }

    fn interrupted(&self, interrupts: &Interrupts, spectator: &mut impl Spectator) {
        if interrupts.received().is_some() && !interrupts.is_stopped() {
            // One more may have been asked for; it isn't begun.
            let count = self.under_way.len().min(self.run.room.matches);
            spectator.tell(&format!(
                "no new games; {count} under way are played to their end (again: they are stopped)"
            ));
        }
    }

    /// The next game to be asked for.
    fn wanted(&mut self) -> Option<u64> {
        if let Some(&number) = self.retries.front() {
            return Some(number);
        }
        while self.next < self.schedule.known() {
            if !self.schedule.has(self.next) && self.schedule.counts(self.next) {
                return Some(self.next);
            }
            self.next += 1;
        }
        None
    }

    /// The game as the pool takes it. From now on it is under way.
    fn job(&mut self, number: u64) -> Result<Job, Failure> {
        if self.retries.front() == Some(&number) {
            self.retries.pop_front();
        } else {
            self.next = number + 1;
        }
        let contest = &self.run.contest;
        let fixture = self
            .schedule
            .fixture(number)
            .ok_or_else(|| Failure::operation(format!("game {number} is not in the schedule")))?;
        let kind = self.kinds[fixture.game];
        let known = self
            .setup
            .take()
            .filter(|(game, opening, _)| (*game, *opening) == (fixture.game, fixture.opening));
        let setup = match known {
            Some((.., setup)) => setup,
            None => contest
                .opening(kind, fixture.game, fixture.opening)
                .map_err(|error| Failure::operation(format!("game {number}: {error}")))?,
        };
        self.setup = Some((fixture.game, fixture.opening, setup.clone()));
        let path = self.run.folder.path(&Folder::transcript(number));
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| disk_failure(folder, &error))?;
        }
        let seated =
            fixture.players.iter().map(|player| self.run.contenders[player.index()].clone());
        let job = Job {
            number,
            kind,
            setup,
            seated: seated.collect(),
            clock: contest.clock.clone(),
            limits: contest.limits.clone(),
            on_fault: contest.policy.on_fault,
            seed: fixture.seed,
            // What is there was never counted: its run was killed.
            reaches: self.run.reaches.clone(),
            people: People::default(),
            destination: Destination::File { path, force: true },
            durable: false,
        };
        self.under_way.insert(number, fixture);
        Ok(job)
    }

    fn take(
        &mut self,
        played: Played,
        clerk: &mut Clerk,
        interrupts: &Interrupts,
        spectator: &mut impl Spectator,
    ) {
        let number = played.number;
        let Some(fixture) = self.under_way.remove(&number) else { return };
        let noted = self.notes.lock().ok().and_then(|mut notes| notes.remove(&number));
        let transcript = Folder::transcript(number);
        let void = match played.result {
            Err(error) => {
                let path = self.run.folder.path(&transcript);
                let failure = disk_failure(&path, &error);
                if error.kind() == io::ErrorKind::StorageFull {
                    return self.halt(number, failure);
                }
                ("machine".to_owned(), error.to_string())
            }
            Ok(finished) => {
                let seal = finished.seal.map_or_else(String::new, |seal| seal.sha256);
                let record = noted.unwrap_or_default().record(
                    &fixture,
                    &self.run.contest.policy,
                    transcript,
                    seal,
                );
                match record {
                    Ok(record) => {
                        self.void_row = 0;
                        return clerk.give(Entry::Game(Box::new(record)));
                    }
                    Err(void) => (void.cause, void.text),
                }
            }
        };
        if interrupts.is_stopped() || void.0 == "interrupted" {
            // Nobody's doing but ours: it will be played as if it had never begun.
            self.forget(number);
            return;
        }
        if void.0 == "disk_full" {
            let path = self.run.folder.root();
            return self.halt(number, disk_failure(path, &io::ErrorKind::StorageFull.into()));
        }
        self.void(number, void, clerk, spectator);
    }

    /// An attempt doesn't count.
    fn void(
        &mut self,
        number: u64,
        (cause, text): (String, String),
        clerk: &mut Clerk,
        spectator: &mut impl Spectator,
    ) {
        let attempt = self.attempts.entry(number).or_default();
        *attempt += 1;
        let kept = Folder::void_transcript(number, *attempt);
        let path = |name: &str| self.run.folder.path(name);
        let renamed = std::fs::rename(path(&Folder::transcript(number)), path(&kept)).is_ok();
        let transcript = renamed.then_some(kept);
        let void = VoidAttempt { number, attempt: *attempt, cause, text, transcript };
        spectator.tell(&format!("game {number} is void ({}): {}", void.cause, void.text));
        let tries = self.tries.entry(number).or_default();
        *tries += 1;
        if *tries > self.run.contest.policy.void_retries {
            self.given_up.push((number, void.text.clone()));
        } else {
            self.retries.push_back(number);
        }
        self.progress.void += 1;
        self.void_row += 1;
        if self.void_row >= VOID_ROW_MAX {
            let failure =
                format!("{VOID_ROW_MAX} games in a row were void; the last: {}", void.text);
            self.failure.get_or_insert(
                Failure::machine(failure).help("mend the machine, then resume the contest"),
            );
        }
        clerk.give(Entry::Void(void));
        self.look(spectator);
    }

    fn forget(&self, number: u64) {
        std::fs::remove_file(self.run.folder.path(&Folder::transcript(number))).ok();
    }

    /// The contest can't go on; the game is as if it had never begun.
    fn halt(&mut self, number: u64, failure: Failure) {
        self.forget(number);
        self.failure.get_or_insert(failure);
    }

    /// A group is durable.
    fn kept(&mut self, group: Group, spectator: &mut impl Spectator) {
        match group {
            Ok(entries) => {
                for entry in entries {
                    if let Entry::Game(game) = entry {
                        self.count(game.number, &game.places);
                        let faults = game.seats.iter().filter(|seat| seat.fault.is_some());
                        self.progress.faults += faults.count() as u64;
                    }
                }
            }
            Err(failure) => {
                self.failure.get_or_insert(failure);
            }
        }
        self.look(spectator);
    }

    fn look(&mut self, spectator: &mut impl Spectator) {
        let players = Player::all(self.tally.len()).zip(&self.tally);
        // By the share of what was at stake: some have played more games than others.
        let best = players.filter(|(_, (_, stake))| *stake > 0).max_by(|a, b| {
            let ((_, (won_a, stake_a)), (_, (won_b, stake_b))) = (a, b);
            (won_a * stake_b).cmp(&(won_b * stake_a)).then(b.0.cmp(&a.0))
        });
        self.progress.leader = best.map(|(player, &(won, stake))| (player, won, stake));
        self.progress.played = self.schedule.played();
        self.progress.known = self.schedule.known();
        self.progress.most = self.schedule.size().1;
        spectator.see(&self.progress, &self.schedule);
    }

    fn ended(self, interrupted: Option<Interrupt>) -> Ended {
        Ended {
            interrupted: interrupted.filter(|_| !self.schedule.is_over()),
            failure: self.failure,
            over: self.schedule.is_over(),
            given_up: self.given_up,
            progress: self.progress,
        }
    }
}
