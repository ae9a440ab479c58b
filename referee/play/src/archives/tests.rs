use super::{
    ANY_BYTES, BYTES_MAX, EXTENSION_BYTES_MAX, Format, KEPT, LIST_BYTES_MAX, Most, Unpacking,
    archive_stem, private_root_in, remove_unused, shown, unpacked,
};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::collections::BTreeMap;
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
fn a_foreign_folder_is_left_for_a_private_one() {
    let place = tempfile::tempdir().unwrap();
    let root = private_root_in(place.path()).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&root) & 0o066, 0);
    assert_eq!(private_root_in(place.path()).unwrap(), root);
    // As if another user had made it.
    fs::set_permissions(&root, fs::Permissions::from_mode(0o777)).unwrap();
    let other = private_root_in(place.path()).unwrap();
    assert!(other != root && mode(&other) & 0o066 == 0);
    assert_eq!(private_root_in(place.path()).unwrap(), other, "what was unpacked is found again");
    let unpacked = other.join("0f".repeat(32)).join("team7/bot.py");
    assert_eq!(shown(&unpacked.display().to_string()), "team7/bot.py");
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
        // A link up that stays inside, a link out that seems to begin deeper than it does, and one that is made there.
        &[
            ("p/1/2/3/4/f", FILE, "x"),
            ("p/1/2/3/4/e", LINK, "../../../../.."),
            ("p/1/2/3/4/e/out", LINK, "../../../../../.."),
            ("p/1/2/3/4/e/out/evil", LINK, "../../../../../../student/evil.sh"),
        ],
        // The same by links alone, of which none has a link above it.
        &[
            ("p/1/2/f", FILE, "x"),
            ("p/1/2/up", LINK, "../../.."),
            ("p/1/2/out", LINK, "up/../evil"),
        ],
        // Out of the only folder, which is the agent.
        &[("agent/up", LINK, ".."), ("agent/f", FILE, "x")],
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
    // In a zip archive, the mode has the kind: a device, a pipe, a socket.
    for mode in [0o020_644_u16, 0o060_644, 0o010_644, 0o140_644] {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("bad.zip");
        zip(&path, &[("agent/x", FILE, "x")]);
        let mut bytes = fs::read(&path).unwrap();
        let listed = bytes.windows(4).position(|it| it == b"PK\x01\x02").unwrap();
        bytes[listed + 40..][..2].copy_from_slice(&mode.to_le_bytes());
        fs::write(&path, bytes).unwrap();
        let failed = unpacked(&path).unwrap_err().to_string();
        assert!(failed.contains("neither a file"), "{mode:o}: {failed}");
    }
}

#[test]
fn a_link_where_a_folder_is_is_refused_before_any_link_is_made() {
    let entries = [
        ("agent/1/2/3/f", FILE, "x"),
        // By the link at `b` it stays inside, by the folder there it leads out.
        ("agent/a", LINK, "b/../../../f"),
        ("agent/b", LINK, "1/2/3"),
        ("agent/b/f", FILE, "x"),
    ];
    let dir = TempDir::new().unwrap();
    let archive = dir.path().join("bad.tar.gz");
    tar_gz(&archive, &entries);
    let folder = dir.path().join("unpacked");
    let most = Most { bytes: BYTES_MAX, files: 100 };
    let mut unpacking = Unpacking::new(&folder, ANY_BYTES, most).unwrap();
    unpacking.archive(Format::TarGz, File::open(&archive).unwrap()).unwrap();
    let failed = unpacking.finish().unwrap_err().to_string();
    assert!(failed.contains("agent/b"), "{failed}");
    let names = fs::read_dir(folder.join("agent")).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["1", "b"]);
}

/// What is in a folder: the kind of each path, and the text or target.
fn all(folder: &Path, inside: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder.join(inside)).unwrap() {
        let path = inside.join(entry.unwrap().file_name());
        let whole = folder.join(&path);
        let kind = whole.symlink_metadata().unwrap();
        if kind.is_dir() {
            found.insert(path.clone(), b"folder".to_vec());
            all(folder, &path, found);
        } else if kind.is_file() {
            found.insert(path, fs::read(whole).unwrap());
        } else {
            found.insert(path, fs::read_link(whole).unwrap().into_os_string().into_encoded_bytes());
        }
    }
}

