//! Dialogues with engines and controllers, as data.
//!
//! `hello SEAT SETUP`, `played TURN SEAT ACTION`, `turn TURN LEFT_MS` and `over` are the referee's
//! messages; `< LINE` is a line of the engine, `= TEXT` and `? TEXT` a complete reply. `> LINE` must
//! have been written since. `ready`, `says ACTION`, `resigns` and `wrong TEXT` must be what the last
//! line decodes to; without one of them, it must decode to nothing.

use crate::{Decoded, ServerStep, dialects, kind};
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
    (
        "gai",
        r#"{"mcts":"simulations 50"}"#,
        r#"hello 1 {"size":9,"swap":"pieces"}
        > gai
        < id name ai-hex
        < id game hex
        < gaiok
        > newgame size 9 swap on
        > isready
        < readyok
        ready
        played 0 0 b4
        turn 1 6000
        > position size 9 swap on moves d2
        > mcts softtime 450 simulations 50
        < bestmove swap simulations 3 nodes 4 score 0.5
        says swap
        played 1 1 swap
        played 2 0 i1
        turn 3 6000
        > position size 9 swap on moves d2 swap i1
        > mcts softtime 450 simulations 50
        < bestmove i2 simulations 3 nodes 4 score 0.5
        says i2
        < bestmove i2 simulations 3 nodes 4 score 0.5
        wrong a move that was not requested
        over
        > quit"#,
    ),
    (
        "gai",
        r#"{"mcts":"softtime 7"}"#,
        r#"hello 0 {"size":4,"swap":"none"}
        > gai
        < gaiok
        > newgame size 4 swap off
        > isready
        < info string error size must be from 9 through 24
        wrong the engine says `size must be from 9 through 24`
        turn 0 1
        > position size 4 swap off
        > mcts softtime 7
        < bestmove none simulations 0 nodes 0 score 0
        wrong doesn't name a cell"#,
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
            ToAgent::Turn(Turn { turn: number(words[1]), left_ms, position: None, actions: None })
        }
        "over" => ToAgent::Over(Box::new(Over {
            outcome: None,
            verdict: Verdict {
                result: referee_protocol::Result::Void,
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
        ("htp", json!({"init": [" "]}), "is empty"),
        ("htp", json!({"init": ["a\nb"]}), "line end"),
        ("gai", json!({"options": {"mcts": 3}}), "expected text, got 3"),
        ("gai", json!({"options": {"mcts": "a\nb"}}), "line end"),
    ] {
        let mut settings = settings;
        settings["name"] = json!(name);
        let settings: LineProtocol = serde_json::from_value(settings).unwrap();
        let (_, kind) = dialects().find(|(_, kind)| kind.name == name).unwrap();
        let error = kind.begin(&settings).unwrap_err();
        assert!(error.contains(wanted), "{settings:?}: {error}");
    }
}

/// Commands and replies, with `/` for a line end within; `genmove` is answered with the action
/// after `@`.
const CONTROLLED: &[(&str, Option<&str>, &str)] = &[
    (
        r#"{"size":3}"#,
        None,
        "protocol_version|= 2
        7 name|=7 agent
        # a comment|
        known_command play # really|= true
        known_command loadsgf|= false
        boardsize 2|? unacceptable size: `size` must be 3 to 26, not 2
        boardsize 3 4|? unacceptable size: a board has as many rows as columns
        boardsize 3 3|=
        undo|? cannot undo
        play white a1|? it is black's turn: the players alternate
        play green a1|? green is not a colour: use black or white
        play black d1|? illegal move: d1 is off the board
        play black zz|? illegal move: zz is not a cell
        play black swap-pieces|? illegal move: swap-pieces is not the swap of this game
        play|? wrong arguments of play
        dance|? unknown command: dance
        3|?3 an id without a command
        play B A1|=
        9 genmove w @ c2|=9 b3
        showboard|= /   a b c/ 1 B . . 1/  2 . . . 2/   3 . W . 3
        play black a2|=
        genmove w @ c2|? the agent's move: b3 is occupied
        genmove w @ fails|? it failed
        genmove w @ resigns|= resign
        reg_genmove w @ c3|= c3
        play white c3|=
        final_score|= cannot score
        play black a3|=
        final_score|= B+
        genmove w|? the game is over
        play white b1|? illegal move: the game is over
        undo|=
        all_legal_moves|= a3 b1 b2 c1 c2
        clear_board|=
        time_settings x 0 0|? expected a whole number, not x
        quit|=",
    ),
    (
        r#"{"size":3,"swap":"sides","first":"red"}"#,
        None,
        "play black b1|=
        genmove white @ swap|= swap-sides
        play black a1|? it is white's turn: the players alternate
        play white a1|=
        undo|=
        undo|=
        play white swap-sides|=
        genmove white @ c3|= c3",
    ),
    (
        r#"{"size":3,"swap":"pieces"}"#,
        None,
        "play black b1|=
        play white swap-pieces|=
        showboard|= /   a b c/ 1 . . . 1/  2 W . . 2/   3 . . . 3
        play black b1|=",
    ),
    (
        r#"{"size":3,"swap":"pieces"}"#,
        Some("sides"),
        "play black b1|=
        play white swap-pieces|=
        showboard|= /   a b c/ 1 . B . 1/  2 . . . 2/   3 . . . 3
        play white c3|=
        undo|=
        undo|=
        genmove white @ swap|= swap-pieces
        play black b1|? it is white's turn: the players alternate
        genmove white @ c3|= c3",
    ),
    (
        r#"{"size":3,"swap":"sides"}"#,
        Some("pieces"),
        "play black b1|=
        genmove white @ swap|= swap-pieces
        showboard|= /   a b c/ 1 . . . 1/  2 W . . 2/   3 . . . 3
        play black b1|=",
    ),
];

#[test]
fn controllers_are_answered() {
    let (_, dialect) = dialects().find(|(_, dialect)| dialect.serve.is_some()).unwrap();
    for (setup, swap, lines) in CONTROLLED {
        let setup: Value = serde_json::from_str(setup).unwrap();
        let mut server = dialect.serve.unwrap()(&setup, *swap).unwrap();
        for line in lines.lines().map(str::trim) {
            let (command, wanted) = line.split_once('|').unwrap();
            let (command, answer) = command.split_once(" @ ").unwrap_or((command, ""));
            let reply = match server.command(command, "agent") {
                ServerStep::Nothing => String::new(),
                ServerStep::Reply(reply) | ServerStep::ReplyAndQuit(reply) => reply,
                ServerStep::Move(_) => server.answered(match answer {
                    "fails" => Err("it failed".to_owned()),
                    "resigns" => Ok(None),
                    text => Ok(Some(action(text))),
                }),
            };
            assert!(reply.is_empty() || reply.ends_with("\n\n"), "{command}");
            let reply = reply.strip_suffix("\n\n").unwrap_or(&reply).replace('\n', "/");
            assert_eq!(reply.trim_end(), wanted, "{command}");
        }
    }
}

#[test]
fn a_controller_sets_the_time() {
    let (_, dialect) = dialects().find(|(_, dialect)| dialect.serve.is_some()).unwrap();
    let mut server = dialect.serve.unwrap()(&json!({"size": 3}), None).unwrap();
    for (line, wanted) in [
        ("", None),
        ("time_settings 60 0 0", Some(60_000)),
        ("time_left black 7 0", Some(7000)),
        ("time_left white 9 0", Some(7000)),
        ("time_settings 0 10 5", Some(2000)),
        ("time_settings 0 1 0", None),
    ] {
        server.command(line, "agent");
        let ServerStep::Move(request) = server.command("genmove black", "agent") else { panic!() };
        assert_eq!(request.left_ms, wanted, "{line}");
    }
}
