//! Applying the sandbox's layers, each with its name in errors.

use super::sys;
use super::wire::{Bytes, InjectedFailure, LauncherConfig, Reach, Report, Step, USERS};
use crate::sandbox::Layer;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, major, minor, stat};
use nix::unistd::{Pid, getpid};
use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

/// The Landlock version that is required: it added devices in 5 and scopes in 6.
const LANDLOCK: ABI = ABI::V6;

/// Applies a layer if it is configured. Allocates no memory.
pub(super) fn apply_layer<T>(
    config: &LauncherConfig,
    layer: Layer,
    act: impl FnOnce() -> nix::Result<T>,
) -> Result<Option<T>, Report> {
    if !config.layers.has(layer) {
        return Ok(None);
    }
    let done = match config.injected_failure {
        Some(InjectedFailure::Silent(it)) if it == layer => Ok(None),
        Some(InjectedFailure::Missing(it)) if it == layer => Err(Errno::ENOSYS),
        Some(InjectedFailure::Killed(it)) if it == layer => {
            kill(getpid(), Signal::SIGKILL).ok();
            // The first process of a namespace can't kill itself by a signal.
            std::process::abort()
        }
        _ => act().map(Some),
    };
    done.map_err(|errno| layer_failure(layer, errno))
}

/// Returns the report that a layer can't be applied.
pub(super) fn layer_failure(layer: Layer, errno: Errno) -> Report {
    Report::Broken(Step::Layer(layer), errno as i32)
}

/// Returns the report of a failure before any layer.
pub(super) fn setup_failure(errno: Errno) -> Report {
    Report::Broken(Step::Begin, errno as i32)
}

/// Enters a Landlock domain for a supervisor and all its descendants: their signals reach no
/// process outside.
pub(super) fn enter_scope() -> nix::Result<()> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::from_all(LANDLOCK))
        .and_then(Ruleset::create);
    sys::landlock_enter(descriptor(ruleset)?.as_fd())
}

/// Whether signals are known to stay within the domain: one to the launcher, which has the same
/// user, is refused. No signal is sent to all processes before this is known.
pub(super) fn is_bounded(launcher: Pid) -> bool {
    nix::unistd::getppid() == launcher && kill(launcher, None) == Err(Errno::EPERM)
}

fn descriptor<E>(ruleset: Result<RulesetCreated, E>) -> nix::Result<OwnedFd> {
    // The only possible error is that the kernel doesn't support what is asked for.
    Option::from(ruleset.map_err(|_| Errno::ENOSYS)?).ok_or(Errno::ENOSYS)
}

/// What an agent may read and list, opened.
pub(super) struct OpenReach {
    read: Vec<Bytes>,
    list: Vec<Bytes>,
    /// What can be opened: the agent can't read the rest either.
    files: Vec<OpenFile>,
    /// All paths that could be replaced, with what they were; `None` for what couldn't be opened.
    replaceable: Vec<(CString, Option<Identity>)>,
}

struct OpenFile {
    file: OwnedFd,
    access: BitFlags<AccessFs>,
}

/// The numbers of a file's device and inode.
type Identity = (u64, u64);

fn identity(file: &FileStat) -> Identity {
    (file.st_dev, file.st_ino)
}

impl OpenReach {
    pub(super) fn of(reach: &Reach) -> Self {
        let (mut files, mut replaceable) = (Vec::new(), Vec::new());
        let mut open = |path: &Bytes, access: fn(&FileStat) -> BitFlags<AccessFs>| {
            let file = sys::open_readable(path.as_path()).ok();
            let opened = file.and_then(|file| Some((fstat(&file).ok()?, file)));
            // The kernel's own files are never replaced.
            let is_kernel = ["/proc", "/sys"].iter().any(|it| path.as_path().starts_with(it));
            if !is_kernel && let Ok(name) = CString::new(path.0.clone()) {
                replaceable.push((name, opened.as_ref().map(|(seen, _)| identity(seen))));
            }
            files.extend(opened.map(|(seen, file)| OpenFile { file, access: access(&seen) }));
        };
        reach.read.iter().for_each(|path| open(path, readable));
        reach.list.iter().for_each(|path| open(path, |_| AccessFs::ReadDir.into()));
        Self { read: reach.read.clone(), list: reach.list.clone(), files, replaceable }
    }

    /// Whether it is what would be opened now: nothing has been replaced since.
    pub(super) fn is_current(&self, reach: &Reach) -> bool {
        let is_same = |(path, before): &(CString, Option<Identity>)| {
            stat(path.as_c_str()).ok().as_ref().map(identity) == *before
        };
        (&self.read, &self.list) == (&reach.read, &reach.list)
            && self.replaceable.iter().all(is_same)
    }
}

/// Makes an agent's Landlock domain, which the agent enters: it reads and executes what `open`
/// has, writes to its work folder, and has no TCP, signals or abstract sockets to the outside. With
/// `own`, `/proc`, `/tmp` and `/dev/shm` are its own and are allowed too; otherwise the agent
/// allows itself `/proc/self`. `None` if the layer isn't configured.
pub(super) fn domain(
    config: &LauncherConfig,
    reach: &Reach,
    open: Option<&OpenReach>,
    own: bool,
) -> Result<Option<OwnedFd>, Report> {
    let wanted = config.layers.has(Layer::Landlock);
    let made = wanted.then(|| ruleset(reach, open.ok_or(Errno::ENOENT)?, own)).transpose();
    made.map_err(|errno| layer_failure(Layer::Landlock, errno))
}

