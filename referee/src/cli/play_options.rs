//! The options of `play`, and what they mean.

use super::output::BoardOptions;
use super::presets::{self, Preset};
use super::sandbox::ConditionOptions;
use super::setup::{GameOptions, read_pairs};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use rand::TryRng;
use rand::rngs::SysRng;
use referee_games::nearest;
use referee_match::times::{read_clock, read_time};
use referee_play::contender::Contender;
use referee_play::destination::{DEFAULT_FOLDER, Destination};
use referee_play::human::People;
use referee_play::reach::{Reaches, ground};
use referee_play::series::Plan;
use referee_process::Failure;
use referee_process::cores;
use referee_protocol::{ClockKind, ClockSettings, Limits, OnFault, Pondering};
use std::path::PathBuf;
use std::sync::Arc;

/// Seeds are below this, so that every language can hold one in a number.
const SEED_BOUND: u64 = 1 << 53;

/// Plays a match, or several with rotating seats.
///
/// An AGENT is a program file, a quoted command line, a folder with agent.toml, or one that is built
/// in (`referee agent list`; @human is you). NAME=AGENT gives it a name. PROTOCOL:AGENT, such as
/// htp:./mohex, speaks another line protocol with it; comp30024:PACKAGE is a package of that course.
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
    /// Keeps the matches of each core, and their agents, on it: for machines that do nothing else
    #[arg(long)]
    pub(super) pin: bool,
    /// A course's conditions; other options override parts of them
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(presets::names()))]
    pub(super) preset: Option<String>,
    #[command(flatten)]
    pub(super) clock: ClockOptions,
    #[command(flatten)]
    pub(super) conditions: ConditionOptions,
    /// A limit on agents, such as `line_bytes=1000`; as often as needed
    #[arg(long = "limit", value_name = "KEY=VALUE")]
    pub(super) limits: Vec<String>,
    /// With three seats and more: what becomes of a match when a seat is at fault; `retire`
    /// unless it is given
    #[arg(long, value_enum)]
    pub(super) on_fault: Option<FaultChoice>,
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
    /// Waits this long after each turn of a single match, to watch; clocks don't run meanwhile
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    pub(super) pace: Option<u64>,
    /// Shows it in the browser, where @human then plays; the page stays until Ctrl-C
    #[arg(long)]
    pub(super) open: bool,
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
    /// Time for the match and what each turn adds, such as 60s+0.5s (the default) or 5m; without
    /// it and --preset, what `REFEREE_CLOCK` says
    #[arg(long, value_name = "BANK[+INCREMENT]")]
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
    /// With CPU time: the time on the wall that a turn may take
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    backstop: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FaultChoice {
    /// It is out, the others play on
    Retire,
    /// The match ends
    End,
}

/// A seed that nobody has had before.
pub(super) fn new_seed() -> Result<u64, Failure> {
    let drawn = SysRng.try_next_u64();
    let drawn = drawn.map_err(|error| Failure::machine(format!("no randomness: {error}")))?;
    Ok(drawn % SEED_BOUND)
}

impl ClockOptions {
    /// The settings; `untimed` where nothing is asked for: a person plays, and takes their time.
    pub(super) fn settings(
        &self,
        preset: Option<&Preset>,
        untimed: bool,
    ) -> Result<ClockSettings, Failure> {
        let default = preset.map_or_else(ClockSettings::default, Preset::clock);
        let (bank_ms, increment_ms) = match (self.bank(preset), self.move_time) {
            (Some(text), _) => {
                let (bank, increment) = read_clock(&text)
                    .map_err(|error| Failure::usage(format!("--clock {text}: {error}")))?;
                (Some(bank), increment)
            }
            (None, Some(_)) if preset.is_none() => (None, 0),
            (None, None) if untimed && preset.is_none() => (Some(ClockSettings::MS_MAX), 0),
            (None, _) => (default.bank_ms, default.increment_ms),
        };
        let kind = if self.cpu { ClockKind::Cpu } else { default.kind };
        if self.backstop.is_some() && kind == ClockKind::Wall {
            return Err(Failure::usage("--backstop stands behind CPU time, which isn't counted")
                .help("add --cpu, or cap a turn on the wall with --move-time"));
        }
        let settings = ClockSettings {
            kind,
            start_ms: self.start_time.unwrap_or(default.start_ms),
            bank_ms,
            increment_ms,
            move_ms: self.move_time,
            margin_ms: self.margin.unwrap_or(default.margin_ms),
            backstop_ms: self.backstop.or(default.backstop_ms),
        };
        settings.check().map_err(|error| Failure::usage(format!("clock: {error}")))?;
        Ok(settings)
    }
}

/// The variable that stands in for --clock.
const CLOCK_VARIABLE: &str = "REFEREE_CLOCK";

