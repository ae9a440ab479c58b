//! `contest pause`, `times` and `disqualify`: what an instructor does with an open course.

use super::teams::{contest, read_moment};
use crate::cli::global::Global;
use clap::Args;
use jiff::Timestamp;
use referee_match::times::read_time;
use referee_process::Failure;
use referee_runner::changing::own_name;
use referee_runner::course::{Act, WebTimes, act, times_of};
use std::path::{Path, PathBuf};

/// Pause the games of an open course
///
/// Running games are finished, and no others begin. Teams can still hand in.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest pause course --reason \"the lecture needs the machine\"\n  \
    referee contest pause course --end")]
pub(super) struct PauseOptions {
    /// Folder of the contest in which teams hand in on the web
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Reason
    #[arg(long, value_name = "TEXT", required_unless_present = "end")]
    reason: Option<String>,
    /// End the pause
    #[arg(long, conflicts_with = "reason")]
    end: bool,
}

/// Set the times of an open course
///
/// They replace those in its contest file. `none` removes one; times that you don't give stay.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest times course --deadline \"2026-12-24 18:00\" --grace 10m\n  \
    referee contest times course --freeze-at none")]
pub(super) struct TimesOptions {
    /// Folder of the contest in which teams hand in on the web
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Time until which teams may hand in, such as `2026-12-24 18:00`
    #[arg(long, value_name = "TIME", value_parser = read_time_or_none)]
    deadline: Option<String>,
    /// How long after the deadline teams may still hand in, such as `10m`
    #[arg(long, value_name = "DURATION", value_parser = read_time)]
    grace: Option<u64>,
    /// Time from which the public sees no newer results; one in the past means now
    #[arg(long, value_name = "TIME", value_parser = read_time_or_none)]
    freeze_at: Option<String>,
}

/// Disqualify a team of an open course
///
/// Its versions leave the contest and forfeit their open games, and it can't hand in. --back undoes this: they play
/// again.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest disqualify course \"Team 7\" --reason \"copied from Team 8\"\n  \
    referee contest disqualify course \"Team 7\" --back")]
pub(super) struct DisqualifyOptions {
    /// Folder of the contest in which teams hand in on the web
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Name of the team
    team: String,
    /// Reason, which the report and the team's page show
    #[arg(long, value_name = "TEXT", required_unless_present = "back")]
    reason: Option<String>,
    /// Take it back
    #[arg(long, conflicts_with = "reason")]
    back: bool,
}

fn read_time_or_none(text: &str) -> Result<String, String> {
    if text == "none" { Ok(String::new()) } else { read_moment(text) }
}

fn done(folder: &Path, what: Act, global: &Global) -> Result<(), Failure> {
    let (folder, _) = contest(folder)?;
    let done = act(&folder, what, &own_name())?;
    global.note([done.text]);
    Ok(())
}

pub(super) fn pause(options: &PauseOptions, global: &Global) -> Result<(), Failure> {
    let pause = |reason: &String| Act::Pause { reason: reason.clone() };
    done(&options.folder, options.reason.as_ref().map_or(Act::Unpause, pause), global)
}

pub(super) fn times(options: &TimesOptions, global: &Global) -> Result<(), Failure> {
    let (folder, _) = contest(&options.folder)?;
    let WebTimes { deadline, grace_ms, freeze_at } = times_of(&folder)?;
    let or = |given: &Option<String>, now: Option<Timestamp>| {
        given.clone().or_else(|| now.map(|now| now.to_string())).unwrap_or_default()
    };
    let times = Act::Times {
        deadline: or(&options.deadline, deadline),
        grace: format!("{}ms", options.grace.unwrap_or(grace_ms)),
        freeze_at: or(&options.freeze_at, freeze_at),
    };
    done(&options.folder, times, global)
}

pub(super) fn disqualify(options: &DisqualifyOptions, global: &Global) -> Result<(), Failure> {
    let team = options.team.clone();
    let act = match options.reason.clone() {
        Some(reason) => Act::Disqualify { team, reason },
        None => Act::Requalify { team },
    };
    done(&options.folder, act, global)
}
