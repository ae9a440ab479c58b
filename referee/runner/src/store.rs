//! The store of a contest: one `SQLite` file. A game counts when its row is here, and its row is
//! written only after its transcript is on the disk.

use super::copies::AgentCopy;
use super::disk::Disk;
use super::folder::{FILE_BYTES_MAX, Folder, STORE_FILE, has_contest};
use super::foreign::{self, MIGRATIONS, charge, some_text, text};
use super::rows::{add_change, add_contest, add_game, add_session, add_void, from_json};
use super::writer::disk_full;
use nix::unistd::{AccessFlags, Group, User, access, geteuid};
use referee_contest::{Change, Contest, Player, PlayerInfo, Record};
use referee_process::Failure;
use referee_process::files::absolute;
use referee_process::open_folder::{OpenFolder, copy_file};
use referee_process::work_folder::create_private;
use referee_protocol::SandboxRecord;
use referee_protocol::sanitize::sanitize_name;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// The version of the tables: each step of [`MIGRATIONS`] is one.
const VERSION: usize = MIGRATIONS.len();

/// The store's name until it is complete.
const NEW_FILE: &str = "contest.db.new";

/// The smallest size of the WAL index, in bytes.
const WAL_INDEX_BYTES: u64 = 32 << 10;

/// The page cache, in KiB: rows are appended and rarely read.
const CACHE_KB: i64 = 256;
/// The largest store that is copied to be read, if anyone may have made it, in bytes.
const COPY_BYTES_MAX: u64 = 256 << 20;
/// How much a disk may compress a store.
const COMPRESSED_MAX: u64 = 8;
/// How every database of `SQLite` begins.
const HEADER: &[u8] = b"SQLite format 3\0";
/// What `SQLite` adds to the store's name for changes that aren't in it yet.
const LOGS: [&str; 2] = ["-wal", "-journal"];
/// How long a reader waits for a writer; and one of a store that anyone may have made, and may have locked for good.
const BUSY_WAIT: Duration = Duration::from_secs(20);
const FOREIGN_WAIT: Duration = Duration::from_millis(100);

/// The store of one contest.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// The private copy that is read, if the folder can't be written.
    _copy: Option<TempDir>,
    /// How many bytes of the file are on the disk, if anyone may have made it.
    bytes: Option<u64>,
}

/// A contest as its store has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredContest {
    /// The contest file's text.
    pub text: String,
    /// The folder that its paths are relative to.
    pub base: PathBuf,
    /// The contest that was read from the text, with its changes.
    pub contest: Contest,
    /// Submissions that were left out, with the reason.
    pub left_out: Vec<(String, String)>,
    /// The files that the digests of agents in folders cover, by player. Only earlier versions kept those of agents with
    /// copies.
    pub files: BTreeMap<String, Vec<PathBuf>>,
    /// The agents' copies in the folder, by player; contests of earlier versions have none.
    pub copies: BTreeMap<String, AgentCopy>,
    /// When the contest began, RFC 3339.
    pub begun: String,
    /// The sandbox when it began; earlier versions did not store it.
    pub sandbox: Option<SandboxRecord>,
}

impl StoredContest {
    /// Returns the submissions that don't play, with the reason: those that were left out when the contest began, and
    /// have not been added since.
    pub fn left_out(&self) -> impl Iterator<Item = &(String, String)> {
        let plays = |name: &str| {
            let name = sanitize_name(name);
            self.contest.players.iter().any(|player| player.name == name)
        };
        self.left_out.iter().filter(move |(name, _)| !plays(name))
    }
}

/// An attempt at a game that doesn't count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoidAttempt {
    /// The game.
    pub number: u64,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The code, as in a verdict: `lag`, `machine` and others; [`REMOVED`] if a change removed its result.
    pub cause: String,
    /// What happened.
    pub text: String,
    /// The player who caused it, if one did.
    pub player: Option<Player>,
    /// The transcript's path in the folder, if there is one.
    pub transcript: Option<String>,
}

/// The cause of an attempt that counted until a change removed its result.
pub const REMOVED: &str = "removed";

impl VoidAttempt {
    /// Whether it counted until a change removed its result.
    pub fn is_removed(&self) -> bool {
        self.cause == REMOVED
    }
}

pub(super) type StoreResult<T> = Result<T, Failure>;