impl Options {
    /// What is to be played.
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        let kind = self.game.kind()?;
        let setup = self.game.setup()?;
        let game = super::setup::start(kind, &setup)?;
        let contenders = self.contenders(game.seats())?;
        for contender in &contenders {
            contender.suits(kind)?;
        }
        let person = contenders.iter().any(|contender| contender.launch.is_none());
        let first = self.game_number.unwrap_or(0);
        let games = if self.game_number.is_some() { 1 } else { self.games };
        let contenders: Vec<_> = contenders.into_iter().map(Arc::new).collect();
        let destination = self.destination(games)?;
        Ok(Plan {
            kind,
            setup,
            clock: self.clock.settings(self.preset(), person)?,
            limits: self.limits()?,
            on_fault: match self.on_fault {
                None => self.preset().map_or(OnFault::Retire, |preset| preset.on_fault),
                Some(FaultChoice::Retire) => OnFault::Retire,
                Some(FaultChoice::End) => OnFault::End,
            },
            seed: self.seed.map_or_else(new_seed, Ok)?,
            games: first..first + games,
            jobs: if person { 1 } else { self.jobs.unwrap_or_else(cores::count) },
            reaches: Arc::new(Reaches::new(ground(&contenders, &destination.places(), &[]))),
            people: People::default(),
            destination,
            contenders,
        })
    }

    fn preset(&self) -> Option<&'static Preset> {
        self.preset.as_deref().and_then(presets::find)
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
        let people = contenders.iter().filter(|contender| contender.launch.is_none()).count();
        if people > 1 && !self.open {
            return Err(Failure::usage("there is one terminal, so there can be only one @human")
                .help("with --open people play in the browser, and there can be more"));
        }
        Ok(contenders)
    }

    fn limits(&self) -> Result<Limits, Failure> {
        let given = read_pairs("--limit", &self.limits)?;
        let default = self.preset().map_or_else(Limits::default, Preset::limits);
        let mut known = serde_json::to_value(default).unwrap_or_default();
        let names = || known.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        for key in given.as_object().into_iter().flatten().map(|(key, _)| key) {
            if names().all(|name| name != key) {
                let near = nearest(key, names()).map(|near| format!("did you mean `{near}`?"));
                return Err(Failure::usage(format!("--limit: no limit is called `{key}`"))
                    .help(format!("there are {}", names().collect::<Vec<_>>().join(", ")))
                    .or_help(near));
            }
        }
        for (key, value) in given.as_object().into_iter().flatten() {
            known[key] = value.clone();
        }
        let limits: Limits = serde_json::from_value(known)
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
        let is_file = out == "-" || referee_play::destination::is_transcript(&path);
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

    /// The command that plays one game again, alone; `pondering` is what its agents could do
    /// meanwhile, where it was one of several at once.
    pub(super) fn reproduce(
        &self,
        plan: &Plan,
        number: u64,
        pondering: Option<Pondering>,
    ) -> String {
        let mut words = vec!["referee".to_owned(), "play".to_owned()];
        words.extend(self.game.words());
        words.extend(self.agents.iter().cloned());
        words.extend(["--seed".to_owned(), plan.seed.to_string()]);
        if number > 0 {
            words.extend(["--game-number".to_owned(), number.to_string()]);
        }
        if let Some(name) = &self.preset {
            words.extend(["--preset".to_owned(), name.clone()]);
        }
        words.extend(self.clock.words(self.preset()));
        words.extend(self.conditions.given(pondering));
        for limit in &self.limits {
            words.extend(["--limit".to_owned(), limit.clone()]);
        }
        if let Some(choice) = self.on_fault.and_then(|choice| choice.to_possible_value()) {
            words.extend(["--on-fault".to_owned(), choice.get_name().to_owned()]);
        }
        join(&words)
    }

    /// The command that plays the whole series again.
    pub(super) fn reproduce_series(&self, plan: &Plan) -> String {
        format!("{} --games {}", self.reproduce(plan, 0, None), self.games)
    }
}

impl ClockOptions {
    /// Whether a time for turns is asked for.
    pub(super) fn is_given(&self) -> bool {
        self.bank(None).is_some() || self.move_time.is_some()
    }

    /// What is said of the bank: by the option, or by the environment where nobody says anything.
    fn bank(&self, preset: Option<&Preset>) -> Option<String> {
        let set = || std::env::var(CLOCK_VARIABLE).ok();
        self.clock.clone().or_else(|| set().filter(|_| preset.is_none()))
    }

    /// The words that give the same clock again.
    pub(super) fn words(&self, preset: Option<&Preset>) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |option: &str, value: Option<String>| {
            words.extend(value.map(|value| format!("{option}={value}")));
        };
        let ms = |time: Option<u64>| time.map(|ms| format!("{ms}ms"));
        add("--clock", self.bank(preset));
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
pub(super) fn join(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::ClockOptions;
    use crate::cli::presets;
    use clap::{Args, Command, FromArgMatches};
    use referee_protocol::ClockKind;

    fn options(words: &[&str]) -> ClockOptions {
        let command = ClockOptions::augment_args(Command::new("play").no_binary_name(true));
        ClockOptions::from_arg_matches(&command.try_get_matches_from(words).unwrap()).unwrap()
    }

    #[test]
    fn options_override_parts_of_a_preset() {
        let preset = presets::find("comp30024-2025");
        let told = options(&[]).settings(preset, false).unwrap();
        assert_eq!(told.kind, ClockKind::Cpu);
        assert_eq!((told.bank_ms, told.increment_ms), (Some(180_000), 0));
        assert_eq!((told.backstop_ms, told.start_ms), (Some(180_000), 180_000));
        // A person who asks for a course's conditions has its clock too.
        assert_eq!(options(&[]).settings(preset, true).unwrap(), told);
        let words = ["--clock", "9s+1s", "--backstop", "5s", "--move-time", "2s"];
        let told = options(&words).settings(preset, false).unwrap();
        assert_eq!(told.kind, ClockKind::Cpu);
        assert_eq!((told.bank_ms, told.increment_ms), (Some(9000), 1000));
        assert_eq!((told.backstop_ms, told.move_ms), (Some(5000), Some(2000)));
        let told = options(&["--move-time", "2s"]).settings(preset, false).unwrap();
        assert_eq!((told.bank_ms, told.move_ms), (Some(180_000), Some(2000)));
    }

    #[test]
    fn a_backstop_needs_cpu_time() {
        let failure = options(&["--backstop", "5s"]).settings(None, false).unwrap_err();
        assert!(failure.help_text().unwrap().contains("--cpu"), "{failure}");
        let told = options(&["--backstop", "5s", "--cpu"]).settings(None, false).unwrap();
        assert_eq!(told.backstop_ms, Some(5000));
    }
}
