//! An instance that can still be changed: drawn at random or written down, altered, then built.

use crate::Fraction;
use crate::max_min::task_share;
use fairplan_instances::files::write_json;
use fairplan_instances::{
    ClassId, Decimal, Instance, InstanceBuilder, NewUser, PlacementRule, ServerClass, Violation,
};
use std::fmt;

/// The parts of an instance, free to edit.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Resource names.
    pub resources: Vec<String>,
    /// Server classes.
    pub classes: Vec<ServerClass>,
    /// Users; they name classes by position.
    pub users: Vec<DraftUser>,
}

/// A user of a [`Draft`].
#[derive(Clone, Debug, PartialEq)]
pub struct DraftUser {
    /// Unique name.
    pub id: String,
    /// One task's demand, one entry a resource.
    pub demand: Vec<Decimal>,
    /// Weight (> 0).
    pub weight: Decimal,
    /// How many tasks; `None` is unlimited.
    pub tasks: Option<u64>,
    /// Positions of the eligible classes; `None`: all.
    pub eligible: Option<Vec<usize>>,
    /// Work per task by position of the class, where it is not 1.
    pub rates: Vec<(usize, Decimal)>,
}

/// A decimal written down in a test; panics when it is none.
pub fn decimal(text: &str) -> Decimal {
    text.parse().unwrap_or_else(|error| panic!("{text} {error}"))
}

fn decimals(numbers: &str) -> Vec<Decimal> {
    numbers.split_whitespace().map(decimal).collect()
}

impl Draft {
    /// Classes as `(count, "capacity capacity …")` and users as `"demand demand …"`, named by position.
    pub fn of(classes: &[(u64, &str)], users: &[&str]) -> Self {
        let classes: Vec<_> = classes
            .iter()
            .enumerate()
            .map(|(l, (count, capacity))| ServerClass {
                id: format!("class-{l}"),
                count: *count,
                capacity: decimals(capacity),
            })
            .collect();
        let resources = (0..classes[0].capacity.len()).map(|r| format!("resource-{r}")).collect();
        let users = users.iter().enumerate().map(|(i, demand)| DraftUser::new(i, decimals(demand))).collect();
        Self { resources, classes, users }
    }

    /// The instance, or the first rule of the model that it breaks.
    pub fn build(&self) -> Result<Instance, Violation> {
        let mut builder = InstanceBuilder::new("draft", self.resources.clone())?;
        for class in &self.classes {
            builder.class(class.clone())?;
        }
        for user in &self.users {
            let eligible = user.eligible.as_ref().map(|all| all.iter().copied().map(ClassId).collect());
            let rates = user.rates.iter().map(|&(class, rate)| (ClassId(class), rate)).collect();
            let rule = builder.rule(PlacementRule::new(eligible, rates));
            builder.user(NewUser {
                id: &user.id,
                demand: &user.demand,
                weight: user.weight,
                tasks: user.tasks,
                rule,
            })?;
        }
        builder.build()
    }
}

/// The draft with another capacity of resource `r` in each server of class `l`, and weights `w δ' / δ`, so that
/// `G / w` still measures shares against the totals of `draft` (weights to 17 digits).
pub fn with_capacity(draft: &Draft, l: usize, r: usize, capacity: Decimal) -> Draft {
    let task_shares = |draft: &Draft| -> Vec<Fraction> {
        let instance = draft.build().unwrap_or_else(|violation| panic!("{violation}"));
        instance.users().map(|user| task_share(&instance, user)).collect()
    };
    let mut changed = draft.clone();
    changed.classes[l].capacity[r] = capacity;
    let (before, after) = (task_shares(draft), task_shares(&changed));
    for (user, (before, after)) in changed.users.iter_mut().zip(before.iter().zip(&after)) {
        if before != after {
            let weight = &(&Fraction::from(user.weight) * after) / before;
            user.weight = Decimal::from_f64(weight.to_f64()).unwrap_or_else(|error| panic!("weight {error}"));
        }
    }
    changed
}

/// The instance file, to be saved and tried by hand.
pub fn printed(instance: &Instance) -> String {
    let mut json = Vec::new();
    write_json(instance, &mut json).unwrap_or_else(|error| panic!("{error}"));
    String::from_utf8_lossy(&json).into_owned()
}

impl fmt::Display for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.build() {
            Ok(instance) => f.write_str(&printed(&instance)),
            Err(violation) => write!(f, "{violation}: {self:?}"),
        }
    }
}

impl DraftUser {
    /// A user named after its position, of weight 1, unlimited, that may run anywhere.
    pub fn new(position: usize, demand: Vec<Decimal>) -> Self {
        let id = format!("user-{position}");
        Self { id, demand, weight: Decimal::ONE, tasks: None, eligible: None, rates: Vec::new() }
    }
}
