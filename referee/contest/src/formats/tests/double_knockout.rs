use super::{Dice, Met, Pairing, field, played_out};
use crate::FormatSettings;
use crate::formats::DoubleKnockout;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const FORMAT: FormatSettings = FormatSettings::DoubleKnockout(DoubleKnockout {});

/// Pairings as round and players from 1, the smaller first.
fn listed(met: &[Met]) -> Vec<(u32, [u32; 2])> {
    let tie = |pairing: &Pairing| {
        let mut players = [0, 1].map(|seat| pairing.players[seat].0 + 1);
        players.sort_unstable();
        (pairing.round, players)
    };
    met.iter().map(|met| tie(&met.pairing)).collect()
}

fn favourite(pairing: &Pairing) -> Vec<u32> {
    if pairing.players[0] < pairing.players[1] { vec![2, 0] } else { vec![0, 2] }
}

fn ranking(players: usize, met: &[Met]) -> Vec<Vec<u32>> {
    let ranking = FORMAT.ranking(field(players, 2, 1), met).expect("it is over");
    let numbers = ranking.into_iter();
    numbers.map(|group| group.into_iter().map(|player| player.0 + 1).collect()).collect()
}

#[test]
fn eight_players_of_whom_the_better_wins() {
    let met = played_out(&FORMAT, field(8, 2, 1), favourite);
    let expected = [
        (1, [1, 8]),
        (1, [4, 5]),
        (1, [2, 7]),
        (1, [3, 6]),
        // The losers' bracket is listed first.
        (2, [5, 8]),
        (2, [6, 7]),
        (2, [1, 4]),
        (2, [2, 3]),
        // Who drops down changes the half.
        (3, [3, 5]),
        (3, [4, 6]),
        (4, [3, 4]),
        (4, [1, 2]),
        (5, [2, 3]),
        (6, [1, 2]),
    ];
    assert_eq!(listed(&met), expected);
    let places = [vec![1], vec![2], vec![3], vec![4], vec![5, 6], vec![7, 8]];
    assert_eq!(ranking(8, &met), places);
}

#[test]
fn five_players_and_byes_in_both_brackets() {
    let met = played_out(&FORMAT, field(5, 2, 1), favourite);
    let expected = [
        (1, [4, 5]),
        (2, [1, 4]),
        (2, [2, 3]),
        (3, [3, 5]),
        (4, [3, 4]),
        (4, [1, 2]),
        (5, [2, 3]),
        (6, [1, 2]),
    ];
    assert_eq!(listed(&met), expected);
    assert_eq!(ranking(5, &met), [[1], [2], [3], [4], [5]]);
}

#[test]
fn the_final_is_played_again_if_it_is_the_first_loss() {
    // The first seed loses the n-th tie that it plays.
    for (loses, length, places) in [
        (3, 7, [vec![1], vec![2], vec![3], vec![4]]),
        (2, 7, [vec![1], vec![2], vec![3], vec![4]]),
        (9, 6, [vec![1], vec![2], vec![3], vec![4]]),
    ] {
        let mut ties = 0;
        let met = played_out(&FORMAT, field(4, 2, 1), |pairing| {
            let mut halves = favourite(pairing);
            if pairing.players.iter().any(|player| player.0 == 0) {
                ties += 1;
                if ties == loses {
                    halves.reverse();
                }
            }
            halves
        });
        assert_eq!((met.len(), ranking(4, &met)), (length, places.to_vec()), "{loses}");
    }
}

#[test]
fn very_few_players() {
    for (players, pairings, places) in
        [(0, 0, vec![]), (1, 0, vec![vec![1]]), (2, 2, vec![vec![1], vec![2]])]
    {
        let met = played_out(&FORMAT, field(players, 2, 1), favourite);
        assert_eq!((met.len(), ranking(players, &met)), (pairings, places));
    }
}

/// A tie: its round, who played, who lost.
struct Tie {
    round: u32,
    players: (u32, u32),
    loser: u32,
}

/// The ties in the order in which they began.
fn ties(met: &[Met]) -> Vec<Tie> {
    let mut leads: BTreeMap<(u32, (u32, u32)), i64> = BTreeMap::new();
    for met in met {
        let [one, other] = [0, 1].map(|seat| met.pairing.players[seat].0);
        let lead = i64::from(met.halves[0]) - i64::from(met.halves[1]);
        let key = (met.pairing.round, (one.min(other), one.max(other)));
        *leads.entry(key).or_default() += if one < other { lead } else { -lead };
    }
    let tie = |((round, players), lead): ((u32, (u32, u32)), i64)| Tie {
        round,
        players,
        loser: if lead < 0 { players.0 } else { players.1 },
    };
    leads.into_iter().map(tie).collect()
}

/// How many may be left, at most, when two meet who have met already, the final aside.
fn left_at_rematches(players: usize) -> usize {
    match players {
        0..=8 => 4,
        9..=64 => 8,
        _ => 16,
    }
}

fn assert_is_sound(players: usize, met: &[Met]) {
    let ties = ties(met);
    let mut lost = vec![0; players];
    let mut pairs = BTreeSet::new();
    let mut out_by_round: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let last_round = ties.last().map_or(0, |tie| tie.round);
    let finals = 2 * players.next_power_of_two().ilog2();
    assert!((finals..=finals + 1).contains(&last_round), "{players}");
    for of_round in ties.chunk_by(|one, other| one.round == other.round) {
        let left = lost.iter().filter(|&&times| times < 2).count();
        let mut busy = BTreeSet::new();
        for tie in of_round {
            for player in [tie.players.0, tie.players.1] {
                assert!(lost[player as usize] < 2, "{players}: {player} is out");
                assert!(busy.insert(player), "{players}: {player} has two ties in a round");
            }
            let is_new = pairs.insert(tie.players);
            let late = left <= left_at_rematches(players);
            assert!(is_new || late || tie.round >= finals, "{players}: {:?}", tie.players);
        }
        for tie in of_round {
            lost[tie.loser as usize] += 1;
            if lost[tie.loser as usize] == 2 {
                out_by_round.entry(tie.round).or_default().push(tie.loser + 1);
            }
        }
    }
    let winner = (1..).zip(&lost).find(|(_, times)| **times < 2).map(|(player, _)| player);
    assert_eq!(lost.iter().filter(|&&times| times == 2).count(), players - 1, "{players}");
    let reset = usize::from(last_round == finals + 1);
    assert_eq!(lost.iter().sum::<usize>(), 2 * (players - 1) + reset, "{players}");
    let mut expected: Vec<Vec<u32>> = out_by_round.into_values().rev().collect();
    for group in &mut expected {
        group.sort_unstable();
    }
    expected.insert(0, winner.into_iter().collect());
    assert_eq!(ranking(players, met), expected);
}

proptest! {
    #[test]
    fn everybody_but_the_winner_loses_twice(
        players in 2_usize..=70, games in 1_u32..=2, seed: u64,
    ) {
        let mut dice = Dice::new(seed);
        let met = played_out(&FORMAT, field(players, 2, 1), |_| dice.result(games));
        assert_is_sound(players, &met);
    }
}

#[test]
fn up_to_a_thousand_and_twenty_four() {
    for players in [100, 128, 129, 255, 256, 500, 1000, 1024] {
        let mut dice = Dice::new(players as u64);
        let met = played_out(&FORMAT, field(players, 2, 1), |_| dice.result(1));
        assert_is_sound(players, &met);
    }
}
