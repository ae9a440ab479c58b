//! Teams and what they hand in.

use crate::changing::GamesOf;
use crate::course::{
    Act, Course, NewTeam, Noted, Phase, RefusalKind, StepState, Task, Team, Teams, Upload,
    VersionId, collect, grades_by, is_awaiting_teams, last_versions, read_list,
};
use crate::folder::{Folder, TEAMS_FOLDER};
use crate::store::Store;
use jiff::{SignedDuration, Timestamp};
use nix::unistd::{Uid, chown};
use referee_contest::file::ContestFile;
use referee_contest::summary::report;
use referee_contest::{Contest, PlayerInfo, Schedule, WebSettings};
use referee_games::Games;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

fn settings(table: &str) -> WebSettings {
    ContestFile::web_of(&format!("game = \"hex\"\n[web]\n{table}")).unwrap()
}

/// The contest in which the teams play.
fn contest() -> Contest {
    let text = "game = \"hex\"\nagents = [\"@random\"]";
    let file = ContestFile::read(text, "c.toml", "c", &Games::default()).unwrap();
    let mut contest = file.settings;
    contest.players = vec![PlayerInfo {
        name: "house".to_owned(),
        run: "@random".to_owned(),
        digest: String::new(),
    }];
    contest
}

fn add(folder: &Folder, name: &str) -> String {
    let new = NewTeam { name: name.to_owned(), ..NewTeam::default() };
    let secret = Teams::change(folder, |teams| teams.add(&new, &contest())).unwrap().unwrap();
    secret.text().to_owned()
}

/// A course with the teams amy and bob.
fn course(table: &str) -> (TempDir, Folder, Course, [Team; 2]) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("contest.db"), "").unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    let secrets = ["amy", "bob"].map(|name| add(&folder, name));
    let course = Course::open(&folder, settings(table), false).unwrap();
    let teams = secrets.map(|secret| course.team_of(&secret).unwrap().unwrap());
    (dir, folder, course, teams)
}

