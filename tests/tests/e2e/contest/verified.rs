//! `verify` on a contest's folder: whatever was changed afterwards is found.

use super::{AMPLE, contest, file};
use crate::support::Place;
use rusqlite::Connection;
use std::fs;

/// What is done to a contest's folder, and what `verify` says then.
type Forgery = (&'static str, fn(&Place), &'static str);

fn sql(place: &Place, text: &str) {
    let store = Connection::open(place.path("d/contest.db")).unwrap();
    store.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
    store.pragma_update(None, "foreign_keys", false).unwrap();
    store.execute_batch(text).unwrap();
}

fn replace(place: &Place, name: &str, from: &str, to: &str) {
    let path = place.path(name);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "no {from:?} in {name}");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
}

const FORGERIES: &[Forgery] = &[
    ("result", |place| sql(place, "update seats set place = 3 - place where game = 2"), "game 2"),
    ("player", |place| sql(place, "update seats set player = 1 - player where game = 1"), "game 1"),
    ("reason", |place| sql(place, "update games set reason = 'luck' where number = 3"), "game 3"),
    ("time", |place| sql(place, "update seats set used_ms = 999999 where game = 0"), "game 0"),
    (
        "lost transcript",
        |place| fs::remove_file(place.path("d/games/0000/0000002.jsonl")).unwrap(),
        "0000002.jsonl",
    ),
    (
        "transcript of another game",
        |place| {
            let games = place.path("d/games/0000");
            fs::copy(games.join("0000001.jsonl"), games.join("0000003.jsonl")).unwrap();
        },
        "game 3",
    ),
    (
        "action",
        |place| {
            replace(place, "d/games/0000/0000001.jsonl", "\"type\":\"played\"", "\"type\":\"x\"");
        },
        "0000001.jsonl",
    ),
    (
        "contest file",
        |place| replace(place, "d/contest.toml", "seed = 7", "seed = 8"),
        "contest.toml",
    ),
];

#[test]
fn whatever_was_changed_is_found() {
    let whole = Place::new();
    whole.write("c.toml", file(&["@first", "@random"], &format!("{AMPLE}rounds = 2\n")));
    contest(&whole, &["run", "c.toml", "--out", "d"]).code(0);
    whole.run(&["verify", "d"]).code(0);
    for (what, forge, told) in FORGERIES {
        let place = Place::new();
        let copy = format!("cp -r '{}' d", whole.path("d").display());
        place.shell(&copy).code(0);
        place.run(&["verify", "d"]).code(0);
        forge(&place);
        let ran = place.run(&["verify", "d"]);
        assert_eq!(ran.exit, Some(1), "{what}: {ran:?}");
        assert!(ran.stdout.contains(told), "{what}: no {told:?} in {ran:?}");
        let lines = place.run(&["verify", "d", "--json"]).code(1).json_lines();
        assert!(lines.iter().any(|line| line["status"] != "ok"), "{what}: {lines:?}");
    }
}

#[test]
fn a_game_that_the_schedule_does_not_have_refuses_a_resume() {
    let place = Place::new();
    place.write("c.toml", file(&["@first", "@random"], AMPLE));
    contest(&place, &["run", "c.toml", "--out", "d"]).code(0);
    let more = "insert into games select 99, block, round, game, match_id, seed, result, reason, \
                scores, turns, lag_ns, marked, moves, transcript, seal from games where number = 1;\
                insert into seats select 99, seat, player, place, score, used_ms, cpu_ms, turns, \
                fault, fault_text from seats where game = 1;";
    sql(&place, more);
    let ran = contest(&place, &["resume", "d"]).code(1);
    ran.complains("game 99 is not in the schedule").complains("referee verify");
    place.run(&["verify", "d"]).code(1);
}
