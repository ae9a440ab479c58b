//! The games of a report. They are read again each time that they are listed, because a contest may have
//! more of them than fit in memory.

use super::GameRow;
use crate::repeats::Repeats;
use crate::{Record, Schedule};
use schemars::JsonSchema;
use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};
use std::fmt;
use std::io;
use std::sync::Arc;

/// Where the records of a contest are.
pub trait RecordSource: Send + Sync {
    /// Calls `visit` for each record, in the order of their numbers, until it fails.
    fn each(&self, visit: &mut dyn FnMut(Record) -> io::Result<()>) -> io::Result<()>;
}

/// Records in memory, in the order of their numbers.
impl RecordSource for Vec<Record> {
    fn each(&self, visit: &mut dyn FnMut(Record) -> io::Result<()>) -> io::Result<()> {
        self.iter().try_for_each(|record| visit(record.clone()))
    }
}

/// Where the rows of games are.
pub(crate) trait RowSource: Send + Sync {
    /// Calls `visit` for each game, in schedule order, until it fails.
    fn each(&self, visit: &mut dyn FnMut(GameRow) -> io::Result<()>) -> io::Result<()>;
}

/// The games of a contest, in schedule order.
#[derive(Clone, JsonSchema)]
#[schemars(with = "Vec<GameRow>")]
pub struct GameList {
    pub(crate) rows: Arc<dyn RowSource>,
    /// How many games are listed.
    pub(crate) len: u64,
    /// How many of them don't count.
    pub(crate) past: u64,
    /// Whether they are of several of the contest's games.
    pub(crate) is_mixed: bool,
}

/// The records of a source, as far as the schedule has recorded them, and the games that were decided
/// without being played.
pub(crate) struct ScheduledRecords {
    pub(crate) schedule: Arc<Schedule>,
    pub(crate) source: Arc<dyn RecordSource>,
}

/// A record in a list of games.
pub(crate) struct Listed<'a> {
    pub(crate) record: &'a Record,
    /// Whether the game counts.
    pub(crate) counts: bool,
    /// The first game that it repeats.
    pub(crate) repeats: Option<u64>,
}

impl ScheduledRecords {
    /// Calls `visit` for each game, in schedule order, until it fails.
    pub(crate) fn each_record(
        &self,
        visit: &mut dyn FnMut(Listed<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let forfeits = self.schedule.forfeits();
        let counts = |record: &Record| self.schedule.counts(record.number);
        let mut forfeits = forfeits.iter().filter(|record| counts(record)).peekable();
        let known = usize::try_from(self.schedule.played()).unwrap_or(0);
        let (games, mut repeats) = (&self.schedule.contest().games, Repeats::with_capacity(known));
        let mut list = |record: &Record| {
            let counts = counts(record);
            let repeats = if counts { repeats.first(record, games) } else { None };
            visit(Listed { record, counts, repeats })
        };
        self.source.each(&mut |record| {
            // A game that has ended since then is not in the report.
            if !self.schedule.has(record.number) {
                return Ok(());
            }
            while let Some(forfeit) = forfeits.next_if(|it| it.number < record.number) {
                list(forfeit)?;
            }
            list(&record)
        })?;
        forfeits.try_for_each(list)
    }
}

impl RowSource for ScheduledRecords {
    fn each(&self, visit: &mut dyn FnMut(GameRow) -> io::Result<()>) -> io::Result<()> {
        let contest = self.schedule.contest();
        self.each_record(&mut |listed| visit(GameRow::of(contest, &listed)))
    }
}

impl GameList {
    /// Returns the number of games.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether there are no games.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Calls `visit` for each game, until it fails.
    pub fn each(&self, mut visit: impl FnMut(GameRow) -> io::Result<()>) -> io::Result<()> {
        self.rows.each(&mut visit)
    }

    /// Returns the rows of all games.
    pub fn rows(&self) -> io::Result<Vec<GameRow>> {
        let mut rows = Vec::new();
        self.each(|row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }
}

impl Serialize for GameList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(usize::try_from(self.len).ok())?;
        // The writer's own error would be lost in an error of the source.
        let mut failed = None;
        let listed = self.each(|row| {
            list.serialize_element(&row).map_err(|error| {
                failed = Some(error);
                io::Error::other("the games could not be written")
            })
        });
        match (listed, failed) {
            (_, Some(error)) => Err(error),
            (Err(error), None) => Err(S::Error::custom(error)),
            (Ok(()), None) => list.end(),
        }
    }
}

impl fmt::Debug for GameList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { len, past, .. } = self;
        write!(f, "GameList {{ len: {len}, past: {past} }}")
    }
}
