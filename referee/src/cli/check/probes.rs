//! The probes of `check`.

use super::{ProbeConditions, ProbeSetup};
use referee_games::GameKind;
use referee_play::trial::{Shutdown, TrialReport, TrialSetup, TrialVariant};
use referee_process::Failure;
use referee_protocol::Seat;
use serde_json::Value;
use std::fmt::Write;
use std::time::Duration;

/// The agent's turns in a probe of a seat.
const SEAT_TURNS: u64 = 10;
/// The agent's turns in other probes.
const SOME_TURNS: u64 = 4;
/// The maximum duration of a probe.
const LONG: Duration = Duration::from_secs(30);

/// What a probe tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// The program can be started.
    Start,
    /// It answers `hello`.
    Ready,
    /// It answers its first turn.
    FirstTurn,
    /// It answers the next ones too.
    Turns,
    /// It ignores unknown fields.
    UnknownFields,
    /// It ignores unknown messages.
    UnknownTypes,
    /// It can read names in all alphabets.
    Names,
    /// It prints nothing when it is not its turn.
    Quiet,
    /// It plays from this seat.
    Seat,
    /// It plays a whole game.
    LongGame,
    /// It ends after `over`.
    Over,
    /// It ends when its input ends.
    EndOfInput,
    /// It leaves no process behind.
    Leftovers,
}

/// One probe.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    /// Its place in the list, from 1.
    pub(super) number: usize,
    /// Its name on the command line.
    pub(super) name: String,
    /// What is expected, as text.
    pub(super) title: String,
    /// What it tests.
    pub(super) aim: Aim,
    /// The game.
    pub(super) kind: GameKind,
    /// The agent's seat.
    pub(super) seat: Seat,
}

/// Returns all probes for these games. The setup is that of the only game, or empty. An agent with a
/// `foreign` protocol sees no messages of the referee, so the probes of unknown messages are left out.
pub(super) fn probes(
    kinds: &[GameKind],
    setup: &Value,
    foreign: bool,
) -> Result<Vec<Probe>, Failure> {
    let seats = kinds
        .iter()
        .map(|kind| super::super::setup::start(*kind, setup).map(|game| game.seats()))
        .collect::<Result<Vec<usize>, Failure>>()?;
    let mut list = Vec::new();
    let first = kinds[0];
    let mut add = |name: &str, title: &str, aim, kind: GameKind, seat| {
        let mut title = title.to_owned();
        if kinds.len() > 1 && !title.contains(kind.name) {
            write!(title, " ({})", kind.name).ok();
        }
        let (number, name) = (list.len() + 1, name.to_owned());
        list.push(Probe { number, name, title, aim, kind, seat });
    };
    for (name, title, aim) in [
        ("start", "the program starts", Aim::Start),
        ("ready", "answers `hello` with `ready`", Aim::Ready),
        ("first-turn", "answers its first `turn` with a legal action", Aim::FirstTurn),
        ("turns", "answers the next turns", Aim::Turns),
    ] {
        add(name, title, aim, first, Seat(0));
    }
    if let Some(index) = seats.iter().position(|&count| count > 1) {
        let title = "prints nothing while the others think";
        add("quiet", title, Aim::Quiet, kinds[index], Seat(0));
    }
    for (name, title, aim) in [
        ("unknown-fields", "ignores unknown fields", Aim::UnknownFields),
        ("unknown-types", "ignores messages of unknown types", Aim::UnknownTypes),
        ("names", "reads names in all alphabets", Aim::Names),
    ]
    .into_iter()
    .filter(|_| !foreign)
    {
        add(name, title, aim, first, Seat(0));
    }
    for (kind, &count) in kinds.iter().zip(&seats) {
        for seat in Seat::all(count) {
            let (name, title) =
                (format!("seat:{}:{seat}", kind.name), format!("{} as seat {seat}", kind.name));
            add(&name, &title, Aim::Seat, *kind, seat);
        }
    }
    for (kind, &count) in kinds.iter().zip(&seats) {
        let seat = Seat::all(count).last().unwrap_or(Seat(0));
        let (name, title) = (format!("long:{}", kind.name), format!("a long {} game", kind.name));
        add(&name, &title, Aim::LongGame, *kind, seat);
    }
    for (name, title, aim) in [
        ("over", "exits after `over`", Aim::Over),
        ("end-of-input", "exits when its input ends", Aim::EndOfInput),
        ("leftovers", "leaves no process behind", Aim::Leftovers),
    ] {
        add(name, title, aim, first, Seat(0));
    }
    Ok(list)
}

