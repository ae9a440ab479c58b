//! The contest file, from its text to a [`Contest`]. Strict: whatever is unknown, out of range or
//! contradicts itself is an error that points at its place. Pure: the caller finds agents,
//! submissions and the openings file.

mod problem;
mod raw;
mod renamed;
mod conditions;
mod games;

pub use games::{PLIES_MAX, game_names, positions};
pub use problem::{FileError, Source};

use crate::contest::{NoSchedule, PLAYERS_MAX};
use crate::formats::{Entry, FORMATS, FormatName, FormatSettings};
use crate::forms::ShortOrLong;
use crate::grades::GradeSettings;
use crate::settings::Mistake;
use crate::web::WebSettings;
use crate::{Contest, ContestGame, Opening, OpeningSettings, PlayerInfo, Seed};
use games::seats;
use raw::{Raw, RawAgent, RawSubmissions};
use referee_games::Games;
use referee_match::names::unique_names;
use referee_protocol::sanitize::sanitize;
use referee_protocol::sanitize::sanitize_name;
use schemars::{Schema, schema_for};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

/// A contest file that is valid as far as it can be checked without the agents.
#[derive(Debug)]
pub struct ContestFile {
    /// Its text, for errors that point into it.
    pub source: Source,
    /// The contest, without its players and positions and without the settings of its format.
    pub settings: Contest,
    /// The agents that it names, in its order.
    pub agents: Vec<NamedAgent>,
    /// The folder with submissions.
    pub submissions: Option<Submissions>,
    /// The openings file, and where it is named.
    pub openings: Option<(String, Range<usize>)>,
    /// The file or folder with the ranking by which players are seeded, and where it is named.
    pub ranking: Option<(String, Range<usize>)>,
    /// The paths that all agents may read, and where they are named.
    pub read: Vec<(String, Range<usize>)>,
    /// The most matches at once.
    pub jobs: Option<usize>,
    /// Whether matches are pinned to cores.
    pub pin: bool,
    /// What builds of agents may do.
    pub build: BuildSettings,
    /// The games that can be played.
    pub known_games: Games,
    format: FormatName,
    raw: Raw,
}

/// What the build of an agent may use, besides what agents may.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BuildSettings {
    /// How long it may take, in milliseconds.
    pub time_ms: u64,
    /// The memory of all its processes, in MiB.
    pub memory_mb: u64,
    /// Whether it may use the network.
    pub network: bool,
    /// Files and folders that it may read, relative to the contest file's folder.
    pub read: Vec<String>,
}

impl Default for BuildSettings {
    fn default() -> Self {
        Self { time_ms: 600_000, memory_mb: 4096, network: false, read: Vec::new() }
    }
}

impl BuildSettings {
    /// Returns how long it may take.
    pub fn time(&self) -> Duration {
        Duration::from_millis(self.time_ms)
    }
}

/// An agent as a contest file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAgent {
    /// The name that it is given, if any.
    pub name: Option<String>,
    /// The AGENT.
    pub run: String,
    /// Where it is named, in bytes.
    pub span: Range<usize>,
}

/// A folder of which every agent plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submissions {
    /// The folder, relative to the contest file's.
    pub folder: String,
    /// The AGENT that each is, with `{}` for its path.
    pub run: Option<String>,
    /// Where the folder is named, in bytes.
    pub span: Range<usize>,
}

/// An agent that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundAgent {
    /// The player that it becomes.
    pub player: PlayerInfo,
    /// Where the contest file names it, in bytes.
    pub span: Range<usize>,
}

/// The content of the files that a contest file names; without a file that was read before, what it says
/// must be taken from the stored contest.
#[derive(Clone, Debug, Default)]
pub struct OtherFiles {
    /// The file with openings.
    pub openings: Option<Source>,
    /// The ranking by which players are seeded.
    pub ranking: Option<Source>,
}

/// Returns the JSON Schema of the contest file.
pub fn schema() -> Schema {
    schema_for!(Raw)
}

