//! Measuring: alternating runs, medians, CPU time and affinity.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;
use std::process::Child;
use std::time::Duration;

/// Returns the median, the upper one of an even number of values.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the value that `percent` of the values don't exceed.
pub(crate) fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = (sorted.len() * percent).div_ceil(100);
    sorted.get(count.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// Figures of the yardstick and of the measured program, in pairs.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    yardstick: Vec<f64>,
    measured: Vec<f64>,
}

impl Pairs {
    /// Measures both alternately, `count` times. The order changes from pair to pair, so that neither
    /// profits from the state that the other leaves.
    pub(crate) fn alternate<E>(
        count: usize,
        mut yardstick: impl FnMut() -> Result<f64, E>,
        mut measured: impl FnMut() -> Result<f64, E>,
    ) -> Result<Self, E> {
        let mut pairs = Self::default();
        for number in 0..count {
            if number % 2 == 0 {
                pairs.yardstick.push(yardstick()?);
                pairs.measured.push(measured()?);
            } else {
                pairs.measured.push(measured()?);
                pairs.yardstick.push(yardstick()?);
            }
        }
        Ok(pairs)
    }

    /// Returns the median of measured / yardstick over the pairs.
    pub(crate) fn ratio(&self) -> f64 {
        let both = self.measured.iter().zip(&self.yardstick);
        median(&both.map(|(measured, yardstick)| measured / yardstick).collect::<Vec<_>>())
    }

    /// Returns the medians of the yardstick and of the measured program.
    pub(crate) fn medians(&self) -> (f64, f64) {
        (median(&self.yardstick), median(&self.measured))
    }
}

/// Returns the CPU time of this thread for `work`, in seconds, and the result of `work`.
pub(crate) fn thread_seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let before = thread_time();
    let done = work();
    (thread_time() - before, done)
}

fn thread_time() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    time.map_or(f64::NAN, |time| Duration::from(time).as_secs_f64())
}

/// Returns the CPU time (user and system) of all children that have been waited for, and of their
/// children.
pub(crate) fn children_cpu() -> Duration {
    cpu(UsageWho::RUSAGE_CHILDREN)
}

/// Returns the CPU time of this process from a precise clock.
pub(crate) fn process_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}

/// Returns the CPU time of this process, user and system.
pub(crate) fn own_cpu() -> Duration {
    cpu(UsageWho::RUSAGE_SELF)
}

fn cpu(who: UsageWho) -> Duration {
    getrusage(who)
        .map(|usage| duration(usage.user_time()) + duration(usage.system_time()))
        .unwrap_or_default()
}

fn duration(time: TimeVal) -> Duration {
    let micros = time.tv_sec() * 1_000_000 + time.tv_usec();
    Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}

/// Returns a field such as `VmRSS:` of a child's /proc status, in kilobytes.
pub(crate) fn kilobytes(child: &Child, name: &str) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Pins this process and its new children to one core until dropped.
#[derive(Debug)]
pub(crate) struct Pinned {
    before: CpuSet,
}

impl Pinned {
    /// Pins to the last core that this process may use, because the system itself uses the first most.
    pub(crate) fn to_one_core() -> nix::Result<Self> {
        let before = sched_getaffinity(Pid::from_raw(0))?;
        let usable = |&core: &usize| before.is_set(core).unwrap_or(false);
        let last = (0..CpuSet::count()).rev().find(usable).unwrap_or(0);
        let mut one = CpuSet::new();
        one.set(last)?;
        sched_setaffinity(Pid::from_raw(0), &one)?;
        Ok(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // If this fails, later measures run on one core, which their figures show.
        sched_setaffinity(Pid::from_raw(0), &self.before).ok();
    }
}
