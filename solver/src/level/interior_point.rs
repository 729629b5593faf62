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
//! A task row `Σ_l ζ_gl + f_g = κ_g` has the multiplier `z_g`, which adds `κ_g z_g` to the dual objective and `z_g` to the
//! group's reduced costs `s_gl`.
//!
//! | symbol | meaning | one number a |
//! |---|---|---|
//! | ζ, s | split of a group over the classes, reduced cost | pair |
//! | u, p | free capacity, price | class and resource |
//! | v, y | surplus of a group, its multiplier | group |
//! | q, o | shortfall of a settled group, distance of its multiplier to the penalty (rising: 0) | group |
//! | f, z | free tasks of a task row, its multiplier (others: 0) | group |
//! | Θ | ζ / s | pair |
//! | E | Σ_l ρ² Θ + v/y + q/o | group |
//! | ω | weight of complementarity products: a group's size, so that a bin of many users counts as many, or the mean size if that is more | product |
//! | μ | mean of the complementarity products ζs/ω, up/ω, vy/ω, qo/ω, fz/ω | |
//! | σ | centring weight of a step (Mehrotra) | |

use super::centred::Centred;
use super::newton::LevelSystem;
use super::point::{Aim, Goals, Measured, Point};
use super::{LevelProblem, LevelSolution, LevelSolver, dot};
use crate::interior_point::{
    self, InteriorPoint, Iterate, NewtonSystem, Prediction, Quality, StepLength, Stopping,
};
use crate::tolerance::interior_point::STEP_PART;
use crate::tolerance::level::{EXHAUSTED, EXPLAINED, GOOD_ENOUGH, MISSED, SMALL};
use fairplan_instances::{Deadline, InstanceError};

/// Centrality correctors of a step.
struct Correctors {
    most: usize,
    /// One is kept if it makes the steps together longer by this.
    gain: f64,
    /// How much longer a step each tries for.
    lengthen: f64,
    /// The factors of the target between which each brings the products.
    within: (f64, f64),
}

/// Where factors cost little more than a direction, and where they cost as much as many of them: systems of the order
/// [`LARGE`] and more. (With [`Centring`] a third to all of the steps, measured on 10 to 300 unlike classes.)
const CORRECTORS: [Correctors; 2] = [
    Correctors { most: 3, gain: 0.02, lengthen: 0.2, within: (0.1, 10.0) },
    Correctors { most: 15, gain: 0.005, lengthen: 0.4, within: (0.3, 3.0) },
];
const LARGE: usize = 64;

/// How much of the products a step may aim at: little at first, since centrality correctors keep its steps long; more after a
/// step that left too much of them, and least again after one that did well or where aiming at all of them did no better.
/// Where there are [`MANY_GROUPS`] a row, steps that aim at little get lost: there Mehrotra's rule stands as it is. So it does
/// below the order [`LARGE`]: there steps cost next to nothing, and a point near the path tells better who is held.
struct Centring {
    least: f64,
    most: f64,
    products: f64,
}

/// Groups for each row of a class.
const MANY_GROUPS: usize = 20;

impl Centring {
    const LEAST: f64 = 3e-3;
    /// What a step that did well leaves of the products at most.
    const LEAVES: f64 = 0.8;
    const GROWTH: f64 = 30.0;

    fn new(problem: &LevelProblem<'_>, order: usize) -> Self {
        let many = problem.groups.len() > MANY_GROUPS * problem.capacities.len();
        let least = if many || order < LARGE { 1.0 } else { Self::LEAST };
        Self { least, most: least, products: f64::INFINITY }
    }

    /// The most for the step after the one that left these products.
    fn after(&mut self, products: f64) -> f64 {
        let did_well = products <= Self::LEAVES * self.products;
        self.most = match did_well {
            true => (self.most / Self::GROWTH).max(self.least),
            false if self.most >= 1.0 => self.least,
            false => (self.most * Self::GROWTH).min(1.0),
        };
        self.products = products;
        self.most
    }
}

/// First penalty for missing all settled shares as a multiple of the level, its growth when a settled group
/// falls short, and the most tries.
const PENALTY: (f64, f64, usize) = (8.0, 64.0, 4);

