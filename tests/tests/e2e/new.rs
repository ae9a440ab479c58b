//! `new`: in every language, what it creates is built by the command that it prints, passes the check, and
//! plays a match. That each plays every game is tested with the sample agents.

use crate::support::{AMPLE, Place, in_parallel, skip, texts};
use sample_agents::starters::{STARTERS, Starter};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Whether what a language needs is here; where it isn't, a line says so, unless that is forbidden.
fn is_here(starter: &Starter) -> bool {
    let path = std::env::var_os("PATH").unwrap();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let absent = starter
        .needs
        .iter()
        .find(|need| folders.iter().all(|folder| !folder.join(need.program).is_file()));
    if let Some(need) = absent {
        skip(&format!("{} for {}", need.program, starter.language));
    }
    absent.is_none()
}

#[track_caller]
fn assert_valid(place: &Place, schema: &str, told: &Value) {
    let schema = place.run(&["schema", schema]).code(0).json();
    let schema = jsonschema::validator_for(&schema).unwrap();
    schema.validate(told).unwrap_or_else(|error| panic!("{error}: {told}"));
}

/// Setups that are soon played.
const SMALL: &[(&str, usize, &[&str])] = &[
    ("chinese-checkers", 2, &["--setup", "size=2", "--setup", "max_turns=60"]),
    ("chexers", 3, &["--setup", "turns_per_seat=20"]),
    ("freckers", 2, &["--setup", "turn_limit=30"]),
    ("hex", 2, &["--setup", "size=3"]),
    ("checker-puzzle", 1, &["--setup", "size=3", "--setup", "max_moves=20"]),
    ("peg-solitaire", 1, &[]),
];

#[test]
fn in_every_language_it_is_built_as_printed_passes_the_check_and_plays() {
    let starters: Vec<_> = STARTERS.iter().filter(|starter| is_here(starter)).collect();
    in_parallel(2, starters.len(), |index| {
        let place = Place::new();
        let folder = begun(&place, starters[index]);
        let own = &SMALL[index % SMALL.len()];
        // The first is for those who begin, and checked in every game.
        checked(&place, &folder, if index == 0 { SMALL } else { std::slice::from_ref(own) });
        let &(game, seats, setup) = own;
        plays(&place, &folder, game, (index % seats, seats), setup);
        place.assert_tidy();
    });
}

/// A new agent, built as `new` says; its folder.
fn begun(place: &Place, starter: &Starter) -> String {
    let language = starter.language;
    // The blank shows whether what is printed can be pasted.
    let folder = format!("bots/my {language}");
    let told = place.run(&["new", &folder, "--lang", language, "--json"]).code(0).json();
    assert_valid(place, "new", &told);
    assert_eq!(told["language"], language);
    assert_eq!(told["games"], json!([]));
    let mut files = texts(told["files"].as_array().unwrap().clone());
    files.sort_unstable();
    let entries = fs::read_dir(place.path(&folder)).unwrap();
    let mut there: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    there.sort_unstable();
    assert_eq!(files, there, "{language}");
    let next = texts(told["next"].as_array().unwrap().clone());
    assert_eq!(next.len(), 3, "{next:?}");
    assert!(next.contains(&format!("referee check 'bots/my {language}'")), "{next:?}");
    for build in next.iter().filter(|command| command.starts_with("(cd ")) {
        place.shell(build).code(0);
    }
    folder
}

fn checked(place: &Place, folder: &str, games: &[(&str, usize, &[&str])]) {
    let one: &[&str] = if let [(game, ..)] = games { &["--game", game] } else { &[] };
    let told = place.run(&[&["check", folder, "--json"], &AMPLE[..], one].concat()).json();
    let probes = told["probes"].as_array().unwrap();
    let failed = probes.iter().find(|probe| probe["status"] != "passed");
    assert!(failed.is_none(), "{folder}: {}", failed.unwrap());
    for &(game, seats, _) in games {
        let made = |name: String| probes.iter().any(|probe| probe["name"] == name);
        assert!((0..seats).all(|seat| made(format!("seat:{game}:{seat}"))), "{folder}: {game}");
        assert!(made(format!("long:{game}")), "{folder}: {game}");
    }
}

fn plays(place: &Place, folder: &str, game: &str, seat: (usize, usize), setup: &[&str]) {
    let mut agents = vec!["@random"; seat.1];
    agents[seat.0] = folder;
    let words = [&[game], &agents[..], setup, &["--fail-on-fault"]].concat();
    let played = place.play(&words);
    assert_eq!(played["verdict"]["result"], "played", "{folder}: {played}");
    let name = played["seats"][seat.0]["name"].as_str().unwrap();
    assert_eq!(name, Path::new(folder).file_name().unwrap().to_str().unwrap(), "{played}");
}

