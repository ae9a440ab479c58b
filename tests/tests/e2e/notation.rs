//! `replay export` and `replay import`: matches in the notations of other programs, and their games as
//! transcripts.

use crate::support::TestDir;
use serde_json::{Value, json};
use std::fs;

/// Plays a match into `x.jsonl`.
fn played(dir: &TestDir, setup: &[&str]) {
    dir.play(&[&["hex", "@random", "@first", "--seed", "5", "--out", "x.jsonl"], setup].concat());
}

fn actions(events: &[Value]) -> Vec<&Value> {
    events.iter().filter(|event| event["type"] == "played").map(|it| &it["action"]).collect()
}

#[test]
fn exported_matches_can_be_imported() {
    for setup in [
        &["--setup", "size=3"][..],
        &["--setup", "size=4", "--setup", "swap=sides", "--setup", "first=red"],
        &["--setup", "size=5", "--setup", "swap=pieces"],
    ] {
        let dir = TestDir::new();
        played(&dir, setup);
        dir.run(&["replay", "export", "x.jsonl", "--out", "x.sgf"]).code(0);
        let ran = dir.run(&["replay", "import", "x.sgf", "--out", "y.jsonl.gz"]).code(0);
        ran.stdout_has("wins: it connected its two sides");
        assert_eq!(dir.verify_status("y.jsonl.gz"), "ok");
        dir.run(&["replay", "import", "x.sgf", "--out", "y.jsonl"]).code(0);
        let (there, back) = (dir.events("x.jsonl"), dir.events("y.jsonl"));
        assert_eq!(actions(&there), actions(&back));
        let (there, back) = (&there[0], &back[0]);
        assert_eq!(there["setup"], back["setup"]);
        assert_eq!(back["seats"][0]["name"], "@random");
        assert_eq!(back["seats"][1]["command"], json!(["@import", "x.sgf"]));
        // Exporting the import differs only in the match.
        dir.run(&["replay", "export", "y.jsonl", "-o", "y.sgf"]).code(0);
        let text = |name| fs::read_to_string(dir.path(name)).unwrap();
        let id = |header: &Value| header["match"].as_str().unwrap().to_owned();
        assert_eq!(text("x.sgf").replace(&id(there), &id(back)), text("y.sgf"));
    }
}

#[test]
fn a_match_as_sgf() {
    let dir = TestDir::new();
    played(&dir, &["--setup", "size=4", "--setup", "swap=pieces"]);
    dir.run(&["replay", "export", "x.jsonl", "--out", "x.sgf"]).code(0);
    let header = &dir.events("x.jsonl")[0];
    let text = fs::read_to_string(dir.path("x.sgf")).unwrap();
    let text = text.replace(header["match"].as_str().unwrap(), "MATCH");
    insta::assert_snapshot!(text.replace(&header["started"].as_str().unwrap()[..10], "DAY"));
}

#[test]
fn games_of_other_programs() {
    let dir = TestDir::new();
    let games = "(;GM[11]SZ[5]PB[Ada\u{1b}[31m]PW[Ada]DT[2001-02-03];B[c3];W[b2];B[resign])\n\
        (;GM[11]SZ[5];B[c3])(;GM[11]SZ[5]RE[B+T];B[c3])";
    dir.write("games.sgf", games);
    let import = |number: &str, output: &str| {
        let words = ["replay", "import", "games.sgf", "--number", number, "--out", output];
        dir.run(&words).code(0).stderr_has(&format!("note: this is game {number} of 3"))
    };
    let ran = import("1", "1.jsonl").stdout_has("Ada wins: Ada [31m resigned\n");
    assert!(!ran.stdout.contains('\u{1b}'), "{ran:?}");
    let events = dir.events("1.jsonl");
    assert_eq!(events[0]["started"], "2001-02-03T00:00:00Z");
    assert_eq!(
        actions(&events),
        [&json!({"type": "place", "at": [2, 2]}), &json!({"type": "place", "at": [1, 1]}),]
    );
    import("2", "2.jsonl").stdout_has("void: the record ends before the game does");
    import("3", "3.jsonl").stdout_has("ran out of time in turn 1: its time ran out");
    for name in ["1.jsonl", "2.jsonl", "3.jsonl"] {
        assert_eq!(dir.verify_status(name), "ok");
        dir.run(&["replay", name, "--print"]).code(0).stdout_has("turn 0: ");
    }
    assert_ne!(events[0]["match"], dir.events("2.jsonl")[0]["match"]);
    // From stdin, which has no file name.
    let words = ["replay", "import", "-", "--game", "hex", "--out", "4.jsonl"];
    dir.run_with_input(&words, "(;GM[11];W[a1])").code(0).stdout_has("first=red");
    // An imported match has no agents that `debug` could start.
    dir.run(&["debug", "1.jsonl", "--seat", "0"]).code(2).stderr_has("--agent");
}

