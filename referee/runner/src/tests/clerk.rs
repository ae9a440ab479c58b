//! The clerk: nothing counts before its transcript is there.

use super::super::clerk::{Clerk, Entry, disk_failure};
use super::super::folder::Folder;
use super::super::store::Store;
use super::store::{game, kept, void};
use referee_protocol::Sandbox;
use std::fs;
use std::io;

fn hired() -> (tempfile::TempDir, Folder, Clerk) {
    let (place, kept) = kept();
    let folder = Folder::create(&place.path().join("d")).unwrap();
    let store = Store::create(&folder, &kept).unwrap();
    let clerk = Clerk::start(folder.clone(), store).unwrap();
    fs::create_dir_all(folder.path("games/0000")).unwrap();
    (place, folder, clerk)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn more_than_a_group_is_kept_whole() {
    let (_place, folder, mut clerk) = hired();
    for number in 0..120 {
        fs::write(folder.path(&Folder::transcript(number)), "x").unwrap();
        clerk.give(Entry::Game(Box::new(game(number, "a"))));
    }
    let void = void(120, 1, "x");
    clerk.give(Entry::Void(void.clone()));
    let before = Store::open(&folder).unwrap().sessions().unwrap().len();
    let apart = Sandbox { level: "none".to_owned(), ..Sandbox::default() };
    clerk.give(Entry::Apart(Box::new(apart.clone())));
    let mut given = Vec::new();
    runtime().block_on(async {
        while clerk.is_busy() {
            let group = clerk.next().await.unwrap();
            assert!(group.len() <= 50, "{}", group.len());
            given.extend(group);
        }
    });
    clerk.finish();
    let numbers = given.iter().filter_map(|entry| match entry {
        Entry::Game(game) => Some(game.number),
        Entry::Void(_) | Entry::Apart(_) => None,
    });
    assert!(numbers.eq(0..120));
    let store = Store::open(&folder).unwrap();
    assert_eq!(store.count().unwrap(), 120);
    assert_eq!(store.voids().unwrap(), [void]);
    assert_eq!(store.sessions().unwrap()[before..], [apart]);
}

#[test]
fn a_game_without_its_transcript_never_counts() {
    let (_place, folder, mut clerk) = hired();
    fs::write(folder.path(&Folder::transcript(0)), "x").unwrap();
    for number in [0, 1] {
        clerk.give(Entry::Game(Box::new(game(number, "a"))));
    }
    let failure = runtime().block_on(async {
        loop {
            match clerk.next().await {
                Ok(_) => assert!(clerk.is_busy()),
                Err(failure) => return failure,
            }
        }
    });
    assert!(failure.to_string().contains("0000001.jsonl"), "{failure}");
    assert!(!clerk.is_busy());
    // Nobody waits for a clerk that has gone.
    clerk.finish();
    assert_eq!(Store::open(&folder).unwrap().record(1).unwrap(), None);
}

#[test]
fn a_full_disk_says_what_to_do() {
    let full = io::Error::from_raw_os_error(nix::errno::Errno::ENOSPC as i32);
    let failure = disk_failure("d/x".as_ref(), &full);
    assert_eq!(failure.to_string(), "d/x: the disk is full");
    assert!(failure.help_text().unwrap().contains("make room"));
    let other = disk_failure("d/x".as_ref(), &io::ErrorKind::NotFound.into());
    assert_eq!(other.help_text(), None);
}
