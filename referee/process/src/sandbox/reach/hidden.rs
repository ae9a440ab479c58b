//! What an agent with a user of its own could not get to, although it may: the folders above are
//! closed to others, as root's home folder is.

use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A path that an agent may read and can't get to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The path; canonical.
    pub path: PathBuf,
    /// The topmost folder above it that others may not enter, or the path itself where that may not
    /// be read.
    pub closed: PathBuf,
}

impl Hidden {
    /// Whether a user can't get to a canonical path. All its groups are taken to be others'.
    pub fn of(path: &Path, uid: u32) -> Option<Self> {
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        above.reverse();
        let closed = above.into_iter().find(|folder| lacks(folder, uid, 0o1));
        let needed = if path.is_dir() { 0o5 } else { 0o4 };
        let closed = closed.or_else(|| Some(path).filter(|path| lacks(path, uid, needed)))?;
        Some(Self { path: path.to_owned(), closed: closed.to_owned() })
    }

    /// What to do about it, where the path can't be shown in another place.
    pub fn help(&self) -> String {
        let closed = self.closed.display();
        let open = if self.closed == self.path {
            format!("`chmod -R o+rX {closed}`")
        } else {
            format!(
                "`chmod o+x {closed}`, move it to a folder such as /srv, or use `--sandbox isolated`"
            )
        };
        format!("where the referee runs as root, agents have users of their own: {open}")
    }
}

impl fmt::Display for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, closed) = (self.path.display(), self.closed.display());
        if self.closed == self.path {
            write!(f, "only its owner may read {path}")
        } else {
            write!(f, "{path} is in {closed}, which only its owner may enter")
        }
    }
}

/// Whether a user lacks one of these rights there.
fn lacks(path: &Path, uid: u32, rights: u32) -> bool {
    // What can't be looked at is the referee's own trouble, and isn't there.
    path.metadata().is_ok_and(|it| {
        let mode = if it.uid() == uid { it.mode() >> 6 } else { it.mode() };
        mode & rights != rights
    })
}
