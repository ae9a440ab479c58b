//! What an agent's tree holds in memory that the kernel doesn't count as memory of a process: files that are
//! only there, whether they are open, mapped, executed or in file systems of its own; unread data in pipes and
//! sockets, what is watched by `epoll`, and locks on files.

use super::sys;
use super::watchdog::folders_of;
use crate::files::unescaped;
use crate::usage::proc_text;
use nix::fcntl::{FcntlArg, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::{fstat, major, makedev, minor};
use nix::sys::statvfs::statvfs;
use nix::unistd::Pid;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{File, Metadata, metadata, read_dir, read_link};
use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Link targets of open files that are in memory only: made by `memfd_create`, or shared.
const IN_MEMORY: [&str; 3] = ["/memfd:", SHARED, "/SYSV"];
/// Where files are that are in memory only, and have names.
const SHARED: &str = "/dev/shm/";
/// What a file in memory takes without any data, in KiB.
const FILE_KIB: u64 = 1;
/// What a file counts that can't be looked at, in KiB: a little more than a pipe or a socket holds by
/// default.
const UNSEEN_KIB: u64 = 256;
/// What a socket takes without any data, in KiB.
const SOCKET_KIB: u64 = 4;
/// What a file counts that `epoll` watches, in KiB. It takes a tenth of that, but all processes of a
/// user together may watch only as many as fit into a 25th of the machine's memory. Counted like
/// this, an agent has used up its own memory before it has used up those.
const WATCH_KIB: u64 = 4;
/// How many locks on files use up an agent's memory. They take 2 MB, which no control group counts, but the kernel looks
/// at all of a file's locks for each, and lists ten thousand in 70 ms. A database has a few.
pub(super) const LOCKS_MAX: u64 = 10_000;

/// How many locks a file counts that can't be looked at.
const UNSEEN_LOCKS: u64 = LOCKS_MAX / 64;

/// What is held, in KiB.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    /// Files in memory. What is mapped of them counts as shared memory of processes too.
    pub(super) files: u64,
    /// Unread data, and what is watched.
    pub(super) buffers: u64,
    /// The number of locks.
    pub(super) locks: u64,
}

/// The numbers of a file's device and inode.
type FileId = (u64, u64);

/// Looks at what one tree holds.
#[derive(Debug, Default)]
pub(super) struct HeldMemory {
    /// The files in memory that are open or mapped, and how much each held, in KiB. That of a file which isn't open
    /// is the most that was seen, unless this process may look at mapped files.
    files: HashMap<FileId, u64>,
    /// The file systems in memory that only the tree has, by their devices; `None` before the first look.
    own: Option<HashMap<u64, PathBuf>>,
    /// The device of the kernel's own file system for shared memory, as lists of mappings have it.
    nameless: Option<String>,
}

impl HeldMemory {
    /// Looks at each file once. Stops when they hold more than `most`.
    pub(super) fn look(&mut self, tree: &[Pid], most: u64) -> Held {
        let before = std::mem::take(&mut self.files);
        self.nameless = self.nameless.take().or_else(nameless_device);
        let mut held = Held { files: self.in_own_systems(tree), ..Held::default() };
        let is_enough = |held: &Held| held.files + held.buffers > most || held.locks > LOCKS_MAX;
        let (mut seen, mut folders) = (HashSet::new(), Vec::new());
        for &pid in tree {
            let folder = folders_of(pid).find(|folder| {
                read_dir(folder.join("fd")).is_ok_and(|mut entries| entries.next().is_some())
            });
            let Some(folder) = folder else {
                let files = hidden(pid);
                held.buffers += files * UNSEEN_KIB;
                held.locks += files * UNSEEN_LOCKS;
                continue;
            };
            let mut process = None;
            for entry in read_dir(folder.join("fd")).into_iter().flatten().flatten() {
                if is_enough(&held) {
                    return held;
                }
                let (path, number) = (entry.path(), entry.file_name());
                let kind = read_link(&path).ok().and_then(|link| Kind::of(&link));
                let about = FileInfo::of(&folder.join("fdinfo").join(&number));
                held.locks += about.as_ref().map_or(0, |about| about.locks);
                let is_named_pipe = || sys::is_pipe(&path).then_some(Kind::Pipe);
                let Some(kind) = kind.or_else(is_named_pipe) else { continue };
                if kind == Kind::Watches {
                    held.buffers += about.map_or(UNSEEN_KIB, |about| about.watched * WATCH_KIB);
                } else if let Ok(about) = metadata(&path)
                    && seen.insert((about.dev(), about.ino()))
                {
                    let take = || {
                        let process = process.get_or_insert_with(|| sys::process_handle(pid));
                        let number = number.to_str()?.parse().ok()?;
                        sys::take_file(process.as_ref().ok()?.as_fd(), number).ok()
                    };
                    match kind {
                        Kind::File => held.files += self.add((about.dev(), about.ino()), &about),
                        _ => held.buffers += kind.buffers(take),
                    }
                }
            }
            held.files += self.executed(&folder);
            folders.push(folder);
        }
        let mut resident = HashMap::new();
        for folder in folders {
            if is_enough(&held) {
                return held;
            }
            held.files += self.mapped(&folder, &mut resident);
        }
        for (file, kib) in resident {
            let most = before.get(&file).map_or(kib, |&before| kib.max(before));
            self.files.insert(file, most);
            held.files += most + FILE_KIB;
        }
        held
    }

