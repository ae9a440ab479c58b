//! Pictures of a board, made from a [`View`](referee_games::view::View): plain data in, text out.
//!
//! Renderers know shapes and marks; they never know a game, never do input or output, and never
//! look at the environment: whoever calls them has found out what the terminal can show.

mod terminal;

pub use terminal::{Charset, Style, size, terminal};
