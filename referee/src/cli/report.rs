//! Matches in words: who played what under which clock, and how it ended.

use super::output::aligned;
use crate::plain::tame;
use crate::times::{show_clock, show_time};
use referee_protocol::{Header, Outcome, Result as Ended, Verdict};
use serde_json::Value;
use std::fmt::Write;

/// What is played, by whom.
pub(super) fn title(header: &Header) -> String {
    let mut text = header.game.clone();
    for (key, value) in header.setup.as_object().into_iter().flatten() {
        if key != "position" {
            write!(text, " {key}={}", plain(value)).ok();
        }
    }
    let mut text = tame(&text);
    let id = tame(&header.match_id);
    write!(text, "\nclock {}, seed {}, match {id}\n", show_clock(&header.clock), header.seed).ok();
    let rows: Vec<Vec<String>> = header
        .seats
        .iter()
        .map(|seat| vec![format!("  seat {}", seat.seat), tame(&seat.colour), tame(&seat.name)])
        .collect();
    text + &aligned(&rows)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// How it ended: a sentence and a row for each seat.
pub(super) fn verdict(header: &Header, outcome: Option<&Outcome>, verdict: &Verdict) -> String {
    let mut text = tame(&sentence(header, outcome, verdict));
    text.push('\n');
    let scores = outcome.and_then(|outcome| outcome.scores.as_ref());
    let mut head = vec!["  seat", "agent", "place"];
    if scores.is_some() {
        head.push("score");
    }
    head.extend(["turns", "time", "cpu", "fault"]);
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for (index, seat) in verdict.seats.iter().enumerate() {
        let place = verdict.places.as_ref().and_then(|places| places.get(index));
        let place = place.map(u32::to_string);
        let fault = seat
            .fault
            .as_ref()
            .map(|fault| format!("{} in turn {}: {}", fault.kind, fault.turn, tame(&fault.text)));
        let mut row = vec![
            format!("  {}", seat.seat),
            header.seats.get(index).map_or_else(String::new, |seat| tame(&seat.name)),
            place.unwrap_or_else(|| "-".to_owned()),
        ];
        if let Some(scores) = scores {
            row.push(scores.get(index).map_or_else(String::new, i64::to_string));
        }
        row.extend([seat.turns.to_string(), show_time(seat.used_ms), show_time(seat.cpu_ms)]);
        row.push(fault.unwrap_or_else(|| "-".to_owned()));
        rows.push(row);
    }
    text + &aligned(&rows)
}

fn sentence(header: &Header, outcome: Option<&Outcome>, verdict: &Verdict) -> String {
    if let Some(void) = &verdict.void {
        return format!("void ({}): {}", void.cause, void.text);
    }
    let places = verdict.places.as_deref().unwrap_or_default();
    let best: Vec<&str> = header
        .seats
        .iter()
        .zip(places)
        .filter(|&(_, &place)| place == 1)
        .map(|(seat, _)| seat.name.as_str())
        .collect();
    let why = match (outcome, verdict.result) {
        (Some(outcome), Ended::Played) => outcome.reason.clone(),
        _ => verdict.reason.clone(),
    };
    match (best.as_slice(), header.seats.len()) {
        ([], _) => format!("not solved: {why}"),
        ([one], 1) => format!("{one} solved it: {why}"),
        ([one], _) => format!("{one} wins: {why}"),
        (all, count) if all.len() == count => format!("a draw: {why}"),
        (some, _) => format!("{} share the first place: {why}", some.join(" and ")),
    }
}
