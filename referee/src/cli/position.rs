//! `position`: apply actions, show what results.

use super::output::{BoardOptions, print, print_json, stdout_has_colour};
use super::setup::GameOptions;
use clap::Args;
use referee_games::{AnyGame, Refusal, Turn, kind};
use referee_match::transcript::read;
use referee_play::inputs::{read_text, read_transcript};
use referee_process::Failure;
use referee_protocol::{Event, Outcome, Seat, parse_strict};
use referee_render::{Style, terminal};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::process::ExitCode;

/// Applies actions and shows the position that results.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    game: GameOptions,
    /// Actions to apply, one a line, as JSON or as people write them; `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with = "transcript")]
    actions: Option<String>,
    /// A transcript to take setup and actions from; `latest` is the newest in ./matches
    #[arg(long, value_name = "FILE", conflicts_with = "setup")]
    transcript: Option<String>,
    /// How many of the actions to apply
    #[arg(long)]
    ply: Option<usize>,
    /// Shows every position from the start on
    #[arg(long)]
    every: bool,
    /// Prints one JSON object for each position
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    board: BoardOptions,
}

/// An action to apply, and the line that it came from.
struct Step {
    line: usize,
    text: String,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let (mut game, mut steps) = prepare(options)?;
    if let Some(ply) = options.ply {
        if ply > steps.len() {
            let there = steps.len();
            return Err(Failure::usage(format!("--ply {ply}: there are only {there} actions")));
        }
        steps.truncate(ply);
    }
    if options.every {
        show(options, game.as_ref())?;
    }
    for step in &steps {
        if let Err(why) = apply(game.as_mut(), &step.text) {
            if !options.every {
                show(options, game.as_ref())?;
            }
            let text = format!("line {}: {}: {why}", step.line, step.text.trim());
            let turn = game.turn_number();
            return Err(Failure::operation(text)
                .help(format!("the actions before it were applied; it would be turn {turn}")));
        }
        if options.every {
            show(options, game.as_ref())?;
        }
    }
    if !options.every {
        show(options, game.as_ref())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn prepare(options: &Options) -> Result<(Box<dyn AnyGame>, Vec<Step>), Failure> {
    if let Some(name) = &options.transcript {
        return from_transcript(options, name);
    }
    let game = options.game.start()?;
    let text = match &options.actions {
        Some(name) => read_text(name)?,
        None => String::new(),
    };
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    Ok((game, lines.map(|(line, text)| Step { line, text: text.to_owned() }).collect()))
}

fn from_transcript(
    options: &Options,
    name: &str,
) -> Result<(Box<dyn AnyGame>, Vec<Step>), Failure> {
    let bytes = read_transcript(name)?;
    let mut reading =
        read(&bytes).map_err(|error| Failure::operation(format!("{name}: {error}")))?;
    let wanted = options.game.kind()?.name;
    let header = &reading.header;
    if header.game != wanted {
        let text = format!("{name} is a transcript of {}, not of {wanted}", header.game);
        return Err(Failure::usage(text));
    }
    let kind = kind(wanted).expect("the name came from the registry");
    let game = super::setup::start(kind, &header.setup)?;
    let mut steps = Vec::new();
    while let Some(event) = reading.next() {
        let line = usize::try_from(reading.line()).unwrap_or(usize::MAX);
        match event {
            Event::Played(played) => steps.push(Step { line, text: played.action.to_string() }),
            Event::Retired(retired) => {
                let text = format!("{RETIRE}{}", retired.seat);
                steps.push(Step { line, text });
            }
            _ => {}
        }
    }
    Ok((game, steps))
}

/// How a retirement stands among the actions of a transcript; no action begins like it.
const RETIRE: &str = "retire ";

fn apply(game: &mut dyn AnyGame, text: &str) -> Result<(), String> {
    if let Some(seat) = text.strip_prefix(RETIRE) {
        let seat = seat.parse().map_err(|_| "no such seat".to_owned())?;
        game.retire(Seat(seat));
        return Ok(());
    }
    let action: Value = if text.trim_start().starts_with('{') {
        parse_strict(text.trim().as_bytes()).map_err(|garbled| format!("not JSON: {garbled}"))?
    } else {
        game.parse_action(text)?
    };
    game.play(&action).map(drop).map_err(|refusal| match refusal {
        Refusal::Malformed(text) => format!("no action of this game: {text}"),
        Refusal::Illegal(illegal) => format!("illegal: {illegal}"),
    })
}

fn show(options: &Options, game: &dyn AnyGame) -> Result<(), Failure> {
    if options.json {
        return print_json(&as_json(game));
    }
    let mut text = String::new();
    if let Some(style) = options.board.style(stdout_has_colour()) {
        text.push_str(&terminal(&game.view(), &Style { legend: false, ..style }));
    }
    text.push_str(&caption(game));
    text.push('\n');
    print(&text)
}

/// A position as `position --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Told {
    /// The position's own turn number.
    turn: u64,
    /// Whose turn it is; null when the game is over.
    to_move: Option<Seat>,
    /// The position, as the game writes it.
    position: Value,
    /// Every legal action, in the rules' order.
    actions: Vec<Value>,
    /// How the game ended; null while it goes on.
    outcome: Option<Outcome>,
}

/// What a program gets to know of a position.
fn as_json(game: &dyn AnyGame) -> Told {
    let (to_move, outcome) = match game.turn() {
        Turn::Of(seat) => (Some(seat), None),
        Turn::Over(outcome) => (None, Some(outcome)),
    };
    Told {
        turn: game.turn_number(),
        to_move,
        position: game.position(),
        actions: game.actions(),
        outcome,
    }
}

/// What a person gets to know of it, in a line.
pub(super) fn caption(game: &dyn AnyGame) -> String {
    let turn = game.turn_number();
    match game.turn() {
        Turn::Of(seat) => {
            let colour = &game.colours_now()[seat.index()];
            let count = game.actions().len();
            let actions = if count == 1 { "action" } else { "actions" };
            format!("turn {turn}: seat {seat} ({colour}) to move, {count} legal {actions}")
        }
        Turn::Over(outcome) => {
            let places: Vec<String> = outcome.places.iter().map(u32::to_string).collect();
            let scores = outcome.scores.as_ref().map(|scores| format!(", scores {scores:?}"));
            let scores = scores.unwrap_or_default();
            format!("turn {turn}: over, {}, places {}{scores}", outcome.reason, places.join(","))
        }
    }
}
