//! Sums over games: results, faults, time.

use super::{FaultCount, Points, Standing, TieBreaks};
use crate::record::SeatRecord;
use crate::{Contest, Player, Record};
use referee_protocol::FaultKind;
use referee_protocol::sanitize::sanitize;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The results of games for one player or one seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tally {
    /// The number of games.
    pub games: u64,
    /// Points: 0 to 1 per game, the share of opponents behind, with those in the same place counted
    /// half. With two seats that is 1 for a win and 1/2 for a draw, with one seat 1 for a solution.
    pub points: Points,
    /// Won games: all others came behind. With one seat: solved games.
    pub wins: u64,
    /// Drawn games with two seats, otherwise null.
    pub draws: Option<u64>,
    /// Lost games with two seats, otherwise null.
    pub losses: Option<u64>,
    /// With three seats or more: how often each place was reached, starting with the first. Empty
    /// with fewer seats.
    pub places: Vec<u64>,
}

/// Time use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TimeUse {
    /// Time charged in all games, in milliseconds.
    pub used_ms: u64,
    /// The most time charged in one game, in milliseconds.
    pub max_used_ms: u64,
    /// Time charged per game, in milliseconds; null without games.
    pub mean_used_ms: Option<f64>,
    /// CPU time in all games, in milliseconds.
    pub cpu_ms: u64,
    /// CPU time per game, in milliseconds; null without games.
    pub mean_cpu_ms: Option<f64>,
    /// The most memory in one game, in units of 1,024 bytes; null if unknown.
    pub peak_memory_kb: Option<u64>,
    /// Turns answered in all games.
    pub turns: u64,
    /// Time charged per turn, in milliseconds; null without turns.
    pub ms_a_turn: Option<f64>,
}

/// Returns how many half-points make a point: 2 with two seats, 4 with three.
pub(super) fn whole(seats: usize) -> u64 {
    2 * (seats.max(2) as u64 - 1)
}

impl Tally {
    pub(super) fn new(seats: usize) -> Self {
        Self {
            games: 0,
            points: Points::new(0, whole(seats)),
            wins: 0,
            draws: (seats == 2).then_some(0),
            losses: (seats == 2).then_some(0),
            places: vec![0; if seats > 2 { seats } else { 0 }],
        }
    }

    pub(super) fn add(&mut self, place: u32, half_points: u32) {
        self.games += 1;
        self.points =
            Points::new(self.points.parts() + u64::from(half_points), self.points.whole());
        self.wins += u64::from(u64::from(half_points) == self.points.whole());
        if let (Some(draws), Some(losses)) = (&mut self.draws, &mut self.losses) {
            *draws += u64::from(half_points == 1);
            *losses += u64::from(half_points == 0);
        }
        if let Some(count) = self.places.get_mut((place as usize).wrapping_sub(1)) {
            *count += 1;
        }
    }

    /// Returns the points per game, 0 to 1; `None` without games.
    pub fn share(&self) -> Option<f64> {
        self.points.share(self.games)
    }
}

/// The sums of each player, in the order of the contest's list.
#[derive(Debug)]
pub(super) struct PlayerSums {
    seats: usize,
    players: Vec<Standing>,
    faults: Vec<BTreeMap<FaultKind, u64>>,
}

impl PlayerSums {
    pub(super) fn new(contest: &Contest) -> Self {
        let seats = contest.seats();
        let players = Player::all(contest.players.len()).zip(&contest.players);
        let players = players.map(|(player, info)| Standing {
            player,
            name: info.name.clone(),
            agent: sanitize(&info.run),
            digest: info.digest.clone(),
            rank: 0,
            points: Points::new(0, whole(seats)),
            bye_points: Points::new(0, whole(seats)),
            total: Tally::new(seats),
            by_seat: vec![Tally::new(seats); seats],
            faults: Vec::new(),
            time: TimeUse::default(),
            tie_breaks: TieBreaks::default(),
            puzzle: None,
        });
        let players = players.collect();
        Self { seats, players, faults: vec![BTreeMap::new(); contest.players.len()] }
    }

    pub(super) fn add(&mut self, record: &Record, half_points: &[u32]) {
        for (seat, &player) in record.players.iter().enumerate() {
            let (standing, part) = (&mut self.players[player.index()], &record.seats[seat]);
            standing.total.add(record.places[seat], half_points[seat]);
            standing.by_seat[seat].add(record.places[seat], half_points[seat]);
            standing.time.add(part);
            if let Some(kind) = part.own_fault() {
                *self.faults[player.index()].entry(kind).or_default() += 1;
            }
        }
    }

    /// Returns the results, without ranks and tie-breaks.
    pub(super) fn standings(self, bonus: &[u32]) -> Vec<Standing> {
        let Self { seats, mut players, faults } = self;
        for (index, (standing, faults)) in players.iter_mut().zip(faults).enumerate() {
            let bye = u64::from(bonus.get(index).copied().unwrap_or(0));
            let (played, whole) = (standing.total.points.parts(), whole(seats));
            standing.points = Points::new(played + bye, whole);
            standing.bye_points = Points::new(bye, whole);
            standing.faults =
                faults.into_iter().map(|(kind, games)| FaultCount { kind, games }).collect();
            standing.time.finish(standing.total.games);
        }
        players
    }
}

impl TimeUse {
    fn add(&mut self, part: &SeatRecord) {
        self.used_ms = self.used_ms.saturating_add(part.used_ms);
        self.max_used_ms = self.max_used_ms.max(part.used_ms);
        self.cpu_ms = self.cpu_ms.saturating_add(part.cpu_ms);
        self.peak_memory_kb = self.peak_memory_kb.max(part.peak_memory_kb);
        self.turns = self.turns.saturating_add(part.turns);
    }

    fn finish(&mut self, games: u64) {
        self.mean_used_ms = mean(self.used_ms, games);
        self.mean_cpu_ms = mean(self.cpu_ms, games);
        self.ms_a_turn = mean(self.used_ms, self.turns);
    }
}

#[expect(clippy::cast_precision_loss, reason = "a mean of milliseconds needs no more than 53 bits")]
fn mean(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}
