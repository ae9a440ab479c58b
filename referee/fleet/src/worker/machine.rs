//! What a worker says of the machine that it is on: how much there is of it, and how fast and how
//! evenly it works with all slots busy.

use crate::WorkerInfo;
use rand::TryRng;
use rand::rngs::SysRng;
use referee_games::{AnyGame, GAMES};
use referee_process::Failure;
use referee_process::cores;
use referee_protocol::plain::{hex, tame_name};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How long a machine is measured.
const MEASURED: Duration = Duration::from_secs(1);
/// In pieces of this length.
const PIECE: Duration = Duration::from_millis(10);
/// More threads than this tell nothing new.
const THREADS_MAX: usize = 1024;
/// Where the system tells what there is of memory.
const MEMORY: &str = "/proc/meminfo";
/// The groups that this process is in.
const GROUPS: &str = "/proc/self/cgroup";
/// Where groups are mounted, with the file that has the memory's limit in each version.
const LIMITS: [(&str, &str); 2] =
    [("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")];

/// What there is to say of this machine before it is measured; with an id that nobody else has.
pub(super) fn describe(
    name: Option<&str>,
    class: &str,
    slots: usize,
) -> Result<WorkerInfo, Failure> {
    let mut id = [0; 8];
    SysRng
        .try_fill_bytes(&mut id)
        .map_err(|error| Failure::machine(format!("no random numbers: {error}")))?;
    let host = || nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    let name = name.map(str::to_owned).or_else(host).unwrap_or_else(|| "worker".to_owned());
    Ok(WorkerInfo {
        id: hex(&id),
        name: tame_name(&name),
        referee: env!("CARGO_PKG_VERSION").to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        slots: u32::try_from(slots).unwrap_or(u32::MAX),
        cores: u32::try_from(cores::count()).unwrap_or(u32::MAX),
        memory_mb: memory_mb(),
        class: class.to_owned(),
        ..WorkerInfo::default()
    })
}

/// In MiB: the machine's, or less where a control group allows less.
fn memory_mb() -> u64 {
    let told = std::fs::read_to_string(MEMORY).unwrap_or_default();
    let groups = std::fs::read_to_string(GROUPS).unwrap_or_default();
    let limits = limit_files(&groups).into_iter().filter_map(|file| {
        let text = std::fs::read_to_string(file).ok()?;
        text.trim().parse::<u64>().ok()
    });
    let bytes = limits.chain([total_bytes(&told).unwrap_or(u64::MAX)]).min();
    bytes.filter(|&bytes| bytes < u64::MAX).unwrap_or(0) >> 20
}

/// `MemTotal:       16316412 kB`
fn total_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// The files in which the memory's limits of these groups, and of those above them, may stand.
fn limit_files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        // `0::/a/group` in version 2, `4:memory:/a/group` in version 1.
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        let version = usize::from(!controllers.is_empty());
        if version == 1 && !controllers.split(',').any(|name| name == "memory") {
            continue;
        }
        let (top, file) = LIMITS[version];
        for above in Path::new(group.trim_start_matches('/')).ancestors() {
            files.push(Path::new(top).join(above).join(file));
        }
    }
    files
}

/// Works on so many slots at once for about a second: thousand positions a second and core, and how
/// much slower the slowest twentieth of the time is than the median. On fewer slots where the system gives
/// no more threads.
pub(super) fn measure(slots: usize) -> (f64, f64) {
    let began = Instant::now();
    let (threads, pieces): (usize, Vec<u32>) = std::thread::scope(|scope| {
        let start = |_| Builder::new().spawn_scoped(scope, move || work(began + MEASURED)).ok();
        let others: Vec<_> = (1..slots.clamp(1, THREADS_MAX)).map_while(start).collect();
        let mut pieces = work(began + MEASURED);
        let threads = 1 + others.len();
        pieces.extend(others.into_iter().flat_map(|thread| thread.join().unwrap_or_default()));
        (threads, pieces)
    });
    let total: f64 = pieces.iter().map(|&count| f64::from(count)).sum();
    let cores = u32::try_from(threads.min(cores::count())).unwrap_or(u32::MAX);
    let speed = total / began.elapsed().as_secs_f64() / f64::from(cores) / 1000.0;
    (rounded(speed), rounded(unevenness(pieces)))
}

fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

/// The median over what the slowest twentieth has at most.
fn unevenness(mut pieces: Vec<u32>) -> f64 {
    pieces.sort_unstable();
    let at = |share: usize| pieces.get(pieces.len() / share).copied().unwrap_or(0);
    f64::from(at(2).max(1)) / f64::from(at(20).max(1))
}

/// Plays all games over and over, for a piece of time at least; how many positions it came through in
/// each.
fn work(until: Instant) -> Vec<u32> {
    let starts: Vec<_> = GAMES.iter().filter_map(|kind| kind.start(&json!({})).ok()).collect();
    let mut pieces = Vec::new();
    let mut games: Vec<Box<dyn AnyGame>> = starts.clone();
    let mut ply = 0_usize;
    loop {
        let end = Instant::now() + PIECE;
        let mut count = 0;
        while Instant::now() < end {
            // In turn, so that every piece has of all of them.
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
        pieces.push(count);
        if Instant::now() >= until {
            return pieces;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{describe, limit_files, total_bytes, unevenness, work};
    use std::path::PathBuf;
    use std::time::Instant;

    #[test]
    fn memory_is_the_least_of_what_is_told() {
        let told = "MemTotal:       16316412 kB\nMemFree:        1 kB\n";
        assert_eq!(total_bytes(told), Some(16_316_412 << 10));
        let files = limit_files("0::/a/b\n");
        assert_eq!(files[0], PathBuf::from("/sys/fs/cgroup/a/b/memory.max"));
        assert_eq!(files.len(), 3);
        let files = limit_files("5:cpu,cpuacct:/x\n4:memory:/slurm/job_1\n");
        assert_eq!(
            files[0],
            PathBuf::from("/sys/fs/cgroup/memory/slurm/job_1/memory.limit_in_bytes")
        );
    }

    #[test]
    fn evenness_is_told_by_the_slowest_twentieth() {
        assert!((unevenness(vec![100; 40]) - 1.0).abs() < 1e-9);
        let mut pieces = vec![100; 40];
        pieces[..4].fill(25);
        assert!((unevenness(pieces) - 4.0).abs() < 1e-9);
        assert!((unevenness(Vec::new()) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_worker_can_be_told_from_others() {
        let (one, other) =
            (describe(None, "", 2).unwrap(), describe(Some("a\u{1b}b"), "gpu", 2).unwrap());
        assert_ne!(one.id, other.id);
        assert_eq!((one.id.len(), other.name.as_str()), (16, "a\u{fffd}b"));
        assert!(one.memory_mb > 0 && one.cores > 0 && !one.name.is_empty());
        assert!(!work(Instant::now()).is_empty());
    }
}
