//! A pass over the users at given prices: what they would load the classes with, how that changes with the prices, and
//! who is hardly decided between classes.

use super::users::Users;
use crate::smooth::consumer::{Consumer, Support};
use crate::smooth::utility::Utility;
use crate::sums::{Compensated, in_parts};

/// What all users do at their best.
pub(super) struct AggregateDemand {
    /// Load of each class and resource.
    pub usage: Vec<f64>,
    /// `−∂ usage / ∂ price`, row-major, symmetric.
    pub slope: Vec<f64>,
    /// Users that would go to another class if prices changed by the part that was asked about, or less, with how much
    /// it takes.
    pub undecided: Vec<(f64, usize)>,
}

/// What one user does at its best.
#[derive(Clone, Copy, Debug)]
pub(super) struct BestResponse {
    pub support: Support,
    /// What its tasks are worth at rate 1 on each class of the support.
    pub splits: [f64; 2],
    /// The price of a task.
    pub lambda: f64,
    /// The price of work.
    pub price: f64,
    /// By how much the split of a single class falls per unit that it becomes dearer; or that of the faster of two per
    /// unit of the difference.
    pub slope: f64,
}

impl BestResponse {
    pub fn of(consumer: &Consumer<'_>) -> Option<Self> {
        let (support, lambda) = consumer.support()?;
        let Consumer { utility, weight, tasks, rates, costs } = *consumer;
        let (splits, price, slope) = match support {
            Support::Partly(l) => {
                let price = costs[l] / rates[l];
                let split = utility.demand(weight, price) / rates[l];
                ([split, 0.0], price, split / (utility.alpha * costs[l]))
            }
            Support::Fully(l) => ([tasks, 0.0], (costs[l] + lambda) / rates[l], 0.0),
            Support::Between(slow, fast) => {
                let ahead = rates[fast] - rates[slow];
                let price = (costs[fast] - costs[slow]) / ahead;
                let demand = utility.demand(weight, price);
                let faster = ((demand - tasks * rates[slow]) / ahead).clamp(0.0, tasks);
                ([tasks - faster, faster], price, demand / (utility.alpha * price * ahead * ahead))
            }
        };
        Some(Self { support, splits, lambda, price, slope })
    }

    /// Each class of the support with its split.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, f64)> {
        let classes = match self.support {
            Support::Partly(l) | Support::Fully(l) => [Some(l), None],
            Support::Between(slow, fast) => [Some(slow), Some(fast)],
        };
        classes.into_iter().zip(self.splits).filter_map(|(class, split)| Some((class?, split)))
    }

    /// The part by which costs must change for the user to jump to another class. From where it runs all tasks on one
    /// class, or some on a second one, it does not jump but goes little by little.
    fn decision(&self, consumer: &Consumer<'_>) -> f64 {
        let mut nearest = [f64::INFINITY; 2];
        let others = |l: &usize| consumer.rates[*l] > 0.0 && !self.pairs().any(|(class, _)| class == *l);
        for l in (0..consumer.rates.len()).filter(others) {
            let due = consumer.costs[l] + self.lambda;
            let dearer = 1.0 - self.price * consumer.rates[l] / due;
            if dearer < nearest[0] {
                nearest = [dearer, nearest[0]];
            } else if dearer < nearest[1] {
                nearest[1] = dearer;
            }
        }
        let [first, second] = nearest;
        match self.support {
            Support::Partly(_) => first,
            Support::Fully(l) => first.max(self.lambda / (consumer.costs[l] + self.lambda)).min(second),
            Support::Between(_, l) => first.min(self.lambda / (consumer.costs[l] + self.lambda)),
        }
    }

    /// Adds what the user loads the classes with, and how that falls with the prices.
    pub fn add(
        &self,
        direction: &[f64],
        mut usage: impl FnMut(usize, f64),
        mut slope: impl FnMut(usize, usize, f64),
    ) {
        let m = direction.len();
        for (class, split) in self.pairs() {
            direction.iter().enumerate().for_each(|(r, part)| usage(class * m + r, split * part));
        }
        if self.slope == 0.0 {
            return;
        }
        let between = |signed: [Option<(usize, f64)>; 2], slope: &mut dyn FnMut(usize, usize, f64)| {
            for (a, sign) in signed.into_iter().flatten() {
                for (b, other) in signed.into_iter().flatten() {
                    for (r, part) in direction.iter().enumerate() {
                        for (s, with) in direction.iter().enumerate() {
                            slope(a * m + r, b * m + s, self.slope * sign * other * part * with);
                        }
                    }
                }
            }
        };
        match self.support {
            Support::Partly(l) | Support::Fully(l) => between([Some((l, 1.0)), None], &mut slope),
            Support::Between(slow, fast) => between([Some((slow, -1.0)), Some((fast, 1.0))], &mut slope),
        }
    }
}

