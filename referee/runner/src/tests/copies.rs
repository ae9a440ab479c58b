//! The copies of agents in the contest's folder: what is played from them, and what isn't.

use super::super::checking::check;
use super::super::copies::{AgentCopy, leads_outside, restore, without_copies};
use super::super::folder::Folder;
use super::super::store::Store;
use super::{Broken, Builds, Prepared, SCRIPT, place, prepare_again, prepared, right};
use referee_games::Games;
use referee_play::agent_spec::AgentSpec;
use referee_process::agent::Launch;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

const FILE: &str = "seed = 1\ngame = \"hex\"\nsubmissions = { folder = \"../bots\" }\n";

/// A contest file in the folder `cup`, submissions beside it, and the contest's folder.
fn copied(file: &str, files: &[(&str, &str)]) -> (TempDir, Folder, Prepared) {
    let mut all = vec![("cup/contest.toml", file)];
    all.extend(files);
    let place = place(&all);
    let file = place.path().join("cup/contest.toml");
    let mut prepared = super::prepare(&file, Builds::Now(&|_, _| {}), Broken::AsWritten).unwrap();
    let folder = Folder::create(&place.path().join("cup/d")).unwrap();
    prepared.copy_agents(&folder, &|_, _| {}).unwrap();
    fs::write(folder.file(), &prepared.text).unwrap();
    (place, folder, prepared)
}

#[test]
fn nothing_that_changes_outside_has_an_effect() {
    let python = "submissions = { folder = \"../bots\", run = \"python3 run.py {}/main.py\" }\n";
    for (file, files) in [
        (
            FILE,
            &[
                ("bots/amy/agent.toml", "command = [\"sh\", \"x\"]"),
                ("bots/amy/x", "exit"),
                ("bots/amy/.env", "hidden"),
                ("bots/bob.sh", SCRIPT),
            ][..],
        ),
        (
            &FILE.replace("submissions = { folder = \"../bots\" }\n", python),
            &[
                ("bots/amy/main.py", "1"),
                ("bots/amy/more.py", "2"),
                ("bots/bob/main.py", "3"),
                ("cup/run.py", ""),
            ][..],
        ),
    ] {
        let (place, folder, prepared) = copied(file, files);
        assert_eq!(prepared.notes, [""; 0]);
        assert_eq!(prepared.copies.len(), 2);
        let stored = prepared.to_stored(String::new(), None);
        assert_eq!(stored.files, BTreeMap::new(), "nobody bounds the lists of many submissions");
        fs::remove_dir_all(place.path().join("bots")).unwrap();
        fs::remove_file(place.path().join("cup/contest.toml")).unwrap();
        let again = prepare_again(&stored, &folder).unwrap();
        assert_eq!(again.contest, prepared.contest);
        assert_eq!(again.files(), prepared.files());
        assert_eq!(again.changed(&stored.files), [""; 0]);
        for spec in &again.specs {
            let launch = spec.launch.as_ref().unwrap();
            assert!(launch.folder.starts_with(folder.path("agents").canonicalize().unwrap()));
        }
        // A copy that is changed is noticed.
        let amy = prepared.copies["amy"].base(&prepared.agents_folder).join("../bots/amy");
        assert_eq!(amy.join(".env").exists(), file == FILE);
        let own = if file == FILE { "x" } else { "main.py" };
        fs::write(amy.join(own), "changed").unwrap();
        let failure = prepare_again(&stored, &folder).unwrap_err().to_string();
        assert!(failure.starts_with("amy was changed in "), "{failure}");
        Store::create(&folder, &stored).unwrap();
        let checked = check(&folder, &Games::default(), None, &|_, _| {}, &mut |_| Ok(())).unwrap();
        let all = checked.differences.join("; ");
        assert!(all.contains("amy: its files are not those of the copy that was made"), "{all}");
    }
}

#[test]
fn agents_with_the_same_files_share_a_copy() {
    let toml = "command = [\"sh\", \"x\"]";
    let (.., prepared) =
        copied(FILE, &[("bots/amy.sh", SCRIPT), ("bots/bob/agent.toml", toml), ("bots/bob/x", "")]);
    let mut text = FILE.to_owned();
    text.insert_str(0, "agents = [\"one=../house\", \"two=../house\"]\n");
    let (_other, _, twice) =
        copied(&text, &[("house/agent.toml", toml), ("house/x", ""), ("bots/amy.sh", SCRIPT)]);
    assert_eq!(twice.copies["one"], twice.copies["two"]);
    assert_ne!(twice.copies["one"].sha256, prepared.copies["bob"].sha256, "another place");
    let copies = fs::read_dir(&twice.agents_folder).unwrap().count();
    assert_eq!(copies, 2, "without what is left of making them");
}

