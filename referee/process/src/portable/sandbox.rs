//! The sandbox of systems without one: no attacks, and no control groups.

use super::{Depth, SelfTest};
use crate::Failure;
use crate::launcher::LauncherConfig;
use referee_protocol::Level;
use std::io;
use std::path::PathBuf;

/// Something that no agent may do in a sandbox: without one nothing is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attack {}

impl Attack {
    /// Returns what is tried, in words.
    pub fn name(self) -> &'static str {
        match self {}
    }
}

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

    /// Returns the kernel's version of control groups.
    pub fn version(&self) -> u8 {
        match *self {}
    }
}

/// Attacks nothing: a level without layers promises nothing.
pub fn attack(level: Level, _config: &LauncherConfig, _depth: Depth) -> io::Result<SelfTest> {
    Ok(SelfTest { level, probes: Vec::new(), start_failure: None })
}
