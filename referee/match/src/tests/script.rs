//! Scripts of a match: what happens, a line each, and a log of what the match makes of it.
//!
//! ```text
//! hex {"size":3}                             the game and its setup
//! clock {"bank_ms":100,"increment_ms":0}     optional, as are `limits {..}`, `on_fault end`,
//!                                            `adjudication {..}` and `pondering measure`
//! 0ms * {"type":"ready"}                     every seat says this
//! 1ms 0 asked                                seat 0's request is written
//! 40ms+1ns 0 {"type":"action",..}            a line from seat 0
//! 90ms - tick [lag 5ms]                      no seat's doing, and the machine's state
//! ```

use crate::{Effect, Input, Match, Reading, header};
use referee_games::kind;
use referee_protocol::{Event, FaultKind, Nanos, OnFault, Seat, ToAgent};
use serde_json::Value;
use std::fmt::Write as _;

/// Returns the log of a script.
pub(super) fn run(script: &str) -> String {
    let mut lines = script.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    let (game, setup) = lines.next().and_then(|line| line.split_once(' ')).expect("game and setup");
    let kind = if game == "sums" { super::sums::kind() } else { kind(game).expect("a game") };
    let mut header = header(kind.start(&serde_json::from_str(setup).unwrap()).unwrap().as_ref());
    header.seed = 7;
    let mut log = format!("{game} {setup}\n");
    while let Some(line) =
        lines.next_if(|line| !line.starts_with(|start: char| start.is_ascii_digit()))
    {
        writeln!(log, "{line}").unwrap();
        match line.split_once(' ').expect("a setting") {
            ("clock", settings) => header.clock = serde_json::from_str(settings).unwrap(),
            ("limits", settings) => header.limits = serde_json::from_str(settings).unwrap(),
            ("adjudication", rules) => {
                header.adjudication = Some(serde_json::from_str(rules).unwrap());
            }
            ("on_fault", "end") => header.on_fault = OnFault::End,
            ("pondering", name) => header.sandbox.pondering = Some(name.parse().unwrap()),
            _ => panic!("no setting: {line}"),
        }
    }
    header.clock.check().unwrap();
    let game = kind.start(&header.setup).unwrap();
    let (state, greetings) = Match::begin(game, header);
    let mut player = Player { state, log, recorded_over: None };
    player.effects(&greetings);
    player.wake();
    for line in lines {
        player.line(line);
    }
    player.log
}

struct Player {
    state: Match,
    log: String,
    /// The message that the recorded end makes.
    recorded_over: Option<Value>,
}

impl Player {
    fn line(&mut self, line: &str) {
        writeln!(self.log, "{line}").unwrap();
        let mut words = line.splitn(3, ' ');
        let (at, seats, what) = (words.next(), words.next(), words.next());
        let (at, seats, what) =
            (time(at.unwrap()), seats.expect("a seat"), what.expect("an input"));
        let (what, reading) = reading(what);
        if seats == "*" {
            for seat in Seat::all(self.state.game().seats()) {
                self.step(at, Some(seat), what, reading);
            }
        } else {
            self.step(at, seats.parse().ok().map(Seat), what, reading);
        }
        self.wake();
    }

    fn step(&mut self, at: Nanos, seat: Option<Seat>, what: &str, reading: Reading) {
        let mut effects = Vec::new();
        self.state.step(at, input(seat, what, reading), &mut effects);
        if let Some(at_end) = effects.iter().position(|it| *it == Effect::MeasureMemory) {
            effects.remove(at_end);
            self.state.step(at, Input::PeakMemory(Vec::new()), &mut effects);
        }
        self.effects(&effects);
    }

    fn wake(&mut self) {
        if let Some(at) = self.state.wake_at() {
            let (ms, ns) = (at.ms_down(), at.0 % 1_000_000);
            let rest = if ns == 0 { String::new() } else { format!("+{ns}ns") };
            writeln!(self.log, "    wake at {ms}ms{rest}").unwrap();
        }
    }

    fn effects(&mut self, effects: &[Effect]) {
        for effect in effects {
            let text = self.effect(effect);
            writeln!(self.log, "    {text}").unwrap();
        }
    }

