//! The interior point of a sum over users whose tasks are bundles of kinds.
//!
//! ```text
//! max Σ w θ U(v) − M b    Σ_l ρ z_kl = π_k v  (y_k)    Σ d_k z_kl + q = c  (p)    v + h = T  (λ)    v − a + b = F  (ν)
//! path  z s = μ, q p = μ, h λ = μ, a ν = μ, b (M − ν) = μ,  s_kl = d_k·p_l + f_kl − ρ y_k,  ψ = Σ π_k y_k + λ − ν,  ψ = w θ U'(v)
//! ```
//! | symbol | meaning |
//! |---|---|
//! | v, T | share of a user, the most that its tasks allow |
//! | z | share of a kind on a class, `π` the part of its user's share that a kind is |
//! | f | what it costs there besides: of resources that others have paid for, and of which it takes next to nothing |
//! | ψ | what the last unit of its share is worth to a user |
//! | F; a, b | what a user is guaranteed; what it has above that, and lacks of it |
//! | M | what a unit that is lacking costs: more than any price of what is guaranteed, and nothing is lacking |
//!
//! Rows are those of capacities and of limits, and `Σ_l z_kl <= κ_k` of limited tasks that do different work on different classes. That guarantees may be all there is, which leaves no share inside them, is why they can be
//! lacked: so there is always a point inside.
//!
//! A user's own variables are eliminated, kind by kind and then `v`, which leaves a system in the prices. The last condition is
//! taken in logarithms, so that it is as good far from the optimum as near it.

mod elimination;
mod even;
mod find;
mod floors;
mod pieces;

use super::utility::Utility;
use crate::interior_point::{Iterate, NewtonSystem, Prediction, Quality, StepLength};
use crate::level::LevelProblem;
use crate::tolerance::sum::ROUNDED;
use elimination::{Eliminated, Factors, Moves, Slopes};
use fairplan_instances::Deadline;
pub(crate) use find::Finding;
pub(super) use find::{find, find_beside_paid};
pub(super) use pieces::Found;
use std::ops::Range;

/// A user that can have something.
pub(super) struct User {
    pub weight: f64,
    /// The largest share that its tasks allow.
    pub cap: f64,
    /// The share that it is guaranteed.
    pub floor: f64,
    /// Its kinds, as groups of the problem.
    pub lines: Range<usize>,
    /// What part of its share each of them is.
    pub parts: Vec<f64>,
}

/// What pairs cost beside the prices of rows, since others have paid for some of what they need: in the unit of these prices, and what that is.
pub(super) struct Paid {
    pub of_pairs: Vec<f64>,
    pub log_scale: f64,
}

impl Paid {
    /// The same in the unit of some utilities.
    pub fn in_unit_of(&self, utility: Utility) -> Vec<f64> {
        let unit = (utility.log_scale() - self.log_scale).exp();
        self.of_pairs.iter().map(|cost| cost * unit).collect()
    }
}

/// A point: primal and dual variables; users, kinds, pairs of a kind and a class, and rows of capacity each in their order.
#[derive(Clone, Default)]
pub(super) struct Point {
    v: Vec<f64>,
    /// `h` and `λ`, 0 without a limit.
    room: Vec<f64>,
    lambda: Vec<f64>,
    psi: Vec<f64>,
    /// `a`, `b` and `ν`, 0 without a guarantee.
    above: Vec<f64>,
    lack: Vec<f64>,
    nu: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
    s: Vec<f64>,
    q: Vec<f64>,
    p: Vec<f64>,
}

/// The problem at a point.
pub(super) struct Bundles<'a> {
    problem: &'a LevelProblem<'a>,
    users: &'a [User],
    utility: Utility,
    deadline: &'a Deadline,
    /// What it costs to lack all that one is guaranteed, where what everybody has at first is worth one.
    lacking: f64,
    /// What pairs cost besides, in the unit of these utilities too.
    paid: Option<&'a Paid>,
    besides: Vec<f64>,
    /// The rows with capacity that may be used up: for each class and resource their number, and of each its class and resource.
    row_of: Vec<usize>,
    rows: Vec<usize>,
    /// Behind them those of limited tasks, by kind.
    task_row_of: Vec<usize>,
    /// What each row holds.
    capacity: Vec<f64>,
    at: Point,
    best: Point,
    /// The gap of the best point.
    gap: f64,
}

