use super::super::groups::{count, groups, orbits, pairs};
use super::{played, spread};
use crate::Player;
use std::collections::BTreeSet;

fn numbers(pairs: impl IntoIterator<Item = [Player; 2]>) -> Vec<[u32; 2]> {
    pairs.into_iter().map(|pair| pair.map(|player| player.0)).collect()
}

#[test]
fn the_circle_of_four_and_of_five() {
    let four = [[3, 0], [2, 1], [1, 3], [0, 2], [3, 2], [1, 0]];
    assert_eq!(numbers(pairs(4)), four);
    let five = [[4, 1], [2, 3], [0, 2], [3, 4], [1, 3], [4, 0], [2, 4], [0, 1], [3, 0], [1, 2]];
    assert_eq!(numbers(pairs(5)), five);
}

#[test]
fn every_pair_meets_once_and_no_one_waits() {
    for players in 0..=41 {
        let list: Vec<[Player; 2]> = pairs(players).collect();
        let mut met = BTreeSet::new();
        let (mut played, mut first) = (vec![0; players], vec![0_u32; players]);
        for [one, other] in &list {
            assert!(met.insert((one.min(other), one.max(other))), "{players}: {one:?} {other:?}");
            first[one.index()] += 1;
            played[one.index()] += 1;
            played[other.index()] += 1;
            assert!(
                spread(&played) <= if players % 2 == 0 { 1 } else { 2 },
                "{players}: {played:?}"
            );
        }
        assert_eq!(list.len(), players * players.saturating_sub(1) / 2);
        for (player, first) in first.into_iter().enumerate() {
            let second = played[player] - first;
            assert!(first.abs_diff(second) <= 1, "{players}: {player} is first {first} times");
        }
    }
}

#[test]
fn every_group_comes_once_and_no_one_waits() {
    for (players, size) in (0..=11).flat_map(|players| (0..=6).map(move |size| (players, size))) {
        let list = groups(players, size);
        assert_eq!(list.len() as u64, count(players, size), "{size} of {players}");
        let mut met = BTreeSet::new();
        for (index, group) in list.iter().enumerate() {
            let mut sorted = group.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), size);
            assert!(met.insert(sorted), "{size} of {players}: {group:?} twice");
            let so_far = played(players, &list[..=index]);
            assert!(spread(&so_far) as usize <= size, "{size} of {players}: {so_far:?}");
        }
    }
}

#[test]
fn groups_are_counted() {
    for (players, size, expected) in
        [(1000, 2, 499_500), (100, 3, 161_700), (6, 6, 1), (5, 6, 0), (0, 0, 1), (0, 1, 0)]
    {
        assert_eq!(count(players, size), expected, "{size} of {players}");
    }
    assert_eq!(count(1000, 6), 1_368_173_298_991_500);
    assert_eq!(count(4000, 20), u64::MAX, "more than can be counted");
}

#[test]
fn orbits_of_seven() {
    let expected = [[1, 1, 5], [1, 2, 4], [1, 3, 3], [1, 4, 2], [2, 2, 3]];
    assert_eq!(orbits(7, 3), expected);
}
