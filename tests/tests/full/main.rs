//! The end-to-end tests that drive many processes: contests on many machines with a real server, kills, the
//! hostile suite, adapters with Python packages, the starters of all languages, strong samples. CI always
//! runs them; `cargo test` doesn't: docs/contributing.md.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "skipped tests are reported")]

use referee_tests::support;

mod help;
mod messages;
mod schemas;
mod readme;
mod hostile;
mod hostile_suite;
mod check;
mod mistakes;
mod new;
mod games;
mod game_check;
mod game_programs;
mod samples;
mod pondering;
mod comp30024;
mod comp34111;
mod doctor;
mod htp;
mod contest;
mod exchanged;
mod fleet;
