//! Writes a game as SGF.

use super::super::Hex;
use super::super::action::Action;
use super::super::setup::{Setup, Side, Swap};
use super::{GAME_NUMBER, SWAP_PIECES, SWAP_SIDES, letter, to_sgf};
use crate::any::start;
use crate::{Game, GameRecord, RecordEnd, Turn};
use referee_protocol::{Seat, read_typed};
use std::fmt::Write;

/// The number of moves per line.
const MOVES_A_LINE: usize = 10;

/// Writes a file with this game.
pub(super) fn write(record: &GameRecord) -> Result<String, String> {
    let mut game = start::<Hex>(&record.setup).map_err(|error| error.to_string())?;
    let setup = Game::setup(&game);
    let mut moves = Vec::new();
    for action in &record.actions {
        moves.push(play(&mut game, &setup, action)?);
    }
    let side = |seat| game.side(seat);
    if let RecordEnd::Resigned(seat) = record.end {
        moves.push(format!("{}[resign]", letter(side(seat))));
    }
    let colours = setup.colours();
    let mut text = root(record, &setup, colours);
    property(&mut text, "RE", &result(record.end, &game));
    let at_start = setup.position.as_ref().filter(|position| position.turn > 0);
    if let Some(position) = at_start {
        for (name, stones) in ["AB", "AW"].into_iter().zip(&position.stones) {
            if !stones.is_empty() {
                text.push_str(name);
            }
            for &at in stones {
                write!(text, "[{}]", to_sgf(at)).expect("text takes text");
            }
        }
    }
    let turn = at_start.map_or(0, |position| position.turn);
    let first = colours[usize::from(!turn.is_multiple_of(2))];
    if at_start.is_some() || first != Side::default() {
        property(&mut text, "PL", &letter(first).to_string());
    }
    if at_start.is_some() {
        // The number shows whether there was a swap, which the stones alone don't.
        let number = format!("MN[{}]", turn + 1);
        match moves.first_mut() {
            Some(step) => step.push_str(&number),
            None => moves.push(number),
        }
    }
    for line in moves.chunks(MOVES_A_LINE) {
        text.push('\n');
        for step in line {
            write!(text, ";{step}").expect("text takes text");
        }
    }
    if !record.comment.trim().is_empty() {
        write!(text, "C[{}]", escaped(record.comment.trim(), true)).expect("text takes text");
    }
    text.push_str(")\n");
    Ok(text)
}

/// Returns the root node: what is played, by whom, and when.
fn root(record: &GameRecord, setup: &Setup, colours: [Side; 2]) -> String {
    let mut text = "(;FF[4]CA[UTF-8]".to_owned();
    write!(text, "AP[Referee:{}]", env!("CARGO_PKG_VERSION")).expect("text takes text");
    property(&mut text, "GM", GAME_NUMBER);
    property(&mut text, "SZ", &setup.size.to_string());
    let of = |side| record.names.get(usize::from(colours[0] != side)).cloned().flatten();
    let values = [
        ("GN", record.title.clone()),
        ("PB", of(Side::Black)),
        ("PW", of(Side::Red)),
        ("DT", record.date.clone()),
        ("RU", rule(setup.swap).map(str::to_owned)),
    ];
    for (name, value) in values {
        if let Some(value) = value {
            property(&mut text, name, &escaped(&value, false));
        }
    }
    text
}

fn property(text: &mut String, name: &str, value: &str) {
    write!(text, "{name}[{value}]").expect("text takes text");
}

/// Returns the name of a swap rule.
fn rule(swap: Swap) -> Option<&'static str> {
    match swap {
        Swap::None => None,
        Swap::Pieces => Some(SWAP_PIECES),
        Swap::Sides => Some(SWAP_SIDES),
    }
}

/// Plays an action and returns it as written.
fn play(game: &mut Hex, setup: &Setup, action: &serde_json::Value) -> Result<String, String> {
    let number = game.turn_number();
    let failed = |text: String| format!("turn {number}: {text}");
    let action: Action = read_typed(action).map_err(failed)?;
    let side = match game.turn() {
        Turn::Of(seat) => game.side(seat),
        Turn::Over(_) | Turn::Chance(_) => return Err(failed("the game is over".to_owned())),
    };
    game.play(&action).map_err(|illegal| failed(illegal.to_string()))?;
    let word = match action {
        Action::Place { at } => to_sgf(at),
        Action::Swap {} => rule(setup.swap).unwrap_or_default().to_owned(),
    };
    Ok(format!("{}[{word}]", letter(side)))
}

/// Returns the result: who won, by the colour at the end, and how.
fn result(end: RecordEnd, game: &Hex) -> String {
    let won_against = |seat: Seat| letter(game.side(seat).other());
    match end {
        RecordEnd::Played => {
            game.winner.map_or_else(|| "?".to_owned(), |side| format!("{}+", letter(side)))
        }
        RecordEnd::Resigned(seat) => format!("{}+Resign", won_against(seat)),
        RecordEnd::TimedOut(seat) => format!("{}+Time", won_against(seat)),
        RecordEnd::Forfeited(seat) => format!("{}+Forfeit", won_against(seat)),
        RecordEnd::Unfinished => "Void".to_owned(),
    }
}

/// Escapes a text as a value, with or without its line ends. Removes control characters.
fn escaped(text: &str, lines: bool) -> String {
    let mut value = String::new();
    for ch in text.chars() {
        match ch {
            ']' | '\\' => value.extend(['\\', ch]),
            '\n' if lines => value.push('\n'),
            ch if ch.is_control() => value.push(' '),
            ch => value.push(ch),
        }
    }
    value
}
