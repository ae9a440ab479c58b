//! `game new`, `game check` and `game describe`. Every row of the check is in the suite `full`.

use crate::support::broken_games::{BROKEN, assert_found, check, write};
use crate::support::{TestDir, python};
use sample_agents::game_starters::GAME_STARTERS;

#[test]
fn a_new_game_plays_and_passes_its_check() {
    let dir = TestDir::new();
    let report = dir.run(&["game", "new", "three-stones", "--json"]).code(0).json();
    assert_eq!(report["files"], serde_json::json!(["rules.py", "game.toml", "README.md"]));
    assert_eq!(report["next"][0], "referee game check ./three-stones");
    if python().is_none() {
        return;
    }
    let words = ["game", "check", "three-stones", "--games", "1", "--json"];
    let report = dir.run(&words).code(0).json();
    let rows = report["rows"].as_array().unwrap();
    assert!(rows.len() == 21 && rows.iter().all(|row| row["status"] != "failed"), "{report}");
    dir.run(&["play", "./three-stones", "@random", "@first", "--fail-on-fault"]).code(0);
    let described = dir.run(&["game", "describe", "three-stones"]).code(0);
    for text in [
        "(three-stones, rules 1)",
        "stones  4..25  default 21",
        "{\"count\":2,\"type\":\"take\"}",
        "most moves",
    ] {
        assert!(described.stdout.contains(text), "no {text:?} in {}", described.stdout);
    }
    dir.assert_tmp_is_empty();
}

#[test]
fn what_new_refuses_is_explained() {
    let dir = TestDir::new();
    dir.write("there/x", "");
    dir.run(&["game", "new", "there"]).code(2).stderr_has("choose another folder, such as there-2");
    dir.run(&["game", "new", "My Game"]).code(2).stderr_has("must be lowercase letters, digits");
    dir.run(&["game", "new", "x", "--lang", "cobol"])
        .code(2)
        .stderr_has("python, javascript, rust");
    dir.run(&["game", "check", "x"]).code(2).stderr_has("no game in x");
}

#[test]
fn every_starter_has_its_name_where_it_is_replaced() {
    for starter in GAME_STARTERS {
        for file in ["game.toml", starter.files[0].name] {
            let file = starter.files.iter().find(|it| it.name == file).unwrap();
            assert!(file.text.contains("\"starter\""), "{} {}", starter.language, file.name);
        }
        assert!(starter.files[0].text.contains("CHANGE"), "{}", starter.language);
    }
}

#[test]
fn defects_are_found_explained_and_shrunk() {
    for variant in ["Hashed", "StartCache", "Unlisted", "OffBoard", "ThreeSides", "Rare", "Large"] {
        let dir = TestDir::new();
        assert_found(&dir, BROKEN.iter().find(|it| it.0 == variant).unwrap());
        dir.assert_tmp_is_empty();
    }
}

/// One wrong value is said once, however many rows meet it.
#[test]
fn a_defect_fails_one_row() {
    for (variant, row, passes) in [
        ("NumberNotes", "answers", 9),
        ("BadView", "view", 8),
        ("ShortCell", "view", 15),
        ("NoReturn", "plays", 12),
    ] {
        let dir = TestDir::new();
        if !write(&dir, variant) {
            return;
        }
        let words = ["game", "check", "broken", "--games", "2", "--json"];
        let report = dir.run(&words).code(1).json();
        let rows = report["rows"].as_array().unwrap();
        let named = |status: &str| {
            let those = rows.iter().filter(|it| it["status"] == status);
            those.map(|it| it["name"].as_str().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!((named("failed"), named("passed").len()), (vec![row], passes), "{report}");
        let note = format!("not tested: the rules fail as at `{row}`");
        let rest = rows.iter().filter(|it| it["status"] == "not_tested");
        assert!(rest.into_iter().all(|it| it["note"] == note), "{report}");
    }
}

#[test]
fn what_was_not_tested_is_said() {
    let dir = TestDir::new();
    if !write(&dir, "NoRule") {
        return;
    }
    check(&dir, "outcome").code(0).stdout_has("no game of 3 ended by bored; --games N plays more");
    let once = dir.run(&["game", "check", "broken", "--only", "plays", "--games", "1"]).code(0);
    once.stdout_has("not tested: no game of 1 had stones=4, stones=12; --games N plays more");
    assert!(!check(&dir, "plays").code(0).stdout.contains("not tested"));
    // A game whose rules list nothing is played by what is on its board.
    write(&dir, "Far");
    let played = check(&dir, "outcome").code(0);
    assert!(!played.stdout.contains("not tested"), "{}", played.stdout);
    write(&dir, "Slow");
    let words = ["game", "check", "broken", "--only", "plays", "--only", "text"];
    let ran = dir.run(&[&words[..], &["--time-limit", "1"]].concat()).code(1);
    ran.stdout_has("not run: the time limit of 1 s was reached; --time-limit SECONDS sets another");
}

#[test]
fn a_row_that_is_not_there_is_explained() {
    let dir = TestDir::new();
    if write(&dir, "Good") {
        check(&dir, "determinsm").code(2).stderr_has("did you mean `determinism`?");
    }
}