impl ContestFile {
    /// Reads a contest file. `file` is what errors call it, `stem` its name where it gives none.
    pub fn read(text: &str, file: &str, stem: &str, games: &Games) -> Result<Self, FileError> {
        let source = Source { file: sanitize(file), text: text.to_owned() };
        let raw: Raw = source.read().map_err(|error| match renamed::mistake(&source) {
            Some(mistake) => source.mistake(mistake),
            None => error,
        })?;
        let file = contest(&source, &raw, stem, games);
        let file = file.and_then(|contest| Self::of(&source, raw, contest, games));
        file.map_err(|mistake| source.mistake(mistake))
    }

    /// Reads the contest file of a stored contest, which may be of an earlier version.
    pub fn read_stored(
        text: &str,
        file: &str,
        stem: &str,
        games: &Games,
    ) -> Result<Self, FileError> {
        Self::read(text, file, stem, games).or_else(|error| match renamed::upgraded(text) {
            Some(upgraded) if upgraded != text => Self::read(&upgraded, file, stem, games),
            _ => Err(error),
        })
    }

    /// Reads the folder of submissions of a stored contest's file. Its games need not be known.
    pub fn submissions_of(text: &str) -> Result<Option<Submissions>, FileError> {
        Self::part_of(text, |source, raw| submissions(source, &raw))
    }

    /// Reads what may be handed in on the web, from a stored contest's file. Its games need not be known.
    pub fn web_of(text: &str) -> Result<WebSettings, FileError> {
        Self::part_of(text, |_, raw| Ok(raw.web))
    }

    fn part_of<T>(
        text: &str,
        part: impl Fn(&Source, Raw) -> Result<T, Mistake>,
    ) -> Result<T, FileError> {
        let read = |text: &str| {
            let source = Source { file: "contest.toml".to_owned(), text: text.to_owned() };
            let raw: Raw = source.read()?;
            part(&source, raw).map_err(|mistake| source.mistake(mistake))
        };
        read(text).or_else(|error| match renamed::upgraded(text) {
            Some(upgraded) if upgraded != text => read(&upgraded),
            _ => Err(error),
        })
    }

    fn of(source: &Source, raw: Raw, settings: Contest, games: &Games) -> Result<Self, Mistake> {
        let named = |key: &str, value: &str| (value.to_owned(), source.place(key).unwrap_or(0..0));
        let read = raw.sandbox.read.iter().enumerate();
        let openings = raw.openings.file.as_ref();
        if openings.is_some() && raw.openings.plies.is_some() {
            let message =
                "openings are drawn, by `plies`, or chosen from a `file`: give one of them";
            return Err(Mistake::at("openings.file", message));
        }
        let seats = settings.seats();
        let format = raw.format.unwrap_or_else(|| FormatName::default_for(seats));
        Ok(Self {
            source: source.clone(),
            format,
            agents: agents(source, &raw),
            submissions: submissions(source, &raw)?,
            openings: openings.map(|file| named("openings.file", file)),
            ranking: raw.ranking_file().map(|(file, key)| named(key, file)),
            read: read.map(|(index, path)| named(&format!("sandbox.read.{index}"), path)).collect(),
            jobs: raw.jobs.and_then(|jobs| usize::try_from(jobs).ok()),
            pin: raw.pin,
            build: conditions::build(&raw.build)?,
            settings,
            known_games: games.clone(),
            raw,
        })
    }

