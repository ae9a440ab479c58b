use super::super::triples;
use super::{Pairing, field, meetings, played, spread};
use crate::{Player, Seed};
use std::collections::BTreeSet;

fn choice(players: usize, each: u32, rounds: u32, seed: u64) -> Vec<Vec<Vec<Player>>> {
    triples::choice(players, each, rounds, Seed::Number(seed))
}

fn pairings(triples: &[Vec<Player>]) -> Vec<Pairing> {
    triples.iter().map(|players| Pairing { round: 1, players: players[..].into() }).collect()
}

/// Returns how many triples are repeated.
fn repeats(triples: &[Vec<Player>]) -> usize {
    let sorted = |triple: &Vec<Player>| {
        let mut triple = triple.clone();
        triple.sort_unstable();
        triple
    };
    triples.len() - triples.iter().map(sorted).collect::<BTreeSet<_>>().len()
}

/// Where every two players can meet equally often, they do.
#[test]
fn known_designs_are_found() {
    for (players, each, times) in
        [(7, 3, 1), (13, 6, 1), (7, 6, 2), (5, 6, 3), (4, 3, 2), (3, 5, 5)]
    {
        let rounds = choice(players, each, 1, 1);
        let meetings = meetings(&pairings(&rounds[0]), players);
        assert!(meetings.values().all(|&met| met == times), "{players}, {each}: {meetings:?}");
    }
}

/// The bounds that docs/formats.md promises for one round.
#[test]
fn every_choice_is_balanced() {
    let fields = (3..=20).chain([31, 40]);
    for (players, each) in fields.flat_map(|players| (1..=20).map(move |each| (players, each))) {
        let triples = &choice(players, each, 1, 1)[0];
        let what = format!("{players} players, {each} triples each");
        assert_eq!(triples.len(), (players * each as usize).div_ceil(3), "{what}");
        let played = played(players, triples);
        assert!(played.iter().all(|&count| count == each || count == each + 1), "{what}");
        let meetings = meetings(&pairings(triples), players);
        assert!(spread(meetings.values()) <= 2, "{what}: {meetings:?}");
        if 2 * each as usize <= (players - 1) * (players - 2) / 2 {
            assert_eq!(repeats(triples), 0, "{what}");
        }
    }
}

/// The bounds that docs/formats.md promises for several rounds together.
#[test]
fn rounds_go_on_where_the_last_one_ended() {
    for (players, each) in (4..=24).step_by(2).flat_map(|players| [(players, 4), (players + 1, 5)])
    {
        let rounds = choice(players, each, 3, 1);
        let what = format!("{players} players, {each} triples each");
        for triples in &rounds {
            let played = played(players, triples);
            assert!(played.iter().all(|&count| count == each || count == each + 1), "{what}");
        }
        let all = rounds.concat();
        assert!(spread(&played(players, &all)) <= 1, "{what}");
        assert!(spread(meetings(&pairings(&all), players).values()) <= 4, "{what}");
        if 6 * each as usize <= (players - 1) * (players - 2) / 2 {
            assert_eq!(repeats(&all), 0, "{what}");
        }
    }
}

/// As many orbits as there are: every triple is used, the last one at the end.
#[test]
fn whole_orbits_never_repeat_before_all_were_there() {
    let rounds = choice(8, 3, 7, 1);
    let all = rounds.concat();
    assert_eq!((all.len(), repeats(&all)), (56, 0));
    let twice = choice(8, 3, 14, 1).concat();
    assert_eq!(repeats(&twice), 56, "each exactly twice");
    assert!(spread(meetings(&pairings(&twice), 8).values()) == 0);
}

#[test]
fn the_seed_decides() {
    assert_eq!(choice(20, 4, 2, 1), choice(20, 4, 2, 1));
    assert_ne!(choice(20, 4, 2, 1), choice(20, 4, 2, 2));
    assert_eq!(choice(2, 4, 2, 1), vec![Vec::<Vec<Player>>::new(); 2], "too few for a triple");
}

#[test]
fn a_thousand_players() {
    let field = field(1000, 3, 1);
    let triples = &choice(field.players, 10, 1, 1)[0];
    assert_eq!(triples.len(), 3334);
    assert!(spread(&played(field.players, triples)) <= 1);
    assert!(spread(meetings(&pairings(triples), field.players).values()) <= 2);
    assert_eq!(repeats(triples), 0);
}
