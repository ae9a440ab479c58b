//! Putting up layers, each with its name on what goes wrong.

use super::sys;
use super::wire::{Bytes, Jail, Mishap, Reach, Report, Step};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::{Mode, SFlag, fstat};
use nix::unistd::{Pid, getpid};
use referee_protocol::Layer;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

/// What the kernel has to know of Landlock: devices from 5 on, scopes from 6 on.
const LANDLOCK: ABI = ABI::V6;
/// The users of agents, where the referee runs as root: numbers that neither distributions nor
/// people give away.
pub const USERS: std::ops::RangeInclusive<u32> = 64_000..=64_999;

/// Puts up a layer, if it is to be: what came of it, or what went wrong. Takes no memory by itself.
pub(super) fn put_up<T>(
    jail: &Jail,
    layer: Layer,
    act: impl FnOnce() -> nix::Result<T>,
) -> Result<Option<T>, Report> {
    if !jail.layers.has(layer) {
        return Ok(None);
    }
    let done = match jail.mishap {
        Some(Mishap::Silent(it)) if it == layer => Ok(None),
        Some(Mishap::Missing(it)) if it == layer => Err(Errno::ENOSYS),
        Some(Mishap::Killed(it)) if it == layer => {
            kill(getpid(), Signal::SIGKILL).ok();
            // As the first process of a namespace it can't kill itself.
            std::process::abort()
        }
        _ => act().map(Some),
    };
    done.map_err(|errno| broken(layer, errno))
}

/// A layer that isn't there.
pub(super) fn broken(layer: Layer, errno: Errno) -> Report {
    Report::Broken(Step::Layer(layer), errno as i32)
}

/// What can't be begun, before any layer.
pub(super) fn begin(errno: Errno) -> Report {
    Report::Broken(Step::Begin, errno as i32)
}

/// A Landlock domain for a supervisor and all that comes of it: its signals reach nobody else.
pub(super) fn enter_scope() -> nix::Result<()> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::from_all(LANDLOCK))
        .and_then(Ruleset::create);
    sys::landlock_enter(descriptor(ruleset)?.as_fd())
}

/// Whether a signal to all is known to stay within: one to the launcher, which has the same user,
/// is refused. Nothing may be sent to all before this was seen.
pub(super) fn is_bounded(launcher: Pid) -> bool {
    nix::unistd::getppid() == launcher && kill(launcher, None) == Err(Errno::EPERM)
}

fn descriptor<E>(ruleset: Result<RulesetCreated, E>) -> nix::Result<OwnedFd> {
    // That the kernel doesn't know what is asked for is all that can be wrong.
    Option::from(ruleset.map_err(|_| Errno::ENOSYS)?).ok_or(Errno::ENOSYS)
}

/// The Landlock domain of an agent, to be entered by it: it reads and executes what `reach` has,
/// writes into its work folder, and has no TCP, no signals and no abstract sockets to the outside.
/// Where all that it sees in `/proc`, `/tmp` and `/dev/shm` is its `own`, it has that too; else it
/// allows itself `/proc/self`. None where the layer isn't wanted.
pub(super) fn domain(jail: &Jail, reach: &Reach, own: bool) -> Result<Option<OwnedFd>, Report> {
    let wanted = jail.layers.has(Layer::Landlock);
    let made = wanted.then(|| ruleset(reach, own)).transpose();
    made.map_err(|errno| broken(Layer::Landlock, errno))
}

fn ruleset(reach: &Reach, own: bool) -> nix::Result<OwnedFd> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LANDLOCK))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(LANDLOCK)))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(LANDLOCK)))
        .and_then(Ruleset::create)
        .map_err(|_| Errno::ENOSYS)?;
    for path in &reach.read {
        ruleset = allow(ruleset, path, readable)?;
    }
    for path in &reach.list {
        ruleset = allow(ruleset, path, |_| AccessFs::ReadDir.into())?;
    }
    let writable = AccessFs::from_all(LANDLOCK) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    ruleset = allow(ruleset, &reach.work, |_| writable)?;
    if own {
        ruleset = allow(ruleset, &Bytes::of("/proc"), readable)?;
        for folder in ["/tmp", "/dev/shm"] {
            ruleset = allow(ruleset, &Bytes::of(folder), |_| writable)?;
        }
    }
    descriptor::<Errno>(Ok(ruleset))
}

