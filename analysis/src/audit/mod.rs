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
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Body, Entry, Instance, InstanceStamp, Objective, Registry, Solver, SolverError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every property, in the order of [`audit`].
pub const PROPERTIES: Registry<Property> = Registry::new(
    "property",
    &[
        Entry {
            name: "envy-freeness",
            line: "nobody would do more work with what another of its weight has",
            make: Property(envy::test),
        },
        Entry {
            name: "pareto-optimality",
            line: "nobody can have more unless another has less",
            make: Property(pareto::test),
        },
        Entry {
            name: "sharing-incentive",
            line: "nobody would do more work on its own part of the servers",
            make: Property(sharing::test),
        },
        Entry {
            name: "truthfulness",
            line: "nobody gains by claiming other demands than it has",
            make: Property(truthfulness::test),
        },
        Entry {
            name: "single-server-drf",
            line: "on one server it is dominant resource fairness",
            make: Property(reductions::single_server),
        },
        Entry {
            name: "single-resource-fairness",
            line: "with one resource it is max-min fairness",
            make: Property(reductions::single_resource),
        },
        Entry {
            name: "bottleneck-fairness",
            line: "where all need most of the same resource, that is divided by max-min fairness",
            make: Property(reductions::bottleneck),
        },
        Entry {
            name: "population-monotonicity",
            line: "nobody loses when another leaves",
            make: Property(monotonicity::population),
        },
        Entry {
            name: "resource-monotonicity",
            line: "nobody loses when a server is added",
            make: Property(monotonicity::resources),
        },
    ],
);

/// How a property is tested.
#[derive(Clone, Copy, Debug)]
pub struct Property(Test);

/// A test of one property.
type Test = fn(&Case<'_>) -> Result<Outcome, SolverError>;

/// How far an audit searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditSettings {
    /// At most this many users, spread evenly over the instance, misreport, leave or are asked for envy.
    pub users: usize,
    /// Seed of the servers dealt out for the second benchmark of sharing incentive.
    pub seed: u64,
}

/// The properties that an objective has on an instance, as far as was searched. The same instance and settings give the
/// same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// The instance.
    pub instance: InstanceStamp,
    /// The objective, by its name on the command line.
    pub objective: String,
    /// The properties, always all of them and in the same order.
    pub properties: Vec<Finding>,
}

impl Body for Audit {
    const FORMAT: &'static str = "fairplan.audit.v1";
}

/// One property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// `envy-freeness`, `pareto-optimality`, `sharing-incentive`, `truthfulness`, `single-server-drf`,
    /// `single-resource-fairness`, `bottleneck-fairness`, `population-monotonicity` or `resource-monotonicity`.
    pub name: String,
    /// Whether no violation above the tolerance was found; `not applicable` where the property says nothing here.
    pub holds: Holds,
    /// The largest violation found, a part of the larger of the two amounts of work compared, 0 to 1. Absent when
    /// not applicable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
    /// The largest violation that counts as none. Absent when not applicable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// The violation with its numbers and what was searched, or why the property is not applicable.
    pub witness: String,
}

/// Whether a property holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Holds {
    /// It was tested.
    Tested(bool),
    /// It says nothing about this instance.
    NotTested(NotApplicable),
}

/// A property that says nothing about an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NotApplicable {
    /// The words for it.
    #[serde(rename = "not applicable")]
    NotApplicable,
}

impl Audit {
    /// Whether no property fails.
    pub fn holds(&self) -> bool {
        self.properties.iter().all(|property| property.holds != Holds::Tested(false))
    }
}

impl Tabular for Audit {
    /// A row a property.
    fn table(&self) -> Table<'_> {
        Table::of(&self.properties)
            .column("property", "property", Kind::Words, |property| &property.name)
            .column("holds", "verdict", Kind::Words, |property| match property.holds {
                Holds::Tested(true) => "holds",
                Holds::Tested(false) => "FAILS",
                Holds::NotTested(_) => "not applicable",
            })
            .column("residual", "violation", Kind::Violation, |property| property.residual)
            .column("tolerance", "allowed", Kind::Violation, |property| property.tolerance)
            .column("witness", "witness", Kind::Words, |property| &property.witness)
            .done()
    }
}

/// What a test found.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
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
/// asked of `reference`, which must know DRFH. The instance comes with its hash. Fails where it cannot be solved.
pub fn audit(
    instance: &Instance,
    sha256: &str,
    objective: Objective,
    mechanism: &dyn Solver,
    reference: &dyn Solver,
    settings: AuditSettings,
) -> Result<Audit, SolverError> {
    let case = Case::new(instance, objective, [mechanism, reference], settings)?;
    let tested = PROPERTIES
        .entries()
        .iter()
        .map(|Entry { name, make: Property(test), .. }| Ok(Finding::new(name, test(&case)?)));
    Ok(Audit {
        instance: InstanceStamp::new(instance, sha256),
        objective: objective.to_string(),
        properties: tested.collect::<Result<_, SolverError>>()?,
    })
}

impl Finding {
    fn new(property: &str, outcome: Outcome) -> Self {
        let (holds, residual, tolerance, witness) = match outcome {
            Outcome::Tested { holds, residual, tolerance, witness } => {
                (Holds::Tested(holds), Some(residual), Some(tolerance), witness)
            }
            Outcome::NotApplicable(reason) => {
                (Holds::NotTested(NotApplicable::NotApplicable), None, None, reason)
            }
        };
        Self { name: property.into(), holds, residual, tolerance, witness }
    }
}

/// An amount of work in words for people: nine digits at most.
fn amount(work: f64) -> String {
    format!("{work:.8e}").parse::<f64>().map_or_else(|_| work.to_string(), |work| work.to_string())
}

/// By which part of the larger one `less` is below `more`; 0 where it is not.
fn shortfall(less: f64, more: f64) -> f64 {
    if less >= more { 0.0 } else { 1.0 - less / more }
}
