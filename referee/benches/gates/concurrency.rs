//! Rows e and i: speed and memory of many matches at once.

use crate::measure::{kilobytes, median};
use crate::report::Bounds::{AtLeast, AtMost};
use crate::report::Row;
use crate::script::Script;
use crate::turn::{play_instant, succeed};
use std::error::Error;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Turns of each game, as in row b.
const TURNS: usize = 200;
/// Matches at once in row e; the figure compares the last with the best.
const CONCURRENCY: [usize; 5] = [2, 4, 8, 16, 64];
/// Games of one run of row e.
const GAMES: usize = 192;
/// Matches at once in row i.
const FEW: usize = 20;
const MANY: usize = 500;

/// Row e.
pub(crate) fn speed(rounds: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    let script = Script::chinese_checkers(TURNS)?;
    let mut rates = vec![Vec::new(); CONCURRENCY.len()];
    for _ in 0..rounds {
        for (rates, at_once) in rates.iter_mut().zip(CONCURRENCY) {
            let begin = Instant::now();
            succeed(&mut series(&script, GAMES, at_once)?)?;
            rates.push(GAMES as f64 / begin.elapsed().as_secs_f64());
        }
    }
    let medians: Vec<f64> = rates.iter().map(|rates| median(rates)).collect();
    let best = medians.iter().copied().fold(0.0, f64::max);
    let rates: Vec<String> = CONCURRENCY
        .iter()
        .zip(&medians)
        .map(|(at_once, rate)| format!("{at_once}: {rate:.0}"))
        .collect();
    Ok(vec![Row {
        letter: 'e',
        what: "games/s at 64 at once / at the best number",
        figure: medians.last().copied().unwrap_or(f64::NAN) / best,
        unit: "x",
        bounds: AtLeast(0.9, 0.75),
        note: format!("games/s at {}", rates.join(", ")),
    }])
}

/// Row i.
pub(crate) fn memory(rounds: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    let script = Script::chinese_checkers(TURNS)?;
    let mut kilobytes = Vec::new();
    let mut peaks = (0.0, 0.0);
    for _ in 0..rounds {
        let few = peak_kilobytes(&mut series(&script, FEW, FEW)?)?;
        let many = peak_kilobytes(&mut series(&script, MANY, MANY)?)?;
        kilobytes.push((many - few) / (MANY - FEW) as f64);
        peaks = (few, many);
    }
    Ok(vec![Row {
        letter: 'i',
        what: "memory of the referee a match",
        figure: median(&kilobytes),
        unit: "kB",
        bounds: AtMost(32.0, 40.0),
        note: format!("{:.0} kB at {FEW} at once, {:.0} kB at {MANY}", peaks.0, peaks.1),
    }])
}

fn series(script: &Script, games: usize, at_once: usize) -> Result<Command, Box<dyn Error>> {
    let folder = script.folder().join("matches");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let mut command = play_instant(script, TURNS)?;
    command.args(["--games", &games.to_string(), "--jobs", &at_once.to_string(), "--quiet"]);
    // Of 500 matches that begin at once, the last waits long for its agents.
    command.args(["--start-time", "60s", "--fail-on-fault"]);
    command.arg("--out").arg(&folder);
    Ok(command)
}

/// Runs a command and returns its peak resident memory in kilobytes.
fn peak_kilobytes(command: &mut Command) -> Result<f64, Box<dyn Error>> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let mut peak = 0.0;
    while child.try_wait()?.is_none() {
        // The kernel tracks the peak, so nothing between two polls is lost.
        peak = kilobytes(&child, "VmHWM:").map_or(peak, |now| now.max(peak));
        std::thread::sleep(Duration::from_millis(5));
    }
    let status = child.wait()?;
    if status.success() { Ok(peak) } else { Err(format!("{command:?}: {status}").into()) }
}
