//! Swiss: in every round players with similar points meet, and no two players meet twice.
//!
//! The basic rules are those of the FIDE Handbook, C.04.1; points, seats and order of preference
//! follow the Dutch system, C.04.3, with one difference. The Dutch system pairs one score group
//! after the other from the top. Here the whole round is paired at once, as the set of pairs with
//! the least [`Round::cost`], so a round without a repeat is found whenever there is one.

use super::cup::draw_lots;
use super::matching::{Cost, cheapest_pairs};
use super::meetings::{Meeting, Meetings};
use super::seating::{PreferenceStrength, SeatPreference, Seating};
use super::{Bye, Entry, Field, Format, FromContestFile, Pairing, PairingResult, Ranking};
use crate::Player;
use crate::settings::Mistake;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The largest difference in points that counts, so that sums of squares don't overflow.
const FAR: i64 = 1 << 22;

/// Players with similar points meet. For two seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swiss {}

/// Returns how many pairings a round has; with an odd number of players one has a bye.
fn a_round(field: Field) -> usize {
    field.players / 2
}

/// Returns the rounds that have ended.
fn rounds(field: Field, past: &[PairingResult]) -> std::slice::ChunksExact<'_, PairingResult> {
    past.chunks_exact(a_round(field).max(1))
}

impl FromContestFile for Swiss {
    const HELP: &'static str = "round by round, players with similar points meet";
    const SEATS: RangeInclusive<usize> = 2..=2;
    type Table = ();

    /// Seeds submissions by lot: nobody may choose the first opponent, or the bye, by a name.
    fn read(
        _table: Option<&()>,
        entry: &Entry<'_>,
        order: &mut Vec<usize>,
    ) -> Result<Self, Mistake> {
        if entry.has_submissions {
            draw_lots(entry, order);
        }
        Ok(Self::default())
    }
}

impl Format for Swiss {
    fn had_another_seeding(&self) -> bool {
        true
    }

    fn ranked_by(&self, _is_even: bool) -> Ranking {
        Ranking::PointsAndBuchholz
    }

    fn size(&self, field: Field) -> RangeInclusive<u64> {
        let count = a_round(field) as u64 * u64::from(field.rounds);
        count..=count
    }

    fn next(&self, field: Field, past: &[PairingResult]) -> Vec<Pairing> {
        let played = u32::try_from(rounds(field, past).len()).unwrap_or(u32::MAX);
        if played >= field.rounds || a_round(field) == 0 {
            return Vec::new();
        }
        let past = &past[..past.len() - past.len() % a_round(field)];
        let round = Round::new(field.players, past, &self.byes(field, past));
        // With an odd number of players, the one paired with the extra vertex has the bye.
        let vertices = field.players.next_multiple_of(2);
        let pairs = cheapest_pairs(vertices, |high, low| round.cost(high, low));
        let met = pairs.into_iter().filter(|&(_, low)| low < field.players);
        let seated = met.enumerate().map(|(number, (high, low))| Pairing {
            round: played + 1,
            players: round
                .seating
                .order_two(round.ranks[high].player, round.ranks[low].player, number)
                .into(),
        });
        seated.collect()
    }

    fn byes(&self, field: Field, past: &[PairingResult]) -> Vec<Bye> {
        if field.players.is_multiple_of(2) {
            return Vec::new();
        }
        let rounds = rounds(field, past).filter_map(|round| {
            let mut plays = vec![false; field.players];
            for player in round.iter().flat_map(|met| &met.pairing.players) {
                plays[player.index()] = true;
            }
            let out = plays.iter().position(|plays| !plays)?;
            let first = round.first()?;
            Some(Bye {
                round: first.pairing.round,
                player: Player(u32::try_from(out).ok()?),
                half_points: first.half_points.iter().sum(),
            })
        });
        rounds.collect()
    }
}

/// The state before a round.
#[derive(Debug)]
struct Round {
    /// The players by points, equal ones in list order.
    ranks: Vec<Rank>,
    seating: Seating,
    meetings: Meetings,
}

/// A player in the order of points.
#[derive(Debug)]
struct Rank {
    player: Player,
    /// Half-points, including byes.
    points: i64,
    /// The place among players with equal points, from 0.
    place: i64,
    /// How many players have these points.
    group: i64,
    /// The number of byes so far.
    byes: i64,
    preference: Option<SeatPreference>,
}

impl Round {
    fn new(players: usize, past: &[PairingResult], byes: &[Bye]) -> Self {
        let seating = Seating::after(players, past);
        let rank = |player| {
            let preference = seating.preference(player);
            Rank { player, points: 0, place: 0, group: 0, byes: 0, preference }
        };
        let mut ranks: Vec<Rank> = Player::all(players).map(rank).collect();
        for bye in byes {
            ranks[bye.player.index()].points += i64::from(bye.half_points);
            ranks[bye.player.index()].byes += 1;
        }
        for met in past {
            for (&player, &half_points) in met.pairing.players.iter().zip(&met.half_points) {
                ranks[player.index()].points += i64::from(half_points);
            }
        }
        ranks.sort_by_key(|rank| std::cmp::Reverse(rank.points));
        for group in ranks.chunk_by_mut(|a, b| a.points == b.points) {
            let size = group.len();
            for (place, rank) in group.iter_mut().enumerate() {
                rank.place = i64::try_from(place).unwrap_or(FAR);
                rank.group = i64::try_from(size).unwrap_or(FAR);
            }
        }
        Self { ranks, seating, meetings: Meetings::after(players, past) }
    }

    /// Returns the cost of a pair of ranks; the first is the higher one, and one past the last is
    /// the bye. An earlier item is never traded for a later one:
    ///
    /// 1. earlier meetings of the two;
    /// 2. the round of the last one: older meetings are repeated first;
    /// 3. earlier byes of the player with the bye;
    /// 4. whether both have an absolute preference for the same seat;
    /// 5. the points of the player with the bye;
    /// 6. the difference in points, squared: two small steps are better than a large one;
    /// 7. whether both prefer the same seat;
    /// 8. the same, where both had it once less often than the other seat;
    /// 9. how far the pair is from top half against bottom half, in places, squared, plus the
    ///    square of the group's size if both are in the same half; between groups, how far the pair
    ///    is from the last of one group against the first of the next.
    fn cost(&self, high: usize, low: usize) -> Cost<9> {
        let own = &self.ranks[high];
        let below = own.group - 1 - own.place;
        let Some(other) = self.ranks.get(low) else {
            return Cost([0, 0, own.byes, 0, own.points, 0, 0, 0, below * below]);
        };
        let Meeting { times, last } = self.meetings.between(own.player, other.player);
        let clash = match (own.preference, other.preference) {
            (Some(own), Some(other)) if own.first == other.first => {
                Some(own.strength.min(other.strength))
            }
            _ => None,
        };
        let at_least = |strength| i64::from(clash.is_some_and(|clash| clash >= strength));
        let far = (own.points - other.points).min(FAR);
        let place = if far == 0 {
            let half = own.group / 2;
            let across = own.place < half && other.place >= half;
            let off = (other.place - own.place - half).pow(2);
            if across { off } else { off + own.group.pow(2) }
        } else {
            (below + other.place).pow(2)
        };
        Cost([
            times,
            last,
            0,
            at_least(PreferenceStrength::Absolute),
            0,
            far * far,
            at_least(PreferenceStrength::Mild),
            at_least(PreferenceStrength::Strong),
            place,
        ])
    }
}

#[cfg(test)]
mod tests;
