//! A position as one SVG file, without scripts and links.

use super::below::{self, Below};
use super::changes;
use super::geometry::{Geometry, NAME_SIZE, Point};
use super::palette::{Role, Theme};
use super::symbols::{Painter, Symbols, Token, Units, ground_id, points, translated};
use super::text::{self, TextLine};
use referee_games::board::Cell;
use referee_games::view::{Change, Colour, Figure, GroundKind, Piece, View};
use referee_protocol::encode::escape_markup;
use referee_protocol::sanitize::sanitize;
use std::fmt::Write;

/// The fonts, the embedded one first.
pub(super) const FONT: &str = "DejaVu Sans, Verdana, sans-serif";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub(super) struct PictureStyle {
    /// Dark on light, or light on dark.
    pub(super) theme: Theme,
    /// Whether to name rows and columns on two sides.
    pub(super) coordinates: bool,
    /// Whether to turn the board by half a turn.
    pub(super) flip: bool,
    /// Whether the picture is as high as wide.
    pub(super) square: bool,
    /// Plain text above the board, a paragraph each. It may contain text of agents.
    pub(super) caption: Vec<CaptionLine>,
    /// What the last action did besides moving its piece.
    pub(super) changes: Vec<(Cell, Change)>,
    /// Whether to show the view's figures below the caption.
    pub(super) figures: bool,
    /// The least room: with the most of all plies, the pictures of a match have one size.
    pub(super) room: Room,
}

/// Room for what is around a board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Room {
    /// The number of lines of text above it.
    pub(super) lines: usize,
    /// The picture's width, where what is below the board needs it.
    pub(super) width: i32,
    /// The height of what is below it.
    pub(super) below: i32,
}

impl Room {
    /// Returns room for both.
    #[must_use]
    pub(super) fn max(self, other: Self) -> Self {
        Self {
            lines: self.lines.max(other.lines),
            width: self.width.max(other.width),
            below: self.below.max(other.below),
        }
    }
}

/// A paragraph of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CaptionLine {
    /// A piece in front of the text: whom it is about.
    pub(super) piece: Option<Token>,
    pub(super) text: String,
}

/// Returns a position as an SVG document with this title. The same view and style give the same bytes.
pub(super) fn svg(title: &str, view: &View, look: &PictureStyle) -> String {
    strip(title, &[(view, look)], 1)
}

/// Returns a position with its figures, and with names of rows and columns on two sides.
pub fn position(view: &View) -> String {
    let look = PictureStyle { coordinates: true, figures: true, ..PictureStyle::default() };
    svg("", view, &look)
}

/// Returns positions in rows of this many, as one document in the first one's theme.
pub(super) fn strip(title: &str, positions: &[(&View, &PictureStyle)], columns: usize) -> String {
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
    let mut body = String::new();
    for (index, picture) in pictures.iter().enumerate() {
        let (x, y) = (wide * count(index % columns), high * count(index / columns));
        body += &translated(Point { x, y }, &(picture.under() + &picture.over()));
    }
    let definitions = pictures.first().map_or_else(String::new, |first| first.definitions(&body));
    let (theme, square) =
        positions.first().map_or((Theme::Light, false), |(_, look)| (look.theme, look.square));
    let page = Page::new(width, height, square);
    let (opening, ground) = (page.opening(), page.background(theme));
    let title = escape_markup(&sanitize(title));
    let body = page.placed(body);
    format!("{opening}<title>{title}</title>{definitions}{ground}{body}</svg>\n")
}

/// The size of a document, and where its content is.
struct Page {
    width: i32,
    height: i32,
    inset: Option<Point>,
}

impl Page {
    fn new(width: i32, height: i32, square: bool) -> Self {
        let side = width.max(height);
        if square {
            let inset = Point { x: (side - width) / 2, y: (side - height) / 2 };
            return Self { width: side, height: side, inset: Some(inset) };
        }
        Self { width, height, inset: None }
    }

    fn of(picture: &Picture<'_>) -> Self {
        let (width, height) = picture.size();
        Self::new(width, height, picture.look.square)
    }

    fn opening(&self) -> String {
        opening(self.width, self.height)
    }

