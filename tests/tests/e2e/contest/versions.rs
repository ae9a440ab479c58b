//! Stores that this program can't read.

use super::{contest, write};
use crate::support::Place;
use rusqlite::Connection;

#[test]
fn a_store_of_a_newer_referee_is_refused() {
    let place = Place::new();
    write(&place, &["@first", "@random"], "");
    contest(&place, &["run", "c.toml", "--out", "d"]).code(0);
    let store = Connection::open(place.path("d/contest.db")).unwrap();
    store.pragma_update(None, "user_version", 99).unwrap();
    drop(store);
    for words in
        [["contest", "status", "d"], ["contest", "resume", "d"], ["contest", "report", "d"]]
    {
        let ran = place.run(&words).code(4).complains("its tables are of version 99");
        ran.complains("knows up to 2").complains("help: take a newer referee");
    }
    place.run(&["verify", "d"]).code(4).complains("its tables are of version 99");
}

#[test]
fn a_store_that_is_none_is_told() {
    let place = Place::new();
    place.write("d/contest.db", "this is no database, and longer than a page's head would be");
    for command in ["status", "resume", "report"] {
        let ran = contest(&place, &[command, "d"]).code(4).complains("d/contest.db: ");
        ran.complains("help: ");
    }
}
