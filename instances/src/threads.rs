//! Where work is too little for another thread.

/// Users that a thread works through at least: with fewer it is done before another has woken up.
pub const FEW_USERS: usize = 1 << 11;

/// How many pieces a thread takes at least where all of them are this much work, in users: each may go to another, or none.
pub fn pieces_together(work: usize) -> usize {
    if work < FEW_USERS { usize::MAX } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    #[test]
    fn little_work_stays_where_it_is() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let gone = pool.install(|| {
            let here = std::thread::current().id();
            let pieces = (0..64).into_par_iter().with_min_len(pieces_together(FEW_USERS - 1));
            pieces.filter(|_| std::thread::current().id() != here).count()
        });
        assert_eq!(gone, 0);
        assert_eq!(pieces_together(FEW_USERS), 1);
    }
}
