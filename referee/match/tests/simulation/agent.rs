//! The scripts of simulated agents: what they will do, and when.

use super::plan::{Plan, Random, Temper};
use super::speech::{Speech, TurnField};
use referee_protocol::{FaultKind, Seat};

/// Something that is going to happen.
#[derive(Clone, Debug)]
pub(crate) enum ScriptEvent {
    Says(Seat, Speech),
    Complains(Seat),
    Closes(Seat),
    Deafens(Seat),
    Exits(Seat, &'static str),
    /// The machine finds it at fault.
    Fault(Seat, FaultKind),
    /// Its supervisor has ended, and nothing of the agent is left.
    Orphaned(Seat),
    /// What was recorded is written, for those who watch.
    Flush,
    /// The request that has this number may be written.
    Slot(u64),
    Stops(&'static str),
}

/// What happens, each after this many nanoseconds from now.
pub(crate) type Script = Vec<(u64, ScriptEvent)>;

const MS: u64 = 1_000_000;
const STATUSES: &[&str] = &["exit status 0", "exit status 1", "signal 11 (SIGSEGV)"];

/// What a turn may take, as the seat's clock has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    /// On the wall, the margin included.
    pub(crate) wall: u64,
    /// Of CPU time; `None` where it isn't counted.
    pub(crate) cpu: Option<u64>,
}

/// Returns what an agent does from the start.
pub(crate) fn begins(plan: &Plan, seat: Seat, random: &mut Random) -> Script {
    let due = plan.header.clock.start_ms * MS;
    // Mostly nothing: lists of actions are what a simulation spends its time on.
    let wants = ["", "", "", "", "\"position\"", "\"actions\"", "\"actions\",\"position\""];
    let ready =
        |random: &mut Random| ScriptEvent::Says(seat, Speech::Ready { want: random.pick(&wants) });
    let in_time = if random.percent(5) { due } else { random.below(due + 1) };
    let mut script = vec![(in_time, ready(random))];
    if random.percent(20) {
        script.push((random.below(due), ScriptEvent::Complains(seat)));
    }
    if plan.tempers[seat.index()] == Temper::Good {
        return script;
    }
    if random.percent(12) {
        let late = due + 1 + random.delay(20);
        match random.below(6) {
            0 => script.clear(),
            1 => script[0].0 = late,
            2 => script.push((late.min(in_time + random.delay(5)), ready(random))),
            3 => {
                let never = ScriptEvent::Fault(seat, FaultKind::Start);
                script.insert(0, (random.delay(5).min(in_time), never));
            }
            4 => script.push((random.delay(5), ScriptEvent::Says(seat, Speech::Garbled))),
            _ => {
                let early = random.below(in_time + 1);
                script.push((
                    early,
                    ScriptEvent::Says(seat, Speech::Legal { turn: TurnField::Right }),
                ));
            }
        }
    }
    if random.percent(20) {
        let at = random.below(2 * due + 100 * MS);
        for (delay, happening) in goes(seat, random) {
            script.push((at + delay, happening));
        }
    }
    if random.percent(10) {
        let at = random.below(2 * due + 100 * MS);
        script.push((at, ScriptEvent::Says(seat, any_line(random))));
    }
    script
}

/// What an agent does with a request, and the CPU time that it takes, in thousandths of the time on
/// the wall.
pub(crate) fn answers(
    temper: Temper,
    seat: Seat,
    allowed: Allowance,
    random: &mut Random,
) -> (Script, u64) {
    let takes = match random.below(10) {
        0 => allowed.wall,
        1..=6 => random.below(allowed.wall / 20 + 1),
        _ => random.below(allowed.wall + 1),
    };
    let mut busy = random.below(4000);
    if temper == Temper::Good
        && let Some(cpu) = allowed.cpu
    {
        busy = busy.min((cpu * 1000).checked_div(takes).unwrap_or(busy));
    }
    let turn = random.pick(&[TurnField::LeftOut, TurnField::Right]);
    let legal = ScriptEvent::Says(seat, Speech::Legal { turn });
    let mut script = vec![(takes, legal)];
    if random.percent(30) {
        let aside = match random.below(3) {
            0 => ScriptEvent::Says(seat, Speech::Info { bytes: 10 }),
            1 => ScriptEvent::Says(seat, Speech::Blank),
            _ => ScriptEvent::Complains(seat),
        };
        script.insert(0, (random.below(takes + 1), aside));
    }
    if temper == Temper::Wild && random.percent(15) {
        misbehave(&mut script, seat, allowed, random);
    }
    (script, busy)
}

/// Makes something else of a good answer.
fn misbehave(script: &mut Script, seat: Seat, allowed: Allowance, random: &mut Random) {
    let last = script.len() - 1;
    let at = script[last].0;
    let says = |speech| ScriptEvent::Says(seat, speech);
    let wrong = TurnField::Wrong;
    match random.below(15) {
        0 => script[last].1 = says(Speech::Illegal),
        1 => script[last].1 = says(any_line(random)),
        2 => script[last].1 = says(Speech::Legal { turn: wrong }),
        3 => script.push((at + random.delay(3), says(Speech::Legal { turn: TurnField::Right }))),
        4 => script[last].1 = says(Speech::Resign { turn: TurnField::LeftOut }),
        5 => script[last].1 = says(Speech::Resign { turn: wrong }),
        6 => script.insert(last, (at, says(Speech::Cut))),
        7 => {
            for _ in 0..random.between(3, 8) {
                script.insert(0, (random.below(at + 1), says(Speech::Info { bytes: 1500 })));
            }
        }
        // It never answers, or not in time.
        8 => {
            script.pop();
            for _ in 0..random.below(3) {
                script.push((allowed.wall + random.delay(30), says(Speech::Info { bytes: 3 })));
            }
        }
        9..=10 => script[last].0 = allowed.wall + 1 + random.delay(20),
        // It floods when its time is almost up. The referee reads that in pieces, and judging a piece
        // takes time, which makes no lag.
        11 => {
            let (begun, judging) = (allowed.wall.saturating_sub(random.delay(4)), random.delay(3));
            let pieces = random.between(1, 5);
            let infos = (0..=3 * pieces)
                .map(|line| (begun + line / 3 * judging, says(Speech::Info { bytes: 3 })));
            script[last].0 = begun + pieces * judging;
            script.splice(0..0, infos);
        }
        // It answers as the last thing that it does.
        12 => {
            for (delay, happening) in goes(seat, random) {
                script.push((at + delay, happening));
            }
        }
        _ => {
            script[last].0 += random.delay(200);
            let from = random.below(at + 1);
            for (delay, happening) in goes(seat, random) {
                script.push((from + delay, happening));
            }
        }
    }
}

/// An agent goes, in one of many ways.
fn goes(seat: Seat, random: &mut Random) -> Script {
    let exits = ScriptEvent::Exits(seat, random.pick(STATUSES));
    let soon = random.delay(300);
    let fault = |kind| ScriptEvent::Fault(seat, kind);
    match random.below(6) {
        0 | 1 => vec![(0, exits)],
        2 => vec![(0, ScriptEvent::Closes(seat)), (soon, exits)],
        3 => vec![(0, ScriptEvent::Deafens(seat)), (soon, exits)],
        4 => vec![(0, fault(FaultKind::Memory)), (soon, exits)],
        _ => vec![(0, fault(FaultKind::Processes))],
    }
}

fn any_line(random: &mut Random) -> Speech {
    let wrong = TurnField::Wrong;
    match random.below(9) {
        0 => Speech::Ready { want: "" },
        1 => Speech::Legal { turn: TurnField::LeftOut },
        2 => Speech::Malformed { turn: wrong },
        3 => Speech::Malformed { turn: TurnField::Right },
        4 => Speech::Info { bytes: 3 },
        5 => Speech::Blank,
        6 => Speech::Resign { turn: TurnField::Right },
        7 => Speech::Cut,
        _ => Speech::Garbled,
    }
}
