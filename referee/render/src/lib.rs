//! Draws boards and matches: as text for a terminal, SVG, PNG, GIF and APNG. It knows shapes, not
//! games, and returns text and bytes; it reads and writes no files.

#![forbid(unsafe_code)]

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
mod raster;
mod indexed_palette;
mod animation;
mod animation_frames;
pub mod pictures;

pub use palette::Theme;
pub use raster::{PictureError, Pixels};
pub use terminal::{
    Charset, Glyph, Paint, Picture, Style, TerminalColours, picture, terminal, terminal_colours,
};
pub use web_board::{Board, BoardCell, BoardEdge, board, palette_css, thumbnail};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod open_views;