    /// Returns the contest between these agents, and for each player its agent's place in the list.
    pub fn contest(
        &self,
        agents: &[FoundAgent],
        others: &OtherFiles,
    ) -> Result<(Contest, Vec<usize>), FileError> {
        let names: Vec<String> =
            agents.iter().map(|agent| sanitize_name(&agent.player.name)).collect();
        self.check_agents(agents, &names)?;
        let positions = match &others.openings {
            Some(openings) => positions(openings, &self.settings.games, &self.known_games)?,
            None => Vec::new(),
        };
        let ranking = others.ranking.as_ref().map(|it| (it.file.as_str(), it.text.as_str()));
        let made = || {
            let (format, order) = self.raw.format(self.format, &self.entry(&names, ranking))?;
            let unique = unique_names(names.iter().cloned());
            let player = |&place: &usize| PlayerInfo {
                name: unique[place].clone(),
                ..agents[place].player.clone()
            };
            let contest = Contest {
                format,
                players: order.iter().map(player).collect(),
                openings: OpeningSettings { positions, ..self.settings.openings },
                ..self.settings.clone()
            };
            contest.check_schedule().map_err(|NoSchedule { key, message, help }| {
                Mistake::at(key, message).help(help)
            })?;
            games::check_drawn(&contest, &self.known_games)?;
            self.raw.grades.iter().try_for_each(|grades| grades.check_names(&contest))?;
            Ok((contest, order))
        };
        made().map_err(|mistake| self.source.mistake(mistake))
    }

    fn entry<'a>(&'a self, names: &'a [String], ranking: Option<(&'a str, &'a str)>) -> Entry<'a> {
        let settings = &self.settings;
        Entry {
            names,
            game: &settings.games[0].game,
            seats: settings.seats(),
            seat_orders: settings.seat_orders,
            seed: settings.seed,
            has_submissions: self.submissions.is_some(),
            ranking,
        }
    }

    /// Checks names and number of the agents.
    fn check_agents(&self, agents: &[FoundAgent], names: &[String]) -> Result<(), FileError> {
        let mut known = BTreeSet::new();
        for (agent, name) in agents.iter().zip(names) {
            let error = |message: String| self.source.error(agent.span.clone(), message);
            if name.is_empty() {
                return Err(error("the agent needs a name".to_owned()));
            }
            if !known.insert(name) {
                return Err(error(format!("two agents are called `{name}`"))
                    .help("give each its own name: NAME=AGENT, such as new=./bot"));
            }
        }
        check_seats(self.format, &self.settings).map_err(|it| self.source.mistake(it))?;
        let error = |message: String| match agents.last() {
            Some(last) => self.source.error(last.span.clone(), message),
            None => self.source.error_of_all(message),
        };
        let (count, seats) = (agents.len(), self.settings.seats());
        if count < seats {
            let players = if seats == 1 { "agent" } else { "agents" };
            let game = &self.settings.games[0].game;
            let message = format!("{game} needs at least {seats} {players}, not {count}");
            return Err(error(message).help(
                "name agents, such as agents = [\"@random\", \"./mybot\"], or a folder of \
                 `submissions`",
            ));
        }
        if count > PLAYERS_MAX {
            return Err(error(format!("at most {PLAYERS_MAX} agents can play, not {count}")));
        }
        Ok(())
    }

    /// Returns its points and marks for the results of a contest.
    pub fn grades(&self, contest: &Contest) -> Result<Option<&GradeSettings>, FileError> {
        let Some(grades) = &self.raw.grades else { return Ok(None) };
        grades.check_names(contest).map_err(|mistake| self.source.mistake(mistake))?;
        Ok(Some(grades))
    }

    /// Returns whether it gives the seed.
    pub fn is_seeded(&self) -> bool {
        self.raw.seed.is_some()
    }

    /// Returns whether it gives the contest's name.
    pub fn is_named(&self) -> bool {
        self.raw.name.is_some()
    }
}

