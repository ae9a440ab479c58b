//! The agents, whose turn it is, and the time left.

use super::{DrawContext, STRONG, put, row};
use crate::screen::text::{clock, fit, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use referee_protocol::Seat;

/// The columns of a bar.
const BAR: usize = 12;
/// The columns of a time.
const TIME: usize = 8;

pub(super) fn draw(ctx: &DrawContext<'_>, place: Rect, buffer: &mut Buffer) {
    let seats = ctx.ply.left_ms.len();
    if usize::from(place.height) < seats {
        return put(buffer, place, &together(ctx, usize::from(place.width)));
    }
    for seat in Seat::all(seats) {
        put(buffer, row(place, seat.index()), &alone(ctx, seat, usize::from(place.width)));
    }
}

/// Returns the line of one seat.
fn alone(ctx: &DrawContext<'_>, seat: Seat, columns: usize) -> Line<'static> {
    let left = left_ms(ctx, seat);
    let bank = ctx.playback.header().clock.bank_ms.filter(|&bank| bank > 0);
    let bar = match (left, bank) {
        (Some(left), Some(bank)) if columns >= 44 => bar(left, bank),
        _ => String::new(),
    };
    let time = left.map(clock).unwrap_or_default();
    let out = if is_out(ctx, seat) { " out" } else { "" };
    let room = columns.saturating_sub(4 + TIME + width(&bar) + out.len());
    let name = fit(&ctx.name(seat), room);
    let mut line = Line::from(vec![turn(ctx, seat), ctx.letter(seat, ctx.ply), " ".into()]);
    let style = if is_turn(ctx, seat) { STRONG } else { Style::new() };
    line.push_span(Span::styled(name.clone(), style));
    line.push_span(Span::styled(out, ctx.alarm()));
    line.push_span(Span::raw(" ".repeat(room - width(&name) + 1)));
    line.push_span(Span::styled(bar, ctx.faint()));
    line.push_span(Span::styled(format!("{time:>TIME$}"), style));
    line
}

/// Returns all seats in one line.
fn together(ctx: &DrawContext<'_>, columns: usize) -> Line<'static> {
    let seats = ctx.ply.left_ms.len();
    let room = columns / seats.max(1);
    let mut line = Line::default();
    for seat in Seat::all(seats) {
        let time = left_ms(ctx, seat).map(clock).unwrap_or_default();
        let name = fit(&ctx.name(seat), room.saturating_sub(5 + time.len()));
        let style = if is_turn(ctx, seat) { STRONG } else { Style::new() };
        let text = format!(" {name} {time}");
        let blank = room.saturating_sub(2 + width(&text));
        line.push_span(turn(ctx, seat));
        line.push_span(ctx.letter(seat, ctx.ply));
        line.push_span(Span::styled(fit(&text, room.saturating_sub(2)), style));
        line.push_span(" ".repeat(blank));
    }
    line
}

fn is_turn(ctx: &DrawContext<'_>, seat: Seat) -> bool {
    ctx.ply.to_move == Some(seat)
}

/// Returns a marker if it is this seat's turn.
fn turn(ctx: &DrawContext<'_>, seat: Seat) -> Span<'static> {
    let here = if ctx.has_unicode() { "▸" } else { ">" };
    Span::styled(if is_turn(ctx, seat) { here } else { " " }, STRONG)
}

/// Returns a bar of the time left in the bank.
fn bar(left: u64, bank: u64) -> String {
    let full = u64::try_from(BAR).unwrap_or(u64::MAX).saturating_mul(left).div_ceil(bank);
    let full = usize::try_from(full).unwrap_or(BAR).min(BAR);
    format!("[{}{}]", "=".repeat(full), ".".repeat(BAR - full))
}

/// Returns the time left, without the time spent thinking now.
fn left_ms(ctx: &DrawContext<'_>, seat: Seat) -> Option<u64> {
    let left = ctx.ply.left_ms.get(seat.index()).copied().flatten()?;
    let thought = if ctx.waits_for() == Some(seat) { ctx.scene.waiting_ms } else { 0 };
    Some(left.saturating_sub(thought))
}

/// Whether a seat is out of the match at the shown ply.
fn is_out(ctx: &DrawContext<'_>, seat: Seat) -> bool {
    let plies = &ctx.playback.plies()[..=ctx.model.at];
    plies.iter().chain([ctx.ply]).any(|ply| ply.fault().is_some_and(|(out, _)| out == seat))
}