impl Probe {
    /// Returns the probe of the first turn of a game.
    pub(super) fn first_turn(kind: GameKind) -> Self {
        let (name, title) = ("first-turn".to_owned(), String::new());
        Self { number: 0, name, title, aim: Aim::FirstTurn, kind, seat: Seat(0) }
    }

    /// Returns the trial to run.
    pub(super) fn trial_setup<'a>(
        &self,
        setup: &'a ProbeSetup<'a>,
        conditions: &'a ProbeConditions,
    ) -> TrialSetup<'a> {
        let variant = match self.aim {
            Aim::UnknownFields => TrialVariant::UnknownField,
            Aim::UnknownTypes => TrialVariant::UnknownType,
            Aim::Names => TrialVariant::Names,
            Aim::Quiet => TrialVariant::SlowOthers,
            _ => TrialVariant::None,
        };
        let shutdown = match self.aim {
            Aim::Over | Aim::Leftovers => Shutdown::Over,
            Aim::EndOfInput => Shutdown::EndOfInput,
            _ => Shutdown::Kill,
        };
        let turns_max = match self.aim {
            Aim::Start | Aim::Ready | Aim::FirstTurn => 1,
            Aim::Seat => SEAT_TURNS,
            Aim::LongGame => u64::MAX,
            _ => SOME_TURNS,
        };
        TrialSetup {
            spec: setup.spec,
            kind: self.kind,
            setup: &setup.setup,
            seat: self.seat,
            seed: setup.seed,
            clock: &conditions.clock,
            limits: &conditions.limits,
            variant,
            turns_max,
            time_max: LONG,
            shutdown,
        }
    }

    /// Returns the same probe without what is unusual about its messages. If that fails too, the failure
    /// has another cause.
    pub(super) fn control(&self) -> Option<Self> {
        let unusual = matches!(self.aim, Aim::UnknownFields | Aim::UnknownTypes | Aim::Names);
        unusual.then(|| Self { aim: Aim::Turns, ..self.clone() })
    }

    /// Whether all later probes are skipped if it fails.
    fn is_essential(&self) -> bool {
        matches!(self.aim, Aim::Start | Aim::Ready | Aim::FirstTurn | Aim::Turns)
    }
}

/// The results of earlier probes.
#[derive(Debug, Default)]
pub(super) struct ProbeHistory {
    /// An essential probe has failed.
    pub(super) blocked: bool,
    start: Option<TrialReport>,
    end: Option<TrialReport>,
    /// The actions in two probes with the same requests and seed.
    twice: Vec<Vec<Value>>,
}

impl ProbeHistory {
    /// Returns the trial of an earlier probe, if this one needs the same.
    pub(super) fn known(&self, probe: &Probe) -> Option<&TrialReport> {
        match probe.aim {
            Aim::Start | Aim::Ready | Aim::FirstTurn => self.start.as_ref(),
            Aim::Over | Aim::Leftovers => self.end.as_ref(),
            _ => None,
        }
    }

    pub(super) fn keep(&mut self, probe: &Probe, trial: TrialReport, failed: bool) {
        self.blocked |= failed && probe.is_essential();
        match probe.aim {
            Aim::Start | Aim::Ready | Aim::FirstTurn => self.start = Some(trial),
            Aim::Over | Aim::Leftovers => self.end = Some(trial),
            Aim::UnknownFields | Aim::UnknownTypes if !failed => self.twice.push(trial.actions),
            _ => {}
        }
    }

    /// Whether the same seed gave the same actions; `None` if not known.
    pub(super) fn deterministic(&self) -> Option<bool> {
        let [one, other] = self.twice.as_slice() else { return None };
        Some(one == other)
    }
}
