//! Reads games that count from the store: one by one, or a page of a list.

use super::folder::Folder;
use super::rows::{SEATS, read_game};
use super::store::{Store, StoreResult};
use referee_contest::report::RecordSource;
use referee_contest::{Player, Record};
use referee_process::Failure;
use rusqlite::{Params, params};
use std::io;

/// The filter of a list of games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameFilter {
    /// Only games of this player.
    pub player: Option<Player>,
    /// Only games with a fault, of that player if one is given.
    pub faults: bool,
    /// Only games with a loser: that player, if one is given.
    pub lost: bool,
}

const PLAYED: &str = "(?1 is null or exists (select 1 from seats where game = games.number \
     and player = ?1))";
const AT_FAULT: &str = "(not ?2 or exists (select 1 from seats where game = games.number \
     and fault is not null and (?1 is null or player = ?1)))";
const LOST: &str = "(not ?3 or exists (select 1 from seats where game = games.number \
     and place > 1 and (?1 is null or player = ?1)))";

impl Store {
    /// Returns a game that counts.
    pub fn record(&self, number: u64) -> StoreResult<Option<Record>> {
        let mut found = self.records_by("where number = ?1 order by number", [number])?;
        Ok(found.pop())
    }

    /// Calls `visit` for each game that counts, in schedule order, until it fails.
    pub fn each_record<E: From<Failure>>(
        &self,
        mut visit: impl FnMut(Record) -> Result<(), E>,
    ) -> Result<(), E> {
        self.read(|connection| {
            let mut games = connection.prepare("select * from games order by number")?;
            let mut seats = connection.prepare(SEATS)?;
            let mut rows = games.query([])?;
            while let Some(row) = rows.next()? {
                if let Err(error) = visit(read_game(row, &mut seats)?) {
                    return Ok(Err(error));
                }
            }
            Ok(Ok(()))
        })?
    }

    /// Whether a game counts.
    pub fn has(&self, number: u64) -> StoreResult<bool> {
        self.read(|connection| {
            let mut query = connection.prepare_cached("select 1 from games where number = ?1")?;
            query.exists([number])
        })
    }

    /// Returns the game that counts with this transcript, relative to the contest's folder.
    pub fn game_of(&self, transcript: &str) -> StoreResult<Option<Record>> {
        let mut found = self.records_by("where transcript = ?1", [transcript])?;
        Ok(found.pop())
    }

    /// Returns the number of games that pass the filter, and a page of them: the last first.
    pub fn page(
        &self,
        filter: &GameFilter,
        from: u64,
        count: u64,
    ) -> StoreResult<(u64, Vec<Record>)> {
        let player = filter.player.map(|player| player.0);
        let condition = format!("where {PLAYED} and {AT_FAULT} and {LOST}");
        let all = format!("select count(*) from games {condition}");
        let total = self.read(|connection| {
            connection
                .query_row(&all, params![player, filter.faults, filter.lost], |row| row.get(0))
        })?;
        let page = format!("{condition} order by number desc limit ?4 offset ?5");
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        let values = params![player, filter.faults, filter.lost, count, from];
        Ok((total, self.records_by(&page, values)?))
    }

    /// Returns the games of a query; `condition` follows the table's name.
    fn records_by(&self, condition: &str, values: impl Params) -> StoreResult<Vec<Record>> {
        let query = format!("select * from games {condition}");
        self.read(|connection| {
            let (mut games, mut seats) = (connection.prepare(&query)?, connection.prepare(SEATS)?);
            games.query_map(values, |row| read_game(row, &mut seats))?.collect()
        })
    }
}

/// The records in the store of a contest's folder. An error is a [`Failure`] inside.
#[derive(Clone, Debug)]
pub struct StoredRecords {
    pub folder: Folder,
    /// [`Store::open_to_read`], or [`Store::open_foreign`].
    pub open: fn(&Folder) -> StoreResult<Store>,
}

impl RecordSource for StoredRecords {
    fn each(&self, visit: &mut dyn FnMut(Record) -> io::Result<()>) -> io::Result<()> {
        (self.open)(&self.folder)?.each_record(visit)
    }
}
