//! The worker's own folder.

use nix::unistd::geteuid;
use referee_process::work_folder::{create_named, lock_folder};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tempfile::TempDir;

/// The beginning of its name.
const PREFIX: &str = "referee-worker-";

/// A folder that is removed when the worker ends; if it was killed, the next worker removes it.
#[derive(Debug)]
pub(super) struct Root {
    folder: TempDir,
    /// Locked while the worker runs, to distinguish its folder from one that was left behind.
    _held: File,
}

impl Root {
    /// Creates a folder in `parent`, and removes those left behind.
    pub(super) fn create(parent: &Path) -> io::Result<Self> {
        clear(parent);
        loop {
            // Another worker may remove it until it is locked.
            let folder = match create_named(PREFIX, parent) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && parent.is_dir() => {
                    continue;
                }
                created => created?,
            };
            if let Some(held) = lock_folder(folder.path()) {
                return Ok(Self { folder, _held: held });
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the folders of workers that were killed.
fn clear(parent: &Path) {
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        let path = entry.path();
        // Only folders of this user, and no links.
        let is_own = entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == geteuid().as_raw());
        if is_own && entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let Some(_held) = lock_folder(&path) else { continue };
            if let Err(error) = fs::remove_dir_all(&path) {
                tracing::debug!("can't remove {}: {error}", path.display());
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
    fn folders_left_behind_are_removed_and_those_in_use_stay() {
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
        assert!(Root::create(&at("missing")).is_err());
    }

    /// Each removes what isn't locked yet.
    #[test]
    fn workers_that_start_together_have_folders() {
        let place = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..50).for_each(|_| drop(Root::create(place.path()).unwrap())));
            }
        });
    }
}