impl LevelSolver for InteriorPoint {
    fn solve(&self, problem: &LevelProblem<'_>, accuracy: f64) -> Result<LevelSolution, InstanceError> {
        let stopping = Stopping { accuracy, small: SMALL, rounded: 0.0 };
        let (run, iterations) = self.run_from(Run::new, problem, stopping);
        // The other start knows rows of classes only.
        if !stopping.is_lost(run.best_gap) || self.0.is_over() || problem.limits.is_some() {
            return Ok(run.into_solution(iterations));
        }
        let (again, more) = self.run_from(Run::centred, problem, stopping);
        let better = if again.best_gap < run.best_gap { again } else { run };
        Ok(better.into_solution(iterations + more))
    }

    fn deadline(&self) -> &Deadline {
        &self.0
    }
}

impl InteriorPoint {
    /// Solves from a first iterate, with penalties as high as is needed. Returns the number of steps too.
    fn run_from<'a>(
        &self,
        start: fn(&'a LevelProblem<'a>, f64) -> Run<'a>,
        problem: &'a LevelProblem<'a>,
        stopping: Stopping,
    ) -> (Run<'a>, u64) {
        let (mut penalty, growth, tries) = PENALTY;
        let mut iterations = 0;
        let mut run = start(problem, penalty);
        // Steps of large systems are too dear for digits that rounding may yet give back.
        let rounded = if run.system.order(problem) >= LARGE { GOOD_ENOUGH } else { 0.0 };
        let stopping = Stopping { rounded, ..stopping };
        for attempt in 1..=tries {
            iterations += interior_point::run(&mut run, stopping, &self.0);
            let short = run.best.q.iter().fold(0.0, |worst: f64, q| worst.max(*q));
            if short <= MISSED.max(stopping.accuracy) || attempt == tries || self.0.is_over() {
                break;
            }
            penalty *= growth;
            run = start(problem, penalty);
        }
        (run, iterations)
    }
}

struct Run<'a> {
    problem: &'a LevelProblem<'a>,
    /// `Π_g`, in proportion to the groups' sizes; zero for rising ones.
    penalty: Vec<f64>,
    omega: Goals,
    centring: Centring,
    now: Point,
    best: Point,
    best_gap: f64,
    measured: Measured,
    system: LevelSystem,
    /// A step that is not needed any more, for the memory of the next.
    spare: Point,
}

impl<'a> Run<'a> {
    /// The first iterate: half of the capacity shared out in proportion, or half of the tasks of the group that has
    /// fewest; prices that make every class cost the same, multipliers at half of what those prices allow.
    fn new(problem: &'a LevelProblem<'a>, penalty_levels: f64) -> Self {
        let (n, groups) = (problem.groups.len(), problem.groups);
        let rising = &groups.rising;
        let mut zeta = problem.even_splits();
        let usage = problem.usage(&zeta);
        let fullest = usage
            .iter()
            .zip(problem.capacities)
            .filter(|(usage, _)| **usage > 0.0)
            .map(|(usage, capacity)| usage / capacity)
            .fold(0.0, f64::max);
        // Before this every group's splits sum to one.
        let least_limit = groups.limit.iter().copied().fold(f64::INFINITY, f64::min);
        let scale = 0.5 * least_limit.min(1.0 / fullest);
        zeta.iter_mut().for_each(|z| *z *= scale);
        let work: Vec<f64> = (0..n).map(|g| problem.work(&zeta, g)).collect();
        let t = 0.5 * (0..n).filter(|&g| rising[g]).map(|g| work[g]).fold(f64::INFINITY, f64::min);

        let mut p: Vec<f64> =
            problem.capacities.iter().map(|c| if *c > 0.0 { 1.0 / c } else { 0.0 }).collect();
        let mut costs = problem.costs(&p);
        let mut y: Vec<f64> = (0..n).map(|g| 0.5 * problem.cheapest(&costs, 0.0, g)).collect();
        let sum: f64 = (0..n).filter(|&g| rising[g]).map(|g| y[g]).sum();
        p.iter_mut().for_each(|p| *p /= sum);
        y.iter_mut().for_each(|y| *y /= sum);
        costs.iter_mut().for_each(|cost| *cost /= sum);
        // The dual objective of this start bounds the level, which is the natural unit of the penalty.
        let bound = dot(&p, problem.capacities);
        let sizes = sizes(problem, t);
        let settled: f64 = (0..n).filter(|&g| !rising[g]).map(|g| sizes[g]).sum();
        let penalty: Vec<f64> = (0..n)
            .map(|g| if rising[g] { 0.0 } else { penalty_levels * bound * sizes[g] / settled })
            .collect();
        let (mut v, mut q, mut o) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let (mut f, mut z) = (vec![0.0; n], vec![0.0; n]);
        for g in 0..n {
            if groups.has_task_row(g) {
                f[g] = groups.limit[g] - problem.tasks(&zeta, g);
                z[g] = y[g] * work[g] / f[g];
            }
            if rising[g] {
                v[g] = work[g] - t;
            } else {
                q[g] = (1.0 - 0.5 * work[g]).max(0.5);
                v[g] = work[g] - 1.0 + q[g];
                y[g] = y[g].min(0.5 * penalty[g]);
                o[g] = penalty[g] - y[g];
            }
        }
        let free =
            |(capacity, usage): (&f64, &f64)| if *capacity > 0.0 { capacity - usage * scale } else { 0.0 };
        let u = problem.capacities.iter().zip(&usage).map(free).collect();
        let mut s = costs;
        for g in 0..n {
            for pair in groups.pairs(g) {
                s[pair] += z[g] - groups.rate[pair] * y[g];
            }
        }
        let now = Point { t, zeta, s, u, p, v, y, q, o, f, z };
        let system = LevelSystem::new(problem);
        Self {
            problem,
            penalty,
            omega: weights(problem, sizes),
            centring: Centring::new(problem, system.order(problem)),
            measured: Measured::default(),
            system,
            spare: Point::default(),
            best: now.clone(),
            best_gap: f64::INFINITY,
            now,
        }
    }

