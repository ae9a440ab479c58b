//! Disruptions of a contest on many machines: workers killed, frozen and disconnected, the server
//! killed, the coordinator killed and resumed.

use super::process::{start_coordinator, start_worker};
use super::proxy::Proxy;
use super::server::Server;
use crate::support::contest::query;
use crate::support::{Running, TestDir, eventually};
use nix::sys::signal::Signal;
use referee_match::named_seed;
use std::time::{Duration, Instant};

/// The polling interval.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The lease of an order, short so that it expires during the run.
const LEASE: &str = "3s";
/// Slots of a worker.
const SLOTS: usize = 2;
/// The fewest blocks that are out at once, and the games of each.
const OUT_MIN: usize = 16;
const GAMES_A_BLOCK: usize = 2;
/// How often the contest is resumed at the end because games were given up.
const RESUMED_MAX: usize = 5;
/// The longest time that the server is down, in milliseconds.
const SERVER_DOWN_MS: u64 = 2000;

/// The settings of a run.
pub(crate) struct ChaosSettings {
    /// Workers at any time.
    pub(crate) workers: usize,
    /// The number of disruptions, one after the other.
    pub(crate) disruptions: usize,
    /// The longest time that a participant is frozen or disconnected, in milliseconds.
    pub(crate) longest_ms: u64,
}

/// A disruption of a worker, the coordinator or the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disruption {
    /// SIGKILL; another worker replaces it.
    WorkerKilled,
    /// SIGTERM; another worker replaces it.
    WorkerTerminated,
    /// SIGSTOP, later SIGCONT.
    WorkerFrozen,
    /// Its connection is closed and new ones are refused.
    WorkerCut,
    /// Its connection stays open and transfers nothing.
    WorkerStalled,
    /// SIGKILL and a restart.
    ServerKilled,
    /// The same, and its store is deleted.
    ServerEmptied,
    /// SIGKILL; another coordinator resumes the contest.
    CoordinatorKilled,
    CoordinatorFrozen,
    CoordinatorCut,
    CoordinatorStalled,
}

/// All disruptions, in the order in which they are repeated.
const DISRUPTIONS: [Disruption; 11] = [
    Disruption::WorkerKilled,
    Disruption::WorkerCut,
    Disruption::ServerKilled,
    Disruption::WorkerFrozen,
    Disruption::CoordinatorKilled,
    Disruption::WorkerStalled,
    Disruption::CoordinatorCut,
    Disruption::WorkerTerminated,
    Disruption::CoordinatorFrozen,
    Disruption::CoordinatorStalled,
    Disruption::ServerEmptied,
];

/// A worker or the coordinator, and its proxy to the server.
struct Participant {
    proxy: Proxy,
    process: Option<Running>,
    /// The current disruption and when it ends.
    disrupted: Option<(Disruption, Instant)>,
}

impl Participant {
    fn new(proxy: Proxy, process: Running) -> Self {
        Self { proxy, process: Some(process), disrupted: None }
    }

    fn process(&self) -> &Running {
        self.process.as_ref().unwrap()
    }

    fn begin_disruption(&mut self, disruption: Disruption, ms: u64) {
        match disruption {
            Disruption::WorkerFrozen | Disruption::CoordinatorFrozen => {
                self.process().send(Signal::SIGSTOP);
            }
            Disruption::WorkerCut | Disruption::CoordinatorCut => self.proxy.cut(),
            _ => self.proxy.stall(),
        }
        self.disrupted = Some((disruption, Instant::now() + Duration::from_millis(ms)));
    }

    fn end_disruption(&mut self) {
        match self.disrupted.take() {
            Some((Disruption::WorkerFrozen | Disruption::CoordinatorFrozen, _)) => {
                self.process().send(Signal::SIGCONT);
            }
            Some(_) => self.proxy.restore(),
            None => {}
        }
    }
}

/// A contest with its server, workers and coordinator.
pub(crate) struct ChaosRun<'a> {
    dir: &'a TestDir,
    server: Server,
    workers: Vec<Participant>,
    coordinator: Participant,
    folder: &'a str,
    disruptions: usize,
    longest_ms: u64,
    seed: String,
    drawn: u64,
}