impl Store {
    /// Creates the store of a new contest. The file appears complete or not at all.
    pub fn create(folder: &Folder, kept: &StoredContest) -> StoreResult<Self> {
        let (path, new) = (folder.store(), folder.path(NEW_FILE));
        let moved = |error: io::Error| unusable(&new, &error);
        if path.exists() {
            // Another process created it since the folder was checked.
            return Err(has_contest(folder.root()));
        }
        // A run that was killed leaves these, and `SQLite` would read the logs and write through links.
        let left = beside(&new).chain(beside(&path));
        for file in left.filter(|file| file.symlink_metadata().is_ok()) {
            std::fs::remove_file(&file).map_err(|error| unusable(&file, &error))?;
        }
        let connection = Connection::open(&new).map_err(|error| failed(&new, &error))?;
        let mut store = Self { connection, path: new.clone(), _copy: None, bytes: None };
        store.migrate()?;
        store.write(|transaction| add_contest(transaction, kept))?;
        drop(store);
        std::fs::rename(&new, &path).map_err(moved)?;
        Self::connect(path, None)
    }

    /// Whether there are changes beside the store that aren't in it yet.
    pub(super) fn has_log(folder: &Folder) -> bool {
        let is_empty = |suffix: &str| {
            let log = folder.path(format!("{STORE_FILE}{suffix}")).symlink_metadata();
            log.map_or(true, |log| log.len() == 0)
        };
        !LOGS.iter().all(|suffix| is_empty(suffix))
    }

    /// Opens the store of a contest.
    pub fn open(folder: &Folder) -> StoreResult<Self> {
        let mut store = Self::connect(folder.store(), None)?;
        store.migrate()?;
        Ok(store)
    }

    /// Opens the store to read results. The folder may be one that can't be written, such as an archive, or on a full
    /// disk: `SQLite` needs to write beside the file, so a private copy is read then.
    pub fn open_to_read(folder: &Folder) -> StoreResult<Self> {
        let can_write = |path: &Path| access(path, AccessFlags::W_OK).is_ok();
        if can_write(folder.root()) && can_write(&folder.store()) {
            let opened = Self::open(folder);
            if opened.is_ok() || has_room(&folder.store()) {
                return opened;
            }
        }
        // Works while a referee of another user runs the contest: its WAL index is there.
        let opened = Self::open_unchanged(folder, OpenFlags::empty(), BUSY_WAIT, false)?;
        opened.map_or_else(|| Self::open_copy(folder, OpenFolder::open, false), Ok)
    }

    /// Opens the store of a folder, by its canonical path, that anyone may have made and may change now: no link is
    /// followed. Nothing is written there, and reading is interrupted when it costs more than it would in an honest store.
    pub fn open_foreign(folder: &Folder) -> StoreResult<Self> {
        // A folder that this program was given is not a stranger's.
        if !folder.root().is_absolute() {
            return Self::open_foreign(&Folder::open(&absolute(folder.root())?)?);
        }
        // `SQLite` opens by path, and maps what its owner may cut off: only where nobody else changes anything.
        if beside(&folder.store()).all(|file| is_own(&file)) {
            let flags = OpenFlags::SQLITE_OPEN_NOFOLLOW;
            if let Some(store) = Self::open_unchanged(folder, flags, FOREIGN_WAIT, true)? {
                return Ok(store);
            }
        }
        Self::open_copy(folder, OpenFolder::open_canonical, true)
    }

    pub(super) fn open_copy(
        folder: &Folder,
        open: impl Fn(&Path) -> io::Result<OpenFolder>,
        is_foreign: bool,
    ) -> StoreResult<Self> {
        let path = folder.store();
        check_files(&path)?;
        let mut bytes = None;
        let mut copy = || {
            let (copy, opened) = (create_private("referee-")?, open(folder.root())?);
            let most = if is_foreign { COPY_BYTES_MAX } else { u64::MAX };
            for (suffix, most) in [("", most), ("-wal", COPY_BYTES_MAX)] {
                let file = format!("{STORE_FILE}{suffix}");
                let Ok((from, about)) = opened.file(file.as_str()) else { continue };
                if about.length > most {
                    return Err(io::Error::other(format!("{file} is too large to copy")));
                }
                if suffix.is_empty() && !begins_with(&from, HEADER)? {
                    return Err(io::Error::other("file is not a database"));
                }
                copy_file(&from, &about, &mut File::create_new(copy.path().join(file))?)?;
                if is_foreign && suffix.is_empty() {
                    bytes = Some(on_disk(about.length, about.allocated));
                }
            }
            Ok(copy)
        };
        let copy: TempDir = copy().map_err(|error: io::Error| unusable(&path, &error))?;
        let mut store = Self::connect(copy.path().join(STORE_FILE), bytes)?;
        // Nobody needs the copy after a crash.
        let unsafely = store.connection.pragma_update(None, "synchronous", "off");
        unsafely.map_err(|error| failed(&path, &error))?;
        store.migrate()?;
        Ok(Self { path, _copy: Some(copy), ..store })
    }

