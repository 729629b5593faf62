//! A quantum's step: what is its own is eliminated, first its tasks, then the multipliers of its demands, one number each,
//! then those of its capacities, by a matrix as large as there are capacities. What is left of it are numbers for pairs of
//! users.

use super::{Block, Newton, OfEntry};
use crate::interior_point::Cholesky;
use crate::over_time::problem::Problem;
use nalgebra::DMatrix;

impl Block<'_> {
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
}