/// Looks at every `stride`-th user.
pub(super) fn aggregate_demand(
    users: &Users,
    stride: usize,
    utility: Utility,
    prices: &[f64],
    undecided: f64,
) -> AggregateDemand {
    let rows = prices.len();
    let sample = users.len().div_ceil(stride);
    let parts = in_parts(sample, |range| {
        let mut costs = vec![0.0; users.class_count()];
        let mut usage = vec![Compensated::default(); rows];
        let (mut slope, mut near) = (vec![0.0; rows * rows], Vec::new());
        for i in range.map(|i| i * stride) {
            let Some(consumer) = users.consumer(i, utility, prices, &mut costs) else { continue };
            let Some(best) = BestResponse::of(&consumer) else { continue };
            if undecided > 0.0 {
                let decision = best.decision(&consumer);
                if decision <= undecided {
                    near.push((decision, i));
                }
            }
            best.add(users.direction(i), |row, x| usage[row].add(x), |a, b, x| slope[a * rows + b] += x);
        }
        (usage, slope, near)
    });
    let mut usage = vec![Compensated::default(); rows];
    let (mut slope, mut undecided) = (vec![0.0; rows * rows], Vec::new());
    for (part, slopes, near) in parts {
        usage.iter_mut().zip(part).for_each(|(sum, x)| sum.add(x.value()));
        slope.iter_mut().zip(slopes).for_each(|(sum, x)| *sum += x);
        undecided.extend(near);
    }
    AggregateDemand { usage: usage.into_iter().map(Compensated::value).collect(), slope, undecided }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_stream::stream;
    use approx::assert_relative_eq;

    /// A user at its best, at prices of two resources on three classes, or `None` where it is undecided.
    fn best(direction: &[f64; 2], rates: &[f64], prices: &[f64]) -> Option<BestResponse> {
        let costs: Vec<f64> =
            prices.chunks(2).map(|prices| prices[0] * direction[0] + prices[1] * direction[1]).collect();
        let consumer =
            Consumer { utility: Utility::new(2.0, 0.0), weight: 1.0, tasks: 1.0, rates, costs: &costs };
        BestResponse::of(&consumer).filter(|best| best.decision(&consumer) > 1e-3)
    }

    #[test]
    fn slopes_are_those_of_loads_at_slightly_other_prices() {
        let mut compared = 0;
        for seed in 0..100 {
            let mut next = stream(seed);
            let rates: Vec<f64> = (0..3).map(|_| 0.1 + next()).collect();
            let prices: Vec<f64> = (0..6).map(|_| 0.1 + 2.0 * next()).collect();
            let direction = [1.0, next()];
            let Some(now) = best(&direction, &rates, &prices) else { continue };
            let (mut slopes, mut loads) = (vec![0.0; 36], vec![0.0; 6]);
            now.add(&direction, |row, x| loads[row] += x, |a, b, x| slopes[a * 6 + b] += x);
            for row in 0..6 {
                let moved = |by: f64| {
                    let mut prices = prices.clone();
                    prices[row] += by;
                    let mut loads = vec![0.0; 6];
                    let best = best(&direction, &rates, &prices)?;
                    best.add(&direction, |row, x| loads[row] += x, |_, _, _| {});
                    (best.support == now.support).then_some(loads)
                };
                let (Some(more), Some(less)) = (moved(1e-6), moved(-1e-6)) else { continue };
                for other in 0..6 {
                    let slope = (less[other] - more[other]) / 2e-6;
                    assert_relative_eq!(slopes[other * 6 + row], slope, max_relative = 1e-5, epsilon = 1e-8);
                    compared += 1;
                }
            }
        }
        assert!(compared > 1000, "{compared}");
    }
}
