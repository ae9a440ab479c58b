//! Draws the cells, their pieces and marks, and the edges.

use super::canvas::{Canvas, Glyph, Paint};
use super::{Charset, Style};
use referee_games::board::{Cell, Layout};
use referee_games::view::{Colour, Edge, GroundKind, Piece, View};

/// Converts the layout's places to columns and lines, turned around if the board is flipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    shape: Layout,
    flip: bool,
    /// The most glyphs of a cell: one, more where pieces have texts.
    wide: i32,
    /// How many times as far apart as single glyphs the cells of a line are.
    stretch: i32,
}

impl Frame {
    pub(super) fn new(view: &View, style: Style) -> Self {
        let wide = |piece: &Piece| piece_glyphs(view, style, piece).len();
        let wide = view.pieces.iter().map(wide).max().unwrap_or(1);
        let wide = i32::try_from(wide).unwrap_or(1);
        // Neighbours share the column of marks between them.
        let apart = if view.shape.shape().is_some() { 2 } else { 4 };
        let stretch = 1 + wide / apart;
        Self { shape: view.shape.clone(), flip: style.flip, wide, stretch }
    }

    /// Returns the column and line of a cell's middle glyph.
    pub(super) fn at(&self, cell: Cell) -> (i32, i32) {
        self.turned(self.shape.place(cell))
    }

    /// Converts a place or a direction.
    pub(super) fn turned(&self, (x, y): (i32, i32)) -> (i32, i32) {
        if self.flip { (-x * self.stretch, -y) } else { (x * self.stretch, y) }
    }

    /// Returns the first column and the one after the last of so many glyphs around a middle.
    fn span(x: i32, glyphs: usize) -> (i32, i32) {
        let count = i32::try_from(glyphs).unwrap_or(1);
        let first = x - (count - 1) / 2;
        (first, first + count)
    }

    /// Returns the places of the marks beside a cell.
    fn beside(&self, view: &View, style: Style, cell: Cell) -> [(i32, i32); 2] {
        let (x, y) = self.at(cell);
        let glyphs = piece_on(view, cell).map_or(1, |it| piece_glyphs(view, style, it).len());
        let (first, end) = Self::span(x, glyphs);
        [(first - 1, y), (end, y)]
    }
}

/// Draws the board without its coordinates.
pub(super) fn drawn(view: &View, style: Style) -> Canvas {
    let frame = Frame::new(view, style);
    let mut canvas = Canvas::default();
    draw_lines(&mut canvas, &frame, view);
    for cell in view.shape.cells() {
        let (x, y) = frame.at(cell);
        let (first, end) = Frame::span(x, usize::try_from(frame.wide).unwrap_or(1));
        canvas.reserve((first - 1, y));
        canvas.reserve((end, y));
        let glyphs = cell_glyphs(view, style, cell);
        let (first, _) = Frame::span(x, glyphs.len());
        for (column, (glyph, paint)) in (first..).zip(glyphs) {
            canvas.put((column, y), glyph, paint);
        }
    }
    for edge in &view.edges {
        draw_edge(&mut canvas, &frame, view, edge);
    }
    draw_last(&mut canvas, &frame, view, style);
    draw_chain(&mut canvas, &frame, view, style);
    draw_camps(&mut canvas, &frame, view, style);
    canvas
}

/// Draws the lines between points.
fn draw_lines(canvas: &mut Canvas, frame: &Frame, view: &View) {
    let Layout::Points(points) = &view.shape else { return };
    for (from, to) in points.lines() {
        let ((x, y), (to_x, to_y)) = (frame.at(from), frame.at(to));
        let (dx, dy) = (to_x - x, to_y - y);
        let steps = dx.abs().max(dy.abs());
        let glyph = match (dx, dy) {
            (_, 0) => '-',
            (0, _) => '|',
            _ if (dx > 0) == (dy > 0) => '\\',
            _ => '/',
        };
        for step in 1..steps {
            // Steep lines have one glyph a line, flat ones one a column.
            let along = |length: i32| (2 * length * step + steps * length.signum()) / (2 * steps);
            canvas.put((x + along(dx), y + along(dy)), glyph, Paint::Faint);
        }
    }
}

/// Draws the letter of a camp or of a coloured cell beside each piece in it, unless another mark is there: a
/// full camp would not be visible otherwise.
fn draw_camps(canvas: &mut Canvas, frame: &Frame, view: &View, style: Style) {
    for ground in &view.ground {
        let (GroundKind::Target(colour) | GroundKind::Tint(colour)) = ground.kind else { continue };
        let [left, right] = frame.beside(view, style, ground.at);
        let beside = if frame.flip { right } else { left };
        if piece_on(view, ground.at).is_some() && canvas.is_blank(beside) {
            canvas.put(beside, view.small_letter(colour), Paint::Ink(colour));
        }
    }
}

/// Returns the glyphs of a cell: its piece, else its ground, else the empty glyph.
fn cell_glyphs(view: &View, style: Style, cell: Cell) -> Vec<Glyph> {
    if let Some(piece) = piece_on(view, cell) {
        return piece_glyphs(view, style, piece);
    }
    vec![match ground_at(view, cell) {
        Some(GroundKind::Target(colour) | GroundKind::Tint(colour)) => {
            (view.small_letter(colour), Paint::Ink(colour))
        }
        Some(GroundKind::Pad) => (pad_glyph(style), Paint::Pad),
        None => (empty_glyph(view, style), Paint::Faint),
    }]
}

