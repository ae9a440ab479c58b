//! The workers that failed at a block.

use std::collections::{BTreeMap, BTreeSet};

/// The maximum length of a reason, in characters.
const WHY_CHARACTERS_MAX: usize = 200;

/// Failures at a block: the name and the last reason of each worker, by id.
#[derive(Debug, Default)]
pub(super) struct Failures(BTreeMap<String, (String, String)>);

impl Failures {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Records a failure.
    pub(super) fn note(&mut self, worker: &str, name: &str, why: &str) {
        let why = why.lines().next().unwrap_or_default();
        let why = why.chars().take(WHY_CHARACTERS_MAX).collect();
        self.0.insert(worker.to_owned(), (name.to_owned(), why));
    }

    /// Returns the ids of the workers that failed.
    pub(super) fn workers(&self) -> BTreeSet<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// Returns each reason once, with the names of its workers.
    pub(super) fn summary(&self) -> String {
        let mut reasons: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (name, why) in self.0.values() {
            reasons.entry(why).or_default().insert(name);
        }
        let texts = reasons.into_iter().map(|(why, names)| {
            let names: Vec<&str> = names.into_iter().collect();
            format!("{why} ({})", names.join(", "))
        });
        texts.collect::<Vec<_>>().join("; ")
    }
}
