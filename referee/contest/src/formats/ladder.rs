//! Ladder: in every batch the players with the fewest games meet, paired so that ratings gain most
//! information: similar in rating as far as ratings are known, and not the same opponents again and
//! again.

use super::matching::{Cost, cheapest_pairs};
use super::meetings::Meetings;
use super::seating::Seating;
use super::{Field, Format, FromContestFile, Pairing, PairingResult, Ranking};
use crate::Player;
use crate::ratings::{Finish, Strength, strengths};
use referee_match::named_seed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::ops::RangeInclusive;

/// With three seats or more: how many groups away an exchange is tried, and in how many passes.
const REACH: usize = 4;
const PASSES: usize = 12;
/// With two seats: what variances of ratings are multiplied by, as found by simulation
/// (tests/ratings). Players whose difference is overestimated don't meet any more, so that nothing
/// corrects it.
const INFLATION: f64 = 1.25;
/// What it costs if players of one team meet: more than any number of meetings.
const ONE_TEAM: i64 = 1 << 32;
/// Units of information per squared logit.
const UNITS: f64 = 1e9;

/// The players with the fewest games meet players with similar ratings. For any number of seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ladder {}

impl Ladder {
    /// Returns who plays in the next batch: of the players who haven't left those with the fewest games, of these the
    /// ones whose ratings are least known; as many as needed for every player to reach the contest's
    /// rounds. Of a team with more players than all others together only as many are chosen as find opponents.
    fn chosen(field: Field, batch: &Batch<'_>) -> Vec<Player> {
        let Field { players, seats, rounds, .. } = field;
        let is_present = |it: &Player| batch.teams[it.index()].is_some();
        let mut order: Vec<Player> = Player::all(players).filter(is_present).collect();
        order.sort_by(|a, b| {
            let (own, other) = (&batch.entries[a.index()], &batch.entries[b.index()]);
            let known = other.strength.deviation.total_cmp(&own.strength.deviation);
            own.played.cmp(&other.played).then(known).then(own.lot.cmp(&other.lot))
        });
        let short = order.iter().filter(|it| batch.entries[it.index()].played < rounds).count();
        let count = short.next_multiple_of(seats).min(order.len() - order.len() % seats);
        let team = |player: &Player| batch.teams[player.index()];
        let mut sizes = BTreeMap::<Option<Player>, usize>::new();
        order[..count].iter().for_each(|player| *sizes.entry(team(player)).or_default() += 1);
        let largest = sizes.into_iter().max_by_key(|(_, size)| *size);
        let Some((large, size)) = largest.filter(|(_, size)| size * seats > count) else {
            order.truncate(count);
            return order;
        };
        // Its players need the others, also some who have played enough.
        let mut chosen: Vec<Player> =
            order.iter().copied().filter(|it| team(it) != large).collect();
        let groups = size.min(chosen.len() / (seats - 1));
        chosen.truncate(groups * (seats - 1));
        chosen.extend(order.into_iter().filter(|it| team(it) == large).take(groups));
        chosen
    }

    /// Returns how often two players may meet: twice as often as if everyone met everyone in as
    /// many rounds. With two seats and all players in every batch no player runs out of opponents,
    /// as fewer than half of the others can have been met so often (Dirac 1952).
    fn bound(field: Field) -> i64 {
        let Field { players, seats, rounds, .. } = field;
        let others = i64::try_from(players - 1).unwrap_or(i64::MAX).max(1);
        let met = i64::from(rounds).saturating_mul(i64::try_from(seats - 1).unwrap_or(1));
        2 * ((met + others - 1) / others).max(1)
    }
}

impl FromContestFile for Ladder {
    const HELP: &'static str = "batch by batch, players with similar ratings meet";
    const SEATS: RangeInclusive<usize> = 2..=usize::MAX;
    type Table = ();
}

impl Format for Ladder {
    fn takes_late(&self) -> bool {
        true
    }

    fn ranked_by(&self, _is_even: bool) -> Ranking {
        Ranking::PointsPerGame
    }

    fn size(&self, field: Field) -> RangeInclusive<u64> {
        let Field { players, seats, rounds, .. } = field;
        if seats == 0 || players < seats {
            return 0..=0;
        }
        let count = (players as u64 * u64::from(rounds)).div_ceil(seats as u64);
        count..=count
    }