    /// Opens the store without changing a row; `None` if that is impossible: `SQLite` needs its WAL index beside it,
    /// and tables of an earlier version have to be changed.
    fn open_unchanged(
        folder: &Folder,
        flags: OpenFlags,
        wait: Duration,
        is_foreign: bool,
    ) -> StoreResult<Option<Self>> {
        let path = folder.store();
        check_files(&path)?;
        let about = path.metadata().ok().filter(|_| is_foreign);
        let bytes = about.map(|about| on_disk(about.len(), about.blocks().saturating_mul(512)));
        let open = || -> rusqlite::Result<(Connection, usize)> {
            let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY;
            let mut connection = Connection::open_with_flags(&path, flags)?;
            foreign::distrust(&connection)?;
            foreign::bound(&mut connection, bytes)?;
            connection.busy_timeout(wait)?;
            let found = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
            Ok((connection, found))
        };
        let Ok((connection, found)) = open() else { return Ok(None) };
        check_tables(&connection, &path, found)?;
        Ok((found == VERSION).then_some(Self { connection, path, _copy: None, bytes }))
    }

    fn connect(path: PathBuf, bytes: Option<u64>) -> StoreResult<Self> {
        check_files(&path)?;
        let connect = || {
            let mut connection = Connection::open(&path)?;
            foreign::distrust(&connection)?;
            foreign::bound(&mut connection, bytes)?;
            connection.busy_timeout(BUSY_WAIT)?;
            connection.pragma_update(None, "journal_mode", "wal")?;
            connection.pragma_update(None, "synchronous", "full")?;
            connection.pragma_update(None, "cache_size", -CACHE_KB)?;
            connection.pragma_update(None, "foreign_keys", true)?;
            Ok(connection)
        };
        let connection = connect().map_err(|error| failed(&path, &error))?;
        Ok(Self { connection, path, _copy: None, bytes })
    }

    fn migrate(&mut self) -> StoreResult<()> {
        let path = self.path.clone();
        let found: usize = self
            .connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(|error| failed(&path, &error))?;
        check_tables(&self.connection, &path, found)?;
        if found == VERSION {
            // Reading takes no lock from a referee that writes.
            return Ok(());
        }
        self.write(|transaction| {
            for (index, step) in MIGRATIONS.iter().enumerate().skip(found) {
                transaction.execute_batch(step)?;
                transaction.pragma_update(None, "user_version", index + 1)?;
            }
            Ok(())
        })
    }

