//! Whether the times of a recorded match agree with each other and with its clock: the order of the
//! events, the time charged for each turn, what is left in the banks, late answers and the totals of the
//! verdict.

use super::import::is_imported;
use crate::clock::{Clock, Punctuality, Spent};
use referee_protocol::{
    ClockKind, ClockSettings, Fault, FaultKind, Header, LateBy, Nanos, Seat, SeatVerdict, TurnEvent,
};

/// The times of a match up to some event.
#[derive(Debug)]
pub(super) struct Timing {
    settings: ClockSettings,
    seats: Vec<SeatTimes>,
    /// The time of the last event.
    now: Nanos,
    /// The request that is not answered yet.
    asked: Option<Asked>,
    /// The turn that was asked last.
    last_turn: Option<u64>,
    /// The match was imported: it has no times.
    is_imported: bool,
}

#[derive(Debug)]
struct Asked {
    turn: u64,
    seat: Seat,
    at: Nanos,
}

#[derive(Clone, Debug, Default)]
struct SeatTimes {
    clock: Clock,
    used: Nanos,
    cpu: Nanos,
    turns: u64,
    /// When its last line was read.
    line_at: Option<Nanos>,
}

/// The times of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlayedTimes {
    pub(super) at_ns: u64,
    pub(super) used_ms: u64,
    pub(super) wall_ns: u64,
    pub(super) cpu_ns: Option<u64>,
    pub(super) lag_ns: u64,
}

impl Timing {
    pub(super) fn begin(header: &Header) -> Self {
        let settings = header.clock.clone();
        let seat = SeatTimes { clock: Clock::new(&settings), ..SeatTimes::default() };
        Self {
            settings,
            seats: vec![seat; header.seats.len()],
            now: Nanos(0),
            asked: None,
            last_turn: None,
            is_imported: is_imported(header),
        }
    }

    /// Checks the time of an event. Only output on stderr and the ends of processes, which are not
    /// judged, may come out of order.
    pub(super) fn at(&mut self, at_ns: u64) -> Result<(), String> {
        let before = std::mem::replace(&mut self.now, Nanos(at_ns)).0;
        if at_ns >= before {
            return Ok(());
        }
        Err(format!("its time is {at_ns} ns, before that of the event before it, {before} ns"))
    }

    /// A seat wrote a line.
    pub(super) fn line(&mut self, seat: Seat) {
        self.seats[seat.index()].line_at = Some(self.now);
    }

    /// Checks a request for the turn that is due.
    pub(super) fn asked(&mut self, event: &TurnEvent) -> Result<(), String> {
        let TurnEvent { turn, seat, left_ms, pondered_ns, .. } = *event;
        if self.last_turn.replace(turn) == Some(turn) {
            return Err(format!("turn {turn} is asked a second time"));
        }
        self.asked = Some(Asked { turn, seat, at: self.now });
        let times = &mut self.seats[seat.index()];
        times.clock.charge_pondering(Nanos(pondered_ns));
        times.used = times.used.plus(Nanos(pondered_ns));
        let (wanted, shown) = (times.clock.left_ms(), |left: Option<u64>| {
            left.map_or_else(|| "no bank".to_owned(), |left| format!("{left} ms left"))
        });
        if left_ms == wanted {
            return Ok(());
        }
        Err(format!(
            "seat {seat} has {} by its turns so far, the transcript says {}",
            shown(wanted),
            shown(left_ms)
        ))
    }

    /// Checks the times of an action.
    pub(super) fn played(&mut self, turn: u64, times: &PlayedTimes) -> Result<(), String> {
        let Some(asked) = self.asked.take().filter(|asked| asked.turn == turn) else {
            return Err(format!("turn {turn} is played, but was not asked"));
        };
        let wall = self.now.since(asked.at);
        if wall.0 != times.wall_ns {
            let (recorded, wall) = (times.wall_ns, wall.0);
            return Err(format!(
                "turn {turn}: {wall} ns passed since the request, but it says {recorded} ns"
            ));
        }
        let spent =
            Spent { wall, cpu: times.cpu_ns.map(Nanos), wait: None, lag: Nanos(times.lag_ns) };
        let seat = &mut self.seats[asked.seat.index()];
        if seat.clock.punctuality(&spent, &self.settings) != Punctuality::InTime {
            return Err(format!("turn {turn}: the action came after the time limit"));
        }
        let charged = spent.charged(self.settings.kind);
        if charged.ms_up() != times.used_ms {
            let (recorded, used) = (times.used_ms, charged.ms_up());
            return Err(format!("turn {turn}: it used {used} ms, but it says {recorded} ms"));
        }
        seat.clock.charge(charged, &self.settings);
        seat.used = seat.used.plus(charged);
        seat.cpu = seat.cpu.plus(spent.cpu.unwrap_or_default());
        seat.turns += 1;
        Ok(())
    }

