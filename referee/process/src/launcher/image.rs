//! From a supervisor, or a namespace's init, to the agent's first instruction.

use super::layers::{self, apply_layer, setup_failure};
use super::process::{Request, SharedSetup};
use super::wire::{Bytes, Report};
use super::{limits, sys};
use nix::errno::Errno;
use nix::sys::prctl::set_no_new_privs;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, chdir, dup2_stderr, dup2_stdin, dup2_stdout, setsid};
use referee_protocol::Layer;
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
    request: &Request,
    confinement: &Confinement<'_>,
    stack: &mut [u8],
) -> Result<Pid, Report> {
    let program = &request.program;
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
        if let Err(report) = prepare(&folder, request, confinement) {
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
fn prepare(folder: &CStr, request: &Request, confinement: &Confinement<'_>) -> Result<(), Report> {
    let Confinement { shared, domain, user, inside } = confinement;
    let Request { program, group, .. } = request;
    let config = &shared.config;
    // Only the agent: its supervisor is neither counted nor killed with it.
    apply_layer(config, Layer::Cgroup, || group.as_ref().ok_or(Errno::ENOENT)?.enter())?;
    make_ordinary(request).map_err(setup_failure)?;
    apply_layer(config, Layer::Limits, || {
        limits::apply(&program.conditions.limits, user.is_some() || *inside)
    })?;
    if let Some(user) = user {
        apply_layer(config, Layer::User, || {
            sys::drop_bounding_set()?;
            sys::become_user(*user)
        })?;
    }
    chdir(folder).map_err(|errno| Report::Failed(errno as i32))?;
    if *inside {
        let dropped = sys::drop_bounding_set().and_then(|()| sys::drop_capabilities());
        dropped.map_err(|errno| layers::layer_failure(Layer::UserNs, errno))?;
    }
    apply_layer(config, Layer::NoNewPrivileges, set_no_new_privs)?;
    if let Some(domain) = domain {
        apply_layer(config, Layer::Landlock, || {
            if !inside {
                layers::allow_own_process(domain)?;
            }
            sys::landlock_enter(domain.as_fd())
        })?;
    }
    // Last, because it refuses calls that are needed until here.
    apply_layer(config, Layer::Seccomp, || match &shared.filters {
        Ok(filters) => filters.apply(),
        Err(errno) => Err(*errno),
    })
    .map(drop)
}

/// Sets what every program may expect, with or without a sandbox. Neither allocates nor changes memory.
fn make_ordinary(Request { program, ends, .. }: &Request) -> nix::Result<()> {
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
    limits::apply_always(&program.conditions.limits)?;
    sys::batch_scheduling();
    sys::close_other_files();
    Ok(())
}