    /// Runs one transaction; it is on the disk when this returns.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<T>,
    ) -> StoreResult<T> {
        let begun = self.connection.transaction();
        let all = begun.and_then(|transaction| {
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        });
        all.map_err(|error| failed(&self.path, &error))
    }

    /// Overwrites a commit that a killed referee left unseen. The holder of the folder's lock calls
    /// this before it reads results.
    ///
    /// `SQLite` writes a commit to the log first and then to the log's index, which readers keep
    /// alive. A referee killed between the two leaves a commit that is invisible until the last reader
    /// closes, and visible from then on; by then its games would have been played again. The write here
    /// takes that commit's place in the log.
    pub fn fence(&mut self) -> StoreResult<()> {
        self.write(|transaction| transaction.pragma_update(None, "user_version", VERSION))
    }

    /// Moves all that was committed into the file itself, so that it stays the same until the next commit.
    pub(super) fn settle(&self) -> StoreResult<()> {
        let is_busy: bool = self.read(|connection| {
            connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0))
        })?;
        if is_busy {
            return Err(Failure::machine(format!(
                "{}: another program reads it",
                self.path.display()
            ))
            .help("end that program, then run `referee contest resume DIR`"));
        }
        Ok(())
    }

    /// Reads the contest.
    pub fn contest(&self) -> StoreResult<StoredContest> {
        let mut stored = self.contest_as_begun()?;
        for change in self.changes()? {
            stored.contest.change(change);
        }
        // It may be a stranger's.
        stored.contest.check_schedule().map_err(|why| unusable(&self.path, &why.message))?;
        Ok(stored)
    }

    /// Returns what was changed after the contest began, in order.
    pub fn changes(&self) -> StoreResult<Vec<Change>> {
        self.rows("select change from changes order by number", |row| from_json(row, 0))
    }

    /// Returns the text of the contest file, and the folder that its paths are relative to.
    pub fn contest_file(&self) -> StoreResult<(String, PathBuf)> {
        // One from a stranger takes much longer to read than to make.
        let length = self.number("select length(cast(text as blob)) from contest")?;
        if length > FILE_BYTES_MAX {
            let why = format!("its contest file has more than {} MiB", FILE_BYTES_MAX >> 20);
            return Err(unusable(&self.path, &why));
        }
        self.read(|connection| {
            connection.query_row("select text, base from contest", [], |row| {
                Ok((text(row, 0)?, text(row, 1)?.into()))
            })
        })
    }

    /// Returns the number of void attempts.
    pub fn count_voids(&self) -> StoreResult<u64> {
        self.count_of("voids")
    }

    /// Adds a change to the contest `stored`, which has it already, and makes the results that it removes void
    /// attempts, whose transcripts are in place.
    pub fn change(
        &mut self,
        stored: &StoredContest,
        change: &Change,
        voids: &[VoidAttempt],
    ) -> StoreResult<()> {
        let number = stored.contest.changes.len() as u64 - 1;
        self.write(|transaction| {
            add_change(transaction, stored, number, change)?;
            voids.iter().try_for_each(|void| {
                transaction.execute("delete from seats where game = ?1", [void.number])?;
                transaction.execute("delete from games where number = ?1", [void.number])?;
                add_void(transaction, void)
            })
        })
    }

    fn contest_as_begun(&self) -> StoreResult<StoredContest> {
        let query = "select text, base, contest, left_out, begun, files, copies, \
                     (select sandbox from sessions order by number limit 1) from contest";
        self.read(|connection| {
            connection.query_row(query, [], |row| {
                let (base, sandbox) = (text(row, 1)?, some_text(row, 7)?);
                Ok(StoredContest {
                    text: text(row, 0)?,
                    base: base.into(),
                    contest: from_json(row, 2)?,
                    left_out: from_json(row, 3)?,
                    begun: text(row, 4)?,
                    files: from_json(row, 5)?,
                    copies: from_json(row, 6)?,
                    sandbox: sandbox.map(|_| from_json(row, 7)).transpose()?,
                })
            })
        })
    }

    /// Adds a run of the contest: its start (RFC 3339) and its sandbox.
    pub fn add_session(&mut self, begun: &str, sandbox: &SandboxRecord) -> StoreResult<()> {
        self.write(|transaction| add_session(transaction, begun, sandbox))
    }

    /// Returns the sandbox of each run, in order.
    pub fn sessions(&self) -> StoreResult<Vec<SandboxRecord>> {
        self.rows("select sandbox from sessions order by number", |row| from_json(row, 0))
    }

    /// Copies it as it is now to a new file.
    pub fn copy_to(&self, path: &Path) -> StoreResult<()> {
        let path = path.to_string_lossy();
        self.read(|connection| {
            // It attaches the file.
            connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 1)?;
            connection.execute("vacuum into ?1", [path]).map(drop)
        })
    }

    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> StoreResult<T> {
        let read = foreign::reading(self.bytes, || work(&self.connection));
        read.map_err(|error| failed(&self.path, &error))
    }

    fn rows<T>(
        &self,
        query: &str,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> StoreResult<Vec<T>> {
        let mut read = read;
        let row = |row: &Row<'_>| charge(0).and_then(|()| read(row));
        self.read(|connection| connection.prepare(query)?.query_map([], row)?.collect())
    }

    /// Adds games that count, with SHA-256 of their transcripts, and void attempts. A game that is already stored
    /// stays as it is: it can't count twice.
    pub fn add(
        &mut self,
        games: &[(Record, Option<String>)],
        voids: &[VoidAttempt],
    ) -> StoreResult<()> {
        self.write(|transaction| {
            for (game, sha256) in games {
                add_game(transaction, game, sha256.as_deref())?;
            }
            voids.iter().try_for_each(|void| add_void(transaction, void))
        })
    }

    /// Calls `visit` with the transcript of each game that counts, ordered by game, and with its SHA-256 unless an
    /// earlier version stored the game.
    pub(super) fn each_transcript<E: From<Failure>>(
        &self,
        mut visit: impl FnMut(String, Option<String>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.read(|connection| {
            let query = "select transcript, sha256 from games order by number";
            let mut statement = connection.prepare(query)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if let Err(error) = visit(text(row, 0)?, some_text(row, 1)?) {
                    return Ok(Err(error));
                }
            }
            Ok(Ok(()))
        })?
    }

    /// Returns the number of games that count.
    pub fn count(&self) -> StoreResult<u64> {
        self.count_of("games")
    }

    /// Returns how often the contest was changed after it began.
    pub fn count_changes(&self) -> StoreResult<u64> {
        self.count_of("changes")
    }

    /// Counts a table's rows one by one: `count(*)` alone is a single step of `SQLite`'s machine, during which nothing
    /// interrupts it, and a foreign table may have no end.
    fn count_of(&self, table: &str) -> StoreResult<u64> {
        self.number(&format!("select coalesce(sum(1), 0) from {table}"))
    }

    fn number(&self, query: &str) -> StoreResult<u64> {
        self.read(|connection| connection.query_row(query, [], |row| row.get(0)))
    }

    /// Returns the players in the table `players`.
    pub fn players(&self) -> StoreResult<Vec<PlayerInfo>> {
        let query = "select name, run, digest from players order by number";
        self.rows(query, |row| {
            Ok(PlayerInfo { name: text(row, 0)?, run: text(row, 1)?, digest: text(row, 2)? })
        })
    }

    /// Returns the games whose scores differ between the tables `games` and `seats`.
    pub fn changed_scores(&self) -> StoreResult<Vec<u64>> {
        let query = "select distinct games.number from games \
                     join seats on seats.game = games.number \
                     where seats.score is not json_extract(scores, '$[' || seat || ']') \
                     order by games.number";
        self.rows(query, |row| row.get(0))
    }

    /// Returns the number of faults, over all seats. Resignations are none.
    pub fn faults(&self) -> StoreResult<u64> {
        self.number("select count(*) from seats where fault is not null and fault <> 'resigned'")
    }

    /// Returns the void attempts, ordered by game.
    pub fn voids(&self) -> StoreResult<Vec<VoidAttempt>> {
        let query = "select game, attempt, cause, text, player, transcript from voids \
             order by game, attempt";
        self.rows(query, |row| {
            Ok(VoidAttempt {
                number: row.get(0)?,
                attempt: row.get(1)?,
                cause: text(row, 2)?,
                text: text(row, 3)?,
                player: row.get::<_, Option<u32>>(4)?.map(Player),
                transcript: some_text(row, 5)?,
            })
        })
    }

    /// Calls `take` with the places of every game, ordered by game.
    pub fn each_result(&self, mut take: impl FnMut(u64, &[u32])) -> StoreResult<()> {
        let query = "select game, place from seats order by game, seat";
        self.read(|connection| {
            let mut statement = connection.prepare(query)?;
            let mut rows = statement.query([])?;
            let (mut current, mut places) = (None, Vec::new());
            while let Some(row) = rows.next()? {
                let game: u64 = row.get(0)?;
                if let Some(done) = current.filter(|&current| current != game) {
                    take(done, &places);
                    places.clear();
                }
                current = Some(game);
                charge(0)?;
                places.push(row.get(1)?);
            }
            if let Some(done) = current {
                take(done, &places);
            }
            Ok(())
        })
    }
}

