//! A sheet of glyphs, each with its paint, and how it becomes text.

use super::palette;
use referee_games::view::Colour;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What stands in one column of one line.
pub type Glyph = (char, Paint);

/// One line of a picture.
pub(super) type Line = Vec<Glyph>;

/// How a glyph is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// The terminal's own colours.
    Plain,
    /// The same, bold.
    Strong,
    /// Beside the point, such as a coordinate.
    Faint,
    /// A pad that can be stood on.
    Pad,
    /// In this colour, on the terminal's own background.
    Ink(Colour),
    /// The same, bold.
    StrongInk(Colour),
    /// On a background of this colour.
    Block(Colour),
}

/// Glyphs by line and column, and the rectangle that the picture takes.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    glyphs: BTreeMap<(i32, i32), Glyph>,
    corners: Option<[(i32, i32); 2]>,
}

impl Canvas {
    /// Makes sure that the picture reaches as far as this place, whether or not anything is drawn
    /// there.
    pub(super) fn reserve(&mut self, (x, y): (i32, i32)) {
        let [(left, top), (right, bottom)] = self.corners.unwrap_or([(x, y); 2]);
        self.corners = Some([(left.min(x), top.min(y)), (right.max(x), bottom.max(y))]);
    }

    /// Draws a glyph over whatever is there.
    pub(super) fn put(&mut self, (x, y): (i32, i32), glyph: char, paint: Paint) {
        self.reserve((x, y));
        self.glyphs.insert((y, x), (glyph, paint));
    }

    /// Whether nothing is drawn there.
    pub(super) fn is_blank(&self, (x, y): (i32, i32)) -> bool {
        !self.glyphs.contains_key(&(y, x))
    }

    /// The first and last line that the picture takes.
    pub(super) fn rows(&self) -> (i32, i32) {
        self.corners.map_or((0, 0), |[(_, top), (_, bottom)]| (top, bottom))
    }

    /// The first column and line that the picture takes.
    pub(super) fn corner(&self) -> (i32, i32) {
        self.corners.map_or((0, 0), |[corner, _]| corner)
    }

    /// How many columns the picture takes.
    pub(super) fn width(&self) -> usize {
        let columns = self.corners.map_or(0, |[(left, _), (right, _)]| right - left + 1);
        usize::try_from(columns).unwrap_or_default()
    }

    /// The picture, line by line, without trailing blanks.
    pub(super) fn lines(&self) -> Vec<Line> {
        let Some([(left, top), (right, bottom)]) = self.corners else { return Vec::new() };
        let glyph = |x, y| self.glyphs.get(&(y, x)).copied().unwrap_or((' ', Paint::Plain));
        let line = |y| {
            let mut line: Line = (left..=right).map(|x| glyph(x, y)).collect();
            while line.last().is_some_and(|&(glyph, _)| glyph == ' ') {
                line.pop();
            }
            line
        };
        (top..=bottom).map(line).collect()
    }
}

/// The line as text; glyphs of equal paint share their escape codes, and every line ends with the
/// terminal's own colours.
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
