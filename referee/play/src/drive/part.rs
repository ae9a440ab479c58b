//! A part of a match, to try one agent. It ends at a maximum number of turns, and the agent's process
//! is kept until the caller is done with it.

use super::examination::examine;
use super::patience::{LOOK, Patience};
use super::recording::Recording;
use super::{Drive, DriveEvent};
use crate::connection::AgentConnection;
use crate::core_context::CoreContext;
use crate::participant::Participant;
use crate::sink::Sink;
use referee_games::AnyGame;
use referee_match::diagnosis::{Hang, Usage};
use referee_match::{Effect, Input, Match, Reading};
use referee_process::agent::AgentEvent;
use referee_process::usage::Meters;
use referee_protocol::{Event, Fault, Seat};
use std::io;
use std::time::{Duration, Instant};

/// How a partial match differs from a whole one.
#[derive(Clone, Copy, Debug)]
pub struct PartialMatchRules {
    /// The seat under trial.
    pub seat: Seat,
    /// It ends before the seat is asked more often than this.
    pub turns_max: u64,
    /// It also ends before the seat's first request after this time.
    pub time_max: Option<Duration>,
    /// Waits for late answers as long as they take. They are still late.
    pub is_patient: bool,
}

/// The state of a partial match.
#[derive(Debug)]
pub(super) struct PartState {
    pub(super) rules: PartialMatchRules,
    began: Instant,
    turns: u64,
    /// A limit of turns or time has been reached.
    is_done: bool,
}

impl PartState {
    pub(super) fn new(rules: PartialMatchRules) -> Self {
        Self { rules, began: Instant::now(), turns: 0, is_done: false }
    }
}

impl Drive<'_> {
    /// Whether the seat is under trial: its process and its stderr are kept.
    pub(super) fn is_tried(&self, seat: Seat) -> bool {
        self.part.as_ref().is_some_and(|part| part.rules.seat == seat)
    }

    /// Whether the partial match is done, or the seat is out.
    pub(super) fn is_enough(&self) -> bool {
        let out = |part: &PartState| self.state.fault_of(part.rules.seat).is_some();
        self.part.as_ref().is_some_and(|part| part.is_done || out(part))
    }

    /// Counts a request, and returns whether the partial match ends before it.
    pub(super) fn ends_before(&mut self, seat: Seat) -> bool {
        let Some(part) = self.part.as_mut().filter(|part| part.rules.seat == seat) else {
            return false;
        };
        let over = part.rules.time_max.is_some_and(|time| part.began.elapsed() > time);
        part.is_done = over || part.turns == part.rules.turns_max;
        part.turns += 1;
        let is_done = part.is_done;
        if is_done && self.state.has_ended(seat) {
            // It was not to move when it ended, so the match judges that when it is asked.
            self.input_at(self.step.began, Input::Asked(seat, Reading::default()));
        }
        is_done
    }
}

/// A partial match that is running.
#[expect(missing_debug_implementations, reason = "it has a closure")]
pub struct PartialMatch<'a> {
    drive: Drive<'a>,
    seat: Seat,
    began: Instant,
    /// The current turn, and what had been used when it began.
    turn: (u64, Usage),
    /// Whether the last event was a line of the agent, so that a fault was found in that line.
    pub has_answered: bool,
    /// Its stderr, as far as it is kept.
    pub stderr: String,
    /// The exit status of its process.
    pub status: Option<String>,
    /// Which stream it closed, though its process may still run.
    pub closed: Option<&'static str>,
    /// Why the program could not be started, if that was its own fault and no matter of grants.
    pub not_started: Option<nix::errno::Errno>,
}

impl<'a> PartialMatch<'a> {
    /// Begins with a match, its first effects and the participants; the seat under trial must be a
    /// process. `watcher` gets every event.
    pub fn begin(
        core: &'a CoreContext,
        begun: (Match, Vec<Effect>),
        participants: Vec<Participant>,
        rules: PartialMatchRules,
        watcher: &'a mut dyn FnMut(&Event, &Match),
    ) -> io::Result<Self> {
        let recording = Recording::new(Sink::nowhere(), watcher, false);
        let mut part = Self {
            drive: Drive::begin(core, begun, participants, recording, None, Some(rules))?,
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
        Ok(part)
    }

    /// Waits for the next event; false if there is none by `until`. An error is the machine's.
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

    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        self.drive.ending.is_some() || self.drive.is_enough()
    }

    /// Whether the seat's answer or `ready` is awaited.
    pub fn is_waited_for(&self) -> bool {
        self.drive.state.thinking() == Some(self.seat) || !self.is_ready()
    }

    /// Whether the seat has sent `ready`.
    pub fn is_ready(&self) -> bool {
        self.drive.state.header().seats[self.seat.index()].ready.is_some()
    }

    /// Whether the seat has offered to play another game in the same process.
    pub fn offers_another_game(&self) -> bool {
        let ready = &self.drive.state.header().seats[self.seat.index()].ready;
        ready.as_ref().is_some_and(|ready| ready.again) && !self.connection().has_dialect()
    }

