//! A supervisor: starts one agent after another, cleans up after each, and ends with the referee.

use super::group::Membership;
use super::image::{Confinement, STACK_BYTES, start};
use super::init::{self, NamespaceStart};
use super::layers::{self, User, apply_layer, layer_failure, setup_failure};
use super::process::{Request, SharedSetup, receive};
use super::stopped::Stopped;
use super::sys;
use super::tree::{reap, signal_all};
use super::watchdog::Watchdog;
use super::wire::{Command, Reach, Report};
use crate::cores::Cores;
use crate::usage::children_of;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl::{set_child_subreaper, set_no_new_privs};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeVal;
use nix::unistd::{Pid, Uid, getpid, getuid, read, setgroups, write};
use referee_protocol::{Layer, Limits, Nanos};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// How often a control group is checked for exceeded limits. The kernel refuses the excess at once;
/// this is how soon the rest of the tree is killed.
const GROUP_PERIOD: Duration = Duration::from_millis(10);

/// A supervisor's state.
pub(super) struct Supervisor<'a> {
    shared: &'a SharedSetup,
    control: BorrowedFd<'a>,
    signals: SignalFd,
    /// A signal to all processes is known to stay within its Landlock domain.
    bounded: bool,
    /// It measures what its agents use.
    watches: bool,
    /// Its agents' user, if that isn't its own.
    user: Option<User>,
    stack: Vec<u8>,
}

/// A running agent.
struct Running {
    /// Its process ID, as the referee sees it.
    pid: Pid,
    /// CPU time of earlier agents in this supervisor's own count, in microseconds.
    reaped_us: u64,
    /// With namespaces: the first process in them, and the socket to it.
    init: Option<(Pid, OwnedFd)>,
}

/// Serves agents; `launcher` is this process's parent, and `nth` the supervisor's number.
pub(super) fn supervise(
    shared: &SharedSetup,
    control: BorrowedFd<'_>,
    launcher: Pid,
    nth: u32,
    first: Request,
    buffer: &mut [u8],
) {
    let mut request = Some(first);
    let mut supervisor = match Supervisor::prepare(shared, control, launcher, nth) {
        Ok(supervisor) => supervisor,
        Err(failure) => return send_report(control, failure),
    };
    let mut cores = Cores::of_this_thread();
    while let Some(next) = request {
        cores.hold(next.program.conditions.core);
        supervisor.serve(next);
        request = receive(control, &shared.config, buffer);
    }
}