impl<'a> ChaosRun<'a> {
    /// Starts the workers, and a coordinator that runs the contest file in a folder.
    pub(crate) fn begin(
        dir: &'a TestDir,
        server: Server,
        settings: &ChaosSettings,
        seed: String,
        [file, folder]: [&'a str; 2],
    ) -> Self {
        let worker = |_| {
            let proxy = Proxy::start(server.port);
            let process = worker(dir, &proxy);
            Participant::new(proxy, process)
        };
        let workers = (0..settings.workers).map(worker).collect();
        let proxy = Proxy::start(server.port);
        let words = ["run", file, "--out", folder, "-q", "--lease", LEASE];
        let process = start_coordinator(dir, &words, &proxy.url());
        let coordinator = Participant::new(proxy, process);
        let ChaosSettings { disruptions, longest_ms, .. } = *settings;
        Self { dir, server, workers, coordinator, folder, disruptions, longest_ms, seed, drawn: 0 }
    }

    /// Applies all disruptions, spread over a contest of this many games.
    pub(crate) fn run(&mut self, games: usize) {
        let begin = Instant::now();
        let early = games - self.reserve();
        for number in 0..self.disruptions {
            self.wait_for(number * early / self.disruptions);
            let disruption = DISRUPTIONS[number % DISRUPTIONS.len()];
            let output = self.apply(disruption);
            let (played, seconds) = (self.played(), begin.elapsed().as_secs_f32());
            println!("{seconds:>6.1} s, {played:>4} games: {disruption:?} {output}");
        }
    }

    /// Returns the number of games reserved for after the last disruption. All games that are out may be
    /// played before the first of them counts; this is twice that number.
    fn reserve(&self) -> usize {
        let out = OUT_MIN.max(2 * SLOTS * self.workers.len());
        2 * out * GAMES_A_BLOCK
    }

    /// Waits until all disruptions and the contest are over and, after `others`, all processes have exited.
    /// Returns the server.
    pub(crate) fn end(mut self, others: impl FnOnce(&str)) -> Server {
        let all_ended = eventually(|| {
            std::thread::sleep(POLL_INTERVAL);
            self.end_due_disruptions();
            self.workers.iter().chain([&self.coordinator]).all(|it| it.disrupted.is_none())
        });
        assert!(all_ended);
        let mut ran = self.coordinator.process.take().unwrap().wait_long();
        for _ in 0..RESUMED_MAX {
            // A block is given up after three workers with it have disappeared.
            if ran.exit != Some(4) || !ran.stderr.contains("lost contact") {
                break;
            }
            ran = self.resumed().wait_long();
        }
        ran.code(0);
        others(&self.server.url());
        for worker in &mut self.workers {
            worker.process.take().unwrap().terminate().code(143);
        }
        let gone = eventually(|| processes(self.dir).is_empty());
        assert!(gone, "still there: {:?}", processes(self.dir));
        self.server
    }

    /// Returns a number below `count` that depends only on the seed.
    fn draw(&mut self, count: u64) -> u64 {
        self.drawn += 1;
        named_seed(&format!("{}:{}", self.seed, self.drawn)) % count
    }

    fn played(&self) -> usize {
        let output = query(self.dir, self.folder, "select count(*) from games");
        output.first().map_or(0, |count| count.parse().unwrap())
    }

    /// Waits until this many games are in the store.
    fn wait_for(&mut self, games: usize) {
        let store = self.dir.path(self.folder).join("contest.db");
        let (mut played, mut ended) = (0, false);
        let reached = eventually(|| {
            std::thread::sleep(POLL_INTERVAL);
            self.end_due_disruptions();
            // At the beginning there is no store yet.
            if store.exists() {
                played = self.played();
            }
            ended = self.coordinator.process.as_mut().unwrap().has_ended();
            ended || store.exists() && played >= games
        });
        if ended {
            let ran = self.coordinator.process.take().unwrap().wait();
            panic!("over after {played} games, {games} were waited for: {ran:?}");
        }
        assert!(reached, "{played} of {games} games; the server says\n{}", self.server.log());
    }

    fn end_due_disruptions(&mut self) {
        let now = Instant::now();
        for participant in self.workers.iter_mut().chain([&mut self.coordinator]) {
            if participant.disrupted.is_some_and(|(_, until)| until < now) {
                participant.end_disruption();
            }
        }
    }

    /// Applies a disruption; returns its target and duration.
    fn apply(&mut self, disruption: Disruption) -> String {
        let ms = 200 + self.draw(self.longest_ms - 200);
        match disruption {
            Disruption::ServerKilled | Disruption::ServerEmptied => {
                self.server.kill();
                if disruption == Disruption::ServerEmptied {
                    self.server.delete_store();
                }
                let ms = ms.min(SERVER_DOWN_MS);
                std::thread::sleep(Duration::from_millis(ms));
                self.server.restart();
                format!("for {ms} ms")
            }
            Disruption::CoordinatorKilled => {
                self.coordinator.end_disruption();
                self.coordinator.process.take().unwrap().kill();
                self.coordinator.process = Some(self.resumed());
                String::new()
            }
            Disruption::CoordinatorFrozen
            | Disruption::CoordinatorCut
            | Disruption::CoordinatorStalled => {
                self.coordinator.end_disruption();
                self.coordinator.begin_disruption(disruption, ms);
                format!("for {ms} ms")
            }
            Disruption::WorkerFrozen | Disruption::WorkerCut | Disruption::WorkerStalled => {
                let number = self.choose_worker();
                self.workers[number].begin_disruption(disruption, ms);
                format!("{number} for {ms} ms")
            }
            Disruption::WorkerKilled | Disruption::WorkerTerminated => {
                let number = self.choose_worker();
                let participant = &mut self.workers[number];
                let process = participant.process.take().unwrap();
                if disruption == Disruption::WorkerKilled {
                    process.kill();
                } else {
                    process.terminate().code(143);
                }
                participant.process = Some(worker(self.dir, &participant.proxy));
                number.to_string()
            }
        }
    }

    /// Starts another coordinator that resumes the contest.
    fn resumed(&self) -> Running {
        let words = ["resume", self.folder, "-q", "--lease", LEASE];
        start_coordinator(self.dir, &words, &self.coordinator.proxy.url())
    }

    /// Chooses a worker without a current disruption.
    fn choose_worker(&mut self) -> usize {
        let first = usize::try_from(self.draw(self.workers.len() as u64)).unwrap();
        let mut chosen = None;
        let found = eventually(|| {
            self.end_due_disruptions();
            let count = self.workers.len();
            let mut numbers = (0..count).map(|step| (first + step) % count);
            chosen = numbers.find(|&number| self.workers[number].disrupted.is_none());
            chosen.is_some()
        });
        assert!(found);
        chosen.unwrap()
    }
}

/// Returns the processes of the program and of all agents, found by the test's temporary folder.
fn processes(dir: &TestDir) -> Vec<u32> {
    let mark = dir.path("tmp").display().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let knows = |pid: &u32| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ.windows(mark.len()).any(|bytes| bytes == mark.as_bytes())
    };
    pids.filter(knows).collect()
}

fn worker(dir: &TestDir, proxy: &Proxy) -> Running {
    start_worker(dir, &proxy.url(), &["--jobs", &SLOTS.to_string()])
}