    /// From a first iterate near the central path.
    fn centred(problem: &'a LevelProblem<'a>, penalty_levels: f64) -> Self {
        let Centred { now, penalty, omega } = Centred::of(problem, penalty_levels);
        let system = LevelSystem::new(problem);
        Self {
            problem,
            penalty,
            omega,
            centring: Centring::new(problem, system.order(problem)),
            measured: Measured::default(),
            system,
            spare: Point::default(),
            best: now.clone(),
            best_gap: f64::INFINITY,
            now,
        }
    }

    /// Certified gap of the elastic problem at the current iterate, from its splits and prices alone: splits
    /// shrunk until no class is overloaded, multipliers at what the prices allow.
    fn relative_gap(&self) -> f64 {
        let (problem, now, measured) = (self.problem, &self.now, &self.measured);
        let overload = measured
            .usage
            .iter()
            .zip(problem.capacities)
            .filter(|(_, capacity)| **capacity > 0.0)
            .map(|(usage, capacity)| usage / capacity)
            .fold(1.0, f64::max);
        let (mut level, mut missed) = (f64::INFINITY, 0.0);
        let (mut bound, mut rising) = (dot(&now.p, problem.capacities), 0.0);
        for g in 0..now.y.len() {
            let (mut work, y) =
                (problem.work(&now.zeta, g) / overload, problem.cheapest(&measured.costs, now.z[g], g));
            if problem.groups.has_task_row(g) {
                let (tasks, limit) = (problem.tasks(&now.zeta, g), problem.groups.limit[g]);
                work *= (limit * overload / tasks).min(1.0);
                bound += now.z[g] * limit;
            }
            if problem.groups.rising[g] {
                level = level.min(work);
                rising += y;
            } else {
                missed += self.penalty[g] * (1.0 - work).max(0.0);
                bound -= y.min(self.penalty[g]);
            }
        }
        let bound = bound / rising;
        (bound - level + missed).abs() / bound.abs().max(level)
    }

    /// The level is the one variable without a bound, so nothing keeps rounding out of it: at a vertex its own
    /// pivot vanishes. It is what the rising groups' works less their surpluses say, each by its multiplier.
    fn settle_level(&mut self) {
        let rising = || (0..self.now.y.len()).filter(|&g| self.problem.groups.rising[g]);
        let total: f64 = rising().map(|g| self.now.y[g]).sum();
        let says = |g: usize| self.now.y[g] * (self.problem.work(&self.now.zeta, g) - self.now.v[g]);
        self.now.t = rising().map(says).sum::<f64>() / total;
    }

