//! Reports on a contest: for a terminal, as Markdown, CSV, JSON and as one page of HTML. They only
//! show standings and ratings. Names are untrusted text.

mod game_list;
mod columns;
mod notes;
mod ties;
mod own;
mod changes;
pub mod grades;
mod text;
mod markdown;
mod csv;
mod html;

pub use changes::ChangeRow;
pub use csv::{grades_csv, no_formula};
pub use game_list::{GameList, RecordSource};
pub(crate) use game_list::{Listed, ScheduledRecords};
pub use html::{PrivatePart, TeamPages, policy_hash, replay_path};
pub use markdown::{escape as escape_markdown, plain_text};
pub use own::{OwnRating, OwnRatings, RatingThen};
pub use text::{Layout, aligned};
pub use ties::{Tie, ties};

use crate::ratings::{HistoryPoint, RatedGames, Rating, Ratings};
use crate::sprt::Summary as Comparison;
use crate::standings::Standings;
use crate::wording::count;
use crate::{Contest, Player, Record};
use referee_match::summary::{Summary, reason};
use referee_protocol::sanitize::sanitize;
use referee_protocol::{FaultKind, MatchResult};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Everything that a report shows; serialized, it is the JSON report.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// The version of the referee that made it.
    pub referee: String,
    /// The contest's name.
    pub name: String,
    /// The settings to show, in order.
    pub settings: Vec<Setting>,
    /// The progress of the contest.
    pub progress: Progress,
    /// Attempts and games that don't count.
    pub void: VoidCounts,
    /// The standings.
    pub standings: Standings,
    /// The result of `compare`; null for other contests.
    pub comparison: Option<Comparison>,
    /// The ratings; null for games of one seat, and for `compare`, whose figure is in `comparison`.
    pub ratings: Option<Ratings>,
    /// Ratings after growing numbers of games, in order; may be empty.
    pub history: Vec<HistoryPoint>,
    /// The games that were rated; `None` without ratings.
    #[serde(skip)]
    pub rated: Option<RatedGames>,
    /// The ties that have ended, in order; empty unless the format has ties.
    pub ties: Vec<Tie>,
    /// The games, in schedule order.
    pub games: GameList,
    /// Submissions that don't play.
    pub left_out: Vec<LeftOut>,
    /// What was changed after the contest began, in order; omitted if nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeRow>,
    /// Commands to show, such as the one that verifies the contest.
    pub commands: Vec<Command>,
}

/// A setting to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value, for people.
    pub value: String,
}

/// The progress of a contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Progress {
    /// Games with a result.
    pub played: u64,
    /// Games that are known so far.
    pub known: u64,
    /// The greatest number of games that there can be.
    pub at_most: u64,
    /// Whether the contest is over.
    pub over: bool,
}

/// Attempts and games that don't count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VoidCounts {
    /// Attempts that ended void; most were played again.
    pub attempts: u64,
    /// Games given up after too many void attempts.
    pub given_up: u64,
    /// The agents at whose seats attempts became void, in the order of the players; omitted if there
    /// are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caused: Vec<CausedVoids>,
}

/// The void attempts that one agent has caused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CausedVoids {
    /// The agent's name; untrusted text.
    pub name: String,
    /// How many attempts became void at its seat.
    pub attempts: u64,
    /// How many the contest allows; further ones count as its faults.
    pub at_most: u64,
}

impl CausedVoids {
    /// Returns a sentence about them.
    pub fn text(&self) -> String {
        let (name, attempts) = (sanitize(&self.name), count(self.attempts, "void attempt"));
        let rest = if self.attempts < self.at_most {
            format!("any beyond {} count as its faults.", self.at_most)
        } else {
            "further ones count as its faults.".to_owned()
        };
        format!("{name} caused {attempts}; {rest}")
    }
}

