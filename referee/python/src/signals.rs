//! Ctrl-C during work in native code.

use pyo3::prelude::{PyResult, Python};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How often signals are looked at.
pub(crate) const PERIOD: Duration = Duration::from_millis(20);

/// Looks at signals, at most once a `PERIOD`; only the main thread of Python handles them.
pub(crate) struct Signals {
    looked: Cell<Instant>,
}

impl Signals {
    pub(crate) fn new() -> Self {
        Self { looked: Cell::new(Instant::now()) }
    }

    /// Fails with what a handler of a signal raised, such as `KeyboardInterrupt`.
    pub(crate) fn look(&self) -> PyResult<()> {
        if self.looked.get().elapsed() < PERIOD {
            return Ok(());
        }
        self.looked.set(Instant::now());
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method has one lifetime"
        )]
        Python::attach(|py| py.check_signals())
    }
}
