//! Ranks in bottlenecks, by which whoever is served gets a bottleneck max fair allocation (MRF Sec. 3.3): at each bottleneck
//! the largest share has rank 1, and a share smaller than `k - 1` others has rank `k`. Whoever's smallest rank in any
//! bottleneck is largest is served first.

/// Who has how much of each bottleneck.
pub(crate) struct Ranks {
    /// A bottleneck, or `None` for dominant shares where there is none, and all shares of it in falling order.
    bottlenecks: Vec<(Option<usize>, Vec<f64>)>,
}

impl Ranks {
    /// The ranks at these resources of all whose shares `of` lists; where there is no bottleneck, of their dominant shares.
    pub fn new(bottlenecks: impl Iterator<Item = usize>, of: impl Fn(Option<usize>) -> Vec<f64>) -> Self {
        let mut ranked: Vec<Option<usize>> = bottlenecks.map(Some).collect();
        if ranked.is_empty() {
            ranked.push(None);
        }
        let sorted = |bottleneck: Option<usize>| {
            let mut shares = of(bottleneck);
            shares.sort_unstable_by(|a, b| b.total_cmp(a));
            (bottleneck, shares)
        };
        Self { bottlenecks: ranked.into_iter().map(sorted).collect() }
    }

    /// The smallest rank of somebody with these shares.
    pub fn smallest(&self, share: impl Fn(Option<usize>) -> f64) -> usize {
        let rank = |(bottleneck, shares): &(Option<usize>, Vec<f64>)| {
            let own = share(*bottleneck);
            1 + shares.partition_point(|other| *other > own)
        };
        self.bottlenecks.iter().map(rank).min().unwrap_or(1)
    }

    /// What somebody has of each bottleneck, to be changed later.
    pub fn held(&self, share: impl Fn(Option<usize>) -> f64) -> Vec<f64> {
        self.bottlenecks.iter().map(|(bottleneck, _)| share(*bottleneck)).collect()
    }

    /// Somebody who held this now has these shares.
    pub fn change(&mut self, held: &[f64], share: impl Fn(Option<usize>) -> f64) {
        for ((bottleneck, shares), held) in self.bottlenecks.iter_mut().zip(held) {
            let old = shares.partition_point(|other| other > held);
            if old < shares.len() {
                shares.remove(old);
            }
            let new = share(*bottleneck);
            shares.insert(shares.partition_point(|other| *other > new), new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_rank_over_all_bottlenecks_counts_and_equal_shares_have_the_same() {
        // Of two resources: five users.
        let held = [[0.3, 0.0], [0.3, 0.1], [0.2, 0.4], [0.1, 0.4], [0.0, 0.2]];
        let of = |bottleneck: Option<usize>| held.iter().map(|user| user[bottleneck.unwrap_or(0)]).collect();
        let smallest = |ranks: &Ranks| held.map(|user| ranks.smallest(|r| user[r.unwrap_or(0)]));
        assert_eq!(smallest(&Ranks::new([0].into_iter(), of)), [1, 1, 3, 4, 5]);
        assert_eq!(smallest(&Ranks::new([1].into_iter(), of)), [5, 4, 1, 1, 3]);
        let mut both = Ranks::new([0, 1].into_iter(), of);
        assert_eq!(smallest(&both), [1, 1, 1, 1, 3]);
        assert_eq!(smallest(&Ranks::new([].into_iter(), of)), [1, 1, 3, 4, 5]);
        let before = both.held(|r| held[4][r.unwrap_or(0)]);
        both.change(&before, |_| 0.35);
        assert_eq!(both.smallest(|_| 0.35), 1);
        assert_eq!(both.smallest(|r| held[0][r.unwrap_or(0)]), 2);
    }
}
