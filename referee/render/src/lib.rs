//! Draws boards and matches: as text for a terminal, SVG, PNG, GIF and APNG. It knows shapes, not
//! games, and returns text and bytes; it reads and writes no files.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "pictures"), expect(dead_code, reason = "parts of films and of pixels"))]

mod terminal;
mod naming;
mod geometry;
mod palette;
mod symbols;
mod changes;
mod text;
mod below;
mod svg;
mod web_board;
mod lettering;
#[cfg(feature = "pictures")]
mod raster;
#[cfg(feature = "pictures")]
mod indexed_palette;
#[cfg(feature = "pictures")]
mod animation;
#[cfg(feature = "pictures")]
mod animation_frames;
#[cfg(feature = "pictures")]
pub mod pictures;

pub use palette::Theme;
#[cfg(feature = "pictures")]
pub use raster::{PictureError, Pixels};
pub use svg::position;
pub use terminal::{
    Charset, Glyph, Paint, Picture, Style, TerminalColours, picture, terminal, terminal_colours,
};
pub use web_board::{Board, BoardCell, BoardEdge, board, palette_css, thumbnail};

#[cfg(test)]
#[cfg(feature = "pictures")]
mod tests;
#[cfg(test)]
#[cfg(feature = "pictures")]
mod open_views;
