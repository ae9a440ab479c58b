//! `new`: in every language, the created agent is built by the printed command, passes `check` and
//! plays a match. The tests of the sample agents play every game.

use crate::support::{AMPLE, TestDir, in_parallel, skip, strings};
use sample_agents::starters::{STARTERS, Starter};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Returns whether the tools of a language are installed; reports a skipped test if not.
fn is_here(starter: &Starter) -> bool {
    let path = std::env::var_os("PATH").unwrap();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let absent =
        starter.needs.iter().find(|need| folders.iter().all(|folder| !folder.join(need).is_file()));
    if let Some(need) = absent {
        skip(&format!("{need} for {}", starter.language));
    }
    absent.is_none()
}

#[track_caller]
fn assert_valid(dir: &TestDir, schema: &str, output: &Value) {
    let schema = dir.run(&["schema", schema]).code(0).json();
    let schema = jsonschema::validator_for(&schema).unwrap();
    schema.validate(output).unwrap_or_else(|error| panic!("{error}: {output}"));
}

/// Setups of short matches.
const SMALL: &[(&str, usize, &[&str])] = &[
    ("chinese-checkers", 2, &["--setup", "size=2", "--setup", "max_turns=60"]),
    ("chexers", 3, &["--setup", "turns_per_seat=20"]),
    ("freckers", 2, &["--setup", "turn_limit=30"]),
    ("hex", 2, &["--setup", "size=3"]),
    ("checker-puzzle", 1, &["--setup", "size=3", "--setup", "max_moves=20"]),
    ("peg-solitaire", 1, &[]),
];

#[test]
fn new_agents_in_every_language_build_pass_check_and_play() {
    let starters: Vec<_> = STARTERS.iter().filter(|starter| is_here(starter)).collect();
    in_parallel(2, starters.len(), |index| {
        let dir = TestDir::sandboxed();
        let folder = begun(&dir, starters[index]);
        let own = &SMALL[index % SMALL.len()];
        // The first language is the one for beginners: it is checked in every game.
        checked(&dir, &folder, if index == 0 { SMALL } else { std::slice::from_ref(own) });
        let &(game, seats, setup) = own;
        plays(&dir, &folder, game, (index % seats, seats), setup);
        dir.assert_tmp_is_empty();
    });
}

/// Creates an agent, builds it as `new` says and returns its folder.
fn begun(dir: &TestDir, starter: &Starter) -> String {
    let language = starter.language;
    // The space in the name tests that the printed commands can be pasted.
    let folder = format!("bots/my {language}");
    let output = dir.run(&["new", &folder, "--lang", language, "--json"]).code(0).json();
    assert_valid(dir, "new", &output);
    assert_eq!(output["language"], language);
    assert_eq!(output["games"], json!([]));
    let mut files = strings(output["files"].as_array().unwrap().clone());
    files.sort_unstable();
    let entries = fs::read_dir(dir.path(&folder)).unwrap();
    let mut there: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    there.sort_unstable();
    assert_eq!(files, there, "{language}");
    let next = strings(output["next"].as_array().unwrap().clone());
    assert_eq!(next.len(), 3, "{next:?}");
    assert!(next.contains(&format!("referee check 'bots/my {language}'")), "{next:?}");
    for build in next.iter().filter(|command| command.starts_with("(cd ")) {
        dir.shell(build).code(0);
    }
    folder
}

fn checked(dir: &TestDir, folder: &str, games: &[(&str, usize, &[&str])]) {
    let one: &[&str] = if let [(game, ..)] = games { &["--game", game] } else { &[] };
    let output = dir.run(&[&["check", folder, "--json"], &AMPLE[..], one].concat()).json();
    let probes = output["probes"].as_array().unwrap();
    let is_fine = |probe: &Value| match probe["status"].as_str().unwrap() {
        // The starters play one game in a process.
        "not_applicable" => probe["note"] == "it doesn't offer `again` in `ready`",
        status => status == "passed",
    };
    let failed = probes.iter().find(|probe| !is_fine(probe));
    assert!(failed.is_none(), "{folder}: {}", failed.unwrap());
    for &(game, seats, _) in games {
        let made = |name: String| probes.iter().any(|probe| probe["name"] == name);
        assert!((0..seats).all(|seat| made(format!("seat:{game}:{seat}"))), "{folder}: {game}");
        assert!(made(format!("long:{game}")), "{folder}: {game}");
    }
}

