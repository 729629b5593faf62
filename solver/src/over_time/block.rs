//! One quantum of the interior point: tasks, what is left of demands and capacities, and their multipliers.
//!
//! The users' multipliers `y` are all that ties quanta together. What is the quantum's own is eliminated: first its
//! tasks, then the multipliers of its demands, one number each, then those of its capacities, by a matrix as large as
//! there are capacities. What is left of it are numbers for pairs of users.

use super::problem::{Member, Problem, Quantum};
use crate::interior_point::Cholesky;
use nalgebra::DMatrix;

/// The point and the step of one quantum. Pairs are those of an entry (a user with demand) and a class that it can use.
pub(super) struct Block<'a> {
    quantum: &'a Quantum,
    /// Where the pairs of each entry end.
    ends: Vec<usize>,
    /// Tasks, and what they cost more than they are worth.
    pub x: Vec<f64>,
    pub z: Vec<f64>,
    /// Tasks that do not run, and what one more demanded task is worth.
    u: Vec<f64>,
    q: Vec<f64>,
    /// Parts of capacities that are free, and their prices.
    v: Vec<f64>,
    pub p: Vec<f64>,
    step: Step,
    newton: Option<Newton>,
}

/// Changes of the point; and what the products of each two are to become, less what they are.
#[derive(Default)]
struct Step {
    x: Vec<f64>,
    z: Vec<f64>,
    u: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    p: Vec<f64>,
    xz: Vec<f64>,
    uq: Vec<f64>,
    vp: Vec<f64>,
}

/// What an iteration computes once for both of its steps.
struct Newton {
    factor: Cholesky,
    /// By row of capacity: the factored matrix's half solutions for each entry, entry after entry.
    half: Vec<f64>,
    /// By entry: the diagonal of its demand's row, what its user's tasks are worth on the mean, weighed by how freely
    /// they move, and how freely they move together.
    of_entry: Vec<OfEntry>,
    // Right-hand sides, kept for the way back.
    h: Vec<f64>,
    hq: Vec<f64>,
    hp: Vec<f64>,
}

#[derive(Clone, Copy)]
struct OfEntry {
    diagonal: f64,
    slack: f64,
    mean_gain: f64,
    freedom: f64,
}

/// The largest steps that keep everything above zero, in parts of the whole step.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    pub primal: f64,
    pub dual: f64,
}

impl Reach {
    pub fn and(self, other: Self) -> Self {
        Self { primal: self.primal.min(other.primal), dual: self.dual.min(other.dual) }
    }
}

/// The largest part of `step` that keeps `at` above zero.
pub(super) fn reach(at: &[f64], step: &[f64]) -> f64 {
    let parts = at.iter().zip(step).filter(|(_, step)| **step < 0.0).map(|(at, step)| -at / step);
    parts.fold(1.0, f64::min)
}

/// Products of pairs of a point that has moved by parts of a step.
pub(super) fn products(a: (&[f64], &[f64], f64), b: (&[f64], &[f64], f64)) -> f64 {
    let (left, right) = (a.0.iter().zip(a.1), b.0.iter().zip(b.1));
    left.zip(right).map(|((a0, da), (b0, db))| (a0 + a.2 * da) * (b0 + b.2 * db)).sum()
}

