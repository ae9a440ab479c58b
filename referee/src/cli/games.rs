//! `games`: what can be played.

use super::output::{print, print_json, row, table};
use super::setup::{find_kind, read_pairs};
use crate::reading::report::aligned;
use clap::Args;
use referee_games::{About, GAMES, GameKind};
use referee_process::Failure;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Lists the games, or tells all about one.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The game to tell about
    game: Option<String>,
    /// The setup whose start the notes are about: KEY=VALUE, or one JSON object
    #[arg(long, short = 's', value_name = "KEY=VALUE", requires = "game")]
    setup: Vec<String>,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// The games as `games --json` prints them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AllTold {
    /// The games.
    games: Vec<Told>,
}

/// A game in [`AllTold`].
#[derive(Debug, Serialize, JsonSchema)]
struct Told {
    /// The name.
    name: &'static str,
    /// The revision of the rules.
    rules: u32,
    /// Title, summary, seats, source, setup fields, actions with examples, reasons, score and
    /// variants.
    #[schemars(with = "serde_json::Map<String, Value>")]
    about: About,
    /// Each seat's colour at the start.
    colours: Vec<&'static str>,
    /// What to know before playing from this start.
    notes: Vec<String>,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let kinds = match &options.game {
        Some(name) => vec![find_kind(name)?],
        None => GAMES.to_vec(),
    };
    let setup = read_pairs("--setup", &options.setup)?;
    let told =
        kinds.into_iter().map(|kind| tell(kind, &setup)).collect::<Result<Vec<Told>, Failure>>()?;
    match &options.game {
        _ if options.json => print_json(&AllTold { games: told }),
        Some(_) => print(&one(&told[0])),
        None => print(&list(&told)),
    }
}

fn tell(kind: GameKind, setup: &Value) -> Result<Told, Failure> {
    let game = super::setup::start(kind, setup)?;
    let (colours, notes) = (game.colours(), game.notes());
    Ok(Told { name: kind.name, rules: kind.rules, about: kind.about(), colours, notes })
}

fn list(games: &[Told]) -> String {
    let mut rows = vec![row(["game", "seats", "what it is"])];
    rows.extend(games.iter().map(|game| row([game.name, &seats(&game.about), game.about.summary])));
    table(&rows)
}

fn seats(about: &About) -> String {
    let seats: Vec<String> = about.seats.iter().map(u8::to_string).collect();
    seats.join(", ")
}

fn one(game: &Told) -> String {
    let about = &game.about;
    let mut text = format!("{} ({}, rules {})\n", about.title, game.name, game.rules);
    let add = |text: &mut String, line: &str| text.extend([line, "\n"]);
    add(&mut text, about.summary);
    add(&mut text, &format!("Seats: {}. Source: {}.", seats(about), about.source));
    for note in &game.notes {
        add(&mut text, &format!("Note: {note}."));
    }
    add(&mut text, "\nSetup (--setup KEY=VALUE):");
    let fields = about.setup.iter().map(|field| {
        let default = format!("default {}", field.default);
        row([field.name, &field.values, &default, field.meaning])
    });
    let position = row(["position", "as in `turn`", "none", "where to start from"]);
    text.push_str(&indented(&fields.chain([position]).collect::<Vec<_>>()));
    add(&mut text, "\nActions (as people write them; as JSON):");
    let actions =
        about.actions.iter().map(|form| row([form.text, &form.example.to_string(), form.meaning]));
    text.push_str(&indented(&actions.collect::<Vec<_>>()));
    add(&mut text, "\nReasons for an end:");
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
