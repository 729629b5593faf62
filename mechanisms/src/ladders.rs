//! The highest rungs of many ladders: what taking one slice after another from whoever stands highest comes to,
//! without taking them one by one.
//!
//! A ladder is what one user's standing goes through as it takes slices: it starts at `top / weight` and each slice
//! lowers it by `step / weight`. Whoever always serves the highest standing serves the highest rungs of all ladders
//! together, and all that has to be found is the level above which they lie. Everything is exact; the number of
//! passes over the ladders depends on neither the slices nor the users, only on the range of the standings.

use crate::Ties;

/// One user's standing slice after slice. Magnitudes stay below 2^62.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ladder {
    /// The user, by position.
    pub user: u32,
    /// How much of a weight: standings are compared after division by it. 1 to 2^31 - 1.
    pub weight: u32,
    /// The standing before the first slice, times `weight`.
    pub top: i64,
    /// What a slice costs, times `weight`; above zero.
    pub step: i64,
    /// How many slices the user can take; above zero.
    pub rungs: u64,
}

/// A height between two standings: `whole + part / 2^bits`.
type Height = i128;

/// How finely heights tell standings apart: `a / w` and `b / v` differ by at least `1 / (w v)`.
#[derive(Clone, Copy)]
struct Scale {
    bits: u32,
}

impl Scale {
    fn of(ladders: &[Ladder]) -> Self {
        let widest = ladders.iter().map(|ladder| ladder.weight).max().unwrap_or(1);
        Self { bits: if widest == 1 { 0 } else { 2 * (u32::BITS - widest.leading_zeros()) } }
    }