/// Fails if the tables are of a newer version, or not those that a referee makes.
fn check_tables(connection: &Connection, path: &Path, found: usize) -> StoreResult<()> {
    let unfit = |text: String| Failure::machine(format!("{}: {text}", path.display()));
    if found > VERSION {
        let text = format!("its tables have version {found}, this referee reads up to {VERSION}");
        return Err(unfit(text).help("use a newer referee"));
    }
    match foreign::has_own_tables(connection, found) {
        Ok(true) => Ok(()),
        Ok(false) => Err(unfit("its tables are not those of a contest".to_owned())
            .help("another program made or changed this file")),
        Err(error) => Err(failed(path, &error)),
    }
}

/// The failure for an error of `SQLite`.
fn failed(path: &Path, error: &rusqlite::Error) -> Failure {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => disk_full(path),
        // `SQLite` reports a WAL index that doesn't fit the disk as this.
        Some(ErrorCode::SystemIoFailure) if !has_room(path) => disk_full(path),
        _ => unusable(path, error),
    }
}

fn unusable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::machine(format!("{}: {error}", path.display())).help(
        "check the file with `sqlite3 FILE 'pragma integrity_check'` \
         and the transcripts with `referee verify DIR/games`",
    )
}

/// Checks that the store, and what `SQLite` opens beside it, are files: through a link another contest's would be read or
/// written, and a pipe would never end.
fn check_files(path: &Path) -> StoreResult<()> {
    for file in beside(path) {
        if file.symlink_metadata().is_ok_and(|about| !about.is_file()) {
            return Err(Failure::machine(format!("{}: it is not a regular file", file.display()))
                .help(
                    "a referee has not put it there: remove it, or take the folder from a copy",
                ));
        }
    }
    Ok(())
}

