//! The options that choose a game and its setup.

use super::shell::join;
use referee_games::{AnyGame, GAMES, GameKind, SetupError, kind, nearest};
use referee_play::game_program::{Chosen, MANIFEST, is_path, load};
use referee_process::Failure;
use referee_protocol::parse_strict;
use serde_json::{Map, Value};
use std::path::Path;

/// The arguments of every command that starts a game.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct GameOptions {
    /// Game: a name from `referee games`, or the path of a folder with game.toml
    #[arg(help_heading = None::<&'static str>)]
    pub(super) game: String,
    /// Game setup: KEY=VALUE (repeatable) or a JSON object. Defaults to the game's usual setup
    #[arg(long, short = 's', value_name = "KEY=VALUE")]
    pub(super) setup: Vec<String>,
}

impl GameOptions {
    pub(super) fn kind(&self) -> Result<GameKind, Failure> {
        find_kind(&self.game)
    }

    pub(super) fn setup(&self) -> Result<Value, Failure> {
        read_pairs("--setup", &self.setup)
    }

    /// Starts the game.
    pub(super) fn start(&self) -> Result<Box<dyn AnyGame>, Failure> {
        start(self.kind()?, &self.setup()?)
    }

    /// Returns the game and setup in the form of a contest file.
    pub(super) fn for_contest(&self) -> Result<Value, Failure> {
        // Named as it is given, since it may be a path.
        self.kind()?;
        Ok(serde_json::json!([{ "game": self.game, "setup": self.setup()? }]))
    }
}

/// Returns the game of a GAME: a built-in one's name, or the path of a folder with game.toml.
pub(super) fn find_kind(name: &str) -> Result<GameKind, Failure> {
    let found = if is_path(name) {
        load(Path::new(name), Chosen::ByName)
    } else {
        kind(name).ok_or_else(|| unknown("game", name, GAMES.iter().map(|kind| kind.name)))
    };
    found.map_err(|failure| if is_agent(name) { agent_as_game(name) } else { failure })
}

/// Whether a GAME that isn't one is an agent.
fn is_agent(name: &str) -> bool {
    let path = Path::new(name);
    let is_file = path.is_file() || path.join("agent.toml").is_file();
    is_file && !path.join(MANIFEST).exists() || name.starts_with('@') || name.contains([' ', ':'])
}

/// Returns the failure of a command in which an agent has the place of the game.
fn agent_as_game(name: &str) -> Failure {
    let agent = join(&[name]);
    Failure::usage(format!("{agent} is an agent; a game is expected here")).help(format!(
        "name the game first, as in `referee play hex {agent} @random`; `referee games` lists the games"
    ))
}

/// Returns the game to show in an example: the first one that two play, else the first one.
pub(super) fn first_for_two(kinds: &[GameKind]) -> GameKind {
    kinds.iter().find(|kind| kind.about().seats == [2]).copied().unwrap_or(kinds[0])
}

/// Returns the failure of a mistyped name; its help lists the known ones, the nearest first.
pub(super) fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    let known: Vec<&str> = known.collect();
    let near = nearest(name, known.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    Failure::usage(format!("unknown {what} `{name}`"))
        .help(format!("{near}the {what}s are {}", known.join(", ")))
}

pub(super) fn start(kind: GameKind, setup: &Value) -> Result<Box<dyn AnyGame>, Failure> {
    kind.start(setup).map_err(|error| setup_failure(&error))
}

/// Returns the failure of a setup that a game refuses.
pub(super) fn setup_failure(error: &SetupError) -> Failure {
    Failure::usage(error.to_string()).help(error.help.clone())
}

/// Reads `KEY=VALUE` pairs and JSON objects into one object. A value that isn't JSON is a string.
pub(super) fn read_pairs(option: &str, pairs: &[String]) -> Result<Value, Failure> {
    let mut fields = Map::new();
    for pair in pairs {
        if pair.trim_start().starts_with('{') {
            let object = parse_strict(pair.as_bytes())
                .map_err(|error| Failure::usage(format!("{option} {pair}: {error}")))?;
            fields.extend(object.as_object().cloned().unwrap_or_default());
            continue;
        }
        let (key, value) = pair.split_once('=').ok_or_else(|| {
            Failure::usage(format!("{option} {pair}: expected KEY=VALUE or a JSON object"))
        })?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        fields.insert(key.trim().to_owned(), value);
    }
    Ok(Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use super::{find_kind, read_pairs};
    use serde_json::json;

    #[test]
    fn values_are_json_where_they_parse() {
        let pairs = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            read_pairs("--setup", &words)
        };
        assert_eq!(
            pairs(&["size=5", "swap=pieces"]).unwrap(),
            json!({"size": 5, "swap": "pieces"})
        );
        assert_eq!(pairs(&["open=[[0,0]]"]).unwrap(), json!({"open": [[0, 0]]}));
        assert_eq!(pairs(&[r#"{"size":5}"#, "size=6"]).unwrap(), json!({"size": 6}));
        assert!(pairs(&["size"]).unwrap_err().to_string().contains("KEY=VALUE"));
        assert!(pairs(&["{size}"]).is_err());
    }

    #[test]
    fn a_mistyped_game_names_the_nearest() {
        let failure = find_kind("hexx").unwrap_err();
        assert!(failure.help_text().unwrap().contains("did you mean `hex`?"));
    }
}
