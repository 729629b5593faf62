//! Fairness properties tested on one instance (DRFH Sec. III-C): each holds as far as was searched, with the largest
//! violation found, or fails, with a witness.
//!
//! A test only asks a solver questions: what it answers for this instance and for ones that differ in a user, a
//! demand or a server. Users are compared by the work that their tasks do, `Σ_l ρ_il x_il`.

mod case;
mod envy;
mod largest;
mod monotonicity;
mod pareto;
mod reductions;
mod sharing;
mod truthfulness;

use case::Case;
use fairplan_instances::{Instance, Objective, Solver, SolverError};

/// Names of the properties, in the order of [`audit`].
pub const PROPERTIES: [&str; 9] = [
    "envy-freeness",
    "pareto-optimality",
    "sharing-incentive",
    "truthfulness",
    "single-server-drf",
    "single-resource-fairness",
    "bottleneck-fairness",
    "population-monotonicity",
    "resource-monotonicity",
];

/// How far an audit searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditSettings {
    /// At most this many users, spread evenly over the instance, misreport, leave or are asked for envy.
    pub users: usize,
    /// Seed of the servers dealt out for the second benchmark of sharing incentive.
    pub seed: u64,
}

/// What was found about one property.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// One of [`PROPERTIES`].
    pub property: &'static str,
    /// What was found.
    pub outcome: Outcome,
}

/// Whether a property holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was tested.
    Tested {
        /// Whether no violation above the tolerance was found.
        holds: bool,
        /// The largest violation found: a part of the larger of the two amounts of work compared, 0 to 1.
        residual: f64,
        /// The largest violation that counts as none.
        tolerance: f64,
        /// What was searched, and the violation with its numbers where there is one.
        witness: String,
    },
    /// The property says nothing about this instance, for this reason.
    NotApplicable(String),
}

/// Tests every property of what `mechanism` returns for `objective`. What a fair or a better allocation would be is
/// asked of `reference`, which must know DRFH. Fails where the instance itself cannot be solved.
pub fn audit(
    instance: &Instance,
    objective: Objective,
    mechanism: &dyn Solver,
    reference: &dyn Solver,
    settings: AuditSettings,
) -> Result<Vec<Finding>, SolverError> {
    let case = Case::new(instance, objective, [mechanism, reference], settings)?;
    let tests: [Test; 9] = [
        envy::test,
        pareto::test,
        sharing::test,
        truthfulness::test,
        reductions::single_server,
        reductions::single_resource,
        reductions::bottleneck,
        monotonicity::population,
        monotonicity::resources,
    ];
    PROPERTIES
        .into_iter()
        .zip(tests)
        .map(|(property, test)| Ok(Finding { property, outcome: test(&case)? }))
        .collect()
}

/// A test of one property.
type Test = fn(&Case<'_>) -> Result<Outcome, SolverError>;

/// An amount of work in words for people: nine digits at most.
fn amount(work: f64) -> String {
    format!("{work:.8e}").parse::<f64>().map_or_else(|_| work.to_string(), |work| work.to_string())
}

/// By which part of the larger one `less` is below `more`; 0 where it is not.
fn shortfall(less: f64, more: f64) -> f64 {
    if less >= more { 0.0 } else { 1.0 - less / more }
}
