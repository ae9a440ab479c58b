//! What an agent's tree holds in memory that the kernel doesn't count as memory of a process: files that are
//! only there, whether they are open, mapped, executed or in file systems of its own; unread data in pipes and
//! sockets, what is watched by `epoll`, and locks on files.

use super::sys;
use super::watchdog::folders_of;
use crate::files::unescaped;
use crate::usage::{has_ended, proc_text};
use nix::fcntl::{FcntlArg, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::{fstat, major, makedev, minor};
use nix::sys::statfs::{
    CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC, FsType, PROC_SUPER_MAGIC,
    SECURITYFS_MAGIC, SYSFS_MAGIC, TRACEFS_MAGIC, statfs,
};
use nix::sys::statvfs::statvfs;
use nix::unistd::Pid;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, metadata, read_dir, read_link};
use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

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
/// What an open file of `/proc`, `/sys` and the like counts, in KiB: the kernel keeps the text that it has made for a reader,
/// and the longest one, that about cores and interrupts, has about this size on a large machine.
const KERNEL_TEXT_KIB: u64 = 64;
/// The same for an open folder: ext4 keeps the names of a block for a reader, up to 21 KiB.
const NAMES_KIB: u64 = 32;
/// The same for the list of the locks on an open file and of what it watches (`fdinfo`), which are lines of 60 to 120 bytes:
/// the text stays when they are gone.
const FILE_INFO_KIB: u64 = 16 * 1024;
/// The same for the list of a process's mappings: a line has the path of a file, and the text of a long one stays.
const MAPPINGS_KIB: u64 = 4 * 1024;
/// The file systems with files that the kernel makes up.
const MADE_UP: [FsType; 7] = [
    PROC_SUPER_MAGIC,
    SYSFS_MAGIC,
    CGROUP_SUPER_MAGIC,
    CGROUP2_SUPER_MAGIC,
    DEBUGFS_MAGIC,
    TRACEFS_MAGIC,
    SECURITYFS_MAGIC,
];
/// How many locks on files use up an agent's memory. They take 2 MB, which no control group counts, but the kernel looks
/// at all of a file's locks for each, and lists ten thousand in 70 ms. A database has a few.
pub(super) const LOCKS_MAX: u64 = 10_000;

/// How many locks a file counts that can't be looked at.
const UNSEEN_LOCKS: u64 = LOCKS_MAX / 64;
/// The same for a file that is under way in a socket, as only builds with the network send them: what it holds isn't known.
const SENT_LOCKS: u64 = LOCKS_MAX / 4;

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

/// A look in progress. It may take long: an agent decides how many files it has, and how long their paths are.
#[derive(Debug)]
pub(super) struct Look {
    /// What was found by now.
    pub(super) held: Held,
    /// What is left to look at, what comes first at the front.
    parts: VecDeque<Part>,
    /// The files that were open or mapped before.
    before: HashMap<FileId, u64>,
    /// The open files that were seen.
    seen: HashSet<FileId>,
    /// What is in memory now of files that may not be looked at.
    resident: HashMap<FileId, u64>,
    /// A path was longer than any that is opened by its name: it was made so that a look takes long.
    is_made_long: bool,
}

/// What a look has left.
#[derive(Debug)]
enum Part {
    /// A process.
    Process(Pid),
    /// Open files of a process, by their numbers.
    Files(PathBuf, Vec<OsString>, Pid, Option<nix::Result<OwnedFd>>),
    /// What a process has mapped, and whether some of that may not be looked at.
    Maps(PathBuf, Option<Lines>, bool),
    /// The same with what is in memory of each, for that case. The file of the last mapping, and what is known of all.
    Resident(Lines, Option<FileId>, HashMap<FileId, u64>),
}

/// How many lines are read before anything else may happen.
const LINES: usize = 64;
/// The most bytes of a line about a mapping: twice as many as a path that a program can open has, at most.
const LINE_BYTES_MAX: usize = 8192;

impl HeldMemory {
    /// Begins to look at what these processes hold, at each file once.
    pub(super) fn begin(&mut self, tree: &[Pid]) -> Look {
        self.nameless = self.nameless.take().or_else(nameless_device);
        let before = std::mem::take(&mut self.files);
        let held = Held { files: self.in_own_systems(tree), ..Held::default() };
        let parts = tree.iter().copied().map(Part::Process).collect();
        let (seen, resident) = (HashSet::new(), HashMap::new());
        Look { held, parts, before, seen, resident, is_made_long: false }
    }

