//! The built-in agents and the samples in matches of a small referee for tests.
#![cfg(test)]

mod conversation;
mod json;
mod kits;
mod neighbours;
mod protocol;
mod python_kit;
mod referee;
mod samples;
mod strength;
mod strong_python;
mod strong_rust;
