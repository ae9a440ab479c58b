//! Sums over games: results, faults, time.

use super::{FaultCount, Points, Standing, TieBreaks};
use crate::{Contest, Player, Record, halves};
use referee_protocol::FaultKind;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The results of some games, from one side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tally {
    /// How many games.
    pub games: u64,
    /// Points: a game is worth between 0 and 1, shared by how many opponents came behind, those who
    /// were level counting half. Between two that is 1 for a win and 1/2 for a draw; alone it is 1
    /// for a solution.
    pub points: Points,
    /// Won games: everybody else came behind; alone: solved.
    pub wins: u64,
    /// Drawn games, with two seats; else null.
    pub draws: Option<u64>,
    /// Lost games, with two seats; else null.
    pub losses: Option<u64>,
    /// With three seats and more: how often each place was reached, from the first on. Empty with
    /// fewer seats.
    pub places: Vec<u64>,
}

/// How much time was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TimeUse {
    /// Time charged in all games, in milliseconds.
    pub used_ms: u64,
    /// The most that was charged in one game, in milliseconds.
    pub max_used_ms: u64,
    /// Time charged a game, in milliseconds; null without games.
    pub mean_used_ms: Option<f64>,
    /// CPU time in all games, in milliseconds.
    pub cpu_ms: u64,
    /// CPU time a game, in milliseconds; null without games.
    pub mean_cpu_ms: Option<f64>,
    /// Turns answered in all games.
    pub turns: u64,
    /// Time charged a turn, in milliseconds; null without turns.
    pub ms_a_turn: Option<f64>,
}

/// The halves that make a point: with two seats 2, with three 4.
pub(super) fn whole(seats: usize) -> u64 {
    2 * (seats.max(2) as u64 - 1)
}

impl Tally {
    fn new(seats: usize) -> Self {
        Self {
            games: 0,
            points: Points::new(0, whole(seats)),
            wins: 0,
            draws: (seats == 2).then_some(0),
            losses: (seats == 2).then_some(0),
            places: vec![0; if seats > 2 { seats } else { 0 }],
        }
    }

    fn add(&mut self, place: u32, halves: u32) {
        self.games += 1;
        self.points = Points::new(self.points.parts() + u64::from(halves), self.points.whole());
        self.wins += u64::from(u64::from(halves) == self.points.whole());
        if let (Some(draws), Some(losses)) = (&mut self.draws, &mut self.losses) {
            *draws += u64::from(halves == 1);
            *losses += u64::from(halves == 0);
        }
        if let Some(count) = self.places.get_mut((place as usize).wrapping_sub(1)) {
            *count += 1;
        }
    }

    /// Points a game, 0 to 1; `None` without games.
    pub fn share(&self) -> Option<f64> {
        self.points.share(self.games)
    }
}

/// What each player did, in the order of the contest's list; ranks and tie-breaks are still open.
pub(super) fn players(contest: &Contest, records: &[&Record], bonus: &[u32]) -> Vec<Standing> {
    let seats = contest.seats();
    let mut faults: Vec<BTreeMap<FaultKind, u64>> = vec![BTreeMap::new(); contest.players.len()];
    let mut players: Vec<Standing> = Player::all(contest.players.len())
        .zip(&contest.players)
        .map(|(player, info)| Standing {
            player,
            name: info.name.clone(),
            rank: 0,
            points: Points::new(0, whole(seats)),
            bye_points: Points::new(0, whole(seats)),
            total: Tally::new(seats),
            by_seat: vec![Tally::new(seats); seats],
            faults: Vec::new(),
            time: TimeUse::default(),
            tie_breaks: TieBreaks::default(),
            puzzle: None,
        })
        .collect();
    for record in records {
        let halves = halves(&record.places);
        for (seat, &player) in record.players.iter().enumerate() {
            let (standing, part) = (&mut players[player.index()], &record.seats[seat]);
            standing.total.add(record.places[seat], halves[seat]);
            standing.by_seat[seat].add(record.places[seat], halves[seat]);
            standing.time.add(part.used_ms, part.cpu_ms, part.turns);
            if let Some(kind) = part.fault {
                *faults[player.index()].entry(kind).or_default() += 1;
            }
        }
    }
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

/// What whoever sat on each seat got.
pub(super) fn by_seat(seats: usize, records: &[&Record]) -> Vec<Tally> {
    let mut by_seat = vec![Tally::new(seats); seats];
    for record in records {
        let halves = halves(&record.places);
        for (tally, (&place, &halves)) in by_seat.iter_mut().zip(record.places.iter().zip(&halves))
        {
            tally.add(place, halves);
        }
    }
    by_seat
}

impl TimeUse {
    fn add(&mut self, used_ms: u64, cpu_ms: u64, turns: u64) {
        self.used_ms = self.used_ms.saturating_add(used_ms);
        self.max_used_ms = self.max_used_ms.max(used_ms);
        self.cpu_ms = self.cpu_ms.saturating_add(cpu_ms);
        self.turns = self.turns.saturating_add(turns);
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
