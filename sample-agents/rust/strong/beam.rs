//! The common part of the puzzles' beam searches.

use crate::Cells;

/// A position that was found: its cost, the place of its predecessor in the tree, the step from there,
/// and itself.
pub(crate) type Found<S, const WORDS: usize> = (i32, u32, S, Cells<WORDS>);

/// Keeps the cheapest positions. Returns whether these are all.
pub(crate) fn keep<S, const WORDS: usize>(found: &mut Vec<Found<S, WORDS>>, width: usize) -> bool {
    let is_all = found.len() <= width;
    if !is_all {
        found.select_nth_unstable_by_key(width, |entry| (entry.0, entry.3));
        found.truncate(width);
    }
    is_all
}

/// Returns the steps to a place of a tree. Each entry has the place of its predecessor and the step
/// from there.
pub(crate) fn trace<S: Copy>(tree: &[(u32, S)], mut place: u32) -> Vec<S> {
    let mut steps = Vec::new();
    while let Some(&(from, step)) = tree.get(place as usize) {
        steps.push(step);
        place = from;
    }
    steps.reverse();
    steps
}