fn ruleset(reach: &Reach, open: &OpenReach, own: bool) -> nix::Result<OwnedFd> {
    let with_network = |ruleset: Ruleset| {
        if reach.network {
            Ok(ruleset)
        } else {
            ruleset.handle_access(AccessNet::from_all(LANDLOCK))
        }
    };
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LANDLOCK))
        .and_then(with_network)
        .and_then(|ruleset| ruleset.scope(Scope::from_all(LANDLOCK)))
        .and_then(Ruleset::create)
        .map_err(|_| Errno::ENOSYS)?;
    for OpenFile { file, access } in &open.files {
        let rule = PathBeneath::new(file, *access);
        ruleset = ruleset.add_rule(rule).map_err(|_| Errno::EINVAL)?;
    }
    let writable = AccessFs::from_all(LANDLOCK) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    for folder in std::iter::once(&reach.work).chain(&reach.write) {
        ruleset = allow(ruleset, folder, |_| writable)?;
    }
    if own {
        ruleset = allow(ruleset, &Bytes::of("/proc"), readable)?;
        for folder in ["/tmp", "/dev/shm"] {
            ruleset = allow(ruleset, &Bytes::of(folder), |_| writable)?;
        }
    }
    descriptor::<Errno>(Ok(ruleset))
}

/// The numbers of `null`, `zero`, `full`, `random` and `urandom` among the devices of memory.
const WRITABLE_DEVICES: [u64; 5] = [3, 5, 7, 8, 9];

/// Returns what is allowed on a readable file, folder or device. Only devices without anyone's data may
/// be written to: a terminal never, if it is granted.
fn readable(file: &FileStat) -> BitFlags<AccessFs> {
    let (major, minor) = (major(file.st_rdev), minor(file.st_rdev));
    match SFlag::from_bits_truncate(file.st_mode & SFlag::S_IFMT.bits()) {
        SFlag::S_IFDIR => AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute,
        SFlag::S_IFCHR if major == 1 && WRITABLE_DEVICES.contains(&minor) => {
            AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev
        }
        SFlag::S_IFREG => AccessFs::ReadFile | AccessFs::Execute,
        _ => AccessFs::ReadFile.into(),
    }
}

/// Adds a path to a ruleset. One that can't be opened can't be read by the agent either, and is skipped.
fn allow(
    ruleset: RulesetCreated,
    path: &Bytes,
    access: impl Fn(&FileStat) -> BitFlags<AccessFs>,
) -> nix::Result<RulesetCreated> {
    let Ok(file) = PathFd::new(path.as_path()) else { return Ok(ruleset) };
    let access = access(&fstat(&file)?);
    ruleset.add_rule(PathBeneath::new(file, access)).map_err(|_| Errno::EINVAL)
}

/// Allows a domain, before it is entered, to read `/proc/self`. Allocates no memory.
pub(super) fn allow_own_process(domain: &OwnedFd) -> nix::Result<()> {
    let flags = nix::fcntl::OFlag::O_PATH | nix::fcntl::OFlag::O_CLOEXEC;
    let folder = nix::fcntl::open(c"/proc/self", flags, Mode::empty())?;
    let allowed = AccessFs::ReadFile | AccessFs::ReadDir;
    sys::landlock_allow(domain.as_fd(), folder.as_fd(), allowed.bits())
}

/// A user ID that no other agent has; reserved as long as the file is open.
#[derive(Debug)]
pub(super) struct User {
    pub(super) number: u32,
    _held: File,
}

/// Where lock files of reserved user IDs are, in a folder that only root may enter, so that no one
/// else can lock them.
const LOCKS: [&str; 2] = ["/run/referee-users", "/tmp/referee-users"];

/// Returns the first folder for locks that can be used.
fn locks() -> nix::Result<&'static Path> {
    let is_ours = |folder: &&Path| {
        std::fs::DirBuilder::new().mode(0o700).create(folder).ok();
        std::fs::symlink_metadata(folder)
            .is_ok_and(|it| it.is_dir() && it.uid() == 0 && it.mode() & 0o777 == 0o700)
    };
    LOCKS.iter().map(Path::new).find(is_ours).ok_or(Errno::EROFS)
}

impl User {
    /// Reserves a free user ID, the `nth` if possible. Other referees see the lock.
    pub(super) fn take(nth: u32) -> nix::Result<Self> {
        let locks = locks()?;
        let count = USERS.end() - USERS.start() + 1;
        let known = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let is_known = |number: u32| {
            known.lines().any(|line| line.split(':').nth(2) == Some(number.to_string().as_str()))
        };
        let numbers = (0..count).map(|step| USERS.start() + (nth + step) % count);
        for number in numbers.filter(|&number| !is_known(number)) {
            let file = File::create(locks.join(number.to_string()))
                .map_err(|error| sys::number(&error))?;
            if file.try_lock().is_ok() && !runs_anything(number) {
                return Ok(Self { number, _held: file });
            }
        }
        Err(Errno::EAGAIN)
    }
}

/// Whether any process has this user ID.
fn runs_anything(user: u32) -> bool {
    let Ok(entries) = std::fs::read_dir("/proc") else { return false };
    entries.flatten().any(|entry| {
        entry.file_name().as_bytes().first().is_some_and(u8::is_ascii_digit)
            && entry.metadata().is_ok_and(|it| it.uid() == user)
    })
}
