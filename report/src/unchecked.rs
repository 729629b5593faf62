//! What `verify` does not check of each format: names, settings and measures of the run, on which nothing rests. Every other
//! field is proved, recomputed or compared, and a test changes each.

use crate::proportional_bound::ProportionalBoundDocument;
use crate::solution::SolutionDocument;
use fairplan_instances::{Instance, User};
use fairplan_verify::SolutionProof;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A field of a result that is taken as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UncheckedField {
    /// Its place; `[]` stands for every entry of a list.
    pub field: String,
    /// Why nothing rests on it.
    pub reason: String,
}

type Field = (&'static str, &'static str);

const VERSION: Field = ("fairplan_version", "names the program that wrote the result");
const WARNINGS: Field = ("instance.warnings", "remarks about the instance, for its author");
const BACKEND: Field = ("backend", "names the way to the result, which is judged whatever the way");
const METHOD: Field = ("method", "names the way to the result, which is judged whatever the way");
const STATS: Field = ("stats", "measures the run");
const POLICY: Field = ("policy", "names the way to the placement, which is judged whatever the way");
const SEED: Field = ("seed", "names the way to the placement, which is judged whatever the way");
const SEARCH: Field = ("search", "measures the run");
const REACHED: Field = (
    "divisible: that it is reached",
    "its prices prove what tasks divided at will reach at most; `solve` proves what they reach",
);
const SETTINGS: Field = ("settings", "the question that was asked: the answer is checked for it");
const PART: Field = ("target.part", "the question that was asked: the level aimed at is checked");
const COSTS: Field = ("users[].cost", "the question that was asked: what a step costs");
const BOUND: Field = ("target.bound", "the question that was asked: `bound` writes its proof");
const MECHANISM: Field = ("against[].mechanism", "mechanisms are not run again");
const VALUE: Field =
    ("against[].value", "mechanisms are not run again; the regret is checked for this value");
const ONLINE: Field = ("online_bound.mechanism", "mechanisms are not run again");
const ONLINE_VALUE: Field =
    ("online_bound.value", "mechanisms are not run again; the regret is checked for this value");

const TARGET: Field = ("target", "the question that was asked");
const SOLUTION: Field = ("solution_sha256", "`--exported` holds a file against its solution");
const WHOSE: Field = (
    "whose amounts they are",
    "is proved only beside the solution: verify INSTANCE SOLUTION --exported this file; alone they hold in themselves",
);
const NOTES: Field = ("notes", "words for people");
const NAME: Field = ("tenants[].name", "names the tenant for the scheduler");
const EXPORTED_SHARE: Field =
    ("tenants[].share", "the solution says and proves it; that the amounts come to it is checked");
const HEADROOM: Field = (
    "headroom",
    "the question that was asked: that it is free, and takes no less of the shares than is missing, is checked",
);
const ENTITLED: Field = ("tenants[].entitled", "the scheduler's rule is not run again");
const KEPT: Field =
    ("tenants[].kept", "follows from the whole units and where tasks may run, and is not computed again");

const MADE: &str = "needs the catalog: `plan buy` proves it where it makes the plan";
const FOLLOWED: &str = "needs the series: `plan growth` finds it where it follows that";
const QUESTION: &str = "the question that was asked";
const PRICED: &str = "as the catalog states it";

const ADDED_UP: &str = "needs the catalog and the series: `plan growth` proves it where it makes it; only that costs add up is checked here";

const BOUNDED: &str = "needs the catalog: `plan buy` proves it where it makes the plan; checked here is that costs add up and keep to the budget and the bounds, \
     and what follows from those";

/// Of a plan and of growth only what they say of costs is checked.
const OF_PLAN: [Field; 13] = [
    VERSION,
    WARNINGS,
    ("catalog", PRICED),
    ("tasks", QUESTION),
    ("target", QUESTION),
    ("budget", QUESTION),
    ("under_drfh", QUESTION),
    ("groups", MADE),
    ("users", MADE),
    ("part_before", MADE),
    ("purchase", BOUNDED),
    ("obstacle", MADE),
    ("frontier", BOUNDED),
];
const OF_GROWTH: [Field; 13] = [
    VERSION,
    WARNINGS,
    ("series", QUESTION),
    ("scaled_by", QUESTION),
    ("base", QUESTION),
    ("target", QUESTION),
    ("part_at_one", FOLLOWED),
    ("missed", FOLLOWED),
    ("first_missed", FOLLOWED),
    ("tightest", FOLLOWED),
    ("quanta", FOLLOWED),
    ("purchases", ADDED_UP),
    ("costs", ADDED_UP),
];

/// The fields of a format that `verify` takes as they are.
pub fn unchecked(format: &str) -> impl Iterator<Item = UncheckedField> {
    let fields: &[Field] = match format {
        "fairplan.solution.v1" => &[VERSION, WARNINGS, BACKEND, METHOD, STATS],
        "fairplan.placement.v1" => &[VERSION, WARNINGS, POLICY, SEED],
        "fairplan.export.v1" => {
            &[WHOSE, VERSION, TARGET, SOLUTION, HEADROOM, NOTES, NAME, EXPORTED_SHARE, ENTITLED, KEPT]
        }
        "fairplan.plan.v1" => &OF_PLAN,
        "fairplan.growth.v1" => &OF_GROWTH,
        "fairplan.moves.v1" => &[VERSION, WARNINGS, PART, BOUND, COSTS],
        "fairplan.bound.v1" => &[VERSION, WARNINGS, SEARCH, REACHED],
        "fairplan.proportional-bound.v1" | "fairplan.allocated-bound.v1" => &[VERSION, WARNINGS, SEARCH],
        "fairplan.offline.v1" => &[VERSION, WARNINGS, SETTINGS, MECHANISM, VALUE, ONLINE, ONLINE_VALUE],
        _ => &[],
    };
    fields.iter().map(told)
}

