//! Draws a board as text.
//!
//! A half-cell of [`Shape::place`](referee_games::board::Shape::place) is one column and a row is
//! one line, so a cell is one glyph with a blank on either side: room for a mark. The size depends only
//! on the shape, the edges, the style and the longest text on a piece, so a board that is redrawn stays
//! in place. Where a text needs it, cells are wider.
//!
//! What fits 24 lines of 80 columns: diamonds up to 12 (23 lines; 11 with coordinates, which take
//! two lines more), triangles up to 24 (22), hexagons up to radius 11 (10), stars up to 5, grids
//! up to 24 x 39 (23 x 37). Figures and the legend need more lines. A diamond of 26 takes 51 lines and 55
//! columns.
//!
//! Colour only repeats the glyphs: without escape codes, a picture in colour is the picture without
//! colour.

mod canvas;
mod caption;
mod cells;
mod coordinates;
mod palette;
#[cfg(test)]
mod tests;

use canvas::{Line, written};
use cells::Frame;
use referee_games::board::{Cell, Layout};
use referee_games::view::View;

pub use canvas::{Glyph, Paint};
pub use palette::{TerminalColours, terminal_colours};

/// The style of a board. The default is plain ASCII.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, each named where it is set"
)]
pub struct Style {
    /// The glyphs that may be used.
    pub charset: Charset,
    /// Whether to colour with ANSI escape codes (256 colours).
    pub colour: bool,
    /// Whether to name rows and columns on two sides of the board.
    pub coordinates: bool,
    /// Whether to turn the board by 180 degrees.
    pub flip: bool,
    /// Whether to explain, below the board, the marks that this picture uses.
    pub legend: bool,
}

/// The glyphs that may be used. Both distinguish pieces by letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    #[default]
    Ascii,
    /// Also hexagons and squares that are one column wide in every locale.
    Unicode,
}

/// A board as glyphs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The board's lines, without trailing blanks.
    pub board: Vec<Vec<Glyph>>,
    /// The columns that the board takes: the same for every position of a game in which texts on pieces
    /// are equally long.
    pub width: usize,
    /// The lines below the board: figures, rows of items, and the legend if it is asked for.
    pub captions: Vec<Vec<Glyph>>,
    frame: Frame,
    corner: (i32, i32),
}

impl Picture {
    /// Returns the column and the line of a cell's glyph.
    pub fn place(&self, cell: Cell) -> (usize, usize) {
        let (x, y) = self.frame.at(cell);
        let count = |place: i32, corner: i32| usize::try_from(place - corner).unwrap_or_default();
        (count(x, self.corner.0), count(y, self.corner.1))
    }
}

/// Draws the board as glyphs. Captions take `width` columns at most, unless one word takes more.
pub fn picture(view: &View, style: &Style, width: usize) -> Picture {
    if view.shape == Layout::Nothing {
        return text_only(view, *style, width);
    }
    let view = &on_board(view);
    let mut canvas = cells::drawn(view, *style);
    if style.coordinates {
        coordinates::draw(&mut canvas, view, *style);
    }
    let columns = canvas.columns();
    Picture {
        board: canvas.lines(),
        width: columns.clone().count(),
        captions: caption::lines(view, *style, width),
        frame: Frame::new(view, *style),
        corner: (*columns.start(), *canvas.rows().start()),
    }
}

/// Returns the view without cells that the board doesn't have.
fn on_board(view: &View) -> View {
    let mut view = view.clone();
    let View { shape, pieces, ground, edges, last, chain, .. } = &mut view;
    pieces.retain(|piece| shape.contains(piece.at));
    ground.retain(|ground| shape.contains(ground.at));
    for edge in edges {
        edge.cells.retain(|&cell| shape.contains(cell));
    }
    last.retain(|&cell| shape.contains(cell));
    chain.retain(|&cell| shape.contains(cell));
    view
}

/// Shows the text where the board would be.
fn text_only(view: &View, style: Style, width: usize) -> Picture {
    let board = caption::text_lines(view, style);
    Picture {
        width: board.iter().map(Vec::len).max().unwrap_or(0),
        board,
        captions: caption::lines(view, style, width),
        frame: Frame::new(view, style),
        corner: (0, 0),
    }
}

/// The columns of usual terminals.
const COLUMNS: usize = 80;

/// Returns the board with its figures and, if asked for, its legend: lines without trailing blanks, each
/// with a line feed.
pub fn terminal(view: &View, style: &Style) -> String {
    let Picture { board, mut captions, width, .. } = picture(view, style, caption::WIDTH_MAX);
    if width > COLUMNS && view.shape != Layout::Nothing {
        captions.push(caption::too_wide(width));
    }
    let gap = (!captions.is_empty()).then(Line::new);
    let lines = board.iter().chain(&gap).chain(&captions);
    lines.map(|line| written(line, style.colour) + "\n").collect()
}