    /// Checks a fault that the current event records.
    pub(super) fn fault(&mut self, seat: Seat, fault: &Fault) -> Result<(), String> {
        if self.is_imported {
            return Ok(());
        }
        let kind = fault.kind;
        let asked = self.asked.take_if(|asked| asked.seat == seat);
        let times = &self.seats[seat.index()];
        match kind {
            FaultKind::Late => {
                let Some(asked) = asked else {
                    return Err(format!("seat {seat} is late, but was not asked"));
                };
                self.late(&asked, fault.by)
            }
            // These are judged when a line is read, and the line is recorded at that time.
            FaultKind::Garbled | FaultKind::Unasked | FaultKind::Illegal | FaultKind::Resigned
                if times.line_at != Some(self.now) =>
            {
                Err(format!("seat {seat} is out ({kind}), but wrote no line at that time"))
            }
            _ => Ok(()),
        }
    }

    fn late(&self, asked: &Asked, by: Option<LateBy>) -> Result<(), String> {
        let Asked { turn, seat, at } = *asked;
        let clock = &self.seats[seat.index()].clock;
        let wall = self.now.since(at);
        let fits = match by {
            Some(LateBy::Wall) => {
                let spent = Spent { wall, ..Spent::default() };
                clock.punctuality(&spent, &self.settings) == Punctuality::Late(LateBy::Wall)
            }
            // The CPU time of a turn that wasn't played isn't recorded.
            Some(LateBy::Cpu) => self.settings.kind == ClockKind::Cpu,
            None => false,
        };
        if fits {
            return Ok(());
        }
        let ms = wall.ms_up();
        Err(format!(
            "seat {seat} is late in turn {turn}, but only {ms} ms passed since the request, which its \
             clock allows"
        ))
    }

