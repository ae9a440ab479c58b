//! What a contest asks of the machines that play it, and why a worker doesn't fit.

use super::{Brief, WorkerInfo};
use referee_contest::WorkerSettings;
use referee_protocol::plain::tame;

/// Why a worker can't play this contest, in words, if it can't. Its sandbox is judged where it is
/// known.
pub fn misfit(brief: &Brief, worker: &WorkerInfo) -> Option<String> {
    let asked = &brief.contest.workers;
    kind(asked, &brief.arch, worker)
        .or_else(|| size(asked, worker))
        .or_else(|| pace(asked, worker))
        .or_else(|| {
            let told = &worker.sandbox.as_ref()?.level;
            let wanted = brief.contest.sandbox.missed_by(told)?;
            Some(format!("its sandbox is {}, and {wanted} is asked for", tame(told)))
        })
}

/// What it is.
fn kind(asked: &WorkerSettings, own: &str, worker: &WorkerInfo) -> Option<String> {
    let arch = asked.arch.as_deref().unwrap_or(own);
    if arch != worker.arch {
        let [is, arch] = [&worker.arch, arch].map(tame);
        return Some(format!("it is {is}, and {arch} is asked for"));
    }
    let class = asked.class.as_deref().filter(|class| *class != worker.class)?;
    let [is, class] = [&worker.class, class].map(tame);
    Some(if is.is_empty() {
        format!("it has no class, and {class} is asked for")
    } else {
        format!("its class is {is}, and {class} is asked for")
    })
}

/// What it has for each match.
fn size(asked: &WorkerSettings, worker: &WorkerInfo) -> Option<String> {
    let slots = worker.slots.max(1);
    let (cores, memory_mb) = (worker.cores / slots, worker.memory_mb / u64::from(slots));
    if let Some(least) = asked.cores.filter(|least| cores < *least) {
        return Some(few("cores", worker.cores, slots, least));
    }
    let least = asked.memory_mb.filter(|least| memory_mb < *least)?;
    Some(few("MiB of memory", worker.memory_mb, slots, least))
}

fn few(what: &str, has: impl Into<u64>, slots: u32, least: impl Into<u64>) -> String {
    let (has, least) = (has.into(), least.into());
    let matches = if slots == 1 { "match" } else { "matches" };
    format!("it has {has} {what} for {slots} {matches} at once, and {least} each are asked for")
}

/// How fast it is. What isn't known doesn't do.
fn pace(asked: &WorkerSettings, worker: &WorkerInfo) -> Option<String> {
    let (speed, noise) = (worker.speed, worker.noise);
    let within = |value: f64, least: f64, most: f64| value >= least && value <= most;
    let (least, most) = (asked.speed.unwrap_or(0.0), asked.speed_most.unwrap_or(f64::INFINITY));
    let told = asked.speed.is_some() || asked.speed_most.is_some();
    if told && !within(speed, least, most) {
        let wanted = if speed > most { format!("at most {most}") } else { format!("{least}") };
        return Some(format!("its speed is {speed:.0}, and {wanted} is asked for"));
    }
    let most = asked.noise_most.filter(|most| !within(noise, 0.0, *most))?;
    Some(format!("its noise is {noise:.2}, and at most {most} is asked for"))
}

#[cfg(test)]
mod tests {
    use super::misfit;
    use crate::coordinator::tests::brief;
    use crate::{Brief, WorkerInfo};
    use referee_protocol::Sandbox;

    /// A contest that asks for this.
    fn asks(lines: &str) -> Brief {
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
    fn whatever_is_missing_is_told() {
        let all = "[workers]\nclass = \"lab\"\narch = \"x86_64\"\ncores = 2\nmemory_mb = 2000\n\
                   speed = 1000\nspeed_most = 1000\nnoise_most = 1.1";
        for (lines, told) in [
            ("", None),
            (all, None),
            ("workers.arch = \"aarch64\"", Some("it is x86_64, and aarch64 is asked for")),
            ("workers.class = \"fast\"", Some("its class is lab, and fast is asked for")),
            (
                "workers.cores = 3",
                Some("it has 8 cores for 4 matches at once, and 3 each are asked for"),
            ),
            (
                "workers.memory_mb = 2001",
                Some(
                    "it has 8000 MiB of memory for 4 matches at once, and 2001 each are asked for",
                ),
            ),
            ("workers.speed = 1001", Some("its speed is 1000, and 1001 is asked for")),
            (
                "workers.speed_most = 999.5",
                Some("its speed is 1000, and at most 999.5 is asked for"),
            ),
            ("workers.noise_most = 1.0", Some("its noise is 1.10, and at most 1 is asked for")),
        ] {
            assert_eq!(misfit(&asks(lines), &worker()).as_deref(), told, "{lines}");
        }
        let unknown = WorkerInfo { speed: f64::NAN, ..worker() };
        assert!(misfit(&asks("workers.speed = 1.0"), &unknown).is_some());
        let other = Brief { arch: "aarch64".to_owned(), ..brief("") };
        assert_eq!(misfit(&other, &worker()).unwrap(), "it is x86_64, and aarch64 is asked for");
    }

    #[test]
    fn its_sandbox_is_judged_where_it_is_known() {
        let brief = asks("sandbox.at_least = \"isolated\"");
        let with = |level: &str| {
            let sandbox = Sandbox { level: level.to_owned(), layers: Vec::new(), pondering: None };
            misfit(&brief, &WorkerInfo { sandbox: Some(sandbox), ..worker() })
        };
        assert_eq!(misfit(&brief, &worker()), None);
        assert_eq!(with("isolated"), None);
        assert_eq!(with("metered"), None);
        let weak = with("basic").unwrap();
        assert_eq!(weak, "its sandbox is basic, and isolated is asked for");
        assert!(with("\u{1b}[2J").is_some_and(|text| !text.contains('\u{1b}')));
    }
}
