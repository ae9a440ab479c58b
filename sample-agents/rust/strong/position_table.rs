//! The positions that an alpha-beta search has met: a table of fixed size in which newer and deeper
//! entries replace others.

use crate::alpha_beta::Move;

const ENTRIES: usize = 1 << 20;

/// The kind of bound of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The value is exact.
    Exact,
    /// The value is a lower bound.
    AtLeast,
    /// The value is an upper bound.
    AtMost,
}

/// What is known of a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    value: i32,
    depth: u8,
    bound: Bound,
    /// The action that was best.
    pub(crate) action: Move,
}

impl Entry {
    pub(crate) fn new(value: i32, depth: usize, bound: Bound, action: Move) -> Self {
        Self { value, depth: u8::try_from(depth).unwrap_or(u8::MAX), bound, action }
    }

    /// The value, if it decides a search of this depth and window.
    pub(crate) fn answer(self, depth: usize, alpha: i32, beta: i32) -> Option<i32> {
        let decides = match self.bound {
            Bound::Exact => true,
            Bound::AtLeast => self.value >= beta,
            Bound::AtMost => self.value <= alpha,
        };
        (decides && usize::from(self.depth) >= depth).then_some(self.value)
    }
}

#[derive(Debug)]
pub(crate) struct Table {
    entries: Vec<(u64, Entry)>,
}

impl Table {
    pub(crate) fn new() -> Self {
        let nothing = Entry::new(0, 0, Bound::Exact, Move::default());
        Self { entries: vec![(0, nothing); ENTRIES] }
    }

    pub(crate) fn get(&self, key: u64) -> Option<Entry> {
        let (other, entry) = self.entries[Self::index(key)];
        (other == key).then_some(entry)
    }

    /// Replaces what another position has left there, and of the same position what is no deeper.
    pub(crate) fn put(&mut self, key: u64, entry: Entry) {
        let place = &mut self.entries[Self::index(key)];
        if place.0 != key || place.1.depth <= entry.depth {
            *place = (key, entry);
        }
    }

    fn index(key: u64) -> usize {
        usize::try_from(key % ENTRIES as u64).expect("an index of the table")
    }
}
