//! What a contest's workers say of themselves, as it is noted for whoever looks on: tame and bounded.

use crate::messages::{Beat, WorkerInfo};
use referee_protocol::Sandbox;
use referee_protocol::plain::{tame_line, tame_name};
use referee_runner::workers::{WorkerTold, Workers};

/// So many games of a worker are named.
const GAMES_MAX: usize = 1_024;
/// The most slots that a worker is believed to have.
pub const SLOTS_MAX: u32 = 4_096;
/// The most cores.
const CORES_MAX: u32 = 1 << 16;
/// The most memory, in MiB.
const MEMORY_MB_MAX: u64 = 1 << 30;
/// The most that a worker is believed of how fast and how uneven it is.
const SPEED_MAX: f64 = 1e6;

/// Notes that a worker has said that it is there, at this time (RFC 3339).
pub fn record_beat(workers: &mut Workers, beat: &Beat, now: &str) {
    let WorkerInfo { id, name, referee: _, arch, slots, cores, memory_mb, class, .. } =
        &beat.worker;
    let Some(told) = workers.place(id) else { return };
    *told = WorkerTold {
        id: tame_name(id),
        name: tame_name(name),
        class: tame_name(class),
        arch: tame_name(arch),
        cores: (*cores).min(CORES_MAX),
        memory_mb: (*memory_mb).min(MEMORY_MB_MAX),
        slots: (*slots).min(SLOTS_MAX),
        games: beat.games.iter().take(GAMES_MAX).copied().collect(),
        played: beat.played,
        speed: beat.worker.speed.clamp(0.0, SPEED_MAX),
        noise: beat.worker.noise.clamp(0.0, SPEED_MAX),
        sandbox: beat.worker.sandbox.as_ref().map(tame_sandbox),
        refused: beat.refused.as_deref().map(tame_line),
        leaving: beat.leaving,
        lost: false,
        faults: told.faults,
        fault: told.fault.take(),
        seen: now.to_owned(),
    };
}

fn tame_sandbox(told: &Sandbox) -> Sandbox {
    let layers = told.layers.iter().take(16).map(|layer| tame_name(layer)).collect();
    Sandbox { level: tame_name(&told.level), layers, pondering: told.pondering }
}

#[cfg(test)]
mod tests {
    use super::record_beat;
    use crate::messages::{Beat, WorkerInfo};
    use referee_runner::workers::{WORKERS_MAX, Workers};

    fn beat(id: &str) -> Beat {
        let worker = WorkerInfo { id: id.to_owned(), slots: 2, ..WorkerInfo::default() };
        Beat { worker, games: vec![7], ..Beat::default() }
    }

    #[test]
    fn what_a_worker_is_told_as_follows_its_beats() {
        let mut workers = Workers::default();
        record_beat(&mut workers, &beat("a"), "2026-01-01T00:00:00Z");
        workers.failed("a", "no compiler");
        workers.failed("nobody", "?");
        assert_eq!(workers.workers[0].state(), "playing; failed once: no compiler");
        workers.lost("a");
        assert_eq!(workers.workers[0].state(), "lost; failed once: no compiler");
        assert!(workers.workers[0].games.is_empty());
        let refused = Some("2 cores of 4".to_owned());
        record_beat(&mut workers, &Beat { refused, ..beat("a") }, "2026-01-01T00:00:03Z");
        workers.failed("a", "no disk");
        assert_eq!(
            workers.workers[0].state(),
            "doesn't fit: 2 cores of 4; failed 2 times: no disk"
        );
        assert_eq!(workers.workers.len(), 1);
    }

    #[test]
    fn hostile_workers_are_bounded() {
        let mut workers = Workers::default();
        let mut hostile = beat("a");
        hostile.worker.name = "\u{1b}[2J".repeat(1000);
        hostile.refused = Some("\u{202E}x".repeat(1000));
        hostile.games = vec![1; 100_000];
        (hostile.worker.speed, hostile.worker.noise) = (1e308, -1e308);
        (hostile.worker.slots, hostile.worker.cores) = (4_000_000_000, u32::MAX);
        hostile.worker.memory_mb = u64::MAX;
        record_beat(&mut workers, &hostile, "2026-01-01T00:00:00Z");
        let told = &workers.workers[0];
        assert!(told.name.chars().count() <= 60 && !told.name.contains('\u{1b}'));
        assert!(told.state().chars().count() < 400 && !told.state().contains('\u{202E}'));
        assert!(told.games.len() <= 1024);
        assert!(told.speed <= 1e6 && told.noise >= 0.0 && told.slots <= 4096);
        assert!(told.cores <= 1 << 16 && told.memory_mb <= 1 << 30);
        record_beat(&mut workers, &beat(""), "2026-01-01T00:00:00Z");
        record_beat(&mut workers, &beat("\n"), "2026-01-01T00:00:00Z");
        for number in 0..WORKERS_MAX {
            record_beat(&mut workers, &beat(&number.to_string()), "2026-01-01T00:00:01Z");
        }
        assert_eq!(workers.workers.len(), WORKERS_MAX);
        assert!(workers.workers.iter().all(|told| told.id != "a"));
    }
}
