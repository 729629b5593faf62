//! The same optima by Clarabel, called directly: an interior point method from elsewhere, over cones.
//!
//! Variables are dominant shares from each class, in parts of a common unit, and capacity rows are divided by the pool's
//! totals, so that all numbers are near one.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, ExponentialConeT, IPSolver, NonnegativeConeT, PowerConeT,
    SolverStatus, SupportedConeT, ZeroConeT,
};
use fairplan_instances::{ClassId, Decimal, GroupId, Instance, Objective, Owner, ResourceId, User};

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

/// What a sum is over: a child of the root with the users below it that take part, and the part of its share that each has.
pub struct Bundle {
    /// Its weight among its siblings.
    pub weight: f64,
    /// The users, and the part of each.
    pub users: Vec<(usize, f64)>,
}

/// The children of the root below which anybody takes part: a node's share is divided among its children by their weights, over those
/// below which anybody does.
pub fn bundles(instance: &Instance) -> Vec<Bundle> {
    let node = |group: Option<GroupId>| group.map_or(0, |group| group.0 + 1);
    let parent = |group: GroupId| instance.groups()[group.0].parent;
    let able: Vec<User<'_>> = instance.users().filter(|user| takes_part(instance, *user)).collect();
    let mut is_able = vec![false; 1 + instance.groups().len()];
    for user in &able {
        std::iter::successors(user.group(), |group| parent(*group))
            .for_each(|group| is_able[node(Some(group))] = true);
    }
    let mut weights = vec![0.0; is_able.len()];
    able.iter().for_each(|user| weights[node(user.group())] += user.weight().to_f64());
    let groups = instance.groups().iter().zip(is_able.into_iter().skip(1));
    for (group, _) in groups.filter(|(_, is_able)| *is_able) {
        weights[node(group.parent)] += group.weight.to_f64();
    }
    let mut bundles: Vec<(Option<GroupId>, Bundle)> = Vec::new();
    for user in able {
        let Some(group) = user.group() else {
            let alone = Bundle { weight: user.weight().to_f64(), users: vec![(user.index().0, 1.0)] };
            bundles.push((None, alone));
            continue;
        };
        let (mut part, mut at) = (user.weight().to_f64() / weights[node(Some(group))], group);
        while let Some(above) = parent(at) {
            part *= instance.groups()[at.0].weight.to_f64() / weights[node(Some(above))];
            at = above;
        }
        let known = bundles.iter().position(|(top, _)| *top == Some(at));
        let known = known.unwrap_or_else(|| {
            let weight = instance.groups()[at.0].weight.to_f64();
            bundles.push((Some(at), Bundle { weight, users: Vec::new() }));
            bundles.len() - 1
        });
        bundles[known].1.users.push((user.index().0, part));
    }
    bundles.into_iter().map(|(_, bundle)| bundle).collect()
}

/// The value of a sum over the users that take part, from their dominant shares; a group has as much as its members divide by their
/// weights.
pub fn sum_of_utilities(instance: &Instance, alpha: f64, shares: &[f64]) -> f64 {
    let worth = |bundle: Bundle| {
        let share = bundle.users.iter().map(|(i, part)| shares[*i] / part).fold(f64::INFINITY, f64::min);
        bundle.weight * if alpha == 1.0 { share.ln() } else { share.powf(1.0 - alpha) / (1.0 - alpha) }
    };
    bundles(instance).into_iter().map(worth).sum()
}

/// The tasks that a user's own guarantee over all classes holds, at most all that it has.
fn guaranteed_tasks(instance: &Instance, user: User<'_>) -> f64 {
    let Some(quota) = instance.quota_of(Owner::User(user.index())) else { return 0.0 };
    let holds = |(r, amount): &(ResourceId, Decimal)| amount.to_f64() / user.demand_doubles()[r.0];
    let tasks = quota.guarantee.iter().map(holds).fold(f64::INFINITY, f64::min);
    let most = user.tasks().map_or(f64::INFINITY, |all| all as f64);
    if quota.guarantee.is_empty() { 0.0 } else { tasks.min(most) }
}

