//! Runs the same contest with the local runner and with one worker, alternately.

use crate::Outcome;
use crate::options::Options;
use crate::process::{Process, children_cpu};
use crate::server::Server;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Four players; each round has a block of two games for each pairing of them.
const AGENTS: &str = "[\"@random\", \"@first\", \"@greedy\", \"@minimax:1\"]";
const GAMES_A_ROUND: u64 = 12;
/// The timeout for starting a worker.
const WORKER_START: Duration = Duration::from_secs(60);

/// The interval at which this is checked.
const LOOK: Duration = Duration::from_millis(20);

/// The cost of a run, in seconds.
#[derive(Clone, Copy, Debug)]
struct Cost {
    wall: f64,
    cpu: f64,
}

/// Runs both, and prints the ratios.
pub(crate) fn run(options: &Options) -> Outcome<()> {
    let folder = tempfile::Builder::new().prefix("referee-fleet-").tempdir_in(&options.dir)?;
    let file = contest_file(folder.path(), options)?;
    let mut out = std::io::stdout();
    // A worker and a server that only start and end.
    let idle = fleet(folder.path(), "idle", options.slots, |_| Ok(0.0))?.cpu;
    writeln!(out, "a worker that plays nothing: {idle:.2} s of CPU time, left out below")?;
    let mut pairs = Vec::new();
    for number in 0..options.pairs {
        let local = || local(&file, &folder.path().join(format!("local-{number}")), options.slots);
        let fleet = || {
            let out = folder.path().join(format!("fleet-{number}"));
            let play = |url: &str| contest(&file, &out, &["--on", url]);
            let cost = fleet(folder.path(), &number.to_string(), options.slots, play)?;
            Outcome::Ok(Cost { cpu: cost.cpu - idle, ..cost })
        };
        let (local, fleet) = if number % 2 == 0 {
            let local = local()?;
            (local, fleet()?)
        } else {
            let fleet = fleet()?;
            (local()?, fleet)
        };
        writeln!(
            out,
            "local {:.2} s, CPU {:.2} s; one worker {:.2} s, CPU {:.2} s",
            local.wall, local.cpu, fleet.wall, fleet.cpu
        )?;
        pairs.push((local, fleet));
    }
    let ratio = |part: fn(&Cost) -> f64| {
        median(pairs.iter().map(|(local, fleet)| part(fleet) / part(local)).collect())
    };
    let (wall, cpu) = (ratio(|cost| cost.wall), ratio(|cost| cost.cpu));
    writeln!(out, "one worker over the local runner: {wall:.3} of the time, {cpu:.3} of the CPU")?;
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn contest_file(folder: &Path, options: &Options) -> Outcome<PathBuf> {
    let file = folder.join("contest.toml");
    let rounds = options.games.div_ceil(GAMES_A_ROUND);
    let text = format!(
        "name = \"overhead\"\nseed = 1\nrounds = {rounds}\nagents = {AGENTS}\nclock = \"1h\"\n\
         [openings]\nplies = 2\n[[games]]\ngame = \"hex\"\nsetup = {{ size = 5 }}\n"
    );
    std::fs::write(&file, text)?;
    Ok(file)
}

fn referee(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn contest(file: &Path, out: &Path, words: &[&str]) -> Outcome<f64> {
    let mut command = referee(&["contest", "run"]);
    command.arg(file).arg("--out").arg(out).arg("-q").args(words);
    let begin = Instant::now();
    let status = Process::start(command)?.wait()?;
    let wall = begin.elapsed().as_secs_f64();
    if status.success() { Ok(wall) } else { Err(format!("the contest ended with {status}").into()) }
}

fn local(file: &Path, out: &Path, slots: usize) -> Outcome<Cost> {
    let before = children_cpu()?;
    let wall = contest(file, out, &["--jobs", &slots.to_string()])?;
    Ok(Cost { wall, cpu: children_cpu()? - before })
}

/// Returns the cost of `play` with a server and a worker.
fn fleet(
    folder: &Path,
    name: &str,
    slots: usize,
    play: impl FnOnce(&str) -> Outcome<f64>,
) -> Outcome<Cost> {
    let before = children_cpu()?;
    let store = folder.join(format!("server-{name}"));
    std::fs::create_dir(&store)?;
    let server = Server::start(&store)?;
    let worker = worker(&server, slots)?;
    let wall = play(&server.url)?;
    worker.terminate()?;
    worker.wait()?;
    drop(server);
    Ok(Cost { wall, cpu: children_cpu()? - before })
}

fn worker(server: &Server, slots: usize) -> Outcome<Process> {
    let words = ["worker", &server.url, "--jobs", &slots.to_string()];
    let mut worker = Process::start(referee(&words))?;
    let end = Instant::now() + WORKER_START;
    while server.connections()? == 0 {
        if worker.ended()?.is_some() || Instant::now() > end {
            return Err("the worker does not start".into());
        }
        std::thread::sleep(LOOK);
    }
    Ok(worker)
}
