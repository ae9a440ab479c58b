//! The speed gates: every measure with a target, in one table. Exits with 1 if a gate is missed. See
//! referee/benches/README.md.
//!
//! The bench starts the referee and itself in hidden modes: as an instant agent, or as the yardstick.

#![expect(
    clippy::cast_precision_loss,
    reason = "counts become figures that are printed with three digits"
)]

mod measure;
mod report;
mod script;
mod agent;
mod allocations;
mod ping_pong;
mod turn;
mod rules;
mod fastchess_model;
mod concurrency;
mod clocks;
mod long;
mod million;
mod verify;
mod start;
mod sandbox;
mod game_programs;

use referee_process::hidden;
use report::Row;
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: gates [LETTER..] [--pairs NUMBER] [--ratios]";
/// The fewest runs of each side.
const PAIRS_MIN: usize = 9;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if hidden::run() {
        return Ok(ExitCode::SUCCESS);
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [agent::AGENT_MODE, script] => agent::run(Path::new(script))?,
        [agent::BUSY_MODE, script, micros] => {
            agent::run_busily(Path::new(script), micros.parse()?)?;
        }
        [fastchess_model::MODEL_MODE, at_once] => fastchess_model::run(at_once.parse()?)?,
        [fastchess_model::ENGINE_MODE] => fastchess_model::run_engine()?,
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

/// Measures rows with this many runs.
type Measure = fn(usize) -> Result<Vec<Row>, Box<dyn Error>>;

/// Every measure, and its rows.
const MEASURES: [(&[char], Measure); 13] = [
    (&['a', 'c'], turn::rows),
    (&['b'], fastchess_model::rows),
    (&['d'], rules::rows),
    (&['e'], concurrency::speed),
    (&['f', 'g'], clocks::rows),
    (&['h'], verify::rows),
    (&['i'], concurrency::memory),
    (&['j'], long::rows),
    (&['k'], start::spawning),
    (&['l'], sandbox::rows),
    (&['m'], start::help),
    (&['n'], million::rows),
    (&['o'], game_programs::rows),
];

struct Options {
    /// The rows to measure; all if empty.
    letters: Vec<char>,
    pairs: usize,
    /// Only ratios can miss a gate, for machines other than the reference machine.
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
                // Cargo passes it to every bench.
                ("--bench", ..) => {}
                (_, Some(letter @ 'a'..='o'), None) => options.letters.push(letter),
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
            let counts = !(options.ratios && row.depends_on_machine());
            missed += usize::from(counts && row.is_missed());
        }
    }
    if missed == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(std::io::stderr(), "{missed} gates missed")?;
    Ok(ExitCode::FAILURE)
}
