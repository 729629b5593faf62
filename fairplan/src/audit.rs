//! The fairness properties that objectives have on an instance, with a witness for each that fails.

use crate::solve::{AUTO, solver};
use crate::{Control, Error, Found};
use fairplan_analysis::{Audit, AuditSettings, InTime};
use fairplan_instances::{Instance, InstanceError, Objective, files};

/// What to audit, and how far to search.
#[derive(Clone, Debug)]
pub struct AuditOptions {
    /// The objectives. Default: DRFH alone.
    pub objectives: Vec<Objective>,
    /// Whether objectives that the instance cannot have are left out instead of refused. Default: no.
    pub leave_out: bool,
    /// At most so many users misreport, leave and are asked for envy, evenly spread over the instance. Default: 20.
    pub users: usize,
    /// Seed of the servers dealt out to compare with sharing. Default: 0.
    pub seed: u64,
    /// What solves: one of [`BACKENDS`](crate::BACKENDS). Default: `auto`.
    pub backend: String,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self { objectives: vec![Objective::Drfh], leave_out: false, users: 20, seed: 0, backend: AUTO.into() }
    }
}

impl AuditOptions {
    /// Every objective that the instance can have, alpha = 2 among them.
    pub fn every_objective() -> Self {
        let names = ["drfh", "tsf", "pf", "alpha=2", "utilitarian", "bmf", "drf", "drf-per-server"];
        let objectives = names.iter().filter_map(|name| name.parse().ok()).collect();
        Self { objectives, leave_out: true, ..Self::default() }
    }
}

/// What was found.
#[derive(Debug)]
pub struct Audited {
    /// Of each objective.
    pub audits: Vec<Audit>,
    /// The objectives that the instance cannot have, and why.
    pub left_out: Vec<(Objective, Error)>,
}

/// Tests the fairness properties of objectives on an instance and on variants of it: a user misreports or leaves, a server is
/// added. What is found is exact for the instance; that nothing is found says what was searched. Limits hold in all variants, and whoever
/// leaves takes its quotas along.
///
/// By a deadline each objective has its part of the time. Where that was not enough for a property, the answer is
/// [`Error::TimeLimit`] with the [`Audited`] that there is.
///
/// ```
/// use fairplan::{AuditOptions, Control, audit, generate};
///
/// let instance = generate::drfh_fig1()?;
/// let audited = audit(&instance, &AuditOptions::default(), &Control::none())?;
/// let properties = &audited.audits[0].properties;
/// assert_eq!(properties[0].name, "envy-freeness");
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn audit(instance: &Instance, options: &AuditOptions, control: &Control<'_>) -> Result<Audited, Error> {
    let settings = AuditSettings { users: options.users, seed: options.seed };
    let sha256 = files::sha256_hex(instance);
    // Variants say what users do not want, such as parts of devices.
    let instance = &*instance.divided()?;
    let objectives = &options.objectives;
    let mut found: Vec<Option<Audit>> = vec![None; objectives.len()];
    let mut left_out = Vec::new();
    let mut open: Vec<usize> = (0..objectives.len()).collect();
    // What some leave of their part of the time is for those that had too little.
    loop {
        let asked = std::mem::take(&mut open);
        for (position, &at) in asked.iter().enumerate() {
            control.stage("searching for violations");
            let deadline = control.deadline.after_part(1.0 / (asked.len() - position) as f64);
            let solver = solver(&options.backend, &deadline)?;
            let solver = InTime::new(&*solver, &deadline);
            match fairplan_analysis::audit(instance, &sha256, objectives[at], &solver, &solver, settings) {
                Ok(audit) => {
                    open.extend(audit.out_of_time().next().map(|_| at));
                    found[at] = Some(audit);
                }
                Err(InstanceError::OutOfTime) => open.push(at),
                Err(
                    reason @ (InstanceError::Unsupported(_)
                    | InstanceError::NoOneAnswer(_)
                    | InstanceError::Inapplicable(_)),
                ) if options.leave_out => {
                    left_out.push((objectives[at], reason.into()));
                }
                Err(error) => return Err(error.into()),
            }
        }
        if open.is_empty() || open.len() == asked.len() || control.deadline.is_over() {
            break;
        }
    }
    let mut late = Vec::new();
    for at in open {
        let objective = objectives[at];
        match &found[at] {
            Some(audit) => {
                late.extend(audit.out_of_time().map(|property| format!("{property} of {objective}")));
            }
            None => late.push(format!("all of {objective}")),
        }
    }
    let audits: Vec<Audit> = found.into_iter().flatten().collect();
    let audited = Audited { audits, left_out };
    if late.is_empty() {
        return Ok(audited);
    }
    let why = format!("time was over: not tested: {}", late.join(", "));
    let found = if audited.audits.is_empty() { Found::nothing() } else { Found::some(audited) };
    Err(Error::TimeLimit { why, found })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{Solution, Solver};
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Counts how often it is asked.
    struct Counting<'a>(&'a dyn Solver, AtomicU64);

    impl Solver for Counting<'_> {
        fn name(&self) -> &'static str {
            "counting"
        }

        fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, InstanceError> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.solve(instance, objective)
        }
    }

    #[test]
    fn misreports_are_solved_once_for_users_and_groups() {
        let text = r#"{"format": "fairplan.instance.v1", "resources": ["cpu", "memory"], "server_classes": [
            {"id": "a", "count": 1, "capacity": {"cpu": 8, "memory": 4}}, {"id": "b", "count": 1, "capacity": {"cpu": 4, "memory": 9}}],
            "groups": [{"id": "g"}], "users": [
            {"id": "x", "demand": {"cpu": 1, "memory": 2}, "group": "g"}, {"id": "y", "demand": {"cpu": 2, "memory": 1}, "group": "g"}]}"#;
        let instance = files::read_json(files::source::in_memory("it", text.into()).unwrap()).unwrap();
        let truth = solver(AUTO, &crate::Deadline::never()).unwrap();
        let counting = Counting(&*truth, AtomicU64::new(0));
        let settings = AuditSettings { users: 20, seed: 0 };
        let audit =
            fairplan_analysis::audit(&instance, "", Objective::Drfh, &counting, &counting, settings).unwrap();
        let searched = |name: &str| {
            let found = audit.properties.iter().find(|property| property.name == name).unwrap();
            found.witness.clone()
        };
        // Eleven factors on each of two resources; nobody claims nothing.
        assert!(
            searched("group-truthfulness").contains("240 misreports"),
            "{}",
            searched("group-truthfulness")
        );
        let asked = counting.1.into_inner();
        assert!(asked < 150, "{asked} instances are solved");
    }
}