    fn background(&self, theme: Theme) -> String {
        let (width, height) = (Units(self.width), Units(self.height));
        let fill = Painter(theme).fill(Role::Background);
        format!(r#"<rect width="{width}" height="{height}" {fill}/>"#)
    }

    fn placed(&self, body: String) -> String {
        match self.inset {
            Some(inset) => translated(inset, &body),
            None => body,
        }
    }
}

/// Returns a position as two documents to draw over each other: the board, which is the same for every
/// ply of a match, and everything else.
pub(super) fn layers(view: &View, look: &PictureStyle) -> [String; 2] {
    let picture = Picture::new(view, look);
    let page = Page::of(&picture);
    let (opening, ground) = (page.opening(), page.background(look.theme));
    let over = page.placed(picture.over());
    let definitions = picture.definitions(&over);
    [
        format!("{opening}{ground}{}</svg>", page.placed(picture.under())),
        format!("{opening}{definitions}{over}</svg>"),
    ]
}

/// Returns the width and height of a picture, in units.
pub(super) fn extent(view: &View, look: &PictureStyle) -> (f64, f64) {
    let Page { width, height, .. } = Page::of(&Picture::new(view, look));
    (f64::from(width) / 100.0, f64::from(height) / 100.0)
}

/// Returns the room that a position needs.
pub(super) fn room(view: &View, look: &PictureStyle) -> Room {
    let picture = Picture::new(view, look);
    Room {
        lines: picture.words.len(),
        width: below::least_width(view),
        below: picture.below.height,
    }
}

/// Returns the start tag of a document of this size, in hundredths.
pub(super) fn opening(width: i32, height: i32) -> String {
    let (width, height) = (Units(width), Units(height));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"{FONT}\">"
    )
}

/// The layout of a position.
#[derive(Debug)]
pub(super) struct Picture<'a> {
    view: &'a View,
    look: &'a PictureStyle,
    geometry: Geometry,
    words: Vec<TextLine>,
    below: Below,
    size: i32,
    width: i32,
}

impl<'a> Picture<'a> {
    pub(super) fn new(view: &'a View, look: &'a PictureStyle) -> Self {
        let geometry = Geometry::of(view, look.flip, look.coordinates);
        let notes = notes(view, look);
        let least = geometry.width.max(below::least_width(view)).max(look.room.width);
        let (width, size) = text::measure(least, !notes.is_empty() || look.room.lines > 0);
        let words = text::broken(&notes, width, size);
        let below = Below::of(view, width);
        Self { view, look, geometry, words, below, size, width }
    }

    /// Returns width and height, in hundredths.
    pub(super) fn size(&self) -> (i32, i32) {
        let below = self.below.height.max(self.look.room.below);
        (self.width, self.text_height() + self.geometry.height + below)
    }

    fn text_height(&self) -> i32 {
        text::height(self.words.len().max(self.look.room.lines), self.size)
    }

