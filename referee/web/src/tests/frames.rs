//! A page gets what the board shows.

use crate::frames::{Frame, Frames};
use crate::{MatchState, MatchUpdate};
use proptest::prelude::*;
use referee_games::view::{GroundKind, View};
use referee_games::{GAMES, Games, Turn};
use referee_match::transcript::Playback;
use referee_protocol::{Event, Header, Info, LineEvent, PlayedEvent, Seat, TurnEvent};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A board as a page holds it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Board {
    pieces: BTreeMap<usize, String>,
    ground: BTreeMap<usize, String>,
}

impl Board {
    fn take(&mut self, frame: &Frame) {
        for (cell, piece) in &frame.set {
            put(&mut self.pieces, *cell, piece.clone());
        }
        for (cell, ground) in &frame.ground {
            put(&mut self.ground, *cell, ground.clone());
        }
    }

    fn of(view: &View) -> Self {
        let cells = view.shape.cells();
        let number = |at| cells.iter().position(|&cell| cell == at).unwrap();
        let pieces = view.pieces.iter().map(|it| (number(it.at), it.colour.name().into_owned()));
        let ground = view.ground.iter().map(|it| {
            let name = match it.kind {
                GroundKind::Pad => "pad".to_owned(),
                GroundKind::Tint(colour) => format!("tint-{}", colour.name()),
                GroundKind::Target(colour) => format!("target-{}", colour.name()),
            };
            (number(it.at), name)
        });
        Self { pieces: pieces.collect(), ground: ground.collect() }
    }
}

fn put(map: &mut BTreeMap<usize, String>, cell: usize, value: Option<String>) {
    let changed = match value {
        Some(value) => map.insert(cell, value.clone()) != Some(value),
        None => map.remove(&cell).is_some(),
    };
    assert!(changed, "cell {cell} is sent though it did not change");
}

fn header(game: &str, setup: &Value, seats: usize) -> Header {
    let seat = |seat: usize| {
        json!({"seat": seat, "name": format!("<b>{seat}"), "colour": "", "command": [], "digest": "",
               "ready": {}})
    };
    let seats: Vec<Value> = (0..seats).map(seat).collect();
    serde_json::from_value(json!({
        "transcript": 1, "match": "0", "game": game, "rules": 1, "setup": setup, "seats": seats,
        "clock": {"start_ms": 1, "bank_ms": 1000, "increment_ms": 10}, "limits": {},
        "on_fault": "retire", "sandbox": {"level": "none", "layers": []}, "seed": 1,
        "game_number": 0, "referee": "0", "started": ""
    }))
    .unwrap()
}

/// Begins a match in which every agent is ready.
fn begin(game: &str, setup: &Value, seats: usize) -> Playback {
    let mut playback = Playback::begin(header(game, setup, seats), &Games::default()).unwrap();
    for seat in Seat::all(seats) {
        write(&mut playback, 0, seat, &json!({"type": "ready"}));
    }
    playback
}

/// An agent writes a line.
fn write(playback: &mut Playback, at_ns: u64, seat: Seat, line: &Value) {
    let line = line.to_string();
    let event = LineEvent { at_ns, seat, line, escaped: false, cut: false };
    playback.take(&Event::Line(event)).unwrap();
}

/// The seat that is asked plays an action at time zero.
fn play(playback: &mut Playback, seat: usize, action: &Value) {
    let turn = playback.game().turn_number();
    let at = Seat(u8::try_from(seat).unwrap());
    write(playback, 0, at, &json!({"type": "action", "action": action}));
    let played = json!({"type": "played", "at_ns": 0, "turn": turn, "seat": seat, "action": action,
                        "used_ms": 0, "wall_ns": 0});
    playback.take(&serde_json::from_value(played).unwrap()).unwrap();
}

/// Asks a seat for its first action.
fn ask(playback: &mut Playback, seat: usize) {
    let turn = playback.game().turn_number();
    let asked = json!({"type": "turn", "at_ns": 0, "turn": turn, "seat": seat, "left_ms": 1000});
    playback.take(&serde_json::from_value(asked).unwrap()).unwrap();
}

/// A random game of the setup's defaults, as far as `choices` go.
fn playback(game: usize, choices: &[u32]) -> Playback {
    let kind = &GAMES[game];
    let mut state = kind.start(&json!({})).unwrap();
    let mut playback = begin(kind.name, &state.setup(), state.seats());
    let (mut at_ns, mut left_ms) = (0, vec![1000; state.seats()]);
    for choice in choices {
        let Turn::Of(seat) = state.turn() else { break };
        let (turn, actions) = (state.turn_number(), state.actions());
        let action = state.play(&actions[*choice as usize % actions.len()]).unwrap();
        let left = &mut left_ms[seat.index()];
        let (left_ms, together) = (Some(*left), Vec::new());
        let asked = TurnEvent { at_ns, turn, seat, left_ms, pondered_ns: 0, together };
        playback.take(&Event::Turn(asked)).unwrap();
        at_ns += 7_000_000;
        *left += 3;
        let line = json!({"type": "info", "score": 2, "text": "x", "pv": ["a"],
                          "cells": [{"at": [0, 0], "label": 7}, {"at": [99, 0]}, 3]});
        write(&mut playback, at_ns, seat, &line);
        write(&mut playback, at_ns, seat, &json!({"type": "action", "action": action}));
        let event = PlayedEvent {
            at_ns,
            turn,
            seat,
            action: action.into(),
            used_ms: 7,
            wall_ns: 7_000_000,
            cpu_ns: Some(1_234_567),
            wait_ns: None,
            lag_ns: 0,
            score: None,
        };
        playback.take(&Event::Played(event)).unwrap();
    }
    playback
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn frames_add_up_to_the_board(
        game in 0..GAMES.len(),
        choices in proptest::collection::vec(any::<u32>(), 0..60),
    ) {
        let playback = playback(game, &choices);
        let frames = Frames::new(&playback.plies()[0].view);
        let mut board = Board::default();
        for (ply, frame) in playback.plies().iter().zip(frames.from(&playback, 0)) {
            board.take(&frame);
            prop_assert_eq!(&board, &Board::of(&ply.view));
            prop_assert_eq!(frame.last.len(), ply.view.last.len());
        }
        prop_assert_eq!(Board::of(&playback.game().view()), board);
    }
}