#[test]
fn what_needs_other_files_is_played_from_its_place() {
    let outside = "command = [\"sh\", \"../lib/run.sh\"]";
    let text = format!("agents = [\"sh ../lib/run.sh\", \"@first\", \"../own/amy\"]\n{FILE}");
    let (place, folder, prepared) = copied(
        &text,
        &[
            ("own/amy/agent.toml", outside),
            ("lib/run.sh", SCRIPT),
            ("own/lib/run.sh", SCRIPT),
            ("bots/lib/run.sh", SCRIPT),
            ("bots/lib/agent.toml", "command = \"./run.sh\""),
        ],
    );
    assert_eq!(prepared.copies.keys().collect::<Vec<_>>(), ["lib"]);
    let notes = prepared.notes.join("; ");
    assert!(notes.contains("amy is played from its own place, since its command names"), "{notes}");
    let stored = prepared.to_stored(String::new(), None);
    assert!(prepare_again(&stored, &folder).is_ok());
    fs::write(place.path().join("lib/run.sh"), "#!/bin/sh\nexit\n").unwrap();
    let failure = prepare_again(&stored, &folder).unwrap_err().to_string();
    assert_eq!(failure, "run was changed after the contest began");
}

#[test]
fn a_submission_that_needs_other_files_is_left_out() {
    let policy = "[policy]\non_broken = \"leave-out\"\n";
    for (run, command, named) in [
        ("", "[\"sh\", \"run.sh\", \"../bob/run.sh\"]", "../bob/run.sh"),
        ("", "[\"sh\", \"--with=../bob\"]", "../bob"),
        ("", "[\"sh\", \"PLACE/bots/amy/run.sh\"]", "by its full path"),
        (", run = \"sh {}/run.sh bots/bob\"", "\"true\"", "bots/bob"),
    ] {
        let place = place(&[
            ("bots/amy/run.sh", SCRIPT),
            ("bots/bob/agent.toml", "command = \"./run.sh\""),
            ("bots/bob/run.sh", SCRIPT),
            ("bots/eve/agent.toml", "command = [\"sh\", \"run.sh\"]"),
            ("bots/eve/run.sh", SCRIPT),
        ]);
        let root = place.path().canonicalize().unwrap();
        let toml = format!("command = {}\n", command.replace("PLACE", &root.to_string_lossy()));
        fs::write(place.path().join("bots/amy/agent.toml"), toml).unwrap();
        let text = format!(
            "game = \"hex\"\nagents = [\"@first\", \"@greedy\"]\n\
             submissions = {{ folder = \"bots\"{run} }}\n{policy}"
        );
        fs::write(place.path().join("contest.toml"), text).unwrap();
        let prepared = right(&place, Builds::Now(&|_, _| {}));
        let (name, why) = &prepared.left_out[0];
        assert!(name == "amy" && why.contains(named), "{command}: {name}: {why}");
        assert!(prepared.entries.contains_key("bob"), "{command}");
    }
}

/// Where its copy is, the path would be too long for the system, and no list of the contest's files could be written.
#[test]
fn a_submission_with_a_long_path_is_left_out() {
    let text = "game = \"hex\"\nagents = [\"@random\"]\nsubmissions = \"bots\"\n\
                policy.on_broken = \"leave-out\"\n";
    let toml = "command = [\"sh\", \"x\"]";
    let place = place(&[
        ("contest.toml", text),
        ("bots/amy/agent.toml", toml),
        ("bots/bob/agent.toml", toml),
        ("bots/bob/x", ""),
    ]);
    let mut deep = place.path().canonicalize().unwrap().join("bots/amy");
    while deep.as_os_str().len() < 3850 {
        deep.push("x".repeat(200));
    }
    fs::create_dir_all(&deep).unwrap();
    let mut prepared = right(&place, Builds::Now(&|_, _| {}));
    let folder = Folder::create(&place.path().join("a-folder-of-its-own")).unwrap();
    prepared.copy_agents(&folder, &|_, _| {}).unwrap();
    let left_out: Vec<_> =
        prepared.left_out.iter().map(|(name, why)| (name.as_str(), why)).collect();
    let [("amy", why)] = left_out[..] else { panic!("{left_out:?}") };
    assert!(why.contains("more than 1024 bytes in the path of a file"), "{why}");
    assert!(prepared.copies.contains_key("bob"));
}

