//! A position as a picture in SVG: one file that any program shows, with nothing to load and
//! nothing that runs.

use super::geometry::{Geometry, NAME_SIZE, Point};
use super::palette::{Role, Theme};
use super::symbols::{Painter, Symbols, Units, ground_id, points, translated};
use super::text::{self, TextLine};
use referee_games::board::Cell;
use referee_games::view::{Colour, Figure, GroundKind, View};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The fonts that are asked for, the embedded one first: what is measured then fits.
pub(super) const FONT: &str = "DejaVu Sans, Verdana, sans-serif";

/// How a picture looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PictureStyle {
    /// Dark on light, or light on dark.
    pub theme: Theme,
    /// Whether to name rows and columns on two sides.
    pub coordinates: bool,
    /// Whether to turn the board by half a turn.
    pub flip: bool,
    /// Plain text above the board, a paragraph each. It may come from anywhere.
    pub caption: Vec<CaptionLine>,
    /// Whether to show the view's figures below it.
    pub figures: bool,
    /// So many lines of text have room at least: with [`lines`] of all plies, pictures of one match
    /// have one size.
    pub room: usize,
}

/// A paragraph of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptionLine {
    /// A piece to put in front, so that it shows whom the text is about.
    pub piece: Option<Colour>,
    /// The text.
    pub text: String,
}

/// The position as a standalone SVG document. The same view and look give the same bytes.
pub fn svg(view: &View, look: &PictureStyle) -> String {
    strip(&[(view, look)], 1)
}

/// Positions side by side in rows of so many, as one document in the first one's theme.
pub fn strip(positions: &[(&View, &PictureStyle)], columns: usize) -> String {
    let pictures: Vec<Picture<'_>> =
        positions.iter().map(|(view, look)| Picture::new(view, look)).collect();
    let largest = |side: fn((i32, i32)) -> i32| {
        pictures.iter().map(|picture| side(picture.size())).max().unwrap_or_default()
    };
    let (wide, high) = (largest(|size| size.0), largest(|size| size.1));
    let columns = columns.clamp(1, pictures.len().max(1));
    let count = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
    let width = wide * count(columns);
    let height = high * count(pictures.len().div_ceil(columns));
    let mut text = opening(width, height);
    let definitions: BTreeSet<String> = pictures.iter().flat_map(Picture::definitions).collect();
    write!(text, "<defs>{}</defs>", definitions.into_iter().collect::<String>()).ok();
    let theme = positions.first().map_or(Theme::Light, |(_, look)| look.theme);
    text += &background(theme, width, height);
    for (index, picture) in pictures.iter().enumerate() {
        let (x, y) = (wide * count(index % columns), high * count(index / columns));
        text += &translated(Point { x, y }, &(picture.under() + &picture.over()));
    }
    text.push_str("</svg>\n");
    text
}

fn background(theme: Theme, width: i32, height: i32) -> String {
    let (width, height, fill) =
        (Units(width), Units(height), Painter(theme).fill(Role::Background));
    format!(r#"<rect width="{width}" height="{height}" {fill}/>"#)
}

/// The position as two documents, one to be drawn over the other: the board, which is the same for
/// every ply of a match, and what stands on it.
pub(crate) fn layers(view: &View, look: &PictureStyle) -> [String; 2] {
    let picture = Picture::new(view, look);
    let (width, height) = picture.size();
    let opening = opening(width, height);
    let ground = background(look.theme, width, height);
    let definitions: String = picture.definitions().into_iter().collect();
    [
        format!("{opening}{ground}{}</svg>", picture.under()),
        format!("{opening}<defs>{definitions}</defs>{}</svg>", picture.over()),
    ]
}

/// Width and height of a picture, in units.
pub fn extent(view: &View, look: &PictureStyle) -> (f64, f64) {
    let (width, height) = Picture::new(view, look).size();
    (f64::from(width) / 100.0, f64::from(height) / 100.0)
}

/// How many lines of text stand above the board.
pub fn lines(view: &View, look: &PictureStyle) -> usize {
    Picture::new(view, look).words.len()
}

/// The beginning of a document of this size, in hundredths.
pub(super) fn opening(width: i32, height: i32) -> String {
    let (width, height) = (Units(width), Units(height));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"{FONT}\">"
    )
}

/// A position laid out.
#[derive(Debug)]
pub(super) struct Picture<'a> {
    view: &'a View,
    look: &'a PictureStyle,
    geometry: Geometry,
    words: Vec<TextLine>,
    size: i32,
    width: i32,
}

impl<'a> Picture<'a> {
    pub(super) fn new(view: &'a View, look: &'a PictureStyle) -> Self {
        let geometry = Geometry::of(view, look.flip, look.coordinates);
        let notes = notes(view, look);
        let (width, size) = text::measure(geometry.width, !notes.is_empty() || look.room > 0);
        let words = text::broken(&notes, width, size);
        Self { view, look, geometry, words, size, width }
    }

    /// Width and height, in hundredths.
    pub(super) fn size(&self) -> (i32, i32) {
        (self.width, self.geometry.height + self.text_height())
    }

    fn text_height(&self) -> i32 {
        text::height(self.words.len().max(self.look.room), self.size)
    }

