//! The recorded turn, or start of an agent, that `debug` replays, and the judgement of the new answer.

use super::agent_spec::{AgentSpec, has_kit};
use super::input_files::unreadable;
use super::rerun::RerunReport;
use super::sources::after_building;
use referee_games::{AnyGame, Games};
use referee_match::diagnosis::{Engine, Evidence, Finding, Stage, find, without_notices};
use referee_match::transcript::walk;
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use referee_protocol::{Event, Fault, FaultKind, Header, Seat};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// A turn of a recorded match.
#[derive(Debug)]
pub struct RecordedTurn {
    /// The header of the transcript.
    pub header: Header,
    /// All events of the transcript.
    pub events: Vec<Event>,
    /// The seat to move.
    pub seat: Seat,
    /// The turn; `None` for the agent's start.
    pub turn: Option<u64>,
    /// The game at that turn.
    pub game: Box<dyn AnyGame>,
    /// The whole transcript, and the games that are known.
    transcript: (Vec<u8>, Games),
}

impl RecordedTurn {
    /// Reads a turn from a transcript. `seat` is a number or an agent's name; the default is the seat that
    /// moved in the given turn, else the one at fault, else the only one. The default turn is the seat's
    /// last one. For a turn of another seat, takes the seat's turn before it, or its start.
    pub fn read(
        bytes: &[u8],
        games: &Games,
        file: &str,
        seat: Option<&str>,
        turn: Option<u64>,
    ) -> Result<Self, Failure> {
        let mut steps = walk(bytes, games).map_err(|error| unreadable(file, &error))?;
        let mut events = Vec::new();
        while let Some(event) = steps.step().map_err(|error| unreadable(file, &error))? {
            events.push(event);
        }
        let header = steps.walk().header().clone();
        let asked = events.iter().filter_map(|event| match event {
            Event::Turn(turn) => Some((turn.turn, turn.seat)),
            _ => None,
        });
        let asked: Vec<(u64, Seat)> = asked.collect();
        let moved = turn.and_then(|wanted| asked.iter().find(|(turn, _)| *turn == wanted));
        let seat = match (seat, moved) {
            (Some(wanted), _) => named_seat(wanted, &header)?,
            (None, Some((_, seat))) => *seat,
            (None, None) => default_seat(&header, &events)?,
        };
        let turn = last_turn(turn, seat, &asked)?;
        let mut again = walk(bytes, games).map_err(|error| unreadable(file, &error))?;
        while let Some(event) = again.step().map_err(|error| unreadable(file, &error))? {
            if let Event::Turn(asked) = event
                && Some(asked.turn) == turn
            {
                break;
            }
        }
        let game = again.walk().game().clone_box();
        let transcript = (bytes.to_vec(), games.clone());
        Ok(Self { header, events, seat, turn, game, transcript })
    }

    /// Whether the agent speaks another protocol than the referee's.
    fn is_foreign(&self) -> bool {
        self.header.seats[self.seat.index()].is_foreign()
    }

    /// Returns how far the agent came before this turn.
    fn stage(&self) -> Stage {
        let earlier = self.events.iter().filter(|event| match event {
            Event::Played(played) => played.seat == self.seat && Some(played.turn) < self.turn,
            _ => false,
        });
        Stage::after(self.turn.is_some(), earlier.count())
    }

    /// Returns what is wrong with the agent's new answer, if anything. A resignation isn't wrong.
    pub fn wrong(&self, spec: &AgentSpec, report: &RerunReport) -> Option<Finding> {
        let fault = report.fault.as_ref().filter(|fault| fault.kind != FaultKind::Resigned)?;
        let finding = self.find(fault, report);
        let fix = after_building(spec, &finding.fix);
        Some(finding.fix(fix))
    }

    fn find(&self, fault: &Fault, report: &RerunReport) -> Finding {
        let spoken = self.header.seats[self.seat.index()].protocol.as_ref();
        let known = Evidence {
            got: report.got.last().map(Vec::as_slice),
            unended: &report.unended,
            foreign: self.is_foreign(),
            engine: Engine::of(spoken, self.game.kind(), &report.sent),
            has_kit: self.header.seats[self.seat.index()].agent.as_deref().is_some_and(has_kit),
            status: report.status.as_deref(),
            stderr: &without_notices(&report.stderr),
            denied: report.denied.as_deref(),
            game: Some(&*self.game),
            used: Some(report.used),
            hang: report.hang.as_ref(),
            transcript: Some((&self.transcript.0, &self.transcript.1)),
            stage: self.stage(),
            ..Evidence::default()
        };
        find(fault, &known)
    }

