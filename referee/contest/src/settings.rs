//! The settings of a contest, each declared once: with its default, its range and its description in the
//! contest file's schema. The contest file and the stored contest have the same types.

use crate::forms::{ShortOrLong, within};
use referee_games::program::Program;
use referee_games::{AnyGame, GameKind, Games, NoRules, nearest};
use referee_protocol::sanitize::sanitize;
use referee_protocol::{GameProgramRecord, Level, LevelChoice, OnFault, Pondering};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The most memory that can be demanded or given: 1 TiB.
pub(crate) const MEMORY_MB_MAX: i64 = 1 << 20;
/// The longest lag that can be allowed: a year.
const LAG_MS_MAX: i64 = 365 * 24 * 3600 * 1000;

/// A position to begin from, as in `setup.position`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Opening(pub Value);

/// One game with its setup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContestGame {
    /// The name in reports, unique in the contest: the game's name, with setup fields if needed.
    pub name: String,
    /// The game's name in the registry.
    pub game: String,
    /// The program that has its rules, if they aren't built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<GameProgramRecord>,
    /// The setup, with defaults filled in.
    pub setup: Value,
    /// How many seats it has.
    pub seats: usize,
    /// Whether a lower score is better; only in games of one seat.
    pub fewer_is_better: bool,
}

impl ContestGame {
    /// Returns a game under its own name.
    pub(crate) fn new(game: &dyn AnyGame) -> Self {
        let (kind, seats) = (game.kind(), game.seats());
        let score = &kind.about().score;
        Self {
            name: kind.name.to_owned(),
            game: kind.name.to_owned(),
            program: kind.program().map(Program::record).cloned(),
            setup: game.setup(),
            seats,
            fewer_is_better: seats == 1
                && score.as_ref().is_some_and(|score| score.fewer_is_better),
        }
    }

    /// Whether a lower score is better, with any number of seats.
    pub(crate) fn prefers_fewer(&self) -> bool {
        let score = self.program.as_ref().map(|program| &program.described["score"]);
        self.fewer_is_better || score.is_some_and(|score| score["fewer_is_better"] == true)
    }

    /// Whether the referee draws in it.
    pub fn has_chance(&self) -> bool {
        self.declares("chance")
    }

    /// Whether a game with the actions of an earlier one is no repetition: the referee draws, or agents must vary what they
    /// play.
    pub(crate) fn is_random(&self) -> bool {
        ["chance", "simultaneous", "hidden"].iter().any(|name| self.declares(name))
    }

    /// Whether draws may be known to some seats only, so that they follow from a key.
    pub fn draws_are_hidden(&self) -> bool {
        self.has_chance() && self.declares("hidden")
    }

    fn declares(&self, name: &str) -> bool {
        self.program.as_ref().is_some_and(|program| program.declares(name))
    }

    /// Returns its rules.
    pub fn kind(&self, games: &Games) -> Result<GameKind, NoRules> {
        games.of_record(&self.game, self.program.as_ref())
    }
}

/// A player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerInfo {
    /// The name, unique in the contest; untrusted text.
    pub name: String,
    /// The agent as it was given.
    pub run: String,
    /// SHA-256 of the agent, in hex; empty while unknown.
    pub digest: String,
}

/// A sequential test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SprtSettings {
    /// H0: how many Elo (logistic) the new agent is stronger.
    pub elo0: f64,
    /// H1: the same, more than `elo0`.
    pub elo1: f64,
    /// How often H1 may be accepted although H0 is true.
    pub alpha: f64,
    /// How often H0 may be accepted although H1 is true.
    pub beta: f64,
}

/// The seat orders in which the players of a pairing play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeatOrders {
    /// All orders: 2, 6, 24, .. games.
    #[default]
    All,
    /// All rotations of the pairing and of its reverse: every seat and every neighbour equally
    /// often. The same as `all` with up to three seats.
    Rotations,
    /// The pairing's own order; formats balance the seats over a player's pairings.
    One,
}

impl SeatOrders {
    /// Returns how many orders there are for this many seats.
    pub(crate) fn count(self, seats: usize) -> u64 {
        let seats = seats as u64;
        match self {
            // More seats than these have as many: what doesn't fit.
            Self::All => (1..=seats.min(21)).fold(1, u64::saturating_mul),
            Self::Rotations if seats > 2 => seats.saturating_mul(2),
            Self::Rotations => seats,
            Self::One => 1,
        }
    }
}

/// Where games begin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpeningSettings {
    /// How many random legal plies come first, drawn from the seed.
    pub plies: u32,
    /// Positions to begin from instead, by the game's place in the contest's list; a game without
    /// any begins at its setup. Drawn without repetition until all were used.
    pub positions: Vec<Vec<Opening>>,
}

/// How agents are isolated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Sandbox")]
pub struct SandboxSettings {
    /// The exact level. Defaults to `auto`, the strongest that works on the machine.
    #[serde(deserialize_with = "level")]
    #[schemars(with = "Option<LevelChoice>")]
    pub level: Option<Level>,
    /// With `auto`: the least level.
    pub at_least: Option<Level>,
    /// The command that starts agents at level `external`: a string, or a list of words.
    #[serde(deserialize_with = "words")]
    #[schemars(with = "ShortOrLong<String, Vec<String>>")]
    pub wrapper: Vec<String>,
    /// What agents may do while it isn't their turn. Defaults to `freeze` if they share cores, else
    /// to `allow`.
    pub pondering: Option<Pondering>,
    /// Files and folders that all agents may read, relative to the contest file's folder.
    pub read: Vec<String>,
}

