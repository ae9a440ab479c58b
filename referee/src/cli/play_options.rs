//! The options of `play`.

use super::building::{build, not_executable};
use super::given::Given;
use super::global::Global;
use super::jobs::usual;
use super::output::{BoardOptions, check_new};
use super::presets::SeriesOptions;
use super::setup::GameOptions;
use super::shell::{join, option};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use referee_contest::wording::count;
use referee_contest::{Contest, OpeningSettings, Player, PlayerInfo};
use referee_games::{AnyGame, Games};
use referee_match::game_seed;
use referee_match::times::read_time;
use referee_play::agent_spec::{AgentSpec, with_interpreter};
use referee_play::destination::{DEFAULT_FOLDER, Destination};
use referee_play::human::HumanInput;
use referee_play::match_settings::MatchSettings;
use referee_play::names::unique_names;
use referee_play::pool::Job;
use referee_play::reach::{ReadableFiles, shared_rules};
use referee_process::Failure;
use referee_process::cores;
use referee_process::files::read_regular;
use referee_process::work_folder::lock_folder;
use referee_protocol::sanitize::sanitize;
use referee_protocol::{Level, Pondering, Seat};
use referee_runner::folder::folder_name;
use referee_runner::{new_key, new_seed};
use std::fs::{File, Permissions};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest note that is read, in bytes.
const NOTE_BYTES_MAX: u64 = 64 << 10;

/// Options that `again` leaves out: what it chooses itself, and what changes only the output or the speed.
const NOT_REPEATED: [&str; 16] = [
    "games",
    "game_number",
    "seed",
    "draw_key",
    "jobs",
    "pin",
    "out",
    "no_transcript",
    "force",
    "board",
    "coords",
    "flip",
    "pace",
    "open",
    "json",
    "fail_on_fault",
];
/// The maximum number of games.
const GAMES_MAX: u64 = 1_000_000;

/// Run a match or a series
///
/// AGENT is a program file, a quoted command line, a folder with agent.toml, or a built-in agent
/// (`referee agents` lists them); @human is you. NAME=AGENT gives an agent a name. PROTOCOL:AGENT,
/// such as htp:./mohex, is an agent that speaks another protocol; comp30024:PACKAGE and comp34111:FILE
/// are agents of those courses.
#[derive(Debug, Args)]
#[command(next_help_heading = "Match")]
#[command(after_long_help = "Examples:\n  \
    referee play hex @random @greedy\n  \
    referee play chexers ./mybot 'python3 other.py' @random --clock 30s+0.2s\n  \
    referee play freckers @greedy @minimax:2 --games 100 --seed 7 --json")]
pub(super) struct Options {
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    pub(super) game: GameOptions,
    /// One agent per seat, in the order of play
    #[arg(required = true, value_name = "AGENT", help_heading = None::<&'static str>)]
    pub(super) agents: Vec<String>,
    /// Run the `build` commands of folders first, in the sandbox
    #[arg(long)]
    pub(super) build: bool,
    /// Number of games, 1 to 1000000; agents move to the next seat after each game, until they have played
    /// in every order
    #[arg(long, short = 'n', default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=GAMES_MAX))]
    pub(super) games: u64,
    /// Play only this game of a series, 0 to 999999. Defaults to the whole series
    #[arg(long, value_name = "NUMBER", conflicts_with = "games",
          value_parser = clap::value_parser!(u64).range(..GAMES_MAX))]
    pub(super) game_number: Option<u64>,
    /// Number of matches to run at once, 1 or more. Defaults to the number of cores
    #[arg(long, short, value_parser = at_least_one())]
    pub(super) jobs: Option<usize>,
    #[command(flatten)]
    pub(super) series: SeriesOptions,
    /// Keep the private copies of folders that agents write in, as DIR/NAME, for later matches, which are played one at a
    /// time. By default they are removed after each match
    #[arg(long, value_name = "DIR", help_heading = "Sandbox")]
    pub(super) keep_writes: Option<PathBuf>,
    #[command(flatten)]
    pub(super) output: OutputOptions,
    #[command(flatten)]
    pub(super) board: BoardOptions,
    /// Wait after each turn of a single match, such as 300ms; clocks don't run during the wait. Defaults to 0
    #[arg(long, value_name = "TIME", value_parser = read_time, help_heading = "Display")]
    pub(super) pace: Option<u64>,
    /// Show the match in the browser, where @human then plays; press Ctrl-C to stop the server
    #[arg(long, help_heading = "Display")]
    pub(super) open: bool,
}

