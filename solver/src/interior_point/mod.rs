//! A primal-dual interior-point method for one level problem, feasible from its first iterate to its last.
//!
//! Settled groups are elastic: they may fall short by `q` at a penalty `Π_g` a unit. With `Π_g` above their
//! multipliers this changes nothing at the optimum, but it gives the primal and the dual an interior even where
//! the settled groups have nothing to spare, which is the rule from the second level on.
//!
//! ```text
//! primal  maximise t − Σ Π_g q_g                    dual  minimise Σ c_lr p_lr − Σ_settled y_g
//!         Σ_g a_gr ζ_gl + u_lr = c_lr      (p_lr)         a_g·p_l − ρ_gl y_g = s_gl >= 0      (ζ_gl)
//!         Σ_l ρ_gl ζ_gl − t    = v_g       (y_g)          Σ_rising y_g = 1                    (t)
//!         Σ_l ρ_gl ζ_gl − 1 + q_g = v_g    (y_g)          Π_g − y_g = o_g >= 0                (q_g)
//! ```
//!
//! | symbol | meaning | shape |
//! |---|---|---|
//! | ζ, s | split of a group over the classes, reduced cost | groups × classes |
//! | u, p | free capacity, price | classes × resources |
//! | v, y | surplus of a group, its multiplier | groups |
//! | q, o | shortfall of a settled group, distance of its multiplier to the penalty | groups |
//! | Θ | ζ / s | groups × classes |
//! | E | Σ_l ρ² Θ + v/y + q/o | groups |
//! | ω | weight of a group's complementarity products: its size, so that a bin of many users counts as many | groups |
//! | μ | mean of the complementarity products ζs/ω, up, vy/ω, qo/ω | |
//! | σ | centring weight of a step (Mehrotra) | |

mod cholesky;
mod newton;

use crate::level::{LevelProblem, LevelSolution, LevelSolver};
use fairplan_instances::SolverError;
use newton::{Direction, Goals, NewtonSystem};

/// The interior-point method as a level solver.
pub(crate) struct InteriorPoint;

/// Most steps of one run; a plain instance takes 10 to 30.
const MAX_STEPS: u64 = 150;
/// The relative gap at which a run is as good as doubles get.
const TARGET_GAP: f64 = 1e-14;
/// Part of the way to the boundary that a step takes, at least.
const STEP_FRACTION: f64 = 0.9;
/// Most centrality correctors a step, how much longer a step each tries for, and the factors of the target
/// between which it brings the products.
const CORRECTORS: usize = 3;
const LENGTHEN: f64 = 0.2;
const WITHIN: (f64, f64) = (0.1, 10.0);
/// First penalty for missing all settled shares as a multiple of the level, its growth when a settled group falls short, and the most tries.
const PENALTY: (f64, f64, usize) = (8.0, 64.0, 4);
/// A settled group that misses this part of its share makes the penalty grow.
const SHORTFALL: f64 = 1e-10;

/// The iterate. Symbols as in the table above.
#[derive(Clone)]
struct Iterate {
    t: f64,
    zeta: Vec<f64>,
    s: Vec<f64>,
    u: Vec<f64>,
    p: Vec<f64>,
    v: Vec<f64>,
    y: Vec<f64>,
    q: Vec<f64>,
    o: Vec<f64>,
}

impl LevelSolver for InteriorPoint {
    fn solve(&self, problem: &LevelProblem<'_>) -> Result<LevelSolution, SolverError> {
        let (mut penalty, growth, tries) = PENALTY;
        let mut iterations = 0;
        let mut run = Run::new(problem, penalty);
        for attempt in 1..=tries {
            iterations += run.to_the_end();
            let short = run.best.q.iter().fold(0.0, |worst: f64, q| worst.max(*q));
            if short <= SHORTFALL || attempt == tries {
                break;
            }
            penalty *= growth;
            run = Run::new(problem, penalty);
        }
        Ok(run.into_solution(iterations))
    }
}

struct Run<'a> {
    problem: &'a LevelProblem<'a>,
    /// `Π_g`, in proportion to the groups' sizes; zero for rising ones.
    penalty: Vec<f64>,
    omega: Vec<f64>,
    now: Iterate,
    best: Iterate,
    best_gap: f64,
    last: (f64, f64, f64),
}

