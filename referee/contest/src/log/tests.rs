use super::{
    Chain, Comparing, Comparison, Entry, Head, Log, LogError, LoggedGame, LoggedReport, LoggedVoid,
    PrivateKey, SealDigest, VERSION, WorkerSignature, digest, read as read_from,
};
use std::collections::BTreeMap;

fn key() -> PrivateKey {
    PrivateKey::from_bytes(&[1; 32])
}

fn game(number: u64, seal: &str) -> LoggedGame {
    LoggedGame { number, seal: seal.to_owned(), worker: None }
}

fn void(number: u64) -> LoggedVoid {
    LoggedVoid { number, attempt: 1, cause: "lag".to_owned(), sha256: Some(digest(b"x")) }
}

fn games() -> Vec<LoggedGame> {
    let worker = WorkerSignature::new(&PrivateKey::from_bytes(&[2; 32]), "w".to_owned(), "c");
    let signed = LoggedGame { worker: Some(worker), ..game(2, "c") };
    vec![game(0, "a"), game(1, "b"), signed, game(3, "d")]
}

/// A log of four games and a void attempt, in two batches, and a report.
fn whole() -> Vec<u8> {
    let mut chain = Chain::default();
    let head = Head {
        version: VERSION,
        contest: digest(b"contest"),
        begun: "2026-01-01T00:00:00Z".to_owned(),
        key: key().public(),
        name: "me".to_owned(),
    };
    chain.push(Entry::Log(head));
    chain.sign(&key(), "1".to_owned());
    let games = games();
    chain.push(Entry::Game(games[0].clone()));
    chain.push(Entry::Void(void(1)));
    chain.sign(&key(), "2".to_owned());
    for game in &games[1..] {
        chain.push(Entry::Game(game.clone()));
    }
    chain.sign(&key(), "3".to_owned());
    let files = BTreeMap::from([("report.json".to_owned(), digest(b"{}"))]);
    chain.push(Entry::Report(LoggedReport { referee: "1".to_owned(), files }));
    chain.sign(&key(), "4".to_owned());
    chain.take()
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

fn read(bytes: &[u8]) -> Result<Log, LogError> {
    read_from(bytes)
}

fn compare(log: &Log, games: &[LoggedGame], voids: &[LoggedVoid]) -> Comparison {
    let mut comparing = Comparing::new(log, &[]);
    for game in games {
        comparing.game(game);
    }
    comparing.finish(voids)
}

fn differences(log: &Log, games: &[LoggedGame]) -> Vec<String> {
    compare(log, games, &[void(1)]).differences
}

#[test]
fn a_whole_log_agrees_with_its_store() {
    let log = read(&whole()).unwrap();
    assert_eq!((log.broken.clone(), log.problems.len(), log.has_tail), (None, 0, false));
    assert_eq!((log.signed_lines, log.signed_at.as_str()), (11, "4"));
    assert_eq!(log.signed_bytes, whole().len() as u64);
    assert!(log.report.as_ref().unwrap().1);
    assert_eq!(differences(&log, &games()), [""; 0]);
    assert!(games()[2].worker.as_ref().unwrap().is_of("c"));
    assert!(!games()[2].worker.as_ref().unwrap().is_of("d"));
}

#[test]
fn a_changed_removed_exchanged_or_added_line_is_named() {
    let all = lines(&whole());
    for number in 1..all.len() {
        let mut left = all.clone();
        left.remove(number);
        let log = read(&left.concat());
        if number + 1 == all.len() {
            assert!(log.unwrap().has_tail, "without its last checkpoint");
        } else if number > 1 {
            let (line, text) = log.unwrap().broken.unwrap();
            assert_eq!((line, text.contains("does not follow")), (number as u64 + 1, true));
        } else {
            assert!(matches!(log, Err(LogError::Unsigned(_))));
        }
        let mut left = all.clone();
        left.insert(number, all[number].clone());
        assert!(read(&left.concat()).is_err() || read(&left.concat()).unwrap().broken.is_some());
        let mut left = all.clone();
        left.swap(number, number - 1);
        assert!(read(&left.concat()).is_err() || read(&left.concat()).unwrap().broken.is_some());
    }
    // Any other byte in any place.
    let bytes = whole();
    for index in 0..bytes.len() {
        let mut left = bytes.clone();
        left[index] ^= 1;
        let Ok(log) = read(&left) else { continue };
        assert!(log.broken.is_some() || log.has_tail, "byte {index}");
    }
}

#[test]
fn another_key_can_not_continue_a_log() {
    let bytes = whole();
    let log = read(&bytes).unwrap();
    let mut chain = log.chain();
    chain.push(Entry::Game(game(4, "e")));
    let mut own = chain.clone();
    own.sign(&key(), "5".to_owned());
    let longer = read(&[bytes.clone(), own.take()].concat()).unwrap();
    assert_eq!((longer.games.len(), longer.broken), (5, None));
    assert!(!longer.report.unwrap().1, "a game follows the report");
    chain.sign(&PrivateKey::from_bytes(&[9; 32]), "5".to_owned());
    let log = read(&[bytes, chain.take()].concat()).unwrap();
    assert_eq!(log.games.len(), 4, "what isn't signed doesn't count");
    assert!(log.is_changed);
    assert_eq!(log.broken.unwrap(), (13, "its signature is not of the log's key".to_owned()));
}

#[test]
fn a_cut_leaves_the_signed_batches() {
    let bytes = whole();
    let mut before = 0;
    for length in 0..bytes.len() {
        match read(&bytes[..length]) {
            Ok(log) => {
                assert!(!log.is_changed && log.broken.is_none(), "cut after {length} bytes");
                assert!(log.signed_bytes >= before && log.signed_bytes <= length as u64);
                before = log.signed_bytes;
            }
            Err(error) => assert_eq!((error, before), (LogError::Cut, 0)),
        }
    }
}

#[test]
fn rows_that_differ_from_the_log_are_named() {
    let log = read(&whole()).unwrap();
    let changed = |change: fn(&mut Vec<LoggedGame>)| {
        let mut games = games();
        change(&mut games);
        differences(&log, &games).join("; ")
    };
    for (change, words) in [
        (
            (|games| drop(games.remove(1))) as fn(&mut Vec<LoggedGame>),
            "game 1 is in line 6 of the log, but its row is not in the store",
        ),
        (|games| games[0].seal = "b".to_owned(), "game 0 has the transcript of game 1"),
        (|games| games[3].seal = "x".to_owned(), "game 3 is not the one in line 8 of the log"),
        (|games| games[2].worker = None, "game 2: the worker's signature differs"),
    ] {
        assert!(changed(change).contains(words), "{words}: {}", changed(change));
    }
    let more = [games(), vec![game(7, "z")]].concat();
    let found = compare(&log, &more, &[void(1), void(2)]);
    assert_eq!((found.games, found.voids, found.differences.len()), (vec![7], vec![(2, 1)], 0));
    let found = compare(&log, &games(), &[]);
    assert_eq!((found.lost_voids, found.differences.len()), (vec![(1, 1)], 1));
    let other = LoggedVoid { cause: "machine".to_owned(), ..void(1) };
    assert_eq!(compare(&log, &games(), &[other]).differences.len(), 1);
}

#[test]
fn a_game_counts_again_only_after_it_was_dropped() {
    let bytes = whole();
    let log = read(&bytes).unwrap();
    let again = |dropped: Vec<u64>| {
        let mut chain = log.chain();
        if !dropped.is_empty() {
            chain.push(Entry::Dropped { games: dropped, voids: vec![(1, 1)] });
        }
        chain.push(Entry::Game(game(3, "new")));
        chain.sign(&key(), "5".to_owned());
        read(&[bytes.clone(), chain.take()].concat()).unwrap()
    };
    let log = again(Vec::new());
    assert_eq!(log.problems, ["line 12: game 3 is recorded a second time, after line 8"]);
    let log = again(vec![3]);
    assert_eq!((log.problems.len(), log.dropped.as_slice()), (0, &[(12, 3)][..]));
    assert_eq!((log.games[&3].seal, log.voids.len()), (SealDigest::of("new"), 0));
}
