//! A part of a match, to try one agent in: it ends before the agent would be asked once too often,
//! and whatever the agent has done, its process stays until whoever tries it is done with it.

use super::{Drive, DriveEvent};
use crate::connection::AgentConnection;
use crate::core_context::CoreContext;
use crate::participant::Participant;
use crate::sink::Sink;
use referee_games::AnyGame;
use referee_match::diagnosis::Usage;
use referee_match::{Effect, Input, Match};
use referee_process::agent::AgentEvent;
use referee_process::usage::Meters;
use referee_protocol::{Event, Fault, Seat};
use std::io;
use std::time::{Duration, Instant};

/// What is otherwise in a part of a match.
#[derive(Clone, Copy, Debug)]
pub struct PartialMatchRules {
    /// Whose process is tried.
    pub seat: Seat,
    /// It ends when the seat would be asked once more than this.
    pub turns_max: u64,
    /// It also ends at the seat's first request after this time.
    pub time_max: Option<Duration>,
    /// Answers are waited for as long as they take; they are late all the same.
    pub is_patient: bool,
}

/// How far a part has come.
#[derive(Debug)]
pub(super) struct PartState {
    pub(super) rules: PartialMatchRules,
    began: Instant,
    turns: u64,
    /// The seat would be asked once too often.
    is_done: bool,
}

impl PartState {
    pub(super) fn new(rules: PartialMatchRules) -> Self {
        Self { rules, began: Instant::now(), turns: 0, is_done: false }
    }
}

impl Drive<'_> {
    /// The seat's process is kept, whatever it does, and so is its stderr.
    pub(super) fn is_tried(&self, seat: Seat) -> bool {
        self.part.as_ref().is_some_and(|part| part.rules.seat == seat)
    }

    /// Nothing more is to be carried out: the part is done, or the seat is out.
    pub(super) fn is_enough(&self) -> bool {
        let out = |part: &PartState| self.state.fault_of(part.rules.seat).is_some();
        self.part.as_ref().is_some_and(|part| part.is_done || out(part))
    }

    /// A seat is to be asked; whether it isn't, because that would be once too often.
    pub(super) fn ends_before(&mut self, seat: Seat) -> bool {
        let Some(part) = self.part.as_mut().filter(|part| part.rules.seat == seat) else {
            return false;
        };
        let over = part.rules.time_max.is_some_and(|time| part.began.elapsed() > time);
        part.is_done = over || part.turns == part.rules.turns_max;
        part.turns += 1;
        part.is_done
    }
}

/// A part of a match that is under way.
#[expect(missing_debug_implementations, reason = "there is a closure in it")]
pub struct PartialMatch<'a> {
    drive: Drive<'a>,
    seat: Seat,
    began: Instant,
    /// The turn that it is in, and what had been used when that began.
    turn: (u64, Usage),
    /// What happened last in the match was a line of the process: what it was found at fault with
    /// came with a line of its own.
    pub has_answered: bool,
    /// All that it wrote to its stderr, as far as it is kept.
    pub stderr: String,
    /// How its process ended, in words, where it has.
    pub status: Option<String>,
    /// It closed its stdout or its stdin, though its process may still run; in words.
    pub closed: Option<&'static str>,
    /// Why the program could not be started, where that was its own fault.
    pub not_started: Option<nix::errno::Errno>,
}

impl<'a> PartialMatch<'a> {
    /// Begins a part, of which `watcher` gets every event: with a match and the effects that are to
    /// be carried out, and those who play it, of whom the seat to be tried is a process.
    pub fn begin(
        table: &'a CoreContext,
        begun: (Match, Vec<Effect>),
        participants: Vec<Participant>,
        rules: PartialMatchRules,
        watcher: &'a mut dyn FnMut(&Event, &Match),
    ) -> Self {
        let sink = Sink::nowhere();
        let mut part = Self {
            drive: Drive::begin(table, begun, participants, sink, watcher, Some(rules)),
            seat: rules.seat,
            began: Instant::now(),
            turn: (0, Usage::default()),
            has_answered: false,
            stderr: String::new(),
            status: None,
            closed: None,
            not_started: None,
        };
        part.turn.1 = part.connection().used(part.began);
        part.drive.apply();
        part.turn.0 = part.asked_times();
        part
    }

