//! Many simulated matches, and what came of them.

use super::plan::Plan;
use super::world::{seconds, simulate};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// How often something came of a match.
pub(crate) type Counts = BTreeMap<String, u64>;

/// All the matches, on as many threads as there are cores.
pub(crate) fn play_all(matches: u64) -> Counts {
    let next = AtomicU64::new(0);
    let failed = Mutex::new(Vec::new());
    let work = || {
        let mut counts = Counts::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= matches {
                return counts;
            }
            let Ok(found) = catch_unwind(AssertUnwindSafe(|| play(seed, false))) else {
                next.store(matches, Ordering::Relaxed);
                failed.lock().unwrap().push(seed);
                return counts;
            };
            for what in found {
                *counts.entry(what).or_default() += 1;
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, Into::into);
    let counts = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut counts = Counts::new();
        for thread in threads {
            for (what, count) in thread.join().expect("a panic of a match is caught") {
                *counts.entry(what).or_default() += count;
            }
        }
        counts
    });
    if let Some(seed) = failed.into_inner().unwrap().first() {
        panic!(
            "seed {seed} failed; to see it: REFEREE_SIMULATION_SEED={seed} \
             cargo test -p referee --test simulation -- --nocapture"
        );
    }
    counts
}

/// Plays a match twice, and says what there was in it.
pub(crate) fn play(seed: u64, is_shown: bool) -> Vec<String> {
    let plan = Plan::of(seed);
    let report = simulate(&plan, seed, is_shown);
    assert!(report == simulate(&plan, seed, false), "the same seed gives another match");
    let verdict = &report.ending.verdict;
    if is_shown {
        let end = report.effects.last().map_or(0, |(at, _)| *at);
        println!("{} inputs in {}: {verdict:#?}", report.steps, seconds(end));
    }
    let (game, result) = (plan.kind.name, verdict.result);
    let mut found = vec![format!("{game} {result:?}"), format!("because {}", verdict.reason)];
    if let Some(cause) = report.unwritten {
        let void = verdict.void.as_ref();
        let when = if void.is_some_and(|void| void.cause == cause) { "by it" } else { "before it" };
        found.push(format!("not written, {cause}: ended {when}"));
    }
    let faults = verdict.seats.iter().filter_map(|seat| seat.fault.as_ref());
    found.extend(faults.map(|fault| match fault.by {
        Some(by) => format!("{} by {by:?}", fault.kind),
        None => fault.kind.to_string(),
    }));
    found
}
