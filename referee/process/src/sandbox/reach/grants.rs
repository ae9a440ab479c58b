//! What an agent may read, path by path, so that nothing forbidden is included. The system can only
//! allow a folder recursively: if something below is forbidden, the folder's entries are allowed
//! one by one.

use super::SharedRules;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The total length of an agent's paths, in bytes: they have to fit in one request to the launcher,
/// in which a byte may take two.
const BYTES_MAX: usize = 40 * 1024;
/// How many folder entries are checked for one path.
const ENTRIES_MAX: usize = 4096;

/// Folders that are never granted whole: they hold what isn't meant for programs.
const WIDE: &[&str] = &[
    "/", "/boot", "/dev", "/etc", "/home", "/media", "/mnt", "/proc", "/root", "/run", "/sys",
    "/tmp", "/var", "/var/tmp", "/Users",
];
/// Folders with home folders.
const HOMES: &[&str] = &["/home", "/Users"];

/// Why a path is not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is the whole machine, a home folder, or one above it.
    #[error("it is a home folder, or contains files that aren't meant for agents")]
    Wide,
    /// The agent's files ask for it, and nobody granted it.
    #[error(
        "an agent's own files can open language runtimes only; if you trust it, grant this with \
         `--allow-read PATH`, or in a contest in `read` under `[sandbox]` of the contest file"
    )]
    NotGranted,
    /// It belongs to another agent, to the contest or to the transcripts.
    #[error("it belongs to another agent or to the contest")]
    Forbidden,
    /// It contains something forbidden, and too many other files.
    #[error("it contains files that agents may not read, and too many others to allow one by one")]
    TooMuch,
}

/// Whether a canonical path is the whole machine, a home folder or above one, or a general folder
/// of the system.
pub fn is_wide(path: &Path) -> bool {
    let temporary = std::env::temp_dir().canonicalize().ok();
    WIDE.iter().any(|wide| path == Path::new(wide))
        || is_home(path)
        || temporary.as_deref() == Some(path)
        || home().is_some_and(|home| home.starts_with(path))
}

/// Whether it is a user's home folder.
pub(super) fn is_home(path: &Path) -> bool {
    let among = |homes: &Path| HOMES.iter().any(|it| homes == Path::new(it));
    path == Path::new("/root")
        || path.parent().is_some_and(among)
        || home().as_deref() == Some(path)
}

/// Returns the caller's home folder.
fn home() -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    home.canonicalize().ok().filter(|home| home.parent().is_some())
}

/// What has been granted; all paths canonical.
#[derive(Debug)]
pub(super) struct Grants<'a> {
    own: Vec<PathBuf>,
    rules: &'a SharedRules,
    /// The temporary folder, with the work folders of all matches; agents and their interpreters
    /// may be in it too. It is never granted with a folder above.
    temporary: Option<PathBuf>,
    pub(super) read: Vec<PathBuf>,
    pub(super) list: Vec<PathBuf>,
    pub(super) refused: Vec<(PathBuf, Refusal)>,
    bytes: usize,
}

impl<'a> Grants<'a> {
    /// Starts with nothing granted. The agent's own files are never forbidden to it.
    pub(super) fn new(own: Vec<PathBuf>, rules: &'a SharedRules) -> Self {
        let temporary = std::env::temp_dir().canonicalize().ok();
        let (read, list, refused) = (Vec::new(), Vec::new(), Vec::new());
        Self { own, rules, temporary, read, list, refused, bytes: 0 }
    }

    /// Grants the agent's own files.
    pub(super) fn own(&mut self) {
        for path in self.own.clone() {
            if is_wide(&path) {
                self.files_of(&path);
            } else {
                self.grant(&path);
            }
        }
    }

    /// Grants a requested path unless it is forbidden; returns whether it is granted.
    pub(super) fn asked(&mut self, path: &Path) -> bool {
        if self.covers(path) {
            return true;
        }
        let refusal = if is_wide(path) {
            Refusal::Wide
        } else if self.is_forbidden(path) {
            Refusal::Forbidden
        } else {
            return self.grant(path);
        };
        self.refused.push((path.to_owned(), refusal));
        false
    }

