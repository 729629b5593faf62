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
    pub users: Vec<Entitled>,
    /// The groups, in the instance's order, all members together. Absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Entitled>,
}

impl Body for Entitlements {
    const FORMAT: &'static str = "fairplan.entitlements.v1";
}

/// A rule as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleResult {
    /// `yarn-drf`, `hdrf`, `kueue` or `volcano-proportion`.
    pub name: String,
    /// The largest part of what it promises that the servers can give to all users at once, 1 if all of it.
    pub kept: f64,
}

/// What a user has of its dominant resource by each rule; of a group the sum of its members' shares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entitled {
    /// The user or group.
    pub id: String,
    /// The group that it is in. Absent for a child of the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Of the cluster's total of its dominant resource, what exact DRFH over the servers gives it.
    pub drfh_share: f64,
    /// One entry a rule.
    pub entitlements: Vec<Entitlement>,
}

/// What a rule entitles a user, or the members of a group together, to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entitlement {
    /// Tasks, in fractions.
    pub tasks: f64,
    /// Of the cluster's total of a user's dominant resource.
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
            Entitled {
                id: user.id().into(),
                group: user.group().map(|group| instance.groups()[group.0].id.clone()),
                drfh_share,
                entitlements: rules.iter().map(entitlement).collect(),
            }
        };
        let users: Vec<Entitled> = (0..instance.user_count()).map(user).collect();
        let groups = groups(instance, &users, rules.len());
        Self {
            instance: InstanceStamp::new(instance, sha256),
            rules: rules
                .iter()
                .map(|(name, _, kept)| RuleResult { name: (*name).into(), kept: *kept })
                .collect(),
            users,
            groups,
        }
    }
}

/// What the members of each group have together.
fn groups(instance: &Instance, users: &[Entitled], rules: usize) -> Vec<Entitled> {
    let nothing = (0.0, vec![Entitlement { tasks: 0.0, dominant_share: 0.0, difference: 0.0 }; rules]);
    let of_user = |i: usize| (users[i].drfh_share, users[i].entitlements.clone());
    let add = |a: Entitlement, b: Entitlement| Entitlement {
        tasks: a.tasks + b.tasks,
        dominant_share: a.dominant_share + b.dominant_share,
        difference: a.difference + b.difference,
    };
    let sums = instance.of_groups(nothing, of_user, |a, b| {
        (a.0 + b.0, a.1.into_iter().zip(b.1).map(|(a, b)| add(a, b)).collect())
    });
    let groups = instance.groups().iter().zip(sums);
    groups
        .map(|(group, (drfh_share, entitlements))| Entitled {
            id: group.id.clone(),
            group: group.parent.map(|parent| instance.groups()[parent.0].id.clone()),
            drfh_share,
            entitlements,
        })
        .collect()
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
            let of = |of: fn(&Entitlement) -> f64| move |user: &Entitled| user.entitlements.get(k).map(of);
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
