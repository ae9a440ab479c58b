//! `new`: the beginning of an agent, in a folder of its own.

use super::Global;
use super::languages::{find, list, missing};
use super::new_text::{Plan, next_commands, readme};
use super::output::{print, print_json, tell};
use super::setup::find_kind;
use super::words::join;
use clap::Args;
use referee_games::GameKind;
use referee_play::new_files::create_files;
use referee_process::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The word that stands for every game.
const ANY: &str = "any";

/// Begins an agent: a folder with a program that plays at once, to make your own
///
/// Nothing is ever overwritten: the folder must not be there yet, or be empty.
#[derive(Debug, Args)]
#[command(override_usage = "referee new [OPTIONS] <DIR>\n       referee new --lang list")]
pub(super) struct Options {
    /// The folder to create; its name is the agent's
    #[arg(required_unless_present = "lang")]
    dir: Option<PathBuf>,
    /// A game that it is for, as often as needed; `any` is all of them
    #[arg(long, short, default_value = ANY)]
    game: Vec<String>,
    /// The language; `list` lists them with what they need
    #[arg(long, short, value_name = "LANGUAGE", default_value = "python")]
    lang: String,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// What was created, as `new --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Told {
    /// The folder, as it was written.
    folder: String,
    /// The language.
    language: &'static str,
    /// The games that it is for; empty: any.
    games: Vec<&'static str>,
    /// The files in it.
    files: Vec<String>,
    /// The commands to go on with.
    next: Vec<String>,
}

/// The `agent.toml` of a starter: what all of them have, so that nothing is lost on the way.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    build: Vec<String>,
    command: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    games: Vec<String>,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    if options.lang == "list" {
        return list(options.json);
    }
    let starter = find(&options.lang)?;
    let games = games(&options.game)?;
    let Some(folder) = options.dir.as_deref() else {
        return Err(Failure::usage("which folder? its name will be the agent's")
            .help(format!("referee new mybot --lang {}", starter.language)));
    };
    refuse_existing(folder)?;
    let mut manifest: Manifest = toml::from_str(starter.manifest)
        .map_err(|error| Failure::operation(format!("the starter's agent.toml: {error}")))?;
    manifest.name = name_of(folder);
    manifest.games = games.iter().map(|game| game.name.to_owned()).collect();
    let plan = Plan { name: &manifest.name, build: &manifest.build, starter, games: &games };
    let agent_toml = toml::to_string(&manifest)
        .map_err(|error| Failure::operation(format!("no agent.toml: {error}")))?;
    let readme = readme(&plan);
    let mut files = vec![("agent.toml", agent_toml.as_str())];
    files.extend(starter.files.iter().map(|file| (file.name, file.text)));
    files.push(("README.md", &readme));
    create_files(folder, &files).map_err(|error| match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Failure::machine(error.to_string()),
        _ => Failure::operation(error.to_string()),
    })?;
    let told = Told {
        folder: folder.display().to_string(),
        language: starter.language,
        games: games.iter().map(|game| game.name).collect(),
        files: files.iter().map(|(name, _)| (*name).to_owned()).collect(),
        next: next_commands(&plan, folder),
    };
    if options.json {
        print_json(&told)?;
    } else {
        print(&as_text(&told, &plan, folder))?;
    }
    if let Some(install) = missing(starter).filter(|_| !global.quiet) {
        tell(&format!("note: what {} needs isn't on this machine: {install}", starter.title));
    }
    Ok(())
}

/// The games by their names; none stands for any.
fn games(names: &[String]) -> Result<Vec<GameKind>, Failure> {
    if names.iter().any(|name| name == ANY) {
        if names.len() > 1 {
            return Err(Failure::usage(format!("--game {ANY} is all games already"))
                .help(format!("name the games, or only `{ANY}`")));
        }
        return Ok(Vec::new());
    }
    let mut games: Vec<GameKind> = Vec::new();
    for name in names {
        let kind = find_kind(name)?;
        if games.iter().all(|known| known.name != kind.name) {
            games.push(kind);
        }
    }
    Ok(games)
}

fn refuse_existing(folder: &Path) -> Result<(), Failure> {
    // What can't be looked at can't be created either, and that error says why.
    if folder.symlink_metadata().is_err() {
        return Ok(());
    }
    let what = match folder.read_dir().map(|mut entries| entries.next().is_none()) {
        Ok(true) => return Ok(()),
        Ok(false) => "is there already, and isn't empty",
        Err(_) => "is there already",
    };
    let refused = Failure::usage(format!("{} {what}", folder.display()));
    let numbered = (2..100).map(|number| {
        let mut path = folder.components().as_path().as_os_str().to_owned();
        path.push(format!("-{number}"));
        PathBuf::from(path)
    });
    let free = numbered.into_iter().find(|path| path.symlink_metadata().is_err());
    let free = free.filter(|_| folder.file_name().is_some());
    Err(refused.help("nothing is overwritten: name another folder").or_help(free.map(|free| {
        format!(
            "nothing is overwritten: name another folder, such as {}",
            join(&[free.to_string_lossy()])
        )
    })))
}

/// The name of the folder, which is the agent's.
fn name_of(folder: &Path) -> String {
    let resolved = || folder.canonicalize().ok();
    let name = folder.file_name().map(ToOwned::to_owned);
    let name = name.or_else(|| resolved()?.file_name().map(ToOwned::to_owned));
    name.map_or_else(|| "agent".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn as_text(told: &Told, plan: &Plan<'_>, folder: &Path) -> String {
    let mut text =
        format!("{}: an agent in {} for {}\n", told.folder, plan.starter.title, plan.for_what());
    let mut add = |line: &str| text.extend([line, "\n"]);
    for file in &told.files {
        add(&format!("  {file}"));
    }
    add("next:");
    for command in &told.next {
        add(&format!("  {command}"));
    }
    let program = folder.join(plan.starter.files[0].name);
    add(&format!(
        "then make it your own: `{}` in {} is where it decides",
        sample_agents::starters::PLACE,
        program.display()
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::{Manifest, games, name_of, refuse_existing};
    use sample_agents::starters::STARTERS;
    use std::path::Path;

    #[test]
    fn every_starter_has_a_manifest_that_survives() {
        for starter in STARTERS {
            let manifest: Manifest = toml::from_str(starter.manifest).unwrap();
            let written = toml::to_string(&manifest).unwrap();
            let (before, after): (toml::Table, toml::Table) =
                (toml::from_str(starter.manifest).unwrap(), toml::from_str(&written).unwrap());
            assert_eq!(before, after, "{}", starter.folder);
        }
    }

    #[test]
    fn any_stands_alone_and_a_game_once() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert!(games(&names(&["any"])).unwrap().is_empty());
        let twice = games(&names(&["hex", "chexers", "hex"])).unwrap();
        assert_eq!(twice.iter().map(|kind| kind.name).collect::<Vec<_>>(), ["hex", "chexers"]);
        assert!(games(&names(&["hex", "any"])).is_err());
        assert!(games(&names(&["hexx"])).unwrap_err().help_text().unwrap().contains("`hex`"));
    }

    #[test]
    fn the_folder_gives_the_name() {
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        assert_eq!(name_of(Path::new("bots/alice/")), "alice");
        assert_eq!(name_of(&inner.join("..").join("inner/.")), "inner");
        assert_eq!(name_of(Path::new("/")), "agent");
        let refused = refuse_existing(place.path()).unwrap_err();
        let free = format!("{}-2", place.path().display());
        assert!(refused.help_text().unwrap().ends_with(&free), "{refused:?}");
        refuse_existing(&inner).unwrap();
    }
}
