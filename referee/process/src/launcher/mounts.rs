//! An agent's own view of the file system: private, bounded `/tmp`, `/dev/shm` and work folder, its
//! own `/proc`, and the files that it may read below covered folders.

use super::sys;
use super::wire::{Bytes, Program, USERS_GROUP};
use crate::work_folder::{OWN_TMP, State, state_of};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::mount::{MsFlags, mount};
use nix::sys::stat::Mode;
use nix::sys::statvfs::statvfs;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Folders that every agent has for itself.
const PRIVATE: &[&str] = &[OWN_TMP, "/dev/shm"];
/// Files and folders in a private file system, per MiB.
const ENTRIES_PER_MB: u64 = 256;

/// What a supervisor with root rights prepares for an agent's own user, which could not get there:
/// folders that are closed to others, and detached mounts of what the agent may read below them.
#[derive(Debug, Default)]
pub(super) struct DetachedMounts {
    closed: Vec<PathBuf>,
    mounts: Vec<(PathBuf, OwnedFd)>,
}

/// Detaches mounts of what the agent's user couldn't reach.
pub(super) fn detach_mounts(program: &Program, user: Option<u32>) -> DetachedMounts {
    let mut detached = DetachedMounts::default();
    if user.is_none() {
        return detached;
    }
    for path in readable(program).into_iter().flat_map(shown) {
        let Some(closed) = closed_above(&path) else { continue };
        if let Ok(mount) = sys::clone_mount(&path) {
            detached.mounts.push((path, mount));
            if !detached.closed.contains(&closed) {
                detached.closed.push(closed);
            }
        }
    }
    detached
}

/// Returns the topmost folder above a path that only its owner may enter.
fn closed_above(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).filter(|folder| lacks(folder, 0o001)).last().map(Path::to_owned)
}

/// Whether a path is a folder that only its owner may list or enter, such as those of `mktemp -d`.
fn is_private(path: &Path) -> bool {
    path.is_dir() && lacks(path, 0o005)
}

/// Whether the users that agents run as lack one of these rights.
fn lacks(path: &Path, rights: u32) -> bool {
    path.metadata().is_ok_and(|it| {
        let mode = if it.gid() == USERS_GROUP { it.mode() >> 3 } else { it.mode() };
        mode & rights != rights
    })
}

/// Returns all paths that the agent may read, without those below another. Folders that it may only list
/// are not included: a mount would show everything in them.
fn readable(program: &Program) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        program.conditions.reach.read.iter().map(|path| path.as_path().to_owned()).collect();
    paths.sort();
    // A path sorts before the paths below it.
    paths.dedup_by(|path, above| path.starts_with(above));
    paths
}

/// Returns a path, or what is in it if it is a private folder.
fn shown(path: PathBuf) -> Vec<PathBuf> {
    match path.read_dir() {
        Ok(entries) if is_private(&path) => {
            entries.flatten().map(|entry| entry.path()).filter(|path| path.exists()).collect()
        }
        _ => vec![path],
    }
}

/// What an agent's own namespaces were like before an agent ran in them.
#[derive(Debug)]
pub(super) struct Untouched {
    /// The folders in which it may write.
    folders: Vec<(PathBuf, State)>,
    /// A folder in each of their file systems, with the entries that it has room for, and the number of its next file.
    room: Vec<(PathBuf, u64, Cell<u64>)>,
    /// The lists of shared objects that the system has.
    shared_objects: Vec<File>,
    /// The number of the last process.
    last_process: File,
}

