//! The users that are hardly decided between classes, solved for exactly together with the prices; what all others do
//! changes in proportion to the small change of prices that is left.
//!
//! An interior-point method of its own: it begins near the solution but off the equations, where a predictor says nothing, and
//! all variables take one length. For each user, with `w θ U'(v) = y` the price of its work `v = Σ ρ ζ`:
//!
//! ```text
//! d·p_l + λ − ρ_l y = s_l >= 0   (ζ_l)      Σ ζ_l + q = τ   (λ)      ζ s = q λ = μ ω
//! ```
//! and for each row `C − U − (slope) dp − Σ d ζ = u`, `u p = μ ω`. The weights ω are what users pay, and what a row is
//! worth on average.

use super::demand::{AggregateDemand, BestResponse};
use super::descent::solve;
use super::users::Users;
use crate::interior_point::to_bound;
use crate::level::dot;
use crate::smooth::elimination::Elimination;
use crate::smooth::utility::Utility;
use crate::tolerance::market::{DECIDED, SHORTEST_STEP};
use fairplan_instances::Deadline;

/// How far a step goes towards the boundary, and by how much the target falls after a full one and after a short one.
const STEP: f64 = 0.99;
const CENTRING: (f64, f64) = (0.05, 0.5);
const MOST_STEPS: u64 = 100;

/// One user with its variables.
struct Undecided {
    user: usize,
    /// Its usable classes with their rates.
    classes: Vec<usize>,
    rates: Vec<f64>,
    /// `ω`.
    size: f64,
    zeta: Vec<f64>,
    s: Vec<f64>,
    y: f64,
    q: f64,
    lambda: f64,
}

/// One user's part of a step.
struct Step {
    zeta: Vec<f64>,
    s: Vec<f64>,
    y: f64,
    q: f64,
    lambda: f64,
}

/// Prices, and the splits of the undecided users over all classes.
pub(super) struct Decided {
    pub prices: Vec<f64>,
    pub splits: Vec<(usize, Vec<f64>)>,
    pub steps: u64,
}

/// All variables.
struct Iterate<'a> {
    users: &'a Users,
    utility: Utility,
    first_prices: &'a [f64],
    prices: Vec<f64>,
    /// Free capacity of each row, and ω.
    free: Vec<f64>,
    row_size: f64,
    /// Load of all other users at the first prices, and how it falls.
    others: AggregateDemand,
    undecided: Vec<Undecided>,
}

/// Solves for the undecided users of a demand of all at these prices, which are uncertain by about this part.
pub(super) fn decide(
    users: &Users,
    utility: Utility,
    prices: &[f64],
    demand: AggregateDemand,
    uncertainty: f64,
    deadline: &Deadline,
) -> Decided {
    let mut iterate = Iterate::new(users, utility, prices, demand, uncertainty);
    let (mut mu, mut steps) = (iterate.complementarity(), 0);
    let mut centring = CENTRING.1;
    while steps < MOST_STEPS && (mu > DECIDED || iterate.residual() > DECIDED * 1e2) {
        let Some(length) = iterate.step((centring * mu).max(0.1 * DECIDED)) else { break };
        centring = if length > 0.9 { CENTRING.0 } else { CENTRING.1 };
        mu = iterate.complementarity();
        steps += 1;
        if length < SHORTEST_STEP || deadline.is_over() {
            break;
        }
    }
    let splits = iterate.undecided.iter().map(|one| {
        let mut split = vec![0.0; users.class_count()];
        one.classes.iter().zip(&one.zeta).for_each(|(l, zeta)| split[*l] = *zeta);
        (one.user, split)
    });
    Decided { splits: splits.collect(), prices: iterate.prices, steps }
}