/// Names and targets, with links through links and ways out.
fn paths() -> impl Strategy<Value = String> {
    let part = prop_oneof![6 => "[ab]", 3 => Just("..".to_owned()), 1 => Just(".".to_owned())];
    (prop::bool::weighted(0.05), prop::collection::vec(part, 1..6)).prop_map(|(absolute, parts)| {
        ["", "/"][usize::from(absolute)].to_owned() + &parts.join("/")
    })
}

/// Names: few with `..`, so that most archives are unpacked; many below that of an earlier entry.
fn names() -> impl Strategy<Value = (Option<prop::sample::Index>, String)> {
    let plain = prop::collection::vec("[abc]", 1..4).prop_map(|parts| parts.join("/"));
    let name = prop_oneof![19 => plain, 1 => paths()];
    (prop::option::of(any::<prop::sample::Index>()), name)
}

/// Targets: many that only go up, no more often than the name has folders.
fn targets() -> impl Strategy<Value = (Option<prop::sample::Index>, String)> {
    (prop::option::weighted(0.8, any::<prop::sample::Index>()), paths())
}

fn kinds() -> impl Strategy<Value = EntryType> {
    prop_oneof![1 => Just(FILE), 1 => Just(EntryType::Directory), 6 => Just(LINK)]
}

proptest! {
    #[test]
    fn nothing_outside_changes(
        drawn in prop::collection::vec((names(), kinds(), targets()), 1..8),
        is_tar in any::<bool>(),
    ) {
        let dir = TempDir::new().unwrap();
        // What links may lead to, so that a way through them exists.
        let outside = dir.path().join("x/a/b/a/b");
        fs::create_dir_all(&outside).unwrap();
        fs::create_dir_all(dir.path().join("x/a/a/a")).unwrap();
        let mut made: Vec<(String, EntryType, String)> = Vec::new();
        for ((above, name), kind, (up, path)) in drawn {
            let above = above.filter(|_| !made.is_empty()).map(|it| &it.get(&made).0);
            let name = above.map_or_else(|| name.clone(), |above| format!("{above}/{name}"));
            let up = up.map(|up| vec![".."; up.index(name.split('/').count())].join("/"));
            made.push((name, kind, up.filter(|up| !up.is_empty()).unwrap_or(path)));
        }
        let mut entries: Vec<Entry<'_>> =
            made.iter().map(|(name, kind, to)| (name.as_str(), *kind, to.as_str())).collect();
        if !is_tar {
            // The library that writes archives for tests refuses two entries with one name.
            entries.sort_by_key(|(name, ..)| *name);
            entries.dedup_by_key(|(name, ..)| *name);
        }
        let archive = dir.path().join("archive");
        if is_tar {
            tar_gz(&archive, &entries);
        } else {
            zip(&archive, &entries);
        }
        let mut before = BTreeMap::new();
        all(dir.path(), Path::new(""), &mut before);
        let files = outside.join("files");
        let mut unpacking = Unpacking::new(&files, 1, Most::default()).unwrap();
        let opened = File::open(&archive).unwrap();
        let read = if is_tar { unpacking.tar(GzDecoder::new(opened)) } else { unpacking.zip(opened) };
        read.and_then(|()| unpacking.finish()).ok();
        let mut after = BTreeMap::new();
        all(dir.path(), Path::new(""), &mut after);
        let inside = files.strip_prefix(dir.path()).unwrap();
        let root = files.canonicalize().unwrap();
        for path in after.keys().filter(|path| path.starts_with(inside)) {
            if let Ok(found) = dir.path().join(path).canonicalize() {
                prop_assert!(found.starts_with(&root), "{path:?} leads to {found:?}");
            }
        }
        after.retain(|path, _| !path.starts_with(inside));
        prop_assert_eq!(before, after);
    }
}