/// Returns the piece on a cell.
pub(super) fn piece_on(view: &View, cell: Cell) -> Option<&Piece> {
    view.pieces.iter().find(|piece| piece.at == cell)
}

/// Returns the colour of the piece on a cell.
pub(super) fn piece_at(view: &View, cell: Cell) -> Option<Colour> {
    piece_on(view, cell).map(|piece| piece.colour)
}

/// Returns the ground of a cell.
fn ground_at(view: &View, cell: Cell) -> Option<GroundKind> {
    view.ground.iter().find(|ground| ground.at == cell).map(|ground| ground.kind)
}

/// Returns the glyphs of a piece: its colour's letter or, for pegs in Unicode, a full cell; and its text,
/// alone where that says which colour it is.
pub(super) fn piece_glyphs(view: &View, style: Style, piece: &Piece) -> Vec<Glyph> {
    let Some(text) = piece.text else {
        return vec![colour_glyph(view, style, piece.colour)];
    };
    let paint = Paint::Block(piece.colour);
    let letter = (!view.text_names_colour(piece)).then(|| view.letter(piece.colour));
    letter.into_iter().chain(text.as_str().chars()).map(|glyph| (glyph, paint)).collect()
}

/// Returns the glyph of a piece without text.
pub(super) fn colour_glyph(view: &View, style: Style, colour: Colour) -> Glyph {
    match (style.charset, colour) {
        (Charset::Unicode, Colour::Peg) if view.shape.is_grid() => ('◼', Paint::StrongInk(colour)),
        (Charset::Unicode, Colour::Peg) => ('⬢', Paint::StrongInk(colour)),
        _ => (view.letter(colour), Paint::Block(colour)),
    }
}

pub(super) fn pad_glyph(style: Style) -> char {
    match style.charset {
        Charset::Ascii => '*',
        Charset::Unicode => '◻',
    }
}

fn empty_glyph(view: &View, style: Style) -> char {
    match (style.charset, &view.shape) {
        (Charset::Unicode, Layout::Shape(_)) if !view.shape.is_grid() => '⬡',
        _ => '.',
    }
}

/// Draws the owner's letter in lower case beside every cell of the edge. Letters that would be above or
/// below the board are left out, so that it keeps its height.
fn draw_edge(canvas: &mut Canvas, frame: &Frame, view: &View, edge: &Edge) {
    let outward = frame.turned((i32::from(edge.outward.0), i32::from(edge.outward.1)));
    let rows = canvas.rows();
    let places: Vec<(i32, i32)> = edge
        .cells
        .iter()
        .map(|&cell| {
            let (x, y) = frame.at(cell);
            (x + outward.0, y + outward.1)
        })
        .collect();
    let beside = |&(_, y): &(i32, i32)| rows.contains(&y);
    let keep_all = !places.iter().any(beside);
    for place in places {
        if keep_all || beside(&place) {
            canvas.put(place, view.small_letter(edge.colour), Paint::Ink(edge.colour));
        }
    }
}

/// Returns the mark of a cell of the last action, except its last cell.
fn path_mark(index: usize) -> char {
    match index {
        0 => '+',
        _ => u32::try_from(index).ok().and_then(|n| char::from_digit(n, 10)).unwrap_or(':'),
    }
}

/// Returns whether a mark must be beside the cell, since the cell's own glyph matters.
fn keeps_glyph(view: &View, cell: Cell) -> bool {
    piece_at(view, cell).is_some()
        || matches!(ground_at(view, cell), Some(GroundKind::Pad | GroundKind::Tint(_)))
}

/// Draws brackets around the cell where the last action ended, a plus where it began, and numbers on the
/// cells between, in order.
fn draw_last(canvas: &mut Canvas, frame: &Frame, view: &View, style: Style) {
    let Some((&end, before)) = view.last.split_last() else { return };
    let colour = piece_at(view, end);
    // In a chain the brackets have its colour.
    let bracket = colour.filter(|_| view.chain.contains(&end)).map_or(Paint::Strong, Paint::Block);
    let [left, right] = frame.beside(view, style, end);
    canvas.put(left, '[', bracket);
    canvas.put(right, ']', bracket);
    let paint = colour.map_or(Paint::Strong, Paint::StrongInk);
    // If a path returns to a cell, the later mark counts.
    for (index, &cell) in before.iter().enumerate() {
        let later = &view.last[index + 1..];
        if later.contains(&cell) {
            continue;
        }
        let [left, right] = frame.beside(view, style, cell);
        let place = if !keeps_glyph(view, cell) {
            frame.at(cell)
        } else if canvas.is_blank(left) {
            left
        } else {
            right
        };
        canvas.put(place, path_mark(index), paint);
    }
}

/// Draws bars beside each cell of the chain.
fn draw_chain(canvas: &mut Canvas, frame: &Frame, view: &View, style: Style) {
    for &cell in &view.chain {
        let paint = piece_at(view, cell).map_or(Paint::Strong, Paint::Block);
        for place in frame.beside(view, style, cell) {
            if canvas.is_blank(place) {
                canvas.put(place, '=', paint);
            }
        }
    }
}
