//! The conditions of games: preset, clock, limits, sandbox, policy.

use super::forms::{ShortOrLong, Spanned, Time};
use super::problem::{FileError, Source};
use super::raw::{Raw, RawAdjudication, RawClock, RawLimits, RawPolicy, RawSandbox, RawWorkers};
use super::{BuildSettings, within};
use crate::{Policy, SandboxSettings, WorkerSettings};
use referee_match::presets;
use referee_match::presets::{PRESETS, Preset};
use referee_match::times::read_clock;
use referee_protocol::{Adjudication, ClockKind, ClockSettings, Level, Limits};

/// The most cores for a match that can be required.
const CORES_MAX: u32 = 10_000;
/// The most memory for a match that can be required: 1 TiB.
const MEMORY_MB_MAX: u64 = 1 << 20;
/// The greatest speed that can be required.
const SPEED_MAX: f64 = 1e9;
/// The greatest noise that can be set.
const NOISE_MAX: f64 = 1000.0;
/// The most times that a void game is played again.
const VOID_RETRIES_MAX: u32 = 1000;
/// The greatest `agent_voids`.
const AGENT_VOIDS_MAX: u32 = 1_000_000;

/// Returns the preset that the file names.
pub(super) fn preset(source: &Source, raw: &Raw) -> Result<Option<&'static Preset>, FileError> {
    let Some(name) = &raw.preset else { return Ok(None) };
    let known = || PRESETS.iter().map(|preset| preset.name);
    presets::find(name).map(Some).ok_or_else(|| {
        let names = known().collect::<Vec<_>>().join(", ");
        source
            .error(
                name.span(),
                format!("unknown preset `{}`", referee_protocol::sanitize::sanitize(name)),
            )
            .help(format!("the presets are {names}"))
            .or_near(name, known())
    })
}

/// Reads the sandbox.
pub(super) fn sandbox(source: &Source, raw: &RawSandbox) -> Result<SandboxSettings, FileError> {
    let level = raw.level.as_deref().and_then(|level| level.named());
    if let (Some(least), Some(at)) = (&raw.at_least, &raw.level)
        && level.is_some()
    {
        return Err(source
            .error(
                least.span(),
                format!("`at_least` has no effect: level `{}` is exact", at.name()),
            )
            .help("remove `at_least` or `level`"));
    }
    let demanded = [Level::Basic, Level::Confined, Level::Isolated, Level::Metered];
    if let Some(least) = raw.at_least.as_ref().filter(|least| !demanded.contains(least)) {
        let names = demanded.map(Level::name).join(", ");
        let message = format!("`at_least` can't be `{}`", least.name());
        return Err(source.error(least.span(), message).help(format!("use one of {names}")));
    }
    if let Some(path) = raw.read.iter().find(|path| path.is_empty()) {
        return Err(source.error(path.span(), "the path is empty"));
    }
    Ok(SandboxSettings {
        level,
        at_least: raw.at_least.as_deref().copied(),
        wrapper: wrapper(source, raw, level)?,
        pondering: raw.pondering,
        read: raw.read.iter().map(|path| (**path).clone()).collect(),
    })
}

/// Reads the words of the command that starts agents.
fn wrapper(
    source: &Source,
    raw: &RawSandbox,
    level: Option<Level>,
) -> Result<Vec<String>, FileError> {
    let external = level == Some(Level::External);
    let Some(at) = &raw.wrapper else {
        let Some(level) = raw.level.as_ref().filter(|_| external) else { return Ok(Vec::new()) };
        let message = "level `external` needs a `wrapper`, the command that isolates agents";
        return Err(source.error(level.span(), message));
    };
    if !external {
        return Err(source
            .error(at.span(), "`wrapper` needs level `external`")
            .help("add level = \"external\", or remove `wrapper`"));
    }
    let words = match &**at {
        ShortOrLong::Long(words) => words.clone(),
        ShortOrLong::Short(text) => {
            shlex::split(text).ok_or_else(|| source.error(at.span(), "a quote is not closed"))?
        }
    };
    if words.first().is_none_or(String::is_empty) {
        return Err(source.error(at.span(), "the command is empty"));
    }
    Ok(words)
}

/// Reads one time of a clock, which may be written in two ways.
fn time(
    source: &Source,
    key: &str,
    ms: Option<&Spanned<u64>>,
    time: Option<&Spanned<Time>>,
) -> Result<Option<u64>, FileError> {
    match (ms, time) {
        (Some(_), Some(time)) => {
            let message = format!("use either `{key}` or `{key}_ms`, not both");
            Err(source.error(time.span(), message))
        }
        (Some(ms), None) => Ok(Some(**ms)),
        (None, time) => Ok(time.map(|time| time.0)),
    }
}

