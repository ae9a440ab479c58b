//! Estimates how near a puzzle is to its solution, for searches.

use super::CheckerPuzzle;

/// The cost of a row still to climb. A hop climbs two rows, a sequence of hops many.
const ROW: i64 = 4;
/// The cost of being far behind, by the square of the rows: pieces that stay together can hop over
/// each other.
const STRAGGLING: i64 = 1;
/// The cost of a column beside the goal; it can be corrected on the way up.
const ASIDE: i64 = 1;
/// The cost of a piece outside the goal.
const OUTSIDE: i64 = 2;

impl CheckerPuzzle {
    /// Returns the estimate: pieces from the top down are matched with goal cells from the top down.
    pub(super) fn progress(&self) -> i64 {
        let diamond = self.rules.diamond;
        let rows = |set: &super::Pieces| {
            let mut rows: Vec<i64> = set.iter().map(|cell| diamond.row(cell).into()).collect();
            rows.sort_unstable();
            rows
        };
        let (pieces, goal) = (rows(&self.pieces), rows(&self.rules.goal));
        let climbs = pieces.iter().zip(goal).map(|(row, goal)| (row - goal).abs());
        let climb: i64 = climbs.map(|rows| ROW * rows + STRAGGLING * rows * rows).sum();
        let depth = i64::try_from(self.rules.setup.depth).expect("at most 8");
        let mut cost = climb;
        for cell in self.pieces.iter().filter(|&cell| !self.rules.goal.contains(cell)) {
            let [row, column] = diamond.at(cell);
            let aside = (row - column).abs() - (depth - 1);
            cost += OUTSIDE + ASIDE * aside.max(0);
        }
        -cost
    }
}
