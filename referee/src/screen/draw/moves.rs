//! The list of plies, with the shown one marked.

use super::{DrawContext, STRONG, put, row};
use crate::screen::text::{clean, fit, time, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use referee_match::summary::{fault_by_text, sentence};
use referee_match::transcript::{Ply, PlyKind};

/// The maximum length of a line in characters.
const TEXT_MAX: usize = 500;

pub(super) fn draw(ctx: &DrawContext<'_>, place: Rect, buffer: &mut Buffer) {
    if place.height == 1 {
        return put(buffer, place, &strip(ctx, usize::from(place.width)));
    }
    let plies = ctx.playback.plies();
    let lines = usize::from(place.height);
    let first = ctx.model.at.saturating_sub(lines / 2).min(plies.len().saturating_sub(lines));
    for (line, index) in (first..plies.len()).take(lines).enumerate() {
        let here = row(place, line);
        put(buffer, here, &item(ctx, index, usize::from(place.width)));
        if index == ctx.model.at {
            buffer.set_style(here, Style::new().add_modifier(Modifier::REVERSED));
        }
    }
}

/// Returns the line of a ply: number, seat, action, time, and a mark for stderr or a fault.
fn item(ctx: &DrawContext<'_>, index: usize, columns: usize) -> Line<'static> {
    let ply = &ctx.playback.plies()[index];
    let used = match &ply.kind {
        PlyKind::Played { event, .. } => time(event.used_ms),
        _ => String::new(),
    };
    let number = match ply.kind {
        PlyKind::Played { .. } | PlyKind::Drawn(_) | PlyKind::Retired { .. } => index.to_string(),
        PlyKind::Start | PlyKind::Over(_) => String::new(),
    };
    let mark = if ply.fault().is_some() {
        Span::styled(" !", ctx.alarm())
    } else if ply.output.stderr.is_empty() {
        Span::raw("  ")
    } else {
        Span::styled(" e", ctx.alarm())
    };
    let marker = if index == ctx.model.at { ">" } else { " " };
    let who = ply.seat().or(ply.fault().map(|(seat, _)| seat));
    let who = who.map_or_else(|| Span::raw(" "), |seat| ctx.letter(seat, ply));
    let room = columns.saturating_sub(11 + used.len().max(5));
    let text = fit(&what(ctx, ply), room);
    let blank = " ".repeat(room - width(&text));
    let style = if matches!(ply.kind, PlyKind::Over(_)) { STRONG } else { Style::new() };
    let head = Span::styled(format!("{marker}{number:>4} "), ctx.faint());
    let end = Span::styled(format!(" {used:>5}"), ctx.faint());
    Line::from(vec![head, who, Span::styled(format!(" {text}{blank}"), style), end, mark])
}

/// Returns the event of a ply in few words; of the end, the result.
fn what(ctx: &DrawContext<'_>, ply: &Ply) -> String {
    match &ply.kind {
        PlyKind::Start => "start".to_owned(),
        PlyKind::Played { text, .. } => shown(text),
        PlyKind::Drawn(drawn) => shown(&format!("drawn: {}", drawn.label)),
        PlyKind::Retired { fault, .. } => fault_by_text(fault.kind, &fault.text).to_owned(),
        PlyKind::Over(over) => {
            shown(&sentence(ctx.playback.header(), over.outcome.as_ref(), &over.verdict))
        }
    }
}

/// Returns the visible part of a text, without control characters.
fn shown(text: &str) -> String {
    clean(&text.chars().take(TEXT_MAX).collect::<String>())
}

/// Returns the plies around the shown one in a line.
fn strip(ctx: &DrawContext<'_>, columns: usize) -> Line<'static> {
    let plies = ctx.playback.plies();
    let at = ctx.model.at;
    let word = |index: usize| what(ctx, &plies[index]);
    let mut before = Vec::new();
    let here = fit(&format!("[{}]", word(at)), columns.saturating_sub(8));
    let mut room = columns.saturating_sub(width(&here));
    for index in (0..at).rev() {
        let text = word(index);
        // A third of the line is for the plies after it.
        if width(&text) + 1 + columns / 3 > room {
            break;
        }
        room -= width(&text) + 1;
        before.push(text);
    }
    before.reverse();
    let mut line = Line::default();
    if !before.is_empty() {
        line.push_span(Span::styled(before.join(" ") + " ", ctx.faint()));
    }
    line.push_span(Span::styled(here, STRONG));
    for index in at + 1..plies.len() {
        if room < 5 {
            break;
        }
        let text = fit(&word(index), room - 1);
        room -= width(&text) + 1;
        line.push_span(Span::styled(format!(" {text}"), ctx.faint()));
    }
    line
}
