//! `contest status --on URL` and `contest worker`: what is on a server, for its operator.

use super::ServerOptions;
use crate::cli::global::Global;
use crate::cli::output::{print, print_json};
use crate::cli::runtime::runtime;
use crate::cli::worker_rows::worker_rows;
use crate::reading::report::aligned;
use clap::{Args, Subcommand};
use referee_fleet::connect::Connection;
use referee_fleet::messages::WorkerOrder;
use referee_fleet::overview::{overview, send_to_workers};
use referee_process::Failure;
use referee_protocol::plain::{sanitize, sanitize_line};
use referee_runner::workers::{KnownWorker, ServedContest};
use std::collections::BTreeMap;

/// The name of the connection, for the server's administrator.
const NAME: &str = "referee operator";

/// The server of `contest status`.
#[derive(Debug, Args)]
pub(in crate::cli) struct StatusServer {
    /// NATS server: show all contests on it and their workers, instead of those of a folder
    #[arg(long, value_name = "URL", conflicts_with = "folder")]
    on: Option<String>,
    #[command(flatten)]
    server: ServerOptions,
}

/// Drain or ban a worker
#[derive(Debug, Args)]
pub(in crate::cli) struct WorkerOptions {
    #[command(subcommand)]
    command: WorkerCommand,
}

#[derive(Debug, Subcommand)]
enum WorkerCommand {
    /// Let a worker finish its games and exit
    ///
    /// Its exit code is 0, so a service manager that restarts failed workers does not restart it.
    Drain(OrderOptions),
    /// Make a worker exit at once, and take no more reports of it
    ///
    /// Other workers play its games. The running coordinators refuse it as long as they run, also if it is
    /// started again with the same name. Change its credentials to exclude it for good.
    Ban(OrderOptions),
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest worker drain pc07 --on nats://localhost --reason \"its fan is broken\"")]
struct OrderOptions {
    /// Name or id of the worker, as `contest status --on URL` shows it
    worker: String,
    /// NATS server: nats://HOST:PORT or tls://HOST:PORT; separate several with commas
    #[arg(long, value_name = "URL")]
    on: String,
    /// Reason, which the worker and the coordinators print
    #[arg(long, value_name = "TEXT", default_value = "no reason given")]
    reason: String,
    #[command(flatten)]
    server: ServerOptions,
}

impl StatusServer {
    /// What the command needs to know.
    pub(in crate::cli) const WHAT_TO_GIVE: &str = "give a contest's folder, or a server with --on";

    /// Prints the contests on the server, if one is given; returns whether it is.
    pub(in crate::cli) fn print(&self, json: bool) -> Result<bool, Failure> {
        let Some(url) = &self.on else { return Ok(false) };
        let contests = runtime()?.block_on(async {
            let connection = self.server.server(url).connect(NAME).await?;
            served(&connection).await
        })?;
        if json {
            print_json(&contests)?;
        } else if contests.is_empty() {
            print("no contest is on this server\n")?;
        } else {
            print(&aligned(&contest_rows(&contests)))?;
            let workers = distinct(&contests);
            if !workers.is_empty() {
                print(&format!("\n{}", aligned(&worker_rows(&workers, true))))?;
            }
        }
        Ok(true)
    }
}

async fn served(connection: &Connection) -> Result<Vec<ServedContest>, Failure> {
    let listed = Box::pin(overview(connection));
    listed.await.map_err(|error| connection.failure(&format!("can't list the contests: {error}")))
}

fn contest_rows(contests: &[ServedContest]) -> Vec<Vec<String>> {
    let head = ["contest", "id", "priority", "waiting", "held", "reports", "workers", "since"];
    let row = |it: &ServedContest| {
        let here = it.workers.iter().filter(|worker| worker.elsewhere.is_none());
        vec![
            it.name.clone(),
            it.id.clone(),
            it.priority.to_string(),
            it.waiting.to_string(),
            it.held.to_string(),
            it.reports.to_string(),
            here.filter(|worker| worker.refused.is_none()).count().to_string(),
            it.since.clone(),
        ]
    };
    let head = head.iter().map(|&text| text.to_owned()).collect();
    std::iter::once(head).chain(contests.iter().map(row)).collect()
}

/// Returns each worker once, with the contest that it plays if there is one.
fn distinct(contests: &[ServedContest]) -> Vec<KnownWorker> {
    let mut workers = BTreeMap::new();
    for contest in contests {
        for worker in &contest.workers {
            let plays = worker.elsewhere.is_none() && worker.refused.is_none();
            if plays || !workers.contains_key(&worker.id) {
                workers.insert(worker.id.clone(), worker.clone());
            }
        }
    }
    workers.into_values().collect()
}

pub(super) fn order(options: &WorkerOptions, global: &Global) -> Result<(), Failure> {
    let (options, ban) = match &options.command {
        WorkerCommand::Drain(options) => (options, false),
        WorkerCommand::Ban(options) => (options, true),
    };
    let reason = sanitize_line(options.reason.trim());
    let order = WorkerOrder { worker: options.worker.clone(), ban, reason };
    let found = runtime()?.block_on(async {
        let connection = options.server.server(&options.on).connect(NAME).await?;
        let contests = served(&connection).await?;
        let mut found = distinct(&contests);
        let names: Vec<String> = found.iter().map(|worker| worker.name.clone()).collect();
        found.retain(|worker| order.worker == worker.id || order.worker == worker.name);
        // A worker without a contest sends no heartbeat, and a ban holds for later ones.
        if found.is_empty() && !contests.is_empty() && !ban {
            return Err(Failure::usage(format!("no worker is called {}", order.worker))
                .help(format!("the workers are: {}", names.join(", "))));
        }
        let sent = send_to_workers(&connection, &order).await;
        sent.map_err(|error| connection.failure(&format!("can't reach the workers: {error}")))?;
        Ok(found)
    })?;
    if !global.quiet {
        let what = if ban { "banned" } else { "drained" };
        if found.is_empty() {
            print(&format!("{what} {}, of which no contest knows\n", sanitize(&options.worker)))?;
        }
        for worker in &found {
            print(&format!("{what} {} ({})\n", sanitize(&worker.name), sanitize(&worker.id)))?;
        }
    }
    Ok(())
}
