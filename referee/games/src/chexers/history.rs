//! The positions since the last exit, for the rule of the repeated position.
//!
//! An exit takes a piece off the board for good, so no position before one can occur again. Copies
//! share all but the last few entries, because searches copy games at every node.

use super::hexes::Hexes;
use std::sync::Arc;

/// The number of entries that a copy of a game doesn't share.
const RECENT_MAX: usize = 16;

/// A position to compare: the pieces, and the seat to move in unused bits of the first word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key([u64; 3]);

impl Key {
    /// Returns the key of the position with these pieces and this seat to move.
    pub(super) fn new(pieces: [Hexes; 3], to_move: usize) -> Self {
        Self([pieces[0] | (to_move as u64) << 62, pieces[1], pieces[2]])
    }

    /// Returns a hash of the key.
    fn mark(self) -> u32 {
        let [red, green, blue] = self.0;
        let mixed = red
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(green)
            .wrapping_mul(0xBF58_476D_1CE4_E5B9)
            .wrapping_add(blue)
            .wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed >> 32) as u32
    }
}

/// The positions so far, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    old: Option<Arc<Old>>,
    recent: [Key; RECENT_MAX],
    recent_count: usize,
}

/// Entries that copies share. The hashes are stored apart from the keys, so that a search reads
/// little memory.
#[derive(Clone, Debug, Default)]
struct Old {
    marks: Vec<u32>,
    keys: Vec<Key>,
}

impl Old {
    fn occurrences(&self, key: Key) -> usize {
        let mark = key.mark();
        // A sum without a branch: the compiler makes it compare several marks at a time.
        let alike: u32 = self.marks.iter().map(|&other| u32::from(other == mark)).sum();
        if alike == 0 {
            return 0;
        }
        self.keys.iter().filter(|&&other| other == key).count()
    }
}

impl History {
    /// Adds a position and returns how often it has occurred, this time included.
    pub(super) fn push(&mut self, key: Key) -> usize {
        let before = self.occurrences(key);
        if self.recent_count == RECENT_MAX {
            let old = Arc::make_mut(self.old.get_or_insert_default());
            old.marks.extend(self.recent.iter().map(|key| key.mark()));
            old.keys.extend(self.recent);
            self.recent_count = 0;
        }
        self.recent[self.recent_count] = key;
        self.recent_count += 1;
        before + 1
    }

    /// Removes all positions.
    pub(super) fn clear(&mut self) {
        self.old = None;
        self.recent_count = 0;
    }

    fn occurrences(&self, key: Key) -> usize {
        let recent = self.recent[..self.recent_count].iter().filter(|&&other| other == key).count();
        recent + self.old.as_ref().map_or(0, |old| old.occurrences(key))
    }

    fn keys(&self) -> impl Iterator<Item = Key> {
        let old = self.old.iter().flat_map(|old| old.keys.iter());
        old.chain(&self.recent[..self.recent_count]).copied()
    }
}

/// Two histories are equal if they have the same positions in the same order.
impl PartialEq for History {
    fn eq(&self, other: &Self) -> bool {
        self.keys().eq(other.keys())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_occurrence_is_counted_however_long_ago() {
        let mut history = History::default();
        for round in 1..=5 {
            for piece in 0..100 {
                let key = Key::new([1 << (piece % 50), 2, 4], piece / 50);
                assert_eq!(history.push(key), round, "{piece}");
            }
        }
        history.clear();
        assert_eq!(history.push(Key::new([1, 2, 4], 0)), 1);
    }

    #[test]
    fn the_seat_to_move_and_each_colour_count() {
        let mut history = History::default();
        for key in [([1, 2, 4], 0), ([1, 2, 4], 1), ([1, 2, 4], 2), ([2, 1, 4], 0), ([1, 4, 2], 0)]
        {
            assert_eq!(history.push(Key::new(key.0, key.1)), 1);
        }
    }

    #[test]
    fn copies_are_independent() {
        let key = |number| Key::new([number, 0, 0], 0);
        let mut one = History::default();
        for number in 0..40 {
            one.push(key(number));
        }
        let mut two = one.clone();
        assert_eq!(one, two);
        for number in 100..140 {
            one.push(key(number));
            two.push(key(number + 100));
        }
        assert_ne!(one, two);
        assert_eq!(one.push(key(200)), 1);
        assert_eq!(two.push(key(200)), 2);
        assert_eq!(two.push(key(3)), 2);
    }
}
