//! What workers report about themselves, sanitized and bounded for display.

use crate::messages::{Heartbeat, WorkerInfo};
use referee_protocol::sanitize::{sanitize_line, sanitize_name};
use referee_protocol::{LevelChoice, SandboxRecord};
use referee_runner::workers::{KnownWorker, Workers};

/// The maximum number of a worker's games that are listed.
const GAMES_MAX: usize = 1_024;
/// Upper bounds of what a worker may claim: slots,
pub const SLOTS_MAX: u32 = 4_096;
/// cores.
const CORES_MAX: u32 = 1 << 16;

/// Records a heartbeat that arrived at this time (RFC 3339).
pub fn record_heartbeat(workers: &mut Workers, beat: &Heartbeat, now: &str) {
    let WorkerInfo { id, name, referee: _, arch, slots, cores, .. } = &beat.worker;
    let Some(entry) = workers.entry(id) else { return };
    *entry = KnownWorker {
        id: sanitize_name(id),
        name: sanitize_name(name),
        arch: sanitize_name(arch),
        cores: (*cores).min(CORES_MAX),
        slots: (*slots).min(SLOTS_MAX),
        games: beat.games.iter().take(GAMES_MAX).copied().collect(),
        played: beat.played,
        sandbox: beat.worker.sandbox.as_ref().map(sanitize_sandbox),
        refused: beat.refused.as_deref().map(sanitize_line),
        leaving: beat.leaving,
        elsewhere: beat.elsewhere.as_deref().map(sanitize_name),
        lost: false,
        faults: entry.faults,
        fault: entry.fault.take(),
        seen: now.to_owned(),
    };
}

fn sanitize_sandbox(sandbox: &SandboxRecord) -> SandboxRecord {
    let layers = sandbox.layers.iter().take(16).map(|layer| sanitize_name(layer)).collect();
    let missing = sandbox.missing.iter().take(LevelChoice::NAMES.len());
    let missing = missing.map(|reason| sanitize_line(reason)).collect();
    let SandboxRecord { ref level, pondering, freezer, layers: _, missing: _, cores } = *sandbox;
    SandboxRecord { level: sanitize_name(level), layers, cores, missing, pondering, freezer }
}

#[cfg(test)]
mod tests {
    use super::record_heartbeat;
    use crate::messages::{Heartbeat, WorkerInfo};
    use referee_runner::workers::{WORKERS_MAX, Workers};

    fn beat(id: &str) -> Heartbeat {
        let worker = WorkerInfo { id: id.to_owned(), slots: 2, ..WorkerInfo::default() };
        Heartbeat { worker, games: vec![7], ..Heartbeat::default() }
    }

    #[test]
    fn a_worker_s_state_follows_its_heartbeats() {
        let mut workers = Workers::default();
        record_heartbeat(&mut workers, &beat("a"), "2026-01-01T00:00:00Z");
        workers.failed("a", "no compiler");
        workers.failed("unknown", "?");
        assert_eq!(workers.workers[0].state(), "playing; failed once: no compiler");
        workers.lost("a");
        assert_eq!(workers.workers[0].state(), "lost; failed once: no compiler");
        assert!(workers.workers[0].games.is_empty());
        let refused = Some("2 cores of 4".to_owned());
        record_heartbeat(&mut workers, &Heartbeat { refused, ..beat("a") }, "2026-01-01T00:00:03Z");
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
        (hostile.worker.slots, hostile.worker.cores) = (4_000_000_000, u32::MAX);
        record_heartbeat(&mut workers, &hostile, "2026-01-01T00:00:00Z");
        let worker = &workers.workers[0];
        assert!(worker.name.chars().count() <= 60 && !worker.name.contains('\u{1b}'));
        assert!(worker.state().chars().count() < 400 && !worker.state().contains('\u{202E}'));
        assert!(worker.games.len() <= 1024);
        assert!(worker.slots <= 4096 && worker.cores <= 1 << 16);
        record_heartbeat(&mut workers, &beat(""), "2026-01-01T00:00:00Z");
        record_heartbeat(&mut workers, &beat("\n"), "2026-01-01T00:00:00Z");
        for number in 0..WORKERS_MAX {
            record_heartbeat(&mut workers, &beat(&number.to_string()), "2026-01-01T00:00:01Z");
        }
        assert_eq!(workers.workers.len(), WORKERS_MAX);
        assert!(workers.workers.iter().all(|worker| worker.id != "a"));
    }
}
