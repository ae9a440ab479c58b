//! The probes: what each tries, and in which game and seat.

use super::Bench;
use referee_games::GameKind;
use referee_play::trial::{Shutdown, TrialReport, TrialSetup, TrialVariant};
use referee_process::Failure;
use referee_protocol::Seat;
use serde_json::Value;
use std::time::Duration;

/// Turns of one's own in a probe of a seat.
const SEAT_TURNS: u64 = 10;
/// Turns of one's own in a probe of something else.
const SOME_TURNS: u64 = 4;
/// How long a whole game is played, at most.
const LONG: Duration = Duration::from_secs(30);

/// What a probe looks at.
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
    /// It ignores fields that it doesn't know.
    UnknownFields,
    /// It ignores messages that it doesn't know.
    UnknownTypes,
    /// It can read names of all alphabets.
    Names,
    /// It says nothing while it isn't asked.
    Quiet,
    /// It plays from this seat.
    Seat,
    /// It plays a whole game.
    LongGame,
    /// It ends after `over`.
    Over,
    /// It ends when its input does.
    EndOfInput,
    /// It leaves no process behind.
    Leftovers,
}

/// One probe.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    /// Its place in the list, from 1.
    pub(super) number: usize,
    /// How it is called on the command line.
    pub(super) name: String,
    /// What is expected, in words.
    pub(super) title: String,
    /// What it looks at.
    pub(super) aim: Aim,
    /// In which game.
    pub(super) kind: GameKind,
    /// At which seat.
    pub(super) seat: Seat,
}

/// All probes for these games. The setup is that of the only game, or empty. An agent with a
/// `foreign` protocol never sees the referee's messages, so there is nothing unknown in them.
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
    let mut add = |name: &str, title: &str, aim, kind, seat| {
        let (number, name, title) = (list.len() + 1, name.to_owned(), title.to_owned());
        list.push(Probe { number, name, title, aim, kind, seat });
    };
    for (name, title, aim) in [
        ("start", "the program starts", Aim::Start),
        ("ready", "answers `hello` with `ready`", Aim::Ready),
        ("first-turn", "answers its first `turn` with a legal action", Aim::FirstTurn),
        ("turns", "answers the turns after that", Aim::Turns),
    ] {
        add(name, title, aim, first, Seat(0));
    }
    if let Some(index) = seats.iter().position(|&count| count > 1) {
        let title = "says nothing while the others think";
        add("quiet", title, Aim::Quiet, kinds[index], Seat(0));
    }
    for (name, title, aim) in [
        ("unknown-fields", "ignores fields that it doesn't know", Aim::UnknownFields),
        ("unknown-types", "ignores messages of a type that it doesn't know", Aim::UnknownTypes),
        ("names", "reads names of all alphabets", Aim::Names),
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
        ("over", "ends after `over`", Aim::Over),
        ("end-of-input", "ends when its input ends", Aim::EndOfInput),
        ("leftovers", "leaves no process behind", Aim::Leftovers),
    ] {
        add(name, title, aim, first, Seat(0));
    }
    Ok(list)
}

impl Probe {
    /// What is tried.
    pub(super) fn scene<'a>(&self, bench: &'a Bench<'a>) -> TrialSetup<'a> {
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
            spec: bench.spec,
            kind: self.kind,
            setup: &bench.setup,
            seat: self.seat,
            seed: bench.seed,
            clock: &bench.clock,
            limits: &bench.limits,
            variant,
            turns_max,
            time_max: LONG,
            shutdown,
        }
    }

    /// Whether nothing else is worth trying where it fails.
    fn is_first_of_all(&self) -> bool {
        matches!(self.aim, Aim::Start | Aim::Ready | Aim::FirstTurn | Aim::Turns)
    }
}

/// What earlier probes have brought.
#[derive(Debug, Default)]
pub(super) struct Tested {
    /// A probe has failed without which no other is worth making.
    pub(super) stuck: bool,
    beginning: Option<TrialReport>,
    leaving: Option<TrialReport>,
    /// The actions on the same requests and the same seed, twice.
    twice: Vec<Vec<Value>>,
}

impl Tested {
    /// A trial that has been made already: some probes look at the same one.
    pub(super) fn known(&self, probe: &Probe) -> Option<&TrialReport> {
        match probe.aim {
            Aim::Start | Aim::Ready | Aim::FirstTurn => self.beginning.as_ref(),
            Aim::Over | Aim::Leftovers => self.leaving.as_ref(),
            _ => None,
        }
    }

    pub(super) fn keep(&mut self, probe: &Probe, trial: TrialReport, failed: bool) {
        self.stuck |= failed && probe.is_first_of_all();
        match probe.aim {
            Aim::Start | Aim::Ready | Aim::FirstTurn => self.beginning = Some(trial),
            Aim::Over | Aim::Leftovers => self.leaving = Some(trial),
            Aim::UnknownFields | Aim::UnknownTypes if !failed => self.twice.push(trial.actions),
            _ => {}
        }
    }

    /// Whether the same seed gave the same actions; `None` where that was not seen.
    pub(super) fn deterministic(&self) -> Option<bool> {
        let [one, other] = self.twice.as_slice() else { return None };
        Some(one == other)
    }
}
