//! Costs of several numbers.

use integer_blossom::Weight;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// Numbers that are added separately and compared in order.
#[derive(Clone, Copy, Debug, Eq, PartialOrd, Ord)]
pub(crate) struct Cost<const N: usize>(pub(crate) [i64; N]);

impl<const N: usize> Cost<N> {
    pub(crate) const ZERO: Self = Self([0; N]);
}

impl<const N: usize> PartialEq for Cost<N> {
    /// The search compares for equality all the time, and costs differ mostly in the last number.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().rev().eq(other.0.iter().rev())
    }
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

    #[inline]
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

    #[inline]
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl<const N: usize> Sub for Cost<N> {
    type Output = Self;

    #[inline]
    fn sub(mut self, other: Self) -> Self {
        self -= other;
        self
    }
}

impl<const N: usize> AddAssign for Cost<N> {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own += other;
        }
    }
}

impl<const N: usize> SubAssign for Cost<N> {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own -= other;
        }
    }
}
