//! The runner: has the games of a schedule played until they all have a result, and keeps each as it
//! comes. What is played next is the schedule's business, where it is played the field's, what has
//! been kept the clerk's; nothing that is only in memory here counts.

use super::clerk::{Clerk, Entry, Group, disk_failure};
use super::field::{Came, Crew, Field, Missed, Sign, Spoiled};
use super::folder::Folder;
use super::store::{Store, VoidAttempt};
use referee_contest::{Contest, Player, Schedule, halves};
use referee_play::interrupts::{Interrupt, Interrupts};
use referee_process::Failure;
use referee_protocol::plain::games;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// So many games in a row that the machine spoils are enough to stop.
const VOID_ROW_MAX: u32 = 20;

/// How far a contest is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Games that count.
    pub played: u64,
    /// The most games that the contest can have.
    pub most: u64,
    /// Faults, over all agents.
    pub faults: u64,
    /// Attempts that don't count, in this run.
    pub void: u64,
    /// Who leads by points, and with how many halves of how many.
    pub leader: Option<(Player, u64, u64)>,
    /// Who plays, where it isn't this machine.
    pub crew: Option<Crew>,
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

/// A contest that can go on.
#[derive(Debug)]
pub struct Runner {
    contest: Arc<Contest>,
    folder: Folder,
    clerk: Clerk,
    schedule: Schedule,
    /// Every game below it was asked for or has a result.
    next: u64,
    retries: VecDeque<u64>,
    under_way: BTreeSet<u64>,
    /// Games whose results the clerk has and hasn't kept yet.
    written: BTreeSet<u64>,
    /// Void attempts of each game, ever.
    attempts: BTreeMap<u64, u32>,
    /// The same in this run.
    tries: BTreeMap<u64, u32>,
    void_row: u32,
    given_up: Vec<(u64, String)>,
    failure: Option<Failure>,
    progress: Progress,
    /// Halves won and halves at stake, by player.
    tally: Vec<(u64, u64)>,
}