/// Solves for `drfh` (its first level: the largest smallest weighted share), `pf`, `alpha=A` or `utilitarian` to about
/// this tolerance; a sum under limits and reserves too, and above what users are guaranteed themselves over all classes. `None` when Clarabel does not get there.
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
    for row in instance.limit_rows() {
        let r = row.resource.0;
        let takes = |(user, pairs): (&User<'_>, &Vec<(usize, usize)>)| {
            let is_below =
                instance.limits_above(*user).iter().any(|j| std::ptr::eq(&instance.limit_rows()[*j], row));
            let per_share =
                if is_below { user.demand_doubles()[r] / total(r) / user.task_share() } else { 0.0 };
            let covered = pairs.iter().filter(|(l, _)| row.covers(ClassId(*l)) && per_share > 0.0);
            covered.map(|(_, variable)| (*variable, per_share)).collect::<Vec<_>>()
        };
        program.row(row.amount.to_f64() / total(r) / unit, users.iter().zip(&pairs).flat_map(takes));
    }
    for (user, pairs) in users.iter().zip(&pairs) {
        let sure = guaranteed_tasks(instance, *user) * user.task_share() / unit;
        if sure > 0.0 {
            program.row(-sure, pairs.iter().map(|(_, variable)| (*variable, -1.0)));
        }
    }
    (0..program.costs.len()).for_each(|variable| program.row(0.0, [(variable, -1.0)]));
    program.not_negative(program.right.len());

    let share = |i: usize| {
        let user = users[i];
        pairs[i].iter().map(move |&(l, variable)| (variable, -user.rule().rate(ClassId(l)).to_f64()))
    };
    let level = if alpha.is_none() { Some(program.variable(-1.0)) } else { None };
    // What is worth something: of a user what it has, of a group a variable that ties its members.
    let mut worthy: Vec<(f64, Vec<(usize, f64)>)> = Vec::new();
    if level.is_some() {
        worthy.extend(users.iter().enumerate().map(|(i, user)| (user.weight().to_f64(), share(i).collect())));
    } else {
        for Bundle { weight, users: inside } in bundles(instance) {
            let place =
                |of: usize| users.iter().position(|user| user.index().0 == of).expect("it takes part");
            if let [(alone, _)] = inside[..] {
                worthy.push((weight, share(place(alone)).collect()));
                continue;
            }
            let has = program.variable(0.0);
            let rows = inside.len();
            for (i, part) in inside {
                program.row(0.0, share(place(i)).chain([(has, part)]));
            }
            program.cones.push(ZeroConeT(rows));
            worthy.push((weight, vec![(has, -1.0)]));
        }
    }
    for (weight, share) in worthy {
        let share = || share.iter().copied();
        match (level, alpha) {
            (Some(level), _) => {
                program.row(0.0, share().chain([(level, weight)]));
                program.not_negative(1);
            }
            (None, Some(0.0)) => {
                share().for_each(|(variable, minus)| program.costs[variable] += weight * minus)
            }
            (None, Some(1.0)) => {
                // utility <= ln share
                let utility = program.variable(-weight);
                program.row(0.0, [(utility, -1.0)]);
                program.row(1.0, []);
                program.row(0.0, share());
                program.cones.push(ExponentialConeT());
            }
            (None, Some(alpha)) if alpha < 1.0 => {
                // power <= share^(1−α)
                let power = program.variable(-weight / (1.0 - alpha));
                program.row(0.0, share());
                program.row(1.0, []);
                program.row(0.0, [(power, -1.0)]);
                program.cones.push(PowerConeT(1.0 - alpha));
            }
            (None, alpha) => {
                // power >= share^(1−α), as power^(1/α) share^(1−1/α) >= 1
                let alpha = alpha?;
                let power = program.variable(weight / (alpha - 1.0));
                program.row(0.0, [(power, -1.0)]);
                program.row(0.0, share());
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
