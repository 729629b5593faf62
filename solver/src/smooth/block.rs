//! Consecutive groups of a problem with their variables: everything in a Newton step that is a group's own affair.
//!
//! A step passes over the groups a few times and each time works out again what it needs of a pair, which is cheaper
//! than to keep it. Blocks do not share anything they write, so they are worked on in parallel; what they add up is
//! added in their order.

use super::elimination::Elimination;
use super::problem::SumProblem;
use super::tally::{Folded, Losses, Travel};
use crate::interior_point::{StepLength, to_bound};
use crate::level::dot;
use crate::tolerance::sum::LEAST_ALPHA;
use std::ops::Range;

/// Below this α the works themselves are the variables, at first: a surplus and a level apart from them, which make large α easy,
/// leave groups that get next to nothing no interior.
pub(super) const LEVEL_FROM: f64 = 1.0;
/// The part of its surplus, or of its reduced costs, that a group keeps when its work is brought in line with its
/// multiplier.
const KEPT: f64 = 0.3;

/// Below this a step can be left to bring a work in line with its multiplier: what it misses is of second order.
const LINEAR: f64 = 0.3;

/// What all groups see of a problem at an iterate.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub problem: &'a SumProblem<'a>,
    /// Whether works have a common level `t` and a surplus.
    pub level: bool,
    pub t: f64,
    pub p: &'a [f64],
}

/// The step of everything that is not a group's own.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedStep {
    pub t: f64,
    pub p: Vec<f64>,
}

/// Where a step is meant to take the complementarity products: to `target` times their weight, with the products of an
/// earlier step made up for.
#[derive(Clone, Copy)]
pub(super) struct Aim<'a> {
    pub target: f64,
    pub affine: Option<&'a SharedStep>,
}

impl<'a> Aim<'a> {
    /// Straight to products of zero.
    pub const STRAIGHT: Self = Self { target: 0.0, affine: None };

    /// What a corrector aims at, given the target and the predictor; the predictor without.
    pub fn of(corrects: Option<&'a (f64, SharedStep)>) -> Self {
        corrects.map_or(Self::STRAIGHT, |(target, affine)| Self { target: *target, affine: Some(affine) })
    }
}

/// Steps of the two multipliers of each group.
#[derive(Clone, Debug)]
struct OwnStep {
    y: Vec<f64>,
    lambda: Vec<f64>,
}

/// The variables of consecutive groups. Symbols as in the table of the method.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub groups: Range<usize>,
    first_pair: usize,
    pub zeta: Vec<f64>,
    s: Vec<f64>,
    r: Vec<f64>,
    f: Vec<f64>,
    y: Vec<f64>,
    q: Vec<f64>,
    lambda: Vec<f64>,
    /// `ln(ω / (y r^α))`.
    e: Vec<f64>,
    affine: OwnStep,
    step: OwnStep,
}

/// A group in the Newton system.
pub(super) struct Local {
    pub group: Elimination,
    /// Right-hand sides of the group's two rows.
    of_work: f64,
    of_limit: f64,
}

/// Numbers of the pairs of one group, used over and over.
#[derive(Default)]
pub(super) struct Scratch {
    pub theta: Vec<f64>,
    /// What a pair's split changes by if prices and multipliers do not.
    own: Vec<f64>,
    cost: Vec<f64>,
}

impl Block {
    /// The first iterate of these groups from their first splits.
    pub fn new(setting: &Setting<'_>, groups: Range<usize>, zeta: &[f64], r: &[f64], lambda: &[f64]) -> Self {
        let problem = setting.problem;
        let first_pair = problem.groups.pairs(groups.start).start;
        let end = problem.groups.pairs(groups.end - 1).end;
        let n = groups.len();
        let mut block = Self {
            first_pair,
            zeta: zeta[first_pair..end].to_vec(),
            s: vec![0.0; end - first_pair],
            r: r[groups.clone()].to_vec(),
            f: vec![0.0; n],
            y: vec![0.0; n],
            q: vec![0.0; n],
            lambda: lambda[groups.clone()].to_vec(),
            e: vec![0.0; n],
            affine: OwnStep { y: vec![0.0; n], lambda: vec![0.0; n] },
            step: OwnStep { y: vec![0.0; n], lambda: vec![0.0; n] },
            groups,
        };
        for i in 0..n {
            let g = block.groups.start + i;
            let pairs = block.pairs(problem, g);
            let rates = &problem.groups.rate[problem.groups.pairs(g)];
            block.y[i] = first_multiplier(problem, g, block.r[i]);
            if setting.level {
                block.f[i] = dot(rates, &block.zeta[pairs.clone()]) - setting.t * block.r[i];
            }
            if problem.is_limited(g) {
                block.q[i] = problem.limit[g] - block.zeta[pairs.clone()].iter().sum::<f64>();
            }
            for (at, pair) in pairs.zip(problem.groups.pairs(g)) {
                let cost = problem.cost_at(setting.p, g, pair) + block.lambda[i];
                block.s[at] = cost - problem.groups.rate[pair] * block.y[i];
            }
        }
        block
    }

