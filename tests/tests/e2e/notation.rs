//! `replay export` and `replay import`: matches as other programs keep games, and games of others
//! as transcripts.

use crate::support::Place;
use serde_json::{Value, json};
use std::fs;

/// Plays a match into `x.jsonl`.
fn played(place: &Place, setup: &[&str]) {
    place.play(&[&["hex", "@random", "@first", "--seed", "5", "--out", "x.jsonl"], setup].concat());
}

fn actions(events: &[Value]) -> Vec<&Value> {
    events.iter().filter(|event| event["type"] == "played").map(|it| &it["action"]).collect()
}

#[test]
fn a_match_goes_out_and_comes_back() {
    for setup in [
        &["--setup", "size=3"][..],
        &["--setup", "size=4", "--setup", "swap=sides", "--setup", "first=red"],
        &["--setup", "size=5", "--setup", "swap=pieces"],
    ] {
        let place = Place::new();
        played(&place, setup);
        place.run(&["replay", "export", "x.jsonl", "--output", "x.sgf"]).code(0);
        let ran = place.run(&["replay", "import", "x.sgf", "--output", "y.jsonl.gz"]).code(0);
        ran.prints("wins: connected");
        assert_eq!(place.verified("y.jsonl.gz"), "ok");
        place.run(&["replay", "import", "x.sgf", "--output", "y.jsonl"]).code(0);
        let (there, back) = (place.events("x.jsonl"), place.events("y.jsonl"));
        assert_eq!(actions(&there), actions(&back));
        let (there, back) = (&there[0], &back[0]);
        assert_eq!(there["setup"], back["setup"]);
        assert_eq!(back["seats"][0]["name"], "@random");
        assert_eq!(back["seats"][1]["command"], json!(["@import", "x.sgf"]));
        // What was exported from the import differs in nothing but the match.
        place.run(&["replay", "export", "y.jsonl", "-o", "y.sgf"]).code(0);
        let text = |name| fs::read_to_string(place.path(name)).unwrap();
        let id = |header: &Value| header["match"].as_str().unwrap().to_owned();
        assert_eq!(text("x.sgf").replace(&id(there), &id(back)), text("y.sgf"));
    }
}

#[test]
fn a_match_as_sgf() {
    let place = Place::new();
    played(&place, &["--setup", "size=4", "--setup", "swap=pieces"]);
    place.run(&["replay", "export", "x.jsonl", "--output", "x.sgf"]).code(0);
    let header = &place.events("x.jsonl")[0];
    let text = fs::read_to_string(place.path("x.sgf")).unwrap();
    let text = text.replace(header["match"].as_str().unwrap(), "MATCH");
    insta::assert_snapshot!(text.replace(&header["started"].as_str().unwrap()[..10], "DAY"));
}

