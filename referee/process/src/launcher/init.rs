//! The first process (init) of an agent's own namespaces: prepares them, starts the agent, and
//! reaps orphans. When it ends, the kernel kills everything in its process namespace.

use super::image::{Confinement, start};
use super::layers::{self, apply_layer, layer_failure, setup_failure};
use super::mounts::{self, DetachedMounts};
use super::process::{Request, SharedSetup};
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

/// The init's stack; it does more than make system calls.
const STACK_BYTES: usize = 512 * 1024;

/// What an init needs.
pub(super) struct NamespaceStart<'a> {
    pub(super) shared: &'a SharedSetup,
    pub(super) request: &'a Request,
    /// The user to become, if the referee runs as root.
    pub(super) user: Option<u32>,
}

/// Starts the init in its namespaces; it waits for [`go_on`].
pub(super) fn start_init(
    inside: &NamespaceStart<'_>,
    agent_stack: &mut [u8],
) -> Result<(Pid, OwnedFd), Report> {
    let namespaces = namespaces(inside)?;
    let flags = SockFlag::SOCK_CLOEXEC;
    let pair = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags);
    let (ours, theirs) = pair.map_err(setup_failure)?;
    let detached = mounts::detach_mounts(&inside.request.program, inside.user);
    let mut stack = vec![0; STACK_BYTES];
    let init =
        sys::clone_into(namespaces, &mut stack, || run(inside, &detached, &theirs, agent_stack));
    // Every other layer needs this one.
    let init = init.map_err(|errno| layer_failure(Layer::UserNs, errno))?;
    Ok((init, ours))
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

/// Returns a user's group: an agent's own user has one of the same number, otherwise it is the caller's.
fn group_of(id: Uid) -> u32 {
    if id == nix::unistd::getuid() { nix::unistd::getgid().as_raw() } else { id.as_raw() }
}

/// Lets the init continue, and waits until the agent's program runs.
pub(super) fn go_on(socket: &OwnedFd) -> Result<(), Report> {
    let lost = || setup_failure(Errno::ECHILD);
    nix::unistd::write(socket, &[1]).map_err(|_| lost())?;
    match receive_report(socket, true).ok_or_else(lost)? {
        Report::Started { .. } => Ok(()),
        failure => Err(failure),
    }
}

/// Receives a report of the init; with `wait`, blocks until there is one.
pub(super) fn receive_report(socket: &OwnedFd, wait: bool) -> Option<Report> {
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

/// Runs the init.
fn run(
    inside: &NamespaceStart<'_>,
    detached: &DetachedMounts,
    socket: &OwnedFd,
    stack: &mut [u8],
) -> isize {
    let say = |report: Report| {
        send(socket.as_raw_fd(), &report.to_bytes(), MsgFlags::MSG_NOSIGNAL).is_ok()
    };
    if !wait_for_go(socket) {
        return 1;
    }
    let started = prepare(inside, detached)
        .and_then(|confinement| start(inside.request, &confinement, stack));
    let agent = match started {
        Ok(agent) => agent,
        Err(failure) => {
            say(failure);
            return 1;
        }
    };
    // Nothing is reaped before the supervisor has found the agent among the children.
    if !say(Report::Started { pid: agent.as_raw(), reaped_us: 0 }) || !wait_for_go(socket) {
        return 1;
    }
    // No one else may keep the agent's pipes open, nor the supervisor's files.
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

/// Waits for the supervisor's go; false if the supervisor is gone.
fn wait_for_go(socket: &OwnedFd) -> bool {
    let mut byte = [0];
    loop {
        match nix::unistd::read(socket, &mut byte) {
            Err(Errno::EINTR) => {}
            result => return result == Ok(1),
        }
    }
}

/// Applies the layers that come before the agent's own process.
fn prepare<'a>(
    inside: &'a NamespaceStart<'_>,
    detached: &DetachedMounts,
) -> Result<Confinement<'a>, Report> {
    let NamespaceStart { shared, request, user } = inside;
    let config = &shared.config;
    if let Some(user) = *user {
        apply_layer(config, Layer::User, || sys::become_user(user))?;
    }
    // The init dies with its supervisor, which is single-threaded and lives as long as it is
    // needed. Changing the user would reset this.
    let dependent = prctl::set_pdeathsig(Signal::SIGKILL).and_then(|()| prctl::set_dumpable(false));
    dependent.map_err(setup_failure)?;
    // Only ever in its own mount namespace.
    let arranged =
        apply_layer(config, Layer::Mounts, || mounts::arrange(&request.program, detached))?;
    if arranged.is_some() {
        apply_layer(config, Layer::PidNs, mounts::show_own_processes)?;
    }
    apply_layer(config, Layer::NoNewPrivileges, prctl::set_no_new_privs)?;
    let own = config.layers.has(Layer::Mounts) && config.layers.has(Layer::PidNs);
    let domain = layers::domain(config, &request.program.conditions.reach, own)?;
    Ok(Confinement { shared, domain, user: None, inside: true })
}