/// Reads the clock.
pub(super) fn clock(
    source: &Source,
    raw: Option<&Spanned<ShortOrLong<String, RawClock>>>,
    preset: Option<&Preset>,
) -> Result<ClockSettings, FileError> {
    let default = preset.map_or_else(ClockSettings::default, Preset::clock);
    let Some(at) = raw else { return Ok(default) };
    let settings = match &**at {
        ShortOrLong::Short(text) => {
            let (bank, increment) =
                read_clock(text).map_err(|error| source.error(at.span(), error))?;
            ClockSettings { bank_ms: Some(bank), increment_ms: increment, ..default }
        }
        ShortOrLong::Long(table) => clock_table(source, table, &default, preset.is_some())?,
    };
    settings.check().map_err(|error| source.error(at.span(), format!("clock: {error}")))?;
    Ok(settings)
}

fn clock_table(
    source: &Source,
    raw: &RawClock,
    default: &ClockSettings,
    is_preset: bool,
) -> Result<ClockSettings, FileError> {
    let bank = time(source, "bank", raw.bank_ms.as_ref(), raw.bank.as_ref())?;
    let added = time(source, "increment", raw.increment_ms.as_ref(), raw.increment.as_ref())?;
    let turn = time(source, "move", raw.move_ms.as_ref(), raw.turn.as_ref())?;
    let start = time(source, "start", raw.start_ms.as_ref(), raw.start.as_ref())?;
    let margin = time(source, "margin", raw.margin_ms.as_ref(), raw.margin.as_ref())?;
    let backstop = time(source, "backstop", raw.backstop_ms.as_ref(), raw.backstop.as_ref())?;
    let kind = raw.kind.unwrap_or(default.kind);
    // As on the command line: a time for turns alone is all there is.
    let (bank_ms, increment_ms) = match (bank, turn) {
        (Some(bank), _) => (Some(bank), added.unwrap_or(0)),
        (None, Some(_)) if !is_preset => (None, added.unwrap_or(0)),
        (None, _) => (default.bank_ms, added.unwrap_or(default.increment_ms)),
    };
    if backstop.is_some() && kind == ClockKind::Wall {
        let spans =
            [raw.backstop_ms.as_ref().map(Spanned::span), raw.backstop.as_ref().map(Spanned::span)];
        let span = spans.into_iter().flatten().next().unwrap_or(0..0);
        return Err(source
            .error(span, "a backstop needs a clock that counts CPU time")
            .help("add kind = \"cpu\", or limit the wall time of a turn with `move`"));
    }
    Ok(ClockSettings {
        kind,
        start_ms: start.unwrap_or(default.start_ms),
        bank_ms,
        increment_ms,
        move_ms: turn.or(default.move_ms),
        margin_ms: margin.unwrap_or(default.margin_ms),
        backstop_ms: backstop.or(default.backstop_ms),
    })
}

/// Reads the limits.
pub(super) fn limits(
    source: &Source,
    raw: &RawLimits,
    preset: Option<&Preset>,
) -> Result<Limits, FileError> {
    let default = preset.map_or_else(Limits::default, Preset::limits);
    let or =
        |value: &Option<Spanned<u64>>, default: u64| value.as_deref().copied().unwrap_or(default);
    let limits = Limits {
        line_bytes: or(&raw.line_bytes, default.line_bytes),
        turn_bytes: or(&raw.turn_bytes, default.turn_bytes),
        match_bytes: or(&raw.match_bytes, default.match_bytes),
        stderr_bytes: or(&raw.stderr_bytes, default.stderr_bytes),
        memory_mb: or(&raw.memory_mb, default.memory_mb),
        processes: or(&raw.processes, default.processes),
        files: or(&raw.files, default.files),
        work_mb: or(&raw.work_mb, default.work_mb),
    };
    limits.check().map_err(|error| {
        let checked = [&raw.line_bytes, &raw.turn_bytes, &raw.match_bytes];
        let zero = checked.into_iter().flatten().find(|value| ***value == 0);
        let wrong = zero.or(raw.files.as_ref());
        let message = format!("limits: {error}");
        match wrong {
            Some(at) => source.error(at.span(), message),
            None => source.error_of_all(message),
        }
    })?;
    Ok(limits)
}

/// Reads what happens with games that fail.
pub(super) fn policy(
    source: &Source,
    raw: &RawPolicy,
    preset: Option<&Preset>,
) -> Result<Policy, FileError> {
    let default = Policy::default();
    let retries = within(source, raw.void_retries.as_ref(), "void_retries", 0..=VOID_RETRIES_MAX)?;
    let caused = within(source, raw.agent_voids.as_ref(), "agent_voids", 0..=AGENT_VOIDS_MAX)?;
    let lag = within(source, raw.lag_ms.as_ref(), "lag_ms", 0..=ClockSettings::MS_MAX)?;
    let on_fault = preset.map_or(default.on_fault, |preset| preset.on_fault);
    Ok(Policy {
        on_fault: raw.on_fault.unwrap_or(on_fault),
        void_retries: retries.unwrap_or(default.void_retries),
        agent_voids: caused.unwrap_or(default.agent_voids),
        lag_ms: lag.unwrap_or(default.lag_ms),
        on_lag: raw.on_lag.unwrap_or(default.on_lag),
        rate_faults: raw.rate_faults.unwrap_or(default.rate_faults),
        strict: raw.strict,
    })
}

