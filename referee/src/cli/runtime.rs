//! What commands run in that wait for more than one thing.

use referee_process::Failure;
use tokio::runtime::{Builder, Runtime};

/// A runtime on this thread.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::machine(format!("no runtime: {error}")))
}
