//! Every tolerance of the vocabulary: how far two numbers may lie apart and be one, in which unit, and why so much.

/// Two shares, levels or values are one number up to this part of it: they are added up in another order.
pub(crate) const SAME: f64 = 1e-9;

/// One level is above another by more than this part of it, or they are one: levels of users that are alike are known to some nine digits.
pub(crate) const ABOVE: f64 = 1e-6;

/// A limit has a price where all of it is worth more than this part of all there is: solvers leave roundings of prices behind.
pub(crate) const PRICED: f64 = 1e-9;

/// Parts of a commitment below this are none: periods are counted in doubles.
pub(crate) const NO_PERIOD: f64 = 1e-9;

/// Doubles of two fractions that differ by more than this part of the larger differ in truth: each carries at most a dozen roundings.
pub(crate) const APART: f64 = 64.0 * f64::EPSILON;

/// Loads over capacities, and limits, are kept exactly; what is above a full 1 by less than this is rounding.
pub(crate) const FULL: f64 = 1e-9;

/// A purchase that costs no more than its bound but for this part of it is proved the cheapest: prices are sums of doubles.
pub(crate) const CHEAPEST: f64 = 1e-9;

/// How much more than what the servers hold a mix of tasks must be worth to be another one, in parts of it: less is rounding.
pub(crate) const NO_BETTER: f64 = 1e-15;

/// A part of a resource that is all of it, up to rounding.
pub(crate) const ALL: f64 = 1.0 - 2.0 * f64::EPSILON;

/// Where what a variable adds to the objective of a small program counts as nothing, beside the largest coefficient, which is scaled to 1.
pub(crate) const NO_GAIN: f64 = 1e-15;

/// Where an entry of a column of it counts as nothing; entries are expected to be at most about 1.
pub(crate) const NO_PIVOT: f64 = 1e-13;

/// Entries by which a row of it can be divided without blowing up roundings beyond a few digits.
pub(crate) const SOUND_PIVOT: f64 = 1e-3;

/// By which part the mean of the packets of a class may miss what the class states.
pub(crate) const MEAN_OF_PACKETS: f64 = 1e-9;

/// What dividing amounts by demands may be off.
pub(crate) const QUOTIENT: f64 = 1e-12;

/// Who pays, and what costs, less than this part of the most is not worth a name.
pub(crate) const LITTLE: f64 = 1e-6;

/// How far two prices of one group of classes may lie apart, in parts of the largest of all classes: prices have fewer digits than
/// the levels that they prove.
pub(crate) const PRICES: f64 = 1e-6;

/// By which part above a level the tangents of its users are taken: above a kink that is at the level but for rounding.
pub(crate) const TANGENT: f64 = 1e-9;

/// A bound this close to the value, as a part of it, is the value: a few roundings of both.
pub(crate) const CLOSED: f64 = 4.0 * f64::EPSILON;

/// By how much the α of a sum differs from 1 at least, where it is another: a value is a sum divided by that, and known to so many parts less.
pub(crate) const NEAREST_ALPHA: f64 = 1e-6;

/// `load / capacity`, and 0 of nothing. Allocations and limits are kept exactly; what rounding puts above a full 1 is taken off.
pub(crate) fn part(load: f64, capacity: f64) -> f64 {
    let part = if capacity > 0.0 { load / capacity } else { 0.0 };
    if part > 1.0 && part < 1.0 + FULL { 1.0 } else { part }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_just_above_all_is_all_and_one_clearly_above_is_told() {
        assert_eq!(part(1.0 + 0.9 * FULL, 1.0), 1.0);
        assert!(part(1.0 + 1.1 * FULL, 1.0) > 1.0);
        assert_eq!((part(0.5, 2.0), part(1.0, 0.0)), (0.25, 0.0));
    }
}
