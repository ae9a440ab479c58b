//! Dialogues with engines, as data.
//!
//! `hello SEAT SETUP`, `played TURN SEAT ACTION`, `turn TURN LEFT_MS` and `over` are the referee's
//! messages; `< LINE` is a line of the engine, `= TEXT` and `? TEXT` a complete reply. `> LINE` must
//! have been written since. `ready`, `says ACTION`, `resigns` and `wrong TEXT` must be what the last
//! line decodes to; without one of them, it must decode to nothing.

use crate::{Decoded, dialects, kind};
use referee_protocol::{
    ClockSettings, FromAgent, Hello, Limits, LineProtocol, Over, Played, Seat, ToAgent, Turn,
    Verdict,
};
use serde_json::{Value, json};

const GREETING: &str = "
    > protocol_version
    = 2
    > name
    = MoHex
    > version
    = 2.0
    > list_commands
    < = name
    < play
    < time_left
    <
    > boardsize 3
    =
    > clear_board
    =
    ready";

const POSITION: &str = r#"{"to_move":1,"size":3,"stones":[[[0,0]],[]],
    "colours":["black","red"],"turn":1}"#;

const DIALOGUES: &[(&str, &str, &str)] = &[
    (
        "htp",
        "{}",
        r#"hello 0 {"size":3}
        @greeting
        turn 0 12999
        > time_left black 12 0
        =
        > genmove black
        < info: thinking
        < gogui-gfx: VAR b a1
        <
        = C1
        says a3
        played 0 0 a3
        played 1 1 c1
        > play white a3
        turn 2 null
        =
        > time_left black 1 1
        ? unknown option
        > genmove black
        = resign
        resigns
        over
        > quit"#,
    ),
    (
        "htp",
        r#"{"swap":"pieces","swap_move":"swap","boardsize":"N N","init":["go"]}"#,
        r#"hello 1 {"size":3,"first":"red","swap":"sides"}
        > protocol_version
        ? unknown
        > name
        ? unknown
        > version
        ? unknown
        > list_commands
        ? unknown
        > boardsize 3 3
        =
        > clear_board
        =
        > go
        =
        ready
        played 0 0 b1
        > play black b1
        =
        turn 1 1000
        > genmove white
        = swap-pieces
        says swap
        played 1 1 swap
        played 2 0 c1
        > play black a3
        =
        played 3 1 c3
        > play white c3"#,
    ),
    (
        "htp",
        r#"{"skip":["protocol_version","version","param_game","time_left"]}"#,
        r#"hello 0 {"size":3}
        > name
        =
        > list_commands
        < = param_game
        < time_left
        <
        > boardsize 3
        =
        > clear_board
        =
        ready
        turn 0 12999
        > genmove black"#,
    ),
    (
        "htp",
        r#"{"skip":["protocol_version","name","version","list_commands"]}"#,
        r#"hello 0 {"size":3}
        > boardsize 3
        =
        > clear_board
        =
        ready"#,
    ),
    (
        "htp",
        r#"{"swap":"none"}"#,
        r#"hello 0 {"size":3,"swap":"pieces"}
        @greeting
        played 0 0 a2
        > play black b1
        =
        played 1 1 swap
        > clear_board
        =
        > play white a2
        ? no
        wrong `play white a2` was answered `? no`"#,
    ),
    (
        "htp",
        "{}",
        r#"hello 0 {"size":3}
        @greeting
        turn 0 12999
        > time_left black 12 0
        ? too many arguments
        > time_left black 12
        =
        > genmove black
        = a1
        says a1
        played 0 0 a1
        turn 2 5000
        > time_left black 5
        =
        > genmove black
        = c1
        says a3
        turn 4 null
        > time_left black 1 1
        ? too many arguments
        > genmove black"#,
    ),
    (
        "htp",
        "{}",
        r#"hello 1 {"position":@position,"swap":"pieces"}
        > protocol_version
        = 2
        > name
        =
        > version
        =
        > list_commands
        < = param_game
        < time_settings
        <
        > boardsize 3
        =
        > clear_board
        =
        > param_game allow_swap 1
        ? which game
        > time_settings 60 0 0
        =
        > play black a1
        =
        ready
        turn 1 5
        > genmove white
        = pass
        wrong `genmove white` was answered `= pass`
        < = a1
        wrong a reply to no command: `= a1`"#,
    ),
];

fn action(text: &str) -> Value {
    let game = kind("hex").unwrap().start(&json!({})).unwrap();
    game.parse_action(text).unwrap()
}

fn number(word: &str) -> u64 {
    word.parse().unwrap()
}

