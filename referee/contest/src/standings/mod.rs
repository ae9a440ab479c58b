//! Standings: points, results, faults and time use, without ratings. They follow from sums over the
//! contest's records, whose order makes no difference.

mod points;
mod tally;
mod cross;
mod order;
mod single_player;

pub use points::Points;
pub use single_player::{Instance, PuzzleResult, ScoreSum};
pub use tally::{Tally, TimeUse};

use crate::{Contest, Player, Record, half_points};
use referee_match::summary::reason as reason_text;
use referee_protocol::{FaultKind, MatchResult};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The standings of a contest.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Standings {
    /// How many seats a game has.
    pub seats: usize,
    /// The criteria by which players are ranked, in words, the most important first.
    pub ranked_by: Vec<String>,
    /// The players, best first; those who share a rank in the order of the contest's list.
    pub players: Vec<Standing>,
    /// The cross table: an entry for each ordered pair of players who met, by row and then by
    /// column.
    pub cross: Vec<Meeting>,
    /// The results of each seat.
    pub by_seat: Vec<Tally>,
    /// How games ended, the most frequent first.
    pub ends: Vec<End>,
    /// The instances of a contest with one seat; empty with more seats.
    pub instances: Vec<Instance>,
    /// Games that counted.
    pub games: u64,
    /// Games that repeat another one of the same players in the same seats, without the first of
    /// each kind.
    pub duplicates: u64,
    /// Games in which the referee itself was late by more than the contest allows.
    pub marked: u64,
}

/// A player's standing.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Standing {
    /// The player.
    pub player: Player,
    /// The name; hostile text.
    pub name: String,
    /// The agent as given.
    pub agent: String,
    /// SHA-256 of the agent, in hex.
    pub digest: String,
    /// The rank, from 1; shared by players who are equal in every criterion.
    pub rank: u32,
    /// Points, including byes.
    pub points: Points,
    /// The points from byes.
    pub bye_points: Points,
    /// The results of all games.
    pub total: Tally,
    /// The results in each seat.
    pub by_seat: Vec<Tally>,
    /// Games with a fault of this player, by kind, in the order of the protocol's table; kinds that
    /// didn't occur are left out.
    pub faults: Vec<FaultCount>,
    /// Time use.
    pub time: TimeUse,
    /// What decides between equal points.
    pub tie_breaks: TieBreaks,
    /// With one seat: what the player solved.
    pub puzzle: Option<PuzzleResult>,
}

/// How often a fault occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FaultCount {
    /// The fault.
    pub kind: FaultKind,
    /// The number of games.
    pub games: u64,
}

/// Tie-breaks between players with equal points. All null with one seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TieBreaks {
    /// Points in the games among players with the same points; null for a player who is alone with
    /// them, or if those players haven't all met equally often.
    pub direct: Option<Points>,
    /// Buchholz: the sum of the opponents' points, once for each game.
    pub buchholz: Option<Points>,
    /// Sonneborn-Berger: the sum of the opponents' points, each times the result against that
    /// opponent. With more than two seats a player beats the opponents behind it, and the sum is
    /// divided by the number of opponents in a game.
    pub sonneborn_berger: Option<Points>,
}

/// The results of an ordered pair of players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Meeting {
    /// The player whose points they are.
    pub row: Player,
    /// The opponent.
    pub column: Player,
    /// The number of games in which both played.
    pub games: u64,
    /// A point for every game in which `row` was ahead of `column`, half a point where they were
    /// level.
    pub points: Points,
}

/// A reason for which games ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct End {
    /// The kind of end.
    pub result: MatchResult,
    /// The rules' reason, or the fault's kind.
    pub reason: String,
    /// The number of games.
    pub games: u64,
    /// The reason in words; different games or setups may have different words for it.
    #[serde(skip)]
    pub texts: BTreeSet<String>,
}

impl Standings {
    /// Returns the standing of a player.
    pub fn of(&self, player: Player) -> Option<&Standing> {
        self.players.iter().find(|standing| standing.player == player)
    }

    /// Returns a player's results against another one, if they met.
    pub fn meeting(&self, row: Player, column: Player) -> Option<&Meeting> {
        cross::meeting(&self.cross, row, column)
    }
}

impl Meeting {
    /// Returns the points per game, 0 to 1.
    pub fn share(&self) -> Option<f64> {
        self.points.share(self.games)
    }
}

