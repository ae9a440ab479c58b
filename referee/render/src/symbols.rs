//! What stands on cells, as SVG drawn around a cell's middle: pieces, grounds, marks. A picture and
//! the web page use the same ones.
//!
//! Colours are presentation attributes, which any program shows, and classes beside them, by which
//! the page's stylesheet overrides them.

use super::geometry::{BADGE, Geometry, Point};
use super::palette::{Role, Theme, show};
use referee_games::view::{Colour, GroundKind};
use std::fmt::{self, Display, Write};

/// Hundredths as a number of SVG: at most two digits behind the point.
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

/// Corners as the value of `points`.
pub(super) fn points(corners: impl IntoIterator<Item = Point>) -> String {
    let corner = |point: Point| format!("{},{}", Units(point.x), Units(point.y));
    corners.into_iter().map(corner).collect::<Vec<_>>().join(" ")
}

/// Something around the middle of where it stands.
pub(super) fn translated(at: Point, drawn: &str) -> String {
    let (x, y) = (Units(at.x), Units(at.y));
    format!(r#"<g transform="translate({x} {y})">{drawn}</g>"#)
}

/// The letter of a camp: lower case, as no piece's is but the peg's.
pub(crate) fn target_letter(colour: Colour) -> char {
    match colour {
        Colour::Peg => 'x',
        _ => colour.letter().to_ascii_lowercase(),
    }
}

/// Draws in one theme.
#[derive(Clone, Copy, Debug)]
pub(super) struct Painter(pub(super) Theme);

impl Painter {
    /// The attributes that fill with a colour.
    pub(super) fn fill(self, role: Role) -> String {
        self.paint("fill", &[], role)
    }

    /// The same for text that stays upright where the page turns the board.
    fn upright(self, role: Role) -> String {
        self.paint("fill", &["upright"], role)
    }

    fn paint(self, what: &str, classes: &[&str], role: Role) -> String {
        let own = format!("{what}-{}", role.name());
        let classes: Vec<&str> = classes.iter().copied().chain([own.as_str()]).collect();
        format!(r#"class="{}" {what}="{}""#, classes.join(" "), show(self.0.rgb(role)))
    }

    /// The attributes that draw a line this wide around nothing.
    pub(super) fn stroke(self, role: Role, width: i32) -> String {
        let line = self.paint("stroke", &[], role);
        format!(r#"{line} stroke-width="{}" fill="none""#, Units(width))
    }

    /// The attributes that fill with one colour and draw around it with another.
    pub(super) fn both(self, fill: Role, stroke: Role, width: i32) -> String {
        let (inner, outer) = (show(self.0.rgb(fill)), show(self.0.rgb(stroke)));
        let classes = format!("fill-{} stroke-{}", fill.name(), stroke.name());
        let width = Units(width);
        format!(r#"class="{classes}" fill="{inner}" stroke="{outer}" stroke-width="{width}""#)
    }

    /// A letter around the middle.
    pub(super) fn letter(self, role: Role, size: i32, letter: &str) -> String {
        // Half the height of a capital, and of a small letter without a stem.
        let small = letter.chars().all(|c| c.is_ascii_lowercase() && c != 'b');
        let down = Units(size * if small { 27 } else { 36 } / 100);
        let (upright, size) = (self.upright(role), Units(size));
        format!(
            r#"<text {upright} y="{down}" font-size="{size}" text-anchor="middle">{letter}</text>"#
        )
    }
}

/// The parts that are drawn on cells of one geometry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbols<'a> {
    pub(super) geometry: &'a Geometry,
    pub(super) pen: Painter,
}

impl Symbols<'_> {
    /// A share of the way from a cell's middle to its sides, in hundredths.
    fn part(self, percent: i32) -> i32 {
        self.geometry.reach * percent / 100
    }

    /// The cell's outline, smaller.
    fn inset(self, percent: i32) -> String {
        let corner =
            |point: &Point| Point { x: point.x * percent / 100, y: point.y * percent / 100 };
        points(self.geometry.outline.iter().map(corner))
    }

    /// A disc with its colour's letter; a peg, the only kind on its board, has a ring on it.
    pub(super) fn piece(self, colour: Colour) -> String {
        let (pen, radius) = (self.pen, Units(self.part(66)));
        let disc = pen.both(Role::Piece(colour), Role::Rim(colour), 150);
        let on_it = if colour == Colour::Peg {
            let line = pen.stroke(Role::Letter(colour), 150);
            format!(r#"<circle r="{}" {line}/>"#, Units(self.part(28)))
        } else {
            pen.letter(Role::Letter(colour), self.part(92), &colour.letter().to_string())
        };
        format!(r#"<g id="piece-{}"><circle r="{radius}" {disc}/>{on_it}</g>"#, colour.name())
    }

    /// A camp has a dashed border and its colour's small letter; a pad fills its cell.
    pub(super) fn ground(self, kind: GroundKind) -> String {
        let (pen, id) = (self.pen, ground_id(kind));
        match kind {
            GroundKind::Pad => {
                let paint = pen.both(Role::Pad, Role::PadLine, 150);
                format!(r#"<g id="{id}"><polygon points="{}" {paint}/></g>"#, self.inset(91))
            }
            GroundKind::Target(colour) => {
                let line = pen.stroke(Role::Target(colour), 130);
                let letter = target_letter(colour).to_string();
                let letter = pen.letter(Role::Target(colour), self.part(85), &letter);
                let inset = self.inset(88);
                let dashes = r#"stroke-dasharray="3 2""#;
                format!(r#"<g id="{id}"><polygon points="{inset}" {line} {dashes}/>{letter}</g>"#)
            }
        }
    }

    /// A ring where the last action ended.
    pub(super) fn mark_last(self) -> String {
        self.ring("mark-last", 220, "")
    }

    /// A broken ring where it began.
    pub(super) fn mark_from(self) -> String {
        self.ring("mark-from", 180, r#" stroke-dasharray="4 3.5""#)
    }

    /// A thick outline of a cell that decided the game.
    pub(super) fn mark_chain(self) -> String {
        self.outline("mark-chain", 94, 240, "")
    }

    /// For the page: where a piece may go.
    pub(super) fn mark_legal(self) -> String {
        let paint = self.pen.both(Role::Mark, Role::Cell, 150);
        format!(r#"<g id="mark-legal"><circle r="{}" {paint}/></g>"#, Units(self.part(30)))
    }

    /// For the page: the cell that was chosen.
    pub(super) fn mark_selected(self) -> String {
        self.outline("mark-selected", 90, 300, r#" stroke-dasharray="6 4""#)
    }

    /// For the page: a cell that an agent spoke of.
    pub(super) fn mark_note(self) -> String {
        self.outline("mark-note", 85, 150, r#" stroke-dasharray="1.5 3""#)
    }

    fn ring(self, id: &str, width: i32, dashes: &str) -> String {
        let (radius, line) = (Units(self.part(85)), self.pen.stroke(Role::Mark, width));
        format!(r#"<g id="{id}"><circle r="{radius}" {line}{dashes}/></g>"#)
    }

    fn outline(self, id: &str, percent: i32, width: i32, dashes: &str) -> String {
        let (inset, line) = (self.inset(percent), self.pen.stroke(Role::Mark, width));
        format!(r#"<g id="{id}"><polygon points="{inset}" {line}{dashes}/></g>"#)
    }

    /// What a line through the last action's cells has at its corners and at its end.
    pub(super) fn markers(self) -> String {
        let fill = self.pen.fill(Role::Mark);
        let tip = self.part(93);
        let (tip, back) = (Units(-tip), Units(-tip - 800));
        let attributes = r#"markerUnits="userSpaceOnUse" orient="auto" overflow="visible""#;
        format!(
            "<marker id=\"path-stop\" {attributes}><circle r=\"3.5\" {fill}/></marker>\
             <marker id=\"path-end\" {attributes}>\
             <path d=\"M{tip} 0L{back} -5V5Z\" {fill}/></marker>"
        )
    }

    /// The attributes of that line.
    pub(super) fn path(self) -> String {
        let line = self.pen.stroke(Role::Mark, 240);
        format!(
            r#"{line} stroke-linejoin="round" marker-mid="url(#path-stop)" marker-end="url(#path-end)""#
        )
    }

    /// The bands of edges with their letters, and the letters of camps.
    pub(super) fn edges(self) -> String {
        let mut text = String::new();
        for band in &self.geometry.bands {
            let paint = self.pen.both(Role::Piece(band.colour), Role::Rim(band.colour), 80);
            let corners = points(band.corners.iter().copied());
            write!(text, r#"<polygon points="{corners}" {paint}/>"#).ok();
        }
        let of_bands = self.geometry.bands.iter().flat_map(|band| &band.badges);
        for badge in of_bands.chain(&self.geometry.camps) {
            text += &translated(badge.at, &self.badge(badge.colour));
        }
        text
    }

    /// A rounded square with a letter: no piece looks like it.
    fn badge(self, colour: Colour) -> String {
        let paint = self.pen.both(Role::Piece(colour), Role::Rim(colour), 120);
        let letter = match colour {
            Colour::Peg => target_letter(colour),
            _ => colour.letter(),
        };
        let letter = self.pen.letter(Role::Letter(colour), BADGE * 3 / 2, &letter.to_string());
        let (corner, side) = (Units(120 - BADGE), Units(2 * BADGE - 240));
        format!(
            r#"<rect x="{corner}" y="{corner}" width="{side}" height="{side}" rx="3" {paint}/>{letter}"#
        )
    }
}

/// The id of a ground's symbol.
pub(super) fn ground_id(kind: GroundKind) -> String {
    match kind {
        GroundKind::Pad => "ground-pad".to_owned(),
        GroundKind::Target(colour) => format!("ground-target-{}", colour.name()),
    }
}
