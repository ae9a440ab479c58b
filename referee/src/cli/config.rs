//! Config files: defaults of options, and short names of agents and of game programs. They never start anything: a
//! name stands for a command only where it is typed as an AGENT, and for a program where it is typed as a GAME.

use super::output::BoardChoice;
use clap::{Arg, Command, ValueEnum};
use referee_contest::file::{FileError, Source};
use referee_match::times::read_clock;
use referee_play::agent_spec::{AgentKind, Parts};
use referee_play::game_program::{MANIFEST, check_name};
use referee_process::Failure;
use referee_process::files::read_regular;
use referee_protocol::{Level, LevelChoice};
use serde::Deserialize;
use std::any::TypeId;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;

/// The config file of a project, in its folder or one above the working directory.
const PROJECT_FILE: &str = "referee.toml";
/// The largest config file, in bytes.
const BYTES_MAX: u64 = 64 << 10;
/// The options that a config file sets: its key, the option's ID and its environment variable.
pub(super) const KEYS: [(&str, &str, &str); 3] = [
    ("clock", "default_clock", "REFEREE_CLOCK"),
    ("board", "board", "REFEREE_BOARD"),
    ("sandbox", "sandbox", ""),
];
/// The IDs of arguments that are agents.
const AGENT_IDS: [&str; 4] = ["agent", "agents", "new", "old"];
/// The IDs of arguments that are games, and of the option with folders of game programs.
const GAME_ID: &str = "game";
const RULES_ID: &str = "rules";

/// A config file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    clock: Option<Spanned<String>>,
    board: Option<Spanned<String>>,
    sandbox: Option<Spanned<String>>,
    #[serde(default)]
    agents: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    games: BTreeMap<String, Spanned<String>>,
}

/// A value of a config file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfigValue {
    pub(super) value: String,
    pub(super) file: PathBuf,
    pub(super) line: usize,
}

impl ConfigValue {
    /// Returns the folder that this names, as a GAME: relative to the file's, and with a slash.
    pub(super) fn folder(&self) -> PathBuf {
        let beside = self.file.parent().unwrap_or(Path::new("/"));
        let is_here = std::env::current_dir().is_ok_and(|here| here == beside);
        if is_here { Path::new(".").join(&self.value) } else { beside.join(&self.value) }
    }
}

/// What the config files set.
#[derive(Clone, Debug, Default)]
pub(super) struct Config {
    /// The files that were read, the most important first.
    pub(super) files: Vec<PathBuf>,
    /// The values of options, by key.
    pub(super) settings: BTreeMap<&'static str, ConfigValue>,
    /// The agents, by short name.
    pub(super) agents: BTreeMap<String, ConfigValue>,
    /// The folders of game programs, by short name; as they are written.
    pub(super) games: BTreeMap<String, ConfigValue>,
}

impl Config {
    /// Reads the project's config file and the user's.
    pub(super) fn load() -> Result<Self, Failure> {
        let here = std::env::current_dir().unwrap_or_default();
        let project = here.ancestors().map(|folder| folder.join(PROJECT_FILE));
        let project = project.into_iter().find(|file| file.is_file());
        let mut config = Self::default();
        if let Some(user) = user_file() {
            config.add(&user, true)?;
        }
        if let Some(project) = project {
            config.add(&project, false)?;
        }
        Ok(config)
    }

