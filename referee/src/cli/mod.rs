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
mod agents;
mod building;
mod game;
mod games;
mod given;
mod global;
mod jobs;
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
mod protocol;
mod position;
mod refused;
mod renamed;
mod replay;
mod rows;
mod runtime;
mod worker_rows;
mod sandbox;
mod schema;
mod serve;
mod setup;
mod submit;
mod values;
mod verify;
mod viewer;
mod shell;

use self::global::{Global, success};
use self::output::eprint_failure;
use self::refused::refuse;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use referee_play::game_program;
use referee_play::private_copy;
use referee_process::Failure;
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
        An agent of your own, in this order:\n  \
          referee new mybot                    make it\n  \
          referee check mybot                  test it step by step\n  \
          referee play hex mybot @random       let it play\n  \
          referee debug latest --seat mybot    repeat a turn of it\n\
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
const GROUPS: [(&str, &[&str]); 7] = [
    ("Matches", &["play", "debug", "verify"]),
    ("Agents", &["new", "languages", "check", "compare", "agents", "protocol"]),
    ("Contests", &["contest", "submit", "worker"]),
    ("Viewing", &["replay", "serve"]),
    ("Games", &["games", "game"]),
    ("This machine", &["doctor", "config", "completions", "man"]),
    ("Plumbing", &["agent", "adapter", "position", "perft", "schema"]),
];

/// The end of the help of every command, in place of the options that all of them have.
const GLOBAL_OPTIONS: &str = "Global options (`referee --help` explains them): -q, -v, -h, --no-config, --rules, \
    --color, --log-format";

/// The help of a command is the doc comment of its options.
#[derive(Debug, Subcommand)]
enum Command {
    Play(Box<play_options::Options>),
    Check(check::Options),
    Contest(contest::Options),
    Compare(Box<contest::compare::Options>),
    Debug(debug::Options),
    New(new::Options),
    Languages(languages::Options),
    Agents(agents::Options),
    Protocol(protocol::Options),
    Doctor(doctor::Options),
    Games(games::Options),
    Game(game::Options),
    Position(position::Options),
    Perft(perft::Options),
    Replay(replay::Options),
    Serve(Box<serve::Options>),
    Submit(submit::Options),
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
    let matches =
        given.and_then(|given| configured(command, given)).unwrap_or_else(|error| refuse(&error));
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
    let names_rules = given.get_many::<std::path::PathBuf>("rules").is_some();
    if given.get_flag("no_config") || !(config::concerns(chosen) || names_rules) {
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

/// Returns the command line for help: each command shows its own options, and `referee --help` those of all.
fn command_line_for_help() -> clap::Command {
    fn without_global(command: clap::Command) -> clap::Command {
        let is_global = |arg: &clap::Arg| arg.is_global_set() || arg.get_id() == "help";
        let command = command.mut_args(|arg| if is_global(&arg) { arg.hide(true) } else { arg });
        let template = format!(
            "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{{all-args}}\n\n\
             {GLOBAL_OPTIONS}{{after-help}}"
        );
        command.help_template(template).mut_subcommands(without_global)
    }
    let mut command = command_line();
    // Global options are in the commands from now on.
    command.build();
    command.mut_subcommands(without_global)
}

/// Lets every option have a negative number as its value, so that the error is about the number.
fn allow_negative(command: clap::Command) -> clap::Command {
    let option = |arg: &clap::Arg| arg.get_long().is_some() && arg.get_action().takes_values();
    command
        .mut_args(|arg| if option(&arg) { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(allow_negative)
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
        Command::Languages(options) => languages::run(&options).map(success),
        Command::Agents(options) => agents::run(&options).map(success),
        Command::Protocol(_) => protocol::run().map(success),
        Command::Doctor(options) => doctor::run(&options, &global),
        Command::Games(options) => games::run(&options, &global).map(success),
        Command::Game(options) => game::run(&options, &global),
        Command::Position(options) => position::run(&options).map(success),
        Command::Perft(options) => perft::run(&options).map(success),
        Command::Serve(options) => serve::run(&options, &global),
        Command::Replay(options) => replay::run(&options, &global),
        Command::Submit(options) => submit::run(&options, &global),
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
    use super::{GROUPS, command_line, command_line_for_help};

    #[test]
    fn the_command_line_is_consistent() {
        command_line().debug_assert();
    }

    #[test]
    fn each_command_lists_no_global_options_but_their_names() {
        let mut command = command_line_for_help();
        let play = command.find_subcommand_mut("play").expect("a command");
        let text = play.render_long_help().to_string();
        assert_eq!(text.matches("--log-format").count(), 1, "{text}");
        let headings: Vec<&str> =
            text.lines().filter(|line| line.ends_with(':') && !line.starts_with(' ')).collect();
        let expected =
            ["Arguments:", "Match:", "Clock:", "Sandbox:", "Output:", "Display:", "Examples:"];
        assert_eq!(headings, expected);
    }

    /// A heading of shared options goes on until the next one: they are the last of a command.
    #[test]
    fn own_options_are_under_no_heading_of_shared_ones() {
        fn check(command: &clap::Command) {
            let shared = ["Match", "Clock", "Display"].map(Some);
            for arg in command.get_arguments().filter(|_| command.get_name() != "play") {
                let is_own = ["json", "out", "jobs", "annotate", "submissions"]
                    .contains(&arg.get_id().as_str());
                let heading = arg.get_help_heading();
                assert!(!is_own || !shared.contains(&heading), "{}: {arg}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&command_line());
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
