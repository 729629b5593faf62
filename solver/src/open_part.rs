//! Levels over what is still open: classes that a level uses up, and the users held there, are left out of the next.
//!
//! Whoever is held pays on every class that it can use, works only where that is cheapest, and with the others who are held takes all there is
//! of what has a price. So nobody who rises on can have any of that, and where each of them needs something priced on each of those
//! classes, the classes are closed: what is left is a level problem without them, which settled users no longer tie down. Interior points of
//! levels with hundreds of settled users lose their digits; these keep them, and get smaller.
//!
//! A level is proved over all users. There a closed class must not be cheap to those who rise on, so its prices are those of the level that
//! closed it times the least number that keeps all others off it (`prices`).

use crate::aggregation::Solved;
use crate::bins::{Amounts, Bins, Grouping, level_problem};
use crate::level::{Groups, LevelProblem, LevelSolution, LevelSolver, dot};
use crate::reduction::Reduction;
use crate::tolerance::level::{FINEST, UNPRICED};
use fairplan_instances::InstanceError;

/// What earlier levels closed.
pub(crate) struct OpenPart {
    /// For each class the position of the level that closed it among those that closed some.
    closed_at: Vec<Option<usize>>,
    /// The same for each bin, with the part of its work on each of its classes.
    closed_bins: Vec<Option<(usize, Vec<f64>)>>,
    /// The prices of the classes that each of these levels closed, row-major `classes × resources`.
    closing_prices: Vec<Vec<f64>>,
    /// Prices of the last level that was solved, on what was open.
    open_prices: Vec<f64>,
    /// The rows of which nothing is left then.
    priced: Vec<bool>,
}

impl OpenPart {
    /// Everything is open.
    pub fn of(reduction: &Reduction, bins: &Bins) -> Self {
        Self {
            closed_at: vec![None; reduction.classes()],
            closed_bins: vec![None; bins.pattern.len()],
            closing_prices: Vec::new(),
            open_prices: Vec::new(),
            priced: Vec::new(),
        }
    }

    /// Solves the level of the rising users over what is open, and tells what all have.
    pub fn solve_level(
        &mut self,
        reduction: &Reduction,
        bins: &Bins,
        amounts: &Amounts,
        solver: &dyn LevelSolver,
    ) -> Result<Solved, InstanceError> {
        let grouping = bins.group(reduction, amounts, None);
        let open = Open::of(self, reduction, &grouping);
        let problem = LevelProblem {
            resources: reduction.resources,
            capacities: &open.capacities,
            groups: &open.groups,
            limits: None,
        };
        let solution = solver.solve(&problem, FINEST)?;
        let m = reduction.resources;
        let priced = priced_rows(&problem, &solution);
        let held = problem.frozen(&priced, solution.level);
        self.open_prices = vec![0.0; reduction.capacities.len()];
        self.priced = vec![false; reduction.capacities.len()];
        for (at, class) in open.classes.iter().enumerate() {
            self.open_prices[class * m..(class + 1) * m]
                .copy_from_slice(&solution.prices[at * m..(at + 1) * m]);
            self.priced[class * m..(class + 1) * m].copy_from_slice(&priced[at * m..(at + 1) * m]);
        }
        let all = level_problem(reduction, &grouping);
        let mut splits = vec![0.0; all.groups.pair_count()];
        let mut frozen = vec![true; all.groups.len()];
        for (bin, closed) in self.closed_bins.iter().enumerate() {
            for group in grouping.groups_of(bin) {
                if let Some((_, parts)) = closed {
                    splits[all.groups.pairs(group)].copy_from_slice(parts);
                }
            }
        }
        for (at, group) in open.group.iter().enumerate() {
            frozen[*group] = held[at];
            for (pair, of) in open.groups.pairs(at).zip(&open.pair[open.groups.pairs(at)]) {
                splits[*of] = solution.splits[pair];
            }
        }
        let prices = self.prices(&all, &grouping);
        let costs = all.costs(&prices);
        let (mut rising, mut settled) = (0.0, 0.0);
        for g in 0..all.groups.len() {
            let paid = all.cheapest(&costs, 0.0, g);
            *(if all.groups.rising[g] { &mut rising } else { &mut settled }) += paid;
        }
        let bound = (dot(&prices, all.capacities) - settled) / rising;
        let gap = (1.0 - solution.level / bound).abs();
        let (level, iterations) = (solution.level, solution.iterations);
        let solution = LevelSolution { level, splits, prices, frozen, iterations };
        Ok(Solved { grouping, solution, iterations, rounds: 1, gap, gave_up: false })
    }