    /// Adds a file, if there is one. Its values replace those of earlier files, except that a project,
    /// which may be someone else's, never weakens the sandbox.
    fn add(&mut self, file: &Path, own: bool) -> Result<(), Failure> {
        let name = file.display();
        let bytes = match read_regular(file, BYTES_MAX) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            read => read.map_err(|error| Failure::usage(format!("{name}: {error}")))?,
        };
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::usage(format!("{name}: not UTF-8: save the file as UTF-8")))?;
        let source = Source { file: name.to_string(), text };
        let raw: Raw = source.read().map_err(|error| failure(&error))?;
        let wrong = |span: Range<usize>, text: String| failure(&source.error(span, text));
        let value = |value: &Spanned<String>| ConfigValue {
            value: value.get_ref().clone(),
            file: file.to_owned(),
            line: source.line(value.span().start),
        };
        for ((key, ..), given) in KEYS.iter().zip([&raw.clock, &raw.board, &raw.sandbox]) {
            let Some(given) = given else { continue };
            check(key, given.get_ref()).map_err(|error| wrong(given.span(), error))?;
            if *key == "sandbox" && !own {
                if !is_safe(given.get_ref()) {
                    let text = "a project can't turn off the protection of your files";
                    return Err(wrong(given.span(), text.to_owned())
                        .help("set it in your own config file, or with --sandbox"));
                }
                if self.settings.contains_key(key) {
                    continue;
                }
            }
            self.settings.insert(key, value(given));
        }
        for (short, agent) in &raw.agents {
            let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
            if short.is_empty() || !short.chars().all(plain) {
                let text = format!("the name {short:?} must consist of letters, digits, _ and -");
                return Err(wrong(agent.span(), text));
            }
            self.agents.insert(short.clone(), value(agent));
        }
        for (short, folder) in &raw.games {
            check_name(short).map_err(|error| wrong(folder.span(), format!("the name {error}")))?;
            if referee_games::kind(short).is_some() {
                let text = format!("`{short}` is a built-in game: choose another name");
                return Err(wrong(folder.span(), text));
            }
            self.games.insert(short.clone(), value(folder));
        }
        self.files.insert(0, file.to_owned());
        Ok(())
    }

    /// Makes the values the defaults of options, and lets the names stand for agents.
    pub(super) fn apply(&self, command: Command) -> Command {
        let shared = Arc::new(self.clone());
        let change = |arg: Arg| {
            let id = arg.get_id().as_str();
            let key = KEYS.iter().find(|(_, option, _)| *option == id);
            if let Some(set) = key.and_then(|(key, ..)| self.settings.get(key)) {
                // Read once per run; clap wants a text that lives as long as the program.
                return arg.default_value(&*set.value.clone().leak());
            }
            if AGENT_IDS.contains(&id) && !self.agents.is_empty() {
                let config = shared.clone();
                return arg.value_parser(move |text: &str| {
                    Ok::<String, Infallible>(config.agent(text, Path::new("")))
                });
            }
            let config = shared.clone();
            if is_game(&arg) {
                return arg.value_parser(move |text: &str| config.game(text));
            }
            if id == RULES_ID {
                return arg.value_parser(move |text: &str| config.game(text).map(PathBuf::from));
            }
            arg
        };
        command.mut_args(change).mut_subcommands(|command| self.apply(command))
    }

    /// Returns the GAME that is meant: the folder of a game program in place of its short name.
    fn game(&self, text: &str) -> Result<String, String> {
        let Some(found) = self.games.get(text) else { return Ok(text.to_owned()) };
        let folder = found.folder();
        if !folder.join(MANIFEST).is_file() {
            let (file, line) = (found.file.display(), found.line);
            let folder = folder.display();
            return Err(format!("{file}:{line}: games.{text}: {folder} has no {MANIFEST}"));
        }
        Ok(folder.to_string_lossy().into_owned())
    }

    /// Returns the AGENT that is meant: one with a short name in place of a name that no file or folder
    /// below `here` has. `NAME=AGENT` keeps its name.
    fn agent(&self, text: &str, here: &Path) -> String {
        let (name, short) =
            text.split_once('=').map_or((None, text), |(name, agent)| (Some(name), agent));
        let Some(found) = self.agents.get(short).filter(|_| !here.join(short).exists()) else {
            return text.to_owned();
        };
        let folder = found.file.parent().unwrap_or(Path::new("/"));
        let parts = Parts::of(&found.value, folder);
        let name = name.or(parts.name).unwrap_or(short);
        let protocol = parts.protocol.map_or_else(String::new, |protocol| format!("{protocol}:"));
        format!("{name}={protocol}{}", located(&parts, folder))
    }
}