    /// By strict complementarity either the price of a capacity row or what is left of it vanishes; each is
    /// compared in units of its own.
    fn into_solution(self, iterations: u64) -> LevelSolution {
        let (problem, best) = (self.problem, self.best);
        let spent = dot(&best.p, problem.capacities);
        let is_priced = |row: usize| {
            let capacity = problem.capacities[row];
            capacity > 0.0 && best.p[row] * capacity / spent > best.u[row] / capacity
        };
        let priced: Vec<bool> = (0..best.p.len()).map(is_priced).collect();
        let frozen = problem.frozen(&priced, best.t);
        LevelSolution { level: best.t, splits: best.zeta, prices: best.p, frozen, iterations }
    }
}

impl Iterate for Run<'_> {
    fn quality(&mut self) -> Quality {
        self.measured = Measured::of(self.problem, &self.now);
        let gap = self.relative_gap();
        let worth = dot(&self.now.p, self.problem.capacities);
        Quality { gap, widest: 0.0, rounding: self.now.complementarity() <= EXPLAINED * gap * worth }
    }

    fn keep(&mut self, quality: Quality) {
        self.best_gap = quality.gap;
        self.best.clone_from(&self.now);
    }
}

impl NewtonSystem for Run<'_> {
    type Factors = ();
    type Step = Point;

    fn most_centring(&mut self, products: f64) -> f64 {
        self.centring.after(products)
    }

    fn factor(&mut self, deadline: &Deadline) -> Option<()> {
        let Self { problem, now, measured, penalty, system, .. } = self;
        let exhausted = now.complementarity() <= EXHAUSTED * dot(&now.p, problem.capacities);
        (!exhausted && system.factor(problem, now, measured, penalty, deadline)).then_some(())
    }

    fn predict(&mut self, (): &()) -> (Point, Prediction) {
        let Self { problem, now, omega, system, spare, .. } = self;
        let weight = omega.sum();
        let step = system.direction(problem, now, &now.goals(omega, 0.0, None), std::mem::take(spare));
        let after = now.complementarity_after(&step, now.longest_steps(&step).shortened(1.0));
        (step, Prediction { now: now.complementarity() / weight, after: after / weight })
    }

    /// With further centrality correctors as long as they lengthen the step (Gondzio).
    fn correct(&mut self, (): &(), predictor: Point, target: f64) -> (Point, StepLength) {
        let Self { problem, now, omega, system, spare, .. } = self;
        let correctors = &CORRECTORS[usize::from(system.order(problem) >= LARGE)];
        let mut goals = now.goals(omega, target, Some(&predictor));
        let mut step = system.direction(problem, now, &goals, predictor);
        let mut reach = now.longest_steps(&step);
        for _ in 0..correctors.most {
            if reach.primal.min(reach.dual) > STEP_PART.0 {
                break;
            }
            // What a corrector changes stays for the next, which is not tried unless this one is kept.
            let aim = Aim { reach: reach.longer(correctors.lengthen), target, within: correctors.within };
            now.aim_at_the_path(&mut goals, &step, omega, aim);
            let longer = system.direction(problem, now, &goals, std::mem::take(spare));
            let StepLength { primal, dual } = now.longest_steps(&longer);
            let is_longer = primal + dual >= reach.primal + reach.dual + correctors.gain;
            if !is_longer {
                *spare = longer;
                break;
            }
            *spare = std::mem::replace(&mut step, longer);
            reach = StepLength { primal, dual };
        }
        (step, reach)
    }

    fn take(&mut self, step: &Point, reach: StepLength) -> bool {
        if step.t.is_nan() {
            return false;
        }
        self.now.take(step, reach);
        self.settle_level();
        true
    }
}