fn level<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Level>, D::Error> {
    let choice = Option::<LevelChoice>::deserialize(deserializer)?;
    Ok(choice.and_then(LevelChoice::named))
}

/// Reads the words of a command.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let words = match ShortOrLong::deserialize(deserializer)? {
        ShortOrLong::Long(words) => words,
        ShortOrLong::Short(text) => {
            let text: String = text;
            shlex::split(&text).ok_or_else(|| D::Error::custom("a quote is not closed"))?
        }
    };
    Ok(words)
}

impl SandboxSettings {
    /// Whether games may be played at this level.
    pub fn allows(&self, level: Level) -> bool {
        self.level.is_none_or(|wanted| level == wanted)
            && self.at_least.is_none_or(|least| level.is_at_least(least))
    }

    /// Returns the required or least level, if the recorded level doesn't meet it.
    pub fn unmet_level(&self, recorded: &str) -> Option<Level> {
        let fits = recorded.parse::<Level>().is_ok_and(|level| self.allows(level));
        self.level.or(self.at_least).filter(|_| !fits)
    }

    /// Checks that the settings fit together; `has` says which keys are given.
    pub(crate) fn check(&self, has: impl Fn(&str) -> bool) -> Result<(), Mistake> {
        let at = |key: &str, message: &str| Mistake::at(format!("sandbox.{key}"), message);
        if let (Some(_), Some(level)) = (self.at_least, self.level) {
            let message = format!("`at_least` has no effect: level `{}` is exact", level.name());
            return Err(at("at_least", &message).help("remove `at_least` or `level`"));
        }
        let demanded = [Level::Basic, Level::Confined, Level::Isolated, Level::Metered];
        if let Some(least) = self.at_least.filter(|least| !demanded.contains(least)) {
            let names = demanded.map(Level::name).join(", ");
            let message = format!("`at_least` can't be `{}`", least.name());
            return Err(at("at_least", &message).help(format!("use one of {names}")));
        }
        if let Some(index) = self.read.iter().position(String::is_empty) {
            return Err(at(&format!("read.{index}"), "the path is empty"));
        }
        match (self.level == Some(Level::External), has("sandbox.wrapper")) {
            (true, false) => {
                let message =
                    "level `external` needs a `wrapper`, the command that isolates agents";
                Err(at("level", message))
            }
            (false, true) => Err(at("wrapper", "`wrapper` needs level `external`")
                .help("add level = \"external\", or remove `wrapper`")),
            (true, true) if self.wrapper.first().is_none_or(String::is_empty) => {
                Err(at("wrapper", "the command is empty"))
            }
            _ => Ok(()),
        }
    }
}

/// What happens with games and submissions that fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Policy")]
pub struct Policy {
    /// What a fault does in games of three seats or more.
    pub on_fault: OnFault,
    /// How often a void game is played again before the run gives up on it.
    #[serde(deserialize_with = "within::<_, _, 0, 1000>")]
    pub void_retries: u32,
    /// How many void attempts one agent may cause in the contest before they are its faults.
    #[serde(deserialize_with = "within::<_, _, 0, 1_000_000>")]
    pub agent_voids: u32,
    /// The referee's own lag in one turn, in milliseconds, above which a game is marked.
    #[serde(deserialize_with = "within::<_, _, 0, LAG_MS_MAX>")]
    pub lag_ms: u64,
    /// What happens with marked games.
    pub on_lag: LagPolicy,
    /// Whether games that ended by a fault count in ratings, as losses.
    pub rate_faults: bool,
    /// Whether adapters refuse what the course's own program refused.
    pub strict: bool,
    /// What happens with submissions that can't be read or built.
    #[serde(skip_serializing_if = "OnBroken::is_usual")]
    pub on_broken: OnBroken,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            on_fault: OnFault::Retire,
            void_retries: 3,
            agent_voids: 3,
            lag_ms: 50,
            on_lag: LagPolicy::Mark,
            rate_faults: true,
            strict: false,
            on_broken: OnBroken::Stop,
        }
    }
}

/// What happens with games in which the referee itself was late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LagPolicy {
    /// They count and are marked.
    #[default]
    Mark,
    /// They are void and played again.
    Again,
}

/// What happens with submissions that can't be read or built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnBroken {
    /// The contest does not start until they are fixed.
    #[default]
    Stop,
    /// The others play.
    LeaveOut,
}

impl OnBroken {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_usual(&self) -> bool {
        *self == Self::Stop
    }
}

/// A mistake in the settings, with the key where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// The key with those of the tables and lists around it, such as `grades.marks.2.elo`.
    pub(crate) key: String,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) help: Option<String>,
    /// Whether the key itself is wrong, and not its value.
    pub(crate) is_unknown: bool,
}

impl Mistake {
    pub(crate) fn at(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into(), help: None, is_unknown: false }
    }

    /// A key that a table doesn't have; these are `known`.
    pub(crate) fn unknown<'a>(
        table: &str,
        key: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        let names = known.clone().collect::<Vec<_>>().join("`, `");
        let message = format!("unknown key `{}`, expected one of `{names}`", sanitize(key));
        let mistake = Self::at(format!("{table}.{key}"), message).or_near(key, known);
        Self { is_unknown: true, ..mistake }
    }

    /// Adds what to do about it.
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Suggests the known name that is nearest to this one, if one is near.
    pub(crate) fn or_near<'a>(self, name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        match nearest(name, known) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }
}
