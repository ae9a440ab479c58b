//! Hostile bundles.

use super::super::unpack::unpack;
use super::{BOUNDS, unpack_bytes, wrong, zipped};
use crate::BundleRef;
use tar::{Builder, EntryType, Header};

/// A header with any path, even if the library rejects it.
fn header(name: &[u8], kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(size);
    header.set_cksum();
    header
}

fn archive(entries: &[(Header, &[u8])]) -> Vec<u8> {
    let mut archive = Builder::new(Vec::new());
    for (header, bytes) in entries {
        archive.append(header, *bytes).unwrap();
    }
    archive.into_inner().unwrap()
}

/// Returns why a bundle is rejected, and checks that nothing outside of the folder has changed.
fn refused(archive: &[u8], unpacked_bytes: u64) -> String {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("a/b/folder");
    std::fs::create_dir_all(&folder).unwrap();
    let result = unpack_bytes(&zipped(archive), unpacked_bytes, &folder);
    for above in [place.path(), &place.path().join("a"), &place.path().join("a/b")] {
        assert_eq!(above.read_dir().unwrap().count(), 1, "{}", above.display());
    }
    wrong(result)
}

#[test]
fn paths_out_of_the_folder_are_rejected() {
    for name in [
        &b"/etc/x"[..],
        b"../x",
        b"a/../../x",
        b"a/..",
        b"..",
        b".",
        b"./x",
        b"a/./x",
        b"a//x",
        b"a/",
        b"",
        b"/",
    ] {
        let text = refused(&archive(&[(header(name, EntryType::Regular, 1), b"x")]), 1);
        assert!(text.contains("not a path inside the bundle"), "{text}");
    }
    // The other half of a long path.
    let mut long = header(b"x", EntryType::Regular, 1);
    let prefix = b"../..";
    long.as_ustar_mut().unwrap().prefix[..prefix.len()].copy_from_slice(prefix);
    long.set_cksum();
    let text = refused(&archive(&[(long, b"x")]), 1);
    assert!(text.contains("../../x is not a path"), "{text}");
}

#[test]
fn names_are_sanitized() {
    let text = refused(&archive(&[(header(b"\x1b[2J", EntryType::Symlink, 0), b"")]), 0);
    assert_eq!(text, "\u{FFFD}[2J is not a regular file");
}

#[test]
fn only_regular_files_are_accepted() {
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::Directory,
        EntryType::Continuous,
        EntryType::GNULongLink,
        EntryType::GNUSparse,
        EntryType::XGlobalHeader,
        EntryType::XHeader,
        EntryType::new(b'V'),
    ] {
        let mut one = header(b"name", kind, 0);
        one.set_link_name("/etc/passwd").unwrap();
        one.set_cksum();
        let plain = header(b"name/x", EntryType::Regular, 1);
        let text = refused(&archive(&[(one, b""), (plain, b"x")]), 1);
        assert_eq!(text, "name is not a regular file", "{kind:?}");
    }
    // A path and a size for the next entry, which must be ignored.
    let said = b"21 path=../../evil\n18 size=99999999\n";
    let pax = header(b"pax", EntryType::XHeader, said.len() as u64);
    let text = refused(&archive(&[(pax, said), (header(b"x", EntryType::Regular, 0), b"")]), 0);
    assert_eq!(text, "pax is not a regular file");
    // GNU's format has other fields at the position of the path's prefix.
    let mut gnu = Header::new_gnu();
    gnu.set_path("x").unwrap();
    gnu.set_entry_type(EntryType::Regular);
    gnu.set_size(0);
    gnu.set_cksum();
    assert_eq!(refused(&archive(&[(gnu, b"")]), 0), "x is not a regular file");
}

#[test]
fn a_long_name_leads_nowhere_and_is_bounded() {
    let file = || (header(b"x", EntryType::Regular, 1), &b"x"[..]);
    let long = |name: &[u8]| header(b"././@LongLink", EntryType::GNULongName, name.len() as u64);
    for name in [&b"../x\0"[..], b"/x\0", b"a/../x\0", b"\0"] {
        let text = refused(&archive(&[(long(name), name), file()]), 1);
        assert!(text.contains("not a path inside the bundle"), "{text}");
    }
    let twice = refused(&archive(&[(long(b"a\0"), b"a\0"), (long(b"b\0"), b"b\0"), file()]), 1);
    assert_eq!(twice, "a is not a regular file");
    let endless = [&b"a/".repeat(1 << 16)[..], b"x\0"].concat();
    for name in [&endless[..], b"x", b""] {
        let text = refused(&archive(&[(long(name), name), file()]), 1);
        assert_eq!(text, "a name is too long or has no end");
    }
}

