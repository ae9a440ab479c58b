//! Games in which several seats choose at once: who learns what when, and agents that look ahead.

use crate::support::game_programs::{heard, sample, spy};
use crate::support::{TestDir, skip};
use crate::transcripts::sealed;
use serde_json::{Value, json};
use std::fs;

/// Agents that note all they get, of which one leaves in the middle of the game.
#[test]
fn no_choice_is_told_before_all_have_chosen() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "tron", "tron") else { return };
    let spy = spy(&dir);
    let script = fs::read_to_string(dir.path(&spy)).unwrap();
    let condition = "    if message.get('turn', 0) > 4: break\n    if message['type'] == 'hello'";
    let leaver =
        dir.program("leaver", &script.replace("    if message['type'] == 'hello'", condition));
    let words = ["--setup", "seats=4", "--seed", "2", "--out", "x.jsonl"];
    dir.play(&[&[&*game, &spy, &leaver, &spy, &spy], &words[..]].concat());
    assert_eq!(dir.events_of("x.jsonl", "retired")[0]["seat"], 1);
    let mut positions = Vec::new();
    for seat in [0, 2, 3] {
        // The seats that choose with this one, and of which nothing was told yet.
        let mut open: Vec<Value> = Vec::new();
        let mut positions_seen = Vec::new();
        for message in heard(&dir, "x.jsonl", seat) {
            match message["type"].as_str().unwrap() {
                "turn" => {
                    assert_eq!(open, [] as [Value; 0], "seat {seat} was told of a part: {message}");
                    open = message["together"].as_array().unwrap().clone();
                    assert!(open.contains(&json!(seat)), "{message}");
                    positions_seen.push(message["position"].clone());
                }
                "played" | "retired" => {
                    assert!(open.contains(&message["seat"]), "seat {seat} knew early: {message}");
                    open.retain(|it| *it != message["seat"]);
                }
                _ => {}
            }
        }
        positions.push(positions_seen);
    }
    // All see the position before the first choice, whoever is asked first.
    assert!(positions[0].len() > 1);
    assert_eq!(positions[0][..2], positions[1][..2]);
    assert_eq!(positions[0][..2], positions[2][..2]);
    dir.run(&["verify", "x.jsonl", "--rules", &game]).code(0).stdout_has("ok");
    // Without the rules, what was recorded is replayed.
    fs::remove_dir_all(dir.path("tron")).unwrap();
    dir.run(&["replay", "x.jsonl", "--print"]).code(0);
}

#[test]
fn agents_look_ahead_in_every_seat() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "tron", "tron") else { return };
    let play = |agents: [&str; 3]| {
        let setup = ["--setup", "seats=3", "--setup", "rows=6", "--setup", "columns=6"];
        let words = [&[&*game][..], &agents[..], &setup, &["--seed", "4"]].concat();
        let verdict = dir.play(&words)["verdict"].clone();
        for seat in verdict["seats"].as_array().unwrap() {
            assert_eq!(seat["fault"], Value::Null, "{verdict}");
        }
        verdict["places"].clone()
    };
    for agents in [["@greedy", "@minimax", "@random"], ["@random", "@greedy", "@minimax"]] {
        assert_eq!(play(agents), play(agents));
    }
    // An agent with a copy of the rules moves first in its own seat.
    dir.run(&["new", "rider", "--game", &game]).code(0);
    let bot = fs::read_to_string(dir.path("rider/bot.py")).unwrap();
    let (start, _) = bot.split_once("def choose").unwrap();
    let choose = [
        "def choose(position):",
        "    action = position.actions()[-1]",
        "    assert position.to_move() == position.seat",
        "    assert position.after(action).to_move() != position.seat",
        "    return action",
        "run(choose, rules='game/rules.py')",
    ];
    dir.write("rider/bot.py", format!("{start}{}\n", choose.join("\n")));
    play(["@first", "rider", "@first"]);
}

/// The actions of a seat at fault are recorded, though another has left since they were listed.
#[test]
fn several_leave_in_one_choice() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "tron", "tron") else { return };
    let leaver = |name: &str, last: &Value| {
        let ride = json!({ "type": "action", "action": { "type": "ride", "to": "up" } });
        let text = format!(
            "#!/bin/sh\nwhile read -r line; do case $line in *'\"hello\"'*) echo '{{\"type\":\"ready\"}}';; \
             *'\"turn\",\"turn\":'[012]*) echo '{ride}';; *'\"type\":\"turn\"'*) echo '{last}';; esac; done\n"
        );
        dir.program(name, &text)
    };
    let resigns = leaver("resigns", &json!({ "type": "resign" }));
    let wrong = json!({ "type": "action", "action": { "type": "ride", "to": "nowhere" } });
    let words = [&*game, &resigns, &leaver("wrong", &wrong), "@first", "--setup", "seats=3"];
    let verdict = dir.play(&[&words[..], &["--out", "x.jsonl"]].concat())["verdict"].clone();
    assert_eq!(verdict["places"], json!([2, 2, 1]), "{verdict}");
    assert_eq!(verdict["seats"][1]["turns"], 1, "{verdict}");
    dir.run(&["verify", "x.jsonl", "--rules", &game]).code(0).stdout_has("ok");
}

