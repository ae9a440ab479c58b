//! A part of a match with one real agent, the other seats taken by stand-ins that play at random:
//! what was sent, what came back, how it ended. What that means is not decided here.

mod trial_run;

use super::agent_spec::AgentSpec;
use super::core_context::CoreContext;
use referee_games::GameKind;
use referee_match::diagnosis::Usage;
use referee_protocol::{ClockSettings, Fault, Limits, Seat};
use serde_json::Value;
use std::io;
use std::time::Duration;

/// What is tried.
#[derive(Clone, Debug)]
pub struct TrialSetup<'a> {
    /// Who is tried.
    pub spec: &'a AgentSpec,
    /// The game.
    pub kind: GameKind,
    /// Its setup, as given.
    pub setup: &'a Value,
    /// The agent's seat.
    pub seat: Seat,
    /// The match's seed; the stand-ins draw from it.
    pub seed: u64,
    /// The clock.
    pub clock: &'a ClockSettings,
    /// What the agent may use.
    pub limits: &'a Limits,
    /// What is unusual about the messages or the other seats.
    pub variant: TrialVariant,
    /// It ends when the agent would be asked once more than this, or when the game is over.
    pub turns_max: u64,
    /// It also ends at the first request after this time.
    pub time_max: Duration,
    /// How the agent is left.
    pub shutdown: Shutdown,
}

/// What is unusual about a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialVariant {
    /// Nothing.
    None,
    /// Every message has a field that no agent knows.
    UnknownField,
    /// Before every message but the first there is one of a type that no agent knows.
    UnknownType,
    /// The names of the seats have letters beyond ASCII, and characters that JSON escapes.
    Names,
    /// The other seats think for a moment, in which the agent should be quiet.
    SlowOthers,
}

/// How an agent is left when its trial ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Killed.
    Kill,
    /// Told that the match is over, and its stdin closed.
    Over,
    /// Its stdin is closed, in the middle of the match.
    EndOfInput,
}

/// What came of a trial.
#[derive(Clone, Debug)]
pub struct TrialReport {
    /// How it ended.
    pub end: End,
    /// The last message that was written to the agent.
    pub sent: String,
    /// The last line that came from it, as it came.
    pub got: Option<Vec<u8>>,
    /// The beginning of a line whose end had not come when the trial ended.
    pub unended: Vec<u8>,
    /// All that it wrote to its stderr, as far as it is kept.
    pub stderr: String,
    /// It has said `ready`.
    pub ready: bool,
    /// How it ended, in words, where it ended by itself.
    pub status: Option<String>,
    /// The legal actions of the turn in which it ended.
    pub legal: Vec<Value>,
    /// Its actions.
    pub actions: Vec<Value>,
    /// All turns that were played, of all seats.
    pub turns: u64,
    /// The game came to its end.
    pub over: bool,
    /// All its turns together.
    pub total: Duration,
    /// Its longest turn.
    pub slowest: Duration,
    /// Time and CPU time since the last request, or since it was started.
    pub used: Usage,
    /// How it left, where it was let leave.
    pub exit: Option<ExitReport>,
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// With nothing to find fault with.
    Fine,
    /// The program could not be started.
    NotStarted(nix::errno::Errno),
    /// By a fault, as a match would have judged it.
    Fault(Box<Fault>),
    /// It came to no fault yet, but for a while the agent had done nothing but wait for more input.
    Silent,
}

/// How an agent left.
#[derive(Clone, Debug)]
pub struct ExitReport {
    /// How long it was waited for.
    pub took: Duration,
    /// It has exited by itself; it had to be killed otherwise.
    pub exited: bool,
    /// How many of its processes were left a moment later.
    pub left_behind: usize,
}

/// How often a trial is begun anew that a busy machine has spoiled.
const TRIES_MAX: usize = 5;

/// Tries an agent, on the table's runtime. An error is the machine's.
pub async fn run(table: &CoreContext, scene: &TrialSetup<'_>) -> io::Result<TrialReport> {
    for _ in 0..TRIES_MAX {
        if let Some(trial) = trial_run::play(table, scene).await? {
            return Ok(trial);
        }
    }
    let text = format!("the machine was too busy to judge the agent, {TRIES_MAX} times in a row");
    Err(io::Error::other(text))
}
