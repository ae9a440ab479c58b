//! The command line: one file per command, and what all commands share.

mod agent;
mod bars;
mod check;
mod clock;
mod completions;
mod config;
mod config_command;
mod contest;
mod debug;
mod doctor;
mod exit;
mod faults;
mod file_names;
#[cfg(feature = "fleet")]
mod fleet;
#[cfg(not(feature = "fleet"))]
#[path = "no_fleet.rs"]
mod fleet;
mod adapter;
mod game;
mod games;
mod given;
mod global;
mod languages;
mod live;
mod new;
mod new_text;
mod output;
mod perft;
mod play;
mod play_open;
mod play_options;
mod play_series;
mod presets;
mod position;
mod replay;
mod rows;
mod runtime;
mod worker_rows;
mod sandbox;
mod schema;
mod serve;
mod setup;
mod values;
mod verify;
mod viewer;
mod shell;

use self::global::{Global, success};
use self::output::{eprint_failure, eprint_help};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use referee_games::{GAMES, GameKind};
use referee_play::game_program;
use referee_play::private_copy;
use referee_process::Failure;
use std::error::Error as _;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Run matches between game-playing agents, under the rules and the clock
#[derive(Debug, Parser)]
#[command(
    name = "referee",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "Start with: referee play hex @random @greedy\n\
        `referee COMMAND --help` explains a command, with examples.\n\
        Exit codes: 0 success, 1 failed or not verified, 2 usage error, 3 agent fault (where that \
        decides), 4 machine failure or void match, 130/143/129 interrupted by INT, TERM, HUP"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: Global,
}

/// The commands in the order and groups of `referee --help`.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Matches", &["play", "debug", "verify"]),
    ("Agents", &["new", "check", "compare", "agent", "adapter"]),
    ("Contests", &["contest", "worker"]),
    ("Viewing", &["replay", "serve"]),
    ("Games", &["games", "game"]),
    ("Tools", &["position", "perft", "schema", "doctor", "config", "completions", "man"]),
];

/// The help of a command is the doc comment of its options.
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
    Game(game::Options),
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
    Config(config_command::Options),
    Completions(completions::CompletionsOptions),
    Man(completions::ManOptions),
}

/// Runs the program.
pub fn main() -> ExitCode {
    if referee_process::hidden::run() {
        return ExitCode::SUCCESS;
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == private_copy::COPY_COMMAND) {
        eprint_failure(&Failure::machine(private_copy::run()));
        return ExitCode::from(exit::MACHINE);
    }
    completions::answer_script();
    let command = allow_negative(command_line());
    let given = command.clone().try_get_matches();
    let matches = given.and_then(|given| configured(command, given)).unwrap_or_else(|error| {
        let refused = || invalid_value(&error).map(Failure::usage);
        if let Some(failure) = fleet::missing_feature(&error).or_else(refused) {
            eprint_failure(&failure);
            std::process::exit(i32::from(exit::code_of(&failure)));
        }
        if let Some(help) = setup_field(&error) {
            error.print().ok();
            eprint_help(&help);
            std::process::exit(i32::from(exit::USAGE));
        }
        error.exit()
    });
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    arguments.global.set_up();
    let result = run(arguments);
    game_program::end_all();
    match result {
        Ok(code) => code,
        Err(failure) => {
            eprint_failure(&failure);
            ExitCode::from(exit::code_of(&failure))
        }
    }
}

/// Returns the arguments with the defaults of config files, if the command has any.
fn configured(command: clap::Command, given: ArgMatches) -> Result<ArgMatches, clap::Error> {
    let (mut chosen, mut matches) = (&command, &given);
    while let Some((name, below)) = matches.subcommand() {
        let Some(found) = chosen.find_subcommand(name) else { break };
        (chosen, matches) = (found, below);
    }
    if given.get_flag("no_config") || !config::concerns(chosen) {
        return Ok(given);
    }
    match config::Config::load() {
        Ok(config) if config.files.is_empty() => Ok(given),
        Ok(config) => config.apply(command).try_get_matches(),
        Err(failure) => {
            eprint_failure(&failure);
            std::process::exit(i32::from(exit::code_of(&failure)))
        }
    }
}

