//! Drafts of instances written down in a line, and changed.

use crate::Fraction;
use crate::max_min::task_share;
use fairplan_instances::files::write_json;
use fairplan_instances::{ClassId, Decimal, Draft, DraftKind, DraftUser, Instance, ServerClass};

/// A decimal written down in a test; panics when it is none.
pub fn decimal(text: &str) -> Decimal {
    text.parse().unwrap_or_else(|error| panic!("{text} {error}"))
}

fn decimals(numbers: &str) -> Vec<Decimal> {
    numbers.split_whitespace().map(decimal).collect()
}

/// A draft of classes as `(count, "capacity capacity …")` and users as `"demand demand …"`, named by position.
pub fn draft(classes: &[(u64, &str)], users: &[&str]) -> Draft {
    let class = |(l, (count, capacity)): (usize, &(u64, &str))| {
        ServerClass::new(format!("class-{l}"), *count, decimals(capacity))
    };
    let classes: Vec<_> = classes.iter().enumerate().map(class).collect();
    let resources = (0..classes[0].capacity.len()).map(|r| format!("resource-{r}")).collect();
    let users = users.iter().enumerate().map(|(i, demand)| plain_user(i, decimals(demand))).collect();
    plain_draft(resources, classes, users)
}

/// A kind of so many pieces of `"demand demand …"` in one task, on these classes or on all.
pub fn kind(id: &str, each: u64, demand: &str, eligible: Option<Vec<usize>>) -> DraftKind {
    DraftKind { profile: None, id: id.into(), each, demand: decimals(demand), eligible }
}

/// These users on these classes, without groups and quotas.
pub fn plain_draft(resources: Vec<String>, classes: Vec<ServerClass>, users: Vec<DraftUser>) -> Draft {
    Draft {
        device_profiles: Vec::new(),
        name: "draft".into(),
        resources,
        classes,
        groups: Vec::new(),
        users,
        quotas: Vec::new(),
        measured_by: None,
    }
}

/// A user named after its position, of weight 1, unlimited, that may run anywhere.
pub fn plain_user(position: usize, demand: Vec<Decimal>) -> DraftUser {
    let id = format!("user-{position}");
    DraftUser {
        profile: None,
        id,
        demand,
        weight: Decimal::ONE,
        tasks: None,
        eligible: None,
        rates: Vec::new(),
        group: None,
        kinds: Vec::new(),
        per_server: None,
        gang: None,
        spread: None,
    }
}

/// The same users with the sum of their kinds as their one task, which may run where all of these can.
pub fn with_bundles_as_tasks(instance: &Instance) -> Draft {
    let mut draft = Draft::from(instance);
    for (user, of) in draft.users.iter_mut().zip(instance.users()).filter(|(_, of)| of.has_kinds()) {
        let classes = 0..instance.classes().len();
        let runs_all = |l: &usize| of.kinds().all(|kind| kind.can_use(ClassId(*l)));
        user.eligible = Some(classes.filter(runs_all).collect());
        user.demand = of.demand().to_vec();
        user.kinds.clear();
    }
    draft
}

/// The draft with another capacity of resource `r` in each server of class `l`, and weights `w (δ' / δ)^power` (to 17
/// digits). With a power of 1, `G / w` still measures shares against the totals of `draft`; with `α − 1` the same
/// allocation is the largest sum of `w G^(1−α)` that is the largest where shares are measured so.
pub fn with_capacity(draft: &Draft, (l, r): (usize, usize), capacity: Decimal, power: f64) -> Draft {
    let task_shares = |draft: &Draft| -> Vec<Fraction> {
        let instance = draft.build().unwrap_or_else(|violation| panic!("{violation}"));
        instance.users().map(|user| task_share(&instance, user)).collect()
    };
    let mut changed = draft.clone();
    changed.classes[l].capacity[r] = capacity;
    let (before, after) = (task_shares(draft), task_shares(&changed));
    for (user, (before, after)) in changed.users.iter_mut().zip(before.iter().zip(&after)) {
        if before != after {
            let weight = user.weight.to_f64() * (after / before).to_f64().powf(power);
            user.weight = Decimal::from_f64(weight).unwrap_or_else(|error| panic!("weight {error}"));
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
