//! Who plays, whose turn it is, and what time each has left.

use super::{Look, STRONG, put, row};
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

pub(super) fn draw(look: &Look<'_>, place: Rect, buffer: &mut Buffer) {
    let seats = look.ply.left_ms.len();
    if usize::from(place.height) < seats {
        return put(buffer, place, &together(look, usize::from(place.width)));
    }
    for seat in Seat::all(seats) {
        put(buffer, row(place, seat.index()), &alone(look, seat, usize::from(place.width)));
    }
}

/// A line for one seat.
fn alone(look: &Look<'_>, seat: Seat, columns: usize) -> Line<'static> {
    let left = left_ms(look, seat);
    let bank = look.playback.header().clock.bank_ms.filter(|&bank| bank > 0);
    let bar = match (left, bank) {
        (Some(left), Some(bank)) if columns >= 44 => bar(left, bank),
        _ => String::new(),
    };
    let time = left.map(clock).unwrap_or_default();
    let out = if is_out(look, seat) { " out" } else { "" };
    let room = columns.saturating_sub(4 + TIME + width(&bar) + out.len());
    let name = fit(&look.name(seat), room);
    let mut line = Line::from(vec![turn(look, seat), look.letter(seat, look.ply), " ".into()]);
    let style = if is_turn(look, seat) { STRONG } else { Style::new() };
    line.push_span(Span::styled(name.clone(), style));
    line.push_span(Span::styled(out, look.alarm()));
    line.push_span(Span::raw(" ".repeat(room - width(&name) + 1)));
    line.push_span(Span::styled(bar, look.faint()));
    line.push_span(Span::styled(format!("{time:>TIME$}"), style));
    line
}

/// All seats in one line.
fn together(look: &Look<'_>, columns: usize) -> Line<'static> {
    let seats = look.ply.left_ms.len();
    let room = columns / seats.max(1);
    let mut line = Line::default();
    for seat in Seat::all(seats) {
        let time = left_ms(look, seat).map(clock).unwrap_or_default();
        let name = fit(&look.name(seat), room.saturating_sub(5 + time.len()));
        let style = if is_turn(look, seat) { STRONG } else { Style::new() };
        let said = format!(" {name} {time}");
        let blank = room.saturating_sub(2 + width(&said));
        line.push_span(turn(look, seat));
        line.push_span(look.letter(seat, look.ply));
        line.push_span(Span::styled(fit(&said, room.saturating_sub(2)), style));
        line.push_span(" ".repeat(blank));
    }
    line
}

fn is_turn(look: &Look<'_>, seat: Seat) -> bool {
    look.ply.to_move == Some(seat)
}

/// Points to whose turn it is.
fn turn(look: &Look<'_>, seat: Seat) -> Span<'static> {
    let here = if look.has_unicode() { "▸" } else { ">" };
    Span::styled(if is_turn(look, seat) { here } else { " " }, STRONG)
}

/// What is left: the bar is full with the bank that the match began with.
fn bar(left: u64, bank: u64) -> String {
    let full = u64::try_from(BAR).unwrap_or(u64::MAX).saturating_mul(left).div_ceil(bank);
    let full = usize::try_from(full).unwrap_or(BAR).min(BAR);
    format!("[{}{}]", "=".repeat(full), ".".repeat(BAR - full))
}

/// What a seat has left; less by what it has thought, if it thinks now.
fn left_ms(look: &Look<'_>, seat: Seat) -> Option<u64> {
    let left = look.ply.left_ms.get(seat.index()).copied().flatten()?;
    let thought = if look.waits_for() == Some(seat) { look.scene.waiting_ms } else { 0 };
    Some(left.saturating_sub(thought))
}

/// Whether a seat is out of the match as far as it is shown.
fn is_out(look: &Look<'_>, seat: Seat) -> bool {
    let plies = &look.playback.plies()[..=look.model.at];
    plies.iter().any(|ply| ply.fault().is_some_and(|(out, _)| out == seat))
}