#[test]
fn long_names_are_read_within_bounds() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("long.tar.gz");
    let long = format!("agent/{}/bot.py", "d".repeat(150));
    let gz = || GzEncoder::new(File::create(&path).unwrap(), Compression::fast());
    let mut tar = Builder::new(gz());
    // The first with an extension of GNU, the others with those of PAX.
    let mut header = Header::new_gnu();
    header.set_size(3);
    header.set_mode(0o755);
    tar.append_data(&mut header, &long, &b"bot"[..]).unwrap();
    for (name, kind, text) in [("new/weights", FILE, ""), ("new/link", LINK, "weights")] {
        let extensions = [("path", format!("agent/{name}")), ("linkpath", text.to_owned())];
        tar.append_pax_extensions(extensions.iter().map(|(key, text)| (*key, text.as_bytes())))
            .unwrap();
        let mut header = Header::new_ustar();
        header.set_path("short").unwrap();
        header.set_entry_type(kind);
        header.set_size(0);
        header.set_cksum();
        tar.append(&header, &b""[..]).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap();
    let folder = unpacked(&path).unwrap();
    assert_eq!(fs::read(folder.join(long.trim_start_matches("agent/"))).unwrap(), b"bot");
    assert_eq!(fs::read_link(folder.join("new/link")).unwrap(), Path::new("weights"));
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();

    for kind in [EntryType::GNULongName, EntryType::GNULongLink, EntryType::XHeader] {
        let mut tar = Builder::new(gz());
        let mut header = Header::new_gnu();
        header.set_path("x").unwrap();
        header.set_entry_type(kind);
        // Without what it announces: nothing of it is read.
        header.set_size(EXTENSION_BYTES_MAX + 1);
        header.set_cksum();
        tar.append(&header, &b""[..]).unwrap();
        tar.into_inner().unwrap().finish().unwrap();
        let failed = unpacked(&path).unwrap_err().to_string();
        assert!(failed.contains(&format!("more than {EXTENSION_BYTES_MAX} bytes")), "{failed}");
    }
    // Its size would hide further entries.
    for (key, value) in [("size", "0"), ("GNU.sparse.major", "1")] {
        let mut tar = Builder::new(gz());
        tar.append_pax_extensions([(key, value.as_bytes())]).unwrap();
        tar.into_inner().unwrap().finish().unwrap();
        assert!(unpacked(&path).is_err(), "{key}");
    }
}

/// Makes an archive of entries with a long name and a long target each.
fn tar_gz_long(path: &Path, kind: EntryType, entries: &[(String, String)]) {
    let mut tar = Builder::new(GzEncoder::new(File::create(path).unwrap(), Compression::fast()));
    let mut append = |name: &str, kind: EntryType, text: &str| {
        let mut header = Header::new_gnu();
        header.set_path(name).unwrap();
        header.set_entry_type(kind);
        header.set_size(text.len() as u64);
        header.set_cksum();
        tar.append(&header, text.as_bytes()).unwrap();
    };
    for (name, target) in entries {
        append("././@LongLink", EntryType::GNULongName, name);
        if !target.is_empty() {
            append("././@LongLink", EntryType::GNULongLink, target);
        }
        append("short", kind, "");
    }
    tar.into_inner().unwrap().finish().unwrap();
}