/// What a run is given.
#[derive(Clone, Copy)]
struct Setting<'a> {
    problem: &'a LevelProblem<'a>,
    users: &'a [User],
    paid: Option<&'a Paid>,
    alpha: f64,
    lacking: f64,
    deadline: &'a Deadline,
}

/// What products are to come to, less what they are: of pairs, rows, limits of tasks, and of what users have above what they are
/// guaranteed and lack of it.
struct Products {
    of_pairs: Vec<f64>,
    of_rows: Vec<f64>,
    of_limits: Vec<f64>,
    of_floors: Vec<(f64, f64)>,
}

const NO_ROW: usize = usize::MAX;
/// How much is shared where steps begin again.
const NEARLY_ALL: f64 = 0.95;

impl<'a> Bundles<'a> {
    /// A first point inside: everybody takes of all its classes by what they hold, half of all there is at most.
    fn start(setting: Setting<'a>) -> Self {
        let Setting { problem, users, paid, alpha, .. } = setting;
        let (m, groups) = (problem.resources, problem.groups);
        let mut z = vec![0.0; groups.pair_count()];
        let mut v: Vec<f64> = Vec::with_capacity(users.len());
        for user in users {
            // What is paid for tells how much one would take; nobody takes more.
            let least = |(line, part): (usize, &f64)| -> f64 {
                let price = |pair: usize| paid.map_or(0.0, |paid| paid.of_pairs[pair]) / groups.rate[pair];
                part * groups.pairs(line).map(price).fold(f64::INFINITY, f64::min)
            };
            let price: f64 = user.lines.clone().zip(&user.parts).map(least).sum();
            let demand = paid
                .filter(|_| price > 0.0)
                .map_or(1.0, |paid| NEARLY_ALL * Utility::new(alpha, paid.log_scale).demand(1.0, price));
            let wish = (demand * user.weight.powf(1.0 / alpha.max(1.0))).min(0.5 * user.cap);
            v.push(wish);
            // The dearer a class is beside that, the less runs there.
            let worth = paid.map(|paid| Utility::new(alpha, paid.log_scale).marginal(user.weight, wish));
            let dear = |pair: usize| match (paid, worth) {
                (Some(paid), Some(worth)) => 1.0 + paid.of_pairs[pair] / groups.rate[pair] / worth,
                _ => 1.0,
            };
            for (line, part) in user.lines.clone().zip(&user.parts) {
                let load = problem.load(line);
                let fits = |pair: usize| {
                    let row = &problem.capacities[groups.class[pair] as usize * m..][..m];
                    let needed = row.iter().zip(load).filter(|(_, d)| **d > 0.0);
                    let fit = needed.map(|(c, d)| c / d).fold(f64::INFINITY, f64::min);
                    let fit = groups.rate[pair] * fit;
                    if paid.is_some() { fit.min(wish) / dear(pair) } else { fit }
                };
                let total: f64 = groups.pairs(line).map(fits).sum();
                for pair in groups.pairs(line) {
                    z[pair] = wish * part * fits(pair) / total / groups.rate[pair];
                }
            }
        }
        if problem.limits.is_some() {
            // What all have together uses half of a limit at most, and half of some capacity.
            let used = problem.usage(&z);
            let full = |(used, capacity): (&f64, &f64)| if *capacity > 0.0 { used / capacity } else { 0.0 };
            let parts: Vec<f64> = used.iter().zip(problem.capacities).map(full).collect();
            let fullest = problem.of_classes(&parts).iter().copied().fold(0.0, f64::max);
            for (user, v) in users.iter().zip(&mut v) {
                let pairs =
                    || user.lines.clone().flat_map(|line| groups.pairs(line).map(move |pair| (line, pair)));
                let rows =
                    |(line, pair)| problem.limits_met(line, groups.class[pair]).map(|(row, _)| parts[row]);
                let most = pairs().flat_map(rows).fold(fullest, f64::max);
                pairs().for_each(|(_, pair)| z[pair] *= fullest / most);
                *v *= fullest / most;
            }
        }
        Self::inside(setting, 0.5, v, z)
    }

