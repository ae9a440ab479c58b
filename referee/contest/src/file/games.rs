//! The games, and where they begin.

use super::Positions;
use super::problem::{FileError, Source};
use super::raw::{Raw, RawGame};
use crate::settings::Mistake;
use crate::{Contest, ContestGame, Opening};
use referee_games::{Games, Turn, nearest};
use referee_protocol::parse_strict;
use referee_protocol::sanitize::sanitize;
use referee_protocol::sanitize::sanitize_name;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The most plies of a drawn opening.
pub const PLIES_MAX: u32 = 100;
/// The most games of a contest.
const GAMES_MAX: usize = 100;
/// The most positions in a file with openings.
const POSITIONS_MAX: usize = 100_000;

/// Reads the games.
pub(super) fn read(raw: &Raw, known: &Games) -> Result<Vec<ContestGame>, Mistake> {
    let games = match (&raw.game, &raw.games[..]) {
        (None, []) => {
            return Err(Mistake::at("game", "missing key `game`")
                .help("add game = \"NAME\" at the top; `referee games` lists the games"));
        }
        (Some(game), []) => vec![one("", game, None, known)?],
        (Some(_), _) => {
            return Err(Mistake::at("game", "use either `game` or `[[games]]`, not both"));
        }
        (None, games) if games.len() > GAMES_MAX => {
            let message = format!("a contest can have at most {GAMES_MAX} games");
            return Err(Mistake::at(format!("games.{GAMES_MAX}.game"), message));
        }
        (None, games) => games
            .iter()
            .enumerate()
            .map(|(index, game)| {
                one(&format!("games.{index}."), &game.game, game.setup.as_ref(), known)
            })
            .collect::<Result<_, _>>()?,
    };
    let first = games[0].seats;
    if let Some(other) = games.iter().position(|game| game.seats != first) {
        let (one, another) = (&games[0], &games[other]);
        let message = format!(
            "{} has {}, but {} has {first}: all games of a contest need the same number of seats",
            another.game,
            seats(another.seats),
            one.game
        );
        return Err(Mistake::at(format!("games.{other}.game"), message));
    }
    named(&raw.games, games)
}

/// Returns the games that a contest file names, in order, as far as it can be read.
pub fn game_names(text: &str) -> Vec<String> {
    let Ok(file) = text.trim_start_matches('\u{feff}').parse::<toml::Table>() else {
        return Vec::new();
    };
    let tables = file.get("games").and_then(toml::Value::as_array).into_iter().flatten();
    let listed = tables.filter_map(|table| table.get("game"));
    let all = file.get("game").into_iter().chain(listed);
    all.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// Returns a number of seats: `1 seat`, `2 seats`.
pub(super) fn seats(count: usize) -> String {
    if count == 1 { "1 seat".to_owned() } else { format!("{count} seats") }
}

/// Reads a game whose keys begin with `table`.
fn one(
    table: &str,
    name: &str,
    setup: Option<&Map<String, Value>>,
    known: &Games,
) -> Result<ContestGame, Mistake> {
    let at = |key: &str, message: String| Mistake::at(format!("{table}{key}"), message);
    let Some(kind) = known.find(name) else {
        let names: Vec<&str> = known.iter().map(|kind| kind.name).collect();
        let near = known.nearest(name).map(|near| format!("did you mean `{}`?", near.name));
        return Err(at("game", format!("unknown game `{}`", sanitize(name)))
            .help(near.unwrap_or_else(|| {
                let (names, name) = (names.join(", "), sanitize(name));
                format!("the games are {names}; a game program is named by its path, such as `./{name}`, also if a config \
                         file has a name for it")
            })));
    };
    let given = Value::Object(setup.cloned().unwrap_or_default());
    let start = kind.start(&given).map_err(|error| {
        let key = if setup.is_some() { "setup" } else { "game" };
        at(key, sanitize(&error.to_string())).help(error.help.clone())
    })?;
    Ok(ContestGame::new(start.as_ref()))
}

/// Gives every game its name: the given one, the game's own, or that with its setup.
fn named(raw: &[RawGame], mut games: Vec<ContestGame>) -> Result<Vec<ContestGame>, Mistake> {
    let own: Vec<String> = games.iter().map(|game| game.game.clone()).collect();
    for (index, game) in games.iter_mut().enumerate() {
        let raw = raw.get(index);
        game.name = match raw.and_then(|raw| raw.name.as_ref()) {
            Some(name) => sanitize_name(name),
            None if own.iter().filter(|other| **other == game.game).count() == 1 => {
                game.game.clone()
            }
            None => {
                let setup = raw.and_then(|raw| raw.setup.as_ref());
                let pairs = setup.into_iter().flat_map(|setup| setup.iter());
                let pairs = pairs.map(|(key, value)| format!(" {key}={value}"));
                sanitize_name(&(game.game.clone() + &pairs.collect::<String>()))
            }
        };
    }
    for (index, game) in games.iter().enumerate() {
        let is_named = raw.get(index).is_some_and(|raw| raw.name.is_some());
        let key = format!("games.{index}.{}", if is_named { "name" } else { "game" });
        if game.name.is_empty() {
            return Err(Mistake::at(key, "the game needs a name"));
        }
        if games[..index].iter().any(|other| other.name == game.name) {
            let message = format!("two games are called `{}`", game.name);
            return Err(Mistake::at(key, message).help("give each its own `name`"));
        }
    }
    Ok(games)
}

/// Reads the positions of an openings file: one JSON position a line, or `{"game":..,"position":..}`.
pub fn positions(
    openings: &Source,
    games: &[ContestGame],
    known: &Games,
) -> Result<Positions, FileError> {
    let mut positions = vec![Vec::new(); games.len()];
    let mut start = 0;
    for line in openings.text.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        let span = start..end;
        start += line.len();
        if line.trim().is_empty() {
            continue;
        }
        let (index, position) = position(line.trim(), games, known)
            .map_err(|(message, help)| openings.error(span.clone(), message).or_help(help))?;
        positions[index].push(Opening(position));
        if positions[index].len() > POSITIONS_MAX {
            let message = format!("more than {POSITIONS_MAX} openings for one game");
            return Err(openings.error(span, message));
        }
    }
    if positions.iter().all(Vec::is_empty) {
        return Err(openings.error_of_all("the file contains no openings"));
    }
    Ok(positions)
}

