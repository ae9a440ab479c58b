//! The folder of everything that a worker keeps.

use nix::unistd::geteuid;
use referee_process::work_folder::{create_named, hold};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tempfile::TempDir;

/// How its name begins.
const PREFIX: &str = "referee-worker-";

/// A folder of its own. It goes with the worker; where the worker was killed, with the next one.
#[derive(Debug)]
pub(super) struct Root {
    folder: TempDir,
    /// Held for as long as the worker lives, by which its folder is told from one left behind.
    _held: File,
}

impl Root {
    /// A new one in this folder, after those are removed that were left behind in it.
    pub(super) fn create(parent: &Path) -> io::Result<Self> {
        clear(parent);
        loop {
            let folder = create_named(PREFIX, parent)?;
            // Not if another worker has taken it for one left behind.
            if let Some(held) = hold(folder.path()) {
                return Ok(Self { folder, _held: held });
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes what workers have left behind that were killed.
fn clear(parent: &Path) {
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        let path = entry.path();
        // Only what this user made, and no link to anything else.
        let is_own = entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == geteuid().as_raw());
        if is_own && entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let Some(_held) = hold(&path) else { continue };
            if let Err(error) = fs::remove_dir_all(&path) {
                tracing::debug!("{} was left behind: {error}", path.display());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Root;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_was_left_behind_goes_and_what_is_in_use_stays() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("referee-worker-gone/deep/down")).unwrap();
        fs::create_dir_all(at("elsewhere/deep")).unwrap();
        symlink(at("elsewhere"), at("referee-worker-link")).unwrap();
        let first = Root::create(place.path()).unwrap();
        fs::write(first.path().join("kept"), "").unwrap();
        let second = Root::create(place.path()).unwrap();
        assert!(!at("referee-worker-gone").exists());
        assert!(at("elsewhere/deep").exists() && at("referee-worker-link").exists());
        assert!(first.path().join("kept").exists());
        let path = second.path().to_owned();
        drop(second);
        assert!(!path.exists());
    }
}
