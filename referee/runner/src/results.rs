//! The progress of a contest, and its report.

use super::folder::Folder;
use super::records::StoredRecords;
use super::store::{Store, StoredContest, VoidAttempt};
use super::voids::caused;
use super::workers;
use super::writer::disk_failure;
use crate::workers::KnownWorker;
use referee_contest::report::{CausedVoids, Command, LeftOut, Report, Setting, VoidCounts};
use referee_contest::summary::report;
use referee_contest::{Contest, PlayerInfo, Schedule};
use referee_play::archives;
use referee_process::{Failure, sandbox};
use referee_protocol::SandboxRecord;
use referee_protocol::sanitize::sanitize;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A contest as `contest status --json` prints it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Progress {
    /// The contest's name.
    pub name: String,
    /// The format's name.
    pub format: String,
    /// The number of players.
    pub players: u64,
    /// The number of games: exact when the contest is over or the format doesn't depend on results,
    /// else the least.
    pub games: u64,
    /// The most games.
    pub games_most: u64,
    /// Games that count.
    pub played: u64,
    /// Void attempts; their games were or will be played again.
    pub void: u64,
    /// The agents that caused some of them; omitted if none did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub void_caused: Vec<CausedVoids>,
    /// Faults, over all agents.
    pub faults: u64,
    /// The sandbox when the contest began; null if an earlier version began it.
    pub sandbox: Option<SandboxRecord>,
    /// Whether all games are played, and none come with new agents.
    pub over: bool,
    /// Whether a referee is working on it.
    pub running: bool,
    /// The workers of a contest on many machines, as last seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<KnownWorker>,
}

/// Returns the progress of a contest, which is over when all games are played. An open one may wait for agents then:
/// [`crate::course::progress`].
pub fn progress(folder: &Folder, store: &Store) -> Result<Progress, Failure> {
    let running = folder.is_locked();
    let stored = store.contest()?;
    let contest = Arc::new(stored.contest);
    let schedule = schedule(contest.clone(), store)?;
    let (least, most) = schedule.size();
    let (over, played) = (schedule.is_over(), schedule.played());
    let mut voids = store.voids()?;
    voids.retain(|void| !void.is_removed());
    let exact = over.then(|| schedule.counted());
    Ok(Progress {
        name: contest.name.clone(),
        format: contest.format.name().to_owned(),
        players: contest.players.len() as u64,
        games: exact.unwrap_or_else(|| least.max(schedule.known().min(most))),
        games_most: exact.unwrap_or(most),
        played: played.min(exact.unwrap_or(u64::MAX)),
        void: voids.len() as u64,
        void_caused: caused(&contest, &voids),
        faults: store.faults()?,
        sandbox: stored.sandbox,
        over,
        running,
        workers: workers::read(folder).workers,
    })
}

/// Returns the schedule of a contest after the games in its store.
pub fn schedule(contest: Arc<Contest>, store: &Store) -> Result<Schedule, Failure> {
    let mut schedule = Schedule::new(contest);
    store.each_result(|number, places| {
        schedule.record(number, places);
    })?;
    Ok(schedule)
}

/// Returns the first line of a reason, without what stands for invalid bytes.
pub fn first_line(reason: &str) -> String {
    let first = reason.lines().next().unwrap_or_default();
    first.chars().filter(|&c| c != char::REPLACEMENT_CHARACTER).collect()
}

/// Returns a reason in one line, which says where the others are.
fn one_line(name: &str, reason: &str) -> String {
    let first = first_line(reason);
    if reason.lines().nth(1).is_none() {
        return first;
    }
    format!("{first}; `referee contest check` writes all of it to feedback/{name}.md")
}

/// Returns the report on the games of a contest; `commands` are the commands that it shows. The contest
/// in `stored` is that of the schedule.
pub fn assemble(
    stored: &StoredContest,
    schedule: &Arc<Schedule>,
    games: StoredRecords,
    voids: &[VoidAttempt],
    commands: Vec<Command>,
) -> Result<Report, Failure> {
    let voids: Vec<VoidAttempt> = voids.iter().filter(|it| !it.is_removed()).cloned().collect();
    let lost: BTreeSet<u64> =
        voids.iter().map(|void| void.number).filter(|number| !schedule.has(*number)).collect();
    // The report must not show where the submissions are.
    let base = format!("{}/", stored.base.display());
    let left_out = |(name, why): &(String, String)| LeftOut {
        name: name.clone(),
        reason: one_line(name, &why.replace(&base, "")),
    };
    let sandbox = stored.sandbox.as_ref().map(|level| sanitize(&sandbox::line(level)));
    let store = games.folder.store();
    let made = report(schedule, Arc::new(games), sandbox.as_deref());
    let made = made.map_err(|error| report_failure(error, &store))?;
    let mut report = Report {
        void: VoidCounts {
            attempts: voids.len() as u64,
            given_up: lost.len() as u64,
            caused: caused(&stored.contest, &voids),
        },
        left_out: stored.left_out().map(left_out).collect(),
        commands,
        ..made
    };
    report.settings.extend(agents_setting(stored));
    for standing in &mut report.standings.players {
        standing.agent = archives::shown(&standing.agent.replace(&base, ""));
    }
    Ok(report)
}

/// Returns the failure for an error while a report was made or written to `file`.
pub fn report_failure(error: io::Error, file: &Path) -> Failure {
    error.downcast::<Failure>().unwrap_or_else(|error| disk_failure(file, &error))
}

/// Returns where the agents are played from; `None` if the contest began without copies.
fn agents_setting(stored: &StoredContest) -> Option<Setting> {
    if stored.copies.is_empty() {
        return None;
    }
    let is_outside = |player: &&PlayerInfo| {
        !player.run.starts_with('@') && !stored.copies.contains_key(&player.name)
    };
    let outside = stored.contest.players.iter().filter(is_outside);
    let outside: Vec<&str> = outside.map(|player| player.name.as_str()).collect();
    let copies = "copies in the contest's folder, made when it began";
    let value = match outside.join(", ") {
        names if names.is_empty() => copies.to_owned(),
        names => format!("{copies}; from their own place: {names}"),
    };
    Some(Setting { name: "agents".to_owned(), value })
}
