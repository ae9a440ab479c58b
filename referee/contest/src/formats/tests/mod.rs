mod double_knockout;
mod gauntlet;
mod groups;
mod knockout;
mod puzzle;
mod round_robin;
mod balance;
mod triples;

use super::{Field, Met, Pairing};
use crate::{FormatSettings, Player};
use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;

fn field(players: usize, seats: usize, rounds: u32) -> Field {
    Field { players, seats, rounds, seed: 1 }
}

/// The pairings of a format that gives all at once; it says how many, and gives none after them.
fn all_pairings(format: &FormatSettings, field: Field) -> Vec<Pairing> {
    let met = played_out(format, field, |pairing| vec![0; pairing.players.len()]);
    let pairings: Vec<Pairing> = met.into_iter().map(|met| met.pairing).collect();
    let count = pairings.len() as u64;
    assert_eq!(format.size(field), count..=count, "{field:?}");
    assert_eq!(format.next(field, &[]), pairings, "{field:?}");
    pairings
}

/// A contest to its end: `results` says what everybody of a pairing gets, in halves.
fn played_out(
    format: &FormatSettings,
    field: Field,
    mut results: impl FnMut(&Pairing) -> Vec<u32>,
) -> Vec<Met> {
    let mut past = Vec::new();
    loop {
        let next = format.next(field, &past);
        assert_eq!(next, format.next(field, &past), "{format:?} of {field:?}");
        if next.is_empty() {
            break;
        }
        assert_eq!(format.ranking(field, &past), None, "{format:?} of {field:?} isn't over");
        for pairing in next {
            assert_is_sound(&pairing, field);
            let halves = results(&pairing);
            past.push(Met { pairing, blocks: vec![halves.clone()], halves });
        }
    }
    let size = format.size(field);
    assert!(size.contains(&(past.len() as u64)), "{} not in {size:?}: {field:?}", past.len());
    past
}

fn assert_is_sound(pairing: &Pairing, field: Field) {
    let mut players = pairing.players.clone();
    players.sort_unstable();
    players.dedup();
    assert_eq!(players.len(), field.seats, "{pairing:?}");
    assert!(players.iter().all(|player| player.index() < field.players), "{pairing:?}");
    assert!(pairing.round > 0, "{pairing:?}");
}

/// The greatest difference between any two of these numbers.
fn spread<'a>(numbers: impl IntoIterator<Item = &'a u32>) -> u32 {
    let numbers: Vec<u32> = numbers.into_iter().copied().collect();
    numbers.iter().max().unwrap_or(&0) - numbers.iter().min().unwrap_or(&0)
}

/// How many pairings each player is in.
fn played<'a>(players: usize, pairings: impl IntoIterator<Item = &'a Vec<Player>>) -> Vec<u32> {
    let mut played = vec![0; players];
    for player in pairings.into_iter().flatten() {
        played[player.index()] += 1;
    }
    played
}

/// How often each two players meet, the smaller first.
fn meetings(pairings: &[Pairing], players: usize) -> BTreeMap<(Player, Player), u32> {
    let pairs = Player::all(players)
        .flat_map(|one| Player::all(one.index()).map(move |other| (other, one)));
    let mut meetings: BTreeMap<_, _> = pairs.map(|pair| (pair, 0)).collect();
    for pairing in pairings {
        for (index, &one) in pairing.players.iter().enumerate() {
            for &other in &pairing.players[..index] {
                *meetings.get_mut(&(one.min(other), one.max(other))).unwrap() += 1;
            }
        }
    }
    meetings
}

/// Each player's seats are balanced: none more than once oftener than another.
fn assert_seats_are_balanced(pairings: &[Pairing], field: Field) {
    let mut seats = vec![vec![0_u32; field.seats]; field.players];
    for pairing in pairings {
        for (seat, player) in pairing.players.iter().enumerate() {
            seats[player.index()][seat] += 1;
        }
    }
    for (player, seats) in seats.iter().enumerate() {
        assert!(spread(seats) <= 1, "{field:?}: player {player}: {seats:?}");
    }
}

/// Numbers below a bound, from a seed.
struct Dice(ChaCha8Rng);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    /// The result of a pairing of two that has so many games: what everybody gets, in halves.
    fn result(&mut self, games: u32) -> Vec<u32> {
        let first = (0..games).map(|_| u32::try_from(self.below(3)).unwrap()).sum();
        vec![first, 2 * games - first]
    }
}
