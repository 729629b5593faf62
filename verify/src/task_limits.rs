//! What work costs a user whose tasks are limited and do different work on different classes.
//!
//! At given prices a task on class `l` costs `c_l = Σ_r D_ir p_lr` and does `ρ_il` of work. `X` of work in at most `T`
//! tasks costs at least `Y X − Z T` for any `Y, Z >= 0` with `ρ_il Y − Z <= c_l` on every usable class (linear
//! programming duality). The best such pair is the tangent, at `X/T`, of the lower hull of the origin and the points
//! `(ρ_il, c_l)`.

use crate::rounding::{decimal_up, largest, up};
use crate::users::Usable;
use fairplan_instances::User;

/// A lower bound on what work costs: `slope` a unit of work, less `intercept` a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tangent {
    pub slope: f64,
    pub intercept: f64,
}

/// Whether the number of its tasks bears on where the user's tasks should run.
pub(crate) fn has_task_row(user: User<'_>, usable: &Usable) -> bool {
    user.tasks().is_some() && usable.rates_differ()
}

/// The tangent at `average` work a task, and to the right of a kink there. `prices` are row-major
/// `classes × resources`; `surely` is what is left of a sum of products after its roundings.
pub(crate) fn tangent(user: User<'_>, usable: &Usable, prices: &[f64], average: f64, surely: f64) -> Tangent {
    let demand = user.demand_doubles();
    let m = demand.len();
    let point = |&class: &usize| {
        let cost: f64 = demand.iter().zip(&prices[class * m..]).map(|(d, p)| d * p).sum();
        (decimal_up(usable.rate(class)), cost.min(f64::MAX) * surely)
    };
    let points: Vec<(f64, f64)> = usable.classes.iter().map(point).collect();
    let slope = slope_of_hull(&points, average);
    let intercept = largest(points.iter().map(|(rate, cost)| up(up(rate * slope) - cost)));
    if intercept.is_finite() { Tangent { slope, intercept } } else { Tangent { slope: 0.0, intercept: 0.0 } }
}

/// The slope of the lower hull of the origin and `points` just right of `average`; right of all points, the last.
fn slope_of_hull(points: &[(f64, f64)], average: f64) -> f64 {
    let (mut at, mut slope) = ((0.0, 0.0), 0.0);
    loop {
        let slope_to = |(rate, cost): &(f64, f64)| ((cost - at.1) / (rate - at.0)).max(0.0);
        let next = points
            .iter()
            .filter(|point| point.0 > at.0)
            .min_by(|a, b| slope_to(a).total_cmp(&slope_to(b)).then(b.0.total_cmp(&a.0)));
        let Some(next) = next else { return slope };
        slope = slope_to(next);
        at = *next;
        if average < at.0 {
            return slope;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slopes_rise_from_kink_to_kink() {
        let points = [(1.0, 1.0), (2.0, 4.0), (3.0, 5.0), (2.0, 3.5), (0.5, 3.0)];
        let slope = |average| slope_of_hull(&points, average);
        assert_eq!([slope(0.0), slope(0.99), slope(1.0), slope(2.9), slope(7.0)], [1.0, 1.0, 2.0, 2.0, 2.0]);
        assert_eq!(slope_of_hull(&[(1.0, 0.0), (2.0, 0.0)], 1.5), 0.0);
        assert_eq!(slope_of_hull(&[], 1.0), 0.0);
    }

    proptest! {
        #[test]
        fn no_other_line_below_the_points_is_higher_there(
            points in prop::collection::vec((1u8..6, 0u8..9), 1..6), average in 0.1f64..7.0
        ) {
            let points: Vec<_> = points.iter().map(|(r, c)| (f64::from(*r), f64::from(*c))).collect();
            let height = |slope: f64| {
                let above = points.iter().map(|(rate, cost)| slope * rate - cost).fold(0.0, f64::max);
                slope * average - above
            };
            let slope = slope_of_hull(&points, average);
            let fastest = points.iter().map(|point| point.0).fold(0.0, f64::max);
            for other in (0..400).map(|k| f64::from(k) / 10.0).filter(|_| average < fastest) {
                prop_assert!(height(other) <= height(slope) + 1e-12, "{other} is better than {slope}");
            }
        }
    }
}