impl<'a> Iterate<'a> {
    fn new(
        users: &'a Users,
        utility: Utility,
        prices: &'a [f64],
        mut others: AggregateDemand,
        mu: f64,
    ) -> Self {
        let (rows, capacities) = (prices.len(), &users.classes.capacities);
        let row_size = dot(prices, capacities) / rows as f64;
        let free = capacities.iter().zip(prices).zip(&others.usage);
        let free = free.map(|((c, p), usage)| (c - usage).max(mu * row_size / p)).collect();
        let mut costs = vec![0.0; users.class_count()];
        let undecided = std::mem::take(&mut others.undecided);
        let mut first = |(_, user): &(f64, usize)| {
            let consumer = users.consumer(*user, utility, prices, &mut costs)?;
            let best = BestResponse::of(&consumer)?;
            best.add(
                users.direction(*user),
                |row, x| others.usage[row] -= x,
                |a, b, x| others.slope[a * rows + b] -= x,
            );
            let classes: Vec<usize> =
                (0..consumer.rates.len()).filter(|l| consumer.rates[*l] > 0.0).collect();
            let rates: Vec<f64> = classes.iter().map(|l| consumer.rates[*l]).collect();
            let size = best.pairs().map(|(l, split)| split * (consumer.costs[l] + best.lambda)).sum::<f64>();
            let total = best.splits[0] + best.splits[1];
            let product = mu * size;
            let mut one = Undecided {
                user: *user,
                size,
                zeta: Vec::new(),
                s: Vec::new(),
                y: best.price,
                q: f64::INFINITY,
                lambda: 0.0,
                classes,
                rates,
            };
            for (l, rate) in one.classes.iter().zip(&one.rates) {
                let has = best.pairs().find(|(class, _)| class == l).map_or(0.0, |(_, split)| split);
                let due = consumer.costs[*l] + best.lambda;
                let s = (due - rate * best.price).max(mu * due);
                let zeta = has.max((product / s).min(0.5 * total));
                one.zeta.push(zeta);
                one.s.push(if has > 0.0 { product / zeta } else { s });
            }
            if consumer.tasks < f64::INFINITY {
                let left = (consumer.tasks - total).max(0.0);
                one.lambda = best.lambda.max(product / left.max(0.5 * consumer.tasks));
                one.q = left.max(product / one.lambda);
            }
            Some(one)
        };
        let undecided = undecided.iter().filter_map(&mut first).collect();
        Self {
            users,
            utility,
            first_prices: prices,
            prices: prices.to_vec(),
            free,
            row_size,
            others,
            undecided,
        }
    }

    /// The mean product over its weight.
    fn complementarity(&self) -> f64 {
        let (mut products, mut sizes) = (0.0, 0.0);
        for row in self.rows() {
            products += self.free[row] * self.prices[row];
            sizes += self.row_size;
        }
        for one in &self.undecided {
            products += dot(&one.zeta, &one.s);
            sizes += one.size * one.zeta.len() as f64;
            if one.q < f64::INFINITY {
                products += one.q * one.lambda;
                sizes += one.size;
            }
        }
        products / sizes
    }

    fn rows(&self) -> impl Iterator<Item = usize> {
        let capacities = &self.users.classes.capacities;
        (0..capacities.len()).filter(|row| capacities[*row] > 0.0)
    }

    /// `C − U − (slope) dp − Σ d ζ − u` of each row.
    fn row_residuals(&self) -> Vec<f64> {
        let m = self.users.resources;
        let rows = self.prices.len();
        let moved: Vec<f64> = self.prices.iter().zip(self.first_prices).map(|(p, first)| p - first).collect();
        let mut residuals: Vec<f64> = (0..rows)
            .map(|row| {
                let fallen = dot(&self.others.slope[row * rows..(row + 1) * rows], &moved);
                self.users.classes.capacities[row] - self.others.usage[row] + fallen - self.free[row]
            })
            .collect();
        for one in &self.undecided {
            for (l, zeta) in one.classes.iter().zip(&one.zeta) {
                let direction = self.users.direction(one.user);
                direction.iter().enumerate().for_each(|(r, part)| residuals[l * m + r] -= zeta * part);
            }
        }
        residuals
    }

