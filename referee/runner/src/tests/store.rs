//! The store: what is written is read back, and a game counts once.

use super::super::folder::Folder;
use super::super::store::{Store, StoredContest, VoidAttempt};
use super::{Broken, Builds, place, right};
use nix::sys::stat::Mode;
use referee_contest::{Contest, ContestGame, Player, PlayerInfo, Record, SeatRecord, Seed};
use referee_process::Failure;
use referee_process::open_folder::OpenFolder;
use referee_protocol::{FaultKind, MatchResult, SandboxRecord};
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

pub(super) fn stored() -> (TempDir, StoredContest) {
    let text = "game = \"hex\"\nagents = [\"@random\", \"@first\"]\n";
    let place = place(&[("contest.toml", text)]);
    let prepared = right(&place, Builds::Now(&|_, _| {}));
    let stored = StoredContest {
        left_out: vec![("amy".to_owned(), "no \"program\"".to_owned())],
        ..prepared.to_stored("2026-01-01T00:00:00Z".to_owned(), Some(sandbox("isolated")))
    };
    (place, stored)
}

fn sandbox(level: &str) -> SandboxRecord {
    let layers = vec!["seccomp".to_owned()];
    SandboxRecord { level: level.to_owned(), layers, ..SandboxRecord::default() }
}

pub(super) fn game(number: u64, moves: &str) -> Record {
    let fault = SeatRecord {
        used_ms: 5,
        cpu_ms: 6,
        peak_memory_kb: Some(7),
        turns: 7,
        fault: Some(FaultKind::Late),
        fault_text: Some("'; drop table games; --".to_owned()),
    };
    Record {
        number,
        block: number / 2,
        round: 1,
        game: 0,
        players: vec![Player(1), Player(0)],
        match_id: format!("m{number}"),
        seed: (1 << 53) - 1,
        result: MatchResult::Fault,
        reason: "late".to_owned(),
        places: vec![1, 2],
        scores: number.is_multiple_of(2).then(|| vec![-3, 4]),
        seats: vec![SeatRecord::default(), fault],
        turns: 12,
        lag_ns: 1 << 40,
        marked: true,
        moves: moves.to_owned(),
        transcript: Folder::transcript(number),
        seal: "s".to_owned(),
    }
}

fn add(store: &mut Store, games: &[Record], voids: &[VoidAttempt]) -> Result<(), Failure> {
    let games: Vec<_> = games.iter().map(|game| (game.clone(), None)).collect();
    store.add(&games, voids)
}

pub(crate) fn void(number: u64, attempt: u32, text: &str) -> VoidAttempt {
    let (cause, text) = ("machine".to_owned(), text.to_owned());
    VoidAttempt { number, attempt, cause, text, player: None, transcript: None }
}

fn records(store: &Store) -> Vec<Record> {
    let mut records = Vec::new();
    let mut add = |record| {
        records.push(record);
        Ok::<_, Failure>(())
    };
    store.each_record(&mut add).unwrap();
    records
}

#[test]
fn what_is_written_is_read_back() {
    let (place, stored) = stored();
    let folder = Folder::create(&place.path().join("d")).unwrap();
    // A run that was killed while it created a store leaves this.
    fs::write(folder.path("contest.db.new"), "half a store").unwrap();
    let mut store = Store::create(&folder, &stored).unwrap();
    assert!(!folder.path("contest.db.new").exists());
    assert_eq!(store.contest().unwrap(), stored);
    let games = [game(5, "a"), game(0, "b"), game(1, "c")];
    let caused = || VoidAttempt { player: Some(Player(1)), ..void(3, 2, "y") };
    add(&mut store, &games, &[void(3, 1, "x"), caused()]).unwrap();
    drop(store);
    let store = Store::open(&folder).unwrap();
    assert_eq!(store.contest().unwrap(), stored);
    let [last, first, second] = games;
    assert_eq!(records(&store), [first.clone(), second.clone(), last.clone()]);
    assert_eq!(store.record(5).unwrap(), Some(last));
    assert_eq!(store.record(4).unwrap(), None);
    assert_eq!((store.count().unwrap(), store.faults().unwrap()), (3, 3));
    assert_eq!(store.voids().unwrap(), [void(3, 1, "x"), caused()]);
    let mut results = Vec::new();
    store.each_result(|number, places| results.push((number, places.to_vec()))).unwrap();
    assert_eq!(results, [(0, vec![1, 2]), (1, vec![1, 2]), (5, vec![1, 2])]);
}