impl Untouched {
    /// Looks at the folders in which the agent may write, in a process with its own `/proc`.
    pub(super) fn of(folders: Vec<PathBuf>) -> io::Result<Self> {
        let (mut seen, mut room, mut devices) = (Vec::new(), Vec::new(), BTreeSet::new());
        let mut left = folders;
        while let Some(folder) = left.pop() {
            if seen.iter().any(|(other, _)| *other == folder) {
                continue;
            }
            let device = folder.symlink_metadata()?.dev();
            for entry in folder.read_dir()? {
                let path = entry?.path();
                let it = path.symlink_metadata()?;
                // What is mounted there isn't the agent's.
                left.extend((it.is_dir() && it.dev() == device).then_some(path));
            }
            if devices.insert(device) {
                room.push((folder.clone(), room_in(&folder)?, Cell::new(next_number(&folder)?)));
            }
            let state = state_of(&folder)?;
            seen.push((folder, state));
        }
        let open = |list: &str| match File::open(list) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            opened => Some(opened),
        };
        let shared_objects =
            SHARED_OBJECTS.into_iter().filter_map(open).collect::<Result<_, _>>()?;
        let last_process = File::options().write(true).open("/proc/sys/kernel/ns_last_pid")?;
        Ok(Self { folders: seen, room, shared_objects, last_process })
    }

    /// Returns the files that it needs.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        self.shared_objects.iter().chain([&self.last_process]).map(AsRawFd::as_raw_fd)
    }

    /// Makes the namespaces as they were, when no process of an agent is left in them; false if that
    /// can't be done, since the agent has changed something.
    pub(super) fn restore(&self) -> bool {
        let is_same =
            |(folder, state): &(PathBuf, State)| state_of(folder).is_ok_and(|now| now == *state);
        let has_room = |(folder, room, number): &(PathBuf, u64, Cell<u64>)| {
            // A file without a name changes no folder, but how the next ones are numbered.
            let last = number.get();
            let is_next = |now| now == last + 1;
            room_in(folder).is_ok_and(|now| now == *room)
                && next_number(folder).inspect(|&now| number.set(now)).is_ok_and(is_next)
        };
        // Each agent gets the same process ID.
        self.folders.iter().all(is_same)
            && self.room.iter().all(has_room)
            && self.shared_objects.iter().all(is_empty)
            && self.last_process.write_at(b"1", 0).is_ok()
    }
}

/// Returns how many more entries the file system of a folder has room for.
fn room_in(folder: &Path) -> io::Result<u64> {
    Ok(statvfs(folder)?.files_free())
}

/// Makes a file without a name, and returns its number.
fn next_number(folder: &Path) -> io::Result<u64> {
    let file = open(folder, OFlag::O_TMPFILE | OFlag::O_RDWR | OFlag::O_CLOEXEC, Mode::S_IRUSR)?;
    Ok(File::from(file).metadata()?.ino())
}

/// Lists of shared memory, semaphores and message queues, each with a heading.
const SHARED_OBJECTS: [&str; 3] = ["/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg"];

/// Whether such a list has only its heading.
fn is_empty(list: &File) -> bool {
    let mut text = [0; 1024];
    let count = list.read_at(&mut text, 0);
    count.is_ok_and(|count| String::from_utf8_lossy(&text[..count]).lines().count() <= 1)
}

