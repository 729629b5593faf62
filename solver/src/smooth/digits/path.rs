//! Points on the path: where it begins, how far a step goes, and where it ends.

use super::number::{Constants, Number};
use super::step::{Step, sum};
use super::{Party, User};
use crate::level::LevelProblem;
use crate::tolerance::digits::{ASIDE, FIRST_PART, LEAST_CENTRING, STEP_PART};
use crate::tolerance::interior_point::SHORTEST_STEP;
use fairplan_instances::InstanceError;

/// What a user has and what that is worth to it.
pub(super) struct Share {
    pub v: Number,
    pub psi: Number,
    /// How far `ψ` is from what the last unit of its share is worth, in logarithms.
    pub miss: Number,
    pub y: Number,
    /// `h` and `λ`, where its tasks are limited.
    pub room: Option<(Number, Number)>,
    pub z: Vec<Number>,
    pub s: Vec<Number>,
}

/// A point.
pub(super) struct Path {
    pub alpha: Number,
    pub parties: Vec<Party>,
    pub capacity: Vec<Number>,
    pub shares: Vec<Share>,
    pub q: Vec<Number>,
    pub p: Vec<Number>,
    /// Of each row its number among all rows of the problem.
    pub rows: Vec<usize>,
    pub constants: Constants,
}

impl Path {
    /// Where all products are the same, everybody has something of everything, and a part of all there is is left.
    pub fn start(
        problem: &LevelProblem<'_>,
        users: &[User],
        (alpha, log_unit): (f64, f64),
        near: &[f64],
        bits: usize,
    ) -> Result<Self, InstanceError> {
        let no_memory =
            || InstanceError::Unsupported("there is no memory for constants in many digits".into());
        let mut constants = Constants::new().ok_or_else(no_memory)?;
        let number = |value: f64| Number::of(value, bits);
        let groups = problem.groups;
        let is_row = |at: &usize| problem.capacities[*at] > 0.0 && problem.capacities[*at].is_finite();
        let rows: Vec<usize> = (0..problem.capacities.len()).filter(is_row).collect();
        let row_of = |at: usize| rows.binary_search(&at).ok();
        let capacity: Vec<Number> = rows.iter().map(|at| number(problem.capacities[*at])).collect();
        let (mut parties, mut shares) = (Vec::new(), Vec::new());
        let products = number(ASIDE / groups.pair_count() as f64);
        let mut q = capacity.clone();
        for user in users {
            let line = user.lines.start;
            let pairs: Vec<usize> = groups.pairs(line).collect();
            let had: f64 = pairs.iter().map(|pair| groups.rate[*pair] * near[*pair]).sum();
            let first = |pair: &usize| {
                let fits = problem.needs(line, *pair).map(|(row, d)| problem.capacities[row] / d);
                let fits = ASIDE * fits.fold(f64::INFINITY, f64::min) / users.len() as f64;
                let even = ASIDE * had / groups.rate[*pair] / pairs.len() as f64;
                number(FIRST_PART * near[*pair] + if had > 0.0 { fits.min(even) } else { fits })
            };
            let z: Vec<Number> = pairs.iter().map(first).collect();
            let rates: Vec<Number> = pairs.iter().map(|pair| number(groups.rate[*pair])).collect();
            let needs: Vec<Vec<(usize, Number)>> = pairs
                .iter()
                .map(|pair| {
                    let needs = problem.needs(line, *pair);
                    needs.filter_map(|(row, d)| row_of(row).map(|row| (row, number(d)))).collect()
                })
                .collect();
            let v = sum(&number(0.0), rates.iter().zip(&z).map(|(rate, z)| rate * z));
            for (needs, z) in needs.iter().zip(&z) {
                needs.iter().for_each(|(row, d)| q[*row] = &q[*row] - &(d * z));
            }
            let log_weight = number(user.weight.ln() - log_unit);
            let psi = (&log_weight - &(&number(alpha) * &v.ln(&mut constants))).exp(&mut constants);
            let cap = (user.cap < f64::INFINITY).then(|| number(user.cap));
            let room = cap.as_ref().map(|cap| {
                let left = cap - &v;
                let least = cap * &number(ASIDE);
                let h = if left.is_less_than(&least) { least } else { left };
                let lambda = &products / &h;
                (h, lambda)
            });
            let y = room.as_ref().map_or_else(|| psi.clone(), |(_, lambda)| &psi - lambda);
            let s = z.iter().map(|z| &products / z).collect();
            parties.push(Party { log_weight, cap, rates, needs });
            shares.push(Share { v, psi, miss: number(0.0), y, room, z, s });
        }
        let q: Vec<Number> = q
            .into_iter()
            .zip(&capacity)
            .map(|(left, capacity)| {
                let least = capacity * &number(ASIDE);
                if left.is_less_than(&least) { least } else { left }
            })
            .collect();
        let p = q.iter().map(|q| &products / q).collect();
        Ok(Self { alpha: number(alpha), parties, capacity, shares, q, p, rows, constants })
    }

    /// Whether what is open of each user is no more than this part of what it is worth.
    pub fn is_done(&self, enough: f64) -> bool {
        let zero = self.alpha.with(0.0);
        let enough = self.alpha.with(enough);
        let mean = self.mean();
        let count = self
            .alpha
            .with((self.q.len() + self.shares.iter().map(|share| share.z.len()).sum::<usize>()) as f64);
        let open = &mean * &count;
        self.parties.iter().zip(&self.shares).all(|(party, share)| {
            let worth = &share.psi * &share.v;
            let residual = (0..share.z.len()).map(|l| {
                let off = &share.z[l] * &self.dual_residual(party, share, l);
                if off.is_less_than(&zero) { -&off } else { off }
            });
            let off = sum(&open, residual);
            // Whoever has all its tasks pays what others make it pay.
            let is_full = |((h, _), cap): (&(Number, Number), &Number)| h.is_less_than(&(cap * &enough));
            let has_all = share.room.as_ref().zip(party.cap.as_ref()).is_some_and(is_full);
            has_all || off.is_less_than(&(&worth * &enough))
        })
    }

