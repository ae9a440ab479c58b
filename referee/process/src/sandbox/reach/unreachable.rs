//! Paths that an agent with its own user may read but can't reach: a folder above is closed to
//! others, like root's home folder.

use super::UNPRIVILEGED_UID;
use crate::launcher::USERS_GROUP;
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A path that an agent may read but can't reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// The path; canonical.
    pub path: PathBuf,
    /// The topmost folder above it that others may not enter, or the path itself if others may not
    /// read it.
    pub closed: PathBuf,
}

impl Unreachable {
    /// Returns why a user can't reach a canonical path. The user is assumed to be in none of its
    /// groups.
    pub fn of(path: &Path, uid: u32) -> Option<Self> {
        let closed = path.ancestors().skip(1).filter(|folder| lacks(folder, uid, 0o1)).last();
        let closed = closed.or_else(|| Some(path).filter(|path| is_closed(path, uid)))?;
        Some(Self { path: path.to_owned(), closed: closed.to_owned() })
    }

    /// Whether mounts can show it to the user: a file, or what is in a folder, must be readable by all.
    pub fn can_be_shown(&self) -> bool {
        if self.closed != self.path {
            return true;
        }
        let entries = self.path.read_dir().into_iter().flatten().flatten();
        self.path.is_dir()
            && entries.map(|entry| entry.path()).all(|path| !is_closed(&path, UNPRIVILEGED_UID))
    }

    /// Returns what to do about it, if the path can't be mounted elsewhere.
    pub fn help(&self) -> String {
        let closed = self.closed.display();
        let open = if self.closed == self.path {
            format!("run `chmod -R o+rX {closed}`")
        } else {
            "move it to a folder that others may enter, such as /srv, or use `--sandbox isolated`"
                .to_owned()
        };
        format!("as root, agents run as their own users: {open}")
    }
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, closed) = (self.path.display(), self.closed.display());
        if self.closed == self.path {
            write!(f, "only its owner may read {path}")
        } else {
            write!(f, "{path} is in {closed}, which only its owner may enter")
        }
    }
}

/// Whether a user may not read a file, or list and enter a folder.
fn is_closed(path: &Path, uid: u32) -> bool {
    lacks(path, uid, if path.is_dir() { 0o5 } else { 0o4 })
}

/// Whether a user lacks one of these rights there.
fn lacks(path: &Path, uid: u32, rights: u32) -> bool {
    // A path that can't be examined is not the agent's problem.
    path.metadata().is_ok_and(|it| {
        let shift = if it.uid() == uid {
            6
        } else if it.gid() == USERS_GROUP {
            3
        } else {
            0
        };
        let mode = it.mode() >> shift;
        mode & rights != rights
    })
}
