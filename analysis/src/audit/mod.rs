//! Fairness properties tested on one instance (DRFH Sec. III-C): each holds as far as was searched, with the largest
//! violation found, or fails, with a witness.
//!
//! A test only asks a solver questions: what it answers for this instance and for ones that differ in a user, a
//! demand or a server. Users are compared by the work that their tasks do, `Σ_l ρ_il x_il`.

mod case;
mod envy;
mod finding;
mod groups;
mod largest;
mod misreport;
mod monotonicity;
mod pareto;
mod reductions;
mod sharing;
mod truthfulness;
mod work;

pub use finding::{AuditSettings, Finding, Holds, NotTested};

use case::Case;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Body, Entry, Instance, InstanceError, InstanceStamp, Objective, Registry, Solver};
use finding::Searched;
use largest::LargestViolation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every property, in the order of [`audit`].
pub const PROPERTIES: Registry<Property> = Registry::new(
    "property",
    &[
        Entry {
            name: "envy-freeness",
            line: "nobody would do more work with what another of its weight has",
            make: Property::tested_by(envy::test),
        },
        Entry {
            name: "pareto-optimality",
            line: "nobody can have more unless another has less",
            make: Property::tested_by(pareto::test),
        },
        Entry {
            name: "sharing-incentive",
            line: "nobody would do more work on its own part of the servers",
            make: Property::tested_by(sharing::test),
        },
        Entry {
            name: "truthfulness",
            line: "nobody gains by claiming other demands than it has",
            make: Property { is_long: true, ..Property::tested_by(truthfulness::test) },
        },
        Entry {
            name: "single-server-drf",
            line: "on one server it is dominant resource fairness",
            make: Property::tested_by(reductions::single_server),
        },
        Entry {
            name: "single-resource-fairness",
            line: "with one resource it is max-min fairness",
            make: Property::tested_by(reductions::single_resource),
        },
        Entry {
            name: "bottleneck-fairness",
            line: "where all need most of the same resource, that is divided by max-min fairness",
            make: Property::tested_by(reductions::bottleneck),
        },
        Entry {
            name: "population-monotonicity",
            line: "nobody loses when another leaves",
            make: Property::tested_by(monotonicity::population),
        },
        Entry {
            name: "resource-monotonicity",
            line: "nobody loses when a server is added",
            make: Property::tested_by(monotonicity::resources),
        },
    ],
);

/// The properties that are tested at the level of groups, where there are any, after those of users.
pub const GROUP_PROPERTIES: Registry<Property> = Registry::new(
    "property of groups",
    &[
        Entry {
            name: "group-splitting",
            line: "no group has more by splitting in two with half the weight each",
            make: Property::tested_by(groups::splitting),
        },
        Entry {
            name: "group-disbanding",
            line: "no group has more when its members stand alone with its weight divided among them",
            make: Property::tested_by(groups::disbanding),
        },
        Entry {
            name: "group-truthfulness",
            line: "no group has more when a member claims other demands than it has",
            make: Property { is_long: true, ..Property::tested_by(groups::truthful) },
        },
        Entry {
            name: "group-population-monotonicity",
            line: "no group has less when another leaves",
            make: Property::tested_by(groups::population),
        },
        Entry {
            name: "group-resource-monotonicity",
            line: "no group has less when a server is added",
            make: Property::tested_by(groups::resources),
        },
    ],
);

/// How a property is tested.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    test: Test,
    /// Whether it takes longer than all others together, so that it has the time that they leave.
    is_long: bool,
}

impl Property {
    const fn tested_by(test: Test) -> Self {
        Self { test, is_long: false }
    }
}

/// A test of one property: notes the violations that it finds, and says what it searched.
type Test = fn(&Case<'_>, &mut LargestViolation) -> Result<Searched, InstanceError>;

/// The properties that an objective has on an instance, as far as was searched. The same instance and settings give the
/// same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// The instance.
    pub instance: InstanceStamp,
    /// The objective, by its name on the command line.
    pub objective: String,
    /// The properties, always all of them and in the same order; where users are in groups, those of groups last.
    pub properties: Vec<Finding>,
}

impl Body for Audit {
    const FORMAT: &'static str = "fairplan.audit.v1";
}

impl Audit {
    /// Whether no property fails.
    pub fn holds(&self) -> bool {
        self.properties.iter().all(|property| property.holds != Holds::Tested(false))
    }

    /// The properties for which there was not enough time.
    pub fn out_of_time(&self) -> impl Iterator<Item = &str> {
        let late = |property: &&Finding| property.holds == Holds::NotTested(NotTested::OutOfTime);
        self.properties.iter().filter(late).map(|property| property.name.as_str())
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
                Holds::NotTested(NotTested::NotApplicable) => "not applicable",
                Holds::NotTested(NotTested::OutOfTime) => "out of time",
            })
            .column("residual", "violation", Kind::Violation, |property| property.residual)
            .column("tolerance", "allowed", Kind::Violation, |property| property.tolerance)
            .column("witness", "witness", Kind::Words, |property| &property.witness)
            .done()
    }
}

/// Tests every property of what `mechanism` returns for `objective`. What a fair or a better allocation would be is
/// asked of `reference`, which must know DRFH. The instance comes with its hash. Fails where it cannot be solved; what a solver
/// has no time for ([`InstanceError::OutOfTime`]) is a property that is not tested.
pub fn audit(
    instance: &Instance,
    sha256: &str,
    objective: Objective,
    mechanism: &dyn Solver,
    reference: &dyn Solver,
    settings: AuditSettings,
) -> Result<Audit, InstanceError> {
    let case = Case::new(instance, objective, [mechanism, reference], settings)?;
    let find = |Entry { name, make, .. }: &Entry<Property>| {
        let mut worst = case.largest();
        let searched = match (make.test)(&case, &mut worst) {
            Err(InstanceError::OutOfTime) => Ok(Searched::Some("what there was time for".into())),
            searched => searched,
        };
        Ok::<_, InstanceError>(worst.finding(name, searched?))
    };
    let of_groups = if instance.has_groups() { GROUP_PROPERTIES.entries() } else { &[] };
    let all = PROPERTIES.entries().iter().chain(of_groups).enumerate();
    let [short, long] = [false, true].map(|is_long| {
        let of_kind = all.clone().filter(move |(_, entry)| entry.make.is_long == is_long);
        of_kind.map(|(position, entry)| Ok((position, find(entry)?)))
    });
    let mut properties = short.chain(long).collect::<Result<Vec<_>, InstanceError>>()?;
    properties.sort_by_key(|(position, _)| *position);
    Ok(Audit {
        instance: InstanceStamp::new(instance, sha256),
        objective: objective.to_string(),
        properties: properties.into_iter().map(|(_, finding)| finding).collect(),
    })
}
