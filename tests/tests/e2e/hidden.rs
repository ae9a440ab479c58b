//! Games with hidden information: what reaches an agent, and draws that follow from a key.

use crate::support::contest::AMPLE;
use crate::support::game_programs::{heard, playing, sample, spy};
use crate::support::serving::Serving;
use crate::support::{Running, TestDir, eventually, remove_fields};
use crate::transcripts::sealed;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

/// The cards that are named anywhere in a message.
fn cards(message: &Value) -> BTreeSet<String> {
    let text = message.to_string();
    ["J", "Q", "K"]
        .into_iter()
        .filter(|card| text.contains(&format!("\"{card}\"")))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_seat_is_told_only_what_the_rules_tell_it() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "kuhn-poker", "kuhn") else { return };
    let spy = spy(&dir);
    dir.play(&[&game, &spy, &spy, "--setup", "hands=1", "--seed", "5", "--out", "x.jsonl"]);
    let drawn = &dir.events_of("x.jsonl", "drawn")[0];
    for seat in 0..2 {
        let heard = heard(&dir, "x.jsonl", seat);
        let place = usize::try_from(seat).unwrap();
        let own = drawn["label"].as_str().unwrap().split(' ').nth(place).unwrap();
        assert_eq!(heard[0]["type"], "hello");
        assert_eq!(heard[1], json!({ "type": "told", "turn": 0, "told": { "card": own } }));
        for message in &heard {
            let kind = message["type"].as_str().unwrap();
            assert!(["hello", "told", "turn", "over"].contains(&kind), "{message}");
            let is_shown = message["told"]["cards"].is_array();
            if !is_shown {
                let known = BTreeSet::from([own.to_owned()]);
                assert!(cards(message).is_subset(&known), "seat {seat} has {own}: {message}");
            }
        }
    }
}

/// Whatever is hidden, an agent gets the same bytes; and each way in which rules could tell it is noticed.
#[test]
fn what_is_hidden_changes_nothing_that_an_agent_gets() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "kuhn-poker", "kuhn") else { return };
    let spy = spy(&dir);
    let folds = playing(&dir, "folds", &json!({ "type": "fold" }));
    // The cards of both, and what the spy gets; the other's only action ends the match before a card is shown.
    let got = |key: u32| {
        let key = format!("{key:032x}");
        let words = ["--setup", "hands=1", "--seed", "4", "--out", "x.jsonl", "--draw-key", &key];
        dir.play(&[&[&*game, &spy, &folds, "--force"], &words[..]].concat());
        let cards = dir.events_of("x.jsonl", "drawn")[0]["label"].as_str().unwrap().to_owned();
        let mut heard = heard(&dir, "x.jsonl", 0);
        assert_eq!(heard.last().unwrap()["type"], "over");
        for message in &mut heard {
            remove_fields(message, &["left_ms", "used_ms", "cpu_ms"]);
        }
        (cards, heard)
    };
    // Both times the spy has a queen.
    let mut keys = (0..).filter(|&key| got(key).0.starts_with('Q'));
    let one = keys.next().unwrap();
    let other = keys.find(|&key| got(key).0 != got(one).0).unwrap();
    assert_eq!(got(one).1, got(other).1);
    let rules = fs::read_to_string(dir.path("kuhn/rules.py")).unwrap();
    for (from, to) in [
        ("state[\"chips\"], \"bets\"", "state[\"cards\"], \"bets\""),
        ("[{\"card\": CARDS[cards[", "[{\"cards\": cards, \"card\": CARDS[cards["),
        ("for kind in kinds]", "for kind in kinds[::1 - 2 * (2 in state[\"cards\"])]]"),
    ] {
        assert!(rules.contains(from), "{from}");
        dir.write("kuhn/rules.py", rules.replacen(from, to, 1));
        assert_ne!(got(one).1, got(other).1, "not noticed: {to}");
    }
}

#[test]
fn nobody_is_told_where_the_other_places_its_ships() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "battleship", "sea") else { return };
    let spy = spy(&dir);
    dir.play(&[&game, &spy, &spy, "--seed", "1", "--setup", "size=5", "--out", "x.jsonl"]);
    for seat in 0..2 {
        for message in heard(&dir, "x.jsonl", seat) {
            if message["told"]["type"] == "place" {
                assert_eq!(message["seat"], seat, "{message}");
            }
            assert!(!["played", "drawn"].contains(&message["type"].as_str().unwrap()), "{message}");
        }
    }
    dir.run(&["verify", "x.jsonl", "--rules", &game]).code(0).stdout_has("ok");
}