/// Returns the line's message, if it is one.
fn message(line: &str) -> Option<ToAgent> {
    let words: Vec<&str> = line.splitn(4, ' ').collect();
    Some(match words[0] {
        "hello" => {
            let (_, setup) = line[6..].split_once(' ').unwrap();
            let setup: Value = serde_json::from_str(setup).unwrap();
            ToAgent::Hello(Box::new(Hello {
                protocol: 1,
                game: "hex".to_owned(),
                rules: 1,
                setup: kind("hex").unwrap().start(&setup).unwrap().setup(),
                seat: Seat(words[1].parse().unwrap()),
                seats: Vec::new(),
                clock: ClockSettings::default(),
                limits: Limits::default(),
                seed: 1,
                match_id: String::new(),
            }))
        }
        "played" => ToAgent::Played(Played {
            turn: number(words[1]),
            seat: Seat(words[2].parse().unwrap()),
            action: action(words[3]).into(),
            used_ms: 1,
        }),
        "turn" => {
            let left_ms = words[2].parse().ok();
            ToAgent::Turn(Turn {
                turn: number(words[1]),
                left_ms,
                position: None,
                actions: None,
                together: Vec::new(),
            })
        }
        "over" => ToAgent::Over(Box::new(Over {
            outcome: None,
            verdict: Verdict {
                result: referee_protocol::MatchResult::Void,
                reason: String::new(),
                places: None,
                seats: Vec::new(),
                void: None,
            },
        })),
        _ => return None,
    })
}

fn fits(meaning: &Decoded, wanted: &str) -> bool {
    match (meaning, wanted.split_once(' ').unwrap_or((wanted, ""))) {
        (Decoded::Message(FromAgent::Ready(_)), ("ready", ""))
        | (Decoded::Message(FromAgent::Resign(_)), ("resigns", "")) => true,
        (Decoded::Message(FromAgent::Action(said)), ("says", text)) => said.action == action(text),
        (Decoded::Invalid(garbled), ("wrong", text)) => garbled.to_string().contains(text),
        _ => false,
    }
}

#[test]
fn dialogues_with_engines() {
    for (name, options, dialogue) in DIALOGUES {
        let mut options: Value = serde_json::from_str(options).unwrap();
        let init = options.as_object_mut().unwrap().remove("init").unwrap_or_default();
        let init = serde_json::from_value(init).unwrap_or_default();
        let options = options.as_object().unwrap().clone();
        let settings = LineProtocol { name: (*name).to_owned(), init, options };
        let (_, kind) = dialects().find(|(_, kind)| kind.name == *name).unwrap();
        let mut dialect = kind.begin(&settings).unwrap();
        let (mut written, mut meaning) = (Vec::new(), Decoded::Nothing);
        let dialogue = dialogue.replace("@greeting", GREETING.trim());
        let dialogue = dialogue.replace("@position", &POSITION.replace('\n', " "));
        let lines = dialogue.lines().map(str::trim).flat_map(|line| {
            let is_reply = line.starts_with(['=', '?']);
            if is_reply { vec![format!("< {line}"), "<".to_owned()] } else { vec![line.to_owned()] }
        });
        for line in lines {
            let line = line.as_str();
            let sent = message(line);
            let is_next = sent.is_some() || line.starts_with('<');
            let is_judged = meaning == Decoded::Nothing;
            assert!(!is_next || is_judged, "{name}: before {line:?}: {meaning:?}");
            if let Some(line) = line.strip_prefix('>') {
                let mut bytes = Vec::new();
                dialect.take_output(&mut bytes);
                written.extend(bytes);
                let end = written.iter().position(|&byte| byte == b'\n');
                let end = end.unwrap_or_else(|| panic!("{name}: {line} wasn't written"));
                let first: Vec<u8> = written.drain(..=end).collect();
                assert_eq!(String::from_utf8(first).unwrap().trim_end(), line.trim(), "{name}");
            } else if let Some(line) = line.strip_prefix('<') {
                dialect.take_output(&mut written);
                assert!(written.is_empty(), "{name}: {}", String::from_utf8_lossy(&written));
                meaning = dialect.on_line(line.trim().as_bytes());
            } else if let Some(sent) = sent {
                dialect.on_message(&sent);
            } else {
                assert!(fits(&meaning, line), "{name}: {line}: {meaning:?}");
                meaning = Decoded::Nothing;
            }
        }
    }
}

#[test]
fn settings_are_strict() {
    for (name, settings, wanted) in [
        ("htp", json!({"options": {"swapp": "sides"}}), "unknown field `swapp`"),
        ("htp", json!({"options": {"swap": "stones"}}), "unknown value `stones`"),
        ("htp", json!({"options": {"boardsize": "NxN"}}), "unknown value `NxN`"),
        ("htp", json!({"options": {"swap_move": "a b"}}), "one word"),
        ("htp", json!({"options": {"skip": ["genmove"]}}), "`skip` may list protocol_version, "),
        ("htp", json!({"init": [" "]}), "is empty"),
        ("htp", json!({"init": ["a\nb"]}), "line end"),
    ] {
        let mut settings = settings;
        settings["name"] = json!(name);
        let settings: LineProtocol = serde_json::from_value(settings).unwrap();
        let (_, kind) = dialects().find(|(_, kind)| kind.name == name).unwrap();
        let error = kind.begin(&settings).unwrap_err();
        assert!(error.contains(wanted), "{settings:?}: {error}");
    }
}