/// Reads when the agents' scores end a game with this many seats.
pub(super) fn adjudication(
    source: &Source,
    raw: Option<&Spanned<RawAdjudication>>,
    seats: usize,
) -> Result<Option<Adjudication>, FileError> {
    let Some(at) = raw else { return Ok(None) };
    let (win, draw) = (at.win.as_ref(), at.draw.as_ref());
    if win.is_none() && draw.is_none() {
        let help = "such as win = { score = 8, turns = 5 }; scores are in the agents' own unit";
        return Err(source.error(at.span(), "[adjudication] needs `win` or `draw`").help(help));
    }
    if seats != 2 {
        let message = format!("[adjudication] needs games of two seats, not {seats}");
        return Err(source.error(at.span(), message));
    }
    let rows = [
        win.map(|win| {
            (
                win.span(),
                (f64::MIN_POSITIVE..=f64::MAX).contains(&win.score),
                "a number more than 0",
                win.turns,
            )
        }),
        draw.map(|draw| {
            (draw.span(), (0.0..=f64::MAX).contains(&draw.score), "a number from 0", draw.turns)
        }),
    ];
    for (span, is_in_range, range, turns) in rows.into_iter().flatten() {
        if !is_in_range {
            return Err(source.error(span, format!("`score` must be {range}")));
        }
        if turns == 0 {
            return Err(source.error(span, "`turns` must be at least 1"));
        }
    }
    Ok(Some(Adjudication {
        win: win.map(|it| (**it).clone()),
        draw: draw.map(|it| (**it).clone()),
    }))
}

/// Reads the requirements of the machines of a contest on many machines.
pub(super) fn workers(source: &Source, raw: &RawWorkers) -> Result<WorkerSettings, FileError> {
    for (key, value) in [("class", &raw.class), ("arch", &raw.arch)] {
        if let Some(at) = value.as_ref().filter(|at| at.trim().is_empty()) {
            return Err(source.error(at.span(), format!("`{key}` is empty")));
        }
    }
    let speeds = 0.0..=SPEED_MAX;
    let settings = WorkerSettings {
        class: raw.class.as_deref().cloned(),
        arch: raw.arch.as_deref().cloned(),
        cores: within(source, raw.cores.as_ref(), "cores", 1..=CORES_MAX)?,
        memory_mb: within(source, raw.memory_mb.as_ref(), "memory_mb", 1..=MEMORY_MB_MAX)?,
        speed: within(source, raw.speed.as_ref(), "speed", speeds.clone())?,
        speed_most: within(source, raw.speed_most.as_ref(), "speed_most", speeds)?,
        noise_most: within(source, raw.noise_most.as_ref(), "noise_most", 1.0..=NOISE_MAX)?,
    };
    match (&settings, &raw.speed_most) {
        (WorkerSettings { speed: Some(least), speed_most: Some(most), .. }, Some(at))
            if most < least =>
        {
            let message = format!("`speed_most` ({most}) is less than `speed` ({least})");
            Err(source.error(at.span(), message))
        }
        _ => Ok(settings),
    }
}

/// Reads what builds may use. The time may be under `[policy]` too, where it was first.
pub(super) fn build(source: &Source, raw: &Raw) -> Result<BuildSettings, FileError> {
    let usual = BuildSettings::default();
    let (first, second) = (&raw.policy.build_time, &raw.build.time);
    if let (Some(_), Some(twice)) = (first, second) {
        let message = "`time` of [build] and `build_time` of [policy] are the same: give one";
        return Err(source.error(twice.span(), message));
    }
    for (time, key) in [(first, "build_time"), (second, "time")] {
        if let Some(time) = time.as_ref().filter(|it| it.0 == 0 || it.0 > ClockSettings::MS_MAX) {
            let message = format!("`{key}` must be more than 0 and less than a year");
            return Err(source.error(time.span(), message));
        }
    }
    let memory = within(source, raw.build.memory_mb.as_ref(), "memory_mb", 1..=1 << 20)?;
    Ok(BuildSettings {
        time_ms: first.as_ref().or(second.as_ref()).map_or(usual.time_ms, |time| time.0),
        memory_mb: memory.unwrap_or(usual.memory_mb),
        network: raw.build.network,
        read: raw.build.read.iter().map(|path| (**path).clone()).collect(),
    })
}
