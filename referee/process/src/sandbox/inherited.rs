//! Resource limits that the referee inherits from its shell. Agents would inherit them too, and lose
//! by them: with `ulimit -t 1` the kernel kills an agent after one second of CPU time.

use crate::Failure;
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};

/// An inherited limit.
struct Inherited {
    resource: Resource,
    what: &'static str,
    /// Its option of `ulimit`, and the unit of that option in units of the limit.
    option: char,
    unit: rlim_t,
    unit_name: &'static str,
    /// The least with which matches are fair.
    least: rlim_t,
}

const KIB: rlim_t = 1 << 10;
const GIB: rlim_t = 1 << 30;

const INHERITED: &[Inherited] = &[
    limit(Resource::RLIMIT_CPU, "CPU time", ('t', 1, " s"), 24 * 3600),
    limit(Resource::RLIMIT_FSIZE, "the size of files", ('f', KIB, " kB"), GIB),
    limit(Resource::RLIMIT_AS, "virtual memory", ('v', KIB, " kB"), 8 * GIB),
    limit(Resource::RLIMIT_DATA, "data", ('d', KIB, " kB"), 4 * GIB),
    limit(Resource::RLIMIT_STACK, "the stack", ('s', KIB, " kB"), 8 << 20),
    #[cfg(target_os = "linux")]
    limit(Resource::RLIMIT_NPROC, "the number of processes", ('u', 1, ""), 256),
    limit(Resource::RLIMIT_NOFILE, "the number of open files", ('n', 1, ""), 256),
];

const fn limit(
    resource: Resource,
    what: &'static str,
    (option, unit, unit_name): (char, rlim_t, &'static str),
    least: rlim_t,
) -> Inherited {
    Inherited { resource, what, option, unit, unit_name, least }
}

/// Raises the inherited limits for the referee and what it starts. Fails if one of them stays so low
/// that agents would lose by it.
pub(super) fn raise() -> Result<(), Failure> {
    INHERITED.iter().try_for_each(Inherited::raise)
}

impl Inherited {
    fn raise(&self) -> Result<(), Failure> {
        let Ok((soft, hard)) = getrlimit(self.resource) else { return Ok(()) };
        let wanted = match self.resource {
            // An unlimited stack would change the stacks of threads.
            Resource::RLIMIT_STACK => soft.max(self.least),
            // Although the limit seems to be open, the system allows no more: setrlimit(2).
            #[cfg(target_os = "macos")]
            Resource::RLIMIT_NOFILE => hard.min(10_240),
            _ => hard.max(self.least),
        };
        if soft >= wanted || setrlimit(self.resource, wanted, hard.max(wanted)).is_ok() {
            return Ok(());
        }
        // Only root may raise the hard limit.
        let now = soft.max(hard);
        setrlimit(self.resource, now, now).ok();
        if now >= self.least {
            return Ok(());
        }
        let Self { what, option, unit, unit_name, least, .. } = self;
        let (now, least) = (now / unit, least / unit);
        Err(Failure::machine(format!(
            "this shell limits {what} to {now}{unit_name}, and agents would lose by it: at least \
             {least}{unit_name} are needed"
        ))
        .help(format!(
            "run this in a new login shell; if `ulimit -H{option}` is as low there, ask the \
             administrator of this machine to raise it"
        )))
    }
}
