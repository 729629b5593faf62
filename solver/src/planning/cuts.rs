//! What prices say about every purchase.
//!
//! Whatever prices `p >= 0` are put on the resources of each class, work that is done must be paid: with
//! `π_i(p) = min over usable classes of Σ_r D_ir p_lr / ρ_il`, a cluster of `N_l` servers lets every user reach the part `θ`
//! of its required work `R_i` only if `θ Σ_i R_i π_i(p) <= Σ_l N_l Σ_r c_lr p_lr`. (Linear programming duality; J. F.
//! Benders, Numerische Mathematik 4, 1962.) The right side is linear in the servers, so each vector of prices is one row of
//! a program whose only variables are how many servers are bought. The prices of a max-min make the row tight where they
//! were found.

use super::candidates::Candidates;
use crate::linear_program::{Ended, Program, Settings, power};
use crate::linear_solver::solve;
use crate::tolerance::planning::{COMPLETED, ROW, SLACK};
use fairplan_instances::{Deadline, InstanceError};

/// The largest number of a row is about this.
const LARGEST: f64 = 1024.0;

/// `Σ_t worth_t n_t + owned >= θ asked`, scaled so that absolute tolerances of programs are far below a part in 1e-9.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cut {
    /// What one server of each type adds.
    pub worth: Vec<f64>,
    /// What there is.
    pub owned: f64,
    /// What is asked for.
    pub asked: f64,
    /// The prices that it is made of, row-major `candidates × resources`; none where a rule of whole tasks asks for it.
    pub prices: Vec<f64>,
}

impl Cut {
    pub fn new(worth: Vec<f64>, owned: f64, asked: f64, prices: Vec<f64>) -> Option<Self> {
        let largest = worth.iter().copied().fold(asked, f64::max);
        let scale = LARGEST / power(largest);
        let sound = asked > 0.0 && [owned, asked, scale].iter().chain(&worth).all(|x| x.is_finite());
        let scaled = |all: Vec<f64>| all.iter().map(|x| x * scale).collect();
        sound.then_some(Self {
            worth: scaled(worth),
            owned: owned * scale,
            asked: asked * scale,
            prices: scaled(prices),
        })
    }

    /// Whether so many servers of each type are clearly too few for `part`, by this row.
    pub fn is_broken_by(&self, bought: &[f64], part: f64) -> bool {
        let worth: f64 = self.worth.iter().zip(bought).map(|(worth, count)| worth * count).sum();
        part * self.asked * (1.0 - SLACK) - self.owned - worth > 4.0 * ROW
    }
}

impl Candidates {
    /// The row of these prices.
    pub fn cut(&self, prices: &[f64]) -> Option<Cut> {
        let m = self.resources;
        let server = |s: usize| -> f64 {
            self.capacity_of(s).iter().zip(&prices[s * m..(s + 1) * m]).map(|(c, p)| c * p).sum()
        };
        let asked = self.asking().map(|i| self.required[i] * self.cheapest(i, prices, |_| true)).sum();
        let owned = (0..self.len()).filter(|s| self.owned[*s] > 0).map(|s| self.owned[s] as f64 * server(s));
        Cut::new(self.of_type.iter().map(|s| server(*s)).collect(), owned.sum(), asked, prices.to_vec())
    }

    /// The row of one user alone: it must do its work somewhere. `None` where it can run on nothing at all.
    pub fn cut_of_user(&self, user: usize) -> Option<Cut> {
        let alone = |s: usize| -> f64 {
            let rate = self.rates(user)[s];
            if rate == 0.0 {
                return 0.0;
            }
            let parts = self.demand_of(user).iter().zip(self.capacity_of(s)).filter(|(d, _)| **d > 0.0);
            rate * parts.map(|(demand, capacity)| capacity / demand).fold(f64::INFINITY, f64::min)
        };
        let owned = (0..self.len()).map(|s| self.owned[s] as f64 * alone(s)).sum();
        let worth: Vec<f64> = self.of_type.iter().map(|s| alone(*s)).collect();
        if owned == 0.0 && worth.iter().all(|worth| *worth == 0.0) {
            return None;
        }
        // Work pays for the resource of which a server has the least for it, one for a unit of work.
        let m = self.resources;
        let mut prices = vec![0.0; self.len() * m];
        for s in (0..self.len()).filter(|s| self.rates(user)[*s] > 0.0) {
            let (demand, capacity) = (self.demand_of(user), self.capacity_of(s));
            let least = (0..m)
                .filter(|r| demand[*r] > 0.0)
                .reduce(|a, b| if capacity[b] / demand[b] < capacity[a] / demand[a] { b } else { a });
            if let Some(r) = least {
                prices[s * m + r] = self.rates(user)[s] / demand[r];
            }
        }
        Cut::new(worth, owned, self.required[user], prices)
    }

