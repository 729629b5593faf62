//! Classes with the same prices solved for as one: to nobody it matters on which of them it runs.
//!
//! At the optimum most classes of a wide cluster have the same prices, since many users together use up each of them whatever its
//! proportions. Such classes form a pool, which has what they have together. The level over the pools is no lower than that over the
//! classes, and its prices, given to each class of a pool, bound both. It is reached where what runs in each pool can be divided over
//! its classes. Prices do not tell users apart there, so groups by direction are fine enough to divide (`division`). What cannot be
//! divided comes with prices that tell which classes do not belong together.

mod division;

use crate::aggregation::{Pass, Solved, solve_rounds};
use crate::bins::{Amounts, Bins};
use crate::choice::Markets;
use crate::level::{LevelSolution, LevelSolver};
use crate::reduction::Reduction;
use crate::tolerance::level::{AHEAD_OF_GOAL, CLOSED, COARSE, FINEST, IN_A_POOL, SAME_POOL};
use division::{Division, Part, Running};
use fairplan_instances::InstanceError;
use hashbrown::HashMap;

/// Fewer rows than these are solved for sooner than pools are found; and users for each row, since fewer do not use up
/// classes of whatever proportions.
const LEAST: (usize, usize) = (128, 1_000);
/// Groups by direction that divide a pool to begin with, and how many times as many where they are too coarse.
const DIRECTIONS: (usize, usize) = (128, 4);
/// Pools for each class up to which they are worth while: at first, when they may yet come apart, and later, when little is left to do.
const FEW: (f64, f64) = (1.0 / 3.0, 0.75);
/// Most pairs of a group and a class, while a pool is divided and afterwards: a few hundred megabytes.
const MOST_PAIRS: usize = 5_000_000;
/// How often pools or directions are changed.
const MOST_CHANGES: usize = 6;

/// Which classes are pooled.
pub(crate) struct Pools {
    /// The pool of each class.
    pub of_class: Vec<usize>,
    /// The classes of each pool.
    pub members: Vec<Vec<usize>>,
}

impl Pools {
    /// Classes that are alike in this are in one pool.
    fn by_key(classes: usize, key: impl Fn(usize) -> usize) -> Self {
        let mut pools = Self { of_class: Vec::with_capacity(classes), members: Vec::new() };
        let mut known = HashMap::new();
        for l in 0..classes {
            let next = pools.members.len();
            let pool = *known.entry(key(l)).or_insert(next);
            if pool == next {
                pools.members.push(Vec::new());
            }
            pools.members[pool].push(l);
            pools.of_class.push(pool);
        }
        pools
    }

    /// Classes with prices that differ by no more than this part of the highest, and which all users can use alike.
    fn with_same_prices(reduction: &Reduction, prices: &[f64], part: f64) -> Self {
        let markets = Markets::of(prices, reduction, part);
        Self::by_key(reduction.classes(), |l| markets.first_of(l))
    }

    /// The same where the pools that could not be divided are taken apart by the prices of dividing them. `None` where no
    /// prices differ.
    fn taken_apart(&self, reduction: &Reduction, parts: &[Part]) -> Option<Self> {
        let (m, classes) = (reduction.resources, reduction.classes());
        let mut key = self.of_class.clone();
        for (members, part) in self.members.iter().zip(parts).filter(|(_, part)| !part.is_divided(IN_A_POOL))
        {
            // Only classes of this pool are compared, so that the others need no prices.
            let mut prices = vec![0.0; classes * m];
            for (l, row) in members.iter().zip(part.prices.chunks(m)) {
                prices[l * m..(l + 1) * m].copy_from_slice(row);
            }
            let markets = Markets::of(&prices, reduction, SAME_POOL);
            members.iter().for_each(|l| key[*l] = classes * (1 + self.of_class[*l]) + markets.first_of(*l));
        }
        let apart = Self::by_key(classes, |l| key[l]);
        (apart.members.len() > self.members.len()).then_some(apart)
    }

    /// Whether there are at most so many for each class.
    fn are_few(&self, for_each: f64) -> bool {
        self.members.len() as f64 <= for_each * self.of_class.len() as f64
    }

