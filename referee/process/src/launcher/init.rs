//! The first process (init) of an agent's own namespaces: prepares them, starts the agent, and
//! reaps orphans. When it ends, the kernel kills everything in its process namespace.
//!
//! If its agent has left nothing behind, the same agent's next process is started in the same
//! namespaces: making and removing them takes longer than a short match, and the kernel makes
//! everyone wait who does it at the same time.

use super::image::{Confinement, confine, start};
use super::layers::{self, OpenReach, apply_layer, layer_failure, setup_failure};
use super::mounts::{self, DetachedMounts, Untouched};
use super::process::{Handles, SharedSetup, receive_packet};
use super::supervisor::reaped_us;
use super::sys::{self, Ended};
use super::wire::{Program, REPORT_BYTES, Report};
use crate::sandbox::Layer;
use nix::errno::Errno;
use nix::sched::CloneFlags;
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, send, socketpair};
use nix::unistd::{Pid, Uid, dup2_stdin};
use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;

/// The init's stack; it does more than make system calls.
const STACK_BYTES: usize = 512 * 1024;

/// What an init needs.
pub(super) struct NamespaceStart<'a> {
    pub(super) shared: &'a SharedSetup,
    pub(super) program: &'a Program,
    /// The files that the agent may read.
    pub(super) open: Option<&'a OpenReach>,
    /// The user to become, if the referee runs as root.
    pub(super) user: Option<u32>,
}

/// A supervisor's side of namespaces that are ready for an agent.
pub(super) struct Namespaces {
    /// Their first process.
    pub(super) init: Pid,
    socket: OwnedFd,
    /// The list of its children.
    children: File,
}

impl Namespaces {
    /// Makes them for agents with this program and these conditions, with the user `id`.
    pub(super) fn make(
        inside: &NamespaceStart<'_>,
        id: Uid,
        agent_stack: &mut [u8],
    ) -> Result<Self, Report> {
        let flags = namespaces(inside)?;
        let pair =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC);
        let (socket, theirs) = pair.map_err(setup_failure)?;
        let detached = mounts::detach_mounts(inside.program, inside.user);
        let mut stack = vec![0; STACK_BYTES];
        let init =
            sys::clone_into(flags, &mut stack, || run(inside, &detached, &theirs, agent_stack));
        // Every other layer needs this one.
        let init = init.map_err(|errno| layer_failure(Layer::UserNs, errno))?;
        drop(theirs);
        // Its agents inherit it, and can't open the file before exec.
        if let Ok(adjustment) = CString::new(format!("/proc/{init}/oom_score_adj")) {
            sys::have_killed_first(&adjustment);
        }
        let children = File::open(format!("/proc/{init}/task/{init}/children"))
            .map_err(|error| setup_failure(sys::number(&error)))?;
        let made = Self { init, socket, children };
        let begun = map_user(init, id)
            .map_err(|errno| layer_failure(Layer::UserNs, errno))
            .and_then(|()| made.order(&[]));
        match begun {
            Ok(_) => Ok(made),
            Err(failure) => Err(made.fail(failure)),
        }
    }

    /// Starts an agent; returns its process ID as this process sees it, and the CPU time of earlier
    /// ones in microseconds. If that fails, the namespaces are gone.
    pub(super) fn start(self, handles: &Handles) -> Result<(Self, Pid, u64), Report> {
        let fds: Vec<RawFd> = handles.descriptors().map(|fd| fd.as_raw_fd()).collect();
        match self.order(&fds) {
            Ok(reaped_us) => {
                // The init's first child; it reaps nothing before the next order.
                let pid = self.first_child().unwrap_or(self.init);
                super::send(self.socket.as_raw_fd(), &[1], &[]).ok();
                Ok((self, pid, reaped_us))
            }
            Err(failure) => Err(self.fail(failure)),
        }
    }

    fn first_child(&self) -> Option<Pid> {
        let mut list = [0; 64];
        let count = self.children.read_at(&mut list, 0).ok()?;
        let list = std::str::from_utf8(&list[..count]).ok()?;
        list.split_whitespace().next()?.parse().ok().map(Pid::from_raw)
    }

    /// Lets the init do its next step, and waits until it is done.
    fn order(&self, fds: &[RawFd]) -> Result<u64, Report> {
        let lost = || setup_failure(Errno::ECHILD);
        super::send(self.socket.as_raw_fd(), &[1], fds).map_err(|_| lost())?;
        match receive_reports(&self.socket, MsgFlags::empty()).pop().ok_or_else(lost)? {
            Report::Started { reaped_us, .. } => Ok(reaped_us),
            Report::Gone => Ok(0),
            failure => Err(failure),
        }
    }

    /// Ends the namespaces after a failure.
    fn fail(self, failure: Report) -> Report {
        self.end();
        loop {
            match sys::next_ended(true) {
                Ended::One(pid, ..) if pid == self.init => return failure,
                Ended::NoneLeft => return failure,
                _ => {}
            }
        }
    }

    /// Kills everything in them. Until it is reaped, the init is a child of this process.
    pub(super) fn end(&self) {
        kill(self.init, Signal::SIGKILL).ok();
    }

    /// Returns the reports that have arrived: of the agent's end, and that everything that it started
    /// is gone and the namespaces are ready for its next process.
    pub(super) fn reports(&self) -> Vec<Report> {
        receive_reports(&self.socket, MsgFlags::MSG_DONTWAIT)
    }
}

