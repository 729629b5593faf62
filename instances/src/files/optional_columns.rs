//! The columns of tables beside resources: which of the optional ones a table of users has, and the cells that placement rules come to.

use crate::{Instance, Violation};

/// The columns that are no resources; no resource may be called so.
pub(super) const FIXED: [&str; 7] = ["id", "count", "weight", "tasks", "eligible", "rates", "group"];

/// The columns of a table of groups.
pub(super) const GROUP_COLUMNS: [&str; 3] = ["id", "weight", "parent"];

/// The optional columns that some user needs; those of rules with their cells by [`RuleId`](crate::RuleId).
pub(super) struct OptionalColumns {
    pub(super) weight: bool,
    pub(super) tasks: bool,
    pub(super) eligible: Option<Vec<String>>,
    pub(super) rates: Option<Vec<String>>,
    pub(super) group: bool,
}

impl OptionalColumns {
    pub(super) fn new(instance: &Instance) -> Result<Self, Violation> {
        let (mut eligible, mut rates) = (Vec::new(), Vec::new());
        for rule in instance.rules() {
            let name = |class: usize| {
                let id = instance.classes()[class].id.as_str();
                if id.contains(';') {
                    let problem = "an id with ; cannot be listed in a table; write JSON or rename it";
                    return Err(Violation::new(format!("server_classes[{class}].id"), id, problem));
                }
                Ok(id)
            };
            let classes = rule.eligible().unwrap_or_default().iter();
            let classes = classes.map(|class| name(class.0)).collect::<Result<Vec<_>, _>>()?;
            let nowhere = rule.eligible().is_some() && classes.is_empty();
            eligible.push(if nowhere { ";".to_owned() } else { classes.join(";") });
            let rated = rule.rates().iter().map(|(class, rate)| Ok(format!("{}={rate}", name(class.0)?)));
            rates.push(rated.collect::<Result<Vec<_>, Violation>>()?.join(";"));
        }
        let unless_empty = |cells: Vec<String>| cells.iter().any(|cell| !cell.is_empty()).then_some(cells);
        Ok(Self {
            weight: instance.is_weighted(),
            tasks: instance.users().any(|user| user.tasks().is_some()),
            eligible: unless_empty(eligible),
            rates: unless_empty(rates),
            group: instance.has_groups(),
        })
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        let present = [self.weight, self.tasks, self.eligible.is_some(), self.rates.is_some(), self.group];
        FIXED[2..].iter().zip(present).filter(|(_, present)| *present).map(|(name, _)| *name).collect()
    }
}