#[test]
fn games_that_were_played_elsewhere() {
    let place = Place::new();
    let games = "(;GM[11]SZ[5]PB[Ada\u{1b}[31m]PW[Ada]DT[2001-02-03];B[c3];W[b2];B[resign])\n\
        (;GM[11]SZ[5];B[c3])(;GM[11]SZ[5]RE[B+T];B[c3])";
    place.write("games.sgf", games);
    let import = |number: &str, output: &str| {
        let words = ["replay", "import", "games.sgf", "--number", number, "--output", output];
        place.run(&words).code(0).complains(&format!("note: this is game {number} of 3"))
    };
    let ran = import("1", "1.jsonl").prints("Ada wins: resigned");
    assert!(!ran.stdout.contains('\u{1b}'), "{ran:?}");
    let events = place.events("1.jsonl");
    assert_eq!(events[0]["started"], "2001-02-03T00:00:00Z");
    assert_eq!(
        actions(&events),
        [&json!({"type": "place", "at": [2, 2]}), &json!({"type": "place", "at": [1, 1]}),]
    );
    import("2", "2.jsonl").prints("void (unfinished)");
    import("3", "3.jsonl").prints("late in turn 1: its time ran out");
    for name in ["1.jsonl", "2.jsonl", "3.jsonl"] {
        assert_eq!(place.verified(name), "ok");
        place.run(&["replay", name, "--print"]).code(0).prints("turn 0: ");
    }
    assert_ne!(events[0]["match"], place.events("2.jsonl")[0]["match"]);
    // From stdin, which has no name to go by.
    let words = ["replay", "import", "-", "--game", "hex", "--output", "4.jsonl"];
    place.run_with_input(&words, "(;GM[11];W[a1])").code(0).prints("first=red");
    // There was no program that could be asked once more.
    place.run(&["debug", "1.jsonl", "--seat", "0"]).code(2).complains("--agent");
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    let place = Place::new();
    place.write("bad.sgf", "(;GM[11]SZ[5]\n;B[c3];W[c3])");
    let import =
        |file: &str, output: &str| place.run(&["replay", "import", file, "--output", output]);
    import("bad.sgf", "x.jsonl")
        .code(1)
        .complains("bad.sgf: line 2, column 9: move 2, W[c3]: c3 is occupied");
    assert!(!place.path("x.jsonl").exists());
    import("nothing.sgf", "x.jsonl").code(1).complains("nothing.sgf");
    import("bad.pgn", "x.jsonl").code(2).complains("hex (.sgf)");
    import("bad.sgf", "x.txt").code(2).complains("its name ends with .jsonl or .jsonl.gz");
    place.write("x.jsonl", "kept");
    import("bad.sgf", "x.jsonl").code(2).complains("--force overwrites it");
    let words = ["replay", "import", "bad.sgf", "--game", "hx", "--output", "y.jsonl"];
    place.run(&words).code(2).complains("did you mean hex?");
    let words = ["replay", "import", "bad.sgf", "--game", "chexers", "--output", "y.jsonl"];
    place.run(&words).code(2).complains("no game that is read from it");
    place.write("bad.sgf", "(;GM[11]SZ[5];B[c3])");
    place.run(&["replay", "import", "bad.sgf", "--force", "-o", "x.jsonl"]).code(0);
    assert_eq!(place.verified("x.jsonl"), "ok");
}

#[test]
fn a_match_as_text_is_what_is_printed() {
    let place = Place::new();
    played(&place, &["--setup", "size=3"]);
    let printed = place.run(&["replay", "x.jsonl", "--print"]).code(0).stdout;
    place.run(&["replay", "export", "x.jsonl", "--output", "x.txt"]).code(0);
    let text = || fs::read_to_string(place.path("x.txt")).unwrap();
    assert_eq!(text(), printed);
    place.run(&["replay", "export", "x.jsonl", "-o", "x.txt"]).code(1).complains("--force");
    place.run(&["replay", "export", "x.jsonl", "-o", "x.txt", "--force", "-k", "--flip"]).code(0);
    assert_eq!(text(), place.run(&["replay", "x.jsonl", "-k", "--flip"]).code(0).stdout);
    let words = ["replay", "export", "x.jsonl", "-o", "x.sgf", "--turn", "1"];
    place.run(&words).code(2).complains("text is of the whole match");
    let words = ["replay", "export", "-", "-o", "-", "--form", "sgf"];
    let match_text = fs::read_to_string(place.path("x.jsonl")).unwrap();
    place.run_with_input(&words, &match_text).code(0).prints("(;FF[4]");
    place.run(&["replay", "export", "x.jsonl", "-o", "x.doc"]).code(2).complains(".txt, .sgf");
    place.play(&["chexers", "@random", "@random", "@random", "--out", "c.jsonl"]);
    let ran = place.run(&["replay", "export", "c.jsonl", "-o", "c.sgf"]).code(1);
    ran.complains("there is no .sgf of chexers").complains("games that have it: hex");
    place.run(&["replay", "export", "c.jsonl", "-o", "c.txt"]).code(0);
}
