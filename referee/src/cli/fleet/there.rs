//! A contest on many machines, as the command line sees it: the server is asked before anything is
//! written, and the agents are packed.

use super::FleetOptions;
use crate::cli::Global;
use crate::cli::bars::spinner;
use crate::cli::contest::Place;
use crate::cli::contest::run::command;
use crate::cli::output::tell;
use referee_contest::Contest;
use referee_fleet::bundles::pack;
use referee_fleet::connect::Connection;
use referee_fleet::coordinator::{Commission, ContestRun, Coordinator, LEASE, hush};
use referee_play::interrupts::Interrupts;
use referee_play::playing::Playing;
use referee_process::Failure;
use referee_runner::Prepared;
use referee_runner::folder::Folder;
use referee_runner::runner::{Ended, Runner, Spectator};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// What the server calls the connection, for who looks after it.
const NAME: &str = "referee coordinator";

/// What is needed to have workers play.
#[derive(Debug)]
pub(in crate::cli) struct There {
    connection: Connection,
    commission: Commission,
}

/// The same, for a contest that has its folder.
#[derive(Debug)]
pub(in crate::cli) struct Staged(There, ContestRun);

impl There {
    /// Packs the agents, and connects, where the options name a server; a server that is just being started is waited for.
    pub(in crate::cli) fn find(
        options: &FleetOptions,
        prepared: &Prepared,
        runtime: &Runtime,
        global: &Global,
    ) -> Result<Option<Self>, Failure> {
        let Some(url) = &options.on else { return Ok(None) };
        let server = options.server.server(url);
        let spinner = spinner("packing the agents", !global.quiet);
        let packed = pack(prepared);
        spinner.finish_and_clear();
        let packed = packed?;
        let connection = runtime.block_on(server.connect(NAME))?;
        let lease = options.lease.map_or(LEASE, Duration::from_millis);
        let (brief, shown) = (packed.brief(prepared, lease), server.shown());
        let words = options.server.words(&shown);
        Ok(Some(Self { connection, commission: Commission { brief, packed, shown, words } }))
    }

    pub(in crate::cli) fn tell(&self, global: &Global) {
        for note in self.commission.packed.notes.iter().filter(|_| !global.quiet) {
            tell(&format!("note: {note}"));
        }
    }

    /// What the command that resumes the contest has to say of it.
    pub(in crate::cli) fn words(&self) -> &[String] {
        &self.commission.words
    }

    /// Makes everything ready. `begun` is when the contest was begun.
    pub(in crate::cli) fn stage(
        self,
        begun: &str,
        folder: &Folder,
        playing: Playing,
    ) -> Box<Staged> {
        let (begun, folder) = (begun.to_owned(), folder.clone());
        Box::new(Staged(self, ContestRun { begun, folder, playing }))
    }
}

impl Staged {
    /// Has workers play what is left of a contest.
    pub(in crate::cli) async fn play(
        self,
        runner: Runner,
        contest: Arc<Contest>,
        interrupts: &mut Interrupts,
        spectator: &mut impl Spectator,
    ) -> Result<Ended, Failure> {
        let Self(There { connection, commission }, run) = self;
        let (line, begun) = (connection.clone(), run.begun.clone());
        let (schedule, orders) = (runner.schedule(), interrupts.orders());
        let field = tokio::select! {
            field = Coordinator::begin(connection, commission, run, schedule, orders) => field?,
            _ = interrupts.interrupted() => {
                hush(&line, &contest, &begun).await;
                return Ok(runner.leave(interrupts));
            }
        };
        Ok(runner.play(field, interrupts, spectator).await)
    }
}

/// What workers have of a contest that goes on here stays where it is.
pub(in crate::cli) fn note_elsewhere(place: &Place, folder: &Folder, global: &Global) {
    let on = referee_runner::workers::read(folder).on;
    if matches!(place, Place::Here(_)) && !on.is_empty() && !global.quiet {
        let command = command("withdraw", folder, &on);
        tell(&format!("note: what it has at its server stays there; `{command}` takes it away"));
    }
}
