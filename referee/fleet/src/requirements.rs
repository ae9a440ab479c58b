//! The requirements of a contest on its workers.

use super::{Brief, WorkerInfo};
use referee_contest::WorkerSettings;
use referee_protocol::plain::sanitize;

/// Returns why a worker does not meet a contest's requirements, or `None` if it does. A sandbox
/// that is not known yet is not checked.
pub fn mismatch(brief: &Brief, worker: &WorkerInfo) -> Option<String> {
    let asked = &brief.contest.workers;
    arch_and_class(asked, &brief.arch, worker)
        .or_else(|| cores_and_memory(asked, worker))
        .or_else(|| speed_and_noise(asked, worker))
        .or_else(|| {
            let level = &worker.sandbox.as_ref()?.level;
            let wanted = brief.contest.sandbox.unmet_level(level)?;
            Some(format!("its sandbox is {}, but {wanted} is required", sanitize(level)))
        })
}

/// Checks architecture and class.
fn arch_and_class(asked: &WorkerSettings, own: &str, worker: &WorkerInfo) -> Option<String> {
    let arch = asked.arch.as_deref().unwrap_or(own);
    if arch != worker.arch {
        let [is, arch] = [&worker.arch, arch].map(sanitize);
        return Some(format!("its architecture is {is}, but {arch} is required"));
    }
    let class = asked.class.as_deref().filter(|class| *class != worker.class)?;
    let [is, class] = [&worker.class, class].map(sanitize);
    Some(if is.is_empty() {
        format!("it has no class, but {class} is required")
    } else {
        format!("its class is {is}, but {class} is required")
    })
}

/// Checks cores and memory per match.
fn cores_and_memory(asked: &WorkerSettings, worker: &WorkerInfo) -> Option<String> {
    let slots = worker.slots.max(1);
    let (cores, memory_mb) = (worker.cores / slots, worker.memory_mb / u64::from(slots));
    if let Some(least) = asked.cores.filter(|least| cores < *least) {
        return Some(too_few("cores", worker.cores, slots, least));
    }
    let least = asked.memory_mb.filter(|least| memory_mb < *least)?;
    Some(too_few("MiB of memory", worker.memory_mb, slots, least))
}

fn too_few(what: &str, has: impl Into<u64>, slots: u32, least: impl Into<u64>) -> String {
    let (has, least) = (has.into(), least.into());
    let matches = if slots == 1 { "match" } else { "matches" };
    format!("it has {has} {what} for {slots} {matches} at once, but each match needs {least}")
}

/// Checks speed and noise. An unknown value fails.
fn speed_and_noise(asked: &WorkerSettings, worker: &WorkerInfo) -> Option<String> {
    let (speed, noise) = (worker.speed, worker.noise);
    let within = |value: f64, least: f64, most: f64| value >= least && value <= most;
    let (least, most) = (asked.speed.unwrap_or(0.0), asked.speed_most.unwrap_or(f64::INFINITY));
    let has_bound = asked.speed.is_some() || asked.speed_most.is_some();
    if has_bound && !within(speed, least, most) {
        let wanted =
            if speed > most { format!("at most {most}") } else { format!("at least {least}") };
        return Some(format!("its speed is {speed:.0}, but {wanted} is required"));
    }
    let most = asked.noise_most.filter(|most| !within(noise, 0.0, *most))?;
    Some(format!("its noise is {noise:.2}, but at most {most} is required"))
}

#[cfg(test)]
mod tests {
    use super::mismatch;
    use crate::coordinator::tests::brief;
    use crate::{Brief, WorkerInfo};
    use referee_protocol::SandboxRecord;

    /// Returns the brief of a contest file with these lines.
    fn with(lines: &str) -> Brief {
        Brief { arch: "x86_64".to_owned(), ..brief(lines) }
    }

    fn worker() -> WorkerInfo {
        WorkerInfo {
            arch: "x86_64".to_owned(),
            slots: 4,
            cores: 8,
            memory_mb: 8000,
            class: "lab".to_owned(),
            speed: 1000.0,
            noise: 1.1,
            ..WorkerInfo::default()
        }
    }

    #[test]
    fn the_first_mismatch_is_reported() {
        let all = "[workers]\nclass = \"lab\"\narch = \"x86_64\"\ncores = 2\nmemory_mb = 2000\n\
                   speed = 1000\nspeed_most = 1000\nnoise_most = 1.1";
        for (lines, expected) in [
            ("", None),
            (all, None),
            (
                "workers.arch = \"aarch64\"",
                Some("its architecture is x86_64, but aarch64 is required"),
            ),
            ("workers.class = \"fast\"", Some("its class is lab, but fast is required")),
            (
                "workers.cores = 3",
                Some("it has 8 cores for 4 matches at once, but each match needs 3"),
            ),
            (
                "workers.memory_mb = 2001",
                Some("it has 8000 MiB of memory for 4 matches at once, but each match needs 2001"),
            ),
            ("workers.speed = 1001", Some("its speed is 1000, but at least 1001 is required")),
            (
                "workers.speed_most = 999.5",
                Some("its speed is 1000, but at most 999.5 is required"),
            ),
            ("workers.noise_most = 1.0", Some("its noise is 1.10, but at most 1 is required")),
        ] {
            assert_eq!(mismatch(&with(lines), &worker()).as_deref(), expected, "{lines}");
        }
        let unknown = WorkerInfo { speed: f64::NAN, ..worker() };
        assert!(mismatch(&with("workers.speed = 1.0"), &unknown).is_some());
        let other = Brief { arch: "aarch64".to_owned(), ..brief("") };
        assert_eq!(
            mismatch(&other, &worker()).unwrap(),
            "its architecture is x86_64, but aarch64 is required"
        );
    }

    #[test]
    fn a_known_sandbox_is_checked() {
        let brief = with("sandbox.at_least = \"isolated\"");
        let with = |level: &str| {
            let sandbox = SandboxRecord { level: level.to_owned(), ..SandboxRecord::default() };
            mismatch(&brief, &WorkerInfo { sandbox: Some(sandbox), ..worker() })
        };
        assert_eq!(mismatch(&brief, &worker()), None);
        assert_eq!(with("isolated"), None);
        assert_eq!(with("metered"), None);
        let weak = with("basic").unwrap();
        assert_eq!(weak, "its sandbox is basic, but isolated is required");
        assert!(with("\u{1b}[2J").is_some_and(|text| !text.contains('\u{1b}')));
    }
}
