//! `fairplan.entitlements.v1`: what production schedulers' rules entitle users to, beside the exact DRFH allocation.

use fairplan_instances::InstanceStamp;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Body, Instance, Solution, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What rules that see the cluster as one pool promise, and what the servers can keep of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entitlements {
    /// The instance.
    pub instance: InstanceStamp,
    /// The rules, in the order in which users list them.
    pub rules: Vec<RuleResult>,
    /// The users, in the instance's order.
    pub users: Vec<EntitledUser>,
}

impl Body for Entitlements {
    const FORMAT: &'static str = "fairplan.entitlements.v1";
}

/// A rule as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleResult {
    /// `yarn-drf`, `kueue` or `volcano-proportion`.
    pub name: String,
    /// The largest part of what it promises that the servers can give to all users at once, 1 if all of it.
    pub kept: f64,
}

/// A user's share of its dominant resource by each rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntitledUser {
    /// The user.
    pub id: String,
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

impl Entitlements {
    /// What rules promise, by name tasks of each user and the part of them that the servers can keep, beside the DRFH solution
    /// of the instance.
    pub fn new(
        instance: &Instance,
        sha256: &str,
        solution: &Solution,
        rules: &[(&str, Vec<f64>, f64)],
    ) -> Self {
        let user = |id: usize| {
            let user = instance.user(UserId(id));
            let drfh_share = solution.allocation.dominant_share(instance, UserId(id));
            let entitlement = |(_, tasks, _): &(&str, Vec<f64>, f64)| {
                let dominant_share = tasks[id] * user.task_share();
                Entitlement { tasks: tasks[id], dominant_share, difference: dominant_share - drfh_share }
            };
            EntitledUser {
                id: user.id().into(),
                drfh_share,
                entitlements: rules.iter().map(entitlement).collect(),
            }
        };
        Self {
            instance: InstanceStamp::new(instance, sha256),
            rules: rules
                .iter()
                .map(|(name, _, kept)| RuleResult { name: (*name).into(), kept: *kept })
                .collect(),
            users: (0..instance.user_count()).map(user).collect(),
        }
    }
}

impl Tabular for Entitlements {
    /// A row a user, three columns a rule.
    fn table(&self) -> Table<'_> {
        let mut columns = Table::of(&self.users).column("user", "user", Kind::Id, |user| &user.id).column(
            "drfh_share",
            "DRFH share",
            Kind::Share,
            |user| user.drfh_share,
        );
        for (k, RuleResult { name, .. }) in self.rules.iter().enumerate() {
            let of =
                |of: fn(&Entitlement) -> f64| move |user: &EntitledUser| user.entitlements.get(k).map(of);
            columns = columns
                .column(
                    format!("{name}_share"),
                    format!("{name} share"),
                    Kind::Share,
                    of(|it| it.dominant_share),
                )
                .column(
                    format!("{name}_difference"),
                    format!("{name}, more than DRFH"),
                    Kind::Change,
                    of(|it| it.difference),
                )
                .column(format!("{name}_tasks"), format!("{name} tasks"), Kind::Number, of(|it| it.tasks));
        }
        columns.done()
    }
}
