//! The built-in agents and the samples in matches of a small referee for tests.
#![cfg(test)]

mod kit;
mod protocol;
mod referee;
mod json;
mod samples;
mod strength;
mod strong_python;
mod strong_rust;
