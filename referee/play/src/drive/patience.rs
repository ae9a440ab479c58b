//! How long an agent may take for what needs no answer, such as its exit. If it still works then, or waits for
//! a core, it has as much CPU time, so a busy machine takes nothing from it. What only seems to wait for the disk counts
//! as CPU time: there may be ways to look so for ever.

use crate::connection::AgentConnection;
use referee_process::blocked_call::Activity;
use referee_process::usage::Meters;
use referee_protocol::Nanos;
use std::time::{Duration, Instant};

/// The longest wait. Freeing much memory takes long on a busy machine.
const MAX: Duration = Duration::from_secs(30);
/// How often is looked at an agent that has had its time.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// How long its end may take if it doesn't run meanwhile, at least.
const END: Duration = Duration::from_secs(1);

/// An agent that is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    time: Duration,
    began: Instant,
    /// Its CPU time when the time was over.
    cpu: Option<Nanos>,
    /// When it was looked at last, since then, and for how long it neither slept nor ran.
    looked: Option<Instant>,
    waited: Duration,
}

impl Patience {
    /// Waits for an agent for so long from now on.
    pub(crate) fn begin(time: Duration, now: Instant) -> Self {
        Self { time, began: now, cpu: None, looked: None, waited: Duration::ZERO }
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
        let activity = agent.process.meters().map_or(Activity::Sleeps, Meters::activity);
        let cpu = agent.process.tree_cpu().unwrap_or_default();
        // Where no memory is left, it takes long until the system has ended what it kills.
        let may_be_killed = now < self.began + MAX && agent.process.is_out_of_memory();
        !may_be_killed && self.judge(now, cpu, activity, agent.process.is_exiting())
    }

    /// Whether it is over for an agent that has used so much CPU time.
    fn judge(&mut self, now: Instant, cpu: Nanos, activity: Activity, is_exiting: bool) -> bool {
        let used = cpu.since(*self.cpu.get_or_insert(cpu));
        let looked = self.looked.replace(now).unwrap_or(now);
        if activity != Activity::Runs {
            self.waited += now - looked;
        }
        let works = if is_exiting {
            self.waited < self.time.max(END)
        } else {
            activity != Activity::Sleeps && used.plus(self.waited.into()) < self.time.into()
        };
        !works || now >= self.began + MAX
    }
}

#[cfg(test)]
mod tests {
    use super::{Activity, Duration, Instant, LOOK, Nanos, Patience};

    /// Returns how long is waited for an agent in whole seconds.
    fn seconds(time: u64, share: u64, activity: Activity, is_exiting: bool) -> u64 {
        let began = Instant::now();
        let mut patience = Patience::begin(Duration::from_secs(time), began);
        let mut now = patience.end();
        let mut cpu = Nanos(0);
        while !patience.judge(now, cpu, activity, is_exiting) {
            now += LOOK;
            cpu = cpu.plus(Nanos(Nanos::from(LOOK).0 * share / 100));
        }
        (now - began).as_secs()
    }

    /// A process can sleep in a state that looks like work, whatever the kernel calls it.
    #[test]
    fn who_neither_runs_nor_waits_for_a_core_is_waited_for_no_longer_than_who_computes() {
        assert_eq!(seconds(1, 0, Activity::Sleeps, false), 1);
        assert_eq!(seconds(1, 100, Activity::Runs, false), 2);
        assert_eq!(seconds(1, 25, Activity::Runs, false), 5);
        assert_eq!(seconds(1, 0, Activity::Runs, false), 30);
        for activity in [Activity::Waits, Activity::Sleeps] {
            assert_eq!(seconds(1, 0, Activity::Waits, false), 2);
            assert_eq!(seconds(1, 0, activity, true), 2);
            assert_eq!(seconds(0, 0, activity, true), 1);
        }
        assert_eq!(seconds(1, 0, Activity::Runs, true), 30);
    }
}