#[test]
fn names_take_little_memory_whatever_they_are() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("names.tar.gz");
    // Returns how many bytes of names are kept, too.
    let archive = |kind: EntryType, entries: &[(String, String)]| {
        tar_gz_long(&path, kind, entries);
        let files = TempDir::new().unwrap();
        let most = Most { files: 100, ..Most::default() };
        let mut unpacking = Unpacking::new(&files.path().join("new"), 1, most).unwrap();
        let read = unpacking.archive(Format::TarGz, File::open(&path).unwrap());
        let length = |path: &PathBuf| path.as_os_str().len();
        let written: usize =
            unpacking.written.iter().map(|((_, key), (_, part))| key.len() + part.len()).sum();
        let links: usize =
            unpacking.links.iter().map(|(path, target)| length(path) + length(target)).sum();
        (read.map_err(|error| error.to_string()), written + links)
    };
    let part = "d".repeat(250);
    let named = |name: String| (name, String::new());
    let deep = |number: usize| named(format!("{number}/{}", [&*part; 4].join("/")));
    let linked = |number: usize| (format!("{number}"), "t".repeat(1000));
    let bound = "the names of all files have more than 12800 bytes";

    // No name of a global header is kept, but it counts.
    let global = |count: usize| -> Vec<(String, String)> {
        (0..count)
            .map(|number| named(format!("{number}{}", format!("/{part}").repeat(30))))
            .collect()
    };
    assert_eq!(archive(EntryType::XGlobalHeader, &global(100)), (Ok(()), 0));
    let (many, kept) = archive(EntryType::XGlobalHeader, &global(101));
    assert!(many.unwrap_err().contains("more than 100 files") && kept == 0);

    for (kind, entries, why) in [
        (FILE, global(1), "has a name of more than 1024 bytes"),
        (FILE, vec![named("e".repeat(256))], "a part of it more than 255"),
        (FILE, (0..20).map(deep).collect::<Vec<_>>(), bound),
        (LINK, (0..20).map(linked).collect(), bound),
        (LINK, vec![("a".to_owned(), "t".repeat(1025))], "is a link to a name that is too long"),
    ] {
        let (read, kept) = archive(kind, &entries);
        let error = read.unwrap_err();
        assert!(error.contains(why), "{error}");
        assert!(kept <= 2 * 12800, "{kept}");
    }
    // One is never cut off.
    let path = dir.path().join("link.zip");
    zip(&path, &[("a", LINK, &"t".repeat(1025))]);
    let error = unpacked(&path).unwrap_err().to_string();
    assert!(error.contains("is a link to a name that is too long"), "{error}");
}

#[test]
fn the_list_of_a_zip_archive_is_read_within_bounds() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("many.zip");
    // An end that announces a longer list than is read, of files without content.
    let entry = [&b"PK\x01\x02\x14\0\x14\0"[..], &[0; 20], &[1, 0], &[0; 16], b"a"].concat();
    let count = usize::try_from(LIST_BYTES_MAX).unwrap() / entry.len() + 1;
    let (count, size) = (count as u64, (count * entry.len()) as u64);
    let mut text = entry.repeat(usize::try_from(count).unwrap());
    text.extend(b"PK\x06\x06");
    text.extend(44_u64.to_le_bytes());
    text.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for number in [count, count, size, 0] {
        text.extend(number.to_le_bytes());
    }
    text.extend(b"PK\x06\x07\0\0\0\0");
    text.extend(size.to_le_bytes());
    text.extend([1, 0, 0, 0]);
    text.extend(b"PK\x05\x06\0\0\0\0");
    text.extend([[0xff; 12].as_slice(), &[0; 2]].concat());
    fs::write(&path, text).unwrap();
    assert!(unpacked(&path).unwrap_err().to_string().contains("files and folders"));
}

