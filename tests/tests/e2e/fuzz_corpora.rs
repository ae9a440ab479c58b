//! Runs the fuzz targets on the seeds and regressions in fuzz/corpus and fuzz/regressions, without a
//! fuzzer.

use proptest::prelude::*;
use referee_tests::fuzzing::{TARGETS, readers};
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// The most bytes of corpora in the repository.
const CORPORA_BYTES_MAX: u64 = 500_000;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(name)
}

/// Returns the files of a folder, sorted; none if the folder is missing.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn regressions_do_not_return() {
    for (name, target) in TARGETS {
        let seeds = files(&folder("corpus").join(name));
        assert!(!seeds.is_empty(), "{name} has no seeds");
        for path in seeds.into_iter().chain(files(&folder("regressions").join(name))) {
            let bytes = fs::read(&path).unwrap();
            let kept = catch_unwind(|| target(&bytes));
            assert!(kept.is_ok(), "{name} breaks a promise with {}", path.display());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The first byte selects a recorded match; each four bytes after it are a change to it.
    #[test]
    fn matches_that_were_changed_are_read_or_refused(
        script in prop::collection::vec(any::<u8>(), 5..30),
    ) {
        readers(&script);
    }
}

#[test]
fn every_folder_belongs_to_a_target() {
    let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    for kind in ["corpus", "regressions"] {
        for path in files(&folder(kind)) {
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(names.contains(&name), "{} is no target's", path.display());
        }
    }
    let words = folder("dictionaries");
    let mut wanted: Vec<PathBuf> =
        names.iter().map(|name| words.join(name).with_extension("dict")).collect();
    wanted.sort();
    assert_eq!(files(&words), wanted);
}

#[test]
fn corpora_are_small() {
    let kinds = ["corpus", "regressions"].map(folder);
    let folders = kinds.iter().flat_map(|kind| files(kind));
    let sizes =
        folders.flat_map(|folder| files(&folder)).map(|path| path.metadata().unwrap().len());
    let bytes: u64 = sizes.sum();
    assert!(bytes < CORPORA_BYTES_MAX, "{bytes} bytes of seeds: keep those that show something");
}
