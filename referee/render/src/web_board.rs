//! The empty board for the web page, which adds pieces and marks, and the stylesheet with their
//! colours.

use super::geometry::Geometry;
use super::palette::{Role, Theme, show};
use super::svg::{PictureStyle, cells, names, opening, svg};
use super::symbols::{Painter, Symbols};
use referee_games::board::Cell;
use referee_games::view::{Colour, Edge, View};
use serde::Serialize;
use std::fmt::Write;

/// A board without pieces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Board {
    /// The board as SVG, with all symbols and an empty layer for each kind of them.
    pub svg: String,
    /// Its width, in the SVG's units.
    pub width: f64,
    pub height: f64,
    /// The cells, in the shape's order; `data-cell` in the SVG is the index.
    pub cells: Vec<BoardCell>,
    /// The edges that belong to a colour.
    pub edges: Vec<BoardEdge>,
}

/// An edge that belongs to a colour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BoardEdge {
    pub colour: String,
    /// The cells along it, as indexes into the list.
    pub cells: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardCell {
    /// Its name for people.
    pub name: String,
    /// The middle from the left, in the SVG's units.
    pub x: f64,
    /// The middle from the top.
    pub y: f64,
    /// Its row, from 0 at the top.
    pub row: usize,
    /// Its neighbours, as indexes into the list.
    pub near: Vec<usize>,
}

/// The layers between the cells and the coordinates, in drawing order.
const LAYERS: [&str; 5] =
    ["layer-ground", "layer-last", "layer-pieces", "layer-chain", "layer-marks"];

/// Returns the empty board of a view: it has edges and the letters of camps, but no pieces and grounds.
///
/// The page puts `<use href="#piece-red" x=".." y=".."/>` and the like at the middle of a cell into
/// the layers; a path is a `<polyline class="path" points=".."/>` through the middles in the layer
/// of the last action. The class `flipped` on the `svg` turns the board by half a turn, `flat` by a
/// quarter to the left, around the middle that the page sets; letters stay upright.
/// `without-coordinates` hides the coordinates.
///
/// `colours` are those that the match has besides.
pub fn board(view: &View, colours: impl IntoIterator<Item = Colour>) -> Board {
    let geometry = Geometry::of(view, false, true);
    let pen = Painter(Theme::Light);
    let symbols = Symbols { geometry: &geometry, pen, view };
    let mut text =
        opening(geometry.width, geometry.height).replacen("<svg ", "<svg class=\"board\" ", 1);
    write!(
        text,
        "<defs>{}{SHADE}</defs><g class=\"turn\">",
        symbols.for_both_themes(view.kinds.iter().map(|kind| kind.colour).chain(colours)).concat()
    )
    .ok();
    text += &cells(&geometry, pen);
    write!(text, r#"<g class="layer-edges">{}</g>"#, symbols.edges()).ok();
    for layer in LAYERS {
        write!(text, r#"<g class="{layer}"></g>"#).ok();
    }
    text += &names(&geometry, pen);
    text += "</g></svg>";
    let all = view.shape.cells();
    let number = |cell: &Cell| all.iter().position(|it| it == cell);
    let edge = |edge: &Edge| BoardEdge {
        colour: edge.colour.name().into_owned(),
        cells: edge.cells.iter().filter_map(number).collect(),
    };
    let units = |hundredths: i32| f64::from(hundredths) / 100.0;
    let cell = |spot: super::geometry::CellPlace| BoardCell {
        name: spot.name,
        x: units(spot.at.x),
        y: units(spot.at.y),
        row: spot.row,
        near: spot.near,
    };
    Board {
        svg: text,
        width: units(geometry.width),
        height: units(geometry.height),
        edges: view.edges.iter().map(edge).collect(),
        cells: geometry.cells.into_iter().map(cell).collect(),
    }
}

/// Returns a position as SVG, without names and text, for lists of matches.
pub fn thumbnail(view: &View, theme: Theme) -> String {
    svg("", view, &PictureStyle { theme, ..PictureStyle::default() })
}

/// Returns the colours as custom properties, light and dark, and the rules that apply them.
pub fn palette_css() -> String {
    let (light, dark) = (properties(Theme::Light), properties(Theme::Dark));
    let mut css = format!(
        ":root {{\n{light}}}\n\
         @media (prefers-color-scheme: dark) {{\n:root {{\n{dark}}}\n}}\n\
         [data-theme=\"light\"], [data-theme=\"wood\"] {{\n{light}}}\n\
         [data-theme=\"dark\"], [data-theme=\"slate\"] {{\n{dark}}}\n"
    );
    for role in Role::all() {
        let name = role.name();
        writeln!(css, ".fill-{name} {{ fill: var(--{name}); }}").ok();
        writeln!(css, ".stroke-{name} {{ stroke: var(--{name}); }}").ok();
    }
    // What is drawn in both themes, in colours that have no name. A copy of a symbol inherits properties, but no
    // selector in it reaches the theme.
    css += ".in-light { display: var(--in-light); }\n.in-dark { display: var(--in-dark); }\n";
    css + RULES
}

fn properties(theme: Theme) -> String {
    let (light, dark) = match theme {
        Theme::Light => ("inline", "none"),
        Theme::Dark => ("none", "inline"),
    };
    let mut text = format!("  --in-light: {light};\n  --in-dark: {dark};\n");
    for role in Role::all() {
        writeln!(text, "  --{}: {};", role.name(), show(theme.rgb(role))).ok();
    }
    text
}

/// Light from above.
const SHADE: &str = r#"<radialGradient id="shade" cx="0.38" cy="0.28" r="0.75">
<stop offset="0" stop-color="white" stop-opacity="0.5"/><stop offset="0.45" stop-color="white" stop-opacity="0"/>
<stop offset="1" stop-opacity="0.3"/></radialGradient>"#;

const RULES: &str = "\
.shade { fill: url(#shade); }
.path {
  fill: none;
  stroke: var(--board-mark);
  stroke-width: 2.4;
  stroke-linejoin: round;
  marker-mid: url(#path-stop);
  marker-end: url(#path-end);
}
.board { background: var(--board-background); }
.upright { transform: rotate(calc(-1 * var(--board-turn, 0deg))); }
.turn { transform: rotate(var(--board-turn, 0deg)); transform-box: view-box; }
.board.flipped { --board-turn: 180deg; }
.board.flat { --board-turn: 270deg; }
.board.flat.flipped { --board-turn: 90deg; }
.board.without-coordinates .layer-coordinates { display: none; }
";