    fn symbols(&self) -> Symbols<'_> {
        Symbols { geometry: &self.geometry, pen: Painter(self.look.theme) }
    }

    /// The symbols that are used.
    pub(super) fn definitions(&self) -> BTreeSet<String> {
        let (symbols, view) = (self.symbols(), self.view);
        let noted = self.look.caption.iter().filter_map(|note| note.piece);
        let pieces = view.pieces.iter().map(|piece| piece.colour);
        let colours: BTreeSet<Colour> = pieces.chain(noted).collect();
        let grounds: BTreeMap<String, GroundKind> =
            view.ground.iter().map(|ground| (ground_id(ground.kind), ground.kind)).collect();
        let pieces = colours.into_iter().map(|colour| symbols.piece(colour));
        let grounds = grounds.into_values().map(|kind| symbols.ground(kind));
        let mut all: BTreeSet<String> = pieces.chain(grounds).collect();
        if !view.last.is_empty() {
            all.insert(symbols.mark_last());
        }
        if view.last.len() > 1 {
            all.extend([symbols.mark_from(), symbols.markers()]);
        }
        if !view.chain.is_empty() {
            all.insert(symbols.mark_chain());
        }
        all
    }

    /// The board without what changes from ply to ply.
    fn under(&self) -> String {
        let pen = Painter(self.look.theme);
        let board = cells(&self.geometry, pen) + &self.symbols().edges();
        self.placed(&(board + &names(&self.geometry, pen)))
    }

    /// The text, and what stands on the board.
    fn over(&self) -> String {
        let pen = Painter(self.look.theme);
        let text = text::drawn(&self.words, self.size, self.geometry.reach, pen);
        text + &self.placed(&(self.ground() + &self.last() + &self.pieces() + &self.chain()))
    }

    fn placed(&self, board: &str) -> String {
        let x = (self.width - self.geometry.width) / 2;
        translated(Point { x, y: self.text_height() }, board)
    }

    fn ground(&self) -> String {
        let used = self.view.ground.iter().map(|ground| (ground_id(ground.kind), ground.at));
        self.used(used)
    }

    fn pieces(&self) -> String {
        let name = |colour: Colour| format!("piece-{}", colour.name());
        self.used(self.view.pieces.iter().map(|piece| (name(piece.colour), piece.at)))
    }

    fn chain(&self) -> String {
        self.used(self.view.chain.iter().map(|&cell| ("mark-chain".to_owned(), cell)))
    }

    /// The line through the last action's cells, a mark where it began and a ring where it ended.
    fn last(&self) -> String {
        let Some((&end, before)) = self.view.last.split_last() else { return String::new() };
        let mut text = String::new();
        if let Some(&start) = before.first() {
            let places = self.geometry.places();
            let through = self.view.last.iter().filter_map(|cell| places.get(cell).copied());
            let (corners, line) = (points(through), self.symbols().path());
            write!(text, r#"<polyline points="{corners}" {line}/>"#).ok();
            if start != end {
                text += &self.used([("mark-from".to_owned(), start)]);
            }
        }
        text + &self.used([("mark-last".to_owned(), end)])
    }

    /// Symbols on cells. A cell that isn't on the board has no place.
    fn used(&self, symbols: impl IntoIterator<Item = (String, Cell)>) -> String {
        let places = self.geometry.places();
        let mut text = String::new();
        for (id, cell) in symbols {
            if let Some(&Point { x, y }) = places.get(&cell) {
                write!(text, r##"<use href="#{id}" x="{}" y="{}"/>"##, Units(x), Units(y)).ok();
            }
        }
        text
    }
}

/// Every cell's outline, with its number.
pub(super) fn cells(geometry: &Geometry, pen: Painter) -> String {
    let mut text =
        format!(r#"<g class="layer-cells"><g {}>"#, pen.both(Role::Cell, Role::Line, 120));
    for (index, spot) in geometry.cells.iter().enumerate() {
        let corners = points(geometry.outline.iter().map(|corner| spot.at.plus(*corner)));
        write!(text, r#"<polygon class="cell" data-cell="{index}" points="{corners}"/>"#).ok();
    }
    text + "</g></g>"
}

/// The names of rows and columns.
pub(super) fn names(geometry: &Geometry, pen: Painter) -> String {
    let mut text = String::from(r#"<g class="layer-coordinates">"#);
    for name in &geometry.names {
        text += &translated(name.at, &pen.letter(Role::Faint, NAME_SIZE, &name.text));
    }
    text + "</g>"
}

/// The caption, and a paragraph for each kind of figure.
fn notes(view: &View, look: &PictureStyle) -> Vec<CaptionLine> {
    let mut notes = look.caption.clone();
    if !look.figures {
        return notes;
    }
    for (name, figures) in view.figures_by_name() {
        let value = |figure: &Figure| {
            let value = match figure.colour {
                Some(colour) => format!("{} {}", colour.letter(), figure.value),
                None => figure.value.clone(),
            };
            // A line isn't broken within a figure.
            value.replace(' ', "\u{A0}")
        };
        let values: Vec<String> = figures.into_iter().map(value).collect();
        notes.push(CaptionLine { piece: None, text: format!("{name}: {}", values.join(", ")) });
    }
    notes
}
