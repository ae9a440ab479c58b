//! `game new`: creates a game program from a starter.

use crate::cli::global::Global;
use crate::cli::new::refuse_existing;
use crate::cli::output::{eprint_line, print, print_json};
use crate::cli::setup::unknown;
use crate::cli::shell::join;
use clap::Args;
use referee_play::game_program::check_name;
use referee_play::new_files::create_files;
use referee_process::Failure;
use referee_process::files::is_disk_full;
use sample_agents::game_starters::{GAME_STARTERS, GameStarter, STARTER_NAME};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Create a working game program to start from
///
/// Creates the folder NAME with game.toml, the rules of a small game, with comments at the places to change, and
/// README.md. Never overwrites anything.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee game new tetress\n  \
    referee game new games/tetress --lang rust")]
pub(in crate::cli) struct Options {
    /// Folder to create; its last part becomes the game's name
    #[arg(value_name = "NAME")]
    folder: PathBuf,
    /// Language of the rules: python, javascript or rust
    #[arg(long, short, value_name = "LANGUAGE", default_value = "python")]
    lang: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The created game, as `game new --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct NewGameReport {
    /// The folder, as given.
    folder: String,
    /// The game's name.
    name: String,
    /// The language.
    language: &'static str,
    /// The files in it.
    files: Vec<String>,
    /// The commands to run next.
    next: Vec<String>,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let starter = GAME_STARTERS.iter().find(|starter| starter.language == options.lang);
    let starter = starter.ok_or_else(|| {
        unknown("language", &options.lang, GAME_STARTERS.iter().map(|it| it.language))
    })?;
    let folder = options.folder.as_path();
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    check_name(&name).map_err(|error| {
        Failure::usage(format!("the name {error}"))
            .help("the name of the folder becomes the name of the game: referee game new tetress")
    })?;
    refuse_existing(folder)?;
    let own = |text: &str| text.replace(&format!("\"{STARTER_NAME}\""), &format!("\"{name}\""));
    let readme = readme(starter, &name);
    let mut files: Vec<(&str, String)> =
        starter.files.iter().map(|file| (file.name, own(file.text))).collect();
    files.push(("README.md", readme));
    let written: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    create_files(folder, &written).map_err(|error| {
        let failure = if is_disk_full(&error) { Failure::machine } else { Failure::operation };
        failure(error.to_string())
    })?;
    let report = NewGameReport {
        folder: folder.display().to_string(),
        name,
        language: starter.language,
        files: files.iter().map(|(name, _)| (*name).to_owned()).collect(),
        next: next(starter, folder),
    };
    if options.json {
        print_json(&report)?;
    } else {
        let files: String = report.files.iter().flat_map(|file| ["  ", file, "\n"]).collect();
        let next: String = report.next.iter().flat_map(|command| ["  ", command, "\n"]).collect();
        let program = folder.join(starter.files[0].name);
        print(&format!(
            "{}: a game in {}\n{files}next:\n{next}to make it your game, change the parts marked CHANGE in {}\n",
            report.folder,
            starter.title,
            program.display()
        ))?;
    }
    if !global.quiet && !is_installed(starter.needs) {
        eprint_line(&format!("note: {} is not installed, which the game needs", starter.needs));
    }
    Ok(())
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Returns the commands to run next in the working directory.
fn next(starter: &GameStarter, folder: &Path) -> Vec<String> {
    // As a GAME it needs a slash.
    let given = folder.to_string_lossy();
    let game = if given.contains('/') { given.into_owned() } else { format!("./{given}") };
    let game = join(&[game]);
    let build =
        (!starter.build.is_empty()).then(|| format!("(cd {game} && {})", join(starter.build)));
    let others =
        [format!("referee game check {game}"), format!("referee play {game} @random @first")];
    build.into_iter().chain(others).collect()
}

/// Returns the README of the new folder. Its commands run in that folder, so it can be moved.
fn readme(starter: &GameStarter, name: &str) -> String {
    let build = if starter.build.is_empty() {
        String::new()
    } else {
        format!("    {}\n", join(starter.build))
    };
    format!(
        "# {name}\n\nA game for Referee, with its rules in {}. So far two seats take stones from a pile.\n\nIn this \
         folder:\n\n{build}    referee game check .\n    referee play . @random @first\n    referee perft . 4\n\nThe \
         rules are in `{}`: change the parts marked CHANGE, and run the check after each. Print debug\noutput to \
         stderr, never to stdout. Raise `rules` in `game.toml` when a recorded game could be read\ndifferently.\n\n\
         Recorded games in a folder `games` (`referee play . @random @random --out games/1.jsonl`) are\nreplayed by \
         the check, so that you notice when a change of the rules changes what was played.\n",
        starter.title, starter.files[0].name
    )
}
