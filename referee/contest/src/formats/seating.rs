//! Seat orders in which every player has each seat equally often over its pairings. For two seats
//! by the colour rules of the FIDE Handbook, C.04.1 (f to h) and C.04.3 (A.6, E), where white is
//! the first seat.

use super::PairingResult;
use crate::pairing::seat_orders;
use crate::{Player, SeatOrders};

/// With more seats not all orders are tried.
const MANY: usize = 6;

/// The seats of all players so far, in the order of the pairings. Of each pairing its own order
/// counts.
#[derive(Debug)]
pub(super) struct Seating {
    past: Vec<Vec<usize>>,
}

/// How strongly a player prefers a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PreferenceStrength {
    /// Both seats equally often so far: the one other than last time.
    Mild,
    /// The seat that the player had once less often.
    Strong,
    /// The seat that the player had at least twice less often, or not in the last two pairings.
    Absolute,
}

/// The seat that a player prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SeatPreference {
    /// Whether it is the first seat; otherwise the second.
    pub(super) first: bool,
    /// How strongly.
    pub(super) strength: PreferenceStrength,
}

impl Seating {
    /// Counts the seats in pairings.
    pub(super) fn after(players: usize, past: &[PairingResult]) -> Self {
        let mut seats = vec![Vec::new(); players];
        for met in past {
            for (seat, player) in met.pairing.players.iter().enumerate() {
                if let Some(own) = seats.get_mut(player.index()) {
                    own.push(seat);
                }
            }
        }
        Self { past: seats }
    }

    /// Returns how many times more a player of a two-seat game was first than second.
    pub(super) fn balance(&self, player: Player) -> i64 {
        let own = &self.past[player.index()];
        own.iter().map(|&seat| if seat == 0 { 1 } else { -1 }).sum()
    }

    /// Returns the preference of a player of a two-seat game; `None` before its first pairing.
    pub(super) fn preference(&self, player: Player) -> Option<SeatPreference> {
        let own = &self.past[player.index()];
        let &last = own.last()?;
        let balance = self.balance(player);
        let twice = own.len() > 1 && own[own.len() - 2] == last;
        let (first, strength) = match balance {
            2.. => (false, PreferenceStrength::Absolute),
            ..=-2 => (true, PreferenceStrength::Absolute),
            _ if twice => (last != 0, PreferenceStrength::Absolute),
            1 => (false, PreferenceStrength::Strong),
            -1 => (true, PreferenceStrength::Strong),
            _ => (last != 0, PreferenceStrength::Mild),
        };
        Some(SeatPreference { first, strength })
    }

    /// Returns two players in seat order. `high` ranks higher. `number` is the pairing's place in
    /// its round, from 0: without earlier games the higher one is first in every other pairing.
    pub(super) fn order_two(&self, high: Player, low: Player, number: usize) -> Vec<Player> {
        let higher_first = match (self.preference(high), self.preference(low)) {
            (None, None) => number.is_multiple_of(2),
            (Some(preference), None) => preference.first,
            (None, Some(preference)) => !preference.first,
            (Some(own), Some(other)) if own.first != other.first => own.first,
            (Some(own), Some(other)) => {
                let wide = |player| self.balance(player).abs();
                let by_strength = own.strength.cmp(&other.strength);
                let order = by_strength.then(wide(high).cmp(&wide(low)));
                match order {
                    std::cmp::Ordering::Greater => own.first,
                    std::cmp::Ordering::Less => !other.first,
                    std::cmp::Ordering::Equal => self.other_way(high, low).unwrap_or(own.first),
                }
            }
        };
        if higher_first { vec![high, low] } else { vec![low, high] }
    }

    /// Whether `high` is first, if the seats of the last time when the two differed are swapped.
    fn other_way(&self, high: Player, low: Player) -> Option<bool> {
        let (high, low) = (&self.past[high.index()], &self.past[low.index()]);
        let (own, _) = high.iter().rev().zip(low.iter().rev()).find(|(own, other)| own != other)?;
        Some(*own != 0)
    }

