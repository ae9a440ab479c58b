//! Many fake workers, one real coordinator, one real server.

use crate::Outcome;
use crate::fake_workers::FakeWorkers;
use crate::options::Options;
use crate::process::Process;
use crate::samples::{Sample, Spent};
use crate::server::Server;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::statvfs::statvfs;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Players; each round has a block of two games for each pairing of them.
const PLAYERS: u64 = 8;
const GAMES_A_ROUND: u64 = PLAYERS * (PLAYERS - 1);
/// The maximum disk space of a game, in bytes.
const GAME_BYTES: u64 = 6_000;
/// The interval at which the counters are read.
const LOOK: Duration = Duration::from_millis(200);
/// The durations of games, in seconds, for which the number of workers is extrapolated.
const GAME_SECONDS: [f64; 4] = [1.0, 10.0, 60.0, 600.0];

/// Runs the contest, and prints rows.
pub(crate) fn run(options: &Options) -> Outcome<()> {
    let rounds = options.games.div_ceil(GAMES_A_ROUND);
    let games = rounds * GAMES_A_ROUND;
    check_room(&options.dir, games)?;
    allow_connections(options.workers)?;
    let folder = tempfile::Builder::new().prefix("referee-fleet-").tempdir_in(&options.dir)?;
    let mut out = std::io::stdout();
    let (workers, slots) = (options.workers, options.slots);
    writeln!(out, "{games} games, {workers} fake workers with {slots} slots each")?;
    let server = Server::start(folder.path())?;
    let coordinator = coordinator(folder.path(), rounds, &server)?;
    let shared = FakeWorkers::find(&server.url, slots, options.game_ms)?;
    let threads = shared.start(workers, options.threads);

    let every = if options.every == 0 { games.div_ceil(20) } else { options.every };
    let samples = watch(&shared, &coordinator, &server, (games, every), &mut out)?;
    let peak = wait_for_end("the coordinator", coordinator)
        .map_err(|error| format!("{error}; {:?}", shared.errors()))?;
    for thread in threads {
        thread.join().map_err(|_| "a fake worker's thread has panicked")??;
    }
    for (text, count) in shared.errors() {
        writeln!(out, "{count} times: {text}")?;
    }
    let played = played(folder.path())?;
    if played != games {
        return Err(format!("{played} games are there, not {games}").into());
    }
    writeln!(out, "every game is there once; with the report the coordinator took {peak:.1} MB")?;
    if let (Some(first), Some(last)) = (samples.first(), samples.last()) {
        conclude(&last.since(first), options.slots, &mut out)?;
    }
    if options.verify {
        let began = Instant::now();
        let peak = wait_for_end("`verify`", verify(folder.path())?)?;
        let seconds = began.elapsed().as_secs_f64();
        writeln!(out, "verified in {seconds:.0} s, with at most {peak:.1} MB")?;
    }
    Ok(())
}

/// Checks the disk space beforehand, for contests of a million games.
fn check_room(dir: &Path, games: u64) -> Outcome<()> {
    let room = statvfs(dir)?;
    let free = room.blocks_available() * room.fragment_size();
    if free < games * GAME_BYTES || room.files_available() < games {
        let needed = games * GAME_BYTES / 1_000_000;
        let dir = dir.display();
        return Err(format!("{dir}: {games} games need {needed} MB and as many files").into());
    }
    Ok(())
}

/// Raises the limit of open files for the connections.
fn allow_connections(workers: usize) -> Outcome<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    // The server inherits the limit.
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    if most < workers as u64 + 100 {
        return Err(format!("{workers} connections need more than {most} open files").into());
    }
    Ok(())
}

