//! Random times and amounts of work, drawn from the uniform numbers of a seed.

use fairplan_instances::{Random, Work, WorkDistribution};

/// An exponential number with mean 1.
pub(crate) fn exponential(random: &mut Random) -> f64 {
    -random.unit().ln()
}

/// The work of a transaction.
pub(crate) fn work(work: Work, random: &mut Random) -> f64 {
    let over_mean = match work.distribution {
        WorkDistribution::Exponential => exponential(random),
        WorkDistribution::Deterministic => 1.0,
        WorkDistribution::HyperExponential { squared_variation } => {
            // The first phase with this probability; each phase brings half of the work on average.
            let first = 0.5 * (1.0 + ((squared_variation - 1.0) / (squared_variation + 1.0)).sqrt());
            let of_phase = if random.unit() <= first { first } else { 1.0 - first };
            exponential(random) / (2.0 * of_phase)
        }
        WorkDistribution::Pareto { shape } => (shape - 1.0) / shape * random.unit().powf(-1.0 / shape),
    };
    work.mean * over_mean
}

/// How many whole pieces of work a transaction consists of, at least 1: a geometric number for work without memory, else
/// the work in units of a piece, rounded. `mean` is their mean number.
pub(crate) fn pieces(of: Work, mean: f64, random: &mut Random) -> u64 {
    if of.distribution != WorkDistribution::Exponential {
        return (mean * work(Work { mean: 1.0, ..of }, random)).round().max(1.0) as u64;
    }
    // The number of trials until the first success, of probability 1/mean; a mean of 1 leaves no other.
    (random.unit().ln() / (-1.0 / mean).ln_1p()).floor() as u64 + 1
}

/// A position in proportion to the weights, whose running sums are `ends`.
pub(crate) fn position(ends: &[f64], random: &mut Random) -> usize {
    let point = random.unit() * ends[ends.len() - 1];
    ends.partition_point(|end| *end < point).min(ends.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_variations_are_those_asked_for() {
        let mut random = Random::new(1, 0);
        let hyper = WorkDistribution::HyperExponential { squared_variation: 4.0 };
        for (distribution, variation) in [
            (WorkDistribution::Exponential, 1.0),
            (WorkDistribution::Deterministic, 0.0),
            (hyper, 4.0),
            (WorkDistribution::Pareto { shape: 5.0 }, 1.0 / 15.0),
        ] {
            let count = 400_000;
            let drawn: Vec<f64> =
                (0..count).map(|_| work(Work { mean: 3.0, distribution }, &mut random)).collect();
            let mean = drawn.iter().sum::<f64>() / f64::from(count);
            let square = drawn.iter().map(|work| (work - mean).powi(2)).sum::<f64>() / f64::from(count);
            assert!((mean - 3.0).abs() < 0.03, "{distribution:?}: mean {mean}");
            let found = square / (mean * mean);
            assert!((found - variation).abs() < 0.05 * variation.max(0.01), "{distribution:?}: {found}");
        }
        let geometric = Work { mean: 3.0, distribution: WorkDistribution::Exponential };
        let mean = (0..200_000).map(|_| pieces(geometric, 20.0, &mut random)).sum::<u64>() as f64 / 200_000.0;
        assert!((mean - 20.0).abs() < 0.2, "{mean}");
        assert_eq!(pieces(geometric, 1.0, &mut random), 1);
        let always = Work { mean: 3.0, distribution: WorkDistribution::Deterministic };
        assert_eq!(pieces(always, 20.0, &mut random), 20);
        let ends = [1.0, 1.0, 4.0];
        let thirds = (0..90_000).filter(|_| position(&ends, &mut random) == 2).count();
        assert!((66_000..69_000).contains(&thirds), "{thirds}");
    }
}
