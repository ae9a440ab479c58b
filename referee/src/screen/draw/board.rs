//! The board. If it doesn't fit, the part around the last action is shown.

use super::DrawContext;
use ratatui::buffer::{self, Buffer};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use referee_games::board::Cell;
use referee_render::{Glyph, Paint, Picture};

/// The number of caption lines that are kept when the board doesn't fit.
const CAPTIONS_MIN: usize = 2;

/// The visible part of the board, and its area.
struct Window {
    place: Rect,
    /// The first visible column and line of the board.
    x: usize,
    y: usize,
    /// The number of visible columns and lines.
    columns: usize,
    lines: usize,
}

pub(super) fn draw(ctx: &DrawContext<'_>, shown: &Picture, place: Rect, buffer: &mut Buffer) {
    let (columns, lines) = (usize::from(place.width), usize::from(place.height));
    let below = if shown.captions.is_empty() { 0 } else { shown.captions.len() + 1 };
    let small = shown.board.len() + below > lines;
    let below = if small { below.min(CAPTIONS_MIN) } else { below };
    let room = lines.saturating_sub(below).min(shown.board.len());
    let (x, y) = corner(ctx, shown, (columns, room));
    let window = Window { place, x, y, columns, lines: room };
    for (line, glyphs) in shown.board.iter().skip(y).take(room).enumerate() {
        for (column, &glyph) in glyphs.iter().skip(x).take(columns).enumerate() {
            window.put(ctx, buffer, (column, line), glyph);
        }
    }
    // Captions that don't fit are left out.
    let captions = shown.captions.iter().take(below.saturating_sub(1));
    for (line, glyphs) in (room + 1..lines).zip(captions) {
        for (column, &glyph) in glyphs.iter().take(columns).enumerate() {
            window.put(ctx, buffer, (column, line), glyph);
        }
    }
    if ctx.model.marks {
        window.draw_marks(ctx, shown, buffer);
    }
    window.draw_arrows(ctx, shown, buffer);
}

/// The first column and line of the board that are seen.
fn corner(
    ctx: &DrawContext<'_>,
    shown: &Picture,
    (columns, lines): (usize, usize),
) -> (usize, usize) {
    let last = ctx.ply.view.last.last().map(|&cell| shown.place(cell));
    let (column, line) = last.unwrap_or((shown.width / 2, shown.board.len() / 2));
    let along = |at: usize, room: usize, all: usize, by: i32| {
        let end = all.saturating_sub(room);
        let begin = at.saturating_sub(room / 2).min(end);
        let by = isize::try_from(by).unwrap_or_default();
        begin.saturating_add_signed(by).min(end)
    };
    let (right, down) = ctx.model.shift;
    (along(column, columns, shown.width, right), along(line, lines, shown.board.len(), down))
}

impl Window {
    fn put(&self, ctx: &DrawContext<'_>, buffer: &mut Buffer, at: (usize, usize), glyph: Glyph) {
        let (glyph, paint) = glyph;
        if let Some(cell) = self.cell(buffer, at) {
            cell.set_char(glyph).set_style(ctx.paint(paint));
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

    /// Draws the marks that agents sent about this position: reversed colours, and on empty cells the start
    /// of the label.
    fn draw_marks(&self, ctx: &DrawContext<'_>, shown: &Picture, buffer: &mut Buffer) {
        let &Self { x, y, columns, lines, .. } = self;
        let cells: Vec<Cell> = ctx.ply.view.shape.cells();
        let marks = ctx.thoughts.iter().flat_map(|info| &info.marks);
        for (cell, label) in marks.filter_map(|(index, label)| Some((*cells.get(*index)?, label))) {
            let (column, line) = shown.place(cell);
            let seen = (x..x + columns).contains(&column) && (y..y + lines).contains(&line);
            if !seen {
                continue;
            }
            let Some(at) = self.cell(buffer, (column - x, line - y)) else { continue };
            at.set_style(Style::new().add_modifier(Modifier::REVERSED));
            if ctx.ply.view.pieces.iter().any(|piece| piece.at == cell) {
                continue;
            }
            let [first, second] = start_of(label);
            if let Some(first) = first {
                at.set_char(first);
            }
            // Beside the cell, where nothing else is.
            let beside = (column + 1 - x, line - y);
            if let Some(second) = second
                && let Some(at) = self.cell(buffer, beside).filter(|cell| cell.symbol() == " ")
            {
                at.set_char(second).set_style(Style::new().add_modifier(Modifier::REVERSED));
            }
        }
    }

    /// Draws arrows towards hidden parts of the board.
    fn draw_arrows(&self, ctx: &DrawContext<'_>, shown: &Picture, buffer: &mut Buffer) {
        let &Self { x, y, columns, lines, .. } = self;
        let (wide, high) = (shown.width, shown.board.len());
        // Beside the board if there is room, so that they aren't taken for marks.
        let (right, below) = (wide.min(columns.saturating_sub(1)), lines.saturating_sub(1));
        let arrows = [
            (y > 0, (right, 0), '^'),
            (y + lines < high, (right, below), 'v'),
            (x > 0, (0, lines / 2), '<'),
            (x + columns < wide, (right, lines / 2), '>'),
        ];
        for (_, at, glyph) in arrows.into_iter().filter(|(more, ..)| *more) {
            self.put(ctx, buffer, at, (glyph, Paint::Strong));
            if let Some(cell) = self.cell(buffer, at) {
                cell.set_style(Style::new().add_modifier(Modifier::REVERSED));
            }
        }
    }
}

/// Returns what is shown of a label: its first character, or the first decimal place of a fraction.
fn start_of(label: &str) -> [Option<char>; 2] {
    let clean = crate::screen::text::clean(label);
    let fraction = clean.parse::<f64>().ok().filter(|number| number.abs() < 1.0 && *number != 0.0);
    if fraction.is_some()
        && let Some((_, places)) = clean.split_once('.')
    {
        return [Some('.'), places.chars().next()];
    }
    [clean.chars().find(char::is_ascii_graphic), None]
}

#[cfg(test)]
mod tests {
    use super::start_of;

    #[test]
    fn fractions_show_their_first_decimal_place() {
        assert_eq!(start_of("0.73"), [Some('.'), Some('7')]);
        assert_eq!(start_of("-0.25"), [Some('.'), Some('2')]);
        assert_eq!(start_of("3.5"), [Some('3'), None]);
        assert_eq!(start_of("0"), [Some('0'), None]);
        assert_eq!(start_of(" best"), [Some('b'), None]);
        assert_eq!(start_of(""), [None, None]);
    }
}
