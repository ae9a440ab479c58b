//! The store of a contest: one `SQLite` file. A game counts when its row is here, and its row is
//! written only after its transcript is on the disk.

use super::clerk::disk_full;
use super::folder::Folder;
use super::rows::{add_contest, add_game, add_session, from_json};
use nix::sys::statvfs::statvfs;
use referee_contest::{Contest, PlayerInfo, Record};
use referee_process::Failure;
use referee_protocol::Sandbox;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, params};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The form of the tables; raised with every change, which [`MIGRATIONS`] then has a step for.
const VERSION: usize = MIGRATIONS.len();

/// How to come from one form of the tables to the next. The first makes them.
const MIGRATIONS: &[&str] = &[include_str!("store.sql"), include_str!("sessions.sql")];

/// The store while it is made.
const BEGUN_FILE: &str = "contest.db.new";

/// The least that the index of what was written last takes, beside the file itself.
const INDEX_BYTES: u64 = 32 << 10;

/// What is kept in memory of the file, in KiB: rows are added at its end and hardly ever read.
const CACHE_KB: i64 = 256;
/// How long a reader waits for a writer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The store of one contest.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

/// What is kept of the contest itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The contest file's text.
    pub text: String,
    /// The folder that names in it are relative to.
    pub base: PathBuf,
    /// The contest as it was read from it.
    pub contest: Contest,
    /// Submissions that were left out, and why.
    pub left_out: Vec<(String, String)>,
    /// The files that agents' digests are made of, by player, where these are folders.
    pub files: BTreeMap<String, Vec<PathBuf>>,
    /// When it was begun, RFC 3339.
    pub begun: String,
    /// What kept agents apart when it was begun; earlier versions kept nothing of it.
    pub sandbox: Option<Sandbox>,
}

/// An attempt at a game that doesn't count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoidAttempt {
    /// The game.
    pub number: u64,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// `lag`, `machine`, ..: as in a verdict.
    pub cause: String,
    /// What happened, in words.
    pub text: String,
    /// The transcript, relative to the folder, where there is one.
    pub transcript: Option<String>,
}

pub(super) type Stored<T> = Result<T, Failure>;

impl Store {
    /// A store for a contest that begins. It is there whole or not at all.
    pub fn create(folder: &Folder, kept: &Kept) -> Stored<Self> {
        let (path, begun) = (folder.store(), folder.path(BEGUN_FILE));
        let moved = |error: std::io::Error| unusable(&begun, &error);
        if path.exists() {
            // Made since the folder was looked at.
            let text = format!("{}: there is a contest already", path.display());
            return Err(Failure::machine(text)
                .help("`referee contest resume` goes on with it; --out names another folder"));
        }
        if begun.exists() {
            std::fs::remove_file(&begun).map_err(moved)?;
        }
        let connection = Connection::open(&begun).map_err(|error| failed(&begun, &error))?;
        let mut store = Self { connection, path: begun.clone() };
        store.migrate()?;
        store.write(|transaction| add_contest(transaction, kept))?;
        drop(store);
        std::fs::rename(&begun, &path).map_err(moved)?;
        Self::connect(path)
    }

    /// The store of a contest that was begun.
    pub fn open(folder: &Folder) -> Stored<Self> {
        let mut store = Self::connect(folder.store())?;
        store.migrate()?;
        Ok(store)
    }

    /// The same for whoever only looks on: no row is touched, whoever works on it. The folder must be
    /// one that can be written even so: what was written last is found by an index there, which may
    /// stay behind with an empty log.
    pub fn look(folder: &Folder) -> Stored<Self> {
        let path = folder.store();
        let look = || {
            let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            connection.busy_timeout(PATIENCE)?;
            let found: usize =
                connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
            Ok((connection, found))
        };
        let (connection, found) = look().map_err(|error| failed(&path, &error))?;
        known(&path, found)?;
        if found < VERSION {
            let told = format!("its tables are of version {found}, and this referee reads version");
            return Err(Failure::machine(format!("{}: {told} {VERSION}", path.display()))
                .help("`referee contest status DIR` brings them up to date"));
        }
        Ok(Self { connection, path })
    }

    fn connect(path: PathBuf) -> Stored<Self> {
        let connect = || {
            let connection = Connection::open(&path)?;
            connection.busy_timeout(PATIENCE)?;
            connection.pragma_update(None, "journal_mode", "wal")?;
            connection.pragma_update(None, "synchronous", "full")?;
            connection.pragma_update(None, "cache_size", -CACHE_KB)?;
            connection.pragma_update(None, "foreign_keys", true)?;
            Ok(connection)
        };
        let connection = connect().map_err(|error| failed(&path, &error))?;
        Ok(Self { connection, path })
    }

    fn migrate(&mut self) -> Stored<()> {
        let path = self.path.clone();
        let found: usize = self
            .connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(|error| failed(&path, &error))?;
        known(&path, found)?;
        self.write(|transaction| {
            for (index, step) in MIGRATIONS.iter().enumerate().skip(found) {
                transaction.execute_batch(step)?;
                transaction.pragma_update(None, "user_version", index + 1)?;
            }
            Ok(())
        })
    }

