//! The options of `play`, and what they mean.

use super::output::BoardOptions;
use super::presets::PresetOptions;
use super::runtime::machine;
use super::sandbox::ConditionOptions;
use super::setup::{GameOptions, read_pairs};
use super::words::{join, option};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use rand::TryRng;
use rand::rngs::SysRng;
use referee_games::nearest;
use referee_match::times::read_time;
use referee_play::agent_spec::AgentSpec;
use referee_play::destination::{DEFAULT_FOLDER, Destination};
use referee_play::human::HumanInput;
use referee_play::match_settings::MatchSettings;
use referee_play::pool::Job;
use referee_play::reach::{ReadableFiles, ground};
use referee_play::series::Plan;
use referee_process::Failure;
use referee_process::cores;
use referee_protocol::{Limits, OnFault, Pondering};
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
    #[command(flatten)]
    pub(super) preset: PresetOptions,
    #[command(flatten)]
    pub(super) conditions: ConditionOptions,
    /// A limit on agents, such as `line_bytes=1000`; as often as needed
    #[arg(long = "limit", value_name = "KEY=VALUE")]
    pub(super) limits: Vec<String>,
    /// With three seats and more: what becomes of a match when a seat is at fault; `retire`
    /// unless it is given
    #[arg(long, value_enum)]
    pub(super) on_fault: Option<OnFault>,
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

/// A seed that nobody has had before.
pub(super) fn new_seed() -> Result<u64, Failure> {
    let drawn = SysRng.try_next_u64().map_err(machine("no randomness"))?;
    Ok(drawn % SEED_BOUND)
}

impl Options {
    /// What is to be played.
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        let kind = self.game.kind()?;
        let setup = self.game.setup()?;
        let game = super::setup::start(kind, &setup)?;
        let specs = self.specs(game.seats())?;
        for spec in &specs {
            spec.check_plays(kind)?;
        }
        let person = specs.iter().any(|spec| spec.launch.is_none());
        let number = self.game_number.unwrap_or(0);
        let games = if self.game_number.is_some() { 1 } else { self.games };
        let specs: Vec<_> = specs.into_iter().map(Arc::new).collect();
        let destination = self.destination(games)?;
        let conditions = MatchSettings {
            clock: self.preset.clock(person)?,
            limits: self.limits()?,
            on_fault: self.on_fault.unwrap_or_else(|| self.preset.on_fault()),
        };
        Ok(Plan {
            games: number..number + games,
            jobs: if person { 1 } else { self.jobs.unwrap_or_else(cores::count) },
            first: Job {
                number: 0,
                kind,
                setup,
                conditions,
                seed: self.seed.map_or_else(new_seed, Ok)?,
                readable_files: Arc::new(ReadableFiles::new(ground(
                    &specs,
                    &destination.places(),
                    &[],
                ))),
                human_input: HumanInput::default(),
                destination,
                durable: games == 1,
                seated: specs,
            },
        })
    }

    fn specs(&self, seats: usize) -> Result<Vec<AgentSpec>, Failure> {
        let given = self.agents.len();
        if given != seats {
            let game = &self.game.game;
            return Err(Failure::usage(format!("{game} is played by {seats}, not by {given}"))
                .help(format!(
                    "name {seats} agents, such as {}",
                    vec!["@random"; seats].join(" ")
                )));
        }
        let specs: Vec<AgentSpec> =
            self.agents.iter().map(|agent| AgentSpec::read(agent)).collect::<Result<_, _>>()?;
        let people = specs.iter().filter(|spec| spec.launch.is_none()).count();
        if people > 1 && !self.open {
            return Err(Failure::usage("there is one terminal, so there can be only one @human")
                .help("with --open people play in the browser, and there can be more"));
        }
        Ok(specs)
    }

    fn limits(&self) -> Result<Limits, Failure> {
        let given = read_pairs("--limit", &self.limits)?;
        let mut known = serde_json::to_value(self.preset.limits()).unwrap_or_default();
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
        words.extend(option("--seed", Some(plan.first.seed)));
        words.extend(option("--game-number", Some(number).filter(|&number| number > 0)));
        words.extend(self.preset.words());
        words.extend(self.conditions.given(pondering));
        words.extend(self.limits.iter().flat_map(|limit| option("--limit", Some(limit))));
        let on_fault = self.on_fault.and_then(|on_fault| on_fault.to_possible_value());
        words.extend(option("--on-fault", on_fault.as_ref().map(PossibleValue::get_name)));
        join(&words)
    }

    /// The command that plays the whole series again.
    pub(super) fn reproduce_series(&self, plan: &Plan) -> String {
        format!("{} --games {}", self.reproduce(plan, 0, None), self.games)
    }
}
