//! What a contest's folder holds now: how far it is, and the report on it.

use super::folder::Folder;
use super::store::{Kept, Store, VoidAttempt};
use super::workers;
use crate::workers::WorkerTold;
use referee_contest::report::{Command, LeftOut, Report};
use referee_contest::summary::{ReportContext, report};
use referee_contest::{Record, Schedule};
use referee_process::{Failure, sandbox};
use referee_protocol::Sandbox;
use referee_protocol::plain::tame;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A contest as `contest status --json` prints it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Told")]
pub struct Progress {
    /// The contest's name.
    pub name: String,
    /// The format's name.
    pub format: String,
    /// How many play.
    pub players: u64,
    /// How many games the contest has: exactly when it is over and in formats where that doesn't
    /// depend on results, else at least.
    pub games: u64,
    /// At most.
    pub games_most: u64,
    /// Games that count.
    pub played: u64,
    /// Attempts that don't count; their games were or will be played again.
    pub void: u64,
    /// Faults, over all agents.
    pub faults: u64,
    /// What kept agents apart when it was begun; null where an earlier version began it.
    pub sandbox: Option<Sandbox>,
    /// Everything is played.
    pub over: bool,
    /// A referee is working on it now.
    pub running: bool,
    /// The workers of a contest that is played on many machines, as they were known last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerTold>,
}

/// How far it is.
pub fn progress(folder: &Folder, store: &Store) -> Result<Progress, Failure> {
    let running = folder.is_locked();
    let kept = store.kept()?;
    let contest = Arc::new(kept.contest);
    let mut schedule = Schedule::new(contest.clone());
    store.each_result(|number, places| {
        schedule.record(number, places);
    })?;
    let (least, most) = schedule.size();
    let (over, played) = (schedule.is_over(), schedule.played());
    let exact = over.then(|| schedule.counted());
    Ok(Progress {
        name: contest.name.clone(),
        format: contest.format.name().to_owned(),
        players: contest.players.len() as u64,
        games: exact.unwrap_or_else(|| least.max(schedule.known().min(most))),
        games_most: exact.unwrap_or(most),
        played: played.min(exact.unwrap_or(u64::MAX)),
        void: store.voids()?.len() as u64,
        faults: store.faults()?,
        sandbox: kept.sandbox,
        over,
        running,
        workers: workers::read(folder).workers,
    })
}

/// The report on these games of a contest; `commands` are what a reader can run.
pub fn assemble(
    kept: &Kept,
    schedule: &Schedule,
    records: Vec<Record>,
    voids: &[VoidAttempt],
    commands: Vec<Command>,
) -> Report {
    let played: BTreeSet<u64> = records.iter().map(|record| record.number).collect();
    let lost: BTreeSet<u64> =
        voids.iter().map(|void| void.number).filter(|number| !played.contains(number)).collect();
    // Where the submissions lie is nobody's business but the instructor's.
    let base = format!("{}/", kept.base.display());
    let left_out = |(name, why): &(String, String)| LeftOut {
        name: name.clone(),
        reason: why.replace(&base, ""),
    };
    let sandbox = kept.sandbox.as_ref().map(|told| tame(&sandbox::line(told)));
    let around = ReportContext {
        void_attempts: voids.len() as u64,
        given_up: lost.len() as u64,
        sandbox: sandbox.as_deref(),
        left_out: kept.left_out.iter().map(left_out).collect(),
        commands,
    };
    report(&kept.contest, schedule, records, around)
}