    /// All of it or nothing, and on the disk when this returns.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Stored<T> {
        let begun = self.connection.transaction();
        let all = begun.and_then(|transaction| {
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        });
        all.map_err(|error| failed(&self.path, &error))
    }

    /// Makes what is read from now on the truth. For whoever has the folder's lock, before it reads
    /// what was played.
    ///
    /// A commit is in the log before it is in the index of the log, and whoever looks on keeps that
    /// index alive. A referee that was killed between the two leaves a commit which nobody sees until
    /// the last of them has gone, and then everybody. Its games would by then have been played again.
    /// What is written here takes that commit's place in the log.
    pub fn claim(&mut self) -> Stored<()> {
        self.write(|transaction| transaction.pragma_update(None, "user_version", VERSION))
    }

    /// What is kept of the contest.
    pub fn kept(&self) -> Stored<Kept> {
        let query = "select text, base, contest, left_out, begun, files, \
                     (select sandbox from sessions order by number limit 1) from contest";
        self.read(|connection| {
            connection.query_row(query, [], |row| {
                let base: String = row.get(1)?;
                let sandbox: Option<String> = row.get(6)?;
                Ok(Kept {
                    text: row.get(0)?,
                    base: base.into(),
                    contest: from_json(row, 2)?,
                    left_out: from_json(row, 3)?,
                    begun: row.get(4)?,
                    files: from_json(row, 5)?,
                    sandbox: sandbox.map(|_| from_json(row, 6)).transpose()?,
                })
            })
        })
    }

    /// Somebody goes on with the contest: when, RFC 3339, and what keeps agents apart this time.
    pub fn add_session(&mut self, begun: &str, sandbox: &Sandbox) -> Stored<()> {
        self.write(|transaction| add_session(transaction, begun, sandbox))
    }

    /// What kept agents apart each time, in order.
    pub fn sessions(&self) -> Stored<Vec<Sandbox>> {
        self.rows("select sandbox from sessions order by number", |row| from_json(row, 0))
    }

    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Stored<T> {
        work(&self.connection).map_err(|error| failed(&self.path, &error))
    }

    fn rows<T>(
        &self,
        query: &str,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Stored<Vec<T>> {
        self.read(|connection| connection.prepare(query)?.query_map([], read)?.collect())
    }

    /// Takes in games that count and attempts that don't. A game that is there already stays as it
    /// is: it can't count twice.
    pub fn add(&mut self, games: &[Record], voids: &[VoidAttempt]) -> Stored<()> {
        self.write(|transaction| {
            for game in games {
                add_game(transaction, game)?;
            }
            for void in voids {
                let VoidAttempt { number, attempt, cause, text, transcript } = void;
                let insert = "insert or replace into voids (game, attempt, cause, text, transcript) \
                              values (?1, ?2, ?3, ?4, ?5)";
                let mut insert = transaction.prepare_cached(insert)?;
                insert.execute(params![number, attempt, cause, text, transcript])?;
            }
            Ok(())
        })
    }

    /// How many games have a row.
    pub fn count(&self) -> Stored<u64> {
        self.number("select count(*) from games")
    }

    fn number(&self, query: &str) -> Stored<u64> {
        self.read(|connection| connection.query_row(query, [], |row| row.get(0)))
    }

    /// The players, as their table has them.
    pub fn players(&self) -> Stored<Vec<PlayerInfo>> {
        let query = "select name, run, digest from players order by number";
        self.rows(query, |row| {
            Ok(PlayerInfo { name: row.get(0)?, run: row.get(1)?, digest: row.get(2)? })
        })
    }

    /// Games whose scores are not the same by seat and as a whole.
    pub fn changed_scores(&self) -> Stored<Vec<u64>> {
        let query = "select distinct games.number from games \
                     join seats on seats.game = games.number \
                     where seats.score is not json_extract(scores, '$[' || seat || ']') \
                     order by games.number";
        self.rows(query, |row| row.get(0))
    }

    /// How many faults there were, over all seats.
    pub fn faults(&self) -> Stored<u64> {
        self.number("select count(*) from seats where fault is not null")
    }

    /// The attempts that don't count, in the order of their games.
    pub fn voids(&self) -> Stored<Vec<VoidAttempt>> {
        let query =
            "select game, attempt, cause, text, transcript from voids order by game, attempt";
        self.rows(query, |row| {
            Ok(VoidAttempt {
                number: row.get(0)?,
                attempt: row.get(1)?,
                cause: row.get(2)?,
                text: row.get(3)?,
                transcript: row.get(4)?,
            })
        })
    }

    /// The places of every game, in the order of the games.
    pub fn each_result(&self, mut take: impl FnMut(u64, &[u32])) -> Stored<()> {
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
                places.push(row.get(1)?);
            }
            if let Some(done) = current {
                take(done, &places);
            }
            Ok(())
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many attempts at each game don't count.
    pub fn attempts(&self) -> Stored<BTreeMap<u64, u32>> {
        let voids = self.voids()?;
        Ok(voids.into_iter().map(|void| (void.number, void.attempt)).collect())
    }
}

/// Whether tables of this version can be read.
fn known(path: &Path, found: usize) -> Stored<()> {
    if found <= VERSION {
        return Ok(());
    }
    let told = format!("its tables are of version {found}, and this referee knows up to {VERSION}");
    Err(Failure::machine(format!("{}: {told}", path.display()))
        .help("take a newer referee: this one can't read it"))
}

/// What is to be said where `SQLite` fails.
fn failed(path: &Path, error: &rusqlite::Error) -> Failure {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => disk_full(path),
        // The index of what was written last can't say why there is none.
        Some(ErrorCode::SystemIoFailure) if !has_room(path) => disk_full(path),
        _ => unusable(path, error),
    }
}

fn unusable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::machine(format!("{}: {error}", path.display())).help(
        "the folder must be one that can be written; `sqlite3 FILE 'pragma integrity_check'` \
         tells whether the file is damaged. The transcripts are whole without it: `referee \
         verify DIR/games`",
    )
}

/// Whether the index still fits on the disk.
fn has_room(path: &Path) -> bool {
    path.parent()
        .and_then(|folder| statvfs(folder).ok())
        .is_none_or(|it| it.blocks_available() * it.fragment_size() >= INDEX_BYTES)
}
