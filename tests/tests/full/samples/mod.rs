//! The starters and the strong samples, in matches of the small referee.

mod builds;
mod game_programs;
mod conversation;
mod json;
mod kits;
mod neighbours;
mod python_kit;
mod strength;
mod strong_python;
mod strong_rust;