impl AsFd for Namespaces {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn namespaces(inside: &NamespaceStart<'_>) -> Result<CloneFlags, Report> {
    let mut flags = CloneFlags::empty();
    for (layer, flag) in [
        (Layer::UserNs, CloneFlags::CLONE_NEWUSER),
        (Layer::PidNs, CloneFlags::CLONE_NEWPID),
        (Layer::NetNs, CloneFlags::CLONE_NEWNET),
        (Layer::IpcNs, CloneFlags::CLONE_NEWIPC),
        (Layer::UtsNs, CloneFlags::CLONE_NEWUTS),
        (Layer::CgroupNs, CloneFlags::CLONE_NEWCGROUP),
        (Layer::Mounts, CloneFlags::CLONE_NEWNS),
    ] {
        flags |=
            apply_layer(&inside.shared.config, layer, || Ok(flag))?.unwrap_or(CloneFlags::empty());
    }
    Ok(flags)
}

/// Maps the agent's user, and no other, into the init's namespace, under its own number.
fn map_user(init: Pid, id: Uid) -> nix::Result<()> {
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{id} {id} 1")),
        ("gid_map", format!("{0} {0} 1", group_of(id))),
    ] {
        let written = std::fs::write(format!("/proc/{init}/{file}"), text);
        written.map_err(|error| sys::number(&error))?;
    }
    Ok(())
}

/// Returns a user's group: an agent's own user has one of the same number, otherwise it is the caller's.
fn group_of(id: Uid) -> u32 {
    if id == nix::unistd::getuid() { nix::unistd::getgid().as_raw() } else { id.as_raw() }
}

/// Receives the reports of one packet; none if there is none, or if the init is gone.
fn receive_reports(socket: &OwnedFd, flags: MsgFlags) -> Vec<Report> {
    let mut bytes = [0; 2 * REPORT_BYTES];
    let count = loop {
        match recv(socket.as_raw_fd(), &mut bytes, flags) {
            Err(Errno::EINTR) => {}
            received => break received.unwrap_or(0),
        }
    };
    bytes[..count].chunks(REPORT_BYTES).flat_map(serde_json::from_slice).collect()
}

/// Sends reports in one packet; false if the supervisor is gone.
fn say(socket: &OwnedFd, reports: &[Report]) -> bool {
    let packet: Vec<u8> = reports.iter().flat_map(|report| report.to_bytes()).collect();
    send(socket.as_raw_fd(), &packet, MsgFlags::MSG_NOSIGNAL).is_ok()
}

/// Waits for the supervisor's next order; `None` if the supervisor is gone.
fn next_order(socket: &OwnedFd) -> Option<Vec<OwnedFd>> {
    loop {
        match receive_packet(socket.as_fd(), &mut [0]) {
            Err(Errno::EINTR) => {}
            received => return received.ok().filter(|(count, _)| *count == 1).map(|(_, fds)| fds),
        }
    }
}