/// What is wrong with a line, and what to do about it.
type Wrong = (String, Option<String>);

/// A position with its game.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tagged {
    game: String,
    position: Value,
}

fn position(line: &str, games: &[ContestGame], known: &Games) -> Result<(usize, Value), Wrong> {
    let wrong = |text: String| (sanitize(&text), None);
    let value = parse_strict(line.as_bytes()).map_err(|error| wrong(error.to_string()))?;
    let (index, position) = match Tagged::deserialize(&value) {
        Ok(Tagged { game, position }) => (named_game(&game, games)?, position),
        Err(_) if games.len() == 1 => (0, value),
        Err(_) => {
            let message = "the contest has several games: name the one of this position";
            let help = r#"{"game":"NAME","position":{..}}"#;
            return Err((message.to_owned(), Some(help.to_owned())));
        }
    };
    let game = &games[index];
    let mut setup = game.setup.clone();
    setup["position"] = position.clone();
    let kind = game.kind(known).map_err(|error| wrong(error.to_string()))?;
    let begun = kind.start(&setup).map_err(|error| wrong(error.to_string()))?;
    if let Turn::Over(outcome) = begun.turn() {
        return Err(wrong(format!(
            "the game is already over in this position: {}",
            outcome.reason
        )));
    }
    Ok((index, position))
}

/// Returns the place of the game with this name, the contest's or the game's own.
fn named_game(name: &str, games: &[ContestGame]) -> Result<usize, Wrong> {
    let mut own = (0..games.len()).filter(|&index| games[index].game == name);
    let only = own.next().filter(|_| own.next().is_none());
    let found = games.iter().position(|game| game.name == name).or(only);
    found.ok_or_else(|| {
        let known = || games.iter().map(|game| game.name.as_str());
        let near = nearest(name, known()).map(|near| format!("did you mean `{near}`?"));
        let all = || format!("the contest's games are {}", known().collect::<Vec<_>>().join(", "));
        let name = sanitize(name);
        let message = format!("the contest has no game `{name}`, or several of that name");
        (message, Some(near.unwrap_or_else(all)))
    })
}

/// Draws an opening of each game, so that failures are reported before the first game.
pub(super) fn check_drawn(contest: &Contest, known: &Games) -> Result<(), Mistake> {
    if contest.openings.plies == 0 {
        return Ok(());
    }
    for (index, game) in contest.games.iter().enumerate() {
        let drawn = game.kind(known).map(|kind| contest.opening(kind, index, 0));
        if let Ok(Err(error)) = drawn {
            return Err(Mistake::at("openings.plies", format!("{}: {error}", game.name)));
        }
    }
    Ok(())
}