    /// Prices for the candidates without servers that make the row as sharp as can be: the least that a server of the type
    /// can earn from users who pay what they pay elsewhere.
    pub fn complete(
        &self,
        prices: &mut [f64],
        servers: &[u64],
        deadline: &Deadline,
    ) -> Result<(), InstanceError> {
        let pays: Vec<(usize, f64)> =
            self.asking().map(|i| (i, self.cheapest(i, prices, |s| servers[s] > 0))).collect();
        for s in (0..self.len()).filter(|s| servers[*s] == 0) {
            let row = self.least_prices(s, &pays, deadline)?;
            prices[s * self.resources..(s + 1) * self.resources].copy_from_slice(&row);
        }
        Ok(())
    }

    /// The prices of a server of candidate `s`, together least, at which no user pays less for a unit of work than it does
    /// elsewhere. Of all users only a few matter: they are asked for as they are found.
    fn least_prices(
        &self,
        s: usize,
        pays: &[(usize, f64)],
        deadline: &Deadline,
    ) -> Result<Vec<f64>, InstanceError> {
        let capacity = self.capacity_of(s);
        let users: Vec<(usize, f64)> = pays
            .iter()
            .map(|(i, price)| (*i, price * self.rates(*i)[s]))
            .filter(|(_, price)| *price > 0.0 && price.is_finite())
            .collect();
        // In parts of a server: what a task takes, over what it pays.
        let part = |i: usize, r: usize| {
            if capacity[r] > 0.0 { self.demand_of(i)[r] / capacity[r] } else { 0.0 }
        };
        let most = |i: usize| (0..capacity.len()).map(|r| part(i, r)).fold(0.0, f64::max);
        let unit = users.iter().map(|(i, price)| price / most(*i)).fold(0.0, f64::max);
        if unit == 0.0 {
            return Ok(vec![0.0; capacity.len()]);
        }
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let mut worth = vec![0.0; capacity.len()];
        for _ in 0..users.len() {
            if deadline.is_over() {
                return Err(InstanceError::OutOfTime);
            }
            let missing = |(i, price): &(usize, f64)| {
                let paid: f64 = (0..worth.len()).map(|r| part(*i, r) * worth[r]).sum();
                1.0 - paid * unit / price
            };
            let worst =
                users.iter().map(|user| (missing(user), user)).reduce(|a, b| if b.0 > a.0 { b } else { a });
            let Some((missing, (i, price))) = worst else { break };
            if missing <= ROW {
                break;
            }
            rows.push((0..worth.len()).map(|r| part(*i, r) * unit / price).collect());
            worth = least_sum(&rows)?;
        }
        // What is still missing by rounding.
        let price = |(worth, capacity): (&f64, &f64)| {
            if *capacity > 0.0 { worth * unit * (1.0 + COMPLETED) / capacity } else { 0.0 }
        };
        Ok(worth.iter().zip(capacity).map(price).collect())
    }
}

/// The least `Σ x` with `rows · x >= 1` and `x >= 0`.
fn least_sum(rows: &[Vec<f64>]) -> Result<Vec<f64>, InstanceError> {
    let mut program = Program::minimise();
    let columns: Vec<_> = rows[0].iter().map(|_| program.column(1.0, f64::INFINITY, false, [])).collect();
    for row in rows {
        let scale = 1.0 / power(row.iter().copied().fold(0.0, f64::max));
        let entries = columns.iter().zip(row).filter(|(_, x)| **x > 0.0);
        program.at_least(scale, entries.map(|(column, x)| (*column, *x * scale)));
    }
    let settings = Settings { as_it_is: true, ..Settings::default() };
    let solved = solve(&program, settings, &Deadline::never())?;
    match solved.ended {
        Ended::Optimal if solved.is_finite() => Ok(solved.columns.into_iter().map(|x| x.max(0.0)).collect()),
        _ => Err(solved.unusable()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_broken_just_outside_its_tolerances_and_not_just_inside() {
        let cut = Cut::new(vec![1.0], 0.0, 1.0, Vec::new()).unwrap();
        let unit = cut.asked;
        let short = |by: f64| cut.is_broken_by(&[1.0 - SLACK - by * ROW / unit], 1.0);
        assert!(short(4.1) && !short(3.9));
    }
}
