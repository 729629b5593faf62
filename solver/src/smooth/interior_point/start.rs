//! The first iterate: every class half full, multipliers about where the works ask for them, prices at which every
//! group pays more than its multiplier.

use super::super::block::{Block, LEVEL_FROM, Setting, first_multiplier, usage};
use super::super::problem::SumProblem;
use super::super::schur::by_class;
use super::{Point, Run};
use crate::interior_point::Quality;
use crate::level::{dot, even_splits};

/// At the first iterate multipliers are in proportion to this power of the inverse works, or a lesser one.
const FIRST_POWER: f64 = 4.0;
/// Pairs that make a block worth while, and the most blocks; neither depends on the number of threads.
const BLOCKS: (usize, usize) = (1 << 14, 16);

/// A first iterate, and the weights of the rows' products.
pub(super) struct Start {
    /// Whether works have a common level and a surplus.
    pub level: bool,
    /// Rows that have capacity and a group that may take of it.
    pub used: Vec<bool>,
    pub zeta: Vec<f64>,
    pub t: f64,
    pub r: Vec<f64>,
    pub lambda: Vec<f64>,
    pub p: Vec<f64>,
    pub weight: Vec<f64>,
}

/// Classes half full, and prices in proportion to what multipliers ask for.
fn half_full(problem: &SumProblem<'_>) -> Start {
    let used = used_rows(problem);
    let zeta = first_splits(problem);
    let n = problem.groups.len();
    let works: Vec<f64> = (0..n)
        .map(|g| {
            let pairs = problem.groups.pairs(g);
            dot(&problem.groups.rate[pairs.clone()], &zeta[pairs])
        })
        .collect();
    let (mut t, mut r) = (1.0, works.clone());
    let level = problem.alpha >= LEVEL_FROM;
    if level {
        // The larger α, the more alike works will be; the scale is such that multipliers are near the sizes.
        let scale: f64 = works.iter().zip(problem.size).map(|(work, size)| size * work.ln()).sum();
        let power = (FIRST_POWER / problem.alpha).min(1.0);
        r.iter_mut().for_each(|r| *r = ((r.ln() - scale) * power).exp());
        t = 0.5 * works.iter().zip(&r).map(|(work, r)| work / r).fold(f64::INFINITY, f64::min);
    }
    let top_rate =
        |g: usize| problem.groups.rate[problem.groups.pairs(g)].iter().copied().fold(0.0, f64::max);
    let y: Vec<f64> = (0..n).map(|g| first_multiplier(problem, g, r[g])).collect();
    let limited = |g: usize| problem.is_limited(g);
    let lambda: Vec<f64> = (0..n).map(|g| if limited(g) { y[g] * top_rate(g) } else { 0.0 }).collect();

    // Prices of a class in proportion to 1/c, as high as is needed for every group to pay more than its multiplier.
    let m = problem.resources;
    let mut dearest = vec![0.0f64; problem.classes()];
    for g in 0..n {
        let net = if limited(g) { y[g] * (problem.cost[g] / problem.size[g]).min(1.0) } else { y[g] };
        for pair in problem.groups.pairs(g) {
            let row = problem.row(pair);
            let parts = parts_of_class(problem, g, row);
            let class = &mut dearest[row / m];
            *class = class.max(2.0 * net * problem.groups.rate[pair] / parts);
        }
    }
    let price = |row: usize| if used[row] { dearest[row / m] / problem.capacities[row] } else { 0.0 };
    let p: Vec<f64> = (0..used.len()).map(price).collect();
    let rows = used.iter().filter(|used| **used).count();
    let mut weight: Vec<f64> =
        (0..used.len()).map(|row| if used[row] { dearest[row / m] } else { 0.0 }).collect();
    let mean = problem.cost.iter().sum::<f64>() / n as f64;
    let scale = mean * rows as f64 / weight.iter().sum::<f64>();
    weight.iter_mut().for_each(|weight| *weight *= scale);
    Start { level, used, zeta, t, r, lambda, p, weight }
}

