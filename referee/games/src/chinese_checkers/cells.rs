//! Sets of cells as bits, wide enough for the largest star.

/// A set of cells by their indexes, 0 to 191.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CellSet([u64; 3]);

impl CellSet {
    pub(super) const EMPTY: Self = Self([0; 3]);

    pub(super) fn contains(&self, cell: u8) -> bool {
        self.0[usize::from(cell >> 6)] >> (cell & 63) & 1 == 1
    }

    pub(super) fn insert(&mut self, cell: u8) {
        self.0[usize::from(cell >> 6)] |= 1 << (cell & 63);
    }

    pub(super) fn remove(&mut self, cell: u8) {
        self.0[usize::from(cell >> 6)] &= !(1 << (cell & 63));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; 3]
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    #[must_use]
    pub(super) fn or(self, other: Self) -> Self {
        Self([0, 1, 2].map(|word| self.0[word] | other.0[word]))
    }

    #[must_use]
    pub(super) fn and(self, other: Self) -> Self {
        Self([0, 1, 2].map(|word| self.0[word] & other.0[word]))
    }

    #[must_use]
    pub(super) fn without(self, other: Self) -> Self {
        Self([0, 1, 2].map(|word| self.0[word] & !other.0[word]))
    }

    pub(super) fn is_subset_of(self, other: Self) -> bool {
        self.without(other).is_empty()
    }

    /// The cells in ascending order.
    pub(super) fn iter(self) -> impl Iterator<Item = u8> {
        (0..3u8).zip(self.0).flat_map(|(word, mut bits)| {
            std::iter::from_fn(move || {
                let lowest = u8::try_from(bits.trailing_zeros()).ok().filter(|&bit| bit < 64)?;
                bits &= bits - 1;
                Some(word * 64 + lowest)
            })
        })
    }

    /// The cells below 128 as one word.
    pub(super) fn low_bits(self) -> u128 {
        u128::from(self.0[0]) | u128::from(self.0[1]) << 64
    }
}

impl FromIterator<u8> for CellSet {
    fn from_iter<I: IntoIterator<Item = u8>>(cells: I) -> Self {
        let mut set = Self::EMPTY;
        for cell in cells {
            set.insert(cell);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::CellSet;

    #[test]
    fn a_set_holds_what_was_put_in_and_lists_it_in_order() {
        let mut set: CellSet = [180, 0, 63, 64, 127, 128].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<u8>>(), [0, 63, 64, 127, 128, 180]);
        assert_eq!(set.len(), 6);
        set.remove(64);
        assert!(!set.contains(64) && set.contains(63) && set.contains(128));
        let high: CellSet = [128, 180].into_iter().collect();
        assert!(high.is_subset_of(set) && !set.is_subset_of(high));
        assert_eq!(set.without(high).low_bits(), 1 | 1 << 63 | 1 << 127);
        assert!(CellSet::EMPTY.is_empty() && !high.is_empty());
    }
}
