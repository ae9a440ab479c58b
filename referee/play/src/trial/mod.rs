//! A trial for `check`: part of a match with one real agent and stand-ins that play at random. Returns
//! what was sent, what came back and how it ended, without judging it.

mod trial_run;

use super::agent_spec::AgentSpec;
use super::core_context::CoreContext;
use referee_games::GameKind;
use referee_match::diagnosis::Usage;
use referee_protocol::{ClockSettings, Fault, Limits, Seat};
use serde_json::Value;
use std::io;
use std::time::Duration;

/// The setup of a trial.
#[derive(Clone, Debug)]
pub struct TrialSetup<'a> {
    /// The agent under trial.
    pub spec: &'a AgentSpec,
    /// The game.
    pub kind: GameKind,
    /// The game's setup, as given.
    pub setup: &'a Value,
    /// The agent's seat.
    pub seat: Seat,
    /// The match's seed, also for the stand-ins.
    pub seed: u64,
    /// The clock.
    pub clock: &'a ClockSettings,
    /// The agent's limits.
    pub limits: &'a Limits,
    /// What is unusual about the messages or the other seats.
    pub variant: TrialVariant,
    /// It ends before the agent is asked more often than this.
    pub turns_max: u64,
    /// It also ends before the first request after this time.
    pub time_max: Duration,
    /// How the agent is shut down.
    pub shutdown: Shutdown,
}

/// What is unusual about a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialVariant {
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
}

/// How an agent is shut down at the end of its trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Killed.
    Kill,
    /// It gets `over`, and its stdin is closed.
    Over,
    /// Its stdin is closed, in the middle of the match.
    EndOfInput,
}

/// The result of a trial.
#[derive(Clone, Debug)]
pub struct TrialReport {
    /// How it ended.
    pub end: End,
    /// The last message to the agent.
    pub sent: String,
    /// The last line from the agent.
    pub got: Option<Vec<u8>>,
    /// The beginning of a line without an end.
    pub unended: Vec<u8>,
    /// The line that it wrote only after its input was closed.
    pub at_end: Option<Vec<u8>>,
    /// Its stderr, as far as it is kept.
    pub stderr: String,
    /// Whether it has sent `ready`.
    pub ready: bool,
    /// Its exit status, if it exited.
    pub status: Option<String>,
    /// The legal actions of the last turn.
    pub legal: Vec<Value>,
    /// Its actions.
    pub actions: Vec<Value>,
    /// All turns that were played, of all seats.
    pub turns: u64,
    /// Whether the game ended.
    pub over: bool,
    /// The time of all its turns, as its clock counts it.
    pub total: Duration,
    /// Its longest turn, as its clock counts it.
    pub slowest: Duration,
    /// The transcript.
    pub transcript: Vec<u8>,
    /// Time and CPU time since the last request, or since it was started.
    pub used: Usage,
    /// How it exited, if it was not killed.
    pub exit: Option<ExitReport>,
}

impl TrialReport {
    /// Whether its last line has the action of its previous turn again, and doesn't say that it is for
    /// another turn.
    pub fn repeats_its_answer(&self) -> bool {
        let last = self.got.as_ref().and_then(|line| serde_json::from_slice::<Value>(line).ok());
        let last = last.filter(|message| message.get("turn").is_none());
        let action = last.as_ref().and_then(|message| message.get("action"));
        action.is_some() && action == self.actions.last()
    }
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// Without a fault.
    Fine,
    /// The program could not be started.
    NotStarted(nix::errno::Errno),
    /// By a fault, as the match judged it.
    Fault(Box<Fault>),
    /// Without a fault so far, but for a while the agent only waited for input.
    Silent,
}

/// How an agent exited.
#[derive(Clone, Debug)]
pub struct ExitReport {
    /// How long that took.
    pub took: Duration,
    /// Whether it exited; otherwise it was killed.
    pub exited: bool,
    /// How many of its processes were left a moment later.
    pub left_behind: usize,
}

/// How often a trial is repeated if the machine was too busy.
const TRIES_MAX: usize = 5;

/// Tries an agent. An error is the machine's; `ResourceBusy` if it was too busy for a fair trial.
pub async fn run(table: &CoreContext, scene: &TrialSetup<'_>) -> io::Result<TrialReport> {
    for _ in 0..TRIES_MAX {
        if let Some(trial) = trial_run::play(table, scene).await? {
            return Ok(trial);
        }
    }
    let text = format!("the machine was too busy to judge the agent, {TRIES_MAX} times in a row");
    Err(io::Error::new(io::ErrorKind::ResourceBusy, text))
}