/// Who can write there before the contest begins has nothing written elsewhere, and adds no rows.
#[test]
fn what_was_beside_a_new_store_is_not_used() {
    let (place, stored) = stored();
    let folder = Folder::create(&place.path().join("d")).unwrap();
    let elsewhere = place.path().join("elsewhere");
    symlink(&elsewhere, folder.path("contest.db.new")).unwrap();
    symlink(&elsewhere, folder.path("contest.db.new-journal")).unwrap();
    nix::unistd::mkfifo(&folder.path("contest.db-journal"), Mode::S_IRWXU).unwrap();
    fs::write(folder.path("contest.db-wal"), "x").unwrap();
    drop(Store::create(&folder, &stored).unwrap());
    assert!(!elsewhere.exists());
    assert!(folder.store().symlink_metadata().unwrap().is_file());
    assert_eq!(Store::open(&folder).unwrap().contest().unwrap(), stored);
}

/// A stranger's store takes no more memory than a contest may.
#[test]
fn a_stored_contest_whose_schedule_is_too_large_is_refused() {
    type Forge = fn(&mut Contest);
    let forgeries: [(Forge, &str); 5] = [
        (|it| it.rounds = u32::MAX, "at most 10000000 are allowed"),
        (|it| it.games[0].seats = 13, "too many orders"),
        (|it| it.games[0].seats = 1 << 40, "too many orders"),
        (|it| it.games.push(ContestGame { seats: 3, ..it.games[0].clone() }), "numbers of seats"),
        (
            |it| {
                let named =
                    |number: u32| PlayerInfo { name: number.to_string(), ..it.players[0].clone() };
                it.players = (0..10_001).map(named).collect();
            },
            "at most 10000 agents can play",
        ),
    ];
    for (number, (forge, why)) in forgeries.into_iter().enumerate() {
        let (place, mut stored) = stored();
        forge(&mut stored.contest);
        let folder = Folder::create(&place.path().join("d")).unwrap();
        let store = Store::create(&folder, &stored).unwrap();
        let refused = store.contest().map(drop).unwrap_err().to_string();
        assert!(refused.contains(why), "{number}: {refused}");
    }
}

/// What is copied to be read is bounded, with its log.
#[test]
fn a_log_that_is_too_large_is_not_copied() {
    let (place, stored) = stored();
    let folder = Folder::create(&place.path().join("d")).unwrap();
    drop(Store::create(&folder, &stored).unwrap());
    let log = fs::File::create(folder.path("contest.db-wal")).unwrap();
    log.set_len(1 << 20).unwrap();
    assert_eq!(
        Store::open_copy(&folder, OpenFolder::open, false).unwrap().contest().unwrap(),
        stored
    );
    log.set_len((256 << 20) + 1).unwrap();
    let error = Store::open_copy(&folder, OpenFolder::open, false).unwrap_err().to_string();
    assert!(error.contains("contest.db-wal is too large to copy"), "{error}");
}

