//! A small generator of numbers without a pattern, for Zobrist keys and playouts: quick, and the
//! same on every machine (the step of `splitmix64`).

/// A stream of numbers that its seed determines.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, any of 64 bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A table of keys by two indexes.
    pub(crate) fn keys<const ROWS: usize, const COLUMNS: usize>(
        &mut self,
    ) -> [[u64; COLUMNS]; ROWS] {
        std::array::from_fn(|_| std::array::from_fn(|_| self.next()))
    }
}
