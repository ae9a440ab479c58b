//! The probes of `check`.

use super::trial::{Shutdown, Trial, TrialReport, TrialVariant};
use super::{Check, ProbeOutcome, judge};
use crate::golden_game::GoldenGame;
use referee_games::wire::Move;
use referee_games::{GameKind, SetupError, Turn};
use referee_match::diagnosis::{Defect, IllegalAction};
use referee_protocol::{ClockSettings, Seat};
use serde_json::Value;
use std::fmt::Write;
use std::time::Duration;

/// The agent's turns in a probe of a seat.
const SEAT_TURNS: u64 = 10;
/// The agent's turns in other probes.
const SOME_TURNS: u64 = 4;
/// The maximum duration of a probe.
const LONG: Duration = Duration::from_secs(30);
/// The most recorded games of which there are probes.
const RECORDED_MAX: usize = 8;
/// The maximum duration of a game with a special situation, of which there are several.
const SPECIAL: Duration = Duration::from_secs(5);

/// The CPU time of a turn, or the time asleep, after which an agent that has hung before hangs again; three times its slowest
/// answer, if that is longer.
const AGAIN: Duration = Duration::from_secs(1);
/// After a wait of this length, none of the next probes is worth another one.
const LONG_HANG: Duration = Duration::from_secs(6);
/// The bank of an agent that is checked with a limit for each turn.
const OTHER_BANK_MS: u64 = 60_000;

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
    /// It plays with another kind of clock.
    OtherClock,
    /// It plays another game in the same process, if it offers that.
    Again,
    /// It plays from this seat.
    Seat,
    /// It plays in a special situation of its game.
    Situation,
    /// It plays on after another seat is out.
    Retired,
    /// It plays if another seat was never in.
    RetiredAtStart,
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
pub struct Probe {
    /// Its place in the list, from 1.
    pub number: usize,
    /// Its name on the command line.
    pub name: String,
    /// What is expected, as text.
    pub title: String,
    /// What it tests.
    pub(super) aim: Aim,
    /// The game.
    pub kind: GameKind,
    /// The agent's seat.
    pub seat: Seat,
    /// The game's setup, as given.
    pub(super) setup: Value,
    /// The setup from which an agent must be able to play, or else the probe doesn't apply to it.
    condition: Option<Value>,
}

/// Returns all probes for these games. The setup is that of the only game, or empty. An agent with a
/// `foreign` protocol sees no messages of the referee, so the probes of unknown messages are left out.
pub fn probes(kinds: &[GameKind], setup: &Value, foreign: bool) -> Result<Vec<Probe>, SetupError> {
    let seats = kinds
        .iter()
        .map(|kind| kind.start(setup).map(|game| game.seats()))
        .collect::<Result<Vec<usize>, SetupError>>()?;
    let games = || kinds.iter().copied().zip(seats.iter().copied());
    let add = |list: &mut Vec<Probe>, name: &str, title: &str, aim, kind: GameKind, seat| {
        list.push(Probe::new(name, title, aim, kind, seat, setup));
    };
    let mut list = Vec::new();
    for (name, title, aim) in [
        ("start", "the program starts", Aim::Start),
        ("ready", "answers `hello` with `ready`", Aim::Ready),
        ("first-turn", "answers its first `turn` with a legal action", Aim::FirstTurn),
        ("turns", "answers the next turns", Aim::Turns),
    ] {
        add(&mut list, name, title, aim, kinds[0], Seat(0));
    }
    if let Some((kind, _)) = games().find(|(_, count)| *count > 1) {
        add(&mut list, "quiet", "prints nothing while the others think", Aim::Quiet, kind, Seat(0));
    }
    for (name, title, aim) in [
        ("unknown-fields", "ignores unknown fields", Aim::UnknownFields),
        ("unknown-types", "ignores messages of unknown types", Aim::UnknownTypes),
        ("names", "reads names in all alphabets", Aim::Names),
    ]
    .into_iter()
    .filter(|_| !foreign)
    {
        add(&mut list, name, title, aim, kinds[0], Seat(0));
    }
    let (title, aim) = ("plays with another kind of clock", Aim::OtherClock);
    add(&mut list, "other-clock", title, aim, kinds[0], Seat(0));
    for (kind, count) in games() {
        for seat in Seat::all(count) {
            let (name, title) =
                (format!("seat:{}:{seat}", kind.name), format!("{} as seat {seat}", kind.name));
            add(&mut list, &name, &title, Aim::Seat, kind, seat);
        }
    }
    for (kind, count) in games() {
        let seat = Seat::all(count).last().unwrap_or(Seat(0));
        let (name, title) = (format!("long:{}", kind.name), format!("a long {} game", kind.name));
        add(&mut list, &name, &title, Aim::LongGame, kind, seat);
    }
    // After the probes of the seats, since it plays in two.
    if !foreign {
        let title = "plays another game in the same process";
        add(&mut list, "again", title, Aim::Again, kinds[0], Seat(0));
    }
    for (kind, count) in games() {
        list.extend(situations(kind, setup));
        list.extend(recorded(kind, setup));
        list.extend(retirements(kind, count, setup));
    }
    for (name, title, aim) in [
        ("over", "exits after `over`", Aim::Over),
        ("end-of-input", "exits when its input ends", Aim::EndOfInput),
        ("leftovers", "leaves no process behind", Aim::Leftovers),
    ] {
        add(&mut list, name, title, aim, kinds[0], Seat(0));
    }
    for (number, probe) in (1..).zip(&mut list) {
        probe.number = number;
        if kinds.len() > 1 && !probe.title.contains(probe.kind.name) {
            write!(probe.title, " ({})", probe.kind.name).ok();
        }
    }
    Ok(list)
}