#[test]
fn a_small_archive_has_no_large_files() {
    let dir = TempDir::new().unwrap();
    let zeros = "\0".repeat(usize::try_from(ANY_BYTES).unwrap());
    let entries = [("agent/a", FILE, zeros.as_str()), ("agent/b", FILE, "x")];
    for (name, write) in
        [("bomb.zip", zip as fn(&Path, &[Entry<'_>])), ("bomb.tar.gz", tar_gz as _)]
    {
        let path = dir.path().join(name);
        write(&path, &entries);
        let failed = unpacked(&path).unwrap_err().to_string();
        assert!(failed.contains("16 MiB") && failed.contains("100 times"), "{failed}");
    }
    // Each name has folders of its own, which count too.
    let path = dir.path().join("folders.tar.gz");
    let names: Vec<String> = (0..1000).map(|it| format!("{it}{}", "/d".repeat(25))).collect();
    tar_gz(&path, &names.iter().map(|it| (it.as_str(), FILE, "")).collect::<Vec<_>>());
    assert!(unpacked(&path).unwrap_err().to_string().contains("files and folders"));
}

#[test]
fn what_is_unpacked_is_bounded() {
    let dir = TempDir::new().unwrap();
    let mut unpacking =
        Unpacking::new(&dir.path().join("files"), BYTES_MAX, Most::default()).unwrap();
    // As if almost everything was written.
    unpacking.bytes = BYTES_MAX - 10;
    let failed = unpacking.file(Path::new("x"), None, &mut &[0; 20][..]).unwrap_err();
    assert!(failed.to_string().contains("more than"), "{failed}");
    let path = dir.path().join("many.tgz");
    let names: Vec<String> = (0..=super::FILES_MAX).map(|it| format!("f{it}")).collect();
    tar_gz(&path, &names.iter().map(|it| (it.as_str(), FILE, "")).collect::<Vec<_>>());
    assert!(unpacked(&path).unwrap_err().to_string().contains("files and folders"));
}

#[test]
fn archives_are_known_by_their_names() {
    for (name, stem) in [
        ("in/team7.zip", Some("team7")),
        ("team7.tar.gz", Some("team7")),
        ("my.bot.TGZ", Some("my.bot")),
        ("team7.tar", Some("team7")),
        (".zip", None),
        ("team7.gz", None),
        ("team7.rar", None),
    ] {
        assert_eq!(archive_stem(Path::new(name)).as_deref(), stem, "{name}");
    }
}

#[test]
fn names_that_other_systems_read_otherwise_are_refused() {
    for (entries, why) in [
        (
            &[("agent/Bot.py", FILE, "x"), ("agent/bot.py", FILE, "y")][..],
            "only by capital letters",
        ),
        (&[("Agent/a", FILE, "x"), ("agent/b", FILE, "y")], "only by capital letters"),
        (&[("agent/a", FILE, "x"), ("agent/A", LINK, "a")], "only by capital letters"),
        (
            &[("agent/z\u{fc}g", FILE, "x"), ("agent/zu\u{308}g", FILE, "y")],
            "only by how accents are encoded",
        ),
        (&[("agent/\u{dc}/a", FILE, "x"), ("agent/u\u{308}/b", FILE, "y")], "only by"),
        (
            &[("agent\\bot.py", FILE, "x")],
            "agent\\bot.py in the archive has a name with a backslash",
        ),
        (&[("agent/a\nb", FILE, "x")], "agent/a\u{fffd}b in the archive has a name with a control"),
    ] {
        for refused in both(entries) {
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains(why), "{entries:?}: {refused}");
        }
    }
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("bad.tar.gz");
    let mut tar = Builder::new(GzEncoder::new(File::create(&path).unwrap(), Compression::fast()));
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..5].copy_from_slice(b"b\xe4.py");
    header.set_size(0);
    header.set_cksum();
    tar.append(&header, &b""[..]).unwrap();
    tar.into_inner().unwrap().finish().unwrap();
    assert!(unpacked(&path).unwrap_err().to_string().contains("not UTF-8"));
}

#[test]
fn a_name_that_is_twice_is_named() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("bad.tar.gz");
    for entries in [
        [("agent/x", FILE, "1"), ("agent/x", FILE, "2")],
        [("agent/x", LINK, "y"), ("agent/x", FILE, "2")],
        [("agent/x", LINK, "y"), ("agent/x", LINK, "z")],
    ] {
        tar_gz(&path, &entries);
        let failed = unpacked(&path).unwrap_err().to_string();
        assert!(failed.contains("agent/x in the archive is there twice"), "{failed}");
    }
    // The library that writes archives for tests refuses this.
    let path = dir.path().join("bad.zip");
    zip(&path, &[("agent/w", FILE, "0"), ("agent/x", FILE, "1"), ("agent/y", FILE, "2")]);
    let bytes = fs::read(&path).unwrap();
    let places = bytes.windows(7).enumerate().filter(|(_, at)| *at == b"agent/y");
    let places: Vec<usize> = places.map(|(at, _)| at).collect();
    let mut bytes = bytes.clone();
    for at in places {
        bytes[at..at + 7].copy_from_slice(b"agent/x");
    }
    fs::write(&path, bytes).unwrap();
    let failed = unpacked(&path).unwrap_err().to_string();
    assert!(failed.contains("agent/x in the archive is there twice"), "{failed}");
}

#[test]
fn what_was_handed_in_is_unpacked_within_bounds() {
    let dir = TempDir::new().unwrap();
    let sent = |name: &str, text: &str| {
        let path = dir.path().join("sent").join(name.replace('/', "-"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        (name.to_owned(), path)
    };
    let most = Most { bytes: 100, files: 6 };
    let mut number = 0;
    let mut unpacked = |files: &[(String, PathBuf)]| {
        number += 1;
        super::unpack(files, &dir.path().join(format!("to{number}")), most)
    };
    let one = unpacked(&[sent("bot.py", "#!/bin/sh\n")]).unwrap();
    assert_eq!(one.join("bot.py").metadata().unwrap().permissions().mode() & 0o777, 0o755);
    let folder = [sent("mine/bot.py", "x"), sent("mine/data/t", "y"), sent("mine/._x", "z")];
    let folder = unpacked(&folder).unwrap();
    assert_eq!(folder.file_name().unwrap(), "mine");
    assert_eq!(fs::read_to_string(folder.join("data/t")).unwrap(), "y");
    let path = dir.path().join("bot.tar");
    let mut tar = Builder::new(File::create(&path).unwrap());
    let mut header = Header::new_gnu();
    header.set_size(1);
    tar.append_data(&mut header, "in/x", &b"x"[..]).unwrap();
    tar.into_inner().unwrap();
    assert!(unpacked(&[("bot.tar".to_owned(), path)]).unwrap().join("x").is_file());
    for (files, why) in [
        (vec![sent("../x", "x")], "leads out"),
        (vec![sent("/x", "x")], "leads out"),
        (vec![sent("a", "x"), sent("A", "x")], "capital letters"),
        (vec![sent("a", "x"), sent("a/b", "x")], "in the archive"),
        (vec![sent("a", "x"), sent("a", "x")], "in the archive"),
        (vec![sent("large", &"x".repeat(101))], "more than"),
        ((0..7).map(|it| sent(&it.to_string(), "x")).collect(), "more than 6 files"),
    ] {
        let failed = unpacked(&files).unwrap_err().to_string();
        assert!(failed.contains(why), "{files:?}: {failed}");
    }
    assert!(!dir.path().join("x").exists());
}

#[test]
fn a_folder_is_packed_as_it_is_unpacked() {
    let dir = TempDir::new().unwrap();
    for (name, text) in
        [("bot.py", "#!/bin/sh"), ("data/t", "1"), (".git/x", "x"), ("a/__pycache__/x", "x")]
    {
        let path = dir.path().join("bot").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let bot = dir.path().join("bot");
    fs::set_permissions(bot.join("bot.py"), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("data/t", bot.join("link")).unwrap();
    let packed = dir.path().join("bot.tar.gz");
    fs::write(&packed, super::pack(&bot, 16).unwrap()).unwrap();
    assert!(super::pack(&bot, 15).unwrap_err().to_string().contains("more than 0 MiB"));
    let to = dir.path().join("to");
    let sent = [("bot.tar.gz".to_owned(), packed)];
    let unpacked = super::unpack(&sent, &to, Most::default()).unwrap();
    let mut found = BTreeMap::new();
    all(&unpacked, Path::new(""), &mut found);
    let names: Vec<&str> = found.keys().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(names, ["bot.py", "data", "data/t", "link"]);
    assert_eq!(unpacked.join("bot.py").metadata().unwrap().permissions().mode() & 0o777, 0o755);
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
