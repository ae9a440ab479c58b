//! `game describe`: what a game program says about itself.

use super::super::output::{print, print_json, row};
use crate::reading::report::aligned;
use clap::Args;
use referee_games::wire::{CellNames, Coordinates, Described, Values};
use referee_play::game_program::Direct;
use referee_process::Failure;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Show what a game program says about itself
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  referee game describe ./tetress")]
pub(in crate::cli) struct Options {
    /// Folder of the game, with game.toml
    dir: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A game program, as `game describe --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct DescribedReport {
    /// The folder, as given.
    folder: String,
    /// The revision of the rules, from game.toml.
    rules: u32,
    /// SHA-256 of the folder, in hex.
    digest: String,
    /// The answer to `describe`.
    described: Described,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let process = Direct::prepare(&options.dir, &[])?;
    let program = process.describe().map_err(|failure| failed(&options.dir, &failure))?;
    let described = serde_json::from_value(program.record().described.clone())
        .map_err(|error| failed(&options.dir, &error))?;
    let report = DescribedReport {
        folder: options.dir.display().to_string(),
        rules: process.revision(),
        digest: process.digest().to_owned(),
        described,
    };
    if options.json {
        return print_json(&report);
    }
    print(&text(&report, |action| program.format_action(action)))
}

fn failed(folder: &Path, error: &impl std::fmt::Display) -> Failure {
    let folder = folder.display();
    Failure::operation(format!("{folder}: the rules do not describe their game: {error}"))
        .help(format!("`referee game check {folder}` shows what is wrong with them"))
}

fn text(report: &DescribedReport, action: impl Fn(&serde_json::Value) -> String) -> String {
    let game = &report.described;
    let mut text =
        format!("{} ({}, rules {})\n{}\n", game.title, game.name, report.rules, game.summary);
    let mut part = |title: &str, rows: Vec<Vec<String>>| {
        if !rows.is_empty() {
            let rows = aligned(&rows);
            let rows: String = rows.lines().flat_map(|line| ["  ", line, "\n"]).collect();
            text.extend(["\n", title, ":\n", &rows]);
        }
    };
    let setup = game.setup.iter().map(|field| {
        row([
            &field.name,
            &field.values.text(),
            &format!("default {}", field.default),
            &field.meaning,
        ])
    });
    part("Setup", setup.collect());
    let actions = game.actions.iter().map(|form| {
        let fields = form.fields.iter().map(|field| {
            let optional = if field.optional { " (optional)" } else { "" };
            let kind = match &field.values {
                Values::Integer { .. } | Values::Choice { .. } | Values::Boolean => {
                    field.values.text()
                }
                Values::Cell => "cell".to_owned(),
                Values::Cells => "cells".to_owned(),
                Values::String { max } => format!("text up to {max}"),
            };
            format!("{}: {kind}{optional}", field.name)
        });
        let fields = fields.collect::<Vec<_>>().join(", ");
        row([&action(&form.example), &form.example.to_string(), &fields, &form.meaning])
    });
    part("Actions (text, example, fields)", actions.collect());
    let pieces = game
        .pieces
        .iter()
        .map(|piece| row([&piece.name, &piece.colour, piece.text.as_deref().unwrap_or_default()]));
    part("Pieces", pieces.collect());
    let reasons =
        game.reasons.iter().map(|reason| row([&reason.name, &reason.text, &reason.meaning]));
    part("Reasons why a game ends", reasons.collect());
    let yes = |yes: bool| if yes { "yes" } else { "no" };
    let seats: Vec<String> = game.seats.iter().map(u8::to_string).collect();
    let score = game.score.as_ref().map_or_else(
        || "none".to_owned(),
        |score| {
            format!(
                "{}, {} is better",
                score.unit,
                if score.fewer_is_better { "fewer" } else { "more" }
            )
        },
    );
    let names = match game.labels {
        CellNames::Coordinates(Coordinates::Pair) => "pairs, such as 3,1",
        CellNames::Coordinates(Coordinates::LetterNumber) => "letter and number, such as b4",
        CellNames::Points(_) => "names of points",
    };
    part(
        "Properties",
        vec![
            row(["seats", &seats.join(", ")]),
            row(["score", &score]),
            row(["cells", names]),
            row(["actions are listed", yes(game.lists)]),
            row(["chance", yes(game.chance)]),
            row(["estimates", yes(game.estimates)]),
            row(["most moves", &game.plies_max.to_string()]),
            row(["digest", &report.digest]),
        ],
    );
    text
}
