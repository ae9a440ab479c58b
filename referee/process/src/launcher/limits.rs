//! Resource limits (rlimits) on an agent's processes.

use super::sys;
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::sys::signal::Signal;
use referee_protocol::Limits;

const MIB: rlim_t = 1 << 20;
/// The usual stack of a first thread. An agent may raise its own.
const STACK: rlim_t = 8 * MIB;
/// Locked memory: enough for a key, too little to harm.
const LOCKED: rlim_t = 64 * 1024;
/// Signals that wait, of which all processes of a user together may have few.
const SIGNALS: rlim_t = 1024;
/// How many processes beyond the limit may start, so that the watchdog sees that there are too
/// many. A namespace's init is one of them.
const PROCESSES_MORE: rlim_t = 16;

/// Applies the limits that hold at every level: no core files, no higher priority, also where the user may have it, and a
/// number of open files, or fewer if the machine allows no more. Allocates no memory.
pub(super) fn apply_always(limits: &Limits) -> nix::Result<()> {
    for none in [Resource::RLIMIT_CORE, Resource::RLIMIT_RTPRIO, Resource::RLIMIT_NICE] {
        lower(none, 0)?;
    }
    lower(Resource::RLIMIT_NOFILE, limits.files)
}

/// Applies the limits of a process and its descendants. With `own_user` no other processes count as
/// this user's, so the system can limit their number too. `inside` its own namespaces it makes no
/// message queues, which would be there for the next agent in them. Allocates no memory.
pub(super) fn apply(limits: &Limits, own_user: bool, inside: bool) -> nix::Result<()> {
    // Writing more fails instead of killing the process.
    sys::ignore_signal(Signal::SIGXFSZ, true)?;
    lower(Resource::RLIMIT_FSIZE, limits.work_mb.saturating_mul(MIB))?;
    lower(Resource::RLIMIT_MEMLOCK, LOCKED)?;
    lower(Resource::RLIMIT_SIGPENDING, SIGNALS)?;
    lower(Resource::RLIMIT_DATA, data(limits))?;
    let (stack, hard) = getrlimit(Resource::RLIMIT_STACK)?;
    setrlimit(Resource::RLIMIT_STACK, stack.min(STACK), hard)?;
    if inside {
        lower(Resource::RLIMIT_MSGQUEUE, 0)?;
    }
    if own_user || inside {
        lower(Resource::RLIMIT_NPROC, limits.processes.saturating_add(PROCESSES_MORE))?;
    }
    Ok(())
}

/// Address space for data. Memory in use is limited by the watchdog; this limits how much can be
/// taken between two checks. Runtimes reserve several times what they use.
fn data(limits: &Limits) -> rlim_t {
    limits.memory_mb.saturating_mul(4 * MIB).saturating_add(1024 * MIB)
}

fn lower(resource: Resource, wanted: rlim_t) -> nix::Result<()> {
    let (_, hard) = getrlimit(resource)?;
    let limit = wanted.min(hard);
    setrlimit(resource, limit, limit)
}

#[cfg(test)]
mod tests {
    use super::{Limits, data};
    use nix::sys::resource::RLIM_INFINITY;

    #[test]
    fn no_bound_is_so_large_that_it_turns_into_none() {
        let limits = |memory_mb| Limits { memory_mb, ..Limits::default() };
        assert_eq!(data(&limits(512)), 3 << 30);
        assert_eq!(data(&limits(u64::MAX)), RLIM_INFINITY);
    }
}