/// Runs the init; returns its exit status.
fn run(
    inside: &NamespaceStart<'_>,
    detached: &DetachedMounts,
    socket: &OwnedFd,
    stack: &mut [u8],
) -> isize {
    // The user must have been mapped.
    if next_order(socket).is_none() {
        return 1;
    }
    let (confinement, untouched) = match prepare(inside, detached) {
        Ok(prepared) => prepared,
        Err(failure) => {
            say(socket, &[failure]);
            return 1;
        }
    };
    // No one else may keep the agent's pipes open, nor the supervisor's files. The ends of pipes that
    // come later must not be received as stdin, stdout or stderr.
    dup2_stdin(socket).ok();
    let domain = confinement.domain.iter().map(AsRawFd::as_raw_fd);
    let looks = untouched.iter().flat_map(Untouched::descriptors);
    let own = domain.chain(looks).chain([socket.as_raw_fd()]);
    let mut kept: Vec<RawFd> = (0..3).chain(own).collect();
    sys::close_all_but(&mut kept);
    let mut reports = vec![Report::Gone];
    while say(socket, &reports) {
        let handles = next_order(socket).and_then(|fds| Handles::take(fds, &inside.shared.config));
        let Some(handles) = handles else { return 1 };
        let reaped_us = reaped_us();
        let agent = match start(inside.program, &handles, &confinement, stack) {
            Ok(agent) => agent,
            Err(failure) => {
                say(socket, &[failure]);
                return 1;
            }
        };
        // Nothing is reaped before the supervisor has found the agent among the children.
        let started = Report::Started { pid: agent.as_raw(), reaped_us };
        if !say(socket, &[started]) || next_order(socket).is_none() {
            return 1;
        }
        drop(handles);
        reports = reap_all(socket, agent).into_iter().collect();
        if !untouched.as_ref().is_some_and(Untouched::restore) {
            say(socket, &reports);
            return 0;
        }
        reports.push(Report::Gone);
    }
    1
}

/// Reaps all processes in the namespaces, and reports the agent's end at once if others are left.
/// Otherwise returns it.
fn reap_all(socket: &OwnedFd, agent: Pid) -> Option<Report> {
    let mut unreported = None;
    loop {
        match sys::next_ended(unreported.is_none()) {
            Ended::One(pid, status, peak) if pid == agent => {
                unreported = Some(Report::Exited(status, peak));
            }
            Ended::One(..) | Ended::NotYet => {
                if let Some(exited) = unreported.take() {
                    say(socket, &[exited]);
                }
            }
            Ended::NoneLeft => return unreported,
        }
    }
}

/// Applies all layers but an agent's control group. Without what the namespaces were like then, they
/// are for one agent only.
fn prepare<'a>(
    inside: &'a NamespaceStart<'_>,
    detached: &DetachedMounts,
) -> Result<(Confinement<'a>, Option<Untouched>), Report> {
    let NamespaceStart { shared, program, open, user } = inside;
    let config = &shared.config;
    if let Some(user) = *user {
        apply_layer(config, Layer::User, || sys::become_user(user))?;
    }
    // The init dies with its supervisor, which is single-threaded and lives as long as it is
    // needed. Changing the user would reset this.
    let dependent = prctl::set_pdeathsig(Signal::SIGKILL).and_then(|()| prctl::set_dumpable(false));
    dependent.map_err(setup_failure)?;
    // Only ever in its own mount namespace.
    let writable = apply_layer(config, Layer::Mounts, || mounts::arrange(program, detached))?;
    let untouched = writable.map(|writable| {
        let shown = apply_layer(config, Layer::PidNs, || {
            mounts::show_own_processes()?;
            mounts::limit_watchers()
        })?;
        Ok(shown.and_then(|()| Untouched::of(writable).ok()))
    });
    let own = config.layers.has(Layer::Mounts) && config.layers.has(Layer::PidNs);
    let domain = layers::domain(config, &program.conditions.reach, *open, own)?;
    let confinement = Confinement { shared, domain, user: None, inside: true };
    // All agents here inherit it. What the init itself does later is allowed to them too.
    confine(&program.conditions.limits, &confinement)?;
    Ok((confinement, untouched.transpose()?.flatten()))
}
