//! A supervisor: agent after agent, each with all that comes of it, until the referee has no more
//! for it or is gone.

use super::group::Membership;
use super::image::{Guards, STACK_BYTES, start};
use super::init::{self, Inside};
use super::layers::{self, User, begin, broken, put_up};
use super::process::{Kit, Request, receive};
use super::sys;
use super::tree::{reap, signal_all};
use super::watchdog::Watchdog;
use super::wire::{Bounds, Command, Reach, Report};
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
use referee_protocol::Layer;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;

/// How often a control group is asked whether its limits were passed, in milliseconds. What they
/// refuse is refused at once; this is how soon the rest of the tree follows.
const GROUP_PERIOD: u8 = 10;

/// A supervisor's whole state.
pub(super) struct Supervisor<'a> {
    kit: &'a Kit,
    control: BorrowedFd<'a>,
    signals: SignalFd,
    /// A signal to all is known to stay within.
    bounded: bool,
    /// It measures what its agents use.
    watches: bool,
    /// Its agents' user, where it isn't its own.
    user: Option<User>,
    stack: Vec<u8>,
}

/// An agent that runs.
struct Running {
    /// Its number, as the referee sees it.
    pid: Pid,
    /// CPU time of others that is counted with what comes of this one, in microseconds.
    reaped_us: u64,
    /// Where it is in namespaces of its own: the first process in them, and what that says.
    init: Option<(Pid, OwnedFd)>,
}

/// Serves agents; `launcher` is this process's parent, and `nth` its number among its like.
pub(super) fn supervise(
    kit: &Kit,
    control: BorrowedFd<'_>,
    launcher: Pid,
    nth: u32,
    first: Request,
    buffer: &mut [u8],
) {
    let mut request = Some(first);
    let mut supervisor = match Supervisor::prepare(kit, control, launcher, nth) {
        Ok(supervisor) => supervisor,
        Err(failure) => return tell(control, failure),
    };
    let mut cores = Cores::of_this_thread();
    while let Some(next) = request {
        cores.hold(next.program.core);
        supervisor.serve(next);
        request = receive(control, &kit.jail, buffer);
    }
}

fn no_longer_than(most: u8, timeout: PollTimeout) -> PollTimeout {
    // Of none it would have no milliseconds to tell.
    let shorter = |it: PollTimeout| it.as_millis().is_some_and(|it| it < u32::from(most));
    if timeout.is_some() && shorter(timeout) { timeout } else { most.into() }
}

