use crate::board::{Cell, Layout};

/// The cells of a board in their order, and where each is in a rectangular array.
#[derive(Clone, Debug)]
pub struct CellIndex {
    /// Every cell, in the order of the board.
    pub cells: Vec<Cell>,
    /// The first row and column of the array.
    corner: (i8, i8),
    /// Rows of the array; 1 on a board without cells.
    pub height: usize,
    /// Columns of the array; 1 on a board without cells.
    pub width: usize,
    /// The number of the cell at each place of the array.
    numbers: Vec<Option<usize>>,
}

impl CellIndex {
    /// Returns the cells of a board. An array has the first coordinate downwards, from its smallest value on, and the
    /// second one to the right.
    pub fn new(layout: &Layout) -> Self {
        let cells = layout.cells();
        let range = |of: fn(&Cell) -> i8| {
            let least = cells.iter().map(of).min().unwrap_or_default();
            let most = cells.iter().map(of).max().unwrap_or_default();
            (least, usize::from(most.abs_diff(least)) + 1)
        };
        let ((top, height), (left, width)) = (range(|cell| cell.0), range(|cell| cell.1));
        let mut index =
            Self { cells, corner: (top, left), height, width, numbers: vec![None; height * width] };
        for (number, &cell) in index.cells.iter().enumerate() {
            let place = index.place(cell).expect("the array contains all cells");
            index.numbers[place] = Some(number);
        }
        index
    }

    /// Returns where a cell is in the array, counted row by row; `None` outside of it.
    pub fn place(&self, cell: Cell) -> Option<usize> {
        // A coordinate below the corner's becomes a large one.
        let from = |corner: i8, coordinate: i8| {
            usize::from(coordinate.cast_unsigned().wrapping_sub(corner.cast_unsigned()))
        };
        let (row, column) = (from(self.corner.0, cell.0), from(self.corner.1, cell.1));
        (row < self.height && column < self.width).then_some(row * self.width + column)
    }

    /// Returns the number of a cell in the order of the board; `None` off the board.
    pub fn number(&self, cell: Cell) -> Option<usize> {
        self.place(cell).and_then(|place| self.numbers[place])
    }

    /// Whether the array has places that are no cells.
    pub fn has_gaps(&self) -> bool {
        self.cells.len() < self.numbers.len()
    }
}
