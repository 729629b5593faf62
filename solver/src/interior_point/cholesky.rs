//! Cholesky factors of a positive semidefinite matrix whose dependent rows are stepped over.
//!
//! At a degenerate optimum the normal equations lose rank. nalgebra's factorisation gives up there; the
//! interior point wants the solution with nothing in the lost directions, so a pivot that cancels to rounding
//! noise is made infinite.

use super::take_square_away;
use crate::tolerance::interior_point::LOST_PIVOT;
use fairplan_instances::Deadline;
use nalgebra::DMatrix;

/// `D·A·D = L·Lᵀ` with `D` scaling the diagonal to one.
pub(crate) struct Cholesky {
    order: usize,
    /// `Lᵀ` in the upper triangle, column-major: its columns are the rows of `L`.
    upper: DMatrix<f64>,
    scale: Vec<f64>,
    matrix: DMatrix<f64>,
}

/// Rows of `Lᵀ` that are finished together, before what they leave of the rest is computed in one product.
const PANEL: usize = 32;
/// Numbers that are worked on side by side, which compilers turn into vector instructions.
const LANES: usize = 8;

impl Cholesky {
    /// Factors a symmetric matrix, of which only the upper triangle is read and the diagonal must be positive.
    /// `None` when it holds no numbers.
    pub fn new(matrix: DMatrix<f64>) -> Option<Self> {
        Self::within(matrix, Vec::new(), &Deadline::never())
    }

    /// The same with the factors in this memory; `None` too if time is over before: large ones take minutes.
    pub fn within(matrix: DMatrix<f64>, mut memory: Vec<f64>, deadline: &Deadline) -> Option<Self> {
        let order = matrix.nrows();
        let scale: Vec<f64> = (0..order).map(|i| 1.0 / matrix[(i, i)].sqrt()).collect();
        if scale.iter().any(|s| !s.is_finite()) {
            return None;
        }
        memory.clear();
        memory.extend_from_slice(matrix.as_slice());
        let mut upper = DMatrix::from_vec(order, order, memory);
        for (j, mut column) in upper.column_iter_mut().enumerate() {
            column.iter_mut().zip(&scale).for_each(|(entry, s)| *entry *= s * scale[j]);
        }
        for start in (0..order).step_by(PANEL) {
            let end = (start + PANEL).min(order);
            if deadline.is_over() || !finish_rows(&mut upper, start, end) {
                return None;
            }
            let rows = upper.view((start, end), (end - start, order - end)).into_owned();
            take_square_away(&mut upper, end, rows.as_slice());
        }
        Some(Self { order, upper, scale, matrix })
    }

    /// The memory of the matrix and that of its factors, for others of the same size: fresh memory takes a part of the time of what is
    /// done with it.
    pub fn into_memory(self) -> [Vec<f64>; 2] {
        [self.matrix, self.upper].map(|matrix| matrix.data.into())
    }

