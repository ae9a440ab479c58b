//! Games that the machine spoils: they are played again, and their attempts are kept.

use super::{assert_whole, contest, gated, query, status, stopped, write};
use crate::support::{Place, Ran};
use std::fs;

const VOIDS: &str = "select game, attempt, cause from voids order by game, attempt";

/// Agents of these games are not in a sandbox: nothing is attacked before the first game.
const OPEN: &str = "sandbox.level = \"none\"\n";

/// Where no folder for agents can be made, because there is no temporary folder.
fn without_folders(place: &Place, words: &[&str]) -> Ran {
    place.run_with(&[&["contest"], words].concat(), |it| it.env("TMPDIR", place.path("nowhere")))
}

#[test]
fn spoiled_games_are_given_up_and_a_resume_tries_again() {
    let place = Place::new();
    let more = format!("{OPEN}jobs = 1\npolicy.void_retries = 1\n");
    write(&place, &["@first", "@random"], &more);
    let ran = without_folders(&place, &["run", "c.toml", "--out", "d"]).code(4);
    let ran = ran.complains("could not be played").complains("game 0 is void (machine): ");
    ran.complains("referee contest resume d").prints("@random");
    let twice = ["0|1|machine", "0|2|machine", "1|1|machine", "1|2|machine"];
    assert_eq!(query(&place, "d", VOIDS), twice);
    without_folders(&place, &["resume", "d"]).code(4);
    assert_eq!(query(&place, "d", VOIDS).len(), 8);
    assert_eq!(query(&place, "d", VOIDS)[3], "0|4|machine");
    let told = status(&place, "d");
    assert_eq!((&told["void"], &told["played"]), (&8.into(), &0.into()), "{told}");
    place.run(&["verify", "d"]).code(0).prints("8 void attempts");
    contest(&place, &["resume", "d"]).code(0);
    assert_whole(&place, "d", 2);
    assert_eq!(query(&place, "d", VOIDS).len(), 8);
    for kept in query(&place, "d", "select transcript from voids") {
        assert!(place.path("d").join(&kept).is_file(), "{kept}");
    }
    let report = contest(&place, &["report", "d", "--json"]).code(0).json();
    assert_eq!(report["void"]["attempts"], 8, "{}", report["void"]);
    assert_eq!(report["void"]["given_up"], 0, "{}", report["void"]);
}

#[test]
fn a_machine_that_spoils_everything_stops_the_contest() {
    let place = Place::new();
    write(&place, &["@first", "@random"], &format!("{OPEN}rounds = 20\n"));
    let ran = without_folders(&place, &["run", "c.toml", "--out", "d"]).code(4);
    ran.complains("nothing came of 20 games in a row").complains("mend the machine, then resume");
    assert_eq!(query(&place, "d", VOIDS).len(), 20);
}

#[test]
fn a_round_waits_for_a_game_that_was_given_up() {
    let place = Place::new();
    let agent = gated(&place, "slow.sh");
    let more = "format = \"swiss\"\nrounds = 2\npolicy.void_retries = 0\n";
    write(&place, &[&agent, "@random", "b=@first", "c=@random"], more);
    stopped(&place, "c.toml", 1);
    fs::create_dir(place.path("d/games/0000/0000001.jsonl")).unwrap();
    let ran = contest(&place, &["resume", "d"]).code(4);
    ran.complains("game 1 could not be played: ");
    // The second round follows from the whole first.
    assert_eq!(query(&place, "d", "select number from games"), ["0", "2", "3"]);
    let told = status(&place, "d");
    assert_eq!((&told["over"], &told["played"]), (&false.into(), &3.into()), "{told}");
    let report = contest(&place, &["report", "d", "--json"]).code(0).json();
    assert_eq!(report["void"]["given_up"], 1, "{}", report["void"]);
    contest(&place, &["resume", "d"]).code(0);
    fs::remove_dir(place.path("d/games/0000/0000001-void-1.jsonl")).unwrap();
    fs::write(place.path("d/games/0000/0000001-void-1.jsonl"), "").unwrap();
    assert_whole(&place, "d", 8);
}

#[test]
fn a_spoiled_game_is_played_again_and_counts_once() {
    let place = Place::new();
    let agent = gated(&place, "slow.sh");
    write(&place, &[&agent, "@random"], "rounds = 3\njobs = 2\n");
    stopped(&place, "c.toml", 2);
    // No transcript can be written where there is a folder.
    let game = place.path("d/games/0000/0000003.jsonl");
    fs::create_dir(&game).unwrap();
    contest(&place, &["resume", "d"]).code(0).complains("game 3 is void (machine): ");
    assert_eq!(query(&place, "d", VOIDS), ["3|1|machine"]);
    let kept = query(&place, "d", "select transcript from voids");
    assert_eq!(kept, ["games/0000/0000003-void-1.jsonl"]);
    // It was to be a transcript, and is none.
    place.run(&["verify", "d"]).code(1).prints("0000003-void-1.jsonl: unreadable");
    let kept = place.path("d").join(&kept[0]);
    fs::remove_dir(&kept).unwrap();
    fs::write(&kept, "").unwrap();
    assert_whole(&place, "d", 6);
}