    /// One step of the interior point; false where none can be taken.
    pub fn advance(&mut self) -> bool {
        let zero = self.alpha.with(0.0);
        let Some(factors) = self.factor() else { return false };
        let now = self.mean();
        let predictor = self.step(&factors, &zero, None);
        let reach = self.longest(&predictor, 1.0);
        let after = self.mean_after(&predictor, &reach);
        let part = (&after / &now).to_f64().abs();
        let centring = (part * part * part).clamp(LEAST_CENTRING, 1.0);
        let target = &now * &self.alpha.with(centring);
        let step = self.step(&factors, &target, Some(&predictor));
        let reach = self.longest(&step, STEP_PART);
        if !self.alpha.with(SHORTEST_STEP).is_less_than(&reach) {
            return false;
        }
        self.take(&step, &reach);
        true
    }

    /// Shares of kinds on classes and prices, as doubles.
    pub fn found(&self, problem: &LevelProblem<'_>) -> (Vec<f64>, Vec<f64>) {
        let splits = self.shares.iter().flat_map(|share| &share.z).map(Number::to_f64).collect();
        let mut prices = vec![0.0; problem.capacities.len()];
        self.rows.iter().zip(&self.p).for_each(|(row, p)| prices[*row] = p.to_f64());
        (splits, prices)
    }

    fn take(&mut self, step: &Step, reach: &Number) {
        let go = |x: &mut Number, dx: &Number| *x = &*x + &(reach * dx);
        self.q.iter_mut().zip(&step.q).for_each(|(q, dq)| go(q, dq));
        self.p.iter_mut().zip(&step.p).for_each(|(p, dp)| go(p, dp));
        for ((share, change), party) in self.shares.iter_mut().zip(&step.shares).zip(&self.parties) {
            go(&mut share.v, &change.v);
            go(&mut share.psi, &change.psi);
            go(&mut share.y, &change.y);
            share.z.iter_mut().zip(&change.z).for_each(|(z, dz)| go(z, dz));
            share.s.iter_mut().zip(&change.s).for_each(|(s, ds)| go(s, ds));
            if let Some(((h, lambda), (dh, dlambda))) = share.room.as_mut().zip(change.room.as_ref()) {
                go(h, dh);
                go(lambda, dlambda);
            }
            let constants = &mut self.constants;
            let worth = &party.log_weight - &(&self.alpha * &share.v.ln(constants));
            share.miss = &worth - &share.psi.ln(constants);
        }
    }

    /// How far a step can go, at most as far as it is.
    fn longest(&self, step: &Step, part: f64) -> Number {
        let one = self.alpha.with(1.0);
        let part = self.alpha.with(part);
        let zero = self.alpha.with(0.0);
        let mut longest = one.clone();
        let mut see = |x: &Number, dx: &Number| {
            if dx.is_less_than(&zero) {
                let most = &(&part * x) / &-dx;
                if most.is_less_than(&longest) {
                    longest = most;
                }
            }
        };
        self.q.iter().zip(&step.q).for_each(|(q, dq)| see(q, dq));
        self.p.iter().zip(&step.p).for_each(|(p, dp)| see(p, dp));
        for (share, change) in self.shares.iter().zip(&step.shares) {
            see(&share.v, &change.v);
            see(&share.psi, &change.psi);
            share.z.iter().zip(&change.z).for_each(|(z, dz)| see(z, dz));
            share.s.iter().zip(&change.s).for_each(|(s, ds)| see(s, ds));
            if let Some(((h, lambda), (dh, dlambda))) = share.room.as_ref().zip(change.room.as_ref()) {
                see(h, dh);
                see(lambda, dlambda);
            }
        }
        longest
    }

    /// The mean of the products after so much of a step.
    fn mean_after(&self, step: &Step, reach: &Number) -> Number {
        let go = |x: &Number, dx: &Number| x + &(reach * dx);
        let zero = self.alpha.with(0.0);
        let mut total = zero;
        let mut count = 0;
        let mut see = |x: (&Number, &Number), z: (&Number, &Number)| {
            total = &total + &(&go(x.0, x.1) * &go(z.0, z.1));
            count += 1;
        };
        for row in 0..self.q.len() {
            see((&self.q[row], &step.q[row]), (&self.p[row], &step.p[row]));
        }
        for (share, change) in self.shares.iter().zip(&step.shares) {
            for l in 0..share.z.len() {
                see((&share.z[l], &change.z[l]), (&share.s[l], &change.s[l]));
            }
            if let Some(((h, lambda), (dh, dlambda))) = share.room.as_ref().zip(change.room.as_ref()) {
                see((h, dh), (lambda, dlambda));
            }
        }
        &total / &self.alpha.with(f64::from(count))
    }

    fn mean(&self) -> Number {
        let (q, p, shares) = (&self.q, &self.p, &self.shares);
        let zero = self.alpha.with(0.0);
        let rows = q.iter().zip(p).map(|(q, p)| q * p);
        let pairs = shares.iter().flat_map(|share| share.z.iter().zip(&share.s).map(|(z, s)| z * s));
        let rooms = shares.iter().filter_map(|share| share.room.as_ref().map(|(h, lambda)| h * lambda));
        let count = q.len()
            + shares.iter().map(|share| share.z.len() + usize::from(share.room.is_some())).sum::<usize>();
        &sum(&zero, rows.chain(pairs).chain(rooms)) / &self.alpha.with(count as f64)
    }
}
