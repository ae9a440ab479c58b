//! `games`: lists the games.

use super::config::Config;
use super::global::Global;
use super::output::{print, print_json, row, table};
use super::setup::{find_kind, read_pairs};
use crate::reading::report::aligned;
use clap::Args;
use referee_games::{About, GAMES, GameKind};
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

/// List the games, or describe one
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee games\n  \
    referee games hex --setup size=7")]
pub(super) struct Options {
    /// Game to describe. Defaults to a list of all games
    game: Option<String>,
    /// Game setup: KEY=VALUE (repeatable) or a JSON object. Defaults to the game's usual setup
    #[arg(long, short = 's', value_name = "KEY=VALUE", requires = "game")]
    setup: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The games, as `games --json` prints them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GamesReport {
    /// The games.
    games: Vec<GameReport>,
    /// The game programs with short names in config files, which are not started for the list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    programs: Vec<NamedProgram>,
}

/// A game program with a short name in [`GamesReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct NamedProgram {
    /// The name that stands for it as a GAME.
    name: String,
    /// Its folder.
    folder: PathBuf,
}

/// A game in [`GamesReport`].
#[derive(Debug, Serialize, JsonSchema)]
struct GameReport {
    /// The name.
    name: &'static str,
    /// The version of the rules.
    rules: u32,
    /// Title, summary, seats, source, setup fields, actions with examples, reasons, score and
    /// variants.
    #[schemars(with = "serde_json::Map<String, Value>")]
    about: &'static About,
    /// Each seat's colour at the start.
    colours: Vec<&'static str>,
    /// Notes on this setup.
    notes: Vec<String>,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let kinds = match &options.game {
        Some(name) => vec![find_kind(name)?],
        None => GAMES.to_vec(),
    };
    let setup = read_pairs("--setup", &options.setup)?;
    let games = kinds
        .into_iter()
        .map(|kind| report(kind, &setup))
        .collect::<Result<Vec<GameReport>, Failure>>()?;
    let named = if options.game.is_some() || global.no_config {
        Config::default()
    } else {
        Config::load()?
    };
    let programs = named.games.iter();
    let programs = programs
        .map(|(name, value)| NamedProgram { name: name.clone(), folder: value.folder() })
        .collect();
    let report = GamesReport { games, programs };
    match &options.game {
        _ if options.json => print_json(&report),
        Some(_) => print(&one(&report.games[0])),
        None => print(&list(&report)),
    }
}

fn report(kind: GameKind, setup: &Value) -> Result<GameReport, Failure> {
    let game = super::setup::start(kind, setup)?;
    let (colours, notes) = (game.colours(), game.notes());
    Ok(GameReport { name: kind.name, rules: kind.rules, about: kind.about(), colours, notes })
}

fn list(report: &GamesReport) -> String {
    let mut rows = vec![row(["game", "seats", "summary"])];
    let built_in = report.games.iter();
    rows.extend(built_in.map(|game| row([game.name, &seats(game.about), game.about.summary])));
    let program = |it: &NamedProgram| {
        row([
            &sanitize(&it.name),
            "",
            &format!("a game program: {}", sanitize(&it.folder.display().to_string())),
        ])
    };
    rows.extend(report.programs.iter().map(program));
    table(&rows)
}

fn seats(about: &About) -> String {
    let seats: Vec<String> = about.seats.iter().map(u8::to_string).collect();
    seats.join(", ")
}

fn one(game: &GameReport) -> String {
    let about = game.about;
    let mut text = format!("{} ({}, rules {})\n", about.title, game.name, game.rules);
    let add = |text: &mut String, line: &str| text.extend([line, "\n"]);
    add(&mut text, about.summary);
    let rules = Some(about.source).filter(|source| !source.is_empty());
    let rules = rules.map_or_else(String::new, |source| format!(" Rules: {source}."));
    add(&mut text, &format!("Seats: {}.{rules}", seats(about)));
    for note in &game.notes {
        add(&mut text, &format!("Note: {note}."));
    }
    add(&mut text, "\nSetup (--setup KEY=VALUE):");
    let fields = about.setup.iter().map(|field| {
        let default = format!("default {}", field.default);
        row([field.name, &field.values, &default, field.meaning])
    });
    let position = row(["position", "as in `turn`", "none", "position to start from"]);
    text.push_str(&indented(&fields.chain([position]).collect::<Vec<_>>()));
    add(&mut text, "\nActions (text form, JSON form):");
    let actions =
        about.actions.iter().map(|form| row([form.text, &form.example.to_string(), form.meaning]));
    text.push_str(&indented(&actions.collect::<Vec<_>>()));
    add(&mut text, "\nReasons why a game ends:");
    let reasons = about.reasons.iter().map(|reason| row([reason.name, reason.meaning]));
    text.push_str(&indented(&reasons.collect::<Vec<_>>()));
    if let Some(score) = &about.score {
        let better = if score.fewer_is_better { "fewer" } else { "more" };
        add(&mut text, &format!("\nScore: {}, {better} is better.", score.unit));
    }
    text
}

fn indented(rows: &[Vec<String>]) -> String {
    aligned(rows).lines().flat_map(|line| ["  ", line, "\n"]).collect()
}
