//! Which players can be compared: the groups that games link, and the differences within a group
//! that the results alone don't bound.

use super::evidence::Evidence;
use crate::Player;
use std::collections::BTreeSet;

/// How rated players are linked. Players are indices into [`Evidence::rated`].
#[derive(Debug)]
pub(super) struct Links {
    /// The groups, in the order of their first members.
    pub(super) groups: Vec<Group>,
    /// How many groups have two parts of which one won every game against the other.
    pub(super) split: u64,
    /// Players who were ahead of all others in every game with information.
    pub(super) won_all: Vec<usize>,
    /// Players who were behind all others in every such game.
    pub(super) lost_all: Vec<usize>,
}

/// Players whom games link.
#[derive(Debug)]
pub(super) struct Group {
    /// In order.
    pub(super) members: Vec<usize>,
    /// The players whose mean is 0: the largest part in which everybody is reached from everybody by
    /// a chain of wins and shared places, so that results bound all differences; all members if it
    /// has only one player or another part is as large.
    pub(super) centre: Vec<usize>,
    /// Members whose difference to the centre is bounded below, and above, by results.
    pub(super) bounded: [BTreeSet<usize>; 2],
}

impl Group {
    /// Returns a group; with an anchor, that is its centre.
    fn of(
        members: Vec<usize>,
        anchor: Option<usize>,
        beaten: &[BTreeSet<usize>],
        beaten_by: &[BTreeSet<usize>],
    ) -> Self {
        if let Some(anchor) = anchor.filter(|anchor| members.contains(anchor)) {
            let bounded = [beaten_by, beaten].map(|way| reached(anchor, way));
            return Self { members, centre: vec![anchor], bounded };
        }
        let parts = parts(&members, beaten, beaten_by);
        let size = parts.iter().map(BTreeSet::len).max().unwrap_or(0);
        let mut largest = parts.iter().filter(|part| part.len() == size);
        match (largest.next(), largest.next()) {
            (Some(part), None) if size > 1 || members.len() == 1 => {
                let centre: Vec<usize> = part.iter().copied().collect();
                let bounded = [beaten_by, beaten].map(|way| reached(centre[0], way));
                Self { members, centre, bounded }
            }
            _ => {
                // Against the mean of all, only who is ahead of all others is bounded below.
                let ahead_of_all = |part: Option<&BTreeSet<usize>>, way: &[BTreeSet<usize>]| {
                    let all = |part: &&BTreeSet<usize>| {
                        part.first().is_some_and(|&one| reached(one, way).len() == members.len())
                    };
                    part.filter(all).cloned().unwrap_or_default()
                };
                let bounded =
                    [ahead_of_all(parts.first(), beaten), ahead_of_all(parts.last(), beaten_by)];
                Self { centre: members.clone(), members, bounded }
            }
        }
    }
}

impl Links {
    /// Links the players of the evidence; the group of the anchor is rated against it.
    pub(super) fn of(evidence: &Evidence, anchor: Option<Player>) -> Self {
        let anchor = evidence.rated.iter().position(|&player| Some(player) == anchor);
        let size = evidence.rated.len();
        let beaten = ahead_of(evidence);
        let mut beaten_by = vec![BTreeSet::new(); size];
        for (player, behind) in beaten.iter().enumerate() {
            for &other in behind {
                beaten_by[other].insert(player);
            }
        }
        let groups: Vec<Group> = groups(&evidence.met)
            .into_iter()
            .map(|members| Group::of(members, anchor, &beaten, &beaten_by))
            .collect();
        let holds =
            |group: &&Group| group.bounded.iter().all(|one| one.len() == group.members.len());
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

/// Returns the parts of a group in each of which everybody is reached from everybody, such that
/// nobody is reached from a later part (Kosaraju's algorithm).
fn parts(
    members: &[usize],
    beaten: &[BTreeSet<usize>],
    beaten_by: &[BTreeSet<usize>],
) -> Vec<BTreeSet<usize>> {
    let mut seen = BTreeSet::new();
    let mut left = Vec::new();
    for &first in members {
        if !seen.insert(first) {
            continue;
        }
        let mut path = vec![(first, beaten[first].iter())];
        while let Some((player, rest)) = path.last_mut() {
            if let Some(&next) = rest.find(|&&next| seen.insert(next)) {
                path.push((next, beaten[next].iter()));
            } else {
                left.push(*player);
                path.pop();
            }
        }
    }
    let mut parts: Vec<BTreeSet<usize>> = Vec::new();
    let mut placed: BTreeSet<usize> = BTreeSet::new();
    for &first in left.iter().rev() {
        if placed.contains(&first) {
            continue;
        }
        let mut part = BTreeSet::from([first]);
        let mut open = vec![first];
        while let Some(player) = open.pop() {
            let new = beaten_by[player].iter().filter(|next| !placed.contains(*next));
            open.extend(new.filter(|&&next| part.insert(next)));
        }
        placed.extend(&part);
        parts.push(part);
    }
    parts
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
