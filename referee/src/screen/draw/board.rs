//! The board. One that is larger than its place is seen around the last action.

use super::Look;
use ratatui::buffer::{self, Buffer};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use referee_games::board::Cell;
use referee_render::{Glyph, Paint, Picture};

/// Lines of the board are kept at the cost of captions as long as these few of them are.
const CAPTIONS_MIN: usize = 2;

/// The part of the board that is seen, and where.
struct Window {
    place: Rect,
    /// The first column and line of the board that are seen.
    x: usize,
    y: usize,
    /// How many of them are.
    columns: usize,
    lines: usize,
}

pub(super) fn draw(look: &Look<'_>, shown: &Picture, place: Rect, buffer: &mut Buffer) {
    let (columns, lines) = (usize::from(place.width), usize::from(place.height));
    let below = if shown.captions.is_empty() { 0 } else { shown.captions.len() + 1 };
    let small = shown.board.len() + below > lines;
    let below = if small { below.min(CAPTIONS_MIN) } else { below };
    let room = lines.saturating_sub(below).min(shown.board.len());
    let (x, y) = corner(look, shown, (columns, room));
    let window = Window { place, x, y, columns, lines: room };
    for (line, glyphs) in shown.board.iter().skip(y).take(room).enumerate() {
        for (column, &glyph) in glyphs.iter().skip(x).take(columns).enumerate() {
            window.put(look, buffer, (column, line), glyph);
        }
    }
    // What doesn't fit below the board is left out, but never half of a board's line.
    let captions = shown.captions.iter().take(below.saturating_sub(1));
    for (line, glyphs) in (room + 1..lines).zip(captions) {
        for (column, &glyph) in glyphs.iter().take(columns).enumerate() {
            window.put(look, buffer, (column, line), glyph);
        }
    }
    if look.model.marks {
        window.draw_marks(look, shown, buffer);
    }
    window.draw_ways(look, shown, buffer);
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

impl Window {
    fn put(&self, look: &Look<'_>, buffer: &mut Buffer, at: (usize, usize), glyph: Glyph) {
        let (glyph, paint) = glyph;
        if let Some(cell) = self.cell(buffer, at) {
            cell.set_char(glyph).set_style(look.paint(paint));
        }
    }

    fn cell<'a>(
        &self,
        buffer: &'a mut Buffer,
        (column, line): (usize, usize),
    ) -> Option<&'a mut buffer::Cell> {
        let place = self.place;
        let (x, y) = (place.x + super::short(column), place.y + super::short(line));
        buffer.cell_mut((x, y)).filter(|_| x < place.right() && y < place.bottom())
    }

    /// What agents marked in this ply: the first character of the label on an empty cell, and turned
    /// colours.
    fn draw_marks(&self, look: &Look<'_>, shown: &Picture, buffer: &mut Buffer) {
        let &Self { x, y, columns, lines, .. } = self;
        let cells: Vec<Cell> = look.ply.view.shape.cells();
        let marks = look.frame.infos.iter().flat_map(|info| &info.marks);
        for (cell, label) in marks.filter_map(|(index, label)| Some((*cells.get(*index)?, label))) {
            let (column, line) = shown.place(cell);
            let seen = (x..x + columns).contains(&column) && (y..y + lines).contains(&line);
            if !seen {
                continue;
            }
            let Some(at) = self.cell(buffer, (column - x, line - y)) else { continue };
            let free = look.ply.view.pieces.iter().all(|piece| piece.at != cell);
            let first = crate::screen::text::clean(label).chars().find(char::is_ascii_graphic);
            if let Some(first) = first.filter(|_| free) {
                at.set_char(first);
            }
            at.set_style(Style::new().add_modifier(Modifier::REVERSED));
        }
    }

    /// In which directions more of the board is.
    fn draw_ways(&self, look: &Look<'_>, shown: &Picture, buffer: &mut Buffer) {
        let &Self { x, y, columns, lines, .. } = self;
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
            self.put(look, buffer, at, (glyph, Paint::Strong));
            if let Some(cell) = self.cell(buffer, at) {
                cell.set_style(Style::new().add_modifier(Modifier::REVERSED));
            }
        }
    }
}