impl<'a> Run<'a> {
    /// The first iterate: half of the capacity shared out in proportion, prices that make every class cost the
    /// same, multipliers at half of what those prices allow.
    fn new(problem: &'a LevelProblem<'a>, penalty_levels: f64) -> Self {
        let (k, m, n) = (problem.classes(), problem.resources, problem.groups.len());
        let rising = &problem.groups.rising;
        let size: Vec<f64> = problem.capacities.chunks(m).map(|row| row.iter().sum()).collect();
        let mut zeta = vec![0.0; n * k];
        let mut usage = vec![0.0; k * m];
        for g in 0..n {
            let rates = problem.rates(g);
            let total: f64 = rates.iter().zip(&size).filter(|(rate, _)| **rate > 0.0).map(|(_, size)| size).sum();
            for l in (0..k).filter(|&l| rates[l] > 0.0) {
                zeta[g * k + l] = size[l] / total;
                for (sum, load) in usage[l * m..].iter_mut().zip(problem.load(g)) {
                    *sum += load * size[l] / total;
                }
            }
        }
        let fullest = usage
            .iter()
            .zip(problem.capacities)
            .filter(|(usage, _)| **usage > 0.0)
            .map(|(usage, capacity)| usage / capacity)
            .fold(0.0, f64::max);
        let scale = 0.5 / fullest;
        zeta.iter_mut().for_each(|z| *z *= scale);
        let u: Vec<f64> = problem
            .capacities
            .iter()
            .zip(&usage)
            .map(|(capacity, usage)| if *capacity > 0.0 { capacity - usage * scale } else { 1.0 })
            .collect();
        let work: Vec<f64> = (0..n).map(|g| dot(problem.rates(g), &zeta[g * k..(g + 1) * k])).collect();
        let least = (0..n).filter(|&g| rising[g]).map(|g| work[g]).fold(f64::INFINITY, f64::min);
        let t = 0.5 * least;

        let mut p: Vec<f64> =
            problem.capacities.iter().map(|c| if *c > 0.0 { 1.0 / c } else { 0.0 }).collect();
        let mut y: Vec<f64> = (0..n).map(|g| 0.5 * cheapest(problem, &p, g)).collect();
        let sum: f64 = (0..n).filter(|&g| rising[g]).map(|g| y[g]).sum();
        p.iter_mut().for_each(|p| *p /= sum);
        y.iter_mut().for_each(|y| *y /= sum);
        // The dual objective of this start bounds the level, which is the natural unit of the penalty.
        let bound: f64 = p.iter().zip(problem.capacities).map(|(p, c)| p * c).sum();
        let omega = sizes(problem, t);
        let settled: f64 = (0..n).filter(|&g| !rising[g]).map(|g| omega[g]).sum();
        let penalty: Vec<f64> = (0..n)
            .map(|g| if rising[g] { 0.0 } else { penalty_levels * bound * omega[g] / settled })
            .collect();
        let (mut v, mut q, mut o) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        for g in 0..n {
            if rising[g] {
                v[g] = work[g] - t;
            } else {
                q[g] = (1.0 - 0.5 * work[g]).max(0.5);
                v[g] = work[g] - 1.0 + q[g];
                y[g] = y[g].min(0.5 * penalty[g]);
                o[g] = penalty[g] - y[g];
            }
        }
        let now = Iterate { t, zeta, s: vec![0.0; n * k], u, p, v, y, q, o };
        let mut run = Self { problem, penalty, omega, best: now.clone(), now, best_gap: f64::INFINITY, last: (0.0, 0.0, 0.0) };
        run.refresh_reduced_costs();
        run.best = run.now.clone();
        run
    }

    /// Steps until the gap is as small as doubles allow or no longer falls. Returns the number of steps.
    fn to_the_end(&mut self) -> u64 {
        let mut newton = NewtonSystem::new(self.problem);
        let (mut halved_at, mut half) = (0, f64::INFINITY);
        for step in 0..MAX_STEPS {
            let gap = self.relative_gap();
            if gap < self.best_gap {
                self.best_gap = gap;
                self.best.clone_from(&self.now);
            }
            if self.best_gap < half {
                (halved_at, half) = (step, 0.5 * self.best_gap);
            }
            if std::env::var("TRACE2").is_ok() {
                eprintln!("  {step} gap {gap:.2e} t {:e} mu {:.2e} primal {:.2e} dual {:.2e} sigma {:.1e}", self.now.t, self.complementarity() / self.pairs(), self.last.0, self.last.1, self.last.2);
            }
            if termination(self.best_gap, step - halved_at) || !self.advance(&mut newton) {
                return step;
            }
        }
        MAX_STEPS
    }

