//! Whether the agent or the machine is why an agent could not be started: a program that is known to be
//! good is started in the same way.

use super::{Drive, Waiting};
use crate::agent_spec::AgentSpec;
use crate::connection::AgentConnection;
use crate::core_context::CoreContext;
use crate::participant::Participant;
use nix::errno::Errno;
use referee_games::GameKind;
use referee_match::{Input, Reading};
use referee_process::agent::{AgentEvent, StartFailure, is_damaged};
use referee_protocol::{FaultKind, Limits, Seat};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// A built-in agent.
const GOOD: &str = "@first";
/// How long it may take to start.
const WAIT: Duration = Duration::from_secs(10);

/// How a start failed.
#[derive(Clone, Copy, Debug)]
pub(super) enum FailedStart {
    /// The system refused to execute the program.
    Program(Errno),
    /// A layer of the sandbox could not be applied.
    Layer(StartFailure),
}

/// A failed start that is being judged.
pub(super) struct StartCheck {
    pub(super) seat: Seat,
    failed: FailedStart,
    good_starts: Waiting<bool>,
}

impl StartCheck {
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<(Seat, FailedStart, bool)> {
        let starts = self.good_starts.as_mut().poll(context);
        starts.map(|starts| (self.seat, self.failed, starts))
    }
}

/// Whether only the machine can be the reason: it lacks memory, processes or files.
fn is_machines(errno: Errno) -> bool {
    matches!(errno, Errno::ENOMEM | Errno::EAGAIN | Errno::ENFILE | Errno::EMFILE)
}

/// Returns whether the good program can be started. Leaves nothing of it.
async fn good_starts(table: CoreContext, kind: GameKind, limits: Limits) -> bool {
    let CoreContext { launcher, sandbox, .. } = &table;
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
                Input::Stop { cause: "machine", text, seat: None }
            });
        }
    }

    /// A start has failed. The match goes on when the reason is known.
    pub(super) fn check_start(&mut self, seat: Seat, failed: FailedStart) {
        if let FailedStart::Program(errno) = failed
            && is_machines(errno)
        {
            return self.not_started(seat, failed, false);
        }
        let limits = self.state.header().limits.clone();
        let good_starts = good_starts(self.table.clone(), self.state.game().kind(), limits);
        self.start_checks.push(StartCheck { seat, failed, good_starts: Box::pin(good_starts) });
    }

    /// Judges a start that failed, by whether the good program starts.
    pub(super) fn not_started(&mut self, seat: Seat, failed: FailedStart, good_starts: bool) {
        let program = self.state.header().seats[seat.index()].command.join(" ");
        let now = Instant::now();
        match failed {
            FailedStart::Program(errno) if good_starts => {
                let connection = self.participants[seat.index()].connection();
                let refused = connection.and_then(|it| it.refused_program(errno));
                let reason = refused.map_or_else(|| reason(errno), str::to_owned);
                let text = format!("can't start `{program}`: {reason}");
                let reading = self.brief_reading(now);
                self.input_at(now, Input::Fault(seat, FaultKind::Start, text, reading));
            }
            FailedStart::Program(errno) => {
                let others = if is_machines(errno) { "" } else { "; nor could a built-in agent" };
                let text = format!("`{program}` could not be started: {}{others}", errno.desc());
                self.input(Input::Stop { cause: "machine", text, seat: None });
            }
            FailedStart::Layer(failure) => {
                let text = format!("can't start `{program}`: {failure}");
                let seat = good_starts.then_some(seat);
                self.input(Input::Stop { cause: failure.cause(), text, seat });
            }
        }
    }
}

fn reason(errno: Errno) -> String {
    let text = match errno {
        Errno::ENOEXEC => {
            "it is not executable: a script needs a first line such as `#!/usr/bin/env python3`, a \
             binary must be built for this machine"
        }
        Errno::EACCES => "no permission to execute it: run `chmod +x` on it",
        Errno::ENOENT => "it, or the interpreter in its first line, does not exist",
        errno if is_damaged(errno) => {
            "it, or the interpreter that it names, is damaged: build it again"
        }
        errno => return errno.desc().to_owned(),
    };
    text.to_owned()
}
