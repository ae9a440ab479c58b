//! System calls that no agent needs.

use super::{Outcome, Targets, plain, reached};
use crate::launcher::raw;
use nix::errno::Errno;
use nix::mount::MsFlags;
use nix::sched::CloneFlags;

pub(super) fn keyring() -> Outcome {
    plain(raw::own_keyring())
}

pub(super) fn add_key() -> Outcome {
    plain(raw::add_key())
}

pub(super) fn io_uring() -> Outcome {
    plain(raw::io_uring())
}

pub(super) fn bpf() -> Outcome {
    reached(raw::bpf_of_no_kind())
}

pub(super) fn user_fault() -> Outcome {
    plain(raw::user_fault())
}

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

/// With a descriptor that is no namespace.
pub(super) fn enter_namespace() -> Outcome {
    reached(nix::sched::setns(std::io::stdin(), CloneFlags::CLONE_NEWNET))
}

/// With a descriptor that is no terminal.
pub(super) fn push_input() -> Outcome {
    reached(raw::push_input(std::io::stdin()))
}

pub(super) fn signal_by_file() -> Outcome {
    plain(raw::own_signals(std::io::stdin()).or_else(|_| raw::choose_signal(std::io::stdin())))
}

pub(super) fn find_segment(targets: &Targets) -> Outcome {
    plain(raw::find_segment(targets.segment))
}
