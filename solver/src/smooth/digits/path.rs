//! Points on the path: where it begins, how far a step goes, and where it ends.

use super::number::{Constants, Number};
use super::step::sum_of;
use super::{Kind, Party, Sum, User};
use crate::level::LevelProblem;
use crate::tolerance::digits::{ASIDE, FIRST_PART, LEAST_CENTRING, LOST_PART, STEP_PART};
use crate::tolerance::interior_point::SHORTEST_STEP;
use fairplan_instances::InstanceError;

/// What a user has and what that is worth to it; or what a step changes of it.
pub(super) struct Share {
    pub v: Number,
    pub psi: Number,
    /// `h` and `λ`, where its tasks are limited.
    pub room: Option<(Number, Number)>,
    /// `a` and `ν`, where it is guaranteed something.
    pub above: Option<(Number, Number)>,
    pub kinds: Vec<Stream>,
}

/// What a kind has on each class, at a price.
pub(super) struct Stream {
    pub y: Number,
    pub z: Vec<Number>,
    pub s: Vec<Number>,
}

impl Share {
    fn products(&self) -> impl Iterator<Item = (&Number, &Number)> {
        let bounds = self.room.iter().chain(&self.above).map(|(x, price)| (x, price));
        self.kinds.iter().flat_map(|kind| kind.z.iter().zip(&kind.s)).chain(bounds)
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
        sum: Sum,
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
        let lines = users.iter().flat_map(|user| user.lines.clone());
        let own_rows: Vec<usize> = lines.filter(|line| groups.has_task_row(*line)).collect();
        let row_of = |at: usize| rows.binary_search(&at).ok().map(|row| own_rows.len() + row);
        let own_row_of = |line: usize| own_rows.iter().position(|own| *own == line);
        let limits = own_rows.iter().map(|line| groups.limit[*line]);
        let capacity: Vec<Number> =
            limits.chain(rows.iter().map(|at| problem.capacities[*at])).map(number).collect();
        let needs_of = |line: usize, pair: usize| {
            let needs = problem.needs(line, pair);
            let shared = needs.filter_map(|(row, d)| row_of(row).map(|row| (row, number(d))));
            own_row_of(line).map(|row| (row, number(1.0))).into_iter().chain(shared).collect()
        };
        // What is nearly had, and besides a little of each class.
        let first = |line: usize, pair: usize| {
            let (pairs, had) =
                (groups.pairs(line), groups.pairs(line).map(|pair| groups.rate[pair] * near[pair]));
            let (count, had) = (pairs.len(), had.sum::<f64>());
            let fits = problem.needs(line, pair).map(|(row, d)| problem.capacities[row] / d);
            let fits = ASIDE * fits.fold(f64::INFINITY, f64::min) / users.len() as f64;
            let even = ASIDE * had / groups.rate[pair] / count as f64;
            number(FIRST_PART * near[pair] + if had > 0.0 { fits.min(even) } else { fits })
        };
        let (mut parties, mut shares) = (Vec::new(), Vec::new());
        let products = number(ASIDE / groups.pair_count() as f64);
        let zero = number(0.0);
        let mut q = capacity.clone();
        for user in users {
            let kind = |(line, part): (usize, &f64)| Kind {
                part: number(*part),
                rates: groups.pairs(line).map(|pair| number(groups.rate[pair])).collect(),
                needs: groups.pairs(line).map(|pair| needs_of(line, pair)).collect(),
            };
            let kinds: Vec<Kind> = user.lines.clone().zip(&user.parts).map(kind).collect();
            let z_of = |line: usize| groups.pairs(line).map(|pair| first(line, pair)).collect::<Vec<_>>();
            let placed: Vec<Vec<Number>> = user.lines.clone().map(z_of).collect();
            let mut v = zero.clone();
            for (kind, z) in kinds.iter().zip(&placed) {
                v = sum_of(&v, kind.rates.iter().zip(z).map(|(rate, z)| rate * z));
                for (needs, z) in kind.needs.iter().zip(z) {
                    needs.iter().for_each(|(row, d)| q[*row] = &q[*row] - &(d * z));
                }
            }
            let parts = sum_of(&zero, kinds.iter().map(|kind| kind.part.clone()));
            let v = &v / &parts;
            let log_weight = number(user.weight.ln() - sum.log_unit);
            let psi = (&log_weight - &(&number(sum.alpha) * &v.ln(&mut constants))).exp(&mut constants);
            let bound = |size: &Number, left: Number| {
                let least = size * &number(ASIDE);
                let left = if left.is_less_than(&least) { least } else { left };
                let price = &products / &left;
                (left, price)
            };
            let cap = (user.cap < f64::INFINITY).then(|| number(user.cap));
            let floor = (user.floor > 0.0).then(|| number(user.floor));
            let room = cap.as_ref().map(|cap| bound(cap, cap - &v));
            let above = floor.as_ref().map(|floor| bound(floor, &v - floor));
            let less = room.as_ref().map_or_else(|| psi.clone(), |(_, lambda)| &psi - lambda);
            let y = &above.as_ref().map_or_else(|| less.clone(), |(_, nu)| &less + nu) / &parts;
            let stream = |z: Vec<Number>| {
                let s = z.iter().map(|z| &products / z).collect();
                Stream { y: y.clone(), z, s }
            };
            shares.push(Share { v, psi, room, above, kinds: placed.into_iter().map(stream).collect() });
            parties.push(Party { log_weight, cap, floor, kinds });
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
        let misses = vec![zero; shares.len()];
        Ok(Self {
            alpha: number(sum.alpha),
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
            let residuals = party.kinds.iter().zip(&share.kinds).flat_map(|(kind, stream)| {
                (0..stream.z.len()).map(|l| {
                    let off = &stream.z[l] * &self.dual_residual(kind, stream, l);
                    if off.is_less_than(&zero) { -&off } else { off }
                })
            });
            let off = sum_of(&open, residuals);
            // Whoever has all its tasks, or just what it is guaranteed, pays what others make it pay.
            let is_at = |bound: &Option<(Number, Number)>, size: &Option<Number>| {
                let both = bound.as_ref().zip(size.as_ref());
                both.is_some_and(|((left, _), size)| left.is_less_than(&(size * &enough)))
            };
            let is_bound = is_at(&share.room, &party.cap) || is_at(&share.above, &party.floor);
            is_bound || off.is_less_than(&(&worth * &enough))
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
        let streams = self.point.shares.iter().flat_map(|share| &share.kinds);
        let splits = streams.flat_map(|stream| &stream.z).map(Number::to_f64).collect();
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
            let Share { v, psi, room, above, kinds } = share;
            [(v, &change.v), (psi, &change.psi)].into_iter().for_each(go);
            for (Stream { y, z, s }, change) in kinds.iter_mut().zip(&change.kinds) {
                go((y, &change.y));
                z.iter_mut().zip(&change.z).chain(s.iter_mut().zip(&change.s)).for_each(go);
            }
            for (bound, change) in [(room, &change.room), (above, &change.above)] {
                if let Some(((x, price), (dx, dprice))) = bound.as_mut().zip(change.as_ref()) {
                    [(x, dx), (price, dprice)].into_iter().for_each(go);
                }
            }
            let constants = &mut self.constants;
            let worth = &party.log_weight - &(&self.alpha * &share.v.ln(constants));
            *miss = &worth - &share.psi.ln(constants);
        }
    }

    /// How far a step can go, at most as far as it is.
    fn longest(&self, step: &Point, part: f64) -> Number {
        let part = self.alpha.with(part);
        let lost = self.alpha.with(LOST_PART);
        let zero = self.alpha.with(0.0);
        let mut longest = self.alpha.with(1.0);
        let both = self.point.products().zip(step.products());
        let products = both.flat_map(|((x, z), (dx, dz))| [(x, dx), (z, dz)]);
        let shares = self.point.shares.iter().zip(&step.shares);
        let own = shares
            .flat_map(|(share, change)| [(&lost, &share.v, &change.v), (&part, &share.psi, &change.psi)]);
        let all = products.map(|(x, dx)| (&part, x, dx)).chain(own);
        for (part, x, dx) in all.filter(|(_, _, dx)| dx.is_less_than(&zero)) {
            let most = &(part * x) / &-dx;
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
        &sum_of(&self.alpha.with(0.0), products) / &self.alpha.with(self.point.products().count() as f64)
    }
}
