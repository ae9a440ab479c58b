//! Control groups: there are none.

use crate::Failure;
use crate::launcher::Share;
use std::path::PathBuf;

/// Control groups: there are none.
#[derive(Debug)]
pub enum Groups {}

impl Groups {
    /// Fails.
    pub fn find() -> Result<Self, Failure> {
        Err(Failure::machine("control groups need Linux"))
    }

    /// Returns the groups in which agents get their own.
    pub fn folders(&self) -> Vec<PathBuf> {
        match *self {}
    }

    /// Whether they can stop all processes of an agent.
    pub fn can_freeze(&self) -> bool {
        match *self {}
    }

    /// Whether the system divides cores among them.
    pub fn divide_cores(&self) -> bool {
        match *self {}
    }

    /// Gives all agents together this share of the cores.
    pub fn share(&self, _: &Share) {
        match *self {}
    }

    /// Returns the kernel's version of control groups.
    pub fn version(&self) -> u8 {
        match *self {}
    }
}

/// Whether the system divides cores among sessions, as far as is known.
pub(super) fn sessions_divide_cores() -> bool {
    true
}

/// Returns the files in which the system counts whom it has killed for lack of memory: there are none.
pub(crate) fn memory_events() -> Vec<PathBuf> {
    Vec::new()
}
