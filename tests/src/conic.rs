//! The same optima by Clarabel, called directly: an interior point method from elsewhere, over cones.
//!
//! Variables are dominant shares from each class, in parts of a common unit, and capacity rows are divided by the pool's
//! totals, so that all numbers are near one.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, ExponentialConeT, IPSolver, NonnegativeConeT, PowerConeT,
    SolverStatus, SupportedConeT,
};
use fairplan_instances::{ClassId, Instance, Objective, ResourceId, User};

/// What Clarabel found.
pub struct Conic {
    /// The value of the objective, worked out from the shares; for DRFH the first level.
    pub value: f64,
    /// The dominant share of each user.
    pub shares: Vec<f64>,
    /// The multiplier of every capacity row, row-major `classes × resources`, in value per unit of the resource.
    pub prices: Vec<f64>,
    /// The relative gap that it reports of its own problem.
    pub gap: f64,
}

/// A conic program: `minimise q·x` with `b − A x` in a product of cones.
#[derive(Default)]
struct Program {
    costs: Vec<f64>,
    /// `(row, column, value)` of `A`.
    entries: Vec<(usize, usize, f64)>,
    right: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Program {
    fn variable(&mut self, cost: f64) -> usize {
        self.costs.push(cost);
        self.costs.len() - 1
    }

    /// A row `right − Σ value x` of the cone that is to follow.
    fn row(&mut self, right: f64, entries: impl IntoIterator<Item = (usize, f64)>) {
        let row = self.right.len();
        self.entries.extend(entries.into_iter().map(|(column, value)| (row, column, value)));
        self.right.push(right);
    }

    /// Rows since the last cone are not negative.
    fn not_negative(&mut self, rows: usize) {
        self.cones.push(NonnegativeConeT(rows));
    }
}

/// Whether a user can have anything: it has tasks and a class with all that it demands.
pub fn takes_part(instance: &Instance, user: User<'_>) -> bool {
    user.tasks() != Some(0) && usable(instance, user).next().is_some()
}

fn usable<'a>(instance: &'a Instance, user: User<'a>) -> impl Iterator<Item = usize> + 'a {
    let has_all = move |l: usize| {
        let class = &instance.classes()[l];
        let capacities = class.capacity.iter().zip(user.demand_doubles());
        class.count > 0 && capacities.into_iter().all(|(c, d)| *d == 0.0 || !c.is_zero())
    };
    (0..instance.classes().len()).filter(move |&l| user.rule().allows(ClassId(l)) && has_all(l))
}

/// The value of a sum over the users that take part, from their dominant shares.
pub fn sum_of_utilities(instance: &Instance, alpha: f64, shares: &[f64]) -> f64 {
    let worth = |(user, share): (User<'_>, &f64)| {
        let utility = if alpha == 1.0 { share.ln() } else { share.powf(1.0 - alpha) / (1.0 - alpha) };
        user.weight().to_f64() * utility
    };
    instance.users().zip(shares).filter(|(user, _)| takes_part(instance, *user)).map(worth).sum()
}

/// Solves for `drfh` (its first level: the largest smallest weighted share), `pf`, `alpha=A` or `utilitarian` to about
/// this tolerance. `None` when Clarabel does not get there.
pub fn by_clarabel(instance: &Instance, objective: Objective, tolerance: f64) -> Option<Conic> {
    let (classes, m) = (instance.classes().len(), instance.resources().len());
    let total = |r: usize| instance.total(ResourceId(r)).max(f64::MIN_POSITIVE);
    let users: Vec<User<'_>> = instance.users().filter(|user| takes_part(instance, *user)).collect();
    let alpha = objective.alpha();
    let unit = if alpha.is_some() { 1.0 / users.len().max(1) as f64 } else { 1.0 };
    let mut program = Program::default();
    let pairs: Vec<Vec<(usize, usize)>> = users
        .iter()
        .map(|user| usable(instance, *user).map(|l| (l, program.variable(0.0))).collect())
        .collect();

    let mut capacity_rows = vec![Vec::new(); classes * m];
    for (user, pairs) in users.iter().zip(&pairs) {
        for (r, demand) in user.demand_doubles().iter().enumerate().filter(|(_, demand)| **demand > 0.0) {
            let per_share = demand / total(r) / user.task_share();
            pairs.iter().for_each(|(l, variable)| capacity_rows[l * m + r].push((*variable, per_share)));
        }
    }
    for (row, entries) in capacity_rows.into_iter().enumerate() {
        let class = &instance.classes()[row / m];
        let capacity = class.count as f64 * class.capacity[row % m].to_f64();
        program.row(capacity / total(row % m) / unit, entries);
    }
    for (user, pairs) in users.iter().zip(&pairs) {
        if let Some(tasks) = user.tasks() {
            let limit = tasks as f64 * user.task_share() / unit;
            program.row(limit, pairs.iter().map(|(_, variable)| (*variable, 1.0)));
        }
    }
    (0..program.costs.len()).for_each(|variable| program.row(0.0, [(variable, -1.0)]));
    program.not_negative(program.right.len());

    let share = |i: usize| {
        let user = users[i];
        pairs[i].iter().map(move |&(l, variable)| (variable, -user.rule().rate(ClassId(l)).to_f64()))
    };
    let level = if alpha.is_none() { Some(program.variable(-1.0)) } else { None };
    for (i, user) in users.iter().enumerate() {
        let weight = user.weight().to_f64();
        match (level, alpha) {
            (Some(level), _) => {
                program.row(0.0, share(i).chain([(level, weight)]));
                program.not_negative(1);
            }
            (None, Some(0.0)) => {
                share(i).for_each(|(variable, minus)| program.costs[variable] += weight * minus)
            }
            (None, Some(1.0)) => {
                // utility <= ln share
                let utility = program.variable(-weight);
                program.row(0.0, [(utility, -1.0)]);
                program.row(1.0, []);
                program.row(0.0, share(i));
                program.cones.push(ExponentialConeT());
            }
            (None, Some(alpha)) if alpha < 1.0 => {
                // power <= share^(1−α)
                let power = program.variable(-weight / (1.0 - alpha));
                program.row(0.0, share(i));
                program.row(1.0, []);
                program.row(0.0, [(power, -1.0)]);
                program.cones.push(PowerConeT(1.0 - alpha));
            }
            (None, alpha) => {
                // power >= share^(1−α), as power^(1/α) share^(1−1/α) >= 1
                let alpha = alpha?;
                let power = program.variable(weight / (alpha - 1.0));
                program.row(0.0, [(power, -1.0)]);
                program.row(0.0, share(i));
                program.row(1.0, []);
                program.cones.push(PowerConeT(1.0 / alpha));
            }
        }
    }

    let Program { costs, entries, right, cones } = program;
    let (rows, rest): (Vec<_>, Vec<_>) =
        entries.into_iter().map(|(row, column, x)| (row, (column, x))).unzip();
    let (columns, values) = rest.into_iter().unzip();
    let matrix = CscMatrix::new_from_triplets(right.len(), costs.len(), rows, columns, values);
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .max_iter(200)
        .tol_gap_abs(tolerance)
        .tol_gap_rel(tolerance)
        .tol_feas(tolerance)
        .build()
        .expect("settings are complete");
    let nothing = CscMatrix::zeros((costs.len(), costs.len()));
    let mut solver =
        DefaultSolver::new(&nothing, &costs, &matrix, &right, &cones, settings).expect("sizes agree");
    solver.solve();
    let solution = &solver.solution;
    if solution.status != SolverStatus::Solved {
        return None;
    }
    let mut shares = vec![0.0; instance.user_count()];
    for (i, user) in users.iter().enumerate() {
        shares[user.index().0] = share(i).map(|(variable, minus)| -minus * solution.x[variable] * unit).sum();
    }
    let value = match (level, alpha) {
        (None, Some(alpha)) => sum_of_utilities(instance, alpha, &shares),
        // Whoever can have nothing has the smallest share.
        (Some(level), _) if users.len() == instance.user_count() => solution.x[level],
        _ => 0.0,
    };
    // The program's shares are in parts of the unit: so is what its multipliers are worth.
    let scale = alpha.map_or(1.0, |alpha| unit.powf(-alpha));
    let prices = (0..classes * m).map(|row| scale * solution.z[row] / total(row % m)).collect();
    let gap = (solution.obj_val - solution.obj_val_dual).abs() / solution.obj_val.abs().max(1.0);
    Some(Conic { value, shares, prices, gap })
}
