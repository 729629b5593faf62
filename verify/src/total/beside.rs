//! Who counts beside those of a sum who are looked at: `below` is what somebody is worth beside the most of them, as a logarithm.

use crate::tolerance::{ALIKE, BEYOND, JUDGED};

/// Whether it is worth about as much, so that it is judged with them.
pub(super) fn is_judged(below: f64) -> bool {
    below > JUDGED.ln()
}

/// Whether it is worth so little that it may lose all that nothing guarantees.
pub(super) fn is_far_less(below: f64) -> bool {
    below < ALIKE.ln()
}

/// Whether it is worth more than `far` times as much, so that it has no less than it has.
pub(super) fn is_far_more(below: f64, far: f64) -> bool {
    below > far.ln()
}

/// Whether a point that is worth `reached`, of which `excess` lies beyond the rows of its program, is near one within them that is worth more
/// than what is left open.
pub(super) fn is_near(excess: f64, reached: f64, open: f64) -> bool {
    excess <= BEYOND * reached && reached - excess > open
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tolerance::WEIGHED;

    #[test]
    fn who_is_worth_about_as_much_is_judged_just_inside_the_tolerance_and_not_just_outside() {
        assert!(is_judged((1.001 * JUDGED).ln()) && !is_judged((0.999 * JUDGED).ln()));
    }

    #[test]
    fn who_is_worth_far_less_may_lose_all_just_outside_the_tolerance_and_not_just_inside() {
        assert!(is_far_less((0.999 * ALIKE).ln()) && !is_far_less((1.001 * ALIKE).ln()));
    }

    #[test]
    fn who_is_worth_far_more_loses_nothing_just_outside_the_tolerance_and_may_just_inside() {
        for far in WEIGHED {
            assert!(is_far_more((1.001 * far).ln(), far) && !is_far_more((0.999 * far).ln(), far), "{far:e}");
        }
    }

    #[test]
    fn a_point_beyond_the_rows_says_something_just_inside_the_tolerance_and_nothing_just_outside() {
        let (reached, open) = (1.0, 0.5);
        assert!(is_near(0.999 * BEYOND, reached, open) && !is_near(1.001 * BEYOND, reached, open));
        // Nor where what is left within the rows is no more than what is left open.
        let open = 1.0 - 0.5 * BEYOND;
        assert!(is_near(0.499 * BEYOND, reached, open) && !is_near(0.501 * BEYOND, reached, open));
    }
}
