//! What the open files of an agent's tree hold in memory: files that are only there, unread data in
//! pipes and sockets, what is watched by `epoll`. The kernel counts none of it as memory of a process.

use super::sys;
use super::watchdog::folders_of;
use nix::fcntl::{FcntlArg, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::Pid;
use std::collections::HashSet;
use std::fs::{File, Metadata, metadata, read_dir, read_link};
use std::io::{BufRead, BufReader};
use std::ops::AddAssign;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Link targets of open files that are in memory only: made by `memfd_create`, or shared.
const IN_MEMORY: [&str; 3] = ["/memfd:", "/dev/shm/", "/SYSV"];
/// What a file counts that can't be looked at, in KiB: a little more than a pipe or a socket holds by
/// default.
const UNSEEN_KIB: u64 = 256;
/// What a socket takes without any data, in KiB.
const SOCKET_KIB: u64 = 4;
/// What a file counts that `epoll` watches, in KiB. It takes a tenth of that, but all processes of a
/// user together may watch only as many as fit into a 25th of the machine's memory. Counted like
/// this, an agent has used up its own memory before it has used up those.
const WATCH_KIB: u64 = 4;

/// Memory held by open files, in KiB.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    /// Files in memory. They may be mapped too.
    pub(super) files: u64,
    /// Unread data, and what is watched.
    pub(super) buffers: u64,
}

impl AddAssign for Held {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.buffers += other.buffers;
    }
}

/// Looks at the open files of these processes, each once. Stops when they hold more than `most`.
pub(super) fn held_in_memory(tree: &[Pid], most: u64) -> Held {
    let mut seen = HashSet::new();
    let mut held = Held::default();
    for &pid in tree {
        let folder = folders_of(pid).find(|folder| {
            read_dir(folder.join("fd")).is_ok_and(|mut entries| entries.next().is_some())
        });
        let Some(folder) = folder else {
            held.buffers += hidden(pid);
            continue;
        };
        let mut process = None;
        for entry in read_dir(folder.join("fd")).into_iter().flatten().flatten() {
            if held.files + held.buffers > most {
                return held;
            }
            let path = entry.path();
            let Some(kind) = read_link(&path).ok().and_then(|link| Kind::of(&link)) else {
                continue;
            };
            let number = entry.file_name();
            if kind == Kind::Watches {
                held.buffers += watched(&folder.join("fdinfo").join(number)).unwrap_or(UNSEEN_KIB);
            } else if let Ok(about) = metadata(&path)
                && seen.insert((about.dev(), about.ino()))
            {
                let take = || {
                    let process = process.get_or_insert_with(|| sys::process_handle(pid));
                    let number = number.to_str()?.parse().ok()?;
                    sys::take_file(process.as_ref().ok()?.as_fd(), number).ok()
                };
                held += kind.held(&about, take);
            }
        }
    }
    held
}

/// Returns what a process counts whose files can't be listed. Newer kernels tell their number.
fn hidden(pid: Pid) -> u64 {
    metadata(format!("/proc/{pid}/fd")).map_or(0, |folder| folder.len() * UNSEEN_KIB)
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

    /// Returns what a file holds; `take` gets it from its process.
    fn held(self, about: &Metadata, take: impl FnOnce() -> Option<OwnedFd>) -> Held {
        let buffers = match self {
            Self::File => return Held { files: about.blocks() / 2, buffers: 0 },
            Self::Pipe => take().and_then(|pipe| room_of_pipe(&pipe)),
            Self::Socket => take().and_then(|socket| in_socket(&socket)),
            Self::Watches => None,
        };
        Held { files: 0, buffers: buffers.unwrap_or(UNSEEN_KIB) }
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

/// Returns what an `epoll` takes for all that it watches.
fn watched(about: &Path) -> Option<u64> {
    let lines = BufReader::new(File::open(about).ok()?).split(b'\n');
    let watched = lines.map_while(Result::ok).filter(|line| line.starts_with(b"tfd:")).count();
    Some(watched as u64 * WATCH_KIB)
}
