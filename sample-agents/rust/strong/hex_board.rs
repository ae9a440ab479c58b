//! A board of Hex for playouts: bytes within a frame of border cells, so that no code has to check
//! for the board's end; who has joined its borders, and how far both are from it.

use crate::rng::Rng;
use referee_games::hex::Side;

/// The contents of a cell.
pub(crate) type Owner = u8;
pub(crate) const EMPTY: Owner = 0;
const BLACK: Owner = 1;
const RED: Owner = 2;
/// On the frame's corners.
const NO_SIDE: Owner = 3;
/// Farther than any cell.
const FAR: u16 = 1000;

/// The stones of a side.
pub(crate) fn owner(side: Side) -> Owner {
    match side {
        Side::Black => BLACK,
        Side::Red => RED,
    }
}

/// The other side's.
pub(crate) fn other(owner: Owner) -> Owner {
    owner ^ 3
}

/// A board: the border cells beside the first and last column are black stones, those beside the
/// first and last row red ones.
#[derive(Clone)]
pub(crate) struct Board {
    size: usize,
    /// The steps to the six neighbours, going around.
    around: [usize; 6],
    pub(crate) cells: Vec<Owner>,
    /// For walks: by cell, the number of the last walk that came there.
    walked: Vec<u32>,
    walk: u32,
    stack: Vec<u16>,
}

impl Board {
    pub(crate) fn new(size: usize) -> Self {
        let stride = size + 2;
        let end = size + 1;
        let mut cells = vec![EMPTY; stride * stride];
        for line in 0..stride {
            let corner = line == 0 || line == end;
            cells[line] = if corner { NO_SIDE } else { RED };
            cells[end * stride + line] = if corner { NO_SIDE } else { RED };
            cells[line * stride] = if corner { NO_SIDE } else { BLACK };
            cells[line * stride + end] = if corner { NO_SIDE } else { BLACK };
        }
        let back = |step: usize| 0usize.wrapping_sub(step);
        let around = [back(stride), back(stride - 1), 1, stride, stride - 1, back(1)];
        let walked = vec![0; cells.len()];
        Self { size, around, cells, walked, walk: 0, stack: Vec::new() }
    }

    fn stride(&self) -> usize {
        self.size + 2
    }

    pub(crate) fn index(&self, [row, column]: [i64; 2]) -> u16 {
        let wide = |along: i64| usize::try_from(along).expect("a cell of the board") + 1;
        u16::try_from(wide(row) * self.stride() + wide(column)).expect("at most 784 cells")
    }

    pub(crate) fn at(&self, cell: u16) -> [i64; 2] {
        let stride = self.stride();
        let along = |line: usize| i64::try_from(line).expect("at most 26") - 1;
        [along(usize::from(cell) / stride), along(usize::from(cell) % stride)]
    }

    pub(crate) fn empty(&self) -> Vec<u16> {
        let cells = (0u16..).zip(&self.cells);
        cells.filter(|&(_, &owner)| owner == EMPTY).map(|(cell, _)| cell).collect()
    }

    #[inline]
    fn neighbour(&self, cell: u16, direction: usize) -> usize {
        usize::from(cell).wrapping_add(self.around[direction])
    }

    /// The cell that saves a bridge of `own` into which a stone on `cell` has just been put: empty,
    /// between two stones of `own`, all three beside the intruder. Of several the first after
    /// direction `from`.
    #[inline]
    pub(crate) fn saving(&self, cell: u16, own: Owner, from: usize) -> Option<u16> {
        let owners: [Owner; 6] =
            std::array::from_fn(|direction| self.cells[self.neighbour(cell, direction)]);
        (from..from + 6).map(|direction| direction % 6).find_map(|direction| {
            let (before, after) = ((direction + 5) % 6, (direction + 1) % 6);
            let saves = owners[direction] == EMPTY && owners[before] == own && owners[after] == own;
            saves.then(|| narrow(self.neighbour(cell, direction)))
        })
    }

    /// Whether a side has joined its borders. Only cells of the board are walked: from the frame a
    /// step can lead around to the other end.
    pub(crate) fn has_joined(&mut self, own: Owner) -> bool {
        self.walk += 1;
        let (stride, size) = (self.stride(), self.size);
        let line = |cell: usize| if own == BLACK { cell % stride } else { cell / stride };
        let step = if own == BLACK { stride } else { 1 };
        self.stack.clear();
        for along in 1..=size {
            let cell = stride + 1 + (along - 1) * step;
            if self.cells[cell] == own {
                self.walked[cell] = self.walk;
                self.stack.push(narrow(cell));
            }
        }
        while let Some(cell) = self.stack.pop() {
            if line(cell.into()) == size {
                return true;
            }
            for direction in 0..6 {
                let next = self.neighbour(cell, direction);
                let inside = (1..=size).contains(&line(next));
                if inside && self.cells[next] == own && self.walked[next] != self.walk {
                    self.walked[next] = self.walk;
                    self.stack.push(narrow(next));
                }
            }
        }
        false
    }

