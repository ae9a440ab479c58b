//! The options of every command, and what follows from them.

use super::output::{MESSAGES, eprint_line, log_messages, stderr_has_colour};
use clap::ValueEnum;
use referee_games::Games;
use referee_play::game_program::{Chosen, load};
use referee_process::Failure;
use referee_runner::programs::{contest_of, copies};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tracing_subscriber::filter::{LevelFilter, Targets};
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
    /// Folder or short name of a game program, to read matches of its game (repeatable)
    #[arg(long, global = true, value_name = "DIR")]
    pub(super) rules: Vec<PathBuf>,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t, env = "REFEREE_COLOR")]
    color: Color,
    /// How to write messages to stderr
    #[arg(long, global = true, value_enum, default_value_t, env = "REFEREE_LOG_FORMAT")]
    log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// As text
    #[default]
    Text,
    /// As text with the time (UTC) and the level
    Time,
    /// As one JSON object per line, with the time and the level
    Json,
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

    /// Returns the games of which a file can be: the built-in ones, those of --rules, and those of the contest in
    /// whose folder it is.
    pub(super) fn games(&self, file: &Path) -> Result<Games, Failure> {
        self.games_of_all(&[file])
    }

    /// The same for several files.
    pub(super) fn games_of_all(&self, files: &[impl AsRef<Path>]) -> Result<Games, Failure> {
        let given = self.rules()?;
        let contest = |file: &Path| {
            let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
            contest_of(&file).map(Path::to_owned)
        };
        let contests: BTreeSet<PathBuf> =
            files.iter().filter_map(|file| contest(file.as_ref())).collect();
        let copies = contests.iter().map(|folder| copies(folder, &given));
        let copies = copies.collect::<Result<Vec<_>, _>>()?;
        Ok(given.with(copies.into_iter().flatten()))
    }

    /// Returns the built-in games and those of --rules.
    pub(super) fn rules(&self) -> Result<Games, Failure> {
        let load =
            |folder: &PathBuf| Ok((folder.display().to_string(), load(folder, Chosen::ByName)?));
        Ok(Games::default().with(self.rules.iter().map(load).collect::<Result<Vec<_>, Failure>>()?))
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
        let filter = filter.with_target(MESSAGES, LevelFilter::INFO);
        let lines = fmt::layer().with_writer(std::io::stderr).with_target(false);
        let lines = match self.log_format {
            LogFormat::Text => lines.without_time().with_ansi(stderr_has_colour()).boxed(),
            LogFormat::Time => lines.with_ansi(stderr_has_colour()).boxed(),
            LogFormat::Json => lines.json().flatten_event(true).boxed(),
        };
        tracing_subscriber::registry().with(lines.with_filter(filter)).init();
        if self.log_format != LogFormat::Text {
            log_messages();
        }
    }
}

/// The exit code of a command that has no other.
pub(super) fn success(_: ()) -> ExitCode {
    ExitCode::SUCCESS
}
