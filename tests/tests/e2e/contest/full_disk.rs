//! A full disk stops a contest, which goes on when there is room.

use super::{assert_whole, contest, count, gated, stopped, write};
use crate::support::{Place, Ran, skip};
use serde_json::Value;
use std::os::unix::fs::symlink;

#[test]
fn a_transcript_that_finds_no_room_stops_the_contest() {
    let place = Place::new();
    let agent = gated(&place, "slow.sh");
    write(&place, &[&agent, "@random"], "rounds = 5\njobs = 2\n");
    stopped(&place, "c.toml", 2);
    symlink("/dev/full", place.path("d/games/0000/0000004.jsonl")).unwrap();
    let ran = contest(&place, &["resume", "d"]).code(4).complains("the disk is full");
    let ran = ran.complains("make room, then resume the contest: nothing is lost");
    let ran = ran.complains("referee contest resume d");
    assert!(!ran.stderr.contains("void") && !ran.stderr.contains("fault"), "{}", ran.stderr);
    assert!(count(&place, "d") < 10);
    place.run(&["verify", "d"]).code(0);
    // The game was as if it had never begun: what it could not write is gone.
    contest(&place, &["resume", "d"]).code(0);
    assert_whole(&place, "d", 10);
    place.assert_tidy();
}

/// A small disk of its own in the folder `d`, if such can be had: what is done on it, line by line.
/// It goes with the shell.
fn on_a_small_disk(place: &Place, lines: &str) -> Option<Ran> {
    std::fs::create_dir(place.path("d")).unwrap();
    let mount = "mount -t tmpfs -o size=400k none d";
    let ways = ["unshare -m sh -c", "unshare -rm sh -c"];
    let way = ways.iter().find(|way| place.shell(&format!("{way} '{mount}'")).exit == Some(0));
    let Some(way) = way else {
        // Others than root need not be able to.
        if nix::unistd::geteuid().is_root() {
            skip("way to mount anything");
        }
        return None;
    };
    Some(place.shell(&format!("{way} '{mount} || exit\n{lines}'")))
}

#[test]
fn a_contest_on_a_full_disk_ends_whole_when_there_is_room() {
    let place = Place::new();
    write(&place, &["@first", "@random"], "rounds = 100\n");
    let ran = on_a_small_disk(
        &place,
        "referee contest run c.toml --out d -q > /dev/null\n\
         echo run $?\n\
         referee contest status d --json\n\
         referee contest resume d -q > /dev/null\n\
         echo still $?\n\
         mount -o remount,size=64m d\n\
         referee verify d -q > verified\n\
         echo verify $?\n\
         referee contest resume d -q > /dev/null\n\
         echo resume $?\n\
         cp -r d whole",
    );
    let Some(ran) = ran else { return };
    let told: Vec<&str> = ran.stdout.lines().collect();
    let verified = std::fs::read_to_string(place.path("verified")).unwrap_or_default();
    let [run, status, rest @ ..] = &told[..] else { panic!("{ran:?}") };
    assert_eq!(*run, "run 4", "{ran:?}");
    assert_eq!(rest, ["still 4", "verify 0", "resume 0"], "{ran:?} {verified}");
    let status: Value = serde_json::from_str(status).unwrap();
    assert!((1..200).contains(&status["played"].as_u64().unwrap()), "{status}");
    let ran = ran.complains("the disk is full").complains("make room, then resume");
    assert!(!ran.stderr.contains("void") && !ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert_whole(&place, "whole", 200);
}

#[test]
fn a_report_that_finds_no_room_leaves_the_one_before() {
    let place = Place::new();
    write(&place, &["@first", "@random"], "");
    let ran = on_a_small_disk(
        &place,
        "referee contest run c.toml --out d -q > /dev/null\n\
         echo run $?\n\
         cp d/report.json before\n\
         cat /dev/zero > d/fill\n\
         referee contest resume d -q > /dev/null\n\
         echo full $?\n\
         cmp d/report.json before && rm d/fill\n\
         referee verify d -q > /dev/null\n\
         echo verify $?\n\
         referee contest resume d -q > /dev/null\n\
         echo resume $?\n\
         cp -r d whole",
    );
    let Some(ran) = ran else { return };
    assert_eq!(ran.stdout, "run 0\nfull 4\nverify 0\nresume 0\n", "{ran:?}");
    ran.complains("the disk is full");
    assert_whole(&place, "whole", 2);
}
