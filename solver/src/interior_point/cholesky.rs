//! Cholesky factors of a positive semidefinite matrix whose dependent rows are stepped over.
//!
//! At a degenerate optimum the normal equations lose rank. nalgebra's factorisation gives up there; the
//! interior point wants the solution with nothing in the lost directions, so a pivot that cancels to rounding
//! noise is made infinite.

use nalgebra::DMatrix;

/// `D·A·D = L·Lᵀ` with `D` scaling the diagonal to one.
pub(crate) struct Cholesky {
    order: usize,
    /// Rows of `L`, row-major, the lower triangle.
    rows: Vec<f64>,
    scale: Vec<f64>,
    matrix: DMatrix<f64>,
}

/// A pivot below this part of its diagonal is rounding noise.
const LOST_PIVOT: f64 = 1e-15;

impl Cholesky {
    /// Factors a symmetric matrix, of which the diagonal must be positive. `None` when it holds no numbers.
    pub fn new(matrix: DMatrix<f64>) -> Option<Self> {
        let order = matrix.nrows();
        let scale: Vec<f64> = (0..order).map(|i| 1.0 / matrix[(i, i)].sqrt()).collect();
        if scale.iter().any(|s| !s.is_finite()) {
            return None;
        }
        let mut rows = vec![0.0; order * order];
        for i in 0..order {
            let (done, rest) = rows.split_at_mut(i * order);
            let row = &mut rest[..order];
            for j in 0..i {
                let above = &done[j * order..j * order + j + 1];
                let entry = matrix[(i, j)] * scale[i] * scale[j] - lanes_dot(&row[..j], &above[..j]);
                row[j] = entry / above[j];
            }
            let pivot = 1.0 - lanes_dot(&row[..i], &row[..i]);
            row[i] = if pivot > LOST_PIVOT { pivot.sqrt() } else { f64::INFINITY };
            if row[..i].iter().any(|x| !x.is_finite()) {
                return None;
            }
        }
        Some(Self { order, rows, scale, matrix })
    }

    /// Solves `A x = b` with one step of iterative refinement.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.solve_once(b);
        let mut residual = b.to_vec();
        for (j, x) in x.iter().enumerate() {
            for (r, a) in residual.iter_mut().zip(self.matrix.column(j).iter()) {
                *r -= a * x;
            }
        }
        for (x, dx) in x.iter_mut().zip(self.solve_once(&residual)) {
            *x += dx;
        }
        x
    }

    /// Writes `L⁻¹ D b` to `x`, so that the product of two of them is `bᵀ A⁻¹ b'`.
    pub fn half_solve(&self, b: &[f64], x: &mut [f64]) {
        let n = self.order;
        for i in 0..n {
            let row = &self.rows[i * n..i * n + i + 1];
            x[i] = (b[i] * self.scale[i] - lanes_dot(&row[..i], &x[..i])) / row[i];
        }
    }

    fn solve_once(&self, b: &[f64]) -> Vec<f64> {
        let n = self.order;
        let mut x = vec![0.0; n];
        self.half_solve(b, &mut x);
        for i in (0..n).rev() {
            let row = &self.rows[i * n..i * n + i + 1];
            x[i] /= row[i];
            let xi = x[i];
            for (x, l) in x[..i].iter_mut().zip(row) {
                *x -= l * xi;
            }
        }
        x.iter().zip(&self.scale).map(|(x, s)| x * s).collect()
    }
}

/// A dot product in eight independent lanes, which compilers turn into vector instructions.
fn lanes_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for i in 0..8 {
            lanes[i] += a[i] * b[i];
        }
    }
    lanes.iter().sum::<f64>() + tail
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_dependent_row_contributes_nothing() {
        let matrix = DMatrix::from_row_slice(2, 2, &[1.0, 1.0, 1.0, 1.0]);
        assert_eq!(Cholesky::new(matrix).unwrap().solve(&[2.0, 2.0]), [2.0, 0.0]);
    }

    #[test]
    fn a_matrix_of_no_numbers_is_refused() {
        assert!(Cholesky::new(DMatrix::from_row_slice(1, 1, &[f64::NAN])).is_none());
        assert!(Cholesky::new(DMatrix::from_row_slice(1, 1, &[-1.0])).is_none());
    }
}
