//! The built-in agents: each plays every game to its end, and follows the protocol.

use crate::support::small_referee::{
    Participant, RunningAgent, among, from_here, hello, play, small,
};
use referee_games::{AnyGame, GAMES, Games, Refusal, Turn, kind};
use referee_protocol::{FromAgent, Want, parse_from_agent};
use sample_agents::{Agent, AgentError, BUILT_INS};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// The agents that play well, with arguments.
const GOOD: [&str; 5] = ["random", "first", "greedy", "minimax:1", "minimax:2"];

#[test]
fn every_good_agent_plays_every_game_and_repeats_it_with_the_same_seed() {
    for kind in GAMES {
        let setup = small(kind.name);
        let seats = kind.start(&setup).unwrap().seats();
        for agent in GOOD {
            let agents = among("random", seats, seats - 1, agent.into());
            let played = play(kind.name, &setup, &agents, 7, None);
            assert_eq!(play(kind.name, &setup, &agents, 7, None), played, "{agent} {}", kind.name);
        }
    }
}

#[test]
fn different_seeds_make_different_games() {
    for agent in ["random", "greedy"] {
        let games: Vec<_> = (1..6)
            .map(|seed| {
                play("hex", &small("hex"), &[agent, agent].map(Participant::from), seed, None)
                    .actions
            })
            .collect();
        assert!(games.iter().any(|game| *game != games[0]), "{agent}");
    }
}

#[test]
fn retired_seats_are_skipped() {
    for kind in GAMES {
        for mut variant in kind.about().variants.iter().cloned().chain([small(kind.name)]) {
            if let Some(turns) = small(kind.name).get("max_turns") {
                variant["max_turns"] = turns.clone();
            }
            let seats = kind.start(&variant).unwrap().seats();
            if seats < 3 {
                continue;
            }
            for agent in ["greedy", "minimax:1"] {
                let agents = among("random", seats, 1, agent.into());
                for retire_at in [0, 5] {
                    play(kind.name, &variant, &agents, 3, Some(retire_at));
                }
            }
        }
    }
}

#[test]
fn a_game_may_start_from_a_position() {
    for kind in GAMES {
        let setup = small(kind.name);
        let mut game = kind.start(&setup).unwrap();
        for _ in 0..3 {
            let actions = game.actions();
            if let Some(action) = actions.get(actions.len() / 2) {
                game.play(action).unwrap();
            }
        }
        if matches!(game.turn(), Turn::Over(_)) {
            continue;
        }
        let setup = from_here(game.as_ref());
        for agent in ["greedy", "minimax:1"] {
            play(kind.name, &setup, &vec![agent.into(); game.seats()], 5, None);
        }
    }
}

#[test]
fn an_illegal_action_is_illegal_and_not_malformed() {
    for kind in GAMES {
        for variant in kind.about().variants.iter().cloned().chain([json!({})]) {
            let mut game = kind.start(&variant).unwrap();
            for turn in 0..6 {
                let Turn::Of(seat) = game.turn() else { break };
                let action = illegal_answer(game.as_ref(), seat.index());
                let refusal = game.clone().play(&action);
                assert!(matches!(refusal, Err(Refusal::Illegal(_))), "{action}: {refusal:?}");
                let actions = game.actions();
                game.play(&actions[turn * 5 % actions.len()]).unwrap();
            }
        }
    }
}

/// Returns the answer of `illegal` in this position.
fn illegal_answer(game: &dyn AnyGame, seat: usize) -> Value {
    let greeting = hello(game.kind().name, &from_here(game), seat, game.seats(), 1);
    let turn = json!({"type": "turn", "turn": game.turn_number(), "left_ms": null});
    let (result, said) = converse("illegal", &[greeting, turn]);
    result.unwrap();
    let FromAgent::Action(action) = &said[1] else { panic!("{said:?}") };
    action.action.clone()
}

/// Runs an agent with these lines as its input.
fn converse(name: &str, lines: &[Value]) -> (Result<(), AgentError>, Vec<FromAgent>) {
    let mut input = String::new();
    for line in lines {
        writeln!(input, "{line}").unwrap();
    }
    let (result, output, _) = run(name, input.as_bytes());
    let said = output.lines().map(|line| parse_from_agent(line.as_bytes()).unwrap()).collect();
    (result, said)
}

/// Runs an agent; returns its output and its diagnostics.
fn run(name: &str, input: &[u8]) -> (Result<(), AgentError>, String, String) {
    let (mut output, mut diagnostics) = (Vec::new(), Vec::new());
    let result = sample_agents::run(name, &Games::default(), input, &mut output, &mut diagnostics);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (result, text(output), text(diagnostics))
}

fn first_turn() -> [Value; 2] {
    let setup = kind("hex").unwrap().start(&json!({"size": 3})).unwrap().setup();
    let action = json!({"type": "place", "at": [1, 1]});
    [
        hello("hex", &setup, 0, 2, 1),
        json!({"type": "turn", "turn": 0, "left_ms": 60000, "actions": [action]}),
    ]
}

