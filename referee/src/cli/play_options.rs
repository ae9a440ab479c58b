//! The options of `play`, and what they mean.

use super::output::BoardOptions;
use super::setup::{GameOptions, read_pairs};
use crate::failure::Failure;
use crate::shell::contender::Contender;
use crate::shell::destination::{DEFAULT_FOLDER, Destination};
use crate::shell::series::Plan;
use clap::{Args, ValueEnum};
use jiff::SignedDuration;
use rand::TryRng;
use rand::rngs::SysRng;
use referee_games::nearest;
use referee_protocol::{ClockKind, ClockSettings, Limits, OnFault};
use std::path::PathBuf;

/// Seeds are below this, so that every language can hold one in a number.
const SEED_BOUND: u64 = 1 << 53;

/// Plays a match, or several with rotating seats.
///
/// An AGENT is a program file, a quoted command line, a folder with agent.toml, or one that is built
/// in (`referee agent list`; @human is you). NAME=AGENT gives it a name.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch on the command line")]
#[command(after_help = "Examples:\n  \
    referee play hex @random @greedy\n  \
    referee play chexers ./mybot 'python3 other.py' @random --clock 30s+0.2s\n  \
    referee play freckers @greedy @minimax:2 --games 100 --seed 7 --json")]
pub(super) struct Options {
    #[command(flatten)]
    pub(super) game: GameOptions,
    /// One agent a seat, in the order of play
    #[arg(required = true, value_name = "AGENT")]
    pub(super) agents: Vec<String>,
    /// How many games to play; seats move on by one with each
    #[arg(long, short = 'n', default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) games: u64,
    /// Plays only the game of this number of a series, counted from 0
    #[arg(long, value_name = "NUMBER", conflicts_with = "games")]
    pub(super) game_number: Option<u64>,
    /// The seed of everything that is drawn; a new one each time unless it is given
    #[arg(long, value_parser = clap::value_parser!(u64).range(..SEED_BOUND))]
    pub(super) seed: Option<u64>,
    /// How many matches may run at once; as many as there are cores unless it is given
    #[arg(long, short)]
    pub(super) jobs: Option<usize>,
    #[command(flatten)]
    pub(super) clock: ClockOptions,
    /// A limit on agents, such as `line_bytes=1000`; as often as needed
    #[arg(long = "limit", value_name = "KEY=VALUE")]
    pub(super) limits: Vec<String>,
    /// With three seats and more: whether a faulty seat is out and the rest play on
    #[arg(long, value_enum, default_value_t)]
    pub(super) on_fault: FaultChoice,
    /// Where transcripts go: a file (.jsonl or .jsonl.gz), a folder, or `-` for stdout
    #[arg(long, short, value_name = "PATH")]
    pub(super) out: Option<String>,
    /// Keeps no transcript
    #[arg(long, conflicts_with = "out")]
    pub(super) no_transcript: bool,
    /// Overwrites the file that --out names
    #[arg(long)]
    pub(super) force: bool,
    #[command(flatten)]
    pub(super) board: BoardOptions,
    /// Waits this long after each turn, to watch; clocks don't run meanwhile
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    pub(super) pace: Option<u64>,
    /// Prints one JSON object a match
    #[arg(long)]
    pub(super) json: bool,
    /// Exit code 3 if an agent was at fault
    #[arg(long)]
    pub(super) fail_on_fault: bool,
}