/// Each page of a foreign table may name the next one many times, so that it has more rows than anybody can count.
#[test]
fn a_table_without_end_is_not_counted() {
    const PAGE: usize = 4096;
    let (place, stored) = stored();
    let folder = Folder::create(&place.path().join("d")).unwrap();
    let mut store = Store::create(&folder, &stored).unwrap();
    add(&mut store, &[game(0, "moves")], &[]).unwrap();
    store.settle().unwrap();
    drop(store);
    let file = folder.store();
    let open = || rusqlite::Connection::open(&file).unwrap();
    open().pragma_update(None, "journal_mode", "delete").unwrap();
    let root = "select rootpage from sqlite_schema where name = 'games'";
    let root: usize = open().query_row(root, [], |row| row.get(0)).unwrap();
    let mut bytes = fs::read(&file).unwrap();
    let leaf = bytes[(root - 1) * PAGE..root * PAGE].to_vec();
    // A page that names this one 500 times.
    let above = |child: usize| {
        let child = u32::try_from(child).unwrap().to_be_bytes();
        let mut page = vec![0; PAGE];
        page[0] = 5;
        for number in 0..500 {
            let at = PAGE - 5 * (number + 1);
            page[at..at + 4].copy_from_slice(&child);
            page[at + 4] = u8::try_from(number % 100 + 1).unwrap();
            page[12 + 2 * number..][..2].copy_from_slice(&u16::try_from(at).unwrap().to_be_bytes());
        }
        page[3..5].copy_from_slice(&500_u16.to_be_bytes());
        page[5..7].copy_from_slice(&u16::try_from(PAGE - 2500).unwrap().to_be_bytes());
        page[8..12].copy_from_slice(&child);
        page
    };
    bytes.extend(leaf);
    for _ in 0..16 {
        bytes.extend(above(bytes.len() / PAGE));
    }
    let top = above(bytes.len() / PAGE);
    bytes[(root - 1) * PAGE..root * PAGE].copy_from_slice(&top);
    let pages = u32::try_from(bytes.len() / PAGE).unwrap();
    bytes[28..32].copy_from_slice(&pages.to_be_bytes());
    bytes.copy_within(24..28, 92);
    fs::write(&file, bytes).unwrap();
    let store = Store::open_foreign(&folder).unwrap();
    let error = store.count().unwrap_err().to_string();
    assert!(error.contains("interrupted"), "{error}");
    // Nor are so many read into memory.
    let store = Store::open_foreign(&folder).unwrap();
    let all = store.each_record(|_| Ok::<_, Failure>(()));
    let error = all.unwrap_err().to_string();
    assert!(error.contains("more rows than fit into a contest's store"), "{error}");
}

#[test]
fn a_game_counts_once_and_as_it_was_first() {
    let (place, stored) = stored();
    let folder = Folder::create(&place.path().join("d")).unwrap();
    let mut store = Store::create(&folder, &stored).unwrap();
    add(&mut store, &[game(0, "first")], &[]).unwrap();
    add(&mut store, &[game(0, "second"), game(1, "other"), game(1, "third")], &[]).unwrap();
    let moves: Vec<String> = records(&store).into_iter().map(|it| it.moves).collect();
    assert_eq!(moves, ["first", "other"]);
    // An attempt whose row was lost with a kill is written again.
    add(&mut store, &[], &[void(2, 1, "x")]).unwrap();
    add(&mut store, &[], &[void(2, 1, "y")]).unwrap();
    assert_eq!(store.voids().unwrap(), [void(2, 1, "y")]);
    // All games of a batch or none.
    let mut invalid = game(3, "invalid");
    invalid.players[0] = Player(9);
    add(&mut store, &[game(2, "x"), invalid], &[]).unwrap_err();
    assert_eq!(store.count().unwrap(), 2);
}

#[test]
fn a_store_is_never_replaced() {
    let (place, stored) = stored();
    let folder = Folder::create(&place.path().join("d")).unwrap();
    let mut store = Store::create(&folder, &stored).unwrap();
    add(&mut store, &[game(0, "a")], &[]).unwrap();
    let again = Store::create(&folder, &stored).unwrap_err();
    assert!(again.to_string().ends_with("d: this folder already has a contest"), "{again}");
    assert_eq!(store.count().unwrap(), 1);
}