    /// Another: of every class each kind has the same part, and its user what the least of them does. Where one user finds all it needs on a small
    /// class alone, others begin no smaller for that.
    fn start_evenly(setting: Setting<'a>) -> Self {
        let Setting { problem, users, .. } = setting;
        let groups = problem.groups;
        let part = 1.0 / groups.len() as f64;
        let fits = |line: usize, pair: usize| {
            let room = problem.needs(line, pair).map(|(row, d)| problem.capacities[row] / d);
            part * room.fold(f64::INFINITY, f64::min)
        };
        let mut z = vec![0.0; groups.pair_count()];
        let mut v = Vec::with_capacity(users.len());
        for user in users {
            let works: Vec<f64> = user
                .lines
                .clone()
                .map(|line| groups.pairs(line).map(|pair| groups.rate[pair] * fits(line, pair)).sum())
                .collect();
            let of_kinds = works.iter().zip(&user.parts).map(|(work, part)| work / part);
            let share = of_kinds.fold(0.5 * user.cap, f64::min);
            for ((line, work), part) in user.lines.clone().zip(works).zip(&user.parts) {
                for pair in groups.pairs(line) {
                    z[pair] = fits(line, pair) * (share * part / work);
                }
            }
            v.push(share);
        }
        Self::inside(setting, 0.5, v, z)
    }

    /// The gap between the worth of shares and what prices allow, at the best point.
    fn gap(&self) -> f64 {
        self.gap
    }

    /// A first point where nearly so much is shared as at the best one. With a large `alpha` what shares are worth falls by many orders of
    /// magnitude on the way from half of it to all, and steps that began there may not come to the end. For this `alpha`, the same or a
    /// larger one.
    fn again(&self, alpha: f64) -> Self {
        let (v, z) = (self.best.v.clone(), self.best.z.clone());
        let Self { problem, users, paid, lacking, deadline, .. } = *self;
        let setting = Setting { problem, users, paid, alpha, lacking, deadline };
        Self::inside(setting, NEARLY_ALL, v, z)
    }