    /// Certified gap of the elastic problem at the current iterate, from its splits and prices alone: splits
    /// shrunk until no class is overloaded, multipliers at what the prices allow.
    fn relative_gap(&self) -> f64 {
        let (problem, now) = (self.problem, &self.now);
        let (k, m) = (problem.classes(), problem.resources);
        let mut usage = vec![0.0; k * m];
        let (mut level, mut work_of_settled) = (f64::INFINITY, Vec::new());
        let (mut bound, mut rising) = (dot(&now.p, problem.capacities), 0.0);
        for g in 0..now.y.len() {
            let (load, split) = (problem.load(g), &now.zeta[g * k..(g + 1) * k]);
            for (sums, z) in usage.chunks_mut(m).zip(split) {
                sums.iter_mut().zip(load).for_each(|(sum, a)| *sum += a * z);
            }
            let (work, y) = (dot(problem.rates(g), split), cheapest(problem, &now.p, g));
            if problem.groups.rising[g] {
                level = level.min(work);
                rising += y;
            } else {
                work_of_settled.push((work, self.penalty[g]));
                bound -= y.min(self.penalty[g]);
            }
        }
        let overload = usage
            .iter()
            .zip(problem.capacities)
            .filter(|(_, capacity)| **capacity > 0.0)
            .map(|(usage, capacity)| usage / capacity)
            .fold(1.0, f64::max);
        let missed: f64 =
            work_of_settled.iter().map(|(work, penalty)| penalty * (1.0 - work / overload).max(0.0)).sum();
        let (value, bound) = (level / overload - missed, bound / rising);
        (bound - value).abs() / bound.abs().max(level / overload)
    }

    fn complementarity(&self) -> f64 {
        let now = &self.now;
        dot(&now.zeta, &now.s) + dot(&now.u, &now.p) + dot(&now.v, &now.y) + dot(&now.q, &now.o)
    }

    /// One predictor and corrector step (Mehrotra), with further centrality correctors as long as they lengthen
    /// it (Gondzio). False when no step can be taken any more.
    fn advance(&mut self, newton: &mut NewtonSystem) -> bool {
        let count = self.pairs();
        let mu = self.complementarity() / count;
        if !newton.factor(self.problem, &self.now) {
            return false;
        }
        let affine = newton.direction(self.problem, &self.now, &self.penalty, &self.goals(0.0, None));
        let (primal, dual) = self.longest_steps(&affine);
        let mu_affine = self.complementarity_after(&affine, primal, dual) / count;
        let sigma = (mu_affine / mu).powi(3).clamp(1e-6, 1.0);
        let mut goals = self.goals(sigma * mu, Some(&affine));
        let mut direction = newton.direction(self.problem, &self.now, &self.penalty, &goals);
        let (mut primal, mut dual) = self.longest_steps(&direction);
        for _ in 0..CORRECTORS {
            if primal.min(dual) > 0.9 {
                break;
            }
            let further = self.towards_the_path(&goals, &direction, (primal, dual), sigma * mu);
            let longer = newton.direction(self.problem, &self.now, &self.penalty, &further);
            let (p, d) = self.longest_steps(&longer);
            if p.min(1.0) + d.min(1.0) < primal.min(1.0) + dual.min(1.0) + 0.02 {
                break;
            }
            (goals, direction, primal, dual) = (further, longer, p, d);
        }
        let fraction = STEP_FRACTION.max(1.0 - mu_affine.abs() / mu.max(f64::MIN_POSITIVE)).min(0.9995);
        let (primal, dual) = ((fraction * primal).min(1.0), (fraction * dual).min(1.0));
        if !(primal > 1e-10 || dual > 1e-10) || !(primal.is_finite() && dual.is_finite()) {
            return false;
        }
        self.last = (primal, dual, sigma);
        self.take(&direction, primal, dual);
        true
    }