/// A game in the list of games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GameRow {
    /// Its place in the schedule.
    pub number: u64,
    /// Whether it counts. A game that was started before the contest was decided and ended after it
    /// does not: it is in no other figure of the report.
    pub counts: bool,
    /// The round, from 1.
    pub round: u32,
    /// The game, as the contest calls it.
    pub game: String,
    /// The players, in seat order.
    pub players: Vec<Player>,
    /// The kind of end.
    pub result: MatchResult,
    /// The rules' reason, or the fault's kind.
    pub reason: String,
    /// The reason in words.
    #[serde(skip)]
    pub reason_text: String,
    /// Who won and why, as a sentence; names in it are untrusted text.
    pub text: String,
    /// The place of each seat, from 1.
    pub places: Vec<u32>,
    /// The score of each seat, where there is one.
    pub scores: Option<Vec<i64>>,
    /// The number of turns.
    pub turns: u64,
    /// The faults, in seat order.
    pub faults: Vec<SeatFault>,
    /// Whether the referee itself was late.
    pub marked: bool,
    /// The first game with the same actions of the same players in the same seats, if it isn't this one.
    pub repeats: Option<u64>,
    /// The transcript, relative to the contest's folder.
    pub transcript: String,
}

/// A fault of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SeatFault {
    /// The seat, from 0.
    pub seat: usize,
    /// The kind.
    pub kind: FaultKind,
    /// The message for its author; untrusted text.
    pub text: Option<String>,
}

/// A submission that doesn't play.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// The name; untrusted text.
    pub name: String,
    /// The reason, in one line.
    pub reason: String,
}

/// A command to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Command {
    /// What it does, in a few words.
    pub does: String,
    /// The command line.
    pub line: String,
}

impl GameRow {
    /// Returns the row of a game that counts and repeats no other one.
    pub fn new(contest: &Contest, record: &Record) -> Self {
        Self::of(contest, &Listed { record, counts: true, repeats: None })
    }

    fn of(contest: &Contest, listed: &Listed<'_>) -> Self {
        let Listed { record, counts, repeats } = *listed;
        let game = contest.games.get(record.game);
        let name = |player: &Player| {
            contest.players.get(player.index()).map_or("?", |player| player.name.as_str())
        };
        let faults = record
            .seats
            .iter()
            .map(|seat| Some((seat.fault?, seat.fault_text.as_deref().unwrap_or_default())));
        let faults: Vec<_> = faults.collect();
        let summary = Summary {
            game: game.map_or("?", |game| &game.game),
            program: game.and_then(|game| game.program.as_ref()),
            setup: game.map_or(&Value::Null, |game| &game.setup),
            names: &record.players.iter().map(name).collect::<Vec<_>>(),
            result: record.result,
            reason: &record.reason,
            places: &record.places,
            faults: &faults,
        };
        let fault = |(seat, part): (usize, &crate::SeatRecord)| {
            part.fault.map(|kind| SeatFault { seat, kind, text: part.fault_text.clone() })
        };
        Self {
            number: record.number,
            counts,
            round: record.round,
            game: game.map_or("?", |game| &game.name).to_owned(),
            players: record.players.clone(),
            result: record.result,
            reason: record.reason.clone(),
            reason_text: reason(
                (summary.game, summary.program),
                summary.setup,
                record.result,
                &record.reason,
            ),
            text: summary.sentence(),
            places: record.places.clone(),
            scores: record.scores.clone(),
            turns: record.turns,
            faults: record.seats.iter().enumerate().filter_map(fault).collect(),
            marked: record.marked,
            repeats,
            transcript: record.transcript.clone(),
        }
    }
}

impl Report {
    /// Returns the standings as a table: the heads, and a row for each player by rank. Names are
    /// not sanitized.
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        columns::texts(&columns::standings(self, columns::Detail::Ranks))
    }

    /// Returns the cross table of at most `players_max` players in the same form: what each got against each,
    /// in percent of the points.
    pub fn cross_table(&self, players_max: usize) -> Option<(Vec<String>, Vec<Vec<String>>)> {
        columns::cross(self, players_max, "#", "").map(|columns| columns::texts(&columns))
    }

    /// Returns what a reader must know besides the table, as sentences. Names are not sanitized.
    pub fn remarks(&self) -> Vec<String> {
        let ratings = self.ratings.iter().flat_map(notes::ratings);
        let first = notes::comparison(self).into_iter().chain([notes::progress(self)]);
        first.chain(notes::standings(self)).chain(ratings).collect()
    }

    /// Returns the rating of a player with at least one fitted game.
    pub fn rating(&self, player: Player) -> Option<&Rating> {
        let ratings = self.ratings.as_ref()?;
        ratings.players.iter().find(|rating| rating.player == player && rating.games > 0)
    }

    /// Returns all names, in the order of the contest's list.
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
