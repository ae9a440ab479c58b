//! What is below a board: rows of items, and text in letters of one width.

use super::lettering::advance;
use super::palette::Role;
use super::symbols::{Symbols, Token, Units};
use referee_games::board::Layout;
use referee_games::view::{Item, Row, View};
use referee_protocol::encode::escape_markup;
use referee_protocol::sanitize::sanitize;
use std::fmt::Write;

/// From one item to the next, in hundredths.
const PITCH: i32 = 2400;
/// The radius of an item.
const ITEM: i32 = 950;
/// The size of the names of rows.
const NAME: i32 = 1300;
/// The most characters of a row's name that are shown.
const NAME_MAX: usize = 30;
/// Room at the sides.
const MARGIN: i32 = 600;
/// The sizes of the text's letters.
const LETTERS: std::ops::RangeInclusive<i32> = 600..=1600;
/// The width of a letter, in hundredths of its size.
const LETTER_WIDTH: i32 = 70;
/// From one line to the next, in hundredths of the size.
const LINE_HEIGHT: i32 = 125;

/// What is below a board, laid out for a width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Below {
    rows: Vec<RowPlace>,
    text: Vec<String>,
    /// The size of the text's letters.
    letters: i32,
    pub(super) height: i32,
}

/// A row's place, from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RowPlace {
    row: Row,
    name: String,
    top: i32,
    /// Where the items of each line begin, and how many lines down the first of them is.
    left: i32,
    down: i32,
    /// The number of items in a line.
    columns: usize,
}

/// Returns the least width at which everything can be read; 0 if there is nothing.
pub(super) fn least_width(view: &View) -> i32 {
    let columns = text_of(view).iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let rows = if view.rows.is_empty() { 0 } else { 2 * MARGIN + 4 * PITCH };
    let text = if columns == 0 { 0 } else { 2 * MARGIN + text_width(columns, *LETTERS.start()) };
    rows.max(text)
}

fn text_width(columns: usize, size: i32) -> i32 {
    count(columns) * (size * LETTER_WIDTH / 100)
}

fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Returns the lines of a view's text, without control characters; none where the board itself is drawn.
fn text_of(view: &View) -> Vec<String> {
    if view.shape != Layout::Nothing {
        return Vec::new();
    }
    view.text.lines().map(|line| clean(line).trim_end().to_owned()).collect()
}

/// Removes characters that SVG can't contain.
fn clean(text: &str) -> String {
    sanitize(text).replace(['\u{FFFE}', '\u{FFFF}', '\u{ad}'], "\u{FFFD}")
}

impl Below {
    pub(super) fn of(view: &View, width: i32) -> Self {
        let mut rows = Vec::new();
        let mut top = 0;
        for row in &view.rows {
            let name: String = clean(&row.name).chars().take(NAME_MAX).collect();
            let owner = if row.colour.is_some() { PITCH } else { 0 };
            let title: i32 = name.chars().map(|letter| advance(letter, NAME)).sum();
            let title = MARGIN + owner + title + NAME / 2;
            // Beside a long name there is no room for items.
            let (left, down) = if 2 * title > width { (MARGIN, 1) } else { (title, 0) };
            let columns = usize::try_from((width - MARGIN - left) / PITCH).unwrap_or(1).max(1);
            let lines = count(row.items.len().div_ceil(columns).max(1)) + down;
            rows.push(RowPlace { row: row.clone(), name, top, left, down, columns });
            top += lines * PITCH;
        }
        let text = text_of(view);
        let columns = text.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let fitting = (width - 2 * MARGIN) * 100 / (LETTER_WIDTH * count(columns.max(1)));
        let letters = fitting.clamp(*LETTERS.start(), *LETTERS.end());
        let lines = count(text.len()) * letters * LINE_HEIGHT / 100;
        let gap = if lines > 0 || top > 0 { MARGIN } else { 0 };
        Self { rows, text, letters, height: top + lines + gap }
    }

    /// Returns everything as SVG, with its upper left corner at zero.
    pub(super) fn drawn(&self, symbols: Symbols<'_>) -> String {
        let mut drawn = String::new();
        let mut top = 0;
        for place in &self.rows {
            drawn += &place.drawn(symbols);
            let lines = count(place.row.items.len().div_ceil(place.columns).max(1)) + place.down;
            top = place.top + lines * PITCH;
        }
        let fill = symbols.pen.fill(Role::Ink);
        let size = Units(self.letters);
        for (line, text) in self.text.iter().enumerate() {
            let y = Units(top + (count(line) + 1) * self.letters * LINE_HEIGHT / 100);
            for (start, word) in words(text) {
                // Every letter has its place, whatever the font.
                let middle = |column: usize| {
                    let left = text_width(start + column, self.letters);
                    Units(MARGIN + left + self.letters * LETTER_WIDTH / 200).to_string()
                };
                let places: Vec<String> = (0..word.chars().count()).map(middle).collect();
                let (places, word) = (places.join(" "), escape_markup(word));
                write!(
                    drawn,
                    r#"<text x="{places}" y="{y}" font-size="{size}" text-anchor="middle" {fill}>{word}</text>"#
                )
                .ok();
            }
        }
        drawn
    }
}

impl RowPlace {
    fn drawn(&self, symbols: Symbols<'_>) -> String {
        let scale = Units(ITEM * 10_000 / (66 * symbols.geometry.reach));
        let at = |x: i32, line: i32| {
            let y = self.top + line * PITCH + PITCH / 2;
            format!(r#"transform="translate({} {}) scale({scale})""#, Units(x), Units(y))
        };
        let mut drawn = String::new();
        let mut left = MARGIN;
        if let Some(colour) = self.row.colour {
            drawn += &symbols.token(Token { colour, text: None }, &at(left + ITEM, 0));
            left += PITCH;
        }
        let (x, y) = (Units(left), Units(self.top + PITCH / 2 + NAME * 36 / 100));
        let (size, fill) = (Units(NAME), symbols.pen.fill(Role::Ink));
        let name = escape_markup(&self.name);
        write!(drawn, r#"<text x="{x}" y="{y}" font-size="{size}" {fill}>{name}</text>"#).ok();
        for (index, item) in self.row.items.iter().enumerate() {
            let (line, column) = (count(index / self.columns), count(index % self.columns));
            let place = at(self.left + column * PITCH + ITEM, self.down + line);
            let item = Item { colour: item.colour.or(self.row.colour), ..*item };
            drawn += &symbols.item(item, &place);
        }
        if self.row.items.is_empty() {
            let x = Units(self.left);
            let fill = symbols.pen.fill(Role::Faint);
            let y = Units(self.top + self.down * PITCH + PITCH / 2 + NAME * 36 / 100);
            write!(drawn, r#"<text x="{x}" y="{y}" font-size="{size}" {fill}>–</text>"#).ok();
        }
        drawn
    }
}

/// Returns the words of a line, each with its column.
fn words(line: &str) -> Vec<(usize, &str)> {
    let mut column = 0;
    let mut words = Vec::new();
    for word in line.split(' ') {
        if !word.is_empty() {
            words.push((column, word));
        }
        column += word.chars().count() + 1;
    }
    words
}
