//! Which players can be compared: the groups that games link, and the differences within a group
//! that the results alone don't bound.

use super::evidence::Evidence;
use std::collections::BTreeSet;

/// How rated players are linked. Players are indices into [`Evidence::rated`].
#[derive(Debug)]
pub(super) struct Links {
    /// The members of each group, in order; groups are in the order of their first members.
    pub(super) groups: Vec<Vec<usize>>,
    /// How many groups have two parts of which one won every game against the other.
    pub(super) split: u64,
    /// Players who were ahead of all others in every game with information.
    pub(super) won_all: Vec<usize>,
    /// Players who were behind all others in every such game.
    pub(super) lost_all: Vec<usize>,
}

impl Links {
    pub(super) fn of(evidence: &Evidence) -> Self {
        let size = evidence.rated.len();
        let beaten = ahead_of(evidence);
        let mut beaten_by = vec![BTreeSet::new(); size];
        for (player, behind) in beaten.iter().enumerate() {
            for &other in behind {
                beaten_by[other].insert(player);
            }
        }
        let groups = groups(&evidence.met);
        let holds = |group: &&Vec<usize>| {
            [&beaten, &beaten_by].iter().all(|way| reached(group[0], way).len() == group.len())
        };
        let split = groups.len() - groups.iter().filter(holds).count();
        let only = |some: &[BTreeSet<usize>], none: &[BTreeSet<usize>]| {
            (0..size).filter(|&one| !some[one].is_empty() && none[one].is_empty()).collect()
        };
        Self {
            split: split as u64,
            won_all: only(&beaten, &beaten_by),
            lost_all: only(&beaten_by, &beaten),
            groups,
        }
    }
}

/// For each player, those over whom it was chosen at least once. Players who shared a place count
/// both ways.
fn ahead_of(evidence: &Evidence) -> Vec<BTreeSet<usize>> {
    let mut ahead = vec![BTreeSet::new(); evidence.rated.len()];
    for set in &evidence.sets {
        for (option, _) in evidence.options(set).filter(|(_, count)| *count > 0.0) {
            for &member in &option.members {
                let player = set.remaining[member].player;
                let others = set.remaining.iter().map(|spot| spot.player);
                // A win of the chosen over the rest; among the chosen it counts both ways.
                ahead[player].extend(others.filter(|&other| other != player));
            }
        }
    }
    ahead
}

fn groups(met: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut placed = vec![false; met.len()];
    for player in 0..met.len() {
        if !placed[player] {
            let group: Vec<usize> = reached(player, met).into_iter().collect();
            for &member in &group {
                placed[member] = true;
            }
            groups.push(group);
        }
    }
    groups
}

/// Returns all players that a chain of links leads to, the first included.
fn reached(first: usize, links: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut reached = BTreeSet::from([first]);
    let mut open = vec![first];
    while let Some(player) = open.pop() {
        open.extend(links[player].iter().filter(|&&next| reached.insert(next)));
    }
    reached
}
