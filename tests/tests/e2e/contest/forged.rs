//! `verify` names what was changed in a contest's folder afterwards, whoever changed it.

use super::{AMPLE, assert_whole, contest, file};
use crate::support::Place;
use rusqlite::Connection;
use std::fs;

/// A contest of six games that is over, in the folder `d`.
fn over() -> Place {
    let place = Place::new();
    place.write("c.toml", file(&["@random", "@first", "@greedy"], AMPLE));
    contest(&place, &["run", "c.toml", "--out", "d"]).code(0);
    assert_whole(&place, "d", 6);
    place
}

fn sql(place: &Place, statements: &str) {
    let store = Connection::open(place.path("d/contest.db")).unwrap();
    store.execute_batch(statements).unwrap();
}

fn replace(place: &Place, name: &str, old: &str, new: &str) {
    let text = fs::read_to_string(place.path(name)).unwrap();
    assert!(text.contains(old), "{old} in {text}");
    place.write(name, text.replacen(old, new, 1));
}

fn swap(place: &Place) {
    let game = |number: u32| place.path(&format!("d/games/0000/000000{number}.jsonl"));
    fs::rename(game(0), place.path("aside")).unwrap();
    fs::rename(game(1), game(0)).unwrap();
    fs::rename(place.path("aside"), game(1)).unwrap();
}

/// What is done, and words of what is said.
type Forgery = (fn(&Place), &'static str);

const FORGERIES: &[Forgery] = &[
    (|it| sql(it, "update seats set place = 3 - place where game = 3"), "game 3, "),
    (|it| sql(it, "update seats set used_ms = used_ms + 1 where game = 3"), "`seats` is "),
    (|it| sql(it, "update games set seal = 'x' where number = 3"), "`seal` is "),
    (
        |it| sql(it, "delete from seats where game = 3; delete from games where number = 3"),
        "report.json counts 6 games, and 5 are left",
    ),
    (swap, "game 0, "),
    (|it| fs::remove_file(it.path("d/games/0000/0000004.jsonl")).unwrap(), "game 4, "),
    (|it| replace(it, "d/contest.toml", "seed = 7", "seed = 8"), "is not the one"),
    (
        |it| {
            replace(it, "d/contest.toml", "plies = 1", "plies = 2");
            sql(it, "update contest set text = replace(text, 'plies = 1', 'plies = 2')");
        },
        "the store has another contest than the file",
    ),
    (|it| replace(it, "d/report.json", "\"turns\":", "\"turns\":1"), "report.json has "),
    (|it| replace(it, "d/report.json", "@greedy", "@evil"), "report.json has "),
];

#[test]
fn what_was_changed_is_named() {
    let place = over();
    place.run(&["verify", "d"]).code(0).prints("follow from the transcripts");
    for (number, (forge, words)) in FORGERIES.iter().enumerate() {
        place.shell("rm -rf whole && cp -r d whole").code(0);
        forge(&place);
        let ran = place.run(&["verify", "d"]);
        assert_eq!(ran.exit, Some(1), "forgery {number}: {ran:?}");
        assert!(ran.stdout.contains(words), "forgery {number}: {ran:?}");
        place.shell("rm -rf d && mv whole d").code(0);
    }
    place.run(&["verify", "d"]).code(0);
}
