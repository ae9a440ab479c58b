//! `contest withdraw`: what a contest has on a server is taken away.

use super::ServerOptions;
use crate::cli::Global;
use crate::cli::output::print;
use crate::cli::runtime::{machine, runtime};
use clap::Args;
use referee_fleet::coordinator::withdraw;
use referee_process::Failure;
use referee_protocol::plain::count;
use referee_runner::folder::Folder;
use referee_runner::store::Store;
use referee_runner::workers::{read, write};
use std::path::PathBuf;

/// What the server calls the connection, for who looks after it.
const NAME: &str = "referee withdraw";

/// Takes away what an interrupted contest has on a server.
///
/// Its folder stays, with every game that has come in; `contest resume` goes on with it, here or on any
/// server. Workers that still play in it drop that.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    referee contest withdraw autumn --on nats://localhost")]
pub(in crate::cli) struct Options {
    /// The contest's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The NATS server: nats://HOST:PORT or tls://HOST:PORT, several with commas between them
    #[arg(long, value_name = "URL")]
    on: String,
    #[command(flatten)]
    server: ServerOptions,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let folder = Folder::open(&options.folder)?;
    let _lock = folder.lock()?;
    let kept = Store::open(&folder)?.kept()?;
    let server = options.server.server(&options.on);
    let shown = server.shown();
    let removed = runtime()?.block_on(async {
        let connection = server.connect(NAME).await?;
        let removed = withdraw(&connection, &kept.contest, &kept.begun).await;
        removed.map_err(|error| {
            let what = format!("{shown}: the contest can't be taken away: {error}");
            if connection.denied().is_some() {
                return connection.failure(&what);
            }
            Failure::machine(what).help("nothing is lost: the same command goes on with it")
        })
    })?;
    let mut workers = read(&folder);
    if !workers.on.is_empty() {
        // Nobody who goes on is led there.
        workers.on.clear();
        write(&folder, &workers).map_err(machine(folder.root().display()))?;
    }
    if !global.quiet {
        print(&match removed {
            None => format!("nothing of it is at {shown}\n"),
            Some(removed) => format!(
                "taken away from {shown}: {} and {} that had not been taken in\n",
                count(removed.orders, "order"),
                count(removed.reports, "report")
            ),
        })?;
    }
    Ok(())
}
