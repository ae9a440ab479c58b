//! The command line: one file a command, and the conventions that all of them keep.

mod agent;
mod bars;
mod check;
mod clock;
mod contest;
mod debug;
mod doctor;
mod faults;
#[cfg(feature = "fleet")]
mod fleet;
#[cfg(not(feature = "fleet"))]
#[path = "no_fleet.rs"]
mod fleet;
mod adapter;
mod games;
mod languages;
mod htp;
mod live;
mod new;
mod new_text;
mod output;
mod perft;
mod play;
mod play_open;
mod play_options;
mod presets;
mod position;
mod replay;
mod rows;
mod runtime;
mod sandbox;
mod schema;
mod serve;
mod setup;
mod verify;
mod viewer;
mod words;

use clap::{Parser, Subcommand, ValueEnum};
use referee_process::sandbox::canary;
use referee_process::{Failure, launcher};
use std::io::Write;
use std::process::ExitCode;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// Runs matches between game-playing agents, by the rules and by the clock.
#[derive(Debug, Parser)]
#[command(
    name = "referee",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "Begin with: referee play hex @random @greedy\n\
        Exit codes: 0 ok, 1 failed or did not verify, 2 usage, 3 an agent was at fault where that \
        decides, 4 the machine failed or the match is void, 130/143/129 interrupted by INT, TERM, HUP"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: Global,
}

/// What every command takes.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Options of every command")]
struct Global {
    /// Says less: only results and errors
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Says more about what is going on; twice: much more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Whether to use colour
    #[arg(long, global = true, value_enum, default_value_t, env = "REFEREE_COLOR")]
    color: Color,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What each says of itself stands at its options.
#[derive(Debug, Subcommand)]
enum Command {
    Play(Box<play_options::Options>),
    Check(check::Options),
    Contest(contest::Options),
    Compare(Box<contest::compare::Options>),
    Debug(debug::Options),
    New(new::Options),
    Doctor(doctor::Options),
    Games(games::Options),
    Position(position::Options),
    Perft(perft::Options),
    Replay(replay::Options),
    Serve(Box<serve::Options>),
    Verify(verify::Options),
    #[command(flatten)]
    Fleet(fleet::Command),
    Schema(schema::Options),
    Agent(agent::Options),
    Adapter(adapter::Options),
    Htp(htp::Options),
}

/// The whole program.
pub fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == launcher::LAUNCH_COMMAND) {
        launcher::run();
        return ExitCode::SUCCESS;
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == canary::CANARY_COMMAND) {
        canary::run();
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::parse();
    set_up(&arguments.global);
    match run(arguments) {
        Ok(code) => code,
        Err(failure) => {
            complain(&failure);
            ExitCode::from(failure.code())
        }
    }
}

fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let global = arguments.global;
    match arguments.command {
        Command::Play(options) => play::run(&options, &global),
        Command::Check(options) => check::run(&options, &global),
        Command::Compare(options) => contest::compare::run(&options, &global),
        Command::Contest(options) => contest::run(&options, &global),
        Command::Debug(options) => debug::run(&options, &global),
        Command::New(options) => new::run(&options, &global).map(success),
        Command::Doctor(options) => doctor::run(&options, &global),
        Command::Games(options) => games::run(&options).map(success),
        Command::Position(options) => position::run(&options).map(success),
        Command::Perft(options) => perft::run(&options).map(success),
        Command::Serve(options) => serve::run(&options, &global),
        Command::Replay(options) => replay::run(&options, &global),
        Command::Verify(options) => verify::run(&options, &global),
        Command::Fleet(command) => fleet::run(&command, &global),
        Command::Schema(options) => schema::run(&options).map(success),
        Command::Agent(options) => agent::run(&options).map(success),
        Command::Adapter(options) => adapter::run(&options).map(success),
        Command::Htp(options) => htp::run(&options, &global).map(success),
    }
}

impl Global {
    /// Says what people should know, unless they want to know less.
    fn note(&self, notes: impl IntoIterator<Item: std::fmt::Display>) {
        for note in notes.into_iter().filter(|_| !self.quiet) {
            output::tell(&format!("note: {note}"));
        }
    }
}

/// The end of a command that has no other.
fn success(_: ()) -> ExitCode {
    ExitCode::SUCCESS
}

fn set_up(global: &Global) {
    match global.color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    let level = match (global.quiet, global.verbose) {
        // What goes wrong with a connection is told by whoever needs it.
        (true, _) => "error,async_nats=off",
        (false, 0) => "warn,async_nats=off",
        (false, 1) => "referee=info",
        (false, _) => "referee=debug",
    };
    let asked = std::env::var("REFEREE_LOG").ok().and_then(|asked| asked.parse().ok());
    let shown: Targets = asked.unwrap_or_else(|| level.parse().expect("a list of levels"));
    let lines = fmt::layer()
        .with_writer(std::io::stderr)
        .without_time()
        .with_target(false)
        .with_ansi(output::stderr_has_colour());
    tracing_subscriber::registry().with(lines.with_filter(shown)).init();
}

fn complain(failure: &Failure) {
    let mut stderr = anstream::stderr();
    let (red, cyan, off) = ("\x1b[1;31m", "\x1b[36m", "\x1b[0m");
    // Where stderr is gone there is nobody to tell.
    writeln!(stderr, "{red}error:{off} {failure}").ok();
    if let Some(help) = failure.help_text() {
        writeln!(stderr, "{cyan}help:{off} {help}").ok();
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
