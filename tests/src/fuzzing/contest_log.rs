//! Fuzzes the signed log of a contest.

use super::{Draw, byte};
use referee_contest::log::{
    Chain, Comparing, Entry, Head, Log, LoggedGame, LoggedReport, LoggedVoid, PrivateKey, VERSION,
    WorkerSignature, read,
};
use std::collections::BTreeMap;

/// Reads the bytes as a log, and as a script for a log that is written and then changed. Nothing panics;
/// a log is read as it was written, and any change of it shows.
pub fn contest_log(bytes: &[u8]) {
    if let Ok(log) = read(bytes) {
        assert!(log.signed_bytes <= bytes.len() as u64);
        compare_with_nothing(&log);
        // What is signed says the same alone, and can be continued.
        let signed = &bytes[..usize::try_from(log.signed_bytes).expect("below the length")];
        let again = read(signed).expect("its beginning is signed");
        assert_eq!((&again.games, &again.voids), (&log.games, &log.voids));
        assert!(again.broken.is_none() && !again.has_tail);
    }
    let (change, script) = byte(bytes);
    let whole = written(script);
    let log = read(&whole[..]).expect("a log that was written");
    assert!(log.broken.is_none() && !log.has_tail && !log.is_changed, "{log:?}");
    compare_with_nothing(&log);
    continued(&whole, &log);
    changed(&whole, &log, change, Draw::of(bytes));
}

/// Compared with a store without rows, everything that a log has is lost.
fn compare_with_nothing(log: &Log) {
    let found = Comparing::new(log, &log.changes).finish([]);
    assert!(found.games.is_empty() && found.voids.is_empty());
    assert!(found.lost_games.iter().eq(log.games.keys()));
    assert!(found.lost_voids.iter().eq(log.voids.keys()));
    let lost = found.lost_games.len() + found.lost_voids.len();
    assert_eq!(found.differences.len(), lost, "{found:?}");
}

fn key(number: u8) -> PrivateKey {
    PrivateKey::from_bytes(&[number; 32])
}

/// Writes a log: each byte of the script is an entry or a checkpoint.
fn written(script: &[u8]) -> Vec<u8> {
    let key = key(1);
    let mut chain = Chain::default();
    chain.push(Entry::Log(Head {
        version: VERSION,
        contest: String::new(),
        begun: String::new(),
        key: key.public(),
        name: String::from_utf8_lossy(script).into_owned(),
    }));
    chain.sign(&key, String::new());
    // Signing is slow: a few entries show everything.
    for &step in script.iter().take(12) {
        let number = u64::from(step >> 3);
        let seal = step.to_string();
        chain.push(match step % 8 {
            0..=2 => Entry::Game(LoggedGame { number, seal, worker: None }),
            3 => {
                let worker = WorkerSignature::new(&key, seal.clone(), &seal);
                assert!(worker.is_of(&seal) && !worker.is_of("another"));
                Entry::Game(LoggedGame { number, seal, worker: Some(worker) })
            }
            4 => {
                let (cause, sha256) = (seal, (step > 99).then(String::new));
                Entry::Void(LoggedVoid { number, attempt: 1, cause, sha256 })
            }
            5 => Entry::Dropped { games: vec![number], voids: vec![(number, 1)] },
            6 => Entry::Report(LoggedReport { referee: seal, files: BTreeMap::new() }),
            _ => {
                chain.sign(&key, seal);
                continue;
            }
        });
    }
    chain.sign(&key, String::new());
    chain.take()
}

/// A log is continued by its own key and by no other.
fn continued(whole: &[u8], log: &Log) {
    for (number, games) in [(1, log.games.len() + 1), (2, log.games.len())] {
        let mut chain = log.chain();
        chain.push(Entry::Game(LoggedGame { number: 99, seal: String::new(), worker: None }));
        chain.sign(&key(number), String::new());
        let more = read(&[whole, &chain.take()].concat()[..]).expect("its beginning is signed");
        assert_eq!((more.games.len(), more.is_changed), (games, number == 2));
    }
}

/// A changed bit, a removed, doubled or exchanged line shows, except at the end as a missing tail.
fn changed(whole: &[u8], log: &Log, change: u8, mut draw: Draw) {
    let mut lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let at = draw.below(lines.len());
    let changed = match change % 4 {
        0 => {
            let mut changed = whole.to_vec();
            changed[draw.below(whole.len())] ^= 1 << draw.below(8);
            changed
        }
        1 => {
            lines.remove(at);
            lines.concat()
        }
        2 => {
            lines.insert(at, lines[at]);
            lines.concat()
        }
        _ => {
            let other = draw.below(lines.len());
            lines.swap(at, other);
            lines.concat()
        }
    };
    let Ok(read) = read(&changed[..]) else { return };
    if changed != whole {
        let shows = read.broken.is_some() || read.has_tail || read.signed_lines < log.signed_lines;
        assert!(shows, "a change that doesn't show");
    }
}