impl<'a> Supervisor<'a> {
    fn prepare(
        shared: &'a SharedSetup,
        control: BorrowedFd<'a>,
        launcher: Pid,
        nth: u32,
    ) -> Result<Self, Report> {
        let config = &shared.config;
        let mut children = SigSet::empty();
        children.add(Signal::SIGCHLD);
        let signals = (|| {
            set_child_subreaper(true)?;
            sys::ignore_signal(Signal::SIGCHLD, false)?;
            sigprocmask(SigmaskHow::SIG_BLOCK, Some(&children), None)?;
            SignalFd::with_flags(&children, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
        })();
        let signals = signals.map_err(setup_failure)?;
        let watches = apply_layer(config, Layer::Watchdog, || Ok(()))?.is_some();
        let user = apply_layer(config, Layer::User, || {
            setgroups(&[])?;
            User::take(nth)
        })?;
        apply_layer(config, Layer::NoNewPrivileges, set_no_new_privs)?;
        apply_layer(config, Layer::Scope, layers::enter_scope)?;
        let bounded = config.layers.has(Layer::Scope);
        if bounded && !layers::is_bounded(launcher) {
            return Err(layer_failure(Layer::Scope, Errno::ENOTRECOVERABLE));
        }
        Ok(Self { shared, control, signals, bounded, watches, user, stack: vec![0; STACK_BYTES] })
    }

    /// Serves one agent: starts it, reports on it, and leaves nothing of it behind.
    fn serve(&mut self, request: Request) {
        // Before the agent exists, so that nothing that it starts is missed. A group counts by itself.
        let counts = request.program.conditions.counts_cpu && request.group.is_none();
        let counter = counts.then(sys::count_descendants).and_then(Result::ok);
        let started = if self.shared.config.layers.has(Layer::UserNs) {
            self.start_inside(&request)
        } else {
            self.start_here(&request)
        };
        // From here on only the agent holds its ends of the pipes.
        let Request { program, ends, group, .. } = request;
        drop(ends);
        match started {
            Ok(running) => {
                let (pid, reaped_us) = (running.pid.as_raw(), running.reaped_us);
                let report = Report::Started { pid, reaped_us }.to_bytes();
                let counter: Vec<RawFd> = counter.iter().map(AsRawFd::as_raw_fd).collect();
                super::send(self.control.as_raw_fd(), &report, &counter).ok();
                if self.watch(&program.conditions.limits, group.as_ref(), &running) {
                    self.kill_all(&running, group.as_ref());
                }
            }
            Err(failure) => send_report(self.control, failure),
        }
        send_report(self.control, Report::Gone);
    }

    fn start_here(&mut self, request: &Request) -> Result<Running, Report> {
        let reach = &request.program.conditions.reach;
        let reaped = getrusage(UsageWho::RUSAGE_CHILDREN);
        let reaped_us =
            reaped.map_or(0, |usage| micros(usage.user_time()) + micros(usage.system_time()));
        self.chown_work_folder(reach)
            .and_then(|()| self.chown_write_folder(reach))
            .map_err(|errno| layer_failure(Layer::User, errno))?;
        let domain = layers::domain(&self.shared.config, reach, false)?;
        let user = self.user.as_ref().map(|user| user.number);
        let confinement = Confinement { shared: self.shared, domain, user, inside: false };
        let pid = start(request, &confinement, &mut self.stack)?;
        Ok(Running { pid, reaped_us, init: None })
    }

    /// Gives the agent's user the agent's private folder.
    fn chown_work_folder(&self, reach: &Reach) -> nix::Result<()> {
        let Some(user) = &self.user else { return Ok(()) };
        let work = reach.work.as_path();
        let result = std::os::unix::fs::chown(work, Some(user.number), Some(user.number))
            .and_then(|()| std::fs::set_permissions(work, PermissionsExt::from_mode(0o700)));
        result.map_err(|error| sys::number(&error))
    }

    /// Gives the agent's user the folder that it may change.
    fn chown_write_folder(&self, reach: &Reach) -> nix::Result<()> {
        let (Some(user), Some(folder)) = (&self.user, &reach.write) else { return Ok(()) };
        chown_all(folder.as_path(), user.number)
    }

    fn start_inside(&mut self, request: &Request) -> Result<Running, Report> {
        self.chown_write_folder(&request.program.conditions.reach)
            .map_err(|errno| layer_failure(Layer::User, errno))?;
        let user = self.user.as_ref().map(|user| user.number);
        let inside = NamespaceStart { shared: self.shared, request, user };
        let (init, socket) = init::start_init(&inside, &mut self.stack)?;
        let id = user.map_or_else(getuid, Uid::from_raw);
        let begun = init::map_user(init, id)
            .map_err(|errno| layer_failure(Layer::UserNs, errno))
            .and_then(|()| init::go_on(&socket));
        match begun {
            Ok(()) => {
                // The init's first child; the init reaps nothing before it gets the go.
                let pid = children_of(init).first().copied();
                let pid = pid.unwrap_or(init);
                write(&socket, &[1]).ok();
                Ok(Running { pid, reaped_us: 0, init: Some((init, socket)) })
            }
            Err(failure) => {
                kill(init, Signal::SIGKILL).ok();
                reap_whole(init);
                Err(failure)
            }
        }
    }

    /// Waits until no process of the agent is left, the referee commands its end, or the referee is
    /// gone. Reaps orphans, and reports the end of the agent's own process. Returns whether any
    /// process is left.
    fn watch(&self, limits: &Limits, group: Option<&Membership>, running: &Running) -> bool {
        let watched = running.init.as_ref().map_or_else(getpid, |(init, _)| *init);
        let mut watchdog = self.watches.then(|| Watchdog::new(watched, limits));
        let inner = running.init.as_ref().map(|(_, socket)| socket.as_fd());
        let mut stopped = None;
        loop {
            let mut fds = vec![
                PollFd::new(self.control, PollFlags::POLLIN),
                PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            ];
            fds.extend(inner.map(|inner| PollFd::new(inner, PollFlags::POLLIN)));
            let due = watchdog.as_ref().and_then(Watchdog::timeout);
            let look = stopped.as_ref().and_then(Stopped::timeout);
            let due = due.into_iter().chain(look).chain(group.map(|_| GROUP_PERIOD)).min();
            // Rounded up: nothing is due earlier.
            let due = due.map(|rest| PollTimeout::try_from(rest + Duration::from_micros(999)));
            match poll(
                &mut fds,
                due.map_or(PollTimeout::NONE, |it| it.unwrap_or(PollTimeout::ZERO)),
            ) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => return true,
            }
            let ready = |index: usize| {
                let events = fds.get(index).and_then(PollFd::revents);
                events.is_some_and(|events| !events.is_empty())
            };
            if ready(2) {
                self.pass_on(running);
            }
            if ready(1) {
                self.signals.read_signal().ok();
                if !self.reap(running) {
                    return false;
                }
            }
            if ready(0) && !self.handle_command(group, &mut stopped, watchdog.as_mut()) {
                return true;
            }
            if let Some(stopped) = &mut stopped {
                let is_still = stopped.check();
                if let Some(watchdog) = &mut watchdog {
                    watchdog.pause(is_still);
                }
            }
            // Last, so that processes that ended before are reported first.
            let limit = watchdog.as_mut().and_then(Watchdog::check);
            let limit = limit.or_else(|| group.and_then(|it| it.passed(limits)));
            if let Some(limit) = limit {
                send_report(self.control, Report::Limit(limit));
                return true;
            }
        }
    }

