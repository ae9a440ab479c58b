//! What an agent has used.

use super::AgentProcess;
use crate::launcher::{Group, Limit, memory_of};
use crate::memory_kills::TreeMemory;
use crate::usage::Meters;
use referee_protocol::Nanos;

impl AgentProcess {
    /// Returns its meters; `None` before [`AgentEvent::Started`](super::AgentEvent::Started).
    pub fn meters(&self) -> Option<&Meters> {
        self.meters.as_ref()
    }

    /// Returns the CPU time of the program and all its descendants, from its control group if it
    /// has one.
    pub fn tree_cpu(&self) -> Option<Nanos> {
        let meters = self.meters()?;
        if self.is_gone() {
            return self.cpu_at_end;
        }
        match self.group.as_ref().and_then(Group::cpu) {
            // While the program runs, its own clock is more current.
            Some(cpu) => meters.process_cpu().max(Some(cpu)),
            None => meters.tree_cpu(),
        }
    }

    /// Returns the most memory that it has had, in KiB: of the whole tree from its control group, if it
    /// has one, or if asked for, else of its own process.
    pub fn peak_memory_kb(&self, whole: bool) -> Option<u64> {
        let Some(group) = &self.group else { return self.meters_left()?.peak_memory_kb(whole) };
        // Checks count more than the group: what the kernel takes for locks and files in memory.
        let least = match self.limit_reported {
            Some(Limit::Memory(_)) => group.memory_max_kb(),
            _ => 0,
        };
        let measured = || self.meters_left()?.peak_memory_kb(whole);
        Some(group.peak_memory_kb().or_else(measured)?.max(least))
    }

    /// Returns what its processes have in memory now.
    pub fn memory(&self) -> Option<TreeMemory> {
        Some(memory_of(&self.meters_left()?.tree()?))
    }

    /// Whether the limits of its control group hold, if it has one.
    pub fn has_limits(&self) -> bool {
        self.group.as_ref().is_none_or(Group::holds)
    }

    /// Measures the most memory anew; false if the system can't.
    pub fn restart_peak_memory(&self, whole: bool) -> bool {
        match &self.group {
            Some(group) => group.restart_peak_memory(),
            None => self.meters_left().is_some_and(|meters| meters.restart_peak_memory(whole)),
        }
    }

    /// Returns its meters while its supervisor still belongs to it.
    pub fn meters_left(&self) -> Option<&Meters> {
        self.meters().filter(|_| !self.is_gone())
    }
}