fn coordinator(folder: &Path, rounds: u64, server: &Server) -> Outcome<Process> {
    let file = folder.join("contest.toml");
    let agents: Vec<String> = (0..PLAYERS).map(|number| format!("p{number}=@first")).collect();
    let text = format!(
        "name = \"simulated\"\nseed = 1\nrounds = {rounds}\nagents = {agents:?}\n\
         clock = \"1h\"\n[openings]\nplies = 1\n[sandbox]\nlevel = \"none\"\n\
         [[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
    );
    std::fs::write(&file, text)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(["contest", "run"]).arg(&file).arg("--out").arg(folder.join("contest"));
    command.args(["--on", &server.url, "-q"]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    Process::start(command)
}

/// Takes samples until all games are taken: the first with the first game, the others at
/// intervals.
fn watch(
    shared: &FakeWorkers,
    coordinator: &Process,
    server: &Server,
    (games, every): (u64, u64),
    out: &mut impl Write,
) -> Outcome<Vec<Sample>> {
    writeln!(out, "{}", Sample::heading())?;
    let mut samples: Vec<Sample> = Vec::new();
    let (began, mut next) = (Instant::now(), 1);
    let mut seen = None;
    loop {
        let reported = shared.reported.load(Ordering::Relaxed);
        let sample = Sample::at(began, reported, coordinator, server)?;
        // Once it has ended, the last sample is the last row.
        let due = sample.or(seen.take()).filter(|now| now.games >= next || sample.is_none());
        if let Some(now) = due {
            if let Some(before) = samples.last().filter(|before| before.games < now.games) {
                writeln!(out, "{}", now.row(before))?;
            }
            samples.push(now);
            next = games.min(now.games + every);
        }
        // Games that were played twice are reported twice.
        if sample.is_none_or(|now| now.games >= games) {
            return Ok(samples);
        }
        seen = sample;
        std::thread::sleep(LOOK);
    }
}

/// Waits until a process has ended; returns its peak memory in megabytes.
fn wait_for_end(name: &str, mut process: Process) -> Outcome<f64> {
    let mut peak = 0.0_f64;
    let status = loop {
        peak = process.peak_mb().map_or(peak, |now| now.max(peak));
        if let Some(status) = process.ended()? {
            break status;
        }
        std::thread::sleep(LOOK);
    };
    if status.success() {
        return Ok(peak);
    }
    Err(format!("{name} ended with {status}").into())
}

/// Starts verifying the contest.
fn verify(folder: &Path) -> Outcome<Process> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(["verify", "-q"]).arg(folder.join("contest"));
    command.stdin(Stdio::null()).stdout(Stdio::null());
    Process::start(command)
}

/// Returns the number of games that count, as printed by the program.
fn played(folder: &Path) -> Outcome<u64> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    let output =
        command.args(["contest", "status", "--json"]).arg(folder.join("contest")).output()?;
    let status: Value = serde_json::from_slice(&output.stdout)?;
    Ok(status["played"].as_u64().ok_or("no number of games in the status")?)
}

/// Prints extrapolations to larger contests.
fn conclude(span: &Spent, slots: usize, out: &mut impl Write) -> Outcome<()> {
    let a_game = |amount: f64| amount / span.games;
    writeln!(
        out,
        "a game: {:.1} messages, {:.1} kB; {:.0} us of the coordinator's CPU time, of which its \
         busiest thread {:.0} us; {:.0} us of the server's",
        a_game(span.messages),
        a_game(span.bytes) / 1e3,
        a_game(span.coordinator) * 1e6,
        a_game(span.busiest) * 1e6,
        a_game(span.server) * 1e6,
    )?;
    let here = span.games / span.seconds;
    let one_core = span.games / span.coordinator;
    let many_cores = span.games / span.busiest;
    writeln!(
        out,
        "games a second: {here:.0} here, where all share the cores and the coordinator had {:.2} \
         of one; {one_core:.0} if it had one alone; {many_cores:.0} with as many as it can use",
        span.coordinator / span.seconds,
    )?;
    for seconds in GAME_SECONDS {
        let workers = |rate: f64| rate * seconds / slots as f64;
        writeln!(
            out,
            "games of {seconds:>3} s: full at {:.0} workers with {slots} slots on one core, {:.0} \
             on many",
            workers(one_core),
            workers(many_cores),
        )?;
    }
    Ok(())
}