    /// A first point with shares in proportion to these: as large as use up a part of some resource or of what somebody may have.
    fn inside(
        Setting { problem, users, paid, alpha, lacking, deadline }: Setting<'a>,
        part: f64,
        mut v: Vec<f64>,
        mut z: Vec<f64>,
    ) -> Self {
        let groups = problem.groups;
        let mut row_of = vec![NO_ROW; problem.capacities.len()];
        let mut rows = Vec::new();
        let may_be_used_up = |capacity: f64| capacity > 0.0 && capacity.is_finite();
        for at in (0..problem.capacities.len()).filter(|at| may_be_used_up(problem.capacities[*at])) {
            row_of[at] = rows.len();
            rows.push(at);
        }
        let mut capacity: Vec<f64> = rows.iter().map(|at| problem.capacities[*at]).collect();
        let usage = problem.usage(&z);
        let mut used: Vec<f64> = rows.iter().map(|at| usage[*at]).collect();
        let mut task_row_of = vec![NO_ROW; groups.len()];
        for line in (0..groups.len()).filter(|line| groups.limit[*line] < f64::INFINITY) {
            task_row_of[line] = capacity.len();
            capacity.push(groups.limit[line]);
            used.push(z[groups.pairs(line)].iter().sum());
        }
        let fullest = used.iter().zip(&capacity).map(|(used, capacity)| used / capacity).fold(0.0, f64::max);
        let most = v.iter().zip(users).map(|(v, user)| v / user.cap).fold(fullest, f64::max);
        let scale = if paid.is_some() { (part / most).min(1.0) } else { part / most };
        v.iter_mut().chain(&mut z).for_each(|x| *x *= scale);
        // In units in which everything that everybody has is worth one.
        let plain = Utility::new(alpha, 0.0);
        let worths: Vec<f64> =
            users.iter().zip(&v).map(|(user, v)| user.weight.ln() + (1.0 - alpha) * v.ln()).collect();
        let most = worths.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log_worth = most + worths.iter().map(|log| (log - most).exp()).sum::<f64>().ln();
        let utility = plain.scaled(-log_worth);

        let q: Vec<f64> =
            capacity.iter().zip(&used).map(|(capacity, used)| capacity - scale * used).collect();
        let p: Vec<f64> = capacity.iter().map(|all| 1.0 / (all * capacity.len() as f64)).collect();
        let mut start = Self {
            problem,
            users,
            utility,
            deadline,
            lacking,
            paid,
            besides: paid.map_or_else(|| vec![0.0; z.len()], |paid| paid.in_unit_of(utility)),
            row_of,
            at: Point {
                above: vec![0.0; users.len()],
                lack: vec![0.0; users.len()],
                nu: vec![0.0; users.len()],
                room: users
                    .iter()
                    .zip(&v)
                    .map(|(user, v)| if user.cap < f64::INFINITY { user.cap - v } else { 0.0 })
                    .collect(),
                lambda: vec![0.0; users.len()],
                psi: users.iter().zip(&v).map(|(user, v)| utility.marginal(user.weight, *v)).collect(),
                y: vec![0.0; groups.len()],
                s: vec![0.0; z.len()],
                v,
                z,
                q,
                p,
            },
            best: Point::default(),
            gap: f64::INFINITY,
            rows,
            task_row_of,
            capacity,
        };
        start.set_duals();
        start.best = start.at.clone();
        start
    }

    /// Multipliers inside: kinds are worth half of what they cost where they are cheapest.
    fn set_duals(&mut self) {
        let groups = self.problem.groups;
        for line in 0..groups.len() {
            let cost = |pair: usize| self.cost(line, pair, &self.at.p) + self.besides[pair];
            let least =
                groups.pairs(line).map(|pair| cost(pair) / groups.rate[pair]).fold(f64::INFINITY, f64::min);
            self.at.y[line] = 0.5 * least;
            for pair in groups.pairs(line) {
                let cost = self.cost(line, pair, &self.at.p) + self.besides[pair];
                self.at.s[pair] = cost - groups.rate[pair] * self.at.y[line];
            }
        }
        for (u, user) in self.users.iter().enumerate() {
            if user.cap < f64::INFINITY {
                self.at.lambda[u] = 0.1 * self.at.psi[u];
            }
        }
        self.set_floors();
    }

    /// `d_k·x_l` of a pair, for something about the rows.
    fn cost(&self, line: usize, pair: usize, of_rows: &[f64]) -> f64 {
        self.needs(line, pair).map(|(row, d)| d * of_rows[row]).sum()
    }

    /// The rows that a pair needs, and how much of each.
    fn needs(&self, line: usize, pair: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let needed = self.problem.needs(line, pair).map(|(at, d)| (self.row_of[at], d));
        needed.chain([(self.task_row_of[line], 1.0)]).filter(|(row, _)| *row != NO_ROW)
    }

    /// The best point: shares of kinds on classes, prices, and the unit of these.
    fn best(self) -> (Vec<f64>, Vec<f64>, Utility) {
        let mut prices = vec![0.0; self.row_of.len()];
        self.rows.iter().zip(&self.best.p).for_each(|(at, price)| prices[*at] = *price);
        (self.best.z, prices, self.utility)
    }

