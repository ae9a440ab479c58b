//! What the results of a contest say: for a terminal, as Markdown, CSV, JSON and as one page of
//! HTML. Calculates nothing that standings and ratings don't say, and trusts no name.

mod figures;
mod columns;
mod notes;
mod ties;
mod text;
mod markdown;
mod csv;
mod html;

pub(crate) use figures::fixed;
pub use text::Layout;
pub use ties::{Tie, ties};

use super::ratings::{HistoryPoint, Rating, Ratings};
use super::standings::Standings;
use super::{Contest, Player, Record};
use referee_protocol::{FaultKind, Result as Ended};
use schemars::JsonSchema;
use serde::Serialize;

/// Everything that a report shows. As JSON it is the report.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// The contest's name.
    pub name: String,
    /// The settings that a reader should know, in order.
    pub settings: Vec<Setting>,
    /// How far it is.
    pub progress: Progress,
    /// What doesn't count.
    pub void: VoidCounts,
    /// The standings.
    pub standings: Standings,
    /// The ratings; null where players play alone.
    pub ratings: Option<Ratings>,
    /// Ratings as they were after so many games, in order; empty where nobody wants it.
    pub history: Vec<HistoryPoint>,
    /// In knockouts, the ties that have ended, in order.
    pub ties: Vec<Tie>,
    /// The games that count, in schedule order.
    pub games: Vec<GameRow>,
    /// Submissions that don't play.
    pub left_out: Vec<LeftOut>,
    /// Commands that a reader can run, such as the one that verifies everything.
    pub commands: Vec<Command>,
}

/// A setting as people read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Setting {
    /// What is set.
    pub name: String,
    /// To what.
    pub value: String,
}

/// How far a contest is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Progress {
    /// Games with a result.
    pub played: u64,
    /// Games that are known so far.
    pub known: u64,
    /// How many games there will be at most.
    pub at_most: u64,
    /// Nothing follows.
    pub over: bool,
}

/// What doesn't count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VoidCounts {
    /// Attempts that ended void; most were played again.
    pub attempts: u64,
    /// Games that were given up after too many of them.
    pub given_up: u64,
}

/// A game in the list of games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GameRow {
    /// Its place in the schedule.
    pub number: u64,
    /// The round, from 1.
    pub round: u32,
    /// The game, as the contest calls it.
    pub game: String,
    /// Who played, in seat order.
    pub players: Vec<Player>,
    /// What ended it.
    pub result: Ended,
    /// The rules' reason, or the fault's kind.
    pub reason: String,
    /// The place of each seat, from 1.
    pub places: Vec<u32>,
    /// The score of each seat, where there is one.
    pub scores: Option<Vec<i64>>,
    /// The turns.
    pub turns: u64,
    /// What agents did wrong, in seat order.
    pub faults: Vec<SeatFault>,
    /// The referee itself was late.
    pub marked: bool,
    /// The transcript, relative to the contest's folder.
    pub transcript: String,
}

/// What an agent did wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SeatFault {
    /// Where it sat, from 0.
    pub seat: usize,
    /// The kind.
    pub kind: FaultKind,
    /// In words, for its author; hostile text.
    pub text: Option<String>,
}

/// A submission that doesn't play.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// The name; hostile text.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// A command for the reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Command {
    /// What it does, in a few words.
    pub does: String,
    /// The command line.
    pub line: String,
}

impl GameRow {
    /// The row of a game.
    pub fn new(contest: &Contest, record: &Record) -> Self {
        let game = contest.games.get(record.game).map_or("?", |game| game.name.as_str());
        let fault = |(seat, part): (usize, &super::SeatRecord)| {
            part.fault.map(|kind| SeatFault { seat, kind, text: part.fault_text.clone() })
        };
        Self {
            number: record.number,
            round: record.round,
            game: game.to_owned(),
            players: record.players.clone(),
            result: record.result,
            reason: record.reason.clone(),
            places: record.places.clone(),
            scores: record.scores.clone(),
            turns: record.turns,
            faults: record.seats.iter().enumerate().filter_map(fault).collect(),
            marked: record.marked,
            transcript: record.transcript.clone(),
        }
    }
}

impl Report {
    /// The standings as a table: its head, and a row a player by rank. Names are as they are.
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let columns = columns::standings(self, columns::Detail::Ranks);
        let head = columns.iter().map(|column| column.head.clone()).collect();
        let rows = columns::rows(&columns).map(|row| row.map(str::to_owned).collect());
        (head, rows.collect())
    }

    /// What a reader must know beside the table, in sentences. Names are as they are.
    pub fn remarks(&self) -> Vec<String> {
        let ratings = self.ratings.iter().flat_map(notes::ratings);
        let first = std::iter::once(notes::progress(self));
        first.chain(notes::standings(self)).chain(ratings).collect()
    }

    /// The rating of a player of whom a game was fitted: without one there is nothing to show.
    fn rating(&self, player: Player) -> Option<&Rating> {
        let ratings = self.ratings.as_ref()?;
        ratings.players.iter().find(|rating| rating.player == player && rating.games > 0)
    }

    /// All names, in the order of the contest's list.
    fn names(&self) -> Vec<&str> {
        let mut names = vec!["?"; self.standings.players.len()];
        for standing in &self.standings.players {
            if let Some(name) = names.get_mut(standing.player.index()) {
                *name = &standing.name;
            }
        }
        names
    }

    fn player_name(&self, player: Player) -> &str {
        self.standings.of(player).map_or("?", |standing| &standing.name)
    }
}

#[cfg(test)]
mod tests;