/// A clock on the command line.
#[derive(Debug, Args)]
pub(super) struct ClockOptions {
    /// Time for the match and what each turn adds, such as 60s+0.5s (the default) or 5m
    #[arg(long, value_name = "BANK[+INCREMENT]", env = "REFEREE_CLOCK")]
    clock: Option<String>,
    /// The most that a turn may take; without --clock it is all there is
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    move_time: Option<u64>,
    /// Counts CPU time of the agent's processes instead of time on the wall
    #[arg(long)]
    cpu: bool,
    /// Time to start up, 10s unless it is given
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    start_time: Option<u64>,
    /// What may be exceeded without a fault
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    margin: Option<u64>,
    /// With --cpu: the time on the wall that a turn may take
    #[arg(long, value_name = "TIME", value_parser = read_time, requires = "cpu")]
    backstop: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum FaultChoice {
    /// It is out, the others play on
    #[default]
    Retire,
    /// The match ends
    End,
}

/// A seed that nobody has had before.
fn new_seed() -> Result<u64, Failure> {
    let drawn = SysRng.try_next_u64();
    let drawn = drawn.map_err(|error| Failure::machine(format!("no randomness: {error}")))?;
    Ok(drawn % SEED_BOUND)
}

/// A time in milliseconds: `500ms`, `1.5s`, `1m 30s`; a bare number counts seconds.
fn read_time(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let bare = text.parse::<f64>().is_ok();
    let text = if bare { format!("{text}s") } else { text.to_owned() };
    let duration: SignedDuration = text
        .parse()
        .map_err(|_| "expected a time such as `500ms`, `1.5s` or `1m 30s`".to_owned())?;
    u64::try_from(duration.as_millis()).map_err(|_| "a time can't be negative".to_owned())
}

impl ClockOptions {
    /// The settings; `untimed` where nothing is asked for: a person plays, and takes their time.
    pub(super) fn settings(&self, untimed: bool) -> Result<ClockSettings, Failure> {
        let default = ClockSettings::default();
        let (bank_ms, increment_ms) = match (&self.clock, self.move_time) {
            (Some(text), _) => read_clock(text)?,
            (None, Some(_)) => (None, 0),
            (None, None) if untimed => (Some(ClockSettings::MS_MAX), 0),
            (None, None) => (default.bank_ms, default.increment_ms),
        };
        let settings = ClockSettings {
            kind: if self.cpu { ClockKind::Cpu } else { ClockKind::Wall },
            start_ms: self.start_time.unwrap_or(default.start_ms),
            bank_ms,
            increment_ms,
            move_ms: self.move_time,
            margin_ms: self.margin.unwrap_or(0),
            backstop_ms: self.backstop,
        };
        settings.check().map_err(|error| Failure::usage(format!("clock: {error}")))?;
        Ok(settings)
    }
}

fn read_clock(text: &str) -> Result<(Option<u64>, u64), Failure> {
    let failed = |error: String| Failure::usage(format!("--clock {text}: {error}"));
    let (bank, increment) = match text.split_once('+') {
        Some((bank, increment)) => (bank, read_time(increment).map_err(failed)?),
        None => (text, 0),
    };
    Ok((Some(read_time(bank).map_err(failed)?), increment))
}

impl Options {
    /// What is to be played.
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        let kind = self.game.kind()?;
        let setup = self.game.setup()?;
        let game = super::setup::start(kind, &setup)?;
        let contenders = self.contenders(game.seats())?;
        for contender in &contenders {
            let plays = &contender.games;
            if !plays.is_empty() && !plays.iter().any(|game| game == kind.name) {
                let (name, plays) = (&contender.name, plays.join(", "));
                return Err(Failure::usage(format!("{name} doesn't play {}", kind.name))
                    .help(format!("its agent.toml says that it plays {plays}")));
            }
        }
        let person = contenders.iter().any(|contender| contender.launch.is_none());
        let first = self.game_number.unwrap_or(0);
        let games = if self.game_number.is_some() { 1 } else { self.games };
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Ok(Plan {
            kind,
            setup,
            clock: self.clock.settings(person)?,
            limits: self.limits()?,
            on_fault: match self.on_fault {
                FaultChoice::Retire => OnFault::Retire,
                FaultChoice::End => OnFault::End,
            },
            seed: self.seed.map_or_else(new_seed, Ok)?,
            games: first..first + games,
            jobs: if person { 1 } else { self.jobs.unwrap_or(cores) },
            destination: self.destination(games)?,
            contenders,
        })
    }

    fn contenders(&self, seats: usize) -> Result<Vec<Contender>, Failure> {
        let given = self.agents.len();
        if given != seats {
            let game = &self.game.game;
            return Err(Failure::usage(format!("{game} is played by {seats}, not by {given}"))
                .help(format!(
                    "name {seats} agents, such as {}",
                    vec!["@random"; seats].join(" ")
                )));
        }
        let contenders: Vec<Contender> =
            self.agents.iter().map(|agent| Contender::read(agent)).collect::<Result<_, _>>()?;
        if contenders.iter().filter(|contender| contender.launch.is_none()).count() > 1 {
            return Err(Failure::usage("there is one terminal, so there can be only one @human"));
        }
        Ok(contenders)
    }