    /// Adds a file unless its file system counts, and returns what it holds.
    fn add(&mut self, file: FileId, about: &Metadata) -> u64 {
        if self.is_own(file) {
            return 0;
        }
        let kib = about.blocks() / 2;
        self.files.insert(file, kib);
        kib + FILE_KIB
    }

    /// Adds the program that a process executes if that is a file in memory, and returns what it holds: it need be
    /// neither open nor mapped.
    fn executed(&mut self, folder: &Path) -> u64 {
        let program = folder.join("exe");
        let kind = read_link(&program).ok().and_then(|link| Kind::of(&link));
        let about = kind.and_then(|_| metadata(&program).ok());
        let about = about.filter(|it| !self.files.contains_key(&(it.dev(), it.ino())));
        about.map_or(0, |about| self.add((about.dev(), about.ino()), &about))
    }

    /// Whether it is in a file system that counts as a whole.
    fn is_own(&self, file: FileId) -> bool {
        self.own.as_ref().is_some_and(|own| own.contains_key(&file.0))
    }

    /// Returns what the tree's own file systems hold.
    fn in_own_systems(&mut self, tree: &[Pid]) -> u64 {
        let Some(folder) = tree.iter().flat_map(|&pid| folders_of(pid)).find(|folder| {
            // Of a thread that has ended it leads nowhere.
            metadata(folder.join("root")).is_ok()
        }) else {
            return 0;
        };
        self.own = self.own.take().or_else(|| own_systems(&folder));
        let held = self.own.iter().flat_map(HashMap::values).filter_map(|path| {
            let path = folder.join("root").join(path.strip_prefix("/").ok()?);
            let system = statvfs(&path).ok()?;
            let blocks = system.blocks().saturating_sub(system.blocks_free());
            let files = system.files().saturating_sub(system.files_free());
            Some(blocks * system.fragment_size() / 1024 + files * FILE_KIB)
        });
        held.sum()
    }

    /// Adds the files in memory that a process has mapped, and that none has open, and returns what they hold. Only
    /// root may look at them; for others `resident` gets what of them is in the process's memory now.
    fn mapped(&mut self, folder: &Path, resident: &mut HashMap<FileId, u64>) -> u64 {
        let (mut kib, mut is_hidden) = (0, false);
        let nameless = self.nameless.clone();
        for_each_line(&folder.join("maps"), |line| {
            if let Some((range, file)) = mapping(line, nameless.as_deref())
                && !self.files.contains_key(&file)
                && !self.is_own(file)
            {
                match metadata(folder.join("map_files").join(range)) {
                    Ok(about) => kib += self.add(file, &about),
                    Err(_) => is_hidden = true,
                }
            }
        });
        if !is_hidden {
            return kib;
        }
        let (mut current, mut its) = (None, HashMap::new());
        for_each_line(&folder.join("smaps"), |line| {
            if matches!(line.first(), Some(b'0'..=b'9' | b'a'..=b'f')) {
                let mapping = mapping(line, nameless.as_deref()).map(|(_, file)| file);
                current =
                    mapping.filter(|file| !self.files.contains_key(file) && !self.is_own(*file));
            } else if let (Some(file), Some(size)) = (current, line.strip_prefix(b"Rss:")) {
                let size = std::str::from_utf8(size).ok();
                let size = size.and_then(|it| it.split_ascii_whitespace().next()?.parse().ok());
                *its.entry(file).or_insert(0) += size.unwrap_or(0);
            }
        });
        for (file, size) in its {
            let most = resident.entry(file).or_insert(size);
            *most = size.max(*most);
        }
        kib
    }
}

/// Calls `act` with each line of a file, without its end; `None` if it can't be opened.
fn for_each_line(path: &Path, mut act: impl FnMut(&[u8])) -> Option<()> {
    let (mut file, mut line) = (BufReader::new(File::open(path).ok()?), Vec::new());
    while file.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        act(line.trim_ascii_end());
        line.clear();
    }
    Some(())
}

