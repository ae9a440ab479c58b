//! The contest file, from its text to a [`Contest`]. Strict: whatever is unknown, out of range or
//! contradicts itself is an error that points at its place. Pure: the caller finds agents,
//! submissions and the openings file.

mod problem;
mod forms;
mod raw;
mod conditions;
mod games;
mod format;
mod grades;

pub use games::{PLIES_MAX, positions};
pub use problem::{FileError, Source};
pub use raw::OnBroken;

use super::{Contest, ContestGame, Opening, OpeningSettings, PlayerInfo};
use crate::formats::{FormatName, ranking_file};
use crate::grades::GradeSettings;
pub(crate) use forms::{ShortOrLong, Spanned};
pub(crate) use raw::Raw;
use raw::RawAgent;
use referee_match::names::unique_names;
use referee_protocol::sanitize::sanitize;
use schemars::{Schema, schema_for};
use serde::{Deserialize, Serialize};
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

/// Seeds are below this, so that every language can hold one in a number.
pub const SEED_BOUND: u64 = 1 << 53;
/// The longest name, in characters.
const NAME_CHARACTERS_MAX: usize = 60;
/// The most rounds.
const ROUNDS_MAX: u32 = 1_000_000;
/// The most matches at once.
const JOBS_MAX: u32 = 10_000;
/// The most players.
const PLAYERS_MAX: usize = 10_000;
/// The most games; as many keep a fast machine busy for a day, and their schedule fits in memory.
const GAMES_MAX: u64 = 10_000_000;

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
    /// What happens with submissions that can't be read or built.
    pub on_broken: OnBroken,
    /// What builds of agents may do.
    pub build: BuildSettings,
    grades: Option<GradeSettings>,
    format: FormatName,
    pub(crate) raw: Raw,
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
    pub fn read(text: &str, file: &str, stem: &str) -> Result<Self, FileError> {
        let source = Source { file: sanitize(file), text: text.to_owned() };
        let raw: Raw = source.read()?;
        let preset = conditions::preset(&source, &raw)?;
        let games = games::read(&source, &raw)?;
        let name = sanitize_name(raw.name.as_deref().map_or(stem, String::as_str));
        if name.is_empty() {
            let span = raw.name.as_ref().map_or(0..0, Spanned::span);
            return Err(source.error(span, "the contest needs a name"));
        }
        let rounds = within(&source, raw.rounds.as_ref(), "rounds", 1..=ROUNDS_MAX)?;
        let jobs = within(&source, raw.jobs.as_ref(), "jobs", 1..=JOBS_MAX)?;
        let seed = within(&source, raw.seed.as_ref(), "seed", 0..=SEED_BOUND - 1)?;
        let seats = games.first().map_or(1, |game: &ContestGame| game.seats);
        let format = raw.format.as_deref().copied();
        let format = format.unwrap_or_else(|| FormatName::default_for(seats));
        format::check_tables(&source, &raw, format)?;
        if let Some(agent) = raw.agents.get(PLAYERS_MAX) {
            let message = format!("at most {PLAYERS_MAX} agents can play");
            return Err(source.error(agent.span(), message));
        }
        let plies = raw.openings.plies.as_deref().copied().unwrap_or(0);
        let settings = Contest {
            name,
            seed: seed.unwrap_or(1),
            format: format.into(),
            rounds: rounds.unwrap_or(1),
            seat_orders: raw.seat_orders,
            games,
            players: Vec::new(),
            openings: OpeningSettings { plies, positions: Vec::new() },
            clock: conditions::clock(&source, raw.clock.as_ref(), preset)?,
            preset: preset.map(|preset| preset.name.to_owned()),
            limits: conditions::limits(&source, &raw.limits, preset)?,
            anonymous: raw.anonymous,
            reuse: raw.reuse,
            adjudication: conditions::adjudication(&source, raw.adjudication.as_ref(), seats)?,
            policy: conditions::policy(&source, &raw.policy, preset)?,
            sandbox: conditions::sandbox(&source, &raw.sandbox)?,
            workers: conditions::workers(&source, &raw.workers)?,
            changes: Vec::new(),
        };
        Ok(Self {
            settings,
            format,
            agents: raw.agents.iter().map(named_agent).collect(),
            submissions: submissions(&source, &raw)?,
            openings: games::openings_file(&source, &raw.openings)?,
            ranking: ranking_file(&raw).map(|path| ((**path).clone(), path.span())),
            read: raw.sandbox.read.iter().map(|path| ((**path).clone(), path.span())).collect(),
            jobs: jobs.and_then(|jobs| usize::try_from(jobs).ok()),
            pin: raw.pin,
            on_broken: raw.policy.on_broken,
            build: conditions::build(&source, &raw)?,
            grades: grades::read(&source, &raw)?,
            source,
            raw,
        })
    }

    /// Returns the contest between these agents, and for each player its agent's place in the list.
    pub fn contest(
        &self,
        agents: &[FoundAgent],
        others: &OtherFiles,
    ) -> Result<(Contest, Vec<usize>), FileError> {
        self.check_names(agents)?;
        let (format, order) = format::settings(self, agents, others.ranking.as_ref())?;
        let positions = match &others.openings {
            Some(openings) => positions(openings, &self.settings.games)?,
            None => Vec::new(),
        };
        let names = unique_names(agents.iter().map(|agent| sanitize_name(&agent.player.name)));
        let player = |&place: &usize| PlayerInfo {
            name: names[place].clone(),
            ..agents[place].player.clone()
        };
        let contest = Contest {
            format,
            players: order.iter().map(player).collect(),
            openings: OpeningSettings { positions, ..self.settings.openings },
            ..self.settings.clone()
        };
        format::check_size(self, &contest)?;
        games::check_drawn(self, &contest)?;
        self.grades(&contest)?;
        Ok((contest, order))
    }

    fn check_names(&self, agents: &[FoundAgent]) -> Result<(), FileError> {
        let mut names = std::collections::BTreeSet::new();
        for agent in agents {
            let name = sanitize_name(&agent.player.name);
            let at = || agent.span.clone();
            if name.is_empty() {
                return Err(self.source.error(at(), "the agent needs a name"));
            }
            if !names.insert(name.clone()) {
                return Err(self
                    .source
                    .error(at(), format!("two agents are called `{name}`"))
                    .help("give each its own name: NAME=AGENT, such as new=./bot"));
            }
        }
        Ok(())
    }

    /// Returns an error at the line that names the format, if there is one.
    pub(crate) fn error_at_format(&self, message: String) -> FileError {
        match &self.raw.format {
            Some(format) => self.source.error(format.span(), message),
            None => self.source.error_of_all(message),
        }
    }

    /// Returns its points and marks for the results of a contest.
    pub fn grades(&self, contest: &Contest) -> Result<Option<&GradeSettings>, FileError> {
        grades::check_names(self, contest)?;
        Ok(self.grades.as_ref())
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

/// Sanitizes and shortens a name.
pub(crate) fn sanitize_name(name: &str) -> String {
    sanitize(name.trim()).chars().take(NAME_CHARACTERS_MAX).collect()
}

/// Returns a number if it is in its range.
pub(crate) fn within<T: Copy + PartialOrd + std::fmt::Display>(
    source: &Source,
    value: Option<&Spanned<T>>,
    key: &str,
    range: RangeInclusive<T>,
) -> Result<Option<T>, FileError> {
    let Some(at) = value else { return Ok(None) };
    let value: T = **at;
    if range.contains(&value) {
        return Ok(Some(value));
    }
    let (least, most) = (range.start(), range.end());
    Err(source.error(at.span(), format!("`{key}` must be from {least} to {most}, not {value}")))
}

fn named_agent(agent: &Spanned<ShortOrLong<String, RawAgent>>) -> NamedAgent {
    match &**agent {
        ShortOrLong::Short(run) => NamedAgent { name: None, run: run.clone(), span: agent.span() },
        ShortOrLong::Long(RawAgent { name, run }) => NamedAgent {
            name: name.as_deref().cloned(),
            run: (**run).clone(),
            span: name.as_ref().unwrap_or(run).span(),
        },
    }
}

fn submissions(source: &Source, raw: &Raw) -> Result<Option<Submissions>, FileError> {
    let Some(at) = &raw.submissions else { return Ok(None) };
    let (folder, run, span) = match &**at {
        ShortOrLong::Short(folder) => (folder, None, at.span()),
        ShortOrLong::Long(table) => (&*table.folder, table.run.as_ref(), table.folder.span()),
    };
    if folder.trim().is_empty() {
        return Err(source
            .error(span, "`submissions` needs a folder")
            .help("`.` is the folder of the contest file"));
    }
    if let Some(run) = run.filter(|run| !run.contains("{}")) {
        return Err(source
            .error(run.span(), "`run` needs `{}`, a placeholder for the path of a submission")
            .help("such as run = \"python3 {}/main.py\""));
    }
    let run = run.map(|run| (**run).clone());
    Ok(Some(Submissions { folder: folder.clone(), run, span }))
}

/// The positions of a game that begin a match; see [`OpeningSettings::positions`].
type Positions = Vec<Vec<Opening>>;

#[cfg(test)]
mod tests;
