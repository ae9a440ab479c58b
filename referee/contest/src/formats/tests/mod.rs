mod double_knockout;
mod gauntlet;
mod groups;
mod knockout;
mod puzzle;
mod round_robin;
mod balance;
mod triples;

use super::simulation::{play, random};
use super::{Field, Pairing, PairingResult};
use crate::{FormatSettings, Player, Seed, formats};
use rand::RngExt;
use std::collections::BTreeMap;

fn field(players: usize, seats: usize, rounds: u32) -> Field {
    Field { players, seats, rounds, seed: Seed::Number(1) }
}

/// Returns the pairings of a fixed format; checks their number, and that none follow.
fn all_pairings(format: &FormatSettings, field: Field) -> Vec<Pairing> {
    let met = played_out(format, field, |pairing| vec![0; pairing.players.len()]);
    let pairings: Vec<Pairing> = met.into_iter().map(|met| met.pairing).collect();
    let count = pairings.len() as u64;
    assert_eq!(format.size(field), count..=count, "{field:?}");
    assert_eq!(format.next(field, &[]), pairings, "{field:?}");
    pairings
}

/// Plays a contest to its end; `results` gives the half-points of a pairing's players.
fn played_out(
    format: &FormatSettings,
    field: Field,
    mut results: impl FnMut(&Pairing) -> Vec<u32>,
) -> Vec<PairingResult> {
    let results = |pairing: &Pairing| {
        assert_is_sound(pairing, field);
        results(pairing)
    };
    let past = play(&**format, field, results, |past, next| {
        assert_eq!(next, format.next(field, past), "{format:?} of {field:?}");
        let over = format.ranking(field, past).is_some();
        assert!(!over || next.is_empty(), "{format:?} of {field:?} isn't over");
    });
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

/// Returns the greatest difference between any two of these numbers.
fn spread<'a>(numbers: impl IntoIterator<Item = &'a u32>) -> u32 {
    let numbers: Vec<u32> = numbers.into_iter().copied().collect();
    numbers.iter().max().unwrap_or(&0) - numbers.iter().min().unwrap_or(&0)
}

#[test]
fn too_few_players_have_nothing_to_play() {
    use FormatSettings::{Ladder, Puzzle, RoundRobin, Swiss};
    let round_robin = |triples_per_player| RoundRobin(formats::RoundRobin { triples_per_player });
    for (format, fields) in [
        (round_robin(None), &[(0, 2), (1, 2), (0, 3), (2, 3), (3, 4)][..]),
        (round_robin(Some(3)), &[(0, 2), (1, 2), (0, 3), (2, 3), (3, 4)]),
        (Swiss(formats::Swiss {}), &[(0, 2), (1, 2)]),
        (Ladder(formats::Ladder {}), &[(0, 2), (1, 2), (2, 3), (0, 0), (3, 0)]),
        (Puzzle(formats::Puzzle {}), &[(0, 1)]),
    ] {
        for &(players, seats) in fields {
            let field = field(players, seats, 3);
            assert_eq!(all_pairings(&format, field), [], "{format:?}");
            assert_eq!(format.byes(field, &[]), [], "{format:?}");
        }
    }
}

/// Returns how many pairings each player is in.
pub(super) fn played<'a>(
    players: usize,
    pairings: impl IntoIterator<Item: IntoIterator<Item = &'a Player>>,
) -> Vec<u32> {
    let mut played = vec![0; players];
    for player in pairings.into_iter().flatten() {
        played[player.index()] += 1;
    }
    played
}

/// Returns how often each two players meet, the smaller first.
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

/// Asserts that each player's seats are balanced: no seat more than once more often than another.
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

/// Returns random results of pairings of two with this many games, draws included, in half-points.
pub(super) fn by_chance(games: u32, seed: u64) -> impl FnMut(&Pairing) -> Vec<u32> {
    let mut random = random(seed);
    move |_| {
        let first = (0..games).map(|_| random.random_range(0..=2)).sum();
        vec![first, 2 * games - first]
    }
}

/// The higher seed wins.
pub(super) fn favourite(pairing: &Pairing) -> Vec<u32> {
    if pairing.players[0] < pairing.players[1] { vec![2, 0] } else { vec![0, 2] }
}

/// Returns pairings as round and players, the smaller first.
fn listed(met: &[PairingResult]) -> Vec<(u32, [u32; 2])> {
    let listed = |met: &PairingResult| {
        let mut players = [0, 1].map(|seat| met.pairing.players[seat].0);
        players.sort_unstable();
        (met.pairing.round, players)
    };
    met.iter().map(listed).collect()
}

/// Returns the groups of the final order.
fn ranking(format: &FormatSettings, field: Field, met: &[PairingResult]) -> Vec<Vec<u32>> {
    let group = |group: Vec<Player>| group.into_iter().map(|player| player.0).collect();
    format.ranking(field, met).expect("it is over").into_iter().map(group).collect()
}

/// Returns the loser of each tie, by its round and its players, the smaller first. A tie that is
/// level in all games goes to the higher seed.
fn losers(met: &[PairingResult]) -> BTreeMap<(u32, [u32; 2]), u32> {
    let mut leads: BTreeMap<(u32, [u32; 2]), i64> = BTreeMap::new();
    for (key, met) in listed(met).into_iter().zip(met) {
        let lead = i64::from(met.half_points[0]) - i64::from(met.half_points[1]);
        let turned = met.pairing.players[0].0 != key.1[0];
        *leads.entry(key).or_default() += if turned { -lead } else { lead };
    }
    leads.into_iter().map(|(key, lead)| (key, key.1[usize::from(lead >= 0)])).collect()
}
