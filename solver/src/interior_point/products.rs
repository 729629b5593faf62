//! Products of a matrix with itself taken away from another, in its upper triangle: what large systems spend their time with.
//!
//! nalgebra multiplies by a transposed matrix one dot product at a time, but a matrix by blocks that stay in cache, whatever its
//! strides; and a transposed matrix is one with other strides (ten times as fast, measured at an order of 1,000).

use nalgebra::{DMatrix, DMatrixView, DMatrixViewMut, Dyn, MatrixView};
use rayon::prelude::*;

/// Columns that are worked out together; the threads share these pieces.
const WIDTH: usize = 64;
/// Multiplications from which on blocks and other threads are worth while.
const LARGE: usize = 1 << 22;
/// Rows or columns up to which nalgebra multiplies without blocks.
const FEW: usize = 5;

/// `matrix −= columnsᵀ columns` in the upper triangle of the rows and columns from `first` on, of which `columns` has one
/// each, one after the other. What is below the diagonal there means nothing afterwards.
pub(crate) fn take_square_away(matrix: &mut DMatrix<f64>, first: usize, columns: &[f64]) {
    let order = matrix.nrows();
    let size = order - first;
    if size == 0 {
        return;
    }
    let depth = columns.len() / size;
    let large = depth * size * size >= LARGE;
    let piece = |(position, piece): (usize, &mut [f64])| {
        let (left, width) = (position * WIDTH, piece.len() / order);
        let right = left + width;
        let mut piece = DMatrixViewMut::from_slice(piece, order, width);
        let mut piece = piece.view_mut((first, 0), (right, width));
        let here = DMatrixView::from_slice(&columns[left * depth..], depth, width);
        // nalgebra reads beyond what has other strides where it multiplies one column by one, as it does with so few.
        if large && depth.min(width) > FEW {
            let rows = Transposed::from_slice_with_strides(columns, right, depth, depth, 1);
            piece.gemm(-1.0, &rows, &here, 1.0);
        } else {
            piece.gemm_tr(-1.0, &DMatrixView::from_slice(columns, depth, right), &here, 1.0);
        }
    };
    let rest = &mut matrix.as_mut_slice()[first * order..];
    if large {
        rest.par_chunks_mut(WIDTH * order).enumerate().for_each(piece);
    } else {
        rest.chunks_mut(WIDTH * order).enumerate().for_each(piece);
    }
}

/// A matrix whose columns are the rows of another.
type Transposed<'a> = MatrixView<'a, f64, Dyn, Dyn, Dyn, Dyn>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_stream::stream;

    #[test]
    fn small_and_large_squares_are_taken_away_from_the_trailing_upper_triangle() {
        for (rows, order, first) in
            [(3, 7, 0), (3, 7, 5), (40, 400, 30), (40, 415, 30), (5, 1_000, 10), (2, 5, 5)]
        {
            let mut next = stream(7);
            let before = DMatrix::from_fn(order, order, |_, _| next());
            let columns = DMatrix::from_fn(rows, order - first, |_, _| next());
            let mut after = before.clone();
            take_square_away(&mut after, first, columns.as_slice());
            for j in 0..order {
                for i in 0..=j {
                    let product =
                        |i: usize, j: usize| columns.column(i - first).dot(&columns.column(j - first));
                    let expected = before[(i, j)] - if i >= first { product(i, j) } else { 0.0 };
                    approx::assert_relative_eq!(after[(i, j)], expected, epsilon = 1e-12);
                }
            }
        }
    }
}
