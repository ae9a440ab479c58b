//! How long an agent may take for what needs no answer, such as its exit. If it still works then, or waits for
//! a core, it has as much CPU time, so a busy machine takes nothing from it.

use crate::connection::AgentConnection;
use referee_process::usage::Meters;
use referee_protocol::Nanos;
use std::time::{Duration, Instant};

/// The longest wait. Freeing much memory takes long on a busy machine.
const MAX: Duration = Duration::from_secs(30);
/// How often is looked at an agent that has had its time.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// An agent that is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    time: Duration,
    began: Instant,
    /// Its CPU time when the time was over.
    cpu: Option<Nanos>,
}

impl Patience {
    /// Waits for an agent for so long from now on.
    pub(crate) fn begin(time: Duration, now: Instant) -> Self {
        Self { time, began: now, cpu: None }
    }

    /// Returns when the agent has had its time, if it sleeps then.
    pub(super) fn end(&self) -> Instant {
        self.began + self.time
    }

    /// Whether it has had its time.
    pub(crate) fn is_over(&mut self, agent: &AgentConnection, now: Instant) -> bool {
        if now < self.end() {
            return false;
        }
        let cpu = agent.process.tree_cpu().unwrap_or_default();
        let used = cpu.since(*self.cpu.get_or_insert(cpu));
        let is_busy = agent.process.meters().is_some_and(Meters::is_busy);
        let works = agent.process.is_exiting() || (is_busy && used < Nanos::from(self.time));
        !works || now >= self.began + MAX
    }
}
