//! Transcripts of small matches, played by the games themselves.

use flate2::{Compression, write::GzEncoder};
use referee_games::{AnyGame, Turn, kind};
use referee_match::header;
use referee_match::transcript::Recorder;
use referee_protocol::{
    Adjudication, Event, ExitEvent, Fault, FaultKind, LateBy, LineEvent, OnFault, Outcome,
    OverEvent, PlayedEvent, Ready, Result as Ending, RetiredEvent, Seat, SeatVerdict, StderrEvent,
    TurnEvent, Verdict, VoidNote, WinAdjudication, escape_line,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::io::Write as _;

/// A match being written down. Its actions are picked from the legal ones by a fixed rule.
#[derive(Clone)]
pub(crate) struct Scribe {
    game: Box<dyn AnyGame>,
    events: Vec<Event>,
    faults: Vec<Option<Fault>>,
    /// The turns of each seat, and their time in nanoseconds.
    used: Vec<(u64, u64)>,
    at_ns: u64,
}

/// The CPU time of every turn.
const CPU_NS: u64 = 345_678;
/// The bank of the default clock.
const BANK_NS: u64 = 60_000_000_000;

impl Scribe {
    pub(crate) fn new(name: &str, setup: &Value, on_fault: OnFault) -> Self {
        let game = kind(name).expect("a game").start(setup).expect("a good setup");
        let mut header = header(game.as_ref());
        (header.on_fault, header.seed, header.clock.increment_ms) = (on_fault, 7, 0);
        for seat in &mut header.seats {
            let version = Some("1.2 \"\u{fc}\"".to_owned());
            seat.ready = Some(Ready { version, ..Ready::default() });
        }
        assert_eq!(header.clock.bank_ms, Some(BANK_NS / 1_000_000));
        let (faults, used) = (vec![None; game.seats()], vec![(0, 0); game.seats()]);
        let events = vec![Event::Header(Box::new(header))];
        Self { game, events, faults, used, at_ns: 0 }
    }

    /// Plays up to `turns` turns.
    pub(crate) fn play(mut self, turns: u64) -> Self {
        for _ in 0..turns {
            let Turn::Of(seat) = self.game.turn() else { break };
            let (turn, asked_at) = self.ask(seat);
            let mut actions = self.game.actions();
            let picked = usize::try_from(turn * 7 + 3).expect("small") % actions.len();
            let action = self.game.play(&actions.swap_remove(picked)).expect("a legal action");
            let answer = json!({"type": "action", "turn": turn, "action": action}).to_string();
            self.line(seat, answer.as_bytes());
            let wall_ns = self.at_ns - asked_at;
            let used = &mut self.used[seat.index()];
            *used = (used.0 + 1, used.1 + wall_ns);
            self.events.push(Event::Played(PlayedEvent {
                at_ns: self.at_ns,
                turn,
                seat,
                action: action.into(),
                used_ms: wall_ns.div_ceil(1_000_000),
                wall_ns,
                cpu_ns: Some(CPU_NS),
                wait_ns: None,
                lag_ns: 0,
                score: None,
            }));
        }
        self
    }

    /// The agent to move is asked, says something useless, and fails.
    pub(crate) fn fail(mut self, seat: u8, kind: FaultKind) -> Self {
        let seat = Seat(seat);
        let turn = self.game.turn_number();
        if self.game.turn() == Turn::Of(seat) {
            self.ask(seat);
        }
        if kind == FaultKind::Late {
            self.at_ns += BANK_NS;
        }
        self.line(seat, b"\xff\\ {\"type\":\"seal\",\"lines\":1}");
        let by = (kind == FaultKind::Late).then_some(LateBy::Wall);
        let fault = Fault { kind, by, turn, text: "it failed".to_owned(), legal: None };
        self.faults[seat.index()] = Some(fault.clone());
        let at_ns = self.at_ns;
        self.events.push(Event::Retired(RetiredEvent { at_ns, turn, seat, fault }));
        self
    }

    /// The same, and the others play on.
    pub(crate) fn retire(self, seat: u8, kind: FaultKind) -> Self {
        let mut scribe = self.fail(seat, kind);
        scribe.game.retire(Seat(seat));
        scribe
    }

    /// Ends by the rules; `places` as the test expects them.
    pub(crate) fn over_by_rules(self, places: &[u32]) -> Vec<Event> {
        let Turn::Over(outcome) = self.game.turn() else { panic!("still playing") };
        let reason = outcome.reason.clone();
        self.over(Some(outcome), Ending::Played, &reason, places)
    }

    /// Ends the match with this verdict.
    pub(crate) fn over(
        mut self,
        outcome: Option<Outcome>,
        result: Ending,
        reason: &str,
        places: &[u32],
    ) -> Vec<Event> {
        let is_void = result == Ending::Void;
        let void = is_void.then(|| VoidNote {
            cause: reason.to_owned(),
            text: "the machine failed".to_owned(),
            seat: None,
        });
        let all = Seat::all(self.faults.len()).zip(&self.faults).zip(&self.used);
        let seats = all.map(|((seat, fault), &(turns, used_ns))| {
            let used_ms = used_ns.div_ceil(1_000_000);
            let cpu_ms = (turns * CPU_NS).div_ceil(1_000_000);
            SeatVerdict { seat, used_ms, cpu_ms, peak_memory_kb: None, turns, fault: fault.clone() }
        });
        let verdict = Verdict {
            result,
            reason: reason.to_owned(),
            places: (!is_void).then(|| places.to_vec()),
            seats: seats.collect(),
            void,
        };
        let at_ns = self.at_ns;
        self.events.push(Event::Over(Box::new(OverEvent { at_ns, outcome, verdict })));
        let (at_ns, status) = (self.now(), "exit status 0".to_owned());
        self.events.push(Event::Exit(ExitEvent { at_ns, seat: Seat(0), status, late: false }));
        self.events
    }

    /// Asks a seat; returns the turn and the time.
    fn ask(&mut self, seat: Seat) -> (u64, u64) {
        let (asked_at, turn) = (self.now(), self.game.turn_number());
        let left_ms = Some((BANK_NS - self.used[seat.index()].1) / 1_000_000);
        let at_ns = asked_at;
        self.events.push(Event::Turn(TurnEvent { at_ns, turn, seat, left_ms, pondered_ns: 0 }));
        if turn == 1 {
            let (at_ns, text) = (self.now(), "gr\u{fc}bel\n\t\u{1}\"".to_owned());
            let stderr = StderrEvent { at_ns, seat, turn, text, dropped_bytes: 0 };
            self.events.push(Event::Stderr(stderr));
        }
        (turn, asked_at)
    }

    fn line(&mut self, seat: Seat, line: &[u8]) {
        let (line, escaped) = escape_line(line);
        let at_ns = self.now();
        self.events.push(Event::Line(LineEvent { at_ns, seat, line, escaped, cut: false }));
    }

    fn now(&mut self) -> u64 {
        self.at_ns += 1_000_003;
        self.at_ns
    }
}

/// The file of these events.
pub(crate) fn sealed(events: &[Event]) -> Vec<u8> {
    let mut recorder = Recorder::new();
    for event in events {
        recorder.record(event);
    }
    recorder.seal();
    recorder.take()
}

/// The file of these lines, for what no recorder would write.
pub(crate) fn sealed_lines(lines: &[String]) -> Vec<u8> {
    let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    let digest: Vec<String> =
        Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let digest = digest.concat();
    let count = lines.len();
    format!("{text}{{\"type\":\"seal\",\"lines\":{count},\"sha256\":\"{digest}\"}}\n").into_bytes()
}

/// The lines of a file, without its seal.
pub(crate) fn unsealed_lines(bytes: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(bytes).expect("text");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.pop();
    lines
}

pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory takes all bytes");
    encoder.finish().expect("memory takes all bytes")
}

