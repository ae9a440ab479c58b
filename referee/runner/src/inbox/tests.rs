use super::{Disk, Inbox, Kept, KeptVersion, LOOK_MIN, Pace, results};
use crate::disk::ENTRY_BYTES;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::{Duration, Instant};

fn look(inbox: &mut Inbox, pace: &Pace) -> std::io::Result<bool> {
    inbox.look(pace, Instant::now() + Duration::from_secs(3600))
}

/// Keeps all that is complete.
fn keep(inbox: &mut Inbox, pace: &mut Pace) -> (Vec<KeptVersion>, Vec<String>) {
    let (mut versions, mut notes) = (Vec::new(), Vec::new());
    loop {
        let until = Instant::now() + Duration::from_secs(3600);
        let (version, more) = inbox.keep(pace, until).unwrap();
        notes.extend(more);
        match version {
            Some(version) => versions.push(version),
            None => return (versions, notes),
        }
    }
}

#[test]
fn no_user_fills_the_disk_or_plays_all_games() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, base, kept) =
        (dir.path().join("in"), dir.path().to_owned(), dir.path().join("kept"));
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
    let inbox = Inbox::new(folder.clone(), None, base, kept.clone());
    let (user, owner) = (54_321, fs::metadata(&folder).unwrap().uid());
    let version = |name: &str, user: u32, bytes: u64| {
        let folder = kept.join(name).join("1");
        fs::create_dir_all(&folder).unwrap();
        let (team, path) = (name.to_owned(), folder.join(name));
        File::create(folder.join("bot")).unwrap().set_len(bytes).unwrap();
        KeptVersion { team, is_teams: None, path, folder, user, seen: None }
            .close(Ok(name))
            .unwrap();
    };
    version("a", user, 1000);
    let refused = |name: &str, user, bytes| inbox.excess(&folder.join(name), user, bytes).unwrap();
    let share = Disk::of(dir.path()).unwrap().share();
    let taken: u64 = results(&kept.join("a")).map(|it| it.bytes).sum();
    assert!((1000 + ENTRY_BYTES..share).contains(&taken), "{taken}");
    assert_eq!(refused("b", user, (share - taken) / 2), None);
    let why = refused("b", user, share / 2).unwrap();
    assert!(why.contains("more than the"), "{why}");
    // Others, and who may hand in for others.
    for other in [54_322, owner, 0] {
        let why = refused("b", other, share / 2 + 1);
        assert_eq!(why.is_some(), other == 54_322);
    }
    for name in ["b", "c", "d", "e", "f", "g", "h"] {
        assert_eq!(refused(name, user, 1), None);
        version(name, user, 1);
    }
    let why = refused("i", user, 1).unwrap();
    assert!(why.contains("8 others that play"), "{why}");
    assert_eq!([refused("h", user, 1), refused("i", 54_322, 1)], [None, None]);
    // Only the owner adds to it.
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(refused("i", user, 1), None);
}

