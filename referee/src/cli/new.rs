//! `new`: creates an agent from a starter.

use super::global::Global;
use super::languages::{find, missing};
use super::new_text::{Plan, next_commands, readme};
use super::output::{eprint_line, print, print_json};
use super::setup::find_kind;
use super::shell::join;
use clap::Args;
use referee_games::GameKind;
use referee_games::program::Program;
use referee_play::game_program::{RECORDED_GAMES, kit_files, python_rules, spec_of};
use referee_play::new_files::create_files;
use referee_process::Failure;
use referee_process::files::{is_disk_full, read_regular};
use sample_agents::starters::{GAME_AGENT, STARTERS, Starter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs::ReadDir;
use std::path::{Path, PathBuf};

/// The folder of a new agent with a copy of its game.
pub(super) const COPIED_TO: &str = "game";
/// The largest file of a game that is copied, in bytes.
const COPIED_BYTES_MAX: u64 = 256 << 20;

/// The name that means every game.
const ANY: &str = "any";

/// Create an agent that plays legal actions, to start from
///
/// Creates the folder DIR with a program, agent.toml and README.md. Never overwrites anything: DIR
/// must not exist, or must be empty except for `.git`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee new mybot --game hex\n  \
    referee new mybot --lang rust --game chexers --game freckers\n  \
    referee new mybot --game ./tetress")]
pub(super) struct Options {
    /// Folder to create; its name becomes the agent's name
    dir: PathBuf,
    /// Game that the agent plays (repeatable), `any` for all built-in ones, or the path of a game program
    #[arg(long, short, default_value = ANY)]
    game: Vec<String>,
    /// Language of the agent; `referee languages` lists them and what they need
    #[arg(long, short, value_name = "LANGUAGE", default_value = "python")]
    lang: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The created agent, as `new --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NewReport {
    /// The folder, as given.
    folder: String,
    /// The language.
    language: &'static str,
    /// The games that it plays; empty for all built-in ones.
    games: Vec<&'static str>,
    /// The files in it.
    files: Vec<String>,
    /// The commands to run next.
    next: Vec<String>,
}

/// The `agent.toml` of a starter.
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
    let games = games(&options.game)?;
    let program = games.iter().find_map(GameKind::program);
    let starter = match program {
        Some(_) => game_starter(find(&options.lang)?)?,
        None => find(&options.lang)?,
    };
    let folder = options.dir.as_path();
    refuse_existing(folder)?;
    let mut manifest: Manifest = toml::from_str(starter.manifest).map_err(|error| {
        Failure::operation(format!("cannot read the starter's agent.toml: {error}"))
    })?;
    manifest.name = name_of(folder);
    manifest.games = games.iter().map(|game| game.name.to_owned()).collect();
    let copy = program.filter(|_| starter.folder == GAME_AGENT.folder).map(GameCopy::read);
    let copy = copy.transpose()?.unwrap_or_default();
    let game = options.game.first().filter(|_| program.is_some()).map(String::as_str);
    let (build, games) = (&manifest.build, &games);
    let is_copied = copy.rules.is_some();
    let plan = Plan { name: &manifest.name, build, starter, games, game, is_copied };
    let agent_toml = toml::to_string(&manifest)
        .map_err(|error| Failure::operation(format!("cannot write agent.toml: {error}")))?;
    let readme = readme(&plan);
    let mut files = vec![("agent.toml", agent_toml.into_bytes())];
    files.extend(starter.files.iter().map(|file| (file.name, copy.adapted(file.text))));
    files.push(("README.md", readme.into_bytes()));
    files.extend(copy.files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())));
    create_files(folder, &files).map_err(|error| {
        let failure = if is_disk_full(&error) { Failure::machine } else { Failure::operation };
        failure(error.to_string())
    })?;
    let report = NewReport {
        folder: folder.display().to_string(),
        language: starter.language,
        games: games.iter().map(|game| game.name).collect(),
        files: files.iter().map(|(name, _)| (*name).to_owned()).collect(),
        next: next_commands(&plan, folder),
    };
    if options.json {
        print_json(&report)?;
    } else {
        print(&as_text(&report, &plan, folder))?;
    }
    if let Some(install) = missing(starter).filter(|_| !global.quiet) {
        eprint_line(&format!("note: {} is not installed: {install}", starter.title));
    }
    Ok(())
}

/// Returns the games of these names; none means any.
fn games(names: &[String]) -> Result<Vec<GameKind>, Failure> {
    if names.iter().any(|name| name == ANY) {
        if names.len() > 1 {
            return Err(Failure::usage(format!("--game {ANY} can't be combined with other games"))
                .help(format!("give the games, or only --game {ANY}")));
        }
        return Ok(Vec::new());
    }
    let mut games: Vec<GameKind> = Vec::new();
    for name in names {
        let kind = find_kind(name)?;
        if kind.program().is_some() && names.len() > 1 {
            return Err(Failure::usage(format!("{name} can't be combined with other games"))
                .help(format!("an agent for a game program is for that game: --game {name}")));
        }
        if games.iter().all(|known| known.name != kind.name) {
            games.push(kind);
        }
    }
    Ok(games)
}

/// Returns the starter in this language of agents for a game program.
fn game_starter(starter: &'static Starter) -> Result<&'static Starter, Failure> {
    if starter.language == GAME_AGENT.language {
        return Ok(&GAME_AGENT);
    }
    // The others have the rules of the built-in games, and play no game without them.
    let plays_any = |it: &&Starter| !it.manifest.contains("\ngames = ");
    if plays_any(&starter) {
        return Ok(starter);
    }
    let others = STARTERS.iter().filter(plays_any).map(|it| it.language);
    let others: Vec<&str> = std::iter::once(GAME_AGENT.language).chain(others).collect();
    Err(Failure::usage(format!("the starter in {} knows only the built-in games", starter.title))
        .help(format!("for a game program, take --lang {}", others.join(", "))))
}

/// What a new agent has of a game program: its rules, if they are in Python, and the kit.
#[derive(Debug, Default)]
struct GameCopy {
    files: Vec<(String, Vec<u8>)>,
    /// The file with the rules.
    rules: Option<String>,
    /// What actions look like, as comments.
    actions: String,
}

impl GameCopy {
    fn read(program: &'static Program) -> Result<Self, Failure> {
        let folder = program.folder();
        let rules = python_rules(folder)?;
        let kit = kit_files().map(|(name, text)| (name, text.as_bytes().to_owned()));
        let mut files: Vec<(String, Vec<u8>)> = kit.collect();
        for file in spec_of(folder)?.files.into_iter().filter(|_| rules.is_some()) {
            // Recorded games are for the check of the rules.
            if file.starts_with(RECORDED_GAMES) {
                continue;
            }
            let path = folder.join(&file);
            let bytes = read_regular(&path, COPIED_BYTES_MAX).map_err(|error| {
                Failure::operation(format!("{}: {error}", path.display()))
                    .help("add --lang c: agents in other languages have no copy of the game")
            })?;
            files.push((format!("{COPIED_TO}/{}", file.display()), bytes));
        }
        let forms = program.about().actions.iter();
        let actions =
            forms.map(|form| format!("# {}  ({}): {}\n", form.example, form.text, form.meaning));
        Ok(Self { files, rules, actions: actions.collect() })
    }

    /// Returns the text of a starter's file for this game.
    fn adapted(&self, text: &str) -> Vec<u8> {
        let mut text = text.to_owned();
        if let Some(rules) = &self.rules {
            text = text.replace("rules=None", &format!("rules=\"{COPIED_TO}/{rules}\""));
        }
        if !self.actions.is_empty() {
            let actions = format!("\n# Actions:\n{}\n\ndef choose", self.actions);
            text = text.replace("\n\ndef choose", &actions);
        }
        text.into_bytes()
    }
}

pub(super) fn refuse_existing(folder: &Path) -> Result<(), Failure> {
    // If it can't be read, creating it fails with the reason.
    if folder.symlink_metadata().is_err() {
        return Ok(());
    }
    // A new repository counts as empty.
    let is_new = |entries: ReadDir| entries.flatten().all(|entry| entry.file_name() == ".git");
    let what = match folder.read_dir().map(is_new) {
        Ok(true) => return Ok(()),
        Ok(false) => "already exists and is not empty",
        Err(_) => "already exists",
    };
    let refused = Failure::usage(format!("{} {what}", folder.display()));
    let numbered = (2..100).map(|number| {
        let mut path = folder.components().as_path().as_os_str().to_owned();
        path.push(format!("-{number}"));
        PathBuf::from(path)
    });
    let free = numbered.into_iter().find(|path| path.symlink_metadata().is_err());
    let free = free.filter(|_| folder.file_name().is_some());
    Err(refused.help("choose another folder").or_help(
        free.map(|free| {
            format!("choose another folder, such as {}", join(&[free.to_string_lossy()]))
        }),
    ))
}

/// Returns the name of the folder, which becomes the agent's.
fn name_of(folder: &Path) -> String {
    let resolved = || folder.canonicalize().ok();
    let name = folder.file_name().map(ToOwned::to_owned);
    let name = name.or_else(|| resolved()?.file_name().map(ToOwned::to_owned));
    name.map_or_else(|| "agent".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn as_text(report: &NewReport, plan: &Plan<'_>, folder: &Path) -> String {
    let mut text =
        format!("{}: an agent in {} for {}\n", report.folder, plan.starter.title, plan.for_what());
    let mut add = |line: &str| text.extend([line, "\n"]);
    for file in &report.files {
        add(&format!("  {file}"));
    }
    add("next:");
    for command in &report.next {
        add(&format!("  {command}"));
    }
    let program = folder.join(plan.starter.files[0].name);
    add(&format!(
        "to make it play well, edit the function `{}` in {}",
        sample_agents::starters::DECISION_FUNCTION,
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
    fn any_excludes_other_games_and_games_count_once() {
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