    /// How far `ψ` is from what the last unit of a share is worth, in logarithms.
    fn miss(&self, u: usize) -> f64 {
        (self.utility.marginal(self.users[u].weight, self.at.v[u]) / self.at.psi[u]).ln()
    }

    fn products(&self, at: &Point) -> (f64, usize) {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let limited = self.users.iter().filter(|user| user.cap < f64::INFINITY).count();
        let sum = dot(&at.z, &at.s) + dot(&at.q, &at.p) + dot(&at.room, &at.lambda);
        let of_floor = |u: usize| at.above[u] * at.nu[u] + at.lack[u] * (self.most(u) - at.nu[u]);
        let of_floors: f64 = self.guaranteed().map(of_floor).sum();
        (sum + of_floors, at.z.len() + at.q.len() + limited + 2 * self.guaranteed().count())
    }

    fn mean(&self, at: &Point) -> f64 {
        let (sum, count) = self.products(at);
        sum / count as f64
    }

    /// The step to these products (less what they are).
    fn step(&self, factors: &Factors, products: &Products) -> Point {
        let (at, groups) = (&self.at, self.problem.groups);
        let Products { of_pairs, of_rows, of_limits, of_floors } = products;
        let mut moves = Moves {
            pairs: vec![0.0; at.z.len()],
            rows: of_rows.iter().zip(&at.p).map(|(product, p)| product / p).collect(),
            users: vec![0.0; self.users.len()],
        };
        for (u, user) in self.users.iter().enumerate() {
            let mut dual = at.psi[u] - at.lambda[u];
            let mut asked = at.psi[u] * self.miss(u);
            if user.cap < f64::INFINITY {
                // h follows v: what it is off by is made up for here too.
                let off = user.cap - at.v[u] - at.room[u];
                asked -= (of_limits[u] - at.lambda[u] * off) / at.room[u];
            }
            if user.floor > 0.0 {
                dual += at.nu[u];
                asked += self.floor_slope(u) * self.floor_pull(u, of_floors[u]);
            }
            for (line, part) in user.lines.clone().zip(&user.parts) {
                dual -= part * at.y[line];
                for pair in groups.pairs(line) {
                    let gone = self.dual_residual(line, pair);
                    moves.pairs[pair] = (of_pairs[pair] - at.z[pair] * gone) / at.s[pair];
                }
            }
            // r1 = −(ψ − Σ π y − λ)
            moves.users[u] = asked + dual;
        }
        let Eliminated { p, v, y, z } = self.eliminated(factors, &moves);
        let mut step = Point { p, v, y, z, ..at.clone() };
        for row in 0..step.q.len() {
            step.q[row] = (of_rows[row] - at.q[row] * step.p[row]) / at.p[row];
        }
        for (u, user) in self.users.iter().enumerate() {
            step.psi[u] = at.psi[u] * (self.miss(u) - self.utility.alpha * step.v[u] / at.v[u]);
            if user.cap < f64::INFINITY {
                let off = user.cap - at.v[u] - at.room[u];
                step.room[u] = off - step.v[u];
                step.lambda[u] = (of_limits[u] - at.lambda[u] * step.room[u]) / at.room[u];
            } else {
                (step.room[u], step.lambda[u]) = (0.0, 0.0);
            }
            if user.floor > 0.0 {
                let (above, lack) = of_floors[u];
                step.nu[u] = self.floor_slope(u) * (self.floor_pull(u, of_floors[u]) - step.v[u]);
                step.above[u] = (above - at.above[u] * step.nu[u]) / at.nu[u];
                step.lack[u] = (lack + at.lack[u] * step.nu[u]) / (self.most(u) - at.nu[u]);
            } else {
                (step.above[u], step.lack[u], step.nu[u]) = (0.0, 0.0, 0.0);
            }
        }
        // From the products, since rounding of prices is large beside what vanishes.
        for (pair, product) in of_pairs.iter().enumerate() {
            step.s[pair] = (product - at.s[pair] * step.z[pair]) / at.z[pair];
        }
        step
    }