impl Runner {
    /// Takes a contest up where its store says that it is.
    pub fn open(contest: Arc<Contest>, folder: Folder, mut store: Store) -> Result<Self, Failure> {
        store.claim()?;
        let mut schedule = Schedule::new(contest.clone());
        let mut tally = vec![(0, 0); contest.players.len()];
        // In schedule order, so that each is known when its result comes.
        let mut stray = None;
        store.each_result(|number, places| {
            if !count(&mut schedule, &mut tally, number, places) {
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
        let progress = Progress { faults: store.faults()?, ..Progress::default() };
        let attempts = store.attempts()?;
        let clerk = Clerk::start(folder.clone(), store)
            .map_err(|error| Failure::machine(format!("results can't be kept: {error}")))?;
        Ok(Self {
            contest,
            folder,
            clerk,
            schedule,
            next: 0,
            retries: VecDeque::new(),
            under_way: BTreeSet::new(),
            written: BTreeSet::new(),
            attempts,
            tries: BTreeMap::new(),
            void_row: 0,
            given_up: Vec::new(),
            failure: None,
            progress,
            tally,
        })
    }

    /// The schedule, as far as the results that were kept.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Has played what the store doesn't have yet.
    pub async fn play<F: Field>(
        mut self,
        mut field: F,
        interrupts: &mut Interrupts,
        spectator: &mut impl Spectator,
    ) -> Ended {
        self.work(&mut field, interrupts, spectator).await;
        let over = self.schedule.is_over();
        if let Some(left) = field.finish(over).await {
            spectator.tell(&left);
        }
        self.leave(interrupts)
    }

    /// The contest.
    pub const fn contest(&self) -> &Arc<Contest> {
        &self.contest
    }

    /// Its folder.
    pub const fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Leaves the contest as far as it is.
    pub fn leave(self, interrupts: &Interrupts) -> Ended {
        let over = self.schedule.is_over();
        self.clerk.finish();
        Ended {
            interrupted: interrupts.received().filter(|_| !over),
            failure: self.failure,
            over,
            given_up: self.given_up,
            progress: self.progress,
        }
    }

    async fn work<F: Field>(
        &mut self,
        field: &mut F,
        interrupts: &mut Interrupts,
        spectator: &mut impl Spectator,
    ) {
        let mut field_is_there = true;
        self.look(field, spectator);
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
            let idle = wanted.is_none() && self.under_way.is_empty() && !self.clerk.is_busy();
            if idle || halted || interrupts.is_stopped() {
                field.close();
            }
            if !field_is_there && !self.clerk.is_busy() {
                break;
            }
            tokio::select! {
                sign = field.next(&self.schedule, wanted.is_some()), if field_is_there => {
                    field_is_there = !matches!(sign, Sign::Gone);
                    self.take(sign, wanted, field, interrupts.is_stopped(), spectator);
                }
                group = self.clerk.next(), if self.clerk.is_busy() => {
                    self.kept(group, field, spectator);
                }
                () = interrupts.next() => told(interrupts, field, spectator),
                wish = spectator.wish() => spectator.fulfil(wish),
            }
        }
    }

    fn take<F: Field>(
        &mut self,
        sign: Sign,
        wanted: Option<u64>,
        field: &mut F,
        stopped: bool,
        spectator: &mut impl Spectator,
    ) {
        match sign {
            Sign::Place => {
                let asked = wanted.map_or(Ok(()), |number| self.ask(number, field));
                if let Err(failure) = asked {
                    self.failure = Some(failure);
                }
            }
            Sign::Came(came) => {
                let void = self.progress.void;
                self.came(*came, stopped, spectator);
                if self.progress.void > void {
                    self.look(field, spectator);
                }
            }
            Sign::Dropped(numbers, why) => self.dropped(&numbers, why, spectator),
            Sign::Apart(sandbox) => self.clerk.give(Entry::Apart(sandbox)),
            Sign::Told(text) => spectator.tell(&text),
            Sign::Changed => self.look(field, spectator),
            Sign::Failed(failure) => {
                self.failure.get_or_insert(failure);
            }
            Sign::Gone => {}
        }
    }

    /// The next game to be asked for.
    fn wanted(&mut self) -> Option<u64> {
        if let Some(&number) = self.retries.front() {
            return Some(number);
        }
        while self.next < self.schedule.known() {
            if self.is_missing(self.next) {
                return Some(self.next);
            }
            self.next += 1;
        }
        None
    }

    fn is_missing(&self, number: u64) -> bool {
        let there = self.schedule.has(number) || self.written.contains(&number);
        !there && self.schedule.counts(number)
    }

    /// Asks for a game, and where the field wants them together for the others of its block. From
    /// now on they are under way.
    fn ask<F: Field>(&mut self, number: u64, field: &mut F) -> Result<(), Failure> {
        let block = if F::BLOCKS { self.schedule.block_of(number) } else { number..number + 1 };
        let again = self.retries.front() == Some(&number);
        let numbers: Vec<u64> = if again {
            let (now, later): (Vec<u64>, Vec<u64>) =
                self.retries.iter().partition(|number| block.contains(number));
            self.retries = later.into();
            now
        } else {
            self.next = block.end;
            (number..block.end).filter(|&number| self.is_missing(number)).collect()
        };
        let fixture = |&number: &u64| {
            let missing = || Failure::operation(format!("game {number} is not in the schedule"));
            self.schedule.fixture(number).ok_or_else(missing)
        };
        let fixtures = numbers.iter().map(fixture).collect::<Result<Vec<_>, _>>()?;
        field.ask(fixtures)?;
        self.under_way.extend(numbers);
        Ok(())
    }

    fn came(&mut self, came: Came, stopped: bool, spectator: &mut impl Spectator) {
        let number = came.number;
        self.under_way.remove(&number);
        self.given_up.retain(|(given_up, _)| *given_up != number);
        for spoiled in came.spoiled {
            self.spoiled(number, spoiled, spectator);
        }
        match came.result {
            Ok(record) => {
                self.void_row = 0;
                self.written.insert(number);
                self.clerk.give(Entry::Game(record));
            }
            Err(Missed::Halt(failure)) => self.halt(number, failure),
            Err(Missed::Void(spoiled)) => {
                if stopped || spoiled.void.cause == "interrupted" {
                    // Nobody's doing but ours: it will be played as if it had never begun.
                    return self.forget(number);
                }
                if spoiled.void.cause == "disk_full" {
                    let full = io::ErrorKind::StorageFull.into();
                    return self.halt(number, disk_failure(self.folder.root(), &full));
                }
                let text = spoiled.void.text.clone();
                self.spoiled(number, spoiled, spectator);
                let tries = self.tries.get(&number).copied().unwrap_or_default();
                if tries > self.contest.policy.void_retries {
                    self.given_up.push((number, text));
                } else {
                    self.retries.push_back(number);
                }
            }
        }
    }

    /// An attempt doesn't count.
    fn spoiled(&mut self, number: u64, spoiled: Spoiled, spectator: &mut impl Spectator) {
        let Spoiled { void, transcript } = spoiled;
        let attempt = self.attempts.entry(number).or_default();
        *attempt += 1;
        let kept = Folder::void_transcript(number, *attempt);
        let path = |name: &str| self.folder.path(name);
        let moved = match transcript {
            None => std::fs::rename(path(&Folder::transcript(number)), path(&kept)),
            Some(bytes) => write_anew(&path(&kept), &bytes),
        };
        let transcript = moved.is_ok().then_some(kept);
        let (cause, text) = (void.cause, void.text);
        let void = VoidAttempt { number, attempt: *attempt, cause, text, transcript };
        spectator.tell(&format!("game {number} is void ({}): {}", void.cause, void.text));
        *self.tries.entry(number).or_default() += 1;
        self.progress.void += 1;
        self.in_vain(&void.text);
        self.clerk.give(Entry::Void(void));
    }

    /// One more time in a row nothing came of a game.
    fn in_vain(&mut self, why: &str) {
        self.void_row += 1;
        if self.void_row >= VOID_ROW_MAX {
            let failure = format!("nothing came of {VOID_ROW_MAX} games in a row; the last: {why}");
            self.failure.get_or_insert(
                Failure::machine(failure).help("mend the machine, then resume the contest"),
            );
        }
    }

    /// Games won't be played.
    fn dropped(&mut self, numbers: &[u64], why: Option<String>, spectator: &mut impl Spectator) {
        for number in numbers {
            self.under_way.remove(number);
        }
        let Some(why) = why else { return };
        // The same of others is told at the end.
        if !self.given_up.iter().any(|(_, told)| *told == why) {
            spectator.tell(&format!("{} could not be played: {why}", games(numbers)));
        }
        self.given_up.extend(numbers.iter().map(|&number| (number, why.clone())));
        self.in_vain(&why);
    }

    fn forget(&self, number: u64) {
        std::fs::remove_file(self.folder.path(&Folder::transcript(number))).ok();
    }

    /// The contest can't go on; the game is as if it had never begun.
    fn halt(&mut self, number: u64, failure: Failure) {
        self.forget(number);
        self.failure.get_or_insert(failure);
    }

    /// A group is durable.
    fn kept<F: Field>(&mut self, group: Group, field: &mut F, spectator: &mut impl Spectator) {
        match group {
            Ok(entries) => {
                let mut numbers = Vec::with_capacity(entries.len());
                for entry in entries {
                    match entry {
                        Entry::Game(game) => {
                            let number = game.number;
                            numbers.push(number);
                            self.written.remove(&number);
                            count(&mut self.schedule, &mut self.tally, number, &game.places);
                            let faults = game.seats.iter().filter(|seat| seat.fault.is_some());
                            self.progress.faults += faults.count() as u64;
                        }
                        Entry::Void(void) => numbers.push(void.number),
                        Entry::Apart(_) => {}
                    }
                }
                field.kept(&numbers);
            }
            Err(failure) => {
                self.failure.get_or_insert(failure);
            }
        }
        self.look(field, spectator);
    }

    fn look<F: Field>(&mut self, field: &F, spectator: &mut impl Spectator) {
        let players = Player::all(self.tally.len()).zip(&self.tally);
        // By the share of what was at stake: some have played more games than others.
        let best = players.filter(|(_, (_, stake))| *stake > 0).max_by(|a, b| {
            let ((_, (won_a, stake_a)), (_, (won_b, stake_b))) = (a, b);
            (won_a * stake_b).cmp(&(won_b * stake_a)).then(b.0.cmp(&a.0))
        });
        self.progress.leader = best.map(|(player, &(won, stake))| (player, won, stake));
        self.progress.played = self.schedule.played();
        self.progress.most = self.schedule.size().1;
        self.progress.crew = field.crew();
        spectator.see(&self.progress, &self.schedule);
    }
}

/// Takes in a result that is kept.
fn count(schedule: &mut Schedule, tally: &mut [(u64, u64)], number: u64, places: &[u32]) -> bool {
    let Some(fixture) = schedule.fixture(number) else { return false };
    if !schedule.record(number, places) {
        return false;
    }
    let stake = 2 * (places.len() as u64 - 1).max(1);
    for (player, won) in fixture.players.iter().zip(halves(places)) {
        let (halves, at_stake) = &mut tally[player.index()];
        *halves += u64::from(won);
        *at_stake += stake;
    }
    true
}

/// Tells what a signal means.
fn told<F: Field>(interrupts: &Interrupts, field: &F, spectator: &mut impl Spectator) {
    if interrupts.received().is_some() && !interrupts.is_stopped() {
        let under_way = field.under_way();
        spectator.tell(&format!(
            "no new games; {under_way} are played to their end (again: they are stopped)"
        ));
    }
}

/// A file in a folder that may not be there yet.
fn write_anew(path: &Path, bytes: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(path, bytes)
}
