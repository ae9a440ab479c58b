//! System calls that take more than one line to try.

use super::{Outcome, reached};
use crate::launcher::raw;
use nix::errno::Errno;
use nix::mount::MsFlags;
use nix::sched::CloneFlags;

/// Calls it from a second thread, where the kernel reports invalid arguments: the following attacks
/// must run with the same rights.
pub(super) fn unshare() -> Outcome {
    let thread = std::thread::spawn(|| nix::sched::unshare(CloneFlags::CLONE_NEWUSER));
    reached(thread.join().unwrap_or(Err(Errno::EAGAIN)))
}

/// Tries the old call, and the new one, whose flags a filter can't see.
pub(super) fn clone_namespace() -> Outcome {
    reached(raw::clone_into_user_namespace()).or_else(|_| reached(raw::clone3_of_nothing()))
}

/// Mounts at a path that doesn't exist, which the kernel checks before rights.
pub(super) fn mount() -> Outcome {
    let none: Option<&str> = None;
    reached(nix::mount::mount(none, "", Some("tmpfs"), MsFlags::empty(), none))
}
