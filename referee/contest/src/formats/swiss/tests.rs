use super::super::simulation::{by_strength, play, random};
use super::super::tests::{by_chance, favourite};
use super::super::{Field, Format, Pairing, PairingResult};
use super::Swiss;
use crate::{Player, Seed};
use proptest::prelude::*;

const SWISS: Swiss = Swiss {};

fn field(players: usize, rounds: u32) -> Field {
    Field { players, seats: 2, rounds, seed: Seed::Number(0) }
}

/// A simple implementation of the rules, which computes everything from the whole past.
struct Plain<'a> {
    players: u32,
    past: &'a [PairingResult],
}

impl Plain<'_> {
    fn rounds(&self) -> u32 {
        self.past.iter().map(|met| met.pairing.round).max().unwrap_or(0)
    }

    fn games(&self, player: u32) -> impl DoubleEndedIterator<Item = &PairingResult> {
        self.past.iter().filter(move |met| met.pairing.players.contains(&Player(player)))
    }

    fn byes(&self, player: u32) -> i64 {
        i64::from(self.rounds()) - i64::try_from(self.games(player).count()).unwrap()
    }

    fn points(&self, player: u32) -> i64 {
        let own = |met: &PairingResult| usize::from(met.pairing.players[1] == Player(player));
        let half_points: u32 = self.games(player).map(|met| met.half_points[own(met)]).sum();
        let full: u32 = self.past.first().map_or(0, |met| met.half_points.iter().sum());
        i64::from(half_points) + self.byes(player) * i64::from(full)
    }

    fn group(&self, player: u32) -> Vec<u32> {
        (0..self.players).filter(|&other| self.points(other) == self.points(player)).collect()
    }

    fn firsts(&self, player: u32) -> Vec<bool> {
        self.games(player).map(|met| met.pairing.players[0] == Player(player)).collect()
    }

    fn balance(&self, player: u32) -> i64 {
        self.firsts(player).iter().map(|&first| if first { 1 } else { -1 }).sum()
    }

    /// Whether the player prefers to be first, and how strongly: 1 to 3.
    fn preference(&self, player: u32) -> Option<(bool, u32)> {
        let firsts = self.firsts(player);
        let last = *firsts.last()?;
        let balance = self.balance(player);
        if balance.abs() >= 2 {
            return Some((balance < 0, 3));
        }
        if firsts.ends_with(&[last, last]) {
            return Some((!last, 3));
        }
        Some(if balance == 0 { (!last, 1) } else { (balance < 0, 2) })
    }

    /// Returns the cost of a round, given as pairs without order, with or without a bye.
    fn cost(&self, pairs: &[(u32, u32)], bye: Option<u32>) -> [i64; 9] {
        let mut cost = [0; 9];
        if let Some(bye) = bye {
            let group = self.group(bye);
            let from_below = group.iter().rev().position(|&player| player == bye).unwrap();
            cost[2] = self.byes(bye);
            cost[4] = self.points(bye);
            cost[8] = i64::try_from(from_below * from_below).unwrap();
        }
        for &(a, b) in pairs {
            let higher = |a, b| {
                self.points(a) > self.points(b) || (self.points(a) == self.points(b) && a < b)
            };
            let (high, low) = if higher(a, b) { (a, b) } else { (b, a) };
            let meetings =
                self.games(high).filter(|met| met.pairing.players.contains(&Player(low)));
            let rounds: Vec<u32> = meetings.map(|met| met.pairing.round).collect();
            cost[0] += i64::try_from(rounds.len()).unwrap();
            cost[1] += i64::from(rounds.last().copied().unwrap_or(0));
            if let (Some((first, much)), Some((other, how))) =
                (self.preference(high), self.preference(low))
                && first == other
            {
                cost[3] += i64::from(much == 3 && how == 3);
                cost[6] += 1;
                cost[7] += i64::from(much >= 2 && how >= 2);
            }
            cost[5] += (self.points(high) - self.points(low)).pow(2);
            cost[8] += self.off(high, low);
        }
        cost
    }

    /// Returns how far a pair is from top half against bottom half.
    fn off(&self, high: u32, low: u32) -> i64 {
        let (above, below) = (self.group(high), self.group(low));
        let place = |group: &[u32], who| {
            i64::try_from(group.iter().position(|&player| player == who).unwrap()).unwrap()
        };
        let size = i64::try_from(above.len()).unwrap();
        let (own, other) = (place(&above, high), place(&below, low));
        if above != below {
            return (size - 1 - own + other).pow(2);
        }
        let same_half = (own < size / 2) == (other < size / 2);
        (other - own - size / 2).pow(2) + if same_half { size * size } else { 0 }
    }

    /// Returns the least cost of all possible rounds.
    fn least(&self, left: &[u32], pairs: &mut Vec<(u32, u32)>, bye: Option<u32>) -> [i64; 9] {
        let Some((&one, rest)) = left.split_first() else { return self.cost(pairs, bye) };
        let mut best = [i64::MAX; 9];
        for &other in rest {
            let left: Vec<u32> = rest.iter().copied().filter(|&who| who != other).collect();
            pairs.push((one, other));
            best = best.min(self.least(&left, pairs, bye));
            pairs.pop();
        }
        if bye.is_none() && left.len() % 2 == 1 {
            best = best.min(self.least(rest, pairs, Some(one)));
        }
        best
    }
}

