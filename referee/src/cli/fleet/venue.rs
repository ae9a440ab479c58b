//! Runs a contest on many machines: packs the agents and connects to the server before anything is
//! written.

use super::FleetOptions;
use crate::cli::bars::spinner;
use crate::cli::global::Global;
use crate::cli::shell::{contest_command, option};
use referee_fleet::bundles::{Packed, check_sent, pack};
use referee_fleet::connect::Connection;
use referee_fleet::coordinator::{ContestRun, Coordinator, CoordinatorSettings, LEASE, retract};
use referee_fleet::messages::{Brief, PRIORITY};
use referee_games::Games;
use referee_play::interrupts::Interrupts;
use referee_play::running_matches::RunningMatches;
use referee_process::Failure;
use referee_runner::Prepared;
use referee_runner::folder::Folder;
use referee_runner::runner::{Observer, RunResult, Runner};
use std::time::Duration;
use tokio::runtime::Runtime;

/// The option with the contest's priority.
const PRIORITY_OPTION: &str = "--priority";
/// The name of the connection, for the server's administrator.
const NAME: &str = "referee coordinator";

/// A connected server and the packed contest.
#[derive(Debug)]
pub(in crate::cli) struct FleetVenue {
    connection: Connection,
    settings: CoordinatorSettings,
}

impl FleetVenue {
    /// Packs the agents and connects, if the options name a server. A server that is being started
    /// is waited for. A submission that can't be sent is left out, if the policy allows it.
    pub(in crate::cli) fn find(
        options: &FleetOptions,
        prepared: &mut Prepared,
        runtime: &Runtime,
        global: &Global,
    ) -> Result<Option<Self>, Failure> {
        let Some(url) = &options.on else { return Ok(None) };
        let server = options.server.server(url);
        let packed = packed(prepared, global)?;
        let connection = runtime.block_on(server.connect(NAME))?;
        let lease = options.lease.map_or(LEASE, Duration::from_millis);
        let (brief, shown) = (packed.brief(prepared, lease), server.display_url());
        let mut resume_args = options.server.resume_args(&shown);
        resume_args.extend(option(PRIORITY_OPTION, options.priority.map(|it| it.to_string())));
        let priority = options.priority.unwrap_or(PRIORITY);
        let settings = CoordinatorSettings { brief, packed, priority, shown, resume_args };
        Ok(Some(Self { connection, settings }))
    }

    /// Checks that an agent which is about to join a contest can be sent, if the options name a server.
    pub(in crate::cli) fn check(options: &FleetOptions, agent: &Prepared) -> Result<(), Failure> {
        if options.on.is_some() { check_sent(agent) } else { Ok(()) }
    }

    /// Packs again, unless the players are those that were packed. Returns whether they are.
    pub(in crate::cli) fn has_packed(
        &mut self,
        prepared: &mut Prepared,
        global: &Global,
    ) -> Result<bool, Failure> {
        let Brief { contest, lease_ms, .. } = &self.settings.brief;
        if contest.players == prepared.contest.players {
            return Ok(true);
        }
        let (packed, lease) = (packed(prepared, global)?, Duration::from_millis(*lease_ms));
        (self.settings.brief, self.settings.packed) = (packed.brief(prepared, lease), packed);
        Ok(false)
    }

    pub(in crate::cli) fn print_notes(&self, global: &Global) {
        global.note(&self.settings.packed.notes);
    }

    pub(in crate::cli) fn is_connected(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        let connection = self.connection.clone();
        Box::new(move || connection.is_up())
    }

    /// Returns the arguments with which the contest is resumed on this server.
    pub(in crate::cli) fn resume_args(&self) -> &[String] {
        &self.settings.resume_args
    }

    /// Has workers play the rest of a contest that began at this time.
    pub(in crate::cli) async fn play(
        self,
        runner: Runner,
        (folder, games, playing): (Folder, Games, RunningMatches),
        begun: &str,
        interrupts: &mut Interrupts,
        observer: &mut impl Observer,
    ) -> Result<RunResult, Failure> {
        let Self { connection, settings } = self;
        let (line, contest) = (connection.clone(), runner.contest.clone());
        let run = ContestRun { begun: begun.to_owned(), folder, games, playing };
        let (schedule, orders) = (&runner.schedule, interrupts.orders());
        let starting = Coordinator::begin(connection, settings, run, schedule, orders);
        let field = tokio::select! {
            field = starting => field?,
            _ = interrupts.interrupted() => {
                Box::pin(retract(&line, &contest, begun)).await;
                return Ok(runner.leave(interrupts));
            }
        };
        Ok(runner.play(field, interrupts, observer).await)
    }
}

fn packed(prepared: &mut Prepared, global: &Global) -> Result<Packed, Failure> {
    let spinner = spinner("packing the agents", !global.quiet);
    let packed = loop {
        match pack(prepared) {
            Ok(Ok(packed)) => break Ok(packed),
            Ok(Err(unsent)) => match prepared.leave_out_unsent(unsent) {
                Ok(()) => {}
                Err(failure) => break Err(failure),
            },
            Err(failure) => break Err(failure),
        }
    };
    spinner.finish_and_clear();
    packed
}

/// Returns the options for the server on which a contest was last played; none if it was played here.
pub(in crate::cli) fn last_server(folder: &Folder) -> Vec<String> {
    referee_runner::workers::read(folder).on
}

/// Prints that a contest which continues on this machine is still on a server.
pub(in crate::cli) fn note_elsewhere(folder: &Folder, global: &Global) {
    let mut on = last_server(folder);
    if !on.is_empty() {
        // The last of them; `purge` has no such option.
        on.truncate(on.iter().position(|word| word == PRIORITY_OPTION).unwrap_or(on.len()));
        let command = contest_command("purge", folder, &on);
        global.note([format!("the contest is still on its server; remove it with `{command}`")]);
    }
}
