//! The output of agents in the shown ply: stderr, info, or lines.

use super::{DrawContext, STRONG, put, row};
use crate::screen::Pane;
use crate::screen::text::{clean, time, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use referee_match::transcript::PlyKind;
use referee_web::Info;
use std::fmt::Write;

/// The maximum length of a text in bytes; of longer ones the end is shown.
const TEXT_MAX: usize = 64 * 1024;
/// The maximum length of a line in characters; of longer ones the start is shown.
const LINE_MAX: usize = 8 * 1024;

/// The lines of the pane.
struct Content {
    lines: Vec<Line<'static>>,
    /// Whether to show the end first.
    from_end: bool,
}

/// Draws the pane. Returns its default first line, and the last possible one.
pub(super) fn draw(ctx: &DrawContext<'_>, place: Rect, buffer: &mut Buffer) -> (usize, usize) {
    if place.height < 2 {
        return (0, 0);
    }
    let content = content(ctx, usize::from(place.width));
    let room = usize::from(place.height) - 1;
    let end = content.lines.len().saturating_sub(room);
    let start = if content.from_end { end } else { 0 };
    let first = ctx.model.scroll.unwrap_or(start).min(end);
    put(buffer, place, &heading(ctx, first, end));
    let shown = content.lines.iter().skip(first).take(room);
    for (index, line) in shown.enumerate() {
        put(buffer, row(place, index + 1), line);
    }
    (start, end)
}

/// Returns the names of the panes, and how much is hidden above and below.
fn heading(ctx: &DrawContext<'_>, above: usize, end: usize) -> Line<'static> {
    let mut line = Line::default();
    for (pane, name) in [(Pane::Stderr, "stderr"), (Pane::Info, "info"), (Pane::Lines, "lines")] {
        let shown = pane == ctx.model.pane;
        let style = if shown { STRONG.add_modifier(Modifier::UNDERLINED) } else { ctx.faint() };
        line.push_span(Span::styled(name, style));
        line.push_span("  ");
    }
    if end > 0 {
        let below = end - above;
        line.push_span(Span::styled(format!("{above} above, {below} below"), ctx.faint()));
    }
    line
}

fn content(ctx: &DrawContext<'_>, columns: usize) -> Content {
    let mut lines = event_text(ctx, columns);
    let before = lines.len();
    match ctx.model.pane {
        Pane::Stderr => stderr(ctx, columns, &mut lines),
        Pane::Info => infos(ctx, columns, &mut lines),
        Pane::Lines => exact(ctx, columns, &mut lines),
    }
    if lines.len() == before {
        let nothing = match ctx.model.pane {
            Pane::Stderr => "no stderr in this ply (n, p: next, previous with stderr)",
            Pane::Info => "no info in this ply",
            Pane::Lines => "no lines in this ply",
        };
        lines.extend(wrap(nothing, columns).into_iter().map(|line| styled(line, ctx.faint())));
    }
    let from_end = ctx.model.pane == Pane::Stderr && before < lines.len() && !is_event(ctx);
    Content { lines, from_end }
}

fn styled(text: String, style: Style) -> Line<'static> {
    Line::from(Span::styled(text, style))
}

/// Whether the ply is an event other than a move.
fn is_event(ctx: &DrawContext<'_>) -> bool {
    !matches!(ctx.ply.kind, PlyKind::Played { .. })
}

/// Returns the text of an event other than a move.
fn event_text(ctx: &DrawContext<'_>, columns: usize) -> Vec<Line<'static>> {
    let text = match &ctx.ply.kind {
        PlyKind::Played { .. } => return Vec::new(),
        PlyKind::Start => super::bars::conditions(ctx),
        PlyKind::Drawn(_) | PlyKind::Retired { .. } | PlyKind::Over(_) => {
            ctx.frame.sentence.clone()
        }
    };
    let style = match (&ctx.ply.kind, ctx.ply.fault()) {
        (PlyKind::Start, _) => ctx.faint(),
        (_, Some(_)) => ctx.alarm(),
        _ => STRONG,
    };
    let mut lines: Vec<_> =
        wrap(&text, columns).into_iter().map(|line| styled(line, style)).collect();
    lines.push(Line::default());
    lines
}

fn stderr(ctx: &DrawContext<'_>, columns: usize, lines: &mut Vec<Line<'static>>) {
    let mut last = None;
    for piece in &ctx.frame.stderr {
        if last.replace(piece.seat) != Some(piece.seat) {
            lines.push(speaker(ctx, piece.seat, ""));
        }
        if piece.dropped > 0 {
            let text = format!("({} bytes were left out)", piece.dropped);
            lines.push(styled(text, ctx.faint()));
        }
        let text = end_of(&piece.text);
        lines.extend(wrap(text, columns).into_iter().map(Line::from));
    }
}

/// Returns the end of a text, from a character boundary.
fn end_of(text: &str) -> &str {
    let begin = text.len().saturating_sub(TEXT_MAX);
    let begin = (begin..=text.len()).find(|&index| text.is_char_boundary(index));
    &text[begin.unwrap_or(0)..]
}

fn speaker(ctx: &DrawContext<'_>, seat: referee_protocol::Seat, what: &str) -> Line<'static> {
    let name = Span::styled(ctx.name(seat), STRONG);
    Line::from(vec![ctx.letter(seat, ctx.ply), " ".into(), name, what.to_owned().into()])
}

fn infos(ctx: &DrawContext<'_>, columns: usize, lines: &mut Vec<Line<'static>>) {
    let mut last = None;
    for info in &ctx.frame.infos {
        if last.replace(info.seat) != Some(info.seat) {
            lines.push(speaker(ctx, info.seat, ""));
        }
        let text = info_text(ctx, info);
        lines.extend(wrap(&text, columns).into_iter().map(Line::from));
    }
}

/// Returns an `info` message as text.
fn info_text(ctx: &DrawContext<'_>, info: &Info) -> String {
    let numbers = [("score", info.score), ("depth", info.depth), ("nodes", info.nodes)];
    let numbers = numbers.iter().filter_map(|(name, value)| Some(format!("{name} {}", (*value)?)));
    let mut text = numbers.collect::<Vec<_>>().join("  ");
    if let Some(message) = &info.text {
        write!(text, "\n{message}").ok();
    }
    let view = &ctx.ply.view;
    let cells = view.shape.cells();
    for (index, (cell, label)) in info.marks.iter().enumerate() {
        let name = cells.get(*cell).map(|&cell| view.labels.label(&view.shape, cell));
        let blank = if index == 0 { "\nmarks (d): " } else { ", " };
        write!(text, "{blank}{} {label}", name.unwrap_or_default()).ok();
    }
    if let Some(more) = &info.more {
        write!(text, "\n{more}").ok();
    }
    text.trim_start().to_owned()
}

fn exact(ctx: &DrawContext<'_>, columns: usize, lines: &mut Vec<Line<'static>>) {
    let exchange = match ctx.scene.exchange {
        Ok(exchange) => exchange,
        Err(why) => {
            lines.extend(wrap(why, columns).into_iter().map(Line::from));
            return;
        }
    };
    for line in exchange {
        let what = if line.sent { " received" } else { " sent" };
        lines.push(speaker(ctx, line.seat, what));
        let mut text: String = clean(&line.text.chars().take(LINE_MAX).collect::<String>());
        if line.cut || line.text.chars().nth(LINE_MAX).is_some() {
            text.push_str(" ...");
        }
        lines.extend(wrap(&text, columns).into_iter().map(Line::from));
    }
}

/// Returns the time of a turn; empty if it took none.
pub(super) fn used(ctx: &DrawContext<'_>) -> String {
    ctx.frame.used_ms.map(|ms| format!("  {}", time(ms))).unwrap_or_default()
}
