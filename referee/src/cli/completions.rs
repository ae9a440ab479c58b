//! `completions` and `man`: completion scripts and manual pages. The scripts ask the program itself
//! what fits, so they know games, setups, built-in agents and files.

use super::command_line;
use super::output::print;
use super::setup::{find_kind, unknown};
use clap::builder::StyledStr;
use clap::{Args, Command};
use clap_complete::engine::ValueCompleter;
use clap_complete::env::Shells;
use clap_complete::{
    ArgValueCandidates, ArgValueCompleter, CompleteEnv, CompletionCandidate, PathCompleter,
};
use referee_games::{GAMES, GameKind};
use referee_process::Failure;
use std::ffi::OsStr;
use std::path::PathBuf;

/// The environment variable by which a completion script asks the program.
const VARIABLE: &str = "REFEREE_COMPLETE";

/// Print the completion script of a shell
///
/// Completes commands, options, games, setups, presets, agents and files.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    source <(referee completions bash)\n  \
    referee completions fish > ~/.config/fish/completions/referee.fish")]
pub(super) struct CompletionsOptions {
    /// Shell: bash, elvish, fish, powershell or zsh
    shell: String,
}

/// Write the manual pages into a folder
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee man ~/.local/share/man/man1\n  \
    referee man man && man ./man/referee-play.1")]
pub(super) struct ManOptions {
    /// Folder to write referee.1 and a page per command to; it is created if it doesn't exist
    folder: PathBuf,
}

/// Answers a completion script and exits, if one asks.
pub(super) fn answer_script() {
    CompleteEnv::with_factory(|| with_candidates(command_line())).var(VARIABLE).complete();
}

pub(super) fn print_script(options: &CompletionsOptions) -> Result<(), Failure> {
    let shells = Shells::builtins();
    let shell = shells
        .completer(&options.shell)
        .ok_or_else(|| unknown("shell", &options.shell, shells.names()))?;
    let mut script = Vec::new();
    shell
        .write_registration(VARIABLE, "referee", "referee", "referee", &mut script)
        .map_err(|error| Failure::operation(format!("cannot write the script: {error}")))?;
    print(&String::from_utf8_lossy(&script))
}

pub(super) fn write_pages(options: &ManOptions) -> Result<(), Failure> {
    let folder = &options.folder;
    let failed = |error| Failure::machine(format!("{}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(command_line(), folder).map_err(failed)
}

/// Adds what may be given for an argument, by its name.
fn with_candidates(command: Command) -> Command {
    let command = command.mut_args(|arg| match arg.get_id().as_str() {
        "game" => arg.add(ArgValueCandidates::new(games)),
        "setup" => arg.add(ArgValueCandidates::new(setup_fields)),
        "agent" | "agents" => arg.add(ArgValueCompleter::new(agents)),
        "file" | "files" => arg.add(ArgValueCompleter::new(transcripts)),
        _ => arg,
    });
    command.mut_subcommands(with_candidates)
}

fn games() -> Vec<CompletionCandidate> {
    let candidate = |kind: &GameKind| {
        CompletionCandidate::new(kind.name).help(Some(StyledStr::from(kind.about().summary)))
    };
    GAMES.iter().map(candidate).collect()
}

/// Returns `FIELD=` for the setup of the game on the command line, else of all games.
fn setup_fields() -> Vec<CompletionCandidate> {
    let named = std::env::args().find_map(|word| find_kind(&word).ok());
    let kinds = named.map_or_else(|| GAMES.to_vec(), |kind| vec![kind]);
    let fields = kinds.iter().flat_map(|kind| &kind.about().setup);
    fields
        .map(|field| {
            CompletionCandidate::new(format!("{}=", field.name))
                .help(Some(StyledStr::from(field.meaning)))
        })
        .collect()
}

fn agents(begun: &OsStr) -> Vec<CompletionCandidate> {
    let built_in = sample_agents::BUILT_INS.iter().map(|it| format!("@{}", it.name));
    let built_in = built_in.filter(|name| begun.to_str().is_some_and(|it| name.starts_with(it)));
    let files = PathCompleter::any().complete(begun);
    built_in.map(CompletionCandidate::new).chain(files).collect()
}

fn transcripts(begun: &OsStr) -> Vec<CompletionCandidate> {
    let latest = begun.to_str().is_some_and(|it| "latest".starts_with(it));
    let latest = latest.then(|| CompletionCandidate::new("latest"));
    latest.into_iter().chain(PathCompleter::file().complete(begun)).collect()
}
