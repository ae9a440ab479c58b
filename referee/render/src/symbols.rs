//! The symbols on cells as SVG, drawn around a cell's middle: pieces, grounds, marks. Pictures and the
//! web page share them.
//!
//! Colours are presentation attributes, which every program shows. Classes let the page's stylesheet
//! override them.

use super::geometry::{BADGE, Geometry, Point};
use super::lettering::advance;
use super::palette::{Role, Theme, id, show};
use referee_games::view::{Colour, GroundKind, Item, PieceText, View};
use referee_protocol::encode::escape_markup;
use std::collections::BTreeSet;
use std::fmt::{self, Display, Write};
use strum::VariantArray as _;

/// Hundredths, shown as a number with at most two decimal places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units(pub(super) i32);

impl Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0.unsigned_abs() / 100, self.0.unsigned_abs() % 100);
        if self.0 < 0 {
            f.write_char('-')?;
        }
        match rest {
            0 => write!(f, "{whole}"),
            _ if rest % 10 == 0 => write!(f, "{whole}.{}", rest / 10),
            _ => write!(f, "{whole}.{rest:02}"),
        }
    }
}

/// Returns corners as the value of `points`.
pub(super) fn points(corners: impl IntoIterator<Item = Point>) -> String {
    let corner = |point: Point| format!("{},{}", Units(point.x), Units(point.y));
    corners.into_iter().map(corner).collect::<Vec<_>>().join(" ")
}

/// Moves what is drawn around zero to a place.
pub(super) fn translated(at: Point, drawn: &str) -> String {
    let (x, y) = (Units(at.x), Units(at.y));
    format!(r#"<g transform="translate({x} {y})">{drawn}</g>"#)
}

/// A piece as it is shown on the board and beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) colour: Colour,
    /// What is on it instead of its colour's letter.
    pub(super) text: Option<PieceText>,
}

impl Token {
    /// Returns what a seat plays, by its name.
    pub(super) fn named(view: &View, name: &str) -> Option<Self> {
        let text = view.kinds.iter().find(|kind| kind.name == name).and_then(|kind| kind.text);
        Some(Self { colour: view.colour_of(name)?, text })
    }
}

