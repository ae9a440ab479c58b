//! The cheapest way to put an even number of vertices into pairs.
//!
//! A cost is a list of figures that are compared in order, so the first is never traded for a
//! later one. The search is Edmonds' blossom algorithm over all pairs, from the crate
//! `integer-blossom`; time grows with the cube of the number of vertices, memory with its square.

mod cost;

pub(super) use cost::Cost;

use integer_blossom::min_weight_perfect_matching;
use std::panic::resume_unwind;
use std::thread::{self, Builder};

/// More vertices than this are cut into parts, so that time and memory stay bounded.
const PART_MAX: usize = 1024;

/// The pairs of the vertices `0..count` with the least sum of costs, each with its smaller vertex
/// first, in the order of those. Of an odd number the last vertex stays out. `cost(u, v)` is asked
/// with `u < v`; figures up to 2^48 are safe. More than 1,024 vertices are cut into parts of equal
/// size, in their order, and the sum is the least in each part.
pub(super) fn cheapest_pairs<const N: usize>(
    count: usize,
    cost: impl Fn(usize, usize) -> Cost<N>,
) -> Vec<(usize, usize)> {
    parts_of(count).flat_map(|(from, to)| cheapest_of(from, to, &cost)).collect()
}

/// Where parts begin and end, each with an even number of vertices.
fn parts_of(count: usize) -> impl Iterator<Item = (usize, usize)> {
    let (pairs, parts) = (count / 2, count.div_ceil(PART_MAX));
    let bound = move |part| 2 * (pairs * part / parts);
    (0..parts).map(move |part| (bound(part), bound(part + 1)))
}

/// The same of the vertices `from..to`, an even number.
fn cheapest_of<const N: usize>(
    from: usize,
    to: usize,
    cost: &impl Fn(usize, usize) -> Cost<N>,
) -> Vec<(usize, usize)> {
    let count = to - from;
    let entry = |u: usize, v: usize| if u < v { cost(u, v) } else { Cost::ZERO };
    let costs: Vec<Cost<N>> =
        (from..to).flat_map(|u| (from..to).map(move |v| entry(u, v))).collect();
    // What the search has allocated stays with the thread: it gets one of its own, which ends.
    let search = || min_weight_perfect_matching(&costs, count);
    let mates = thread::scope(|scope| match Builder::new().spawn_scoped(scope, search) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
        Err(_) => search(),
    });
    let pairs = mates.into_iter().enumerate().filter(|(vertex, mate)| vertex < mate);
    pairs.map(|(vertex, mate)| (from + vertex, from + mate)).collect()
}

#[cfg(test)]
mod tests;