    /// Returns the agent, for another game.
    pub fn into_connection(mut self) -> Box<AgentConnection> {
        self.drive
            .take_out(self.seat)
            .map(|(_, agent)| agent)
            .expect("the seat under trial is a process")
    }

    /// Whether the rules have ended the game.
    pub fn is_game_over(&self) -> bool {
        self.drive.ending.as_ref().is_some_and(|ending| ending.outcome.is_some())
    }

    /// Returns the seat's fault, as the match judged it.
    pub fn fault(&self) -> Option<&Fault> {
        self.drive.state.fault_of(self.seat)
    }

    /// Returns cause and description if the match is void.
    pub fn void(&self) -> Option<(&str, &str)> {
        let void = self.drive.ending.as_ref()?.verdict.void.as_ref()?;
        Some((&void.cause, &void.text))
    }

    /// Returns the current state of the game.
    pub fn game(&self) -> &dyn AnyGame {
        self.drive.state.game()
    }

    /// Returns how often the seat has been asked.
    pub fn turns(&self) -> u64 {
        self.turn.0
    }

    /// Returns the agent under trial.
    pub fn connection(&self) -> &AgentConnection {
        let participant = &self.drive.participants[self.seat.index()];
        participant.connection().expect("the seat under trial is a process")
    }

    /// See [`PartialMatch::connection`].
    pub fn connection_mut(&mut self) -> &mut AgentConnection {
        let participant = &mut self.drive.participants[self.seat.index()];
        participant.connection_mut().expect("the seat under trial is a process")
    }

    /// Returns what it used since it was asked or, before that, since it was started.
    pub fn used(&self) -> Usage {
        self.connection().used_at_end(self.began, self.turn.1)
    }

    /// Returns its CPU time and time waiting for a core, which grow while it computes.
    pub fn activity(&self) -> Duration {
        let used = self.connection().used(self.began);
        used.cpu + used.waited
    }

    /// Ends the match as interrupted, and sends `over` to the agent.
    pub fn stop(&mut self, text: &str) {
        self.set_done(false);
        self.drive.input(Input::Stop { cause: "interrupted", text: text.to_owned(), seat: None });
        self.drive.apply();
    }

    /// After its last turn, waits for the end of an agent that is ending. It is judged as at the next request.
    pub async fn await_end(&mut self, time: Duration) -> io::Result<()> {
        self.await_end_or(time, |_| false).await
    }

    /// After its last turn, waits until the agent sleeps. What it wrote before is judged.
    pub async fn await_rest(&mut self, time: Duration) -> io::Result<()> {
        self.await_end_or(time, Meters::is_asleep).await
    }

    async fn await_end_or(&mut self, time: Duration, rests: fn(&Meters) -> bool) -> io::Result<()> {
        let mut patience = Patience::begin(time, Instant::now());
        self.set_done(false);
        while !self.is_over() && !patience.is_over(self.connection(), Instant::now()) {
            let rests = self.connection().process.meters_left().is_some_and(rests);
            // What it wrote before it went to sleep is in the pipe.
            tokio::task::yield_now().await;
            let until = if rests { Instant::now() } else { Instant::now() + LOOK };
            if !self.next(until).await? && rests {
                break;
            }
        }
        self.set_done(true);
        Ok(())
    }

    fn set_done(&mut self, is_done: bool) {
        if let Some(part) = &mut self.drive.part {
            part.is_done = is_done;
        }
    }

    /// Whether the agent may still answer: it computes, or sleeps for a time.
    pub fn may_answer(&self) -> bool {
        self.connection().hang().wait.is_none_or(|wait| !wait.may_end_with_input())
    }

    /// Finds out why the agent doesn't answer. That may end it.
    pub async fn examine(&mut self) -> Hang {
        let hang = examine(self.connection_mut()).await;
        self.note(&AgentEvent::Stderr);
        hang
    }

    /// Returns the next event of the process, without judging it.
    pub async fn listen(&mut self, until: Instant) -> Option<AgentEvent> {
        let event = self.connection_mut().process.next_event(until).await;
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
                // The process tree can be found only while it runs.
                self.connection().process.meters_left().map(Meters::processes);
            }
            AgentEvent::Exited(status) => self.status = Some(status.clone()),
            AgentEvent::StdoutClosed => self.closed = Some("closed its stdout"),
            AgentEvent::StdinClosed => self.closed = Some("closed its stdin"),
            AgentEvent::Failed(errno) if self.connection().refused_program(*errno).is_none() => {
                self.not_started = Some(*errno);
            }
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

    /// Kills the process tree, waits until it is gone, and returns all its stderr.
    pub async fn end(mut self) -> io::Result<String> {
        self.connection_mut().process.kill_and_wait().await?;
        let pieces = self.connection_mut().process.stderr.finish();
        self.keep(pieces);
        Ok(self.stderr)
    }
}