/// Returns the paths of a store and of what `SQLite` opens beside it.
fn beside(path: &Path) -> impl Iterator<Item = PathBuf> {
    let suffixes = ["", "-shm"].into_iter().chain(LOGS);
    suffixes.map(|suffix| {
        let mut beside = path.as_os_str().to_owned();
        beside.push(suffix);
        PathBuf::from(beside)
    })
}

fn begins_with(file: &File, bytes: &[u8]) -> io::Result<bool> {
    let mut found = vec![0; bytes.len()];
    match file.read_exact_at(&mut found, 0) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| found == bytes),
    }
}

/// Returns how many bytes of a store count, by its length and what is on the disk: a sparse file is as long as anyone
/// likes.
fn on_disk(length: u64, allocated: u64) -> u64 {
    length.min(allocated.saturating_mul(COMPRESSED_MAX))
}

/// Whether nobody but this user and root can change a file, if there is one, or exchange a folder on the way to it.
pub(super) fn is_own(file: &Path) -> bool {
    let is_safe = |about: &Metadata| {
        let owner = about.uid();
        let by_others = about.mode() & 0o002 != 0;
        let by_group = about.mode() & 0o020 != 0 && !is_private_group(about.gid());
        // In such a folder each entry is only its owner's.
        let is_sticky = about.is_dir() && about.mode() & 0o1000 != 0;
        (owner == 0 || owner == geteuid().as_raw()) && (is_sticky || !(by_others || by_group))
    };
    file.ancestors().all(|path| match path.symlink_metadata() {
        Ok(about) => is_safe(&about),
        Err(error) => error.kind() == ErrorKind::NotFound && path == file,
    })
}

/// Whether a group has the name of this user: then nobody else is in it.
fn is_private_group(group: u32) -> bool {
    let user = User::from_uid(geteuid()).ok().flatten().map(|user| user.name);
    let group = Group::from_gid(group.into()).ok().flatten().map(|group| group.name);
    user.is_some() && user == group
}

/// Returns whether the WAL index still fits on the disk.
fn has_room(path: &Path) -> bool {
    let disk = path.parent().and_then(|folder| Disk::of(folder).ok());
    disk.is_none_or(|disk| disk.free >= WAL_INDEX_BYTES)
}

#[cfg(test)]
mod tests {
    use super::is_own;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_file_is_own_where_nobody_else_can_exchange_it() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let folder = root.join("a/b");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("file"), "").unwrap();
        assert!(is_own(&folder.join("file")) && is_own(&folder.join("none")));
        assert!(!is_own(&folder.join("none/file")));
        for (path, mode) in [("a", 0o777), ("a/b", 0o777), ("a/b/file", 0o666)] {
            let set = |mode| fs::set_permissions(root.join(path), Permissions::from_mode(mode));
            set(mode).unwrap();
            assert!(!is_own(&folder.join("file")), "{path}");
            set(if path.ends_with("file") { 0o644 } else { 0o755 }).unwrap();
        }
        fs::set_permissions(root.join("a"), Permissions::from_mode(0o1777)).unwrap();
        assert!(is_own(&folder.join("file")), "others can't rename what isn't theirs");
        symlink(&folder, root.join("link")).unwrap();
        assert!(!is_own(&root.join("link/file")));
        if nix::unistd::geteuid().is_root() {
            std::os::unix::fs::chown(root.join("a"), Some(65_534), None).unwrap();
            assert!(!is_own(&folder.join("file")), "its owner may rename what is in it");
        }
    }
}
