//! From a supervisor, or a namespace's init, to the agent's first instruction.

use super::layers::{self, apply_layer, setup_failure};
use super::process::{Handles, SharedSetup};
use super::seccomp::Filters;
use super::wire::{Bytes, Program, Report, Share};
use super::{limits, sys};
use crate::sandbox::Layer;
use nix::errno::Errno;
use nix::sys::prctl::set_no_new_privs;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, chdir, dup2_stderr, dup2_stdin, dup2_stdout, setsid};
use referee_protocol::Limits;
use std::ffi::{CStr, CString, c_char};
use std::os::fd::{AsFd, OwnedFd};

/// The stack of a process before exec, which does little more than system calls.
pub(super) const STACK_BYTES: usize = 128 * 1024;

/// How an agent's own process confines itself; prepared before it exists.
pub(super) struct Confinement<'a> {
    /// The layers to apply.
    pub(super) shared: &'a SharedSetup,
    /// Its Landlock domain, which also decides whether it sees all processes.
    pub(super) domain: Option<OwnedFd>,
    /// The user to become; `None` if it already is that user.
    pub(super) user: Option<u32>,
    /// It is in its own namespaces.
    pub(super) inside: bool,
}

/// Starts the agent in a new process.
///
/// Until exec the new process shares this one's memory, and this one is suspended. Nothing is
/// copied, which makes it three times as fast as a fork.
pub(super) fn start(
    program: &Program,
    handles: &Handles,
    confinement: &Confinement<'_>,
    stack: &mut [u8],
) -> Result<Pid, Report> {
    let einval = |_| Report::Failed(Errno::EINVAL as i32);
    let string = |bytes: &Bytes| CString::new(bytes.0.clone()).map_err(einval);
    let strings = |list: &[Bytes]| list.iter().map(string).collect::<Result<Vec<_>, _>>();
    let (file, folder) = (string(&program.file)?, string(&program.folder)?);
    let (arguments, environment) =
        (strings(&program.arguments)?, strings(&program.conditions.environment)?);
    // Everything that exec needs is allocated here: memory allocated in the new process would leak.
    let (arguments, environment) = (pointers(&arguments), pointers(&environment));
    let mut failure = None;
    let mut prepared = false;
    let child = sys::clone_within(stack, || {
        if let Err(report) = prepare(&folder, program, handles, confinement) {
            failure = Some(report);
            return 127;
        }
        prepared = true;
        failure = Some(Report::Failed(sys::execute(&file, &arguments, &environment) as i32));
        127
    });
    let child = child.map_err(setup_failure)?;
    match failure {
        None if prepared => Ok(child),
        failure => {
            waitpid(child, None).ok();
            // No report: it was killed on its way.
            Err(failure.unwrap_or(setup_failure(Errno::ECHILD)))
        }
    }
}

/// Returns a null-terminated list of C strings.
fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
}

/// Applies the confinement in the new process. Neither allocates nor changes memory.
fn prepare(
    folder: &CStr,
    program: &Program,
    handles: &Handles,
    confinement: &Confinement<'_>,
) -> Result<(), Report> {
    let Handles { ends, group } = handles;
    let config = &confinement.shared.config;
    // Only the agent: its supervisor is neither counted nor killed with it.
    apply_layer(config, Layer::Cgroup, || group.as_ref().ok_or(Errno::ENOENT)?.enter())?;
    make_ordinary(ends, &config.share).map_err(setup_failure)?;
    if !confinement.inside {
        sys::have_killed_first(c"/proc/self/oom_score_adj");
        confine(&program.conditions.limits, confinement)?;
    }
    // By now it is the agent's user, who must be able to enter it. Capabilities in its namespace end
    // with exec, since the bounding set is empty.
    chdir(folder).map_err(|errno| Report::Failed(errno as i32))?;
    if let Some(domain) = &confinement.domain {
        apply_layer(config, Layer::Landlock, || {
            if !confinement.inside {
                layers::allow_own_process(domain)?;
            }
            sys::landlock_enter(domain.as_fd())
        })?;
    }
    // Until here files are opened.
    limits::apply_always(&program.conditions.limits).map_err(setup_failure)?;
    // Last, because it refuses calls that are needed until here.
    filter(confinement, Filters::finish)
}

/// Confines this process, and what it starts, as far as an init may be confined too. Neither allocates
/// nor changes memory.
pub(super) fn confine(limits: &Limits, confinement: &Confinement<'_>) -> Result<(), Report> {
    let Confinement { shared, user, inside, .. } = confinement;
    let config = &shared.config;
    apply_layer(config, Layer::Limits, || limits::apply(limits, user.is_some(), *inside))?;
    if let Some(user) = user {
        apply_layer(config, Layer::User, || {
            sys::drop_bounding_set()?;
            sys::become_user(*user)
        })?;
    }
    if *inside {
        sys::drop_bounding_set().map_err(|errno| layers::layer_failure(Layer::UserNs, errno))?;
    }
    apply_layer(config, Layer::NoNewPrivileges, || {
        sys::clear_ambient_set()?;
        set_no_new_privs()
    })?;
    filter(confinement, Filters::begin)
}

/// Applies some of the filters of system calls.
fn filter(
    Confinement { shared, .. }: &Confinement<'_>,
    apply: fn(&Filters) -> nix::Result<()>,
) -> Result<(), Report> {
    let apply = || shared.filters.as_ref().map_err(|errno| *errno).and_then(apply);
    apply_layer(&shared.config, Layer::Seccomp, apply).map(drop)
}

/// Sets what every program may expect, with or without a sandbox. Neither allocates nor changes memory.
fn make_ordinary(ends: &[OwnedFd; 3], share: &Share) -> nix::Result<()> {
    // Its own session, so that signals to its process group stay within it, and so that, where
    // the system schedules by session, an agent with many threads gets no more of a shared core
    // than one with a single thread.
    setsid()?;
    dup2_stdin(&ends[0])?;
    dup2_stdout(&ends[1])?;
    dup2_stderr(&ends[2])?;
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
    // This program ignores SIGPIPE, which would be inherited.
    sys::ignore_signal(Signal::SIGPIPE, false)?;
    match share {
        Share::Rest(_) => sys::idle_scheduling(),
        Share::Beside(cores) if cores.is_empty() => sys::low_scheduling(),
        Share::Match | Share::Beside(_) => sys::batch_scheduling(),
    }
    sys::close_other_files();
    Ok(())
}
