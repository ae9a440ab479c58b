//! A supervisor: starts one agent after another, cleans up after each, and ends with the referee.

use super::group::Membership;
use super::image::{Confinement, STACK_BYTES, start};
use super::init::{NamespaceStart, Namespaces};
use super::layers::{self, OpenReach, User, apply_layer, layer_failure, setup_failure};
use super::ledger::Ledger;
use super::process::{Handles, Inbox, Request, SharedSetup};
use super::stopped::Stopped;
use super::sys;
use super::tree::{reap, signal_all};
use super::watchdog::Watchdog;
use super::wire::{Command, Program, Reach, Report, USERS_GROUP};
use crate::cores::Cores;
use crate::open_folder::OpenFolder;
use crate::sandbox::Layer;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl::{set_child_subreaper, set_no_new_privs};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeVal;
use nix::unistd::{Gid, Pid, Uid, getpid, getuid, read, setgroups, write};
use referee_protocol::{Limits, Nanos};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::PermissionsExt;
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
    /// The files that the agent that it had last might read.
    open: Option<OpenReach>,
    /// Namespaces that are ready for that agent.
    ready: Option<Namespaces>,
    stack: Vec<u8>,
}

/// A running agent.
struct Running {
    /// Its process ID, as the referee sees it.
    pid: Pid,
    /// CPU time of earlier agents in this supervisor's own count, in microseconds.
    reaped_us: u64,
    /// The namespaces that it is in, if it has its own.
    namespaces: Option<Namespaces>,
}

impl Running {
    /// Returns the process whose descendants are all that the agent has started.
    fn root(&self) -> Pid {
        self.namespaces.as_ref().map_or_else(getpid, |namespaces| namespaces.init)
    }
}

/// How an agent ended.
enum End {
    /// Processes may be left.
    Left,
    /// No process is left.
    Gone,
    /// No process is left, and its namespaces are ready for its next process.
    Ready,
}

