//! The speed gates: every measure that the design has a target for, in one table. Ends with 1 if a
//! gate is missed. How to read it: docs/benchmarks.md.
//!
//! What it starts are the referee itself, and this program once more in a hidden mode: as an
//! instant agent or as the yardstick of a turn.

#![expect(
    clippy::cast_precision_loss,
    reason = "counts become parts of figures, of which three digits are shown"
)]

mod measure;
mod report;
mod script;
mod agent;
mod ping_pong;
mod turn;
mod perft;
mod peer;
mod crowd;
mod clocks;
mod long;
mod verify;
mod start;
mod sandbox;

use referee_process::launcher;
use report::Row;
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: gates [LETTER..] [--pairs NUMBER] [--ratios]";
/// Runs of each side, at least.
const PAIRS_MIN: usize = 9;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [launcher::LAUNCH_COMMAND, ..] => launcher::run(),
        [agent::AGENT_MODE, script] => agent::run(Path::new(script))?,
        [agent::BUSY_MODE, script, micros] => {
            agent::run_busily(Path::new(script), micros.parse()?)?;
        }
        [peer::PEER_MODE, at_once] => peer::run(at_once.parse()?)?,
        [peer::ENGINE_MODE] => peer::run_engine()?,
        [ping_pong::PING_PONG_MODE, script, turns] => {
            ping_pong::run(Path::new(script), turns.parse()?)?;
        }
        [ping_pong::EVENT_LOOP_MODE, script, turns] => {
            ping_pong::run_in_event_loop(Path::new(script), turns.parse()?)?;
        }
        _ => return measure_all(&Options::read(&words)?),
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures in so many runs.
type Measure = fn(usize) -> Result<Vec<Row>, Box<dyn Error>>;

/// Every measure, and the rows that come of it.
const MEASURES: [(&[char], Measure); 11] = [
    (&['a', 'c'], turn::rows),
    (&['b'], peer::rows),
    (&['d'], perft::rows),
    (&['e'], crowd::speed),
    (&['f', 'g'], clocks::rows),
    (&['h'], verify::rows),
    (&['i'], crowd::memory),
    (&['j'], long::rows),
    (&['k'], start::spawning),
    (&['l'], sandbox::rows),
    (&['m'], start::help),
];

struct Options {
    /// Empty: all.
    letters: Vec<char>,
    pairs: usize,
    /// Only ratios can fail: for machines that are not the one the targets were set on.
    ratios: bool,
}

impl Options {
    fn read(words: &[&str]) -> Result<Self, Box<dyn Error>> {
        let mut options = Self { letters: Vec::new(), pairs: PAIRS_MIN, ratios: false };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut characters = word.chars();
            match (word, characters.next(), characters.next()) {
                ("--ratios", ..) => options.ratios = true,
                ("--pairs", ..) => {
                    options.pairs = words.next().ok_or(USAGE)?.parse::<usize>()?.max(PAIRS_MIN);
                }
                // Cargo says it to every bench.
                ("--bench", ..) => {}
                (_, Some(letter @ 'a'..='m'), None) => options.letters.push(letter),
                _ => return Err(USAGE.into()),
            }
        }
        Ok(options)
    }

    fn wants(&self, letters: &[char]) -> bool {
        self.letters.is_empty() || letters.iter().any(|letter| self.letters.contains(letter))
    }
}

fn measure_all(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    let mut stdout = std::io::stdout();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let pairs = options.pairs;
    writeln!(stdout, "medians of {pairs} runs; load before: {}", load.trim())?;
    writeln!(stdout, "{}", Row::heading())?;
    let mut missed = 0;
    for (_, measure) in MEASURES.iter().filter(|(letters, _)| options.wants(letters)) {
        for row in measure(pairs)? {
            writeln!(stdout, "{}", row.line())?;
            let counts = !(options.ratios && row.is_of_the_machine());
            missed += usize::from(counts && row.is_missed());
        }
    }
    if missed == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(std::io::stderr(), "{missed} gates missed")?;
    Ok(ExitCode::FAILURE)
}