fn plain(pairings: &[Pairing], players: u32) -> (Vec<(u32, u32)>, Option<u32>) {
    let pairs: Vec<(u32, u32)> =
        pairings.iter().map(|pairing| (pairing.players[0].0, pairing.players[1].0)).collect();
    let bye = (0..players).find(|who| pairs.iter().all(|(a, b)| a != who && b != who));
    (pairs, bye)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Every round has the least cost of all possible rounds, in all nine numbers, also with more
    /// rounds than opponents.
    #[test]
    fn rounds_are_the_best_of_all(
        players in 2_u32..=8, games in 1_u32..=3, more in 0_u32..6, seed: u64,
    ) {
        let field = field(players as usize, players + more);
        let all: Vec<u32> = (0..players).collect();
        play(&SWISS, field, by_chance(games, seed), |past, next| {
            if next.is_empty() {
                return;
            }
            let rules = Plain { players, past };
            let (pairs, bye) = plain(next, players);
            let least = rules.least(&all, &mut Vec::new(), None);
            assert_eq!(rules.cost(&pairs, bye), least, "{past:?} {next:?}");
        });
    }

    /// The basic rules (FIDE C.04.1) in fields of any size.
    #[test]
    fn the_basic_rules_are_kept(
        players in 2_usize..=60, rounds in 1_u32..=12, games in 1_u32..=2, seed: u64,
    ) {
        let field = field(players, rounds);
        let count = u32::try_from(players).unwrap();
        let past = play(&SWISS, field, by_chance(games, seed), |past, next| {
            if next.is_empty() {
                return;
            }
            let (pairs, bye) = plain(next, count);
            let rules = Plain { players: count, past };
            let round = rules.rounds() + 1;
            assert_eq!(pairs.len(), players / 2);
            assert!(next.iter().all(|pairing| pairing.round == round));
            let mut all: Vec<u32> =
                pairs.iter().flat_map(|&(a, b)| [a, b]).chain(bye).collect();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
            assert_eq!(bye.is_some(), count % 2 == 1);
            // While every player has at least half of the others left, a round without repeats
            // exists (Dirac 1952), the bye counted as one of the others.
            if round <= count.div_ceil(2) {
                let repeat = |&(a, b): &(u32, u32)| {
                    rules.games(a).any(|met| met.pairing.players.contains(&Player(b)))
                };
                assert!(!pairs.iter().any(repeat), "a repeat");
                assert!(bye.is_none_or(|bye| rules.byes(bye) == 0), "a second bye");
            }
            if let Some(bye) = bye && round <= 2 && players > 4 {
                let without = (0..count).filter(|&who| rules.byes(who) == 0);
                let lowest = without.map(|who| rules.points(who)).min();
                assert_eq!(Some(rules.points(bye)), lowest);
            }
        });
        let rules = Plain { players: count, past: &past };
        prop_assert_eq!(SWISS.size(field), past.len() as u64..=past.len() as u64);
        for bye in SWISS.byes(field, &past) {
            prop_assert_eq!(bye.half_points, 2 * games);
            prop_assert!(past.iter().all(|met| met.pairing.round != bye.round
                || !met.pairing.players.contains(&bye.player)));
        }
        let sum: i64 = (0..count).map(|who| rules.points(who)).sum();
        let places = u32::try_from(players.div_ceil(2)).unwrap();
        prop_assert_eq!(sum, i64::from(places * 2 * games * rounds), "a bye is worth a win");
        for who in 0..count {
            let clash = rules.balance(who).abs() > 2
                || rules.firsts(who).windows(3).any(|three| three == [three[0]; 3]);
            prop_assert!(!clash || rounds > count / 4, "seats of {}: {:?}", who, rules.firsts(who));
        }
    }
}

