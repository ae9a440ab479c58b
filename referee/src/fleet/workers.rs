//! What is known of a contest's workers, as `workers.json` in its folder has it, for whoever looks on.

use super::messages::{Beat, WorkerInfo};
use crate::plain::{tame_line, tame_name};
use referee_protocol::Sandbox;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// So many workers are kept; of more, those that were heard of longest ago are left out.
const WORKERS_MAX: usize = 4_096;
/// So many games of a worker are named.
const GAMES_MAX: usize = 1_024;
/// The most slots that a worker is believed to have.
pub(super) const SLOTS_MAX: u32 = 4_096;
/// The most cores.
const CORES_MAX: u32 = 1 << 16;
/// The most memory, in MiB.
const MEMORY_MB_MAX: u64 = 1 << 30;
/// The most that a worker is believed of how fast and how uneven it is.
const SPEED_MAX: f64 = 1e6;

/// The workers of a contest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workers {
    /// In the order in which they came.
    pub workers: Vec<WorkerTold>,
    /// What the command that resumes the contest has to say to have them play: `--on`, the server,
    /// and how it is asked, without what is secret.
    #[serde(default)]
    pub on: Vec<String>,
}

/// A worker, as its coordinator knows it. What it says of itself is tame, and no longer than can be
/// shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkerTold {
    /// Drawn when it was started.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What it is started as, to be asked for by contests; empty where it has none.
    pub class: String,
    /// `x86_64`, `aarch64`.
    pub arch: String,
    /// Cores that it may use.
    pub cores: u32,
    /// Memory that it may use, in MiB.
    pub memory_mb: u64,
    /// How many matches it plays at once.
    pub slots: u32,
    /// The games that are under way.
    pub games: Vec<u64>,
    /// Games that it has played for this contest.
    pub played: u64,
    /// How fast it is with all slots at work, in thousand positions a second and core.
    pub speed: f64,
    /// How much slower the slowest twentieth of its time is than the median: 1 is perfectly even.
    pub noise: f64,
    /// What its agents are kept apart by.
    pub sandbox: Option<Sandbox>,
    /// Why it takes no games of this contest, if so.
    pub refused: Option<String>,
    /// It takes no more games.
    pub leaving: bool,
    /// Nothing has been heard of it for so long that its games were given to others.
    pub lost: bool,
    /// How often it could not play what it was given.
    pub faults: u64,
    /// The last reason for that.
    pub fault: Option<String>,
    /// When it was last heard of, RFC 3339, by the coordinator's clock.
    pub seen: String,
}

impl WorkerTold {
    /// What it does, or why it does nothing, in words.
    pub fn state(&self) -> String {
        let mut parts = Vec::new();
        if self.lost {
            parts.push("lost".to_owned());
        } else if let Some(why) = &self.refused {
            parts.push(format!("doesn't fit: {why}"));
        } else if self.leaving {
            parts.push(if self.games.is_empty() { "left" } else { "leaving" }.to_owned());
        } else {
            parts.push(if self.games.is_empty() { "waiting" } else { "playing" }.to_owned());
        }
        if let Some(fault) = &self.fault {
            let times = if self.faults == 1 { "once" } else { &format!("{} times", self.faults) };
            parts.push(format!("failed {times}: {fault}"));
        }
        parts.join("; ")
    }
}

impl Workers {
    /// A worker has said that it is there, at this time (RFC 3339).
    pub fn beat(&mut self, beat: &Beat, now: &str) {
        let WorkerInfo { id, name, referee: _, arch, slots, cores, memory_mb, class, .. } =
            &beat.worker;
        let Some(told) = self.place(id) else { return };
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

    /// A worker could not play what it was given.
    pub fn failed(&mut self, id: &str, why: &str) {
        if let Some(told) = self.known(id) {
            told.faults += 1;
            told.fault = Some(tame_line(why));
        }
    }

    /// Nothing is heard of a worker any more.
    pub fn lost(&mut self, id: &str) {
        if let Some(told) = self.known(id) {
            told.lost = true;
            told.games.clear();
        }
    }

    fn known(&mut self, id: &str) -> Option<&mut WorkerTold> {
        self.workers.iter_mut().find(|told| told.id == id)
    }

    /// The worker with this id, or a new one in the place of who was heard of longest ago. `None`
    /// where that is no id.
    fn place(&mut self, id: &str) -> Option<&mut WorkerTold> {
        if id.is_empty() || tame_name(id) != id {
            return None;
        }
        if let Some(index) = self.workers.iter().position(|told| told.id == id) {
            return self.workers.get_mut(index);
        }
        if self.workers.len() >= WORKERS_MAX {
            let oldest = self.workers.iter().enumerate().min_by_key(|(_, told)| told.seen.clone());
            let oldest = oldest.map(|(index, _)| index)?;
            self.workers.remove(oldest);
        }
        self.workers.push(WorkerTold::default());
        self.workers.last_mut()
    }
}

fn tame_sandbox(told: &Sandbox) -> Sandbox {
    let layers = told.layers.iter().take(16).map(|layer| tame_name(layer)).collect();
    Sandbox { level: tame_name(&told.level), layers, pondering: told.pondering }
}

#[cfg(test)]
mod tests {
    use super::{WORKERS_MAX, Workers};
    use crate::fleet::{Beat, WorkerInfo};

    fn beat(id: &str) -> Beat {
        let worker = WorkerInfo { id: id.to_owned(), slots: 2, ..WorkerInfo::default() };
        Beat { worker, games: vec![7], ..Beat::default() }
    }

    #[test]
    fn what_a_worker_is_told_as_follows_its_beats() {
        let mut workers = Workers::default();
        workers.beat(&beat("a"), "2026-01-01T00:00:00Z");
        workers.failed("a", "no compiler");
        workers.failed("nobody", "?");
        assert_eq!(workers.workers[0].state(), "playing; failed once: no compiler");
        workers.lost("a");
        assert_eq!(workers.workers[0].state(), "lost; failed once: no compiler");
        assert!(workers.workers[0].games.is_empty());
        let refused = Some("2 cores of 4".to_owned());
        workers.beat(&Beat { refused, ..beat("a") }, "2026-01-01T00:00:03Z");
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
        workers.beat(&hostile, "2026-01-01T00:00:00Z");
        let told = &workers.workers[0];
        assert!(told.name.chars().count() <= 60 && !told.name.contains('\u{1b}'));
        assert!(told.state().chars().count() < 400 && !told.state().contains('\u{202E}'));
        assert!(told.games.len() <= 1024);
        assert!(told.speed <= 1e6 && told.noise >= 0.0 && told.slots <= 4096);
        assert!(told.cores <= 1 << 16 && told.memory_mb <= 1 << 30);
        workers.beat(&beat(""), "2026-01-01T00:00:00Z");
        workers.beat(&beat("\n"), "2026-01-01T00:00:00Z");
        for number in 0..WORKERS_MAX {
            workers.beat(&beat(&number.to_string()), "2026-01-01T00:00:01Z");
        }
        assert_eq!(workers.workers.len(), WORKERS_MAX);
        assert!(workers.workers.iter().all(|told| told.id != "a"));
    }
}
