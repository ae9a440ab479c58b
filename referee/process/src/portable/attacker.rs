//! Attacks on the sandbox: there are none where there is no sandbox.

/// Something that no agent may do in a sandbox: without one nothing is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attack {}

impl Attack {
    /// Returns what is tried, in words.
    pub fn name(self) -> &'static str {
        match self {}
    }
}
