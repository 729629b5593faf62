//! Products of a matrix with itself taken away from another, in its upper triangle: what large systems spend their time with.
//!
//! nalgebra multiplies by a transposed matrix one dot product at a time, but a matrix by blocks that stay in cache, whatever its
//! strides; and a transposed matrix is one with other strides (ten times as fast, measured at an order of 1,000).

use nalgebra::{DMatrix, DMatrixView, DMatrixViewMut, Dyn, MatrixView};
use rayon::prelude::*;
use std::ops::Range;

/// Columns that are worked out together; the threads share these pieces.
const WIDTH: usize = 128;
/// Columns of a piece that are worked out together on and just above the diagonal, below which nothing is needed.
const NARROW: usize = 32;
/// Multiplications from which on blocks, and other threads, are worth while.
const BLOCKS: usize = 1 << 16;
const THREADS: usize = 1 << 22;
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
    let multiplications = depth * size * size;
    let of = |these: Range<usize>| &columns[these.start * depth..these.end * depth];
    // Takes away the products of some rows with the columns that are here.
    let take_away = |here: &mut [f64], rows: Range<usize>, of_here: Range<usize>| {
        let width = of_here.len();
        let mut here = DMatrixViewMut::from_slice(here, order, width);
        let mut here = here.view_mut((first + rows.start, 0), (rows.len(), width));
        let right = DMatrixView::from_slice(of(of_here), depth, width);
        // nalgebra reads beyond what has other strides where it multiplies one column by one, as it does with so few.
        if multiplications >= BLOCKS && depth.min(width).min(rows.len()) > FEW {
            let left = Transposed::from_slice_with_strides(of(rows.clone()), rows.len(), depth, depth, 1);
            here.gemm(-1.0, &left, &right, 1.0);
        } else {
            here.gemm_tr(-1.0, &DMatrixView::from_slice(of(rows.clone()), depth, rows.len()), &right, 1.0);
        }
    };
    let piece = |(position, piece): (usize, &mut [f64])| {
        let (left, end) = (position * WIDTH, position * WIDTH + piece.len() / order);
        if left > 0 {
            take_away(piece, 0..left, left..end);
        }
        for (position, narrow) in piece.chunks_mut(NARROW * order).enumerate() {
            let start = left + position * NARROW;
            let end = start + narrow.len() / order;
            take_away(narrow, left..end, start..end);
        }
    };
    let rest = &mut matrix.as_mut_slice()[first * order..];
    if multiplications >= THREADS {
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
            [(3, 7, 0), (3, 7, 5), (40, 100, 30), (40, 400, 30), (40, 415, 30), (5, 1_000, 10), (2, 5, 5)]
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
