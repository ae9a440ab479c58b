//! A contest's folder and its lock.

use super::super::folder::{CONTEST_FILE, Folder, STORE_FILE};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn a_new_folder_may_have_the_files_of_a_killed_run() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("deep/d");
    let folder = Folder::create(&root).unwrap();
    drop(folder.lock().unwrap());
    fs::write(folder.file(), "x").unwrap();
    for name in ["agents/a", "rules/b", "games"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    for name in ["contest.db.new", "contest.db.new-wal", "contest.db.new-journal"] {
        fs::write(root.join(name), "x").unwrap();
    }
    assert_eq!(Folder::create(&root).unwrap(), folder);
    assert!(!Folder::has_contest(&root));
    assert!(Folder::open(&root).unwrap_err().to_string().contains("not a contest's folder"));
    fs::write(root.join(STORE_FILE), "x").unwrap();
    let failure = Folder::create(&root).unwrap_err();
    assert!(failure.to_string().contains("already has a contest"), "{failure}");
    assert_eq!(Folder::open(&root).unwrap(), folder);
    fs::remove_file(root.join(STORE_FILE)).unwrap();
    fs::write(root.join("thesis.tex"), "x").unwrap();
    let failure = Folder::create(&root).unwrap_err();
    assert!(failure.to_string().contains("not empty"), "{failure}");
    // Agents of the caller's own.
    let own = place.path().join("own");
    fs::create_dir_all(own.join("agents/mybot")).unwrap();
    let failure = Folder::create(&own).unwrap_err();
    assert!(failure.to_string().contains("not empty"), "{failure}");
    assert!(root.join(CONTEST_FILE).exists() && root.join("thesis.tex").exists());
}

#[test]
fn a_contest_s_folder_is_closed_to_other_users() {
    let place = tempfile::tempdir().unwrap();
    let is_root = nix::unistd::Uid::effective().is_root();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for root in ["new", "there"].map(|name| place.path().join(name)) {
        if root.ends_with("there") {
            fs::create_dir(&root).unwrap();
        }
        let folder = Folder::create(&root).unwrap();
        assert_eq!(mode(&root), if is_root { 0o710 } else { 0o700 });
        for name in ["games/0000", "agents/a", "rules/b", "submissions"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(folder.store(), "x").unwrap();
        folder.close_to_others().unwrap();
        if is_root {
            // Agents, who run as others, pass to their own files.
            let modes = ["games", "submissions", STORE_FILE, "agents", "agents/a", "rules"];
            let modes = modes.map(|name| mode(&root.join(name)));
            assert_eq!(modes, [0o700, 0o700, 0o600, 0o710, 0o755, 0o710]);
        }
        // Opened by its owner, it stays so.
        fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(root.join("report.html"), "x").unwrap();
        folder.close_to_others().unwrap();
        assert_eq!(mode(&root.join("report.html")), 0o644);
    }
}

#[test]
fn links_and_pipes_in_a_foreign_folder_are_not_opened() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::create(place.path()).unwrap();
    let secret = tempfile::NamedTempFile::new().unwrap();
    fs::write(secret.path(), "key").unwrap();
    let lock = folder.path("lock");
    assert!(folder.lock().is_ok() && lock.exists());
    fs::remove_file(&lock).unwrap();
    for path in [&folder.file(), &lock] {
        std::os::unix::fs::symlink(secret.path(), path).unwrap();
    }
    assert!(folder.read_file().is_err() && folder.lock().is_err() && !folder.is_locked());
    assert_eq!(fs::read_to_string(secret.path()).unwrap(), "key");
    for path in [&folder.file(), &lock] {
        fs::remove_file(path).unwrap();
        nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    }
    assert!(folder.read_file().is_err() && folder.lock().is_err() && !folder.is_locked());
}

#[test]
fn nobody_works_on_a_folder_with_links_for_its_own() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::create(place.path()).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path("games")).unwrap();
    for name in ["replays", "agents", "games/0000"] {
        std::os::unix::fs::symlink(elsewhere.path(), folder.path(name)).unwrap();
        let failure = folder.lock().unwrap_err().to_string();
        assert!(failure.contains(name) && failure.contains("is a link"), "{failure}");
        fs::remove_file(folder.path(name)).unwrap();
    }
    assert!(folder.lock().is_ok());
}

#[test]
fn transcripts_are_a_thousand_a_folder() {
    assert_eq!(Folder::transcript(0), "games/0000/0000000.jsonl");
    assert_eq!(Folder::transcript(999), "games/0000/0000999.jsonl");
    assert_eq!(Folder::transcript(1000), "games/0001/0001000.jsonl");
    assert_eq!(Folder::transcript(9_999_999), "games/9999/9999999.jsonl");
    assert_eq!(Folder::transcript(12_345_678), "games/12345/12345678.jsonl");
    assert_eq!(Folder::void_transcript(7, 2), "games/0000/0000007-void-2.jsonl");
}

#[test]
fn one_referee_at_a_time_has_the_lock() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::create(place.path()).unwrap();
    assert!(!folder.is_locked());
    let lock = folder.lock().unwrap();
    assert!(folder.is_locked());
    let failure = folder.lock().unwrap_err();
    let holder = format!("process {}", std::process::id());
    assert!(failure.to_string().contains(&holder), "{failure}");
    assert_eq!(failure.kind(), referee_process::FailureKind::Machine);
    drop(lock);
    assert!(!folder.is_locked());
}

#[test]
fn asking_for_the_lock_blocks_no_one() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::create(place.path()).unwrap();
    drop(folder.lock().unwrap());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                folder.is_locked();
            }
        });
        let refused = (0..300).filter(|_| folder.lock().is_err()).count();
        done.store(true, Ordering::SeqCst);
        assert_eq!(refused, 0);
    });
}
