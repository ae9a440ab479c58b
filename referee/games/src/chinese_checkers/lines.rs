//! Tables of the star's lines for bitboards, for boards of at most 128 positions.

use super::star::{SIZES, Star};
use crate::board::Cell;
use std::sync::OnceLock;

/// The largest size whose positions fit into 128 bits.
pub(super) const SIZE_MAX: usize = 4;
/// The first bit of a line in its word. All bits beside the line are set, as if occupied, so that
/// no jump leads off the board.
const MARGIN: usize = 16;
/// The three directions of lines, as indexes of the shape's steps.
const AXES: [usize; 3] = [3, 4, 5];

/// A position's line on an axis, and its bit there.
type Place = (u8, u8);

/// A star's lines. A jump changes both coordinates by even numbers, so a marble's jumps stay in one
/// of four classes of positions; a position's slot is its index within its class.
#[derive(Debug)]
pub(super) struct Lines {
    /// By position.
    pub(super) places: [[Place; 3]; 128],
    /// The number of positions.
    count: usize,
    /// By position: class and slot.
    pub(super) slots: [(u8, u8); 128],
    /// By class and slot: the position.
    pub(super) cells: [[u8; 64]; 4],
    /// By line and bit: the slot.
    pub(super) landings: [[u8; 64]; 64],
    /// The words of an empty board.
    pub(super) empty: [u64; 64],
    /// By position.
    pub(super) neighbours: [u128; 128],
    /// By position and axis, ahead and back: the number of positions that jumps can go over.
    pub(super) sights: [[[u8; 2]; 3]; 128],
    /// By line: entry `n` has the first `n` positions.
    prefixes: [[u128; 16]; 64],
}

impl Lines {
    /// Returns the tables for a size; `None` if it is too large.
    pub(super) fn of(size: u64) -> Option<&'static Self> {
        static LINES: [OnceLock<Lines>; 3] = [const { OnceLock::new() }; 3];
        let index = usize::try_from(size - SIZES.start()).ok()?;
        Some(LINES.get(index)?.get_or_init(|| Self::new(Star::of(size))))
    }

    fn new(star: &Star) -> Self {
        let mut lines = Self {
            places: [[(0, 0); 3]; 128],
            count: star.cells.len(),
            slots: [(0, 0); 128],
            cells: [[0; 64]; 4],
            landings: [[0; 64]; 64],
            empty: [u64::MAX; 64],
            neighbours: [0; 128],
            sights: [[[0; 2]; 3]; 128],
            prefixes: [[0; 16]; 64],
        };
        let mut filled = [0u8; 4];
        for (cell, &Cell(q, r)) in (0u8..).zip(&star.cells) {
            let class = u8::from(q % 2 != 0) + 2 * u8::from(r % 2 != 0);
            let slot = &mut filled[usize::from(class)];
            lines.slots[usize::from(cell)] = (class, *slot);
            lines.cells[usize::from(class)][usize::from(*slot)] = cell;
            *slot += 1;
            lines.neighbours[usize::from(cell)] = star.neighbours[usize::from(cell)].low_bits();
            let ways = AXES.map(|axis| [star.ray(cell, axis), star.ray(cell, 5 - axis)]);
            let half = |ray: &[u8]| u8::try_from(ray.len() / 2).expect("a line of at most 13");
            lines.sights[usize::from(cell)] = ways.map(|way| way.map(half));
        }
        let mut line = 0;
        for (axis, &direction) in AXES.iter().enumerate() {
            // A line is laid out from its first cell, which has nothing behind it.
            for first in 0..u8::try_from(star.cells.len()).expect("at most 121 cells") {
                if star.ray(first, 5 - direction).is_empty() {
                    let ahead = star.ray(first, direction).iter().copied();
                    lines.lay(axis, line, std::iter::once(first).chain(ahead));
                    line += 1;
                }
            }
        }
        lines
    }

    fn lay(&mut self, axis: usize, line: u8, cells: impl Iterator<Item = u8>) {
        for (bit, cell) in (0u8..).zip(cells) {
            let bit = bit + u8::try_from(MARGIN).expect("a bit of a word");
            self.empty[usize::from(line)] &= !(1 << bit);
            self.places[usize::from(cell)][axis] = (line, bit);
            let line = usize::from(line);
            self.landings[line][usize::from(bit)] = self.slots[usize::from(cell)].1;
            for prefix in &mut self.prefixes[line][usize::from(bit) - MARGIN + 1..] {
                *prefix |= 1 << cell;
            }
        }
    }

    /// Returns the positions of a line from `behind` before a bit to `ahead` after it.
    #[inline]
    pub(super) fn span(&self, line: usize, bit: u32, ahead: u32, behind: u32) -> u128 {
        let prefixes = &self.prefixes[line & 63];
        let at = bit as usize - MARGIN;
        prefixes[(at + ahead as usize + 1) & 15] ^ prefixes[(at - behind as usize) & 15]
    }

    /// Returns a set of positions by class and slot.
    pub(super) fn by_class(&self, set: u128) -> [u64; 4] {
        let mut classes = [0; 4];
        for (cell, &(class, slot)) in self.slots.iter().enumerate().take(self.count) {
            if set >> cell & 1 == 1 {
                classes[usize::from(class)] |= 1 << slot;
            }
        }
        classes
    }
}
