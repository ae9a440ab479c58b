//! The participant at a seat: a process, a person, a stand-in, or none because the machine failed.

use super::connection::AgentConnection;
use super::human::Human;
use referee_games::AnyGame;
use referee_process::agent::AgentEvent;
use referee_process::framer::Line;
use referee_process::launcher::Command;
use referee_protocol::Seat;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::Sleep;

/// The participant at a seat. All kinds are polled for the same events.
#[derive(Debug)]
pub enum Participant {
    /// A program that runs.
    Process(Box<AgentConnection>),
    /// A person at the terminal or on a page.
    Person(Human),
    /// Code that answers for an agent that doesn't run.
    StandIn(StandIn),
    /// The agent could not be started.
    Absent {
        /// The reason.
        text: String,
        /// It is the agent's own fault, not the machine's.
        is_own_fault: bool,
    },
    /// Its process was taken out of the match when that was over, for another one.
    Taken,
}

/// Returns the line of a [`StandIn`] in a turn; `None` if it never answers.
pub type Answer = dyn FnMut(&dyn AnyGame) -> Option<Vec<u8>>;

/// Answers for an agent that doesn't run.
pub struct StandIn {
    answer: Box<Answer>,
    /// How long it takes to answer.
    delay: Duration,
    coming: Option<(Pin<Box<Sleep>>, Vec<u8>)>,
}

impl fmt::Debug for StandIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandIn").field("delay", &self.delay).finish_non_exhaustive()
    }
}

impl StandIn {
    fn ask(&mut self, game: &dyn AnyGame) {
        let line = (self.answer)(game);
        self.coming = line.map(|line| (Box::pin(tokio::time::sleep(self.delay)), line));
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<AgentEvent> {
        let Some((sleep, _)) = &mut self.coming else { return Poll::Pending };
        if !self.delay.is_zero() && sleep.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        let line = self.coming.take().map(|(_, bytes)| Line { bytes, cut: false });
        line.map_or(Poll::Pending, |line| Poll::Ready(AgentEvent::Line(line)))
    }
}

impl Participant {
    /// Returns an agent at its seat and stand-ins at the others, each with the answers made for its
    /// seat.
    pub fn among_stand_ins(
        seats: usize,
        (seat, agent): (Seat, AgentConnection),
        delay: Duration,
        mut answer: impl FnMut(Seat) -> Box<Answer>,
    ) -> Vec<Self> {
        let mut agent = Some(Box::new(agent));
        let participant = |at| match agent.take_if(|_| at == seat) {
            Some(agent) => Self::Process(agent),
            None => Self::StandIn(StandIn { answer: answer(at), delay, coming: None }),
        };
        Seat::all(seats).map(participant).collect()
    }

    /// Returns the process with its codec, if it is one.
    pub fn connection(&self) -> Option<&AgentConnection> {
        match self {
            Self::Process(connection) => Some(connection),
            _ => None,
        }
    }

    /// See [`Participant::connection`].
    pub fn connection_mut(&mut self) -> Option<&mut AgentConnection> {
        match self {
            Self::Process(connection) => Some(connection),
            _ => None,
        }
    }

    /// Whether it is a process.
    pub fn is_process(&self) -> bool {
        self.connection().is_some()
    }

    /// Asks a participant that gets no messages.
    pub fn ask(&mut self, game: &dyn AnyGame) {
        match self {
            Self::Person(human) => human.ask(game),
            Self::StandIn(stand_in) => stand_in.ask(game),
            Self::Process(_) | Self::Absent { .. } | Self::Taken => {}
        }
    }

    /// Kills it and all that it started.
    pub fn kill(&mut self) {
        match self {
            Self::Process(connection) => connection.process.kill(),
            Self::Person(human) => human.leave(),
            Self::StandIn(stand_in) => stand_in.coming = None,
            Self::Absent { .. } | Self::Taken => {}
        }
    }

    /// Sends a command to its supervisor.
    pub fn command(&self, command: Command) {
        if let Some(connection) = self.connection() {
            connection.process.command(command);
        }
    }

    /// Whether it has been killed or has left.
    pub fn is_killed(&self) -> bool {
        match self {
            Self::Process(connection) => connection.process.is_killed(),
            Self::Person(human) => human.has_left(),
            Self::StandIn(_) => false,
            Self::Absent { .. } | Self::Taken => true,
        }
    }

    /// Whether its program has not exited, as far as is known.
    pub fn is_running(&self) -> bool {
        self.connection().is_some_and(|connection| connection.process.is_running())
    }

    /// Whether nothing of it is left.
    pub fn is_gone(&self) -> bool {
        self.connection().is_none_or(|connection| connection.process.is_gone())
    }

    /// Returns the next event and when it was seen.
    pub fn poll_event(
        &mut self,
        context: &mut Context<'_>,
        scratch: &mut [u8],
    ) -> Poll<(Instant, AgentEvent)> {
        let event = match self {
            Self::Process(connection) => return connection.process.poll_event(context, scratch),
            Self::Person(human) => human.poll_event(context),
            Self::StandIn(stand_in) => stand_in.poll_event(context),
            Self::Absent { .. } | Self::Taken => Poll::Pending,
        };
        event.map(|event| (Instant::now(), event))
    }
}