#[test]
fn draws_follow_from_a_key_that_the_end_reveals() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "kuhn-poker", "kuhn") else { return };
    let play = |out: &str, more: &[&str]| {
        let words = [&game, "@random", "@random", "--seed", "5", "--out", out];
        dir.play(&[&words[..], more].concat());
        dir.events_of(out, "drawn").iter().map(|it| it["outcome"].clone()).collect::<Vec<_>>()
    };
    let first = play("a.jsonl", &["--draw-key", "00112233445566778899aabbccddeeff"]);
    let again = play("b.jsonl", &["--draw-key", "00112233445566778899aabbccddeeff"]);
    assert_eq!(first, again);
    let key = "00112233445566778899aabbccddeeff";
    let words = ["play", &game, "@random", "@random", "--draw-key", key, "--seed", "5"];
    let ran = dir.run(&words).code(0);
    let command = ran.stdout.lines().find_map(|line| line.strip_prefix("again: ")).unwrap();
    dir.shell(&format!("{command} --json")).code(0).stdout_has(key);
    assert_eq!(dir.events_of("a.jsonl", "stderr"), Vec::<Value>::new());
    // The seed is known to whoever started the match, and says nothing of the draws.
    assert_ne!(first, play("c.jsonl", &[]));
    let header = &dir.events("a.jsonl")[0];
    let over = &dir.events_of("a.jsonl", "over")[0];
    let key = over["draw_key"].as_str().unwrap();
    assert_eq!(header["draw_key_sha256"].as_str().map(str::len), Some(64));
    let verify = |file: &str| dir.run(&["verify", file, "--rules", &game]);
    verify("a.jsonl").code(0);
    let text = fs::read_to_string(dir.path("a.jsonl")).unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.contains("\"type\":\"seal\""))
        .collect::<Vec<_>>()
        .join("\n");
    let hash = header["draw_key_sha256"].as_str().unwrap();
    let other_key: String = key.chars().rev().collect();
    for (from, to, why) in [
        (key, other_key.as_str(), "is not that of its `draw_key`"),
        (hash, &"0".repeat(64), "is not that of its `draw_key`"),
        (&*format!(",\"draw_key\":\"{key}\""), "", "it has no `draw_key`"),
        (&*format!(",\"draw_key_sha256\":\"{hash}\""), "", "by playing"),
    ] {
        assert!(lines.contains(from), "{from}");
        dir.write("x.jsonl", sealed(&format!("{}\n", lines.replacen(from, to, 1))));
        let ran = verify("x.jsonl");
        assert_ne!(ran.exit, Some(0), "{why}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains(why) || why == "by playing", "{why}: {said}");
    }
}

/// Whoever guesses a short seed must not know what is drawn.
#[test]
fn every_contest_of_a_hidden_game_has_a_key() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "kuhn-poker", "kuhn") else { return };
    let game = ["--game", &game, "--sandbox", "none", "--seed", "5", "@random", "@first"];
    let key = "00112233445566778899aabbccddeeff";
    let commands: [(&str, &[&str]); 4] = [
        ("a", &["contest", "quick"]),
        ("d", &["contest", "quick", "--games", "2", "--draw-key", key]),
        ("b", &["contest", "quick", "--games", "2"]),
        ("c", &["compare", "--max-games", "2"]),
    ];
    for (out, command) in commands {
        dir.run(&[command, &game, &["--out", out]].concat());
        let file = fs::read_to_string(dir.path(&format!("{out}/contest.toml"))).unwrap();
        let given = if command.contains(&key) { key } else { "" };
        assert!(file.contains(&format!("draw_key = \"{given}")), "{command:?}: {file}");
        for transcript in crate::support::contest::transcripts(&dir, out) {
            let text = fs::read_to_string(transcript).unwrap();
            assert!(text.contains("\"draw_key_sha256\":"), "{command:?}");
        }
    }
}