    /// Checks the totals of a seat in the verdict.
    pub(super) fn totals(&self, verdict: &SeatVerdict) -> Result<(), String> {
        let seat = verdict.seat;
        let times = &self.seats[seat.index()];
        for (what, wanted, recorded) in [
            ("used_ms", times.used.ms_up(), verdict.used_ms),
            ("cpu_ms", times.cpu.ms_up(), verdict.cpu_ms),
            ("turns", times.turns, verdict.turns),
        ] {
            if wanted != recorded {
                return Err(format!(
                    "{what} of seat {seat}: its turns give {wanted}, the verdict says {recorded}"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::transcript::walk::Walk;
    use referee_protocol::Event;
    use serde_json::{Value, json};

    /// The events of a recorded match with a bank of an hour.
    fn recorded() -> Vec<Value> {
        let path = "../../tests/tests/transcripts/hex-swap.jsonl";
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn walked(events: &[Value]) -> Result<(), String> {
        let mut events = events.iter().map(|event| serde_json::from_value(event.clone()).unwrap());
        let Some(Event::Header(header)) = events.next() else { panic!("no header") };
        let mut walk = Walk::begin(*header)?;
        events.try_for_each(|event| walk.event(&event))?;
        walk.finish()
    }

    /// Returns the index of the `number`-th event of a type, from 0.
    fn nth(events: &[Value], kind: &str, number: usize) -> usize {
        let all = events.iter().enumerate().filter(|(_, event)| event["type"] == kind);
        all.map(|(index, _)| index).nth(number).unwrap()
    }

    /// Replaces what follows the second request by a verdict that the seat is out for `fault`.
    fn out(events: &mut Vec<Value>, after_ns: u64, fault: &Value) {
        let asked = nth(events, "turn", 1);
        let mut over = events[nth(events, "over", 0)].clone();
        let used = |seat: usize| {
            let is = |event: &&Value| event["type"] == "played" && event["seat"] == seat;
            events[..asked].iter().find(is)
        };
        let totals: Vec<Value> = (0..2)
            .map(|seat| {
                let played = used(seat).cloned();
                let ms = |ns: &Value| ns.as_u64().unwrap_or(0).div_ceil(1_000_000);
                let figure = |name: &str| played.as_ref().map_or(0, |event| ms(&event[name]));
                let (used_ms, cpu_ms) = (figure("wall_ns"), figure("cpu_ns"));
                let turns = u64::from(played.is_some());
                let fault = if seat == 1 { fault.clone() } else { Value::Null };
                json!({"seat": seat, "used_ms": used_ms, "cpu_ms": cpu_ms, "turns": turns,
                       "fault": fault})
            })
            .collect();
        over["at_ns"] = json!(events[asked]["at_ns"].as_u64().unwrap() + after_ns);
        over["outcome"] = Value::Null;
        over["verdict"] = json!({"result": "fault", "reason": fault["kind"], "places": [1, 2],
                                 "seats": totals, "void": null});
        events.truncate(asked + 1);
        events.push(over);
    }

    fn fault(kind: &str, by: Option<&str>) -> Value {
        json!({"kind": kind, "by": by, "turn": 1, "text": "late after 60001 ms"})
    }

    /// Changes events, and a part of the expected message.
    type Forgery = (fn(&mut Vec<Value>), &'static str);

    fn set(events: &mut [Value], kind: &str, field: &str, change: impl Fn(u64) -> u64) {
        let index = nth(events, kind, 1);
        let before = events[index][field].as_u64().unwrap();
        events[index][field] = json!(change(before));
    }

    const FORGERIES: &[Forgery] = &[
        (|it| set(it, "played", "at_ns", |_| 1), "before that of the event before it"),
        (|it| set(it, "turn", "at_ns", |_| 1), "before that of the event before it"),
        (|it| set(it, "played", "wall_ns", |ns| ns - 1), "ns passed since the request"),
        (|it| set(it, "turn", "at_ns", |ns| ns + 1), "ns passed since the request"),
        (|it| set(it, "played", "used_ms", |ms| ms + 1), "but it says"),
        (|it| set(it, "turn", "left_ms", |ms| ms - 1), "ms left by its turns so far"),
        (|it| set(it, "turn", "pondered_ns", |_| 5_000_000), "ms left by its turns so far"),
        (
            |it| {
                let over = nth(it, "over", 0);
                it[over]["verdict"]["seats"][0]["used_ms"] = json!(0);
            },
            "used_ms of seat 0: its turns give",
        ),
        (
            |it| {
                let over = nth(it, "over", 0);
                it[over]["verdict"]["seats"][1]["turns"] = json!(99);
            },
            "turns of seat 1: its turns give",
        ),
        (
            |it| {
                let asked = nth(it, "turn", 1);
                it.insert(asked, it[asked].clone());
            },
            "turn 1 is asked a second time",
        ),
        (
            |it| {
                let asked = nth(it, "turn", 1);
                it.remove(asked);
            },
            "turn 1 is played, but was not asked",
        ),
        (|it| it[0]["clock"]["move_ms"] = json!(0), "came after the time limit"),
        (|it| out(it, 1_000_000, &fault("late", Some("wall"))), "which its clock allows"),
        (|it| out(it, 3_600_000_000_000, &fault("late", Some("wall"))), "which its clock allows"),
        (|it| out(it, 3_700_000_000_000, &fault("late", Some("cpu"))), "which its clock allows"),
        (|it| out(it, 3_700_000_000_000, &fault("late", None)), "which its clock allows"),
        (|it| out(it, 1_000_000, &fault("illegal", None)), "but wrote no line at that time"),
        (|it| out(it, 1_000_000, &fault("garbled", None)), "but wrote no line at that time"),
    ];

    #[test]
    fn times_that_disagree_are_refused() {
        assert_eq!(walked(&recorded()), Ok(()));
        for (number, (forge, words)) in FORGERIES.iter().enumerate() {
            let mut events = recorded();
            if events[nth(&events, "turn", 1)].get("pondered_ns").is_none() {
                let index = nth(&events, "turn", 1);
                events[index]["pondered_ns"] = json!(0);
            }
            forge(&mut events);
            let error = walked(&events).expect_err(&format!("forgery {number} passed"));
            assert!(error.contains(words), "forgery {number}: {error}");
        }
    }

    #[test]
    fn faults_that_agree_with_the_times_are_accepted() {
        for (after_ns, fault) in
            [(3_600_000_000_001, fault("late", Some("wall"))), (1_000_000, fault("gone", None))]
        {
            let mut events = recorded();
            out(&mut events, after_ns, &fault);
            assert_eq!(walked(&events), Ok(()), "{fault}");
        }
    }
}