#[test]
fn duplicate_names_are_rejected() {
    let file = |name: &[u8]| (header(name, EntryType::Regular, 1), &b"x"[..]);
    for entries in
        [[file(b"x"), file(b"x")], [file(b"x"), file(b"x/y")], [file(b"x/y"), file(b"x")]]
    {
        let text = refused(&archive(&entries), 2);
        assert!(text.starts_with('x'), "{text}");
    }
}

#[test]
fn existing_links_are_not_followed() {
    let place = tempfile::tempdir().unwrap();
    let [folder, elsewhere] = ["folder", "elsewhere"].map(|name| place.path().join(name));
    for path in [&folder, &elsewhere] {
        std::fs::create_dir(path).unwrap();
    }
    std::os::unix::fs::symlink(&elsewhere, folder.join("way")).unwrap();
    std::os::unix::fs::symlink(elsewhere.join("new"), folder.join("file")).unwrap();
    for name in [&b"way/x"[..], b"file"] {
        let bytes = zipped(&archive(&[(header(name, EntryType::Regular, 1), b"x")]));
        wrong(unpack_bytes(&bytes, 1, &folder));
    }
    assert_eq!(elsewhere.read_dir().unwrap().count(), 0);
}

#[test]
fn wrong_sizes_are_rejected() {
    let whole = archive(&[(header(b"x", EntryType::Regular, 600), &[7; 600])]);
    for cut in [512, 513, 1024, 1100] {
        let text = refused(&whole[..cut], 600);
        assert!(text.starts_with('x') || text.starts_with("not a bundle"), "{text}");
    }
    assert!(refused(&whole, 599).contains("not 599"));
    // More bytes than there are, and more than allowed: nothing waits for them or allocates them.
    let huge = archive(&[(header(b"x", EntryType::Regular, u64::MAX / 2), b"")]);
    assert!(refused(&huge, 0).contains("more than 1 MiB"));
    let zeros = vec![0_u8; 1 << 20];
    let two = [
        (header(b"x", EntryType::Regular, 1 << 20), &zeros[..]),
        (header(b"y", EntryType::Regular, 1), b"y"),
    ];
    assert!(refused(&archive(&two), (1 << 20) + 1).contains("more than 1 MiB"));
    let mut garbled = header(b"x", EntryType::Regular, 1);
    garbled.as_old_mut().size.copy_from_slice(b"not a number");
    garbled.set_cksum();
    assert!(refused(&archive(&[(garbled, b"x")]), 1).contains("not a bundle"));
}

#[test]
fn decompression_bombs_end_early() {
    // A file of a gigabyte in a megabyte, according to the header.
    let mut bomb = header(b"x", EntryType::Regular, 1 << 30).as_bytes().to_vec();
    bomb.resize(64 << 20, 0);
    assert!(refused(&bomb, 0).contains("more than 1 MiB"));
    // Very many empty files.
    let one = header(b"x", EntryType::Regular, 0);
    let mut entries = Vec::new();
    for number in 0..200 {
        let mut one = one.clone();
        one.set_path(format!("f{number}")).unwrap();
        one.set_cksum();
        entries.push((one, &b""[..]));
    }
    assert!(refused(&archive(&entries), 0).contains("more than 100 files"));
}

#[test]
fn invalid_bytes_are_rejected() {
    let place = tempfile::tempdir().unwrap();
    for bytes in [&b""[..], b"x", &[0x1f, 0x8b], &zipped(b"no archive")] {
        wrong(unpack_bytes(bytes, 1, place.path()));
    }
}

#[test]
fn another_hash_or_size_is_rejected() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("bundle");
    let into = place.path().join("into");
    std::fs::create_dir(&into).unwrap();
    let bytes = zipped(&archive(&[(header(b"x", EntryType::Regular, 1), b"x")]));
    std::fs::write(&file, &bytes).unwrap();
    let length = bytes.len() as u64;
    for (sha256, bytes, expected) in [
        ("00".repeat(32), length, "SHA-256"),
        (String::new(), length, "SHA-256"),
        ("00".repeat(32), length + 1, "bytes, not"),
        ("00".repeat(32), u64::MAX, "more than"),
    ] {
        let bundle = BundleRef { sha256, bytes, unpacked_bytes: 1 };
        let text = wrong(unpack(&file, &bundle, &into, BOUNDS));
        assert!(text.contains(expected), "{text}");
    }
    assert_eq!(into.read_dir().unwrap().count(), 0);
}