    fn inflation(&self, seats: usize) -> f64 {
        if seats == 2 { INFLATION } else { 1.0 }
    }

    fn next(&self, field: Field, past: &[PairingResult]) -> Vec<Pairing> {
        let teams: Vec<Option<Player>> = Player::all(field.players).map(Some).collect();
        self.next_of_teams(field, &teams, past)
    }

    fn next_of_teams(
        &self,
        field: Field,
        teams: &[Option<Player>],
        past: &[PairingResult],
    ) -> Vec<Pairing> {
        let Field { players, seats, .. } = field;
        if seats < 2 || players < seats {
            return Vec::new();
        }
        let batch = Batch::new(field, teams, Self::bound(field), past);
        let chosen = Self::chosen(field, &batch);
        let groups = if seats == 2 { batch.pairs(chosen) } else { batch.groups(chosen, seats) };
        let seating = Seating::after(players, past);
        let seated = groups.iter().enumerate().map(|(number, group)| Pairing {
            round: batch.number,
            players: match group[..] {
                [one, other] => seating.order_two(one, other, number),
                _ => seating.order_many(group),
            }
            .into(),
        });
        seated.collect()
    }
}

/// The state before a batch.
#[derive(Debug)]
struct Batch<'a> {
    /// The number of the batch, from 1.
    number: u32,
    /// The team of each player, `None` for one who has left.
    teams: &'a [Option<Player>],
    /// The players.
    entries: Vec<Entry>,
    meetings: Meetings,
    bound: i64,
}

/// A player before a batch.
#[derive(Debug)]
struct Entry {
    played: u32,
    strength: Strength,
    /// Decides between equal players; drawn for each batch.
    lot: u64,
}

impl<'a> Batch<'a> {
    fn new(field: Field, teams: &'a [Option<Player>], bound: i64, past: &[PairingResult]) -> Self {
        let number = past.last().map_or(1, |met| met.pairing.round + 1);
        let strengths = strengths_after(field, past);
        let entry = |(player, strength)| Entry {
            played: 0,
            strength,
            lot: named_seed(&format!("{}:ladder:{number}:{player}", field.seed)),
        };
        let mut entries: Vec<Entry> = strengths.into_iter().enumerate().map(entry).collect();
        for player in past.iter().flat_map(|met| &met.pairing.players) {
            entries[player.index()].played += 1;
        }
        Self { number, teams, entries, meetings: Meetings::after(field.players, past), bound }
    }

    /// Returns the cost of a meeting: 1. one team, then meetings above the bound; 2. minus the information gained,
    /// which is less the more often the two met; 3. the lot.
    fn cost(&self, one: Player, other: Player) -> Cost<3> {
        let times = self.meetings.between(one, other).times;
        let (own, theirs) = (&self.entries[one.index()], &self.entries[other.index()]);
        let learnt = learnt(own.strength, theirs.strength) / (times + 1);
        // A pseudo-random function of both lots. The factor is 2^64 over the golden ratio, whose
        // multiples are spread evenly (Knuth, vol. 3, 6.4).
        let lot = (own.lot ^ theirs.lot).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let lot = i64::try_from(lot).unwrap_or(i64::MAX);
        let is_one_team = self.teams[one.index()] == self.teams[other.index()];
        let refused = if is_one_team { ONE_TEAM } else { 0 };
        Cost([refused + (times + 1 - self.bound).max(0), -learnt, lot])
    }

    /// Returns the chosen players in the cheapest pairs.
    fn pairs(&self, chosen: Vec<Player>) -> Vec<Vec<Player>> {
        let chosen = self.by_strength(chosen);
        let pairs = cheapest_pairs(chosen.len(), |a, b| self.cost(chosen[a], chosen[b]));
        pairs.into_iter().map(|(a, b)| vec![chosen[a], chosen[b]]).collect()
    }

    /// Returns the chosen players in groups by rating, improved by exchanges of two players between
    /// nearby groups.
    fn groups(&self, chosen: Vec<Player>, seats: usize) -> Vec<Vec<Player>> {
        let chosen = self.by_strength(chosen);
        let mut groups: Vec<Vec<Player>> =
            chosen.chunks_exact(seats).map(<[Player]>::to_vec).collect();
        for _ in 0..PASSES {
            let mut better = false;
            for high in 0..groups.len() {
                for low in high + 1..groups.len().min(high + 1 + REACH) {
                    let (above, below) = groups.split_at_mut(low);
                    better |= self.exchange(&mut above[high], &mut below[0]);
                }
            }
            if !better {
                break;
            }
        }
        groups
    }