    /// The pairs of factors with their weights and goals, in one order.
    fn goals(&self, target: f64, affine: Option<&Direction>) -> Goals {
        let (now, k) = (&self.now, self.problem.classes());
        let goal = |weight: f64, x: f64, z: f64, dx: Option<f64>, dz: Option<f64>| {
            weight * target - x * z - dx.unwrap_or(0.0) * dz.unwrap_or(0.0)
        };
        let zeta_s = (0..now.s.len())
            .map(|i| {
                let (dx, dz) = (affine.map(|d| d.zeta[i]), affine.map(|d| d.s[i]));
                goal(self.omega[i / k], now.zeta[i], now.s[i], dx, dz)
            })
            .collect();
        let u_p = (0..now.p.len())
            .map(|i| goal(1.0, now.u[i], now.p[i], affine.map(|d| d.u[i]), affine.map(|d| d.p[i])))
            .collect();
        let v_y = (0..now.y.len())
            .map(|g| goal(self.omega[g], now.v[g], now.y[g], affine.map(|d| d.v[g]), affine.map(|d| d.y[g])))
            .collect();
        let q_o = (0..now.y.len())
            .map(|g| goal(self.omega[g], now.q[g], now.o[g], affine.map(|d| d.q[g]), affine.map(|d| d.o[g])))
            .collect();
        Goals { zeta_s, u_p, v_y, q_o }
    }

    /// Goals changed so that the products a longer step would lead to come within a factor of the target.
    fn towards_the_path(
        &self,
        goals: &Goals,
        d: &Direction,
        (primal, dual): (f64, f64),
        target: f64,
    ) -> Goals {
        let (now, k) = (&self.now, self.problem.classes());
        let (primal, dual) = ((primal + LENGTHEN).min(1.0), (dual + LENGTHEN).min(1.0));
        let correct = |goal: f64, weight: f64, x: f64, dx: f64, z: f64, dz: f64| {
            let (product, target) = ((x + primal * dx) * (z + dual * dz), weight * target);
            let wanted = product.clamp(WITHIN.0 * target, WITHIN.1 * target);
            goal + (wanted - product).max(-WITHIN.1 * target)
        };
        let mut further = goals.clone();
        for (i, goal) in further.zeta_s.iter_mut().enumerate().filter(|(i, _)| now.s[*i] > 0.0) {
            *goal = correct(*goal, self.omega[i / k], now.zeta[i], d.zeta[i], now.s[i], d.s[i]);
        }
        for (i, goal) in further.u_p.iter_mut().enumerate() {
            *goal = correct(*goal, 1.0, now.u[i], d.u[i], now.p[i], d.p[i]);
        }
        for (g, goal) in further.v_y.iter_mut().enumerate() {
            *goal = correct(*goal, self.omega[g], now.v[g], d.v[g], now.y[g], d.y[g]);
        }
        for (g, goal) in further.q_o.iter_mut().enumerate().filter(|(g, _)| now.o[*g] > 0.0) {
            *goal = correct(*goal, self.omega[g], now.q[g], d.q[g], now.o[g], d.o[g]);
        }
        further
    }

    /// Sum of the weights of all complementarity products.
    fn pairs(&self) -> f64 {
        let rows = self.problem.capacities.iter().filter(|c| **c > 0.0).count();
        let of_groups: f64 = (0..self.omega.len())
            .map(|g| {
                let usable = self.problem.rates(g).iter().filter(|rate| **rate > 0.0).count();
                let own = if self.problem.groups.rising[g] { 1 } else { 2 };
                self.omega[g] * (usable + own) as f64
            })
            .sum();
        rows as f64 + of_groups
    }

    fn longest_steps(&self, d: &Direction) -> (f64, f64) {
        let now = &self.now;
        let primal = [(&now.zeta, &d.zeta), (&now.u, &d.u), (&now.v, &d.v), (&now.q, &d.q)];
        let dual = [(&now.s, &d.s), (&now.p, &d.p), (&now.y, &d.y), (&now.o, &d.o)];
        let longest = |pairs: [(&Vec<f64>, &Vec<f64>); 4]| {
            pairs.into_iter().map(|(x, dx)| to_boundary(x, dx)).fold(f64::INFINITY, f64::min)
        };
        (longest(primal), longest(dual))
    }

    fn complementarity_after(&self, d: &Direction, primal: f64, dual: f64) -> f64 {
        let (primal, dual) = (primal.min(1.0), dual.min(1.0));
        let now = &self.now;
        [
            (&now.zeta, &d.zeta, &now.s, &d.s),
            (&now.u, &d.u, &now.p, &d.p),
            (&now.v, &d.v, &now.y, &d.y),
            (&now.q, &d.q, &now.o, &d.o),
        ]
        .into_iter()
        .map(|(x, dx, z, dz)| {
            x.iter()
                .zip(dx)
                .zip(z.iter().zip(dz))
                .map(|((x, dx), (z, dz))| (x + primal * dx) * (z + dual * dz))
                .sum::<f64>()
        })
        .sum()
    }

