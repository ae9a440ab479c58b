//! Who plays whom: pairings with their results, the games that they consist of, and the seat orders.

use crate::{Player, SeatOrders, Seed};
use referee_protocol::Seat;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// Players who play each other, in the seat order of their first game.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pairing {
    /// The round, from 1, as this format counts rounds.
    pub round: u32,
    /// The players, as many as a game has seats.
    pub players: SmallVec<[Player; 4]>,
}

/// The result of a pairing whose games have all ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairingResult {
    /// The pairing.
    pub pairing: Pairing,
    /// What each player got in all games of the pairing, in half-points ([`crate::half_points`]).
    pub half_points: Vec<u32>,
    /// The same for each block of the pairing, in order.
    pub block_half_points: Vec<Vec<u32>>,
}

/// A round that a player sits out, for points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bye {
    /// The round.
    pub round: u32,
    /// The player who sits it out.
    pub player: Player,
    /// The half-points for it: as many as for winning every game of a pairing.
    pub half_points: u32,
}

/// The size and seed of a contest: all that a format knows besides its settings and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// How many players there are.
    pub players: usize,
    /// How many seats a game has.
    pub seats: usize,
    /// The contest's rounds.
    pub rounds: u32,
    /// The contest's seed.
    pub seed: Seed,
}

/// A game of the schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fixture {
    /// Its place in the schedule, from 0.
    pub number: u64,
    /// Its block: one pairing in one game with one opening and one seed, in all seat orders.
    pub block: u64,
    /// The round, from 1.
    pub round: u32,
    /// Which of the contest's games is played.
    pub game: usize,
    /// The players, in seat order.
    pub players: Vec<Player>,
    /// The number of its opening, among those of its game (`Contest::opening`).
    pub opening: u64,
    /// The match's seed, below 2^53.
    pub seed: u64,
    /// How many more void attempts each seat's agent may cause; empty if they aren't counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub voids_left: Vec<u32>,
}

impl Fixture {
    /// Returns the seats whose agents may cause no more void attempts.
    pub fn no_void(&self) -> Vec<Seat> {
        let left = Seat::all(self.voids_left.len()).zip(&self.voids_left);
        left.filter(|(_, left)| **left == 0).map(|(seat, _)| seat).collect()
    }

    /// Counts a void attempt that the agent at `seat` has caused.
    pub fn count_void(&mut self, seat: Option<Seat>) {
        let left = seat.and_then(|seat| self.voids_left.get_mut(seat.index()));
        if let Some(left) = left {
            *left = left.saturating_sub(1);
        }
    }
}

/// Returns the seat orders of a block, each a list of the pairing's players by seat. The first is
/// the pairing's own.
pub(crate) fn seat_orders(seats: usize, which: SeatOrders) -> Vec<Vec<usize>> {
    let own: Vec<usize> = (0..seats).collect();
    match which {
        SeatOrders::One => vec![own],
        SeatOrders::Rotations => {
            let mut orders = Vec::new();
            let reversed: Vec<usize> = own.iter().rev().copied().collect();
            for base in [own, reversed] {
                for shift in 0..seats {
                    let mut order = base.clone();
                    order.rotate_left(shift);
                    if !orders.contains(&order) {
                        orders.push(order);
                    }
                }
            }
            orders
        }
        SeatOrders::All => {
            let mut orders = Vec::new();
            permute(&mut Vec::new(), &own, &mut orders);
            orders
        }
    }
}

fn permute(begun: &mut Vec<usize>, left: &[usize], orders: &mut Vec<Vec<usize>>) {
    if left.is_empty() {
        orders.push(begun.clone());
    }
    for (index, &next) in left.iter().enumerate() {
        let mut rest = left.to_vec();
        rest.remove(index);
        begun.push(next);
        permute(begun, &rest, orders);
        begun.pop();
    }
}
