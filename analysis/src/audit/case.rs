//! An instance under audit: its solution, what users make of any bundle, and the same questions about variants.

use super::AuditSettings;
use super::largest::LargestViolation;
use fairplan_instances::{
    Allocation, ClassId, Decimal, Draft, Instance, Objective, ResourceId, ServerClass, Solution, Solver,
    SolverError, Status, User, UserId,
};

/// What the tests share.
pub(super) struct Case<'a> {
    pub instance: Instance,
    pub draft: Draft,
    pub objective: Objective,
    mechanism: &'a dyn Solver,
    reference: &'a dyn Solver,
    pub settings: AuditSettings,
    pub solution: Solution,
    /// Work of each user.
    pub work: Vec<f64>,
}

impl<'a> Case<'a> {
    pub fn new(
        instance: &Instance,
        objective: Objective,
        [mechanism, reference]: [&'a dyn Solver; 2],
        settings: AuditSettings,
    ) -> Result<Self, SolverError> {
        let draft = if objective.is_pooled() { one_server(instance)? } else { Draft::from(instance) };
        let instance = draft.build().map_err(|violation| SolverError::Unsupported(violation.to_string()))?;
        let solution = mechanism.solve(&instance, objective)?;
        if solution.status != Status::Optimal {
            let problem = format!("the solution for {objective} is not proved optimal");
            return Err(SolverError::Backend { backend: mechanism.name(), problem });
        }
        let work = instance.users().map(|user| work(user, &solution.allocation)).collect();
        Ok(Self { instance, draft, objective, mechanism, reference, settings, solution, work })
    }

    /// The largest violation that counts as none. A smooth objective fixes its value to 1e-9 and so its shares only
    /// to the root of that.
    pub fn tolerance(&self) -> f64 {
        if self.objective.alpha().is_some() { 1e-4 } else { 1e-6 }
    }

    /// A collector of violations.
    pub fn largest(&self) -> LargestViolation {
        LargestViolation::above(self.tolerance())
    }

    /// Positions of the users that are looked at one by one: all, or as many as asked for, evenly spread.
    pub fn sample(&self) -> Vec<usize> {
        let (n, wanted) = (self.instance.user_count(), self.settings.users.max(1));
        if n <= wanted { (0..n).collect() } else { (0..wanted).map(|k| k * n / wanted).collect() }
    }

    /// How many users the sample has, in words.
    pub fn searched(&self) -> String {
        match (self.sample().len(), self.instance.user_count()) {
            (1, 1) => "the only user".into(),
            (some, all) if some == all => format!("all {all} users"),
            (some, all) => format!("{some} of {all} users"),
        }
    }

    /// What the mechanism does with a variant.
    pub fn solve(&self, draft: &Draft) -> Result<Option<(Instance, Solution)>, SolverError> {
        ask(self.mechanism, draft, self.objective)
    }

    /// What the reference takes for the DRFH of a variant.
    pub fn solve_drfh(&self, draft: &Draft) -> Result<Option<(Instance, Solution)>, SolverError> {
        ask(self.reference, draft, Objective::Drfh)
    }
}

/// A solver's answer: `None` where the draft is no instance, or one that the objective cannot have, or the solution is
/// not proved.
fn ask(
    solver: &dyn Solver,
    draft: &Draft,
    objective: Objective,
) -> Result<Option<(Instance, Solution)>, SolverError> {
    let Ok(variant) = draft.build() else { return Ok(None) };
    match solver.solve(&variant, objective) {
        Ok(solution) => Ok((solution.status == Status::Optimal).then_some((variant, solution))),
        Err(SolverError::Unsupported(_) | SolverError::Inapplicable(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// All servers as one, for the objectives that see them so.
fn one_server(instance: &Instance) -> Result<Draft, SolverError> {
    let mut draft = Draft::from(instance);
    let total = |r: usize| {
        let units = u64::try_from(instance.total_units(ResourceId(r))).ok()?;
        Decimal::new(units, i32::from(instance.unit_exponent(ResourceId(r)))).ok()
    };
    let totals = (0..draft.resources.len()).map(total).collect::<Option<Vec<_>>>();
    let capacity = totals.ok_or_else(|| {
        SolverError::Unsupported("the totals have too many digits to be the capacity of one server".into())
    })?;
    draft.classes = vec![ServerClass::new("all servers", 1, capacity)];
    for user in &mut draft.users {
        (user.eligible, user.rates) = (None, Vec::new());
    }
    Ok(draft)
}

/// The tasks that a user has on each class; all on the one server where servers are seen as one.
pub(super) fn held(allocation: &Allocation, user: UserId) -> Vec<(ClassId, f64)> {
    if allocation.is_pooled() {
        vec![(ClassId(0), allocation.tasks(user))]
    } else {
        allocation.placement(user).collect()
    }
}

/// The work `Σ_l ρ_il x_il` of a user.
pub(super) fn work(user: User<'_>, allocation: &Allocation) -> f64 {
    let placed = held(allocation, user.index()).into_iter();
    placed.map(|(class, tasks)| tasks * user.rule().rate(class).to_f64()).sum()
}

/// The most work that `user` could do with what `other` holds, in parts of `scale`: on each class as many of its own
/// tasks as fit into the bundle, the fastest classes first where it has a limited number.
pub(super) fn work_with(user: User<'_>, other: User<'_>, allocation: &Allocation, scale: f64) -> f64 {
    work_in(
        user,
        held(allocation, other.index()).into_iter().map(|(class, tasks)| {
            let held: Vec<f64> = other.demand_doubles().iter().map(|demand| scale * tasks * demand).collect();
            (class, held)
        }),
    )
}

/// The most work that `user` could do in bundles of resources on classes.
pub(super) fn work_in(user: User<'_>, bundles: impl Iterator<Item = (ClassId, Vec<f64>)>) -> f64 {
    let mut fitting: Vec<(f64, f64)> = bundles
        .filter(|(class, _)| user.can_use(*class))
        .map(|(class, held)| (user.rule().rate(class).to_f64(), tasks_in(user, &held)))
        .collect();
    fitting.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut left = user.tasks().map_or(f64::INFINITY, |tasks| tasks as f64);
    let mut work = 0.0;
    for (rate, tasks) in fitting {
        let run = tasks.min(left);
        left -= run;
        work += rate * run;
    }
    work
}

/// How many (divisible) tasks fit into a bundle.
fn tasks_in(user: User<'_>, held: &[f64]) -> f64 {
    let demands = user.demand_doubles().iter().zip(held);
    demands
        .filter(|(demand, _)| **demand > 0.0)
        .map(|(demand, held)| held / demand)
        .fold(f64::INFINITY, f64::min)
}

/// The id of the user at a position.
pub(super) fn name(instance: &Instance, user: usize) -> &str {
    instance.user(UserId(user)).id()
}
