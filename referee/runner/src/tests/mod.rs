//! Agents of contests in folders: found, sorted, built, left out; and the store of a contest.

mod copies;
mod course;
mod folder;
pub(crate) mod store;
mod voids;
mod waits;
mod writer;
mod writers;

use super::folder::Folder;
use super::prepare::guessable;
use super::{Broken, Builds, Prepared, prepare, prepare_again};
use referee_contest::Seed;
use referee_process::Failure;
use referee_protocol::GameProgramRecord;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

/// Creates a folder with these files; those that start with `#!/bin` are executable.
fn place(files: &[(&str, &str)]) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let mode = if text.starts_with("#!/bin") { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    place
}

fn prepared(place: &TempDir, builds: Builds<'_>) -> Result<Prepared, Failure> {
    prepare(&place.path().join("contest.toml"), builds, Broken::AsWritten)
}

/// Prepares the contest, which must succeed.
#[track_caller]
fn right(place: &TempDir, builds: Builds<'_>) -> Prepared {
    prepared(place, builds).unwrap_or_else(|failure| panic!("{failure}"))
}

fn names(prepared: &Prepared) -> Vec<&str> {
    prepared.contest.players.iter().map(|player| player.name.as_str()).collect()
}

const SCRIPT: &str = "#!/bin/sh\n";

#[test]
fn submissions_are_found_by_name_and_follow_the_named() {
    let place = place(&[
        ("contest.toml", "game = \"hex\"\nagents = [\"@random\"]\nsubmissions = \"bots\""),
        ("bots/zoe/agent.toml", "command = [\"sh\", \"x\"]\nname = \"@random\""),
        ("bots/amy/agent.toml", "command = [\"sh\", \"x\"]"),
        ("bots/bob.sh", SCRIPT),
        ("bots/bob.py", "#!/bin/false\n"),
        ("bots/@first", SCRIPT),
        ("bots/README.md", "read me"),
        ("bots/notes", "to be read"),
        ("bots/.hidden", SCRIPT),
        ("bots/__pycache__/x", "x"),
    ]);
    let prepared = right(&place, Builds::Now(&|_, _| {}));
    assert_eq!(names(&prepared), ["@random", "@first", "amy", "bob.py", "bob.sh", "zoe"]);
    assert_eq!(prepared.specs[1].launch.as_ref().unwrap().command.len(), 1, "a file");
    let runs: Vec<&str> =
        prepared.contest.players.iter().map(|player| player.run.as_str()).collect();
    assert_eq!(runs[1..3], ["bots/@first", "bots/amy"]);
    assert!(prepared.contest.players.iter().all(|player| player.digest.len() == 64));
    assert_eq!(
        prepared.notes,
        [
            "README.md is ignored: it is not an agent",
            "__pycache__ is ignored: it is not an agent",
            "notes is ignored: it is not an agent"
        ]
    );
    assert_eq!(prepared.base, place.path().canonicalize().unwrap());
}

#[test]
fn a_folder_of_submissions_may_be_the_file_s_own() {
    let place = place(&[
        ("contest.toml", "game = \"hex\"\nsubmissions = \".\""),
        ("@human", SCRIPT),
        ("a=@random", SCRIPT),
    ]);
    let prepared = right(&place, Builds::Later);
    assert_eq!(names(&prepared), ["@human", "a=@random"]);
    assert_eq!(prepared.contest.players[0].run, "./@human");
}