#[test]
fn a_contest_without_a_name_keeps_that_of_its_file() {
    let (place, stored) = stored();
    assert_eq!(stored.contest.name, "contest");
    assert!(stored.text.starts_with("name = \"contest\"\n"), "{}", stored.text);
    let named = "name = \"x\"\nseed = 1\ngame = \"hex\"\nagents = [\"@random\", \"@first\"]\n";
    fs::write(place.path().join("contest.toml"), named).unwrap();
    assert_eq!(right(&place, Builds::Now(&|_, _| {})).text, named);
    let odd = "\u{feff}game = \"hex\"\nagents = [\"@random\", \"@first\"]\n";
    let file = place.path().join("o'\"dd\\\u{1b}.x.toml");
    fs::write(&file, odd).unwrap();
    let prepared = super::prepare(&file, Builds::Now(&|_, _| {}), Broken::AsWritten).unwrap();
    let again = super::super::prepare_text(
        &prepared.text,
        &place.path().join("contest.toml"),
        &prepared.base,
        Builds::Done(&[]),
    );
    assert_eq!(again.unwrap().contest, prepared.contest);
}

#[test]
fn a_contest_without_a_seed_gets_a_key_that_is_stored() {
    let (place, stored) = stored();
    let seed = stored.contest.seed;
    assert!(matches!(seed, Seed::Key(key) if key >> 64 > 0), "{seed}");
    assert!(stored.text.contains(&format!("\nseed = \"{seed}\"\n")), "{}", stored.text);
    let another = right(&place, Builds::Now(&|_, _| {}));
    assert_ne!(another.contest.seed, seed);
    let folder = Folder::create(&place.path().join("d")).unwrap();
    fs::write(folder.file(), &stored.text).unwrap();
    let again = super::prepare_again(&stored, &folder).unwrap();
    assert_eq!(*again.contest, stored.contest);
    // A plan draws none, and a folder of an earlier version without one has the seed 1.
    let planned = right(&place, Builds::Later);
    assert_eq!((planned.contest.seed, planned.is_seeded), (Seed::Number(1), false));
    let file = place.path().join("contest.toml");
    let text = fs::read_to_string(&file).unwrap();
    let old = super::super::prepare_text(&text, &file, place.path(), Builds::Done(&[])).unwrap();
    assert_eq!(old.contest.seed, Seed::Number(1));
}

/// The part of the log's index with the log's length: two headers and a checkpoint record.
const INDEX_HEAD: usize = 136;

#[test]
fn a_commit_missing_from_the_index_stays_unseen() {
    let (place, stored) = stored();
    let folder = Folder::create(&place.path().join("d")).unwrap();
    let mut store = Store::create(&folder, &stored).unwrap();
    add(&mut store, &[game(0, "a")], &[]).unwrap();
    let reader = Store::open(&folder).unwrap();
    assert_eq!(reader.count().unwrap(), 1);
    // The referee is killed when a commit is in the log and not yet in its index.
    let index = folder.path("contest.db-shm");
    let before = fs::read(&index).unwrap();
    add(&mut store, &[game(1, "b")], &[]).unwrap();
    let mut file = fs::File::options().write(true).open(&index).unwrap();
    file.write_all(&before[..INDEX_HEAD]).unwrap();
    drop(store);
    let mut resumed = Store::open(&folder).unwrap();
    resumed.fence().unwrap();
    assert_eq!((resumed.count().unwrap(), reader.count().unwrap()), (1, 1));
    // Without readers, what is on the disk counts.
    let later = Folder::create(&place.path().join("later")).unwrap();
    for name in ["contest.db", "contest.db-wal"] {
        fs::copy(folder.path(name), later.path(name)).unwrap();
    }
    assert_eq!(Store::open(&later).unwrap().count().unwrap(), 1, "the game is played again");
}
