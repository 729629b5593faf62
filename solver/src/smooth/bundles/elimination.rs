//! What is left of a step over bundles once users and kinds are eliminated: a system in the prices of rows.
//!
//! Pairs move by `σ` for a unit of their price, rows by `τ`, and a unit of its share changes what it is worth to a user by `κ`:
//!
//! ```text
//! z += m_z − σ (d·p − ρ y)    q += m_q − τ p    κ v = m_v + Σ π y    so that    Σ ρ z = π v    Σ d z + q = c
//! ```
//! A step to the optimum has the slopes of its products, one that makes up for rounding those of the variables themselves.

use super::Bundles;
use crate::interior_point::Cholesky;
use fairplan_instances::Deadline;
use nalgebra::DMatrix;

/// How far pairs and rows move for a unit of their price, and how much a unit of its share changes what it is worth to a user.
pub(super) struct Slopes {
    pub pairs: Vec<f64>,
    pub rows: Vec<f64>,
    pub users: Vec<f64>,
}

/// What a step solves for once: the factored system, and what eliminating leaves of every kind and user.
pub(in crate::smooth) struct Factors {
    system: Cholesky,
    slopes: Slopes,
    /// `Θ_k = Σ ρ² σ` of each kind, with the slopes `σ` of its pairs, and `H` of each user.
    theta: Vec<f64>,
    stiffness: Vec<f64>,
}

/// What pairs and rows move by whatever prices do, and what users ask for.
pub(super) struct Moves {
    pub pairs: Vec<f64>,
    pub rows: Vec<f64>,
    pub users: Vec<f64>,
}

impl Bundles<'_> {
    /// What is left of each row beside what pairs and `q` take: nothing but rounding.
    pub(super) fn left_of_rows(&self) -> Vec<f64> {
        let mut left: Vec<f64> = self.rows.iter().map(|row| self.problem.capacities[*row]).collect();
        left.iter_mut().zip(&self.at.q).for_each(|(left, q)| *left -= q);
        for line in 0..self.problem.groups.len() {
            for pair in self.problem.groups.pairs(line) {
                self.needs(line, pair).for_each(|(row, d)| left[row] -= d * self.at.z[pair]);
            }
        }
        left
    }

    /// What a kind's part of a share is above what its pairs have: nothing but rounding.
    pub(super) fn left_of_kind(&self, line: usize, part: f64, v: f64) -> f64 {
        let groups = self.problem.groups;
        part * v - groups.pairs(line).map(|pair| groups.rate[pair] * self.at.z[pair]).sum::<f64>()
    }

    /// The system that these slopes make of rows and kinds, factored.
    pub(super) fn factored(&self, slopes: Slopes, deadline: &Deadline) -> Option<Factors> {
        let groups = self.problem.groups;
        let order = self.rows.len();
        let mut matrix = DMatrix::<f64>::zeros(order, order);
        let (mut theta, mut stiffness) = (vec![0.0; groups.len()], vec![0.0; self.users.len()]);
        let add = |matrix: &mut DMatrix<f64>, terms: &[(usize, f64)], factor: f64| {
            for (j, b) in terms {
                for (i, a) in terms {
                    if i <= j {
                        matrix[(*i, *j)] += factor * a * b;
                    }
                }
            }
        };
        let mut of_user: Vec<(usize, f64)> = Vec::new();
        for (u, user) in self.users.iter().enumerate() {
            of_user.clear();
            let mut stiff = slopes.users[u];
            for (line, part) in user.lines.clone().zip(&user.parts) {
                let mut sum = 0.0;
                let first = of_user.len();
                for pair in groups.pairs(line) {
                    let (rate, slope) = (groups.rate[pair], slopes.pairs[pair]);
                    sum += rate * rate * slope;
                    let needs: Vec<(usize, f64)> = self.needs(line, pair).collect();
                    add(&mut matrix, &needs, slope);
                    of_user.extend(needs.iter().map(|(row, d)| (*row, rate * slope * d)));
                }
                theta[line] = sum;
                add(&mut matrix, &of_user[first..], -1.0 / sum);
                of_user[first..].iter_mut().for_each(|(_, b)| *b *= part / sum);
                stiff += part * part / sum;
            }
            stiffness[u] = stiff;
            // A row that several kinds need counts once, with all of them.
            of_user.sort_by_key(|(row, _)| *row);
            of_user.dedup_by(|later, first| {
                let same = later.0 == first.0;
                if same {
                    first.1 += later.1;
                }
                same
            });
            add(&mut matrix, &of_user, 1.0 / stiff);
        }
        for row in 0..order {
            matrix[(row, row)] += slopes.rows[row];
        }
        Some(Factors { system: Cholesky::within(matrix, deadline)?, slopes, theta, stiffness })
    }

    /// The changes of prices, of shares and of what kinds pay with which rows and kinds come out even.
    pub(super) fn eliminated(&self, factors: &Factors, moves: &Moves) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (at, groups, slopes) = (&self.at, self.problem.groups, &factors.slopes);
        let mut right = moves.rows.clone();
        right.iter_mut().zip(self.left_of_rows()).for_each(|(right, left)| *right -= left);
        // Per kind what it lacks, per user what it wishes.
        let mut own = vec![0.0; groups.len()];
        let mut wish = moves.users.clone();
        for (u, user) in self.users.iter().enumerate() {
            for (line, part) in user.lines.clone().zip(&user.parts) {
                own[line] = self.left_of_kind(line, *part, at.v[u]);
                for pair in groups.pairs(line) {
                    own[line] -= groups.rate[pair] * moves.pairs[pair];
                    self.needs(line, pair).for_each(|(row, d)| right[row] += d * moves.pairs[pair]);
                }
                wish[u] -= part * own[line] / factors.theta[line];
            }
            for (line, part) in user.lines.clone().zip(&user.parts) {
                let weight = own[line] / factors.theta[line]
                    + part / factors.theta[line] * wish[u] / factors.stiffness[u];
                for pair in groups.pairs(line) {
                    let slope = groups.rate[pair] * slopes.pairs[pair] * weight;
                    self.needs(line, pair).for_each(|(row, d)| right[row] += slope * d);
                }
            }
        }
        let (mut p, mut free) = (vec![0.0; right.len()], vec![0.0; right.len()]);
        factors.system.solve_into(&right, &mut p, &mut free);
        let (mut v, mut y) = (vec![0.0; wish.len()], vec![0.0; groups.len()]);
        for (u, user) in self.users.iter().enumerate() {
            let seen = |line: usize| -> f64 {
                let slope = |pair: usize| groups.rate[pair] * slopes.pairs[pair];
                groups.pairs(line).map(|pair| slope(pair) * self.cost(line, pair, &p)).sum()
            };
            let seen: Vec<f64> = user.lines.clone().map(seen).collect();
            let lines = || user.lines.clone().zip(&user.parts).zip(&seen);
            let pulled: f64 = lines().map(|((line, part), seen)| part / factors.theta[line] * seen).sum();
            v[u] = (wish[u] - pulled) / factors.stiffness[u];
            for ((line, part), seen) in lines() {
                y[line] = (own[line] + part * v[u] + seen) / factors.theta[line];
            }
        }
        (p, v, y)
    }
}
