//! Exact comparison of two fractions of any size.

use crate::tolerance::APART;
use std::cmp::Ordering;

/// Compares `a/b` with `c/d` exactly and without overflow. A zero denominator stands for infinity.
pub fn compare_ratios((a, b): (u128, u128), (c, d): (u128, u128)) -> Ordering {
    if b > 0
        && d > 0
        && let (Some(left), Some(right)) = (a.checked_mul(d), c.checked_mul(b))
    {
        return left.cmp(&right);
    }
    by_digits((a, b), (c, d))
}

/// Which of two fractions is larger where their doubles `x` and `y`, both >= 0, tell for certain; `None` where they are too close together.
pub fn compare_nearly(x: f64, y: f64) -> Option<Ordering> {
    ((x - y).abs() > APART * x.max(y)).then(|| x.total_cmp(&y))
}

/// [`compare_ratios`] by the digits of their continued fractions.
fn by_digits((mut a, mut b): (u128, u128), (mut c, mut d): (u128, u128)) -> Ordering {
    let mut inverted = false;
    loop {
        let order = match (b, d) {
            (0, 0) => Ordering::Equal,
            (0, _) => Ordering::Greater,
            (_, 0) => Ordering::Less,
            _ => (a / b).cmp(&(c / d)),
        };
        if order != Ordering::Equal || b == 0 || d == 0 {
            return if inverted { order.reverse() } else { order };
        }
        // Equal whole parts: compare the remainders a%b / b and c%d / d, that is their inverses backwards.
        (a, b) = (b, a % b);
        (c, d) = (d, c % d);
        inverted = !inverted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn huge_fractions_that_differ_in_the_last_digit_are_told_apart() {
        let big = u128::MAX;
        assert_eq!(compare_ratios((big, big - 1), (big - 1, big - 2)), Ordering::Less);
        assert_eq!(compare_ratios((big, 3), (big, 3)), Ordering::Equal);
        assert_eq!(compare_ratios((1, 0), (big, 1)), Ordering::Greater);
    }

    #[test]
    fn doubles_just_beyond_their_error_tell_which_is_larger_and_just_within_it_do_not() {
        for x in [1e-300, 1.0 / 3.0, 1e300] {
            assert_eq!(compare_nearly(x, x * (1.0 - 1.1 * APART)), Some(Ordering::Greater));
            assert_eq!(compare_nearly(x * (1.0 - 1.1 * APART), x), Some(Ordering::Less));
            assert_eq!(compare_nearly(x, x * (1.0 - 0.9 * APART)), None);
        }
        assert_eq!(compare_nearly(0.0, 0.0), None);
    }

    proptest! {
        #[test]
        fn agrees_with_cross_multiplication(a: u64, b in 1u64.., c: u64, d in 1u64..) {
            let [a, b, c, d] = [a, b, c, d].map(u128::from);
            prop_assert_eq!(compare_ratios((a, b), (c, d)), (a * d).cmp(&(c * b)));
            prop_assert_eq!(by_digits((a, b), (c, d)), (a * d).cmp(&(c * b)));
        }
    }
}