    /// Makes the exchanges between two groups that reduce the cost.
    fn exchange(&self, one: &mut [Player], other: &mut [Player]) -> bool {
        let mut better = false;
        for own in 0..one.len() {
            for their in 0..other.len() {
                let before = self.among(one, own) + self.among(other, their);
                std::mem::swap(&mut one[own], &mut other[their]);
                if self.among(one, own) + self.among(other, their) < before {
                    better = true;
                } else {
                    std::mem::swap(&mut one[own], &mut other[their]);
                }
            }
        }
        better
    }

    /// Returns the cost of a player's meetings with the others of its group.
    fn among(&self, group: &[Player], index: usize) -> Cost<3> {
        let others = group.iter().enumerate().filter(|&(other, _)| other != index);
        let costs = others.map(|(_, &other)| self.cost(group[index], other));
        costs.fold(Cost::ZERO, |sum, cost| sum + cost)
    }

    fn by_strength(&self, mut chosen: Vec<Player>) -> Vec<Player> {
        chosen.sort_by(|a, b| {
            let (own, other) = (&self.entries[a.index()], &self.entries[b.index()]);
            let stronger = other.strength.mean.total_cmp(&own.strength.mean);
            stronger.then(own.lot.cmp(&other.lot))
        });
        chosen
    }
}

/// Returns the strengths that follow from the pairings so far.
fn strengths_after(field: Field, past: &[PairingResult]) -> Vec<Strength> {
    let finishes = finishes(field, past);
    let games = finishes.iter().map(|(players, places, times)| Finish {
        players,
        places,
        block: 0,
        times: u64::from(*times),
    });
    strengths(field.players, field.seats, games)
}

/// Returns the results that strengths are fitted to: players, places and how often. With two seats they
/// follow from a pairing's points: wins for the difference, draws for the rest. With more seats each block
/// counts as one game, in the order of its points.
fn finishes(field: Field, past: &[PairingResult]) -> Vec<(&[Player], Vec<u32>, u32)> {
    let places = move |met: &PairingResult| -> Vec<(Vec<u32>, u32)> {
        if let (2, [own, theirs]) = (field.seats, &met.half_points[..]) {
            let winner = if own > theirs { vec![1, 2] } else { vec![2, 1] };
            let decided = own.abs_diff(*theirs) / 2;
            return vec![(winner, decided), (vec![1, 1], u32::midpoint(*own, *theirs) - decided)];
        }
        let most = |block: &Vec<u32>| {
            (block.iter().map(|half_points| u32::MAX - half_points).collect(), 1)
        };
        met.block_half_points.iter().map(most).collect()
    };
    let finishes = past.iter().flat_map(|met| {
        let players = &met.pairing.players[..];
        places(met).into_iter().map(move |(places, times)| (players, places, times))
    });
    finishes.filter(|(.., times)| *times > 0).collect()
}

/// Returns by how much the variances of two players shrink when they meet once, by Glickman's
/// formulas: a variance V becomes 1 / (1/V + I) after a game of information I. In billionths of a
/// squared logit, not negative.
fn learnt(one: Strength, other: Strength) -> i64 {
    let doubt = |variance: f64| 1.0 / (1.0 + 3.0 * variance / (PI * PI)).sqrt();
    let (own, theirs) = (one.deviation.powi(2), other.deviation.powi(2));
    let apart = doubt(own + theirs) * (one.mean - other.mean);
    let chance = 1.0 / (1.0 + (-apart).exp());
    let spread = chance * (1.0 - chance);
    let shrinks = |variance: f64, of: f64| {
        let information = doubt(of).powi(2) * spread;
        variance * variance * information / (1.0 + variance * information)
    };
    let units = UNITS * (shrinks(own, theirs) + shrinks(theirs, own));
    #[expect(clippy::cast_possible_truncation, reason = "a conversion that saturates")]
    let learnt = units as i64;
    learnt
}

#[cfg(test)]
mod tests;
