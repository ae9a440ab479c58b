//! A trial: part of a match with one real agent and stand-ins that play at random. Returns what was sent,
//! what came back and how it ended, without judging it.

use super::trial_run;
use crate::agent_spec::AgentSpec;
use crate::core_context::CoreContext;
use nix::errno::Errno;
use referee_games::{AnyGame, GameKind};
use referee_match::diagnosis::{Hang, IllegalAction, Usage};
use referee_protocol::{ClockSettings, Fault, FaultKind, Limits, Seat};
use serde_json::Value;
use std::io;
use std::time::Duration;

/// What is tried.
#[derive(Clone, Debug)]
pub(super) struct Trial<'a> {
    /// The agent under trial.
    pub(super) spec: &'a AgentSpec,
    /// The game.
    pub(super) kind: GameKind,
    /// The game's setup, as given.
    pub(super) setup: &'a Value,
    /// The agent's seat.
    pub(super) seat: Seat,
    /// The match's seed, also for the stand-ins.
    pub(super) seed: u64,
    /// The clock.
    pub(super) clock: ClockSettings,
    /// The agent's limits.
    pub(super) limits: &'a Limits,
    /// What is unusual about the messages or the other seats.
    pub(super) variant: TrialVariant,
    /// It ends before the agent is asked more often than this.
    pub(super) turns_max: u64,
    /// It also ends before the first request after this time.
    pub(super) time_max: Duration,
    /// How the agent is shut down.
    pub(super) shutdown: Shutdown,
    /// If it has hung before, the CPU time after which it hangs again: it need not have its whole time then.
    pub(super) hung: Option<Duration>,
    /// Actions that were legal in other games, for stand-ins where the rules don't list the legal ones.
    pub(super) known: &'a [Value],
}

/// What is unusual about a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrialVariant {
    /// Nothing.
    None,
    /// Every message has an unknown field.
    UnknownField,
    /// Before every message but the first, there is one of an unknown type.
    UnknownType,
    /// The names of the seats have non-ASCII letters and characters that JSON escapes.
    Names,
    /// The other seats think for a moment, in which the agent should send nothing.
    SlowOthers,
    /// The other seats play actions of the type of which there are the fewest, such as a swap.
    RareActions,
    /// The next seat is retired in its second turn. For three or more seats.
    Retires,
    /// The next seat can't be started, so that it is retired before the first turn. For three or more
    /// seats.
    RetiresAtStart,
    /// The agent has played a game before, in the next seat, if it offers to play another.
    Again,
}

/// How an agent is shut down at the end of its trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shutdown {
    /// Killed.
    Kill,
    /// Killed once it rests: until then it may write what it wasn't asked for.
    Rest,
    /// It gets `over`, and its stdin is closed.
    Over,
    /// Its stdin is closed, in the middle of the match.
    EndOfInput,
    /// It isn't: it gets `over` and waits for another game.
    Stays,
}

/// The result of a trial.
#[derive(Clone, Debug)]
pub(super) struct TrialReport {
    /// How it ended.
    pub(super) end: End,
    /// The last message to the agent.
    pub(super) sent: String,
    /// The last line from the agent.
    pub(super) got: Option<Vec<u8>>,
    /// The beginning of a line without an end.
    pub(super) unended: Vec<u8>,
    /// What was seen of it if it didn't answer.
    pub(super) hang: Option<Hang>,
    /// Its stderr, as far as it is kept.
    pub(super) stderr: String,
    /// Whether it has sent `ready`.
    pub(super) ready: bool,
    /// Its exit status, if it exited.
    pub(super) status: Option<String>,
    /// The game when it was asked last: a fault may have retired its seat since.
    pub(super) game: Option<Box<dyn AnyGame>>,
    /// Its actions.
    pub(super) actions: Vec<Value>,
    /// All turns that were played, of all seats.
    pub(super) turns: u64,
    /// Whether the game ended.
    pub(super) over: bool,
    /// The time of all its turns, as its clock counts it.
    pub(super) total: Duration,
    /// Its longest turn, as its clock counts it.
    pub(super) slowest: Duration,
    /// The transcript.
    pub(super) transcript: Vec<u8>,
    /// Time and CPU time since the last request, or since it was started.
    pub(super) used: Usage,
    /// How it exited, if it was not killed.
    pub(super) exit: Option<ExitReport>,
    /// The most memory that it had had after each of its turns, in KiB.
    pub(super) memory_kb: Vec<u64>,
    /// Whether it ended in the game before the one of the trial, as any game may end.
    pub(super) is_before: bool,
}

impl TrialReport {
    /// The result of a trial of an agent that could not be started.
    pub(super) fn not_started(errno: Errno) -> Self {
        Self {
            end: End::NotStarted(errno),
            sent: String::new(),
            got: None,
            unended: Vec::new(),
            hang: None,
            stderr: String::new(),
            ready: false,
            status: None,
            game: None,
            actions: Vec::new(),
            turns: 0,
            over: false,
            total: Duration::ZERO,
            slowest: Duration::ZERO,
            transcript: Vec::new(),
            used: Usage::default(),
            exit: None,
            memory_kb: Vec::new(),
            is_before: false,
        }
    }

    /// Returns the resignation by which it ended.
    pub(super) fn resignation(&self) -> Option<&Fault> {
        match &self.end {
            End::Fault(fault) if fault.kind == FaultKind::Resigned => Some(fault),
            _ => None,
        }
    }

    /// Returns the illegal action by which it ended.
    pub(super) fn illegal_action(&self) -> Option<IllegalAction> {
        let End::Fault(fault) = &self.end else { return None };
        let line = self.got.as_deref().filter(|_| fault.kind == FaultKind::Illegal)?;
        let action = serde_json::from_slice::<Value>(line).ok()?.get("action")?.clone();
        Some(IllegalAction { game: self.game.clone()?, action, text: fault.text.clone() })
    }
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    /// Without a fault.
    Fine,
    /// Without a fault, but a stand-in found no legal action.
    Stuck,
    /// The program could not be started.
    NotStarted(Errno),
    /// By a fault, as the match judged it.
    Fault(Box<Fault>),
    /// Without a fault so far, but for a while the agent only waited for input.
    Silent,
    /// Without a fault, but it doesn't offer to play another game.
    NotOffered,
    /// It offers to play another game, and then did this instead of waiting for it.
    NotWaiting(&'static str),
}

/// How an agent exited.
#[derive(Clone, Debug)]
pub(super) struct ExitReport {
    /// How long that took.
    pub(super) took: Duration,
    /// Whether it exited; otherwise it was killed.
    pub(super) exited: bool,
    /// How many of its processes were left a moment later.
    pub(super) left_behind: usize,
}

/// How often a trial is repeated if the machine was too busy.
const TRIES_MAX: usize = 5;

/// Tries an agent. An error is the machine's; `ResourceBusy` if it was too busy for a fair trial.
pub(super) async fn run(core: &CoreContext, trial: &Trial<'_>) -> io::Result<TrialReport> {
    for _ in 0..TRIES_MAX {
        if let Some(report) = Box::pin(trial_run::play(core, trial)).await? {
            return Ok(report);
        }
    }
    let text = format!("the machine was too busy to judge the agent, {TRIES_MAX} times in a row");
    Err(io::Error::new(io::ErrorKind::ResourceBusy, text))
}