/// An agent in two of them at once could tell itself the cards of both seats, by locks on files that both may read.
#[test]
fn games_with_the_same_deal_are_played_one_after_the_other() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "kuhn-poker", "kuhn") else { return };
    dir.write("tells/agent.toml", "command = [\"python3\", \"bot.py\"]\n");
    dir.write(
        "tells/bot.py",
        "import fcntl, json, os, sys, time\n\
         for line in sys.stdin:\n\
         \x20   message = json.loads(line)\n\
         \x20   if message['type'] == 'hello':\n\
         \x20       file = os.open(__file__, os.O_RDONLY)\n\
         \x20       try:\n\
         \x20           fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n\
         \x20       except OSError:\n\
         \x20           sys.stderr.write('not alone')\n\
         \x20       print('{\"type\":\"ready\",\"want\":[\"actions\"]}', flush=True)\n\
         \x20   elif message['type'] == 'turn':\n\
         \x20       time.sleep(0.3)\n\
         \x20       print(json.dumps({'type': 'action', 'action': message['actions'][0]}), flush=True)\n",
    );
    dir.write(
        "c.toml",
        format!(
            "agents = [\"./tells\", \"@first\"]\nduplicate_deals = true\njobs = 2\n{AMPLE}\
             sandbox.level = \"none\"\n[[games]]\ngame = \"{game}\"\nsetup = {{ hands = 2 }}\n"
        ),
    );
    dir.run(&["contest", "run", "c.toml", "--out", "out"]).code(0);
    let transcripts = crate::support::contest::transcripts(&dir, "out");
    assert_eq!(transcripts.len(), 2);
    for transcript in transcripts {
        assert!(!fs::read_to_string(transcript).unwrap().contains("not alone"));
    }
}

/// A finished match is shown as a seat saw it, or whole.
#[test]
fn a_match_is_shown_as_a_seat_saw_it() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "kuhn-poker", "kuhn") else { return };
    // The first bets, the second folds: nobody shows a card.
    let folds = playing(&dir, "folds", &json!({ "type": "fold" }));
    let bets = playing(&dir, "bets", &json!({ "type": "bet" }));
    let script = fs::read_to_string(dir.path(&bets)).unwrap();
    dir.program("bets", &script.replacen('\n', "\necho 'my secret' >&2\n", 1));
    dir.play(&[&game, &bets, &folds, "--setup", "hands=1", "--seed", "3", "--out", "x.jsonl"]);
    let drawn = dir.events_of("x.jsonl", "drawn")[0]["label"].clone();
    let cards: Vec<&str> = drawn.as_str().unwrap().split(' ').collect();
    let print = |seat: &str| {
        let words = ["replay", "x.jsonl", "--print", "--rules", &game, "--seen-by", seat];
        dir.run(&words[..if seat.is_empty() { 5 } else { 7 }]).code(0).stdout
    };
    let whole = print("");
    assert!(
        whole.contains(&format!("R {}  B {}", cards[0], cards[1])) && whole.contains("my secret")
    );
    for seat in [0, 1] {
        let seen = print(&seat.to_string());
        assert!(seen.contains(&format!("{{\"card\":\"{}\"}}", cards[seat])), "{seen}");
        let hidden = [format!("B {}", cards[1]), format!("R {}", cards[0])];
        assert!(!seen.contains(&hidden[seat]), "{seen}");
        assert_eq!(seen.contains("my secret"), seat == 0, "{seen}");
    }
    let words = ["replay", "x.jsonl", "--print", "--rules", &game, "--seen-by", "2"];
    dir.run(&words).code(1).stderr_has("there is no seat 2: the seats are 0 to 1");
    // Without the rules nobody knows what a seat saw.
    fs::remove_dir_all(dir.path("kuhn")).unwrap();
    let without = dir.run(&["replay", "x.jsonl", "--print", "--seen-by", "0"]);
    assert_ne!(without.exit, Some(0));
    assert!(!without.stdout.contains("bet"), "{}", without.stdout);
}

/// What a person may see is printed, and nothing else.
#[test]
fn a_person_sees_their_own_seat() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "kuhn-poker", "kuhn") else { return };
    let words = [
        "play", &game, "@human", "@first", "--setup", "hands=1", "--seed", "3", "--out", "x.jsonl",
    ];
    let ran = dir.run_with_input(&words, "?\nresign\n").code(0);
    let drawn = &dir.events_of("x.jsonl", "drawn")[0];
    let (own, other) = drawn["label"].as_str().unwrap().split_once(' ').unwrap();
    let before = ran.stderr.split("your action").next().unwrap();
    assert!(before.contains(&format!("card  R {own}")), "{before}");
    assert!(!before.contains(&format!("B {other}")) && !before.contains("drawn"), "{before}");
}

