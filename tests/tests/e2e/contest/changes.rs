//! A contest that is resumed is the one that was begun: the same agents, the same files.

use super::{AMPLE, GATE, assert_whole, contest, gated, start, status, stopped, wait_for_games};
use crate::support::{PROGRAM, Place};
use std::fs;

/// Without a name: it goes by its file's.
fn contest_file() -> String {
    format!(
        "seed = 7\njobs = 1\nsubmissions = \"bots\"\n{AMPLE}\n[openings]\nplies = 1\n\
         [sandbox]\nread = [\"gate\"]\n[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
    )
}

/// A contest that was begun and has no result yet.
fn begun(text: &str) -> Place {
    let place = Place::new();
    for name in ["amy", "bob", "cat"] {
        gated(&place, &format!("bots/{name}.sh"));
    }
    place.write("autumn.toml", text);
    stopped(&place, "autumn.toml", 1);
    place
}

#[test]
fn an_agent_that_changes_while_it_plays_is_told() {
    let place = Place::new();
    for name in ["amy", "bob", "cat"] {
        gated(&place, &format!("bots/{name}.sh"));
    }
    place.write("autumn.toml", contest_file());
    let running = start(&place, &["run", "autumn.toml", "--out", "d"]);
    wait_for_games(&place, "d", 1);
    let amy = fs::read_to_string(place.path("bots/amy.sh")).unwrap();
    // In one go: a shell may be reading it.
    place.program("better.sh", &format!("{amy}# better\n"));
    fs::rename(place.path("better.sh"), place.path("bots/amy.sh")).unwrap();
    place.write(GATE, "");
    running.wait().code(0).complains("warning: amy is no longer what it was");
}

#[test]
fn changed_agents_refuse_a_resume_until_they_are_put_back() {
    let place = begun(&contest_file());
    let amy = place.path("bots/amy.sh");
    let kept = fs::read_to_string(&amy).unwrap();
    place.program("bots/amy.sh", &format!("#!/bin/sh\nexec '{PROGRAM}' agent random\n"));
    let refused = |place: &Place, words: &str| {
        let ran = contest(place, &["resume", "d"]).code(1).complains(words);
        ran.complains("no longer the one that was begun")
            .complains("help: put back what was there");
    };
    refused(&place, "amy has changed");
    fs::remove_file(&amy).unwrap();
    refused(&place, "amy is gone");
    place.program("bots/zoe.sh", &kept);
    refused(&place, "amy is gone, zoe is new");
    place.program("bots/amy.sh", &kept);
    refused(&place, "begun: zoe is new\n");
    fs::remove_file(place.path("bots/zoe.sh")).unwrap();
    // The contest's file may change or go: what it was is kept.
    fs::remove_file(place.path("autumn.toml")).unwrap();
    contest(&place, &["resume", "d"]).code(0);
    assert_whole(&place, "d", 6);
    assert_eq!(status(&place, "d")["name"], "autumn");
}

#[test]
fn changed_openings_refuse_a_resume() {
    let place = Place::new();
    let position = |cell: &str| {
        let words = ["position", "hex", "--setup", "size=3", "--json", "--actions", "-"];
        let action = format!("{{\"type\":\"place\",\"at\":{cell}}}\n");
        let told = place.run_with_input(&words, &action).code(0).json();
        told["position"].to_string()
    };
    let (first, other) = (position("[0,0]"), position("[2,2]"));
    assert_ne!(first, other);
    let place = Place::new();
    let agent = gated(&place, "slow.sh");
    place.write("o.jsonl", format!("{first}\n"));
    let text = contest_file()
        .replace("submissions = \"bots\"", &format!("agents = [{agent:?}, \"@first\"]"));
    place.write("autumn.toml", text.replace("plies = 1", "file = \"o.jsonl\""));
    stopped(&place, "autumn.toml", 1);
    place.write("o.jsonl", format!("{other}\n"));
    contest(&place, &["resume", "d"]).code(1).complains("a file that it names has changed");
    fs::remove_file(place.path("o.jsonl")).unwrap();
    let gone = contest(&place, &["resume", "d"]).complains("the contest can't be resumed: ");
    assert_ne!(gone.exit, Some(0));
    assert!(gone.stderr.contains("o.jsonl"), "{}", gone.stderr);
    place.write("o.jsonl", format!("{first}\n"));
    let kept = fs::read_to_string(place.path("slow.sh")).unwrap();
    fs::remove_file(place.path("slow.sh")).unwrap();
    let gone = contest(&place, &["resume", "d"]).complains("no program `./slow.sh`");
    assert_ne!(gone.exit, Some(0));
    place.program("slow.sh", &kept);
    contest(&place, &["resume", "d"]).code(0);
    assert_whole(&place, "d", 2);
}