#[test]
fn nobody_keeps_others_waiting_by_many_submissions() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, base) = (dir.path().join("in"), dir.path().to_owned());
    let mut inbox = Inbox::new(folder.clone(), None, base, dir.path().join("kept"));
    let hand_in = |name: &str| {
        fs::create_dir_all(folder.join(name)).unwrap();
        fs::write(folder.join(name).join("agent.toml"), "command = \"true\"").unwrap();
    };
    // The oldest first.
    for name in ["zoe", "a1", "a2", "a3"] {
        hand_in(name);
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut pace = Pace::default();
    let is_root = nix::unistd::Uid::effective().is_root();
    if is_root {
        std::os::unix::fs::chown(folder.join("a3"), Some(65_534), None).unwrap();
    }
    look(&mut inbox, &pace).unwrap();
    look(&mut inbox, &pace).unwrap();
    let mut taken = Vec::new();
    while let (Some(version), _) =
        inbox.keep(&mut pace, Instant::now() + Duration::from_secs(3600)).unwrap()
    {
        // The other is complete, but waits.
        assert_eq!(inbox.complete.len(), 3 - taken.len());
        pace.charge(version.user, Duration::from_secs(600));
        taken.push(version.team);
    }
    let expected = if is_root { ["zoe", "a3", "a1", "a2"] } else { ["zoe", "a1", "a2", "a3"] };
    assert_eq!(taken, expected);
    // A known one before others, and nothing when the time is over.
    hand_in("a0");
    std::thread::sleep(Duration::from_millis(20));
    fs::write(folder.join("zoe/agent.toml"), "command = [\"true\"]").unwrap();
    look(&mut inbox, &Pace::default()).unwrap();
    look(&mut inbox, &Pace::default()).unwrap();
    assert!(inbox.keep(&mut pace, Instant::now()).unwrap().0.is_none());
    assert_eq!(inbox.next(&Pace::default()).unwrap().0, folder.join("zoe"));
    // What is no agent takes time of its user, too.
    let own = nix::unistd::geteuid().as_raw();
    let before = pace.used(own);
    fs::write(folder.join("junk.txt"), "junk").unwrap();
    let until = Instant::now() + Duration::from_secs(3600);
    inbox.look(&Pace::default(), until).unwrap();
    inbox.look(&Pace::default(), until).unwrap();
    inbox.complete.retain(|path| path.ends_with("junk.txt"));
    inbox.keep(&mut pace, until).unwrap();
    assert!(pace.used(own) >= before + LOOK_MIN);
}

#[test]
fn no_name_of_a_submission_is_that_of_a_file_of_the_contest() {
    let names = ["result.json", "feedback.md", "feedback.xml", "files", ".partial", "1"];
    for is_folder in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("in");
        fs::create_dir(&folder).unwrap();
        for name in names {
            let path = folder.join(name);
            let file = if is_folder { path.join(name) } else { path };
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "#!/bin/sh\n").unwrap();
            fs::set_permissions(file, Permissions::from_mode(0o755)).unwrap();
        }
        let (base, kept) = (dir.path().to_owned(), dir.path().join("kept"));
        let open = || Inbox::new(folder.clone(), None, base.clone(), kept.clone());
        let mut inbox = open();
        look(&mut inbox, &Pace::default()).unwrap();
        assert!(look(&mut inbox, &Pace::default()).unwrap());
        let versions = keep(&mut inbox, &mut Pace::default()).0;
        for version in &versions {
            version.close(Err("refused")).unwrap();
            assert!(version.path.exists() && version.folder.join("result.json").is_file());
        }
        // Documents are no agents; hidden names are no submissions.
        assert_eq!(versions.len(), if is_folder { 5 } else { 2 });
        let mut again = open();
        look(&mut again, &Pace::default()).unwrap();
        look(&mut again, &Pace::default()).unwrap();
        assert!(keep(&mut again, &mut Pace::default()).0.is_empty(), "kept already");
    }
}

#[test]
fn what_a_build_changes_in_a_version_makes_no_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("in");
    let open = || {
        let (base, kept) = (dir.path().to_owned(), dir.path().join("kept"));
        Inbox::new(folder.clone(), None, base, kept)
    };
    fs::create_dir_all(folder.join("amy")).unwrap();
    fs::write(folder.join("amy/agent.toml"), "command = \"true\"").unwrap();
    let mut inbox = open();
    look(&mut inbox, &Pace::default()).unwrap();
    assert!(look(&mut inbox, &Pace::default()).unwrap());
    let (versions, _) = keep(&mut inbox, &mut Pace::default());
    fs::write(versions[0].path.join("agent.toml"), "command = \"false\"").unwrap();
    versions[0].close(Ok("amy")).unwrap();
    let mut again = open();
    look(&mut again, &Pace::default()).unwrap();
    assert!(!look(&mut again, &Pace::default()).unwrap());
    fs::write(folder.join("amy/agent.toml"), "command = [\"true\"]").unwrap();
    look(&mut again, &Pace::default()).unwrap();
    assert!(look(&mut again, &Pace::default()).unwrap());
}

