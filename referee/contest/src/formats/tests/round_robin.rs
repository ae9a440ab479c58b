use super::{all_pairings, assert_seats_are_balanced, field, meetings, played, spread};
use crate::FormatSettings;
use crate::formats::{Pairing, RoundRobin};

const ALL: FormatSettings = FormatSettings::RoundRobin(RoundRobin { triples_per_player: None });

fn some(each: u32) -> FormatSettings {
    FormatSettings::RoundRobin(RoundRobin { triples_per_player: Some(each) })
}

/// The rounds are in order, and in each all players play equally often, plus or minus this much.
fn assert_rounds_are_even(pairings: &[Pairing], rounds: u32, players: usize, bound: u32) {
    assert!(pairings.is_sorted_by_key(|pairing| pairing.round));
    for round in 1..=rounds {
        let of_round = pairings.iter().filter(|pairing| pairing.round == round);
        let played = played(players, of_round.map(|pairing| &pairing.players));
        assert!(spread(&played) <= bound, "round {round}: {played:?}");
    }
}

#[test]
fn two_seats_are_balanced() {
    for (players, rounds) in (2..=20).flat_map(|players| (1..=4).map(move |round| (players, round)))
    {
        let field = field(players, 2, rounds);
        let pairings = all_pairings(&ALL, field);
        assert_rounds_are_even(&pairings, rounds, players, 0);
        assert!(meetings(&pairings, players).values().all(|&met| met == rounds));
        assert_seats_are_balanced(&pairings, field);
        for (one, other) in meetings(&pairings, players).keys() {
            let is_first = |pairing: &&Pairing| pairing.players[..] == [*one, *other];
            let is_second = |pairing: &&Pairing| pairing.players[..] == [*other, *one];
            let first = pairings.iter().filter(is_first).count();
            let second = pairings.iter().filter(is_second).count();
            assert!(first.abs_diff(second) <= 1, "{field:?}: {one:?} before {other:?}: {first}");
        }
    }
}

#[test]
fn more_seats_are_balanced() {
    for (players, seats) in
        (3..=9).flat_map(|players| (3..=players.min(6)).map(move |seats| (players, seats)))
    {
        for rounds in 1..=3 {
            let field = field(players, seats, rounds);
            let pairings = all_pairings(&ALL, field);
            assert_rounds_are_even(&pairings, rounds, players, 0);
            assert_eq!(spread(meetings(&pairings, players).values()), 0, "{field:?}");
            assert_seats_are_balanced(&pairings, field);
        }
    }
}

#[test]
fn some_triples_are_balanced() {
    for (players, each) in (3..=14).flat_map(|players| (1..=7).map(move |each| (players, each))) {
        for rounds in [1, 3] {
            let field = field(players, 3, rounds);
            let pairings = all_pairings(&some(each), field);
            assert_rounds_are_even(&pairings, rounds, players, 1);
            assert_seats_are_balanced(&pairings, field);
        }
    }
}

#[test]
fn a_thousand_players() {
    let field = field(1000, 2, 1);
    let pairings = ALL.next(field, &[]);
    assert_eq!(pairings.len(), 499_500);
    assert_seats_are_balanced(&pairings, field);
    assert_eq!(ALL.size(super::field(1000, 3, 2)), 332_334_000..=332_334_000);
}
