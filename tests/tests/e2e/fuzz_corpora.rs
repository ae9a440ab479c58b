//! What fuzzing begins with, and what it found before: fuzz/corpus and fuzz/regressions, once more,
//! without a fuzzer.

use proptest::prelude::*;
use referee_tests::fuzzing::{TARGETS, readers};
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// More than that doesn't belong into the repository.
const CORPORA_BYTES_MAX: u64 = 500_000;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(name)
}

/// The files of a folder, in order; none where there is no folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn nothing_that_was_found_happens_again() {
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

    /// The first byte is a recorded match, and each four of the others a change to it.
    #[test]
    fn matches_that_were_changed_are_read_or_refused(
        script in prop::collection::vec(any::<u8>(), 5..30),
    ) {
        readers(&script);
    }
}

#[test]
fn every_folder_and_binary_belongs_to_a_target() {
    let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    for kind in ["corpus", "regressions"] {
        for path in files(&folder(kind)) {
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(names.contains(&name), "{} is no target's", path.display());
        }
    }
    for (kind, ending) in [("targets", "rs"), ("dictionaries", "dict")] {
        let mut wanted: Vec<PathBuf> =
            names.iter().map(|name| folder(kind).join(name).with_extension(ending)).collect();
        wanted.sort();
        assert_eq!(files(&folder(kind)), wanted);
    }
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
