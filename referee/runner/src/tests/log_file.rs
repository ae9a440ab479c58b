//! The signed log: what a kill may leave is repaired, anything else is refused.

use super::super::folder::{Folder, LOG_FILE};
use super::super::log_checking::{self, LogCheck, SignatureStatus};
use super::super::log_file::LogFile;
use super::super::signing::Signer;
use super::super::store::{Store, StoredContest};
use super::store::{game, stored, void};
use referee_contest::Record;
use referee_contest::log::{PublicKey, WorkerSignature, read};
use rusqlite::Connection;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

struct Place {
    root: TempDir,
    folder: Folder,
    stored: StoredContest,
    signer: Signer,
}

/// A signed contest without results.
fn begun() -> (Place, Store) {
    let (place, stored) = stored();
    let folder = Folder::create(&place.path().join("d")).unwrap();
    let signer = Signer::read_or_create(&place.path().join("keys/contest.key")).unwrap();
    let mut store = Store::create(&folder, &stored).unwrap();
    store.set_log(Some(LogFile::create(&folder, &stored, &signer).unwrap()));
    (Place { root: place, folder, stored, signer }, store)
}

fn sealed(number: u64) -> (Record, Option<WorkerSignature>) {
    (Record { seal: format!("seal {number}"), ..game(number, "x") }, None)
}

fn add(store: &mut Store, numbers: impl IntoIterator<Item = u64>) {
    let games: Vec<_> = numbers.into_iter().map(sealed).collect();
    store.add(&games, &[]).unwrap();
}

impl Place {
    fn log(&self) -> Vec<u8> {
        fs::read(self.folder.path(LOG_FILE)).unwrap()
    }

    fn set_log(&self, bytes: &[u8]) {
        fs::write(self.folder.path(LOG_FILE), bytes).unwrap();
    }

    fn resume(&self) -> Result<Option<LogFile>, String> {
        let store = Store::open(&self.folder).unwrap();
        LogFile::open(&self.folder, &store, &self.signer).map_err(|failure| failure.to_string())
    }

    fn check(&self, expected: Option<PublicKey>) -> LogCheck {
        let store = Store::open(&self.folder).unwrap();
        log_checking::check(&self.folder, &store, &self.stored, expected, false).unwrap()
    }

    #[track_caller]
    fn assert_signed(&self) {
        let found = self.check(Some(self.signer.key.public()));
        assert_eq!(found.signature.status, SignatureStatus::Signed, "{found:?}");
        assert!(found.signature.expected);
        assert_eq!(found.differences, [""; 0]);
    }

    #[track_caller]
    fn assert_broken(&self, words: &str) {
        let found = self.check(None);
        assert_eq!(found.signature.status, SignatureStatus::Broken);
        let all = found.differences.join("; ");
        assert!(all.contains(words), "{words}: {all}");
    }

    fn sql(&self, statements: &str) {
        let store = Connection::open(self.folder.store()).unwrap();
        store.pragma_update(None, "foreign_keys", false).unwrap();
        store.execute_batch(statements).unwrap();
    }
}

#[test]
fn a_log_cut_anywhere_in_its_last_batch_is_repaired() {
    let (place, mut store) = begun();
    add(&mut store, 0..3);
    let before = place.log().len();
    store.add(&[sealed(3)], &[void(4, 1, "x")]).unwrap();
    drop(store);
    place.assert_signed();
    let whole = place.log();
    for length in before..whole.len() {
        place.set_log(&whole[..length]);
        let behind = place.check(None);
        assert_eq!(behind.signature.status, SignatureStatus::Signed, "cut after {length}");
        assert!(behind.notes.iter().any(|note| note.contains("2 results of the store")));
        place.resume().unwrap().unwrap();
        assert!(place.check(None).notes.is_empty(), "cut after {length}");
        place.assert_signed();
        let log = read(&place.log()[..]).unwrap();
        assert_eq!((log.games.len(), log.voids.len(), log.dropped.len()), (4, 1, 0));
    }
}

#[test]
fn a_log_ahead_of_its_store_drops_what_the_store_lacks() {
    let (place, mut store) = begun();
    store.add(&[sealed(0), sealed(1)], &[void(1, 1, "x")]).unwrap();
    drop(store);
    place.sql(
        "delete from seats where game = 1; delete from games where number = 1; delete from voids",
    );
    place.assert_broken("game 1 is in line 4 of the log, but its row is not in the store");
    let mut store = Store::open(&place.folder).unwrap();
    store.set_log(place.resume().unwrap());
    add(&mut store, [1]);
    place.assert_signed();
    let notes = place.check(None).notes.join("; ");
    assert!(notes.contains("1 had a result that the store lacked"), "{notes}");
}

