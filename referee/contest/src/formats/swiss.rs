//! Swiss: in every round those of like points meet, and nobody meets anybody twice.
//!
//! The basic rules are those of the FIDE Handbook, C.04.1; points, seats and order of preference
//! follow the Dutch system, C.04.3. It differs in one thing: where the Dutch system goes through
//! the score groups from the top and settles each before the next, here the whole round is paired
//! at once, as that set of pairs whose [`Round::cost`] is least. A round without a repeat is
//! therefore found whenever there is one.

use super::matching::{Cost, cheapest_pairs};
use super::meetings::{Meeting, Meetings};
use super::seating::{Seating, Strength, Wish};
use super::{Bye, Field, Format, Met, Pairing};
use crate::Player;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Of larger differences in points only this much counts, so that squares can be summed.
const FAR: i64 = 1 << 22;

/// Players of like points meet. For two seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swiss {}

/// How many pairings a round has; with an odd number of players one of them stays out.
fn a_round(field: Field) -> usize {
    field.players / 2
}

/// The rounds that have ended.
fn rounds(field: Field, past: &[Met]) -> std::slice::ChunksExact<'_, Met> {
    past.chunks_exact(a_round(field).max(1))
}

impl Format for Swiss {
    fn size(&self, field: Field) -> RangeInclusive<u64> {
        let count = a_round(field) as u64 * u64::from(field.rounds);
        count..=count
    }

    fn next(&self, field: Field, past: &[Met]) -> Vec<Pairing> {
        let played = u32::try_from(rounds(field, past).len()).unwrap_or(u32::MAX);
        if played >= field.rounds || a_round(field) == 0 {
            return Vec::new();
        }
        let past = &past[..past.len() - past.len() % a_round(field)];
        let round = Round::new(field.players, past, &self.byes(field, past));
        // Of an odd number, whoever is paired with the one vertex too many has the bye.
        let vertices = field.players.next_multiple_of(2);
        let pairs = cheapest_pairs(vertices, |high, low| round.cost(high, low));
        let met = pairs.into_iter().filter(|&(_, low)| low < field.players);
        let seated = met.enumerate().map(|(number, (high, low))| Pairing {
            round: played + 1,
            players: round.seating.order_two(
                round.ranks[high].player,
                round.ranks[low].player,
                number,
            ),
        });
        seated.collect()
    }

    fn byes(&self, field: Field, past: &[Met]) -> Vec<Bye> {
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
                halves: first.halves.iter().sum(),
            })
        });
        rounds.collect()
    }
}

/// What a round is paired from.
#[derive(Debug)]
struct Round {
    /// The players by points, those of equal points in list order.
    ranks: Vec<Rank>,
    seating: Seating,
    meetings: Meetings,
}

/// A player in the order of points.
#[derive(Debug)]
struct Rank {
    player: Player,
    /// Halves, those for byes included.
    points: i64,
    /// The place among those of equal points, from 0.
    place: i64,
    /// How many have these points.
    group: i64,
    /// How many byes it had.
    byes: i64,
    wish: Option<Wish>,
}

impl Round {
    fn new(players: usize, past: &[Met], byes: &[Bye]) -> Self {
        let seating = Seating::after(players, past);
        let rank = |player| {
            let wish = seating.wish(player);
            Rank { player, points: 0, place: 0, group: 0, byes: 0, wish }
        };
        let mut ranks: Vec<Rank> = Player::all(players).map(rank).collect();
        for bye in byes {
            ranks[bye.player.index()].points += i64::from(bye.halves);
            ranks[bye.player.index()].byes += 1;
        }
        for met in past {
            for (&player, &halves) in met.pairing.players.iter().zip(&met.halves) {
                ranks[player.index()].points += i64::from(halves);
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

    /// What it costs that two ranks meet; the first is the higher one, and one past the last stands
    /// for the bye. What comes first is never traded for what comes later:
    ///
    /// 1. earlier meetings of the two;
    /// 2. the round of the last one: older ones are repeated first;
    /// 3. earlier byes of whoever has the bye;
    /// 4. both must not have the same seat again (an absolute wish);
    /// 5. the points of whoever has the bye;
    /// 6. the difference in points, squared: two small floats rather than a large one;
    /// 7. both should have the same seat;
    /// 8. the same, and both were there once more often than on the other;
    /// 9. how far the pair is from top half against bottom half, in places, squared, and the
    ///    square of the group's size more if both are of the same half; with a float how far it is
    ///    from the last of a group that meets the first of another.
    fn cost(&self, high: usize, low: usize) -> Cost<9> {
        let own = &self.ranks[high];
        let below = own.group - 1 - own.place;
        let Some(other) = self.ranks.get(low) else {
            return Cost([0, 0, own.byes, 0, own.points, 0, 0, 0, below * below]);
        };
        let Meeting { times, last } = self.meetings.between(own.player, other.player);
        let clash = match (own.wish, other.wish) {
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
            at_least(Strength::Absolute),
            0,
            far * far,
            at_least(Strength::Mild),
            at_least(Strength::Strong),
            place,
        ])
    }
}

#[cfg(test)]
mod tests;
