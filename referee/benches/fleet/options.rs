//! What the bench is asked for.

use crate::Outcome;
use std::path::PathBuf;

const USAGE: &str = "usage: fleet [--workers NUMBER] [--slots NUMBER] [--games NUMBER] \
    [--game-ms NUMBER] [--every GAMES] [--threads NUMBER] [--dir DIR] | \
    fleet --local-overhead [--pairs NUMBER] [--slots NUMBER] [--games NUMBER] [--dir DIR]";

/// What the bench is asked for.
#[derive(Debug)]
pub(crate) struct Options {
    /// The local runner beside one worker, instead of the simulation.
    pub(crate) is_local_overhead: bool,
    /// Fake workers, each with a connection.
    pub(crate) workers: usize,
    /// Matches that a worker plays at once.
    pub(crate) slots: usize,
    /// Games of the contest, as many or a few more.
    pub(crate) games: u64,
    /// How long a fake worker takes for a game, in milliseconds.
    pub(crate) game_ms: u64,
    /// A row each time that so many games have been reported; 0: twenty rows.
    pub(crate) every: u64,
    /// Threads that the fake workers share.
    pub(crate) threads: usize,
    /// Runs of each side of `--local-overhead`.
    pub(crate) pairs: usize,
    /// Where server and contest are kept.
    pub(crate) dir: PathBuf,
}

impl Options {
    /// Reads the words of the command line.
    pub(crate) fn read(words: &[String]) -> Outcome<Self> {
        let is_local_overhead = words.iter().any(|word| word == "--local-overhead");
        let (slots, games) = if is_local_overhead { (2, 400) } else { (4, 20_000) };
        let mut options = Self {
            is_local_overhead,
            workers: 100,
            slots,
            games,
            game_ms: 0,
            every: 0,
            threads: 1,
            pairs: 9,
            dir: std::env::temp_dir(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(USAGE);
            match word.as_str() {
                "--workers" => options.workers = value()?.parse()?,
                "--slots" => options.slots = value()?.parse()?,
                "--games" => options.games = value()?.parse()?,
                "--game-ms" => options.game_ms = value()?.parse()?,
                "--every" => options.every = value()?.parse()?,
                "--threads" => options.threads = value()?.parse()?,
                "--pairs" => options.pairs = value()?.parse()?,
                "--dir" => options.dir = PathBuf::from(value()?),
                // Cargo says `--bench` to every bench.
                "--bench" | "--local-overhead" => {}
                _ => return Err(USAGE.into()),
            }
        }
        let least = [options.workers, options.slots, options.threads, options.pairs];
        if least.contains(&0) || options.games == 0 {
            return Err(USAGE.into());
        }
        Ok(options)
    }
}