    /// Says why an agent may answer otherwise than in the match, if it does, and how it may have resigned by mistake.
    pub fn note(&self, spec: &AgentSpec, report: &RerunReport) -> Option<String> {
        let is_unchanged = spec.digest == self.header.seats[self.seat.index()].digest;
        let differs = !report.same && !report.got.is_empty() || !report.strayed.is_empty();
        let resigned = report.fault.as_ref().filter(|fault| fault.kind == FaultKind::Resigned);
        if let Some(fault) = resigned {
            let Finding { what, fix, .. } = self.find(fault, report);
            return Some(format!("{what}: {fix}"));
        }
        let note = if is_unchanged {
            "the unchanged program gave another answer than in the match: if it uses random numbers, seed them from \
             `seed` in `hello`; answers that depend on time differ too"
        } else {
            "the program has changed since the match"
        };
        differs.then(|| note.to_owned())
    }
}

/// A replayed turn, as JSON.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TurnReport {
    /// The agent, as it was started.
    agent: String,
    /// The seat.
    seat: Seat,
    /// The turn; null if the seat had none.
    turn: Option<u64>,
    /// The lines sent since the previous turn; the request is the last.
    sent: String,
    /// The lines received; bytes that are not UTF-8 are replaced.
    got: Vec<String>,
    /// The lines received in the recorded match.
    recorded: Vec<String>,
    /// Whether the answer equals the recorded one.
    same: bool,
    /// Earlier turns in which the answer differs from the recording.
    strayed: Vec<u64>,
    /// How its process ended, if it ended.
    status: Option<String>,
    /// Time from the request to the answer, in milliseconds.
    wall_ms: u64,
    /// CPU time until the answer, in milliseconds.
    cpu_ms: u64,
    /// What is wrong with the answer; null if nothing.
    wrong: Option<String>,
    /// How to fix it.
    fix: Option<String>,
    /// What it wrote to stderr.
    stderr: String,
}

impl TurnReport {
    /// Collects what is known of the new answer; `wrong` is its fault.
    pub fn new(
        recorded: &RecordedTurn,
        spec: &AgentSpec,
        report: &RerunReport,
        wrong: Option<&Finding>,
    ) -> Self {
        let lines = |lines: &[Vec<u8>]| {
            lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
        };
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            agent: spec.written.clone(),
            seat: recorded.seat,
            turn: recorded.turn,
            sent: report.sent.clone(),
            got: lines(&report.got),
            recorded: lines(&report.recorded),
            same: report.same,
            strayed: report.strayed.clone(),
            status: report.status.clone(),
            wall_ms: ms(report.used.wall),
            cpu_ms: ms(report.used.cpu),
            wrong: wrong.map(|finding| finding.what.clone()),
            fix: wrong.map(|finding| finding.fix.clone()),
            stderr: report.stderr.clone(),
        }
    }
}

/// Returns the seat with this number, or of the agent with this name.
fn named_seat(wanted: &str, header: &Header) -> Result<Seat, Failure> {
    let mut seats = header.seats.iter();
    let number = wanted.parse::<usize>().ok();
    let found = match number {
        Some(number) => seats.nth(number),
        None => seats.find(|seat| seat.name == wanted),
    };
    found.map(|seat| seat.seat).ok_or_else(|| {
        let all =
            header.seats.iter().map(|seat| format!("{} ({})", seat.seat, sanitize(&seat.name)));
        let all: Vec<String> = all.collect();
        Failure::usage(format!("--seat {wanted}: the seats are {}", all.join(", ")))
    })
}

/// Returns the seat at fault, else the only one.
fn default_seat(header: &Header, events: &[Event]) -> Result<Seat, Failure> {
    let faulty = events.iter().find_map(|event| match event {
        Event::Retired(event) => Some(event.seat),
        Event::Over(event) => {
            event.verdict.seats.iter().find(|seat| seat.fault.is_some()).map(|seat| seat.seat)
        }
        _ => None,
    });
    let seats = header.seats.len();
    faulty.or((seats == 1).then_some(Seat(0))).ok_or_else(|| {
        Failure::usage("no agent was at fault in this match, so a seat or a turn is needed")
            .help(format!("add --turn N, or --seat N where N is 0 to {}", seats - 1))
    })
}

/// Returns the wanted turn, or the seat's last turn before it: a fault may happen in another seat's turn.
/// `None` is the seat's start.
fn last_turn(
    wanted: Option<u64>,
    seat: Seat,
    asked: &[(u64, Seat)],
) -> Result<Option<u64>, Failure> {
    let last = asked.last().map_or(0, |&(turn, _)| turn);
    // A fault after the last turn is recorded with the number of the next one.
    if let Some(wanted) = wanted.filter(|&wanted| wanted > last + 1) {
        return Err(Failure::usage(format!(
            "--turn {wanted}: the last turn of the match is {last}"
        )));
    }
    let wanted = wanted.unwrap_or(last);
    Ok(asked.iter().rfind(|&&(turn, mover)| mover == seat && turn <= wanted).map(|&(turn, _)| turn))
}
