//! Where the games of a contest are played: on this machine, or by workers.

use super::run::SharedRunOptions;
use super::running::{choose_sandbox, pool_size};
use crate::cli::fleet::FleetVenue;
use crate::cli::global::Global;
use crate::cli::sandbox::print_sandbox;
use referee_play::interrupts::Interrupts;
use referee_play::pool::unwatched;
use referee_play::reach::{ReadableFiles, shared_rules};
use referee_play::running_matches::RunningMatches;
use referee_process::Failure;
use referee_process::sandbox::{Sandbox, SandboxRequest};
use referee_protocol::SandboxRecord;
use referee_runner::Prepared;
use referee_runner::backend::kinds;
use referee_runner::folder::Folder;
use referee_runner::jobs::JobBuilder;
use referee_runner::local::{ContestGames, Local};
use referee_runner::runner::{Observer, RunResult, Runner};
use referee_runner::store::Store;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Where games are played.
#[derive(Debug)]
pub(super) enum Venue {
    /// On this machine, in this sandbox.
    Local(Box<Sandbox>),
    /// By workers.
    Fleet(Box<FleetVenue>),
}

impl Venue {
    /// Chooses the venue, and checks that the sandbox or the server works before anything is written.
    pub(super) fn choose(
        request: &SandboxRequest,
        prepared: &mut Prepared,
        options: &SharedRunOptions,
        runtime: &Runtime,
        global: &Global,
    ) -> Result<Self, Failure> {
        if let Some(fleet) = FleetVenue::find(&options.fleet, prepared, runtime, global)? {
            return Ok(Self::Fleet(Box::new(fleet)));
        }
        choose_sandbox(request, prepared, options, global).map(|it| Self::Local(Box::new(it)))
    }

    /// Returns whether the players are those with which it was chosen. If some were left out since, prepares for the
    /// others, of which more may be left out.
    pub(super) fn has(
        &mut self,
        prepared: &mut Prepared,
        global: &Global,
    ) -> Result<bool, Failure> {
        match self {
            Self::Local(_) => Ok(true),
            Self::Fleet(fleet) => fleet.has_packed(prepared, global),
        }
    }

    /// Returns the sandbox, if it is known.
    pub(super) fn sandbox(&self) -> Option<&SandboxRecord> {
        match self {
            Self::Local(sandbox) => Some(&sandbox.recorded),
            Self::Fleet(_) => None,
        }
    }

    /// Returns a function that says whether games can be played: whether the server is connected.
    pub(super) fn is_connected(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        match self {
            Self::Local(_) => Box::new(|| true),
            Self::Fleet(fleet) => fleet.is_connected(),
        }
    }

    /// Prints notes on the venue.
    pub(super) fn print(&self, request: &SandboxRequest, global: &Global) {
        match self {
            Self::Local(sandbox) => print_sandbox(sandbox, request.level, global),
            Self::Fleet(fleet) => fleet.print_notes(global),
        }
    }

    /// Returns the arguments of the command that resumes the contest here.
    pub(super) fn args(&self) -> &[String] {
        match self {
            Self::Local(_) => &[],
            Self::Fleet(fleet) => fleet.resume_args(),
        }
    }

    /// Plays the remaining games of a contest that was started at `begun` (RFC 3339).
    pub(super) async fn play(
        self,
        run: RunContext<'_>,
        begun: &str,
        store: Store,
        interrupts: &mut Interrupts,
        observer: &mut impl Observer,
    ) -> Result<RunResult, Failure> {
        let (contest, folder) = (run.prepared.contest.clone(), run.folder.clone());
        match self {
            Self::Local(sandbox) => {
                let (size, playing) = (pool_size(run.prepared, run.options), run.playing.clone());
                let games = contest_games(run, &sandbox)?;
                let runner = Runner::open(contest.clone(), folder, store)?;
                let place = (size, *sandbox);
                let field = Local::start(contest, games, place, playing, interrupts, unwatched())?;
                Ok(runner.play(field, interrupts, observer).await)
            }
            Self::Fleet(fleet) => {
                let runner = Runner::open(contest, folder, store)?;
                let run = (run.folder.clone(), run.prepared.games.clone(), run.playing);
                fleet.play(runner, run, begun, interrupts, observer).await
            }
        }
    }
}

/// A contest that is about to run.
#[derive(Debug)]
pub(super) struct RunContext<'a> {
    pub(super) prepared: &'a mut Prepared,
    pub(super) folder: &'a Folder,
    pub(super) playing: RunningMatches,
    pub(super) options: &'a SharedRunOptions,
}

/// Returns the games, to be played on this machine.
fn contest_games(run: RunContext<'_>, sandbox: &Sandbox) -> Result<ContestGames, Failure> {
    let RunContext { prepared, folder, .. } = run;
    let mut specs = std::mem::take(&mut prepared.specs);
    if prepared.contest.policy.strict {
        for spec in &mut specs {
            spec.be_strict();
        }
    }
    let specs: Vec<_> = specs.into_iter().map(Arc::new).collect();
    let mut records = prepared.secrets();
    records.extend(folder.records());
    // A copy is all that is left of an agent, also for others.
    records.extend(prepared.copies.values().flat_map(|copy| copy.own.clone()));
    let readable_files =
        Arc::new(ReadableFiles::new(shared_rules(&specs, &records, &sandbox.read)));
    readable_files.check(sandbox.launcher.layers, &specs)?;
    let builder =
        JobBuilder::new(prepared.contest.clone(), kinds(&prepared.contest, &prepared.games)?);
    Ok(ContestGames { folder: folder.clone(), specs, readable_files, builder })
}
