//! The lines below the board: its figures, and the legend.

use super::Style;
use super::canvas::{Line, Paint};
use super::cells::{pad_glyph, piece_at, piece_glyph};
use crate::symbols::target_letter;
use referee_games::board::Shape;
use referee_games::view::{Colour, Ground, GroundKind, Labels, View};
use std::collections::BTreeSet;

/// The widest line; longer ones are broken.
pub(super) const WIDTH_MAX: usize = 78;

/// Returns the figures, a line for each name, then the legend if it is asked for.
pub(super) fn lines(view: &View, style: Style, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for (name, figures) in view.figures_by_name() {
        let entries = figures.into_iter().map(|figure| match figure.colour {
            Some(colour) => marked((colour.letter(), Paint::Block(colour)), &figure.value),
            None => plain(&figure.value),
        });
        lines.extend(wrapped([plain(name)].into_iter().chain(entries), width));
    }
    if style.legend {
        lines.extend(wrapped(legend(view, style), width));
    }
    lines
}

/// Returns an entry for every kind of mark in this picture.
fn legend(view: &View, style: Style) -> Vec<Line> {
    let colours: BTreeSet<Colour> = view.pieces.iter().map(|piece| piece.colour).collect();
    let mut entries: Vec<Line> = colours
        .into_iter()
        .map(|colour| marked(piece_glyph(view, style, colour), colour.name()))
        .collect();
    let targets = view.ground.iter().filter_map(|ground| match ground.kind {
        GroundKind::Target(colour) => Some(colour),
        GroundKind::Pad => None,
    });
    entries.extend(colours_used(targets.collect(), "target"));
    let free_pad =
        |ground: &Ground| ground.kind == GroundKind::Pad && piece_at(view, ground.at).is_none();
    if view.ground.iter().any(free_pad) {
        entries.push(marked((pad_glyph(style), Paint::Pad), "free pad"));
    }
    entries.extend(colours_used(view.edges.iter().map(|edge| edge.colour).collect(), "goal edge"));
    let glyph_at = |cell| piece_at(view, cell).map_or('.', |c| piece_glyph(view, style, c).0);
    if let Some((&end, before)) = view.last.split_last() {
        entries.push(plain(&format!("[{}] last", glyph_at(end))));
        if !before.is_empty() {
            entries.push(plain("+ from"));
        }
        match before.len().saturating_sub(1) {
            0 => {}
            1 => entries.push(plain("1 through")),
            through @ 2..=9 => entries.push(plain(&format!("1..{through} through"))),
            _ => entries.push(plain("1..9 : through")),
        }
    }
    if let Some(&cell) = view.chain.first() {
        entries.push(plain(&format!("={}= chain", glyph_at(cell))));
    }
    if style.coordinates && view.labels == Labels::Pair {
        entries.push(plain(pair_sides(view.shape, style.flip)));
    }
    entries
}

/// Returns the sides on which the two parts of a cell's name are.
fn pair_sides(shape: Shape, flip: bool) -> &'static str {
    match (shape, flip) {
        (Shape::Square(_), false) => "cell: left,above",
        (Shape::Square(_), true) => "cell: right,below",
        (_, false) => "cell: left,right",
        (_, true) => "cell: right,left",
    }
}

/// Returns lower-case letters of colours, and what they mean.
fn colours_used(colours: BTreeSet<Colour>, meaning: &str) -> Option<Line> {
    if colours.is_empty() {
        return None;
    }
    let letters = colours.into_iter().map(|colour| (target_letter(colour), Paint::Ink(colour)));
    let mut entry: Line =
        letters.flat_map(|letter| [(' ', Paint::Plain), letter]).skip(1).collect();
    entry.extend(plain(&format!(" {meaning}")));
    Some(entry)
}

/// Returns a mark and what it means.
fn marked(mark: (char, Paint), meaning: &str) -> Line {
    let mut line = vec![mark, (' ', Paint::Plain)];
    line.extend(plain(meaning));
    line
}

fn plain(text: &str) -> Line {
    text.chars().map(|glyph| (glyph, Paint::Plain)).collect()
}

/// Joins entries, two blanks apart, into lines that are broken between entries.
fn wrapped(entries: impl IntoIterator<Item = Line>, width: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for entry in entries {
        match lines.last_mut() {
            Some(line) if line.len() + 2 + entry.len() <= width => {
                line.extend(plain("  "));
                line.extend(entry);
            }
            _ => lines.push(entry),
        }
    }
    lines
}
