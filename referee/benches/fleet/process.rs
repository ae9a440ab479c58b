//! Child processes and their use of resources.

use crate::Outcome;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::sys::time::TimeVal;
use nix::unistd::{Pid, SysconfVar, sysconf};
use std::fs;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// A process that is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
}

impl Process {
    /// Starts a process.
    pub(crate) fn start(mut command: Command) -> Outcome<Self> {
        let name = command.get_program().display().to_string();
        let child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
        Ok(Self { child })
    }

    /// Returns its id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns its exit status if it has ended.
    pub(crate) fn ended(&mut self) -> Outcome<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Outcome<ExitStatus> {
        Ok(self.child.wait()?)
    }

    /// Sends it SIGTERM.
    pub(crate) fn terminate(&self) -> Outcome<()> {
        Ok(kill(Pid::from_raw(self.id().cast_signed()), Signal::SIGTERM)?)
    }

    /// Returns its CPU time so far, without its children.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        ticks(&fs::read_to_string(format!("/proc/{}/stat", self.id())).ok()?)
    }

    /// Returns the CPU time of its busiest thread.
    pub(crate) fn busiest_thread_cpu(&self) -> Option<Duration> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.id())).ok()?;
        let stats = tasks.flatten().map(|task| fs::read_to_string(task.path().join("stat")));
        stats.flatten().filter_map(|stat| ticks(&stat)).max()
    }

    /// Returns its resident memory, in megabytes.
    pub(crate) fn resident_mb(&self) -> Option<f64> {
        self.status("VmRSS:")
    }

    /// Returns its peak resident memory, in megabytes.
    pub(crate) fn peak_mb(&self) -> Option<f64> {
        self.status("VmHWM:")
    }

    fn status(&self, field: &str) -> Option<f64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.id())).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(field))?;
        let kilobytes: f64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kilobytes / 1e3)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Returns user and system time from a `stat` file.
fn ticks(stat: &str) -> Option<Duration> {
    // The name before it may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    let a_second = u64::try_from(sysconf(SysconfVar::CLK_TCK).ok()??).ok()?;
    Some(Duration::from_millis(ticks * 1000 / a_second))
}

/// Returns the CPU seconds of all children that have been waited for, and their children.
pub(crate) fn children_cpu() -> Outcome<f64> {
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}
