//! The workers that failed at a block.

use referee_contest::Player;
use std::collections::{BTreeMap, BTreeSet};

/// Why a worker has failed that is silent.
pub(super) const LOST: &str = "lost contact";
/// The maximum length of a reason, in characters.
const WHY_CHARACTERS_MAX: usize = 200;

/// Failures at a block: those of each worker, by id.
#[derive(Debug, Default)]
pub(super) struct Failures(BTreeMap<String, Failure>);

/// The last failure of a worker.
#[derive(Debug)]
struct Failure {
    /// The worker's name.
    name: String,
    why: String,
    /// The player whose agent the worker can't build or start, if that is why.
    player: Option<Player>,
}

impl Failures {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Records a failure.
    pub(super) fn note(&mut self, worker: &str, name: &str, why: &str, player: Option<Player>) {
        let why = why.lines().next().unwrap_or_default();
        let why = why.chars().take(WHY_CHARACTERS_MAX).collect();
        self.0.insert(worker.to_owned(), Failure { name: name.to_owned(), why, player });
    }

    /// Returns the player whose agent no worker could build or start, if that is why all of them failed that weren't lost.
    pub(super) fn player(&self) -> Option<Player> {
        let known = self.0.values().filter(|failure| failure.why != LOST);
        let mut players = known.map(|failure| failure.player);
        let first = players.next()??;
        players.all(|player| player == Some(first)).then_some(first)
    }

    /// Returns the ids of the workers that failed.
    pub(super) fn workers(&self) -> BTreeSet<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// Returns each reason once, with the names of its workers.
    pub(super) fn summary(&self) -> String {
        let mut reasons: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for Failure { name, why, .. } in self.0.values() {
            reasons.entry(why).or_default().insert(name);
        }
        let texts = reasons.into_iter().map(|(why, names)| {
            let names: Vec<&str> = names.into_iter().collect();
            format!("{why} ({})", names.join(", "))
        });
        texts.collect::<Vec<_>>().join("; ")
    }
}
