//! What an agent is given, path by path, so that nothing that is forbidden comes with it. The
//! system can only allow a folder with all that is below: where something below is forbidden, the
//! folder's entries are allowed one by one.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How long all paths of an agent may be together: they have to fit in one request to the launcher,
/// in which a byte may take two.
const BYTES_MAX: usize = 40 * 1024;
/// How many entries of folders are looked at for one path that is given.
const ENTRIES_MAX: usize = 4096;

/// Folders that are never given whole: they hold what isn't meant for a program.
const WIDE: &[&str] = &[
    "/", "/boot", "/dev", "/etc", "/home", "/media", "/mnt", "/proc", "/root", "/run", "/sys",
    "/tmp", "/var", "/var/tmp", "/Users",
];
/// Folders that hold home folders.
const HOMES: &[&str] = &["/home", "/Users"];

/// Why a path is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is the whole machine, a home folder, or one above it.
    #[error("it is a home folder, or holds what isn't meant for agents")]
    Wide,
    /// It belongs to another agent, to the contest or to the transcripts.
    #[error("it belongs to another agent, or to the contest")]
    Forbidden,
    /// It holds something forbidden, and too much beside that.
    #[error(
        "it holds what agents may not read, and too many files beside that to name them one by one"
    )]
    TooMuch,
}

/// Whether a canonical path is the whole machine, a home folder or above one, or a folder of the
/// system for all kinds of things.
pub fn is_wide(path: &Path) -> bool {
    let temporary = std::env::temp_dir().canonicalize().ok();
    WIDE.iter().any(|wide| path == Path::new(wide))
        || is_home(path)
        || temporary.as_deref() == Some(path)
        || home().is_some_and(|home| home.starts_with(path))
}

/// Whether somebody lives there.
fn is_home(path: &Path) -> bool {
    let among = |homes: &Path| HOMES.iter().any(|it| homes == Path::new(it));
    path == Path::new("/root")
        || path.parent().is_some_and(among)
        || home().as_deref() == Some(path)
}

/// The caller's home folder.
fn home() -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    home.canonicalize().ok().filter(|home| home.parent().is_some())
}

/// What has been given so far; all paths canonical.
#[derive(Debug, Default)]
pub(super) struct Grants {
    own: Vec<PathBuf>,
    forbidden: Vec<PathBuf>,
    /// Folders in which records lie beside other things.
    beside: Vec<PathBuf>,
    record_endings: &'static [&'static str],
    /// The work folders of all matches lie in it, and agents and their interpreters may: it never
    /// comes with a folder above.
    temporary: Option<PathBuf>,
    pub(super) read: Vec<PathBuf>,
    pub(super) list: Vec<PathBuf>,
    pub(super) refused: Vec<(PathBuf, Refusal)>,
    bytes: usize,
}

impl Grants {
    /// Nothing yet. What is the agent's own is never forbidden to it.
    pub(super) fn new(
        own: Vec<PathBuf>,
        forbidden: Vec<PathBuf>,
        beside: Vec<PathBuf>,
        record_endings: &'static [&'static str],
    ) -> Self {
        let temporary = std::env::temp_dir().canonicalize().ok();
        Self { own, forbidden, beside, record_endings, temporary, ..Self::default() }
    }

    /// What is its own.
    pub(super) fn own(&mut self) {
        for path in self.own.clone() {
            if is_wide(&path) {
                self.files_of(&path);
            } else {
                self.give_or_tell(&path);
            }
        }
    }

    /// What somebody asks for: only what is nobody else's. Whether it is given.
    pub(super) fn asked(&mut self, path: &Path) -> bool {
        if self.covers(path) {
            return true;
        }
        let refusal = if is_wide(path) {
            Refusal::Wide
        } else if self.is_forbidden(path) {
            Refusal::Forbidden
        } else {
            return self.give_or_tell(path);
        };
        self.refused.push((path.to_owned(), refusal));
        false
    }

    /// The files that lie in a folder, hidden ones left out: for a folder that can't be given. A
    /// home folder may be listed, as Python does where it looks for modules.
    pub(super) fn files_of(&mut self, folder: &Path) {
        let mut given = Given::default();
        if is_home(folder) {
            given.list.push(folder.to_owned());
        }
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            let hidden = entry.file_name().as_bytes().starts_with(b".");
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            let path = entry.path();
            if is_file && !hidden && !self.is_forbidden(&path) && !self.is_record(&path) {
                given.read.push(path);
            }
        }
        if !self.keep(given) {
            self.refused.push((folder.to_owned(), Refusal::TooMuch));
        }
    }

    /// Whether it may be read already.
    pub(super) fn covers(&self, path: &Path) -> bool {
        self.read.iter().any(|it| path.starts_with(it))
    }

    /// Whether it is somebody else's. What lies in what is its own is its own.
    fn is_forbidden(&self, path: &Path) -> bool {
        let inside = |it: &&PathBuf| path.starts_with(it);
        // The nearer one decides: an agent may lie in another's folder.
        let depth = |path: &PathBuf| path.components().count();
        let own = self.own.iter().filter(inside).map(depth).max();
        self.forbidden.iter().filter(inside).map(depth).max() > own
    }

    /// Whether it is a record that lies beside an agent.
    fn is_record(&self, path: &Path) -> bool {
        let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        self.record_endings.iter().any(|ending| name.ends_with(ending))
            && self.beside.iter().any(|it| path.parent() == Some(it))
    }

    /// A path, but for what is forbidden in it; whether it is given.
    pub(super) fn give_or_tell(&mut self, path: &Path) -> bool {
        if self.covers(path) {
            return true;
        }
        let mut given = Given::default();
        self.give(path, &mut given);
        let kept = given.entries <= ENTRIES_MAX && self.keep(given);
        if !kept {
            self.refused.push((path.to_owned(), Refusal::TooMuch));
        }
        kept
    }

    /// A path with all that is below it, but for what is forbidden there.
    fn give(&self, path: &Path, given: &mut Given) {
        if self.is_forbidden(path) || self.temporary.as_deref() == Some(path) {
            return;
        }
        let forbidden = self.forbidden.iter().filter(|it| self.is_forbidden(it));
        let mut apart = forbidden.chain(&self.beside).chain(&self.temporary);
        if !apart.any(|it| it.starts_with(path)) {
            return given.read.push(path.to_owned());
        }
        given.list.push(path.to_owned());
        let Ok(entries) = path.read_dir() else { return };
        for entry in entries.flatten() {
            given.entries += 1;
            if given.entries > ENTRIES_MAX {
                return;
            }
            let entry_path = entry.path();
            // A link would allow what it leads to, which may lie anywhere.
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let is_record = self.is_record(&entry_path);
            if !is_link && !is_record {
                self.give(&entry_path, given);
            }
        }
    }

    /// Takes it all, unless it is too much.
    fn keep(&mut self, given: Given) -> bool {
        let added: usize = given.read.iter().chain(&given.list).map(|path| cost(path)).sum();
        if self.bytes + added > BYTES_MAX {
            return false;
        }
        self.bytes += added;
        self.read.extend(given.read);
        self.list.extend(given.list);
        true
    }
}

/// What comes of one path.
#[derive(Debug, Default)]
struct Given {
    read: Vec<PathBuf>,
    list: Vec<PathBuf>,
    entries: usize,
}

/// What a path takes in a request.
fn cost(path: &Path) -> usize {
    let bytes = path.as_os_str().as_bytes();
    let escaped = bytes.iter().filter(|byte| !byte.is_ascii() || **byte < b' ' || **byte == b'"');
    bytes.len() + escaped.count() + 3
}
