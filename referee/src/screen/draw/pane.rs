//! What was said in the ply that is shown: stderr, thoughts, or the exact lines.

use super::{Look, STRONG, put, row};
use crate::screen::Pane;
use crate::screen::text::{clean, time, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use referee_match::frames::Info;
use referee_match::transcript::PlyKind;
use std::fmt::Write;

/// Of longer texts the end is shown, in bytes: more than anybody scrolls through.
const TEXT_MAX: usize = 64 * 1024;
/// Of longer lines the beginning is shown, in characters.
const LINE_MAX: usize = 8 * 1024;

/// What stands in the pane, line by line.
struct Content {
    lines: Vec<Line<'static>>,
    /// The end matters most.
    from_end: bool,
}

/// Draws the pane; the line that it begins with by itself, and the last that it can begin with.
pub(super) fn draw(look: &Look<'_>, place: Rect, buffer: &mut Buffer) -> (usize, usize) {
    if place.height < 2 {
        return (0, 0);
    }
    let content = content(look, usize::from(place.width));
    let room = usize::from(place.height) - 1;
    let end = content.lines.len().saturating_sub(room);
    let start = if content.from_end { end } else { 0 };
    let first = look.model.scroll.unwrap_or(start).min(end);
    put(buffer, place, &heading(look, first, end));
    let shown = content.lines.iter().skip(first).take(room);
    for (index, line) in shown.enumerate() {
        put(buffer, row(place, index + 1), line);
    }
    (start, end)
}

/// What is shown, what could be, and how much more there is.
fn heading(look: &Look<'_>, above: usize, end: usize) -> Line<'static> {
    let mut line = Line::default();
    for (pane, name) in [(Pane::Stderr, "stderr"), (Pane::Info, "info"), (Pane::Lines, "lines")] {
        let shown = pane == look.model.pane;
        let style = if shown { STRONG.add_modifier(Modifier::UNDERLINED) } else { look.faint() };
        line.push_span(Span::styled(name, style));
        line.push_span("  ");
    }
    if end > 0 {
        let below = end - above;
        line.push_span(Span::styled(format!("{above} above, {below} below"), look.faint()));
    }
    line
}

fn content(look: &Look<'_>, columns: usize) -> Content {
    let mut lines = news(look, columns);
    let before = lines.len();
    match look.model.pane {
        Pane::Stderr => stderr(look, columns, &mut lines),
        Pane::Info => infos(look, columns, &mut lines),
        Pane::Lines => exact(look, columns, &mut lines),
    }
    if lines.len() == before {
        let nothing = match look.model.pane {
            Pane::Stderr => "nothing on stderr in this turn (n, p: where there is)",
            Pane::Info => "no info in this turn",
            Pane::Lines => "no lines in this turn",
        };
        lines.extend(wrap(nothing, columns).into_iter().map(|line| styled(line, look.faint())));
    }
    let from_end = look.model.pane == Pane::Stderr && before < lines.len() && !is_news(look);
    Content { lines, from_end }
}

fn styled(text: String, style: Style) -> Line<'static> {
    Line::from(Span::styled(text, style))
}

/// Whether the ply itself has more to say than its move.
fn is_news(look: &Look<'_>) -> bool {
    !matches!(look.ply.kind, PlyKind::Played { .. })
}

/// What the ply itself says, where that is more than a move.
fn news(look: &Look<'_>, columns: usize) -> Vec<Line<'static>> {
    let text = match &look.ply.kind {
        PlyKind::Played { .. } => return Vec::new(),
        PlyKind::Start => super::bars::conditions(look),
        PlyKind::Retired { .. } | PlyKind::Over(_) => look.frame.sentence.clone(),
    };
    let style = match (&look.ply.kind, look.ply.fault()) {
        (PlyKind::Start, _) => look.faint(),
        (_, Some(_)) => look.alarm(),
        _ => STRONG,
    };
    let mut lines: Vec<_> =
        wrap(&text, columns).into_iter().map(|line| styled(line, style)).collect();
    lines.push(Line::default());
    lines
}

fn stderr(look: &Look<'_>, columns: usize, lines: &mut Vec<Line<'static>>) {
    let mut last = None;
    for piece in &look.frame.stderr {
        if last.replace(piece.seat) != Some(piece.seat) {
            lines.push(speaker(look, piece.seat, ""));
        }
        if piece.dropped > 0 {
            let text = format!("({} bytes were left out)", piece.dropped);
            lines.push(styled(text, look.faint()));
        }
        let text = end_of(&piece.text);
        lines.extend(wrap(text, columns).into_iter().map(Line::from));
    }
}

/// The end of a text, from a whole character on.
fn end_of(text: &str) -> &str {
    let begin = text.len().saturating_sub(TEXT_MAX);
    let begin = (begin..=text.len()).find(|&index| text.is_char_boundary(index));
    &text[begin.unwrap_or(0)..]
}

fn speaker(look: &Look<'_>, seat: referee_protocol::Seat, what: &str) -> Line<'static> {
    let name = Span::styled(look.name(seat), STRONG);
    Line::from(vec![look.letter(seat, look.ply), " ".into(), name, what.to_owned().into()])
}

fn infos(look: &Look<'_>, columns: usize, lines: &mut Vec<Line<'static>>) {
    let mut last = None;
    for info in &look.frame.infos {
        if last.replace(info.seat) != Some(info.seat) {
            lines.push(speaker(look, info.seat, ""));
        }
        let text = told(look, info);
        lines.extend(wrap(&text, columns).into_iter().map(Line::from));
    }
}

/// A remark in lines.
fn told(look: &Look<'_>, info: &Info) -> String {
    let numbers = [("score", info.score), ("depth", info.depth), ("nodes", info.nodes)];
    let numbers = numbers.iter().filter_map(|(name, value)| Some(format!("{name} {}", (*value)?)));
    let mut text = numbers.collect::<Vec<_>>().join("  ");
    if let Some(said) = &info.text {
        write!(text, "\n{said}").ok();
    }
    let view = &look.ply.view;
    let cells = view.shape.cells();
    for (index, (cell, label)) in info.marks.iter().enumerate() {
        let name = cells.get(*cell).map(|&cell| view.labels.label(view.shape, cell));
        let blank = if index == 0 { "\nmarks (d): " } else { ", " };
        write!(text, "{blank}{} {label}", name.unwrap_or_default()).ok();
    }
    if let Some(more) = &info.more {
        write!(text, "\n{more}").ok();
    }
    text.trim_start().to_owned()
}

fn exact(look: &Look<'_>, columns: usize, lines: &mut Vec<Line<'static>>) {
    let said = match look.scene.said {
        Ok(said) => said,
        Err(why) => {
            lines.extend(wrap(why, columns).into_iter().map(Line::from));
            return;
        }
    };
    for line in said {
        let what = if line.sent { " was sent" } else { " wrote" };
        lines.push(speaker(look, line.seat, what));
        let mut text: String = clean(&line.text.chars().take(LINE_MAX).collect::<String>());
        if line.cut || line.text.chars().nth(LINE_MAX).is_some() {
            text.push_str(" ...");
        }
        lines.extend(wrap(&text, columns).into_iter().map(Line::from));
    }
}

/// The time of a turn, in words; empty where nobody took any.
pub(super) fn used(look: &Look<'_>) -> String {
    look.frame.used_ms.map(|ms| format!("  {}", time(ms))).unwrap_or_default()
}
