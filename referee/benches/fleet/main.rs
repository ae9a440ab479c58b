//! Measures what playing over a server costs compared to playing without one: the same contest with
//! the local runner and with one worker, alternately. referee/benches/README.md explains the output.

#![expect(
    clippy::cast_precision_loss,
    reason = "counts become parts of figures, of which three digits are shown"
)]

mod options;
mod server;
mod process;
mod overhead;

use clap::Parser as _;
use options::Options;
use std::error::Error;

/// The result of a part of the bench. Errors are printed and end it.
type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    overhead::run(&Options::parse())
}
