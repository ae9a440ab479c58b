//! Transcripts as they are written, and everything that can happen to them afterwards.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod samples;
mod damage;
mod forgery;
mod reading;
