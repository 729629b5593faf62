//! First rounds in which what tasks are worth stays near what is known of it, as of divisible tasks.
//!
//! Values of a program of few patterns are far from those of all, and what is found by them is of little use. So tasks may be bought and sold beside
//! servers for a little more and a little less than they are known to be worth, which keeps their values between the two. Once hardly a
//! pattern is missing, the prices of what is still bought or sold move apart, until nothing is: then the values are those of the
//! program itself.
//!
//! R. E. Marsten, W. W. Hogan and J. W. Blankenship, The boxstep method for large-scale optimization, Operations Research 23, 1975; O. du
//! Merle, D. Villeneuve, J. Desrosiers and P. Hansen, Stabilized column generation, Discrete Mathematics 194, 1999.

use super::master::{Master, Mix};
use super::packing::Packing;
use super::rounds::{Effort, Goal, KnownPatterns, MAX_ROUNDS, price};
use fairplan_instances::{Deadline, InstanceError};

/// What tasks of each shape are known to be worth, and more than any of them can be.
pub(super) struct Near {
    pub values: Vec<f64>,
    pub most: Vec<f64>,
}

impl Near {
    /// In parts of `all`, what all that is needed is worth.
    pub fn of(need: &[u64], values: &[f64], all: f64) -> Self {
        Self {
            values: values.iter().map(|value| value / all).collect(),
            // All that is needed of a shape is worth no more than all that is needed.
            most: need.iter().map(|need| 2.0 / (*need).max(1) as f64).collect(),
        }
    }
}

/// How far prices are from what is known at first, in parts of that; by how much farther each time; and how often at most.
const APART: f64 = 0.05;
const FARTHER: f64 = 4.0;
const TIMES: u32 = 12;

/// What is worth nothing is known to be worth this part of what shapes are worth on average, if all that is needed of each is worth the same.
const LEAST: f64 = 1e-3;

/// Fewer patterns than one for so many shapes are hardly any.
const HARDLY: usize = 20;

/// Contents of each class that are kept: one for so many shapes, which lack patterns at once, or those of an effort.
const SHAPES: usize = 25;
const EFFORT: Effort = Effort { budget: 10_000, part: 1e-3, kept: 12 };

/// Adds patterns to a program without any until nothing more is bought or sold, and then takes the prices away. Returns the rounds it took, and
/// the last mix, in which tasks may be bought and sold.
pub(super) fn run(
    packing: &Packing,
    master: &mut Master,
    known: &mut KnownPatterns,
    goal: &mut dyn Goal,
    near: &Near,
    stop: &Deadline,
) -> Result<(u64, Option<Mix>), InstanceError> {
    let mut apart = vec![APART; near.values.len()];
    let rows = master.rows();
    let effort = Effort { kept: EFFORT.kept.max(rows / SHAPES), ..EFFORT };
    let (mut times, mut rounds, mut last) = (0, 0, None);
    while rounds < MAX_ROUNDS && !stop.is_over() {
        near.trade(master, &apart);
        known.add_first(packing, master);
        let Some(mix) = master.solve(stop)? else { break };
        rounds += 1;
        let found = price(packing, mix.worth(), effort, None, stop);
        goal.exclude(&mix, mix.worth(), &found);
        let patterns = found.into_iter().flat_map(|found| found.patterns);
        let added = patterns.filter(|pattern| known.add(packing, master, pattern)).count();
        let traded = &last.insert(mix).traded;
        if HARDLY * added > rows {
            continue;
        }
        if times == TIMES || (traded.is_empty() && added == 0) {
            break;
        }
        times += u32::from(!traded.is_empty());
        traded.iter().for_each(|shape| apart[*shape as usize] *= FARTHER);
    }
    near.trade(master, &vec![f64::INFINITY; near.values.len()]);
    Ok((rounds, last))
}

impl Near {
    /// Sets prices that are so far from what is known.
    fn trade(&self, master: &mut Master, apart: &[f64]) {
        let least = LEAST / self.values.len() as f64;
        let prices = |sign: f64| {
            let price = |((value, most), apart): ((&f64, &f64), &f64)| {
                (value.max(least * most) * (1.0 + sign * apart)).clamp(0.0, *most)
            };
            self.values.iter().zip(&self.most).zip(apart).map(price).collect::<Vec<f64>>()
        };
        master.trade(&prices(1.0), &prices(-1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whole_tasks::divisible::divisible_values;
    use crate::whole_tasks::knapsack::Found;
    use crate::whole_tasks::master::Want;
    use crate::whole_tasks::patterns::Pattern;
    use crate::whole_tasks::rounds;
    use crate::whole_tasks::tests::random_google;
    use crate::whole_tasks::worth::{SCALE, Worth};

    /// As much as patterns reach, whatever that is.
    struct Most<'a> {
        packing: &'a Packing,
        need: &'a [u64],
    }

    impl Goal for Most<'_> {
        fn is_met(&self, _: &Mix) -> bool {
            false
        }

        fn reach(&self, mix: &Mix) -> f64 {
            mix.wanted[0].ln()
        }

        fn exclude(&mut self, mix: &Mix, worth: Worth<'_>, found: &[Found]) -> f64 {
            let classes = self.packing.classes.iter().zip(found);
            let held: f64 = classes.map(|(class, found)| class.servers as f64 * found.bound / SCALE).sum();
            let needed: f64 =
                self.need.iter().zip(worth.tasks).map(|(need, value)| *need as f64 * value).sum();
            held / (mix.wanted[0] * needed) - 1.0
        }
    }

    #[test]
    fn rounds_near_divisible_values_trade_at_first_and_reach_what_others_do() {
        let packing = Packing::new(&random_google(250, 1)).unwrap();
        let need = vec![400; packing.shapes.len()];
        let never = Deadline::never();
        let wants = [Want::all(&need, f64::INFINITY)];
        let Mix { values, .. } = divisible_values(&packing, &wants, &never).unwrap();
        let near = Near { values, most: need.iter().map(|need| 2.0 / *need as f64).collect() };
        let servers = packing.servers();
        let all = || (0..packing.shapes.len()).flat_map(|s| (0..servers.len()).map(move |l| (l, s)));
        let first = || {
            let fit = all().filter(|(l, s)| packing.shapes[*s].copies[*l] > 0);
            fit.map(|(l, s)| Pattern::of_one_shape(&packing, l, s)).collect::<Vec<_>>()
        };
        let empty = || Master::new(&packing, &wants, &servers, &vec![0.0; servers.len()]);
        let [plain, kept] = [None, Some(&near)].map(|near| {
            let mut master = empty();
            let mut most = Most { packing: &packing, need: &need };
            let ended = rounds::run(&packing, &mut master, first(), &mut most, near, &never).unwrap();
            assert!(ended.mix.traded.is_empty());
            ended.mix.wanted[0]
        });
        assert!((plain / kept - 1.0).abs() < 1e-6, "{plain} {kept}");
        let mut master = empty();
        near.trade(&mut master, &vec![APART; need.len()]);
        first().into_iter().for_each(|pattern| master.add(&packing, pattern));
        assert!(!master.solve(&never).unwrap().unwrap().traded.is_empty());
    }
}