    /// Positions of a group's pairs in this block.
    fn pairs(&self, problem: &SumProblem<'_>, g: usize) -> Range<usize> {
        let pairs = problem.groups.pairs(g);
        pairs.start - self.first_pair..pairs.end - self.first_pair
    }

    pub fn works(&self, problem: &SumProblem<'_>) -> impl Iterator<Item = f64> {
        self.groups
            .clone()
            .map(|g| dot(&problem.groups.rate[problem.groups.pairs(g)], &self.zeta[self.pairs(problem, g)]))
    }

    /// What these groups load the classes with, row-major `classes × resources`.
    pub fn usage(&self, problem: &SumProblem<'_>) -> Vec<f64> {
        usage(problem, self.groups.clone(), &self.zeta)
    }

    /// The level's coefficient in the row of a group's work.
    pub fn r(&self, g: usize) -> f64 {
        self.r[g - self.groups.start]
    }

    /// The matrix `[E −B; −B F]` less its Θ, for the side of the groups.
    pub fn own_terms(&self, setting: &Setting<'_>, g: usize) -> [f64; 2] {
        let i = g - self.groups.start;
        let stiffness = self.stiffness(setting, i);
        [(self.f[i] + stiffness) / self.y[i], self.limit_slack(g)]
    }

    /// `q / λ`.
    fn limit_slack(&self, g: usize) -> f64 {
        let i = g - self.groups.start;
        self.q[i] / self.lambda[i]
    }

    /// `t r / α`.
    fn stiffness(&self, setting: &Setting<'_>, i: usize) -> f64 {
        setting.t * self.r[i] / setting.problem.alpha.max(LEAST_ALPHA)
    }

    /// Works out one group for this aim; leaves its Θ and what its splits do on their own in `scratch`.
    pub fn local(&self, setting: &Setting<'_>, g: usize, aim: Aim<'_>, scratch: &mut Scratch) -> Local {
        let (problem, i) = (setting.problem, g - self.groups.start);
        let (pairs, all) = (self.pairs(problem, g), problem.groups.pairs(g));
        let rates = &problem.groups.rate[all.clone()];
        let (y, lambda, weight) = (self.y[i], self.lambda[i], problem.cost[g]);
        scratch.theta.clear();
        scratch.own.clear();
        let (mut tasks, mut pulled, mut pulled_tasks) = (0.0, 0.0, 0.0);
        for ((at, pair), rate) in pairs.zip(all).zip(rates) {
            let (zeta, s) = (self.zeta[at], self.s[at]);
            let theta = zeta / s;
            let mut own = -zeta;
            if let Some(affine) = aim.affine {
                let moved = problem.cost_at(&affine.p, g, pair) + self.affine.lambda[i];
                let ds = moved - rate * self.affine.y[i];
                let dzeta = -zeta - theta * ds;
                own += (aim.target * weight - dzeta * ds) / s;
            }
            tasks += zeta;
            pulled += rate * own;
            pulled_tasks += own;
            scratch.theta.push(theta);
            scratch.own.push(own);
        }
        let stiffness = self.stiffness(setting, i);
        let mut of_work = stiffness * self.e[i] - pulled;
        if setting.level {
            of_work -= self.f[i];
            if aim.affine.is_some() {
                let dy = self.affine.y[i];
                let df = -self.f[i] * (1.0 + dy / y);
                of_work += (aim.target * weight - df * dy) / y;
            }
        }
        let (mut of_limit, mut slack) = (0.0, f64::INFINITY);
        if problem.is_limited(g) {
            let q = self.q[i];
            slack = self.limit_slack(g);
            of_limit = pulled_tasks - (problem.limit[g] - tasks - q) - q;
            if aim.affine.is_some() {
                let dlambda = self.affine.lambda[i];
                let dq = -q * (1.0 + dlambda / lambda);
                of_limit += (aim.target * weight - dq * dlambda) / lambda;
            }
        }
        let own = (self.f[i] + stiffness) / y;
        Local { group: Elimination::new(own, slack, rates, &scratch.theta), of_work, of_limit }
    }

