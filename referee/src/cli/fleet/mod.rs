//! The commands and options of contests on many machines. Without the feature `fleet`,
//! `no_fleet.rs` replaces this module.

mod server;
mod status;
mod venue;
mod purge;
mod worker;

pub(super) use status::StatusServer;
pub(super) use venue::{FleetVenue, last_server, note_elsewhere};

use self::server::ServerOptions;
use super::global::{Global, success};
use clap::{Args, Subcommand};
use referee_match::times::read_time;
use referee_process::Failure;
use std::process::ExitCode;

/// Nothing that the feature `fleet` has is unknown.
pub(super) fn missing_feature(_: &clap::Error) -> Option<Failure> {
    None
}

/// Commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Worker(Box<worker::Options>),
}

/// Commands of `contest`.
#[derive(Debug, Subcommand)]
pub(super) enum ContestCommand {
    Purge(purge::Options),
}

pub(super) fn run(command: &Command, global: &Global) -> Result<ExitCode, Failure> {
    match command {
        Command::Worker(options) => worker::run(options, global),
    }
}

pub(super) fn run_contest(command: &ContestCommand, global: &Global) -> Result<ExitCode, Failure> {
    match command {
        ContestCommand::Purge(options) => purge::run(options, global).map(success),
    }
}

/// The options for playing on workers.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FleetOptions {
    /// NATS server whose workers play the games (see `referee worker`), not this machine:
    /// nats://HOST:PORT or tls://HOST:PORT; separate several with commas. Defaults to none
    #[arg(long, value_name = "URL", conflicts_with = "jobs")]
    on: Option<String>,
    /// Time of silence after which a worker's games go to others, 3s to 1h. Defaults to 30s
    #[arg(long, value_name = "TIME", value_parser = read_lease, requires = "on", hide = true)]
    lease: Option<u64>,
    /// Share of the workers' time relative to other contests on the server, 1 to 10000. Defaults to 100
    #[arg(long, value_name = "N", requires = "on")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    priority: Option<u32>,
    #[command(flatten)]
    server: ServerOptions,
}

/// Parses a lease in milliseconds: long enough for heartbeats, and not longer than workers accept.
fn read_lease(text: &str) -> Result<u64, String> {
    let lease = read_time(text)?;
    let fits = (3_000..=3_600_000).contains(&lease);
    if fits { Ok(lease) } else { Err("must be from 3s to 1h".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::read_lease;

    #[test]
    fn a_lease_is_longer_than_the_interval_of_heartbeats() {
        for (text, lease) in [("3s", Some(3_000)), ("1h", Some(3_600_000)), ("0", None)] {
            assert_eq!(read_lease(text).ok(), lease, "{text}");
        }
        for text in ["2999ms", "61m", "soon", ""] {
            assert!(read_lease(text).is_err(), "{text}");
        }
    }
}