    fn effect(&mut self, effect: &Effect) -> String {
        match effect {
            // Its fields are those of the header.
            Effect::Send(seat, ToAgent::Hello(_)) => format!("send {seat} hello"),
            Effect::Send(seat, message) => format!("send {seat} {}", json(message)),
            Effect::Broadcast(ToAgent::Over(over)) => {
                let same = self.recorded_over == Some(value(over));
                let text = if same { "as recorded".to_owned() } else { json(over) };
                format!("all over {text}")
            }
            Effect::Broadcast(message) => format!("all {}", json(message)),
            Effect::Ask(seat, turn) => format!("ask {seat} {}", json(turn)),
            Effect::Record(Event::Header(header)) => {
                let ready: Vec<_> = header.seats.iter().map(|seat| &seat.ready).collect();
                format!("record header, ready {}", json(&ready))
            }
            Effect::Record(Event::Over(over)) => {
                let mut message = value(over);
                message.as_object_mut().unwrap().remove("at_ns");
                if let Some(void) = message["verdict"]["void"].as_object_mut() {
                    void.remove("seat");
                }
                self.recorded_over = Some(message);
                format!("record over {}", json(over))
            }
            Effect::Record(event) => format!("record {}", json(event)),
            Effect::Kill(seat) => format!("kill {seat}"),
            Effect::MeasureMemory => unreachable!("it is answered at once"),
            Effect::Finish(ending) => {
                let verdict = &ending.verdict;
                let result = json(&verdict.result);
                let places = json(&verdict.places);
                format!("finish {result} {:?} places {places}", verdict.reason)
            }
        }
    }
}

fn value(message: &impl serde::Serialize) -> Value {
    serde_json::to_value(message).unwrap()
}

fn json(message: &impl serde::Serialize) -> String {
    serde_json::to_string(message).unwrap()
}

/// `40ms`, `7ns` or `40ms+7ns`.
fn time(text: &str) -> Nanos {
    let part = |text: &str| {
        if let Some(ms) = text.strip_suffix("ms") {
            return Nanos::from_ms(ms.parse().expect("milliseconds"));
        }
        let ns = text.strip_suffix("ns").unwrap_or_else(|| panic!("no time: {text}"));
        Nanos(ns.parse().expect("nanoseconds"))
    };
    text.split('+').map(part).fold(Nanos(0), Nanos::plus)
}

/// Takes `[cpu 5ms wait 1ms lag 3ms]` off the end.
fn reading(what: &str) -> (&str, Reading) {
    let mut reading = Reading::default();
    let Some((before, numbers)) = what.strip_suffix(']').and_then(|what| what.rsplit_once(" ["))
    else {
        return (what, reading);
    };
    let words: Vec<&str> = numbers.split(' ').collect();
    for pair in words.chunks(2) {
        match pair {
            ["cpu", span] => reading.cpu = Some(time(span)),
            ["wait", span] => reading.wait = Some(time(span)),
            ["lag", span] => reading.lag = time(span),
            // It was the end of a line.
            _ => return (what, Reading::default()),
        }
    }
    (before, reading)
}

fn input(seat: Option<Seat>, what: &str, reading: Reading) -> Input<'_> {
    let (word, rest) = what.split_once(' ').unwrap_or((what, ""));
    let Some(seat) = seat else {
        return match word {
            "tick" => Input::Tick(reading),
            "disk_full" => Input::Stop { cause: "disk_full", text: rest.to_owned(), seat: None },
            _ => panic!("no seat does `{what}`"),
        };
    };
    let said = |line, cut| Input::Line { seat, line, cut, reading, meaning: None };
    let fault = |kind| Input::Fault(seat, kind, rest.to_owned(), reading);
    match word {
        "asked" => Input::Asked(seat, reading),
        "ran" => Input::RanFrozen(seat, Nanos::from_ms(rest.parse().unwrap())),
        "closed" => Input::StdoutClosed(seat, reading),
        "deaf" => Input::StdinClosed(seat, reading),
        "exited" => Input::Exited { seat, status: rest.to_owned(), late: false, reading },
        "not_started" => fault(FaultKind::Start),
        "memory" => fault(FaultKind::Memory),
        "processes" => fault(FaultKind::Processes),
        "cut" => said(rest.as_bytes(), true),
        "blank" => said(b" \t", false),
        "bytes" => said(b"{\"type\":\"\xff\\\"}", false),
        _ => said(what.as_bytes(), false),
    }
}
