//! Boards and matches as pictures: text for a terminal, SVG, PNG, GIF. It knows shapes, not games, and
//! touches neither files nor a terminal: bytes and text come out.

#![forbid(unsafe_code)]

mod terminal;
mod naming;
mod geometry;
mod palette;
mod symbols;
mod text;
mod svg;
mod web_board;
mod lettering;
mod raster;
mod theme_colours;
mod animation;
pub mod pictures;

pub(crate) use animation::{Apng, Gif};
pub use geometry::{Badge, Band, CellPlace, Geometry, NamePlace, Point};
pub use palette::Theme;
pub(crate) use raster::Canvas;
pub use raster::{PIXELS_MAX, PictureError, Pixels, pixels, png};
pub(crate) use svg::layers;
pub use svg::{CaptionLine, PictureStyle, extent, lines, strip, svg};
pub use terminal::{
    Charset, Glyph, Paint, Picture, Style, TerminalColours, picture, terminal, terminal_colours,
};
pub use web_board::{Board, BoardCell, BoardEdge, board, palette_css};

#[cfg(test)]
mod tests;
