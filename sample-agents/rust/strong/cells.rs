//! A set of cells as the bits of a few words: as many as the board needs, so that small boards cost
//! no more than one word.

/// A set of cells by their indexes, 0 to `64 * WORDS - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cells<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Cells<WORDS> {
    pub(crate) const EMPTY: Self = Self([0; WORDS]);

    #[inline]
    pub(crate) fn contains(&self, cell: usize) -> bool {
        self.0[cell >> 6] >> (cell & 63) & 1 == 1
    }

    #[inline]
    pub(crate) fn insert(&mut self, cell: usize) {
        self.0[cell >> 6] |= 1 << (cell & 63);
    }

    #[inline]
    pub(crate) fn remove(&mut self, cell: usize) {
        self.0[cell >> 6] &= !(1 << (cell & 63));
    }

    /// Puts the cell in where it isn't, and takes it out where it is.
    #[inline]
    pub(crate) fn toggle(&mut self, cell: usize) {
        self.0[cell >> 6] ^= 1 << (cell & 63);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    #[must_use]
    pub(crate) fn or(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    #[must_use]
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    #[must_use]
    pub(crate) fn without(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    pub(crate) fn is_subset_of(&self, other: &Self) -> bool {
        self.without(other).is_empty()
    }

    /// The cells in ascending order.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(word, mut bits)| {
            std::iter::from_fn(move || {
                let lowest = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
                bits &= bits - 1;
                Some(word * 64 + lowest)
            })
        })
    }

    /// A number that different sets seldom share.
    pub(crate) fn mark(&self) -> u64 {
        self.0.iter().fold(0x9E37_79B9_7F4A_7C15, |mark, &word| {
            let mixed = (mark ^ word).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed ^ mixed >> 29
        })
    }
}

impl<const WORDS: usize> FromIterator<usize> for Cells<WORDS> {
    fn from_iter<I: IntoIterator<Item = usize>>(cells: I) -> Self {
        let mut set = Self::EMPTY;
        cells.into_iter().for_each(|cell| set.insert(cell));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::Cells;

    #[test]
    fn a_set_holds_what_was_put_in_and_lists_it_in_order() {
        let mut set: Cells<3> = [180, 0, 63, 64, 127, 128].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 127, 128, 180]);
        set.remove(64);
        set.toggle(65);
        set.toggle(180);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 65, 127, 128]);
        assert_eq!(set.len(), 5);
        let high: Cells<3> = [127, 128].into_iter().collect();
        assert!(high.is_subset_of(&set) && !set.is_subset_of(&high));
        assert_eq!(set.without(&high).or(&high), set);
        assert_eq!(set.and(&high), high);
        assert_ne!(set.mark(), high.mark());
        assert!(Cells::<3>::EMPTY.is_empty() && !set.contains(64));
    }
}