    /// The largest residual of a row in parts of its capacity, or of a user in parts of its own.
    fn residual(&self) -> f64 {
        let residuals = self.row_residuals();
        let rows = self.rows().map(|row| (residuals[row] / self.users.classes.capacities[row]).abs());
        let of_user = |one: &Undecided| {
            let local = self.local(one, 0.0);
            local.misses.iter().map(|r| (r / (one.y * one.rates[0])).abs()).fold(local.error.abs(), f64::max)
        };
        rows.chain(self.undecided.iter().map(of_user)).fold(0.0, f64::max)
    }

    fn cost(&self, user: usize, class: usize, prices: &[f64]) -> f64 {
        let m = self.users.resources;
        dot(self.users.direction(user), &prices[class * m..(class + 1) * m])
    }

    /// One user worked out for a step towards products of `mu`.
    fn local(&self, one: &Undecided, mu: f64) -> Local {
        let weight = self.users.weight(one.user);
        let work = dot(&one.rates, &one.zeta);
        let error = self.utility.marginal(weight, work).ln() - one.y.ln();
        let theta: Vec<f64> = one.zeta.iter().zip(&one.s).map(|(zeta, s)| zeta / s).collect();
        let misses: Vec<f64> = (0..one.classes.len())
            .map(|at| {
                self.cost(one.user, one.classes[at], &self.prices) + one.lambda
                    - one.rates[at] * one.y
                    - one.s[at]
            })
            .collect();
        let own: Vec<f64> = (0..theta.len())
            .map(|at| mu * one.size / one.s[at] - one.zeta[at] - theta[at] * misses[at])
            .collect();
        let stiffness = work / (self.utility.alpha * one.y);
        let slack = if one.q < f64::INFINITY { one.q / one.lambda } else { f64::INFINITY };
        let group = Elimination::new(stiffness, slack, &one.rates, &theta);
        let of_work = work * error / self.utility.alpha - dot(&one.rates, &own);
        let of_tasks = if one.q < f64::INFINITY {
            let left = self.users.tasks(one.user) - one.zeta.iter().sum::<f64>() - one.q;
            own.iter().sum::<f64>() - (left + one.q - mu * one.size / one.lambda)
        } else {
            0.0
        };
        Local { group, theta, own, misses, error, of_work, of_tasks }
    }

