//! The text above a board: broken into lines, and escaped for SVG.

use super::lettering::advance;
use super::palette::Role;
use super::svg::CaptionLine;
use super::symbols::{Symbols, Token, Units};
use referee_protocol::encode::escape_markup;
use referee_protocol::sanitize::sanitize;
use std::fmt::Write;

/// The least width of pictures with text, in hundredths.
const WIDTH_MIN: i32 = 28_000;
/// The sizes of letters, in hundredths.
const SIZES: std::ops::RangeInclusive<i32> = 1250..=3200;
/// The most lines of a paragraph: agents choose their names.
const LINES_MAX: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextLine {
    /// The piece in front of it.
    piece: Option<Token>,
    /// Whether its paragraph has a piece in front.
    inset: bool,
    text: String,
}

/// Returns the width of a picture with a board of this width, and the size of its letters.
pub(super) fn measure(board: i32, has_text: bool) -> (i32, i32) {
    let width = if has_text { board.max(WIDTH_MIN) } else { board };
    (width, (width / 28).clamp(*SIZES.start(), *SIZES.end()))
}

/// Returns the height of this many lines, with room around them.
pub(super) fn height(lines: usize, size: i32) -> i32 {
    let lines = i32::try_from(lines).unwrap_or(0);
    if lines == 0 { 0 } else { lines * size * 3 / 2 + size / 2 }
}

/// Breaks paragraphs into lines of this width.
pub(super) fn broken(notes: &[CaptionLine], width: i32, size: i32) -> Vec<TextLine> {
    let mut lines = Vec::new();
    for note in notes {
        let inset = if note.piece.is_some() { size * 3 / 2 } else { 0 };
        let mut parts = fitted(&clean(&note.text), width - inset - size, size);
        if parts.len() > LINES_MAX {
            parts.truncate(LINES_MAX);
            if let Some(last) = parts.last_mut() {
                last.pop();
                last.push('…');
            }
        }
        for (index, text) in parts.into_iter().enumerate() {
            let piece = note.piece.filter(|_| index == 0);
            lines.push(TextLine { piece, inset: note.piece.is_some(), text });
        }
    }
    lines
}

/// Returns the lines as SVG.
pub(super) fn drawn(lines: &[TextLine], size: i32, symbols: Symbols<'_>) -> String {
    let mut text = String::new();
    let mut base = size * 3 / 2;
    for line in lines {
        let left = size / 2 + if line.inset { size * 3 / 2 } else { 0 };
        if let Some(token) = line.piece {
            let (x, y) = (Units(size * 11 / 10), Units(base - size * 36 / 100));
            let scale = Units(size * 85 / symbols.geometry.reach);
            let place = format!(r#"transform="translate({x} {y}) scale({scale})""#);
            text += &symbols.token(token, &place);
        }
        let (x, y, fill) = (Units(left), Units(base), symbols.pen.fill(Role::Ink));
        let (size_shown, words) = (Units(size), escape_markup(&line.text));
        write!(text, r#"<text x="{x}" y="{y}" font-size="{size_shown}" {fill}>{words}</text>"#)
            .ok();
        base += size * 3 / 2;
    }
    text
}

/// Removes characters that SVG can't contain, and repeated blanks.
fn clean(text: &str) -> String {
    let text = sanitize(text).replace(['\u{FFFE}', '\u{FFFF}'], "\u{FFFD}");
    text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Breaks text into lines of at most this width.
fn fitted(text: &str, room: i32, size: i32) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut left = room;
    for word in text.split_inclusive(' ') {
        let width: i32 = word.trim_end().chars().map(|letter| advance(letter, size)).sum();
        if width > left && left < room {
            lines.push(String::new());
            left = room;
        }
        for letter in word.chars() {
            if advance(letter, size) > left && letter != ' ' {
                lines.push(String::new());
                left = room;
            }
            left -= advance(letter, size);
            lines.last_mut().expect("there is one").push(letter);
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}
