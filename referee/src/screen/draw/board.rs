//! The board. One that is larger than its place is seen around the last action.

use super::Look;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use referee_games::board::Cell;
use referee_render::{Glyph, Paint, Picture};

/// Lines of the board are kept at the cost of captions as long as these few of them are.
const CAPTIONS_MIN: usize = 2;

pub(super) fn draw(look: &Look<'_>, shown: &Picture, place: Rect, buffer: &mut Buffer) {
    let (columns, lines) = (usize::from(place.width), usize::from(place.height));
    let below = if shown.captions.is_empty() { 0 } else { shown.captions.len() + 1 };
    let small = shown.board.len() + below > lines;
    let below = if small { below.min(CAPTIONS_MIN) } else { below };
    let room = lines.saturating_sub(below).min(shown.board.len());
    let (x, y) = corner(look, shown, (columns, room));
    for (line, glyphs) in shown.board.iter().skip(y).take(room).enumerate() {
        for (column, &glyph) in glyphs.iter().skip(x).take(columns).enumerate() {
            put(look, buffer, place, (column, line), glyph);
        }
    }
    // What doesn't fit below the board is left out, but never half of a board's line.
    let captions = shown.captions.iter().take(below.saturating_sub(1));
    for (line, glyphs) in (room + 1..lines).zip(captions) {
        for (column, &glyph) in glyphs.iter().take(columns).enumerate() {
            put(look, buffer, place, (column, line), glyph);
        }
    }
    if look.model.marks {
        draw_marks(look, shown, place, (x, y), (columns, room), buffer);
    }
    draw_ways(look, shown, place, (x, y), (columns, room), buffer);
}

/// The first column and line of the board that are seen.
fn corner(look: &Look<'_>, shown: &Picture, (columns, lines): (usize, usize)) -> (usize, usize) {
    let last = look.ply.view.last.last().map(|&cell| shown.place(cell));
    let (column, line) = last.unwrap_or((shown.width / 2, shown.board.len() / 2));
    let along = |at: usize, room: usize, all: usize, by: i32| {
        let end = all.saturating_sub(room);
        let begin = at.saturating_sub(room / 2).min(end);
        let by = isize::try_from(by).unwrap_or_default();
        begin.saturating_add_signed(by).min(end)
    };
    let (right, down) = look.model.shift;
    (along(column, columns, shown.width, right), along(line, lines, shown.board.len(), down))
}

fn put(
    look: &Look<'_>,
    buffer: &mut Buffer,
    place: Rect,
    at: (usize, usize),
    (glyph, paint): Glyph,
) {
    if let Some(cell) = cell_at(buffer, place, at) {
        cell.set_char(glyph).set_style(look.paint(paint));
    }
}

fn cell_at(
    buffer: &mut Buffer,
    place: Rect,
    (column, line): (usize, usize),
) -> Option<&mut ratatui::buffer::Cell> {
    let (x, y) = (place.x + super::short(column), place.y + super::short(line));
    buffer.cell_mut((x, y)).filter(|_| x < place.right() && y < place.bottom())
}

/// What agents marked in this ply: the first character of the label on an empty cell, and turned
/// colours.
fn draw_marks(
    look: &Look<'_>,
    shown: &Picture,
    place: Rect,
    (x, y): (usize, usize),
    (columns, lines): (usize, usize),
    buffer: &mut Buffer,
) {
    let cells: Vec<Cell> = look.ply.view.shape.cells();
    let marks = look.frame.infos.iter().flat_map(|info| &info.marks);
    for (cell, label) in marks.filter_map(|(index, label)| Some((*cells.get(*index)?, label))) {
        let (column, line) = shown.place(cell);
        let seen = (x..x + columns).contains(&column) && (y..y + lines).contains(&line);
        if !seen {
            continue;
        }
        let Some(at) = cell_at(buffer, place, (column - x, line - y)) else { continue };
        let free = look.ply.view.pieces.iter().all(|piece| piece.at != cell);
        let first = crate::screen::text::clean(label).chars().find(char::is_ascii_graphic);
        if let Some(first) = first.filter(|_| free) {
            at.set_char(first);
        }
        at.set_style(Style::new().add_modifier(Modifier::REVERSED));
    }
}

/// In which directions more of the board is.
fn draw_ways(
    look: &Look<'_>,
    shown: &Picture,
    place: Rect,
    (x, y): (usize, usize),
    (columns, lines): (usize, usize),
    buffer: &mut Buffer,
) {
    let (wide, high) = (shown.width, shown.board.len());
    // Beside the board where there is room, so that they aren't taken for marks on it.
    let (right, below) = (wide.min(columns.saturating_sub(1)), lines.saturating_sub(1));
    let ways = [
        (y > 0, (right, 0), '^'),
        (y + lines < high, (right, below), 'v'),
        (x > 0, (0, lines / 2), '<'),
        (x + columns < wide, (right, lines / 2), '>'),
    ];
    for (_, at, glyph) in ways.into_iter().filter(|(more, ..)| *more) {
        put(look, buffer, place, at, (glyph, Paint::Strong));
        if let Some(cell) = cell_at(buffer, place, at) {
            cell.set_style(Style::new().add_modifier(Modifier::REVERSED));
        }
    }
}
