//! Child processes and their use of resources.

use crate::Outcome;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::sys::time::TimeVal;
use nix::unistd::Pid;
use std::process::{Child, Command, ExitStatus};

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
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Returns the CPU seconds of all children that have been waited for, and their children.
pub(crate) fn children_cpu() -> Outcome<f64> {
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}
