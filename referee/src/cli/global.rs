//! The options of every command, and what follows from them.

use super::output::{eprint_line, stderr_has_colour};
use clap::ValueEnum;
use std::process::ExitCode;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// The options of every command.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    /// Print only results and errors
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    /// Print more detail, such as the sandbox in use; -vv prints debug logs
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
    /// Ignore config files; `referee config` shows them
    #[arg(long, global = true, env = "REFEREE_NO_CONFIG")]
    #[arg(value_parser = clap::builder::FalseyValueParser::new(), hide_env = true)]
    pub(super) no_config: bool,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t, env = "REFEREE_COLOR")]
    color: Color,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Color {
    /// On a terminal unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Global {
    /// Prints notes to stderr, unless --quiet is given.
    pub(super) fn note(&self, notes: impl IntoIterator<Item: std::fmt::Display>) {
        for note in notes.into_iter().filter(|_| !self.quiet) {
            eprint_line(&format!("note: {note}"));
        }
    }

    /// Sets up colours and the log.
    pub(super) fn set_up(&self) {
        match self.color {
            Color::Auto => {}
            Color::Always => anstream::ColorChoice::Always.write_global(),
            Color::Never => anstream::ColorChoice::Never.write_global(),
        }
        let level = match (self.quiet, self.verbose) {
            // The users of a connection report its errors themselves.
            (true, _) => "error,async_nats=off",
            (false, 0) => "warn,async_nats=off",
            (false, 1) => "referee=info",
            (false, _) => "referee=debug",
        };
        let chosen = std::env::var("REFEREE_LOG").ok().and_then(|filter| filter.parse().ok());
        let filter: Targets = chosen.unwrap_or_else(|| level.parse().expect("a list of levels"));
        let lines = fmt::layer()
            .with_writer(std::io::stderr)
            .without_time()
            .with_target(false)
            .with_ansi(stderr_has_colour());
        tracing_subscriber::registry().with(lines.with_filter(filter)).init();
    }
}

/// The exit code of a command that has no other.
pub(super) fn success(_: ()) -> ExitCode {
    ExitCode::SUCCESS
}
