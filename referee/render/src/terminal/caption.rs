//! The lines below the board: its figures, and the legend.

use super::canvas::{Glyph, Line, Paint};
use super::cells::{colour_glyph, pad_glyph, piece_at, piece_glyphs, piece_on};
use super::{Charset, Style};
use referee_games::board::Cell;
use referee_games::view::{Colour, Ground, GroundKind, Item, Labels, Piece, Row, View};
use std::collections::BTreeSet;

/// The widest line; longer ones are broken.
pub(super) const WIDTH_MAX: usize = 78;

/// Returns the figures, a line for each name, then the rows of items, and the legend if it is
/// asked for.
pub(super) fn lines(view: &View, style: Style, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for (name, figures) in view.figures_by_name() {
        let entries = figures.into_iter().map(|figure| match figure.colour {
            Some(colour) => marked([(view.letter(colour), Paint::Block(colour))], &figure.value),
            None => plain(&figure.value),
        });
        lines.extend(wrapped([plain(name)].into_iter().chain(entries), width));
    }
    for row in &view.rows {
        lines.extend(row_lines(view, row, width));
    }
    if style.legend {
        lines.extend(wrapped(legend(view, style), width));
    }
    lines.into_iter().map(|line| shown(line, style)).collect()
}

/// Says how wide a terminal must be, so that the lines of the board aren't broken.
pub(super) fn too_wide(columns: usize) -> Line {
    plain(&format!("(the board takes {columns} columns; `referee serve` draws it in a browser)"))
}

/// Returns the view's text, a line for each of its own.
pub(super) fn text_lines(view: &View, style: Style) -> Vec<Line> {
    view.text.lines().map(|line| shown(plain(line.trim_end()), style)).collect()
}

/// Replaces what a terminal would not show as one glyph: control characters and, in ASCII, all others.
fn shown(line: Line, style: Style) -> Line {
    let is_shown = |glyph: char| match style.charset {
        Charset::Ascii => glyph.is_ascii_graphic() || glyph == ' ',
        Charset::Unicode => !glyph.is_control(),
    };
    let glyph = |(glyph, paint)| (if is_shown(glyph) { glyph } else { '?' }, paint);
    line.into_iter().map(glyph).collect()
}

/// Returns an entry for every kind of mark in this picture.
fn legend(view: &View, style: Style) -> Vec<Line> {
    let colours: BTreeSet<Colour> = view.pieces.iter().map(|piece| piece.colour).collect();
    let mut entries: Vec<Line> = colours
        .into_iter()
        .map(|colour| marked([colour_glyph(view, style, colour)], &view.name_of(colour)))
        .collect();
    entries.extend(kinds_used(view, style));
    let targets = view.ground.iter().filter_map(|ground| match ground.kind {
        GroundKind::Target(colour) => Some(colour),
        GroundKind::Tint(_) | GroundKind::Pad => None,
    });
    entries.extend(colours_used(view, targets.collect(), "target"));
    let tints = view.ground.iter().filter_map(|ground| match ground.kind {
        GroundKind::Tint(colour) => Some(colour),
        GroundKind::Target(_) | GroundKind::Pad => None,
    });
    entries.extend(colours_used(view, tints.collect(), "ground"));
    let free_pad =
        |ground: &Ground| ground.kind == GroundKind::Pad && piece_at(view, ground.at).is_none();
    if view.ground.iter().any(free_pad) {
        entries.push(marked([(pad_glyph(style), Paint::Pad)], "free pad"));
    }
    let edges = view.edges.iter().map(|edge| edge.colour);
    entries.extend(colours_used(view, edges.collect(), "goal edge"));
    let glyph_at = |cell| -> String {
        let glyphs = piece_on(view, cell).map(|piece| piece_glyphs(view, style, piece));
        glyphs.map_or_else(|| ".".into(), |all| all.into_iter().map(|(glyph, _)| glyph).collect())
    };
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
    if style.coordinates && view.labels == Labels::Pair && view.shape.shape().is_some() {
        entries.push(plain(pair_sides(view.shape.is_grid(), style.flip)));
    }
    entries
}

/// Returns the sides on which the two parts of a cell's name are.
fn pair_sides(is_grid: bool, flip: bool) -> &'static str {
    match (is_grid, flip) {
        (true, false) => "cell: left,above",
        (true, true) => "cell: right,below",
        (_, false) => "cell: left,right",
        (_, true) => "cell: right,left",
    }
}

/// Returns lower-case letters of colours, and what they mean.
fn colours_used(view: &View, colours: BTreeSet<Colour>, meaning: &str) -> Option<Line> {
    if colours.is_empty() {
        return None;
    }
    let letters = colours.into_iter().map(|colour| (view.small_letter(colour), Paint::Ink(colour)));
    let mut entry: Line =
        letters.flat_map(|letter| [(' ', Paint::Plain), letter]).skip(1).collect();
    entry.extend(plain(&format!(" {meaning}")));
    Some(entry)
}

/// Returns a mark and what it means.
fn marked(mark: impl IntoIterator<Item = Glyph>, meaning: &str) -> Line {
    let blank = [(' ', Paint::Plain)];
    mark.into_iter().chain(blank).chain(plain(meaning)).collect()
}

/// Returns what the texts of the pieces on the board mean.
fn kinds_used(view: &View, style: Style) -> Vec<Line> {
    let mut lines = Vec::new();
    for kind in view.kinds.iter().filter(|kind| kind.text.is_some()) {
        let of_kind = |piece: &&Piece| piece.colour == kind.colour && piece.text == kind.text;
        if let Some(piece) = view.pieces.iter().find(of_kind) {
            lines.push(marked(piece_glyphs(view, style, piece), &kind.name));
        }
    }
    lines
}

/// Returns a row of items: its name, its owner, and each item in its colour.
fn row_lines(view: &View, row: &Row, width: usize) -> Vec<Line> {
    let owner = row.colour.map(|colour| (view.letter(colour), Paint::Block(colour)));
    let title = match owner {
        Some(owner) => plain(&row.name).into_iter().chain([(' ', Paint::Plain), owner]).collect(),
        None => plain(&row.name),
    };
    let item = |item: &Item| -> Line {
        let colour = item.colour.or(row.colour);
        let paint = colour.map_or(Paint::Strong, Paint::Block);
        // The owner's letter is in front of the row, and a text may say its colour, as on the board.
        let piece = item.colour.map(|colour| Piece { at: Cell(0, 0), colour, text: item.text });
        let is_named = piece.is_some_and(|piece| view.text_names_colour(&piece));
        let is_needed = item.text.is_none() || colour != row.colour && !is_named;
        let letter = colour.filter(|_| is_needed);
        let letter = letter.map(|colour| view.letter(colour));
        let text = item.text.as_ref().map_or("", |text| text.as_str());
        let glyphs: Line = letter.into_iter().chain(text.chars()).map(|it| (it, paint)).collect();
        if glyphs.is_empty() { vec![('o', paint)] } else { glyphs }
    };
    let items = row.items.iter().map(item);
    let empty = row.items.is_empty().then(|| plain("-"));
    wrapped([title].into_iter().chain(items).chain(empty), width)
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
