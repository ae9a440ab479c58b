//! Matches as text: game, agents, clock, and verdict.

use referee_match::summary::{fault_in_turn, sentence, setup};
use referee_match::times::{show_clock, show_memory, show_time};
use referee_protocol::sanitize::sanitize;
use referee_protocol::{Header, Outcome, Verdict};
use std::fmt::Write;

/// Returns the game, clock and agents of a match.
pub fn title(header: &Header) -> String {
    let mut text = sanitize(&format!("{}{}", header.game, setup(header)));
    let id = sanitize(&header.match_id);
    write!(text, "\nclock {}, seed {}, match {id}\n", show_clock(&header.clock), header.seed).ok();
    let rows: Vec<Vec<String>> = header
        .seats
        .iter()
        .map(|seat| {
            vec![format!("  seat {}", seat.seat), sanitize(&seat.colour), sanitize(&seat.name)]
        })
        .collect();
    text + &aligned(&rows)
}

/// Returns how a match ended: a sentence, and a row per seat.
pub fn verdict(header: &Header, outcome: Option<&Outcome>, verdict: &Verdict) -> String {
    let mut text = sanitize(&sentence(header, outcome, verdict));
    text.push('\n');
    let scores = outcome.and_then(|outcome| outcome.scores.as_ref());
    let mut head = vec!["  seat", "agent", "place"];
    if scores.is_some() {
        head.push("score");
    }
    head.extend(["turns", "time", "cpu"]);
    let shows_memory = verdict.seats.iter().any(|seat| seat.peak_memory_kb.is_some());
    if shows_memory {
        head.push("memory");
    }
    head.push("fault");
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for (index, seat) in verdict.seats.iter().enumerate() {
        let place = verdict.places.as_ref().and_then(|places| places.get(index));
        let place = place.map(u32::to_string);
        let fault = seat.fault.as_ref().map(|fault| sanitize(&fault_in_turn(fault)));
        let mut row = vec![
            format!("  {}", seat.seat),
            header.seats.get(index).map_or_else(String::new, |seat| sanitize(&seat.name)),
            place.unwrap_or_else(|| "-".to_owned()),
        ];
        if let Some(scores) = scores {
            row.push(scores.get(index).map_or_else(String::new, i64::to_string));
        }
        row.extend([seat.turns.to_string(), show_time(seat.used_ms), show_time(seat.cpu_ms)]);
        if shows_memory {
            row.push(seat.peak_memory_kb.map_or_else(|| "-".to_owned(), show_memory));
        }
        row.push(fault.unwrap_or_else(|| "-".to_owned()));
        rows.push(row);
    }
    text + &aligned(&rows)
}

/// Returns rows with aligned columns, two spaces apart. What a terminal would obey is replaced.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let shown: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| sanitize(cell)).collect()).collect();
    referee_contest::report::aligned(&shown, |_| false)
}
