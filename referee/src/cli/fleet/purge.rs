//! `contest purge`: removes a contest from a server.

use super::ServerOptions;
use crate::cli::global::Global;
use crate::cli::output::print;
use crate::cli::runtime::{machine, runtime};
use clap::Args;
use referee_contest::wording::count;
use referee_fleet::Names;
use referee_fleet::coordinator::withdraw;
use referee_process::Failure;
use referee_runner::folder::Folder;
use referee_runner::store::Store;
use referee_runner::workers::{read, write};
use std::path::PathBuf;

/// The name of the connection, for the server's administrator.
const NAME: &str = "referee purge";

/// Remove an interrupted contest from a server
///
/// The contest's folder and its results stay. Resume the contest with `contest resume`, on this
/// machine or on any server. Workers that are still playing it stop.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest purge contests/autumn --on nats://localhost\n  \
    referee contest purge contests/autumn --on tls://nats.example.org --creds me.creds")]
pub(in crate::cli) struct Options {
    /// Contest folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// NATS server: nats://HOST:PORT or tls://HOST:PORT; separate several with commas
    #[arg(long, value_name = "URL")]
    on: String,
    #[command(flatten)]
    server: ServerOptions,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let folder = Folder::open(&options.folder)?;
    let _lock = folder.lock()?;
    let kept = Store::open(&folder)?.contest()?;
    let mut workers = read(&folder);
    // Its id before a change, if it was not resumed since.
    let names = Names::new(&workers.id).unwrap_or_else(|| Names::of(&kept.contest, &kept.begun));
    let server = options.server.server(&options.on);
    let shown = server.display_url();
    let removed = runtime()?.block_on(async {
        let connection = server.connect(NAME).await?;
        let removed = withdraw(&connection, names).await;
        removed.map_err(|error| {
            let what = format!("{shown}: can't remove the contest: {error}");
            if connection.denied().is_some() {
                return connection.failure(&what);
            }
            Failure::machine(what).help("nothing is lost; run the same command again")
        })
    })?;
    if !workers.on.is_empty() {
        // `contest resume` shall not suggest this server any more.
        workers.on.clear();
        write(&folder, &workers).map_err(machine(folder.root().display()))?;
    }
    if !global.quiet {
        print(&match removed {
            None => format!("the contest is not on {shown}\n"),
            Some(removed) => format!(
                "removed from {shown}, with {} and {} that were not taken\n",
                count(removed.orders, "order"),
                count(removed.reports, "report")
            ),
        })?;
    }
    Ok(())
}
