//! The conditions of games: preset, clock, limits, adjudication, builds.

use super::BuildSettings;
use super::raw::{Raw, RawBuild, RawClock};
use crate::forms::{ShortOrLong, Time};
use crate::presets::{self, PRESETS, Preset};
use crate::settings::{ContestGame, Mistake};
use referee_match::times::read_clock;
use referee_protocol::sanitize::sanitize;
use referee_protocol::{Adjudication, ClockKind, ClockSettings, Limits};
use serde_json::json;
use std::collections::BTreeMap;

/// Returns the preset that the file names.
pub(super) fn preset(raw: &Raw) -> Result<Option<&'static Preset>, Mistake> {
    let Some(name) = &raw.preset else { return Ok(None) };
    let known = || PRESETS.iter().map(|preset| preset.name);
    presets::find(name).map(Some).ok_or_else(|| {
        let names = known().collect::<Vec<_>>().join(", ");
        Mistake::at("preset", format!("unknown preset `{}`", sanitize(name)))
            .help(format!("the presets are {names}"))
            .or_near(name, known())
    })
}

/// Reads the clock.
pub(super) fn clock(
    raw: Option<&ShortOrLong<String, RawClock>>,
    preset: Option<&Preset>,
) -> Result<ClockSettings, Mistake> {
    let default = preset.map_or_else(ClockSettings::default, Preset::clock);
    let settings = match raw {
        None => return Ok(default),
        Some(ShortOrLong::Short(text)) => {
            let (bank, increment) =
                read_clock(text).map_err(|error| Mistake::at("clock", error))?;
            ClockSettings { bank_ms: Some(bank), increment_ms: increment, ..default }
        }
        Some(ShortOrLong::Long(table)) => clock_table(table, &default, preset.is_some())?,
    };
    // The keys in the file are those of the settings without the unit.
    let wrong =
        |error: &str| Mistake::at("clock", format!("clock: {}", error.replace("_ms`", "`")));
    settings.check().map_err(wrong)?;
    Ok(settings)
}

fn clock_table(
    raw: &RawClock,
    default: &ClockSettings,
    is_preset: bool,
) -> Result<ClockSettings, Mistake> {
    let ms = |time: Option<Time>| time.map(|time| time.0);
    let (turn, added, backstop) = (ms(raw.turn), ms(raw.increment), ms(raw.backstop));
    let kind = raw.kind.unwrap_or(default.kind);
    // As on the command line: a time for turns alone is all there is.
    let (bank_ms, increment_ms) = match (ms(raw.bank), turn) {
        (Some(bank), _) => (Some(bank), added.unwrap_or(0)),
        (None, Some(_)) if !is_preset => (None, added.unwrap_or(0)),
        (None, _) => (default.bank_ms, added.unwrap_or(default.increment_ms)),
    };
    if backstop.is_some() && kind == ClockKind::Wall {
        let message = "a backstop needs a clock that counts CPU time";
        return Err(Mistake::at("clock.backstop", message)
            .help("add kind = \"cpu\", or limit the wall time of a turn with `move`"));
    }
    Ok(ClockSettings {
        kind,
        start_ms: ms(raw.start).unwrap_or(default.start_ms),
        bank_ms,
        increment_ms,
        move_ms: turn.or(default.move_ms),
        margin_ms: ms(raw.margin).unwrap_or(default.margin_ms),
        backstop_ms: backstop.or(default.backstop_ms),
    })
}

/// Returns the limits: those of the preset, except the given ones.
pub(super) fn limits(
    given: &BTreeMap<String, u64>,
    preset: Option<&Preset>,
) -> Result<Limits, Mistake> {
    let mut limits = json!(preset.map_or_else(Limits::default, Preset::limits));
    for (key, value) in given {
        let Some(limit) = limits.get_mut(key) else {
            let known = limits.as_object().into_iter().flatten();
            return Err(Mistake::unknown("limits", key, known.map(|(key, _)| key.as_str())));
        };
        *limit = json!(value);
    }
    let limits: Limits = serde_json::from_value(limits).expect("every limit is a number");
    limits.check().map_err(|error| {
        let named = given.iter().filter(|(key, _)| error.contains(&format!("`{key}`")));
        let wrong = named.min_by_key(|(_, value)| **value);
        let key = wrong.map_or_else(|| "limits".to_owned(), |(key, _)| format!("limits.{key}"));
        Mistake::at(key, format!("limits: {error}"))
    })?;
    Ok(limits)
}

/// Refuses the same draws in all seat orders where there are none, or where an agent can remember them.
pub(super) fn check_duplicate_deals(reuse: bool, games: &[ContestGame]) -> Result<(), Mistake> {
    let key = "duplicate_deals";
    if !games.iter().any(ContestGame::has_chance) {
        return Err(Mistake::at(key, "the referee draws in none of the games"));
    }
    if reuse {
        let message = "with `reuse`, agents remember the draws of the seat order before";
        return Err(Mistake::at(key, message).help("remove `reuse` or `duplicate_deals`"));
    }
    Ok(())
}

/// Checks when the agents' scores end a game with this many seats.
pub(super) fn check_adjudication(rules: &Adjudication, seats: usize) -> Result<(), Mistake> {
    let at = |key: &str, message: &str| Err(Mistake::at(format!("adjudication{key}"), message));
    if rules.win.is_none() && rules.draw.is_none() {
        let help = "such as win = { score = 8, turns = 5 }; scores are in the agents' own unit";
        let message = "[adjudication] needs `win` or `draw`";
        return Err(Mistake::at("adjudication", message).help(help));
    }
    if seats != 2 {
        return at("", &format!("[adjudication] needs games of two seats, not {seats}"));
    }
    if let Some(win) = &rules.win
        && !(f64::MIN_POSITIVE..=f64::MAX).contains(&win.score)
    {
        return at(".win", "`score` must be a number more than 0");
    }
    if let Some(draw) = &rules.draw
        && !(0.0..=f64::MAX).contains(&draw.score)
    {
        return at(".draw", "`score` must be a number from 0");
    }
    let turns = [
        (".win", rules.win.as_ref().map(|win| win.turns)),
        (".draw", rules.draw.as_ref().map(|draw| draw.turns)),
    ];
    match turns.into_iter().find(|(_, turns)| *turns == Some(0)) {
        Some((key, _)) => at(key, "`turns` must be at least 1"),
        None => Ok(()),
    }
}

/// Reads what builds may use.
pub(super) fn build(raw: &RawBuild) -> Result<BuildSettings, Mistake> {
    let usual = BuildSettings::default();
    let time_ms = raw.time.map_or(usual.time_ms, |time| time.0);
    if !(1..=ClockSettings::MS_MAX).contains(&time_ms) {
        return Err(Mistake::at("build.time", "`time` must be more than 0 and less than a year"));
    }
    Ok(BuildSettings {
        time_ms,
        memory_mb: raw.memory_mb.unwrap_or(usual.memory_mb),
        network: raw.network,
        read: raw.read.clone(),
    })
}
