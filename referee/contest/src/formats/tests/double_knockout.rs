use super::{PairingResult, by_chance, favourite, field, listed, losers, played_out, ranking};
use crate::FormatSettings;
use crate::formats::{DoubleKnockout, LevelTies, TieRules};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const TIES: TieRules = TieRules { replays: 3, level: LevelTies::HigherSeed };
const FORMAT: FormatSettings = FormatSettings::DoubleKnockout(DoubleKnockout { ties: TIES });

fn ranked(players: usize, met: &[PairingResult]) -> Vec<Vec<u32>> {
    ranking(&FORMAT, field(players, 2, 1), met)
}

#[test]
fn eight_players_of_whom_the_better_wins() {
    let met = played_out(&FORMAT, field(8, 2, 1), favourite);
    let expected = [
        (1, [0, 7]),
        (1, [3, 4]),
        (1, [1, 6]),
        (1, [2, 5]),
        // The losers' bracket is listed first.
        (2, [4, 7]),
        (2, [5, 6]),
        (2, [0, 3]),
        (2, [1, 2]),
        // The players who drop change halves.
        (3, [2, 4]),
        (3, [3, 5]),
        (4, [2, 3]),
        (4, [0, 1]),
        (5, [1, 2]),
        (6, [0, 1]),
    ];
    assert_eq!(listed(&met), expected);
    let places = [vec![0], vec![1], vec![2], vec![3], vec![4, 5], vec![6, 7]];
    assert_eq!(ranked(8, &met), places);
}

#[test]
fn five_players_and_byes_in_both_brackets() {
    let met = played_out(&FORMAT, field(5, 2, 1), favourite);
    let expected = [
        (1, [3, 4]),
        (2, [0, 3]),
        (2, [1, 2]),
        (3, [2, 4]),
        (4, [2, 3]),
        (4, [0, 1]),
        (5, [1, 2]),
        (6, [0, 1]),
    ];
    assert_eq!(listed(&met), expected);
    assert_eq!(ranked(5, &met), [[0], [1], [2], [3], [4]]);
}

#[test]
fn the_final_is_played_again_if_it_is_the_first_loss() {
    // The first seed loses the n-th tie that it plays.
    for (loses, length, places) in [
        (3, 7, [vec![0], vec![1], vec![2], vec![3]]),
        (2, 7, [vec![0], vec![1], vec![2], vec![3]]),
        (9, 6, [vec![0], vec![1], vec![2], vec![3]]),
    ] {
        let mut ties = 0;
        let met = played_out(&FORMAT, field(4, 2, 1), |pairing| {
            let mut half_points = favourite(pairing);
            if pairing.players.iter().any(|player| player.0 == 0) {
                ties += 1;
                if ties == loses {
                    half_points.reverse();
                }
            }
            half_points
        });
        assert_eq!((met.len(), ranked(4, &met)), (length, places.to_vec()), "{loses}");
    }
}

/// The most players left when two meet again, except in the final.
fn left_at_rematches(players: usize) -> usize {
    match players {
        0..=8 => 4,
        9..=64 => 8,
        _ => 16,
    }
}

fn assert_is_sound(players: usize, met: &[PairingResult]) {
    let ties: Vec<_> = losers(met).into_iter().collect();
    let mut lost = vec![0; players];
    let mut pairs = BTreeSet::new();
    let mut out_by_round: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let last_round = ties.last().map_or(0, |((round, _), _)| *round);
    let finals = 2 * players.next_power_of_two().ilog2();
    assert!((finals..=finals + 1).contains(&last_round), "{players}");
    for of_round in ties.chunk_by(|((one, _), _), ((other, _), _)| one == other) {
        let left = lost.iter().filter(|&&times| times < 2).count();
        let mut busy = BTreeSet::new();
        for ((round, pair), _) in of_round {
            for player in *pair {
                assert!(lost[player as usize] < 2, "{players}: {player} is out");
                assert!(busy.insert(player), "{players}: {player} has two ties in a round");
            }
            let is_new = pairs.insert(pair);
            let late = left <= left_at_rematches(players);
            assert!(is_new || late || *round >= finals, "{players}: {pair:?}");
        }
        for ((round, _), loser) in of_round {
            lost[*loser as usize] += 1;
            if lost[*loser as usize] == 2 {
                out_by_round.entry(*round).or_default().push(*loser);
            }
        }
    }
    let winner = (0..).zip(&lost).find(|(_, times)| **times < 2).map(|(player, _)| player);
    assert_eq!(lost.iter().filter(|&&times| times == 2).count(), players - 1, "{players}");
    let reset = usize::from(last_round == finals + 1);
    assert_eq!(lost.iter().sum::<usize>(), 2 * (players - 1) + reset, "{players}");
    let mut expected: Vec<Vec<u32>> = out_by_round.into_values().rev().collect();
    for group in &mut expected {
        group.sort_unstable();
    }
    expected.insert(0, winner.into_iter().collect());
    assert_eq!(ranked(players, met), expected);
}

proptest! {
    #[test]
    fn all_but_the_winner_loses_twice(
        players in 2_usize..=70, games in 1_u32..=2, seed: u64,
    ) {
        let met = played_out(&FORMAT, field(players, 2, 1), by_chance(games, seed));
        assert_is_sound(players, &met);
    }
}

#[test]
fn up_to_a_thousand_and_twenty_four() {
    for players in [100, 128, 129, 255, 256, 500, 1000, 1024] {
        let met = played_out(&FORMAT, field(players, 2, 1), by_chance(1, players as u64));
        assert_is_sound(players, &met);
    }
}
