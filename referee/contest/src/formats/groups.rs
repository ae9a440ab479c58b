//! All groups of a size, in an order that spreads every player's games evenly.

use crate::Player;

/// Returns every group of `size` out of `players` once. At every point of the list the numbers of
/// groups of any two players differ by at most `size`; with pairs by two at most, and by one if the
/// number of players is even.
pub(super) fn groups(players: usize, size: usize) -> Vec<Vec<Player>> {
    match size {
        0 => vec![Vec::new()],
        2 => pairs(players).map(Vec::from).collect(),
        _ => orbits(players, size).iter().flat_map(|gaps| orbit(gaps)).collect(),
    }
}

/// Returns how many groups of `size` there are.
pub(super) fn count(players: usize, size: usize) -> u64 {
    if size > players {
        return 0;
    }
    let step = |so_far: u128, chosen: usize| {
        so_far.saturating_mul((players - chosen) as u128) / (chosen as u128 + 1)
    };
    u64::try_from((0..size).fold(1, step)).unwrap_or(u64::MAX)
}

/// Returns every pair once, by the circle method: one player (or the bye) stays, the others rotate,
/// and opposite players meet. Every player is first every other time, and over the whole list as
/// often as second, plus or minus one if the number of opponents is odd.
pub(super) fn pairs(players: usize) -> impl Iterator<Item = [Player; 2]> {
    let even = players + players % 2;
    let turning = even.saturating_sub(1);
    (0..turning).flat_map(move |stage| {
        (0..even / 2).filter_map(move |across| {
            let [first, second] = if across == 0 {
                [turning, stage]
            } else {
                [(stage + across) % turning, (stage + turning - across) % turning]
            };
            let turned = (if across == 0 { stage } else { across }) % 2 == 1;
            let pair = if turned { [second, first] } else { [first, second] };
            (first < players).then(|| pair.map(player))
        })
    })
}

/// Returns all rotations of a group of players on a circle: every player is in equally many of
/// them, and equally often in each of the group's places. A group is given by the gaps between its
/// places.
pub(super) fn orbit(gaps: &[usize]) -> impl Iterator<Item = Vec<Player>> + use<> {
    let players: usize = gaps.iter().sum();
    let places: Vec<usize> = gaps
        .iter()
        .scan(0, |place, gap| {
            *place += gap;
            Some(*place - gap)
        })
        .collect();
    (0..period(gaps))
        .map(move |by| places.iter().map(|place| player((place + by) % players)).collect())
}

/// Returns the gaps of one group of each orbit.
pub(super) fn orbits(players: usize, size: usize) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    if size > 0 && size <= players {
        extend(&mut Vec::with_capacity(size), players, size, &mut found);
    }
    found
}

fn extend(begun: &mut Vec<usize>, left: usize, more: usize, found: &mut Vec<Vec<usize>>) {
    let least = begun.first().copied().unwrap_or(1);
    if more == 1 {
        begun.push(left);
        if left >= least && is_least_rotation(begun) {
            found.push(begun.clone());
        }
        begun.pop();
        return;
    }
    for gap in least..=left.saturating_sub(least * (more - 1)) {
        begun.push(gap);
        extend(begun, left - gap, more - 1, found);
        begun.pop();
    }
}

/// The gaps of an orbit's groups are rotations of each other; the least one represents the orbit.
fn is_least_rotation(gaps: &[usize]) -> bool {
    (1..gaps.len()).all(|by| gaps <= [&gaps[by..], &gaps[..by]].concat().as_slice())
}

fn period(gaps: &[usize]) -> usize {
    let same = |by: &usize| [&gaps[*by..], &gaps[..*by]].concat() == gaps;
    gaps[..(1..gaps.len()).find(same).unwrap_or(gaps.len())].iter().sum()
}

/// Returns the player at this place of the list.
pub(super) fn player(index: usize) -> Player {
    Player(u32::try_from(index).unwrap_or(u32::MAX))
}
