//! Row j: a contest of many short games, with new agent processes for each.

use crate::agent::AGENT_MODE;
use crate::measure::{children_cpu, kilobytes};
use crate::report::Bounds::{AtLeast, AtMost};
use crate::report::Row;
use crate::script::Script;
use crate::turn::agent_command;
use serde_json::Value;
use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Games of the contest, and turns of each.
const GAMES: usize = 10_000;
const TURNS: usize = 10;
/// Matches at once.
const AT_ONCE: usize = 8;
/// The interval between samples of the referee's memory.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Agents started to measure their own CPU time.
const AGENTS: u32 = 200;

/// Measures the speed at three levels of the sandbox, and the memory at the default level.
pub(crate) fn rows(_runs: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    let script = Script::chinese_checkers(TURNS)?;
    let agent = native_agent(&script)?;
    let alone = alone(&agent)?;
    let plain = contest(&script, &agent, "none")?;
    let isolated = contest(&script, &agent, "isolated")?;
    let usual = contest(&script, &agent, "auto")?;
    let speed = |what, (target, gate), run: &Run| Row {
        letter: 'j',
        what,
        figure: GAMES as f64 / run.seconds,
        unit: "/s",
        bounds: AtLeast(target, gate),
        note: format!(
            "level {}; {} time losses, {} void; of a game's CPU time {:.0} us are its two agents' own \
             start and end",
            run.level,
            run.losses,
            run.voids,
            alone * 2.0
        ),
    };
    let speeds = [
        speed("10,000 ten-turn games at level none: games a second", (3000.0, 600.0), &plain),
        speed("the same at level isolated", (600.0, 400.0), &isolated),
        speed("the same at the default level", (600.0, 400.0), &usual),
    ];
    let runs = [&plain, &isolated, &usual];
    let losses: usize = runs.iter().map(|run| run.losses).sum();
    let voids: usize = runs.iter().map(|run| run.voids).sum();
    let Run { early_kb, end_kb, peak_kb, .. } = usual;
    let memory = Row {
        letter: 'j',
        what: "10,000 ten-turn games: memory at the end / at 10 %",
        figure: end_kb / early_kb,
        unit: "x",
        bounds: AtMost(1.05, 1.2),
        note: format!(
            "{:.1} MB at the end of the games, target 20 MB; {:.1} MB with the report",
            end_kb / 1e3,
            peak_kb / 1e3
        ),
    };
    if losses + voids > 0 {
        return Err(format!("{losses} games were lost on time, {voids} are void").into());
    }
    Ok(std::iter::once(memory).chain(speeds).collect())
}

/// The results of the contest.
struct Run {
    level: String,
    seconds: f64,
    /// Kilobytes of the referee after a tenth of the games, and after all of them.
    early_kb: f64,
    end_kb: f64,
    /// The peak, including the final report.
    peak_kb: f64,
    losses: usize,
    voids: usize,
}

/// Returns the command line of an instant agent: a small C program if there is a compiler, else this
/// program.
fn native_agent(script: &Script) -> Result<String, Box<dyn Error>> {
    let program = script.folder().join("instant");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/gates/instant.c");
    // A shared C library may take longer to start than the agent runs.
    for compiler in ["musl-gcc", "cc"] {
        let mut compiler = Command::new(compiler);
        compiler.args(["-O2", "-static", source, "-o"]).arg(&program);
        if compiler.stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
            let (program, script) = (program.to_string_lossy(), script.path());
            return Ok(shlex::try_join([&*program, &*script.to_string_lossy()])?);
        }
    }
    agent_command(AGENT_MODE, script, &[])
}

/// Returns the CPU time in microseconds that an agent needs to start and exit.
fn alone(agent: &str) -> Result<f64, Box<dyn Error>> {
    let words = shlex::split(agent).ok_or("no command line")?;
    let before = children_cpu();
    for _ in 0..AGENTS {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    }
    Ok(children_cpu().saturating_sub(before).as_secs_f64() * 1e6 / f64::from(AGENTS))
}

fn contest(script: &Script, agent: &str, level: &str) -> Result<Run, Box<dyn Error>> {
    let file = script.folder().join("contest.toml");
    let out = script.folder().join(format!("contest-{level}"));
    let agent = Value::from(agent);
    // Each round has both seat orders.
    let rounds = GAMES / 2;
    let text = format!(
        "seed = 1\nrounds = {rounds}\njobs = {AT_ONCE}\npin = true\nclock = \"600s\"\n\
         sandbox = {{ level = \"{level}\" }}\n\
         games = [{{ game = \"chinese-checkers\", setup = {{ max_turns = {TURNS} }} }}]\n\
         agents = [{{ name = \"a\", run = {agent} }}, {{ name = \"b\", run = {agent} }}]\n"
    );
    std::fs::write(&file, text)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(["contest", "run"]).arg(&file).arg("--out").arg(&out).arg("-q");
    let status = || -> Result<Value, Box<dyn Error>> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        let output = command.args(["contest", "status", "--json"]).arg(&out).output()?;
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let number = |status: &Value, name: &str| {
        status[name].as_u64().and_then(|number| usize::try_from(number).ok())
    };
    let mut run = watch(&mut command, || begun_games(&out.join("games")))?;
    let status = status()?;
    let games = number(&status, "games").ok_or("no games in the status")?;
    let played = number(&status, "played").ok_or("no played games in the status")?;
    if (games, played) != (GAMES, GAMES) {
        return Err(format!("{played} of {games} games, not {GAMES}").into());
    }
    run.voids = number(&status, "void").ok_or("no void games in the status")?;
    let level = status["sandbox"]["level"].as_str();
    level.ok_or("no level in the status")?.clone_into(&mut run.level);
    run.losses = number(&status, "faults").ok_or("no faults in the status")?;
    Ok(run)
}

/// Counts the games that have begun; each folder of transcripts has 1,000.
fn begun_games(games: &Path) -> usize {
    let folders = games.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let Some(last) = folders.max() else { return 0 };
    let number = last.file_name().and_then(|name| name.to_str()?.parse::<usize>().ok());
    number.unwrap_or(0) * 1000 + last.read_dir().map_or(0, Iterator::count)
}

/// Runs a command and samples its memory.
fn watch(command: &mut Command, played: impl Fn() -> usize) -> Result<Run, Box<dyn Error>> {
    let begin = Instant::now();
    let mut child = command.stdin(Stdio::null()).spawn()?;
    let (mut early_kb, mut end_kb, mut peak_kb) = (f64::NAN, f64::NAN, 0.0_f64);
    while child.try_wait()?.is_none() {
        let (now, played) = (kilobytes(&child, "VmRSS:"), played());
        // Samples after the last game would include the report.
        if played < GAMES {
            end_kb = now.unwrap_or(end_kb);
        }
        peak_kb = now.map_or(peak_kb, |now| now.max(peak_kb));
        if early_kb.is_nan() && played >= GAMES / 10 {
            early_kb = end_kb;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("{command:?}: {status}").into());
    }
    Ok(Run { level: String::new(), seconds, early_kb, end_kb, peak_kb, losses: 0, voids: 0 })
}