/// A seat that resigns before the other has chosen is not shown as the one to move.
#[test]
fn a_person_who_resigned_is_not_to_move() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "rock-paper-scissors", "rps") else { return };
    let words = ["play", &game, "@human", "@first", "--no-transcript"];
    let ran = dir.run_with_input(&words, "rock\nresign\n").code(0);
    let (before, after) = ran.stderr.split_once("human resigned in turn 2, and is out").unwrap();
    assert!(before.contains("to move"), "{before}");
    assert!(after.contains("turn 3: @first") && !after.contains("to move"), "{after}");
}

/// An agent that shows a rock. In the seat 0, it waits until the other has been asked, too; in the seat 1, it does `wrong`
/// in turn 3, if it is there.
const WAITER: &str = "#!/usr/bin/env python3
import json, os, sys, time
folder, wrong = sys.argv[1], sys.argv[2:]
for line in sys.stdin:
    message = json.loads(line)
    if message['type'] == 'hello':
        seat = message['seat']
        print('{\"type\":\"ready\"}', flush=True)
    elif message['type'] == 'turn':
        turn = message['turn']
        mark = os.path.join(folder, 'asked-%d' % (turn + 1 - seat))
        answer = json.dumps({'type': 'action', 'turn': turn, 'action': {'type': 'show', 'hand': 'rock'}})
        if seat == 1:
            if turn == 3 and wrong == ['again']:
                print(answer, flush=True)
                time.sleep(0.05)
            open(mark, 'w').close()
            if turn == 3 and wrong == ['exit']: sys.exit(3)
            if turn == 3 and wrong == ['hang']: time.sleep(100)
            if turn == 3 and wrong == ['close']:
                os.close(1)
                time.sleep(100)
            if turn == 3 and wrong == ['garble']: answer = 'rock'
            if turn == 3 and wrong == ['twice']: answer += '\\n' + answer
            print('{\"type\":\"info\",\"text\":\"rocks are hard\"}', flush=True)
        while turn < 4 and not os.path.exists(mark): time.sleep(0.001)
        print(answer, flush=True)
";

/// The seat that is judged first answers only when the other has its request. What that one does wrong is its own fault,
/// though it is judged later.
#[test]
fn seats_that_choose_at_once_think_side_by_side() {
    let dir = TestDir::new();
    let Some(game) = sample(&dir, "rock-paper-scissors", "rps") else { return };
    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() < 2) {
        return skip("second core");
    }
    let waiter = dir.program("waiter.py", WAITER);
    let wrongs = ["", "exit", "hang", "close", "garble", "twice", "again"];
    let faults = [
        Value::Null,
        "gone".into(),
        "late".into(),
        "gone".into(),
        "garbled".into(),
        "unasked".into(),
        "unasked".into(),
    ];
    for (wrong, fault) in wrongs.into_iter().zip(faults) {
        let folder = dir.path(&format!("marks-{wrong}"));
        fs::create_dir(&folder).unwrap();
        let first = format!("{waiter} {}", folder.display());
        let second = format!("{first} {wrong}");
        let words = [
            "--setup",
            "rounds=3",
            "--sandbox",
            "none",
            "--move-time",
            "4s",
            "--out",
            "x.jsonl",
            "--force",
        ];
        let verdict =
            dir.play(&[&[&*game, &first, second.trim()], &words[..]].concat())["verdict"].clone();
        assert_eq!(verdict["seats"][0]["fault"], Value::Null, "{wrong}: {verdict}");
        assert_eq!(verdict["seats"][1]["fault"]["kind"], fault, "{wrong}: {verdict}");
        dir.run(&["verify", "x.jsonl", "--rules", &game]).code(0).stdout_has("ok");
    }
    // In the order of the seats, whoever was asked and answered first.
    let events = dir.events("x.jsonl");
    let turns = events.iter().filter(|event| event["type"] == "turn");
    let turns: Vec<_> =
        turns.map(|event| (event["turn"].as_u64(), event["seat"].as_u64())).collect();
    assert_eq!(turns[..4], [0, 1, 2, 3].map(|turn| (Some(turn), Some(turn % 2))));
    // None was asked before its choice began.
    let text = fs::read_to_string(dir.path("x.jsonl")).unwrap();
    let (before, time) = text.split_once(r#"{"type":"turn","at_ns":"#).unwrap();
    let (first, after) = time.split_once(r#"{"type":"turn","at_ns":"#).unwrap();
    let (_, rest) = after.split_once(',').unwrap();
    let early =
        format!(r#"{before}{{"type":"turn","at_ns":{first}{{"type":"turn","at_ns":1,{rest}"#);
    let (lines, _) = early.split_once(r#"{"type":"seal""#).unwrap();
    dir.write("early.jsonl", sealed(lines));
    dir.run(&["verify", "early.jsonl", "--rules", &game]).code(1).stdout_has("its time is 1 ns");
}
