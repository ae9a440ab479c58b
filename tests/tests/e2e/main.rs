//! End-to-end tests of the whole program with real processes, pipes and signals, and tests of the
//! project's own files. They are one binary because linking a second one is slow.
//!
//! Each test works in its own folder. Timeouts are generous and no test asserts how long something
//! took, so a busy machine fails none of them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "skipped tests are reported")]

mod support;

mod tidy;
mod fuzz_corpora;
mod messages;
mod golden;
mod readme;
mod games;
mod misbehaving;
mod hostile;
mod hostile_suite;
mod output;
mod environment;
mod file_access;
mod descendants;
mod determinism;
mod series;
mod replays;
mod interrupts;
mod pondering;
mod disk_full;
mod portable;
mod positions;
mod transcripts;
mod notation;
mod export;
mod sent;
mod new;
mod htp;
mod interfaces;
mod human;
mod usage;
mod config;
mod viewer;
mod check;
mod mistakes;
mod circles;
mod debug;
mod doctor;
mod comp30024;
mod contest_plan;
mod contest;
#[cfg(feature = "fleet")]
mod fleet;
mod sandbox_choice;
mod help;
mod serve;