    /// Fills the board from `mover` on with stones in an order without pattern, but that bridges
    /// are saved when the other side intrudes into them. `last` is the stone placed last.
    pub(crate) fn fill(&mut self, mut mover: Owner, last: Option<u16>, rng: &mut Rng) {
        let mut empty = self.empty();
        // By cell: its place in the list.
        let mut places = vec![0u16; self.cells.len()];
        for (place, &cell) in (0u16..).zip(&empty) {
            places[usize::from(cell)] = place;
        }
        let mut last = last;
        while !empty.is_empty() {
            let numbers = rng.next();
            let turned = (numbers & 0xFF) as usize % 6;
            let saving = last.and_then(|last| self.saving(last, mover, turned));
            let cell = saving.unwrap_or_else(|| {
                let wide = (numbers >> 32) * empty.len() as u64;
                empty[(wide >> 32) as usize]
            });
            let place = usize::from(places[usize::from(cell)]);
            empty.swap_remove(place);
            if let Some(&moved) = empty.get(place) {
                places[usize::from(moved)] = narrow(place);
            }
            self.cells[usize::from(cell)] = mover;
            last = Some(cell);
            mover = other(mover);
        }
    }

    /// By cell: how many stones a side still needs from its first border (or, if `from_end`, from
    /// its last) up to and with the cell, where cells joined by a bridge count as neighbours.
    pub(crate) fn distances(&self, own: Owner, from_end: bool) -> Vec<u16> {
        let stride = self.stride();
        let far = if from_end { stride - 1 } else { 0 };
        let (first, step) =
            if own == BLACK { (stride + far, stride) } else { (1 + far * stride, 1) };
        let mut distances = vec![FAR; self.cells.len()];
        // Neither border is to be walked along: the frame's own cells are done from the start.
        for line in 0..self.stride() {
            for at in
                [line, line * stride, line * stride + stride - 1, (stride - 1) * stride + line]
            {
                distances[at] = 0;
            }
        }
        let mut level: Vec<u16> = (0..self.size).map(|line| narrow(first + line * step)).collect();
        let mut next = Vec::new();
        for distance in 0.. {
            while let Some(cell) = level.pop() {
                self.each_joined(cell, |to| {
                    let owner = self.cells[to];
                    let new = if owner == own { distance } else { distance + 1 };
                    if (owner == own || owner == EMPTY) && new < distances[to] {
                        distances[to] = new;
                        if owner == own { level.push(narrow(to)) } else { next.push(narrow(to)) }
                    }
                });
            }
            if next.is_empty() {
                break;
            }
            std::mem::swap(&mut level, &mut next);
        }
        distances
    }

    /// Calls `found` with every cell beside this one, and every one that a bridge joins to it.
    fn each_joined(&self, cell: u16, mut found: impl FnMut(usize)) {
        for direction in 0..6 {
            let beside = self.neighbour(cell, direction);
            let Some(&owner) = self.cells.get(beside) else { continue };
            found(beside);
            let turned = self.neighbour(cell, (direction + 1) % 6);
            if owner == EMPTY && self.cells.get(turned) == Some(&EMPTY) {
                found(beside.wrapping_add(self.around[(direction + 1) % 6]));
            }
        }
    }
}

fn narrow(cell: usize) -> u16 {
    u16::try_from(cell).expect("at most 784 cells")
}

#[cfg(test)]
mod tests {
    use super::{BLACK, Board, EMPTY, RED};
    use crate::rng::Rng;

    #[test]
    fn every_full_board_has_one_winner() {
        let mut rng = Rng::new(5);
        for size in [3, 4, 7, 11, 26] {
            for _ in 0..50 {
                let mut board = Board::new(size);
                board.fill(BLACK, None, &mut rng);
                assert!(!board.cells.contains(&EMPTY));
                assert_ne!(board.has_joined(BLACK), board.has_joined(RED));
            }
        }
    }

    #[test]
    fn bridges_count_as_joined_and_are_saved() {
        let mut board = Board::new(5);
        let stone = board.index([2, 2]);
        board.cells[usize::from(stone)] = BLACK;
        // One bridge from the border, one stone, one bridge: two rows on either side.
        let goal = board.index([1, 4]);
        assert_eq!(board.distances(BLACK, false)[usize::from(goal)], 2);
        // The bridge to (1,4) has (1,3) and (2,3) in its middle.
        let (near, far) = (board.index([1, 3]), board.index([2, 3]));
        assert_eq!(board.saving(near, BLACK, 0), None);
        board.cells[usize::from(goal)] = BLACK;
        assert_eq!(board.saving(near, BLACK, 0), Some(far));
        assert_eq!(board.saving(far, BLACK, 3), Some(near));
    }
}