    /// Prices of classes for each pool: those of its first class.
    fn of_first_classes(&self, prices: &[f64], m: usize) -> Vec<f64> {
        self.members.iter().flat_map(|members| &prices[members[0] * m..][..m]).copied().collect()
    }

    /// Prices of the pools for each of their classes.
    fn of_classes(&self, prices: &[f64], m: usize) -> Vec<f64> {
        self.of_class.iter().flat_map(|pool| &prices[pool * m..(pool + 1) * m]).copied().collect()
    }
}

/// Whether pools may be worth while.
pub(crate) fn suit(reduction: &Reduction) -> bool {
    let rows = reduction.capacities.len();
    rows >= LEAST.0
        && reduction.users.len() >= LEAST.1 * rows
        && reduction.users.limits.is_empty()
        && !reduction.has_task_rows.contains(&true)
}

/// Solves the level by way of pools, from bins and what prices a round over them had. `None` where there are too many pools, or
/// they cannot be divided.
pub(crate) fn solve(
    reduction: &Reduction,
    bins: &Bins,
    amounts: &Amounts,
    solver: &dyn LevelSolver,
    prices: &[f64],
) -> Result<Option<(Bins, Solved)>, InstanceError> {
    let m = reduction.resources;
    let mut pools = Pools::with_same_prices(reduction, prices, SAME_POOL);
    let (mut bins, mut costs) = (bins.clone(), vec![0.0; reduction.users.len()]);
    let (mut directions, mut goal, mut few) = (DIRECTIONS.0, COARSE, FEW.0);
    let (mut iterations, mut rounds) = (0, 0);
    let mut near: Option<(Vec<f64>, f64)> = None;
    for _ in 0..MOST_CHANGES {
        if !pools.are_few(few) {
            break;
        }
        let pooled = reduction.pooled(&pools);
        let finest = FINEST.max(AHEAD_OF_GOAL * goal);
        let pass = Pass { budget: f64::INFINITY, goal, finest, pools: false, near: near.take() };
        let whole = solve_rounds(&pooled, &mut bins, amounts, solver, &mut costs, pass)?;
        (iterations, rounds) = (iterations + whole.iterations, rounds + whole.rounds);
        if whole.gap > goal || solver.deadline().is_over() {
            break;
        }
        let prices = pools.of_classes(&whole.solution.prices, m);
        let running = Running { bins: &bins, solved: &whole };
        let division = Division::new(reduction, &pools, &pooled, running, amounts, directions);
        if division.pairs().max(directions * reduction.classes()) > MOST_PAIRS {
            break;
        }
        let parts: Vec<Part> =
            (0..pools.members.len()).map(|pool| division.divide(pool, solver)).collect::<Result<_, _>>()?;
        iterations += parts.iter().map(|part| part.iterations).sum::<u64>();
        let least = parts.iter().map(|part| part.level).fold(1.0, f64::min);
        let is_divided = least >= 1.0 - IN_A_POOL.max(whole.gap);
        if is_divided && goal <= CLOSED {
            let (bins, grouping, splits, frozen) = division.put_together(&parts, least);
            let level = whole.solution.level * least;
            let solution = LevelSolution { level, splits, prices, frozen, iterations };
            let gap = 1.0 - (1.0 - whole.gap) * least;
            return Ok(Some((bins, Solved { grouping, solution, iterations, rounds, gap, gave_up: false })));
        }
        if !is_divided {
            match pools.taken_apart(reduction, &parts) {
                Some(apart) => pools = apart,
                None => directions *= DIRECTIONS.1,
            }
        }
        near = Some((pools.of_first_classes(&prices, m), whole.gap));
        (goal, few) = (CLOSED, FEW.1);
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bins::{NO_BIN, level_problem};
    use crate::interior_point::InteriorPoint;
    use crate::level::{Groups, dot};
    use crate::progress::Progress;
    use fairplan_instances::Objective;
    use fairplan_instances::generate::{Cluster, PopulationKind, PopulationOptions, population};

    fn reduction(kind: PopulationKind, users: u64, classes: u64, seed: u64) -> Reduction {
        let cluster = Cluster::Random { classes, resources: 4 };
        let instance = population(&PopulationOptions { kind, users, cluster, seed }).unwrap();
        Reduction::new(&instance, Objective::Drfh)
    }

    #[test]
    fn users_alike_on_many_classes_reach_the_level_of_all_classes_by_way_of_pools() {
        let mut by_pools = 0;
        for seed in 1..=4 {
            let reduction = reduction(PopulationKind::Alike, 4_000, 40, seed);
            let mut bins = Bins::by_direction(&reduction, 128);
            let amounts = Progress::start(&reduction, &mut bins).amounts;
            let mut costs = vec![0.0; reduction.users.len()];
            let solver = InteriorPoint::default();
            let start = bins.clone();
            let pass = Pass { budget: f64::INFINITY, goal: CLOSED, finest: FINEST, pools: false, near: None };
            let plain = solve_rounds(&reduction, &mut bins, &amounts, &solver, &mut costs, pass).unwrap();
            // From the prices of the optimum pools are found, whatever coarse bins would have said.
            let prices = &plain.solution.prices;
            let Some((bins, pooled)) = solve(&reduction, &start, &amounts, &solver, prices).unwrap() else {
                continue;
            };
            by_pools += 1;
            assert!((pooled.solution.level / plain.solution.level - 1.0).abs() < 1e-9, "seed {seed}");
            let problem = level_problem(&reduction, &pooled.grouping);
            let usage = problem.usage(&pooled.solution.splits);
            let overload =
                usage.iter().zip(&reduction.capacities).map(|(u, c)| u / c - 1.0).fold(0.0, f64::max);
            assert!(overload < 1e-9, "seed {seed}: {overload}");
            let level = pooled.solution.level;
            for g in 0..pooled.grouping.groups.len() {
                assert!(problem.work(&pooled.solution.splits, g) >= level * (1.0 - 1e-12), "seed {seed}");
            }
            // Every user is in a group, and all together they have what all users have.
            let sum = |groups: &Groups| groups.loads.iter().sum::<f64>();
            let (here, there) = (sum(&pooled.grouping.groups), sum(&plain.grouping.groups));
            assert!((here / there - 1.0).abs() < 1e-12 && !bins.of.contains(&NO_BIN));
            let worth = dot(&pooled.solution.prices, &reduction.capacities);
            assert!(worth > 0.0 && pooled.solution.prices.len() == reduction.capacities.len());
        }
        assert!(by_pools >= 2, "{by_pools} of 4");
    }

    #[test]
    fn classes_are_pooled_just_inside_the_tolerance_and_not_just_outside() {
        let reduction = reduction(PopulationKind::Alike, 10, 2, 1);
        let pools = |part: f64| {
            let prices = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0 - part];
            Pools::with_same_prices(&reduction, &prices, SAME_POOL).members.len()
        };
        assert_eq!((pools(0.99 * SAME_POOL), pools(1.01 * SAME_POOL)), (1, 2));
    }

    #[test]
    fn a_pool_comes_apart_where_prices_of_dividing_it_differ_and_the_others_stay() {
        let reduction = reduction(PopulationKind::Alike, 10, 4, 1);
        let pools = Pools::by_key(4, |l| l / 2);
        let part = |level: f64, second: f64| Part::told(level, [vec![1.0; 4], vec![second; 4]].concat());
        let apart = |parts: &[Part]| pools.taken_apart(&reduction, parts).map(|apart| apart.members);
        let (inside, outside) = (1.0 - 0.99 * IN_A_POOL, 1.0 - 1.01 * IN_A_POOL);
        assert_eq!(apart(&[part(outside, 0.5), part(1.0, 0.5)]), Some(vec![vec![0], vec![1], vec![2, 3]]));
        assert_eq!(apart(&[part(inside, 0.5), part(1.0, 0.5)]), None);
        assert_eq!(apart(&[part(outside, 1.0), part(1.0, 0.5)]), None);
    }
}
