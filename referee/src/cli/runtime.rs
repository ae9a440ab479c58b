//! The async runtime of commands, and errors of the machine.

use referee_process::Failure;
use std::fmt::Display;
use tokio::runtime::{Builder, Runtime};

/// Returns a runtime that runs on this thread.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(machine("cannot start the async runtime"))
}

/// Returns a function that turns an error into a machine failure `WHAT: ERROR`.
pub(super) fn machine<E: Display>(what: impl Display) -> impl Fn(E) -> Failure {
    move |error| Failure::machine(format!("{what}: {error}"))
}