fn told((field, reason): &Field) -> UncheckedField {
    UncheckedField { field: (*field).into(), reason: (*reason).into() }
}

/// What is not checked of the bound of a sum, which states what divided tasks reach where that can be compared.
pub fn unchecked_of_sum(document: &ProportionalBoundDocument) -> Vec<UncheckedField> {
    document.divisible.iter().map(|_| told(&REACHED)).collect()
}

/// What is not checked of a placement or a bound on such an instance.
pub fn unchecked_of_whole_tasks(instance: &Instance) -> Vec<UncheckedField> {
    let field = || UncheckedField {
        field: "guarantees: that all are kept".into(),
        reason: "whole tasks may keep less than all that is guaranteed".into(),
    };
    instance.has_guarantees().then(field).into_iter().collect()
}

/// What is not checked of moves on such an instance.
pub fn unchecked_of_moves(instance: &Instance) -> Vec<UncheckedField> {
    let field = || {
        UncheckedField {
        field: "users[].required: that it comes to the level".into(),
        reason: "whom a limit holds need not have it, and leaves more or less of it to the rest of its group; that it is placed, and no more \
                 than the level takes, is checked"
            .into(),
    }
    };
    (instance.has_groups() && instance.has_limits()).then(field).into_iter().collect()
}

/// The fields of a solution that are not checked because it lacks them, and those that could say something else and prove as much.
pub fn unchecked_of_solution(document: &SolutionDocument, instance: &Instance) -> Vec<UncheckedField> {
    let field = |field: String, reason: &str| UncheckedField { field, reason: reason.into() };
    let mut fields = Vec::new();
    let lacks = document.exact.is_some()
        && (document.users.exact_users.len() < document.users.tasks.len()
            || document.users.exact_users.iter().any(Option::is_none));
    if lacks {
        fields.push(field(
            "users[].exact".into(),
            "is not stated of every user: it follows from the levels in fractions",
        ));
    }
    if document.exact.is_some() && document.groups.iter().any(|group| group.exact.is_none()) {
        let reason = "is not stated of every group: it follows from the shares of its members";
        fields.push(field("groups[].exact".into(), reason));
    }
    let levels = document.certificate.levels.as_deref().unwrap_or_default();
    let rows = instance.limit_rows();
    for (k, level) in levels.iter().enumerate().skip(1) {
        for (j, _) in level.limit_prices.iter().enumerate().filter(|(_, price)| **price > 0.0) {
            let is_held_before = |user: User<'_>| {
                !instance.limits_above(user).contains(&j)
                    || document.users.levels.get(user.index().0).is_some_and(|level| (*level as usize) < k)
            };
            if j < rows.len() && instance.users().all(is_held_before) {
                let reason = "of a limit whose users are all held at lower levels: they pay what it is worth, whatever that is";
                fields.push(field(format!("certificate.levels[{k}].limit_prices[{j}]"), reason));
            }
        }
    }
    fields
}

/// What a proof of a solution says nothing of, or no more than roughly.
pub fn unchecked_of_proof(proof: &SolutionProof) -> Vec<UncheckedField> {
    let unseen = match proof.unseen {
        0 => None,
        1 => Some("one user or group is".to_owned()),
        many => Some(format!("{many} users and groups are")),
    };
    let is_hidden = unseen.is_some() || proof.verdicts.iter().any(|verdict| verdict.property == HIDDEN);
    let unseen = unseen.map(|users| UncheckedField {
        field: "what others could leave those who are next to nothing in the sum".into(),
        reason: format!(
            "{users} worth less than the gap of the sum, and the instance is too large, or its numbers are too far apart, for the linear programs that look for it"
        ),
    });
    let prices = is_hidden.then(|| UncheckedField {
        field: "prices that those pay alone who are next to nothing in the sum: their last digits".into(),
        reason: "a price is held to a hundredth of the share that is asked for at it: to a factor of 1.01 to the power of alpha".into(),
    });
    unseen.into_iter().chain(prices).collect()
}

/// The property by which those are judged of whom the gap of a sum says nothing.
const HIDDEN: &str = "hidden-optimality";

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{Draft, DraftQuota, Quota, ResourceId, generate};

    #[test]
    fn guarantees_are_on_the_list_of_whole_tasks_where_there_are_any() {
        let mut draft = Draft::from(&generate::drfh_fig1().unwrap());
        let listed = |draft: &Draft| unchecked_of_whole_tasks(&draft.clone().build().unwrap()).len();
        assert_eq!(listed(&draft), 0);
        let quota = Quota { guarantee: vec![(ResourceId(0), 1_u32.into())], ..Quota::default() };
        draft.quotas = vec![DraftQuota { is_group: false, owner: draft.users[0].id.clone(), quota }];
        assert_eq!(listed(&draft), 1);
    }
}