/// Sets up the mounts of this process's namespace; returns the folders that are the agent's own.
pub(super) fn arrange(program: &Program, detached: &DetachedMounts) -> nix::Result<Vec<PathBuf>> {
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
    let write = program.conditions.reach.write.as_ref().map(Bytes::as_path);
    let writable = write.map(sys::clone_writable_mount).transpose()?;
    // Everything becomes read-only; only what is mounted from here on can be written to.
    let root = open("/", OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty())?;
    sys::read_only(root.as_fd())?;
    let work = program.conditions.reach.work.as_path();
    // What is in a private folder has been detached.
    let mut wanted = readable(program);
    wanted.retain(|path| !detached.closed.contains(path));
    // A folder that the agent may read can't be covered.
    let is_free = |folder: &Path| !wanted.iter().any(|path| folder.starts_with(path));
    let private = PRIVATE.iter().map(Path::new).filter(|folder| folder.is_dir());
    let mut covers: Vec<&Path> =
        private.chain(detached.closed.iter().map(PathBuf::as_path)).collect();
    covers.retain(|folder| is_free(folder));
    // A folder below a covered one is covered with it.
    let all = covers.clone();
    let lies_below = |folder: &Path, above: &Path| folder != above && folder.starts_with(above);
    covers.retain(|folder| !all.iter().any(|above| lies_below(folder, above)));
    let is_covered = |path: &Path| covers.iter().any(|cover| path.starts_with(cover));
    // Before anything is covered: paths below that have not been detached yet.
    let mut mounts: Vec<(&Path, OwnedFd)> = Vec::new();
    let is_detached = |path: &Path| detached.mounts.iter().any(|(detached, _)| detached == path);
    for path in wanted.iter().filter(|path| is_covered(path) && !is_detached(path)) {
        match sys::clone_mount(path) {
            // Its author has exchanged or removed it meanwhile: the agent can't read it.
            Err(Errno::ELOOP | Errno::ENOENT | Errno::ENOTDIR) => {}
            mount => mounts.push((path, mount?)),
        }
    }
    for cover in &covers {
        mount_private(cover, program.conditions.limits.work_mb)?;
    }
    for (path, mount) in mounts
        .iter()
        .map(|(path, mount)| (*path, mount))
        .chain(detached.mounts.iter().map(|(path, mount)| (path.as_path(), mount)))
    {
        place(path, mount)?;
    }
    // A folder that it may list shows what it may read.
    for folder in
        program.conditions.reach.list.iter().map(Bytes::as_path).filter(|folder| is_covered(folder))
    {
        std::fs::create_dir_all(folder).map_err(|error| sys::number(&error))?;
    }
    for (path, mount) in write.iter().zip(&writable) {
        place(path, mount)?;
    }
    // Last, since it may be below what has just been mounted.
    if is_covered(work) && is_free(work) {
        std::fs::create_dir_all(work).map_err(|error| sys::number(&error))?;
    } else {
        mount_private(work, program.conditions.limits.work_mb)?;
    }
    // What leads to its files in a covering file system is no more for writing than they are.
    let mounted = mounts.iter().map(|(path, _)| *path);
    let mounted = mounted.chain(detached.mounts.iter().map(|(path, _)| path.as_path()));
    let listed = program.conditions.reach.list.iter().map(Bytes::as_path);
    let tops: BTreeSet<PathBuf> = mounted
        .filter_map(Path::parent)
        .chain(listed)
        .filter_map(|folder| covers.iter().find_map(|cover| below(cover, folder)))
        .collect();
    let own = [Some(work), write].into_iter().flatten();
    let own = own.filter(|own| tops.iter().any(|top| own.starts_with(top)));
    let own = own.map(|own| Ok((own, sys::clone_writable_mount(own)?)));
    let own: Vec<(&Path, OwnedFd)> = own.collect::<nix::Result<_>>()?;
    for top in &tops {
        place(top, &sys::clone_mount(top)?)?;
    }
    for (path, mount) in &own {
        place(path, mount)?;
    }
    Ok(covers.iter().copied().chain([work]).map(Path::to_owned).collect())
}

/// Returns what is directly in a folder and leads to a path below it, or is that.
fn below(folder: &Path, path: &Path) -> Option<PathBuf> {
    Some(folder.join(path.strip_prefix(folder).ok()?.components().next()?))
}

/// Mounts a `/proc` that shows only the processes in this namespace.
pub(super) fn show_own_processes() -> nix::Result<()> {
    let none: Option<&str> = None;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, none)
}

/// How many watchers of files (`inotify`) may be open in a user namespace. The limit of the user, whom
/// agents may share, is 128 by default.
const WATCHERS_MAX: &str = "8";

/// Limits what all processes of a user together have few of, in this user namespace.
pub(super) fn limit_watchers() -> nix::Result<()> {
    match std::fs::write("/proc/sys/user/max_inotify_instances", WATCHERS_MAX) {
        // The kernel was built without them.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        written => written.map_err(|error| sys::number(&error)),
    }
}

/// Mounts a file system in memory, bounded in bytes and entries.
fn mount_private(folder: &Path, mb: u64) -> nix::Result<()> {
    // Without times of access, which the next agent would see.
    let options = format!("size={mb}m,nr_inodes={},mode=0755", (mb * ENTRIES_PER_MB).max(64));
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOATIME;
    mount(Some("tmpfs"), folder, Some("tmpfs"), flags, Some(options.as_str()))
}

/// Attaches a detached mount at its path, in what covers it.
fn place(path: &Path, mount: &OwnedFd) -> nix::Result<()> {
    let is_folder = nix::sys::stat::fstat(mount)?.st_mode & libc::S_IFMT == libc::S_IFDIR;
    let folder = if is_folder { Some(path) } else { path.parent() };
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).map_err(|error| sys::number(&error))?;
    }
    if !is_folder {
        File::create(path).map_err(|error| sys::number(&error))?;
    }
    sys::place_mount(mount.as_fd(), path)
}
