//! End-to-end tests of the whole program live beside this crate; what fuzzing feeds with bytes is in it.

#![forbid(unsafe_code)]

pub mod fuzzing;
