//! Where users stand in a tree: those of one node side by side, one node after the other.

use crate::sums::{in_parts, part_length};
use fairplan_instances::pieces_together;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// The places of all users.
pub(super) struct Places {
    /// Where the users of each node begin, and at last where all end.
    pub starts: Vec<usize>,
    /// The user at each place, and the place of each user.
    pub user_at: Vec<u32>,
    pub place_of: Vec<u32>,
}

impl Places {
    /// By the node of each user; the users of a node stay in their order.
    pub fn by_node(of_user: &[u32], nodes: usize) -> Self {
        let n = of_user.len();
        // How many each part of the users has in each node says where it begins there: so parts can go on by themselves.
        let mut next: Vec<Vec<u32>> = in_parts(n, |part| {
            let mut counts = vec![0; nodes];
            of_user[part].iter().for_each(|v| counts[*v as usize] += 1);
            counts
        });
        let mut starts = Vec::with_capacity(nodes + 1);
        let mut end = 0;
        for v in 0..nodes {
            starts.push(end as usize);
            next.iter_mut().for_each(|counts| end += std::mem::replace(&mut counts[v], end));
        }
        starts.push(end as usize);
        let user_at: Vec<AtomicU32> = (0..n).map(|_| AtomicU32::new(0)).collect();
        let mut place_of = vec![0; n];
        let length = part_length(n);
        let parts = place_of.par_chunks_mut(length).zip(next.par_iter_mut());
        parts.with_min_len(pieces_together(n)).enumerate().for_each(|(part, (places, next))| {
            for (offset, place) in places.iter_mut().enumerate() {
                let user = part * length + offset;
                let next = &mut next[of_user[user] as usize];
                *place = *next;
                user_at[*place as usize].store(user as u32, Ordering::Relaxed);
                *next += 1;
            }
        });
        Self { starts, user_at: user_at.into_iter().map(AtomicU32::into_inner).collect(), place_of }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_of_a_node_stand_side_by_side_in_their_order() {
        let of_user: Vec<u32> = (0..1000).map(|i| i * i % 7).collect();
        let places = Places::by_node(&of_user, 8);
        let mut expected: Vec<u32> = (0..1000).collect();
        expected.sort_by_key(|user| of_user[*user as usize]);
        assert_eq!(places.user_at, expected);
        assert!((0..1000).all(|user| places.user_at[places.place_of[user] as usize] == user as u32));
        for v in 0..8 {
            let here = &places.user_at[places.starts[v]..places.starts[v + 1]];
            assert!(here.iter().all(|user| of_user[*user as usize] == v as u32), "{v}: {here:?}");
        }
        assert_eq!(places.starts[8], 1000);
    }
}
