//! The empty board for the web page, which puts pieces and marks on it, and the stylesheet that
//! gives both their colours.

use super::geometry::Geometry;
use super::palette::{Role, Theme, show};
use super::svg::{cells, names, opening};
use super::symbols::{Painter, Symbols};
use referee_games::board::Cell;
use referee_games::view::{Colour, GroundKind, View};
use serde::Serialize;
use std::fmt::Write;

/// A board without pieces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Board {
    /// The board as SVG, with symbols for everything that can stand on it and an empty layer for
    /// each kind of it.
    pub svg: String,
    /// Its width, in the SVG's units.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// The cells, in the order of the shape's; `data-cell` in the SVG is the place in this list.
    pub cells: Vec<BoardCell>,
    /// The edges that belong to a colour, for a legend.
    pub edges: Vec<BoardEdge>,
}

/// An edge that belongs to a colour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BoardEdge {
    /// Whose.
    pub colour: &'static str,
    /// The cells along it, as places in the list.
    pub cells: Vec<usize>,
}

/// A cell of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardCell {
    /// How people name it.
    pub name: String,
    /// The middle, to the right, in the SVG's units.
    pub x: f64,
    /// The middle, downwards.
    pub y: f64,
    /// Its line as drawn, from 0 at the top.
    pub row: usize,
    /// Its neighbours, as places in the list.
    pub near: Vec<usize>,
}

/// The layers above the cells, in drawing order. The coordinates come last.
const LAYERS: [&str; 5] =
    ["layer-ground", "layer-last", "layer-pieces", "layer-chain", "layer-marks"];

/// The empty board on which this view is drawn: edges and the letters of camps are on it, pieces and
/// grounds aren't.
///
/// The page puts `<use href="#piece-red" x=".." y=".."/>` and the like at the middle of a cell into
/// the layers; a path is a `<polyline class="path" points=".."/>` through the middles in the layer
/// of the last action. The class `flipped` on the `svg` turns the board by half a turn and leaves
/// its letters upright; `without-coordinates` hides the coordinates.
pub fn board(view: &View) -> Board {
    let geometry = Geometry::of(view, false, true);
    let pen = Painter(Theme::Light);
    let symbols = Symbols { geometry: &geometry, pen };
    let mut text =
        opening(geometry.width, geometry.height).replacen("<svg ", "<svg class=\"board\" ", 1);
    write!(text, "<defs>{}</defs><g class=\"turn\">", definitions(symbols)).ok();
    text += &cells(&geometry, pen);
    write!(text, r#"<g class="layer-edges">{}</g>"#, symbols.edges()).ok();
    for layer in LAYERS {
        write!(text, r#"<g class="{layer}"></g>"#).ok();
    }
    text += &names(&geometry, pen);
    text += "</g></svg>";
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
        edges: edges(view),
        cells: geometry.cells.into_iter().map(cell).collect(),
    }
}

fn edges(view: &View) -> Vec<BoardEdge> {
    let all = view.shape.cells();
    let numbers = |cells: &[Cell]| {
        cells.iter().filter_map(|cell| all.iter().position(|other| other == cell)).collect()
    };
    let edges = view.edges.iter();
    edges
        .map(|edge| BoardEdge { colour: edge.colour.name(), cells: numbers(&edge.cells) })
        .collect()
}

/// Every symbol: which ones a match needs isn't known when it begins.
fn definitions(symbols: Symbols<'_>) -> String {
    let pieces = Colour::ALL.iter().copied().map(|colour| symbols.piece(colour));
    let targets =
        Colour::ALL.iter().copied().map(|colour| symbols.ground(GroundKind::Target(colour)));
    let marks = [
        symbols.ground(GroundKind::Pad),
        symbols.mark_last(),
        symbols.mark_from(),
        symbols.mark_chain(),
        symbols.mark_legal(),
        symbols.mark_selected(),
        symbols.mark_note(),
        symbols.markers(),
    ];
    pieces.chain(targets).chain(marks).collect()
}

/// The colours as custom properties, light and dark, and the rules by which a board's classes take
/// them.
pub fn palette_css() -> String {
    let (light, dark) = (properties(Theme::Light), properties(Theme::Dark));
    let mut css = format!(
        ":root {{\n{light}}}\n\
         @media (prefers-color-scheme: dark) {{\n:root {{\n{dark}}}\n}}\n\
         [data-theme=\"light\"] {{\n{light}}}\n\
         [data-theme=\"dark\"] {{\n{dark}}}\n"
    );
    for role in Role::all() {
        let name = role.name();
        writeln!(css, ".fill-{name} {{ fill: var(--{name}); }}").ok();
        writeln!(css, ".stroke-{name} {{ stroke: var(--{name}); }}").ok();
    }
    css + RULES
}

fn properties(theme: Theme) -> String {
    let mut text = String::new();
    for role in Role::all() {
        writeln!(text, "  --{}: {};", role.name(), show(theme.rgb(role))).ok();
    }
    text
}

const RULES: &str = "\
.path {
  fill: none;
  stroke: var(--board-mark);
  stroke-width: 2.4;
  stroke-linejoin: round;
  marker-mid: url(#path-stop);
  marker-end: url(#path-end);
}
.board { background: var(--board-background); }
.upright { transform: var(--board-upright, none); }
.turn { transform: var(--board-upright, none); transform-origin: 50% 50%; transform-box: view-box; }
.board.flipped { --board-upright: rotate(180deg); }
.board.without-coordinates .layer-coordinates { display: none; }
";