/// Returns the name among `map_files`, and the file, of a mapping of a file in memory, by its line in `maps`:
/// `7f3a000-7f3b000 rw-s 00000000 00:01 1034    /dev/zero (deleted)`. A program may choose another name.
fn mapping<'a>(line: &'a [u8], nameless: Option<&str>) -> Option<(&'a OsStr, FileId)> {
    let mut words = line.split(|&byte| byte == b' ');
    let range = words.next()?;
    let device = std::str::from_utf8(words.nth(2)?).ok()?;
    let inode = words.next()?;
    let is_shared = || {
        let name = words.clone().find(|word| !word.is_empty());
        name.is_some_and(|name| name.starts_with(SHARED.as_bytes()))
    };
    if nameless != Some(device) && !is_shared() {
        return None;
    }
    let (major, minor) = device.split_once(':')?;
    let number = |digits| u64::from_str_radix(digits, 16).ok();
    let device = makedev(number(major)?, number(minor)?);
    let inode = std::str::from_utf8(inode).ok()?.parse().ok()?;
    let range = std::str::from_utf8(range).ok()?.trim_start_matches('0');
    Some((OsStr::new(range), (device, inode)))
}

/// Returns the device of shared memory without a name, as lists of mappings have it.
fn nameless_device() -> Option<String> {
    let file = memfd_create(c"device", MFdFlags::MFD_CLOEXEC).ok()?;
    let device = fstat(&file).ok()?.st_dev;
    Some(format!("{:02x}:{:02x}", major(device), minor(device)))
}

/// Returns where the file systems in memory are mounted that a process has and this one doesn't, by their devices.
fn own_systems(process: &Path) -> Option<HashMap<u64, PathBuf>> {
    let mounted = |process: &Path| {
        let list = proc_text(process.join("mountinfo"))?;
        let system = |line: &str| {
            // 35 31 0:32 /root /mount/point rw,relatime optional - tmpfs source rw
            let (place, kind) = line.split_once(" - ")?;
            let mut place = place.split(' ').skip(2);
            let (major, minor) = place.next()?.split_once(':')?;
            let device = makedev(major.parse().ok()?, minor.parse().ok()?);
            kind.starts_with("tmpfs ").then_some((device, unescaped(place.nth(1)?)))
        };
        Some(list.lines().filter_map(system).collect::<HashMap<_, _>>())
    };
    let others = mounted("/proc/self".as_ref())?;
    let mut own = mounted(process)?;
    own.retain(|device, _| !others.contains_key(device));
    Some(own)
}

/// What the kernel tells about an open file.
struct FileInfo {
    locks: u64,
    /// How many files it watches.
    watched: u64,
}

impl FileInfo {
    fn of(path: &Path) -> Option<Self> {
        let mut info = Self { locks: 0, watched: 0 };
        for_each_line(path, |line| {
            info.locks += u64::from(line.starts_with(b"lock:"));
            info.watched += u64::from(line.starts_with(b"tfd:"));
        })?;
        Some(info)
    }
}

/// Returns how many files a process has open that can't be listed. Newer kernels tell their number.
fn hidden(pid: Pid) -> u64 {
    metadata(format!("/proc/{pid}/fd")).map_or(0, |folder| folder.len())
}

/// By what an open file holds memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Pipe,
    Socket,
    Watches,
}

impl Kind {
    fn of(link: &Path) -> Option<Self> {
        let link = link.to_string_lossy();
        match &*link {
            "anon_inode:[eventpoll]" => Some(Self::Watches),
            _ if link.starts_with("pipe:") => Some(Self::Pipe),
            _ if link.starts_with("socket:") => Some(Self::Socket),
            _ => IN_MEMORY.iter().any(|start| link.starts_with(start)).then_some(Self::File),
        }
    }

    /// Returns what a pipe or a socket holds; `take` gets it from its process.
    fn buffers(self, take: impl FnOnce() -> Option<OwnedFd>) -> u64 {
        let buffers = match self {
            Self::Pipe => take().and_then(|pipe| room_of_pipe(&pipe)),
            Self::Socket => take().and_then(|socket| in_socket(&socket)),
            Self::File | Self::Watches => None,
        };
        buffers.unwrap_or(UNSEEN_KIB)
    }
}

/// Returns how much fits into a pipe. How much is in it isn't known: a byte may take a page.
fn room_of_pipe(pipe: &OwnedFd) -> Option<u64> {
    let bytes = fcntl(pipe, FcntlArg::F_GETPIPE_SZ).ok()?;
    Some(u64::try_from(bytes).ok()?.div_ceil(1024))
}

/// Returns what a socket takes with the data that was sent from it, which counts until it is read. If the
/// other end is closed, what is left of its data is not known, but how much fits.
fn in_socket(socket: &OwnedFd) -> Option<u64> {
    let memory = sys::socket_memory(socket.as_fd()).ok()?;
    let mut ends = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    poll(&mut ends, PollTimeout::ZERO).ok()?;
    let events = ends[0].revents()?;
    let left = if events.contains(PollFlags::POLLHUP) { memory.room } else { 0 };
    Some(SOCKET_KIB + (memory.taken + left).div_ceil(1024))
}
