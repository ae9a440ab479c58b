//! End-to-end tests of the whole program with real processes, pipes and signals, and tests of the
//! project's own files. They are one binary because linking a second one is slow.
//!
//! Each test works in its own folder. Timeouts are generous and no test asserts how long something
//! took, so a busy machine fails none of them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "skipped tests are reported")]

use referee_tests::support;

mod tidy;
mod fuzz_corpora;
mod golden;
mod built_ins;
mod misbehaving;
mod wrong_lines;
mod output;
mod environment;
mod file_access;
mod descendants;
mod determinism;
mod series;
mod replays;
mod interrupts;
mod disk_full;
mod portable;
mod positions;
mod game_programs;
mod game_check;
mod simultaneous;
mod transcripts;
mod notation;
mod export;
mod sent;
mod interfaces;
mod human;
mod usage;
mod config;
mod viewer;
mod check;
mod mistakes;
mod circles;
mod debug;
mod contest_plan;
mod contest;
mod sandbox_choice;
mod help;
mod hidden;
mod serve;
