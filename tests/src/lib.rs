//! The fuzz targets, and what the end-to-end tests in `tests/e2e` and `tests/full` share.

#![forbid(unsafe_code)]

pub mod fuzzing;
#[doc(hidden)]
pub mod support;
