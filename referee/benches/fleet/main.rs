//! What a contest on many machines costs its coordinator and the server, with workers that only
//! pretend to play; and what playing over a server costs beside playing without one. How to read
//! it: docs/benchmarks.md.
//!
//! The coordinator and the server are the real ones, in processes of their own. Fake workers are
//! connections of this process: they pull orders, renew leases, send beats and report as real ones
//! do, but their matches are played by the rules alone, without agents.

#![expect(
    clippy::cast_precision_loss,
    reason = "counts become parts of figures, of which three digits are shown"
)]

mod options;
mod server;
mod process;
mod play;
mod worker;
mod crowd;
mod rows;
mod simulation;
mod overhead;

use clap::Parser as _;
use options::Options;
use std::error::Error;

/// What can go wrong here is told, and ends the bench.
type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let options = Options::parse();
    if options.local_overhead { overhead::run(&options) } else { simulation::run(&options) }
}
