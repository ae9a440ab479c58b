//! Which level agents are kept in: as it was asked for, or refused, and told everywhere.

use crate::support::{PROGRAM, Place, Ran};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Levels that a machine may or may not give, strongest first.
const LEVELS: [&str; 5] = ["metered", "isolated", "confined", "basic", "none"];
/// What makes layers fail, for tests.
const MISHAP: &str = "REFEREE_SANDBOX_MISHAP";

fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["play", "hex", "@first", "@first", "--setup", "size=3", "--out", "x.jsonl"], more].concat()
}

/// The same with a layer that the system doesn't know.
fn without(place: &Place, layer: &str, words: &[&str]) -> Ran {
    place.run_with(words, |it| it.env(MISHAP, format!("missing:{layer}")))
}

fn header(place: &Place, name: &str) -> Value {
    place.events(name)[0].clone()
}

fn exists(place: &Place, name: &str) -> bool {
    place.path(name).exists()
}

/// The level that `auto` takes here, and what is in force.
fn auto(place: &Place) -> Value {
    let told = place.run(&words(&["--json", "--force"])).code(0).json();
    told["sandbox"].clone()
}

fn rank(level: &Value) -> usize {
    LEVELS.iter().position(|it| level == it).unwrap()
}

#[test]
fn each_level_that_this_machine_gives_is_recorded() {
    let place = Place::new();
    let mut strongest = None;
    for level in LEVELS {
        let words = words(&["--sandbox", level, "--json", "--force"]);
        let ran = place.run(&words);
        if ran.exit == Some(4) {
            assert!(ran.stderr.contains(&format!("no sandbox here is {level}: ")), "{ran:?}");
            assert!(!exists(&place, "x.jsonl"), "{level} is refused and leaves a transcript");
            println!("not tested: {}", ran.stderr.lines().next().unwrap());
            continue;
        }
        let told = ran.code(0).json();
        assert_eq!(told["sandbox"]["level"], level);
        assert_eq!(header(&place, "x.jsonl")["sandbox"], told["sandbox"]);
        let layers = told["sandbox"]["layers"].as_array().unwrap();
        assert_eq!(layers.is_empty(), level == "none", "{layers:?}");
        let again = told["reproduce"].as_str().unwrap();
        assert!(again.contains(&format!("--sandbox {level}")), "{again}");
        assert_eq!(told["verdict"]["result"], "played");
        strongest = strongest.or(Some(level));
        fs::remove_file(place.path("x.jsonl")).unwrap();
    }
    let chosen = auto(&place);
    assert_eq!(Some(chosen["level"].as_str().unwrap()), strongest, "auto is the strongest");
}

#[test]
fn what_auto_takes_is_told_in_one_line() {
    let place = Place::new();
    let ran = place.run(&words(&["--json"])).code(0);
    let told = ran.json();
    let level = told["sandbox"]["level"].as_str().unwrap();
    let lines: Vec<&str> =
        ran.stderr.lines().filter(|line| line.starts_with("sandbox: ")).collect();
    assert_eq!(lines.len(), 1, "{ran:?}");
    let short = format!("sandbox: {level}");
    if rank(&told["sandbox"]["level"]) <= rank(&"isolated".into()) {
        assert_eq!(lines[0], short);
    } else {
        assert!(lines[0].starts_with(&format!("{short}; isolated: ")), "{lines:?}");
    }
    assert!(!lines[0].contains("metered: "), "nobody asked for it: {lines:?}");
    let whole = place.run(&words(&["--force", "-v"])).code(0);
    let line = whole.stderr.lines().find(|line| line.starts_with("sandbox: ")).unwrap();
    assert!(line.starts_with(&format!("{short} [")), "{line}");
    for layer in told["sandbox"]["layers"].as_array().unwrap() {
        assert!(line.contains(layer.as_str().unwrap()), "{layer} in {line}");
    }
    assert!(!told["reproduce"].as_str().unwrap().contains("--sandbox"), "nobody named it");
    let quiet = place.run(&words(&["--json", "--force", "--quiet"])).code(0);
    assert_eq!(quiet.stderr, "");
    let none = place.run(&words(&["--force", "--quiet", "--sandbox", "none"])).code(0);
    none.complains("warning: nothing keeps agents in");
}