    /// The smallest whole number that, divided by `weight`, is at or above `height`; or, of a height that no standing
    /// with this weight comes near, the smallest or largest there is.
    fn least(self, height: Height, weight: u32) -> i64 {
        if self.bits == 0 {
            return height as i64;
        }
        let weight = Height::from(weight);
        let part = height & ((1 << self.bits) - 1);
        let product = (height >> self.bits) * weight + ((part * weight + (1 << self.bits) - 1) >> self.bits);
        product.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// The height at or just below `standing / weight`.
    fn below(self, standing: i64, weight: u32) -> Height {
        if self.bits == 0 {
            return standing.into();
        }
        (Height::from(standing) << self.bits).div_euclid(Height::from(weight))
    }
}

impl Ladder {
    /// How many rungs are at or above the standing `least / weight`.
    fn rungs_from(&self, least: i64) -> u64 {
        if self.top < least {
            return 0;
        }
        let gap = self.top.abs_diff(least);
        let rungs = if self.step == 1 { gap } else { gap / self.step.unsigned_abs() };
        (rungs + 1).min(self.rungs)
    }
}

/// Takes the `count` highest rungs of all and calls `take` with each user that has some, and how many. Rungs of the
/// same height are taken in the order of `ties`; `ladders` are in ascending order of their users.
pub(crate) fn take_highest(
    ladders: &[Ladder],
    count: u64,
    ties: Ties,
    demands: &[u64],
    mut take: impl FnMut(usize, u64),
) {
    let all: u64 = ladders.iter().map(|ladder| ladder.rungs).sum();
    if count == 0 {
        return;
    }
    if count >= all {
        return ladders.iter().for_each(|ladder| take(ladder.user as usize, ladder.rungs));
    }
    let scale = Scale::of(ladders);
    let (level, reached) = level(ladders, scale, count, all);
    // The rungs above the level are all taken; those at it only as far as the count goes.
    let above: u64 = if reached == count { count } else { rungs_from(ladders, scale, level + 1) };
    let mut tied = Vec::new();
    for ladder in ladders {
        let at_level = ladder.rungs_from(scale.least(level, ladder.weight));
        let taken = if reached == count {
            at_level
        } else {
            let higher = ladder.rungs_from(scale.least(level + 1, ladder.weight));
            if at_level > higher {
                tied.push(ladder.user);
            }
            higher
        };
        if taken > 0 {
            take(ladder.user as usize, taken);
        }
    }
    ties.sort(&mut tied, demands);
    tied.into_iter().take((count - above) as usize).for_each(|user| take(user as usize, 1));
}

fn rungs_from(ladders: &[Ladder], scale: Scale, height: Height) -> u64 {
    ladders.iter().map(|ladder| ladder.rungs_from(scale.least(height, ladder.weight))).sum()
}

/// A height with at least `count` rungs at or above it, and how many there are: exactly `count`, or else fewer than
/// that are above it.
fn level(ladders: &[Ladder], scale: Scale, count: u64, all: u64) -> (Height, u64) {
    // `low` is below all rungs and `high` above.
    let bottom = |ladder: &Ladder| {
        let last = ladder.top - ladder.step * (ladder.rungs - 1) as i64;
        scale.below(last, ladder.weight)
    };
    let top = |ladder: &Ladder| scale.below(ladder.top, ladder.weight) + 1;
    let mut low = ladders.iter().map(bottom).min().unwrap_or(0);
    let mut high = ladders.iter().map(top).max().unwrap_or(0);
    let (mut at_low, mut at_high) = (all, 0);
    let mut guess = true;
    while high - low > 1 && at_low > count {
        // Rungs are spread evenly more often than not, so a guess by proportion is near; the middle, every other
        // time, bounds the number of guesses.
        let part = if guess { (at_low - count) as f64 / (at_low - at_high) as f64 } else { 0.5 };
        let height = low + ((high - low) as f64 * part) as Height;
        let height = height.clamp(low + 1, high - 1);
        guess = !guess;
        let reached = rungs_from(ladders, scale, height);
        if reached >= count {
            (low, at_low) = (height, reached);
        } else {
            (high, at_high) = (height, reached);
        }
    }
    (low, at_low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One slice after another: the highest standing, ties by the rule.
    fn one_by_one(ladders: &[Ladder], count: u64, ties: Ties, demands: &[u64]) -> Vec<u64> {
        let mut taken = vec![0; demands.len()];
        for _ in 0..count {
            let standing = |ladder: &Ladder| ladder.top - ladder.step * taken[ladder.user as usize] as i64;
            let higher = |a: &Ladder, b: &Ladder| {
                let cross = |a: &Ladder, b: &Ladder| i128::from(standing(a)) * i128::from(b.weight);
                cross(a, b).cmp(&cross(b, a)).then_with(|| ties.order(b.user, a.user, demands))
            };
            let open = ladders.iter().filter(|ladder| taken[ladder.user as usize] < ladder.rungs);
            let Some(next) = open.max_by(|a, b| higher(a, b)) else { break };
            taken[next.user as usize] += 1;
        }
        taken
    }

    fn ladders(weights: u32) -> impl Strategy<Value = Vec<Ladder>> {
        let ladder = (1..=weights, -30i64..30, 1i64..6, 1u64..12);
        proptest::collection::vec(ladder, 1..8).prop_map(|all| {
            let number =
                |(user, (weight, top, step, rungs))| Ladder { user: user as u32, weight, top, step, rungs };
            all.into_iter().enumerate().map(number).collect()
        })
    }

    fn check(ladders: &[Ladder], count: u64, ties: Ties, demands: &[u64]) -> Result<(), TestCaseError> {
        let mut taken = vec![0; demands.len()];
        take_highest(ladders, count, ties, demands, |user, slices| taken[user] += slices);
        prop_assert_eq!(taken, one_by_one(ladders, count, ties, demands));
        Ok(())
    }

    fn ties() -> impl Strategy<Value = Ties> {
        prop_oneof![Just(Ties::Lowest), Just(Ties::Highest), Just(Ties::Demand)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn taking_at_once_is_taking_one_by_one(
            ladders in prop_oneof![ladders(1), ladders(7)], count in 0u64..60, ties in ties(),
            demands in proptest::collection::vec(0u64..4, 8),
        ) {
            check(&ladders, count, ties, &demands)?;
        }
    }

    #[test]
    fn the_largest_magnitudes_are_told_apart() {
        let weight = (1 << 31) - 1;
        let near = |user, top, weight| Ladder { user, weight, top, step: 1, rungs: 1 };
        // top / weight differ by 1 / (w (w - 1)).
        let ladders = [near(0, 1 << 30, weight), near(1, 1 << 30, weight - 1), near(2, -(1 << 61), 1)];
        let mut taken = Vec::new();
        take_highest(&ladders, 1, Ties::Lowest, &[1; 3], |user, slices| taken.push((user, slices)));
        assert_eq!(taken, [(1, 1)]);
        let long = |user| Ladder { user, weight: 1, top: 1 << 61, step: 1 << 20, rungs: 1 << 36 };
        taken.clear();
        take_highest(&[long(0), long(1)], (1 << 36) + 1, Ties::Highest, &[1; 2], |user, slices| {
            taken.push((user, slices))
        });
        assert_eq!(taken, [(0, 1 << 35), (1, 1 << 35), (1, 1)]);
    }
}