    /// Grants the files in a folder that can't be granted whole, except hidden ones. A home folder
    /// may be listed, as Python does when it looks for modules.
    pub(super) fn files_of(&mut self, folder: &Path) {
        let mut expansion = Expansion::default();
        if is_home(folder) {
            expansion.list.push(folder.to_owned());
        }
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            let hidden = entry.file_name().as_bytes().starts_with(b".");
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            let path = entry.path();
            if is_file && !hidden && !self.is_forbidden(&path) && !self.is_record(&path) {
                expansion.read.push(path);
            }
        }
        if !self.keep(expansion) {
            self.refused.push((folder.to_owned(), Refusal::TooMuch));
        }
    }

    /// Whether it may already be read.
    pub(super) fn covers(&self, path: &Path) -> bool {
        self.read.iter().any(|it| path.starts_with(it))
    }

    /// Whether it belongs to others.
    fn is_forbidden(&self, path: &Path) -> bool {
        // The nearer one decides: an agent may be in another's folder.
        let Some(forbidden) = self.rules.forbidden_around(path) else { return false };
        !self.own.iter().any(|own| path.starts_with(own) && own.starts_with(forbidden))
    }

    /// Whether it is a record beside an agent.
    fn is_record(&self, path: &Path) -> bool {
        let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        self.rules.record_endings.iter().any(|ending| name.ends_with(ending))
            && self.rules.beside.iter().any(|it| path.parent() == Some(it))
    }

    /// Grants a path, except what is forbidden below it; returns whether it is granted.
    pub(super) fn grant(&mut self, path: &Path) -> bool {
        if self.covers(path) {
            return true;
        }
        let mut expansion = Expansion::default();
        self.expand(path, &mut expansion);
        let kept = expansion.entries <= ENTRIES_MAX && self.keep(expansion);
        if !kept {
            self.refused.push((path.to_owned(), Refusal::TooMuch));
        }
        kept
    }

    /// Expands a path to what may be read of it.
    fn expand(&self, path: &Path, expansion: &mut Expansion) {
        if self.is_forbidden(path) || self.temporary.as_deref() == Some(path) {
            return;
        }
        let is_below = |it: &PathBuf| it.starts_with(path);
        let is_whole = !self.rules.forbidden_in(path).any(|it| self.is_forbidden(it))
            && !self.rules.beside.iter().chain(&self.temporary).any(is_below);
        if is_whole {
            return expansion.read.push(path.to_owned());
        }
        expansion.list.push(path.to_owned());
        let Ok(entries) = path.read_dir() else { return };
        for entry in entries.flatten() {
            expansion.entries += 1;
            if expansion.entries > ENTRIES_MAX {
                return;
            }
            let entry_path = entry.path();
            // A link would allow its target, which may be anywhere.
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let is_record = self.is_record(&entry_path);
            if !is_link && !is_record {
                self.expand(&entry_path, expansion);
            }
        }
    }

    /// Adds everything, unless it is too much.
    fn keep(&mut self, expansion: Expansion) -> bool {
        let added: usize =
            expansion.read.iter().chain(&expansion.list).map(|path| cost(path)).sum();
        if self.bytes + added > BYTES_MAX {
            return false;
        }
        self.bytes += added;
        self.read.extend(expansion.read);
        self.list.extend(expansion.list);
        true
    }
}

/// The paths that one path expands to.
#[derive(Debug, Default)]
struct Expansion {
    read: Vec<PathBuf>,
    list: Vec<PathBuf>,
    entries: usize,
}

/// Returns the bytes that a path takes in a request.
fn cost(path: &Path) -> usize {
    let bytes = path.as_os_str().as_bytes();
    let escaped = bytes.iter().filter(|byte| !byte.is_ascii() || **byte < b' ' || **byte == b'"');
    bytes.len() + escaped.count() + 3
}
