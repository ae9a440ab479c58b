//! What an agent's own process has used. Where there is no `/proc`, nothing is known about the
//! processes that it starts.

use crate::blocked_call::{Activity, BlockedCall};
use crate::launcher::cpu_time;
use nix::time::ClockId;
use nix::unistd::Pid;
use referee_protocol::Nanos;
use std::fs::File;

/// A clock that can't be set. On macOS it advances while the machine sleeps.
pub const UPTIME: ClockId = ClockId::CLOCK_MONOTONIC;

/// Whether [`Meters::is_asleep`] can be known.
pub const SEES_SLEEP: bool = false;

/// Measures one agent's process.
#[derive(Debug)]
pub struct Meters {
    agent: Pid,
}

impl Meters {
    /// Creates the meters of the process `agent`. Nothing else is needed here.
    pub fn of(
        agent: Pid,
        _reaped_before: Nanos,
        _counters: impl Iterator<Item = File>,
    ) -> Option<Self> {
        Some(Self { agent })
    }

    /// Returns the agent's process ID.
    pub fn process_id(&self) -> i32 {
        self.agent.as_raw()
    }

    /// Whether the agent can't write anything before it reads more: unknown, so false.
    pub fn awaits_input(&self) -> bool {
        false
    }

    /// Returns the system call in which the agent waits: unknown.
    pub fn blocked_call(&self) -> Option<BlockedCall> {
        None
    }

    /// Whether it is of a language that runs a program in any thread: unknown, so false.
    pub fn runs_in_any_thread(&self) -> bool {
        false
    }

    /// Asks the agent's runtime where it is: without `/proc` it isn't known which one that is.
    pub fn ask_for_stack(&self) -> bool {
        false
    }

    /// Returns how many processes the agent is known to have, as long as any is left: one.
    pub fn processes(&self) -> usize {
        1
    }

    /// Whether the agent's main thread has child processes: unknown, so false.
    pub fn has_children(&self) -> bool {
        false
    }

    /// Returns what the processes of the tree do: unknown.
    pub fn activity(&self) -> Activity {
        Activity::Sleeps
    }

    /// Whether the agent's own process is ending: unknown, so false.
    pub fn is_exiting(&self) -> bool {
        false
    }

    /// Whether no process of the tree runs: unknown, so false.
    pub fn is_asleep(&self) -> bool {
        false
    }

    /// Returns the CPU time of the agent's own process, all threads.
    pub fn process_cpu(&self) -> Option<Nanos> {
        cpu_time(self.agent)
    }

    /// Returns the CPU time of the agent's own process too.
    pub fn tree_cpu(&self) -> Option<Nanos> {
        self.process_cpu()
    }

    /// Returns how long the agent had no core: unknown.
    pub fn wait(&self) -> Option<Nanos> {
        None
    }

    /// Returns the most memory that the agent has had: unknown.
    pub fn peak_memory_kb(&self, _whole: bool) -> Option<u64> {
        None
    }

    /// Returns the agent's process and its descendants: unknown.
    pub fn tree(&self) -> Option<Vec<Pid>> {
        None
    }

    /// Measures that anew: unknown all the same.
    pub fn restart_peak_memory(&self, _whole: bool) -> bool {
        true
    }
}