/// Returns the probes of retired seats, in games in which the others play on.
fn retirements(kind: GameKind, seats: usize, setup: &Value) -> Vec<Probe> {
    let probes = [
        ("retired", "plays on after another seat is retired", Aim::Retired),
        ("retired-at-start", "plays if another seat is retired at the start", Aim::RetiredAtStart),
    ];
    let played = Seat::all(seats).zip(probes).filter(|_| seats > 2);
    let probe = |(seat, (name, title, aim))| {
        Probe::new(&format!("{name}:{}", kind.name), title, aim, kind, seat, setup)
    };
    played.map(probe).collect()
}

/// Returns the probes of a game's special situations, without those that contradict the given setup.
fn situations(kind: GameKind, setup: &Value) -> Vec<Probe> {
    let merged = |with: &Value| {
        let (mut setup, with) = (setup.as_object()?.clone(), with.as_object()?);
        let differs =
            |(key, value): (&String, &Value)| setup.get(key).is_some_and(|it| it != value);
        if with.iter().any(differs) {
            return None;
        }
        setup.extend(with.clone());
        let setup = Value::Object(setup);
        kind.start(&setup).ok().map(|game| (setup, game))
    };
    let mut probes = Vec::new();
    for situation in &kind.about().situations {
        let Some((setup, game)) = merged(&situation.setup) else { continue };
        let condition = situation.control.as_ref().and_then(merged).map(|(setup, _)| setup);
        let seats = Seat::all(game.seats());
        let concerned = |seat: &Seat| condition.is_none() || game.turn() == Turn::Of(*seat);
        for seat in seats.filter(concerned) {
            let name = format!("{}:{}:{seat}", situation.name, kind.name);
            let title = match condition {
                Some(_) => situation.expected.to_owned(),
                None => format!("{} as seat {seat}", situation.expected),
            };
            let probe = Probe::new(&name, &title, Aim::Situation, kind, seat, &setup);
            probes.push(Probe { condition: condition.clone(), ..probe });
        }
    }
    probes
}

