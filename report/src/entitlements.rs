//! `fairplan.entitlements.v1`: what production schedulers' rules entitle users to, beside the exact DRFH allocation.

use crate::stamp::InstanceStamp;
use fairplan_instances::{Body, Document, Instance, Solution, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What rules that see the cluster as one pool promise, and what the servers can keep of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Entitlements")]
pub struct EntitlementsBody<'a> {
    /// The instance.
    #[serde(borrow)]
    pub instance: InstanceStamp<'a>,
    /// The rules, in the order in which users list them.
    #[serde(borrow)]
    pub rules: Vec<RuleResult<'a>>,
    /// The users, in the instance's order.
    #[serde(borrow)]
    pub users: Vec<EntitledUser<'a>>,
}

impl Body for EntitlementsBody<'_> {
    const FORMAT: &'static str = "fairplan.entitlements.v1";
}

/// The whole file.
pub type EntitlementsDocument<'a> = Document<EntitlementsBody<'a>>;

/// A rule as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleResult<'a> {
    /// `yarn-drf`, `kueue` or `volcano-proportion`.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// The largest part of what it promises that the servers can give to all users at once, 1 if all of it.
    pub kept: f64,
}

/// A user's share of its dominant resource by each rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntitledUser<'a> {
    /// The user.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// Of the cluster's total of its dominant resource, what exact DRFH over the servers gives it.
    pub drfh_share: f64,
    /// One entry a rule.
    pub entitlements: Vec<Entitlement>,
}

/// What a rule entitles a user to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entitlement {
    /// Tasks, in fractions.
    pub tasks: f64,
    /// Of the cluster's total of the user's dominant resource.
    pub dominant_share: f64,
    /// By how much that is more than DRFH gives.
    pub difference: f64,
}

/// What a rule promises: a name, tasks of each user, and what is kept.
pub struct RuleOutcome {
    /// The rule's name.
    pub name: &'static str,
    /// Tasks of each user, in the instance's order.
    pub tasks: Vec<f64>,
    /// The largest part that the servers can give to all at once.
    pub kept: f64,
}

/// The result of an instance with its DRFH solution and the rules' outcomes.
pub fn entitlements_document<'a>(
    instance: &'a Instance,
    sha256: &'a str,
    solution: &Solution,
    rules: &[RuleOutcome],
) -> EntitlementsDocument<'a> {
    let user = |id: usize| {
        let user = instance.user(UserId(id));
        let drfh_share = solution.allocation.dominant_share(instance, UserId(id));
        let entitlement = |rule: &RuleOutcome| {
            let dominant_share = rule.tasks[id] * user.task_share();
            Entitlement { tasks: rule.tasks[id], dominant_share, difference: dominant_share - drfh_share }
        };
        EntitledUser {
            id: user.id().into(),
            drfh_share,
            entitlements: rules.iter().map(entitlement).collect(),
        }
    };
    Document::new(EntitlementsBody {
        instance: InstanceStamp::new(instance, sha256),
        rules: rules.iter().map(|rule| RuleResult { name: rule.name.into(), kept: rule.kept }).collect(),
        users: (0..instance.user_count()).map(user).collect(),
    })
}
