//! The cheapest perfect matching.
//!
//! A cost is a list of numbers that are compared in order, so an earlier one is never traded for a
//! later one. The search is Edmonds' blossom algorithm over all pairs, from the crate
//! `integer-blossom`; time grows with the cube of the number of vertices, memory with its square.

mod cost;

pub(super) use cost::Cost;

use crate::parallel;
use integer_blossom::min_weight_perfect_matching;

/// Larger sets of vertices are cut into parts, so that time and memory stay bounded.
const WHOLE_MAX: usize = 256;
/// The most vertices of such a part. Half as many take an eighth of the time.
const PART_MAX: usize = 128;

/// Returns the pairs of the vertices `0..count` with the least sum of costs, each with its smaller
/// vertex first, sorted. Of an odd number of vertices the last one is left out. `cost(u, v)` is
/// called with `u < v`; numbers up to 2^48 are safe. More than 256 vertices are cut into parts of
/// equal size, at most 128, in their order, and the sum is the least in each part.
pub(super) fn cheapest_pairs<const N: usize>(
    count: usize,
    cost: impl Fn(usize, usize) -> Cost<N> + Sync,
) -> Vec<(usize, usize)> {
    let parts: Vec<(usize, usize)> = parts_of(count).collect();
    parallel::map(&parts, |&(from, to)| cheapest_of(from, to, &cost)).concat()
}

/// Returns the ends of the parts, each with an even number of vertices.
fn parts_of(count: usize) -> impl Iterator<Item = (usize, usize)> {
    let part_max = if count > WHOLE_MAX { PART_MAX } else { WHOLE_MAX };
    let (pairs, parts) = (count / 2, count.div_ceil(part_max));
    let bound = move |part| 2 * (pairs * part / parts);
    (0..parts).map(move |part| (bound(part), bound(part + 1)))
}

/// The same for the vertices `from..to`, an even number. The search keeps its memory until its thread ends.
fn cheapest_of<const N: usize>(
    from: usize,
    to: usize,
    cost: &impl Fn(usize, usize) -> Cost<N>,
) -> Vec<(usize, usize)> {
    let entry = |u: usize, v: usize| if u < v { cost(u, v) } else { Cost::ZERO };
    let costs: Vec<Cost<N>> =
        (from..to).flat_map(|u| (from..to).map(move |v| entry(u, v))).collect();
    let mates = min_weight_perfect_matching(&costs, to - from);
    let pairs = mates.into_iter().enumerate().filter(|(vertex, mate)| vertex < mate);
    pairs.map(|(vertex, mate)| (from + vertex, from + mate)).collect()
}

#[cfg(test)]
mod tests;
