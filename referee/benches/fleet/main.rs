//! Measures what a contest on many machines costs its coordinator and the server, with workers
//! that only pretend to play; and what playing over a server costs compared to playing without
//! one. docs/benchmarks.md explains the output.
//!
//! The coordinator and the server are real, in processes of their own. Fake workers are
//! connections of this process: they pull orders, renew leases, send heartbeats and report like
//! real ones, but play by the rules alone, without agents.

#![expect(
    clippy::cast_precision_loss,
    reason = "counts become parts of figures, of which three digits are shown"
)]

mod options;
mod server;
mod process;
mod play;
mod worker;
mod fake_workers;
mod samples;
mod simulation;
mod overhead;

use clap::Parser as _;
use options::Options;
use std::error::Error;

/// The result of a part of the bench. Errors are printed and end it.
type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let options = Options::parse();
    if options.local_overhead { overhead::run(&options) } else { simulation::run(&options) }
}
