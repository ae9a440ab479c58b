//! The fuzz targets. The end-to-end tests of the whole program are in `tests/e2e`.

#![forbid(unsafe_code)]

pub mod fuzzing;