    /// Eliminates the groups of the block: adds what they leave on the rows of the classes to `folded`, and with a
    /// `matrix` (row-major, lower triangle) also there and in the level's column.
    pub fn fold(
        &self,
        setting: &Setting<'_>,
        aim: Aim<'_>,
        folded: &mut Folded,
        mut matrix: Option<&mut [f64]>,
    ) {
        let (problem, m) = (setting.problem, setting.problem.resources);
        let order = problem.capacities.len();
        let mut scratch = Scratch::default();
        let mut pulls = Vec::new();
        for g in self.groups.clone() {
            let Local { group, of_work, of_limit } = self.local(setting, g, aim, &mut scratch);
            let i = g - self.groups.start;
            let (all, load, r) = (problem.groups.pairs(g), problem.load(g), self.r[i]);
            let rates = &problem.groups.rate[all.clone()];
            let theta = &scratch.theta;
            let moved = (of_work + group.ratio * of_limit) / group.pivot;
            folded.missing += r * (self.y[i] * self.e[i] - moved);
            folded.pivot += r * r / group.pivot;
            pulls.clear();
            pulls.extend(rates.iter().zip(theta).map(|(rate, theta)| group.pull(*rate, *theta)));
            for (l, pair) in all.clone().enumerate() {
                let row = problem.row(pair);
                let base = scratch.own[l] - theta[l] * (of_limit * group.inverse) + pulls[l] * moved;
                let level = pulls[l] * (r / group.pivot);
                for (k, a) in load.iter().enumerate() {
                    folded.right[row + k] += a * base;
                    folded.column[row + k] += a * level;
                }
            }
            let Some(matrix) = matrix.as_deref_mut() else { continue };
            for (l, pair) in all.clone().enumerate() {
                let row = problem.row(pair);
                let response = group.response(l, rates, theta);
                for (k, a) in load.iter().enumerate() {
                    let line = &mut matrix[(row + k) * order..(row + k + 1) * order];
                    for (j, before) in all.clone().enumerate().take(l) {
                        let exchange = a * group.exchange([theta[l], theta[j]], [pulls[l], pulls[j]]);
                        let to = problem.row(before);
                        line[to..to + m].iter_mut().zip(load).for_each(|(x, b)| *x += exchange * b);
                    }
                    let response = a * response;
                    line[row..row + k + 1].iter_mut().zip(load).for_each(|(x, b)| *x += response * b);
                }
            }
        }
    }

    /// Adds `Σ a (…)` of the pairs alone to the classes' right-hand sides, and returns those of the groups' rows: what
    /// the side of the groups needs.
    pub fn rows(&self, setting: &Setting<'_>, aim: Aim<'_>, folded: &mut Folded) -> Vec<[f64; 2]> {
        let problem = setting.problem;
        let mut scratch = Scratch::default();
        let row_of = |g: usize| {
            let local = self.local(setting, g, aim, &mut scratch);
            for (pair, own) in problem.groups.pairs(g).zip(&scratch.own) {
                let row = problem.row(pair);
                let right = &mut folded.right[row..row + problem.resources];
                right.iter_mut().zip(problem.load(g)).for_each(|(sum, a)| *sum += a * own);
            }
            let i = g - self.groups.start;
            folded.missing += self.r[i] * self.y[i] * self.e[i];
            [local.of_work, local.of_limit]
        };
        self.groups.clone().map(row_of).collect()
    }

    /// Sets the steps of the multipliers that the side of the groups found.
    pub fn set_steps(&mut self, steps: &[[f64; 2]]) {
        for (i, [y, lambda]) in steps.iter().enumerate() {
            (self.step.y[i], self.step.lambda[i]) = (*y, *lambda);
        }
    }

