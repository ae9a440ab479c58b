//! Processes of this crate that run this program with a hidden command.

use crate::launcher;
#[cfg(not(portable))]
use crate::sandbox::attacker;

/// Runs the process of this crate that the command line asks for: one that starts agents, or one that
/// attacks the sandbox. Returns whether it asked for one. Call it first, while the process has one
/// thread.
pub fn run() -> bool {
    let Some(word) = std::env::args_os().nth(1) else { return false };
    if word == launcher::LAUNCH_COMMAND {
        launcher::run();
        return true;
    }
    #[cfg(not(portable))]
    if word == attacker::ATTACKER_COMMAND {
        attacker::run();
        return true;
    }
    false
}