/// A whole game of hex on 3x3, with a swap rule on the table.
pub(crate) fn hex_played() -> Vec<Event> {
    let scribe =
        Scribe::new("hex", &json!({"size": 3, "swap": "pieces"}), OnFault::Retire).play(99);
    let Turn::Over(outcome) = scribe.game.turn() else { panic!("hex ends") };
    let places = if outcome.places[0] == 1 { [1, 2] } else { [2, 1] };
    scribe.over_by_rules(&places)
}

/// A game of hex in which the second player fails after three turns.
pub(crate) fn hex_failed() -> Vec<Event> {
    let scribe = Scribe::new("hex", &json!({"size": 3}), OnFault::Retire).play(3);
    scribe.fail(1, FaultKind::Late).over(None, Ending::Fault, "late", &[1, 2])
}

/// A game of hex that the machine ended.
pub(crate) fn hex_void() -> Vec<Event> {
    let scribe = Scribe::new("hex", &json!({"size": 3}), OnFault::Retire).play(2);
    scribe.over(None, Ending::Void, "disk_full", &[])
}

/// A game of hex that ends in turn 2, since both agents say that the first wins.
pub(crate) fn hex_adjudicated() -> Vec<Event> {
    let scribe = Scribe::new("hex", &json!({"size": 3}), OnFault::Retire).play(3);
    let mut events = scribe.over(None, Ending::Adjudicated, "win", &[1, 2]);
    let mut scores = [1.5, -1.0, 1.0].into_iter();
    for event in &mut events {
        match event {
            Event::Header(header) => {
                let win = Some(WinAdjudication { score: 1.0, turns: 1 });
                header.adjudication = Some(Adjudication { win, draw: None });
            }
            // The first agent's score comes after the other's.
            Event::Played(played) => {
                played.score = scores.next().filter(|_| played.turn > 0);
            }
            _ => {}
        }
    }
    events
}