    /// Works out the groups' part of a step, unless the side of the groups has, and how far the step can go.
    pub fn travel(&mut self, setting: &Setting<'_>, aim: Aim<'_>, step: &SharedStep, solved: bool) -> Travel {
        let problem = setting.problem;
        let mut travel = Travel::new();
        let mut scratch = Scratch::default();
        for g in self.groups.clone() {
            let i = g - self.groups.start;
            let Local { group, of_work, of_limit } = self.local(setting, g, aim, &mut scratch);
            let (all, rates) = (problem.groups.pairs(g), &problem.groups.rate[problem.groups.pairs(g)]);
            scratch.cost.clear();
            scratch.cost.extend(all.map(|pair| problem.cost_at(&step.p, g, pair)));
            if !solved {
                let (mut by_work, mut by_tasks) = (0.0, 0.0);
                for ((rate, theta), cost) in rates.iter().zip(&scratch.theta).zip(&scratch.cost) {
                    by_work += group.pull(*rate, *theta) * cost;
                    by_tasks += theta * cost;
                }
                let right = self.r[i] * step.t + by_work + of_work + group.ratio * of_limit;
                let dy = right / group.pivot;
                self.step.y[i] = dy;
                self.step.lambda[i] = group.ratio * dy + group.inverse * (of_limit - by_tasks);
            }
            let (y, dy) = (self.y[i], self.step.y[i]);
            for (l, at) in self.pairs(problem, g).enumerate() {
                let (dzeta, ds) = self.pair_step(i, l, rates[l], &scratch);
                travel.see((self.zeta[at], dzeta), (self.s[at], ds));
            }
            if setting.level {
                let df = self.surplus_step(setting, g, aim);
                travel.see((self.f[i], df), (y, dy));
            } else {
                travel.reach.dual = to_bound(travel.reach.dual, y, dy);
            }
            if problem.is_limited(g) {
                let dq = self.limit_step(setting, g, aim);
                travel.see((self.q[i], dq), (self.lambda[i], self.step.lambda[i]));
            }
        }
        travel
    }

    /// Steps of a pair's split and reduced cost, given [`Self::local`] and the cost of the prices' step in `scratch`.
    fn pair_step(&self, i: usize, l: usize, rate: f64, scratch: &Scratch) -> (f64, f64) {
        let ds = scratch.cost[l] + self.step.lambda[i] - rate * self.step.y[i];
        (scratch.own[l] - scratch.theta[l] * ds, ds)
    }

    fn surplus_step(&self, setting: &Setting<'_>, g: usize, aim: Aim<'_>) -> f64 {
        let (i, weight) = (g - self.groups.start, setting.problem.cost[g]);
        let (f, y) = (self.f[i], self.y[i]);
        let mut df = -f - f / y * self.step.y[i];
        if aim.affine.is_some() {
            let dy = self.affine.y[i];
            df += (aim.target * weight + f * (1.0 + dy / y) * dy) / y;
        }
        df
    }

    fn limit_step(&self, setting: &Setting<'_>, g: usize, aim: Aim<'_>) -> f64 {
        let (i, weight) = (g - self.groups.start, setting.problem.cost[g]);
        let (q, lambda) = (self.q[i], self.lambda[i]);
        let mut dq = -q - q / lambda * self.step.lambda[i];
        if aim.affine.is_some() {
            let dlambda = self.affine.lambda[i];
            dq += (aim.target * weight + q * (1.0 + dlambda / lambda) * dlambda) / lambda;
        }
        dq
    }

    /// Remembers the step as the affine one.
    pub fn keep_affine(&mut self) {
        std::mem::swap(&mut self.affine, &mut self.step);
    }

    /// Takes the step, and brings works in line with their multipliers. `t` is the level after it.
    pub fn take(
        &mut self,
        setting: &Setting<'_>,
        aim: Aim<'_>,
        step: &SharedStep,
        StepLength { primal, dual }: StepLength,
        t: f64,
    ) {
        let problem = setting.problem;
        let mut scratch = Scratch::default();
        for g in self.groups.clone() {
            let i = g - self.groups.start;
            self.local(setting, g, aim, &mut scratch);
            let rates = &problem.groups.rate[problem.groups.pairs(g)];
            scratch.cost.clear();
            scratch.cost.extend(problem.groups.pairs(g).map(|pair| problem.cost_at(&step.p, g, pair)));
            let (dy, dlambda) = (self.step.y[i], self.step.lambda[i]);
            let df = if setting.level { self.surplus_step(setting, g, aim) } else { 0.0 };
            if problem.is_limited(g) {
                let dq = self.limit_step(setting, g, aim);
                self.q[i] += primal * dq;
            }
            for (l, at) in self.pairs(problem, g).enumerate() {
                let (dzeta, ds) = self.pair_step(i, l, rates[l], &scratch);
                self.zeta[at] += primal * dzeta;
                self.s[at] += dual * ds;
            }
            self.lambda[i] += dual * dlambda;
            self.y[i] += dual * dy;
            self.f[i] += primal * df;
            self.align(problem, setting.level, g, t);
        }
    }

