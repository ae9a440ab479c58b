//! Row o: what it costs that a game's rules are a program, in Python. Needs `python3`.

use crate::measure::{Pairs, children_cpu, median};
use crate::report::Bounds::{AtLeast, AtMost};
use crate::report::Row;
use crate::turn::succeed;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Hex, once more as a sample in Python.
const HEX: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../sample-agents/games/hex");
/// A game with draws.
const PIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../sample-agents/games/pig");
/// Games of a short and of a long run: their difference is without the starts of the programs.
const GAMES: (usize, usize) = (20, 120);
/// Plies of a game of `@first` against itself on the smallest board of Hex.
const HEX_PLIES: f64 = 7.0;
/// Targets of Pig for a short and a long game.
const TARGETS: (u32, u32) = (10, 100);
/// Plies of the verified game that the figure is for.
const VERIFIED_PLIES: f64 = 200.0;

/// Measures the rows.
pub(crate) fn rows(rounds: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    Ok(vec![a_ply(rounds)?, verified(rounds)?, at_once(rounds)?])
}

/// The time of a run of `referee play` and its CPU time without that of the processes that it starts, in seconds.
fn seconds(game: &str, games: usize, jobs: usize) -> Result<[f64; 2], Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(["play", game, "@first", "@first", "--setup", "size=3", "--seed", "1"]);
    command.args(["--games", &games.to_string(), "--jobs", &jobs.to_string()]);
    command.args(["--sandbox", "none", "--out", "none", "--quiet"]);
    let (begin, before) = (Instant::now(), children_cpu());
    succeed(&mut command)?;
    let cpu = children_cpu().saturating_sub(before);
    Ok([begin.elapsed(), cpu].map(|time| time.as_secs_f64()))
}

fn a_ply(rounds: usize) -> Result<Row, Box<dyn Error>> {
    let mut walls = [Vec::new(), Vec::new()];
    let [of_built_in, of_program] = &mut walls;
    let micros = |game: &str, walls: &mut Vec<f64>| -> Result<f64, Box<dyn Error>> {
        let (long, short) = (seconds(game, GAMES.1, 1)?, seconds(game, GAMES.0, 1)?);
        let [wall, cpu] =
            [0, 1].map(|it| (long[it] - short[it]) * 1e6 / (GAMES.1 - GAMES.0) as f64 / HEX_PLIES);
        walls.push(wall);
        Ok(cpu)
    };
    let pairs =
        Pairs::alternate(rounds, || micros("hex", of_built_in), || micros(HEX, of_program))?;
    let (built_in, program) = pairs.medians();
    let more = median(&walls[1]) - median(&walls[0]);
    Ok(Row {
        letter: 'o',
        what: "CPU time for a ply of Hex in Python, more than built in",
        figure: program - built_in,
        unit: "us",
        bounds: AtMost(150.0, 300.0),
        note: format!(
            "{program:.0} us, {built_in:.0} us built in, with starts and ends of games, without the rules' process; by the \
             clock {more:.0} us more"
        ),
    })
}

fn verified(rounds: usize) -> Result<Row, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let play = |target: u32| -> Result<(PathBuf, f64), Box<dyn Error>> {
        let file = folder.path().join(format!("{target}.jsonl"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        command.args(["play", PIG, "@random", "@random", "@random", "@random", "--seed", "1"]);
        command.args(["--setup", "seats=4", "--setup", "turns_per_seat=50"]);
        command.args(["--setup", &format!("target={target}"), "--sandbox", "none"]);
        command.args(["--quiet", "--out"]).arg(&file);
        succeed(&mut command)?;
        let text = std::fs::read_to_string(&file)?;
        let is_ply = |line: &&str| {
            line.contains("\"type\":\"played\"") || line.contains("\"type\":\"drawn\"")
        };
        Ok((file, text.lines().filter(is_ply).count() as f64))
    };
    let (short, long) = (play(TARGETS.0)?, play(TARGETS.1)?);
    let millis = |file: &Path| -> Result<f64, Box<dyn Error>> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        command.arg("verify").arg(file).args(["--rules", PIG]);
        let before = children_cpu();
        succeed(&mut command)?;
        Ok(children_cpu().saturating_sub(before).as_secs_f64() * 1e3)
    };
    let mut figures = Vec::new();
    for _ in 0..rounds {
        let more = millis(&long.0)? - millis(&short.0)?;
        figures.push(more / (long.1 - short.1) * VERIFIED_PLIES);
    }
    Ok(Row {
        letter: 'o',
        what: "CPU time to verify 200 plies in Python",
        figure: median(&figures),
        unit: "ms",
        bounds: AtMost(3.0, 6.0),
        note: format!("Pig, {} plies and {} plies", short.1, long.1),
    })
}

fn at_once(rounds: usize) -> Result<Row, Box<dyn Error>> {
    let clock = |jobs| seconds(HEX, GAMES.1, jobs).map(|[wall, _]| wall);
    let pairs = Pairs::alternate(rounds, || clock(64), || clock(2))?;
    let (many, few) = pairs.medians();
    let rate = |seconds: f64| GAMES.1 as f64 / seconds;
    Ok(Row {
        letter: 'o',
        what: "games/s of Hex in Python at 64 at once / at 2",
        figure: pairs.ratio(),
        unit: "x",
        bounds: AtLeast(0.9, 0.7),
        note: format!("{:.0}, {:.0} games/s", rate(many), rate(few)),
    })
}