    /// Waits for the next thing that happens in it; false where nothing does until then. An error is
    /// the machine's.
    pub async fn next(&mut self, until: Instant) -> io::Result<bool> {
        let next = tokio::time::timeout_at(until.into(), self.drive.next());
        let Ok(event) = next.await else { return Ok(false) };
        self.has_answered = false;
        if let DriveEvent::Event(seat, _, event) = &event
            && *seat == self.seat
        {
            self.note(event);
            self.has_answered = matches!(event, AgentEvent::Line(_));
            if let AgentEvent::Broken(trouble) = event {
                return Err(io::Error::other(trouble.to_string()));
            }
        }
        self.drive.take(event);
        let turns = self.asked_times();
        if turns != self.turn.0 && !self.is_over() {
            self.turn = (turns, self.connection().used(self.began));
        }
        Ok(true)
    }

    fn asked_times(&self) -> u64 {
        self.drive.part.as_ref().map_or(0, |part| part.turns)
    }

    /// Whether it has come to its end.
    pub fn is_over(&self) -> bool {
        self.drive.ending.is_some() || self.drive.is_enough()
    }

    /// The seat is being waited for: for its answer, or for its `ready`.
    pub fn is_waited_for(&self) -> bool {
        self.drive.state.thinking() == Some(self.seat) || !self.is_ready()
    }

    /// The seat has said `ready`.
    pub fn is_ready(&self) -> bool {
        self.drive.state.header().seats[self.seat.index()].ready.is_some()
    }

    /// The rules ended the game.
    pub fn is_game_over(&self) -> bool {
        self.drive.ending.as_ref().is_some_and(|ending| ending.outcome.is_some())
    }

    /// What the seat is out for, as the match judged it.
    pub fn fault(&self) -> Option<&Fault> {
        self.drive.state.fault_of(self.seat)
    }

    /// Why the match could not go on, through nobody's fault: its cause, and what happened.
    pub fn void(&self) -> Option<(&str, &str)> {
        let void = self.drive.ending.as_ref()?.verdict.void.as_ref()?;
        Some((&void.cause, &void.text))
    }

    /// The game as it stands.
    pub fn game(&self) -> &dyn AnyGame {
        self.drive.state.game()
    }

    /// How often the seat has been asked.
    pub fn turns(&self) -> u64 {
        self.turn.0
    }

    /// The agent that is tried.
    pub fn connection(&self) -> &AgentConnection {
        let participant = &self.drive.participants[self.seat.index()];
        participant.connection().expect("a process is tried")
    }

    /// See [`PartialMatch::connection`].
    pub fn connection_mut(&mut self) -> &mut AgentConnection {
        let participant = &mut self.drive.participants[self.seat.index()];
        participant.connection_mut().expect("a process is tried")
    }

    /// What it has used since it was asked, or since it was started.
    pub fn used(&self) -> Usage {
        self.connection().used(self.began).since(self.turn.1)
    }

    /// What grows as long as it computes or wants to.
    pub fn activity(&self) -> Duration {
        let used = self.connection().used(self.began);
        used.cpu + used.waited
    }

    /// The agent is told that the match is over, as one that was stopped.
    pub fn stop(&mut self, text: &str) {
        if let Some(part) = &mut self.drive.part {
            part.is_done = false;
        }
        self.drive.input(Input::Stop { cause: "interrupted", text: text.to_owned() });
        self.drive.apply();
    }

    /// The next thing that the process does, which is judged no more.
    pub async fn listen(&mut self, until: Instant) -> Option<AgentEvent> {
        let event = self.connection_mut().next(until).await;
        if let Some(event) = &event {
            self.note(event);
        }
        event
    }

    fn note(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Stderr => {
                let piece = self.connection_mut().process.stderr.take();
                self.keep(piece);
            }
            AgentEvent::Started => {
                // Whose processes are to be counted is known only while it runs.
                self.connection().process.meters_left().map(Meters::processes);
            }
            AgentEvent::Exited(status) => self.status = Some(status.clone()),
            AgentEvent::StdoutClosed => self.closed = Some("closed its stdout"),
            AgentEvent::StdinClosed => self.closed = Some("closed its stdin"),
            AgentEvent::Failed(errno) => self.not_started = Some(*errno),
            _ => {}
        }
    }

    fn keep(&mut self, pieces: impl IntoIterator<Item = referee_process::stderr::Piece>) {
        for piece in pieces {
            if piece.dropped_bytes > 0 {
                self.stderr.push_str("\n[..]\n");
            }
            self.stderr.push_str(&piece.text);
        }
    }

    /// Kills what is left of the process, and waits until nothing is; all that it wrote to its
    /// stderr.
    pub async fn end(mut self) -> io::Result<String> {
        self.connection_mut().end().await?;
        let pieces = self.connection_mut().process.stderr.finish();
        self.keep(pieces);
        Ok(self.stderr)
    }
}
