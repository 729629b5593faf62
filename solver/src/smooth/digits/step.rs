//! Points on the path, and the Newton steps between them.

use super::number::{Constants, Number};
use super::{ASIDE, FIRST_PART, Party, User};
use crate::level::LevelProblem;
use fairplan_instances::InstanceError;

/// The part of the way to the nearest bound that a step goes.
const PART: f64 = 0.999;
/// The least part of the products that a step aims at.
const CENTRING: f64 = 1e-9;

/// What a user has and what that is worth to it.
struct Share {
    v: Number,
    psi: Number,
    /// How far `ψ` is from what the last unit of its share is worth, in logarithms.
    miss: Number,
    y: Number,
    /// `h` and `λ`, where its tasks are limited.
    room: Option<(Number, Number)>,
    z: Vec<Number>,
    s: Vec<Number>,
}

/// What a step changes of it, or what its products are to come to.
struct Change {
    v: Number,
    psi: Number,
    y: Number,
    room: Option<(Number, Number)>,
    z: Vec<Number>,
    s: Vec<Number>,
}

/// A point.
pub(super) struct Path {
    alpha: Number,
    parties: Vec<Party>,
    capacity: Vec<Number>,
    shares: Vec<Share>,
    q: Vec<Number>,
    p: Vec<Number>,
    /// Of each row its number among all rows of the problem.
    rows: Vec<usize>,
    constants: Constants,
}

