//! Standings: what the games of a contest add up to. A function of the contest and of its records,
//! whatever their order; it rates nobody.

mod points;
mod tally;
mod cross;
mod order;
mod puzzle;

pub use points::Points;
pub use puzzle::{Instance, PuzzleResult, ScoreSum};
pub use tally::{Tally, TimeUse};

use super::{Contest, Player, Record};
use referee_protocol::{FaultKind, Result as Ended};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What the games add up to.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Standings {
    /// How many seats a game has.
    pub seats: usize,
    /// By what players are ranked, the most important first, in words.
    pub ranked_by: Vec<String>,
    /// One entry a player, best first; who shares a rank stands in the order of the contest's list.
    pub players: Vec<Standing>,
    /// Who met whom: one entry an ordered pair that met, by row and then by column.
    pub cross: Vec<Meeting>,
    /// One entry a seat: what whoever sat there got.
    pub by_seat: Vec<Tally>,
    /// How games ended, the most frequent first.
    pub ends: Vec<End>,
    /// One entry an instance of a contest of one seat; empty with more seats.
    pub instances: Vec<Instance>,
    /// Games that counted.
    pub games: u64,
    /// Games that were the same as another one of the same players in the same seats: all but one
    /// of each such group.
    pub duplicates: u64,
    /// Games in which the referee itself was late by more than the contest's bound.
    pub marked: u64,
}

/// A player's place in the contest.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Standing {
    /// Who.
    pub player: Player,
    /// The name; hostile text.
    pub name: String,
    /// From 1; shared by those whom nothing tells apart.
    pub rank: u32,
    /// Points, byes included.
    pub points: Points,
    /// Those of them that came by byes.
    pub bye_points: Points,
    /// What was played.
    pub total: Tally,
    /// The same by seat.
    pub by_seat: Vec<Tally>,
    /// Games with a fault of this player, by kind, in the order of the protocol's table; kinds that
    /// didn't occur are left out.
    pub faults: Vec<FaultCount>,
    /// Time use.
    pub time: TimeUse,
    /// What decides between equal points.
    pub tie_breaks: TieBreaks,
    /// With one seat: what was solved.
    pub puzzle: Option<PuzzleResult>,
}

/// How often a fault happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FaultCount {
    /// The fault.
    pub kind: FaultKind,
    /// In how many games.
    pub games: u64,
}

/// What decides between players of equal points. All null with one seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TieBreaks {
    /// Points in the games among those with the same points; null for a player who shares them with
    /// nobody, and where those players haven't all met equally often.
    pub direct: Option<Points>,
    /// Buchholz: the points of all opponents, once a game.
    pub buchholz: Option<Points>,
    /// Sonneborn-Berger: the points of all opponents, each as far as it was beaten. With more than
    /// two seats, who is ahead of an opponent has beaten it, and the sum is divided by the number
    /// of opponents in a game.
    pub sonneborn_berger: Option<Points>,
}

/// What an ordered pair of players did to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Meeting {
    /// The player whose points they are.
    pub row: Player,
    /// The opponent.
    pub column: Player,
    /// In how many games both played.
    pub games: u64,
    /// A point for every game in which `row` was ahead of `column`, half a point where they were
    /// level.
    pub points: Points,
}

/// A way in which games ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct End {
    /// What ended them.
    pub result: Ended,
    /// The rules' reason, or the fault's kind.
    pub reason: String,
    /// How many games.
    pub games: u64,
}

impl Standings {
    /// The standing of a player.
    pub fn of(&self, player: Player) -> Option<&Standing> {
        self.players.iter().find(|standing| standing.player == player)
    }

    /// What a player did to another, if they met.
    pub fn meeting(&self, row: Player, column: Player) -> Option<&Meeting> {
        cross::meeting(&self.cross, row, column)
    }
}

impl Meeting {
    /// Points a game, 0 to 1.
    pub fn share(&self) -> Option<f64> {
        self.points.share(self.games)
    }
}

/// The standings after `records`. `bonus` is what each player got without playing, in halves
/// ([`super::halves`]); missing entries are 0. `ranking` is the format's own order, best first with
/// those who share a place in one group, where it has one; it goes before points. Records that
/// don't fit the contest are left out.
pub fn standings(
    contest: &Contest,
    records: &[Record],
    bonus: &[u32],
    ranking: Option<&[Vec<Player>]>,
) -> Standings {
    let seats = contest.seats();
    let records: Vec<&Record> = records.iter().filter(|record| fits(contest, record)).collect();
    let cross = cross::meetings(&records);
    let mut players = tally::players(contest, &records, bonus);
    if seats == 1 {
        puzzle::add(contest, &records, &mut players);
    }
    let ranked_by = order::rank(contest, &cross, &mut players, ranking);
    Standings {
        seats,
        ranked_by,
        players,
        cross,
        by_seat: tally::by_seat(seats, &records),
        ends: ends(&records),
        instances: if seats == 1 { puzzle::instances(contest, &records) } else { Vec::new() },
        games: records.len() as u64,
        duplicates: duplicates(&records),
        marked: records.iter().filter(|record| record.marked).count() as u64,
    }
}

fn fits(contest: &Contest, record: &Record) -> bool {
    let seats = contest.seats();
    let lengths = [record.players.len(), record.places.len(), record.seats.len()];
    let known = record.players.iter().all(|player| player.index() < contest.players.len());
    let scored = record.scores.as_ref().is_none_or(|scores| scores.len() == seats);
    lengths.iter().all(|&length| length == seats)
        && known
        && scored
        && record.game < contest.games.len()
}

fn ends(records: &[&Record]) -> Vec<End> {
    let mut counts: BTreeMap<(&str, &str), (Ended, u64)> = BTreeMap::new();
    for record in records {
        let key = (result_name(record.result), record.reason.as_str());
        counts.entry(key).or_insert((record.result, 0)).1 += 1;
    }
    let end = |((_, reason), (result, games)): ((&str, &str), _)| End {
        result,
        reason: reason.to_owned(),
        games,
    };
    let mut ends: Vec<End> = counts.into_iter().map(end).collect();
    ends.sort_by_key(|end| std::cmp::Reverse(end.games));
    ends
}

/// What ended a match, as people and files call it.
pub fn result_name(result: Ended) -> &'static str {
    match result {
        Ended::Played => "played",
        Ended::Fault => "fault",
        Ended::Resigned => "resigned",
        Ended::Void => "void",
    }
}

fn duplicates(records: &[&Record]) -> u64 {
    let mut games: Vec<(&str, &[Player])> =
        records.iter().map(|record| (record.moves.as_str(), record.players.as_slice())).collect();
    games.sort_unstable();
    games.dedup();
    (records.len() - games.len()) as u64
}

#[cfg(test)]
pub(super) mod tests;