fn write(upload: &mut Upload, name: &str, text: &str) {
    let mut file = fs::File::create_new(upload.file(name).unwrap()).unwrap();
    upload.more(text.len() as u64).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn hand_in(course: &Course, team: &Team, text: &str, at: Timestamp) -> VersionId {
    let mut upload = course.begin().unwrap();
    write(&mut upload, "bot.py", text);
    course.accept(team, upload, None, at).unwrap()
}

fn names(task: &Task) -> (u32, u32) {
    match task {
        Task::Take { version, .. }
        | Task::Withdraw { version, .. }
        | Task::ComeBack { version, .. } => (version.team, version.version),
        Task::Rerun { .. } => panic!("{task:?}"),
    }
}

fn tasks(course: &Course) -> Vec<(u32, u32)> {
    course.tasks(|_| false).unwrap().iter().map(names).collect()
}

#[test]
fn what_was_accepted_is_there_once_and_what_was_not_leaves_nothing() {
    let (dir, folder, course, [amy, bob]) = course("");
    let now = Timestamp::now();
    let second = now + SignedDuration::from_secs(1);
    assert_eq!(hand_in(&course, &bob, "1", second).version, 1);
    assert_eq!(hand_in(&course, &amy, "1", now).version, 1);
    assert_eq!(hand_in(&course, &amy, "2", second).version, 2);
    let mut half = course.begin().unwrap();
    write(&mut half, "bot.py", "x");
    // As a kill leaves it.
    std::mem::forget(half);
    let uploads = dir.path().join(TEAMS_FOLDER).join("uploads");
    let entries = || {
        let mut names: Vec<String> = fs::read_dir(&uploads)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(entries().len(), 3);
    drop(course);
    let course = Course::open(&folder, settings(""), false).unwrap();
    assert_eq!(entries(), ["1", "2"]);
    // The oldest first, one of each team.
    assert_eq!(tasks(&course), [(1, 1), (2, 1)]);
    assert_eq!(fs::read_to_string(uploads.join("1/2/sent/0")).unwrap(), "2");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o077;
    assert_eq!(mode(&dir.path().join(TEAMS_FOLDER)), 0);
    assert_eq!(mode(&dir.path().join(TEAMS_FOLDER).join("teams.json")), 0);
}

#[test]
fn uploads_at_once_are_versions_in_order() {
    let (_dir, folder, course, [amy, _]) = course("uploads_an_hour = 100\nuploads_a_day = 100");
    let now = Timestamp::now();
    let mut versions: Vec<u32> = std::thread::scope(|scope| {
        let one = |text: usize| {
            let (course, amy) = (&course, &amy);
            move || hand_in(course, amy, &text.to_string(), now).version
        };
        let threads: Vec<_> = (0..20).map(|text| scope.spawn(one(text))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    versions.sort_unstable();
    assert_eq!(versions, (1..=20).collect::<Vec<u32>>());
    drop(course);
    let course = Course::open(&folder, settings(""), false).unwrap();
    assert_eq!(course.report(&amy, now).versions.len(), 20);
}

#[test]
fn a_limit_is_named_with_the_time_to_try_again() {
    let (_dir, _, course, [amy, bob]) = course(
        "uploads_an_hour = 2\nuploads_a_day = 3\nupload_mb = 1\nfiles = 2\nunpacked_mb = 1\ndisk_mb = 3",
    );
    let start = Timestamp::now();
    let after = |minutes: i64| start + SignedDuration::from_mins(minutes);
    let refused = |team: &Team, minutes| course.may_hand_in(team, after(minutes)).unwrap_err();
    hand_in(&course, &amy, "1", start);
    hand_in(&course, &amy, "2", after(10));
    let hour = refused(&amy, 59);
    assert_eq!((hour.kind, hour.again), (RefusalKind::TooMany, Some(after(60))));
    assert!(hour.text.contains("2 times in an hour (uploads_an_hour)"), "{hour:?}");
    course.may_hand_in(&bob, after(59)).unwrap();
    hand_in(&course, &amy, "3", after(60));
    let day = refused(&amy, 200);
    assert_eq!(day.again, Some(after(24 * 60)));
    assert!(day.text.contains("(uploads_a_day)"), "{day:?}");
    let mut upload = course.begin().unwrap();
    write(&mut upload, "a", "x");
    write(&mut upload, "b", "x");
    let many = upload.file("c").unwrap_err();
    assert!(many.text.contains("2 files (files)"), "{many:?}");
    let large = upload.more(1 << 20).unwrap_err();
    assert_eq!(large.kind, RefusalKind::TooLarge);
    assert!(large.text.contains("1 MiB (upload_mb)"), "{large:?}");
    assert_eq!(course.begin().unwrap().file("").unwrap_err().kind, RefusalKind::Invalid);
    let none = course.accept(&bob, course.begin().unwrap(), None, start).unwrap_err();
    assert_eq!(none.kind, RefusalKind::Invalid);
    hand_in(&course, &bob, &"x".repeat(1 << 20), start);
    let full = refused(&bob, 0);
    assert_eq!(full.kind, RefusalKind::Full);
    assert!(full.text.contains("(disk_mb)"), "{full:?}");
}

#[test]
fn one_team_leaves_room_for_the_others() {
    let limits = "upload_mb = 1\nunpacked_mb = 1\ndisk_mb = 12\nuploads_an_hour = 100";
    let (_dir, _, course, [amy, bob]) = course(limits);
    let now = Timestamp::now();
    // With the list of its files it has a MiB.
    let large = "x".repeat((1 << 20) - 1024);
    // Half of it is for all, and of the rest each has a half.
    for _ in 0..7 {
        hand_in(&course, &amy, &large, now);
    }
    let full = course.may_hand_in(&amy, now).unwrap_err();
    assert_eq!(full.kind, RefusalKind::Full);
    assert!(full.text.contains("its share of the disk, 3 MiB of 12 (disk_mb)"), "{full:?}");
    for _ in 0..4 {
        hand_in(&course, &bob, &large, now);
    }
    course.may_hand_in(&bob, now).unwrap_err();
}

/// Once in its folder, and once in the copy that plays.
#[test]
fn what_builds_make_counts_too() {
    let limits = "upload_mb = 1\nunpacked_mb = 1\ndisk_mb = 12";
    let (_dir, folder, course, [amy, bob]) = course(limits);
    let now = Timestamp::now();
    let built = |text: &str| {
        let id = hand_in(&course, &amy, text, now);
        course.unpack(id).unwrap();
        let files = course.version_folder(&amy, id.version).unwrap().join("files");
        fs::write(files.join("team-1/made"), vec![0; 2 << 20]).unwrap();
        (course.count_built(id), files.exists())
    };
    assert_eq!(built("1"), (Ok(()), true));
    let (full, exists) = built("2");
    let full = full.unwrap_err();
    assert!(full.kind == RefusalKind::Full && full.text.contains("(disk_mb)"), "{full:?}");
    assert!(!exists, "what has no room is removed");
    course.may_hand_in(&bob, now).unwrap();
    drop(course);
    let again = Course::open(&folder, settings("disk_mb = 5"), false).unwrap();
    assert_eq!(again.may_hand_in(&amy, now).unwrap_err().kind, RefusalKind::Full);
}

/// Each is a line in the lists of the contest, and takes a place on the disk.
#[test]
fn empty_files_count_too() {
    let (_dir, _, course, [amy, _]) =
        course("upload_mb = 1\nunpacked_mb = 1\ndisk_mb = 12\nuploads_an_hour = 100");
    let now = Timestamp::now();
    let built = || {
        let id = hand_in(&course, &amy, "1", now);
        course.unpack(id).unwrap();
        let files = course.version_folder(&amy, id.version).unwrap().join("files");
        (0..500).for_each(|number| fs::write(files.join(format!("team-1/{number}")), "").unwrap());
        course.count_built(id)
    };
    assert_eq!(built(), Ok(()));
    let full = built().unwrap_err();
    assert!(full.text.contains("(disk_mb)"), "{full:?}");
}

#[test]
fn names_are_bounded_counted_and_not_kept_in_memory() {
    let limits = "upload_mb = 1\nunpacked_mb = 1\ndisk_mb = 4\nversions_kept = 1";
    let (_dir, folder, course, [amy, _]) = course(limits);
    let now = Timestamp::now();
    // As many names as there may be, of characters that take six bytes each in the list.
    let name = |number: usize| format!("{number:03}{}", "\u{1}".repeat(1018));
    let write_all =
        |upload: &mut Upload| (0..250).for_each(|number| write(upload, &name(number), "x"));
    let mut upload = course.begin().unwrap();
    write_all(&mut upload);
    let long = upload.file(&name(250)).unwrap_err();
    assert_eq!(long.kind, RefusalKind::TooLarge);
    assert!(long.text.contains("the names of all files have more than 256000 bytes"), "{long:?}");
    write(&mut upload, "bot.py", "x");
    let first = course.accept(&amy, upload, None, now).unwrap();
    let mut upload = course.begin().unwrap();
    write_all(&mut upload);
    course.accept(&amy, upload, None, now).unwrap();

    let check = |course: &Course| {
        assert!(!format!("{course:?}").contains("\\u{1}\\u{1}"), "names are kept in memory");
        let version = course.report(&amy, now).versions.into_iter().find(|it| it.version == 1);
        assert_eq!(version.map(|it| (it.files, it.bytes)), Some((251, 251)));
        let full = course.may_hand_in(&amy, now).unwrap_err();
        assert_eq!(full.kind, RefusalKind::Full, "{full:?}");
    };
    check(&course);
    drop(course);
    let course = Course::open(&folder, settings(limits), false).unwrap();
    check(&course);
    // The names are found again, and the lists stay when the files are removed.
    assert!(!course.unpack(first).unwrap());
    let why = course.report(&amy, now).versions.into_iter().find_map(|it| it.why).unwrap();
    assert!(why.starts_with("000") && why.contains("a part of it more than 255"), "{why}");
    course.note(VersionId { version: 2, ..first }, Noted::Refused("broken")).unwrap();
    check(&course);
    let sent = course.version_folder(&amy, 1).unwrap().join("sent");
    assert!(!sent.exists(), "the oldest makes room");
}

#[test]
fn a_list_of_files_that_can_t_be_read_is_named() {
    let (_dir, folder, course, [amy, _]) = course("");
    let version = hand_in(&course, &amy, "x", Timestamp::now());
    let list = course_files(&folder).join("uploads/1/1/upload.json");
    fs::write(&list, "{").unwrap();
    let named = format!("{}: EOF while parsing", list.display());
    let failed = course.unpack(version).unwrap_err().to_string();
    assert!(failed.starts_with(&named), "{failed}");
}

#[test]
fn an_upload_ends_with_the_link_with_which_it_began() {
    let (_dir, folder, course, [amy, bob]) = course("");
    let now = Timestamp::now();
    let mut upload = course.begin().unwrap();
    write(&mut upload, "bot.py", "x");
    let renewed = Teams::change(&folder, |teams| teams.named("amy")?.renew()).unwrap();
    let old = course.accept(&amy, upload, None, now).unwrap_err();
    assert_eq!(old.kind, RefusalKind::OldLink);
    assert_eq!(course.take_back(&amy, 0, now).unwrap_err(), old);
    let amy = course.team_of(renewed.text()).unwrap().unwrap();
    assert_eq!(hand_in(&course, &amy, "x", now).version, 1);
    assert_eq!(hand_in(&course, &bob, "x", now).version, 1);
}

#[test]
fn the_deadline_has_grace_and_extensions() {
    let (_dir, folder, course, [amy, bob]) =
        course("deadline = \"2026-12-24T17:00:00Z\"\ngrace = \"5m\"");
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    course.may_hand_in(&amy, at("2026-12-24T17:05:00Z")).unwrap();
    let late = course.may_hand_in(&amy, at("2026-12-24T17:05:01Z")).unwrap_err();
    assert_eq!(late.kind, RefusalKind::Closed);
    assert!(late.text.contains("2026-12-24T17:05:00Z"), "{late:?}");
    // Nor does an earlier version count again.
    let back = |team: &Team, text: &str| course.take_back(team, 0, at(text));
    assert_eq!(back(&amy, "2026-12-24T17:05:00Z"), Ok(0));
    assert_eq!(back(&amy, "2026-12-24T17:05:01Z").unwrap_err(), late);
    // A command extends it while the course runs.
    let until = Some("2026-12-26T00:00:00Z".to_owned());
    let extend = |teams: &mut Teams| {
        teams.named("amy")?.until.clone_from(&until);
        Ok(())
    };
    Teams::change(&folder, extend).unwrap();
    let now = course.teams().unwrap();
    let extended = now.teams.iter().find(|team| team.name == "amy").unwrap();
    course.may_hand_in(extended, at("2026-12-25T17:00:00Z")).unwrap();
    assert_eq!(back(&amy, "2026-12-25T17:00:00Z"), Ok(0));
    back(&bob, "2026-12-25T17:00:00Z").unwrap_err();
    course.may_hand_in(&bob, at("2026-12-25T17:00:00Z")).unwrap_err();
    assert!(Course::open(&folder, settings("deadline = \"soon\""), false).is_err());
}

#[test]
fn a_version_is_unpacked_with_a_command() {
    let (_dir, _, course, [amy, bob]) = course("");
    let now = Timestamp::now();
    let steps = |team: &Team| course.report(team, now).versions[0].clone();
    // The command is found.
    let version = hand_in(&course, &amy, "import json\n", now);
    course.unpack(version).unwrap();
    let Task::Take { place, .. } = &course.tasks(|_| false).unwrap()[0] else { panic!() };
    assert_eq!(place.file_name().unwrap(), "team-1");
    let manifest = fs::read_to_string(place.join("agent.toml")).unwrap();
    assert_eq!(manifest, "command = [\"python3\", \"bot.py\"]\n");
    assert_eq!(steps(&amy).command.as_deref(), Some("python3 bot.py"));
    assert_eq!(steps(&amy).language.as_deref(), Some("Python"));
    // One that is given is used instead, but no agent.toml is replaced.
    for (own, expected) in [(None, "command = [\"sh\", \"x\"]\n"), (Some("# own"), "# own")] {
        let mut upload = course.begin().unwrap();
        write(&mut upload, "mine/bot.py", "x");
        if let Some(own) = own {
            write(&mut upload, "mine/agent.toml", own);
        }
        let command = Some(["sh", "x"].map(str::to_owned).to_vec());
        let version = course.accept(&bob, upload, command, now).unwrap();
        course.unpack(version).unwrap();
        let folder = course.version_folder(&bob, version.version).unwrap();
        let manifest = fs::read_to_string(folder.join("files/team-2/agent.toml")).unwrap();
        assert_eq!(manifest, expected);
    }
    // What can't be unpacked doesn't play, and the next one may.
    for (name, why) in
        [("../bot.py", "leads out"), ("bot.zip", ""), ("notes.txt", "isn't clear which file")]
    {
        let mut upload = course.begin().unwrap();
        write(&mut upload, name, "x");
        let version = course.accept(&bob, upload, None, now).unwrap();
        course.unpack(version).unwrap();
        let report = steps(&bob);
        assert!(
            report.settled && report.why.as_ref().is_some_and(|it| it.contains(why)),
            "{report:?}"
        );
        assert_eq!(report.steps[1].state, StepState::Failed);
        assert!(report.steps[2..].iter().all(|step| step.state == StepState::Skipped));
    }
    assert!(!course.version_folder(&bob, 3).unwrap().join("bot.py").exists());
}

#[test]
fn what_became_of_a_version_is_known_after_a_restart() {
    let (_dir, folder, course, [amy, _]) = course("versions_kept = 1");
    let now = Timestamp::now();
    let versions = ["1", "2", "3", "4"].map(|text| hand_in(&course, &amy, text, now));
    assert_eq!(tasks(&course), [(1, 1)]);
    assert!(course.tasks(|team| team == 1).unwrap().is_empty());
    course.note(versions[0], Noted::Building).unwrap();
    let building = &course.report(&amy, now).versions[3];
    assert_eq!(building.steps[1].state, StepState::Running);
    course.note(versions[0], Noted::Refused("no build")).unwrap();
    course.note(versions[1], Noted::Checking).unwrap();
    course.note(versions[1], Noted::Refused("a probe failed")).unwrap();
    course.note(versions[2], Noted::Plays("amy")).unwrap();
    assert_eq!(tasks(&course), [(1, 4)]);
    course.note(versions[3], Noted::Plays("amy v2")).unwrap();
    drop(course);
    let course = Course::open(&folder, settings("versions_kept = 1"), false).unwrap();
    let report = course.report(&amy, now);
    let found: Vec<_> =
        report.versions.iter().map(|it| (it.player.as_deref(), it.why.as_deref())).collect();
    assert_eq!(
        found,
        [
            (Some("amy v2"), None),
            (Some("amy"), None),
            (None, Some("a probe failed")),
            (None, Some("no build"))
        ]
    );
    assert!(tasks(&course).is_empty());
    // The oldest of those that don't play has made room.
    let sent = |version| course.version_folder(&amy, version).unwrap().join("sent").exists();
    assert_eq!([1, 2, 3, 4].map(sent), [false, true, true, true]);
    // Taking back: the player leaves later.
    assert_eq!(course.take_back(&amy, 3, now).unwrap(), 1);
    assert_eq!(course.take_back(&amy, 3, now).unwrap(), 0);
    assert_eq!(
        course.tasks(|_| true).unwrap(),
        [Task::Withdraw {
            version: versions[3],
            player: "amy v2".to_owned(),
            reason: "taken back by its team".to_owned()
        }]
    );
    course.note(versions[3], Noted::Withdrawn).unwrap();
    assert!(tasks(&course).is_empty());
    // One that waits is never taken in.
    hand_in(&course, &amy, "5", now);
    assert_eq!(course.take_back(&amy, 0, now).unwrap(), 2);
    assert_eq!(tasks(&course), [(1, 3)]);
}

#[test]
fn a_version_that_waits_says_until_when() {
    let (_dir, _folder, course, [amy, bob]) = course("");
    let now = Timestamp::now();
    let id = hand_in(&course, &amy, "1", now);
    hand_in(&course, &bob, "1", now);
    course.hold(id.team, Duration::from_secs(45));
    let until = |team: &Team, after: i64| {
        let report = course.report(team, now + SignedDuration::from_secs(after));
        report.versions[0].waits_until.clone()
    };
    let at: Timestamp = until(&amy, 0).unwrap().parse().unwrap();
    assert!((45..50).contains(&at.duration_since(now).as_secs()), "{at}");
    assert_eq!((until(&amy, 60), until(&bob, 0)), (None, None));
    course.note(id, Noted::Building).unwrap();
    assert_eq!(until(&amy, 0), None);
}

#[test]
fn only_the_hash_of_a_secret_is_stored() {
    let (dir, folder, course, [amy, bob]) = course("");
    let secret = Teams::change(&folder, |teams| teams.named("amy")?.renew()).unwrap();
    assert_eq!(secret.text().len(), 32);
    assert_eq!(course.team_of(secret.text()).unwrap().unwrap().number, amy.number);
    let stored = fs::read_to_string(dir.path().join("teams/teams.json")).unwrap();
    assert!(!stored.contains(secret.text()) && format!("{secret:?}") == "Secret");
    let again = Teams::change(&folder, |teams| teams.named("amy")?.renew()).unwrap();
    assert!(course.team_of(secret.text()).unwrap().is_none());
    assert!(course.team_of(again.text()).unwrap().is_some());
    for wrong in ["", "0", &secret.text()[1..], &again.text().to_uppercase()] {
        assert!(course.team_of(wrong).unwrap().is_none(), "{wrong}");
    }
    assert_eq!(bob.name, "bob");
}

#[test]
fn a_list_of_teams_is_read_and_names_are_unique() {
    let list = read_list(b"id, name, members\ns1, Team One,\"Ada; Grace ;\"\ns2,Two,\n").unwrap();
    let mut teams = Teams::default();
    for team in &list {
        assert!(teams.add(team, &contest()).unwrap().is_some());
        assert!(teams.add(team, &contest()).unwrap().is_none(), "it is there");
    }
    assert_eq!((teams.teams[0].id.as_str(), teams.teams[1].number), ("s1", 2));
    assert_eq!(teams.teams[0].members, ["Ada", "Grace"]);
    for name in ["", "house", "Two v2", "Tw\u{43e}", "a\u{202e}b", &"x".repeat(61)] {
        let new = NewTeam { name: name.to_owned(), ..NewTeam::default() };
        assert!(teams.add(&new, &contest()).is_err(), "{name}");
    }
    for (text, why) in [
        (&b"name\na\na\n"[..], "twice"),
        (b"team\na\n", "missing field"),
        (b"name,id\na\n", "fields"),
        (b"name\n\xff\n", "UTF-8"),
    ] {
        let failure = read_list(text).unwrap_err().to_string();
        assert!(failure.contains(why), "{failure}");
    }
}

#[test]
fn a_disqualified_team_leaves_and_comes_back() {
    let (_dir, folder, course, [amy, bob]) = course("");
    let now = Timestamp::now();
    let version = hand_in(&course, &amy, "1", now);
    course.note(version, Noted::Plays("amy")).unwrap();
    hand_in(&course, &amy, "2", now);
    let act = |act| course.act(act).map(|done| done.text);
    let team = "amy".to_owned();
    let out = Act::Disqualify { team: team.clone(), reason: " copied\n".to_owned() };
    assert_eq!(act(out).unwrap(), "amy is disqualified: copied");
    // What it plays leaves, what waits is not taken in, and it can't hand in or take back.
    let reason = "disqualified: copied".to_owned();
    let player = "amy".to_owned();
    assert_eq!(course.tasks(|_| false).unwrap(), [Task::Withdraw { version, player, reason }]);
    course.note(version, Noted::Withdrawn).unwrap();
    assert!(tasks(&course).is_empty());
    let refused = course.may_hand_in(&course.teams().unwrap().teams[0], now).unwrap_err();
    assert_eq!(refused.text, "your team is disqualified: copied");
    assert_eq!(course.take_back(&amy, 0, now).unwrap_err().kind, RefusalKind::Closed);
    assert_eq!(last_versions(&folder).unwrap()[0].1, None);
    assert!(course.may_hand_in(&bob, now).is_ok());
    // All of that ends.
    act(Act::Requalify { team: team.clone() }).unwrap();
    assert!(act(Act::Requalify { team }).unwrap_err().to_string().contains("not disqualified"));
    let (player, reason) = ("amy".to_owned(), "no longer disqualified".to_owned());
    let found = course.tasks(|_| true).unwrap();
    assert_eq!(found, [Task::ComeBack { version, player, reason }]);
    course.note(version, Noted::CameBack).unwrap();
    assert_eq!(tasks(&course), [(1, 2)]);
    assert_eq!(last_versions(&folder).unwrap()[0].1.as_ref().unwrap().0, 1);
}

#[test]
fn versions_with_the_same_files_are_one_player() {
    let (_dir, folder, course, [amy, _]) = course("versions_kept = 1");
    let take = |text: &str, player: &str| {
        let version = hand_in(&course, &amy, text, Timestamp::now());
        assert!(course.unpack(version).unwrap());
        course.note(version, Noted::Plays(player)).unwrap();
        version
    };
    let back = |to| course.take_back(&amy, to, Timestamp::now()).unwrap();
    let found = || -> Vec<(String, String)> {
        let named = |task| match task {
            Task::Withdraw { version, player, reason } => {
                course.note(version, Noted::Withdrawn).unwrap();
                (format!("-{player}"), reason)
            }
            Task::ComeBack { version, player, reason } => {
                course.note(version, Noted::CameBack).unwrap();
                (format!("+{player}"), reason)
            }
            other => panic!("{other:?}"),
        };
        course.tasks(|_| false).unwrap().into_iter().map(named).collect()
    };
    let task = |does: &str, why: &str| (does.to_owned(), why.to_owned());
    let (taken_back, again) = ("taken back by its team", "handed in again");
    for (text, player) in [("1", "amy"), ("2", "amy v2"), ("1", "amy")] {
        take(text, player);
    }
    // Its first version is kept, and so is the player of its third one.
    assert_eq!(back(1), 2);
    assert_eq!(found(), [task("-amy v2", taken_back)]);
    assert!(found().is_empty() && course.has_left(amy.number, "amy v2"));
    assert_eq!(last_versions(&folder).unwrap()[0].1.as_ref().unwrap().0, 1);
    take("1", "amy");
    assert_eq!(back(1), 1);
    assert!(found().is_empty());
    // Each player leaves and comes back once.
    take("1", "amy");
    let (team, reason) = ("amy".to_owned(), "copied".to_owned());
    course.act(Act::Disqualify { team: team.clone(), reason }).unwrap();
    assert_eq!(found(), [task("-amy", "disqualified: copied")]);
    assert!(found().is_empty());
    course.act(Act::Requalify { team }).unwrap();
    assert_eq!(found(), [task("+amy", "no longer disqualified")]);
    assert!(found().is_empty());
    // What was taken back comes back when it is handed in again.
    take("2", "amy v2");
    assert_eq!(found(), [task("+amy v2", again)]);
    assert_eq!(back(0), 3);
    assert_eq!(found(), [task("-amy", taken_back), task("-amy v2", taken_back)]);
    take("1", "amy");
    assert_eq!(found(), [task("+amy", again)]);
    assert!(found().is_empty());
    assert_eq!(last_versions(&folder).unwrap()[0].1.as_ref().unwrap().0, 7);
}

#[test]
fn the_last_version_of_a_disqualified_team_is_kept() {
    let (_dir, folder, course, [amy, _]) = course("versions_kept = 1");
    let versions = [1, 2, 3].map(|text: i32| {
        let version = hand_in(&course, &amy, &text.to_string(), Timestamp::now());
        assert!(course.unpack(version).is_ok());
        version
    });
    course.note(versions[0], Noted::Plays("amy")).unwrap();
    let (team, reason) = ("amy".to_owned(), "copied".to_owned());
    course.act(Act::Disqualify { team: team.clone(), reason }).unwrap();
    course.note(versions[0], Noted::Withdrawn).unwrap();
    // These were being built.
    course.note(versions[1], Noted::Refused("x")).unwrap();
    course.note(versions[2], Noted::Refused("x")).unwrap();
    course.act(Act::Requalify { team }).unwrap();
    let to = course_files(&folder).join("final");
    let collected = collect(&folder, &to).unwrap();
    assert_eq!(collected.iter().map(|(_, version)| *version).collect::<Vec<_>>(), [Some(1), None]);
    assert_eq!(fs::read_to_string(to.join("amy/bot.py")).unwrap(), "1");
    // Others don't play and make room.
    assert!(!course_files(&folder).join("uploads/1/2/sent").exists());
    assert!(course_files(&folder).join("uploads/1/3/sent").exists());
}

#[test]
fn what_root_does_in_another_s_course_is_the_other_s() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("course");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("contest.db"), "").unwrap();
    let owner = if Uid::effective().is_root() { Uid::from_raw(12345) } else { Uid::effective() };
    chown(&root, Some(owner), None).unwrap();
    let folder = Folder::open(&root).unwrap();
    let secret = add(&folder, "amy");
    let course = Course::open(&folder, settings(""), false).unwrap();
    let amy = course.team_of(&secret).unwrap().unwrap();
    let mut upload = course.begin().unwrap();
    for name in ["bot.py", "src/moves.py"] {
        write(&mut upload, name, "");
    }
    let version = course.accept(&amy, upload, None, Timestamp::now()).unwrap();
    course.unpack(version).unwrap();
    let act = Act::Pause { reason: "lunch".to_owned() };
    crate::course::act(&folder, act, "root").unwrap();
    let sent = ["sent/0", "files", "files/team-1/agent.toml", "files/team-1/src/moves.py"]
        .map(|name| format!("uploads/1/1/{name}"));
    let own = ["", "lock", "teams.json", "uploads", "uploads/1", "uploads/1/1"];
    for name in own.into_iter().chain(sent.iter().map(String::as_str)) {
        let place = course_files(&folder).join(name);
        assert_eq!(place.metadata().unwrap().uid(), owner.as_raw(), "{}", place.display());
    }
}

#[test]
fn a_disqualified_team_has_a_grade_without_mark() {
    let (_dir, folder, course, _) = course("");
    let reason = "copied".to_owned();
    course.act(Act::Disqualify { team: "amy".to_owned(), reason }).unwrap();
    let text = "game = \"hex\"\nagents = [\"@random\"]\n[grades]\nmarks = [{ mark = \"A\" }]\n";
    let file = ContestFile::read(text, "c.toml", "c", &Games::default()).unwrap();
    for players in [&["bob", "amy", "amy v2"][..], &["bob"]] {
        let mut contest = contest();
        let player =
            |name: &&str| PlayerInfo { name: (*name).to_owned(), ..contest.players[0].clone() };
        contest.players = players.iter().map(player).collect();
        let schedule = Arc::new(Schedule::new(Arc::new(contest.clone())));
        let report = report(&schedule, Arc::new(Vec::new()), None).unwrap();
        let teams = Teams::read(&folder).unwrap();
        let found = grades_by(&file, "c.toml".as_ref(), (&report, &contest), Some(&teams)).unwrap();
        let amy = found.grades.iter().filter(|own| own.name.starts_with("amy"));
        let amy: Vec<_> = amy.map(|own| (own.place, own.mark.is_some(), &own.reasons[0])).collect();
        assert!(!amy.is_empty() && amy.len() == players.len().max(2) - 1, "{found:?}");
        assert!(amy.iter().all(|own| *own == (None, false, &"disqualified: copied".to_owned())));
        let bob = found.grades.iter().find(|own| own.name == "bob").unwrap();
        assert_eq!((bob.place, bob.mark.as_deref()), (Some(1), Some("A")));
    }
}

fn course_files(folder: &Folder) -> std::path::PathBuf {
    folder.path(TEAMS_FOLDER)
}

#[test]
fn a_ladder_waits_while_a_team_may_hand_in() {
    let (_dir, folder, course, _) = course("");
    let waits = |deadline: &str| {
        let table = if deadline.is_empty() { "" } else { "deadline = " };
        is_awaiting_teams(&folder, &format!("game = \"hex\"\n[web]\n{table}{deadline}"))
    };
    let past = "\"2001-01-01 00:00\"";
    assert!(waits("") && waits("\"2999-01-01 00:00\"") && !waits(past));
    let until = "2999-01-01T00:00:00Z".to_owned();
    course.act(Act::Extend { team: "amy".to_owned(), until }).unwrap();
    assert!(waits(past));
    let (team, reason) = ("amy".to_owned(), "copied".to_owned());
    course.act(Act::Disqualify { team, reason }).unwrap();
    assert!(!waits(past));
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("contest.db"), "").unwrap();
    let other = Folder::open(other.path()).unwrap();
    assert!(!is_awaiting_teams(&other, "game = \"hex\""));
    // A course without teams waits for the first one until its deadline.
    Course::open(&other, settings(""), false).unwrap();
    assert!(is_awaiting_teams(&other, "game = \"hex\""));
    let text = format!("game = \"hex\"\n[web]\ndeadline = {past}");
    assert!(!is_awaiting_teams(&other, &text));
}

#[test]
fn an_instructor_s_times_and_orders_are_kept() {
    let (dir, folder, course, [amy, bob]) = course("deadline = \"2001-01-01T00:00:00Z\"");
    let now = Timestamp::now();
    assert!(course.may_hand_in(&amy, now).is_err());
    let until = "2999-01-01T00:00:00Z".to_owned();
    course.act(Act::Extend { team: "amy".to_owned(), until }).unwrap();
    let of = |at: usize| course.teams().unwrap().teams[at].clone();
    assert!(course.may_hand_in(&of(0), now).is_ok() && course.may_hand_in(&of(1), now).is_err());
    let times = |deadline: &str, grace: &str, freeze_at: &str| {
        let [deadline, grace, freeze_at] = [deadline, grace, freeze_at].map(str::to_owned);
        course.act(Act::Times { deadline, grace, freeze_at })
    };
    // Nobody knows any more what the results were then: they are frozen from now on, once.
    let said = times("2001-01-01T00:00:00Z", "10000000h", "2001-01-02T00:00:00Z").unwrap().text;
    assert!(said.contains("not earlier"), "{said}");
    assert!(course.may_hand_in(&bob, now).is_ok() && !course.is_frozen(now));
    let freezes = course.freezes();
    assert!(freezes.is_some() && course.is_frozen(Timestamp::now()));
    times("", "", "").unwrap();
    let said = times("", "", "2999-01-01T00:00:00Z").unwrap().text;
    assert_eq!(said, "deadline never, grace 0 s, freeze 2999-01-01T00:00:00Z");
    times("", "", "").unwrap();
    assert!(course.closes(&bob).is_none() && !course.is_frozen(now));
    for (deadline, grace) in [("soon", ""), ("", "long")] {
        times(deadline, grace, "").unwrap_err();
    }
    // What the ladder has to do is kept until it is done.
    let rerun = |games: &[u64], player: &str| Act::Rerun {
        games: games.to_vec(),
        player: player.to_owned(),
        reason: "x".to_owned(),
    };
    course.act(rerun(&[], "")).unwrap_err();
    course.act(rerun(&[7], "")).unwrap();
    course.act(Act::Final { rounds: 2 }).unwrap();
    course.act(Act::Final { rounds: 2 }).unwrap_err();
    course.act(Act::Pause { reason: " ".to_owned() }).unwrap_err();
    drop(course);
    let course = Course::open(&folder, settings(""), false).unwrap();
    let Some(Task::Rerun { order, games: GamesOf::Numbers(games), .. }) =
        course.tasks(|_| false).unwrap().pop()
    else {
        panic!("there is a rerun")
    };
    assert_eq!(games, [7]);
    course.settle(order, Ok("game 7 again".to_owned())).unwrap();
    assert!(course.tasks(|_| false).unwrap().is_empty());
    let Phase::Final { order, rounds: 2, folder: name } = course.phase().unwrap() else {
        panic!("{:?}", course.phase())
    };
    let own = dir.path().file_name().unwrap().to_string_lossy();
    assert_eq!(name, format!("{own}-final-1"));
    course.act(Act::Pause { reason: "a lecture".to_owned() }).unwrap();
    assert_eq!(course.phase().unwrap(), Phase::Paused);
    course.act(Act::Unpause).unwrap();
    course.settle(order, Err("no".to_owned())).unwrap();
    assert_eq!(course.phase().unwrap(), Phase::Ladder);
    // A folder that is named once is not named again.
    course.act(Act::Final { rounds: 1 }).unwrap();
    assert!(course.teams().unwrap().log.last().unwrap().text.ends_with("-final-2"));
}

#[test]
fn the_archive_has_what_was_handed_in_and_no_secret() {
    let (dir, folder, _, _) = course("");
    fs::remove_file(dir.path().join("contest.db")).unwrap();
    let (_place, contest) = super::store::stored();
    Store::create(&folder, &contest).unwrap();
    let course = Course::open(&folder, settings(""), false).unwrap();
    let amy = course.teams().unwrap().teams[0].clone();
    let version = hand_in(&course, &amy, "one", Timestamp::now());
    course.unpack(version).unwrap();
    fs::create_dir_all(dir.path().join("games/0000")).unwrap();
    fs::write(dir.path().join("games/0000/0000000.jsonl"), "{}\n").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", dir.path().join("games/link")).unwrap();
    let mut bytes = Vec::new();
    course.archive(&mut bytes).unwrap();
    let mut archive = tar::Archive::new(&*bytes);
    let entries = archive
        .entries()
        .unwrap()
        .map(|entry| entry.unwrap().path().unwrap().to_string_lossy().into_owned());
    let names: Vec<String> = entries.collect();
    for name in [
        "course.json",
        "contest/contest.db",
        "contest/games/0000/0000000.jsonl",
        "teams/amy/1/files/bot.py",
    ] {
        assert!(names.iter().any(|it| it == name), "{name}: {names:?}");
    }
    assert!(!names.iter().any(|it| it.contains("link") || it.contains("teams.json")), "{names:?}");
}