#[test]
fn what_it_prints_can_be_pasted() {
    let place = Place::new();
    let starter = &STARTERS[0];
    if !is_here(starter) {
        return;
    }
    let ran = place.run(&["new", "@odd name"]).code(0).prints("next:\n");
    let play = ran.stdout.lines().find_map(|line| line.trim().strip_prefix("referee play "));
    let play = play.unwrap();
    assert!(play.contains("'./@odd name'"), "{play}");
    place.shell(&format!("referee play {play} --board none --fail-on-fault")).code(0);
    // The README's commands are for whoever stands in the folder.
    let readme = fs::read_to_string(place.path("@odd name/README.md")).unwrap();
    let play = readme.lines().find_map(|line| line.strip_prefix("    referee play ")).unwrap();
    let line = format!("cd '@odd name' && referee play {play} --board none --fail-on-fault");
    place.shell(&line).code(0);
}

#[test]
fn the_readme_shows_the_actions_of_its_games() {
    let place = Place::new();
    place.run(&["new", "mine", "-g", "chexers", "-g", "hex", "-g", "chexers"]).code(0);
    let readme = fs::read_to_string(place.path("mine/README.md")).unwrap();
    for game in ["chexers", "hex"] {
        let about = referee_games::kind(game).unwrap().about();
        assert!(readme.contains(&format!("## {}", about.title)), "{readme}");
        for form in about.actions {
            assert!(readme.contains(&form.example.to_string()), "{readme}");
        }
    }
    let manifest = fs::read_to_string(place.path("mine/agent.toml")).unwrap();
    assert!(manifest.contains("name = \"mine\"\n"), "{manifest}");
    assert!(manifest.contains("games = [\"chexers\", \"hex\"]\n"), "{manifest}");
    // Without a game it is for any of them.
    place.run(&["new", "any", "--lang", "js"]).code(0).prints("JavaScript for any game");
    let manifest = fs::read_to_string(place.path("any/agent.toml")).unwrap();
    assert!(!manifest.contains("games"), "{manifest}");
}

#[test]
fn nothing_is_overwritten() {
    let place = Place::new();
    place.run(&["new", "mine"]).code(0);
    place.write("mine/bot.py", "my work");
    place.run(&["new", "mine"]).code(2).complains("isn't empty").complains("such as mine-2");
    place.run(&["new", "mine/"]).code(2).complains("such as mine-2");
    assert_eq!(fs::read_to_string(place.path("mine/bot.py")).unwrap(), "my work");
    place.write("file", "kept");
    place.run(&["new", "file"]).code(2).complains("file is there already").complains("file-2");
    assert_eq!(fs::read_to_string(place.path("file")).unwrap(), "kept");
    std::os::unix::fs::symlink("nowhere", place.path("link")).unwrap();
    place.run(&["new", "link"]).code(2).complains("link is there already");
    assert!(!place.path("nowhere").exists());
    // A folder that is still empty is as good as none, also the one that the user stands in.
    let ran = place.shell("mkdir empty && cd empty && referee new .").code(0);
    assert!(ran.stdout.contains("referee check .\n"), "{ran:?}");
    let manifest = fs::read_to_string(place.path("empty/agent.toml")).unwrap();
    assert!(manifest.contains("name = \"empty\"\n"), "{manifest}");
}

#[test]
fn mistakes_leave_nothing_behind() {
    let place = Place::new();
    place.write("file", "kept");
    place.run(&["new", "file/mine"]).code(1).complains("file/mine: ");
    place.run(&["new", "/proc/mine"]).code(1).complains("/proc/mine: ");
    place.run(&["new", "mine", "--lang", "pyton"]).code(2).complains("did you mean `python`?");
    place.run(&["new", "mine", "--game", "chexrs"]).code(2).complains("did you mean `chexers`?");
    place.run(&["new", "mine", "--game", "any", "--game", "hex"]).code(2).complains("only `any`");
    place.run(&["new"]).code(2).complains("<DIR>");
    place.run(&["new", "--lang", "go"]).code(2).complains("referee new mybot --lang go");
    place.run(&["new", ""]).code(2).complains("a value is required");
    assert!(!place.path("mine").exists());
    assert_eq!(fs::read_to_string(place.path("file")).unwrap(), "kept");
}

#[test]
fn the_languages_are_listed_with_what_they_need() {
    let place = Place::new();
    let told = place.run(&["new", "--lang", "list", "--json"]).code(0).json();
    assert_valid(&place, "languages", &told);
    let languages = told["languages"].as_array().unwrap();
    assert_eq!(languages.len(), STARTERS.len());
    let list = place.run(&["new", "--lang", "list"]).code(0).stdout;
    for (language, starter) in languages.iter().zip(STARTERS) {
        let line = list.lines().find(|line| line.split('\t').next() == Some(starter.language));
        let found = all_found(&language["needs"]);
        assert_eq!(line.unwrap().ends_with("\tyes"), found, "{list}");
    }
    // Where nothing is installed, everything is listed all the same, with what to install.
    let words = ["new", "--lang", "list"];
    let list = place.run_with(&words, |it| it.env("PATH", place.path("tmp"))).stdout;
    assert!(list.contains("go\tgo\tno: apt install golang-go\n"), "{list}");
    assert!(!list.contains("yes"), "{list}");
}

/// Whether all of these programs are found somewhere.
fn all_found(needs: &Value) -> bool {
    needs.as_array().unwrap().iter().all(|need| need["found"].is_string())
}