impl<'a> Run<'a> {
    pub(super) fn new(problem: &'a SumProblem<'a>, accuracy: f64) -> Self {
        Self::from(problem, accuracy, half_full(problem))
    }

    /// From another first iterate.
    pub(super) fn from(problem: &'a SumProblem<'a>, accuracy: f64, start: Start) -> Self {
        let Start { level, used, zeta, t, r, lambda, p, weight } = start;
        let n = problem.groups.len();
        let usage = usage(problem, 0..n, &zeta);
        let u = problem.capacities.iter().zip(&usage).map(|(c, usage)| c - usage).collect();
        let products = |g: usize| {
            problem.groups.pairs(g).len() + usize::from(level) + usize::from(problem.is_limited(g))
        };
        let total_weight =
            weight.iter().sum::<f64>() + (0..n).map(|g| problem.cost[g] * products(g) as f64).sum::<f64>();
        let setting = Setting { problem, level, t, p: &p };
        let blocks =
            cut(problem).into_iter().map(|groups| Block::new(&setting, groups, &zeta, &r, &lambda)).collect();
        let now = Point { level, t, u, p, blocks };
        Self {
            problem,
            accuracy,
            by_class: by_class(problem),
            used,
            weight,
            total_weight,
            residual: Vec::new(),
            best: now.clone(),
            now,
            best_quality: Quality::UNKNOWN,
        }
    }
}

pub(super) fn used_rows(problem: &SumProblem<'_>) -> Vec<bool> {
    let mut used = vec![false; problem.capacities.len()];
    for g in 0..problem.groups.len() {
        for pair in problem.groups.pairs(g) {
            let rows = &mut used[problem.row(pair)..];
            rows.iter_mut().zip(problem.load(g)).for_each(|(used, a)| *used |= *a > 0.0);
        }
    }
    used
}

/// The parts of a class that a unit of the group's split takes, over all resources.
fn parts_of_class(problem: &SumProblem<'_>, g: usize, row: usize) -> f64 {
    let capacities = &problem.capacities[row..row + problem.resources];
    problem.load(g).iter().zip(capacities).filter(|(a, _)| **a > 0.0).map(|(a, c)| a / c).sum()
}

/// Every group divided over its classes by what it could run there alone, and every class filled to a half of its scarcest resource.
fn first_splits(problem: &SumProblem<'_>) -> Vec<f64> {
    let (m, groups) = (problem.resources, problem.groups);
    let mut zeta = even_splits(groups, problem.capacities, m);
    let usage = usage(problem, 0..groups.len(), &zeta);
    let keep: Vec<f64> = usage
        .chunks(m)
        .zip(problem.capacities.chunks(m))
        .map(|(usage, capacity)| {
            let taken = usage.iter().zip(capacity).filter(|(usage, _)| **usage > 0.0);
            0.5 / taken.map(|(usage, capacity)| usage / capacity).fold(0.0, f64::max)
        })
        .collect();
    for g in 0..groups.len() {
        let pairs = groups.pairs(g);
        pairs.clone().for_each(|pair| zeta[pair] *= keep[groups.class[pair] as usize]);
        let tasks: f64 = zeta[pairs.clone()].iter().sum();
        if 0.5 * problem.limit[g] < tasks {
            let scale = 0.5 * problem.limit[g] / tasks;
            zeta[pairs].iter_mut().for_each(|zeta| *zeta *= scale);
        }
    }
    zeta
}

/// The groups cut into blocks of about equally many pairs.
fn cut(problem: &SumProblem<'_>) -> Vec<std::ops::Range<usize>> {
    let order = problem.capacities.len();
    let (pairs, n) = (problem.groups.pair_count(), problem.groups.len());
    let blocks = (pairs / BLOCKS.0.max(order * order / 8)).clamp(1, BLOCKS.1.min(n));
    (0..blocks).map(|b| b * n / blocks..(b + 1) * n / blocks).collect()
}