impl<'a> Block<'a> {
    /// Every class is shared out with room to spare, and everything is as far from its bound as its multiplier asks
    /// for at `mu`; but the demands of users who run all their tasks are worth as much as those, at multipliers `y`.
    pub fn new(problem: &Problem, quantum: &'a Quantum, mu: f64, y: &[f64]) -> Self {
        let classes = problem.rows / problem.resources;
        let mut crowd = vec![0.0; classes];
        for user in &quantum.users {
            problem.users[*user].classes.iter().for_each(|class| crowd[*class] += 1.0);
        }
        let (mut ends, mut x, mut u) = (Vec::new(), Vec::new(), Vec::new());
        let mut v = vec![1.0; problem.rows];
        for (user, limit) in quantum.users.iter().zip(&quantum.limit) {
            let member = &problem.users[*user];
            let mut free = *limit;
            for (slot, class) in member.classes.iter().enumerate() {
                let room = member.alone[slot] / crowd[*class];
                let tasks = 0.5 * room.min(limit / member.classes.len() as f64);
                x.push(tasks);
                free -= tasks;
                for (r, load) in member.loads(slot, problem.resources).iter().enumerate() {
                    v[class * problem.resources + r] -= load * tasks;
                }
            }
            u.push(free);
            ends.push(x.len());
        }
        let multiplier = |at: &Vec<f64>| -> Vec<f64> { at.iter().map(|at| mu / at).collect() };
        let (z, mut q, p) = (multiplier(&x), multiplier(&u), multiplier(&v));
        for (q, user) in q.iter_mut().zip(&quantum.users) {
            *q += y[*user] * problem.users[*user].best_gain();
        }
        let zeros = |like: &Vec<f64>| vec![0.0; like.len()];
        let step = Step {
            x: zeros(&x),
            z: zeros(&x),
            u: zeros(&u),
            q: zeros(&u),
            v: zeros(&v),
            p: zeros(&v),
            xz: zeros(&x),
            uq: zeros(&u),
            vp: zeros(&v),
        };
        Self { quantum, ends, x, z, u, q, v, p, step, newton: None }
    }

