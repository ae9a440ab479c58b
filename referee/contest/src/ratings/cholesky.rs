//! Symmetric positive definite matrices and their Cholesky factor: all the linear algebra that a
//! fit needs.

/// How many sums a dot product adds up in parallel, so that they don't wait for each other.
const LANES: usize = 8;

/// A symmetric matrix. Only the diagonal and what is left of it is stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Symmetric {
    size: usize,
    rows: Vec<f64>,
}

impl Symmetric {
    /// Returns a matrix of zeros.
    pub(super) fn zero(size: usize) -> Self {
        Self { size, rows: vec![0.0; row_start(size)] }
    }

    /// Adds to the entry at `row` and `column` and to its mirror image (on the diagonal once).
    pub(super) fn add(&mut self, row: usize, column: usize, amount: f64) {
        self.rows[row_start(row.max(column)) + row.min(column)] += amount;
    }

    /// The entry at `row` and `column`.
    pub(super) fn entry(&self, row: usize, column: usize) -> f64 {
        self.row(row.max(column))[row.min(column)]
    }

    /// The entries on the diagonal.
    pub(super) fn diagonal(&self) -> impl Iterator<Item = f64> {
        (0..self.size).map(|row| self.row(row)[row])
    }

    /// Multiplies the matrix by a vector.
    pub(super) fn times(&self, vector: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.size];
        for (row, &value) in vector.iter().enumerate() {
            let entries = self.row(row);
            product[row] += dot(entries, &vector[..=row]);
            for (sum, entry) in product.iter_mut().zip(&entries[..row]) {
                *sum += value * entry;
            }
        }
        product
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.rows[row_start(row)..=row_start(row) + row]
    }
}

/// The lower triangle `L` of a matrix that is `L` times its transpose.
#[derive(Clone, Debug)]
pub(super) struct Factor(Symmetric);

impl Factor {
    /// Returns the factor of a positive definite matrix. If rounding makes it indefinite, just
    /// enough is added to the diagonal that a step along the gradient still leads uphill.
    pub(super) fn of(matrix: &Symmetric) -> Self {
        let scale = matrix.diagonal().map(f64::abs).fold(1.0, f64::max);
        let mut ridge = 0.0;
        loop {
            if let Some(factor) = Self::with_ridge(matrix, ridge) {
                return factor;
            }
            ridge = (ridge * 10.0).max(scale * 1e-12);
        }
    }

    fn with_ridge(matrix: &Symmetric, ridge: f64) -> Option<Self> {
        let mut factor = matrix.clone();
        for row in 0..matrix.size {
            let (above, rest) = factor.rows.split_at_mut(row_start(row));
            let here = &mut rest[..=row];
            for column in 0..row {
                let other = &above[row_start(column)..=row_start(column) + column];
                let rest = here[column] - dot(&here[..column], &other[..column]);
                here[column] = rest / other[column];
            }
            let pivot = here[row] + ridge - dot(&here[..row], &here[..row]);
            if pivot.is_nan() || pivot <= ridge.max(here[row]) * 1e-14 {
                return None;
            }
            here[row] = pivot.sqrt();
        }
        Some(Self(factor))
    }

    /// Multiplies `vector` by the inverse of the matrix.
    pub(super) fn solve(&self, vector: &mut [f64]) {
        for row in 0..self.0.size {
            let entries = self.0.row(row);
            let rest = vector[row] - dot(&entries[..row], &vector[..row]);
            vector[row] = rest / entries[row];
        }
        for row in (0..self.0.size).rev() {
            let entries = self.0.row(row);
            let found = vector[row] / entries[row];
            vector[row] = found;
            for (value, entry) in vector[..row].iter_mut().zip(entries) {
                *value -= found * entry;
            }
        }
    }

    /// Returns the inverse of the matrix.
    pub(super) fn inverse(&self) -> Symmetric {
        let mut inverse = Symmetric::zero(self.0.size);
        for row in 0..self.0.size {
            let mut column = vec![0.0; self.0.size];
            column[row] = 1.0;
            self.solve(&mut column);
            let start = row_start(row);
            inverse.rows[start..=start + row].copy_from_slice(&column[..=row]);
        }
        inverse
    }
}

/// Where a row begins.
fn row_start(row: usize) -> usize {
    row * (row + 1) / 2
}

/// The dot product of two vectors of the same length.
pub(super) fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    for (left, right) in left.iter().zip(right) {
        for lane in 0..LANES {
            sums[lane] += left[lane] * right[lane];
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::{Factor, Symmetric, dot};

    /// Numbers between -1 and 1 without a pattern.
    fn noise(index: usize) -> f64 {
        (f64::from(u32::try_from(index).unwrap()) * 12.9898).sin()
    }

    /// `A A' + 1` for some `A`.
    fn positive(size: usize) -> Vec<Vec<f64>> {
        let rows: Vec<Vec<f64>> = (0..size)
            .map(|row| (0..size).map(|column| noise(row * size + column + 1)).collect())
            .collect();
        let entry = |row: usize, column: usize| {
            dot(&rows[row], &rows[column]) + if row == column { 1.0 } else { 0.0 }
        };
        (0..size).map(|row| (0..size).map(|column| entry(row, column)).collect()).collect()
    }

    fn packed(rows: &[Vec<f64>]) -> Symmetric {
        let mut matrix = Symmetric::zero(rows.len());
        for (row, entries) in rows.iter().enumerate() {
            for (column, &entry) in entries.iter().enumerate().take(row + 1) {
                matrix.add(row, column, entry);
            }
        }
        matrix
    }

    #[test]
    fn a_solution_solves() {
        for size in [0, 1, 2, 7, 8, 9, 30] {
            let rows = positive(size);
            let expected: Vec<f64> = (0..size).map(|row| noise(1000 + row)).collect();
            let mut vector: Vec<f64> = rows.iter().map(|row| dot(row, &expected)).collect();
            let factor = Factor::of(&packed(&rows));
            factor.solve(&mut vector);
            for (found, expected) in vector.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-9, "{size}: {found} is not {expected}");
            }
            let mut solved = expected.clone();
            factor.solve(&mut solved);
            for (found, expected) in factor.inverse().times(&expected).iter().zip(&solved) {
                assert!((found - expected).abs() < 1e-9, "{size}: {found} is not {expected}");
            }
        }
    }

    #[test]
    fn a_singular_matrix_still_has_a_factor() {
        let factor = Factor::of(&packed(&[vec![1.0, 1.0], vec![1.0, 1.0]]));
        let mut vector = vec![1.0, 1.0];
        factor.solve(&mut vector);
        assert!(vector.iter().all(|value| (value - 0.5).abs() < 1e-3), "{vector:?}");
    }
}