    /// Solves `A x = b` with one step of iterative refinement.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let (mut x, mut residual) = (vec![0.0; self.order], vec![0.0; self.order]);
        self.solve_into(b, &mut x, &mut residual);
        x
    }

    /// The same without refinement, which may be left out where [`Self::solve_and_judge`] says so.
    pub fn solve_roughly(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        self.solve_once(&mut x);
        x
    }

    /// As [`Self::solve`], and whether refinement moved the solution by more than a part of its largest entry.
    pub fn solve_and_judge(&self, b: &[f64], part: f64) -> (Vec<f64>, bool) {
        let largest = |x: &[f64]| x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let (mut x, mut moved) = (vec![0.0; self.order], vec![0.0; self.order]);
        self.solve_into(b, &mut x, &mut moved);
        let is_moved = largest(&moved) > part * largest(&x);
        (x, is_moved)
    }

    /// The same into `x`, with `residual` to work in, where what refinement adds is left.
    pub fn solve_into(&self, b: &[f64], x: &mut [f64], residual: &mut [f64]) {
        x.copy_from_slice(b);
        self.solve_once(x);
        residual.copy_from_slice(b);
        for j in 0..self.order {
            let column = &self.matrix.as_slice()[j * self.order..][..=j];
            for (r, a) in residual[..j].iter_mut().zip(column) {
                *r -= a * x[j];
            }
            residual[j] -= lanes_dot(column, &x[..=j]);
        }
        self.solve_once(residual);
        x.iter_mut().zip(residual).for_each(|(x, dx)| *x += *dx);
    }

    /// Writes `L⁻¹ D b` to `x`, so that the product of two of them is `bᵀ A⁻¹ b'`.
    pub fn half_solve(&self, b: &[f64], x: &mut [f64]) {
        x.copy_from_slice(b);
        self.forwards(x);
    }

    /// The same as substitution takes it, row-major: `x_r = h_rr b_r − Σ_{s<r} h_rs x_s`.
    pub fn substitution(&self) -> Vec<f64> {
        let mut rows = vec![0.0; self.order * self.order];
        for (r, h) in rows.chunks_mut(self.order).enumerate() {
            let row = self.row(r);
            h.iter_mut().zip(&row[..r]).for_each(|(h, l)| *h = l / row[r]);
            h[r] = self.scale[r] / row[r];
        }
        rows
    }

    /// Turns `b` into `L⁻¹ D b`.
    fn forwards(&self, x: &mut [f64]) {
        for i in 0..self.order {
            let row = self.row(i);
            x[i] = (x[i] * self.scale[i] - lanes_dot(&row[..i], &x[..i])) / row[i];
        }
    }

    /// Turns `b` into `A⁻¹ b`, as far as rounding lets it.
    fn solve_once(&self, x: &mut [f64]) {
        self.forwards(x);
        for i in (0..self.order).rev() {
            let row = self.row(i);
            x[i] /= row[i];
            let xi = x[i];
            for (x, l) in x[..i].iter_mut().zip(row) {
                *x -= l * xi;
            }
        }
        x.iter_mut().zip(&self.scale).for_each(|(x, s)| *x *= s);
    }

    /// Row `i` of `L` up to the diagonal.
    fn row(&self, i: usize) -> &[f64] {
        &self.upper.as_slice()[i * self.order..][..=i]
    }
}

/// Turns the rows from `start` to `end`, from which all earlier rows are subtracted already, into those of `Lᵀ`.
/// False when they hold no numbers.
fn finish_rows(upper: &mut DMatrix<f64>, start: usize, end: usize) -> bool {
    let order = upper.nrows();
    for j in start..end {
        let (done, rest) = upper.as_mut_slice().split_at_mut(j * order);
        let (column, below) = rest[start..].split_at_mut(j - start);
        for i in 0..column.len() {
            let row = &done[(start + i) * order + start..][..=i];
            column[i] = (column[i] - lanes_dot(&column[..i], &row[..i])) / row[i];
        }
        let pivot = below[0] - lanes_dot(column, column);
        below[0] = if pivot > LOST_PIVOT { pivot.sqrt() } else { f64::INFINITY };
        if column.iter().any(|x| !x.is_finite()) {
            return false;
        }
    }
    // The columns after them go eight at a time, each a lane.
    let (done, rest) = upper.as_mut_slice().split_at_mut(end * order);
    let mut rows = [[0.0; LANES]; PANEL];
    rest.chunks_mut(LANES * order).all(|columns| {
        for (lane, column) in columns.chunks(order).enumerate() {
            rows.iter_mut().zip(&column[start..end]).for_each(|(row, x)| row[lane] = *x);
        }
        for i in 0..end - start {
            let factors = &done[(start + i) * order + start..][..=i];
            let (above, here) = rows.split_at_mut(i);
            let mut left = here[0];
            for (x, factor) in above.iter().zip(factors) {
                (0..LANES).for_each(|lane| left[lane] -= factor * x[lane]);
            }
            here[0] = left.map(|x| x / factors[i]);
        }
        for (lane, column) in columns.chunks_mut(order).enumerate() {
            column[start..end].iter_mut().zip(&rows).for_each(|(x, row)| *x = row[lane]);
        }
        columns.chunks(order).all(|column| column[start..end].iter().all(|x| x.is_finite()))
    })
}

