//! Reads games that count from the store: all, one, or a page of a list.

use super::rows::from_json;
use super::store::{Store, StoreResult};
use referee_contest::{Player, Record};
use rusqlite::{Params, params};

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

    /// Returns all games that count, in schedule order.
    pub fn records(&self) -> StoreResult<Vec<Record>> {
        self.records_by("order by number", [])
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
        let values = params![player, filter.faults, filter.lost, count, from];
        Ok((total, self.records_by(&page, values)?))
    }

    /// Returns the games of a query; `condition` follows the table's name.
    fn records_by(&self, condition: &str, values: impl Params) -> StoreResult<Vec<Record>> {
        let query = format!("{} {condition}", include_str!("record.sql"));
        self.read(|connection| {
            let mut games = connection.prepare(&query)?;
            games.query_map(values, |row| from_json(row, 0))?.collect()
        })
    }
}
