//! The exit codes of the program.

use referee_process::{Failure, FailureKind};
use std::process::ExitCode;

/// The operation failed, or something didn't verify.
pub(super) const OPERATION: u8 = 1;
/// The command line is invalid.
pub(super) const USAGE: u8 = 2;
/// An agent was at fault, where that decides.
pub(super) const AGENT: u8 = 3;
/// The machine failed, or a match is void.
pub(super) const MACHINE: u8 = 4;

/// Returns the code for a failure.
pub(super) fn code_of(failure: &Failure) -> u8 {
    match failure.kind() {
        FailureKind::Operation => OPERATION,
        FailureKind::Usage => USAGE,
        FailureKind::Machine => MACHINE,
    }
}

/// Returns success, or another code.
pub(super) fn success_or(code: u8, is_success: bool) -> ExitCode {
    if is_success { ExitCode::SUCCESS } else { ExitCode::from(code) }
}
