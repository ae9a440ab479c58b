//! Who sits where: every player as often on each seat as on any other, over all of its pairings.
//! For two seats by the colour rules of the FIDE Handbook, C.04.1 (f to h) and C.04.3 (A.6, E),
//! where white is the first seat.

use super::Met;
use crate::schedule::seat_orders;
use crate::{Player, SeatOrders};

/// With more seats not every order is tried.
const MANY: usize = 6;

/// Where everybody sat, in the order of the pairings; of each pairing its own order.
#[derive(Debug)]
pub(super) struct Seating {
    past: Vec<Vec<usize>>,
}

/// How much a player should get a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Both equally often so far: the other than last time.
    Mild,
    /// Once less often.
    Strong,
    /// At least twice less often, or the other twice in a row.
    Absolute,
}

/// The seat that a player should get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    /// The first; else the second.
    pub(super) first: bool,
    /// How much.
    pub(super) strength: Strength,
}

impl Seating {
    /// After some pairings.
    pub(super) fn after(players: usize, past: &[Met]) -> Self {
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

    /// How much more often a player of a game of two seats was first than second.
    pub(super) fn balance(&self, player: Player) -> i64 {
        let own = &self.past[player.index()];
        own.iter().map(|&seat| if seat == 0 { 1 } else { -1 }).sum()
    }

    /// What a player of a game of two seats should get; nothing before its first pairing.
    pub(super) fn wish(&self, player: Player) -> Option<Wish> {
        let own = &self.past[player.index()];
        let &last = own.last()?;
        let balance = self.balance(player);
        let twice = own.len() > 1 && own[own.len() - 2] == last;
        let (first, strength) = match balance {
            2.. => (false, Strength::Absolute),
            ..=-2 => (true, Strength::Absolute),
            _ if twice => (last != 0, Strength::Absolute),
            1 => (false, Strength::Strong),
            -1 => (true, Strength::Strong),
            _ => (last != 0, Strength::Mild),
        };
        Some(Wish { first, strength })
    }

    /// Two that meet, in seat order. The first one given ranks higher; `number` is the pairing's
    /// place in its round, from 0: before any game the higher one is first on every other board.
    pub(super) fn order_two(&self, high: Player, low: Player, number: usize) -> Vec<Player> {
        let higher_first = match (self.wish(high), self.wish(low)) {
            (None, None) => number.is_multiple_of(2),
            (Some(wish), None) => wish.first,
            (None, Some(wish)) => !wish.first,
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

    /// The last time that two sat differently, the other way round: whether `high` is then first.
    fn other_way(&self, high: Player, low: Player) -> Option<bool> {
        let (high, low) = (&self.past[high.index()], &self.past[low.index()]);
        let (own, _) = high.iter().rev().zip(low.iter().rev()).find(|(own, other)| own != other)?;
        Some(*own != 0)
    }

    /// Some that meet, in the seat order that they sat in least often; of equal ones in that in
    /// which fewest sit where they sat last.
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
    use super::{Met, Player, Seating, Strength, Wish};
    use crate::formats::Pairing;

    fn met(round: u32, players: &[u32]) -> Met {
        let players = players.iter().map(|&player| Player(player)).collect();
        Met { pairing: Pairing { round, players }, halves: vec![1, 1], blocks: Vec::new() }
    }

    #[test]
    fn wishes_follow_the_colour_rules() {
        let (zero, one) = (Player(0), Player(1));
        let wish = |past: &[Met], player| {
            let wish = Seating::after(3, past).wish(player);
            wish.map(|Wish { first, strength }| (first, strength))
        };
        assert_eq!(wish(&[], zero), None);
        let begun = [met(1, &[0, 1])];
        assert_eq!(wish(&begun, zero), Some((false, Strength::Strong)));
        assert_eq!(wish(&begun, one), Some((true, Strength::Strong)));
        let level = [met(1, &[0, 1]), met(2, &[2, 0])];
        assert_eq!(wish(&level, zero), Some((true, Strength::Mild)));
        let twice = [met(1, &[0, 1]), met(2, &[2, 0]), met(3, &[1, 0])];
        assert_eq!(wish(&twice, zero), Some((true, Strength::Absolute)));
        let wide = [met(1, &[0, 1]), met(2, &[0, 2])];
        assert_eq!(wish(&wide, zero), Some((false, Strength::Absolute)));
    }

    #[test]
    fn the_stronger_wish_is_granted_and_equal_ones_alternate() {
        let (zero, one, two) = (Player(0), Player(1), Player(2));
        let order = |past: &[Met], high, low| Seating::after(4, past).order_two(high, low, 0);
        assert_eq!(order(&[], zero, one), [zero, one]);
        assert_eq!(Seating::after(4, &[]).order_two(zero, one, 1), [one, zero]);
        assert_eq!(order(&[met(1, &[0, 1])], zero, one), [one, zero]);
        let past = [met(1, &[0, 3]), met(2, &[0, 3]), met(1, &[1, 3])];
        assert_eq!(order(&past, one, zero), [one, zero], "0 was first twice, 1 once");
        let past = [met(1, &[0, 1]), met(2, &[2, 0]), met(2, &[1, 3])];
        assert_eq!(order(&past, zero, two), [zero, two], "0 was first, then second");
        // Both were first and second once; 1 last.
        let past = [met(1, &[0, 3]), met(2, &[2, 0]), met(1, &[1, 3]), met(2, &[2, 1])];
        assert_eq!(order(&past, one, zero), [one, zero], "no difference: the higher one's wish");
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