/// Plays a match at every sandbox level of this machine: each allows the system calls of all of
/// these runtimes.
fn plays(dir: &TestDir, folder: &str, game: &str, seat: (usize, usize), setup: &[&str]) {
    let mut agents = vec!["@random"; seat.1];
    agents[seat.0] = folder;
    // As root, agents of the weaker levels run as users that may not enter the test's folder.
    fs::set_permissions(dir.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    for level in ["none", "basic", "confined", "isolated", "metered"] {
        let options = ["--fail-on-fault", "--json", "--no-transcript", "--sandbox", level];
        let words = [&["play", game], &agents[..], setup, &options].concat();
        let ran = dir.run(&words);
        // The level, or an interpreter in a home folder that other users may not enter.
        if ran.exit == Some(4) || ran.stderr.contains("which only its owner may enter") {
            println!("not tested: {folder} at {level}: {}", ran.stderr.lines().next().unwrap());
            continue;
        }
        let played = ran.code(0).json();
        assert_eq!(played["verdict"]["result"], "played", "{folder} at {level}: {played}");
        let name = played["seats"][seat.0]["name"].as_str().unwrap();
        assert_eq!(name, Path::new(folder).file_name().unwrap().to_str().unwrap(), "{played}");
    }
}

#[test]
fn printed_commands_can_be_pasted() {
    let dir = TestDir::sandboxed();
    let starter = &STARTERS[0];
    if !is_here(starter) {
        return;
    }
    let ran = dir.run(&["new", "@odd name"]).code(0).stdout_has("next:\n");
    let play = ran.stdout.lines().find_map(|line| line.trim().strip_prefix("referee play "));
    let play = play.unwrap();
    assert!(play.contains("'./@odd name'"), "{play}");
    dir.shell(&format!("referee play {play} --board none --fail-on-fault")).code(0);
    // The README's commands run in the agent's folder.
    let readme = fs::read_to_string(dir.path("@odd name/README.md")).unwrap();
    let play = readme.lines().find_map(|line| line.strip_prefix("    referee play ")).unwrap();
    let line = format!("cd '@odd name' && referee play {play} --board none --fail-on-fault");
    dir.shell(&line).code(0);
}

#[test]
fn the_readme_shows_the_actions_of_its_games() {
    let dir = TestDir::sandboxed();
    dir.run(&["new", "mine", "-g", "chexers", "-g", "hex", "-g", "chexers"]).code(0);
    let readme = fs::read_to_string(dir.path("mine/README.md")).unwrap();
    for game in ["chexers", "hex"] {
        let about = referee_games::kind(game).unwrap().about();
        assert!(readme.contains(&format!("## {}", about.title)), "{readme}");
        for form in &about.actions {
            assert!(readme.contains(&form.example.to_string()), "{readme}");
        }
    }
    let manifest = fs::read_to_string(dir.path("mine/agent.toml")).unwrap();
    assert!(manifest.contains("name = \"mine\"\n"), "{manifest}");
    assert!(manifest.contains("games = [\"chexers\", \"hex\"]\n"), "{manifest}");
    // Without a game the agent is for all games.
    dir.run(&["new", "any", "--lang", "js"])
        .code(0)
        .stdout_has("JavaScript for every built-in game");
    let manifest = fs::read_to_string(dir.path("any/agent.toml")).unwrap();
    assert!(!manifest.contains("games"), "{manifest}");
}

#[test]
fn nothing_is_overwritten() {
    let dir = TestDir::sandboxed();
    dir.run(&["new", "mine"]).code(0);
    dir.write("mine/bot.py", "my work");
    dir.run(&["new", "mine"]).code(2).stderr_has("is not empty").stderr_has("such as mine-2");
    dir.run(&["new", "mine/"]).code(2).stderr_has("such as mine-2");
    assert_eq!(fs::read_to_string(dir.path("mine/bot.py")).unwrap(), "my work");
    dir.write("file", "kept");
    dir.run(&["new", "file"]).code(2).stderr_has("file already exists").stderr_has("file-2");
    assert_eq!(fs::read_to_string(dir.path("file")).unwrap(), "kept");
    std::os::unix::fs::symlink("nowhere", dir.path("link")).unwrap();
    dir.run(&["new", "link"]).code(2).stderr_has("link already exists");
    assert!(!dir.path("nowhere").exists());
    // An empty folder is accepted, also the current one, and a new repository.
    let ran = dir.shell("mkdir -p empty/.git && cd empty && referee new .").code(0);
    assert!(ran.stdout.contains("referee check .\n"), "{ran:?}");
    let manifest = fs::read_to_string(dir.path("empty/agent.toml")).unwrap();
    assert!(manifest.contains("name = \"empty\"\n"), "{manifest}");
}

#[test]
fn mistakes_leave_nothing_behind() {
    let dir = TestDir::sandboxed();
    dir.write("file", "kept");
    dir.run(&["new", "file/mine"]).code(1).stderr_has("file/mine: ");
    dir.run(&["new", "/proc/mine"]).code(1).stderr_has("/proc/mine: ");
    dir.run(&["new", "mine", "--lang", "pyton"]).code(2).stderr_has("did you mean `python`?");
    dir.run(&["new", "mine", "--game", "chexrs"]).code(2).stderr_has("did you mean `chexers`?");
    dir.run(&["new", "mine", "--game", "any", "--game", "hex"])
        .code(2)
        .stderr_has("only --game any");
    dir.run(&["new"]).code(2).stderr_has("<DIR>");
    dir.run(&["new", "--lang", "go"]).code(2).stderr_has("for example: referee new mybot");
    dir.run(&["new", ""]).code(2).stderr_has("a value is required");
    assert!(!dir.path("mine").exists());
    assert_eq!(fs::read_to_string(dir.path("file")).unwrap(), "kept");
}

#[test]
fn languages_are_listed_with_their_requirements() {
    let dir = TestDir::sandboxed();
    let output = dir.run(&["languages", "--json"]).code(0).json();
    assert_valid(&dir, "languages", &output);
    let languages = output["languages"].as_array().unwrap();
    assert_eq!(languages.len(), STARTERS.len());
    let list = dir.run(&["languages"]).code(0).stdout;
    for (language, starter) in languages.iter().zip(STARTERS) {
        let line = list.lines().find(|line| line.split('\t').next() == Some(starter.language));
        let found = all_found(&language["needs"]);
        assert_eq!(line.unwrap().ends_with("\tyes"), found, "{list}");
    }
    // All languages are listed even if nothing is installed, with what to install.
    let words = ["languages"];
    let list = dir.run_with(&words, |it| it.env("PATH", dir.path("tmp"))).stdout;
    assert!(list.contains("go\tgo\tno: apt install golang-go\n"), "{list}");
    assert!(!list.contains("yes"), "{list}");
}

/// Returns whether all of these programs are installed.
fn all_found(needs: &Value) -> bool {
    needs.as_array().unwrap().iter().all(|need| need["found"].is_string())
}