#[derive(Clone, Copy, Debug, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
enum Mark {
    /// The last action ended here.
    Last,
    /// The last action began here.
    From,
    /// Part of the chain that decided the game.
    Chain,
    /// On the page: a piece may go here.
    Legal,
    /// On the page: the chosen cell.
    Selected,
    /// On the page: an agent's mark.
    Note,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Painter(pub(super) Theme);

impl Painter {
    /// Returns the attributes that fill with a colour.
    pub(super) fn fill(self, role: Role) -> String {
        format!(r#"class="fill-{}" fill="{}""#, role.name(), show(self.0.rgb(role)))
    }

    /// Returns the attributes of a line of this width, without a filling.
    pub(super) fn stroke(self, role: Role, width: i32) -> String {
        let (name, colour, width) = (role.name(), show(self.0.rgb(role)), Units(width));
        format!(r#"class="stroke-{name}" stroke="{colour}" stroke-width="{width}" fill="none""#)
    }

    /// Returns the attributes that fill with one colour and draw the border in another.
    pub(super) fn both(self, fill: Role, stroke: Role, width: i32) -> String {
        let (inner, outer) = (show(self.0.rgb(fill)), show(self.0.rgb(stroke)));
        let classes = format!("fill-{} stroke-{}", fill.name(), stroke.name());
        let width = Units(width);
        format!(r#"class="{classes}" fill="{inner}" stroke="{outer}" stroke-width="{width}""#)
    }

    /// Returns a letter around the middle.
    pub(super) fn letter(self, role: Role, size: i32, letter: &str) -> String {
        let letter = escape_markup(letter);
        // Half the height of a capital, and of a small letter without a stem.
        let small = letter.chars().all(|c| c.is_ascii_lowercase() && c != 'b');
        let down = Units(size * if small { 27 } else { 36 } / 100);
        // The page keeps this class upright when it turns the board.
        let fill = self.fill(role).replace("class=\"", "class=\"upright ");
        let size = Units(size);
        format!(
            r#"<text {fill} y="{down}" font-size="{size}" text-anchor="middle">{letter}</text>"#
        )
    }
}

/// Draws the symbols for one geometry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbols<'a> {
    pub(super) geometry: &'a Geometry,
    pub(super) pen: Painter,
    pub(super) view: &'a View,
}

impl Symbols<'_> {
    /// Returns the definitions of all symbols in these colours and those that have a name.
    pub(super) fn all(self, more: impl IntoIterator<Item = Colour>) -> Vec<String> {
        let more: BTreeSet<Colour> =
            more.into_iter().filter(|colour| !Colour::NAMED.contains(colour)).collect();
        let colours = || Colour::NAMED.iter().chain(&more).copied();
        let pieces = colours().map(|colour| self.piece(colour));
        let discs = colours().map(|colour| self.disc(colour));
        let targets = colours().map(|colour| self.ground(GroundKind::Target(colour)));
        let tints = colours().map(|colour| self.ground(GroundKind::Tint(colour)));
        let pad = self.ground(GroundKind::Pad);
        let marks = Mark::VARIANTS.iter().map(|&mark| self.mark(mark));
        let own = pieces.chain(discs).chain(targets).chain(tints).chain([pad]);
        own.chain(marks).chain(self.markers()).collect()
    }

    /// Returns the definitions of all symbols for the page. Those of colours without a name are in both themes,
    /// since the stylesheet has no such colours: it shows one of them.
    pub(super) fn for_both_themes(self, more: impl IntoIterator<Item = Colour>) -> Vec<String> {
        let more: Vec<Colour> =
            more.into_iter().filter(|colour| !Colour::NAMED.contains(colour)).collect();
        let ends: Vec<String> = more.iter().map(|&colour| format!("-{}\"", id(colour))).collect();
        let dark = Symbols { pen: Painter(Theme::Dark), ..self }.all(more.iter().copied());
        let both = |(light, dark): (String, String)| {
            let parts = light.split_once('>').zip(dark.split_once('>'));
            let is_unnamed = |begin: &str| ends.iter().any(|end| begin.ends_with(end));
            match parts.filter(|((begin, _), _)| is_unnamed(begin)) {
                Some(((begin, light), (_, dark))) => {
                    format!("{begin}><g class=\"in-light\">{light}<g class=\"in-dark\">{dark}</g>")
                }
                None => light,
            }
        };
        self.all(more).into_iter().zip(dark).map(both).collect()
    }

    /// Returns a piece at a place and in a size: `attributes` of the element.
    pub(super) fn token(self, token: Token, attributes: &str) -> String {
        let id = id(token.colour);
        let Some(text) = token.text else {
            return format!(r##"<use href="#piece-{id}" {attributes}/>"##);
        };
        let text = self.text_on_disc(token.colour, text);
        format!(r##"<g {attributes}><use href="#disc-{id}"/>{text}</g>"##)
    }

    /// Returns the piece on a cell at this place.
    pub(super) fn piece_at(self, token: Token, at: Point) -> String {
        let (x, y) = (Units(at.x), Units(at.y));
        match token.text {
            None => self.token(token, &format!(r#"x="{x}" y="{y}""#)),
            Some(_) => self.token(token, &format!(r#"transform="translate({x} {y})""#)),
        }
    }

    /// Returns an item of a row; one without colour is a card.
    pub(super) fn item(self, item: Item, attributes: &str) -> String {
        if let Some(colour) = item.colour {
            return self.token(Token { colour, text: item.text }, attributes);
        }
        let paint = self.pen.both(Role::Cell, Role::Line, 120);
        let (corner, side) = (Units(-self.part(66)), Units(2 * self.part(66)));
        let text = item.text.map_or_else(String::new, |text| {
            self.pen.letter(Role::Ink, self.text_size(text), text.as_str())
        });
        format!(
            r#"<g {attributes}><rect x="{corner}" y="{corner}" width="{side}" height="{side}" rx="3" {paint}/>{text}</g>"#
        )
    }

    fn text_on_disc(self, colour: Colour, text: PieceText) -> String {
        self.pen.letter(Role::Letter(colour), self.text_size(text), text.as_str())
    }

    /// Returns the size in which a text fits on a piece.
    fn text_size(self, text: PieceText) -> i32 {
        const MEASURED: i32 = 10_000;
        let width: i32 = text.as_str().chars().map(|letter| advance(letter, MEASURED)).sum();
        let fitting = i64::from(self.part(112)) * i64::from(MEASURED) / i64::from(width.max(1));
        i32::try_from(fitting).unwrap_or(i32::MAX).min(self.part(92))
    }

    /// Returns a part of the distance from a cell's middle to its sides.
    fn part(self, percent: i32) -> i32 {
        self.geometry.reach * percent / 100
    }

    /// Returns the cell's outline at this size.
    fn inset(self, percent: i32) -> String {
        let corner =
            |point: &Point| Point { x: point.x * percent / 100, y: point.y * percent / 100 };
        points(self.geometry.outline.iter().map(corner))
    }

    /// Returns a disc with its colour's letter; a peg has a ring instead.
    fn piece(self, colour: Colour) -> String {
        let pen = self.pen;
        let on_it = if colour == Colour::Peg {
            let line = pen.stroke(Role::Letter(colour), 150);
            format!(r#"<circle r="{}" {line}/>"#, Units(self.part(28)))
        } else {
            pen.letter(Role::Letter(colour), self.part(92), &self.view.letter(colour).to_string())
        };
        format!(r#"<g id="piece-{}">{}{on_it}</g>"#, id(colour), self.blank(colour))
    }

    /// Returns a disc without letter, for a text.
    fn disc(self, colour: Colour) -> String {
        format!(r#"<g id="disc-{}">{}</g>"#, id(colour), self.blank(colour))
    }

    fn blank(self, colour: Colour) -> String {
        let radius = Units(self.part(66));
        let disc = self.pen.both(Role::Piece(colour), Role::Rim(colour), 150);
        // The page's stylesheet shades it.
        let shade = format!(r#"<circle class="shade" r="{radius}" fill="none"/>"#);
        format!(r#"<circle r="{radius}" {disc}/>{shade}"#)
    }

    /// Returns the outline of a lily pad: a disc with a notch at the upper right.
    fn leaf(self) -> String {
        // The sine and cosine of 25 degrees, in ten thousandths.
        let (short, long) = (4226, 9063);
        let radius = self.part(92);
        let [short, long] = [short, long].map(|part| Units(radius * part / 10_000));
        let radius = Units(radius);
        format!("M0 0L{long} -{short}A{radius} {radius} 0 1 1 {short} -{long}Z")
    }

    /// Returns a ground: a camp has a dashed border and its colour's small letter; a pad is a leaf.
    fn ground(self, kind: GroundKind) -> String {
        let (pen, id) = (self.pen, ground_id(kind));
        match kind {
            GroundKind::Pad => {
                let paint = pen.both(Role::Pad, Role::PadLine, 150);
                format!(r#"<g id="{id}"><path d="{}" {paint}/></g>"#, self.leaf())
            }
            GroundKind::Tint(colour) => {
                let paint = pen.both(Role::Tint(colour), Role::Target(colour), 60);
                format!(r#"<g id="{id}"><polygon points="{}" {paint}/></g>"#, self.inset(96))
            }
            GroundKind::Target(colour) => {
                let line = pen.stroke(Role::Target(colour), 130);
                let letter = self.view.small_letter(colour).to_string();
                let letter = pen.letter(Role::Target(colour), self.part(85), &letter);
                let inset = self.inset(88);
                let dashes = r#"stroke-dasharray="3 2""#;
                format!(r#"<g id="{id}"><polygon points="{inset}" {line} {dashes}/>{letter}</g>"#)
            }
        }
    }

    /// A mark on a cell: its id is `mark-` and its name.
    fn mark(self, mark: Mark) -> String {
        let line = |width| self.pen.stroke(Role::Mark, width);
        let ring =
            |line, dashes| format!(r#"<circle r="{}" {line}{dashes}/>"#, Units(self.part(85)));
        let outline = |percent, line, dashes| {
            format!(r#"<polygon points="{}" {line}{dashes}/>"#, self.inset(percent))
        };
        let drawn = match mark {
            Mark::Last => ring(line(220), ""),
            Mark::From => ring(line(180), r#" stroke-dasharray="4 3.5""#),
            Mark::Chain => outline(94, line(240), ""),
            Mark::Legal => {
                let paint = self.pen.both(Role::Mark, Role::Cell, 150);
                format!(r#"<circle r="{}" {paint}/>"#, Units(self.part(30)))
            }
            Mark::Selected => outline(90, line(300), r#" stroke-dasharray="6 4""#),
            Mark::Note => outline(85, line(150), r#" stroke-dasharray="1.5 3""#),
        };
        format!(r#"<g id="mark-{}">{drawn}</g>"#, <&str>::from(mark))
    }

    /// Returns the markers at the corners and at the end of the last action's path.
    fn markers(self) -> [String; 2] {
        let fill = self.pen.fill(Role::Mark);
        let tip = self.part(93);
        let (tip, back) = (Units(-tip), Units(-tip - 800));
        let attributes = r#"markerUnits="userSpaceOnUse" orient="auto" overflow="visible""#;
        let stop = format!(r#"<circle r="3.5" {fill}/>"#);
        let end = format!(r#"<path d="M{tip} 0L{back} -5V5Z" {fill}/>"#);
        [("path-stop", stop), ("path-end", end)]
            .map(|(id, shape)| format!(r#"<marker id="{id}" {attributes}>{shape}</marker>"#))
    }

    /// Returns the attributes of that path.
    pub(super) fn path(self) -> String {
        let line = self.pen.stroke(Role::Mark, 240);
        format!(
            r#"{line} stroke-linejoin="round" marker-mid="url(#path-stop)" marker-end="url(#path-end)""#
        )
    }

    /// Returns the bands of edges with their letters, and the letters of camps.
    pub(super) fn edges(self) -> String {
        let mut text = String::new();
        for band in &self.geometry.bands {
            let paint = self.pen.both(Role::Piece(band.colour), Role::Rim(band.colour), 80);
            for corners in &band.outlines {
                let corners = points(corners.iter().copied());
                write!(text, r#"<polygon points="{corners}" {paint}/>"#).ok();
            }
        }
        let of_bands = self.geometry.bands.iter().flat_map(|band| &band.badges);
        for badge in of_bands.chain(&self.geometry.camps) {
            text += &translated(badge.at, &self.badge(badge.colour));
        }
        text
    }

    /// Returns a rounded square with a letter.
    fn badge(self, colour: Colour) -> String {
        let paint = self.pen.both(Role::Piece(colour), Role::Rim(colour), 120);
        let letter = match colour {
            Colour::Peg => self.view.small_letter(colour),
            _ => self.view.letter(colour),
        };
        let letter = self.pen.letter(Role::Letter(colour), BADGE * 3 / 2, &letter.to_string());
        let (corner, side) = (Units(120 - BADGE), Units(2 * BADGE - 240));
        format!(
            r#"<rect x="{corner}" y="{corner}" width="{side}" height="{side}" rx="3" {paint}/>{letter}"#
        )
    }
}

/// Returns the id of a ground's symbol.
pub(super) fn ground_id(kind: GroundKind) -> String {
    match kind {
        GroundKind::Pad => "ground-pad".to_owned(),
        GroundKind::Target(colour) => format!("ground-target-{}", id(colour)),
        GroundKind::Tint(colour) => format!("ground-tint-{}", id(colour)),
    }
}
