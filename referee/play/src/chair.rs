//! Who sits at a seat: a program, the person at the terminal, or nobody because the machine failed.

use super::human::Human;
use referee_games::Meaning;
use referee_process::agent::{Agent, Sign};
use referee_process::framer::Framer;
use referee_process::launcher::Command;
use referee_process::stderr::Piece;
use referee_protocol::{Nanos, ToAgent};
use std::task::{Context, Poll};

/// A seat's occupant, with the same face for all.
#[derive(Debug)]
pub enum Chair {
    /// A program.
    Program(Box<Agent>),
    /// The person at the terminal.
    Person(Human),
    /// Nobody.
    Empty,
}

impl Chair {
    fn program(&self) -> Option<&Agent> {
        match self {
            Self::Program(agent) => Some(agent),
            Self::Person(_) | Self::Empty => None,
        }
    }

    fn program_mut(&mut self) -> Option<&mut Agent> {
        match self {
            Self::Program(agent) => Some(agent),
            Self::Person(_) | Self::Empty => None,
        }
    }

    /// A message for its stdin, with the next flush; `line` is the same as a line.
    pub fn tell(&mut self, message: &ToAgent, line: &[u8]) {
        if let Some(agent) = self.program_mut() {
            agent.tell(message, line);
        }
    }

    /// It speaks another protocol than the referee's own.
    pub fn has_dialect(&self) -> bool {
        self.program().is_some_and(|agent| agent.dialect.is_some())
    }

    /// What a line means in its own protocol; `None` where that is the referee's.
    pub fn hear(&mut self, line: &[u8]) -> Option<Meaning> {
        self.program_mut()?.hear(line)
    }

    /// Writes what was put; false if it no longer reads.
    #[must_use]
    pub fn flush(&mut self) -> bool {
        self.program_mut().is_none_or(Agent::flush)
    }

    /// See [`Agent::after_limit`].
    pub fn after_limit(&mut self, sign: Sign) -> Sign {
        match self.program_mut() {
            Some(agent) => agent.after_limit(sign),
            None => sign,
        }
    }

    /// Closes its stdin.
    pub fn close(&mut self) {
        if let Some(agent) = self.program_mut() {
            agent.close();
        }
    }

    /// Kills it with all that it started.
    pub fn kill(&mut self) {
        match self {
            Self::Program(agent) => agent.kill(),
            Self::Person(human) => human.leave(),
            Self::Empty => {}
        }
    }

    /// Tells its supervisor something.
    pub fn command(&self, command: Command) {
        if let Some(agent) = self.program() {
            agent.command(command);
        }
    }

    /// It has been killed, or has left.
    pub fn is_killed(&self) -> bool {
        match self {
            Self::Program(agent) => agent.killed,
            Self::Person(human) => human.has_left(),
            Self::Empty => true,
        }
    }

    /// Its own process has not ended, as far as is known.
    pub fn is_running(&self) -> bool {
        self.program().is_some_and(|agent| !agent.exited && !agent.gone)
    }

    /// How its own process ended is known.
    pub fn has_exited(&self) -> bool {
        self.program().is_some_and(|agent| agent.exited)
    }

    /// Nothing of it is left.
    pub fn is_gone(&self) -> bool {
        self.program().is_none_or(|agent| agent.gone)
    }

    /// What becomes of its process from now on has been told.
    pub fn forget_status(&mut self) {
        if let Some(agent) = self.program_mut() {
            agent.status_told = true;
        }
    }

    /// See [`Chair::forget_status`].
    pub fn is_status_told(&self) -> bool {
        self.program().is_some_and(|agent| agent.status_told)
    }

    /// The next thing that it did.
    pub fn poll_sign(&mut self, context: &mut Context<'_>, scratch: &mut [u8]) -> Poll<Sign> {
        match self {
            Self::Program(agent) => agent.poll_sign(context, scratch),
            Self::Person(human) => human.poll_sign(context, scratch),
            Self::Empty => Poll::Pending,
        }
    }

    /// The state of its line, to be put back.
    pub fn take_framer(&mut self) -> Framer {
        self.program_mut().map_or_else(Framer::default, |agent| std::mem::take(&mut agent.framer))
    }

    /// See [`Chair::take_framer`].
    pub fn put_framer(&mut self, framer: Framer) {
        if let Some(agent) = self.program_mut() {
            agent.framer = framer;
        }
    }

    /// What came of its stderr; with `only_full`, only if there is a good deal of it.
    pub fn complaint(&mut self, only_full: bool) -> Option<Piece> {
        let agent = self.program_mut()?;
        if only_full && !agent.complaints.is_full() {
            return None;
        }
        agent.complaints.take()
    }

    /// What is left of its stderr at the end.
    pub fn last_complaints(&mut self) -> Vec<Piece> {
        self.program_mut().map_or_else(Vec::new, |agent| agent.complaints.finish())
    }

    /// CPU time so far, of the whole tree or of its own process.
    pub fn cpu(&self, whole: bool) -> Option<Nanos> {
        let agent = self.program()?;
        if whole { agent.tree_cpu() } else { agent.meters.as_ref()?.process_cpu() }
    }

    /// Time spent waiting for a core so far. It is asked for at the end of `long` turns, and at the
    /// `beginning` of the turn after one, so that quick agents are never slowed by the question.
    pub fn wait(&mut self, beginning: bool, long: bool) -> Option<Nanos> {
        let agent = self.program_mut()?;
        let asked = if beginning { agent.slow } else { long && agent.slow };
        if !beginning {
            agent.slow = long;
        }
        if asked { agent.meters.as_ref()?.wait() } else { None }
    }
}
