//! Replaces text by outlines of an embedded font, so that a picture is the same on every machine.
//! Reads only the documents of [`crate::svg`], whose text elements have a known form.

use std::fmt::Write;
use std::sync::LazyLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// A part of a font: see `fonts/README.md`.
static FONT: LazyLock<Face<'static>> = LazyLock::new(|| {
    let font = include_bytes!("fonts/DejaVuSans-subset.ttf");
    Face::parse(font, 0).expect("the embedded font can be read")
});
/// Marks where a word may be broken; it is not drawn.
const SOFT_HYPHEN: char = '\u{ad}';

/// Replaces each text element of a document by a path.
pub(super) fn outlined(svg: &str) -> String {
    let mut parts = svg.split("<text ");
    let mut drawn = parts.next().unwrap_or_default().to_owned();
    for element in parts {
        let (text, after) = element.split_once("</text>").unwrap_or((element, ""));
        let (attributes, words) = text.split_once('>').unwrap_or((text, ""));
        drawn += &path(attributes, words);
        drawn += after;
    }
    drawn
}

/// Returns a text element as a path.
fn path(attributes: &str, words: &str) -> String {
    let value = |name: &str| attribute(attributes, name);
    let number = |name: &str| value(name).and_then(|it| it.parse::<f32>().ok()).unwrap_or(0.0);
    // Several places are those of the letters.
    let places = value("x").unwrap_or_default().split(' ').filter_map(|it| it.parse::<f32>().ok());
    let places: Vec<f32> = places.collect();
    let first = places.first().copied().unwrap_or(0.0);
    let scale = number("font-size") / f32::from(FONT.units_per_em());
    let middle = value("text-anchor") == Some("middle");
    let before = |width: f32| if middle { width / 2.0 } else { 0.0 };
    let mut line = Line::default();
    let words = unescaped(words);
    let letters = words.chars().filter(|&letter| letter != SOFT_HYPHEN);
    for (index, letter) in letters.enumerate() {
        if let Some(place) = places.get(index).filter(|_| places.len() > 1) {
            line.width = (place - first) / scale - before(width(letter));
        }
        line.add(letter);
    }
    let whole = if places.len() > 1 { 0.0 } else { before(line.width) };
    let left = first - whole * scale;
    let (down, fill) = (number("y"), value("fill").unwrap_or("black"));
    let place = format!("matrix({scale} 0 0 -{scale} {left} {down})");
    format!(r#"<path fill="{fill}" transform="{place}" d="{}"/>"#, line.outline)
}

/// Returns the value of an attribute of an element.
fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut parts = attributes.split('"');
    while let (Some(found), Some(value)) = (parts.next(), parts.next()) {
        if found.trim() == format!("{name}=") {
            return Some(value);
        }
    }
    None
}

/// The reverse of [`referee_protocol::encode::escape_markup`].
fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

fn glyph(letter: char) -> GlyphId {
    let glyph = FONT.glyph_index(letter).or_else(|| FONT.glyph_index('\u{fffd}'));
    glyph.unwrap_or(GlyphId(0))
}

/// Returns the width of a letter, in units of the font.
fn width(letter: char) -> f32 {
    f32::from(FONT.glyph_hor_advance(glyph(letter)).unwrap_or(0))
}

/// Returns the width of a letter of this size.
pub(super) fn advance(letter: char, size: i32) -> i32 {
    let units = FONT.glyph_hor_advance(glyph(letter)).unwrap_or(0);
    i32::from(units) * size / i32::from(FONT.units_per_em())
}

/// Letters side by side, in units of the font.
#[derive(Default)]
struct Line {
    width: f32,
    outline: String,
}

impl Line {
    fn add(&mut self, letter: char) {
        FONT.outline_glyph(glyph(letter), self);
        self.width += width(letter);
    }

    fn push(&mut self, command: char, points: &[(f32, f32)]) {
        self.outline.push(command);
        for (x, y) in points {
            write!(self.outline, "{} {y} ", x + self.width).ok();
        }
    }
}

impl OutlineBuilder for Line {
    fn move_to(&mut self, x: f32, y: f32) {
        self.push('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.push('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.push('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.push('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.push('Z', &[]);
    }
}

#[cfg(test)]
mod tests {
    use super::outlined;

    fn document(words: &str, more: &str) -> String {
        let words = referee_protocol::encode::escape_markup(words);
        format!("<svg><text x=\"4\" y=\"15\" font-size=\"12\"{more}>{words}</text></svg>")
    }

    fn place(words: &str, more: &str) -> f32 {
        let drawn = outlined(&document(words, more));
        let (_, matrix) = drawn.split_once("matrix(").unwrap();
        matrix.split([' ', ')']).nth(4).unwrap().parse().unwrap()
    }

    #[test]
    fn text_begins_where_it_is_put_or_has_its_middle_there() {
        let middle = " text-anchor=\"middle\"";
        let width = |words: &str| 2.0 * (place(words, "") - place(words, middle));
        assert!((place("abc", "") - 4.0).abs() < 1e-6);
        assert!(width("a") > 6.0 && width("a") < 12.0);
        assert!((width("&&") - 2.0 * width("&")).abs() < 1e-3);
        assert!((width("a\u{ad}b") - width("ab")).abs() < 1e-6);
    }

    #[test]
    fn what_is_around_text_stays_as_it_is() {
        assert_eq!(outlined("<svg></svg>"), "<svg></svg>");
        let one = document("a<b", " fill=\"#123\"");
        let drawn = outlined(&format!("<a/>{one}<b/>{one}<c/>"));
        assert!(drawn.starts_with("<a/><svg><path fill=\"#123\" "), "{drawn}");
        assert!(drawn.contains("Z\"/></svg><b/><svg><path "), "{drawn}");
        assert!(drawn.ends_with("Z\"/></svg><c/>"), "{drawn}");
    }
}
