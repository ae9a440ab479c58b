//! Sets of at most 64 cells as the bits of a word: what counting in bulk does with them.

/// Adds three sets bit by bit: the sums' low bits and their high bits.
pub(crate) fn add(a: u64, b: u64, c: u64) -> (u64, u64) {
    let either = a ^ b;
    (either ^ c, (a & b) | (either & c))
}

/// The members of a set, each as a set.
pub(crate) fn singles(mut set: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let single = set & set.wrapping_neg();
        set ^= single;
        (single != 0).then_some(single)
    })
}