/// Returns the probes of the games that a game program's author has recorded: the agent plays on in the middle of
/// each, as each seat. Those that contradict the given setup are left out.
fn recorded(kind: GameKind, setup: &Value) -> Vec<Probe> {
    let Some(program) = kind.program() else { return Vec::new() };
    let fits = |with: &Value| {
        setup.as_object().is_none_or(|given| given.iter().all(|(key, value)| with[key] == *value))
    };
    let mut probes = Vec::new();
    for file in GoldenGame::files(program.folder()).into_iter().take(RECORDED_MAX) {
        let Ok(golden) = GoldenGame::read(&file) else { continue };
        let Some((setup, moves)) = golden.middle(kind).filter(|(with, _)| fits(with)) else {
            continue;
        };
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let seats = kind.start(&setup).map_or(0, |game| game.seats());
        probes.extend(Seat::all(seats).map(|seat| {
            let title =
                format!("plays on after {moves} moves of games/{name}.jsonl as seat {seat}");
            let name = format!("recorded:{}:{name}:{seat}", kind.name);
            Probe::new(&name, &title, Aim::Situation, kind, seat, &setup)
        }));
    }
    probes
}

impl Probe {
    fn new(name: &str, title: &str, aim: Aim, kind: GameKind, seat: Seat, setup: &Value) -> Self {
        let (name, title, setup) = (name.to_owned(), title.to_owned(), setup.clone());
        Self { number: 0, name, title, aim, kind, seat, setup, condition: None }
    }

    /// Returns the probe of the first turn of a game.
    pub(super) fn first_turn(kind: GameKind, setup: &Value) -> Self {
        Self::new("first-turn", "", Aim::FirstTurn, kind, Seat(0), setup)
    }

    /// Returns the probe that an agent must pass, or else this one doesn't apply to it.
    pub(super) fn condition(&self) -> Option<Self> {
        let setup = self.condition.clone()?;
        Some(Self { aim: Aim::Turns, setup, condition: None, ..self.clone() })
    }

    /// Returns why it doesn't apply to agents of courses, whose programs began in no other position and had one clock.
    pub(super) fn unknown_to_courses(&self) -> Option<&'static str> {
        match self.aim {
            Aim::Situation if self.setup.get("position").is_some() => Some(judge::NO_POSITIONS),
            Aim::OtherClock => Some("its course has one kind of clock"),
            _ => None,
        }
    }

    /// Returns the trial to run.
    pub(super) fn trial<'a>(&'a self, check: &'a Check<'_>) -> Trial<'a> {
        let variant = match self.aim {
            Aim::UnknownFields => TrialVariant::UnknownField,
            Aim::UnknownTypes => TrialVariant::UnknownType,
            Aim::Names => TrialVariant::Names,
            Aim::Quiet => TrialVariant::SlowOthers,
            Aim::Situation => TrialVariant::RareActions,
            Aim::Retired => TrialVariant::Retires,
            Aim::RetiredAtStart => TrialVariant::RetiresAtStart,
            Aim::Again => TrialVariant::Again,
            _ => TrialVariant::None,
        };
        let shutdown = match self.aim {
            Aim::Over | Aim::Leftovers => Shutdown::Over,
            Aim::EndOfInput => Shutdown::EndOfInput,
            Aim::Turns => Shutdown::Rest,
            _ => Shutdown::Kill,
        };
        let turns_max = match self.aim {
            Aim::Start | Aim::Ready | Aim::FirstTurn => 1,
            Aim::Seat => SEAT_TURNS,
            Aim::LongGame | Aim::Situation | Aim::Retired | Aim::RetiredAtStart => u64::MAX,
            _ => SOME_TURNS,
        };
        let time_max = if self.is_special() { SPECIAL } else { LONG };
        let conditions = check.conditions(self.kind);
        let usual = &conditions.clock;
        let clock = if self.aim == Aim::OtherClock { other_clock(usual) } else { usual.clone() };
        Trial {
            spec: check.spec,
            kind: self.kind,
            setup: &self.setup,
            seat: self.seat,
            seed: check.seed,
            clock,
            limits: &conditions.limits,
            variant,
            turns_max,
            time_max,
            shutdown,
            hung: check.history.hung.map(|_| AGAIN.max(check.history.slowest * 3)),
            known: &check.history.known_actions,
        }
    }

    /// Returns how many turns of the agent it needs.
    pub(super) fn turns_needed(&self) -> usize {
        match self.aim {
            Aim::Start | Aim::Ready | Aim::Over | Aim::EndOfInput | Aim::Leftovers => 0,
            Aim::FirstTurn | Aim::Quiet => 1,
            _ => 2,
        }
    }

    /// Returns the same probe without what is unusual about its messages. If that fails too, the failure
    /// has another cause.
    pub(super) fn control(&self) -> Option<Self> {
        let unusual = matches!(
            self.aim,
            Aim::UnknownFields | Aim::UnknownTypes | Aim::Names | Aim::OtherClock | Aim::Again
        );
        unusual.then(|| Self { aim: Aim::Turns, ..self.clone() })
    }

    /// Whether it tests something that is rare in games at random.
    pub(super) fn is_special(&self) -> bool {
        matches!(self.aim, Aim::Situation | Aim::Retired | Aim::RetiredAtStart)
    }

    /// Whether all later probes are skipped if it fails.
    fn is_essential(&self) -> bool {
        matches!(self.aim, Aim::Start | Aim::Ready | Aim::FirstTurn | Aim::Turns)
    }
}