#[test]
fn a_ply_has_its_times_and_infos() {
    let playback = playback(0, &[0, 0]);
    let frames = Frames::new(&playback.plies()[0].view);
    let [start, first, second] = frames.from(&playback, 0).try_into().unwrap();
    assert_eq!((start.kind, start.seat, start.to_move), ("start", None, Some(Seat(0))));
    assert_eq!((first.kind, first.seat, first.used_ms), ("played", Some(Seat(0)), Some(7)));
    assert_eq!(first.cpu_ms, Some(1.234));
    assert_eq!(first.left_ms[..2], [Some(1003), Some(1000)]);
    assert_eq!(second.left_ms[..2], [Some(1003), Some(1003)]);
    let info = &first.infos[0];
    assert_eq!((info.score, info.depth, info.text.as_deref()), (Some(2.0), None, Some("x")));
    assert_eq!(info.more.as_deref(), Some(r#"{"pv":["a"]}"#));
    assert!(first.sentence.starts_with("<b>0 ("), "{}", first.sentence);
}

/// Each action is played.
#[test]
fn the_actions_that_an_agent_expects_are_read_where_they_are_shown() {
    let mut playback = begin("hex", &json!({"size": 3}), 2);
    ask(&mut playback, 0);
    let actions = playback.game().actions();
    for _ in 0..70 {
        write(&mut playback, 0, Seat(0), &json!({"type": "info", "pv": [actions[0], actions[1]]}));
    }
    play(&mut playback, 0, &actions[2]);
    let read: Vec<usize> =
        playback.plies()[1].output.infos.iter().map(|info| info.pv.len()).collect();
    assert_eq!((read.len(), &read[..20], &read[20..]), (70, &[0; 20][..], &[2; 50][..]));
    let [_, frame] = Frames::new(&playback.plies()[0].view).from(&playback, 0).try_into().unwrap();
    assert!(frame.infos.len() == 50 && frame.infos.iter().all(|info| info.pv.len() == 2));
}

#[test]
fn what_an_agent_says_of_its_game_is_its_own_teams() {
    let update = MatchUpdate::since(0, &playback(0, &[0, 0]), &MatchState::Over, 0);
    let seen = |own: &[Seat]| {
        let MatchUpdate { plies, .. } = update.clone().public(own);
        plies.into_iter().flat_map(|ply| ply.infos).map(|info| info.seat).collect::<Vec<_>>()
    };
    assert_eq!([seen(&[]), seen(&[Seat(1)])], [vec![], vec![Seat(1)]]);
    assert_eq!(seen(&[Seat(0), Seat(1)]), [Seat(0), Seat(1)]);
}

#[test]
fn marks_of_other_shapes_are_left_out() {
    let playback = playback(0, &[]);
    let view = &playback.plies()[0].view;
    let cells = view.shape.cells();
    let at = cells[3];
    let fields = json!({"cells": [{"at": [at.0, at.1], "label": 1.5}, {"at": "c4"}, {"at": [99, 99]},
                                  {"at": [at.0, at.1]}, null], "score": "good"});
    let Value::Object(fields) = fields else { unreachable!() };
    let mut playback = playback;
    ask(&mut playback, 0);
    let line = serde_json::to_value(referee_protocol::FromAgent::Info(Info(fields))).unwrap();
    write(&mut playback, 0, Seat(0), &line);
    let action = playback.game().actions().swap_remove(0);
    play(&mut playback, 0, &action);
    let frames = Frames::new(&playback.plies()[0].view);
    let frame = frames.frame(&playback, 1);
    assert_eq!(frame.infos[0].marks, [(3, "1.5".to_owned()), (3, String::new())]);
    assert_eq!(frame.infos[0].more.as_deref(), Some(r#"{"score":"good"}"#));
}

#[test]
fn colours_follow_an_exchange() {
    let kind = referee_games::kind("hex").unwrap();
    let state = kind.start(&json!({"size": 3, "swap": "sides"})).unwrap();
    let mut playback = begin(kind.name, &state.setup(), 2);
    for (seat, action) in
        [json!({"type": "place", "at": [1, 1]}), json!({"type": "swap"})].into_iter().enumerate()
    {
        ask(&mut playback, seat);
        play(&mut playback, seat, &action);
    }
    let colours = |ply: usize| playback.plies()[ply].colours.clone();
    assert_eq!(
        (colours(1), colours(2)),
        (vec!["black".into(), "red".into()], vec!["red".into(), "black".into()])
    );
}
