//! Positions, one action after the other: of a recorded match, or of actions that somebody wrote.

use super::unreadable;
use referee_games::{AnyGame, GameKind, Refusal, Turn};
use referee_match::transcript::{TranscriptWalk, read, walk};
use referee_process::Failure;
use referee_protocol::{Event, Outcome, Seat, parse_strict};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Which positions are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    /// How many of the actions are applied; all of them without a number.
    pub ply: Option<usize>,
    /// Every position from the start on, not the last one alone.
    pub every: bool,
}

/// The positions of a recorded match, which must be one of this game.
pub fn recorded(
    bytes: &[u8],
    file: &str,
    kind: GameKind,
    shown: Shown,
    show: impl FnMut(&dyn AnyGame) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let steps = walk(bytes).map_err(|error| unreadable(file, &error))?;
    let game = &steps.walk().header().game;
    if game != kind.name {
        let text = format!("{file} is a transcript of {game}, not of {}", kind.name);
        return Err(Failure::usage(text));
    }
    let is_action = |event: &Event| matches!(event, Event::Played(_) | Event::Retired(_));
    let count = read(bytes).map_or(0, |reading| reading.filter(is_action).count());
    let apply = |steps: &mut TranscriptWalk<'_>| {
        while let Some(event) = steps.step().map_err(|error| unreadable(file, &error))? {
            if is_action(&event) {
                return Ok(true);
            }
        }
        Ok(false)
    };
    positions(steps, |steps| steps.walk().game(), apply, count, shown, show)
}

/// The positions of a game to which actions are applied, one a line, as JSON or as people write them.
pub fn given(
    game: Box<dyn AnyGame>,
    text: &str,
    shown: Shown,
    show: impl FnMut(&dyn AnyGame) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let count = lines.clone().count();
    let apply = |game: &mut Box<dyn AnyGame>| {
        let Some((line, text)) = lines.next() else { return Ok(false) };
        let failed =
            |why: String| Failure::operation(format!("line {line}: {}: {why}", text.trim()));
        apply(game.as_mut(), text).map(|()| true).map_err(failed)
    };
    positions(game, |game| game.as_ref(), apply, count, shown, show)
}

/// Shows positions of what is `played`: `apply` goes on by an action, and is false where there is none.
fn positions<T>(
    mut played: T,
    game: impl Fn(&T) -> &dyn AnyGame,
    mut apply: impl FnMut(&mut T) -> Result<bool, Failure>,
    count: usize,
    shown: Shown,
    mut show: impl FnMut(&dyn AnyGame) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Shown { ply, every } = shown;
    if let Some(ply) = ply.filter(|&ply| ply > count) {
        return Err(Failure::usage(format!("--ply {ply}: there are only {count} actions")));
    }
    let mut applied = Ok(true);
    for _ in 0..ply.unwrap_or(usize::MAX) {
        if every {
            show(game(&played))?;
        }
        applied = apply(&mut played);
        if !matches!(applied, Ok(true)) {
            break;
        }
    }
    // The last one has been shown, unless it is new.
    if !every || matches!(applied, Ok(true)) {
        show(game(&played))?;
    }
    let turn = game(&played).turn_number();
    applied.map(drop).map_err(|failure| {
        failure.help(format!("the actions before it were applied; it would be turn {turn}"))
    })
}

fn apply(game: &mut dyn AnyGame, text: &str) -> Result<(), String> {
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

/// A position as `position --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Told {
    /// The position's own turn number.
    pub turn: u64,
    /// Whose turn it is; null when the game is over.
    pub to_move: Option<Seat>,
    /// The position, as the game writes it.
    pub position: Value,
    /// Every legal action, in the rules' order.
    pub actions: Vec<Value>,
    /// How the game ended; null while it goes on.
    pub outcome: Option<Outcome>,
}

/// What a program gets to know of a position.
pub fn as_json(game: &dyn AnyGame) -> Told {
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
pub fn caption(game: &dyn AnyGame) -> String {
    let turn = game.turn_number();
    match game.turn() {
        Turn::Of(seat) => {
            let colour = &game.current_colours()[seat.index()];
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