/// Where results go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch on the command line")]
pub(super) struct OutputOptions {
    /// Where to write transcripts: a file (.jsonl or .jsonl.gz), a folder, or - for stdout. Defaults to
    /// ./matches
    #[arg(long, short, value_name = "PATH")]
    pub(super) out: Option<String>,
    /// Write no transcript
    #[arg(long, conflicts_with = "out")]
    no_transcript: bool,
    /// Overwrite the file named by --out
    #[arg(long)]
    force: bool,
    /// Print one JSON object per match
    #[arg(long)]
    pub(super) json: bool,
    /// Exit with code 3 if an agent committed a fault
    #[arg(long)]
    pub(super) fail_on_fault: bool,
}

/// A series of games between the same agents, each opening in every seat order.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Game 0, with the seed of the series and the agents in their first seats.
    pub(super) first: Job,
    /// The numbers of the games.
    pub(super) games: Range<u64>,
    /// How many matches may run at once.
    pub(super) jobs: usize,
    /// The series as a contest.
    pub(super) contest: Arc<Contest>,
    /// The lock of the folder in which what agents write is kept.
    _kept: Option<Arc<File>>,
}

impl Plan {
    /// Returns the number of games.
    pub(super) fn count(&self) -> usize {
        usize::try_from(self.games.end - self.games.start).unwrap_or(usize::MAX)
    }

    pub(super) fn is_single(&self) -> bool {
        self.count() == 1
    }

    /// Whether a person plays.
    pub(super) fn has_person(&self) -> bool {
        self.first.seated.iter().any(|spec| spec.launch.is_none())
    }

    /// Returns the seat of the person who plays on the page, if the page must not show everything meanwhile.
    pub(super) fn person_who_sees_a_part(&self) -> Result<Option<Seat>, Failure> {
        let seated = self.seated(self.games.start);
        let mut people = Seat::all(seated.len()).zip(seated).filter(|(_, it)| it.launch.is_none());
        let is_hidden = self.first.kind.is_hidden();
        let person = people.next().filter(|_| is_hidden);
        if person.is_some() && (people.next().is_some() || !self.is_single()) {
            let text = "the page of a game with hidden information is one person's, for one game";
            return Err(
                Failure::usage(format!("--open: {text}")).help("let one person play one game")
            );
        }
        Ok(person.map(|(seat, _)| seat))
    }

    /// Returns the game with this number.
    pub(super) fn job(&self, number: u64) -> Result<Job, Failure> {
        let mut job = self.first.clone();
        (job.number, job.seed) = (number, game_seed(self.first.seed, number));
        job.draw_key = self.contest.draw_key(&self.contest.games[0], job.seed);
        job.seated = self.seated(number);
        if self.contest.openings != OpeningSettings::default() {
            let setup = self.contest.series_setup(job.kind, number);
            job.setup = setup.map_err(|error| Failure::usage(format!("--openings: {error}")))?;
        }
        Ok(job)
    }

    /// Returns the agents in the seats of a game.
    pub(super) fn seated(&self, number: u64) -> Vec<Arc<AgentSpec>> {
        let agent = |player: Player| self.first.seated[player.index()].clone();
        self.contest.seated(number).into_iter().map(agent).collect()
    }
}

/// Returns a parser of numbers of matches or cores.
pub(super) fn at_least_one() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..)
}

/// Locks a folder in which what agents write is kept: one match at a time may change it.
fn locked(folder: &Path) -> Result<File, Failure> {
    lock_folder(folder).ok_or_else(|| {
        let text = format!("--keep-writes {}: another referee uses this folder", folder.display());
        Failure::operation(text).help("wait for its end, or choose another folder")
    })
}

