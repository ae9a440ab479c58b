//! The writer: no game counts before its transcript is on the disk.

use super::super::folder::Folder;
use super::super::store::Store;
use super::super::writer::{Entry, ResultWriter, disk_failure};
use super::store::{game, stored, void};
use referee_protocol::SandboxRecord;
use std::fs;
use std::io;

fn started() -> (tempfile::TempDir, Folder, ResultWriter) {
    let (place, contest) = stored();
    let folder = Folder::create(&place.path().join("d")).unwrap();
    let store = Store::create(&folder, &contest).unwrap();
    let writer = ResultWriter::start(folder.clone(), store).unwrap();
    fs::create_dir_all(folder.path("games/0000")).unwrap();
    (place, folder, writer)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn several_batches_are_stored_whole() {
    let (_place, folder, mut writer) = started();
    for number in 0..120 {
        fs::write(folder.path(Folder::transcript(number)), "x").unwrap();
        writer.send(Entry::Game(Box::new(game(number, "a")), None));
    }
    let void = void(120, 1, "x");
    writer.send(Entry::Void(void.clone()));
    let before = Store::open(&folder).unwrap().sessions().unwrap().len();
    let sandbox = SandboxRecord { level: "none".to_owned(), ..SandboxRecord::default() };
    writer.send(Entry::Session(Box::new(sandbox.clone())));
    let mut stored = Vec::new();
    runtime().block_on(async {
        while writer.is_busy() {
            let batch = writer.next().await.unwrap();
            assert!(batch.len() <= 50, "{}", batch.len());
            stored.extend(batch);
        }
    });
    writer.finish();
    let numbers = stored.iter().filter_map(|entry| match entry {
        Entry::Game(game, _) => Some(game.number),
        Entry::Void(_) | Entry::Session(_) => None,
    });
    assert!(numbers.eq(0..120));
    let store = Store::open(&folder).unwrap();
    assert_eq!(store.count().unwrap(), 120);
    assert_eq!(store.voids().unwrap(), [void]);
    assert_eq!(store.sessions().unwrap()[before..], [sandbox]);
}

#[test]
fn a_game_without_its_transcript_never_counts() {
    let (_place, folder, mut writer) = started();
    fs::write(folder.path(Folder::transcript(0)), "x").unwrap();
    for number in [0, 1] {
        writer.send(Entry::Game(Box::new(game(number, "a")), None));
    }
    let failure = runtime().block_on(async {
        loop {
            match writer.next().await {
                Ok(_) => assert!(writer.is_busy()),
                Err(failure) => return failure,
            }
        }
    });
    assert!(failure.to_string().contains("0000001.jsonl"), "{failure}");
    assert!(!writer.is_busy());
    // A writer that has ended is not waited for.
    writer.finish();
    assert_eq!(Store::open(&folder).unwrap().record(1).unwrap(), None);
}

#[test]
fn a_full_disk_says_what_to_do() {
    let full = io::Error::from_raw_os_error(nix::errno::Errno::ENOSPC as i32);
    let failure = disk_failure("d/x".as_ref(), &full);
    assert_eq!(failure.to_string(), "d/x: the disk is full");
    assert!(failure.help_text().unwrap().contains("free some space"));
    let other = disk_failure("d/x".as_ref(), &io::ErrorKind::NotFound.into());
    assert_eq!(other.help_text(), None);
}
