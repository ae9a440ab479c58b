//! Rows a and c: a complete turn of `referee play`, and the referee's own share of it.

use crate::agent::{AGENT_MODE, take_cpu};
use crate::allocations;
use crate::measure::{Pairs, Pinned, children_cpu, median};
use crate::ping_pong::{EVENT_LOOP_MODE, PING_PONG_MODE};
use crate::report::Bounds::AtMost;
use crate::report::Row;
use crate::script::Script;
use std::error::Error;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Turns of the long and the short match; their difference excludes start and end.
const LONG: usize = 40_000;
const SHORT: usize = 4_000;

/// Measures both rows in the same runs.
///
/// All processes of a run share one core, so a turn takes the CPU time of all of them together. Unlike
/// wall-clock time, CPU time excludes other work of the core.
pub(crate) fn rows(pairs: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    let script = Script::chinese_checkers(LONG)?;
    let pinned = Pinned::to_one_core()?;
    let mut walls = (Vec::new(), Vec::new());
    let mut own_cpu = (Vec::new(), Vec::new());
    let mut floors = (Vec::new(), Vec::new());
    let turns = Pairs::alternate(
        pairs,
        || {
            let turn = per_turn(|turns| ping_pong(PING_PONG_MODE, &script, turns))?;
            walls.0.push(turn.wall);
            Ok::<_, Box<dyn Error>>(turn.whole_cpu)
        },
        || {
            let turn = per_turn(|turns| play(&script, turns))?;
            walls.1.push(turn.wall);
            let floor = per_turn(|turns| ping_pong(EVENT_LOOP_MODE, &script, turns))?;
            own_cpu.0.push(turn.own_cpu);
            own_cpu.1.push(turn.own_cpu / floor.own_cpu);
            floors.0.push(floor.whole_cpu);
            floors.1.push(floor.own_cpu);
            Ok(turn.whole_cpu)
        },
    )?;
    drop(pinned);
    let (yardstick, measured) = turns.medians();
    let (wall_yardstick, wall) = (median(&walls.0), median(&walls.1));
    let whole = Row {
        letter: 'a',
        what: "complete turn / two-agent ping-pong",
        figure: turns.ratio(),
        unit: "x",
        bounds: AtMost(1.35, 1.5),
        note: format!(
            "{measured:.2} us against {yardstick:.2} us, a bare event loop {:.2} us; on the wall \
             {wall:.2} us against {wall_yardstick:.2} us",
            median(&floors.0)
        ),
    };
    let (allocations, rules) = allocations::per_turn()?;
    let own = Row {
        letter: 'c',
        what: "own CPU a turn / bare event loop",
        figure: median(&own_cpu.1),
        unit: "x",
        bounds: AtMost(1.3, 1.6),
        note: format!(
            "{:.2} us against {:.2} us; {allocations:.1} allocations, {rules:.1} of them by the rules",
            median(&own_cpu.0),
            median(&floors.1)
        ),
    };
    Ok(vec![whole, own])
}

/// Measures the last figure of row l: a turn at level `isolated` compared with one at `none`, both on
/// one core in wall-clock time.
pub(crate) fn sandboxed(pairs: usize) -> Result<Row, Box<dyn Error>> {
    let script = Script::chinese_checkers(LONG)?;
    let _pinned = Pinned::to_one_core()?;
    let turn = |level: &str| -> Result<f64, Box<dyn Error>> {
        let taken = per_turn(|turns| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
            let agent = agent_command(AGENT_MODE, &script, &[])?;
            command.args(["play", "chinese-checkers", &agent, &agent, "--seed", "1"]);
            command.args(["--setup", &format!("max_turns={turns}"), "--sandbox", level]);
            command.args(["--clock", "600s", "--force", "--quiet", "--out"]);
            let (wall, own) = time(command.arg(script.folder().join("match.jsonl")))?;
            Ok([wall, own, own])
        })?;
        Ok(taken.wall)
    };
    let times = Pairs::alternate(pairs, || turn("none"), || turn("isolated"))?;
    let (plain, sandboxed) = times.medians();
    Ok(Row {
        letter: 'l',
        what: "turn, level isolated, over level none",
        figure: sandboxed - plain,
        unit: "us",
        bounds: AtMost(0.5, 1.0),
        note: format!("{sandboxed:.2} us against {plain:.2} us on the wall"),
    })
}

/// The time per turn, in microseconds.
struct Turn {
    wall: f64,
    /// Of all processes.
    whole_cpu: f64,
    /// Of all but the agents.
    own_cpu: f64,
}

/// The times of a run: wall-clock time, CPU time of all processes, and CPU time without the agents.
type Times = [Duration; 3];

fn per_turn(
    mut run: impl FnMut(usize) -> Result<Times, Box<dyn Error>>,
) -> Result<Turn, Box<dyn Error>> {
    let (short, long) = (run(SHORT)?, run(LONG)?);
    let micros = |index: usize| {
        (long[index].as_secs_f64() - short[index].as_secs_f64()) * 1e6 / (LONG - SHORT) as f64
    };
    Ok(Turn { wall: micros(0), whole_cpu: micros(1), own_cpu: micros(2) })
}

fn ping_pong(mode: &str, script: &Script, turns: usize) -> Result<Times, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(mode).arg(script.path()).arg(turns.to_string());
    let (wall, whole) = time(&mut command)?;
    // It waits for its agents, so their time counts as its children's.
    Ok([wall, whole, whole.saturating_sub(take_cpu(&script.path())?)])
}

/// Runs the real program with a transcript in a file and a clock. Its agents are children of
/// supervisors, so their CPU time is not included in its children's.
fn play(script: &Script, turns: usize) -> Result<Times, Box<dyn Error>> {
    let transcript = script.folder().join("match.jsonl");
    let mut command = play_instant(script, turns)?;
    command.arg("--force").arg("--out").arg(&transcript).arg("--quiet");
    let (wall, own) = time(&mut command)?;
    Ok([wall, own + take_cpu(&script.path())?, own])
}

/// Runs a program and returns its wall-clock time and CPU time.
fn time(command: &mut Command) -> Result<(Duration, Duration), Box<dyn Error>> {
    let (start, before) = (Instant::now(), children_cpu());
    succeed(command)?;
    Ok((start.elapsed(), children_cpu().saturating_sub(before)))
}

/// Returns the command line of an agent: this program in a hidden mode, with a script.
pub(crate) fn agent_command(
    mode: &str,
    script: &Script,
    arguments: &[&str],
) -> Result<String, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let path = script.path();
    let words = [&program.to_string_lossy(), mode, &path.to_string_lossy()];
    Ok(shlex::try_join(words.into_iter().chain(arguments.iter().copied()))?)
}

/// Returns the command of a match between two of these agents, without a sandbox because they write
/// their CPU time beside the script.
pub(crate) fn referee_play(agent: &str, turns: usize) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(["play", "chinese-checkers", agent, agent, "--seed", "1"]);
    command.args(["--setup", &format!("max_turns={turns}"), "--sandbox", "none"]);
    command
}

/// Returns the command of a match between two instant agents with a long clock.
pub(crate) fn play_instant(script: &Script, turns: usize) -> Result<Command, Box<dyn Error>> {
    let mut command = referee_play(&agent_command(AGENT_MODE, script, &[])?, turns);
    command.args(["--clock", "600s"]);
    Ok(command)
}

/// Runs a command; an exit code other than 0 is an error.
pub(crate) fn succeed(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}").into()) }
}
