//! Sums over users that are exact to the last digits and do not depend on the number of threads.

use fairplan_instances::pieces_together;
use rayon::prelude::*;
use std::ops::Range;

/// Parts into which the users are cut, whatever the number of threads, so that sums never change.
const PARTS: usize = 8;

/// A sum that carries its own rounding error along (Neumaier).
#[derive(Clone, Copy, Default)]
pub(crate) struct Compensated {
    sum: f64,
    error: f64,
}

impl Compensated {
    #[inline]
    pub fn add(&mut self, x: f64) {
        let total = self.sum + x;
        self.error += if self.sum.abs() >= x.abs() { (self.sum - total) + x } else { (x - total) + self.sum };
        self.sum = total;
    }

    pub fn value(self) -> f64 {
        self.sum + self.error
    }
}

/// How many users there are in each part but the last.
pub(crate) fn part_length(users: usize) -> usize {
    users.div_ceil(PARTS).max(1)
}

/// What `work` makes of each part of the users, in their order.
pub(crate) fn in_parts<T: Send>(users: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let length = part_length(users);
    let range = |part: usize| part * length..((part + 1) * length).min(users);
    let parts = (0..users.div_ceil(length)).into_par_iter().with_min_len(pieces_together(users));
    parts.map(|part| work(range(part))).collect()
}

/// A table of sums over all users: `add` enters a range of them into an empty one.
pub(crate) fn table_of_sums(
    users: usize,
    entries: usize,
    add: impl Fn(Range<usize>, &mut [Compensated]) + Sync,
) -> Vec<f64> {
    let parts = in_parts(users, |range| {
        let mut sums = vec![Compensated::default(); entries];
        add(range, &mut sums);
        sums
    });
    let mut totals = vec![Compensated::default(); entries];
    for part in parts {
        totals.iter_mut().zip(part).for_each(|(total, sum)| total.add(sum.value()));
    }
    totals.into_iter().map(Compensated::value).collect()
}

/// A column with an entry for each user.
pub(crate) fn column<T: Copy + Default + Send>(users: usize, entry: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut column = vec![T::default(); users];
    let length = part_length(users);
    let parts = column.par_chunks_mut(length).with_min_len(pieces_together(users));
    parts.enumerate().for_each(|(part, column)| {
        column.iter_mut().enumerate().for_each(|(offset, x)| *x = entry(part * length + offset));
    });
    column
}
