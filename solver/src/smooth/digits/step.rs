//! The Newton step between points: users are eliminated, which leaves a system in the prices of rows.

use super::Party;
use super::number::Number;
use super::path::{Path, Point, Share};

impl Path {
    /// `d·p − ρ y − s`.
    pub fn dual_residual(&self, party: &Party, share: &Share, l: usize) -> Number {
        let cost = sum(&self.alpha.with(0.0), party.needs[l].iter().map(|(row, d)| d * &self.point.p[*row]));
        &(&cost - &(&party.rates[l] * &share.y)) - &share.s[l]
    }

    /// How much less its share is worth to a user for a unit more: `α ψ / v + λ / h`.
    fn stiffness(&self, share: &Share) -> Number {
        let own = &(&self.alpha * &share.psi) / &share.v;
        share.room.as_ref().map_or_else(|| own.clone(), |(h, lambda)| &own + &(lambda / h))
    }

    /// The system in the prices of rows, as `L D Lᵀ`; `None` where it holds no numbers.
    pub fn factor(&self) -> Option<Factors> {
        let m = self.point.q.len();
        let zero = self.alpha.with(0.0);
        let mut matrix: Vec<Vec<Number>> = (0..m).map(|i| vec![zero.clone(); i + 1]).collect();
        let mut users = Vec::with_capacity(self.point.shares.len());
        for (party, share) in self.parties.iter().zip(&self.point.shares) {
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
        for (i, (q, p)) in self.point.q.iter().zip(&self.point.p).enumerate() {
            matrix[i][i] = &matrix[i][i] + &(q / p);
        }
        for j in 0..m {
            if !matrix[j][j].is_positive() {
                return None;
            }
            // Rows that only some users need have nothing to do with most others.
            let below: Vec<usize> = (j + 1..m).filter(|i| !matrix[*i][j].is_zero()).collect();
            for (at, i) in below.iter().enumerate() {
                let factor = &matrix[*i][j] / &matrix[j][j];
                for k in &below[..=at] {
                    let less = &factor * &matrix[*k][j];
                    matrix[*i][*k] = &matrix[*i][*k] - &less;
                }
            }
            // Only now, since the products above are of what the column was.
            for i in below {
                matrix[i][j] = &matrix[i][j] / &matrix[j][j];
            }
        }
        Some(Factors { matrix, users })
    }

    /// The step to products of `target`, made up for the second order of a predictor.
    pub fn step(&self, factors: &Factors, target: &Number, predictor: Option<&Point>) -> Point {
        let zero = self.alpha.with(0.0);
        let aim = |x: &Number, z: &Number, both: Option<(&Number, &Number)>| {
            let now = target - &(x * z);
            both.map_or_else(|| now.clone(), |(dx, dz)| &now - &(dx * dz))
        };
        let rows: Vec<Number> = (0..self.point.q.len())
            .map(|row| {
                aim(
                    &self.point.q[row],
                    &self.point.p[row],
                    predictor.map(|step| (&step.q[row], &step.p[row])),
                )
            })
            .collect();
        // Σ d dz + dq = what is left of each row.
        let mut right: Vec<Number> = rows.iter().zip(&self.point.p).map(|(product, p)| product / p).collect();
        for (row, right) in right.iter_mut().enumerate() {
            *right = &*right + &(&self.point.q[row] - &self.capacity[row]);
        }
        let mut wishes = Vec::with_capacity(self.point.shares.len());
        for (u, (party, share)) in self.parties.iter().zip(&self.point.shares).enumerate() {
            let Eliminated { theta, kappa, spread, pulls } = &factors.users[u];
            let before = predictor.map(|step| &step.shares[u]);
            let mut b = &(&share.psi * &self.misses[u]) + &(&share.psi - &share.y);
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
        let shares = self.parties.iter().zip(&self.point.shares).zip(wishes).enumerate();
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
            let psi = &share.psi * &(&self.misses[u] - &(&(&self.alpha * &v) / &share.v));
            let room = wish.room.as_ref().zip(share.room.as_ref()).map(|((product, off), (h, lambda))| {
                let dh = off - &v;
                let dlambda = &(product - &(lambda * &dh)) / h;
                (dh, dlambda)
            });
            Share { v, psi, y, room, z, s }
        });
        let shares: Vec<Share> = changes.collect();
        let q = (0..rows.len())
            .map(|row| &(&rows[row] - &(&self.point.q[row] * &p[row])) / &self.point.p[row])
            .collect();
        Point { shares, q, p }
    }
}

/// What is left of users in the system of rows.
pub(super) struct Eliminated {
    pub theta: Vec<Number>,
    pub kappa: Number,
    /// `Θ = Σ ρ² θ` and `g = Σ ρ θ d`.
    pub spread: Number,
    pub pulls: Vec<(usize, Number)>,
}

/// What a user would do whatever prices did.
pub(super) struct Wish<'a> {
    pub products: Vec<Number>,
    pub moves: Vec<Number>,
    pub a: Number,
    pub b: Number,
    pub room: Option<(Number, Number)>,
    pub whole: Number,
    pub pulls: &'a [(usize, Number)],
}

/// The system, factored: `L` below the diagonal and `D` on it.
pub(super) struct Factors {
    pub matrix: Vec<Vec<Number>>,
    pub users: Vec<Eliminated>,
}

impl Factors {
    fn solve(&self, mut x: Vec<Number>) -> Vec<Number> {
        for i in 0..x.len() {
            for j in (0..i).filter(|j| !self.matrix[i][*j].is_zero()) {
                x[i] = &x[i] - &(&self.matrix[i][j] * &x[j]);
            }
        }
        for i in 0..x.len() {
            x[i] = &x[i] / &self.matrix[i][i];
        }
        for i in (0..x.len()).rev() {
            for j in (i + 1..x.len()).filter(|j| !self.matrix[*j][i].is_zero()) {
                x[i] = &x[i] - &(&self.matrix[j][i] * &x[j]);
            }
        }
        x
    }
}

pub(super) fn sum(first: &Number, others: impl Iterator<Item = Number>) -> Number {
    others.fold(first.clone(), |sum, other| &sum + &other)
}
