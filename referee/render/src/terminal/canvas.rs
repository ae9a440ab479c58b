//! A grid of glyphs, each with its paint, and its conversion to text.

use super::palette;
use referee_games::view::Colour;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::RangeInclusive;

pub type Glyph = (char, Paint);

pub(super) type Line = Vec<Glyph>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// The terminal's own colours.
    Plain,
    /// The same, bold.
    Strong,
    /// Less important, such as a coordinate.
    Faint,
    Pad,
    /// In this colour, on the terminal's own background.
    Ink(Colour),
    /// The same, bold.
    StrongInk(Colour),
    /// On a background of this colour.
    Block(Colour),
}

/// Glyphs by line and column; blanks reserve space.
#[derive(Debug, Default)]
pub(super) struct Canvas(BTreeMap<(i32, i32), Glyph>);

const BLANK: Glyph = (' ', Paint::Plain);

impl Canvas {
    /// Extends the picture to this place.
    pub(super) fn reserve(&mut self, (x, y): (i32, i32)) {
        self.0.entry((y, x)).or_insert(BLANK);
    }

    /// Draws a glyph over what is there.
    pub(super) fn put(&mut self, (x, y): (i32, i32), glyph: char, paint: Paint) {
        self.0.insert((y, x), (glyph, paint));
    }

    /// Returns whether nothing is drawn there.
    pub(super) fn is_blank(&self, (x, y): (i32, i32)) -> bool {
        self.0.get(&(y, x)).is_none_or(|glyph| *glyph == BLANK)
    }

    /// Returns whether nothing but a line between points is drawn there.
    pub(super) fn is_line_or_blank(&self, (x, y): (i32, i32)) -> bool {
        let is_line = |glyph: &Glyph| matches!(glyph, ('-' | '|' | '/' | '\\', Paint::Faint));
        self.is_blank((x, y)) || self.0.get(&(y, x)).is_some_and(is_line)
    }

    pub(super) fn rows(&self) -> RangeInclusive<i32> {
        let row = |entry: Option<(&(i32, i32), &Glyph)>| entry.map_or(0, |((y, _), _)| *y);
        row(self.0.first_key_value())..=row(self.0.last_key_value())
    }

    pub(super) fn columns(&self) -> RangeInclusive<i32> {
        let columns = || self.0.keys().map(|(_, x)| *x);
        columns().min().unwrap_or(0)..=columns().max().unwrap_or(0)
    }

    /// Returns the lines, without trailing blanks.
    pub(super) fn lines(&self) -> Vec<Line> {
        let columns = self.columns();
        let glyph = |x, y| self.0.get(&(y, x)).copied().unwrap_or(BLANK);
        let line = |y| {
            let mut line: Line = columns.clone().map(|x| glyph(x, y)).collect();
            while line.last().is_some_and(|&(glyph, _)| glyph == ' ') {
                line.pop();
            }
            line
        };
        self.rows().map(line).collect()
    }
}

/// Converts a line to text. Glyphs of equal paint share their escape codes, and every line ends with
/// the terminal's own colours.
pub(super) fn written(line: &Line, colour: bool) -> String {
    if !colour {
        return line.iter().map(|&(glyph, _)| glyph).collect();
    }
    let mut text = String::new();
    for run in line.chunk_by(|a, b| a.1 == b.1) {
        let glyphs: String = run.iter().map(|&(glyph, _)| glyph).collect();
        match palette::code(run[0].1) {
            Some(code) => {
                write!(text, "\x1b[{code}m{glyphs}\x1b[0m").expect("a string takes any text");
            }
            None => text.push_str(&glyphs),
        }
    }
    text
}