    fn limits(&self) -> Result<Limits, Failure> {
        let given = read_pairs("--limit", &self.limits)?;
        let known = serde_json::to_value(Limits::default()).unwrap_or_default();
        let names = || known.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        for key in given.as_object().into_iter().flatten().map(|(key, _)| key) {
            if names().all(|name| name != key) {
                let near = nearest(key, names()).map(|near| format!("did you mean `{near}`?"));
                return Err(Failure::usage(format!("--limit: no limit is called `{key}`"))
                    .help(format!("there are {}", names().collect::<Vec<_>>().join(", ")))
                    .or_help(near));
            }
        }
        let limits: Limits = serde_json::from_value(given)
            .map_err(|error| Failure::usage(format!("--limit: {error}")))?;
        limits.check().map_err(|error| Failure::usage(format!("--limit: {error}")))?;
        Ok(limits)
    }

    fn destination(&self, games: u64) -> Result<Destination, Failure> {
        if self.no_transcript {
            return Ok(Destination::Nowhere);
        }
        let Some(out) = &self.out else {
            return Ok(Destination::Folder(DEFAULT_FOLDER.into()));
        };
        let path = PathBuf::from(out);
        let is_file = out == "-" || crate::shell::destination::is_transcript(&path);
        if is_file && games > 1 {
            return Err(Failure::usage(format!("--out {out}: {games} games need a folder"))
                .help("a name that ends with .jsonl or .jsonl.gz is a file, any other a folder"));
        }
        if out == "-" {
            return Ok(Destination::Stdout);
        }
        if !is_file {
            return Ok(Destination::Folder(path));
        }
        if path.exists() && !self.force {
            return Err(Failure::usage(format!("--out {out}: the file exists"))
                .help("--force overwrites it"));
        }
        Ok(Destination::File { path, force: self.force })
    }

    /// The command that plays the same game again.
    pub(super) fn reproduce(&self, plan: &Plan, number: u64) -> String {
        let mut words = vec!["referee".to_owned(), "play".to_owned()];
        words.extend(self.game.words());
        words.extend(self.agents.iter().cloned());
        words.extend(["--seed".to_owned(), plan.seed.to_string()]);
        if number > 0 {
            words.extend(["--game-number".to_owned(), number.to_string()]);
        }
        words.extend(self.clock.words());
        for limit in &self.limits {
            words.extend(["--limit".to_owned(), limit.clone()]);
        }
        if self.on_fault == FaultChoice::End {
            words.extend(["--on-fault".to_owned(), "end".to_owned()]);
        }
        join(&words)
    }

    /// The command that plays the whole series again.
    pub(super) fn reproduce_series(&self, plan: &Plan) -> String {
        format!("{} --games {}", self.reproduce(plan, 0), self.games)
    }
}

impl ClockOptions {
    fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |option: &str, value: Option<String>| {
            words.extend(value.map(|value| format!("{option}={value}")));
        };
        let ms = |time: Option<u64>| time.map(|ms| format!("{ms}ms"));
        add("--clock", self.clock.clone());
        add("--move-time", ms(self.move_time));
        add("--start-time", ms(self.start_time));
        add("--margin", ms(self.margin));
        if self.cpu {
            words.push("--cpu".to_owned());
        }
        words.extend(ms(self.backstop).map(|time| format!("--backstop={time}")));
        words
    }
}

/// Words as a shell takes them.
fn join(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::{read_clock, read_time};

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, ms) in [
            ("500ms", 500),
            ("1.5s", 1500),
            ("0.5", 500),
            ("60", 60_000),
            ("1m 30s", 90_000),
            ("5m", 300_000),
        ] {
            assert_eq!(read_time(text), Ok(ms), "{text}");
        }
        for text in ["", "soon", "-1s", "5 parsecs"] {
            assert!(read_time(text).is_err(), "{text}");
        }
        assert_eq!(read_clock("60s+0.5s").unwrap(), (Some(60_000), 500));
        assert_eq!(read_clock("5m").unwrap(), (Some(300_000), 0));
        assert!(read_clock("60s+").is_err());
    }
}
