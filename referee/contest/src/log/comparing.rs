//! Compares a log with the contest's store.

use super::{Log, LoggedGame, LoggedVoid};
use crate::Change;
use std::borrow::Cow;
use std::collections::BTreeMap;

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

/// Compares the games, the void attempts and the changes in a store with a log.
pub fn compare<'a>(
    log: &Log,
    changes: &[Change],
    games: impl IntoIterator<Item = &'a LoggedGame>,
    voids: impl IntoIterator<Item = &'a LoggedVoid>,
) -> Comparison {
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
    let by_seal: BTreeMap<&str, u64> =
        log.games.iter().map(|(number, (_, game))| (game.seal.as_str(), *number)).collect();
    let mut games_left: BTreeMap<u64, u64> =
        log.games.iter().map(|(number, (line, _))| (*number, *line)).collect();
    for game in games {
        let number = game.number;
        games_left.remove(&number);
        let Some((line, logged)) = log.games.get(&number) else {
            found.games.push(number);
            continue;
        };
        if logged.seal != game.seal {
            found.differences.push(match by_seal.get(game.seal.as_str()) {
                Some(other) => format!("game {number} has the transcript of game {other}"),
                None => format!(
                    "game {number} is not the one in line {line} of the log: it was replaced or \
                     played again"
                ),
            });
        }
        if logged.worker != game.worker {
            found.differences.push(format!(
                "game {number}: the worker's signature differs from the one in line {line} of the log"
            ));
        }
    }
    for (number, line) in games_left {
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
