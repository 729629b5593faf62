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
    kinds: Vec<Spread>,
    /// `H` of each user.
    stiffness: Vec<f64>,
}

/// How what a kind needs spreads over its classes: a unit of it, `Σ ρ z`, needs the mean `ē = Σ w e` of what it needs on each class, `e = d / ρ`.
struct Spread {
    /// `Θ = Σ ρ² σ`, with the slopes `σ` of its pairs.
    theta: f64,
    /// The pair with the largest part of Θ.
    main: usize,
    /// `w = ρ² σ / Θ` of each of its pairs.
    parts: Vec<f64>,
}

/// The changes with which rows and kinds come out even.
pub(super) struct Eliminated {
    pub p: Vec<f64>,
    pub v: Vec<f64>,
    pub y: Vec<f64>,
    pub z: Vec<f64>,
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
        let mut left = self.capacity.clone();
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

    /// What a unit of a kind needs on the class of a pair: `e = d / ρ`.
    fn needs_of_unit(&self, line: usize, pair: usize, times: f64) -> impl Iterator<Item = (usize, f64)> + '_ {
        let each = times / self.problem.groups.rate[pair];
        self.needs(line, pair).map(move |(row, d)| (row, each * d))
    }

    /// `e·p` of a pair.
    fn cost_of_unit(&self, line: usize, pair: usize, p: &[f64]) -> f64 {
        self.cost(line, pair, p) / self.problem.groups.rate[pair]
    }

    fn spread(&self, line: usize, slopes: &[f64]) -> Spread {
        let groups = self.problem.groups;
        let pairs = groups.pairs(line);
        let mut parts: Vec<f64> =
            pairs.clone().map(|pair| groups.rate[pair] * groups.rate[pair] * slopes[pair]).collect();
        let theta: f64 = parts.iter().sum();
        parts.iter_mut().for_each(|part| *part /= theta);
        let main = (0..parts.len()).max_by(|a, b| parts[*a].total_cmp(&parts[*b])).unwrap_or(0);
        Spread { theta, main: pairs.start + main, parts }
    }

    /// The system that these slopes make of rows and kinds, factored.
    ///
    /// A kind leaves `Θ Σ w (e − ē)(e − ē)ᵀ` on the rows. Worked out from its main pair, as `f = e − e_main`, that is no difference of large
    /// equal terms: a kind that is on one class leaves nothing at all.
    pub(super) fn factored(&self, slopes: Slopes, deadline: &Deadline) -> Option<Factors> {
        let groups = self.problem.groups;
        let order = self.capacity.len();
        let mut matrix = DMatrix::<f64>::zeros(order, order);
        let add = |matrix: &mut DMatrix<f64>, terms: &[(usize, f64)], factor: f64| {
            for (j, b) in terms {
                for (i, a) in terms {
                    if i <= j {
                        matrix[(*i, *j)] += factor * a * b;
                    }
                }
            }
        };
        let kinds: Vec<Spread> = (0..groups.len()).map(|line| self.spread(line, &slopes.pairs)).collect();
        let mut stiffness = vec![0.0; self.users.len()];
        let (mut of_user, mut of_kind) = (Vec::new(), Vec::new());
        let mut of_pair: Vec<(usize, f64)> = Vec::new();
        for (u, user) in self.users.iter().enumerate() {
            of_user.clear();
            let mut stiff = slopes.users[u];
            for (line, part) in user.lines.clone().zip(&user.parts) {
                let Spread { theta, main, parts } = &kinds[line];
                of_kind.clear();
                let mut others = 0.0;
                for (pair, w) in groups.pairs(line).zip(parts) {
                    of_user.extend(self.needs_of_unit(line, pair, part * w));
                    if pair != *main {
                        of_pair.clear();
                        of_pair.extend(self.needs_of_unit(line, pair, 1.0));
                        of_pair.extend(self.needs_of_unit(line, *main, -1.0));
                        add(&mut matrix, &of_pair, theta * w);
                        of_kind.extend(self.needs_of_unit(line, pair, *w));
                        others += w;
                    }
                }
                of_kind.extend(self.needs_of_unit(line, *main, -others));
                add(&mut matrix, &of_kind, -theta);
                stiff += part * part / theta;
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
        Some(Factors { system: Cholesky::within(matrix, Vec::new(), deadline)?, kinds, stiffness })
    }

    /// The changes with which rows and kinds come out even. Of each pair its part of its kind's change, and what the spread adds to it.
    pub(super) fn eliminated(&self, factors: &Factors, moves: &Moves) -> Eliminated {
        let groups = self.problem.groups;
        let mut right = moves.rows.clone();
        right.iter_mut().zip(self.left_of_rows()).for_each(|(right, left)| *right -= left);
        // Per kind what it lacks and what it lacks beside what its pairs move by; per pair what it moves by beyond its part of that; per user
        // what it wishes.
        let (mut lacks, mut own) = (vec![0.0; groups.len()], vec![0.0; groups.len()]);
        let mut z = vec![0.0; moves.pairs.len()];
        let mut wish = moves.users.clone();
        for (u, user) in self.users.iter().enumerate() {
            for (line, part) in user.lines.clone().zip(&user.parts) {
                let Spread { theta, main, parts } = &factors.kinds[line];
                lacks[line] = self.left_of_kind(line, *part, self.at.v[u]);
                let moved = |pair: usize| groups.rate[pair] * moves.pairs[pair];
                let total: f64 = groups.pairs(line).map(moved).sum();
                own[line] = lacks[line] - total;
                let mut others = 0.0;
                for (pair, w) in groups.pairs(line).zip(parts).filter(|(pair, _)| pair != main) {
                    z[pair] = moved(pair) - w * total;
                    others += z[pair];
                }
                z[*main] = -others;
                for pair in groups.pairs(line) {
                    self.needs_of_unit(line, pair, z[pair]).for_each(|(row, x)| right[row] += x);
                }
                wish[u] -= part * own[line] / theta;
            }
            for (line, part) in user.lines.clone().zip(&user.parts) {
                let each = lacks[line] + part * wish[u] / factors.stiffness[u];
                for (pair, w) in groups.pairs(line).zip(&factors.kinds[line].parts) {
                    self.needs_of_unit(line, pair, w * each).for_each(|(row, x)| right[row] += x);
                }
            }
        }
        let (mut p, mut free) = (vec![0.0; right.len()], vec![0.0; right.len()]);
        factors.system.solve_into(&right, &mut p, &mut free);
        let (mut v, mut y) = (vec![0.0; wish.len()], vec![0.0; groups.len()]);
        for (u, user) in self.users.iter().enumerate() {
            let lines = || user.lines.clone().zip(&user.parts);
            let mean = |line: usize| -> f64 {
                let parts = groups.pairs(line).zip(&factors.kinds[line].parts);
                parts.map(|(pair, w)| w * self.cost_of_unit(line, pair, &p)).sum()
            };
            let means: Vec<f64> = user.lines.clone().map(mean).collect();
            let pulled: f64 = lines().zip(&means).map(|((_, part), mean)| part * mean).sum();
            v[u] = (wish[u] - pulled) / factors.stiffness[u];
            for ((line, part), mean) in lines().zip(&means) {
                let Spread { theta, main, parts } = &factors.kinds[line];
                y[line] = (own[line] + part * v[u]) / theta + mean;
                let at_main = self.cost_of_unit(line, *main, &p);
                let beyond = |pair: usize| self.cost_of_unit(line, pair, &p) - at_main;
                let spread: f64 = groups.pairs(line).zip(parts).map(|(pair, w)| w * beyond(pair)).sum();
                for (pair, w) in groups.pairs(line).zip(parts) {
                    let more = w * (lacks[line] + part * v[u]) - w * theta * (beyond(pair) - spread);
                    z[pair] = (z[pair] + more) / groups.rate[pair];
                }
            }
        }
        Eliminated { p, v, y, z }
    }
}
