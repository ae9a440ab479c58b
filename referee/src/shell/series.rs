//! Games in a row or many at once: one runtime a core, each with its own table, and whole matches
//! handed out to them in order.

use super::contender::Contender;
use super::destination::Destination;
use super::drive::{Entrant, Finished, drive};
use super::heading::Heading;
use super::human::Human;
use super::launcher::Launcher;
use super::sink::Sink;
use super::table::{Orders, PausedTime, Table};
use super::work_folder::{self, environment};
use crate::matches::{Match, game_seed};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use referee_games::Kind;
use referee_protocol::{ClockSettings, Event, Header, Limits, OnFault};
use serde_json::Value;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{mpsc, watch};

/// What is played.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The game.
    pub kind: Kind,
    /// Its setup, as given.
    pub setup: Value,
    /// Who plays, in the order of the first game's seats; they move on by one seat with each game.
    pub contenders: Vec<Contender>,
    /// The clock.
    pub clock: ClockSettings,
    /// What an agent may use.
    pub limits: Limits,
    /// What a fault does with three seats and more.
    pub on_fault: OnFault,
    /// The seed of the series, below 2^53.
    pub seed: u64,
    /// The numbers of the games.
    pub games: std::ops::Range<u64>,
    /// How many matches may be under way at once.
    pub jobs: usize,
    /// Where transcripts go.
    pub destination: Destination,
}

/// A game of a series, as it ended or failed.
#[derive(Debug)]
pub struct Played {
    /// Its number.
    pub number: u64,
    /// The match, or what kept it from being one.
    pub result: io::Result<Finished>,
    /// Where its transcript is.
    pub transcript: Option<PathBuf>,
}

/// Makes, for a game's number, what looks on while it is played.
pub type Watching = dyn Fn(u64) -> Box<dyn FnMut(&Event, &Match)> + Send + Sync;

/// A series that is under way.
#[derive(Debug)]
pub struct Running {
    /// The games as they end, in any order.
    pub results: mpsc::Receiver<Played>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Running {
    /// Waits until all is cleaned up. To be called when `results` has ended.
    pub fn join(self) {
        for thread in self.threads {
            thread.join().ok();
        }
    }
}

/// What all cores of a series share.
struct Shared {
    plan: Plan,
    launcher: Arc<Launcher>,
    next: AtomicU64,
    results: mpsc::Sender<Played>,
    watching: Box<Watching>,
    orders: watch::Receiver<Orders>,
    paused: PausedTime,
}

/// Starts a series. It goes on by itself; `orders` reach every match.
pub fn start(
    plan: Plan,
    orders: watch::Receiver<Orders>,
    paused: PausedTime,
    watching: Box<Watching>,
) -> io::Result<Running> {
    raise_file_limit();
    let launcher = Arc::new(Launcher::start()?);
    let cores = std::thread::available_parallelism()?.get();
    let count = usize::try_from(plan.games.end - plan.games.start).unwrap_or(usize::MAX);
    let jobs = plan.jobs.clamp(1, count.max(1));
    let threads = jobs.min(cores);
    let (results, received) = mpsc::channel(threads * 2);
    let next = AtomicU64::new(plan.games.start);
    let shared = Arc::new(Shared { plan, launcher, next, results, watching, orders, paused });
    let threads = (0..threads)
        .map(|thread| {
            let shared = shared.clone();
            let at_once = jobs / threads + usize::from(thread < jobs % threads);
            let name = format!("matches-{thread}");
            std::thread::Builder::new().name(name).spawn(move || one_core(&shared, at_once))
        })
        .collect::<io::Result<Vec<_>>>()?;
    Ok(Running { results: received, threads })
}

/// Every agent takes five files of the referee's, and what a shell sets as the limit is meant for
/// ordinary programs. Agents have a limit of their own. Where it can't be raised, fewer matches
/// fit at once.
fn raise_file_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).ok();
    }
}

/// A core's whole work: matches, some at once, until there are no more.
fn one_core(shared: &Arc<Shared>, at_once: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return report_all(shared, &error),
    };
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let table =
            Table::new(shared.launcher.clone(), shared.orders.clone(), shared.paused.clone());
        let lanes: Vec<_> = (0..at_once)
            .map(|_| tokio::task::spawn_local(one_lane(shared.clone(), table.clone())))
            .collect();
        for lane in lanes {
            lane.await.ok();
        }
    });
}

fn report_all(shared: &Shared, error: &io::Error) {
    while let Some(number) = shared.next_game() {
        let result = Err(io::Error::new(error.kind(), error.to_string()));
        let played = Played { number, result, transcript: None };
        if shared.results.blocking_send(played).is_err() {
            return;
        }
    }
}

async fn one_lane(shared: Arc<Shared>, table: Table) {
    while let Some(number) = shared.next_game() {
        let played = shared.play(&table, number).await;
        if shared.results.send(played).await.is_err() {
            return;
        }
    }
}

impl Shared {
    fn next_game(&self) -> Option<u64> {
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let stopped = self.orders.borrow().stop.is_some();
        (number < self.plan.games.end && !stopped).then_some(number)
    }

    async fn play(&self, table: &Table, number: u64) -> Played {
        let (header, game) = match self.plan.header(number) {
            Ok(prepared) => prepared,
            Err(error) => return Played { number, result: Err(error), transcript: None },
        };
        let (sink, transcript) = match self.plan.destination.open(&header) {
            Ok(opened) => opened,
            Err(error) => return Played { number, result: Err(error), transcript: None },
        };
        let result = self.drive(table, number, header, game, sink).await;
        Played { number, result, transcript }
    }

    async fn drive(
        &self,
        table: &Table,
        number: u64,
        header: Header,
        game: Box<dyn referee_games::AnyGame>,
        sink: Sink,
    ) -> io::Result<Finished> {
        let work = work_folder::create()?;
        let mut entrants = Vec::new();
        for (seat, contender) in self.plan.seated(number).into_iter().enumerate() {
            let Some(launch) = contender.launch.clone() else {
                entrants.push(Entrant::Person(Human::at_terminal()));
                continue;
            };
            let folder = work.path().join(seat.to_string());
            std::fs::create_dir(&folder)?;
            let environment = environment(&folder);
            let dialect = contender.dialect(self.plan.kind).map_err(io::Error::other)?;
            entrants.push(Entrant::Program { launch, environment, dialect });
        }
        let durable = self.plan.games.end - self.plan.games.start == 1;
        let mut watcher = (self.watching)(number);
        let finished = drive(table, game, header, entrants, sink, durable, watcher.as_mut()).await;
        work_folder::remove(work);
        finished
    }
}

impl Plan {
    /// Who sits where in a game, in seat order.
    pub fn seated(&self, number: u64) -> Vec<&Contender> {
        let count = self.contenders.len();
        let shift = usize::try_from(number % count.max(1) as u64).unwrap_or(0);
        (0..count).map(|seat| &self.contenders[(seat + shift) % count]).collect()
    }

    /// The seed of a game: the first one's is the series' own.
    pub fn game_seed(&self, number: u64) -> u64 {
        game_seed(self.seed, number)
    }

    /// A game and its transcript's header.
    fn header(&self, number: u64) -> io::Result<(Header, Box<dyn referee_games::AnyGame>)> {
        let game = self.kind.start(&self.setup).map_err(io::Error::other)?;
        let seated = self.seated(number);
        let heading = Heading {
            game: game.as_ref(),
            seated: &seated,
            clock: &self.clock,
            limits: &self.limits,
            on_fault: self.on_fault,
            seed: self.game_seed(number),
            number,
        };
        let header = heading.header();
        Ok((header, game))
    }
}
