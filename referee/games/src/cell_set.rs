//! Bit sets of cells for boards of more than 64 cells.

use std::marker::PhantomData;

/// A set of cell indexes, each less than `64 * WORDS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellSet<I, const WORDS: usize> {
    words: [u64; WORDS],
    index: PhantomData<I>,
}

impl<I: Copy + Into<usize> + TryFrom<usize>, const WORDS: usize> CellSet<I, WORDS> {
    /// The empty set.
    pub const EMPTY: Self = Self::of([0; WORDS]);

    const fn of(words: [u64; WORDS]) -> Self {
        Self { words, index: PhantomData }
    }

    /// Returns whether the set contains the cell.
    pub fn contains(&self, cell: I) -> bool {
        let cell = cell.into();
        self.words[cell >> 6] >> (cell & 63) & 1 == 1
    }

    /// Adds the cell.
    pub fn insert(&mut self, cell: I) {
        let cell = cell.into();
        self.words[cell >> 6] |= 1 << (cell & 63);
    }

    /// Removes the cell.
    pub fn remove(&mut self, cell: I) {
        let cell = cell.into();
        self.words[cell >> 6] &= !(1 << (cell & 63));
    }

    /// Adds the cell if it is missing, removes it otherwise.
    pub fn toggle(&mut self, cell: I) {
        let cell = cell.into();
        self.words[cell >> 6] ^= 1 << (cell & 63);
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words == [0; WORDS]
    }

    /// Returns the number of cells.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the union of both sets.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::of(std::array::from_fn(|word| self.words[word] | other.words[word]))
    }

    /// Returns the intersection of both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::of(std::array::from_fn(|word| self.words[word] & other.words[word]))
    }

    /// Returns the cells that are not in the other set.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self::of(std::array::from_fn(|word| self.words[word] & !other.words[word]))
    }

    /// Returns whether the other set contains all of these cells.
    pub fn is_subset_of(self, other: Self) -> bool {
        self.without(other).is_empty()
    }

    /// Returns the cells in ascending order.
    pub fn iter(self) -> impl Iterator<Item = I> {
        self.words.into_iter().enumerate().flat_map(|(word, mut bits)| {
            std::iter::from_fn(move || {
                let lowest = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
                bits &= bits - 1;
                I::try_from(64 * word + lowest).ok()
            })
        })
    }

    /// Returns a hash of the set.
    pub fn mark(&self) -> u64 {
        self.words.iter().fold(0x9E37_79B9_7F4A_7C15, |mark, &word| {
            let mixed = (mark ^ word).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed ^ mixed >> 29
        })
    }
}

impl<I: Copy + Into<usize> + TryFrom<usize>, const WORDS: usize> FromIterator<I>
    for CellSet<I, WORDS>
{
    fn from_iter<T: IntoIterator<Item = I>>(cells: T) -> Self {
        let mut set = Self::EMPTY;
        cells.into_iter().for_each(|cell| set.insert(cell));
        set
    }
}

#[cfg(test)]
mod tests {
    type CellSet = super::CellSet<u8, 3>;

    #[test]
    fn cells_are_stored_and_listed_in_order() {
        let mut set: CellSet = [180, 0, 63, 64, 127, 128].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<u8>>(), [0, 63, 64, 127, 128, 180]);
        assert_eq!(set.len(), 6);
        set.remove(64);
        set.toggle(65);
        set.toggle(180);
        assert!(set.contains(65) && !set.contains(180));
        set.toggle(65);
        set.toggle(180);
        assert!(!set.contains(64) && set.contains(63) && set.contains(128));
        let high: CellSet = [128, 180].into_iter().collect();
        assert!(high.is_subset_of(set) && !set.is_subset_of(high));
        assert_eq!(set.without(high).iter().collect::<Vec<u8>>(), [0, 63, 127]);
        assert_eq!(set.without(high).or(high), set);
        assert_eq!(set.and(high), high);
        assert_ne!(set.mark(), high.mark());
        assert!(CellSet::EMPTY.is_empty() && !high.is_empty());
    }
}