/// Returns the contest without its players and positions and without the settings of its format.
fn contest(source: &Source, raw: &Raw, stem: &str, known: &Games) -> Result<Contest, Mistake> {
    let has = |key: &str| source.place(key).is_some();
    let preset = conditions::preset(raw)?;
    let games = games::read(raw, known)?;
    let seats = games.first().map_or(1, |game: &ContestGame| game.seats);
    let name = sanitize_name(raw.name.as_deref().unwrap_or(stem));
    if name.is_empty() {
        return Err(Mistake::at("name", "the contest needs a name"));
    }
    let format = raw.format.unwrap_or_else(|| FormatName::default_for(seats));
    raw.check_tables(format)?;
    if raw.agents.len() > PLAYERS_MAX {
        let message = format!("at most {PLAYERS_MAX} agents can play");
        return Err(Mistake::at(format!("agents.{PLAYERS_MAX}"), message));
    }
    raw.sandbox.check(has)?;
    if raw.duplicate_deals {
        conditions::check_duplicate_deals(raw.reuse, &games)?;
    }
    if let Some(rules) = &raw.adjudication {
        conditions::check_adjudication(rules, seats)?;
    }
    if let Some(grades) = &raw.grades {
        grades.check()?;
    }
    let mut policy = raw.policy.clone();
    if let Some(preset) = preset.filter(|_| !has("policy.on_fault")) {
        policy.on_fault = preset.on_fault;
    }
    Ok(Contest {
        name,
        seed: raw.seed.unwrap_or(Seed::Number(1)),
        draw_key: raw.draw_key,
        show_hidden: raw.show_hidden,
        duplicate_deals: raw.duplicate_deals,
        own_seeds: FormatSettings::from(format).comparison().is_none(),
        format: format.into(),
        rounds: raw.rounds.unwrap_or(1),
        seat_orders: raw.seat_orders,
        games,
        players: Vec::new(),
        openings: OpeningSettings { plies: raw.openings.plies.unwrap_or(0), positions: Vec::new() },
        clock: conditions::clock(raw.clock.as_ref(), preset)?,
        preset: preset.map(|preset| preset.name.to_owned()),
        limits: conditions::limits(&raw.limits, preset)?,
        anonymous: raw.anonymous,
        reuse: raw.reuse,
        adjudication: raw.adjudication.clone(),
        policy,
        sandbox: raw.sandbox.clone(),
        changes: Vec::new(),
    })
}

/// Checks that a format fits the seats of the games.
fn check_seats(format: FormatName, contest: &Contest) -> Result<(), Mistake> {
    let (format, have) = (format.info(), contest.seats());
    if format.seats.contains(&have) {
        return Ok(());
    }
    let more = if format.seats.end() > format.seats.start() { " or more" } else { "" };
    let wanted = seats(*format.seats.start()) + more;
    let (name, game) = (format.name, &contest.games[0].game);
    let message = format!("format {name} is for games of {wanted}; {game} has {}", seats(have));
    let fitting = FORMATS.iter().filter(|format| format.seats.contains(&have));
    let names: Vec<&str> = fitting.map(|format| format.name).collect();
    let help = format!("formats for {game}: {}", names.join(", "));
    Err(Mistake::at("format", message).help(help))
}

fn agents(source: &Source, raw: &Raw) -> Vec<NamedAgent> {
    let spans = source.places("agents", &["name", "run"]);
    let agent = |(agent, span): (&ShortOrLong<_, _>, _)| {
        let (name, run) = match agent {
            ShortOrLong::Short(run) => (None, run),
            ShortOrLong::Long(RawAgent { name, run }) => (name.clone(), run),
        };
        NamedAgent { name, run: run.clone(), span }
    };
    raw.agents.iter().zip(spans).map(agent).collect()
}

fn submissions(source: &Source, raw: &Raw) -> Result<Option<Submissions>, Mistake> {
    let (folder, run, key) = match &raw.submissions {
        None => return Ok(None),
        Some(ShortOrLong::Short(folder)) => (folder, None, "submissions"),
        Some(ShortOrLong::Long(RawSubmissions { folder, run })) => {
            (folder, run.clone(), "submissions.folder")
        }
    };
    if folder.trim().is_empty() {
        return Err(Mistake::at(key, "`submissions` needs a folder")
            .help("`.` is the folder of the contest file"));
    }
    if run.as_ref().is_some_and(|run| !run.contains("{}")) {
        let message = "`run` needs `{}`, a placeholder for the path of a submission";
        return Err(
            Mistake::at("submissions.run", message).help("such as run = \"python3 {}/main.py\"")
        );
    }
    let span = source.place(key).unwrap_or(0..0);
    Ok(Some(Submissions { folder: folder.clone(), run, span }))
}

/// The positions of a game that begin a match; see [`OpeningSettings::positions`].
type Positions = Vec<Vec<Opening>>;

#[cfg(test)]
mod tests;