    fn symbols(&self) -> Symbols<'_> {
        Symbols { geometry: &self.geometry, pen: Painter(self.look.theme), view: self.view }
    }

    /// Returns the definitions of the symbols that a body uses.
    fn definitions(&self, body: &str) -> String {
        let is_used = |definition: &String| {
            let id = definition.split('"').nth(1).unwrap_or_default();
            ['"', ')'].iter().any(|end| body.contains(&format!("#{id}{end}")))
        };
        format!(
            "<defs>{}</defs>",
            self.symbols().all(self.colours()).into_iter().filter(is_used).collect::<String>()
        )
    }

    /// Returns the colours of everything that is drawn.
    fn colours(&self) -> Vec<Colour> {
        let view = self.view;
        let pieces = view.pieces.iter().map(|piece| piece.colour);
        let ground = view.ground.iter().filter_map(|ground| match ground.kind {
            GroundKind::Target(colour) | GroundKind::Tint(colour) => Some(colour),
            GroundKind::Pad => None,
        });
        let changes = self.look.changes.iter().filter_map(|(_, change)| change.colour());
        let captions = self.look.caption.iter().filter_map(|line| Some(line.piece?.colour));
        let items = view.rows.iter().flat_map(|row| &row.items).filter_map(|item| item.colour);
        let rows = view.rows.iter().filter_map(|row| row.colour);
        pieces.chain(ground).chain(changes).chain(captions).chain(items).chain(rows).collect()
    }

    /// Returns the part that is the same for every ply.
    fn under(&self) -> String {
        let pen = Painter(self.look.theme);
        let board = cells(&self.geometry, pen) + &self.symbols().edges();
        self.placed(&(board + &names(&self.geometry, pen)))
    }

    /// Returns the part that changes from ply to ply.
    fn over(&self) -> String {
        let text = text::drawn(&self.words, self.size, self.symbols());
        let grounds = self.view.ground.iter().map(|ground| (ground_id(ground.kind), ground.at));
        let places = self.geometry.places();
        let piece = |piece: &Piece| {
            let token = Token { colour: piece.colour, text: piece.text };
            Some(self.symbols().piece_at(token, *places.get(&piece.at)?))
        };
        let pieces: String = self.view.pieces.iter().filter_map(piece).collect();
        let chain = self.view.chain.iter().map(|&cell| ("mark-chain".to_owned(), cell));
        let changes = changes::drawn(self.view, &self.look.changes, self.symbols());
        let board = self.used(grounds) + &self.last() + &pieces + &self.used(chain) + &changes;
        let top = self.text_height() + self.geometry.height;
        let below = self.below.drawn(self.symbols());
        let below =
            if below.is_empty() { below } else { translated(Point { x: 0, y: top }, &below) };
        text + &self.placed(&board) + &below
    }

    fn placed(&self, board: &str) -> String {
        let x = (self.width - self.geometry.width) / 2;
        translated(Point { x, y: self.text_height() }, board)
    }

    /// Returns the path of the last action, with a mark where it began and a ring where it ended.
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

    /// Returns symbols on cells. Cells outside the board are left out.
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

/// Returns the outlines of all cells, with their indexes. Points have a dot and the lines between them
/// instead of an outline.
pub(super) fn cells(geometry: &Geometry, pen: Painter) -> String {
    if !geometry.is_points {
        let paint = pen.both(Role::Cell, Role::Line, 120);
        return format!(r#"<g class="layer-cells"><g {paint}>{}</g></g>"#, outlines(geometry, ""));
    }
    let mut text = format!(r#"<g class="layer-cells"><g {}>"#, pen.stroke(Role::Line, 160));
    for (from, to) in &geometry.lines {
        let (x1, y1, x2, y2) = (Units(from.x), Units(from.y), Units(to.x), Units(to.y));
        write!(text, r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#).ok();
    }
    write!(text, "</g><g {}>", pen.fill(Role::Line)).ok();
    for spot in &geometry.cells {
        let (x, y) = (Units(spot.at.x), Units(spot.at.y));
        write!(text, r#"<circle cx="{x}" cy="{y}" r="4.5"/>"#).ok();
    }
    let unseen = r#" fill="none" pointer-events="all""#;
    text + "</g><g>" + &outlines(geometry, unseen) + "</g></g>"
}

fn outlines(geometry: &Geometry, attributes: &str) -> String {
    let mut text = String::new();
    for (index, spot) in geometry.cells.iter().enumerate() {
        let corners = points(geometry.outline.iter().map(|corner| spot.at.plus(*corner)));
        write!(
            text,
            r#"<polygon class="cell" data-cell="{index}" points="{corners}"{attributes}/>"#
        )
        .ok();
    }
    text
}

/// Returns the names of rows and columns.
pub(super) fn names(geometry: &Geometry, pen: Painter) -> String {
    let mut text = String::from(r#"<g class="layer-coordinates">"#);
    for name in &geometry.names {
        text += &translated(name.at, &pen.letter(Role::Faint, NAME_SIZE, &name.text));
    }
    text + "</g>"
}

/// Returns the caption, and a paragraph for each kind of figure.
fn notes(view: &View, look: &PictureStyle) -> Vec<CaptionLine> {
    let mut notes = look.caption.clone();
    if !look.figures {
        return notes;
    }
    for (name, figures) in view.figures_by_name() {
        let value = |figure: &Figure| {
            let value = match figure.colour {
                Some(colour) => format!("{} {}", view.letter(colour), figure.value),
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
