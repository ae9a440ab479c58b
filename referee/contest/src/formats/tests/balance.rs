use super::super::balance::balance_seats;
use super::super::simulation::random;
use super::{Pairing, assert_seats_are_balanced, field};
use crate::Player;
use proptest::prelude::*;
use rand::seq::SliceRandom;
use smallvec::SmallVec;

/// Pairings at random: a hard case, with any number of pairings per player.
fn random_pairings(players: usize, seats: usize, count: usize, seed: u64) -> Vec<Pairing> {
    let mut random = random(seed);
    let pairing = |_| {
        let mut all: Vec<Player> = Player::all(players).collect();
        all.shuffle(&mut random);
        all.truncate(seats);
        Pairing { round: 1, players: all.into() }
    };
    (0..count).map(pairing).collect()
}

proptest! {
    #[test]
    fn any_pairings_can_be_seated_evenly(
        seats in 1_usize..=6, more in 0_usize..=10, count in 0_usize..=80, seed: u64,
    ) {
        let players = seats + more;
        let pairings = random_pairings(players, seats, count, seed);
        let mut seated = pairings.clone();
        balance_seats(&mut seated, players, seats);
        assert_seats_are_balanced(&seated, field(players, seats, 1));
        let sorted = |pairings: Vec<Pairing>| -> Vec<SmallVec<[Player; 4]>> {
            let players = pairings.into_iter().map(|mut pairing| {
                pairing.players.sort_unstable();
                pairing.players
            });
            players.collect()
        };
        prop_assert_eq!(sorted(seated), sorted(pairings), "the same meet, in the same order");
    }
}

#[test]
fn what_is_even_stays_as_it_is() {
    let players = |numbers: [u32; 3]| numbers.map(Player)[..].into();
    let even = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
        .map(|numbers| Pairing { round: 1, players: players(numbers) });
    let mut seated = even.clone();
    balance_seats(&mut seated, 3, 3);
    assert_eq!(seated, even);
}
