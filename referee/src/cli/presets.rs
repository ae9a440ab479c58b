//! The conditions of a match: the same options in every command that plays.

use super::clock::ClockOptions;
use super::sandbox::ConditionOptions;
use super::setup::{read_pairs, unknown};
use super::values::on_fault;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use referee_contest::file::PLIES_MAX;
pub(super) use referee_contest::presets::Preset;
use referee_contest::presets::{PRESETS, find};
use referee_contest::{ContestGame, OpeningSettings, SEED_BOUND, Seed};
use referee_games::Games;
use referee_process::Failure;
use referee_protocol::{ClockSettings, Limits, OnFault, read_typed};
use referee_runner::read_openings;
use schemars::schema_for;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use std::str::FromStr;

/// A preset, and the options that override parts of it, in every command that starts agents for matches.
#[derive(Debug, Args)]
#[command(next_help_heading = "Match")]
pub(super) struct MatchOptions {
    /// Clock, limits and fault handling of a course; other options override parts of it
    #[arg(long, value_name = "NAME", value_parser = preset())]
    pub(super) preset: Option<&'static Preset>,
    #[command(flatten)]
    limits: LimitOptions,
    /// Refuse whatever the course's own program refuses from comp30024: and comp34111:
    /// agents, such as an Agent without `**referee`
    #[arg(long)]
    pub(super) strict: bool,
    #[command(flatten)]
    pub(super) clock: ClockOptions,
}

/// The options of every command that plays whole matches.
#[derive(Debug, Args)]
#[command(next_help_heading = "Match")]
pub(super) struct SeriesOptions {
    /// Where games begin: a file with one JSON position per line, or a number of random plies, 0 to 100.
    /// Each opening is played in every seat order. Defaults to the setup's start
    #[arg(long, value_name = "FILE|PLIES")]
    openings: Option<Openings>,
    /// Seed of all random choices, below 2^53. Defaults to a new one each time
    #[arg(long, value_parser = clap::value_parser!(u64).range(..SEED_BOUND))]
    pub(super) seed: Option<u64>,
    /// Key from which the draws of a game with hidden information follow, with the seed: 32 hex digits. Defaults
    /// to a new one each time, so that agents can't find out what is drawn
    #[arg(long, value_name = "KEY")]
    pub(super) draw_key: Option<Seed>,
    /// With 3 or more seats: what happens when an agent commits a fault. Defaults to the preset's, else
    /// retire
    #[arg(long, value_parser = on_fault())]
    pub(super) on_fault: Option<OnFault>,
    /// Pin each match and its agents to one core; for machines that run nothing else
    #[arg(long)]
    pub(super) pin: bool,
    #[command(flatten)]
    pub(super) of_match: MatchOptions,
    #[command(flatten)]
    pub(super) conditions: ConditionOptions,
}

/// Where games begin: the value of `--openings`.
#[derive(Clone, Debug)]
pub(super) enum Openings {
    /// After this many random plies.
    Plies(u32),
    /// At the positions in this file.
    File(PathBuf),
}

impl FromStr for Openings {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(plies) if plies <= PLIES_MAX => Ok(Self::Plies(plies)),
            Ok(_) => Err(format!("at most {PLIES_MAX} plies")),
            Err(_) => Ok(Self::File(text.into())),
        }
    }
}

impl SeriesOptions {
    /// Returns the openings for games without a contest file; `None` for the setup's start.
    pub(super) fn openings(
        &self,
        games: &[ContestGame],
        known: &Games,
    ) -> Result<Option<OpeningSettings>, Failure> {
        Ok(match &self.openings {
            None => None,
            Some(Openings::Plies(plies)) => {
                Some(OpeningSettings { plies: *plies, ..<_>::default() })
            }
            Some(Openings::File(file)) => {
                Some(OpeningSettings { plies: 0, positions: read_openings(file, games, known)? })
            }
        })
    }

    /// Returns the table `[openings]` of a contest file; with `plies` random plies unless others are given.
    pub(super) fn openings_table(&self, plies: u32) -> Value {
        match &self.openings {
            None => json!({ "plies": plies }),
            Some(Openings::Plies(plies)) => json!({ "plies": plies }),
            Some(Openings::File(file)) => json!({ "file": file }),
        }
    }

    pub(super) fn on_fault(&self) -> OnFault {
        let preset = self.of_match.preset;
        self.on_fault
            .unwrap_or_else(|| preset.map_or_else(OnFault::default, |preset| preset.on_fault))
    }
}

/// Returns a parser of preset names.
fn preset() -> impl TypedValueParser<Value = &'static Preset> {
    let value = |preset: &Preset| PossibleValue::new(preset.name).help(preset.about);
    let names = PossibleValuesParser::new(PRESETS.iter().map(value));
    names.try_map(|name| find(&name).ok_or("unknown preset"))
}

impl MatchOptions {
    /// Returns the clock; unlimited for a `person` unless one is given.
    pub(super) fn clock(&self, person: bool) -> Result<ClockSettings, Failure> {
        self.clock.settings(self.preset, person)
    }

    /// Returns the limits: those of the `preset`, except the given ones.
    pub(super) fn limits(&self, preset: Option<&Preset>) -> Result<Limits, Failure> {
        self.limits.limits(preset)
    }

    /// Returns the limits that are given, as the table `[limits]` of a contest file.
    pub(super) fn limits_table(&self) -> Result<Value, Failure> {
        self.limits.limits(self.preset)?;
        self.limits.given()
    }
}

/// The option --limit.
#[derive(Debug, Args)]
struct LimitOptions {
    /// Limit on agents (repeatable)
    #[arg(id = "limit", long, value_name = "KEY=VALUE", long_help = limits_help())]
    limits: Vec<String>,
}

/// Returns the help of --limit, which lists all limits with their defaults.
fn limits_help() -> String {
    let schema = schema_for!(Limits);
    let properties = schema.get("properties").and_then(Value::as_object);
    let defaults = serde_json::to_value(Limits::default()).unwrap_or_default();
    let mut text = "Limit on agents (repeatable), with its default:".to_owned();
    for (name, about) in properties.into_iter().flatten() {
        let about = about["description"].as_str().unwrap_or_default().replace('\n', " ");
        write!(text, "\n- {name}={}: {about}", defaults[name]).ok();
    }
    text
}

impl LimitOptions {
    fn given(&self) -> Result<Value, Failure> {
        read_pairs("--limit", &self.limits)
    }

    /// Returns the limits: those of the preset, except the given ones.
    fn limits(&self, preset: Option<&Preset>) -> Result<Limits, Failure> {
        let given = self.given()?;
        let mut known = serde_json::to_value(preset.map_or_else(Limits::default, Preset::limits))
            .unwrap_or_default();
        let names = || known.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
        for key in given.as_object().into_iter().flatten().map(|(key, _)| key) {
            if names().all(|name| name != key) {
                return Err(unknown("limit", key, names()));
            }
        }
        for (key, value) in given.as_object().into_iter().flatten() {
            known[key] = value.clone();
        }
        let limits: Limits =
            read_typed(&known).map_err(|error| Failure::usage(format!("--limit: {error}")))?;
        limits.check().map_err(|error| Failure::usage(format!("--limit: {error}")))?;
        Ok(limits)
    }
}