/// Three seats: one fails out of its turn, one resigns in it, the last wins.
pub(crate) fn last_seat() -> Vec<Event> {
    let scribe = Scribe::new("chexers", &json!({}), OnFault::Retire).play(2);
    let scribe = scribe.retire(1, FaultKind::Gone).play(2);
    scribe.fail(2, FaultKind::Resigned).over(None, Ending::Resigned, "last_seat", &[1, 3, 2])
}

/// Three seats, one of which never starts; the others play to the end.
pub(crate) fn retired() -> Vec<Event> {
    let setup = json!({"turns_per_seat": 3});
    let scribe = Scribe::new("chexers", &setup, OnFault::Retire);
    scribe.retire(0, FaultKind::Start).play(99).over_by_rules(&[3, 1, 1])
}

/// Three seats; the first fault ends the match, and is only in the verdict.
fn ended() -> Vec<Event> {
    let scribe = Scribe::new("chexers", &json!({}), OnFault::End).play(4);
    let scribe = scribe.fail(1, FaultKind::Illegal);
    let mut events = scribe.over(None, Ending::Fault, "illegal", &[1, 3, 1]);
    events.retain(|event| !matches!(event, Event::Retired(_)));
    events
}

fn chinese_checkers() -> Vec<Event> {
    let setup = json!({"seats": 6, "max_turns": 20});
    let scribe = Scribe::new("chinese-checkers", &setup, OnFault::Retire).play(5);
    let scribe = scribe.retire(3, FaultKind::Gone).play(8).retire(0, FaultKind::Memory);
    scribe.play(99).over_by_rules(&[5, 1, 1, 6, 1, 1])
}

fn puzzle() -> Vec<Event> {
    let setup = json!({"max_moves": 4});
    Scribe::new("checker-puzzle", &setup, OnFault::Retire).play(99).over_by_rules(&[2])
}

fn given_up() -> Vec<Event> {
    let scribe = Scribe::new("checker-puzzle", &json!({}), OnFault::Retire).play(2);
    scribe.fail(0, FaultKind::Resigned).over(None, Ending::Resigned, "resigned", &[2])
}

/// Every sample, with a name.
pub(crate) fn all() -> Vec<(&'static str, Vec<Event>)> {
    vec![
        ("played", hex_played()),
        ("failed", hex_failed()),
        ("adjudicated", hex_adjudicated()),
        ("void", hex_void()),
        ("last_seat", last_seat()),
        ("retired", retired()),
        ("ended", ended()),
        ("chinese_checkers", chinese_checkers()),
        ("puzzle", puzzle()),
        ("given_up", given_up()),
    ]
}

/// The samples that are short enough to change each of their bytes in many ways.
pub(crate) fn short() -> Vec<(&'static str, Vec<Event>)> {
    vec![("void", hex_void()), ("last_seat", last_seat())]
}
