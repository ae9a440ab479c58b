//! End-to-end tests of the whole program live beside this crate.
