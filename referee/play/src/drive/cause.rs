//! Finds out why an agent has closed a pipe or could not be started, before the match hears of it.
//!
//! The end of its pipes, its exit status and the reports of its supervisor come in any order, but what
//! they say together is always the same. So at the first of them the match waits for the others: its
//! time is held, and only this agent's events are looked at. An agent that is ending has ended; one that
//! runs on has closed a stream; and for one that could not be started, a program that is known to be
//! good is started in the same way, to see whether the machine is the reason.

use super::patience::{LOOK, Patience};
use super::{Drive, Waiting};
use crate::agent_spec::{AgentSpec, first_line};
use crate::connection::AgentConnection;
use crate::core_context::CoreContext;
use crate::participant::Participant;
use nix::errno::Errno;
use referee_games::GameKind;
use referee_match::{Input, Reading};
use referee_process::agent::{AgentEvent, StartFailure, is_damaged};
use referee_protocol::{FaultKind, Limits, Seat};
use std::path::Path;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// A built-in agent.
const GOOD: &str = "@first";
/// How long it may take to start.
const WAIT: Duration = Duration::from_secs(10);
/// How long an agent may take to exit after it closed a stream, so that it counts as its exit.
const EXIT_WAIT: Duration = Duration::from_millis(500);

/// How a start failed.
#[derive(Clone, Copy, Debug)]
pub(super) enum FailedStart {
    /// The system refused to execute the program.
    Program(Errno),
    /// A layer of the sandbox could not be applied.
    Layer(StartFailure),
}

/// What an agent did that has to be explained.
enum Unexplained {
    /// It closed a stream: this is the input, unless it exits in time. With the next look at it.
    Closed(ClosedInput, Patience, Instant),
    /// It could not be started. Whether a good program can be.
    NotStarted(FailedStart, Waiting<bool>),
}

/// Makes the input of a stream that was closed.
type ClosedInput = fn(Seat, Reading) -> Input<'static>;

/// A search for a cause.
pub(super) struct CauseCheck {
    pub(super) seat: Seat,
    began: Instant,
    what: Unexplained,
}

impl CauseCheck {
    /// Returns when to look again.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        match self.what {
            Unexplained::Closed(.., look_at) => Some(look_at),
            Unexplained::NotStarted(..) => None,
        }
    }

    /// Returns whether the good program starts.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        match &mut self.what {
            Unexplained::Closed(..) => Poll::Pending,
            Unexplained::NotStarted(_, good_starts) => good_starts.as_mut().poll(context),
        }
    }
}

/// Whether only the machine can be the reason: it lacks memory, processes or files.
fn is_machines(errno: Errno) -> bool {
    matches!(errno, Errno::ENOMEM | Errno::EAGAIN | Errno::ENFILE | Errno::EMFILE)
}

/// Returns whether the good program can be started. Leaves nothing of it.
async fn good_starts(core: CoreContext, kind: GameKind, limits: Limits) -> bool {
    let CoreContext { launcher, sandbox, .. } = &core;
    let Ok(spec) = AgentSpec::read(GOOD) else { return false };
    let started = AgentConnection::start_alone(launcher, sandbox, &spec, kind, &limits);
    let Ok((mut good, _work)) = started else { return false };
    let event = good.process.next_event(Instant::now() + WAIT).await;
    good.process.kill_and_wait().await.ok();
    event == Some(AgentEvent::Started)
}

