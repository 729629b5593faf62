//! Points on the path: where it begins, how far a step goes, and where it ends.

use super::number::{Constants, Number};
use super::step::sum;
use super::{Party, User};
use crate::level::LevelProblem;
use crate::tolerance::digits::{ASIDE, FIRST_PART, LEAST_CENTRING, STEP_PART};
use crate::tolerance::interior_point::SHORTEST_STEP;
use fairplan_instances::InstanceError;

/// What a user has and what that is worth to it; or what a step changes of it.
pub(super) struct Share {
    pub v: Number,
    pub psi: Number,
    pub y: Number,
    /// `h` and `λ`, where its tasks are limited.
    pub room: Option<(Number, Number)>,
    pub z: Vec<Number>,
    pub s: Vec<Number>,
}

impl Share {
    fn products(&self) -> impl Iterator<Item = (&Number, &Number)> {
        let room = self.room.as_ref().map(|(h, lambda)| (h, lambda));
        self.z.iter().zip(&self.s).chain(room)
    }
}

/// A point, or the step from one to the next: of users, of what is left of rows and of their prices.
pub(super) struct Point {
    pub shares: Vec<Share>,
    pub q: Vec<Number>,
    pub p: Vec<Number>,
}

impl Point {
    /// The pairs whose products the path makes equal: `q` and `p`, `z` and `s`, `h` and `λ`.
    fn products(&self) -> impl Iterator<Item = (&Number, &Number)> {
        self.q.iter().zip(&self.p).chain(self.shares.iter().flat_map(Share::products))
    }
}

/// The way to the optimum.
pub(super) struct Path {
    pub alpha: Number,
    pub parties: Vec<Party>,
    pub capacity: Vec<Number>,
    pub point: Point,
    /// How far `ψ` of each user is from what the last unit of its share is worth, in logarithms.
    pub misses: Vec<Number>,
    /// Of each row that is not one user's own its number among all rows of the problem. They come after those.
    rows: Vec<usize>,
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
        let own_rows: Vec<usize> =
            users.iter().map(|user| user.lines.start).filter(|line| groups.has_task_row(*line)).collect();
        let row_of = |at: usize| rows.binary_search(&at).ok().map(|row| own_rows.len() + row);
        let own_row_of = |line: usize| own_rows.iter().position(|own| *own == line);
        let limits = own_rows.iter().map(|line| groups.limit[*line]);
        let capacity: Vec<Number> =
            limits.chain(rows.iter().map(|at| problem.capacities[*at])).map(number).collect();
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
                    let shared = needs.filter_map(|(row, d)| row_of(row).map(|row| (row, number(d))));
                    own_row_of(line).map(|row| (row, number(1.0))).into_iter().chain(shared).collect()
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
            shares.push(Share { v, psi, y, room, z, s });
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
        let misses = vec![number(0.0); shares.len()];
        Ok(Self {
            alpha: number(alpha),
            parties,
            capacity,
            point: Point { shares, q, p },
            misses,
            rows,
            constants,
        })
    }

    /// Whether what is open of each user is no more than this part of what it is worth.
    pub fn is_done(&self, enough: f64) -> bool {
        let zero = self.alpha.with(0.0);
        let enough = self.alpha.with(enough);
        let mean = self.mean();
        let open = &mean * &self.alpha.with(self.point.products().count() as f64);
        self.parties.iter().zip(&self.point.shares).all(|(party, share)| {
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
        let splits = self.point.shares.iter().flat_map(|share| &share.z).map(Number::to_f64).collect();
        let mut prices = vec![0.0; problem.capacities.len()];
        let of_rows = &self.point.p[self.point.p.len() - self.rows.len()..];
        self.rows.iter().zip(of_rows).for_each(|(row, p)| prices[*row] = p.to_f64());
        (splits, prices)
    }

    fn take(&mut self, step: &Point, reach: &Number) {
        let go = |(x, dx): (&mut Number, &Number)| *x = &*x + &(reach * dx);
        self.point.q.iter_mut().zip(&step.q).chain(self.point.p.iter_mut().zip(&step.p)).for_each(go);
        let shares = self.point.shares.iter_mut().zip(&step.shares);
        for (((share, change), party), miss) in shares.zip(&self.parties).zip(&mut self.misses) {
            let Share { v, psi, y, z, s, room, .. } = share;
            go((y, &change.y));
            [(v, &change.v), (psi, &change.psi)].into_iter().for_each(go);
            z.iter_mut().zip(&change.z).chain(s.iter_mut().zip(&change.s)).for_each(go);
            if let Some(((h, lambda), (dh, dlambda))) = room.as_mut().zip(change.room.as_ref()) {
                [(h, dh), (lambda, dlambda)].into_iter().for_each(go);
            }
            let constants = &mut self.constants;
            let worth = &party.log_weight - &(&self.alpha * &share.v.ln(constants));
            *miss = &worth - &share.psi.ln(constants);
        }
    }

    /// How far a step can go, at most as far as it is.
    fn longest(&self, step: &Point, part: f64) -> Number {
        let part = self.alpha.with(part);
        let zero = self.alpha.with(0.0);
        let mut longest = self.alpha.with(1.0);
        let both = self.point.products().zip(step.products());
        let products = both.flat_map(|((x, z), (dx, dz))| [(x, dx), (z, dz)]);
        let shares = self.point.shares.iter().zip(&step.shares);
        let own = shares.flat_map(|(share, change)| [(&share.v, &change.v), (&share.psi, &change.psi)]);
        for (x, dx) in products.chain(own).filter(|(_, dx)| dx.is_less_than(&zero)) {
            let most = &(&part * x) / &-dx;
            if most.is_less_than(&longest) {
                longest = most;
            }
        }
        longest
    }

    /// The mean of the products after so much of a step.
    fn mean_after(&self, step: &Point, reach: &Number) -> Number {
        let go = |x: &Number, dx: &Number| x + &(reach * dx);
        let both = self.point.products().zip(step.products());
        self.mean_of(both.map(|((x, z), (dx, dz))| &go(x, dx) * &go(z, dz)))
    }

    fn mean(&self) -> Number {
        self.mean_of(self.point.products().map(|(x, z)| x * z))
    }

    fn mean_of(&self, products: impl Iterator<Item = Number>) -> Number {
        &sum(&self.alpha.with(0.0), products) / &self.alpha.with(self.point.products().count() as f64)
    }
}
