//! What happens to those who take part in a contest on many machines: workers killed, frozen and cut
//! off, the server killed, the coordinator killed and resumed.

use super::people::Member;
use super::proxy::Proxy;
use super::server::Server;
use crate::contest::query;
use crate::support::{Place, eventually};
use nix::sys::signal::Signal;
use referee_match::named_seed;
use std::time::{Duration, Instant};

/// How often it is looked what is to happen next.
const LOOK: Duration = Duration::from_millis(20);
/// How long a worker may say nothing: short, so that it counts.
const LEASE: &str = "3s";
/// Slots of a worker.
const SLOTS: usize = 2;
/// The least blocks that are out at once, and the games of each.
const OUT_MIN: usize = 16;
const GAMES_A_BLOCK: usize = 2;
/// How often a contest is resumed at the end because some of its games were given up.
const RESUMED_MAX: usize = 5;
/// How long the server is down, at most.
const SERVER_DOWN_MS: u64 = 2000;

/// How much happens.
pub(crate) struct Form {
    /// Workers at any time.
    pub(crate) workers: usize,
    /// What happens to them and to others, one after the other.
    pub(crate) blows: usize,
    /// How long somebody is frozen or cut off, at most.
    pub(crate) longest_ms: u64,
}

/// What happens to one of those who take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blow {
    /// SIGKILL; another one comes in its place.
    WorkerKilled,
    /// SIGTERM; another one comes in its place.
    WorkerDismissed,
    /// SIGSTOP, and SIGCONT.
    WorkerFrozen,
    /// Its connection is closed, and no new one is let through.
    WorkerCut,
    /// What it sends and is sent doesn't arrive, and nobody is told.
    WorkerStalled,
    /// The server gets SIGKILL, and is started again.
    ServerKilled,
    /// The same, and what it had kept is gone.
    ServerEmptied,
    /// The coordinator gets SIGKILL, and another one resumes the contest.
    CoordinatorKilled,
    CoordinatorFrozen,
    CoordinatorCut,
    CoordinatorStalled,
}

/// In this order, again and again.
const BLOWS: [Blow; 11] = [
    Blow::WorkerKilled,
    Blow::WorkerCut,
    Blow::ServerKilled,
    Blow::WorkerFrozen,
    Blow::CoordinatorKilled,
    Blow::WorkerStalled,
    Blow::CoordinatorCut,
    Blow::WorkerDismissed,
    Blow::CoordinatorFrozen,
    Blow::CoordinatorStalled,
    Blow::ServerEmptied,
];

/// Somebody who takes part, and the way to the server.
struct Station {
    proxy: Proxy,
    member: Option<Member>,
    /// What it suffers from, and until when.
    struck: Option<(Blow, Instant)>,
}

impl Station {
    fn new(proxy: Proxy, member: Member) -> Self {
        Self { proxy, member: Some(member), struck: None }
    }

    fn member(&self) -> &Member {
        self.member.as_ref().unwrap()
    }

    fn hurt(&mut self, blow: Blow, ms: u64) {
        match blow {
            Blow::WorkerFrozen | Blow::CoordinatorFrozen => self.member().send(Signal::SIGSTOP),
            Blow::WorkerCut | Blow::CoordinatorCut => self.proxy.cut(),
            _ => self.proxy.stall(),
        }
        self.struck = Some((blow, Instant::now() + Duration::from_millis(ms)));
    }

    fn mend(&mut self) {
        match self.struck.take() {
            Some((Blow::WorkerFrozen | Blow::CoordinatorFrozen, _)) => {
                self.member().send(Signal::SIGCONT);
            }
            Some(_) => self.proxy.mend(),
            None => {}
        }
    }
}

/// A contest, and everybody in it.
pub(crate) struct Storm<'a> {
    place: &'a Place,
    server: Server,
    workers: Vec<Station>,
    coordinator: Station,
    folder: &'a str,
    blows: usize,
    longest_ms: u64,
    seed: String,
    drawn: u64,
}

