//! Operations on sets of at most 64 cells stored as the bits of a word, for fast perft counts.

/// Adds three sets bit by bit and returns the low and the high bits of the sums.
pub(crate) fn add(a: u64, b: u64, c: u64) -> (u64, u64) {
    let either = a ^ b;
    (either ^ c, (a & b) | (either & c))
}

/// Returns each member of a set as a set of one.
pub(crate) fn singles(mut set: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let single = set & set.wrapping_neg();
        set ^= single;
        (single != 0).then_some(single)
    })
}
