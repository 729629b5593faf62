//! Work over all users on several threads. The list is cut at fixed places and the parts come back in its order, so
//! that what is merged from them does not depend on the number of threads.

use rayon::prelude::*;
use std::ops::Range;

/// Users in one part.
const LENGTH: usize = 1 << 14;

/// What `work` yields for each part of `0..users`, in order.
pub(crate) fn in_parts<T: Send>(users: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let part = |start: usize| work(start * LENGTH..users.min((start + 1) * LENGTH));
    (0..users.div_ceil(LENGTH)).into_par_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_users_once_and_in_order() {
        for users in [0, 1, LENGTH - 1, LENGTH, LENGTH + 1, 3 * LENGTH] {
            let all: Vec<usize> = in_parts(users, |part| part.collect::<Vec<_>>()).concat();
            assert!(all.into_iter().eq(0..users));
        }
    }
}
