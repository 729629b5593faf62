//! Quanta from left to right: what is shown of series that are longer than a page is wide.

use super::POINTS;
use crate::figure::{Curve, Figure};
use crate::names::cut;
use fairplan_instances::Label;

/// What is kept of neighbouring quanta that share a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Their mean.
    Mean,
    /// The largest.
    Largest,
}

/// One value a quantum, as points; neighbours are put together where there are more than a curve has points.
pub(crate) fn thinned(values: &[f64], keep: Keep) -> Vec<[f64; 2]> {
    let width = values.len().div_ceil(POINTS).max(1);
    let point = |(position, values): (usize, &[f64])| {
        let value = match keep {
            Keep::Mean => values.iter().sum::<f64>() / values.len() as f64,
            Keep::Largest => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        };
        [(position * width) as f64, value]
    };
    values.chunks(width).enumerate().map(point).collect()
}

/// Users that have a curve each; of more, only sums or extremes are told apart by eyes.
const CURVES: usize = 7;

/// What each user has in each quantum (`of(user, quantum)`): a curve for each of few users, or that of all together.
pub(crate) fn together(ids: &[&str], quanta: usize, of: &dyn Fn(usize, usize) -> f64) -> Vec<Curve> {
    let curve = |name: &str, values: Vec<f64>| super::line(name, thinned(&values, Keep::Mean));
    if ids.len() <= CURVES {
        let one =
            |(user, id): (usize, &&str)| curve(id, (0..quanta).map(|quantum| of(user, quantum)).collect());
        return ids.iter().enumerate().map(one).collect();
    }
    let sum = |quantum: usize| (0..ids.len()).map(|user| of(user, quantum)).sum();
    vec![curve("all users", (0..quanta).map(sum).collect())]
}

/// What each user has in each quantum: a curve for each of few users, or the least, the median and the most.
pub(crate) fn apart(ids: &[&str], quanta: usize, of: &dyn Fn(usize, usize) -> f64) -> Vec<Curve> {
    if ids.len() <= CURVES {
        return together(ids, quanta, of);
    }
    let sorted = |quantum: usize| {
        let mut values: Vec<f64> = (0..ids.len()).map(|user| of(user, quantum)).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let rows: Vec<Vec<f64>> = (0..quanta).map(sorted).collect();
    let ranks = [("most", ids.len() - 1), ("median", ids.len() / 2), ("least", 0)];
    let curve = |(name, rank): (&str, usize)| {
        let values: Vec<f64> = rows.iter().map(|row| row[rank]).collect();
        super::line(name, thinned(&values, Keep::Mean))
    };
    ranks.into_iter().map(curve).collect()
}

/// Curves over quanta, whose names stand below the horizontal axis.
pub(crate) fn over<'a>(
    title: &str,
    quanta: impl Iterator<Item = &'a Label>,
    vertical: &str,
    curves: Vec<Curve>,
) -> Figure {
    let names = quanta.map(|label| cut(&label.to_string(), NAME)).collect();
    Figure { names, ..super::curves(title, "quanta", vertical, curves) }
}

/// Letters of a quantum's name.
const NAME: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_series_keep_their_means_or_peaks_and_short_ones_every_point() {
        assert_eq!(thinned(&[3.0, 1.0], Keep::Mean), [[0.0, 3.0], [1.0, 1.0]]);
        let long: Vec<f64> = (0..2 * POINTS).map(|q| f64::from(u32::from(q % 2 == 1))).collect();
        let means = thinned(&long, Keep::Mean);
        assert!(means.len() == POINTS && means.iter().all(|point| point[1] == 0.5), "{means:?}");
        assert!(thinned(&long, Keep::Largest).iter().all(|point| point[1] == 1.0));
    }

    #[test]
    fn many_users_are_summed_or_shown_by_their_extremes() {
        let ids = ["u"; CURVES + 2];
        let of = |user: usize, quantum: usize| (user * (quantum + 1)) as f64;
        let sums = together(&ids, 2, &of);
        assert_eq!(sums[0].points, [[0.0, 36.0], [1.0, 72.0]]);
        let ranks: Vec<f64> = apart(&ids, 2, &of).iter().map(|curve| curve.points[1][1]).collect();
        assert_eq!(ranks, [16.0, 8.0, 0.0]);
        assert_eq!(together(&ids[..2], 2, &of).len(), 2);
    }
}