#[test]
fn versions_that_were_kept_beside_their_results_are_known() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, kept) = (dir.path().join("in"), dir.path().join("kept"));
    for place in [folder.join("amy"), kept.join("amy/1/amy")] {
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("x"), "x").unwrap();
        let time = std::time::SystemTime::UNIX_EPOCH;
        File::open(place.join("x")).unwrap().set_modified(time).unwrap();
    }
    fs::write(kept.join("amy/1/result.json"), "{}").unwrap();
    let mut inbox = Inbox::new(folder, None, dir.path().to_owned(), kept);
    look(&mut inbox, &Pace::default()).unwrap();
    assert!(!look(&mut inbox, &Pace::default()).unwrap());
}

#[test]
fn what_is_no_agent_is_looked_at_alone_and_waits() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("in");
    fs::create_dir_all(folder.join("amy")).unwrap();
    let (base, kept) = (dir.path().to_owned(), dir.path().join("kept"));
    let mut inbox = Inbox::new(folder.clone(), None, base, kept);
    let mut pace = Pace::default();
    let mut hand_in = |text: &str| {
        fs::write(folder.join("notes.txt"), text).unwrap();
        look(&mut inbox, &pace).unwrap();
        let is_new = look(&mut inbox, &pace).unwrap();
        inbox.complete.retain(|path| path.ends_with("notes.txt"));
        let kept = keep(&mut inbox, &mut pace);
        (is_new && kept.0.is_empty(), kept.1)
    };
    let ignored = ["notes.txt is ignored: it is not an agent".to_owned()];
    assert_eq!(hand_in("one"), (true, ignored.to_vec()));
    // The other file is new, but this one waits.
    assert_eq!(hand_in("one two"), (true, Vec::new()));
    let now = Instant::now();
    assert!(pace.games_for(now) > Duration::ZERO && pace.is_held(&folder.join("notes.txt"), now));
    let read = |wanted| super::submissions(&folder, None, dir.path(), wanted).unwrap();
    assert_eq!(read(|path: &std::path::Path| path.ends_with("notes.txt")).0.len(), 0);
}

#[test]
fn too_many_files_stop_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("in");
    fs::create_dir(&folder).unwrap();
    let (base, kept) = (dir.path().to_owned(), dir.path().join("kept"));
    let mut inbox = Inbox::new(folder.clone(), None, base, kept);
    for number in 0..=10_000 {
        File::create(folder.join(number.to_string())).unwrap();
    }
    assert!(!look(&mut inbox, &Pace::default()).unwrap());
    assert!(keep(&mut inbox, &mut Pace::default()).0.is_empty());
    assert!(!look(&mut inbox, &Pace::default()).unwrap());
    let warnings = inbox.warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("more than 10000"), "{warnings:?}");
}

#[test]
fn a_team_waits_while_the_others_hand_in() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("in");
    let (base, kept) = (dir.path().to_owned(), dir.path().join("kept"));
    let mut inbox = Inbox::new(folder.clone(), None, base, kept);
    for team in ["one", "two"] {
        fs::create_dir_all(folder.join(team)).unwrap();
        fs::write(folder.join(team).join("x"), "x").unwrap();
    }
    let hour = Duration::from_secs(3600);
    let now = Instant::now();
    let mut pace = Pace::default();
    pace.took(folder.join("one"), now, now + hour);
    assert!(!look(&mut inbox, &pace).unwrap(), "not complete yet");
    assert!(look(&mut inbox, &pace).unwrap());
    assert_eq!(inbox.complete, [folder.join("two")]);
    assert!(look(&mut inbox, &Pace::default()).unwrap());
    assert_eq!(inbox.complete, [folder.join("one"), folder.join("two")]);
}

