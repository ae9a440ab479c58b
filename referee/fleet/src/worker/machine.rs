//! Describes and measures the machine: cores, memory, speed, and how even the speed is with all
//! slots busy.

use crate::{BUILD, WorkerInfo};
use rand::TryRng;
use rand::rngs::SysRng;
use referee_games::{AnyGame, GAMES};
use referee_process::Failure;
use referee_process::cores;
use referee_process::sandbox::reach::group_limits;
use referee_protocol::plain::{sanitize_name, to_hex};
use serde_json::json;
use std::path::PathBuf;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How long to measure.
const MEASURE_TIME: Duration = Duration::from_secs(1);
/// The length of a sample.
const SAMPLE: Duration = Duration::from_millis(10);
/// The maximum number of threads; more of them add no information.
const THREADS_MAX: usize = 1024;
/// The file with the machine's memory.
const MEMORY: &str = "/proc/meminfo";
/// The files with the memory limit of a control group, by version.
const LIMITS: [&str; 2] = ["memory.max", "memory.limit_in_bytes"];

/// Returns everything but the measured values, with a random id.
pub(super) fn describe(
    name: Option<&str>,
    class: &str,
    slots: usize,
) -> Result<WorkerInfo, Failure> {
    let mut id = [0; 8];
    SysRng
        .try_fill_bytes(&mut id)
        .map_err(|error| Failure::machine(format!("can't read random numbers: {error}")))?;
    let host = || nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    let name = name.map(str::to_owned).or_else(host).unwrap_or_else(|| "worker".to_owned());
    Ok(WorkerInfo {
        id: to_hex(&id),
        name: sanitize_name(&name),
        referee: BUILD.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        slots: u32::try_from(slots).unwrap_or(u32::MAX),
        cores: u32::try_from(cores::count()).unwrap_or(u32::MAX),
        memory_mb: memory_mb(),
        class: class.to_owned(),
        ..WorkerInfo::default()
    })
}

/// Returns the memory in MiB: the machine's, or the control group's if that is less.
fn memory_mb() -> u64 {
    let meminfo = std::fs::read_to_string(MEMORY).unwrap_or_default();
    let is_limit = |file: &PathBuf| LIMITS.iter().any(|name| file.ends_with(name));
    let limits = group_limits().into_iter().filter(is_limit).filter_map(|file| {
        let text = std::fs::read_to_string(file).ok()?;
        text.trim().parse::<u64>().ok()
    });
    let bytes = limits.chain([total_bytes(&meminfo).unwrap_or(u64::MAX)]).min();
    bytes.filter(|&bytes| bytes < u64::MAX).unwrap_or(0) >> 20
}

/// `MemTotal:       16316412 kB`
fn total_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// Runs this many threads for about a second. Returns thousand positions per second and core, and
/// the median speed divided by the speed in the slowest twentieth of the time. Uses fewer threads
/// if the system does not start more.
pub(super) fn measure(slots: usize) -> (f64, f64) {
    let began = Instant::now();
    let (threads, samples): (usize, Vec<u32>) = std::thread::scope(|scope| {
        let start = |_| Builder::new().spawn_scoped(scope, move || work(began + MEASURE_TIME)).ok();
        let others: Vec<_> = (1..slots.clamp(1, THREADS_MAX)).map_while(start).collect();
        let mut samples = work(began + MEASURE_TIME);
        let threads = 1 + others.len();
        samples.extend(others.into_iter().flat_map(|thread| thread.join().unwrap_or_default()));
        (threads, samples)
    });
    let total: f64 = samples.iter().map(|&count| f64::from(count)).sum();
    let cores = u32::try_from(threads.min(cores::count())).unwrap_or(u32::MAX);
    let speed = total / began.elapsed().as_secs_f64() / f64::from(cores) / 1000.0;
    (rounded(speed), rounded(unevenness(samples)))
}

fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

/// Returns the median divided by the lower twentieth.
fn unevenness(mut samples: Vec<u32>) -> f64 {
    samples.sort_unstable();
    let at = |share: usize| samples.get(samples.len() / share).copied().unwrap_or(0);
    f64::from(at(2).max(1)) / f64::from(at(20).max(1))
}

/// Plays all games until this time; returns the number of positions in each sample.
fn work(until: Instant) -> Vec<u32> {
    let starts: Vec<_> = GAMES.iter().filter_map(|kind| kind.start(&json!({})).ok()).collect();
    let mut samples = Vec::new();
    let mut games: Vec<Box<dyn AnyGame>> = starts.clone();
    let mut ply = 0_usize;
    loop {
        let end = Instant::now() + SAMPLE;
        let mut count = 0;
        while Instant::now() < end {
            // In turn, so that every sample contains all games.
            for (game, start) in games.iter_mut().zip(&starts) {
                ply = ply.wrapping_add(1);
                let actions = game.actions();
                let chosen = actions.get(ply.checked_rem(actions.len()).unwrap_or(0));
                if chosen.is_none_or(|action| game.play(action).is_err()) {
                    *game = start.clone();
                }
                count += 1;
            }
        }
        samples.push(count);
        if Instant::now() >= until {
            return samples;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{describe, total_bytes, unevenness, work};
    use std::time::Instant;

    #[test]
    fn memory_is_the_smallest_limit() {
        let meminfo = "MemTotal:       16316412 kB\nMemFree:        1 kB\n";
        assert_eq!(total_bytes(meminfo), Some(16_316_412 << 10));
    }

    #[test]
    fn unevenness_is_that_of_the_slowest_twentieth() {
        assert!((unevenness(vec![100; 40]) - 1.0).abs() < 1e-9);
        let mut samples = vec![100; 40];
        samples[..4].fill(25);
        assert!((unevenness(samples) - 4.0).abs() < 1e-9);
        assert!((unevenness(Vec::new()) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn workers_have_different_ids() {
        let (one, other) =
            (describe(None, "", 2).unwrap(), describe(Some("a\u{1b}b"), "gpu", 2).unwrap());
        assert_ne!(one.id, other.id);
        assert_eq!((one.id.len(), other.name.as_str()), (16, "a\u{fffd}b"));
        assert!(one.memory_mb > 0 && one.cores > 0 && !one.name.is_empty());
        assert!(!work(Instant::now()).is_empty());
    }
}
