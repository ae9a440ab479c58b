//! The moves of one piece: steps, hops and sequences of hops.
//!
//! Source: Board Games on Hexagonal Grids (IT-3105), section 4.2.

use super::board::{Diamond, Pieces};
use crate::Illegal;

/// The piece to move and the other pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mover {
    pub(super) diamond: Diamond,
    /// The cell of the piece.
    pub(super) start: u16,
    /// All other pieces; the moving piece's own start counts as open.
    pub(super) others: Pieces,
}

/// The cells that hops lead to, each with its predecessor on the recorded path.
struct Reached(Vec<(u16, u16)>);

impl Mover {
    /// Calls `found` with the recorded path to every possible end, in order.
    pub(super) fn each_path(&self, mut found: impl FnMut(Vec<u16>)) {
        let reached = self.search(None);
        let mut ends: Vec<u16> = reached.0.iter().map(|&(cell, _)| cell).collect();
        ends.extend((0..6).filter_map(|direction| self.step(direction)));
        ends.sort_unstable();
        for end in ends {
            found(self.trace(&reached, end).unwrap_or_else(|| vec![self.start, end]));
        }
    }

    /// Checks a path of at least two cells and returns its complete form.
    pub(super) fn complete(&self, path: Vec<u16>) -> Result<Vec<u16>, Illegal> {
        let end = path[path.len() - 1];
        if end == self.start {
            return Err(Illegal::new("a move must end on another cell than its start"));
        }
        if path.len() > 2 {
            self.check_hops(&path)?;
            return Ok(path);
        }
        if self.others.contains(end) {
            return Err(Illegal::new(format!("{} is occupied", self.name(end))));
        }
        if self.is_beside(self.start, end) {
            return Ok(path);
        }
        self.trace(&self.search(Some(end)), end).ok_or_else(|| {
            let (start, end) = (self.name(self.start), self.name(end));
            Illegal::new(format!("no step and no sequence of hops leads from {start} to {end}"))
        })
    }

    fn step(&self, direction: usize) -> Option<u16> {
        let to = self.diamond.step(self.start, direction, 1)?;
        (!self.others.contains(to)).then_some(to)
    }

    fn hop(&self, from: u16, direction: usize) -> Option<u16> {
        let over = self.diamond.step(from, direction, 1)?;
        let landing = self.diamond.step(from, direction, 2)?;
        (self.others.contains(over) && !self.others.contains(landing)).then_some(landing)
    }

    /// Searches breadth first, from each cell in ascending order, so the first path to a cell is the
    /// lexicographically smallest of the shortest ones. Stops early when `goal` is reached.
    fn search(&self, goal: Option<u16>) -> Reached {
        let mut reached = Vec::new();
        let mut seen = Pieces::EMPTY;
        seen.insert(self.start);
        let (mut from, mut next) = (self.start, 0);
        loop {
            for landing in (0..6).filter_map(|direction| self.hop(from, direction)) {
                if !seen.contains(landing) {
                    seen.insert(landing);
                    reached.push((landing, from));
                }
            }
            if goal.is_some_and(|goal| seen.contains(goal)) || next == reached.len() {
                return Reached(reached);
            }
            from = reached[next].0;
            next += 1;
        }
    }

    /// Returns the path to a cell, if hops lead to it.
    fn trace(&self, reached: &Reached, end: u16) -> Option<Vec<u16>> {
        let mut path = vec![end];
        let mut cell = end;
        while cell != self.start {
            cell = reached.0.iter().find(|&&(landing, _)| landing == cell)?.1;
            path.push(cell);
        }
        path.reverse();
        Some(path)
    }

    /// Checks each hop of a path.
    fn check_hops(&self, path: &[u16]) -> Result<(), Illegal> {
        for pair in path.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let [a, c] = [from, to].map(|cell| self.name(cell));
            if self.is_beside(from, to) {
                return Err(Illegal::new(format!(
                    "a step is a whole move: {a} to {c} can't be part of a longer path"
                )));
            }
            if self.others.contains(to) {
                return Err(Illegal::new(format!("{c} is occupied")));
            }
            let leads = |direction: &usize| self.diamond.step(from, *direction, 2) == Some(to);
            let Some(direction) = (0..6).find(leads) else {
                return Err(Illegal::new(format!(
                    "a hop goes two cells in a straight line: {a} to {c} doesn't"
                )));
            };
            if self.hop(from, direction).is_none() {
                let rule = format!("a hop from {a} to {c} needs a piece between them");
                return Err(Illegal::new(rule));
            }
        }
        Ok(())
    }

    fn is_beside(&self, from: u16, to: u16) -> bool {
        (0..6).any(|direction| self.diamond.step(from, direction, 1) == Some(to))
    }

    fn name(&self, cell: u16) -> String {
        let [row, column] = self.diamond.at(cell);
        format!("[{row},{column}]")
    }
}