impl<'a> Storm<'a> {
    /// Everybody begins: a contest of this file, in this folder.
    pub(crate) fn begin(
        place: &'a Place,
        server: Server,
        form: &Form,
        seed: String,
        [file, folder]: [&'a str; 2],
    ) -> Self {
        let worker = |_| {
            let proxy = Proxy::before(server.port);
            let member = worker(place, &proxy);
            Station::new(proxy, member)
        };
        let workers = (0..form.workers).map(worker).collect();
        let proxy = Proxy::before(server.port);
        let words = ["run", file, "--out", folder, "-q", "--lease", LEASE];
        let member = Member::coordinator(place, &words, &proxy.url());
        let coordinator = Station::new(proxy, member);
        let Form { blows, longest_ms, .. } = *form;
        Self { place, server, workers, coordinator, folder, blows, longest_ms, seed, drawn: 0 }
    }

    /// Lets it all happen, spread over a contest of so many games.
    pub(crate) fn rage(&mut self, games: usize) {
        let begin = Instant::now();
        let early = games - self.reserve();
        for number in 0..self.blows {
            self.wait_for(number * early / self.blows);
            let blow = BLOWS[number % BLOWS.len()];
            let told = self.strike(blow);
            let (played, seconds) = (self.played(), begin.elapsed().as_secs_f32());
            println!("{seconds:>6.1} s, {played:>4} games: {blow:?} {told}");
        }
    }

    /// So many games are kept for after the last blow: all that are out may be played before anybody
    /// sees that the first of them count, and as many again.
    fn reserve(&self) -> usize {
        let out = OUT_MIN.max(2 * SLOTS * self.workers.len());
        2 * out * GAMES_A_BLOCK
    }

    /// Mends everything, and waits until the contest is over and everybody has left. What is left is
    /// the server.
    pub(crate) fn end(mut self) -> Server {
        let mended = eventually(|| {
            std::thread::sleep(LOOK);
            self.mend_what_is_due();
            self.workers.iter().chain([&self.coordinator]).all(|it| it.struck.is_none())
        });
        assert!(mended);
        let mut ran = self.coordinator.member.take().unwrap().wait_for_long();
        for _ in 0..RESUMED_MAX {
            // Three workers were not heard of while they had the same block: it is given up.
            if ran.exit != Some(4) || !ran.stderr.contains("not heard of") {
                break;
            }
            ran = self.resumed().wait_for_long();
        }
        ran.code(0);
        for worker in &mut self.workers {
            worker.member.take().unwrap().dismiss().code(143);
        }
        let gone = eventually(|| processes(self.place).is_empty());
        assert!(gone, "still there: {:?}", processes(self.place));
        self.server
    }

    /// A number below `count` that only the seed decides.
    fn draw(&mut self, count: u64) -> u64 {
        self.drawn += 1;
        named_seed(&format!("{}:{}", self.seed, self.drawn)) % count
    }

    fn played(&self) -> usize {
        let told = query(self.place, self.folder, "select count(*) from games");
        told.first().map_or(0, |count| count.parse().unwrap())
    }

    /// Waits until so many games count.
    fn wait_for(&mut self, games: usize) {
        let store = self.place.path(self.folder).join("contest.db");
        let (mut played, mut ended) = (0, false);
        let reached = eventually(|| {
            std::thread::sleep(LOOK);
            self.mend_what_is_due();
            // At the very beginning there is nothing that could be resumed.
            if store.exists() {
                played = self.played();
            }
            ended = self.coordinator.member.as_mut().unwrap().has_ended();
            ended || store.exists() && played >= games
        });
        if ended {
            let ran = self.coordinator.member.take().unwrap().wait();
            panic!("over after {played} games, {games} were waited for: {ran:?}");
        }
        assert!(reached, "{played} of {games} games; the server says\n{}", self.server.log());
    }

    fn mend_what_is_due(&mut self) {
        let now = Instant::now();
        for station in self.workers.iter_mut().chain([&mut self.coordinator]) {
            if station.struck.is_some_and(|(_, until)| until < now) {
                station.mend();
            }
        }
    }

    /// Strikes; whom, and for how long.
    fn strike(&mut self, blow: Blow) -> String {
        let ms = 200 + self.draw(self.longest_ms - 200);
        match blow {
            Blow::ServerKilled | Blow::ServerEmptied => {
                self.server.kill();
                if blow == Blow::ServerEmptied {
                    self.server.forget();
                }
                let ms = ms.min(SERVER_DOWN_MS);
                std::thread::sleep(Duration::from_millis(ms));
                self.server.restart();
                format!("for {ms} ms")
            }
            Blow::CoordinatorKilled => {
                self.coordinator.mend();
                self.coordinator.member.take().unwrap().kill();
                self.coordinator.member = Some(self.resumed());
                String::new()
            }
            Blow::CoordinatorFrozen | Blow::CoordinatorCut | Blow::CoordinatorStalled => {
                self.coordinator.mend();
                self.coordinator.hurt(blow, ms);
                format!("for {ms} ms")
            }
            Blow::WorkerFrozen | Blow::WorkerCut | Blow::WorkerStalled => {
                let number = self.choose_worker();
                self.workers[number].hurt(blow, ms);
                format!("{number} for {ms} ms")
            }
            Blow::WorkerKilled | Blow::WorkerDismissed => {
                let number = self.choose_worker();
                let station = &mut self.workers[number];
                let member = station.member.take().unwrap();
                if blow == Blow::WorkerKilled {
                    member.kill();
                } else {
                    member.dismiss().code(143);
                }
                station.member = Some(worker(self.place, &station.proxy));
                number.to_string()
            }
        }
    }

    /// Another coordinator, which goes on.
    fn resumed(&self) -> Member {
        let words = ["resume", self.folder, "-q", "--lease", LEASE];
        Member::coordinator(self.place, &words, &self.coordinator.proxy.url())
    }

    /// A worker that suffers from nothing.
    fn choose_worker(&mut self) -> usize {
        let first = usize::try_from(self.draw(self.workers.len() as u64)).unwrap();
        let mut chosen = None;
        let found = eventually(|| {
            self.mend_what_is_due();
            let count = self.workers.len();
            let mut numbers = (0..count).map(|step| (first + step) % count);
            chosen = numbers.find(|&number| self.workers[number].struck.is_none());
            chosen.is_some()
        });
        assert!(found);
        chosen.unwrap()
    }
}

/// Processes that know the place's temporary folder: those of the program, and of all agents.
fn processes(place: &Place) -> Vec<u32> {
    let mark = place.path("tmp").display().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let knows = |pid: &u32| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ.windows(mark.len()).any(|bytes| bytes == mark.as_bytes())
    };
    pids.filter(knows).collect()
}

fn worker(place: &Place, proxy: &Proxy) -> Member {
    Member::worker(place, &proxy.url(), &["--slots", &SLOTS.to_string()])
}