/// A square matrix of zeros in this memory.
pub(crate) fn zeros(mut memory: Vec<f64>, order: usize) -> DMatrix<f64> {
    memory.clear();
    memory.resize(order * order, 0.0);
    DMatrix::from_vec(order, order, memory)
}

/// A dot product in independent lanes.
fn lanes_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let tail: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for i in 0..LANES {
            lanes[i] += a[i] * b[i];
        }
    }
    lanes.iter().sum::<f64>() + tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_stream::stream;

    #[test]
    fn solves_a_definite_system() {
        let matrix = DMatrix::from_row_slice(3, 3, &[4.0, 1.0, 0.05, 1.0, 3e6, 0.25, 0.05, 0.25, 2e-3]);
        let x = [1.0, -2e-6, 3.0];
        let b = &matrix * nalgebra::DVector::from_row_slice(&x);
        let solved = Cholesky::new(matrix).unwrap().solve(b.as_slice());
        for (x, solved) in x.iter().zip(solved) {
            approx::assert_relative_eq!(*x, solved, max_relative = 1e-9);
        }
    }

    #[test]
    fn refinement_is_needed_where_the_matrix_is_nearly_singular_and_only_there() {
        let hilbert = |order| DMatrix::from_fn(order, order, |i, j| 1.0 / (i + j + 1) as f64);
        for (order, is_needed) in [(2, false), (3, false), (8, true)] {
            let b = vec![1.0; order];
            let factors = Cholesky::new(hilbert(order)).unwrap();
            let (refined, rough) = (factors.solve(&b), factors.solve_roughly(&b));
            assert_eq!(factors.solve_and_judge(&b, 1e-11), (refined.clone(), is_needed), "{order}");
            let apart = refined.iter().zip(rough).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()));
            let largest = refined.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            assert_eq!(apart > 1e-11 * largest, is_needed, "{order}");
        }
    }

    #[test]
    fn rows_beside_a_panel_are_finished_like_those_in_it() {
        // More rows than a panel, and a last strip of columns that does not fill all lanes.
        let order = PANEL + 2 * LANES + 3;
        let mut next = stream(3);
        let root = DMatrix::from_fn(order, order, |_, _| next());
        let matrix = &root * root.transpose() + DMatrix::identity(order, order);
        let b: Vec<f64> = (0..order).map(|_| next()).collect();
        let x = nalgebra::DVector::from_vec(Cholesky::new(matrix.clone()).unwrap().solve(&b));
        (matrix * x).iter().zip(&b).for_each(|(ax, b)| {
            approx::assert_relative_eq!(*ax, *b, epsilon = 1e-12);
        });
    }

    #[test]
    fn a_dependent_row_contributes_nothing() {
        let matrix = DMatrix::from_row_slice(2, 2, &[1.0, 1.0, 1.0, 1.0]);
        assert_eq!(Cholesky::new(matrix).unwrap().solve(&[2.0, 2.0]), [2.0, 0.0]);
    }

    #[test]
    fn a_matrix_of_no_numbers_is_refused() {
        assert!(Cholesky::new(DMatrix::from_row_slice(1, 1, &[f64::NAN])).is_none());
        assert!(Cholesky::new(DMatrix::from_row_slice(1, 1, &[-1.0])).is_none());
    }

    #[test]
    fn a_pivot_counts_just_above_rounding_and_not_just_below() {
        // What is left of the second diagonal entry is all but exactly `left`.
        let pivot = |left: f64| {
            let matrix = DMatrix::from_row_slice(2, 2, &[1.0, 1.0, 1.0, 1.0 + left]);
            Cholesky::new(matrix).unwrap().row(1)[1].is_finite()
        };
        assert!(pivot(8.0 * f64::EPSILON) && !pivot(4.0 * f64::EPSILON));
        const { assert!(8.0 * f64::EPSILON > LOST_PIVOT && 4.0 * f64::EPSILON < LOST_PIVOT) };
    }
}