#[test]
fn a_level_that_cannot_be_had_is_refused_with_layer_and_remedy() {
    let place = Place::new();
    for (level, layer, help) in [
        ("confined", "landlock", "help: Landlock"),
        ("confined", "seccomp", "help: the kernel needs"),
        ("isolated", "userns", "help: "),
    ] {
        let ran = without(&place, layer, &words(&["--sandbox", level])).code(4);
        ran.complains(&format!("no sandbox here is {level}: {layer}: ")).complains(help);
        assert!(!exists(&place, "x.jsonl"));
    }
    let check = ["check", "@first", "--game", "hex", "--sandbox", "confined"];
    without(&place, "seccomp", &check).code(4).complains("confined: seccomp: ");
}

#[test]
fn auto_takes_the_next_level_and_says_why() {
    let place = Place::new();
    for (layer, best) in [("userns", "confined"), ("seccomp", "basic")] {
        let ran = without(&place, layer, &words(&["--json", "--force"])).code(0);
        let told = ran.json();
        assert!(rank(&told["sandbox"]["level"]) >= rank(&best.into()), "{told}");
        assert_eq!(header(&place, "x.jsonl")["sandbox"], told["sandbox"]);
        ran.complains(&format!("; isolated: {layer}: "));
    }
    // Where not even `basic` can be had nothing is played.
    without(&place, "limits", &words(&["--force"])).code(4).complains("basic: limits: ");
}

#[test]
fn without_a_temporary_folder_that_is_what_is_told() {
    let place = Place::new();
    let nowhere = place.path("nowhere").display().to_string();
    for more in [&[][..], &["--sandbox", "basic"]] {
        let ran = place.run_with(&words(more), |it| it.env("TMPDIR", &nowhere)).code(4);
        ran.complains("no sandbox here is basic: the self-test can't run: ")
            .complains(&format!("help: {nowhere} is the machine's temporary folder"))
            .complains("TMPDIR");
    }
    assert!(!exists(&place, "x.jsonl"));
}

#[test]
fn a_wrapper_is_for_level_external_alone() {
    let place = Place::new();
    let refused = place.run(&words(&["--sandbox", "external"])).code(2);
    refused.complains("needs the command").complains("help: --wrapper");
    let refused = place.run(&words(&["--wrapper", "env"])).code(2);
    refused.complains("only level external").complains("help: add --sandbox external");
    for wrapper in ["no-such-program", "./no-such-program x", "it's", ""] {
        let words = words(&["--sandbox", "external", "--wrapper", wrapper]);
        place.run(&words).code(2).complains("wrapper");
    }
    assert!(!exists(&place, "x.jsonl"));
}

