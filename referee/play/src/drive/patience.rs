//! How long an agent may take for what needs no answer, such as its exit: in its own time. While it works or
//! waits for a core it has as much CPU time, so a busy machine takes nothing from it.

use crate::connection::AgentConnection;
use referee_process::usage::Meters;
use referee_protocol::Nanos;
use std::time::{Duration, Instant};

/// The longest wait. Freeing much memory takes long on a busy machine.
const MAX: Duration = Duration::from_secs(30);
/// How often is looked at an agent that has had its time.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// An agent that is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    time: Duration,
    pub(super) began: Instant,
    cpu: Nanos,
}

impl Patience {
    /// Waits for an agent for so long from now on.
    pub(super) fn begin(time: Duration, agent: &AgentConnection, now: Instant) -> Self {
        Self { time, began: now, cpu: cpu_of(agent) }
    }

    /// Returns when the agent has had its time, if it sleeps then.
    pub(super) fn end(&self) -> Instant {
        self.began + self.time
    }

    /// Whether it has had its time.
    pub(super) fn is_over(&self, agent: &AgentConnection, now: Instant) -> bool {
        let works = || {
            let is_busy = agent.process.meters().is_some_and(Meters::is_busy);
            let used = Duration::from_nanos(cpu_of(agent).since(self.cpu).0);
            agent.process.is_exiting() || (is_busy && used < self.time)
        };
        now >= self.began + MAX || (now >= self.end() && !works())
    }
}

fn cpu_of(agent: &AgentConnection) -> Nanos {
    agent.process.tree_cpu().unwrap_or_default()
}