/// Returns an agent whose paths, relative to the config file's folder, are absolute; in the working
/// directory they stay.
fn located(parts: &Parts<'_>, folder: &Path) -> String {
    let path = |word: &str| folder.join(word).to_string_lossy().into_owned();
    let is_here = std::env::current_dir().is_ok_and(|here| here == folder);
    match parts.kind {
        _ if is_here => parts.agent.to_owned(),
        AgentKind::Folder | AgentKind::File => path(parts.agent),
        AgentKind::Command => {
            let words = shlex::split(parts.agent).unwrap_or_default().into_iter();
            let words =
                words.map(|word| if folder.join(&word).exists() { path(&word) } else { word });
            super::shell::join(&words.collect::<Vec<_>>())
        }
        AgentKind::BuiltIn | AgentKind::Package => parts.agent.to_owned(),
    }
}

/// Checks the value of a key.
fn check(key: &str, value: &str) -> Result<(), String> {
    match key {
        "clock" => read_clock(value).map(drop),
        "board" => {
            let choices =
                BoardChoice::value_variants().iter().filter_map(ValueEnum::to_possible_value);
            let known: Vec<String> = choices.map(|choice| choice.get_name().to_owned()).collect();
            is_one_of(&known, value)
        }
        _ => is_one_of(&LevelChoice::NAMES, value).and_then(|()| match value {
            "external" => Err("external needs --wrapper on the command line".to_owned()),
            _ => Ok(()),
        }),
    }
}

fn is_one_of<S: AsRef<str>>(known: &[S], value: &str) -> Result<(), String> {
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    if known.contains(&value) {
        return Ok(());
    }
    Err(format!("unknown value, expected one of {}", known.join(", ")))
}

/// Whether a sandbox level protects the user's files wherever it works.
fn is_safe(level: &str) -> bool {
    level == "auto" || level.parse::<Level>().is_ok_and(|level| level.is_at_least(Level::Confined))
}

/// Returns the user's config file.
fn user_file() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let config = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
    Some(config?.join("referee/config.toml"))
}

/// Whether a command has an option that a config file sets.
pub(super) fn concerns(command: &Command) -> bool {
    let known =
        |id: &str| AGENT_IDS.contains(&id) || KEYS.iter().any(|(_, option, _)| *option == id);
    command.get_arguments().any(|arg| known(arg.get_id().as_str()) || is_game(arg))
}

/// Whether an argument is a GAME, and not the number of a game.
fn is_game(arg: &Arg) -> bool {
    arg.get_id() == GAME_ID && arg.get_value_parser().type_id() == TypeId::of::<String>()
}

fn failure(error: &FileError) -> Failure {
    let help = "`--no-config` ignores config files".to_owned();
    Failure::usage(error.to_string()).help(error.help.clone().unwrap_or(help))
}

#[cfg(test)]
mod tests {
    use super::{Config, ConfigValue, concerns};
    use crate::cli::command_line;
    use std::path::Path;

    #[test]
    fn a_name_stands_for_an_agent() {
        let agent = |(name, value): (&str, &str)| {
            let value =
                ConfigValue { value: value.to_owned(), file: "/p/referee.toml".into(), line: 1 };
            (name.to_owned(), value)
        };
        let agents = [("a", "@greedy"), ("b", "own=python3 x.py"), ("c", "htp:mohex -q")];
        let config = Config { agents: agents.map(agent).into(), ..Config::default() };
        for (typed, meant) in [
            ("a", "a=@greedy"),
            ("x=a", "x=@greedy"),
            ("b", "own=python3 x.py"),
            ("x=b", "x=python3 x.py"),
            ("c", "c=htp:mohex -q"),
            ("@random", "@random"),
            ("./a", "./a"),
            ("python3 a", "python3 a"),
        ] {
            assert_eq!(config.agent(typed, Path::new("/nowhere")), meant, "{typed}");
        }
    }

    #[test]
    fn commands_that_take_agents_or_boards_read_config_files() {
        let command = command_line();
        let concerned = command.get_subcommands().filter(|it| concerns(it));
        let mut names: Vec<&str> = concerned.map(clap::Command::get_name).collect();
        names.sort_unstable();
        let wanted = [
            "check", "compare", "debug", "games", "new", "perft", "play", "position", "replay",
            "serve",
        ];
        assert_eq!(names, wanted);
        let quick = command.find_subcommand("contest").and_then(|it| it.find_subcommand("quick"));
        assert!(quick.is_some_and(concerns));
    }
}
