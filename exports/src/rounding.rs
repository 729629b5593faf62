//! Whole numbers that fit: each the one below or above its own, together no more than there is, by largest remainders.

use crate::tolerance::WHOLE;

/// Whole numbers for `exact` (each >= 0) that come to no more than `most`: each is the whole number below or above its own, and the
/// larger remainders are those that are rounded up; of equal ones the smaller number, then the first. `owed` is what each got too little
/// before, and counts with its remainder. `may_rise` says which may be rounded up at all.
///
/// They come to the whole number nearest to the sum of `exact`, as far as `most` and `may_rise` let them. Where already the
/// numbers below come to more than `most`, which is no case where the exact ones fit, the smallest remainders lose one each, and of
/// equal ones the larger number, which feels it least.
pub fn largest_remainders(exact: &[f64], owed: &[f64], most: u64, may_rise: &[bool]) -> Vec<u64> {
    let snapped =
        |number: &f64| if (number - number.round()).abs() <= WHOLE { number.round() } else { *number };
    let numbers: Vec<f64> = exact.iter().map(snapped).collect();
    let mut whole: Vec<u64> = numbers.iter().map(|number| number.floor() as u64).collect();
    let wanted = most.min(numbers.iter().sum::<f64>().round() as u64);
    let mut sum: u64 = whole.iter().sum();
    let remainder = |i: usize| numbers[i] - numbers[i].floor();
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    let claim = |i: usize| remainder(i) + owed[i];
    order.sort_by(|&a, &b| claim(b).total_cmp(&claim(a)).then(numbers[a].total_cmp(&numbers[b])));
    for &i in order.iter().filter(|&&i| remainder(i) > 0.0 && may_rise[i]) {
        if sum < wanted {
            whole[i] += 1;
            sum += 1;
        }
    }
    for &i in order.iter().rev() {
        if sum > most && whole[i] > 0 {
            whole[i] -= 1;
            sum -= 1;
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rounded(exact: &[f64], most: u64) -> Vec<u64> {
        largest_remainders(exact, &vec![0.0; exact.len()], most, &vec![true; exact.len()])
    }

    #[test]
    fn the_largest_remainders_are_rounded_up() {
        assert_eq!(rounded(&[2.5, 2.3, 5.2], 10), [3, 2, 5]);
        assert_eq!(rounded(&[0.9, 0.9, 0.9, 0.3], 3), [1, 1, 1, 0]);
        assert_eq!(rounded(&[3.0 - 1e-9, 7.0 + 1e-9], 10), [3, 7]);
        // Of equal remainders the smaller number, to which one is more.
        assert_eq!(rounded(&[9.5, 1.5], 11), [9, 2]);
    }

    #[test]
    fn what_is_nearly_a_whole_number_is_that_number_and_what_is_not_may_have_to_be_rounded_down() {
        let below = |part: f64| largest_remainders(&[3.0 - part * WHOLE], &[0.0], 10, &[false]);
        assert_eq!((below(0.9), below(1.1)), (vec![3], vec![2]));
    }

    #[test]
    fn what_may_not_rise_is_rounded_down() {
        assert_eq!(largest_remainders(&[2.5, 2.4, 5.1], &[0.0; 3], 10, &[false, true, true]), [2, 3, 5]);
        assert_eq!(largest_remainders(&[2.5, 2.5], &[0.0; 2], 5, &[false, false]), [2, 2]);
    }

    #[test]
    fn sums_that_are_over_by_their_last_digit_lose_one() {
        assert_eq!(rounded(&[3.9999999, 6.0], 9), [4, 5]);
    }

    proptest! {
        #[test]
        fn each_is_within_one_and_all_fit(exact in prop::collection::vec(0.0..1e6f64, 1..40), spare in 0.0..3.0f64) {
            let most = (exact.iter().sum::<f64>() + spare).floor() as u64;
            let whole = rounded(&exact, most);
            prop_assert!(whole.iter().sum::<u64>() <= most);
            for (whole, exact) in whole.iter().zip(&exact) {
                prop_assert!((*whole as f64 - exact).abs() < 1.0 + WHOLE, "{whole} for {exact}");
            }
            // No more is lost than what no whole number could hold.
            prop_assert!(exact.iter().sum::<f64>() - (whole.iter().sum::<u64>() as f64) < 1.0);
        }
    }
}
