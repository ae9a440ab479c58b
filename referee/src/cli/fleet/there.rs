//! A contest on many machines, as the command line sees it: the server is asked before anything is
//! written, and the agents are packed.

use super::FleetOptions;
use crate::cli::Global;
use crate::cli::bars::spinner;
use crate::cli::words::contest_command;
use referee_fleet::bundles::pack;
use referee_fleet::connect::Connection;
use referee_fleet::coordinator::{Commission, ContestRun, Coordinator, LEASE, hush};
use referee_play::interrupts::Interrupts;
use referee_play::playing::Playing;
use referee_process::Failure;
use referee_runner::Prepared;
use referee_runner::folder::Folder;
use referee_runner::runner::{Ended, Runner, Spectator};
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
        global.note(&self.commission.packed.notes);
    }

    /// What the command that resumes the contest has to say of it.
    pub(in crate::cli) fn words(&self) -> &[String] {
        &self.commission.words
    }

    /// Has workers play what is left of a contest, which was begun then.
    pub(in crate::cli) async fn play(
        self,
        runner: Runner,
        playing: Playing,
        begun: &str,
        interrupts: &mut Interrupts,
        spectator: &mut impl Spectator,
    ) -> Result<Ended, Failure> {
        let Self { connection, commission } = self;
        let (line, contest) = (connection.clone(), runner.contest().clone());
        let folder = runner.folder().clone();
        let contest_run = ContestRun { begun: begun.to_owned(), folder, playing };
        let (schedule, orders) = (runner.schedule(), interrupts.orders());
        let starting = Coordinator::begin(connection, commission, contest_run, schedule, orders);
        let field = tokio::select! {
            field = starting => field?,
            _ = interrupts.interrupted() => {
                hush(&line, &contest, begun).await;
                return Ok(runner.leave(interrupts));
            }
        };
        Ok(runner.play(field, interrupts, spectator).await)
    }
}

/// What workers have of a contest that goes on here stays where it is.
pub(in crate::cli) fn note_elsewhere(folder: &Folder, global: &Global) {
    let on = referee_runner::workers::read(folder).on;
    if !on.is_empty() {
        let command = contest_command("withdraw", folder, &on);
        global.note([format!("what it has at its server stays there; `{command}` takes it away")]);
    }
}
