//! Costs of several numbers.

use integer_blossom::Weight;
use std::array::from_fn;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// Numbers that are added separately and compared in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cost<const N: usize>(pub(crate) [i64; N]);

impl<const N: usize> Cost<N> {
    pub(crate) const ZERO: Self = Self([0; N]);
}

impl<const N: usize> Weight for Cost<N> {
    const ZERO: Self = Self::ZERO;
    const ONE: Self = {
        let mut one = [0; N];
        one[N - 1] = 1;
        Self(one)
    };

    fn inf() -> Self {
        Self([i64::MAX / 4; N])
    }

    fn double(self) -> Self {
        self + self
    }

    fn half(self) -> Self {
        debug_assert!(self.0.iter().all(|figure| figure % 2 == 0));
        Self(self.0.map(|figure| figure / 2))
    }
}

impl<const N: usize> Add for Cost<N> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(from_fn(|index| self.0[index] + other.0[index]))
    }
}

impl<const N: usize> Sub for Cost<N> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(from_fn(|index| self.0[index] - other.0[index]))
    }
}

impl<const N: usize> AddAssign for Cost<N> {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<const N: usize> SubAssign for Cost<N> {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}
