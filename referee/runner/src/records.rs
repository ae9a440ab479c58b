//! The games that count, read from the store: all of them, one, or a page of a list.

use super::rows::{read_game, read_seat};
use super::store::{Store, Stored};
use referee_contest::{Player, Record};
use rusqlite::{Params, params};

/// Which games a list is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Which {
    /// Only those in which this player sat.
    pub player: Option<Player>,
    /// Only those in which somebody, or that player, was at fault.
    pub faults: bool,
    /// Only those in which somebody, or that player, did not come first.
    pub lost: bool,
}

const PLAYED: &str = "(?1 is null or exists (select 1 from seats where game = games.number \
     and player = ?1))";
const AT_FAULT: &str = "(not ?2 or exists (select 1 from seats where game = games.number \
     and fault is not null and (?1 is null or player = ?1)))";
const LOST: &str = "(not ?3 or exists (select 1 from seats where game = games.number \
     and place > 1 and (?1 is null or player = ?1)))";

impl Store {
    /// A game that counts.
    pub fn record(&self, number: u64) -> Stored<Option<Record>> {
        let mut found = self.records_by("where number = ?1 order by number", [number])?;
        Ok(found.pop())
    }

    /// All games that count, in schedule order.
    pub fn records(&self) -> Stored<Vec<Record>> {
        self.records_by("order by number", [])
    }

    /// How many games there are of these, and a part of them: the last of the schedule first.
    pub fn some(&self, which: &Which, from: u64, count: u64) -> Stored<(u64, Vec<Record>)> {
        let player = which.player.map(|player| player.0);
        let condition = format!("where {PLAYED} and {AT_FAULT} and {LOST}");
        let all = format!("select count(*) from games {condition}");
        let total = self.read(|connection| {
            connection.query_row(&all, params![player, which.faults, which.lost], |row| row.get(0))
        })?;
        let page = format!("{condition} order by number desc limit ?4 offset ?5");
        let wanted = params![player, which.faults, which.lost, count, from];
        Ok((total, self.records_by(&page, wanted)?))
    }

    /// `condition` is what follows the table in a query.
    fn records_by(&self, condition: &str, values: impl Params) -> Stored<Vec<Record>> {
        let games = format!(
            "select number, block, round, game, match_id, seed, result, reason, scores, turns, \
             lag_ns, marked, moves, transcript, seal from games {condition}"
        );
        let seats = "select seat, player, place, used_ms, cpu_ms, turns, fault, fault_text \
                     from seats where game = ?1 order by seat";
        self.read(|connection| {
            let mut seats = connection.prepare(seats)?;
            let mut games = connection.prepare(&games)?;
            let mut rows = games.query(values)?;
            let mut records = Vec::new();
            while let Some(row) = rows.next()? {
                let mut record = read_game(row)?;
                let mut rows = seats.query([record.number])?;
                while let Some(row) = rows.next()? {
                    record.players.push(Player(row.get(1)?));
                    record.places.push(row.get(2)?);
                    record.seats.push(read_seat(row)?);
                }
                records.push(record);
            }
            Ok(records)
        })
    }
}