#[test]
fn a_template_takes_what_it_fits() {
    let template =
        |run: &str| format!("game = \"hex\"\n[submissions]\nfolder = \"bots\"\nrun = \"{run}\"\n");
    let place = place(&[
        ("contest.toml", &template("sh {}/main.sh --fast")),
        ("bots/a b/main.sh", ""),
        ("bots/c/main.sh", ""),
        ("bots/loose.sh", ""),
        ("bots/README", ""),
        ("bots/__MACOSX/main.sh", ""),
        ("bots/d.rar", ""),
    ]);
    let prepared = right(&place, Builds::Now(&|_, _| {}));
    assert_eq!(names(&prepared), ["a b", "c"]);
    let command = &prepared.specs[0].launch.as_ref().unwrap().command;
    assert_eq!(command[..], ["sh", "bots/a b/main.sh", "--fast"]);
    let notes = prepared.notes.join("\n");
    assert_eq!(prepared.notes.len(), 4, "{notes}");
    assert!(notes.contains("d.rar is ignored: it is an archive: hand in"), "{notes}");
    fs::create_dir(place.path().join("bots/empty")).unwrap();
    let failure = prepared_failure(&place);
    assert!(failure.to_string().contains("empty: the folder has no main.sh"), "{failure}");
    fs::create_dir(place.path().join("bots/empty/inner")).unwrap();
    fs::write(place.path().join("bots/empty/inner/main.sh"), "").unwrap();
    let text = prepared_failure(&place).to_string();
    assert!(
        text.contains("has no main.sh, but its folder inner does: move the files up"),
        "{text}"
    );
    // A submission names no file of another folder.
    let secret = place.path().join("secret");
    fs::write(&secret, "").unwrap();
    std::os::unix::fs::symlink(secret, place.path().join("bots/empty/main.sh")).unwrap();
    let text = prepared_failure(&place).to_string();
    assert!(text.contains("empty: main.sh is a link to ") && text.contains("a copy"), "{text}");
}

#[track_caller]
fn prepared_failure(place: &TempDir) -> Failure {
    prepared(place, Builds::Now(&|_, _| {})).expect_err("it should fail")
}

#[test]
fn a_template_takes_packages_of_the_course() {
    let place = place(&[
        (
            "contest.toml",
            "game = \"freckers\"\n[submissions]\nfolder = \"bots\"\nrun = \"comp30024:{}:Agent\"",
        ),
        ("bots/team1/agent/__init__.py", ""),
        ("bots/team2/agent/__init__.py", ""),
        ("bots/notes", ""),
    ]);
    // Without Python, each is reported to need it.
    let found = prepared(&place, Builds::Now(&|_, _| {}));
    if referee_play::adapted::python().is_ok() {
        let prepared = found.unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(names(&prepared), ["team1", "team2"]);
        let players = &prepared.contest.players;
        assert_eq!(players[0].run, "comp30024:bots/team1:Agent");
        assert_eq!(players[0].digest.len(), 64);
    } else {
        assert!(found.unwrap_err().to_string().contains("Python"));
    }
}

#[test]
fn all_broken_submissions_are_reported_at_once() {
    let broken = [
        ("bots/amy/agent.toml", "comand = \"\\u001b[31mx\""),
        ("bots/bob/main.py", ""),
        ("bots/cat/agent.toml", "command = \"./nothing\""),
        ("bots/dan.py", "#!/usr/bin/env python3\n"),
        ("bots/eve/agent.toml", "command = \"sh x\"\ngames = [\"chexers\"]"),
        ("bots/fay/agent.toml", "command = \"sh x\"\nprotocol = \"morse\""),
        ("bots/gus.sh", SCRIPT),
        ("bots/hal.sh", SCRIPT),
    ];
    let file = "game = \"hex\"\nsubmissions = \"bots\"\n[policy]\non_broken = ";
    let stop = place(
        &[&[("contest.toml", "game = \"hex\"\nsubmissions = \"bots\"")][..], &broken].concat(),
    );
    let failure = prepared_failure(&stop);
    let text = failure.to_string();
    for reason in [
        "contest.toml:2:15: 6 of 8 submissions can't play\n",
        "\namy: ",
        "/bots/amy/agent.toml: line 1: unknown field `comand`, expected one of ",
        "\nbob: the folder has no agent.toml",
        "\ncat: no program `./nothing`",
        "\ndan: the script is not executable: chmod +x ",
        "\neve: doesn't play hex: its games are chexers",
        "\nfay: ",
        "unknown protocol",
    ] {
        assert!(text.contains(reason), "no {reason:?} in {text}");
    }
    assert!(!text.contains('\u{1b}'), "{text:?}");
    assert_eq!(failure.kind(), referee_process::FailureKind::Usage);
    assert!(failure.help_text().unwrap().contains("leave-out"));
    let text = format!("{file}\"leave-out\"");
    let others = place(&[&[("contest.toml", &*text)][..], &broken].concat());
    let prepared = right(&others, Builds::Now(&|_, _| {}));
    assert_eq!(names(&prepared), ["gus", "hal"]);
    let left_out: Vec<&str> = prepared.left_out.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(left_out, ["amy", "bob", "cat", "dan", "eve", "fay"]);
    assert!(prepared.remarks()[3].starts_with("dan is left out: the script"));
    // Submissions fixed later stay out: the contest began without them.
    fs::set_permissions(others.path().join("bots/dan.py"), fs::Permissions::from_mode(0o755))
        .unwrap();
    assert_eq!(names(&right(&others, Builds::Now(&|_, _| {}))), ["dan", "gus", "hal"]);
    let resumed = right(&others, Builds::Done(&prepared.left_out));
    assert_eq!(names(&resumed), ["gus", "hal"]);
    assert_eq!(resumed.left_out, prepared.left_out);
}

