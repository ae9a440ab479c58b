//! The way from a supervisor, or the init of a namespace, to an agent's own first instruction.

use super::layers::{self, begin, put_up};
use super::process::{Kit, Request};
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

/// The stack of a process on its way to exec, which calls little more than the system.
pub(super) const STACK_BYTES: usize = 128 * 1024;

/// What is put around an agent by the agent's own process, made before it.
pub(super) struct Guards<'a> {
    /// What is to be in force.
    pub(super) kit: &'a Kit,
    /// Its Landlock domain; whether it may see all processes is settled in it.
    pub(super) domain: Option<OwnedFd>,
    /// The user that it has to become; none where it is that already.
    pub(super) user: Option<u32>,
    /// In namespaces of its own.
    pub(super) inside: bool,
}

/// Becomes the agent, in a new process.
///
/// Until exec the new process runs in this one's memory, and this one stands still: there is nothing
/// to copy, which makes it three times as quick as a fork.
pub(super) fn start(
    request: &Request,
    guards: &Guards<'_>,
    stack: &mut [u8],
) -> Result<Pid, Report> {
    let program = &request.program;
    let einval = |_| Report::Failed(Errno::EINVAL as i32);
    let string = |bytes: &Bytes| CString::new(bytes.0.clone()).map_err(einval);
    let strings = |list: &[Bytes]| list.iter().map(string).collect::<Result<Vec<_>, _>>();
    let (file, folder) = (string(&program.file)?, string(&program.folder)?);
    let (arguments, environment) = (strings(&program.arguments)?, strings(&program.environment)?);
    // All that exec needs is made here: memory that the new process took would never be given back.
    let image = Image {
        file: &file,
        folder: &folder,
        arguments: &pointers(&arguments),
        environment: &pointers(&environment),
        request,
        guards,
    };
    let mut failure = None;
    let mut prepared = false;
    let child = sys::clone_within(stack, || {
        if let Err(report) = image.prepare() {
            failure = Some(report);
            return 127;
        }
        prepared = true;
        failure = Some(Report::Failed(image.execute() as i32));
        127
    });
    let child = child.map_err(begin)?;
    match failure {
        None if prepared => Ok(child),
        failure => {
            waitpid(child, None).ok();
            // Without a word, somebody has killed it on its way.
            Err(failure.unwrap_or(begin(Errno::ECHILD)))
        }
    }
}

/// A list of strings as the system takes it.
fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
}

/// What a new process needs to become the agent.
struct Image<'a> {
    file: &'a CStr,
    folder: &'a CStr,
    /// Pointers to strings, null at the end, as all that follows.
    arguments: &'a [*const c_char],
    environment: &'a [*const c_char],
    request: &'a Request,
    guards: &'a Guards<'a>,
}

/// All of it runs in the new process, takes no memory and changes none.
impl Image<'_> {
    /// Up to the agent's own program. Comes back only with an error, of the machine's or of the
    /// program's.
    fn execute(&self) -> Errno {
        sys::execute(self.file, self.arguments, self.environment)
    }

    fn prepare(&self) -> Result<(), Report> {
        let Guards { kit, domain, user, inside } = self.guards;
        let Request { program, group, .. } = self.request;
        let jail = &kit.jail;
        // The agent alone: who starts it isn't counted, and isn't killed with it.
        put_up(jail, Layer::Cgroup, || group.as_ref().ok_or(Errno::ENOENT)?.enter())?;
        self.make_ordinary().map_err(begin)?;
        put_up(jail, Layer::Limits, || {
            let own_user = user.is_some() || *inside;
            limits::apply(&program.bounds, own_user)
        })?;
        if let Some(user) = user {
            put_up(jail, Layer::User, || {
                sys::drop_bounding_set()?;
                sys::become_user(*user)
            })?;
        }
        chdir(self.folder).map_err(|errno| Report::Failed(errno as i32))?;
        if *inside {
            let dropped = sys::drop_bounding_set().and_then(|()| sys::drop_capabilities());
            dropped.map_err(|errno| layers::broken(Layer::UserNs, errno))?;
        }
        put_up(jail, Layer::NoNewPrivileges, set_no_new_privs)?;
        if let Some(domain) = domain {
            put_up(jail, Layer::Landlock, || {
                if !inside {
                    layers::allow_own_process(domain)?;
                }
                sys::landlock_enter(domain.as_fd())
            })?;
        }
        // Last of all: what it refuses is needed up to here.
        put_up(jail, Layer::Seccomp, || match &kit.filters {
            Ok(filters) => filters.put_up(),
            Err(errno) => Err(*errno),
        })
        .map(drop)
    }

    /// What every program may expect, sandbox or not.
    fn make_ordinary(&self) -> nix::Result<()> {
        // A session apart from its supervisor's, so that a signal to its group stays with it, and
        // so that, where the system groups processes by session to schedule them, an agent of many
        // threads gets no more of a shared core than one of a single thread.
        setsid()?;
        let Request { program, ends, .. } = self.request;
        dup2_stdin(&ends[0])?;
        dup2_stdout(&ends[1])?;
        dup2_stderr(&ends[2])?;
        sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
        // This program ignores it, and that would be passed on.
        sys::ignore_signal(Signal::SIGPIPE, false)?;
        limits::apply_always(&program.bounds)?;
        sys::batch_scheduling();
        sys::close_other_files();
        Ok(())
    }
}