    /// Moves the work of a group to what its multiplier asks for, as far as its surplus allows; or, without a level,
    /// the multiplier to what the work asks for, as far as the reduced costs allow. (Each moves the less of the two.)
    fn align(&mut self, problem: &SumProblem<'_>, level: bool, g: usize, t: f64) {
        let i = g - self.groups.start;
        let (alpha, size, pairs) = (problem.alpha, problem.size[g], self.pairs(problem, g));
        let rates = &problem.groups.rate[problem.groups.pairs(g)];
        let work = dot(rates, &self.zeta[pairs.clone()]);
        let log_ratio = |y: f64, r: f64| (size / y).ln() - alpha * r.ln();
        if level {
            self.r[i] = (work - self.f[i]) / t;
            let e = log_ratio(self.y[i], self.r[i]);
            if e.is_nan() || e.abs() > LINEAR {
                let asked = ((size / self.y[i]).ln() / alpha).exp();
                let least = (KEPT * self.f[i]).min(0.5 * work);
                self.f[i] = (work - t * asked).max(least);
                self.r[i] = (work - self.f[i]) / t;
            }
            self.e[i] = log_ratio(self.y[i], self.r[i]);
            return;
        }
        self.r[i] = work;
        let rise = size * work.powf(-alpha) - self.y[i];
        let mut part = 1.0f64;
        if rise > 0.0 {
            for (at, rate) in pairs.clone().zip(rates) {
                part = part.min((1.0 - KEPT) * self.s[at] / (rate * rise));
            }
        }
        self.y[i] += part * rise;
        pairs.zip(rates).for_each(|(at, rate)| self.s[at] -= rate * part * rise);
        self.e[i] = if alpha == 0.0 { 0.0 } else { log_ratio(self.y[i], work) };
    }

    /// What the point loses in these groups.
    pub fn losses(&self, setting: &Setting<'_>) -> Losses {
        let problem = setting.problem;
        let mut losses = Losses::default();
        for g in self.groups.clone() {
            let i = g - self.groups.start;
            let pairs = self.pairs(problem, g);
            let worth = self.y[i] * setting.t * self.r[i];
            let mut loss = dot(&self.zeta[pairs.clone()], &self.s[pairs.clone()]) + self.f[i] * self.y[i];
            let mut overload = 0.0;
            if problem.is_limited(g) {
                loss += self.q[i] * self.lambda[i];
                overload = self.zeta[pairs].iter().sum::<f64>() / problem.limit[g] - 1.0;
            }
            loss += worth * self.e[i] * self.e[i] / (2.0 * problem.alpha.max(LEAST_ALPHA));
            // What a limited group pays of its worth is the smaller part; the rest is its limit's.
            let net = worth * (problem.cost[g] / problem.size[g]).min(1.0);
            losses.merge(&Losses { loss, worth, widest: loss / net, overload });
        }
        losses
    }
}

/// `ω r^−α`.
pub(super) fn first_multiplier(problem: &SumProblem<'_>, g: usize, r: f64) -> f64 {
    (problem.size[g].ln() - problem.alpha * r.ln()).exp()
}

/// What these groups load the classes with, row-major `classes × resources`, given the splits of their pairs.
pub(super) fn usage(problem: &SumProblem<'_>, groups: Range<usize>, zeta: &[f64]) -> Vec<f64> {
    let mut usage = vec![0.0; problem.capacities.len()];
    let mut zeta = zeta.iter();
    for g in groups {
        for (pair, zeta) in problem.groups.pairs(g).zip(&mut zeta) {
            let rows = &mut usage[problem.row(pair)..];
            rows.iter_mut().zip(problem.load(g)).for_each(|(sum, a)| *sum += a * zeta);
        }
    }
    usage
}