#[test]
fn a_name_leaves_out_its_own_submission_alone() {
    let whole = "command = [\"sh\", \"x\"]\n";
    let long = "x".repeat(60);
    let place = place(&[
        (
            "contest.toml",
            "game = \"hex\"\nagents = [\"@random\"]\nsubmissions = \"bots\"\npolicy.on_broken = \"leave-out\"",
        ),
        ("bots/amy/agent.toml", whole),
        ("bots/ amy/agent.toml", whole),
        ("bots/amy\u{a0}/agent.toml", whole),
        ("bots/\u{3000}/agent.toml", whole),
        ("bots/@random/agent.toml", whole),
        ("bots/bob /agent.toml", whole),
        ("bots/\u{430}my/agent.toml", whole),
        (&format!("bots/{long}a/agent.toml"), whole),
        (&format!("bots/{long}b/agent.toml"), whole),
    ]);
    let prepared = right(&place, Builds::Now(&|_, _| {}));
    // The last has a Cyrillic letter.
    assert_eq!(names(&prepared), ["@random", "amy", "bob", &long, "\u{430}my #2"]);
    let reasons: Vec<String> =
        prepared.left_out.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    let expected = [
        "\" amy\": its name is that of the submission \"amy\": rename it".to_owned(),
        "\"@random\": its name is that of an agent in the contest file: rename it".to_owned(),
        "\"amy\\u{a0}\": its name is that of the submission \"amy\": rename it".to_owned(),
        format!("\"{long}b\": its name is that of the submission \"{long}a\": rename it"),
        "\"\\u{3000}\": its name is empty: rename it".to_owned(),
    ];
    assert_eq!(reasons, expected);
    let stored = prepared.to_stored(String::new(), None);
    assert_eq!(stored.left_out().count(), 5);
    assert_eq!(prepared.entries.len(), 4, "each is known as a submission: {:?}", prepared.entries);
    // Later versions are known by the name of the file.
    fs::create_dir(place.path().join("bots/amy v2")).unwrap();
    let file = place.path().join("contest.toml");
    let open = prepare(&file, Builds::Later, Broken::LeaveOut).unwrap();
    assert_eq!(names(&open), ["@random", "amy"]);
    let version = "its name is that of a version of amy: rename it".to_owned();
    assert!(open.left_out.contains(&("\"amy v2\"".to_owned(), version)), "{:?}", open.left_out);
}

#[test]
fn a_submission_that_could_not_be_built_stays_left_out() {
    let whole = "command = [\"sh\", \"x\"]\n";
    let place = place(&[
        (
            "contest.toml",
            "game = \"hex\"\nsubmissions = \"bots\"\npolicy.on_broken = \"leave-out\"",
        ),
        ("bots/amy/agent.toml", whole),
        ("bots/bob/agent.toml", whole),
        ("bots/cat/agent.toml", &format!("{whole}build = \"./none\"\n")),
    ]);
    let first = right(&place, Builds::Now(&|_, _| {}));
    assert_eq!(names(&first), ["amy", "bob"]);
    let again =
        prepare_again(&first.to_stored(String::new(), None), &folder(&place, &first)).unwrap();
    assert_eq!((again.contest, again.left_out), (first.contest, first.left_out));
}

/// A contest's folder with the contest file.
fn folder(place: &TempDir, prepared: &Prepared) -> Folder {
    let folder = Folder::create(&place.path().join("folder")).unwrap();
    fs::write(folder.file(), &prepared.text).unwrap();
    folder
}

