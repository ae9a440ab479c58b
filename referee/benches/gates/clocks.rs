//! Rows f and g: the fairness of clocks when many matches run at once.

use crate::agent::BUSY_MODE;
use crate::measure::{median, percentile};
use crate::report::Bounds::AtMost;
use crate::report::Row;
use crate::script::Script;
use crate::turn::{agent_command, referee_play};
use serde_json::Value;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// Turns of each game.
const TURNS: usize = 20;
/// Games of each run.
const GAMES: usize = 64;
/// Matches at once in row g.
const MANY: usize = 64;
/// Matches at once in row f.
const CONCURRENCY: [usize; 3] = [1, 8, MANY];
/// The CPU time of an agent per turn in microseconds, and the time limit of a turn.
const BUSY_US: u64 = 2_000;
const MOVE_TIME: &str = "20ms";

/// Measures both rows.
pub(crate) fn rows(rounds: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    let script = Script::chinese_checkers(TURNS)?;
    let mut losses = [0; CONCURRENCY.len()];
    let mut voids = 0;
    let mut free = Overcharge::default();
    let mut held = Overcharge::default();
    for _ in 0..rounds {
        for (losses, at_once) in losses.iter_mut().zip(CONCURRENCY) {
            let run = play(&script, at_once, true)?;
            *losses += run.losses;
            voids += run.voids;
            if at_once == MANY {
                held.take(&run);
            }
        }
        free.take(&play(&script, MANY, false)?);
    }
    let losses_text: Vec<String> = CONCURRENCY
        .iter()
        .zip(losses)
        .map(|(at_once, losses)| format!("{at_once}: {losses}"))
        .collect();
    let games = GAMES * rounds;
    let lost = Row {
        letter: 'f',
        what: "time losses, 2 ms of 20 ms",
        figure: f64::from(losses.iter().sum::<u32>()),
        unit: "",
        bounds: AtMost(0.0, 0.0),
        note: format!("of {games} games each at {}; {voids} void", losses_text.join(", ")),
    };
    let overcharge = Row {
        letter: 'g',
        what: "overcharge of a turn at 64 at once, p50",
        figure: median(&held.p50),
        unit: "us",
        bounds: AtMost(50.0, 100.0),
        note: format!(
            "p99 {:.0} us, target 1000 us; without --pin {:.0} and {:.0} us, {} lost",
            median(&held.p99),
            median(&free.p50),
            median(&free.p99),
            free.losses
        ),
    };
    Ok(vec![lost, overcharge])
}

/// Percentiles of each run, in microseconds.
#[derive(Default)]
struct Overcharge {
    p50: Vec<f64>,
    p99: Vec<f64>,
    losses: u32,
}

impl Overcharge {
    fn take(&mut self, run: &Run) {
        self.p50.push(percentile(&run.overcharges, 50));
        self.p99.push(percentile(&run.overcharges, 99));
        self.losses += run.losses;
    }
}

/// The results of a run.
struct Run {
    losses: u32,
    voids: u32,
    /// For each turn, the charged time minus the agent's CPU time, in microseconds.
    overcharges: Vec<f64>,
}

fn play(script: &Script, at_once: usize, pin: bool) -> Result<Run, Box<dyn Error>> {
    let folder = script.folder().join("matches");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let agent = agent_command(BUSY_MODE, script, &[&BUSY_US.to_string()])?;
    let mut command = referee_play(&agent, TURNS);
    command.args(["--games", &GAMES.to_string(), "--jobs", &at_once.to_string()]);
    command.args(["--move-time", MOVE_TIME, "--start-time", "60s", "--quiet"]);
    if pin {
        command.arg("--pin");
    }
    command.arg("--out").arg(&folder).stdin(Stdio::null()).stdout(Stdio::null());
    // A match in which the referee lags too much is void and changes the exit code. Such matches are
    // counted below.
    command.status()?;
    let mut run = Run { losses: 0, voids: 0, overcharges: Vec::new() };
    let mut games = 0;
    for entry in folder.read_dir()? {
        let file = std::fs::File::open(entry?.path())?;
        for line in BufReader::new(file).lines() {
            run.take(&serde_json::from_str(&line?)?);
        }
        games += 1;
    }
    if games == GAMES { Ok(run) } else { Err(format!("{games} of {GAMES} games").into()) }
}

impl Run {
    fn take(&mut self, event: &Value) {
        let number = |name: &str| event[name].as_u64();
        match event["type"].as_str() {
            Some("played") => {
                if let (Some(wall), Some(cpu)) = (number("wall_ns"), number("cpu_ns")) {
                    self.overcharges.push((wall as f64 - cpu as f64) / 1e3);
                }
            }
            Some("over") => {
                let verdict = &event["verdict"];
                let seats = verdict["seats"].as_array();
                let late = |seat: &&Value| seat["fault"]["kind"] == "late";
                let late = seats.map_or(0, |seats| seats.iter().filter(late).count());
                self.losses += u32::try_from(late).unwrap_or(u32::MAX);
                self.voids += u32::from(!verdict["void"].is_null());
            }
            _ => {}
        }
    }
}