    fn take(&mut self, d: &Direction, primal: f64, dual: f64) {
        let now = &mut self.now;
        let add = |x: &mut [f64], dx: &[f64], step: f64| {
            x.iter_mut().zip(dx).for_each(|(x, dx)| *x += step * dx);
        };
        now.t += primal * d.t;
        add(&mut now.zeta, &d.zeta, primal);
        add(&mut now.u, &d.u, primal);
        add(&mut now.v, &d.v, primal);
        add(&mut now.q, &d.q, primal);
        add(&mut now.s, &d.s, dual);
        add(&mut now.p, &d.p, dual);
        add(&mut now.y, &d.y, dual);
        add(&mut now.o, &d.o, dual);
    }

    fn refresh_reduced_costs(&mut self) {
        let (k, m) = (self.problem.classes(), self.problem.resources);
        for g in 0..self.now.y.len() {
            let rates = self.problem.rates(g);
            for l in (0..k).filter(|&l| rates[l] > 0.0) {
                self.now.s[g * k + l] =
                    dot(self.problem.load(g), &self.now.p[l * m..(l + 1) * m]) - rates[l] * self.now.y[g];
            }
        }
    }

    /// A rising group is frozen when its multiplier is large where its surplus is small: by strict
    /// complementarity exactly one of the two vanishes, and both are compared in units of their own.
    fn into_solution(self, iterations: u64) -> LevelSolution {
        let (problem, best) = (self.problem, self.best);
        let m = problem.resources;
        let mut price_of_resource = vec![0.0; m];
        let mut total = vec![0.0; m];
        for (row, prices) in problem.capacities.chunks(m).zip(best.p.chunks(m)) {
            for r in 0..m {
                price_of_resource[r] += row[r] * prices[r];
                total[r] += row[r];
            }
        }
        let mean_price: f64 = price_of_resource.iter().sum::<f64>();
        let frozen = (0..best.y.len())
            .map(|g| {
                if !problem.groups.rising[g] {
                    return true;
                }
                let size: f64 = problem.load(g).iter().zip(&total).map(|(a, c)| a / c).sum();
                best.y[g] / (size * mean_price) > best.v[g] / best.t
            })
            .collect();
        LevelSolution { level: best.t, splits: best.zeta, prices: best.p, frozen, iterations }
    }
}

/// The weights ω: the part of the capacity that each group takes at this level, one on average.
fn sizes(problem: &LevelProblem<'_>, level: f64) -> Vec<f64> {
    let m = problem.resources;
    let mut total = vec![0.0; m];
    for row in problem.capacities.chunks(m) {
        total.iter_mut().zip(row).for_each(|(sum, c)| *sum += c);
    }
    let size = |g: usize| -> f64 {
        let share = if problem.groups.rising[g] { level } else { 1.0 };
        share * problem.load(g).iter().zip(&total).filter(|(a, _)| **a > 0.0).map(|(a, c)| a / c).sum::<f64>()
    };
    let mut sizes: Vec<f64> = (0..problem.groups.len()).map(size).collect();
    let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
    sizes.iter_mut().for_each(|size| *size /= mean);
    sizes
}

/// Whether to stop: the gap is at the limit of doubles, or it has not halved for some steps although it is
/// already small, or for many.
fn termination(gap: f64, steps_without_halving: u64) -> bool {
    gap <= TARGET_GAP || steps_without_halving >= if gap < 1e-11 { 2 } else { 15 }
}

/// The least cost of one unit of work for a group over its usable classes.
pub(crate) fn cheapest(problem: &LevelProblem<'_>, prices: &[f64], group: usize) -> f64 {
    let m = problem.resources;
    problem
        .rates(group)
        .iter()
        .zip(prices.chunks(m))
        .filter(|(rate, _)| **rate > 0.0)
        .map(|(rate, p)| dot(problem.load(group), p) / rate)
        .fold(f64::INFINITY, f64::min)
}

