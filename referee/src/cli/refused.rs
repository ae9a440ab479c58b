//! A command line that clap refuses: help, or an error with what to do about it.

use super::output::{eprint_failure, eprint_help};
use super::{command_line, command_line_for_help, exit, fleet, renamed};
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use referee_games::{GAMES, GameKind};
use referee_process::Failure;
use std::error::Error as _;

/// Prints the help that was asked for, or the error, and exits.
pub(super) fn refuse(error: &clap::Error) -> ! {
    if let ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =
        error.kind()
        && let Err(help) = command_line_for_help().try_get_matches()
    {
        help.exit();
    }
    let refused = || invalid_value(error).map(Failure::usage);
    let failure = renamed::since(error, &path_given())
        .or_else(|| fleet::missing_feature(error))
        .or_else(|| elsewhere(error));
    if let Some(failure) = failure.or_else(refused) {
        eprint_failure(&failure);
        std::process::exit(i32::from(exit::code_of(&failure)));
    }
    let help = setup_field(error).or_else(|| example(error));
    let Some(help) = help else { error.exit() };
    error.print().ok();
    eprint_help(&help);
    std::process::exit(i32::from(exit::USAGE))
}

/// Returns the names of the commands on the command line, such as `contest run`.
fn path_given() -> String {
    let mut command = command_line();
    let mut path = Vec::new();
    for word in std::env::args().skip(1) {
        if let Some(found) = command.find_subcommand(&word).cloned() {
            (command, path) = (found, [path, vec![word]].concat());
        }
    }
    path.join(" ")
}

/// Returns the failure of a command that is one of another command.
fn elsewhere(error: &clap::Error) -> Option<Failure> {
    let ContextValue::String(unknown) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    let mut found = Vec::new();
    find_commands(&command_line(), "referee", unknown, &mut found);
    let commands: Vec<String> = found.iter().map(|path| format!("`{path}`")).collect();
    let help = format!("did you mean {}?", commands.join(" or "));
    (!found.is_empty())
        .then(|| Failure::usage(format!("`{unknown}` is not a command here")).help(help))
}

/// Finds the paths of all commands with this name, such as `referee contest run`, below the command with this path.
fn find_commands(command: &Command, path: &str, name: &str, found: &mut Vec<String>) {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        let path = format!("{path} {}", inner.get_name());
        find_commands(inner, &path, name, found);
        if inner.get_name() == name {
            found.push(path);
        }
    }
}

/// Returns the first example of the help of the command whose arguments are missing, or too many.
fn example(error: &clap::Error) -> Option<String> {
    let is_word = |arg: &ContextValue| !arg.to_string().starts_with('-');
    match error.kind() {
        ErrorKind::MissingRequiredArgument => {}
        ErrorKind::UnknownArgument if error.get(ContextKind::InvalidArg).is_some_and(is_word) => {}
        _ => return None,
    }
    let mut command = command_line();
    for name in path_given().split(' ') {
        command = command.find_subcommand(name)?.clone();
    }
    example_of(&command).map(|example| format!("for example: {example}"))
}

/// Returns the first example in a command's help.
fn example_of(command: &Command) -> Option<String> {
    let text = command.get_after_long_help()?.to_string();
    let (_, examples) = text.split_once("Examples:\n")?;
    examples.lines().next().map(|line| line.trim().to_owned())
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

#[cfg(test)]
mod tests {
    use super::example_of;
    use crate::cli::command_line;
    use clap::Command;

    #[test]
    fn every_command_with_required_arguments_has_an_example() {
        fn check(command: &Command) {
            command.get_subcommands().for_each(check);
            if command.get_arguments().any(clap::Arg::is_required_set) {
                let example = example_of(command);
                let name = command.get_name();
                let has_name = example.as_ref().is_some_and(|text| text.contains(name));
                assert!(has_name, "{name}: {example:?}");
            }
        }
        check(&command_line());
    }
}