/// Of a path only what is in the agent's own folder counts.
#[test]
fn a_submission_plays_that_has_as_long_a_path_as_it_may() {
    let place = place(&[
        ("contest.toml", "game = \"hex\"\nagents = [\"@random\"]\nsubmissions = \"bots\"\n"),
        ("bots/amy/agent.toml", "command = [\"sh\", \"x\"]"),
    ]);
    let deep = [&"x".repeat(250); 4].map(String::as_str).join("/") + "/" + &"y".repeat(20);
    fs::create_dir_all(place.path().join("bots/amy").join(deep)).unwrap();
    let mut prepared = right(&place, Builds::Now(&|_, _| {}));
    let folder = super::folder(&place, &prepared);
    prepared.copy_agents(&folder, &|_, _| {}).unwrap();
    assert_eq!(prepared.left_out, []);
    assert_eq!(
        prepare_again(&prepared.to_stored(String::new(), None), &folder).unwrap().specs.len(),
        2
    );
}

/// Its author can remove that, and must not stop the contest by it.
#[test]
fn what_a_submission_names_elsewhere_may_vanish() {
    let outside = place(&[("data", ""), ("bot", SCRIPT)]);
    let path = outside.path().canonicalize().unwrap();
    let [data, bot] = ["data", "bot"].map(|name| path.join(name));
    fs::set_permissions(&bot, fs::Permissions::from_mode(0o755)).unwrap();
    for (text, program, goes_on) in [
        ("agents = [\"@random\"]\nsubmissions = \"bots\"\n", "", true),
        // Only at first sight it is the system's.
        ("agents = [\"@random\"]\nsubmissions = \"bots\"\n", "/usr/..", true),
        ("agents = [\"@random\", \"./bots/amy\"]\n", "", false),
    ] {
        let program = format!("{program}{}", bot.display());
        let toml = format!("command = [{program:?}]\n[sandbox]\nread = [{data:?}, \".\"]\n");
        let text = format!("game = \"hex\"\n{text}");
        let place = place(&[("contest.toml", &text), ("bots/amy/agent.toml", &toml)]);
        let mut prepared = right(&place, Builds::Now(&|_, _| {}));
        let folder = super::folder(&place, &prepared);
        prepared.copy_agents(&folder, &|_, _| {}).unwrap();
        let stored = prepared.to_stored(String::new(), None);
        assert!(stored.copies.contains_key("amy"));
        for path in [&data, &bot] {
            let kept = fs::read(path).unwrap();
            fs::remove_file(path).unwrap();
            let again = prepare_again(&stored, &folder);
            assert_eq!(again.is_ok(), goes_on, "{path:?}: {again:?}");
            fs::write(path, kept).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
}

/// A folder from elsewhere may name any other as an agent's copy.
#[test]
fn a_copy_is_in_the_contest_s_folder() {
    let copied = |sha256: &str, folder: &str| {
        let copy = json!({ "sha256": sha256, "folder": folder, "run": "./amy", "own": [] });
        serde_json::from_value::<AgentCopy>(copy)
    };
    let digest = "0a".repeat(32);
    assert!(copied(&digest, "").is_ok() && copied(&digest, "cup/a").is_ok());
    for sha256 in ["../../victim", "/usr/lib", &"0A".repeat(32), &"./".repeat(32), ""] {
        assert!(copied(sha256, "").is_err(), "{sha256}");
    }
    for folder in ["..", "/etc", "a/../../b"] {
        assert!(copied(&digest, folder).is_err(), "{folder}");
    }
    // Nor through a link.
    let place = place(&[("victim/__pycache__/x", ""), ("agents/x", "")]);
    symlink(place.path().join("victim"), place.path().join("agents").join(&digest)).unwrap();
    let copy = copied(&digest, "").unwrap();
    assert!(restore(&copy, &place.path().join("agents")).is_err());
    assert!(place.path().join("victim/__pycache__/x").exists());
}

#[test]
fn a_submission_that_changes_while_it_is_copied_is_left_out() {
    for (policy, may_play) in [("leave-out", true), ("stop", false)] {
        let text = format!(
            "game = \"hex\"\nagents = [\"@random\", \"amy=@first\"]\nsubmissions = \"bots\"\n\
             policy.on_broken = \"{policy}\"\n"
        );
        let place = place(&[
            ("contest.toml", &text),
            // It has a Cyrillic letter, so that it looks like the other.
            ("bots/\u{430}my/agent.toml", "command = [\"sh\", \"x\"]"),
            ("bots/bob/agent.toml", "command = [\"sh\", \"x\"]"),
        ]);
        let mut prepared = right(&place, Builds::Now(&|_, _| {}));
        let seed = prepared.contest.seed;
        // Its digest is that of its copy alone, so one more file makes it another agent.
        fs::write(place.path().join("bots/\u{430}my/more"), "").unwrap();
        let folder = Folder::create(&place.path().join("d")).unwrap();
        let copied = prepared.copy_agents(&folder, &|_, _| {});
        if !may_play {
            let failure = copied.unwrap_err().to_string();
            assert!(failure.contains("it changed while it was copied"), "{failure}");
            continue;
        }
        copied.unwrap();
        let players = prepared.contest.players.iter().map(|player| player.name.as_str());
        assert_eq!(players.collect::<Vec<_>>(), ["@random", "amy", "bob"]);
        assert_eq!(
            (prepared.specs.len(), prepared.copies.len(), prepared.contest.seed),
            (3, 1, seed)
        );
        let (name, why) = &prepared.left_out[0];
        assert_eq!(name, "\u{430}my #2");
        assert!(why.contains("it changed while it was copied"), "{why}");
    }
}

#[test]
fn links_through_folders_that_are_not_copied_are_refused() {
    for skipped in [".git", "matches", "__pycache__"] {
        let place = place(&[
            ("contest.toml", "game = \"hex\"\nsubmissions = \"bots\""),
            ("bots/amy/agent.toml", "command = [\"sh\", \"x\"]"),
            ("bots/bob.sh", SCRIPT),
            ("private/key", "secret"),
        ]);
        let through = place.path().join("bots/amy").join(skipped);
        fs::create_dir(&through).unwrap();
        symlink("../../../private/key", through.join("y")).unwrap();
        symlink(format!("{skipped}/y"), place.path().join("bots/amy/x")).unwrap();
        let failure = prepared(&place, Builds::Now(&|_, _| {})).unwrap_err().to_string();
        assert!(failure.contains("outside of the folder"), "{skipped}: {failure}");
    }
}

#[test]
fn a_template_is_filled_where_the_submissions_are() {
    // By a full path they would not be copied.
    let elsewhere = place(&[("amy/main.py", "1"), ("bob/main.py", "2")]);
    let folder = elsewhere.path().canonicalize().unwrap();
    let text = format!(
        "game = \"hex\"\nsubmissions = {{ folder = {folder:?}, run = \"python3 {{}}/main.py\" }}"
    );
    let (.., prepared) = copied(&text, &[]);
    assert_eq!(prepared.notes, [""; 0]);
    assert_eq!(prepared.copies.len(), 2);
}

#[test]
fn a_contest_of_an_earlier_version_has_no_copies() {
    let place = place(&[
        ("contest.toml", "game = \"hex\"\nagents = [\"./amy\", \"@first\"]"),
        ("amy/agent.toml", "command = \"true\""),
    ]);
    let prepared = right(&place, Builds::Now(&|_, _| {}));
    let stored = prepared.to_stored(String::new(), None);
    assert_eq!(stored.copies, BTreeMap::new());
    let folder = super::folder(&place, &prepared);
    let again = prepare_again(&stored, &folder).unwrap();
    let folder_of = |prepared: &Prepared| prepared.specs[0].launch.as_ref().unwrap().folder.clone();
    assert_eq!(folder_of(&again), folder_of(&prepared));
}

#[test]
fn authors_see_no_places_of_copies() {
    let copy = format!("/home/ada/d/agents/{}", "0a".repeat(32));
    for (text, shown) in [
        (
            format!("  File \"{copy}/bots/eve/bot.py\", line 3\nat f ({copy}/bot.js:2:7)"),
            "  File \"bots/eve/bot.py\", line 3\nat f (bot.js:2:7)",
        ),
        ("/srv/agents/0a/x /agents/ é".to_owned(), "/srv/agents/0a/x /agents/ é"),
    ] {
        assert_eq!(without_copies(&text), shown);
    }
}

#[test]
fn a_submission_names_nothing_that_others_may_change() {
    let place = place(&[("bot/run", "x"), ("kept/book", "x"), ("open/book", "x")]);
    let root = place.path().canonicalize().unwrap();
    fs::set_permissions(root.join("open"), fs::Permissions::from_mode(0o777)).unwrap();
    let folder = root.join("bot");
    let answer = |word: &str, is_submission: bool| {
        let command = vec![root.join("bot/run").display().to_string(), word.to_owned()];
        let launch = Launch {
            file: folder.join("run"),
            command,
            folder: folder.clone(),
            ..Launch::default()
        };
        let spec = AgentSpec { launch: Some(launch), ..AgentSpec::default() };
        leads_outside(&spec, std::slice::from_ref(&folder), is_submission)
    };
    let at = |name: &str| root.join(name).display().to_string();
    for (word, is_refused) in [
        (at("open/book"), true),
        (format!("--book={}", at("open/book")), true),
        (format!("/proc/self/root{}", at("open/book")), true),
        (at("kept/book"), false),
        ("/bin/sh".to_owned(), false),
    ] {
        let why = answer(&word, true);
        assert_eq!(why.is_some(), is_refused, "{word}: {why:?}");
        assert_eq!(answer(&word, false), None, "{word}");
    }
}