/// Returns the command line with the commands listed by group, which clap can't do itself.
fn command_line() -> clap::Command {
    let (heading, bold, off) = ("\x1b[1m\x1b[4m", "\x1b[1m", "\x1b[0m");
    let command = Arguments::command();
    let mut groups = String::new();
    for (title, names) in GROUPS {
        write!(groups, "\n{heading}{title}:{off}\n").ok();
        for &name in names {
            // Without the feature `fleet` there is no `worker`.
            let Some(about) = command.find_subcommand(name).and_then(clap::Command::get_about)
            else {
                continue;
            };
            writeln!(groups, "  {bold}{name:<11}{off} {about}").ok();
        }
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\n\
         {heading}Options:{off}\n{{options}}{{after-help}}"
    ))
}

/// Lets every option have a negative number as its value, so that the error is about the number.
fn allow_negative(command: clap::Command) -> clap::Command {
    let option = |arg: &clap::Arg| arg.get_long().is_some() && arg.get_action().takes_values();
    command
        .mut_args(|arg| if option(&arg) { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(allow_negative)
}

/// Returns what is wrong with a value that an option's parser refused, without terms of Rust.
fn invalid_value(error: &clap::Error) -> Option<String> {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (option, value) = (context(ContextKind::InvalidArg)?, context(ContextKind::InvalidValue)?);
    let option = option.split(' ').next().unwrap_or(option).trim_matches(['<', '>']);
    let text = error.source()?.to_string();
    let expected = match text.split_once(" is not in ") {
        Some((_, range)) => match range.replace("..=", "..").split_once("..") {
            Some((from, to)) if to.len() < 10 => format!("a whole number from {from} to {to}"),
            Some((from, _)) => format!("a whole number from {from}"),
            None => return None,
        },
        None if text.contains("digit")
            || text.contains("integer")
            || text.contains("number too") =>
        {
            "a whole number".to_owned()
        }
        None => return Some(format!("{option} {value}: {text}")),
    };
    Some(format!("{option} {value}: expected {expected}"))
}

/// Returns the help for an unknown option that is a field of a game's setup.
fn setup_field(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let name = option.strip_prefix("--").filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let is_field = |kind: &GameKind| kind.about().setup.iter().any(|field| field.name == name);
    GAMES.iter().any(is_field).then(|| {
        format!(
            "`{name}` is part of a game's setup: --setup {name}=VALUE (`referee games GAME` lists the \
             fields)"
        )
    })
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
        Command::Game(options) => game::run(&options, &global),
        Command::Position(options) => position::run(&options).map(success),
        Command::Perft(options) => perft::run(&options).map(success),
        Command::Serve(options) => serve::run(&options, &global),
        Command::Replay(options) => replay::run(&options, &global),
        Command::Verify(options) => verify::run(&options, &global),
        Command::Fleet(command) => fleet::run(&command, &global),
        Command::Schema(options) => schema::run(&options).map(success),
        Command::Agent(options) => agent::run(&options, &global).map(success),
        Command::Adapter(options) => adapter::run(&options).map(success),
        Command::Config(options) => config_command::run(&options, &global).map(success),
        Command::Completions(options) => completions::print_script(&options).map(success),
        Command::Man(options) => completions::write_pages(&options).map(success),
    }
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, command_line};

    #[test]
    fn the_command_line_is_consistent() {
        command_line().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group() {
        let command = command_line();
        for name in command.get_subcommands().map(clap::Command::get_name) {
            let count = GROUPS.iter().flat_map(|(_, names)| *names).filter(|it| **it == name);
            assert_eq!(count.count(), 1, "{name}");
        }
    }
}
