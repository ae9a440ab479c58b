//! System calls that no agent needs and that take more than one line to try.

use super::{Outcome, reached};
use crate::launcher::raw;
use nix::errno::Errno;
use nix::mount::MsFlags;
use nix::sched::CloneFlags;

/// From a second thread, where the kernel says that the arguments are wrong instead of doing it:
/// what follows is to be tried with the rights that the canary has.
pub(super) fn unshare() -> Outcome {
    let thread = std::thread::spawn(|| nix::sched::unshare(CloneFlags::CLONE_NEWUSER));
    reached(thread.join().unwrap_or(Err(Errno::EAGAIN)))
}

/// By the old call and by the new one, whose flags a filter can't see.
pub(super) fn clone_namespace() -> Outcome {
    reached(raw::clone_into_user_namespace()).or_else(|_| reached(raw::clone3_of_nothing()))
}

/// At a path that isn't there, which the kernel finds out before it asks for rights.
pub(super) fn mount() -> Outcome {
    let none: Option<&str> = None;
    reached(nix::mount::mount(none, "", Some("tmpfs"), MsFlags::empty(), none))
}
