//! A recorded match as text, ply by ply.

use super::{TurnChoice, report};
use referee_games::Games;
use referee_match::summary::fault_in_turn;
use referee_match::transcript::{ReadEnd, Walk, walk};
use referee_play::input_files::unreadable;
use referee_process::Failure;
use referee_protocol::sanitize::{sanitize, sanitize_stderr};
use referee_protocol::{Event, Seat};
use referee_render::{Style, terminal};
use std::fmt::Write;

/// Prints a match, or one turn of it, event by event, up to the first error. Without a style, draws no
/// boards.
pub fn print(
    bytes: &[u8],
    games: &Games,
    file: &str,
    only: Option<TurnChoice>,
    style: Option<&Style>,
    mut out: impl FnMut(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut steps = walk(bytes, games).map_err(|error| unreadable(file, &error))?;
    if matches!(only, None | Some(TurnChoice::Start)) {
        out(&format!("{}\n{}", report::title(steps.walk().header()), board(steps.walk(), style)))?;
    }
    if only == Some(TurnChoice::Start) {
        return Ok(());
    }
    let (mut shown, mut last) = (false, 0);
    loop {
        let turn = steps.walk().game().turn_number();
        let step = steps.step().map_err(|error| unreadable(file, &error))?;
        let Some(event) = step else { break };
        if matches!(event, Event::Turn(_)) {
            last = turn;
        }
        if only.is_none_or(|only| only == TurnChoice::After(turn)) {
            shown = true;
            out(&happened(steps.walk(), turn, &event, style))?;
        }
    }
    if let (Some(TurnChoice::After(turn)), false) = (only, shown) {
        return Err(Failure::usage(format!("--turn {turn}: the last turn is {last}")));
    }
    if let Some(ReadEnd::Cut { line }) = steps.end() {
        let text = format!("{file}: the transcript is cut off at line {line}");
        return Err(Failure::operation(text));
    }
    Ok(())
}

/// Returns the text of an event of this turn. The match is in the state after it.
fn happened(walk: &Walk, turn: u64, event: &Event, style: Option<&Style>) -> String {
    let name = |seat: Seat| sanitize(&walk.header().seats[seat.index()].name);
    let mut text = String::new();
    match event {
        Event::Played(played) => {
            let shown = sanitize(&walk.action_text(played.seat, &played.action.value()));
            let (name, used) = (name(played.seat), played.used_ms);
            writeln!(text, "\nturn {turn}: {name} {shown} ({used} ms)").ok();
            text.push_str(&board(walk, style));
        }
        Event::Drawn(drawn) => {
            writeln!(text, "\ndrawn: {}", sanitize(&walk.draw_text(drawn))).ok();
            text.push_str(&board(walk, style));
        }
        Event::Retired(retired) => {
            let (name, what) = (name(retired.seat), sanitize(&fault_in_turn(&retired.fault)));
            writeln!(text, "\n{name} {what}, and is out").ok();
        }
        Event::Stderr(stderr) if !walk.hides(stderr.seat) => {
            let name = name(stderr.seat);
            for line in stderr.text.lines() {
                writeln!(text, "  {name} stderr: {}", sanitize_stderr(line)).ok();
            }
        }
        Event::Over(over) => {
            let verdict = report::verdict(walk.header(), over.outcome.as_ref(), &over.verdict);
            write!(text, "\n{verdict}").ok();
        }
        _ => {}
    }
    text
}

fn board(walk: &Walk, style: Option<&Style>) -> String {
    style.map(|style| terminal(&walk.view(), style)).unwrap_or_default()
}
