//! The cheapest way to put an even number of vertices into pairs, exactly, for thousands of them.
//!
//! A cost is a list of figures that are compared in order, so the first is never traded for a
//! later one. The search itself ([`blossoms`]) sees for each vertex only a few cheap neighbours;
//! its dual values then tell of every pair that it didn't see whether it could make the whole
//! cheaper, and the search is repeated with those that could. Cook and Rohe (1999, "Computing
//! minimum-weight perfect matchings") match point sets like this.

mod blossoms;
mod cost;

pub(super) use cost::Cost;

use blossoms::{Blossoms, Slacks};

/// Below this number of vertices every pair is looked at from the beginning.
const FEW: usize = 24;
/// How many neighbours of each vertex the first search sees, and later ones in addition: the
/// cheapest, and others that differ from vertex to vertex.
const NEAR: usize = 8;
const SPREAD: usize = 4;
/// With more vertices than this the search is repeated only so often for the last figure's sake.
const LARGE: usize = 256;
const REPEATS: usize = 3;

/// The pairs of the vertices `0..count` with the least sum of costs, each with its smaller vertex
/// first, in the order of those. Of an odd number the last vertex stays out. `cost(u, v)` is asked
/// with `u < v`; figures up to 2^48 are safe. With more than 256 vertices the last figure may be a
/// little more than the least; all before it never are.
pub(super) fn cheapest_pairs<const N: usize>(
    count: usize,
    cost: impl Fn(usize, usize) -> Cost<N>,
) -> Vec<(usize, usize)> {
    let count = count - count % 2;
    let mut edges = first_edges(count, &cost);
    let mut repeats = 0;
    loop {
        let mut search = Blossoms::new(count, &edges, &cost);
        search.run();
        let better = overlooked(count, &search, &cost);
        // What all pairs together can gain is no more than what each of them is short of.
        let only_last = better.iter().all(|(slack, _)| slack.coarse() == Cost::ZERO);
        if better.is_empty() || count > LARGE && repeats >= REPEATS && only_last {
            return search.into_pairs();
        }
        edges.extend(better.into_iter().map(|(_, edge)| edge));
        edges.sort_unstable();
        edges.dedup();
        repeats += 1;
    }
}

/// Each vertex's cheapest neighbours, and its neighbours by number, which make sure that everybody
/// can be matched.
fn first_edges<const N: usize>(
    count: usize,
    cost: &impl Fn(usize, usize) -> Cost<N>,
) -> Vec<(usize, usize)> {
    let mut edges = Vec::new();
    let mut others = Vec::with_capacity(count);
    for u in 0..count {
        if count <= FEW {
            edges.extend((u + 1..count).map(|v| (u, v)));
            continue;
        }
        others.clear();
        others.extend((0..u).map(|v| (cost(v, u), v)));
        others.extend((u + 1..count).map(|v| (cost(u, v), v)));
        let cheap = few(u, &mut others).map(|&(_, v)| v);
        let next = (u + 1)..(u + 3).min(count);
        edges.extend(cheap.chain(next).map(|v| (u.min(v), u.max(v))));
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// For each vertex some of the pairs that the search should have seen, always with the worst: each
/// with its slack.
fn overlooked<const N: usize>(
    count: usize,
    search: &Blossoms<N>,
    cost: &impl Fn(usize, usize) -> Cost<N>,
) -> Vec<(Cost<N>, (usize, usize))> {
    let mut edges = Vec::new();
    if count <= FEW {
        return edges;
    }
    let mut slacks = Slacks::new(search);
    let mut found = Vec::new();
    for u in 0..count {
        slacks.of(u);
        found.clear();
        for v in u + 1..count {
            let slack = slacks.with(v, cost(u, v));
            if slack < Cost::ZERO {
                found.push((slack, v));
            }
        }
        edges.extend(few(u, &mut found).map(|&(slack, v)| (slack, (u, v))));
    }
    edges
}

/// Of a vertex's possible partners the cheapest, and some more whose costs differ from the least in
/// the last figure at most, if there are such: where many have the same cheapest partners, those few
/// are not enough for all.
fn few<const N: usize>(
    vertex: usize,
    others: &mut [(Cost<N>, usize)],
) -> impl Iterator<Item = &(Cost<N>, usize)> {
    if others.len() > NEAR + SPREAD {
        others.select_nth_unstable(NEAR);
        let lot = |v: usize| {
            let drawn = (vertex.max(v) << 32 | vertex.min(v)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            drawn >> 32
        };
        others[NEAR..].select_nth_unstable_by_key(SPREAD, |&(cost, v)| (cost.coarse(), lot(v)));
    }
    others.iter().take(NEAR + SPREAD)
}

#[cfg(test)]
mod tests;
