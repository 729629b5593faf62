//! Whole numbers drawn from a seed, the same on every machine and with every version of the libraries.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// One stream of the pseudo-random numbers of a seed (ChaCha8). Integer arithmetic only.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// Stream number `stream` of `seed`. Streams are independent: what one draws does not move another.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(stream);
        Self(generator)
    }

    /// Uniform on `0..n` for `n >= 1`, without bias (Lemire, "Fast random integer generation in an
    /// interval", 2019).
    pub fn below(&mut self, n: u64) -> u64 {
        let mut product = u128::from(self.0.next_u64()) * u128::from(n);
        if (product as u64) < n {
            let threshold = n.wrapping_neg() % n;
            while (product as u64) < threshold {
                product = u128::from(self.0.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// Uniform on `low..=high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Uniform above 0 and up to 1, in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Spread over `base .. base·2^octaves`: each doubling is equally likely, and uniform within.
    pub fn spread(&mut self, base: u64, octaves: u32) -> u64 {
        let start = base << self.below(u64::from(octaves));
        start + self.below(start)
    }
}

/// Positions drawn in proportion to whole weights.
pub(crate) struct Weighted {
    ends: Vec<u64>,
    total: u64,
}

impl Weighted {
    /// At least one weight must be positive; their sum must fit.
    pub fn new(weights: impl IntoIterator<Item = u64>) -> Self {
        let mut total = 0;
        let ends = weights
            .into_iter()
            .map(|weight| {
                total += weight;
                total
            })
            .collect();
        Self { ends, total }
    }

    /// Position `k` with probability weight `k` over the sum.
    pub fn draw(&self, random: &mut Random) -> usize {
        let point = random.below(self.total);
        self.ends.partition_point(|&end| end <= point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_of_a_seed_never_change() {
        // Recomputed from the definition of ChaCha8, apart from any library.
        let mut random = Random::new(1, 0);
        let drawn: Vec<u64> = (0..6).map(|_| random.below(1000)).collect();
        assert_eq!(drawn, [381, 294, 798, 916, 855, 139]);
        let mut random = Random::new(1, 1);
        let drawn: Vec<u64> = (0..6).map(|_| random.spread(100, 10)).collect();
        assert_eq!(drawn, [363, 8496, 1577, 3752, 50946, 254]);
    }

    #[test]
    fn draws_below_n_are_even_and_never_reach_n() {
        let mut random = Random::new(7, 0);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[random.below(6) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
        // Nearly half of all draws must be rejected here; a biased method would show at once.
        let n = (1 << 63) + 1;
        let low_half = (0..10_000).filter(|_| random.below(n) < n / 2).count();
        assert!((4_800..5_200).contains(&low_half), "{low_half}");
    }

    #[test]
    fn spread_numbers_fill_each_doubling_alike() {
        let mut random = Random::new(3, 0);
        let mut counts = [0u32; 4];
        for _ in 0..40_000 {
            let value = random.spread(5, 4);
            counts[(value / 5).ilog2() as usize] += 1;
        }
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
    }

    #[test]
    fn positions_come_in_proportion_to_their_weights_and_never_where_it_is_zero() {
        let mut random = Random::new(5, 0);
        let weighted = Weighted::new([0, 1, 0, 3, 0]);
        let mut counts = [0u32; 5];
        for _ in 0..40_000 {
            counts[weighted.draw(&mut random)] += 1;
        }
        assert_eq!((counts[0], counts[2], counts[4]), (0, 0, 0));
        assert!((9_600..10_400).contains(&counts[1]), "{counts:?}");
    }
}
