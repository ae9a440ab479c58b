//! `contest status --on URL`: what is on a server, for its operator.

use super::ServerOptions;
use crate::cli::output::{print, print_json};
use crate::cli::runtime::runtime;
use crate::cli::worker_rows::worker_rows;
use crate::reading::report::aligned;
use clap::Args;
use referee_fleet::connect::Connection;
use referee_fleet::overview::overview;
use referee_process::Failure;
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

impl StatusServer {
    /// What the command needs to know.
    pub(in crate::cli) const WHAT_TO_GIVE: &str = "give a contest's folder, or a server with --on, for example: referee contest status contests/autumn";

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
