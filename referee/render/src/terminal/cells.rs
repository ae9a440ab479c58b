//! Draws the cells, their pieces and marks, and the edges.

use super::canvas::{Canvas, Paint};
use super::{Charset, Style};
use crate::symbols::target_letter;
use referee_games::board::{Cell, Shape};
use referee_games::view::{Colour, Edge, GroundKind, View};

/// Converts the shape's places to columns and lines, turned around if the board is flipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    shape: Shape,
    flip: bool,
}

impl Frame {
    pub(super) fn new(view: &View, style: Style) -> Self {
        Self { shape: view.shape, flip: style.flip }
    }

    /// Returns the column and line of a cell's glyph.
    pub(super) fn at(self, cell: Cell) -> (i32, i32) {
        self.turned(self.shape.place(cell))
    }

    /// Converts a place or a direction.
    pub(super) fn turned(self, (x, y): (i32, i32)) -> (i32, i32) {
        if self.flip { (-x, -y) } else { (x, y) }
    }
}

/// Draws the board without its coordinates.
pub(super) fn drawn(view: &View, style: Style) -> Canvas {
    let frame = Frame::new(view, style);
    let mut canvas = Canvas::default();
    for cell in view.shape.cells() {
        let (x, y) = frame.at(cell);
        canvas.reserve((x - 1, y));
        canvas.reserve((x + 1, y));
        let (glyph, paint) = cell_glyph(view, style, cell);
        canvas.put((x, y), glyph, paint);
    }
    for edge in &view.edges {
        draw_edge(&mut canvas, frame, edge);
    }
    draw_last(&mut canvas, frame, view);
    draw_chain(&mut canvas, frame, view);
    draw_camps(&mut canvas, frame, view);
    canvas
}

/// Draws the letter of a camp beside each piece in it, unless another mark is there: a full camp would
/// not be visible otherwise.
fn draw_camps(canvas: &mut Canvas, frame: Frame, view: &View) {
    for ground in &view.ground {
        let GroundKind::Target(colour) = ground.kind else { continue };
        let (x, y) = frame.at(ground.at);
        let beside = (x + frame.turned((-1, 0)).0, y);
        if piece_at(view, ground.at).is_some() && canvas.is_blank(beside) {
            canvas.put(beside, target_letter(colour), Paint::Ink(colour));
        }
    }
}

/// Returns the glyph of a cell: its piece, else its ground, else the empty glyph.
fn cell_glyph(view: &View, style: Style, cell: Cell) -> (char, Paint) {
    if let Some(colour) = piece_at(view, cell) {
        return piece_glyph(view, style, colour);
    }
    match ground_at(view, cell) {
        Some(GroundKind::Target(colour)) => (target_letter(colour), Paint::Ink(colour)),
        Some(GroundKind::Pad) => (pad_glyph(style), Paint::Pad),
        None => (empty_glyph(view, style), Paint::Faint),
    }
}

/// Returns the colour of the piece on a cell.
pub(super) fn piece_at(view: &View, cell: Cell) -> Option<Colour> {
    view.pieces.iter().find(|piece| piece.at == cell).map(|piece| piece.colour)
}

/// Returns the ground of a cell.
fn ground_at(view: &View, cell: Cell) -> Option<GroundKind> {
    view.ground.iter().find(|ground| ground.at == cell).map(|ground| ground.kind)
}

/// Returns the glyph of a piece: a letter, or for pegs in Unicode a full cell.
pub(super) fn piece_glyph(view: &View, style: Style, colour: Colour) -> (char, Paint) {
    match (style.charset, colour, view.shape) {
        (Charset::Unicode, Colour::Peg, Shape::Square(_)) => ('◼', Paint::StrongInk(colour)),
        (Charset::Unicode, Colour::Peg, _) => ('⬢', Paint::StrongInk(colour)),
        _ => (colour.letter(), Paint::Block(colour)),
    }
}

pub(super) fn pad_glyph(style: Style) -> char {
    match style.charset {
        Charset::Ascii => '*',
        Charset::Unicode => '◻',
    }
}

fn empty_glyph(view: &View, style: Style) -> char {
    match (style.charset, view.shape) {
        (Charset::Unicode, Shape::Square(_)) | (Charset::Ascii, _) => '.',
        (Charset::Unicode, _) => '⬡',
    }
}

/// Draws the owner's letter in lower case beside every cell of the edge. Letters that would be above or
/// below the board are left out, so that it keeps its height.
fn draw_edge(canvas: &mut Canvas, frame: Frame, edge: &Edge) {
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
            canvas.put(place, target_letter(edge.colour), Paint::Ink(edge.colour));
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
    piece_at(view, cell).is_some() || ground_at(view, cell) == Some(GroundKind::Pad)
}

/// Draws brackets around the cell where the last action ended, a plus where it began, and numbers on the
/// cells between, in order.
fn draw_last(canvas: &mut Canvas, frame: Frame, view: &View) {
    let Some((&end, before)) = view.last.split_last() else { return };
    let (x, y) = frame.at(end);
    let colour = piece_at(view, end);
    // In a chain the brackets have its colour.
    let bracket = colour.filter(|_| view.chain.contains(&end)).map_or(Paint::Strong, Paint::Block);
    canvas.put((x - 1, y), '[', bracket);
    canvas.put((x + 1, y), ']', bracket);
    let paint = colour.map_or(Paint::Strong, Paint::StrongInk);
    // If a path returns to a cell, the later mark counts.
    for (index, &cell) in before.iter().enumerate() {
        let later = &view.last[index + 1..];
        if later.contains(&cell) {
            continue;
        }
        let (x, y) = frame.at(cell);
        let place = if !keeps_glyph(view, cell) {
            (x, y)
        } else if canvas.is_blank((x - 1, y)) {
            (x - 1, y)
        } else {
            (x + 1, y)
        };
        canvas.put(place, path_mark(index), paint);
    }
}

/// Draws bars beside each cell of the chain.
fn draw_chain(canvas: &mut Canvas, frame: Frame, view: &View) {
    for &cell in &view.chain {
        let (x, y) = frame.at(cell);
        let paint = piece_at(view, cell).map_or(Paint::Strong, Paint::Block);
        for place in [(x - 1, y), (x + 1, y)] {
            if canvas.is_blank(place) {
                canvas.put(place, '=', paint);
            }
        }
    }
}