fn pairs(next: &[Pairing]) -> Vec<(u32, u32)> {
    plain(next, 0).0
}

#[test]
fn the_better_of_eight_come_through() {
    let mut rounds = Vec::new();
    play(&SWISS, field(8, 3), favourite, |_, next| rounds.push(pairs(next)));
    assert_eq!(
        rounds,
        [
            vec![(0, 4), (5, 1), (2, 6), (7, 3)],
            vec![(3, 0), (1, 2), (4, 7), (6, 5)],
            vec![(0, 1), (2, 4), (5, 3), (7, 6)],
            vec![],
        ]
    );
}

#[test]
fn of_five_the_last_without_a_bye_has_it() {
    let field = field(5, 3);
    let past = play(&SWISS, field, favourite, |_, _| {});
    let byes: Vec<(u32, u32, u32)> = SWISS
        .byes(field, &past)
        .iter()
        .map(|bye| (bye.round, bye.player.0, bye.half_points))
        .collect();
    assert_eq!(byes, [(1, 4, 2), (2, 3, 2), (3, 2, 2)]);
    assert_eq!(SWISS.byes(field, &past[..3]).len(), 1, "the second round has not ended");
}

#[test]
fn four_for_nine_rounds_repeat_in_turn() {
    let mut rounds = Vec::new();
    play(&SWISS, field(4, 9), by_chance(1, 7), |_, next| {
        let mut pairs = pairs(next);
        for pair in &mut pairs {
            *pair = (pair.0.min(pair.1), pair.0.max(pair.1));
        }
        pairs.sort_unstable();
        rounds.push(pairs);
    });
    assert_eq!(rounds[3..6], rounds[..3], "the oldest meetings are repeated first");
    assert_eq!(rounds[6..9], rounds[..3]);
}

/// Five rounds of 200 players: a large field keeps its score groups and finds its best.
#[test]
fn large_fields_keep_their_score_groups() {
    let strength: Vec<f64> = (0..200).map(|player| -0.03 * f64::from(player)).collect();
    let field = field(200, 5);
    let past = play(&SWISS, field, by_strength(&strength, 1, random(3)), |past, next| {
        let rules = Plain { players: 200, past };
        let points: Vec<i64> = (0..200).map(|who| rules.points(who)).collect();
        let floats = pairs(next).into_iter().filter(|&(a, b)| {
            let far = points[a as usize] - points[b as usize];
            assert!(far.abs() <= 2, "no player floats by more than a point");
            far != 0
        });
        assert!(floats.count() <= 8);
    });
    let rules = Plain { players: 200, past: &past };
    let mut order: Vec<u32> = (0..200).collect();
    order.sort_by_key(|&who| (-rules.points(who), who));
    assert!(order[..5].iter().any(|&who| who < 10), "{:?}", &order[..5]);
}