#[test]
fn what_no_kill_leaves_is_refused() {
    let (place, mut store) = begun();
    add(&mut store, 0..2);
    add(&mut store, 2..4);
    drop(store);
    let whole = place.log();
    let text = String::from_utf8(whole.clone()).unwrap();
    // A row in the middle: a checkpoint follows.
    place.set_log(text.replace("seal 1", "seal 9").as_bytes());
    place.assert_broken("line 5: it does not follow the line before it");
    assert!(place.resume().unwrap_err().contains("the log was changed: line 5"));
    place.set_log(&whole);
    // Rows of the store.
    place.sql("update games set seal = 'seal 0' where number = 3");
    place.assert_broken("game 3 has the transcript of game 0");
    assert!(place.resume().unwrap_err().contains("game 3 has the transcript of game 0"));
    place.sql("update games set seal = 'again' where number = 3");
    place.assert_broken(
        "game 3 is not the one in line 7 of the log: it was replaced or played again",
    );
    place.sql("update games set seal = 'seal 3' where number = 3");
    place.assert_signed();
    // Another key.
    let other = Signer::read_or_create(&place.root.path().join("other.key")).unwrap();
    let found = place.check(Some(other.key.public()));
    assert!(found.differences[0].contains("is expected"), "{found:?}");
    let store = Store::open(&place.folder).unwrap();
    let failure = LogFile::open(&place.folder, &store, &other).unwrap_err();
    assert!(failure.to_string().contains("the contest is signed with key SHA256:"), "{failure}");
    // More than a batch is missing.
    let head: Vec<&str> = text.split_inclusive('\n').take(2).collect();
    drop(store);
    let mut store = Store::open(&place.folder).unwrap();
    add(&mut store, 4..60);
    place.set_log(head.concat().as_bytes());
    place.assert_broken("60 results of the store are not in results.log");
    assert!(place.resume().unwrap_err().contains("more than a kill can leave"));
    // No log at all.
    fs::remove_file(place.folder.path(LOG_FILE)).unwrap();
    assert!(place.resume().unwrap().is_none(), "it goes on unsigned");
    assert_eq!(place.check(None).signature.status, SignatureStatus::Unsigned);
    let found = place.check(Some(place.signer.key.public()));
    assert_eq!(found.signature.status, SignatureStatus::Broken);
    assert!(found.differences[0].contains("results.log is missing"), "{found:?}");
}

#[test]
fn a_contest_killed_before_its_first_result_begins_its_log_again() {
    let (place, store) = begun();
    drop(store);
    let whole = place.log();
    for length in [0, 10, whole.len() - 1, whole.len()] {
        place.set_log(&whole[..length]);
        place.resume().unwrap().unwrap();
        place.assert_signed();
    }
    fs::remove_file(place.folder.path(LOG_FILE)).unwrap();
    place.resume().unwrap().unwrap();
    place.assert_signed();
}

#[test]
fn a_worker_is_named_by_its_signature() {
    let (place, mut store) = begun();
    let key = Signer::read_or_create(&place.root.path().join("worker.key")).unwrap().key;
    let (record, _) = sealed(0);
    let signature = WorkerSignature::new(&key, "desk".to_owned(), &record.seal);
    let other = WorkerSignature::new(&key, "desk".to_owned(), "of another game");
    store.add(&[(record, Some(signature)), sealed(1)], &[]).unwrap();
    place.assert_signed();
    let found = place.check(None);
    let notes = found.notes.join("; ");
    assert!(
        notes.contains("1 game without a worker's signature; 1 game by worker desk, key SHA256:")
    );
    assert!(found.workers[&0].starts_with("worker desk"));
    let (record, _) = sealed(2);
    store.add(&[(record, Some(other))], &[]).unwrap();
    place.assert_broken("game 2: the signature of worker desk, key SHA256:");
    place.sql("delete from signatures where game = 0");
    place.assert_broken("game 0: the worker's signature differs from the one in line 3");
}

#[test]
fn keys_are_private_and_stay() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("a/b/contest.key");
    let signer = Signer::read_or_create(&file).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let folder = fs::metadata(file.parent().unwrap()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    let again = Signer::read_or_create(&file).unwrap();
    assert_eq!(again.key.public(), signer.key.public());
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "no file is left over");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let failure = Signer::read(&file).unwrap_err();
    assert!(failure.to_string().contains("other users may read it"), "{failure}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&file, "{}").unwrap();
    assert!(Signer::read(&file).is_err());
}
