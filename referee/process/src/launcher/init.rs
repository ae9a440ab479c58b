//! The first process of an agent's own namespaces: it makes the agent's surroundings there, starts
//! it, and reaps what it leaves. When it ends, all that is in its process namespace is killed.

use super::image::{Guards, start};
use super::layers::{self, begin, broken, put_up};
use super::mounts::{self, Handed};
use super::process::{Kit, Request};
use super::sys::{self, Ended};
use super::wire::{REPORT_BYTES, Report};
use nix::errno::Errno;
use nix::sched::CloneFlags;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, send, socketpair};
use nix::unistd::{Pid, Uid};
use referee_protocol::Layer;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// The stack of the first process, which does more than call the system.
const STACK_BYTES: usize = 512 * 1024;

/// What the first process of an agent's namespaces is made of.
pub(super) struct Inside<'a> {
    pub(super) kit: &'a Kit,
    pub(super) request: &'a Request,
    /// The user to become, where the referee runs as root.
    pub(super) user: Option<u32>,
}

/// Starts the first process in its namespaces; it waits for [`go_on`].
pub(super) fn start_init(
    inside: &Inside<'_>,
    agent_stack: &mut [u8],
) -> Result<(Pid, OwnedFd), Report> {
    let namespaces = namespaces(inside)?;
    let flags = SockFlag::SOCK_CLOEXEC;
    let pair = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags);
    let (ours, theirs) = pair.map_err(begin)?;
    let handed = mounts::hand_over(&inside.request.program, inside.user);
    let mut stack = vec![0; STACK_BYTES];
    let init =
        sys::clone_into(namespaces, &mut stack, || run(inside, &handed, &theirs, agent_stack));
    // The first thing that can be missing: everything else needs it.
    let init = init.map_err(|errno| broken(Layer::UserNs, errno))?;
    Ok((init, ours))
}

fn namespaces(inside: &Inside<'_>) -> Result<CloneFlags, Report> {
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
        flags |= put_up(&inside.kit.jail, layer, || Ok(flag))?.unwrap_or(CloneFlags::empty());
    }
    Ok(flags)
}

/// Makes the user of the agent known in the namespace of the first process: under its own number,
/// and nobody else.
pub(super) fn map_user(init: Pid, id: Uid) -> nix::Result<()> {
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

/// An agent's own user has a group of the same number; else it is the caller's.
fn group_of(id: Uid) -> u32 {
    if id == nix::unistd::getuid() { nix::unistd::getgid().as_raw() } else { id.as_raw() }
}

/// Lets the first process go on, and waits until the agent's program runs.
pub(super) fn go_on(socket: &OwnedFd) -> Result<(), Report> {
    let lost = || begin(Errno::ECHILD);
    nix::unistd::write(socket, &[1]).map_err(|_| lost())?;
    match said(socket, true).ok_or_else(lost)? {
        Report::Started { .. } => Ok(()),
        failure => Err(failure),
    }
}

/// What the first process has said; with `wait`, what it is about to say.
pub(super) fn said(socket: &OwnedFd, wait: bool) -> Option<Report> {
    let mut bytes = [0; REPORT_BYTES];
    let flags = if wait { MsgFlags::empty() } else { MsgFlags::MSG_DONTWAIT };
    loop {
        match recv(socket.as_raw_fd(), &mut bytes, flags) {
            Ok(count) => return serde_json::from_slice(&bytes[..count]).ok(),
            Err(Errno::EINTR) => {}
            Err(_) => return None,
        }
    }
}

/// The life of the first process.
fn run(inside: &Inside<'_>, handed: &Handed, socket: &OwnedFd, stack: &mut [u8]) -> isize {
    let say = |report: Report| {
        send(socket.as_raw_fd(), &report.to_bytes(), MsgFlags::MSG_NOSIGNAL).is_ok()
    };
    if !is_told(socket) {
        return 1;
    }
    let started = prepare(inside, handed).and_then(|guards| start(inside.request, &guards, stack));
    let agent = match started {
        Ok(agent) => agent,
        Err(failure) => {
            say(failure);
            return 1;
        }
    };
    // None is reaped before the supervisor has seen it: it looks for the agent among the children.
    if !say(Report::Started { pid: agent.as_raw(), reaped_us: 0 }) || !is_told(socket) {
        return 1;
    }
    // Nobody else may keep the agent's pipes open, nor what the supervisor has.
    sys::close_all_but(socket.as_fd());
    loop {
        match sys::next_ended(true) {
            Ended::One(pid, status) if pid == agent => {
                say(Report::Exited(status));
            }
            Ended::One(..) | Ended::NotYet => {}
            Ended::NoneLeft => return 0,
        }
    }
}

/// Waits for the supervisor's word; false if that is gone.
fn is_told(socket: &OwnedFd) -> bool {
    let mut byte = [0];
    loop {
        match nix::unistd::read(socket, &mut byte) {
            Err(Errno::EINTR) => {}
            result => return result == Ok(1),
        }
    }
}

/// Makes the surroundings.
fn prepare<'a>(inside: &'a Inside<'_>, handed: &Handed) -> Result<Guards<'a>, Report> {
    let Inside { kit, request, user } = inside;
    let jail = &kit.jail;
    if let Some(user) = *user {
        put_up(jail, Layer::User, || sys::become_user(user))?;
    }
    // With its supervisor, which has one thread and lives as long as it is needed, goes all of it.
    // A change of user would undo this.
    let dependent = prctl::set_pdeathsig(Signal::SIGKILL).and_then(|()| prctl::set_dumpable(false));
    dependent.map_err(begin)?;
    // Never anywhere but in mounts of its own.
    let arranged = put_up(jail, Layer::Mounts, || mounts::arrange(&request.program, handed))?;
    if arranged.is_some() {
        put_up(jail, Layer::PidNs, mounts::show_own_processes)?;
    }
    put_up(jail, Layer::NoNewPrivileges, prctl::set_no_new_privs)?;
    let own = jail.layers.has(Layer::Mounts) && jail.layers.has(Layer::PidNs);
    let domain = layers::domain(jail, &request.program.reach, own)?;
    Ok(Guards { kit, domain, user: None, inside: true })
}
