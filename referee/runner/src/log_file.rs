//! `results.log`: the signed log of a contest's results. The store is written first, then the log; what a
//! kill leaves between them is repaired when the contest is resumed.

use super::folder::{Folder, LOG_FILE};
use super::signing::{Pins, Signer};
use super::store::{Store, StoredContest, VoidAttempt};
use super::writer::{BATCH_ENTRIES, disk_failure};
use referee_contest::log::{
    Chain, Comparing, Comparison, Entry, Head, Log, LoggedChange, LoggedGame, LoggedReport,
    LoggedVoid, PrivateKey, VERSION, WorkerSignature, contest_digest, digest, read,
};
use referee_contest::{Change, Record};
use referee_match::transcript::TRANSCRIPT_BYTES_MAX;
use referee_play::digest::digest_file;
use referee_process::Failure;
use referee_process::files::{open_regular, read_regular};
use referee_protocol::plain::count;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Write};

/// Larger logs are not read: more than a million games.
pub(super) const LOG_BYTES_MAX: u64 = 1 << 30;

/// A log that is open for appending.
#[derive(Debug)]
pub struct LogFile {
    folder: Folder,
    file: File,
    chain: Chain,
    key: PrivateKey,
}

impl LogFile {
    /// Begins the log of a new contest.
    pub fn create(
        folder: &Folder,
        stored: &StoredContest,
        signer: &Signer,
    ) -> Result<Self, Failure> {
        let path = folder.path(LOG_FILE);
        let file = OpenOptions::new().append(true).create_new(true).open(&path);
        let file = file.map_err(|error| disk_failure(&path, &error))?;
        let (folder, key) = (folder.clone(), signer.key.clone());
        let mut log = Self { folder, file, chain: Chain::default(), key };
        log.chain.push(Entry::Log(Head {
            version: VERSION,
            contest: contest_digest(&stored.contest),
            begun: stored.begun.clone(),
            key: signer.key.public(),
            name: signer.name.clone(),
        }));
        log.sign()?;
        Ok(log)
    }

    /// Opens the log of a contest that is resumed, and brings it to the state of the store. Without a log
    /// it is begun if the store has no results yet; else the contest is unsigned.
    pub fn open(folder: &Folder, store: &Store, signer: &Signer) -> Result<Option<Self>, Failure> {
        let path = folder.path(LOG_FILE);
        let log = match open_regular(&path, LOG_BYTES_MAX) {
            Ok(file) => read(BufReader::new(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Self::without(folder, store, signer);
            }
            Err(error) => return Err(disk_failure(&path, &error)),
        };
        let log = match log {
            Ok(log) => log,
            // A kill in the first moment.
            Err(_) if is_new(store)? => {
                std::fs::remove_file(&path).map_err(|error| disk_failure(&path, &error))?;
                return Self::without(folder, store, signer);
            }
            Err(error) => return Err(changed(folder, &error.to_string())),
        };
        if log.head.key != signer.key.public() {
            let (wanted, key) = (log.head.key.fingerprint(), signer.key.public().fingerprint());
            return Err(Failure::usage(format!(
                "the contest is signed with key {wanted}, but {} is {key}",
                signer.file.display()
            ))
            .help("give the contest's key with --key FILE"));
        }
        if let Some((line, text)) = log.broken.as_ref().filter(|_| log.is_changed) {
            return Err(changed(folder, &format!("line {line}: {text}")));
        }
        Self::repair(folder, store, signer, &log).map(Some)
    }

    /// Handles a contest without a log.
    fn without(folder: &Folder, store: &Store, signer: &Signer) -> Result<Option<Self>, Failure> {
        if is_new(store)? {
            return Self::create(folder, &store.contest()?, signer).map(Some);
        }
        match Pins::read()?.of(folder.root()) {
            None => Ok(None),
            Some(_) => Err(changed(folder, "it is missing")),
        }
    }

    /// Cuts what follows the last checkpoint, and appends what the store has besides.
    fn repair(folder: &Folder, store: &Store, signer: &Signer, log: &Log) -> Result<Self, Failure> {
        let path = folder.path(LOG_FILE);
        let logged = Logged::read(folder, store)?;
        let found = logged.compare(log, store, |_| ())?;
        let found_changes = found.changes;
        let lost = found.lost_games.len() + found.lost_voids.len();
        if found.differences.len() > lost {
            return Err(changed(folder, &found.differences.join("; ")));
        }
        let behind = found.games.len() + found.voids.len();
        if behind.max(lost) > logged.room(&found) {
            let text = format!(
                "it lacks {} of the store, and has {} more: more than a kill can leave",
                count(behind as u64, "result"),
                count(lost as u64, "result")
            );
            return Err(changed(folder, &text));
        }
        let failed = |error: io::Error| disk_failure(&path, &error);
        let file = OpenOptions::new().append(true).open(&path).map_err(failed)?;
        file.set_len(log.signed_bytes).map_err(failed)?;
        let chain = log.chain();
        let mut log = Self { folder: folder.clone(), file, chain, key: signer.key.clone() };
        for number in logged.changes.len() - found_changes..logged.changes.len() {
            let change = logged.changes[number].clone();
            log.chain.push(Entry::Change(LoggedChange { number: number as u64, change }));
        }
        if lost > 0 {
            let Comparison { lost_games: games, lost_voids: voids, .. } = found;
            log.chain.push(Entry::Dropped { games, voids });
        }
        let mut missing = found.games.iter().copied().peekable();
        store.each_logged_game(|game| {
            if missing.next_if_eq(&game.number).is_some() {
                log.chain.push(Entry::Game(game));
            }
        })?;
        for void in logged.voids {
            if found.voids.contains(&(void.number, void.attempt)) {
                log.chain.push(Entry::Void(void));
            }
        }
        if lost + behind + found_changes > 0 {
            log.sign()?;
        }
        Ok(log)
    }

    /// Appends a batch that is in the store, and signs it.
    pub(super) fn append(
        &mut self,
        games: &[(Record, Option<WorkerSignature>)],
        voids: &[VoidAttempt],
    ) -> Result<(), Failure> {
        for (record, worker) in games {
            let worker = worker.clone();
            self.chain.push(Entry::Game(LoggedGame { worker, ..LoggedGame::from(record) }));
        }
        for void in voids {
            self.chain.push(Entry::Void(logged_void(&self.folder, void)));
        }
        if games.is_empty() && voids.is_empty() { Ok(()) } else { self.sign() }
    }

    /// Appends a change that is in the store, with the attempts whose results it removes, and signs it.
    pub(super) fn change(
        &mut self,
        number: u64,
        change: &Change,
        voids: &[VoidAttempt],
    ) -> Result<(), Failure> {
        self.chain.push(Entry::Change(LoggedChange { number, change: change.clone() }));
        self.append(&[], voids)?;
        self.sign()
    }

    /// Appends that these files of the report were written to the folder.
    pub fn report(&mut self, names: &[&str]) -> Result<(), Failure> {
        let file = |name: &&str| {
            let path = self.folder.path(name);
            let digest = digest_file(&path).map_err(|error| disk_failure(&path, &error))?;
            Ok(((*name).to_owned(), digest))
        };
        let files = names.iter().map(file).collect::<Result<_, Failure>>()?;
        let referee = env!("CARGO_PKG_VERSION").to_owned();
        self.chain.push(Entry::Report(LoggedReport { referee, files }));
        self.sign()
    }

    /// Signs all lines and writes them to the disk.
    fn sign(&mut self) -> Result<(), Failure> {
        self.chain.sign(&self.key, jiff::Timestamp::now().to_string());
        let bytes = self.chain.take();
        let written = self.file.write_all(&bytes).and_then(|()| self.file.sync_data());
        written.map_err(|error| disk_failure(&self.folder.path(LOG_FILE), &error))
    }
}

/// What a store has besides games, as a log records it.
#[derive(Debug)]
pub(super) struct Logged {
    pub(super) voids: Vec<LoggedVoid>,
    pub(super) changes: Vec<Change>,
}

impl Logged {
    pub(super) fn read(folder: &Folder, store: &Store) -> Result<Self, Failure> {
        let voids = store.voids()?.iter().map(|void| logged_void(folder, void)).collect();
        Ok(Self { voids, changes: store.changes()? })
    }