/// What may be done with a readable file, folder or device.
fn readable(kind: SFlag) -> BitFlags<AccessFs> {
    match kind {
        SFlag::S_IFDIR => AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute,
        SFlag::S_IFCHR => {
            AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev
        }
        _ => AccessFs::ReadFile | AccessFs::Execute,
    }
}

/// What can't be opened can't be read by the agent either, and is left out.
fn allow(
    ruleset: RulesetCreated,
    path: &Bytes,
    access: impl Fn(SFlag) -> BitFlags<AccessFs>,
) -> nix::Result<RulesetCreated> {
    let Ok(file) = PathFd::new(path.as_path()) else { return Ok(ruleset) };
    let kind = SFlag::from_bits_truncate(fstat(&file)?.st_mode & SFlag::S_IFMT.bits());
    ruleset.add_rule(PathBeneath::new(file, access(kind))).map_err(|_| Errno::EINVAL)
}

/// Lets a domain that is about to be entered read what the system tells of this process. Takes no
/// memory.
pub(super) fn allow_own_process(domain: &OwnedFd) -> nix::Result<()> {
    let flags = nix::fcntl::OFlag::O_PATH | nix::fcntl::OFlag::O_CLOEXEC;
    let folder = nix::fcntl::open(c"/proc/self", flags, Mode::empty())?;
    let allowed = AccessFs::ReadFile | AccessFs::ReadDir;
    sys::landlock_allow(domain.as_fd(), folder.as_fd(), allowed.bits())
}

/// A user that nobody else is: held as long as the file is open.
#[derive(Debug)]
pub(super) struct User {
    pub(super) number: u32,
    _held: File,
}

/// Where the files are that are locked for users that are taken, in a folder that only root may
/// enter: anybody could lock others.
const LOCKS: [&str; 2] = ["/run/referee-users", "/tmp/referee-users"];

/// The folder for locks; the first that can be had.
fn locks() -> nix::Result<&'static Path> {
    let is_ours = |folder: &&Path| {
        std::fs::DirBuilder::new().mode(0o700).create(folder).ok();
        std::fs::symlink_metadata(folder)
            .is_ok_and(|it| it.is_dir() && it.uid() == 0 && it.mode() & 0o777 == 0o700)
    };
    LOCKS.iter().map(Path::new).find(is_ours).ok_or(Errno::EROFS)
}

impl User {
    /// A free one, the `nth` if possible. Whoever else takes users in the same way sees that it is
    /// taken.
    pub(super) fn take(nth: u32) -> nix::Result<Self> {
        let locks = locks()?;
        let count = USERS.end() - USERS.start() + 1;
        let known = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let is_known = |number: u32| {
            known.lines().any(|line| line.split(':').nth(2) == Some(number.to_string().as_str()))
        };
        let numbers = (0..count).map(|step| USERS.start() + (nth + step) % count);
        for number in numbers.filter(|&number| !is_known(number) && !runs_anything(number)) {
            let file = File::create(locks.join(number.to_string()))
                .map_err(|error| sys::number(&error))?;
            if file.try_lock().is_ok() {
                return Ok(Self { number, _held: file });
            }
        }
        Err(Errno::EAGAIN)
    }
}

/// Whether a process has this user.
fn runs_anything(user: u32) -> bool {
    let Ok(entries) = std::fs::read_dir("/proc") else { return false };
    entries.flatten().any(|entry| {
        entry.file_name().as_bytes().first().is_some_and(u8::is_ascii_digit)
            && entry.metadata().is_ok_and(|it| it.uid() == user)
    })
}
