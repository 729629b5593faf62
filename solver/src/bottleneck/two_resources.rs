//! One or two resources, exactly and at any size: users sorted by the proportion in which they take the two.
//!
//! With `ρ_i = a_i2 / a_i1` and `t = M_2 / M_1`, users with `ρ_i <= t` are held by the first resource, the others by the
//! second. Both are used up when the loads are equal: `f(t) = Σ w_i (1 − ρ_i) min(1, t/ρ_i) = 0`. This has one change of
//! sign at most: below `t = 1` `f(t)/t` falls, above it `f(t)` falls. Where there is none, only one resource is used up.

use super::demands::Demands;
use crate::sums::Compensated;
use rayon::prelude::*;

/// The levels; infinite for a resource that is not used up.
pub(super) fn levels(demands: &Demands) -> Vec<f64> {
    let sum = |terms: &mut dyn Iterator<Item = f64>| {
        let mut sum = Compensated::default();
        terms.for_each(|term| sum.add(term));
        sum.value()
    };
    if demands.resources == 1 {
        return vec![1.0 / sum(&mut demands.weights.iter().copied())];
    }
    let mut users: Vec<(f64, f64)> = demands
        .directions
        .chunks(2)
        .zip(&demands.weights)
        .map(|(direction, weight)| (direction[1] / direction[0], *weight))
        .collect();
    users.par_sort_by(|a, b| a.0.total_cmp(&b.0));
    let t = equal_loads(&users);
    // Loads over the first level, or over the second where the first is infinite.
    let first = |(ratio, weight): &(f64, f64)| if *ratio <= t { *weight } else { weight * t / ratio };
    if t == 0.0 {
        return vec![f64::INFINITY, 1.0 / sum(&mut users.iter().map(|user| user.1))];
    }
    let level = 1.0 / sum(&mut users.iter().map(first));
    vec![level, t * level]
}

/// The `t` of equal loads: 0 where only the second resource is used up, infinite where only the first. `users` are
/// `(ρ, w)`, sorted.
fn equal_loads(users: &[(f64, f64)]) -> f64 {
    // f(t) = held + t · others between two neighbouring ratios.
    let slope = |(ratio, weight): &(f64, f64)| if *ratio > 0.0 { weight * (1.0 / ratio - 1.0) } else { 0.0 };
    let mut others = Compensated::default();
    users.iter().for_each(|user| others.add(slope(user)));
    let mut held = Compensated::default();
    for user in users {
        let (ratio, weight) = *user;
        if ratio > 0.0 && held.value() + ratio * others.value() <= 0.0 {
            return if held.value() > 0.0 { held.value() / -others.value() } else { 0.0 };
        }
        if ratio.is_finite() {
            held.add(weight * (1.0 - ratio));
            others.add(-slope(user));
        }
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(directions: &[f64]) -> Vec<f64> {
        let weights = vec![1.0; directions.len() / 2];
        levels(&Demands { resources: 2, directions: directions.to_vec(), weights })
    }

    #[test]
    fn both_one_or_the_other_resource_is_used_up() {
        // x a = (1/2, 1) and (1, 1/2): each holds its own, x/2 + x = 1.
        let [first, second] = of(&[0.5, 1.0, 1.0, 0.5])[..] else { panic!() };
        assert!((first - 2.0 / 3.0).abs() < 1e-15 && (second - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(of(&[1.0, 0.5, 1.0, 0.25]), [0.5, f64::INFINITY]);
        assert_eq!(of(&[0.5, 1.0, 0.25, 1.0]), [f64::INFINITY, 0.5]);
        assert_eq!(of(&[1.0, 0.0, 0.0, 1.0]), [1.0, 1.0]);
        // Everybody takes as much of either.
        assert_eq!(of(&[1.0, 1.0, 1.0, 1.0]), [f64::INFINITY, 0.5]);
    }
}