    /// One Newton step; returns its length.
    fn step(&mut self, mu: f64) -> Option<f64> {
        let (m, rows) = (self.users.resources, self.prices.len());
        let mut slope = self.others.slope.clone();
        let mut right: Vec<f64> = self.row_residuals().iter().map(|residual| -residual).collect();
        for row in 0..rows {
            right[row] += mu * self.row_size / self.prices[row] - self.free[row];
        }
        let locals: Vec<Local> = self.undecided.iter().map(|one| self.local(one, mu)).collect();
        for (one, local) in self.undecided.iter().zip(&locals) {
            let direction = self.users.direction(one.user);
            let alone = local.splits(&one.rates, None);
            for (at, a) in one.classes.iter().enumerate() {
                direction.iter().enumerate().for_each(|(r, part)| right[a * m + r] += part * alone.zeta[at]);
                for (with, b) in one.classes.iter().enumerate() {
                    let response = local.response(at, with, &one.rates);
                    for (r, part) in direction.iter().enumerate() {
                        for (s, other) in direction.iter().enumerate() {
                            slope[(a * m + r) * rows + b * m + s] += response * part * other;
                        }
                    }
                }
            }
        }
        let capacities = &self.users.classes.capacities;
        let diag = |row: usize| (capacities[row] > 0.0).then(|| self.free[row] / self.prices[row]);
        for row in (0..rows).filter(|row| capacities[*row] == 0.0) {
            right[row] = 0.0;
        }
        let dp = solve(&slope, diag, &right)?;
        if dp.iter().any(|dp| !dp.is_finite()) {
            return None;
        }
        let free_step: Vec<f64> = (0..rows)
            .map(|row| {
                let (u, p) = (self.free[row], self.prices[row]);
                if p > 0.0 { mu * self.row_size / p - u - u / p * dp[row] } else { 0.0 }
            })
            .collect();
        let moves: Vec<Step> = self
            .undecided
            .iter()
            .zip(&locals)
            .map(|(one, local)| {
                let dearer: Vec<f64> = one.classes.iter().map(|l| self.cost(one.user, *l, &dp)).collect();
                let mut step = local.splits(&one.rates, Some(&dearer));
                step.s = (0..dearer.len())
                    .map(|at| dearer[at] + step.lambda - one.rates[at] * step.y + local.misses[at])
                    .collect();
                if one.q < f64::INFINITY {
                    step.q = mu * one.size / one.lambda - one.q - one.q / one.lambda * step.lambda;
                }
                step
            })
            .collect();
        let mut reach = f64::INFINITY;
        let mut see = |x: f64, dx: f64| reach = to_bound(reach, x, dx);
        for row in self.rows() {
            see(self.prices[row], dp[row]);
            see(self.free[row], free_step[row]);
        }
        for (one, step) in self.undecided.iter().zip(&moves) {
            one.zeta.iter().zip(&step.zeta).for_each(|(x, dx)| see(*x, *dx));
            one.s.iter().zip(&step.s).for_each(|(x, dx)| see(*x, *dx));
            see(one.y, step.y);
            if one.q < f64::INFINITY {
                see(one.q, step.q);
                see(one.lambda, step.lambda);
            }
        }
        let length = (STEP * reach).min(1.0);
        self.prices.iter_mut().zip(&dp).for_each(|(p, dp)| *p += length * dp);
        self.free.iter_mut().zip(&free_step).for_each(|(u, du)| *u += length * du);
        for (one, step) in self.undecided.iter_mut().zip(&moves) {
            one.zeta.iter_mut().zip(&step.zeta).for_each(|(x, dx)| *x += length * dx);
            one.s.iter_mut().zip(&step.s).for_each(|(x, dx)| *x += length * dx);
            one.y += length * step.y;
            if one.q < f64::INFINITY {
                one.q += length * step.q;
                one.lambda += length * step.lambda;
            }
        }
        Some(length)
    }
}

/// One user in the Newton system.
struct Local {
    group: Elimination,
    theta: Vec<f64>,
    /// What the splits change by if nothing else does.
    own: Vec<f64>,
    misses: Vec<f64>,
    /// `ln (w θ U'(v) / y)`.
    error: f64,
    of_work: f64,
    of_tasks: f64,
}

impl Local {
    /// How the split of one class falls with the cost of another or the same.
    fn response(&self, at: usize, with: usize, rates: &[f64]) -> f64 {
        if at == with {
            return self.group.response(at, rates, &self.theta);
        }
        let pull = [at, with].map(|at| self.group.pull(rates[at], self.theta[at]));
        self.group.exchange([self.theta[at], self.theta[with]], pull)
    }

    /// The step of splits and multipliers when classes become this much dearer.
    fn splits(&self, rates: &[f64], dearer: Option<&[f64]>) -> Step {
        let dearer = |at: usize| dearer.map_or(0.0, |dearer| dearer[at]);
        let (mut of_work, mut of_tasks) = (self.of_work, self.of_tasks);
        for (at, (rate, theta)) in rates.iter().zip(&self.theta).enumerate() {
            of_work += rate * theta * dearer(at);
            of_tasks -= theta * dearer(at);
        }
        let y = (of_work + self.group.ratio * of_tasks) / self.group.pivot;
        let lambda = of_tasks * self.group.inverse + self.group.ratio * y;
        let zeta = (0..rates.len())
            .map(|at| self.own[at] - self.theta[at] * (dearer(at) + lambda - rates[at] * y))
            .collect();
        Step { zeta, s: Vec::new(), y, q: 0.0, lambda }
    }
}