    /// The entries: position, user, and the range of their pairs.
    fn entries(&self) -> impl Iterator<Item = (usize, usize, std::ops::Range<usize>)> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let users = self.quantum.users.iter().enumerate();
        users.zip(starts.zip(&self.ends)).map(|((entry, user), (start, end))| (entry, *user, start..*end))
    }

    /// Takes off the worth of a user's demand what its multiplier has fallen by.
    pub fn devalue(&mut self, problem: &Problem, fallen: &[f64]) {
        for (entry, user) in self.quantum.users.iter().enumerate().filter(|(_, user)| fallen[**user] > 0.0) {
            let less = self.q[entry] - fallen[*user] * problem.users[*user].best_gain();
            self.q[entry] = less.max(1e-3 * self.q[entry]);
        }
    }

    /// How many products are to vanish.
    pub fn complements(&self) -> usize {
        self.x.len() + self.u.len() + self.v.len()
    }

    /// Adds what the users' tasks give them.
    pub fn add_work(&self, problem: &Problem, work: &mut [f64]) {
        for (_, user, pairs) in self.entries() {
            let gains = problem.users[user].gain.iter();
            work[user] += gains.zip(&self.x[pairs]).map(|(gain, x)| gain * x).sum::<f64>();
        }
    }

    /// The most that all users' shares, weighed by `y`, can come to at the point's prices.
    pub fn bound(&self, problem: &Problem, y: &[f64]) -> f64 {
        let mut bound: f64 = self.p.iter().sum();
        for (entry, user, _) in self.entries() {
            let member = &problem.users[user];
            let worth = (0..member.classes.len())
                .map(|slot| y[user] * member.gain[slot] - member.cost(slot, problem.resources, &self.p));
            let most = self.quantum.limit[entry].min(member.alone.iter().sum());
            bound += most * worth.fold(0.0, f64::max);
        }
        bound
    }

    /// Raises the multipliers of the users that are `full` to what makes all their tasks worth running where they give
    /// most.
    pub fn raise_to_cost(&self, problem: &Problem, full: impl Fn(usize) -> bool, y: &mut [f64]) {
        let users = self.quantum.users.iter().copied();
        for user in users.filter(|user| full(*user)) {
            let member = &problem.users[user];
            let best = member.best_gain();
            let cost = |slot: usize| member.cost(slot, problem.resources, &self.p);
            let slots = 0..member.classes.len();
            let cheapest = slots.clone().filter(|slot| member.gain[*slot] == best).map(cost);
            let cheapest = cheapest.fold(f64::INFINITY, f64::min);
            let rather = slots.filter(|slot| member.gain[*slot] < best);
            let rather = rather.map(|slot| (cheapest - cost(slot)) / (best - member.gain[slot]));
            y[user] = rather.fold(y[user].max(cheapest / best), f64::max);
        }
    }

    /// Factors the quantum's own part of the equations. Writes to `half`, one row a capacity, the columns of the users
    /// whose products are taken off the equations of the users; adds to their diagonal. `false` when that fails.
    pub fn factor(
        &mut self,
        problem: &Problem,
        counts: &[bool],
        diagonal: &mut [f64],
        half: &mut nalgebra::DMatrixViewMut<'_, f64>,
    ) -> bool {
        let (m, rows) = (problem.resources, problem.rows);
        let mut matrix = DMatrix::<f64>::zeros(rows, rows);
        for row in 0..rows {
            matrix[(row, row)] = self.v[row] / self.p[row];
        }
        let mut of_entry = Vec::with_capacity(self.u.len());
        let mut columns = vec![0.0; rows * self.u.len()];
        let mut freedom = Vec::new();
        for (entry, user, pairs) in self.entries() {
            let member = &problem.users[user];
            freedom.clear();
            freedom.extend(pairs.map(|pair| self.x[pair] / self.z[pair]));
            let together: f64 = freedom.iter().sum();
            let slack = self.u[entry] / self.q[entry];
            let all = together + slack;
            let mean_gain =
                freedom.iter().zip(&member.gain).map(|(f, gain)| f * gain).sum::<f64>() / together;
            of_entry.push(OfEntry { diagonal: all, slack, mean_gain, freedom: together });
            for (slot, class) in member.classes.iter().enumerate() {
                let others: f64 =
                    freedom.iter().enumerate().filter(|(other, _)| *other != slot).map(|(_, f)| f).sum();
                let own = freedom[slot] * ((others + slack) / all);
                let loads = member.loads(slot, m);
                for (r, load) in loads.iter().enumerate().filter(|(_, load)| **load > 0.0) {
                    for (s, other) in loads[..=r].iter().enumerate() {
                        matrix[(class * m + s, class * m + r)] += own * load * other;
                    }
                }
                for (before, left) in member.classes[..slot].iter().enumerate() {
                    let shared = freedom[slot] * (freedom[before] / all);
                    for (s, other) in member.loads(before, m).iter().enumerate() {
                        for (r, load) in loads.iter().enumerate() {
                            matrix[(left * m + s, class * m + r)] -= shared * load * other;
                        }
                    }
                }
                if counts[user] {
                    let gain = (member.gain[slot] - mean_gain) + mean_gain * (slack / all);
                    for (r, load) in loads.iter().enumerate() {
                        columns[entry * rows + class * m + r] -= load * freedom[slot] * gain;
                    }
                }
            }
            if counts[user] {
                let spread: f64 =
                    freedom.iter().zip(&member.gain).map(|(f, gain)| f * (gain - mean_gain).powi(2)).sum();
                diagonal[user] += spread + mean_gain * mean_gain * together * (slack / all);
            }
        }
        let Some(factor) = Cholesky::new(matrix) else { return false };
        let mut halves = vec![0.0; rows * self.u.len()];
        for (entry, user, _) in self.entries() {
            let column = &mut halves[entry * rows..(entry + 1) * rows];
            if counts[user] {
                factor.half_solve(&columns[entry * rows..(entry + 1) * rows], column);
            }
            half.column_mut(user).copy_from_slice(column);
        }
        self.newton = Some(Newton {
            factor,
            half: halves,
            of_entry,
            h: vec![0.0; self.x.len()],
            hq: Vec::new(),
            hp: Vec::new(),
        });
        true
    }

    /// What the products are to become: straight to zero, or to `mu` with what the last step made of them taken off.
    pub fn aim(&mut self, mu: Option<f64>) {
        let aim = |target: &mut [f64], a: &[f64], b: &[f64], da: &[f64], db: &[f64]| {
            for (i, target) in target.iter_mut().enumerate() {
                *target = mu.map_or(0.0, |mu| mu - da[i] * db[i]) - a[i] * b[i];
            }
        };
        let step = &mut self.step;
        aim(&mut step.xz, &self.x, &self.z, &step.x, &step.z);
        aim(&mut step.uq, &self.u, &self.q, &step.u, &step.q);
        aim(&mut step.vp, &self.v, &self.p, &step.v, &step.p);
    }

    /// Adds the quantum's part to the right-hand side of the users' equations.
    pub fn right_hand_side(&mut self, problem: &Problem, y: &[f64], counts: &[bool], right: &mut [f64]) {
        let m = problem.resources;
        let Some(mut newton) = self.newton.take() else { return };
        // What is missing from capacities and demands, and what the point's usage leaves.
        let mut hp: Vec<f64> =
            self.step.vp.iter().zip(&self.p).zip(&self.v).map(|((vp, p), v)| vp / p - (1.0 - v)).collect();
        newton.hq.clear();
        for (entry, user, pairs) in self.entries() {
            let member = &problem.users[user];
            let mut hq = self.step.uq[entry] / self.q[entry] - (self.quantum.limit[entry] - self.u[entry]);
            let mut gained = 0.0;
            let start = pairs.start;
            for pair in pairs.clone() {
                let slot = pair - start;
                let worth = member.gain[slot] * y[user];
                let off = self.z[pair] - (member.cost(slot, m, &self.p) + self.q[entry] - worth);
                let h = self.step.xz[pair] / self.z[pair] + self.x[pair] / self.z[pair] * off;
                newton.h[pair] = h;
                hq += h + self.x[pair];
                gained += member.gain[slot] * h;
                for (r, load) in member.loads(slot, m).iter().enumerate() {
                    hp[member.classes[slot] * m + r] += load * (h + self.x[pair]);
                }
            }
            newton.hq.push(hq);
            let OfEntry { diagonal, mean_gain, freedom, .. } = newton.of_entry[entry];
            for pair in pairs {
                let slot = pair - start;
                let part = self.x[pair] / self.z[pair] / diagonal * hq;
                for (r, load) in member.loads(slot, m).iter().enumerate() {
                    hp[member.classes[slot] * m + r] -= load * part;
                }
            }
            if counts[user] {
                right[user] += mean_gain * freedom / diagonal * hq - gained;
            }
        }
        let mut half = vec![0.0; problem.rows];
        newton.factor.half_solve(&hp, &mut half);
        for (entry, user, _) in self.entries().filter(|(_, user, _)| counts[*user]) {
            let column = &newton.half[entry * problem.rows..(entry + 1) * problem.rows];
            right[user] -= column.iter().zip(&half).map(|(a, b)| a * b).sum::<f64>();
        }
        newton.hp = hp;
        self.newton = Some(newton);
    }

    /// The quantum's own step, once that of the users' multipliers is known.
    pub fn step(&mut self, problem: &Problem, y: &[f64], dy: &[f64], counts: &[bool]) {
        let m = problem.resources;
        let Some(newton) = self.newton.take() else { return };
        let mut right = newton.hp.clone();
        for (entry, user, pairs) in self.entries().filter(|(_, user, _)| counts[*user]) {
            let member = &problem.users[user];
            let OfEntry { diagonal, slack, mean_gain, .. } = newton.of_entry[entry];
            let start = pairs.start;
            for pair in pairs {
                let slot = pair - start;
                let gain = (member.gain[slot] - mean_gain) + mean_gain * (slack / diagonal);
                let part = self.x[pair] / self.z[pair] * gain * dy[user];
                for (r, load) in member.loads(slot, m).iter().enumerate() {
                    right[member.classes[slot] * m + r] += load * part;
                }
            }
        }
        let dp = newton.factor.solve(&right);
        let mut step = std::mem::take(&mut self.step);
        for (entry, user, pairs) in self.entries() {
            let member = &problem.users[user];
            let OfEntry { diagonal, mean_gain, freedom, .. } = newton.of_entry[entry];
            let dy = if counts[user] { dy[user] } else { 0.0 };
            let start = pairs.start;
            let mut sum = newton.hq[entry] + mean_gain * freedom * dy;
            for pair in pairs.clone() {
                sum -= self.x[pair] / self.z[pair] * member.cost(pair - start, m, &dp);
            }
            let dq = sum / diagonal;
            for pair in pairs {
                let slot = pair - start;
                let worth = member.gain[slot] * y[user];
                let off = self.z[pair] - (member.cost(slot, m, &self.p) + self.q[entry] - worth);
                let dearer = member.cost(slot, m, &dp) + dq - member.gain[slot] * dy;
                step.x[pair] = newton.h[pair] - self.x[pair] / self.z[pair] * dearer;
                step.z[pair] = dearer - off;
            }
            step.q[entry] = dq;
            step.u[entry] = (step.uq[entry] - self.u[entry] * dq) / self.q[entry];
        }
        for row in 0..problem.rows {
            step.v[row] = (step.vp[row] - self.v[row] * dp[row]) / self.p[row];
        }
        step.p = dp;
        self.step = step;
        self.newton = Some(newton);
    }

    /// How far the step can go.
    pub fn reach(&self) -> Reach {
        let Step { x, z, u, q, v, p, .. } = &self.step;
        Reach {
            primal: reach(&self.x, x).min(reach(&self.u, u)).min(reach(&self.v, v)),
            dual: reach(&self.z, z).min(reach(&self.q, q)).min(reach(&self.p, p)),
        }
    }

    /// The sum of all products after parts of the step.
    pub fn products(&self, Reach { primal, dual }: Reach) -> f64 {
        let Step { x, z, u, q, v, p, .. } = &self.step;
        products((&self.x, x, primal), (&self.z, z, dual))
            + products((&self.u, u, primal), (&self.q, q, dual))
            + products((&self.v, v, primal), (&self.p, p, dual))
    }

    /// Takes parts of the step.
    pub fn advance(&mut self, Reach { primal, dual }: Reach) {
        let go = |at: &mut [f64], step: &[f64], part: f64| {
            at.iter_mut().zip(step).for_each(|(at, step)| *at += part * step);
        };
        let Step { x, z, u, q, v, p, .. } = &self.step;
        go(&mut self.x, x, primal);
        go(&mut self.u, u, primal);
        go(&mut self.v, v, primal);
        go(&mut self.z, z, dual);
        go(&mut self.q, q, dual);
        go(&mut self.p, p, dual);
    }

    /// Calls `each` with every pair: its entry, user, slot, tasks, and what they cost more than they are worth.
    pub fn for_each_pair(&self, mut each: impl FnMut(usize, usize, usize, f64, f64)) {
        for (entry, user, pairs) in self.entries() {
            let start = pairs.start;
            pairs.for_each(|pair| each(entry, user, pair - start, self.x[pair], self.z[pair]));
        }
    }
}

impl Member {
    /// What a task takes on a class, resource by resource.
    pub fn loads(&self, slot: usize, resources: usize) -> &[f64] {
        &self.load[slot * resources..(slot + 1) * resources]
    }

    /// What a task on a class costs at prices of all classes.
    pub fn cost(&self, slot: usize, resources: usize, prices: &[f64]) -> f64 {
        let prices = &prices[self.classes[slot] * resources..][..resources];
        self.loads(slot, resources).iter().zip(prices).map(|(load, price)| load * price).sum()
    }
}