    /// Goes on looking until this time, at least at something. Returns what is held as soon as all was looked at, or as
    /// it is more than `most`.
    pub(super) fn go_on(&mut self, look: &mut Look, most: u64, until: Instant) -> Option<Held> {
        while let Some(part) = look.parts.pop_front() {
            let held = &look.held;
            if held.files + held.buffers > most || held.locks > LOCKS_MAX {
                return Some(look.held);
            }
            if let Some(rest) = self.look_at(look, part) {
                look.parts.push_front(rest);
            }
            if look.is_made_long {
                // More than any may have.
                look.held.buffers = look.held.buffers.max(most.saturating_add(1).min(1 << 40));
                return Some(look.held);
            }
            if Instant::now() >= until && !look.parts.is_empty() {
                return None;
            }
        }
        for (file, kib) in look.resident.drain() {
            let most = look.before.get(&file).map_or(kib, |&before| kib.max(before));
            self.files.insert(file, most);
            look.held.files += most + FILE_KIB;
        }
        Some(look.held)
    }

    /// Looks at a piece of a part, and returns the rest.
    fn look_at(&mut self, look: &mut Look, part: Part) -> Option<Part> {
        match part {
            Part::Process(pid) => {
                let listed = folders_of(pid).find_map(|folder| {
                    let entries = read_dir(folder.join("fd")).ok()?.flatten();
                    let numbers: Vec<OsString> = entries.map(|it| it.file_name()).collect();
                    // A thread that has ended has neither files nor mappings.
                    let has_maps = || Lines::of(&folder.join("maps"))?.next().map(drop);
                    let is_running = !numbers.is_empty() || has_maps().is_some();
                    is_running.then_some((folder, numbers))
                });
                let Some((folder, numbers)) = listed else {
                    if has_ended(pid) {
                        // Its files are being closed.
                        return None;
                    }
                    let files = hidden(pid);
                    look.held.buffers += files * UNSEEN_KIB;
                    look.held.locks += files * UNSEEN_LOCKS;
                    return None;
                };
                look.held.files += self.executed(&folder);
                // What is mapped comes after all open files.
                look.parts.push_back(Part::Maps(folder.clone(), None, false));
                Some(Part::Files(folder, numbers, pid, None))
            }
            Part::Files(folder, mut numbers, pid, mut process) => {
                let number = numbers.pop()?;
                self.open_file(look, &folder, &number, pid, &mut process);
                Some(Part::Files(folder, numbers, pid, process))
            }
            Part::Maps(folder, lines, is_hidden) => {
                let lines = lines.or_else(|| Lines::of(&folder.join("maps")));
                self.mapped(look, folder, lines?, is_hidden)
            }
            Part::Resident(lines, current, its) => self.resident(look, lines, current, its),
        }
    }

