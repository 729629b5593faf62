//! A first iterate near the central path, whatever the numbers: for problems that the usual one is too far off for. As
//! `smooth::interior_point::centred`, for a level.
//!
//! Prices make each row of a class worth a multiple of the number of groups that can use it, and a group's split over its
//! classes is in inverse proportion to its reduced costs there, so that every product is one but for a factor of the number of a
//! group's classes. Only settled groups with next to nothing to pay may be further off.

use super::point::{Goals, Point};
use super::{LevelProblem, dot};

/// What a row of a class is worth in parts of the products of the groups that can use it: it is then at most half used.
const WORTH: f64 = 4.0;
/// The part of the least that its work can cost which a group's multiplier is; and of its penalty, at most.
const MULTIPLIER: f64 = 0.5;

/// The first iterate, with what goes with it.
pub(super) struct Centred {
    pub now: Point,
    /// The penalty of each settled group; zero for rising ones.
    pub penalty: Vec<f64>,
    /// The weights of the products.
    pub omega: Goals,
}

impl Centred {
    /// With penalties of so many levels for missing all settled shares.
    pub fn of(problem: &LevelProblem<'_>, penalty_levels: f64) -> Self {
        let (n, m, groups) = (problem.groups.len(), problem.resources, problem.groups);
        let mut users = vec![0.0f64; problem.classes()];
        groups.class.iter().for_each(|class| users[*class as usize] += 1.0);
        let price =
            |(row, c): (usize, &f64)| if *c > 0.0 { WORTH * users[row / m].max(1.0) / c } else { 0.0 };
        let p: Vec<f64> = problem.capacities.iter().enumerate().map(price).collect();
        let costs = problem.costs(&p);
        let settled = groups.rising.iter().filter(|rising| !**rising).count();
        let worth = dot(&p, problem.capacities);
        let (mut zeta, mut s) = (vec![0.0; groups.pair_count()], costs.clone());
        let [mut v, mut y, mut q, mut o, mut f, mut z, mut penalty, mut work] =
            [(); 8].map(|()| vec![0.0; n]);
        for g in 0..n {
            let pairs = groups.pairs(g);
            if groups.has_task_row(g) {
                z[g] = 2.0 * pairs.len() as f64 / groups.limit[g];
            }
            y[g] = MULTIPLIER * problem.cheapest(&costs, z[g], g);
            if !groups.rising[g] {
                penalty[g] = (penalty_levels * worth / settled as f64).max(y[g] / MULTIPLIER);
                o[g] = penalty[g] - y[g];
            }
            for pair in pairs {
                s[pair] += z[g] - groups.rate[pair] * y[g];
                zeta[pair] = 1.0 / s[pair];
            }
            work[g] = problem.work(&zeta, g);
            if groups.has_task_row(g) {
                f[g] = groups.limit[g] - problem.tasks(&zeta, g);
            }
        }
        let rising = || (0..n).filter(|&g| groups.rising[g]);
        let t = 0.5 * rising().map(|g| work[g]).fold(f64::INFINITY, f64::min);
        for g in 0..n {
            if groups.rising[g] {
                v[g] = work[g] - t;
            } else {
                q[g] = (1.0 / o[g]).max(1.0 - work[g] + 0.5 * work[g].max(1.0 / y[g]));
                v[g] = work[g] - 1.0 + q[g];
            }
        }
        let usage = problem.usage(&zeta);
        let free = |(c, usage): (&f64, &f64)| if *c > 0.0 { c - usage } else { 0.0 };
        let u = problem.capacities.iter().zip(&usage).map(free).collect();
        let of_rows = |(row, c): (usize, &f64)| if *c > 0.0 { WORTH * users[row / m].max(1.0) } else { 0.0 };
        let one_if = |holds: &dyn Fn(usize) -> bool| (0..n).map(|g| f64::from(u8::from(holds(g)))).collect();
        let omega = Goals([
            vec![1.0; groups.pair_count()],
            problem.capacities.iter().enumerate().map(of_rows).collect(),
            vec![1.0; n],
            one_if(&|g| !groups.rising[g]),
            one_if(&|g| groups.has_task_row(g)),
        ]);
        // The multipliers of those who rise are one together.
        let unit = 1.0 / rising().map(|g| y[g]).sum::<f64>();
        let mut now = Point { t, zeta, s, u, p, v, y, q, o, f, z };
        for duals in [&mut now.s, &mut now.p, &mut now.y, &mut now.o, &mut now.z, &mut penalty] {
            duals.iter_mut().for_each(|x| *x *= unit);
        }
        Self { now, penalty, omega }
    }
}