/// Returns a clock with a limit for each turn instead of a bank, or with a bank instead of such a limit.
fn other_clock(clock: &ClockSettings) -> ClockSettings {
    let (bank_ms, move_ms) = match (clock.bank_ms, clock.move_ms) {
        (Some(bank_ms), limit) => (None, Some(limit.unwrap_or(bank_ms))),
        (None, limit) => (Some(limit.unwrap_or(OTHER_BANK_MS).max(OTHER_BANK_MS)), None),
    };
    let increment_ms = if bank_ms.is_some() { clock.increment_ms } else { 0 };
    ClockSettings { bank_ms, move_ms, increment_ms, ..clock.clone() }
}

/// The results of earlier probes.
#[derive(Debug, Default)]
pub(super) struct ProbeHistory {
    /// An essential probe has failed, or two have shown that the agent hangs, which takes their whole time.
    pub(super) blocked: bool,
    hung: Option<Defect>,
    /// The longest turn that was answered.
    slowest: Duration,
    start: Option<TrialReport>,
    end: Option<TrialReport>,
    /// The illegal actions in all probes.
    pub(super) illegal: Vec<IllegalAction>,
    /// The actions in two probes with the same requests and seed.
    twice: Vec<Vec<Value>>,
    /// Legal actions of recorded games and of earlier probes, of games that don't list them.
    known_actions: Vec<Value>,
}

impl ProbeHistory {
    /// Begins with what the authors of these games have recorded.
    pub(super) fn begin(kinds: impl Iterator<Item = GameKind>) -> Self {
        let folders = kinds.filter_map(|kind| kind.program()).filter(|program| !program.lists());
        let files = folders
            .flat_map(|program| GoldenGame::files(program.folder()).into_iter().take(RECORDED_MAX));
        let games = files.filter_map(|file| GoldenGame::read(&file).ok());
        let moves = games.flat_map(|golden| golden.moves).filter_map(|step| match step {
            Move::Action { action, .. } => Some(action),
            _ => None,
        });
        Self { known_actions: moves.collect(), ..Self::default() }
    }

    /// Returns the trial of an earlier probe, if this one needs the same.
    pub(super) fn known(&self, probe: &Probe) -> Option<&TrialReport> {
        match probe.aim {
            Aim::Start | Aim::Ready | Aim::FirstTurn => self.start.as_ref(),
            Aim::Over | Aim::Leftovers => self.end.as_ref(),
            _ => None,
        }
    }

    pub(super) fn keep(&mut self, probe: &Probe, trial: TrialReport, outcome: &ProbeOutcome) {
        let failed = outcome.failed();
        if probe.kind.program().is_some_and(|program| !program.lists()) {
            self.known_actions.extend_from_slice(&trial.actions);
        }
        self.illegal.extend(trial.illegal_action());
        self.slowest = self.slowest.max(trial.slowest);
        self.blocked |= failed && probe.is_essential();
        if let ProbeOutcome::Failed(failure) = outcome
            && matches!(failure.defect, Defect::Waiting | Defect::Thinking | Defect::SlowStart)
        {
            self.blocked |= self.hung == Some(failure.defect) || trial.used.wall >= LONG_HANG;
            self.hung = Some(failure.defect);
        }
        // It stays then at the end of its input, too.
        self.blocked |= failed && probe.aim == Aim::Over;
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
