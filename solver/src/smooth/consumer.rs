//! One user as a consumer: its best response to prices, on which classes it runs, and what its tasks are worth to it.

use super::utility::Utility;

/// A user, and what it sees of the prices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Consumer<'a> {
    pub utility: Utility,
    pub weight: f64,
    /// What its tasks are worth at rate 1, infinite without a limit.
    pub tasks: f64,
    /// Work of a task on each class, 0 where it cannot run.
    pub rates: &'a [f64],
    /// What a task worth one unit of share costs on each class.
    pub costs: &'a [f64],
}

/// The classes on which a user runs in its best response: where its split is not zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Support {
    /// Where work is cheapest; what it demands needs fewer tasks than it has.
    Partly(usize),
    /// All tasks on one class.
    Fully(usize),
    /// All tasks on two classes, the slower first.
    Between(usize, usize),
}

impl Consumer<'_> {
    /// Where the user runs, and the price of a task at which it demands exactly as much as its tasks do (0 where that needs
    /// fewer of them). `None` if it can run nowhere. With α = 0 only the price means anything.
    ///
    /// The dearer tasks are, the faster is the class on which work is cheapest: `(cost + λ) / rate`. This goes from class
    /// to class until tasks are dear enough.
    pub fn support(&self) -> Option<(Support, f64)> {
        let mut here = None;
        let mut least = f64::INFINITY;
        for (l, (rate, cost)) in self.rates.iter().zip(self.costs).enumerate() {
            if *rate > 0.0 && (here.is_none() || cost / rate < least) {
                (here, least) = (Some(l), cost / rate);
            }
        }
        let (mut here, mut slower, mut lambda) = (here?, None, 0.0f64);
        loop {
            let (rate, cost) = (self.rates[here], self.costs[here]);
            let asked = rate * self.utility.marginal(self.weight, self.tasks * rate) - cost;
            if asked <= lambda {
                return Some((
                    slower.map_or(Support::Partly(here), |slower| Support::Between(slower, here)),
                    lambda,
                ));
            }
            let mut next = None;
            let mut crossing = asked;
            for (l, (faster, dearer)) in self.rates.iter().zip(self.costs).enumerate() {
                if *faster > rate {
                    let meets = (dearer * rate - cost * faster) / (faster - rate);
                    if meets < crossing {
                        (next, crossing) = (Some(l), meets);
                    }
                }
            }
            let Some(next) = next else { return Some((Support::Fully(here), asked)) };
            lambda = lambda.max(crossing);
            (slower, here) = (Some(here), next);
        }
    }

    /// What the user adds to the sums of a duality of `share`: what it is worth, what the user pays, what it loses
    /// against its best, and the first two again, payment first, if its tasks have no price.
    pub fn dual_terms(&self, share: f64) -> [f64; 5] {
        let Some((support, lambda)) = self.support() else { return [0.0; 5] };
        let worth = if share > 0.0 { self.utility.marginal(self.weight, share) * share } else { 0.0 };
        let due = if lambda > 0.0 { lambda * self.tasks } else { 0.0 };
        if self.utility.alpha == 0.0 {
            return [worth, worth - due, 0.0, 0.0, 0.0];
        }
        let usable = self.rates.iter().zip(self.costs).filter(|(rate, _)| **rate > 0.0);
        let price = usable.map(|(rate, cost)| (cost + lambda) / rate).fold(f64::INFINITY, f64::min);
        let paid = price * share - due;
        // What all tasks do is known better than what is asked for at the price that makes it so much: of many powers of a share far
        // from one no more than a part is left in it.
        let demand = match support {
            Support::Fully(class) => self.tasks * self.rates[class],
            Support::Partly(_) | Support::Between(..) => self.utility.demand(self.weight, price),
        };
        let lost = self.utility.lost(price, demand, share, worth);
        if lambda > 0.0 { [worth, paid, lost, 0.0, 0.0] } else { [worth, paid, lost, paid, worth] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_stream::stream;

    /// Nothing is lost by who has all that its tasks do, be it worth more than a double can hold.
    #[test]
    fn who_runs_all_tasks_on_the_fastest_class_for_nothing_loses_nothing() {
        for log_scale in [0.0, 300.0, 900.0] {
            let utility = Utility::new(64.0, log_scale);
            let tasks = 1e-4;
            let consumer = Consumer { utility, weight: 1.0, tasks, rates: &[0.5, 1.0], costs: &[0.0; 2] };
            let [worth, paid, lost, ..] = consumer.dual_terms(tasks);
            assert!(worth > 0.0 && worth.is_finite() && lost == 0.0, "{worth}, {paid}, {lost}");
            assert!(paid.abs() <= 1e-12 * worth, "{worth}, {paid}, {lost}");
            let [_, _, lost, ..] = consumer.dual_terms(0.999 * tasks);
            assert!(lost > 0.0 && lost.is_finite(), "{lost}");
        }
    }

    /// No split over the classes on a fine grid is worth more to the user than its best response, and there the price of
    /// its tasks makes it demand just what they do.
    #[test]
    fn nothing_on_a_grid_is_better_than_the_best_response() {
        const GRID: usize = 60;
        let mut supports = [0; 3];
        for seed in 0..300 {
            let mut next = stream(seed);
            let rates: Vec<f64> = (0..3).map(|_| 0.1 + next()).collect();
            let costs: Vec<f64> = (0..3).map(|_| 0.1 + 3.0 * next()).collect();
            let (tasks, utility) = (0.3 + next(), Utility::new(1.0, 0.0));
            let consumer = Consumer { utility, weight: 1.0, tasks, rates: &rates, costs: &costs };
            let (support, lambda) = consumer.support().unwrap();
            let price = rates.iter().zip(&costs).map(|(rate, cost)| (cost + lambda) / rate);
            let price = price.fold(f64::INFINITY, f64::min);
            let share = utility.demand(1.0, price);
            let best = share.ln() - price * share + lambda * tasks;
            let value = |split: [usize; 3]| {
                let zeta = split.map(|parts| tasks * parts as f64 / GRID as f64);
                let work: f64 = rates.iter().zip(zeta).map(|(rate, zeta)| rate * zeta).sum();
                work.ln() - costs.iter().zip(zeta).map(|(cost, zeta)| cost * zeta).sum::<f64>()
            };
            let mut reached = f64::NEG_INFINITY;
            for a in 0..=GRID {
                for b in 0..=GRID - a {
                    (0..=GRID - a - b).for_each(|c| reached = reached.max(value([a, b, c])));
                }
            }
            assert!(reached <= best + 1e-12 && reached > best - 1e-2, "case {seed}: {reached}, {best}");
            supports[match support {
                Support::Partly(_) => 0,
                Support::Fully(_) => 1,
                Support::Between(..) => 2,
            }] += 1;
        }
        assert!(supports.iter().all(|cases| *cases > 20), "{supports:?}");
    }
}