    /// Whether all numbers of a point are above zero.
    fn is_inside(&self, point: &Point) -> bool {
        let numbers = [&point.v, &point.psi, &point.z, &point.s, &point.q, &point.p];
        let has_room = |(room, user): (&f64, &User)| user.cap == f64::INFINITY || *room > 0.0;
        let is_between = |u: usize| {
            point.above[u] > 0.0 && point.lack[u] > 0.0 && point.nu[u] > 0.0 && point.nu[u] < self.most(u)
        };
        numbers.iter().all(|column| column.iter().all(|x| x.is_finite() && *x > 0.0))
            && point.room.iter().zip(self.users).all(has_room)
            && self.guaranteed().all(is_between)
    }

    /// `d·p + f − ρ y − s`; nothing where that is rounding.
    fn dual_residual(&self, line: usize, pair: usize) -> f64 {
        let cost = self.cost(line, pair, &self.at.p) + self.besides[pair];
        let residual = cost - self.problem.groups.rate[pair] * self.at.y[line] - self.at.s[pair];
        if residual.abs() > ROUNDED * cost { residual } else { 0.0 }
    }

    fn longest(&self, step: &Point) -> StepLength {
        let at = &self.at;
        let mut longest = StepLength::LONGEST
            .of_all((&at.z, &step.z), (&at.s, &step.s))
            .of_all((&at.q, &step.q), (&at.p, &step.p))
            .of_all((&at.v, &step.v), (&at.psi, &step.psi));
        for (u, user) in self.users.iter().enumerate() {
            if user.cap < f64::INFINITY {
                longest.see((at.room[u], step.room[u]), (at.lambda[u], step.lambda[u]));
            }
        }
        for u in self.guaranteed() {
            longest.see((at.above[u], step.above[u]), (at.nu[u], step.nu[u]));
            longest.see((at.lack[u], step.lack[u]), (self.most(u) - at.nu[u], -step.nu[u]));
        }
        // Shares and what they are worth are tied to each other: both sides go the same way.
        let both = longest.primal.min(longest.dual);
        StepLength { primal: both, dual: both }
    }

    fn moved(&self, step: &Point, reach: StepLength) -> Point {
        let go = |x: &[f64], dx: &[f64], part: f64| x.iter().zip(dx).map(|(x, dx)| x + part * dx).collect();
        let at = &self.at;
        Point {
            v: go(&at.v, &step.v, reach.primal),
            room: go(&at.room, &step.room, reach.primal),
            above: go(&at.above, &step.above, reach.primal),
            lack: go(&at.lack, &step.lack, reach.primal),
            nu: go(&at.nu, &step.nu, reach.dual),
            z: go(&at.z, &step.z, reach.primal),
            q: go(&at.q, &step.q, reach.primal),
            lambda: go(&at.lambda, &step.lambda, reach.dual),
            psi: go(&at.psi, &step.psi, reach.dual),
            y: go(&at.y, &step.y, reach.dual),
            s: go(&at.s, &step.s, reach.dual),
            p: go(&at.p, &step.p, reach.dual),
        }
    }
}

