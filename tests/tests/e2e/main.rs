//! The whole program from outside: real processes, real pipes, real signals; and what the project
//! promises of its files. One program, since linking a second takes longer than most of these tests.
//!
//! Each test works in a folder of its own. Waiting has generous limits and no test asserts how long
//! something took, so that a busy machine fails none of them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "what is left out is told")]

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
mod surroundings;
mod reach;
mod survivors;
mod determinism;
mod interrupts;
mod pondering;
mod disk_full;
mod positions;
mod transcripts;
mod notation;
mod export;
mod sent;
mod new;
mod htp;
mod interfaces;
mod human;
mod viewer;
mod check;
mod circles;
mod debug;
mod doctor;
mod comp30024;
mod contest_plan;
mod contest;
mod fleet;
mod sandbox_choice;
mod help;
mod serve;