fn to_boundary(x: &[f64], dx: &[f64]) -> f64 {
    x.iter().zip(dx).filter(|(_, dx)| **dx < 0.0).map(|(x, dx)| -x / dx).fold(f64::INFINITY, f64::min)
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::Groups;

    /// Bound proved by the prices alone (the certificate), and the level reached by the splits alone.
    fn bracket(problem: &LevelProblem<'_>, solution: &LevelSolution) -> (f64, f64) {
        let (k, m) = (problem.classes(), problem.resources);
        let mut rising = 0.0;
        let mut settled = 0.0;
        let mut level = f64::INFINITY;
        let mut usage = vec![0.0; k * m];
        for g in 0..problem.groups.len() {
            let y = cheapest(problem, &solution.prices, g);
            let split = &solution.splits[g * k..(g + 1) * k];
            let work = dot(problem.rates(g), split);
            if problem.groups.rising[g] {
                rising += y;
                level = level.min(work);
            } else {
                settled += y;
                assert!(work > 1.0 - 1e-9, "settled group {g} falls short: {work}");
            }
            for l in 0..k {
                for r in 0..m {
                    usage[l * m + r] += problem.load(g)[r] * split[l];
                }
            }
        }
        for (usage, capacity) in usage.iter().zip(problem.capacities) {
            assert!(*usage <= capacity * (1.0 + 1e-11), "{usage} > {capacity}");
        }
        (level, (dot(&solution.prices, problem.capacities) - settled) / rising)
    }

    #[test]
    fn two_mirrored_users_reach_five_sevenths() {
        let groups = Groups { loads: vec![0.2, 1.0, 1.0, 0.2], kind: vec![0, 0], rising: vec![true, true] };
        let capacities = [1.0 / 7.0, 6.0 / 7.0, 6.0 / 7.0, 1.0 / 7.0];
        let problem =
            LevelProblem { resources: 2, capacities: &capacities, kinds: &[vec![1.0, 1.0]], groups: &groups };
        let solution = InteriorPoint.solve(&problem).unwrap();
        approx::assert_relative_eq!(solution.level, 5.0 / 7.0, max_relative = 1e-13);
        assert_eq!(solution.frozen, [true, true]);
    }

    /// A small deterministic stream of numbers in [0, 1).
    fn stream(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    #[test]
    fn random_degenerate_levels_close_on_both_sides_of_the_schur_complement() {
        for case in 0..600 {
            let mut next = stream(case + 1);
            let (m, k, n) = (1 + case as usize % 4, 1 + (next() * 6.0) as usize, 1 + (next() * 30.0) as usize);
            let whole = |x: f64| (x * 10.0).floor();
            let capacities: Vec<f64> = (0..k * m).map(|_| 1.0 + whole(next())).collect();
            let mut loads = Vec::new();
            for _ in 0..n {
                let r = (next() * m as f64) as usize;
                loads.extend((0..m).map(|j| if j == r { 1.0 } else { (whole(next()) - 4.0).max(0.0) / 5.0 }));
            }
            let groups = Groups { loads, kind: vec![0; n], rising: vec![true; n] };
            let kinds = [vec![1.0; k]];
            let problem = LevelProblem { resources: m, capacities: &capacities, kinds: &kinds, groups: &groups };
            let first = InteriorPoint.solve(&problem).unwrap();
            let (level, bound) = bracket(&problem, &first);
            assert!(level > bound * (1.0 - 1e-12), "case {case}: {level} < {bound}");
            // Settle what is frozen and let the rest rise.
            if first.frozen.iter().all(|f| *f) {
                continue;
            }
            let mut second = groups.clone();
            for g in 0..n {
                if first.frozen[g] {
                    second.rising[g] = false;
                    second.loads[g * m..(g + 1) * m].iter_mut().for_each(|a| *a *= level);
                }
            }
            let problem = LevelProblem { resources: m, capacities: &capacities, kinds: &kinds, groups: &second };
            let solution = InteriorPoint.solve(&problem).unwrap();
            let (higher, bound) = bracket(&problem, &solution);
            assert!(higher > level * (1.0 + 1e-7), "case {case}: nothing rose: {higher} {level}");
            assert!(higher > bound * (1.0 - 1e-10), "case {case}, second level: {higher} < {bound}");
            assert!(first.iterations <= 40 && solution.iterations <= 80, "case {case} takes long");
        }
    }

    #[test]
    fn stops_just_inside_each_tolerance_and_not_just_outside() {
        assert!(termination(0.99e-14, 0) && !termination(1.01e-14, 0));
        assert!(termination(0.9e-11, 2) && !termination(0.9e-11, 1));
        assert!(termination(1.1e-11, 15) && !termination(1.1e-11, 14));
    }
}
