//! Transcripts of small matches.

use flate2::{Compression, write::GzEncoder};
use referee_games::{Decoded, Dialect, Turn, kind};
use referee_match::transcript::Recorder;
use referee_match::{Effect, Input, Match, Reading, header, id_of};
use referee_protocol::{
    Adjudication, ClockKind, Event, FaultKind, Header, LineProtocol, Nanos, OnFault, Pondering,
    Seat, StderrEvent, ToAgent, WinAdjudication,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::io::Write as _;

/// A match that is being played. Its actions are picked from the legal ones by a fixed rule.
pub(crate) struct Scribe {
    state: Match,
    events: Vec<Event>,
    at_ns: u64,
    /// The codec of an agent that has one, and its commands.
    codec: Option<(Seat, Box<dyn Dialect>)>,
}

/// The CPU time of every turn.
const CPU_NS: u64 = 345_678;
/// The bank of the default clock.
const BANK_NS: u64 = 60_000_000_000;

impl Scribe {
    /// Begins a match, in which each seat says `ready`, except one that never starts.
    fn new(game: &str, setup: &Value, change: impl Fn(&mut Header)) -> Self {
        let game = kind(game).expect("a game").start(setup).expect("a good setup");
        let mut header = header(game.as_ref());
        (header.seed, header.clock.increment_ms) = (7, 0);
        assert_eq!(header.clock.bank_ms, Some(BANK_NS / 1_000_000));
        change(&mut header);
        header.match_id = id_of(&header);
        let spoken = header.seats.iter().find_map(|seat| Some((seat.seat, seat.protocol.clone()?)));
        let codec = spoken.map(|(seat, spoken)| {
            let dialect = game.kind().dialect(&spoken.name).expect("a codec");
            (seat, dialect.begin(&spoken).expect("good settings"))
        });
        let (state, effects) = Match::begin(game, header);
        let mut scribe = Self { state, events: Vec::new(), at_ns: 0, codec };
        for effect in effects {
            scribe.carry_out(effect);
        }
        scribe
    }

    /// All seats say that they are ready.
    fn ready(mut self) -> Self {
        for seat in Seat::all(self.state.header().seats.len()) {
            match &self.codec {
                Some((spoken, _)) if *spoken == seat => self.reply(""),
                _ => {
                    self.line(seat, r#"{"type":"ready","version":"1.2 \"ü\"","want":["actions"]}"#);
                }
            }
        }
        self
    }

    /// Plays up to `turns` turns.
    fn play(self, turns: u64) -> Self {
        (0..turns).fold(self, |scribe, _| scribe.play_with(&[]))
    }

    /// Plays a turn, if there is one, after these lines.
    fn play_with(mut self, lines: &[&str]) -> Self {
        let Turn::Of(seat) = self.state.game().turn() else { return self };
        self.ask();
        for line in lines {
            self.line(seat, line);
        }
        self.play_asked()
    }

    /// The seat that was asked plays.
    fn play_asked(mut self) -> Self {
        let Turn::Of(seat) = self.state.game().turn() else { panic!("the game is over") };
        let turn = self.state.game().turn_number();
        let actions = self.state.game().actions();
        let action = &actions[usize::try_from(turn * 7 + 3).expect("small") % actions.len()];
        self.line(seat, &json!({"type": "action", "turn": turn, "action": action}).to_string());
        self
    }

    /// The next seat is asked; returns the turn.
    fn ask(&mut self) -> u64 {
        let Turn::Of(seat) = self.state.game().turn() else { panic!("the game is over") };
        let turn = self.state.game().turn_number();
        let cpu = Some(Nanos(0));
        self.step(Input::Asked(seat, Reading { cpu, ..Reading::default() }));
        if turn == 1 {
            let text = "gr\u{fc}bel\n\t\u{1}\"".to_owned();
            let (at_ns, turn) = (self.at_ns, self.state.game().turn_number());
            self.events.push(Event::Stderr(StderrEvent {
                at_ns,
                seat,
                turn,
                text,
                dropped_bytes: 0,
            }));
        }
        turn
    }

    /// The next seat is asked, and answers with this line.
    fn answer(mut self, line: &str) -> Self {
        self.ask();
        let Turn::Of(seat) = self.state.game().turn() else { panic!("the game is over") };
        self.line(seat, line);
        self
    }

    fn say(mut self, seat: u8, line: &str) -> Self {
        self.line(Seat(seat), line);
        self
    }

    fn line(&mut self, seat: Seat, line: &str) {
        self.bytes(seat, line.as_bytes(), None);
    }

    fn bytes(&mut self, seat: Seat, line: &[u8], meaning: Option<Decoded>) {
        let cut = line.len() > 1000;
        let reading = Reading { cpu: Some(Nanos(CPU_NS)), ..Reading::default() };
        self.step(Input::Line { seat, line, cut, reading, meaning });
    }

    /// The engine answers all commands with success, and the last one with this text.
    fn reply(&mut self, last: &str) {
        loop {
            let (seat, codec) = self.codec.as_mut().expect("an engine");
            let (seat, mut commands) = (*seat, Vec::new());
            codec.take_output(&mut commands);
            let commands = String::from_utf8(commands).expect("text");
            let Some(command) = commands.lines().last() else { return };
            let text = if command.starts_with("genmove") { last } else { "" };
            for line in [format!("= {text}"), String::new()] {
                let codec = &mut self.codec.as_mut().expect("an engine").1;
                let meaning = Some(codec.on_line(line.as_bytes()));
                self.bytes(seat, line.as_bytes(), meaning);
            }
        }
    }

    /// The driver sees a fault.
    fn fail(mut self, seat: u8, kind: FaultKind) -> Self {
        let text = "it failed".to_owned();
        self.step(Input::Fault(Seat(seat), kind, text, Reading::default()));
        self
    }

    /// The seat that is asked next doesn't answer in time.
    fn run_late(mut self) -> Self {
        self.ask();
        self.at_ns += BANK_NS;
        self.step(Input::Tick(Reading::default()));
        self
    }

    fn step(&mut self, input: Input<'_>) {
        self.at_ns += 1_000_003;
        let mut effects = Vec::new();
        self.state.step(Nanos(self.at_ns), input, &mut effects);
        if effects.contains(&Effect::MeasureMemory) {
            self.state.step(Nanos(self.at_ns), Input::PeakMemory(Vec::new()), &mut effects);
        }
        for effect in effects {
            self.carry_out(effect);
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        let mut tell = |to: Option<Seat>, message: &ToAgent| {
            if let Some((seat, codec)) = &mut self.codec
                && to.is_none_or(|to| to == *seat)
            {
                codec.on_message(message);
            }
        };
        match effect {
            Effect::Send(seat, message) => tell(Some(seat), &message),
            Effect::Broadcast(message) => tell(None, &message),
            Effect::Ask(seat, turn) => tell(Some(seat), &ToAgent::Turn(turn)),
            Effect::Record(event) => self.events.push(event),
            Effect::Kill(_) | Effect::MeasureMemory | Effect::Finish(_) => {}
        }
    }

    /// The process of a seat exits.
    fn exit(mut self, seat: u8, status: &str) -> Self {
        let (seat, status, reading) = (Seat(seat), status.to_owned(), Reading::default());
        self.step(Input::Exited { seat, status, late: false, reading });
        self
    }

    /// The events of a match that is over, with the end of a process.
    fn events(self) -> Vec<Event> {
        self.exit(0, "exit status 0").ended()
    }

    /// The events of a match that is over.
    fn ended(self) -> Vec<Event> {
        assert!(self.events.iter().any(|event| matches!(event, Event::Over(_))), "not over");
        self.events
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

fn hex(change: impl Fn(&mut Header)) -> Scribe {
    Scribe::new("hex", &json!({"size": 3}), change)
}

fn chexers(change: impl Fn(&mut Header)) -> Scribe {
    Scribe::new("chexers", &json!({}), change)
}

fn unchanged(_: &mut Header) {}

/// A whole game of hex on 3x3, with a swap rule on the table.
pub(crate) fn hex_played() -> Vec<Event> {
    Scribe::new("hex", &json!({"size": 3, "swap": "pieces"}), unchanged).ready().play(99).events()
}

/// A game of hex in which the second player is late after three turns.
fn hex_late() -> Vec<Event> {
    hex(unchanged).ready().play(3).run_late().events()
}

/// A game of hex in which the first player has used too much CPU time.
fn hex_late_cpu() -> Vec<Event> {
    let mut scribe = hex(|header| header.clock.kind = ClockKind::Cpu).ready().play(2);
    scribe.ask();
    scribe.at_ns += BANK_NS;
    let cpu = Some(Nanos(BANK_NS + 1));
    scribe.step(Input::Tick(Reading { cpu, ..Reading::default() }));
    scribe.events()
}

/// A game of hex in which the first player exits in its second turn.
fn hex_exited() -> Vec<Event> {
    let mut scribe = hex(unchanged).ready().play(2);
    scribe.ask();
    scribe.exit(0, "signal 9 (SIGKILL)").ended()
}

/// Three seats, the second of which exits when the first is thinking.
fn exited_between() -> Vec<Event> {
    let mut scribe = chexers(unchanged).ready();
    scribe.ask();
    let mut scribe = scribe.exit(1, "exit status 1").play_asked();
    scribe.ask();
    scribe.answer(r#"{"type":"resign"}"#).events()
}

/// A game of hex that the machine ended.
pub(crate) fn hex_void() -> Vec<Event> {
    let mut scribe = hex(unchanged).ready().play(2);
    let text = "the machine failed".to_owned();
    scribe.step(Input::Stop { cause: "disk_full", text, seat: None });
    scribe.events()
}

/// A game of hex that ends in turn 2, since both agents say that the first wins.
fn hex_adjudicated() -> Vec<Event> {
    let scored = |header: &mut Header| {
        let win = Some(WinAdjudication { score: 1.0, turns: 1 });
        header.adjudication = Some(Adjudication { win, draw: None });
    };
    let mut scribe = hex(scored).ready().play(1);
    for score in [-1.0, 1.0] {
        let info = json!({"type": "info", "score": score}).to_string();
        scribe = scribe.play_with(&[r#"{"type":"info","score":0}"#, &info]);
    }
    scribe.events()
}

/// A game of hex in which an agent is out in turn 2, because of this line.
fn hex_answered(line: &str) -> Vec<Event> {
    hex(|header| header.limits.line_bytes = 1000).ready().play(2).answer(line).events()
}

/// A game of hex in which an agent writes too many blank lines in turn 2.
fn hex_blank() -> Vec<Event> {
    let scribe = hex(|header| header.limits.turn_bytes = 900).ready().play(2);
    scribe.answer(&" ".repeat(800)).say(0, "\t\t").say(0, &" ".repeat(97)).events()
}

/// A game of hex in which an agent has too much memory in turn 2.
fn hex_memory() -> Vec<Event> {
    let mut scribe = hex(unchanged).ready().play(2);
    scribe.ask();
    scribe.fail(0, FaultKind::Memory).events()
}

/// A game of hex that ends with a line that isn't text.
fn hex_no_text() -> Vec<Event> {
    let mut scribe = hex(unchanged).ready().play(3);
    scribe.ask();
    scribe.bytes(Seat(1), b"\xff\\ {\"type\":\"seal\",\"lines\":1}", None);
    scribe.events()
}

/// A game of hex in which an agent answers in HTP: it plays `a3`, then resigns.
fn hex_htp() -> Vec<Event> {
    let mut scribe = hex(|header| {
        header.seats[0].protocol = Some(LineProtocol { name: "htp".to_owned(), ..<_>::default() });
    })
    .ready();
    scribe.ask();
    scribe.reply("C1");
    let mut scribe = scribe.play(1);
    scribe.ask();
    scribe.reply("resign");
    scribe.events()
}

/// A game of hex in which an engine writes so many lines of one letter, which HTP ignores, before it resigns.
pub(crate) fn hex_short_lines(count: usize) -> Vec<Event> {
    let mut scribe = hex(|header| {
        header.seats[0].protocol = Some(LineProtocol { name: "htp".to_owned(), ..<_>::default() });
        header.limits.turn_bytes = 900;
    })
    .ready();
    scribe.ask();
    for _ in 0..count {
        let (seat, codec) = scribe.codec.as_mut().expect("an engine");
        let (seat, meaning) = (*seat, codec.on_line(b"x"));
        scribe.bytes(seat, b"x", Some(meaning));
    }
    scribe.reply("resign");
    scribe.events()
}

/// A game of hex in which what the agents use between their turns is charged.
fn hex_pondering() -> Vec<Event> {
    let mut scribe = hex(|header| header.sandbox.pondering = Some(Pondering::Freeze)).ready();
    for seat in [0, 1, 0] {
        scribe.step(Input::RanFrozen(Seat(seat), Nanos(5_000_000)));
        scribe = scribe.play(1);
    }
    scribe.run_late().events()
}

/// Three seats: one fails out of its turn, one resigns in it, the last wins.
pub(crate) fn last_seat() -> Vec<Event> {
    let scribe = chexers(unchanged).ready().play(2).fail(1, FaultKind::Gone).play(2);
    scribe.answer(r#"{"type":"resign"}"#).events()
}

/// Three seats, one of which never starts; the others play to the end.
fn retired() -> Vec<Event> {
    let scribe = Scribe::new("chexers", &json!({"turns_per_seat": 3}), unchanged);
    scribe.fail(0, FaultKind::Start).ready().play(99).events()
}

/// Three seats; the first fault ends the match, and is only in the verdict.
fn ended() -> Vec<Event> {
    let ends = |header: &mut Header| header.on_fault = OnFault::End;
    chexers(ends).ready().play(4).answer(r#"{"type":"action","action":{"type":"pass"}}"#).events()
}

/// Three seats, of which one speaks out of turn and one too much at the start.
fn interrupted() -> Vec<Event> {
    let scribe = chexers(|header| header.limits.line_bytes = 1000);
    let scribe = scribe.say(2, &"x".repeat(1001)).ready().play(1);
    scribe.say(0, r#"{"type":"action","action":{"type":"pass"}}"#).events()
}

fn chinese_checkers() -> Vec<Event> {
    let scribe = Scribe::new("chinese-checkers", &json!({"seats": 6, "max_turns": 20}), unchanged);
    let scribe = scribe.ready().play(5).fail(3, FaultKind::Gone).play(8);
    scribe.fail(0, FaultKind::Memory).play(99).events()
}

fn puzzle() -> Vec<Event> {
    Scribe::new("checker-puzzle", &json!({"max_moves": 4}), unchanged).ready().play(99).events()
}

fn given_up() -> Vec<Event> {
    let scribe = Scribe::new("checker-puzzle", &json!({}), unchanged).ready().play(2);
    scribe.answer(r#"{"type":"resign"}"#).events()
}

/// Every sample, with a name.
pub(crate) fn all() -> Vec<(&'static str, Vec<Event>)> {
    vec![
        ("played", hex_played()),
        ("late", hex_late()),
        ("late_cpu", hex_late_cpu()),
        ("adjudicated", hex_adjudicated()),
        ("void", hex_void()),
        ("htp", hex_htp()),
        ("short_lines", hex_short_lines(14)),
        ("pondering", hex_pondering()),
        ("no_text", hex_no_text()),
        ("garbled", hex_answered("c4")),
        ("illegal", hex_answered(r#"{"type":"action","action":{"type":"place","at":[9,9]}}"#)),
        ("unasked", hex_answered(r#"{"type":"action","turn":1,"action":{"type":"swap"}}"#)),
        ("resigned", hex_answered(r#"{"type":"resign"}"#)),
        ("exited", hex_exited()),
        ("between", exited_between()),
        ("flood", hex_answered(&"x".repeat(1001))),
        ("blank", hex_blank()),
        ("memory", hex_memory()),
        ("last_seat", last_seat()),
        ("retired", retired()),
        ("ended", ended()),
        ("interrupted", interrupted()),
        ("chinese_checkers", chinese_checkers()),
        ("puzzle", puzzle()),
        ("given_up", given_up()),
    ]
}

/// The samples that are short enough to change each of their bytes in many ways.
pub(crate) fn short() -> Vec<(&'static str, Vec<Event>)> {
    vec![("void", hex_void()), ("last_seat", last_seat())]
}