#[test]
fn a_look_that_takes_too_long_goes_on_at_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("in");
    let (base, kept) = (dir.path().to_owned(), dir.path().join("kept"));
    let mut inbox = Inbox::new(folder.clone(), None, base, kept);
    for team in ["a", "b", "c"] {
        fs::create_dir_all(folder.join(team)).unwrap();
    }
    let (pace, over) = (Pace::default(), Instant::now());
    let mut complete = || {
        inbox.look(&pace, over).unwrap();
        inbox.complete.clone()
    };
    (0..3).for_each(|_| assert!(complete().is_empty()));
    let found: Vec<_> = (0..4).flat_map(|_| complete()).collect();
    assert_eq!(found, ["a", "b", "c", "a"].map(|team| folder.join(team)));
}

#[test]
fn what_is_gone_for_a_moment_or_changes_its_owner_is_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, kept) = (dir.path().join("in"), dir.path().join("kept"));
    fs::create_dir(&folder).unwrap();
    let mut inbox = Inbox::new(folder.clone(), None, dir.path().to_owned(), kept);
    let (gone, there) = (folder.join("gone.zip"), folder.join("there.zip"));
    fs::write(&there, "x").unwrap();
    let user = fs::metadata(&there).unwrap().uid();
    inbox.complete = vec![gone.clone(), there.clone()];
    assert_eq!(inbox.next(&Pace::default()), Some((there.clone(), user)));
    assert_eq!(inbox.next(&Pace::default()), None);
    let another = inbox.keep_version((&there, user + 1), "there", None, false);
    assert!(matches!(another.unwrap(), Kept::Changing));
    let own = inbox.keep_version((&there, user), "there", None, false);
    assert!(matches!(own.unwrap(), Kept::Version(_)));
}

/// Whoever may write in a folder of submissions changes nobody's name by files of their own.
#[test]
fn a_name_is_of_the_user_whose_versions_have_it() {
    if !nix::unistd::Uid::effective().is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (folder, kept) = (dir.path().join("in"), dir.path().join("kept"));
    fs::create_dir(&folder).unwrap();
    let inbox = Inbox::new(folder.clone(), None, dir.path().to_owned(), kept);
    let [amy, eve, root] = [60_001, 60_002, 0];
    let hand_in = |name: &str, user: u32| {
        let path = folder.join(name);
        fs::write(&path, name).unwrap();
        std::os::unix::fs::chown(&path, Some(user), None).unwrap();
        path
    };
    let plays = |name: &str, user: u32, team: &str| {
        let Kept::Version(version) =
            inbox.keep_version((&hand_in(name, user), user), team, None, false).unwrap()
        else {
            panic!("not kept");
        };
        version.close(Ok(team)).unwrap();
    };
    let of = |name: &str, user, found: &str| inbox.team_of(&hand_in(name, user), user, found);
    plays("amy.zip", amy, "amy");
    // Beside another file of the same stem its name would be that of its file.
    hand_in("amy.txt", eve);
    assert_eq!(of("amy.zip", amy, "amy.zip"), ("amy".to_owned(), Some(true)));
    assert_eq!(of("amy.zip", root, "amy.zip"), ("amy".to_owned(), Some(true)));
    assert_eq!(of("amy.py", amy, "amy.py"), ("amy".to_owned(), Some(true)));
    for (name, found) in [("amy", "amy"), ("amy.zip", "amy")] {
        assert_eq!(of(name, eve, found), ("amy".to_owned(), Some(false)), "{name}");
    }
    assert_eq!(of("amy.txt", eve, "amy.txt"), ("amy.txt".to_owned(), None));
    assert_eq!(of("zoe", eve, "zoe"), ("zoe".to_owned(), None));
    // Earlier versions of Referee didn't note whose it is.
    fs::write(inbox.kept.join("amy.zip/1/result.json"), r#"{"at":"","player":"amy","why":null}"#)
        .unwrap();
    assert_eq!(of("amy.zip", amy, "amy.zip"), ("amy.zip".to_owned(), None));
}