/// The part of the capacity that each group takes at this level, one on average.
fn sizes(problem: &LevelProblem<'_>, level: f64) -> Vec<f64> {
    let m = problem.resources;
    let mut total = vec![0.0; m];
    for row in problem.of_classes(problem.capacities).chunks(m) {
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

/// The weights ω: one for capacity rows, the group's size for what belongs to a group, but no less than the mean size.
/// (At its own small weight a small bin at a price boundary changes its mind at once when the prices pass it, and among
/// hundreds of such bins the path stalls.)
fn weights(problem: &LevelProblem<'_>, sizes: Vec<f64>) -> Goals {
    let sizes: Vec<f64> = sizes.into_iter().map(|size| size.max(1.0)).collect();
    let groups = problem.groups;
    let of_pairs =
        (0..sizes.len()).flat_map(|g| groups.pairs(g).map(|_| sizes[g]).collect::<Vec<_>>()).collect();
    let of_rows = problem.capacities.iter().map(|c| f64::from(u8::from(*c > 0.0))).collect();
    let size_if = |(g, holds): (usize, bool)| if holds { sizes[g] } else { 0.0 };
    let of_settled = groups.rising.iter().map(|rising| !rising).enumerate().map(size_if).collect();
    let of_task_rows = (0..sizes.len()).map(|g| (g, groups.has_task_row(g))).map(size_if).collect();
    Goals([of_pairs, of_rows, sizes.clone(), of_settled, of_task_rows])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::Groups;
    use crate::test_stream::stream;

    /// Bound proved by the prices alone (the certificate), and the level reached by the splits alone.
    fn bracket(problem: &LevelProblem<'_>, solution: &LevelSolution) -> (f64, f64) {
        let mut rising = 0.0;
        let mut settled = 0.0;
        let mut level = f64::INFINITY;
        let costs = problem.costs(&solution.prices);
        for g in 0..problem.groups.len() {
            let (y, work) = (problem.cheapest(&costs, 0.0, g), problem.work(&solution.splits, g));
            if problem.groups.rising[g] {
                rising += y;
                level = level.min(work);
            } else {
                settled += y;
                assert!(work > 1.0 - 1e-9, "settled group {g} falls short: {work}");
            }
        }
        let usage = problem.usage(&solution.splits);
        for (usage, capacity) in usage.iter().zip(problem.capacities) {
            assert!(*usage <= capacity * (1.0 + 1e-11), "{usage} > {capacity}");
        }
        (level, (dot(&solution.prices, problem.capacities) - settled) / rising)
    }

    fn on_all_classes(k: usize, m: usize, loads: &[f64], rising: &[bool]) -> Groups {
        let mut groups = Groups::new();
        for (load, rising) in loads.chunks(m).zip(rising) {
            groups.push(load, 0, *rising, (0..k).map(|l| (l, 1.0)));
        }
        groups
    }

    #[test]
    fn two_mirrored_users_reach_five_sevenths() {
        let groups = on_all_classes(2, 2, &[0.2, 1.0, 1.0, 0.2], &[true, true]);
        let capacities = [1.0 / 7.0, 6.0 / 7.0, 6.0 / 7.0, 1.0 / 7.0];
        let problem = LevelProblem { resources: 2, capacities: &capacities, groups: &groups, limits: None };
        let solution = InteriorPoint::default().solve(&problem, 1e-14).unwrap();
        approx::assert_relative_eq!(solution.level, 5.0 / 7.0, max_relative = 1e-13);
        assert_eq!(solution.frozen, [true, true]);
    }

    #[test]
    fn random_degenerate_levels_close_on_both_sides_of_the_schur_complement() {
        for case in 0..600 {
            let mut next = stream(case + 1);
            let (m, k, n) =
                (1 + case as usize % 4, 1 + (next() * 6.0) as usize, 1 + (next() * 30.0) as usize);
            let whole = |x: f64| (x * 10.0).floor();
            let capacities: Vec<f64> = (0..k * m).map(|_| 1.0 + whole(next())).collect();
            let mut loads = Vec::new();
            for _ in 0..n {
                let r = (next() * m as f64) as usize;
                loads.extend((0..m).map(|j| if j == r { 1.0 } else { (whole(next()) - 4.0).max(0.0) / 5.0 }));
            }
            let groups = on_all_classes(k, m, &loads, &vec![true; n]);
            let problem =
                LevelProblem { resources: m, capacities: &capacities, groups: &groups, limits: None };
            let first = InteriorPoint::default().solve(&problem, 1e-14).unwrap();
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
            let problem =
                LevelProblem { resources: m, capacities: &capacities, groups: &second, limits: None };
            let solution = InteriorPoint::default().solve(&problem, 1e-14).unwrap();
            let (higher, bound) = bracket(&problem, &solution);
            assert!(higher > level * (1.0 + 1e-7), "case {case}: nothing rose: {higher} {level}");
            assert!(higher > bound * (1.0 - 1e-10), "case {case}, second level: {higher} < {bound}");
            assert!(first.iterations <= 40 && solution.iterations <= 80, "case {case} takes long");
        }
    }
}
