//! The allocations of a turn: a match without processes, from the line of an agent to the transcript and
//! the messages in memory.

use crate::script::Script;
use referee_games::kind;
use referee_match::transcript::Recorder;
use referee_match::{Effect, Input, Match, Reading, header};
use referee_protocol::{Nanos, Seat};
use std::collections::VecDeque;
use std::error::Error;

/// How many turns are counted, after as many that fill the buffers.
const TURNS: usize = 1000;

/// Returns the number of allocations in a turn, and how many of them the rules alone make.
pub(crate) fn per_turn() -> Result<(f64, f64), Box<dyn Error>> {
    let script = std::fs::read_to_string(Script::chinese_checkers(2 * TURNS)?.path())?;
    let lines: Vec<&str> = script.lines().collect();
    let kind = kind("chinese-checkers").ok_or("no such game")?;
    let setup = serde_json::json!({ "max_turns": 2 * TURNS });
    let mut game = kind.start(&setup)?;
    let (begun, effects) = Match::begin(kind.start(&setup)?, header(game.as_ref()));
    let mut table = Table {
        state: begun,
        effects: effects.into(),
        recorder: Recorder::new(),
        bytes: Vec::new(),
        asked: None,
        time: Nanos(0),
    };
    for seat in [Seat(0), Seat(1)] {
        table.line(seat, "{\"type\":\"ready\"}");
    }
    let mut turns = |lines: &[&str]| {
        for line in lines {
            table.turn(line);
        }
    };
    turns(&lines[..TURNS]);
    let all = allocation_counter::measure(|| turns(&lines[TURNS..]));
    let mut play = |lines: &[&str]| {
        for line in lines {
            let action = referee_protocol::action_text(line.as_bytes());
            action.and_then(|(_, action)| game.play_text(action)).expect("the script is legal");
        }
    };
    play(&lines[..TURNS]);
    let rules = allocation_counter::measure(|| play(&lines[TURNS..]));
    let each = |count: u64| count as f64 / TURNS as f64;
    Ok((each(all.count_total), each(rules.count_total)))
}

struct Table {
    state: Match,
    effects: VecDeque<Effect>,
    recorder: Recorder,
    bytes: Vec<u8>,
    asked: Option<Seat>,
    time: Nanos,
}

impl Table {
    fn turn(&mut self, line: &str) {
        if let Some(seat) = self.asked.take() {
            self.step(Input::Asked(seat, Reading::default()));
            self.line(seat, line);
        }
    }

    fn line(&mut self, seat: Seat, line: &str) {
        let (line, reading) = (line.as_bytes(), Reading::default());
        self.step(Input::Line { seat, line, cut: false, reading, meaning: None });
    }

    fn step(&mut self, input: Input<'_>) {
        self.time = self.time.plus(Nanos(1000));
        self.state.step(self.time, input, &mut self.effects);
        while let Some(effect) = self.effects.pop_front() {
            match effect {
                Effect::Record(event) => self.recorder.record(&event),
                Effect::Send(_, message) | Effect::Broadcast(message) => {
                    message.write_json(&mut self.bytes);
                }
                Effect::Ask(seat, _) => self.asked = Some(seat),
                Effect::MeasureMemory => {
                    let peaks = Input::PeakMemory(Vec::new());
                    self.state.step(self.time, peaks, &mut self.effects);
                }
                Effect::Kill(_) | Effect::Finish(_) => {}
            }
        }
        self.bytes.clear();
        if self.recorder.buffered_bytes() > 32 * 1024 {
            self.recorder.take_into(&mut self.bytes);
        }
    }
}