impl Options {
    /// Returns the games to play.
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
        // Unique now, so that names stay with their agents in all seats.
        let names = unique_names(&specs.iter().collect::<Vec<_>>());
        let kept: Vec<Option<PathBuf>> = specs
            .iter()
            .zip(&names)
            .map(|(spec, name)| self.kept(spec, name))
            .collect::<Result<_, _>>()?;
        let keeps = kept.iter().any(Option::is_some);
        let folder = self.keep_writes.as_ref().filter(|_| keeps);
        let lock = folder.map(|folder| locked(folder)).transpose()?;
        let specs = specs.into_iter().zip(names).zip(kept);
        let spec = |((spec, name), kept)| Arc::new(AgentSpec { name, kept, ..spec });
        let specs: Vec<_> = specs.map(spec).collect();
        let destination = self.destination(games)?;
        let seed = self.series.seed.map_or_else(new_seed, Ok)?;
        let mut contest = self.contest(game.as_ref(), &specs, number + games, seed)?;
        if contest.games[0].draws_are_hidden() {
            contest.draw_key = Some(self.series.draw_key.map_or_else(new_key, Ok)?);
        }
        let conditions = MatchSettings {
            clock: self.series.of_match.clock(person)?,
            limits: self.series.of_match.limits(self.series.of_match.preset)?,
            on_fault: self.series.on_fault(),
            anonymous: false,
            adjudication: None,
            reuse: false,
        };
        let jobs = self.jobs.unwrap_or_else(|| usual(game.seats(), &conditions.limits));
        let plan = Plan {
            contest: Arc::new(contest),
            games: number..number + games,
            jobs: if person || keeps { 1 } else { jobs },
            _kept: lock.map(Arc::new),
            first: Job {
                number: 0,
                kind,
                setup,
                conditions,
                no_void: Vec::new(),
                seed,
                draw_key: None,
                readable_files: Arc::new(ReadableFiles::new(shared_rules(
                    &specs,
                    &destination.places(),
                    &self.series.conditions.readable()?,
                ))),
                human_input: HumanInput::default(),
                destination,
                hides: false,
                is_single: games == 1,
                seated: specs,
            },
        };
        // Openings that can't be drawn are an error before the first game.
        plan.job(number)?;
        Ok(plan)
    }

    /// Returns the series as a contest.
    fn contest(
        &self,
        game: &dyn AnyGame,
        agents: &[Arc<AgentSpec>],
        games: u64,
        seed: u64,
    ) -> Result<Contest, Failure> {
        let player = |spec: &Arc<AgentSpec>| {
            let AgentSpec { name, written: run, digest, .. } = spec.as_ref().clone();
            PlayerInfo { name, run, digest }
        };
        let mut contest = Contest::series(game, agents.iter().map(player).collect(), games, seed);
        if let Some(openings) = self.series.openings(&contest.games, &Games::of([game.kind()]))? {
            contest.openings = openings;
        }
        Ok(contest)
    }

    /// Runs the `build` commands of the agents' folders.
    pub(super) fn build_agents(&self, global: &Global) -> Result<(), Failure> {
        let sandbox = || self.series.conditions.tested();
        build(&self.agents, sandbox, self.jobs.unwrap_or_else(cores::count), global)
    }

    fn specs(&self, seats: usize) -> Result<Vec<AgentSpec>, Failure> {
        let given = self.agents.len();
        if given != seats {
            let game = &self.game.game;
            let needed = count(seats as u64, "agent");
            let were = if given == 1 { "was" } else { "were" };
            let text = format!("{game} needs {needed}, {given} {were} given");
            return Err(Failure::usage(text).help(if given > seats {
                "quote a command with spaces: \"python3 bot.py\"".to_owned()
            } else {
                format!("referee play {game} {}", self.with_random_agents(seats))
            }));
        }
        if self.agents.iter().any(|agent| with_interpreter(agent).is_some()) {
            return Err(not_executable(&self.agents).help(format!(
                "referee play {} {}",
                self.game.game,
                self.with_random_agents(seats)
            )));
        }
        let mut specs: Vec<AgentSpec> =
            self.agents.iter().map(|agent| AgentSpec::read(agent)).collect::<Result<_, _>>()?;
        for spec in specs.iter_mut().filter(|_| self.series.of_match.strict) {
            spec.be_strict();
        }
        let people = specs.iter().filter(|spec| spec.launch.is_none()).count();
        if people > 1 && !self.open {
            return Err(Failure::usage("only one @human can play at the terminal")
                .help("add --open: in the browser, several people can play"));
        }
        Ok(specs)
    }

    /// Creates the folder in which what an agent writes is kept, by its name and not by its seat. It is an error if that
    /// is another agent's: everyone chooses the name of their own.
    fn kept(&self, spec: &AgentSpec, name: &str) -> Result<Option<PathBuf>, Failure> {
        let Some(folder) = self.keep_writes.as_ref().filter(|_| spec.writes) else {
            return Ok(None);
        };
        let name = folder_name(name);
        let kept = folder.join(&name);
        let failed = |error: io::Error| Failure::operation(format!("{}: {error}", kept.display()));
        // Other users of the machine neither read nor execute what an agent leaves.
        let private = Permissions::from_mode(0o700);
        std::fs::create_dir_all(&kept)
            .and_then(|()| std::fs::set_permissions(&kept, private))
            .map_err(failed)?;
        if let Some(launch) = &spec.launch {
            let own = launch.folder.canonicalize().map_err(failed)?;
            let noted = folder.join(format!(".{name}"));
            match read_regular(&noted, NOTE_BYTES_MAX) {
                Ok(of) if of == own.as_os_str().as_bytes() => {}
                Ok(of) => {
                    let of = sanitize(&String::from_utf8_lossy(&of));
                    let text = format!("{} is kept for the agent in {of}", kept.display());
                    return Err(Failure::usage(format!("--keep-writes: {text}")).help(format!(
                        "choose another folder or another name, or remove {} and {}",
                        kept.display(),
                        noted.display()
                    )));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    std::fs::write(&noted, own.as_os_str().as_bytes()).map_err(failed)?;
                }
                Err(error) => return Err(failed(error)),
            }
        }
        kept.canonicalize().map(Some).map_err(failed)
    }

    /// Returns the agents given, scripts with their interpreters, and @random for every missing one.
    fn with_random_agents(&self, seats: usize) -> String {
        let given = |agent: &String| with_interpreter(agent).unwrap_or_else(|| agent.clone());
        let random = std::iter::repeat_with(|| "@random".to_owned());
        join(&self.agents.iter().map(given).chain(random).take(seats).collect::<Vec<_>>())
    }

    fn destination(&self, games: u64) -> Result<Destination, Failure> {
        if self.output.no_transcript {
            return Ok(Destination::Nowhere);
        }
        let Some(out) = &self.output.out else {
            return Ok(Destination::Folder(DEFAULT_FOLDER.into()));
        };
        let path = PathBuf::from(out);
        let is_file = out == "-" || referee_play::destination::is_transcript(&path);
        if is_file && games > 1 {
            return Err(Failure::usage(format!(
                "--out {out}: a series of {games} games needs a folder, not a file"
            ))
            .help("a name that ends with .jsonl or .jsonl.gz is a file, any other name a folder"));
        }
        if out == "-" {
            return Ok(Destination::Stdout);
        }
        if !is_file {
            if path.exists() && !path.is_dir() {
                return Err(Failure::usage(format!("--out {out}: not a folder"))
                    .help("the name of a transcript ends with .jsonl or .jsonl.gz"));
            }
            // A mistyped name of a file would become a folder.
            if let Some(ending) = path.extension().filter(|_| !path.is_dir()) {
                let ending = ending.display();
                return Err(Failure::usage(format!("--out {out}: unknown ending .{ending}"))
                    .help("the name of a transcript ends with .jsonl or .jsonl.gz; create a folder first if its name has a dot"));
            }
            return Ok(Destination::Folder(path));
        }
        if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty() && !it.is_dir())
        {
            let folder = folder.display();
            return Err(Failure::machine(format!("--out {out}: there is no folder {folder}"))
                .help(format!("create it: mkdir -p {folder}")));
        }
        check_new("--out", &path, self.output.force)?;
        Ok(Destination::File { path, force: self.output.force })
    }

    /// Returns the command that repeats one game. `pondering` is what was used by default, if the game
    /// was one of several at once.
    pub(super) fn reproduce(
        &self,
        plan: &Plan,
        number: u64,
        pondering: Option<Pondering>,
    ) -> String {
        let mut words = vec!["referee".to_owned(), "play".to_owned()];
        words.extend(self.given.words(&["game", "agents"], &NOT_REPEATED));
        words.extend(option("--seed", Some(plan.first.seed)));
        words.extend(option("--draw-key", plan.contest.draw_key));
        words.extend(option("--game-number", Some(number).filter(|&number| number > 0)));
        // A person has no clock by default.
        let of_match = &self.series.of_match;
        let clock = of_match.clock.implied(of_match.preset, !plan.has_person());
        words.extend(option("--clock", clock));
        let level = self.series.conditions.level().filter(|_| !self.given.has("sandbox"));
        words.extend(option("--sandbox", level.map(Level::name)));
        let pondering = pondering.filter(|_| !self.given.has("pondering"));
        words.extend(option("--pondering", pondering.map(Pondering::name)));
        join(&words)
    }

    /// Returns the command that repeats the whole series.
    pub(super) fn reproduce_series(&self, plan: &Plan) -> String {
        format!("{} --games {}", self.reproduce(plan, 0, None), self.games)
    }
}