    /// Closes the classes of which the level that was solved last uses something up, if nobody who rises on could use what is left there.
    pub fn close(&mut self, reduction: &Reduction, solved: &Solved) {
        let Some(held) = self.held_bins(reduction, solved) else { return };
        let (groups, m) = (&solved.grouping.groups, reduction.resources);
        let position = self.closing_prices.len();
        for bin in held {
            // How all users of the bin are divided together.
            let mut parts: Vec<f64> = Vec::new();
            let mut work = 0.0;
            for group in solved.grouping.groups_of(bin) {
                let size: f64 = groups.loads[group * m..(group + 1) * m].iter().sum();
                let pairs = groups.pairs(group);
                parts.resize(pairs.len(), 0.0);
                for ((sum, split), rate) in
                    parts.iter_mut().zip(&solved.solution.splits[pairs.clone()]).zip(&groups.rate[pairs])
                {
                    *sum += size * split;
                    work += size * split * rate;
                }
            }
            parts.iter_mut().for_each(|part| *part /= work);
            self.closed_bins[bin] = Some((position, parts));
        }
        let mut prices = vec![0.0; self.open_prices.len()];
        for (class, closed) in self.closed_at.iter_mut().enumerate() {
            let rows = class * m..(class + 1) * m;
            if closed.is_none() && self.priced[rows.clone()].contains(&true) {
                *closed = Some(position);
                for row in rows.filter(|row| self.priced[*row]) {
                    prices[row] = self.open_prices[row];
                }
            }
        }
        self.closing_prices.push(prices);
    }

    /// The open bins whose users need something priced on each of their open classes. `None` where there are none, or where somebody else
    /// could use what is left on a class of which something is priced.
    fn held_bins(&self, reduction: &Reduction, solved: &Solved) -> Option<Vec<usize>> {
        let problem = level_problem(reduction, &solved.grouping);
        let mut held = Vec::new();
        for bin in (0..self.closed_bins.len()).filter(|bin| self.closed_bins[*bin].is_none()) {
            let Some(group) = solved.grouping.groups_of(bin).next() else { continue };
            let is_open = |pair: &usize| self.closed_at[problem.groups.class[*pair] as usize].is_none();
            let needs_priced = |pair: usize| problem.needs(group, pair).any(|(row, _)| self.priced[row]);
            let mut free =
                problem.groups.pairs(group).filter(is_open).filter(|pair| !needs_priced(*pair)).peekable();
            if free.peek().is_none() {
                held.push(bin);
            } else if free.any(|pair| self.priced[problem.rows(pair)].contains(&true)) {
                return None;
            }
        }
        (!held.is_empty()).then_some(held)
    }

    /// The prices of the level that was solved last: on what is open its own, on what is closed just so high that nobody who was not held there
    /// would rather have it.
    fn prices(&self, problem: &LevelProblem<'_>, grouping: &Grouping) -> Vec<f64> {
        let groups = problem.groups;
        let mut prices = self.open_prices.clone();
        let costs = problem.costs(&prices);
        // One group a bin: what users of a bin compare is the same.
        let mut met: Vec<Vec<Met>> = self.closing_prices.iter().map(|_| Vec::new()).collect();
        let mut paid = vec![f64::INFINITY; self.closed_bins.len()];
        for (bin, closed) in self.closed_bins.iter().enumerate() {
            let Some(group) = grouping.groups_of(bin).next() else { continue };
            let closed = closed.as_ref().map_or(usize::MAX, |(position, _)| *position);
            for pair in groups.pairs(group) {
                match self.closed_at[groups.class[pair] as usize] {
                    None => paid[bin] = paid[bin].min(costs[pair] / groups.rate[pair]),
                    Some(position) => met[position].push(Met { bin, group, pair, closed }),
                }
            }
        }
        for (position, met) in met.into_iter().enumerate().rev() {
            let own = &self.closing_prices[position];
            let cost = |met: &Met| {
                dot(problem.load(met.group), &own[problem.rows(met.pair)]) / groups.rate[met.pair]
            };
            let others = met.iter().filter(|met| met.closed > position);
            let times = others.map(|met| paid[met.bin] / cost(met)).fold(0.0, f64::max);
            met.iter().for_each(|met| paid[met.bin] = paid[met.bin].min(times * cost(met)));
            prices.iter_mut().zip(own).for_each(|(price, own)| *price += times * own);
        }
        prices
    }
}

/// A bin that may use a closed class.
struct Met {
    bin: usize,
    /// One of its groups, and the pair of that and the class.
    group: usize,
    pair: usize,
    /// Where the bin was closed; beyond all where it is open.
    closed: usize,
}

/// The level problem of what is open.
struct Open {
    groups: Groups,
    /// The class, of all, of each class here, and what it has.
    classes: Vec<usize>,
    capacities: Vec<f64>,
    /// The group and the pair, of all, of each here.
    group: Vec<usize>,
    pair: Vec<usize>,
}