impl NewtonSystem for Bundles<'_> {
    type Factors = Factors;
    type Step = Point;

    fn factor(&mut self, deadline: &Deadline) -> Option<Factors> {
        let at = &self.at;
        let over = |x: &[f64], z: &[f64]| x.iter().zip(z).map(|(x, z)| x / z).collect::<Vec<f64>>();
        let stiff = |(u, user): (usize, &User)| {
            let of_limit = if user.cap < f64::INFINITY { at.lambda[u] / at.room[u] } else { 0.0 };
            let of_floor = if user.floor > 0.0 { self.floor_slope(u) } else { 0.0 };
            self.utility.alpha * at.psi[u] / at.v[u] + of_limit + of_floor
        };
        let slopes = Slopes {
            pairs: over(&at.z, &at.s),
            rows: over(&at.q, &at.p),
            users: self.users.iter().enumerate().map(stiff).collect(),
        };
        self.factored(slopes, deadline)
    }

    fn predict(&mut self, factors: &Factors) -> (Point, Prediction) {
        let at = &self.at;
        let to_zero = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| -a * b).collect::<Vec<f64>>();
        let of_floor = |u: usize| (-at.above[u] * at.nu[u], -at.lack[u] * (self.most(u) - at.nu[u]));
        let products = Products {
            of_pairs: to_zero(&at.z, &at.s),
            of_rows: to_zero(&at.q, &at.p),
            of_limits: to_zero(&at.room, &at.lambda),
            of_floors: self.of_floors(of_floor),
        };
        let step = self.step(factors, &products);
        let after = self.moved(&step, self.longest(&step).shortened(1.0));
        let prediction = Prediction { now: self.mean(at), after: self.mean(&after) };
        (step, prediction)
    }

    fn correct(&mut self, factors: &Factors, predictor: Point, target: f64) -> (Point, StepLength) {
        let at = &self.at;
        let aim = |x: &[f64], z: &[f64], dx: &[f64], dz: &[f64]| -> Vec<f64> {
            let both = x.iter().zip(z).zip(dx.iter().zip(dz));
            both.map(|((x, z), (dx, dz))| target - x * z - dx * dz).collect()
        };
        let of_floor = |u: usize| {
            let (above, lack) = (at.above[u] * at.nu[u], at.lack[u] * (self.most(u) - at.nu[u]));
            let (da, db, dn) = (predictor.above[u], predictor.lack[u], predictor.nu[u]);
            (target - above - da * dn, target - lack + db * dn)
        };
        let products = Products {
            of_pairs: aim(&at.z, &at.s, &predictor.z, &predictor.s),
            of_rows: aim(&at.q, &at.p, &predictor.q, &predictor.p),
            of_limits: aim(&at.room, &at.lambda, &predictor.room, &predictor.lambda),
            of_floors: self.of_floors(of_floor),
        };
        let step = self.step(factors, &products);
        let longest = self.longest(&step);
        (step, longest)
    }

    fn take(&mut self, step: &Point, reach: StepLength) -> bool {
        let moved = self.moved(step, reach);
        let sound = self.is_inside(&moved);
        if sound {
            self.at = moved;
            self.make_even();
        }
        sound
    }
}

impl Iterate for Bundles<'_> {
    /// With a large α the first steps may make the gap larger before it falls.
    const PATIENCE: u64 = 45;

    fn quality(&mut self) -> Quality {
        let at = &self.at;
        let (products, _) = self.products(at);
        let mut off = self.missed().0;
        let mut worth = 0.0;
        for (u, user) in self.users.iter().enumerate() {
            let paid: f64 =
                user.lines.clone().zip(&user.parts).map(|(line, part)| part * at.y[line]).sum::<f64>();
            let marginal = self.utility.marginal(user.weight, at.v[u]);
            worth += marginal * at.v[u];
            let mut price = paid + at.lambda[u];
            if user.floor > 0.0 {
                // What it pays beyond what that is worth to it is for its guarantee.
                off +=
                    ((price - at.nu[u] - at.psi[u]) * at.v[u]).abs() + (self.off_floor(u) * at.nu[u]).abs();
                price = at.psi[u];
            }
            off += if self.utility.alpha == 0.0 {
                ((marginal - price) * at.v[u]).abs()
            } else {
                // Who has next to nothing of what it would buy loses by that, however little it pays; and what a large α lets nobody lose
                // is no measure of how near a point is.
                let demand = self.utility.demand(user.weight, price);
                price * demand * self.utility.regret(at.v[u] / demand)
            };
        }
        Quality { gap: (products + off) / worth, widest: 0.0, rounding: false }
    }

    fn keep(&mut self, quality: Quality) {
        self.best = self.at.clone();
        self.gap = quality.gap;
    }
}