#[test]
fn unreadable_lines_are_reported_with_their_position() {
    let dir = TestDir::new();
    dir.write("bad.sgf", "(;GM[11]SZ[5]\n;B[c3];W[c3])");
    let import = |file: &str, output: &str| dir.run(&["replay", "import", file, "--out", output]);
    import("bad.sgf", "x.jsonl")
        .code(1)
        .stderr_has("bad.sgf: line 2, column 9: move 2, W[c3]: c3 is occupied");
    assert!(!dir.path("x.jsonl").exists());
    import("nothing.sgf", "x.jsonl").code(1).stderr_has("nothing.sgf");
    import("bad.pgn", "x.jsonl").code(2).stderr_has("hex (.sgf)");
    import("bad.sgf", "x.txt").code(2).stderr_has("end the name with .jsonl or .jsonl.gz");
    dir.write("x.jsonl", "kept");
    import("bad.sgf", "x.jsonl").code(2).stderr_has("add --force to overwrite it");
    let words = ["replay", "import", "bad.sgf", "--game", "hx", "--out", "y.jsonl"];
    dir.run(&words).code(2).stderr_has("did you mean `hex`?");
    let words = ["replay", "import", "bad.sgf", "--game", "chexers", "--out", "y.jsonl"];
    dir.run(&words).code(2).stderr_has("no game can be read from this ending");
    dir.write("bad.sgf", "(;GM[11]SZ[5];B[c3])");
    dir.run(&["replay", "import", "bad.sgf", "--force", "-o", "x.jsonl"]).code(0);
    assert_eq!(dir.verify_status("x.jsonl"), "ok");
}

#[test]
fn text_export_equals_printed_replay() {
    let dir = TestDir::new();
    played(&dir, &["--setup", "size=3"]);
    let printed = dir.run(&["replay", "x.jsonl", "--print"]).code(0).stdout;
    dir.run(&["replay", "export", "x.jsonl", "--out", "x.txt"]).code(0);
    let text = || fs::read_to_string(dir.path("x.txt")).unwrap();
    assert_eq!(text(), printed);
    dir.run(&["replay", "export", "x.jsonl", "-o", "x.txt"]).code(1).stderr_has("--force");
    dir.run(&["replay", "export", "x.jsonl", "-o", "x.txt", "--force", "-k", "--flip"]).code(0);
    assert_eq!(text(), dir.run(&["replay", "x.jsonl", "-k", "--flip"]).code(0).stdout);
    let words = ["replay", "export", "x.jsonl", "-o", "x.sgf", "--turn", "1"];
    dir.run(&words).code(2).stderr_has("file contains every turn");
    let words = ["replay", "export", "-", "-o", "-", "--format", "sgf"];
    let match_text = fs::read_to_string(dir.path("x.jsonl")).unwrap();
    dir.run_with_input(&words, &match_text).code(0).stdout_has("(;FF[4]");
    dir.run(&["replay", "export", "x.jsonl", "-o", "x.doc"]).code(2).stderr_has(".txt, .sgf");
    dir.play(&["chexers", "@random", "@random", "@random", "--out", "c.jsonl"]);
    let ran = dir.run(&["replay", "export", "c.jsonl", "-o", "c.sgf"]).code(1);
    ran.stderr_has("chexers can't be written as .sgf").stderr_has("games that can: hex");
    dir.run(&["replay", "export", "c.jsonl", "-o", "c.txt"]).code(0);
}