/// Serves agents; `launcher` is this process's parent, and `nth` the supervisor's number.
pub(super) fn supervise(
    shared: &SharedSetup,
    control: BorrowedFd<'_>,
    launcher: Pid,
    nth: u32,
    first: Request,
    inbox: &mut Inbox,
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
        request = inbox.receive(control, &shared.config);
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
            // Where that group is no number of this namespace, the folders are open to all who pass.
            setgroups(&[Gid::from_raw(USERS_GROUP)]).or_else(|_| setgroups(&[]))?;
            User::take(nth)
        })?;
        apply_layer(config, Layer::NoNewPrivileges, set_no_new_privs)?;
        apply_layer(config, Layer::Scope, layers::enter_scope)?;
        let bounded = config.layers.has(Layer::Scope);
        if bounded && !layers::is_bounded(launcher) {
            return Err(layer_failure(Layer::Scope, Errno::ENOTRECOVERABLE));
        }
        let (open, ready, stack) = (None, None, vec![0; STACK_BYTES]);
        Ok(Self { shared, control, signals, bounded, watches, user, open, ready, stack })
    }

    /// Serves one agent: starts it, reports on it, and leaves nothing of it behind.
    fn serve(&mut self, request: Request) {
        let Request { program, repeated, handles, .. } = request;
        let conditions = &program.conditions;
        // Before the agent exists, so that nothing that it starts is missed. A group counts by itself.
        let counts = conditions.counts_cpu && handles.group.is_none();
        let current = self.opens(&conditions.reach);
        if !(repeated && current) || counts {
            self.leave();
        }
        let counter = counts.then(sys::count_descendants).and_then(Result::ok);
        let inside = self.shared.config.layers.has(Layer::UserNs);
        let started = if inside {
            self.start_inside(&program, &handles)
        } else {
            self.start_here(&program, &handles)
        };
        // From here on only the agent holds its ends of the pipes.
        let Handles { ends, group } = handles;
        drop(ends);
        match started {
            Ok(running) => {
                let (pid, reaped_us) = (running.pid.as_raw(), running.reaped_us);
                let report = Report::Started { pid, reaped_us }.to_bytes();
                let ledger = counts.then(|| Ledger::begin(running.root(), counter.is_some()));
                let ledger = ledger.and_then(Result::ok);
                // The counter is never without the ledger.
                let files = ledger.as_ref().map(AsFd::as_fd);
                let files = files.into_iter().chain(counter.as_ref().map(AsFd::as_fd));
                let files: Vec<RawFd> = files.map(|file| file.as_raw_fd()).collect();
                super::send(self.control.as_raw_fd(), &report, &files).ok();
                match self.watch(&conditions.limits, group.as_ref(), &running, ledger) {
                    End::Left => self.kill_all(&running, group.as_ref()),
                    End::Gone => {}
                    End::Ready => self.ready = running.namespaces,
                }
                if let Some(group) = &group {
                    // For the next agent in it.
                    group.freeze(false);
                }
            }
            Err(failure) => send_report(self.control, failure),
        }
        send_report(self.control, Report::Gone);
        if inside && repeated && !counts && self.ready.is_none() {
            // It plays again and again: its next process needn't wait for them.
            self.ready = self.make_namespaces(&program).ok();
        }
    }

    /// Opens what an agent may read, if that matters; returns whether it already was.
    fn opens(&mut self, reach: &Reach) -> bool {
        let layers = self.shared.config.layers;
        let matters = layers.has(Layer::Landlock) || layers.has(Layer::Mounts);
        let current = !matters || self.open.as_ref().is_some_and(|open| open.is_current(reach));
        if !current {
            self.open = Some(OpenReach::of(reach));
        }
        current
    }

    fn start_here(&mut self, program: &Program, handles: &Handles) -> Result<Running, Report> {
        let reach = &program.conditions.reach;
        let reaped_us = reaped_us();
        self.chown_work_folder(reach)
            .and_then(|()| self.chown_write_folder(reach))
            .map_err(|errno| layer_failure(Layer::User, errno))?;
        let domain = layers::domain(&self.shared.config, reach, self.open.as_ref(), false)?;
        let user = self.user.as_ref().map(|user| user.number);
        let confinement = Confinement { shared: self.shared, domain, user, inside: false };
        let pid = start(program, handles, &confinement, &mut self.stack)?;
        Ok(Running { pid, reaped_us, namespaces: None })
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
        let (user, group) = (Uid::from_raw(user.number), Gid::from_raw(user.number));
        // Other agents, which had it before, can put links in place of what is in it.
        OpenFolder::open_canonical(folder.as_path())
            .and_then(|folder| folder.give_to(user, group))
            .map_err(|error| sys::number(&error))
    }

    fn start_inside(&mut self, program: &Program, handles: &Handles) -> Result<Running, Report> {
        self.chown_write_folder(&program.conditions.reach)
            .map_err(|errno| layer_failure(Layer::User, errno))?;
        let namespaces = match self.ready.take() {
            Some(namespaces) => namespaces,
            None => self.make_namespaces(program)?,
        };
        let (namespaces, pid, reaped_us) = namespaces.start(handles)?;
        Ok(Running { pid, reaped_us, namespaces: Some(namespaces) })
    }

    fn make_namespaces(&mut self, program: &Program) -> Result<Namespaces, Report> {
        let user = self.user.as_ref().map(|user| user.number);
        let open = self.open.as_ref();
        let inside = NamespaceStart { shared: self.shared, program, open, user };
        let id = user.map_or_else(getuid, Uid::from_raw);
        Namespaces::make(&inside, id, &mut self.stack)
    }

    /// Gives up namespaces that are ready. No process of an agent is left in them, so nothing waits
    /// for their end.
    fn leave(&mut self) {
        if let Some(namespaces) = self.ready.take() {
            namespaces.end();
        }
    }

    /// Waits until no process of the agent is left, the referee commands its end, or the referee is
    /// gone. Reaps orphans, and reports the end of the agent's own process.
    fn watch(
        &self,
        limits: &Limits,
        group: Option<&Membership>,
        running: &Running,
        mut ledger: Option<Ledger>,
    ) -> End {
        let namespaces = running.namespaces.as_ref();
        let watched = running.root();
        let are_limited = namespaces.is_some() || self.user.is_some();
        let mut watchdog = self.watches.then(|| Watchdog::new(watched, limits, are_limited));
        let mut stopped = None;
        // While its memory is measured.
        let mut measured: Option<Stopped> = None;
        loop {
            let mut fds = vec![
                PollFd::new(self.control, PollFlags::POLLIN),
                PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            ];
            fds.extend(namespaces.map(|inner| PollFd::new(inner.as_fd(), PollFlags::POLLIN)));
            let due = watchdog.as_ref().and_then(Watchdog::timeout);
            let due = due.into_iter().chain(ledger.as_ref().and_then(Ledger::timeout));
            let look = stopped.iter().chain(&measured).filter_map(Stopped::timeout).min();
            let due = due.chain(look).chain(group.map(|_| GROUP_PERIOD)).min();
            // Rounded up: nothing is due earlier.
            let due = due.map(|rest| PollTimeout::try_from(rest + Duration::from_micros(999)));
            match poll(
                &mut fds,
                due.map_or(PollTimeout::NONE, |it| it.unwrap_or(PollTimeout::ZERO)),
            ) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => return End::Left,
            }
            let ready = |index: usize| {
                let events = fds.get(index).and_then(PollFd::revents);
                events.is_some_and(|events| !events.is_empty())
            };
            if ready(2) && self.pass_on(running) {
                // Stopping the agent stops the init too. It may have been late.
                stopped.or(measured).map(Stopped::resume);
                return End::Ready;
            }
            if ready(1) {
                self.signals.read_signal().ok();
                if !self.reap(running) {
                    return End::Gone;
                }
            }
            let was_stopped = stopped.is_some();
            if ready(0) && !self.handle_command(group, &mut stopped, watchdog.as_mut()) {
                return End::Left;
            }
            if was_stopped && stopped.is_none() {
                // Everything runs again.
                measured = None;
            }
            if stopped.is_none()
                && let Some(ledger) = &mut ledger
            {
                ledger.pause(false);
            }
            if let Some(stopped) = &mut stopped {
                let is_still = stopped.check();
                if let Some(watchdog) = &mut watchdog {
                    watchdog.pause(is_still);
                }
                if let Some(ledger) = &mut ledger {
                    ledger.pause(is_still);
                }
            }
            if let Some(ledger) = &mut ledger {
                ledger.look();
            }
            // Last, so that processes that ended before are reported first.
            let limit = watchdog.as_mut().and_then(Watchdog::check);
            if !watchdog.as_ref().is_some_and(Watchdog::wants_stop) {
                // A command may have stopped it meanwhile.
                measured.take().filter(|_| stopped.is_none()).map(Stopped::resume);
            } else if stopped.is_none() {
                measured.get_or_insert_with(|| Stopped::stop(self.bounded)).check();
            }
            let limit = limit.or_else(|| group.and_then(|it| it.passed(limits)));
            if let Some(limit) = limit {
                send_report(self.control, Report::Limit(limit));
                return End::Left;
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

    /// Forwards the agent's end from its namespaces; returns whether they are ready for its next
    /// process.
    fn pass_on(&self, running: &Running) -> bool {
        let reports = running.namespaces.iter().flat_map(Namespaces::reports);
        let mut ready = false;
        for report in reports {
            match report {
                Report::Gone => ready = true,
                report => send_report(self.control, report),
            }
        }
        ready
    }

    fn kill_all(&self, running: &Running, group: Option<&Membership>) {
        while self.reap(running) {
            if let Some(namespaces) = &running.namespaces {
                namespaces.end();
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
        let left = reap(|pid, status, peak| {
            if pid == running.pid {
                send_report(self.control, Report::Exited(status, peak));
            }
        });
        if !left {
            // It may have reported just before it ended.
            self.pass_on(running);
        }
        left
    }
}

/// Returns the CPU time of all processes that this one has reaped, in microseconds.
pub(super) fn reaped_us() -> u64 {
    let reaped = getrusage(UsageWho::RUSAGE_CHILDREN);
    reaped.map_or(0, |usage| micros(usage.user_time()) + micros(usage.system_time()))
}

fn micros(time: TimeVal) -> u64 {
    u64::try_from(time.tv_sec() * 1_000_000 + time.tv_usec()).unwrap_or(0)
}

/// Sends a report to the referee.
pub(super) fn send_report(control: BorrowedFd<'_>, report: Report) {
    write(control, &report.to_bytes()).ok();
}