impl<'a> Supervisor<'a> {
    fn prepare(
        kit: &'a Kit,
        control: BorrowedFd<'a>,
        launcher: Pid,
        nth: u32,
    ) -> Result<Self, Report> {
        let jail = &kit.jail;
        let mut children = SigSet::empty();
        children.add(Signal::SIGCHLD);
        let signals = (|| {
            set_child_subreaper(true)?;
            sys::ignore_signal(Signal::SIGCHLD, false)?;
            sigprocmask(SigmaskHow::SIG_BLOCK, Some(&children), None)?;
            SignalFd::with_flags(&children, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
        })();
        let signals = signals.map_err(begin)?;
        let watches = put_up(jail, Layer::Watchdog, || Ok(()))?.is_some();
        let user = put_up(jail, Layer::User, || {
            setgroups(&[])?;
            User::take(nth)
        })?;
        put_up(jail, Layer::NoNewPrivileges, set_no_new_privs)?;
        put_up(jail, Layer::Scope, layers::enter_scope)?;
        let bounded = jail.layers.has(Layer::Scope);
        if bounded && !layers::is_bounded(launcher) {
            return Err(broken(Layer::Scope, Errno::ENOTRECOVERABLE));
        }
        Ok(Self { kit, control, signals, bounded, watches, user, stack: vec![0; STACK_BYTES] })
    }

    /// One agent: starts it, tells what becomes of it, and leaves nothing of it behind.
    fn serve(&mut self, request: Request) {
        let started = if self.kit.jail.layers.has(Layer::UserNs) {
            self.start_inside(&request)
        } else {
            self.start_here(&request)
        };
        // Only the agent holds its ends from now on.
        let Request { program, ends, group, .. } = request;
        drop(ends);
        match started {
            Ok(running) => {
                let (pid, reaped_us) = (running.pid.as_raw(), running.reaped_us);
                tell(self.control, Report::Started { pid, reaped_us });
                if self.watch(&program.bounds, group.as_ref(), &running) {
                    self.kill_all(&running);
                }
            }
            Err(failure) => tell(self.control, failure),
        }
        tell(self.control, Report::Gone);
    }

    fn start_here(&mut self, request: &Request) -> Result<Running, Report> {
        let reach = &request.program.reach;
        let reaped = getrusage(UsageWho::RUSAGE_CHILDREN);
        let reaped_us =
            reaped.map_or(0, |usage| micros(usage.user_time()) + micros(usage.system_time()));
        self.hand_over(reach).map_err(|errno| broken(Layer::User, errno))?;
        let domain = layers::domain(&self.kit.jail, reach, false)?;
        let user = self.user.as_ref().map(|user| user.number);
        let guards = Guards { kit: self.kit, domain, user, inside: false };
        let pid = start(request, &guards, &mut self.stack)?;
        Ok(Running { pid, reaped_us, init: None })
    }

    /// Gives an agent's user the agent's private folder.
    fn hand_over(&self, reach: &Reach) -> nix::Result<()> {
        let Some(user) = &self.user else { return Ok(()) };
        let work = reach.work.as_path();
        let result = std::os::unix::fs::chown(work, Some(user.number), Some(user.number))
            .and_then(|()| std::fs::set_permissions(work, PermissionsExt::from_mode(0o700)));
        result.map_err(|error| sys::number(&error))
    }

    fn start_inside(&mut self, request: &Request) -> Result<Running, Report> {
        let user = self.user.as_ref().map(|user| user.number);
        let inside = Inside { kit: self.kit, request, user };
        let (init, socket) = init::start_init(&inside, &mut self.stack)?;
        let id = user.map_or_else(getuid, Uid::from_raw);
        let begun = init::map_user(init, id)
            .map_err(|errno| broken(Layer::UserNs, errno))
            .and_then(|()| init::go_on(&socket));
        match begun {
            Ok(()) => {
                // The first child of the init, which reaps none before it is told to.
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

    /// Waits until nothing of the agent is left, the referee wants the end, or it is gone; reaps what
    /// the agent leaves lying about, and reports when the agent itself has ended. Whether anything is
    /// left.
    fn watch(&self, bounds: &Bounds, group: Option<&Membership>, running: &Running) -> bool {
        let watched = running.init.as_ref().map_or_else(getpid, |(init, _)| *init);
        let mut watchdog = self.watches.then(|| Watchdog::new(watched, bounds));
        let inner = running.init.as_ref().map(|(_, socket)| socket.as_fd());
        loop {
            let mut fds = vec![
                PollFd::new(self.control, PollFlags::POLLIN),
                PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            ];
            fds.extend(inner.map(|inner| PollFd::new(inner, PollFlags::POLLIN)));
            let timeout = watchdog.as_ref().map_or(PollTimeout::NONE, Watchdog::timeout);
            match poll(&mut fds, group.map_or(timeout, |_| no_longer_than(GROUP_PERIOD, timeout))) {
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
            if ready(0) && !self.obey(watchdog.as_mut()) {
                return true;
            }
            // Last, so that what ended by itself before is told first.
            let limit = watchdog.as_mut().and_then(Watchdog::look);
            let limit = limit.or_else(|| group.and_then(|it| it.passed(bounds)));
            if let Some(limit) = limit {
                tell(self.control, Report::Limit(limit));
                return true;
            }
        }
    }

    /// Does what the referee says; false if that is the end, or it is gone.
    fn obey(&self, watchdog: Option<&mut Watchdog>) -> bool {
        let mut byte = [0];
        let still = match read(self.control, &mut byte) {
            Ok(_) if byte[0] == Command::Stop as u8 => true,
            Ok(_) if byte[0] == Command::Continue as u8 => false,
            Err(Errno::EINTR | Errno::EAGAIN) => return true,
            _ => return false,
        };
        signal_all(self.bounded, if still { Signal::SIGSTOP } else { Signal::SIGCONT });
        if let Some(watchdog) = watchdog {
            watchdog.stand_still(still);
        }
        if !still {
            tell(self.control, Report::Continued);
        }
        true
    }

    /// Passes on what the init of a namespace has said.
    fn pass_on(&self, running: &Running) {
        if let Some((_, socket)) = &running.init
            && let Some(report @ Report::Exited(_)) = init::said(socket, false)
        {
            tell(self.control, report);
        }
    }

    fn kill_all(&self, running: &Running) {
        while self.reap(running) {
            if let Some((init, _)) = running.init {
                // With it goes all that is in its namespace.
                kill(init, Signal::SIGKILL).ok();
            }
            signal_all(self.bounded, Signal::SIGKILL);
            // A new child, or one that the list missed because it changed, is found the next time.
            poll(&mut [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)], 10u8).ok();
            self.signals.read_signal().ok();
        }
    }

    /// Takes in what has ended; whether anything is left.
    fn reap(&self, running: &Running) -> bool {
        let left = reap(|pid, status| {
            if pid == running.pid {
                tell(self.control, Report::Exited(status));
            }
        });
        if !left {
            // It may have spoken just before it ended.
            self.pass_on(running);
        }
        left
    }
}

/// Waits for a child that is dead or dying, and for all that comes of it.
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

/// Tells the referee something.
pub(super) fn tell(control: BorrowedFd<'_>, report: Report) {
    write(control, &report.to_bytes()).ok();
}