/// A step: of users, of what is left of rows and of their prices.
struct Step {
    shares: Vec<Change>,
    q: Vec<Number>,
    p: Vec<Number>,
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
        let centring = (part * part * part).clamp(CENTRING, 1.0);
        let target = &now * &self.alpha.with(centring);
        let step = self.step(&factors, &target, Some(&predictor));
        let reach = self.longest(&step, PART);
        if !self.alpha.with(1e-12).is_less_than(&reach) {
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

    /// `d·p − ρ y − s`.
    fn dual_residual(&self, party: &Party, share: &Share, l: usize) -> Number {
        let cost = sum(&self.alpha.with(0.0), party.needs[l].iter().map(|(row, d)| d * &self.p[*row]));
        &(&cost - &(&party.rates[l] * &share.y)) - &share.s[l]
    }

    /// How much less its share is worth to a user for a unit more: `α ψ / v + λ / h`.
    fn stiffness(&self, share: &Share) -> Number {
        let own = &(&self.alpha * &share.psi) / &share.v;
        share.room.as_ref().map_or_else(|| own.clone(), |(h, lambda)| &own + &(lambda / h))
    }

    /// The system in the prices of rows, as `L D Lᵀ`; `None` where it holds no numbers.
    fn factor(&self) -> Option<Factors> {
        let m = self.q.len();
        let zero = self.alpha.with(0.0);
        let mut matrix: Vec<Vec<Number>> = (0..m).map(|i| vec![zero.clone(); i + 1]).collect();
        let mut users = Vec::with_capacity(self.shares.len());
        for (party, share) in self.parties.iter().zip(&self.shares) {
            let theta: Vec<Number> = share.z.iter().zip(&share.s).map(|(z, s)| z / s).collect();
            let kappa = self.stiffness(share);
            let mut spread = zero.clone();
            let mut pulls: Vec<(usize, Number)> = Vec::new();
            for ((theta, rate), needs) in theta.iter().zip(&party.rates).zip(&party.needs) {
                let per_rate = theta * rate;
                spread = &spread + &(&per_rate * rate);
                for (i, (row, d)) in needs.iter().enumerate() {
                    let weighed = theta * d;
                    for (other, e) in &needs[..=i] {
                        let (a, b) = ((*row).max(*other), (*row).min(*other));
                        matrix[a][b] = &matrix[a][b] + &(&weighed * e);
                    }
                    let pull = &per_rate * d;
                    match pulls.iter_mut().find(|(at, _)| at == row) {
                        Some((_, sum)) => *sum = &*sum + &pull,
                        None => pulls.push((*row, pull)),
                    }
                }
            }
            let share_of = &kappa / &(&self.alpha.with(1.0) + &(&kappa * &spread));
            for (i, (row, g)) in pulls.iter().enumerate() {
                let weighed = &share_of * g;
                for (other, f) in &pulls[..=i] {
                    let (a, b) = ((*row).max(*other), (*row).min(*other));
                    matrix[a][b] = &matrix[a][b] - &(&weighed * f);
                }
            }
            users.push(Eliminated { theta, kappa, spread, pulls });
        }
        for (i, (q, p)) in self.q.iter().zip(&self.p).enumerate() {
            matrix[i][i] = &matrix[i][i] + &(q / p);
        }
        for j in 0..m {
            if !matrix[j][j].is_positive() {
                return None;
            }
            for i in j + 1..m {
                let factor = &matrix[i][j] / &matrix[j][j];
                for k in j + 1..=i {
                    let less = &factor * &matrix[k][j];
                    matrix[i][k] = &matrix[i][k] - &less;
                }
            }
            // Only now, since the products above are of what the column was.
            for i in j + 1..m {
                matrix[i][j] = &matrix[i][j] / &matrix[j][j];
            }
        }
        Some(Factors { matrix, users })
    }

    /// The step to products of `target`, made up for the second order of a predictor.
    fn step(&self, factors: &Factors, target: &Number, predictor: Option<&Step>) -> Step {
        let zero = self.alpha.with(0.0);
        let aim = |x: &Number, z: &Number, both: Option<(&Number, &Number)>| {
            let now = target - &(x * z);
            both.map_or_else(|| now.clone(), |(dx, dz)| &now - &(dx * dz))
        };
        let rows: Vec<Number> = (0..self.q.len())
            .map(|row| aim(&self.q[row], &self.p[row], predictor.map(|step| (&step.q[row], &step.p[row]))))
            .collect();
        // Σ d dz + dq = what is left of each row.
        let mut right: Vec<Number> = rows.iter().zip(&self.p).map(|(product, p)| product / p).collect();
        for (row, right) in right.iter_mut().enumerate() {
            *right = &*right + &(&self.q[row] - &self.capacity[row]);
        }
        let mut wishes = Vec::with_capacity(self.shares.len());
        for (u, (party, share)) in self.parties.iter().zip(&self.shares).enumerate() {
            let Eliminated { theta, kappa, spread, pulls } = &factors.users[u];
            let before = predictor.map(|step| &step.shares[u]);
            let mut b = &(&share.psi * &share.miss) + &(&share.psi - &share.y);
            let room = share.room.as_ref().zip(party.cap.as_ref()).map(|((h, lambda), cap)| {
                let before = before.and_then(|before| before.room.as_ref());
                let product = aim(h, lambda, before.map(|(dh, dlambda)| (dh, dlambda)));
                let off = &(cap - &share.v) - h;
                (product, off)
            });
            if let Some(((product, off), (h, lambda))) = room.as_ref().zip(share.room.as_ref()) {
                b = &(&b - lambda) - &(&(product - &(lambda * off)) / h);
            }
            let products: Vec<Number> = (0..share.z.len())
                .map(|l| aim(&share.z[l], &share.s[l], before.map(|before| (&before.z[l], &before.s[l]))))
                .collect();
            let moves: Vec<Number> = (0..share.z.len())
                .map(|l| {
                    &(&products[l] - &(&share.z[l] * &self.dual_residual(party, share, l))) / &share.s[l]
                })
                .collect();
            // dv = A + Θ dy − g·dp
            let had = sum(&zero, party.rates.iter().zip(&share.z).map(|(rate, z)| rate * z));
            let a = sum(&(&had - &share.v), party.rates.iter().zip(&moves).map(|(rate, z)| rate * z));
            // dy (1 + κ Θ) = b − κ A + κ g·dp
            let whole = &self.alpha.with(1.0) + &(kappa * spread);
            let still = &(&b - &(kappa * &a)) / &whole;
            for (l, needs) in party.needs.iter().enumerate() {
                let own = &moves[l] + &(&(&theta[l] * &party.rates[l]) * &still);
                for (row, d) in needs {
                    right[*row] = &right[*row] + &(d * &(&own + &share.z[l]));
                }
            }
            wishes.push(Wish { products, moves, a, b, room, whole, pulls });
        }
        // M dp = what the moves take beyond the rows.
        let p = factors.solve(right);
        let shares = self.parties.iter().zip(&self.shares).zip(wishes).enumerate();
        let changes = shares.map(|(u, ((party, share), wish))| {
            let Eliminated { theta, kappa, spread, .. } = &factors.users[u];
            let pulled = sum(&zero, wish.pulls.iter().map(|(row, g)| g * &p[*row]));
            let y = &(&(&wish.b - &(kappa * &wish.a)) + &(kappa * &pulled)) / &wish.whole;
            let v = &(&wish.a + &(spread * &y)) - &pulled;
            let z: Vec<Number> = (0..share.z.len())
                .map(|l| {
                    let cost = sum(&zero, party.needs[l].iter().map(|(row, d)| d * &p[*row]));
                    &wish.moves[l] + &(&theta[l] * &(&(&party.rates[l] * &y) - &cost))
                })
                .collect();
            let s =
                (0..z.len()).map(|l| &(&wish.products[l] - &(&share.s[l] * &z[l])) / &share.z[l]).collect();
            let psi = &share.psi * &(&share.miss - &(&(&self.alpha * &v) / &share.v));
            let room = wish.room.as_ref().zip(share.room.as_ref()).map(|((product, off), (h, lambda))| {
                let dh = off - &v;
                let dlambda = &(product - &(lambda * &dh)) / h;
                (dh, dlambda)
            });
            Change { v, psi, y, room, z, s }
        });
        let shares: Vec<Change> = changes.collect();
        let q = (0..rows.len()).map(|row| &(&rows[row] - &(&self.q[row] * &p[row])) / &self.p[row]).collect();
        Step { shares, q, p }
    }
}

/// What is left of users in the system of rows.
struct Eliminated {
    theta: Vec<Number>,
    kappa: Number,
    /// `Θ = Σ ρ² θ` and `g = Σ ρ θ d`.
    spread: Number,
    pulls: Vec<(usize, Number)>,
}

/// What a user would do whatever prices did.
struct Wish<'a> {
    products: Vec<Number>,
    moves: Vec<Number>,
    a: Number,
    b: Number,
    room: Option<(Number, Number)>,
    whole: Number,
    pulls: &'a [(usize, Number)],
}

/// The system, factored: `L` below the diagonal and `D` on it.
struct Factors {
    matrix: Vec<Vec<Number>>,
    users: Vec<Eliminated>,
}

impl Factors {
    fn solve(&self, mut x: Vec<Number>) -> Vec<Number> {
        for i in 0..x.len() {
            for j in 0..i {
                x[i] = &x[i] - &(&self.matrix[i][j] * &x[j]);
            }
        }
        for i in 0..x.len() {
            x[i] = &x[i] / &self.matrix[i][i];
        }
        for i in (0..x.len()).rev() {
            for j in i + 1..x.len() {
                x[i] = &x[i] - &(&self.matrix[j][i] * &x[j]);
            }
        }
        x
    }
}

fn sum(first: &Number, others: impl Iterator<Item = Number>) -> Number {
    others.fold(first.clone(), |sum, other| &sum + &other)
}
