//! Who has failed at a block, and why.

use std::collections::{BTreeMap, BTreeSet};

/// The longest reason that is told, in characters.
const WHY_CHARACTERS_MAX: usize = 200;

/// Failures at a block: of each worker, by id, what people call it and its last reason.
#[derive(Debug, Default)]
pub(super) struct Failures(BTreeMap<String, (String, String)>);

impl Failures {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A worker has failed, perhaps not for the first time.
    pub(super) fn note(&mut self, worker: &str, name: &str, why: &str) {
        let why = why.lines().next().unwrap_or_default();
        let why = why.chars().take(WHY_CHARACTERS_MAX).collect();
        self.0.insert(worker.to_owned(), (name.to_owned(), why));
    }

    /// The ids of those who have failed.
    pub(super) fn workers(&self) -> BTreeSet<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// Every reason once, with those who say so.
    pub(super) fn told(&self) -> String {
        let mut reasons: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (name, why) in self.0.values() {
            reasons.entry(why).or_default().insert(name);
        }
        let told = reasons.into_iter().map(|(why, names)| {
            let names: Vec<&str> = names.into_iter().collect();
            format!("{why} ({})", names.join(", "))
        });
        told.collect::<Vec<_>>().join("; ")
    }
}
