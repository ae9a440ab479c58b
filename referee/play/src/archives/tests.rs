use super::{BYTES_MAX, KEPT, Unpacking, archive_stem, remove_unused, shown, unpacked};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;
use zip::write::{SimpleFileOptions, ZipWriter};

/// What is in an archive: a name, what it is, and its text or target.
type Entry<'a> = (&'a str, EntryType, &'a str);

const FILE: EntryType = EntryType::Regular;
const LINK: EntryType = EntryType::Symlink;

fn tar_gz(path: &Path, entries: &[Entry<'_>]) {
    let mut tar = Builder::new(GzEncoder::new(File::create(path).unwrap(), Compression::fast()));
    for (name, kind, text) in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(*kind);
        header.set_mode(if text.starts_with("#!") { 0o755 } else { 0o600 });
        // Not by `set_path`, which refuses what an attacker writes.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        let body = if *kind == FILE { text.as_bytes() } else { b"" };
        if *kind != FILE {
            header.as_old_mut().linkname[..text.len()].copy_from_slice(text.as_bytes());
        }
        header.set_size(body.len() as u64);
        header.set_cksum();
        tar.append(&header, body).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap();
}

fn zip(path: &Path, entries: &[Entry<'_>]) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    for (name, kind, text) in entries {
        let options = SimpleFileOptions::default();
        match *kind {
            LINK => zip.add_symlink(*name, *text, options).unwrap(),
            EntryType::Directory => zip.add_directory(*name, options).unwrap(),
            _ => {
                let mode = if text.starts_with("#!") { 0o755 } else { 0o600 };
                zip.start_file(*name, options.unix_permissions(mode)).unwrap();
                zip.write_all(text.as_bytes()).unwrap();
            }
        }
    }
    zip.finish().unwrap();
}

/// Makes the same archive in both formats, and unpacks both.
fn both(entries: &[Entry<'_>]) -> [std::io::Result<PathBuf>; 2] {
    let dir = TempDir::new().unwrap();
    // Another content each time, so that nothing was unpacked before.
    let own = dir.path().display().to_string();
    let entries = [entries, &[("agent/own", FILE, own.as_str())]].concat();
    let (one, other) = (dir.path().join("team7.zip"), dir.path().join("team7.tar.gz"));
    zip(&one, &entries);
    tar_gz(&other, &entries);
    [unpacked(&one), unpacked(&other)]
}

#[test]
fn the_only_folder_is_the_agent() {
    let entries = [
        ("__MACOSX/agent/._bot.py", FILE, "x"),
        ("agent/.DS_Store", FILE, "x"),
        ("agent/bot.py", FILE, "#!/usr/bin/env python3\n"),
        ("agent/data/table.txt", FILE, "1 2 3"),
        ("agent/data/link", LINK, "../bot.py"),
    ];
    for folder in both(&entries) {
        let folder = folder.unwrap();
        assert_eq!(folder.file_name().unwrap(), "team7");
        let mode = |name: &str| folder.join(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("bot.py"), mode("data/table.txt"), mode("")), (0o755, 0o644, 0o755));
        assert_eq!(fs::read_to_string(folder.join("data/table.txt")).unwrap(), "1 2 3");
        assert_eq!(fs::read_link(folder.join("data/link")).unwrap(), Path::new("../bot.py"));
        assert!(!folder.join(".DS_Store").exists() && !folder.join("../__MACOSX").exists());
        // As seen by people.
        assert_eq!(shown(&folder.display().to_string()), "team7");
        let command = format!("python3 {}/bot.py", folder.display());
        assert_eq!(shown(&command), "python3 team7/bot.py");
        fs::remove_dir_all(folder.parent().unwrap()).unwrap();
    }
}

#[test]
fn nothing_is_written_outside() {
    for entries in [
        &[("../evil", FILE, "x")][..],
        &[("/tmp/evil", FILE, "x")],
        &[("agent/../../evil", FILE, "x")],
        &[("agent/out", LINK, "/etc"), ("agent/out/evil", FILE, "x")],
        &[("agent/out", LINK, "../../..")],
        &[("agent/in/deep", FILE, "x"), ("agent/out", LINK, "in/../../..")],
        &[("agent/twice", FILE, "x"), ("agent/twice", FILE, "y")],
        &[("agent/dir", LINK, "data"), ("agent/dir/evil", FILE, "x")],
    ] {
        // The library that writes archives for tests refuses two entries with one name.
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("bad.tar.gz");
        tar_gz(&path, entries);
        let failed = unpacked(&path).unwrap_err().to_string();
        assert!(failed.contains("in the archive"), "{entries:?}: {failed}");
        if !entries.iter().any(|(name, ..)| name.contains("twice")) {
            let path = dir.path().join("bad.zip");
            zip(&path, entries);
            assert!(unpacked(&path).is_err(), "{entries:?}");
        }
    }
    for kind in [EntryType::Link, EntryType::Char, EntryType::Fifo] {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("bad.tgz");
        tar_gz(&path, &[("agent/x", kind, "/etc/passwd")]);
        assert!(unpacked(&path).is_err(), "{kind:?}");
    }
}

#[test]
fn what_is_unpacked_is_bounded() {
    let dir = TempDir::new().unwrap();
    let mut unpacking = Unpacking::new(dir.path().join("files")).unwrap();
    // As if almost everything was written.
    unpacking.bytes = BYTES_MAX - 10;
    let failed = unpacking.file(Path::new("x"), None, &mut &[0; 20][..]).unwrap_err();
    assert!(failed.to_string().contains("more than"), "{failed}");
    let path = dir.path().join("many.tgz");
    let names: Vec<String> = (0..=super::FILES_MAX).map(|it| format!("f{it}")).collect();
    tar_gz(&path, &names.iter().map(|it| (it.as_str(), FILE, "")).collect::<Vec<_>>());
    assert!(unpacked(&path).unwrap_err().to_string().contains("files"));
}

#[test]
fn archives_are_known_by_their_names() {
    for (name, stem) in [
        ("in/team7.zip", Some("team7")),
        ("team7.tar.gz", Some("team7")),
        ("my.bot.TGZ", Some("my.bot")),
        (".zip", None),
        ("team7.gz", None),
        ("team7.rar", None),
    ] {
        assert_eq!(archive_stem(Path::new(name)).as_deref(), stem, "{name}");
    }
}

#[test]
fn what_nobody_used_for_long_is_removed() {
    let root = tempfile::tempdir().unwrap();
    for (name, age) in [("new", Duration::ZERO), ("old", KEPT + Duration::from_secs(60))] {
        let place = root.path().join(name);
        fs::create_dir_all(place.join("bot")).unwrap();
        File::open(&place).unwrap().set_modified(SystemTime::now() - age).unwrap();
    }
    remove_unused(root.path());
    assert!(root.path().join("new/bot").is_dir() && !root.path().join("old").exists());
}
