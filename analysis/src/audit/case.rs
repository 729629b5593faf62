//! An instance under audit: its solution, what users make of any bundle, and the same questions about variants.

use super::finding::AuditSettings;
use super::largest::LargestViolation;
use super::misreport::Answers;
use crate::tolerance::{VIOLATION, VIOLATION_OF_SUMS};
use fairplan_instances::{
    Allocation, ClassId, Decimal, Draft, Instance, InstanceError, Objective, Owner, QuotaPart, ResourceId,
    ServerClass, Solution, Solver, Status, User, UserId,
};

/// What the tests share.
pub(super) struct Case<'a> {
    /// The cluster and its users as the objective sees them: with all servers as one where it pools them.
    pub instance: Instance,
    pub draft: Draft,
    /// The same with the servers as they are.
    pub servers: Draft,
    pub objective: Objective,
    mechanism: &'a dyn Solver,
    reference: &'a dyn Solver,
    pub settings: AuditSettings,
    pub solution: Solution,
    /// Work of each user.
    pub work: Vec<f64>,
    /// What misreports came to that were asked about.
    pub answers: Answers,
}

impl<'a> Case<'a> {
    pub fn new(
        instance: &Instance,
        objective: Objective,
        [mechanism, reference]: [&'a dyn Solver; 2],
        settings: AuditSettings,
    ) -> Result<Self, InstanceError> {
        objective.applies_to(instance)?;
        let servers = Draft::from(instance);
        let draft = if objective.is_pooled() { one_server(instance)? } else { servers.clone() };
        let instance =
            draft.build().map_err(|violation| InstanceError::Unsupported(violation.to_string()))?;
        let solution = mechanism.solve(&instance, objective)?;
        if solution.status != Status::Optimal {
            let problem = format!("the solution for {objective} is not proved optimal");
            return Err(InstanceError::Backend { backend: mechanism.name(), problem });
        }
        let work = instance.users().map(|user| work(user, &solution.allocation)).collect();
        let answers = Answers::default();
        Ok(Self {
            instance,
            draft,
            servers,
            objective,
            mechanism,
            reference,
            settings,
            solution,
            work,
            answers,
        })
    }

    /// The largest violation that counts as none.
    pub fn tolerance(&self) -> f64 {
        if self.objective.alpha().is_some() { VIOLATION_OF_SUMS } else { VIOLATION }
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

    /// The cluster as the objective sees it after a change of the servers as they are; `None` where that is no cluster.
    pub fn with_other_servers(&self, change: impl FnOnce(&mut Draft)) -> Option<Draft> {
        let mut draft = self.servers.clone();
        change(&mut draft);
        if !self.objective.is_pooled() {
            return Some(draft);
        }
        one_server(&draft.build().ok()?).ok()
    }

    /// What a user could do alone on so many whole servers of each class.
    pub fn work_on_servers(&self, user: User<'_>, counts: &[f64]) -> Result<f64, InstanceError> {
        let of_class = self.servers.classes.iter().zip(counts).map(|(class, count)| {
            class.capacity.iter().map(|capacity| count * capacity.to_f64()).collect::<Vec<f64>>()
        });
        if self.objective.is_pooled() {
            let add =
                |sum: Vec<f64>, own: Vec<f64>| sum.iter().zip(own).map(|(sum, own)| sum + own).collect();
            let all = of_class.fold(vec![0.0; self.servers.resources.len()], add);
            return self.work_in(user, std::iter::once((ClassId(0), all)));
        }
        self.work_in(user, of_class.enumerate().map(|(l, held)| (ClassId(l), held)))
    }

    /// What the mechanism does with a variant.
    pub fn solve(&self, draft: &Draft) -> Result<Option<(Instance, Solution)>, InstanceError> {
        ask(self.mechanism, draft, self.objective)
    }

    /// What the reference takes for the DRFH of a variant.
    pub fn solve_drfh(&self, draft: &Draft) -> Result<Option<(Instance, Solution)>, InstanceError> {
        ask(self.reference, draft, Objective::Drfh)
    }

    /// Whether anybody is guaranteed something, or something is kept for anybody: then weights alone do not say what is fair.
    pub fn has_prior_claims(&self) -> bool {
        let reserves = self.instance.limit_rows().iter().any(|row| row.is_reserve());
        reserves || self.instance.has_guarantees()
    }

    /// The most work that `user` could do in bundles of resources on classes, within its own limits.
    pub fn work_in(
        &self,
        user: User<'_>,
        bundles: impl Iterator<Item = (ClassId, Vec<f64>)>,
    ) -> Result<f64, InstanceError> {
        let is_limited = self.instance.quota_of(Owner::User(user.index()));
        let is_limited = is_limited.is_some_and(|quota| quota.limited().next().is_some());
        match user.has_kinds() || is_limited {
            false => Ok(work_in(user, bundles)),
            true => self.work_alone_in(user, bundles),
        }
    }

    /// The same where pieces of several kinds go together, or limits tie classes: the answer for a cluster of these bundles alone.
    fn work_alone_in(
        &self,
        user: User<'_>,
        bundles: impl Iterator<Item = (ClassId, Vec<f64>)>,
    ) -> Result<f64, InstanceError> {
        let mut held = vec![vec![0.0; self.draft.resources.len()]; self.draft.classes.len()];
        for (ClassId(class), bundle) in bundles {
            held[class].iter_mut().zip(bundle).for_each(|(sum, amount)| *sum += amount);
        }
        let mut draft = self.draft.clone().measured_as(&self.instance);
        for (class, held) in draft.classes.iter_mut().zip(held) {
            class.set_count(1);
            class.devices.clear();
            class.capacity =
                held.into_iter().map(|amount| Decimal::from_f64(amount).unwrap_or(Decimal::ZERO)).collect();
        }
        let own = &mut draft.users[user.index().0];
        own.group = None;
        let own = own.clone();
        let is_own = |quota: &fairplan_instances::DraftQuota| !quota.is_group && quota.owner == own.id;
        draft.quotas.retain(is_own);
        draft.leave_out(&[QuotaPart::Guarantees, QuotaPart::Reserves]);
        (draft.groups, draft.users) = (Vec::new(), vec![own]);
        // Where nobody has anything of what a task needs, there is no such instance, and no work.
        let answer = self.solve_drfh(&draft)?;
        Ok(answer.map_or(0.0, |(variant, solution)| work(variant.user(UserId(0)), &solution.allocation)))
    }
}

/// A solver's answer: `None` where the draft is no instance, or one that the objective cannot have, or whose guarantees cannot be kept, or
/// the solution is not proved. Quotas of users who are not there go with them.
fn ask(
    solver: &dyn Solver,
    draft: &Draft,
    objective: Objective,
) -> Result<Option<(Instance, Solution)>, InstanceError> {
    let built = match draft.quotas.is_empty() {
        true => draft.build(),
        false => {
            let mut draft = draft.clone();
            draft.fit_quotas();
            draft.build()
        }
    };
    let Ok(variant) = built else { return Ok(None) };
    match solver.solve(&variant, objective) {
        Ok(solution) => Ok((solution.status == Status::Optimal).then_some((variant, solution))),
        Err(
            InstanceError::Unsupported(_)
            | InstanceError::NoOneAnswer(_)
            | InstanceError::Inapplicable(_)
            | InstanceError::Guarantees(_),
        ) => Ok(None),
        Err(error) => Err(error),
    }
}

/// All servers as one, for the objectives that see them so.
fn one_server(instance: &Instance) -> Result<Draft, InstanceError> {
    let mut draft = Draft::from(instance);
    let total = |r: usize| {
        let units = u64::try_from(instance.total_units(ResourceId(r))).ok()?;
        Decimal::new(units, i32::from(instance.unit_exponent(ResourceId(r)))).ok()
    };
    let totals = (0..draft.resources.len()).map(total).collect::<Option<Vec<_>>>();
    let capacity = totals.ok_or_else(|| {
        InstanceError::Unsupported("the totals have too many digits to be the capacity of one server".into())
    })?;
    draft.classes = vec![ServerClass::new("all servers", 1, capacity)];
    for user in &mut draft.users {
        (user.eligible, user.rates) = (None, Vec::new());
        user.kinds.iter_mut().for_each(|kind| kind.eligible = None);
    }
    Ok(draft)
}

/// The tasks that a user without kinds has on each class; all on the one server where servers are seen as one.
fn held(allocation: &Allocation, user: UserId) -> Vec<(ClassId, f64)> {
    if allocation.is_pooled() {
        vec![(ClassId(0), allocation.tasks(user))]
    } else {
        allocation.placement(user).collect()
    }
}

/// What a user holds of each resource on each class, kind by kind.
pub(super) fn bundles(user: User<'_>, allocation: &Allocation) -> Vec<(ClassId, Vec<f64>)> {
    let of_tasks = |demand: &[f64], tasks: f64| demand.iter().map(|demand| tasks * demand).collect();
    if !user.has_kinds() || allocation.is_pooled() {
        let held = held(allocation, user.index()).into_iter();
        return held.map(|(class, tasks)| (class, of_tasks(user.demand_doubles(), tasks))).collect();
    }
    let of_kind = |kind: fairplan_instances::Kind<'_>| {
        let placed = allocation.placement_of_kind(user.index(), kind.index());
        placed.map(|(class, tasks)| (class, of_tasks(kind.demand_doubles(), tasks))).collect::<Vec<_>>()
    };
    user.kinds().flat_map(of_kind).collect()
}

/// The work `Σ_l ρ_il x_il` of a user.
pub(super) fn work(user: User<'_>, allocation: &Allocation) -> f64 {
    if user.has_kinds() {
        return allocation.tasks(user.index());
    }
    let placed = held(allocation, user.index()).into_iter();
    placed.map(|(class, tasks)| tasks * user.rule().rate(class).to_f64()).sum()
}

/// The most work that `user`, who has no kinds and no limits of its own, could do in bundles of resources on classes: on each as many of
/// its tasks as fit, the fastest classes first where it has a limited number.
fn work_in(user: User<'_>, bundles: impl Iterator<Item = (ClassId, Vec<f64>)>) -> f64 {
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
