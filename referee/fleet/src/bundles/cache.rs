//! The bundles that a worker keeps for its next contests: the next run of a course has mostly the same
//! agents.

use crate::BundleRef;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The most bytes of all bundles.
const BYTES_MAX: u64 = 1 << 30;

/// A folder of bundles, each named by its SHA-256. Those that were used longest ago are removed first.
/// A failure only costs a download.
#[derive(Clone, Debug)]
pub(crate) struct BundleCache {
    folder: PathBuf,
    bytes_max: u64,
}

impl BundleCache {
    /// Opens the cache in this folder, which need not exist.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, bytes_max: BYTES_MAX }
    }

    /// Links a bundle to a new file; returns false if it is not here.
    pub(super) fn link(&self, bundle: &BundleRef, to: &Path) -> bool {
        let Some(file) = self.file(bundle) else { return false };
        if fs::hard_link(&file, to).is_err() {
            return false;
        }
        // The bundle was used now.
        if let Ok(file) = File::options().append(true).open(&file) {
            file.set_modified(SystemTime::now()).ok();
        }
        true
    }

    /// Keeps a bundle that has been checked; moves the file here.
    pub(super) fn keep(&self, bundle: &BundleRef, file: &Path) {
        let Some(place) = self.file(bundle) else { return };
        if fs::create_dir_all(&self.folder).and_then(|()| fs::rename(file, place)).is_ok() {
            self.shrink();
        }
    }

    /// Removes a bundle that turned out to be damaged.
    pub(super) fn remove(&self, bundle: &BundleRef) {
        if let Some(file) = self.file(bundle) {
            fs::remove_file(file).ok();
        }
    }

    /// Returns the place of a bundle; `None` for a name from the wire that is no hash.
    fn file(&self, bundle: &BundleRef) -> Option<PathBuf> {
        let name = &bundle.sha256;
        let is_hash = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| self.folder.join(name))
    }

    fn shrink(&self) {
        let Ok(entries) = self.folder.read_dir() else { return };
        let known = |entry: fs::DirEntry| {
            let about = entry.metadata().ok()?;
            Some((about.modified().ok()?, about.len(), entry.path()))
        };
        let mut files: Vec<_> = entries.flatten().filter_map(known).collect();
        files.sort();
        let mut bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, size, file) in files {
            if bytes <= self.bytes_max {
                return;
            }
            fs::remove_file(file).ok();
            bytes -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BundleCache;
    use crate::BundleRef;
    use std::fs;
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    #[test]
    fn what_was_used_longest_ago_is_removed_first() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        let cache = BundleCache { bytes_max: 250, ..BundleCache::new(path("cache")) };
        let bundle =
            |digit: &str| BundleRef { sha256: digit.repeat(64), bytes: 100, unpacked_bytes: 100 };
        for (age, digit) in [(30, "a"), (20, "b")] {
            fs::write(path("new"), [0; 100]).unwrap();
            cache.keep(&bundle(digit), &path("new"));
            assert!(!path("new").exists());
            let file = File::options().append(true).open(path("cache").join(digit.repeat(64)));
            let then = SystemTime::now() - Duration::from_secs(age);
            file.unwrap().set_modified(then).unwrap();
        }
        assert!(cache.link(&bundle("a"), &path("out")), "and it is used now");
        fs::write(path("new"), [0; 100]).unwrap();
        cache.keep(&bundle("c"), &path("new"));
        assert!(!cache.link(&bundle("b"), &path("b")));
        assert!(cache.link(&bundle("a"), &path("a")) && cache.link(&bundle("c"), &path("c")));
        cache.remove(&bundle("c"));
        assert!(!cache.link(&bundle("c"), &path("again")));
        // A name from the wire may be anything.
        let hostile = BundleRef { sha256: "../new".to_owned(), bytes: 1, unpacked_bytes: 1 };
        fs::write(path("new"), "x").unwrap();
        assert!(!cache.link(&hostile, &path("out2")));
        cache.keep(&hostile, &path("out"));
        assert!(path("out").exists());
    }
}
