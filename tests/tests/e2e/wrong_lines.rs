//! Lines that an agent shouldn't write: the fault of each, and the advice that `check`, `play` and `debug`
//! print. The match is a state machine, so no process runs. The snapshots are read by a person whenever they
//! change.

use referee_games::{AnyGame, Games, Turn, kind};
use referee_match::diagnosis::{Evidence, Stage, find};
use referee_match::transcript::Recorder;
use referee_match::{Effect, Input, Match, Reading, header};
use referee_protocol::{Nanos, OnFault, Seat};
use std::fmt::Write;

/// A correct `ready`.
const READY: &str = r#"{"type":"ready"}"#;
/// The first legal action.
const LEGAL: &str = "legal";

/// What an agent says instead of `ready`.
const AT_THE_START: &[(&str, &[&str])] = &[
    ("prints its name first", &["MyBot 1.0 (c) 2026"]),
    ("sends an action instead", &[r#"{"type":"action","action":{"type":"place","at":[0,0]}}"#]),
    ("answers hello twice", &[READY, READY]),
    ("sends hello back", &[r#"{"type":"hello","protocol":1}"#]),
    ("sends a field that ready doesn't have", &[r#"{"type":"ready","author":"me"}"#]),
    ("misspells a field", &[r#"{"type":"ready","nmae":"x"}"#]),
    ("wants something that doesn't exist", &[r#"{"type":"ready","want":["moves"]}"#]),
    ("gives want as one text", &[r#"{"type":"ready","want":"actions"}"#]),
    ("writes the type with a capital letter", &[r#"{"type":"Ready"}"#]),
    ("answers with a version of the protocol", &[r#"{"type":"ready","protocol":2}"#]),
    ("sends info before its turn", &[READY, r#"{"type":"info"}"#]),
];

/// What an agent says in its first turn of Hex. `ACTION` is a legal action, `MANY` a hundred brackets.
const IN_A_TURN: &[(&str, &str)] = &[
    // Not JSON.
    ("prints debug text", "playing {'at': [0, 0], 'type': 'place'}"),
    ("writes its move as text", "\"a1\""),
    ("writes a number", "42"),
    ("writes a list", r#"["action",ACTION]"#),
    ("prints a Python dictionary", "{'type': 'action', 'action': {'type': 'place', 'at': [0, 0]}}"),
    ("writes None instead of null", r#"{"type": "info", "score": None}"#),
    ("writes NaN", r#"{"type":"info","score":NaN}"#),
    ("writes Infinity", r#"{"type":"info","score":-Infinity}"#),
    ("writes keys without quotes", "{type: \"action\"}"),
    ("leaves a comma before the brace", r#"{"type":"action","action":ACTION,}"#),
    ("leaves out the last brace", r#"{"type":"action","action":ACTION"#),
    ("writes a message on several lines", "{"),
    ("writes a comment", r#"{"type":"action","action":ACTION} // best"#),
    ("writes two messages on one line", r#"{"type":"info"}{"type":"action","action":ACTION}"#),
    ("writes a NUL after its message", "{\"type\":\"action\",\"action\":ACTION}\0"),
    ("writes a tab inside a string", "{\"type\":\"info\",\"text\":\"a\tb\"}"),
    ("begins with a byte-order mark", "\u{feff}{\"type\":\"action\",\"action\":ACTION}"),
    ("writes terminal colours", "\u{1b}[32m{\"type\":\"action\",\"action\":ACTION}\u{1b}[0m"),
    ("writes a key twice", r#"{"type":"action","type":"action","action":ACTION}"#),
    ("nests deeply", r#"{"type":"info","tree":MANY}"#),
    ("writes a large number", r#"{"type":"action","action":{"type":"place","at":[1e400,0]}}"#),
    // Not a message.
    ("writes an empty object", "{}"),
    ("leaves out the type", r#"{"action":ACTION}"#),
    ("leaves out the action", r#"{"type":"action","turn":0}"#),
    ("sends the action as the message", "ACTION"),
    ("calls its answer a move", r#"{"type":"move","action":ACTION}"#),
    ("writes the type with a capital letter", r#"{"type":"Action","action":ACTION}"#),
    ("adds a field to its action", r#"{"type":"action","action":ACTION,"score":1}"#),
    ("writes the turn number as text", r#"{"type":"action","turn":"0","action":ACTION}"#),
    ("numbers another turn", r#"{"type":"action","turn":2,"action":ACTION}"#),
    ("resigns", r#"{"type":"resign"}"#),
    // Not an action.
    ("sends null as its action", r#"{"type":"action","action":null}"#),
    ("sends the index of its action", r#"{"type":"action","action":0}"#),
    ("sends the action as text", r#"{"type":"action","action":"{\"type\":\"place\"}"}"#),
    ("sends the notation that people type", r#"{"type":"action","action":"a1"}"#),
    ("sends several actions", r#"{"type":"action","action":[ACTION,ACTION]}"#),
    ("nests the action twice", r#"{"type":"action","action":{"action":ACTION}}"#),
    ("sends an unknown action", r#"{"type":"action","action":{"type":"grow"}}"#),
    (
        "sends an action of another game",
        r#"{"type":"action","action":{"type":"move","path":[4,15]}}"#,
    ),
    ("writes x and y", r#"{"type":"action","action":{"type":"place","x":0,"y":0}}"#),
    ("writes coordinates as text", r#"{"type":"action","action":{"type":"place","at":["0","0"]}}"#),
    ("writes fractions", r#"{"type":"action","action":{"type":"place","at":[0.5,0.5]}}"#),
    ("writes three coordinates", r#"{"type":"action","action":{"type":"place","at":[0,0,0]}}"#),
];

/// Lines that are not UTF-8, or longer than `limits.line_bytes`, whose beginning the match gets.
const BYTES: &[(&str, &[u8], bool)] = &[
    ("writes Latin-1", b"{\"type\":\"info\",\"text\":\"Zo\xeb\"}", false),
    ("writes UTF-16", b"\xff\xfe{\0\"\0t\0y\0p\0e\0\"\0", false),
    ("writes its whole search tree in a line", b"{\"type\":\"info\",\"tree\":[[0", true),
];

/// Added to a seat that speaks before it is asked.
const UNASKED: u8 = 100;

/// A game, its setup, and what the seats say. An action stands for a message with it.
type Conversation = (&'static str, &'static str, &'static str, &'static [(u8, &'static str)]);

/// Actions that are not legal, and lines out of turn.
const OUT_OF_PLACE: &[Conversation] = &[
    ("sends info after its action", "hex", "{}", &[(0, LEGAL), (0, r#"{"type":"info"}"#)]),
    ("answers before it is asked", "hex", "{}", &[(1, r#"{"type":"place","at":[0,0]}"#)]),
    ("answers twice", "hex", "{}", &[(0, LEGAL), (0, r#"{"type":"place","at":[1,1]}"#)]),
    (
        "answers twice when it is asked again at once",
        "peg-solitaire",
        "{}",
        &[(0, LEGAL), (UNASKED, LEGAL)],
    ),
    (
        "counts its own turns",
        "hex",
        "{}",
        &[
            (0, LEGAL),
            (1, LEGAL),
            (0, r#"{"type":"action","turn":1,"action":{"type":"place","at":[2,2]}}"#),
        ],
    ),
    ("counts rows and columns from one", "hex", "{}", &[(0, r#"{"type":"place","at":[11,11]}"#)]),
    (
        "plays on a cell again that it took",
        "hex",
        "{}",
        &[(0, r#"{"type":"place","at":[5,5]}"#), (1, LEGAL), (0, r#"{"type":"place","at":[5,5]}"#)],
    ),
    ("swaps in every setup", "hex", "{}", &[(0, LEGAL), (1, r#"{"type":"swap"}"#)]),
    (
        "forgets what the others play",
        "hex",
        r#"{"size":3}"#,
        &[(0, LEGAL), (1, r#"{"type":"place","at":[0,0]}"#)],
    ),
    (
        "moves the pieces of the first seat",
        "chexers",
        "{}",
        &[(0, LEGAL), (1, r#"{"type":"move","from":[-3,0],"to":[-2,0]}"#)],
    ),
    ("passes when it may not", "chexers", "{}", &[(0, r#"{"type":"pass"}"#)]),
    (
        "jumps on an occupied position",
        "chinese-checkers",
        "{}",
        &[(0, r#"{"type":"move","path":[4,7]}"#)],
    ),
    (
        "jumps with a peg that is gone",
        "peg-solitaire",
        "{}",
        &[(0, r#"{"type":"jump","from":[0,0],"to":[2,0]}"#)],
    ),
    (
        "writes directions in lower case",
        "freckers",
        "{}",
        &[(0, r#"{"type":"move","from":[0,1],"directions":["down"]}"#)],
    ),
    (
        "moves backwards",
        "freckers",
        "{}",
        &[(0, LEGAL), (1, r#"{"type":"move","from":[7,1],"directions":["DOWN"]}"#)],
    ),
];

/// A match in which the first fault ends everything.
struct Judged {
    state: Match,
    effects: Vec<Effect>,
    /// The turn in which a seat was asked last.
    asked: Option<u64>,
    /// How many actions were played.
    played: usize,
}

impl Judged {
    fn begin(game: &str, setup: &str) -> Self {
        let game = kind(game).unwrap().start(&serde_json::from_str(setup).unwrap()).unwrap();
        let mut header = header(game.as_ref());
        header.on_fault = OnFault::End;
        let (state, effects) = Match::begin(game, header);
        Self { state, effects, asked: None, played: 0 }
    }

    /// All seats but the first are ready.
    fn others_are_ready(&mut self) {
        for seat in Seat::all(self.state.game().seats()).skip(1) {
            self.line(seat, READY.as_bytes(), false);
        }
    }

    fn step(&mut self, input: Input<'_>) {
        self.state.step(Nanos(0), input, &mut self.effects);
        if self.effects.contains(&Effect::MeasureMemory) {
            let unknown = Input::PeakMemory(Vec::new());
            self.state.step(Nanos(0), unknown, &mut self.effects);
        }
    }

    fn line(&mut self, seat: Seat, line: &[u8], cut: bool) {
        let reading = Reading::default();
        self.step(Input::Line { seat, line, cut, reading, meaning: None });
        if matches!(self.effects.last(), Some(Effect::MeasureMemory)) {
            self.step(Input::PeakMemory(vec![None; self.state.game().seats()]));
        }
    }

    /// Asks the seat if it is its turn, and has it say this line.
    fn say(&mut self, seat: Seat, line: &[u8], cut: bool) -> String {
        let (turn, game) = (self.state.game().turn_number(), self.state.game().clone_box());
        if self.state.game().turn() == Turn::Of(seat) && self.asked != Some(turn) {
            self.asked = Some(turn);
            self.step(Input::Asked(seat, Reading::default()));
        }
        self.line(seat, line, cut);
        let shown = self.fault(line, Some(&*game));
        self.played += 1;
        shown
    }

    /// Returns the fault, if there is one, and the advice.
    fn fault(&self, line: &[u8], game: Option<&dyn AnyGame>) -> String {
        let ended = self.effects.iter().find_map(|effect| match effect {
            Effect::Finish(ending) => Some(&ending.verdict),
            _ => None,
        });
        let faults = ended.into_iter().flat_map(|it| &it.seats).filter_map(|it| it.fault.as_ref());
        let mut text = String::new();
        for fault in faults {
            let stage = if game.is_some() { Stage::after(true, self.played) } else { Stage::Start };
            let mut recorder = Recorder::new();
            for effect in &self.effects {
                if let Effect::Record(event) = effect {
                    recorder.record(event);
                }
            }
            let (transcript, games) = (recorder.take(), Games::default());
            let transcript = Some((transcript.as_slice(), &games));
            let known =
                Evidence { got: Some(line), game, stage, transcript, ..Evidence::default() };
            writeln!(text, "  {}: {}", fault.kind.name(), fault.text).unwrap();
            let finding = find(fault, &known);
            if let Some(more) = finding.what.strip_prefix(&format!("{}; ", fault.text)) {
                writeln!(text, "  cause: {more}").unwrap();
            }
            writeln!(text, "  fix: {}", finding.fix).unwrap();
        }
        text
    }
}

#[test]
fn at_the_start() {
    let mut text = String::new();
    for (what, lines) in AT_THE_START {
        let mut judged = Judged::begin("hex", r#"{"size":3}"#);
        lines.iter().for_each(|line| judged.line(Seat(0), line.as_bytes(), false));
        judged.others_are_ready();
        let shown = judged.fault(lines.last().unwrap().as_bytes(), None);
        writeln!(text, "{what}\n{shown}").unwrap();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn in_a_turn() {
    let mut text = String::new();
    let many = "[".repeat(100) + &"]".repeat(100);
    let action = r#"{"at":[0,0],"type":"place"}"#;
    let lines = IN_A_TURN.iter().map(|(what, line)| {
        (*what, line.replace("ACTION", action).replace("MANY", &many).into_bytes(), false)
    });
    let bytes = BYTES.iter().map(|(what, line, cut)| (*what, line.to_vec(), *cut));
    for (what, line, cut) in lines.chain(bytes) {
        let mut judged = Judged::begin("hex", r#"{"size":3}"#);
        judged.line(Seat(0), READY.as_bytes(), false);
        judged.others_are_ready();
        let shown = judged.say(Seat(0), &line, cut);
        writeln!(text, "{what}\n{shown}").unwrap();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn out_of_place() {
    let mut text = String::new();
    for (what, game, setup, said) in OUT_OF_PLACE {
        let mut judged = Judged::begin(game, setup);
        judged.line(Seat(0), READY.as_bytes(), false);
        judged.others_are_ready();
        let mut shown = String::new();
        for &(seat, what) in *said {
            let action = match what {
                LEGAL => judged.state.game().actions()[0].to_string(),
                action => action.to_owned(),
            };
            let is_message =
                ["action", "info"].iter().any(|it| what.contains(&format!("\"{it}\"")));
            let message = format!("{{\"type\":\"action\",\"action\":{action}}}");
            let line = if is_message { action } else { message };
            shown = match seat.checked_sub(UNASKED) {
                None => judged.say(Seat(seat), line.as_bytes(), false),
                Some(seat) => {
                    judged.line(Seat(seat), line.as_bytes(), false);
                    let game = judged.state.game().clone_box();
                    judged.fault(line.as_bytes(), Some(&*game))
                }
            };
        }
        writeln!(text, "{what}\n{shown}").unwrap();
    }
    insta::assert_snapshot!(text);
}