    /// Returns players in the seat order that they had least often; of equal orders, the one in
    /// which fewest have their last seat.
    pub(super) fn order_many(&self, players: &[Player]) -> Vec<Player> {
        let which = if players.len() > MANY { SeatOrders::Rotations } else { SeatOrders::All };
        let orders = seat_orders(players.len(), which);
        let worn = |order: &Vec<usize>| {
            let (mut times, mut again) = (0, 0);
            for (seat, &index) in order.iter().enumerate() {
                let own = &self.past[players[index].index()];
                let often = own.iter().filter(|&&sat| sat == seat).count();
                times += often * often;
                again += usize::from(own.last() == Some(&seat));
            }
            (times, again)
        };
        let least = orders.into_iter().min_by_key(worn).unwrap_or_default();
        least.into_iter().map(|index| players[index]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{PairingResult, Player, PreferenceStrength, SeatPreference, Seating};
    use crate::formats::Pairing;

    fn met(round: u32, players: &[u32]) -> PairingResult {
        let players = players.iter().map(|&player| Player(player)).collect();
        PairingResult {
            pairing: Pairing { round, players },
            half_points: vec![1, 1],
            block_half_points: Vec::new(),
        }
    }

    #[test]
    fn preferences_follow_the_colour_rules() {
        let (zero, one) = (Player(0), Player(1));
        let preference = |past: &[PairingResult], player| {
            let preference = Seating::after(3, past).preference(player);
            preference.map(|SeatPreference { first, strength }| (first, strength))
        };
        assert_eq!(preference(&[], zero), None);
        let begun = [met(1, &[0, 1])];
        assert_eq!(preference(&begun, zero), Some((false, PreferenceStrength::Strong)));
        assert_eq!(preference(&begun, one), Some((true, PreferenceStrength::Strong)));
        let level = [met(1, &[0, 1]), met(2, &[2, 0])];
        assert_eq!(preference(&level, zero), Some((true, PreferenceStrength::Mild)));
        let twice = [met(1, &[0, 1]), met(2, &[2, 0]), met(3, &[1, 0])];
        assert_eq!(preference(&twice, zero), Some((true, PreferenceStrength::Absolute)));
        let wide = [met(1, &[0, 1]), met(2, &[0, 2])];
        assert_eq!(preference(&wide, zero), Some((false, PreferenceStrength::Absolute)));
    }

    #[test]
    fn the_stronger_preference_is_granted_and_equal_ones_alternate() {
        let (zero, one, two) = (Player(0), Player(1), Player(2));
        let order =
            |past: &[PairingResult], high, low| Seating::after(4, past).order_two(high, low, 0);
        assert_eq!(order(&[], zero, one), [zero, one]);
        assert_eq!(Seating::after(4, &[]).order_two(zero, one, 1), [one, zero]);
        assert_eq!(order(&[met(1, &[0, 1])], zero, one), [one, zero]);
        let past = [met(1, &[0, 3]), met(2, &[0, 3]), met(1, &[1, 3])];
        assert_eq!(order(&past, one, zero), [one, zero], "0 was first twice, 1 once");
        let past = [met(1, &[0, 1]), met(2, &[2, 0]), met(2, &[1, 3])];
        assert_eq!(order(&past, zero, two), [zero, two], "0 was first, then second");
        // Both were first and second once; 1 last.
        let past = [met(1, &[0, 3]), met(2, &[2, 0]), met(1, &[1, 3]), met(2, &[2, 1])];
        assert_eq!(
            order(&past, one, zero),
            [one, zero],
            "no difference: the higher one's preference"
        );
    }

    #[test]
    fn of_three_each_sits_where_it_sat_least() {
        let all = [Player(0), Player(1), Player(2)];
        let mut past = Vec::new();
        for round in 1..=6 {
            let order = Seating::after(3, &past).order_many(&all);
            let order: Vec<u32> = order.iter().map(|player| player.0).collect();
            past.push(met(round, &order));
        }
        for player in 0..3 {
            for seat in 0..3 {
                let sat = past.iter().filter(|met| met.pairing.players[seat].0 == player);
                assert_eq!(sat.count(), 2);
            }
        }
    }
}
