//! Compares a log with the contest's store.

use super::{GameLine, Log, LoggedGame, LoggedVoid, SealDigest};
use crate::Change;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// How a log and a store differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// What a kill can't explain: rows that were removed, games that were played again, files that were
    /// exchanged.
    pub differences: Vec<String>,
    /// The games in the store that the log lacks: a kill may leave the last batch.
    pub games: Vec<u64>,
    /// The void attempts in the store that the log lacks.
    pub voids: Vec<(u64, u32)>,
    /// How many changes of the store the log lacks.
    pub changes: usize,
    /// The games in the log that the store lacks.
    pub lost_games: Vec<u64>,
    /// The void attempts in the log that the store lacks.
    pub lost_voids: Vec<(u64, u32)>,
}

/// A comparison that is under way: first all games of the store, then its void attempts.
#[derive(Debug)]
pub struct Comparing<'a> {
    log: Cow<'a, Log>,
    /// The games of the log that the store has not shown yet.
    left: BTreeSet<u64>,
    /// The games by their seals, once a seal differs.
    by_seal: OnceCell<BTreeMap<SealDigest, u64>>,
    found: Comparison,
}

impl<'a> Comparing<'a> {
    /// Compares the changes in a store with those in the log.
    pub fn new(log: &'a Log, changes: &[Change]) -> Self {
        let mut found = Comparison::default();
        let mut log = Cow::Borrowed(log);
        if changes.starts_with(&log.changes) {
            // What the log lacks is applied, so that it has the results of the store.
            for change in &changes[log.changes.len()..] {
                found.changes += 1;
                log.to_mut().apply(change.clone());
            }
        } else {
            found.differences.push("the changes in the store are not those in the log".to_owned());
        }
        let left = log.games.keys().copied().collect();
        Self { log, left, by_seal: OnceCell::new(), found }
    }

    /// Compares a game in the store.
    pub fn game(&mut self, game: &LoggedGame) {
        let number = game.number;
        self.left.remove(&number);
        let Some(GameLine { line, seal, worker }) = self.log.games.get(&number) else {
            self.found.games.push(number);
            return;
        };
        let own = SealDigest::of(&game.seal);
        if *seal != own {
            let by_seal = self.by_seal.get_or_init(|| {
                self.log.games.iter().map(|(number, game)| (game.seal, *number)).collect()
            });
            self.found.differences.push(match by_seal.get(&own) {
                Some(other) => format!("game {number} has the transcript of game {other}"),
                None => format!(
                    "game {number} is not the one in line {line} of the log: it was replaced or \
                     played again"
                ),
            });
        }
        if worker.as_deref() != game.worker.as_ref() {
            self.found.differences.push(format!(
                "game {number}: the worker's signature differs from the one in line {line} of the log"
            ));
        }
    }

    /// Compares the void attempts in the store, and returns what differs.
    pub fn finish<'b>(self, voids: impl IntoIterator<Item = &'b LoggedVoid>) -> Comparison {
        let Self { log, left, mut found, .. } = self;
        for number in left {
            let line = log.games[&number].line;
            found.lost_games.push(number);
            found.differences.push(format!(
                "game {number} is in line {line} of the log, but its row is not in the store"
            ));
        }
        let mut voids_left: BTreeMap<(u64, u32), u64> =
            log.voids.iter().map(|(key, (line, _))| (*key, *line)).collect();
        for void in voids {
            let key = (void.number, void.attempt);
            voids_left.remove(&key);
            match log.voids.get(&key) {
                None => found.voids.push(key),
                // A file that could not be read then has no digest.
                Some((_, logged))
                    if logged.cause == void.cause
                        && (logged.sha256.is_none() || logged.sha256 == void.sha256) => {}
                Some((line, _)) => found.differences.push(format!(
                    "attempt {} at game {} is not the one in line {line} of the log",
                    void.attempt, void.number
                )),
            }
        }
        for ((number, attempt), line) in voids_left {
            found.lost_voids.push((number, attempt));
            found.differences.push(format!(
                "attempt {attempt} at game {number} is in line {line} of the log, but its row is not in \
                 the store"
            ));
        }
        found
    }
}
