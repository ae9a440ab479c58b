//! The position's estimate for simple agents: how near each side is to connecting its borders.

use super::board::Board;
use super::setup::Side;
use std::array;

/// The index of the first line of cells. Before it are a line of the frame and an empty one, so that
/// two lines back and ahead are always in the array.
const FIRST: usize = 2;
/// Lines besides the board's own: those before, the other border's and two behind it.
const BESIDES: usize = FIRST + 3;
/// The number of lines for the usual boards.
const FEW: usize = 16;
/// The number of lines for every board.
const MANY: usize = 32;

/// A set of cells: lines from one border of a side to the other, one bit a cell. Their number is
/// fixed so that the compiler can vectorize.
type Lines<const LINES: usize> = [u32; LINES];

/// The value of one stone fewer to place, relative to one more cell on the shortest routes.
const STONE: i64 = 100;
/// The value of being to move.
const TEMPO: i64 = 50;

/// Returns the estimate for `side`. Routes are counted in stones still to place; cells with two empty
/// common neighbours (a bridge) count as neighbours, since the opponent can't take both.
pub(super) fn estimate(board: &Board, side: Side, to_move: bool) -> i64 {
    let [black, red] = if usize::from(board.size()) + BESIDES <= FEW {
        SideView::<FEW>::both(board).map(|view| view.routes())
    } else {
        SideView::<MANY>::both(board).map(|view| view.routes())
    };
    let nearer = (red.distance - black.distance) * STONE + black.breadth - red.breadth;
    let tempo = if to_move { TEMPO } else { -TEMPO };
    match side {
        Side::Black => nearer + tempo,
        Side::Red => tempo - nearer,
    }
}

/// A side's shortest routes from border to border.
#[derive(Debug, PartialEq, Eq)]
struct Routes {
    /// Stones still to place; the number of cells if no route exists.
    distance: i64,
    /// Empty cells on any shortest route.
    breadth: i64,
}

/// The board as one side sees it: lines from its border at line 0 to the other.
#[derive(Clone)]
struct SideView<const LINES: usize> {
    size: usize,
    own: Lines<LINES>,
    empty: Lines<LINES>,
    /// Two neighbours in one line are both empty; the bit is the higher one's.
    empty_pairs: Lines<LINES>,
}

impl<const LINES: usize> SideView<LINES> {
    /// Returns the views of black, line by line from column 0, and of red, from row 0.
    fn both(board: &Board) -> [Self; 2] {
        let nothing = Self {
            size: usize::from(board.size()),
            own: [0; LINES],
            empty: [0; LINES],
            empty_pairs: [0; LINES],
        };
        let [mut black, mut red] = [nothing.clone(), nothing];
        for (row, column, at) in board.cells() {
            let (column_line, row_line) = (usize::from(column) + FIRST, usize::from(row) + FIRST);
            match board.stone(at) {
                None => {
                    black.empty[column_line] |= 1 << row;
                    red.empty[row_line] |= 1 << column;
                }
                Some(Side::Black) => black.own[column_line] |= 1 << row,
                Some(Side::Red) => red.own[row_line] |= 1 << column,
            }
        }
        for view in [&mut black, &mut red] {
            view.empty_pairs = view.empty.map(|line| line & line << 1);
        }
        [black, red]
    }

    fn routes(&self) -> Routes {
        let far = FIRST + self.size;
        let mut front: Lines<LINES> = [0; LINES];
        front[FIRST - 1] = u32::MAX;
        let mut reached: Lines<LINES> = [0; LINES];
        let mut stones: Lines<LINES> = [0; LINES];
        // The cells reached with exactly 1, 2, .. stones.
        let mut levels: Vec<Lines<LINES>> = Vec::with_capacity(self.size);
        loop {
            let around = self.spread(&front, &mut stones);
            if around[far] != 0 {
                break;
            }
            front = array::from_fn(|line| around[line] & self.empty[line] & !reached[line]);
            if front == [0; LINES] {
                let cells = self.size * self.size;
                return Routes { distance: i64::try_from(cells).unwrap_or(i64::MAX), breadth: 0 };
            }
            reached = array::from_fn(|line| reached[line] | front[line]);
            levels.push(front);
        }
        let mut breadth = 0;
        front = [0; LINES];
        front[far] = u32::MAX;
        stones = [0; LINES];
        for level in levels.iter().rev() {
            let around = self.spread(&front, &mut stones);
            front = array::from_fn(|line| around[line] & level[line]);
            breadth += front.iter().map(|line| i64::from(line.count_ones())).sum::<i64>();
        }
        Routes { distance: i64::try_from(levels.len()).unwrap_or(i64::MAX), breadth }
    }

    /// Returns the neighbours of a set, and those of the own chains that it touches and that are not
    /// in `stones` yet. Includes the far border's line and surplus bits beside the board.
    fn spread(&self, set: &Lines<LINES>, stones: &mut Lines<LINES>) -> Lines<LINES> {
        let mut all = self.neighbours(set);
        loop {
            let touched: Lines<LINES> =
                array::from_fn(|line| all[line] & self.own[line] & !stones[line]);
            if touched == [0; LINES] {
                return all;
            }
            let around = self.neighbours(&touched);
            for line in 0..all.len() {
                stones[line] |= touched[line];
                all[line] |= around[line];
            }
        }
    }

    /// Returns the neighbours of a set, bridges included.
    fn neighbours(&self, set: &Lines<LINES>) -> Lines<LINES> {
        let mut all: Lines<LINES> = [0; LINES];
        let (empty, pairs) = (&self.empty, &self.empty_pairs);
        for line in FIRST..LINES - 2 {
            let (back, here, ahead) = (set[line - 1], set[line], set[line + 1]);
            let adjacent = here << 1 | here >> 1 | back | back >> 1 | ahead | ahead << 1;
            let two_back = set[line - 2] & pairs[line - 1];
            let two_ahead = set[line + 2] << 1 & pairs[line + 1];
            let from_back = back << 1 & empty[line - 1] & empty[line] << 1
                | back >> 2 & empty[line] >> 1 & empty[line - 1] >> 1;
            let from_ahead = ahead << 2 & empty[line] << 1 & empty[line + 1] << 1
                | ahead >> 1 & empty[line + 1] & empty[line] >> 1;
            all[line] = adjacent | two_back >> 1 | two_ahead | from_back | from_ahead;
        }
        all
    }
}