/// A person on the page of `play --open` sees their seat until the end, too.
#[test]
fn the_page_of_a_match_shows_the_person_s_seat() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "kuhn-poker", "kuhn") else { return };
    dir.program("bin/xdg-open", "#!/bin/sh\n");
    let path = format!("{}:{}", dir.path("bin").display(), std::env::var("PATH").unwrap());
    let spy = spy(&dir);
    let words = ["play", &game, &spy, "@human", "--setup", "hands=1", "--out", "x.jsonl", "--open"];
    let mut command = dir.command(&words);
    command.env("PATH", path);
    let running = Running::start(command, None);
    let output = running.wait_for_stderr("/match?file=x.jsonl");
    let port = output.split("http://127.0.0.1:").nth(1).unwrap().split('/').next().unwrap();
    let serving = Serving { port: port.parse().unwrap(), running };
    let waits = || serving.json("/api/seat?file=x.jsonl")["waiting"] == true;
    assert!(eventually(waits));
    let shown = serving.json("/api/match?file=x.jsonl");
    assert_eq!(shown["seen_by"], 1, "{shown}");
    assert!(shown["plies"].as_array().unwrap().len() > 1 && !shown.to_string().contains("hello"));
    assert_eq!(serving.get("/api/position?file=x.jsonl&ply=1").status, 409);
    let action = json!({ "file": "x.jsonl", "turn": 1, "text": "resign" });
    assert_eq!(serving.post("/api/seat", &action).status, 200);
    serving.running.wait_for_stderr("press Ctrl-C to stop the server");
    assert!(serving.json("/api/match?file=x.jsonl").to_string().contains("hello"));
    serving.running.terminate();
    for more in [&["@human", "@human"][..], &[&spy, "@human", "-n", "2"]] {
        let words = [&["play", &game], more, &["--out", "y", "--open"]].concat();
        dir.run(&words).code(2).stderr_has("one person's, for one game");
    }
}

/// The cells of an action that the page marks say nothing of what others have just chosen.
#[test]
fn no_cell_of_an_action_shows_what_another_seat_has_chosen() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "tron", "tron") else { return };
    let rules = fs::read_to_string(dir.path("tron/rules.py")).unwrap();
    let last = "view.last(*[wall[-1] for wall in state[\"walls\"]])";
    let marking = rules.replacen("        return view\n", &format!("        return {last}\n"), 1);
    assert_ne!(rules, marking);
    dir.write("tron/rules.py", marking);
    let serving = Serving::start(&dir, &["--rules", &game]);
    let request = json!({ "game": "tron", "seats": ["@first", "@human"] });
    let started = serving.post("/api/matches", &request).json();
    let file = started["file"].as_str().unwrap();
    let mut asked = Value::Null;
    assert!(eventually(|| {
        asked = serving.json(&format!("/api/seat?file={file}"));
        asked["waiting"] == true
    }));
    for action in asked["actions"].as_array().unwrap() {
        assert_eq!(action["cells"], json!([]), "{asked}");
    }
    serving.end();
}

/// Viewers of a contest get nothing but the names before the end.
#[test]
fn nothing_is_recorded_before_the_end_in_a_contest() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "kuhn-poker", "kuhn") else { return };
    let slow =
        dir.program("slow", "#!/bin/sh\nread -r line; echo '{\"type\":\"ready\"}'; sleep 600\n");
    for show in [false, true] {
        let file = format!("{show}.toml");
        dir.write(
            &file,
            format!(
                "game = \"{game}\"\nagents = [\"{slow}\", \"@random\"]\nshow_hidden = {show}\n\
                 clock.bank = \"600s\"\nsandbox.level = \"none\"\n"
            ),
        );
        let running = dir.start(&["contest", "run", &file, "--out", &show.to_string()]);
        let playing = || {
            let files = crate::support::contest::transcripts(&dir, &show.to_string());
            files.iter().filter_map(|file| fs::read_to_string(file).ok()).find(|it| !it.is_empty())
        };
        assert!(eventually(|| {
            playing().is_some_and(|text| !show || text.contains("\"type\":\"drawn\""))
        }));
        assert_eq!(playing().unwrap().lines().count() == 1, !show, "{:?}", playing());
        running.terminate();
    }
}

/// Whoever looks at the page of a match sees what its person may see, so there can be only one.
#[test]
fn one_person_plays_a_hidden_game_on_the_page() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "kuhn-poker", "kuhn") else { return };
    let serving = Serving::start(&dir, &["--rules", &game]);
    let begin = |seats: [&str; 2]| {
        let request = json!({ "game": "kuhn-poker", "seats": seats, "clock": "1h" });
        serving.post("/api/matches", &request)
    };
    let reply = begin(["@human", "@human"]);
    assert_eq!(
        (reply.status, &*reply.json()["help"].to_string()),
        (422, r#""let a person play in one seat only""#)
    );
    assert_eq!(begin(["@human", "@first"]).status, 200);
    serving.end();
}