#[test]
fn files_that_agents_write_change_no_digest() {
    let place = place(&[
        ("contest.toml", "seed = 1\ngame = \"hex\"\nagents = [\"@random\", \"./amy\"]"),
        ("amy/agent.toml", "command = [\"sh\", \"x\"]"),
        ("amy/x", "exit"),
    ]);
    let first = right(&place, Builds::Now(&|_, _| {}));
    let stored = first.to_stored(String::new(), None);
    let folder = folder(&place, &first);
    let again = || prepare_again(&stored, &folder);
    fs::write(place.path().join("amy/log.txt"), "dear diary").unwrap();
    assert_ne!(
        right(&place, Builds::Now(&|_, _| {})).contest,
        first.contest,
        "for a new contest it counts"
    );
    let resumed = again().unwrap();
    assert_eq!(resumed.contest, first.contest);
    assert_eq!(resumed.specs[1].digest, first.specs[1].digest);
    assert_eq!(resumed.files(), first.files(), "the next resume needs the same");
    fs::write(place.path().join("amy/x"), "exit 1").unwrap();
    let failure = again().unwrap_err();
    assert_eq!(failure.to_string(), "amy was changed after the contest began");
    fs::write(place.path().join("amy/x"), "exit").unwrap();
    assert_eq!(again().unwrap().contest, first.contest);
    fs::remove_file(place.path().join("amy/x")).unwrap();
    assert!(again().is_err());
}

#[test]
fn broken_named_agents_stop_the_contest() {
    for (agents, expected) in [
        (
            "[\"@random\", \"@human\"]",
            "contest.toml:2:22: @human: a person can't play in a contest",
        ),
        ("[\"@random\", \"@greedi\"]", "did you mean @greedy?"),
        ("[\"@random\", \"./none\"]", "2:22: ./none: no program `./none`"),
        ("[\"x=@random\", \"x=@first\"]", "two agents are called `x`"),
    ] {
        let text = format!("game = \"hex\"\nagents = {agents}\npolicy.on_broken = \"leave-out\"");
        let place = place(&[("contest.toml", &text)]);
        let failure = prepared_failure(&place);
        assert!(failure.to_string().contains(expected), "{failure}");
    }
    let failure =
        prepare(Path::new("/nowhere/contest.toml"), Builds::Later, Broken::AsWritten).unwrap_err();
    assert_eq!(failure.kind(), referee_process::FailureKind::Usage);
}

#[test]
fn an_open_contest_says_how_many_agents_are_missing() {
    let place = place(&[(
        "contest.toml",
        "game = \"hex\"\nagents = [\"@random\"]\nsubmissions = \"bots\"",
    )]);
    fs::create_dir(place.path().join("bots")).unwrap();
    let file = place.path().join("contest.toml");
    let help = |broken| {
        let failure = prepare(&file, Builds::Later, broken).unwrap_err();
        failure.help_text().unwrap().to_owned()
    };
    assert!(help(Broken::LeaveOut).contains("add 1 to `agents`"), "{}", help(Broken::LeaveOut));
    assert!(help(Broken::AsWritten).contains("or a folder of `submissions`"));
}

#[test]
fn a_plan_needs_no_built_programs() {
    let place = place(&[
        ("contest.toml", "game = \"hex\"\nagents = [\"made\", \"@first\"]"),
        ("made/agent.toml", "command = \"./program\"\nbuild = \"sh make.sh\""),
    ]);
    let prepared = right(&place, Builds::Later);
    assert_eq!(names(&prepared), ["made", "@first"]);
    let failure = self::prepared(&place, Builds::Done(&[])).unwrap_err();
    assert!(failure.to_string().contains("build it first: sh make.sh"), "{failure}");
}

#[test]
fn a_seed_from_which_agents_can_guess_draws_is_noted() {
    let place =
        place(&[("contest.toml", "game = \"hex\"\nagents = [\"@random\", \"@first\"]\nseed = 1")]);
    let mut contest = right(&place, Builds::Later).contest.as_ref().clone();
    assert_eq!(guessable(&contest), None);
    let described = json!({"chance": true});
    contest.games[0].program = Some(GameProgramRecord { digest: String::new(), described });
    assert!(guessable(&contest).unwrap().contains("draws follow from `seed`"));
    contest.seed = Seed::Number(1 << 52);
    assert_eq!(guessable(&contest), None);
}