    /// Compares a store with a log; calls `look` for each game in the store.
    pub(super) fn compare(
        &self,
        log: &Log,
        store: &Store,
        mut look: impl FnMut(&LoggedGame),
    ) -> Result<Comparison, Failure> {
        let mut comparing = Comparing::new(log, &self.changes);
        store.each_logged_game(|game| {
            comparing.game(&game);
            look(&game);
        })?;
        Ok(comparing.finish(&self.voids))
    }

    /// Returns how many results a log may lack after a kill: a batch, and those of a change.
    pub(super) fn room(&self, found: &Comparison) -> usize {
        let last = self.changes.iter().rev().take(found.changes);
        BATCH_ENTRIES + last.map(|change| change.removes.len()).sum::<usize>()
    }
}

fn logged_void(folder: &Folder, void: &VoidAttempt) -> LoggedVoid {
    let bytes = void
        .transcript
        .as_ref()
        .and_then(|name| read_regular(&folder.path(name), TRANSCRIPT_BYTES_MAX as u64).ok());
    LoggedVoid {
        number: void.number,
        attempt: void.attempt,
        cause: void.cause.clone(),
        sha256: bytes.map(|bytes| digest(&bytes)),
    }
}

fn is_new(store: &Store) -> Result<bool, Failure> {
    Ok(store.count()? == 0 && store.voids()?.is_empty() && store.changes()?.is_empty())
}

/// The failure for a log that no kill can have left.
fn changed(folder: &Folder, text: &str) -> Failure {
    let root = folder.root().display();
    Failure::operation(format!("{}: the log was changed: {text}", folder.path(LOG_FILE).display()))
        .help(format!(
            "see `referee verify {root}`; restore the folder from a backup, or go on unsigned: \
             remove the log and run `referee contest key {root} --unpin`"
        ))
}

/// Returns the first entry of a contest's log; `None` without a log.
pub fn head(folder: &Folder) -> Result<Option<Head>, Failure> {
    let path = folder.path(LOG_FILE);
    match open_regular(&path, LOG_BYTES_MAX) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(disk_failure(&path, &error)),
        Ok(file) => read(BufReader::new(file)).map(|log| Some(log.head)).map_err(|error| {
            Failure::operation(format!("{}: {error}", path.display()))
                .help(format!("see `referee verify {}`", folder.root().display()))
        }),
    }
}