impl Drive<'_> {
    /// Judges the agents for which not even a process could be made.
    pub(super) fn report_absent(&mut self) {
        for seat in Seat::all(self.participants.len()) {
            let Participant::Absent { text, is_own_fault } = &self.participants[seat.index()]
            else {
                continue;
            };
            let text = text.clone();
            self.input(if *is_own_fault {
                Input::Fault(seat, FaultKind::Start, text, Reading::default())
            } else {
                machine_failed(text)
            });
        }
    }

    /// A seat has closed a stream. A person's input has ended; a program may be ending.
    pub(super) fn closed(&mut self, seat: Seat, at: Instant, input: ClosedInput) {
        if self.participants[seat.index()].is_process() {
            let patience = Patience::begin(EXIT_WAIT, at);
            self.check_cause(seat, at, Unexplained::Closed(input, patience, patience.end()));
        } else {
            self.input_at(at, input(seat, self.brief_reading(at)));
        }
    }

    /// A start has failed.
    pub(super) fn check_start(&mut self, seat: Seat, at: Instant, failed: FailedStart) {
        if let FailedStart::Program(errno) = failed
            && is_machines(errno)
        {
            let program = self.program_of(seat);
            let text = format!("`{program}` could not be started: {}", errno.desc());
            return self.input_at(at, machine_failed(text));
        }
        let limits = self.state.header().limits.clone();
        let good_starts = good_starts(self.core.clone(), self.state.game().kind(), limits);
        self.check_cause(seat, at, Unexplained::NotStarted(failed, Box::pin(good_starts)));
    }

    fn program_of(&self, seat: Seat) -> String {
        self.state.header().seats[seat.index()].command.join(" ")
    }

    fn check_cause(&mut self, seat: Seat, at: Instant, what: Unexplained) {
        if self.is_judged(seat) && self.cause_check.is_none() {
            // What was kept is older.
            self.time.hold(Instant::now());
            self.cause_check = Some(Box::new(CauseCheck { seat, began: at, what }));
        }
    }

    /// Whether it is being found out why an agent could not be started.
    pub(super) fn is_start_checked(&self) -> bool {
        let check = self.cause_check.as_ref();
        check.is_some_and(|check| matches!(check.what, Unexplained::NotStarted(..)))
    }

    /// An agent that closed a stream and hasn't exited in time runs on, unless the system is ending it.
    pub(super) fn check_closed(&mut self, now: Instant) {
        let Some(check) = &mut self.cause_check else { return };
        let (seat, began) = (check.seat, check.began);
        let Unexplained::Closed(input, patience, look_at) = &mut check.what else { return };
        if now < *look_at {
            return;
        }
        let agent = self.participants[seat.index()].connection();
        if agent.is_some_and(|agent| !patience.is_over(agent, now)) {
            *look_at = now + LOOK;
            return;
        }
        let input = *input;
        self.input_at(began, input(seat, self.brief_reading(began)));
    }

    /// Ends the search when the seat has been judged, or the match is over.
    pub(super) fn end_check_if_known(&mut self) {
        let check = self.cause_check.as_ref();
        if check.is_some_and(|check| !self.is_judged(check.seat)) {
            self.cause_check = None;
            self.time.release(Instant::now());
        }
    }

    /// Judges a start that failed, by whether the good program starts.
    pub(super) fn start_checked(&mut self, good_starts: bool) {
        let Some(check) = &self.cause_check else { return };
        let (seat, at) = (check.seat, check.began);
        let &Unexplained::NotStarted(failed, _) = &check.what else { return };
        let program = self.program_of(seat);
        let input = match failed {
            FailedStart::Program(errno) if !good_starts => machine_failed(format!(
                "`{program}` could not be started: {}; nor could a built-in agent",
                errno.desc()
            )),
            FailedStart::Program(errno) => {
                let connection = self.participants[seat.index()].connection();
                let refused = connection.and_then(|it| it.refused_program(errno));
                let reason = refused.map(str::to_owned);
                let file = connection.map(|it| it.file.as_path());
                let reason = reason.unwrap_or_else(|| reason_of(errno, file));
                let text = format!("can't start `{program}`: {reason}");
                Input::Fault(seat, FaultKind::Start, text, self.brief_reading(at))
            }
            FailedStart::Layer(failure) => {
                let text = format!("can't start `{program}`: {failure}");
                let seat = good_starts.then_some(seat);
                Input::Stop { cause: failure.cause(), text, seat }
            }
        };
        self.input_at(at, input);
    }
}

fn machine_failed(text: String) -> Input<'static> {
    Input::Stop { cause: "machine", text, seat: None }
}

fn reason_of(errno: Errno, file: Option<&Path>) -> String {
    let text = match errno {
        Errno::ENOEXEC => {
            "it is not executable: a script needs a first line such as `#!/usr/bin/env python3`, a \
             binary must be built for this machine"
        }
        Errno::EACCES => "no permission to execute it: run `chmod +x` on it",
        Errno::ENOENT => match file.and_then(first_line) {
            Some(line) => {
                return format!("the interpreter in its first line, `{line}`, does not exist");
            }
            None => "it, or the interpreter in its first line, does not exist",
        },
        errno if is_damaged(errno) => {
            "it, or the interpreter that it names, is damaged: build it again"
        }
        errno => return errno.desc().to_owned(),
    };
    text.to_owned()
}