    /// Handles a command of the referee; false if the agent is to end or the referee is gone.
    fn handle_command(
        &self,
        group: Option<&Membership>,
        stopped: &mut Option<Stopped>,
        watchdog: Option<&mut Watchdog>,
    ) -> bool {
        let mut byte = [0];
        let still = match read(self.control, &mut byte) {
            Ok(_) if byte[0] == Command::Stop as u8 => true,
            Ok(_) if byte[0] == Command::Continue as u8 => false,
            Err(Errno::EINTR | Errno::EAGAIN) => return true,
            _ => return false,
        };
        let frozen = group.is_some_and(|group| group.freeze(still));
        if still && !frozen && stopped.is_none() {
            *stopped = Some(Stopped::stop(self.bounded));
        }
        if let Some(watchdog) = watchdog {
            watchdog.pause(still && frozen);
        }
        if !still {
            let ran = stopped.take().map_or(Nanos(0), Stopped::resume);
            send_report(self.control, Report::Continued { ran_us: ran.0 / 1000 });
        }
        true
    }

    /// Forwards a report of a namespace's init.
    fn pass_on(&self, running: &Running) {
        if let Some((_, socket)) = &running.init
            && let Some(report @ Report::Exited(_)) = init::receive_report(socket, false)
        {
            send_report(self.control, report);
        }
    }

    fn kill_all(&self, running: &Running, group: Option<&Membership>) {
        while self.reap(running) {
            if let Some((init, _)) = running.init {
                // Killing it kills everything in its namespace.
                kill(init, Signal::SIGKILL).ok();
            }
            signal_all(self.bounded, Signal::SIGKILL);
            if let Some(group) = group {
                group.kill();
            }
            // New children, and those that the list missed because it changed, are found the next
            // time.
            poll(&mut [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)], 10u8).ok();
            self.signals.read_signal().ok();
        }
    }

    /// Reaps processes that have ended; returns whether any is left.
    fn reap(&self, running: &Running) -> bool {
        let left = reap(|pid, status| {
            if pid == running.pid {
                send_report(self.control, Report::Exited(status));
            }
        });
        if !left {
            // It may have reported just before it ended.
            self.pass_on(running);
        }
        left
    }
}

/// Waits for a child that is dead or dying, and for all its descendants.
fn reap_whole(child: Pid) {
    loop {
        match sys::next_ended(true) {
            sys::Ended::One(pid, _) if pid == child => return,
            sys::Ended::NoneLeft => return,
            _ => {}
        }
    }
}

fn micros(time: TimeVal) -> u64 {
    u64::try_from(time.tv_sec() * 1_000_000 + time.tv_usec()).unwrap_or(0)
}

/// Sends a report to the referee.
pub(super) fn send_report(control: BorrowedFd<'_>, report: Report) {
    write(control, &report.to_bytes()).ok();
}

/// Gives a folder and everything in it to a user, without following links.
fn chown_all(folder: &Path, user: u32) -> nix::Result<()> {
    let mut folders = vec![folder.to_owned()];
    let failed = |error: std::io::Error| sys::number(&error);
    while let Some(folder) = folders.pop() {
        std::os::unix::fs::lchown(&folder, Some(user), Some(user)).map_err(failed)?;
        for entry in folder.read_dir().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_type().map_err(failed)?.is_dir() {
                folders.push(entry.path());
            } else {
                std::os::unix::fs::lchown(entry.path(), Some(user), Some(user)).map_err(failed)?;
            }
        }
    }
    Ok(())
}