/// A place whose files everybody may read: as root, agents have a user of their own.
fn open_place() -> Place {
    let place = Place::new();
    fs::set_permissions(place.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    place
}

#[test]
fn a_wrapper_starts_the_agents() {
    let place = open_place();
    let script = "#!/bin/sh\necho \"wrapped in $1, at home in $2\" >&2\nshift 2\nexec \"$@\"\n";
    let wrapper = format!("{} {{folder}} {{work}}", place.program("wrap.sh", script));
    let more = ["--sandbox", "external", "--wrapper", &wrapper, "--json"];
    let told = place.run(&words(&more)).code(0).json();
    assert_eq!(told["verdict"]["result"], "played", "{told}");
    assert_eq!(told["sandbox"]["level"], "external");
    assert_eq!(told["seats"][0]["command"][0], "referee", "the agent's own command is told");
    let again = told["reproduce"].as_str().unwrap();
    assert!(again.contains("--sandbox external --wrapper './wrap.sh {folder} {work}'"), "{again}");
    let home = format!("at home in {}/referee-", place.path("tmp").display());
    for said in [0, 1].map(|seat| place.said("x.jsonl", seat)) {
        assert!(said.contains(&home), "{said:?}");
    }
}

#[test]
fn bubblewrap_keeps_agents_in() {
    if !Path::new("/usr/bin/bwrap").exists() {
        println!("skipped: there is no bwrap");
        return;
    }
    // The line of docs/contest-file.md, and the program under test, which may lie in /tmp.
    let wrapper = format!(
        "bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --ro-bind {PROGRAM} {PROGRAM} \
         --bind {{work}} {{work}} --unshare-all --die-with-parent"
    );
    let tried = ["--ro-bind", "/", "/", "--unshare-all", "true"];
    let tried = Command::new("bwrap").args(tried).status();
    if !tried.is_ok_and(|status| status.success()) {
        println!("skipped: bwrap can't make namespaces here");
        return;
    }
    let place = open_place();
    let more = ["--sandbox", "external", "--wrapper", &wrapper, "--json"];
    let told = place.run(&words(&more)).code(0).json();
    assert_eq!(told["verdict"]["result"], "played", "{told}");
    assert_eq!(told["sandbox"]["level"], "external");
}

/// A contest of two games.
fn contest(place: &Place, sandbox: &str) {
    crate::contest::write(place, &["@random", "@first"], &format!("sandbox.{sandbox}\n"));
}

#[test]
fn a_contest_that_demands_too_much_leaves_nothing_behind() {
    let place = Place::new();
    let run = ["contest", "run", "c.toml", "--out", "d"];
    for sandbox in ["at_least = \"confined\"", "level = \"confined\"", "level = \"isolated\""] {
        contest(&place, sandbox);
        let ran = without(&place, "seccomp", &run).code(4);
        ran.complains(": seccomp: ").complains("help: ");
        assert!(!exists(&place, "d"), "{sandbox}");
    }
    contest(&place, "read = [\"nowhere\"]");
    place.run(&run).code(2).complains("c.toml:4:17: nowhere: ");
    let quick = ["contest", "quick", "--game", "hex", "@random", "@first", "--out", "d"];
    let quick = [&quick, &["--sandbox", "confined"][..]].concat();
    without(&place, "seccomp", &quick).code(4);
    let compare = ["compare", "@random", "@first", "--game", "hex", "--out", "d"];
    let compare = [&compare, &["--sandbox", "confined"][..]].concat();
    without(&place, "seccomp", &compare).code(4);
    assert!(!exists(&place, "d"));
}

#[test]
fn a_contest_goes_on_behind_the_same_walls() {
    let place = Place::new();
    contest(&place, "pondering = \"measure\"");
    let ran = place.run(&["contest", "run", "c.toml", "--out", "d"]).code(0);
    let status = place.run(&["contest", "status", "d", "--json"]).code(0).json();
    let level = status["sandbox"]["level"].as_str().unwrap().to_owned();
    ran.complains(&format!("sandbox: {level} ["));
    place.run(&["contest", "status", "d"]).code(0).prints(&format!("sandbox  {level} ["));
    let report = place.run(&["contest", "report", "d", "--json"]).code(0).json();
    let settings = report["settings"].as_array().unwrap();
    let told = settings.iter().find(|setting| setting["name"] == "sandbox").unwrap();
    assert!(told["value"].as_str().unwrap().starts_with(&level), "{told}");
    let game = header(&place, "d/games/0000/0000000.jsonl");
    assert_eq!(game["sandbox"], status["sandbox"]);
    assert_eq!(game["sandbox"]["pondering"], "measure");
    place.run(&["verify", "d"]).code(0);
    place.run(&["contest", "resume", "d"]).code(0);
    if rank(&level.as_str().into()) >= rank(&"basic".into()) {
        println!("not tested: no level here is stronger than basic");
        return;
    }
    let refused = without(&place, "seccomp", &["contest", "resume", "d"]).code(4);
    refused
        .complains("the contest can't be resumed: ")
        .complains(&format!("{level}: seccomp: "))
        .complains("help: ");
}

#[test]
fn verify_names_games_behind_other_walls() {
    let place = Place::new();
    contest(&place, "level = \"none\"");
    place.run(&["contest", "run", "c.toml", "--out", "d"]).code(0).complains("warning: nothing");
    place.run(&["verify", "d"]).code(0);
    // As if the file had always said something else.
    let store = rusqlite::Connection::open(place.path("d/contest.db")).unwrap();
    let changed = "update contest set text = replace(text, 'level = \"none\"', 'level = \"basic\"'), \
                   contest = replace(contest, '\"level\":\"none\"', '\"level\":\"basic\"')";
    store.execute_batch(changed).unwrap();
    let text = fs::read_to_string(place.path("c.toml")).unwrap();
    place.write("d/contest.toml", text.replace("none", "basic"));
    let told = place.run(&["verify", "d"]).code(1);
    told.prints("the sandbox was none, and the contest demands basic");
}