#[test]
fn a_good_agent_plays_a_further_match_as_a_new_one() {
    let [greeting, turn] = first_turn();
    let over = json!({"type": "over"});
    for name in GOOD {
        let (result, first) = converse(name, &[greeting.clone(), turn.clone()]);
        result.unwrap();
        let lines = [&greeting, &turn, &over, &greeting, &turn, &over].map(Value::clone);
        let (result, said) = converse(name, &lines);
        result.unwrap();
        assert_eq!(said, [&first[..], &first[..]].concat(), "{name}");
        let (result, _) = converse(name, &[greeting.clone(), over.clone(), turn.clone()]);
        assert!(result.is_err(), "{name}: the match is over");
    }
}

#[test]
fn all_are_ready_and_request_only_what_they_use() {
    for built_in in BUILT_INS {
        let (result, said) = converse(built_in.name, &first_turn()[..1]);
        result.unwrap();
        let [FromAgent::Ready(ready)] = &said[..] else { panic!("{said:?}") };
        let agent: Agent = built_in.name.parse().unwrap();
        assert_eq!(ready.name, Some(agent.to_string()));
        let wanted: &[Want] = match built_in.name {
            "random" | "first" | "slow" => &[Want::Actions],
            _ => &[],
        };
        assert_eq!(ready.want, wanted, "{}", built_in.name);
        assert_eq!(ready.again, !built_in.misbehaves, "{}", built_in.name);
    }
}

#[test]
fn unknown_messages_and_fields_are_ignored() {
    let [mut greeting, turn] = first_turn();
    greeting["clock"]["moon"] = json!("full");
    greeting["limits"] = json!([]);
    let input = format!(
        "\r\n{greeting}\r\n{{\"type\":\"weather\",\"sun\":[1]}}\n\n{turn}\n{{\"type\":\"over\"}}\n"
    );
    let (result, said, noted) = run("first", input.as_bytes());
    result.unwrap();
    assert_eq!(said.lines().count(), 2, "{said}");
    assert_eq!(
        said.lines().last(),
        Some(r#"{"type":"action","turn":0,"action":{"at":[1,1],"type":"place"}}"#)
    );
    assert!(noted.contains("weather") && noted.lines().count() == 1, "{noted}");
}

#[test]
fn an_agent_reports_a_referee_that_breaks_the_protocol() {
    let [greeting, turn] = first_turn();
    let played =
        |at: Value| json!({"type": "played", "turn": 0, "seat": 0, "action": at, "used_ms": 1});
    let there = played(json!({"type": "place", "at": [1, 1]}));
    let mut elsewhere = greeting.clone();
    elsewhere["game"] = json!("chess");
    let mut oversized = greeting.clone();
    oversized["setup"] = json!({"size": 1000});
    let mut bare = turn.clone();
    bare.as_object_mut().unwrap().remove("actions");
    for (name, lines, wanted) in [
        ("greedy", vec![turn.clone()], "the referee's first line of a match is not `hello`"),
        ("greedy", vec![elsewhere], "doesn't know the game \"chess\""),
        ("minimax", vec![oversized], "setup of hex: "),
        ("random", vec![greeting.clone(), bare], "turn 0 lists no `actions`"),
        ("greedy", vec![greeting.clone(), there.clone(), turn.clone()], "out of turn"),
        ("greedy", vec![greeting.clone(), there.clone(), there], "this board refuses it"),
        (
            "greedy",
            vec![greeting.clone(), played(json!({"type": "jump"}))],
            "this board refuses it",
        ),
        ("greedy", vec![greeting.clone(), json!({"type": "turn"})], "missing field `turn`"),
        ("greedy", vec![greeting, json!("x".repeat(1 << 21))], "longer than 1048576 bytes"),
    ] {
        let (result, _) = converse(name, &lines);
        let error = result.expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error:?} lacks {wanted:?}");
    }
}

#[test]
fn each_bad_agent_misbehaves_as_documented() {
    let turn = first_turn();
    let (result, said) = converse("crash", &turn);
    assert!(matches!(result, Err(AgentError::Crashed { turn: 0 })), "{result:?}");
    assert_eq!(said.len(), 1, "ready, and nothing else");

    let (result, said) = converse("mute", &[&turn[..], &turn[1..]].concat());
    result.unwrap();
    assert_eq!(said.len(), 1, "ready, and nothing else");

    let begun = Instant::now();
    let (result, said) = converse("slow", &turn);
    result.unwrap();
    assert_eq!(said.len(), 2);
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

/// Accepts this many bytes and then fails.
struct Closing {
    taken: Vec<u8>,
    room: usize,
}

impl Write for Closing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.taken.len() + bytes.len() > self.room {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.taken.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_flood_is_endless_and_has_no_line_end() {
    let [mut greeting, turn] = first_turn();
    greeting["clock"]["moon"] = json!("full");
    greeting["limits"] = json!([]);
    let input = format!("{greeting}\n{turn}\n");
    let mut output = Closing { taken: Vec::new(), room: 1 << 20 };
    let result =
        sample_agents::run("flood", &Games::default(), input.as_bytes(), &mut output, io::sink());
    assert!(matches!(result, Err(AgentError::Stream(_))), "{result:?}");
    assert!(output.taken.len() > 1_000_000);
    let lines = output.taken.split(|&byte| byte == b'\n').count();
    assert_eq!(lines, 2, "`ready`, and an endless line");
}

#[test]
fn the_end_of_input_ends_an_agent() {
    for name in GOOD {
        RunningAgent::start(&name.into(), &first_turn()[0]).leave();
    }
}
