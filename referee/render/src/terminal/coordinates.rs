//! The names of rows and columns, on two sides of the board.

use super::Style;
use super::canvas::{Canvas, Paint};
use super::cells::Frame;
use crate::naming::names;
use referee_games::board::Layout;
use referee_games::view::View;

pub(super) fn draw(canvas: &mut Canvas, view: &View, style: Style) {
    let frame = Frame::new(view, style);
    if let Layout::Points(points) = &view.shape {
        for cell in view.shape.cells() {
            let (x, y) = frame.at(cell);
            write_over_lines(canvas, (x + 2, y), &points.name(cell));
        }
        return;
    }
    for name in names(view) {
        let (x, y) = frame.at(name.beside);
        let (dx, dy) = frame.turned(name.towards);
        // One column is left free for the letters of edges; above a column none is needed.
        let far = if dx == 0 { 1 } else { 2 };
        write(canvas, (x + far * dx, y + far * dy), dx, &name.text);
    }
}

/// Writes a name that extends away from the board. Names that would touch others are left out.
fn write(canvas: &mut Canvas, (x, y): (i32, i32), dx: i32, text: &str) {
    let length = i32::try_from(text.len()).unwrap_or(0);
    let start = if dx < 0 { x + 1 - length } else { x };
    if (start - 1..=start + length).all(|column| canvas.is_blank((column, y))) {
        for (column, glyph) in (start..).zip(text.chars()) {
            canvas.put((column, y), glyph, Paint::Faint);
        }
    }
}

/// Writes a point's name to the right of its mark, over the line there. Names that would touch a piece or
/// another point are left out.
fn write_over_lines(canvas: &mut Canvas, (x, y): (i32, i32), text: &str) {
    let length = i32::try_from(text.len()).unwrap_or(0);
    if (x..=x + length).all(|column| canvas.is_line_or_blank((column, y))) {
        for (column, glyph) in (x..).zip(text.chars()) {
            canvas.put((column, y), glyph, Paint::Faint);
        }
    }
}