    /// Looks at an open file.
    fn open_file(
        &mut self,
        look: &mut Look,
        folder: &Path,
        number: &OsStr,
        pid: Pid,
        process: &mut Option<nix::Result<OwnedFd>>,
    ) {
        let path = folder.join("fd").join(number);
        let held = &mut look.held;
        let kind = read_link(&path).ok().and_then(|link| Kind::of(&link));
        let about = FileInfo::of(&folder.join("fdinfo").join(number));
        held.locks += about.as_ref().map_or(0, |about| about.locks);
        let is_named_pipe = || sys::is_pipe(&path).then_some(Kind::Pipe);
        let Some(kind) = kind.or_else(is_named_pipe) else {
            held.buffers += kernel_text(&path);
            return;
        };
        if kind == Kind::Watches {
            held.buffers += about.map_or(UNSEEN_KIB, |about| about.watched * WATCH_KIB);
        } else if let Ok(about) = metadata(&path)
            && look.seen.insert((about.dev(), about.ino()))
        {
            let take = || {
                let process = process.get_or_insert_with(|| sys::process_handle(pid));
                let number = number.to_str()?.parse().ok()?;
                sys::take_file(process.as_ref().ok()?.as_fd(), number).ok()
            };
            match kind {
                // Its folder is in memory, too.
                Kind::File if about.file_type().is_fifo() => {
                    held.buffers += Kind::Pipe.buffers(take);
                }
                Kind::File => held.files += self.add((about.dev(), about.ino()), &about),
                _ => held.buffers += kind.buffers(take),
            }
        }
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

    /// Adds the files in memory that a process has mapped, and that none has open. Only root may look at them; for
    /// others it is found what of them is in the process's memory now.
    fn mapped(
        &mut self,
        look: &mut Look,
        folder: PathBuf,
        mut lines: Lines,
        mut is_hidden: bool,
    ) -> Option<Part> {
        for _ in 0..LINES {
            let Some(line) = lines.next() else {
                let lines = is_hidden.then(|| Lines::of(&folder.join("smaps"))).flatten();
                return lines.map(|lines| Part::Resident(lines, None, HashMap::new()));
            };
            look.is_made_long |= line.len() > LINE_BYTES_MAX;
            if let Some((range, file)) = mapping(line, self.nameless.as_deref())
                && !self.files.contains_key(&file)
                && !self.is_own(file)
            {
                match metadata(folder.join("map_files").join(range)) {
                    Ok(about) => look.held.files += self.add(file, &about),
                    Err(_) => is_hidden = true,
                }
            }
        }
        Some(Part::Maps(folder, Some(lines), is_hidden))
    }

    fn resident(
        &self,
        look: &mut Look,
        mut lines: Lines,
        mut current: Option<FileId>,
        mut its: HashMap<FileId, u64>,
    ) -> Option<Part> {
        for _ in 0..LINES {
            let Some(line) = lines.next() else {
                for (file, size) in its {
                    let most = look.resident.entry(file).or_insert(size);
                    *most = size.max(*most);
                }
                return None;
            };
            if matches!(line.first(), Some(b'0'..=b'9' | b'a'..=b'f')) {
                let mapping = mapping(line, self.nameless.as_deref()).map(|(_, file)| file);
                current =
                    mapping.filter(|file| !self.files.contains_key(file) && !self.is_own(*file));
            } else if let (Some(file), Some(size)) = (current, line.strip_prefix(b"Rss:")) {
                let size = std::str::from_utf8(size).ok();
                let size = size.and_then(|it| it.split_ascii_whitespace().next()?.parse().ok());
                *its.entry(file).or_insert(0) += size.unwrap_or(0);
            }
        }
        Some(Part::Resident(lines, current, its))
    }
}

/// The lines of a file that is being read.
#[derive(Debug)]
struct Lines {
    file: BufReader<File>,
    line: Vec<u8>,
}

impl Lines {
    fn of(path: &Path) -> Option<Self> {
        Some(Self { file: BufReader::new(File::open(path).ok()?), line: Vec::new() })
    }

    /// Returns the next line, without its end.
    fn next(&mut self) -> Option<&[u8]> {
        self.line.clear();
        let count = self.file.read_until(b'\n', &mut self.line).ok()?;
        (count > 0).then(|| self.line.trim_ascii_end())
    }
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
        let mut lines = Lines::of(path)?;
        while let Some(line) = lines.next() {
            info.locks += u64::from(line.starts_with(b"lock:"));
            if let Some(count) = line.strip_prefix(b"scm_fds:") {
                let count = std::str::from_utf8(count).ok().and_then(|it| it.trim().parse().ok());
                info.locks += SENT_LOCKS.saturating_mul(count.unwrap_or(0));
            }
            info.watched += u64::from(line.starts_with(b"tfd:"));
        }
        Some(info)
    }
}

/// Returns what the kernel may keep for a reader of an open file, in KiB: the text of one that it makes up, or the names in
/// a folder.
fn kernel_text(path: &Path) -> u64 {
    let system = statfs(path).map(|system| system.filesystem_type());
    if !system.is_ok_and(|system| MADE_UP.contains(&system)) {
        return if metadata(path).is_ok_and(|about| about.is_dir()) { NAMES_KIB } else { 0 };
    }
    let link = read_link(path).unwrap_or_default();
    let is_any = |names: &[&str]| link.iter().any(|part| names.iter().any(|name| part == *name));
    if is_any(&["fdinfo"]) {
        FILE_INFO_KIB
    } else if is_any(&["maps", "smaps", "numa_maps"]) {
        MAPPINGS_KIB
    } else {
        KERNEL_TEXT_KIB
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
    // A last message is sent whole however little room is left.
    let left = if events.contains(PollFlags::POLLHUP) { 2 * memory.room } else { 0 };
    Some(SOCKET_KIB + (memory.taken + left).div_ceil(1024))
}
