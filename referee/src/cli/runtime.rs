//! What commands run in that wait for more than one thing, and errors of the machine.

use referee_process::Failure;
use std::fmt::Display;
use tokio::runtime::{Builder, Runtime};

/// A runtime on this thread.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    Builder::new_current_thread().enable_all().build().map_err(machine("no runtime"))
}

/// The machine failed: an error becomes the end of a sentence that begins with `what`.
pub(super) fn machine<E: Display>(what: impl Display) -> impl Fn(E) -> Failure {
    move |error| Failure::machine(format!("{what}: {error}"))
}