#[test]
fn openings_are_read_from_the_files_folder() {
    let file = "game = \"hex\"\nagents = [\"@random\", \"@first\"]\nopenings.file = \"o.jsonl\"";
    let place = place(&[("contest.toml", file)]);
    let failure = prepared_failure(&place);
    assert!(failure.to_string().contains("contest.toml:3:17: "), "{failure}");
    fs::write(place.path().join("o.jsonl"), "{\"x\":1}").unwrap();
    let failure = prepared_failure(&place);
    assert!(failure.to_string().starts_with("o.jsonl:1:1: "), "{failure}");
}

#[test]
fn pipes_among_submissions_stop_nothing() {
    let whole = "command = [\"sh\", \"x\"]";
    for run in ["", "run = \"sh {}/main.sh\""] {
        let text = format!(
            "game = \"hex\"\nagents = [\"@random\"]\npolicy.on_broken = \"leave-out\"\n\
             [submissions]\nfolder = \"bots\"\n{run}"
        );
        let place = place(&[
            ("contest.toml", &text),
            ("bots/amy/agent.toml", whole),
            ("bots/amy/main.sh", ""),
            ("bots/bob/x", ""),
            ("bots/cat/x", ""),
        ]);
        for name in ["bots/pipe", "bots/amy/pipe", "bots/bob/agent.toml", "bots/cat/main.sh"] {
            let path = place.path().join(name);
            nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        }
        let mut prepared = right(&place, Builds::Now(&|_, _| {}));
        assert_eq!(names(&prepared)[..2], ["@random", "amy"]);
        let folder = Folder::create(&place.path().join("contest")).unwrap();
        prepared.copy_agents(&folder, &|_, _| {}).unwrap();
        assert_eq!(names(&prepared), ["@random", "amy"], "{:?}", prepared.left_out);
        assert_eq!(prepared.left_out.len(), 2, "{:?}", prepared.left_out);
        assert!(prepared.notes.iter().any(|note| note.starts_with("pipe is ignored")));
    }
}

#[test]
fn links_that_lead_out_of_a_submission_are_refused_by_name() {
    let place = place(&[
        (
            "contest.toml",
            "game = \"hex\"\nagents = [\"@random\"]\nsubmissions = \"bots\"\n[policy]\non_broken = \"leave-out\"",
        ),
        ("bots/amy/agent.toml", "command = [\"sh\", \"x\"]"),
        ("bots/part/agent.toml", "command = [\"sh\", \"x\"]"),
        ("bots/up/agent.toml", "command = [\"sh\", \"x\"]"),
        ("bots/hidden/other.toml", "command = [\"sh\", \"x\"]"),
        ("bots/fine/agent.toml", "command = [\"sh\", \"x\"]"),
        ("bots/feedback.md/agent.toml", "command = [\"sh\", \"x\"]"),
        ("private/solution/agent.toml", "command = [\"sh\", \"x\"]"),
        ("private/secret.toml", "key = 1"),
    ]);
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, place.path().join("bots").join(name)).unwrap();
    };
    link("../private/solution", "mallory");
    link("../amy/x", "part/x");
    link("..", "up/above");
    link("../../private/secret.toml", "hidden/agent.toml");
    link("/bin/sh", "fine/shell");
    link("agent.toml", "fine/inside");
    let prepared = right(&place, Builds::Now(&|_, _| {}));
    assert_eq!(names(&prepared), ["@random", "amy", "fine"]);
    let reasons: Vec<String> =
        prepared.left_out.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    let outside = "outside of the folder: replace it with a copy";
    assert_eq!(
        reasons,
        [
            "feedback.md: its name is that of a file of the contest: rename it".to_owned(),
            format!("hidden: agent.toml is a link to ../../private/secret.toml, {outside}"),
            format!("mallory: mallory is a link to ../private/solution, {outside}"),
            format!("part: x is a link to ../amy/x, {outside}"),
            format!("up: above is a link to .., {outside}"),
        ]
    );
}