impl Open {
    fn of(part: &OpenPart, reduction: &Reduction, grouping: &Grouping) -> Self {
        let (m, all) = (reduction.resources, &grouping.groups);
        let classes: Vec<usize> =
            (0..reduction.classes()).filter(|class| part.closed_at[*class].is_none()).collect();
        let mut number = vec![0; reduction.classes()];
        classes.iter().enumerate().for_each(|(at, class)| number[*class] = at);
        let capacities = classes
            .iter()
            .flat_map(|class| &reduction.capacities[class * m..(class + 1) * m])
            .copied()
            .collect();
        let (mut groups, mut group, mut pair) = (Groups::new(), Vec::new(), Vec::new());
        for bin in (0..part.closed_bins.len()).filter(|bin| part.closed_bins[*bin].is_none()) {
            for g in grouping.groups_of(bin) {
                let open = all.pairs(g).filter(|pair| part.closed_at[all.class[*pair] as usize].is_none());
                pair.extend(open.clone());
                let pairs = open.map(|pair| (number[all.class[pair] as usize], all.rate[pair]));
                groups.push(&all.loads[g * m..(g + 1) * m], all.pattern[g], all.rising[g], pairs);
                group.push(g);
            }
        }
        Self { groups, classes, capacities, group, pair }
    }
}

/// By strict complementarity either the price of a row or what is left of it vanishes; each is compared in units of its own. What is full
/// beyond rounding and has the price of rounding is not priced.
fn priced_rows(problem: &LevelProblem<'_>, solution: &LevelSolution) -> Vec<bool> {
    let spent = dot(&solution.prices, problem.capacities);
    let usage = problem.usage(&solution.splits);
    let rows = solution.prices.iter().zip(&usage).zip(problem.capacities);
    rows.map(|((price, usage), capacity)| {
        *capacity > 0.0 && price * capacity / spent > ((capacity - usage) / capacity).max(UNPRICED)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use crate::question::Question;
    use crate::test_stream::stream;
    use crate::ways::{Fractions, Way, solve};
    use fairplan_instances::{
        ClassId, Deadline, Decimal, Instance, InstanceBuilder, NewUser, Objective, PlacementRule,
        ServerClass, Solution, UserId,
    };

    /// Six users a class, who may run on 1 to 3 of them; of so many in a hundred a task needs nothing of the first resource.
    fn restricted(seed: u64, classes: usize, without_first: f64) -> Instance {
        let mut next = stream(seed);
        let mut amount = |most: f64| -> Decimal { format!("{:.3}", most * (0.01 + next())).parse().unwrap() };
        let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "memory".into()]).unwrap();
        for class in 0..classes {
            let capacity = vec![amount(64.0), amount(64.0)];
            builder.class(ServerClass::new(format!("c{class}"), 1, capacity)).unwrap();
        }
        let demands: Vec<[Decimal; 2]> = (0..6 * classes).map(|_| [amount(4.0), amount(4.0)]).collect();
        for (user, mut demand) in demands.into_iter().enumerate() {
            if 100.0 * next() < without_first {
                demand[0] = "0".parse().unwrap();
            }
            let most = 1 + (3.0 * next()) as usize;
            let allowed = (0..most).map(|_| ClassId((classes as f64 * next()) as usize)).collect();
            let rule = builder.rule(PlacementRule::new(Some(allowed), Vec::new()));
            builder.user(NewUser { rule, ..NewUser::new(&format!("u{user}"), &demand) }).unwrap();
        }
        builder.build().unwrap()
    }

    /// What the interior point and fractions find.
    fn both(instance: &Instance) -> [Solution; 2] {
        let deadline = Deadline::never();
        let question = Question::new(instance, Objective::Drfh, "auto", &deadline);
        assert!(question.uses_up_classes_one_by_one());
        [Way::InteriorPoint { first: true }, Way::Exact(Fractions::Asked)]
            .map(|way| solve(&question, &[way], &mut |_| true).unwrap())
    }

    fn are_alike(instance: &Instance, [ours, exact]: &[Solution; 2]) {
        for user in (0..instance.user_count()).map(UserId) {
            let [share, known] =
                [ours, exact].map(|solution| solution.allocation.dominant_share(instance, user));
            approx::assert_relative_eq!(share, known, max_relative = 1e-9);
        }
    }

    #[test]
    fn levels_of_users_on_few_classes_each_keep_their_digits_and_take_few_steps() {
        for seed in 1..4 {
            let instance = restricted(seed, 50, 0.0);
            let solutions = both(&instance);
            are_alike(&instance, &solutions);
            let (levels, steps) =
                (solutions[0].certificate.levels().len(), solutions[0].statistics.iterations);
            assert!(levels > 5 && steps < 30 * levels as u64, "{steps} steps for {levels} levels");
        }
    }

    #[test]
    fn what_is_left_on_a_class_that_is_used_up_goes_to_those_who_can_use_it() {
        for seed in 1..6 {
            let instance = restricted(seed, 12, 30.0);
            are_alike(&instance, &both(&instance));
        }
    }
}
