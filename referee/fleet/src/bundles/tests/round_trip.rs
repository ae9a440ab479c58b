//! Unpacking returns what was packed.

use super::super::archive::{Bounds, FileEntry, write};
use super::super::unpack::unpack;
use super::BOUNDS;
use proptest::collection::{btree_map, vec};
use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};
use referee_play::digest::{digest_files, digest_folder};
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Files below a folder: path, whether it is executable, bytes.
fn tree(folder: &Path) -> BTreeMap<PathBuf, (bool, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in next.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let executable = path.metadata().unwrap().permissions().mode() & 0o111 != 0;
            let bytes = std::fs::read(&path).unwrap();
            found.insert(path.strip_prefix(folder).unwrap().to_owned(), (executable, bytes));
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_same_tree_and_the_same_digest(
        files in btree_map(
            "([a-zA-Z0-9_ =äß%~\\-]{1,12}/){0,30}[a-z.]{0,5}[a-zäß]{1,30}\\.[a-z]{1,3}",
            (any::<bool>(), vec(any::<u8>(), 0..2000)),
            0..12,
        )
    ) {
        let place = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| place.path().join(name));
        std::fs::create_dir_all(&to).unwrap();
        std::fs::create_dir_all(&from).unwrap();
        let mut pieces = Vec::new();
        for (path, (executable, bytes)) in &files {
            let source = from.join(path);
            // The same name may be a folder's and a file's.
            if std::fs::create_dir_all(source.parent().unwrap()).is_err() || source.exists() {
                continue;
            }
            std::fs::write(&source, bytes).unwrap();
            let mode = if *executable { 0o755 } else { 0o600 };
            std::fs::set_permissions(&source, Permissions::from_mode(mode)).unwrap();
            pieces.push(FileEntry { archive_path: path.into(), source });
        }
        let [one, two] = ["one", "two"].map(|name| place.path().join(name));
        let bundle = write(&pieces, &one, BOUNDS).unwrap();
        prop_assert_eq!(&bundle, &write(&pieces, &two, BOUNDS).unwrap());
        let unpacked = unpack(&one, &bundle, &to, BOUNDS).unwrap();
        let places: Vec<PathBuf> = pieces.into_iter().map(|piece| piece.archive_path).collect();
        prop_assert_eq!(&unpacked, &places);
        prop_assert_eq!(tree(&from), tree(&to));
        prop_assert_eq!(digest_folder(&from).unwrap(), digest_folder(&to).unwrap());
        let digests = [&from, &to].map(|folder| digest_files(folder, &places).unwrap());
        prop_assert_eq!(&digests[0], &digests[1]);
    }
}

#[test]
fn the_limits_apply_to_packing() {
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("x");
    std::fs::write(&source, [0; 1000]).unwrap();
    let pieces = [FileEntry { archive_path: "x".into(), source: source.clone() }];
    let bounds = Bounds { bytes: 999, files: 1 };
    let error = write(&pieces, &place.path().join("bundle"), bounds).unwrap_err();
    assert!(error.to_string().contains("more than"), "{error}");
    // A link that has replaced the file since it was listed.
    std::fs::rename(&source, place.path().join("y")).unwrap();
    std::os::unix::fs::symlink("y", &source).unwrap();
    write(&pieces, &place.path().join("other"), BOUNDS).unwrap_err();
}
