//! One quantum of the interior point: tasks, what is left of demands and capacities, and their multipliers.
//!
//! The users' multipliers `y` are all that ties quanta together; what is the quantum's own is eliminated
//! (`block/elimination.rs`).

mod elimination;

use super::problem::{Member, Problem, Quantum};
use crate::interior_point::{Cholesky, StepLength};
use crate::tolerance::over_time::LEFT_OF_WORTH;

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
            self.q[entry] = less.max(LEFT_OF_WORTH * self.q[entry]);
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

    /// How far the step can go: nowhere where it is no number.
    pub fn reach(&self) -> StepLength {
        let Step { x, z, u, q, v, p, .. } = &self.step;
        if [x, z, u, q, v, p].into_iter().flatten().any(|part| !part.is_finite()) {
            return StepLength { primal: 0.0, dual: 0.0 };
        }
        StepLength::LONGEST
            .of_all((&self.x, x), (&self.z, z))
            .of_all((&self.u, u), (&self.q, q))
            .of_all((&self.v, v), (&self.p, p))
    }

    /// The sum of all products after parts of the step.
    pub fn products(&self, StepLength { primal, dual }: StepLength) -> f64 {
        let Step { x, z, u, q, v, p, .. } = &self.step;
        products((&self.x, x, primal), (&self.z, z, dual))
            + products((&self.u, u, primal), (&self.q, q, dual))
            + products((&self.v, v, primal), (&self.p, p, dual))
    }

    /// Takes parts of the step.
    pub fn advance(&mut self, StepLength { primal, dual }: StepLength) {
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