/// The sums of a contest's games, from which standings follow.
#[derive(Debug)]
pub struct Sums<'a> {
    contest: &'a Contest,
    players: tally::PlayerSums,
    by_seat: Vec<Tally>,
    cross: cross::PairSums,
    ends: EndSums,
    puzzles: Option<single_player::Sums<'a>>,
    games: u64,
    duplicates: u64,
    marked: u64,
}

/// How often games ended for each reason: by game of the contest and result, then by reason.
type EndSums = BTreeMap<(usize, &'static str), (MatchResult, BTreeMap<String, u64>)>;

impl<'a> Sums<'a> {
    /// Returns the sums before the first game.
    pub fn new(contest: &'a Contest) -> Self {
        let seats = contest.seats();
        Self {
            contest,
            players: tally::PlayerSums::new(contest),
            by_seat: vec![Tally::new(seats); seats],
            cross: cross::PairSums::default(),
            ends: EndSums::new(),
            puzzles: (seats == 1).then(|| single_player::Sums::new(contest)),
            games: 0,
            duplicates: 0,
            marked: 0,
        }
    }

    /// Adds a game; the order makes no difference. A record that doesn't fit the contest is left out.
    /// `repeats` says whether it repeats an earlier game.
    pub fn add(&mut self, record: &Record, repeats: bool) {
        if !fits(self.contest, record) {
            return;
        }
        let half_points = half_points(&record.places);
        self.players.add(record, &half_points);
        for (seat, tally) in self.by_seat.iter_mut().enumerate() {
            tally.add(record.places[seat], half_points[seat]);
        }
        self.cross.add(record);
        let key = (record.game, result_name(record.result));
        let (_, reasons) = self.ends.entry(key).or_insert_with(|| (record.result, BTreeMap::new()));
        if let Some(games) = reasons.get_mut(&record.reason) {
            *games += 1;
        } else {
            reasons.insert(record.reason.clone(), 1);
        }
        if let Some(puzzles) = &mut self.puzzles {
            puzzles.add(record);
        }
        self.games += 1;
        self.duplicates += u64::from(repeats);
        self.marked += u64::from(record.marked);
    }

    /// Returns the standings. `bonus` lists the half-points ([`crate::half_points`]) that each player
    /// got without playing; missing entries are 0. `ranking` is the format's own order, if it has one,
    /// best first with players who share a place in one group; it takes precedence over points.
    pub fn standings(self, bonus: &[u32], ranking: Option<&[Vec<Player>]>) -> Standings {
        let contest = self.contest;
        let cross = self.cross.meetings();
        let mut players = self.players.standings(bonus);
        let mut instances = Vec::new();
        if let Some(puzzles) = self.puzzles {
            instances = puzzles.finish(&mut players);
        }
        let ranked_by = order::rank(contest, &cross, &mut players, ranking);
        Standings {
            seats: contest.seats(),
            ranked_by,
            players,
            cross,
            by_seat: self.by_seat,
            ends: ends(contest, self.ends),
            instances,
            games: self.games,
            duplicates: self.duplicates,
            marked: self.marked,
        }
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

fn ends(contest: &Contest, sums: EndSums) -> Vec<End> {
    let mut ends: BTreeMap<(&str, String), End> = BTreeMap::new();
    for ((game, name), (result, reasons)) in sums {
        let game = &contest.games[game];
        for (reason, games) in reasons {
            let text =
                reason_text((&game.game, game.program.as_ref()), &game.setup, result, &reason);
            let end = ends.entry((name, reason.clone())).or_insert_with(|| End {
                result,
                reason,
                games: 0,
                texts: BTreeSet::new(),
            });
            end.games += games;
            end.texts.insert(text);
        }
    }
    let mut ends: Vec<End> = ends.into_values().collect();
    ends.sort_by_key(|end| std::cmp::Reverse(end.games));
    ends
}

/// Returns the name of a match's result, as reports show it.
pub fn result_name(result: MatchResult) -> &'static str {
    match result {
        MatchResult::Played => "played",
        MatchResult::Fault => "fault",
        MatchResult::Resigned => "resigned",
        MatchResult::Adjudicated => "adjudicated",
        MatchResult::Void => "void",
    }
}

#[cfg(test)]
pub(super) mod tests;
