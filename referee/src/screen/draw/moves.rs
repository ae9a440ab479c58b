//! The list of what happened, with the ply that is shown marked.

use super::{Look, STRONG, put, row};
use crate::screen::text::{clean, fit, time, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use referee_match::transcript::{Ply, PlyKind};

/// No line is longer, in characters.
const TEXT_MAX: usize = 500;

pub(super) fn draw(look: &Look<'_>, place: Rect, buffer: &mut Buffer) {
    if place.height == 1 {
        return put(buffer, place, &strip(look, usize::from(place.width)));
    }
    let plies = look.playback.plies();
    let lines = usize::from(place.height);
    let first = look.model.at.saturating_sub(lines / 2).min(plies.len().saturating_sub(lines));
    for (line, index) in (first..plies.len()).take(lines).enumerate() {
        let here = row(place, line);
        put(buffer, here, &item(look, index, usize::from(place.width)));
        if index == look.model.at {
            buffer.set_style(here, Style::new().add_modifier(Modifier::REVERSED));
        }
    }
}

/// A ply: turn, who, what, how long, and whether there is something to read.
fn item(look: &Look<'_>, index: usize, columns: usize) -> Line<'static> {
    let ply = &look.playback.plies()[index];
    let used = match &ply.kind {
        PlyKind::Played { event, .. } => time(event.used_ms),
        _ => String::new(),
    };
    let turn = match ply.kind {
        PlyKind::Played { .. } | PlyKind::Retired { .. } => ply.turn.to_string(),
        PlyKind::Start | PlyKind::Over(_) => String::new(),
    };
    let sign = if ply.fault().is_some() {
        Span::styled(" !", look.alarm())
    } else if ply.output.stderr.is_empty() {
        Span::raw("  ")
    } else {
        Span::styled(" e", look.alarm())
    };
    let marker = if index == look.model.at { ">" } else { " " };
    let who = ply.seat().or(ply.fault().map(|(seat, _)| seat));
    let who = who.map_or_else(|| Span::raw(" "), |seat| look.letter(seat, ply));
    let room = columns.saturating_sub(11 + used.len().max(5));
    let text = fit(&what(ply), room);
    let blank = " ".repeat(room - width(&text));
    let head = Span::styled(format!("{marker}{turn:>4} "), look.faint());
    let end = Span::styled(format!(" {used:>5}"), look.faint());
    Line::from(vec![head, who, format!(" {text}{blank}").into(), end, sign])
}

/// What happened, in a word or two.
fn what(ply: &Ply) -> String {
    match &ply.kind {
        PlyKind::Start => "start".to_owned(),
        PlyKind::Played { text, .. } => shown(text),
        PlyKind::Retired { fault, .. } => format!("out: {}", fault.kind),
        PlyKind::Over(over) => match ply.fault() {
            Some((_, fault)) => format!("end: {}", fault.kind),
            None => format!("end: {}", shown(&over.verdict.reason)),
        },
    }
}

/// As much of a text as could be seen, harmless.
fn shown(text: &str) -> String {
    clean(&text.chars().take(TEXT_MAX).collect::<String>())
}

/// The plies around the one that is shown, in a line.
fn strip(look: &Look<'_>, columns: usize) -> Line<'static> {
    let plies = look.playback.plies();
    let at = look.model.at;
    let word = |index: usize| what(&plies[index]);
    let mut before = Vec::new();
    let here = fit(&format!("[{}]", word(at)), columns.saturating_sub(8));
    let mut room = columns.saturating_sub(width(&here));
    for index in (0..at).rev() {
        let text = word(index);
        // Half of the line is for what comes.
        if width(&text) + 1 + columns / 3 > room {
            break;
        }
        room -= width(&text) + 1;
        before.push(text);
    }
    before.reverse();
    let mut line = Line::default();
    if !before.is_empty() {
        line.push_span(Span::styled(before.join(" ") + " ", look.faint()));
    }
    line.push_span(Span::styled(here, STRONG));
    for index in at + 1..plies.len() {
        let text = word(index);
        if width(&text) + 1 > room {
            break;
        }
        room -= width(&text) + 1;
        line.push_span(Span::styled(format!(" {text}"), look.faint()));
    }
    line
}
