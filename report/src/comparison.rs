//! `fairplan.comparison.v1`: placement policies side by side, each with its gap to the best divisible allocation and to
//! the best that whole tasks can do.

use crate::units::{share, thousands};
use fairplan_analysis::Judgement;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{
    AllocatedBracket, Body, CountedGuarantees, Instance, InstanceStamp, KeptGuarantees, PlacedGroup,
    Placement, PlacementFigures, ResourceMap, ShortOwner, User, stated,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Placement policies side by side. The same instance, settings and seed give the same bytes, except for
/// `policies[].seconds`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The instance whose users were placed.
    pub instance: InstanceStamp,
    /// The backend that computed the divisible bound.
    pub backend: String,
    /// The seed of random choices (only the policy `random` makes any).
    pub seed: u64,
    /// Whether users stand in groups: then smallest shares and levels are of users without a group and of groups without a parent, a
    /// group counted as far as its members divide by their weights what it has, above what they are guaranteed themselves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_groups: bool,
    /// Whether anybody's weight is another than 1: shares and levels are over weights.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weighted: bool,
    /// Whether anybody has guarantees, limits or reserves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub under_quotas: bool,
    /// Which guarantees bounds count: they hold for placements that keep these, in whole tasks. Absent where nobody has any.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub counted_guarantees: Option<CountedGuarantees>,
    /// Upper and lower bounds on the value of any placement.
    pub bounds: Bounds,
    /// Upper and lower bounds on how much of a resource any placement takes, with `--objective allocated=RESOURCE`; what else is told
    /// of whole tasks is then left out of `bounds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated: Option<AllocatedBounds>,
    /// The policies in the order asked for, and then the placements made elsewhere.
    pub policies: Vec<ComparedPolicy>,
}

impl Body for Comparison {
    const FORMAT: &'static str = "fairplan.comparison.v1";
}

/// Bounds on the smallest weighted dominant share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// No allocation of divisible tasks is better: the proved bound of the DRFH optimum.
    pub divisible: f64,
    /// The same for the level, of the users that a policy's level counts: no allocation of divisible tasks gives those who still want
    /// more, and whose whole tasks fit some server, a larger smallest share. Absent if there is room for all, and beside limits and
    /// reserves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divisible_level: Option<f64>,
    /// The level that divisible tasks have by DRFH where somebody has a limit, of the same users. It bounds nothing: others have more
    /// where somebody has its limit otherwise. Absent without limits, and where nobody wants more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drfh_level: Option<f64>,
    /// No placement of whole tasks is better. Absent when not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integral_upper: Option<f64>,
    /// Some placement of whole tasks reaches this. Absent when not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integral_lower: Option<f64>,
    /// No placement of whole tasks has a higher level. Absent when not computed, where all may have all that they ask for or their limits
    /// let them have, and where nobody's tasks are limited, nobody has a limit and nobody is in a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integral_level_upper: Option<f64>,
    /// Some placement of whole tasks has this level. Absent where one is known in which nobody wants more, when not computed, and where
    /// nothing tells it from `integral_lower`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integral_level_lower: Option<f64>,
    /// Tasks that wait in the placement behind the lower bound, of users who have a number of them. Absent when not computed, and where
    /// nobody's tasks are limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integral_unplaced: Option<u64>,
}

impl Bounds {
    /// Whether some placement has all tasks of everybody: nobody waits, and nobody without a number of tasks wants more.
    pub fn all_can_be_placed(&self) -> bool {
        self.integral_unplaced == Some(0) && self.integral_level_lower.is_none()
    }
}

/// Bounds on how much of a resource is taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllocatedBounds {
    /// The resource.
    pub resource: String,
    /// All that the servers have of it.
    pub total: f64,
    /// No placement of whole tasks takes more, whichever tasks it refuses.
    pub integral_upper: f64,
    /// Some placement of whole tasks takes this.
    pub integral_lower: f64,
}

/// What one placement takes of the resource.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Allocated {
    /// How much.
    pub amount: f64,
    /// `1 - amount / allocated.integral_upper`; 0 when both are 0. Absent where the placement breaks a rule: no bound holds for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// Whether it is proved that no placement takes more.
    pub proved_optimal: bool,
}

/// One policy's placement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComparedPolicy {
    /// The policy; of a placement made elsewhere the one that it names, or its file.
    pub name: String,
    /// The file of a placement made elsewhere; absent for what was placed now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The smallest weighted dominant share of all users.
    pub value: f64,
    /// The same of those that still want more: that have tasks left, and fit some server at all. Absent if nobody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// Tasks that wait, of users who have a number of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unplaced: Option<u64>,
    /// The part of the whole cluster's capacity that is used, 0 to 1.
    pub utilization: ResourceMap,
    /// Tasks placed, over all users.
    pub tasks: u64,
    /// `1 - value / bounds.divisible`; 0 when both are 0. Absent, as all gaps are, where the placement breaks a rule: no bound holds for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_to_divisible: Option<f64>,
    /// `1 - level / bounds.divisible_level`. Absent when one of them is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_to_divisible_level: Option<f64>,
    /// `1 - level / bounds.integral_level_upper`. Absent when one of them is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_to_integral_level: Option<f64>,
    /// `1 - value / bounds.integral_upper`. Absent when that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_to_integral: Option<f64>,
    /// Whether the level is proved to be the highest that whole tasks can have: the smallest share of those that still want more,
    /// and can have tasks at all. Absent when `bounds.integral_upper` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proved_optimal: Option<bool>,
    /// What it takes of the resource, with `--objective allocated=RESOURCE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated: Option<Allocated>,
    /// Wall-clock seconds of placing, to the microsecond: the only number that differs from run to run.
    /// Absent with `--no-timing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Which guarantees it keeps. Absent where nothing is guaranteed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarantees: Option<KeptGuarantees>,
    /// What the placement leaves, and where it breaks a rule: there where placements made elsewhere are judged. Bounds hold
    /// only for placements that break none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
    /// What each group has, in the order of the instance. Absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<PlacedGroup>,
    /// What each user has, in the order of the instance. With `--per-user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<Vec<ComparedUser>>,
}

/// What a user has under one policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComparedUser {
    /// The user.
    pub id: String,
    /// Its dominant share.
    pub dominant_share: f64,
    /// Its tasks.
    pub tasks: u64,
}

impl AllocatedBounds {
    /// The bounds of a bracket.
    pub fn new(instance: &Instance, bracket: &AllocatedBracket) -> Self {
        Self {
            resource: instance.resources()[bracket.resource.0].clone(),
            total: instance.total(bracket.resource),
            integral_upper: instance.amount(bracket.resource, bracket.upper),
            integral_lower: instance.amount(bracket.resource, bracket.lower(instance)),
        }
    }
}

impl Allocated {
    /// What a placement takes, in whole units, held against the bound; nothing is proved of one that breaks rules.
    pub fn new(instance: &Instance, bracket: &AllocatedBracket, units: u128, is_valid: bool) -> Self {
        let [amount, most] = [units, bracket.upper].map(|units| instance.amount(bracket.resource, units));
        let gap = is_valid.then_some(if amount == most { 0.0 } else { 1.0 - amount / most });
        Self { amount, gap, proved_optimal: is_valid && units >= bracket.upper }
    }
}

impl ComparedUser {
    /// What all users have by a placement, whose figures these are.
    pub fn all(instance: &Instance, placement: &Placement, figures: &PlacementFigures) -> Vec<Self> {
        let shares = figures.dominant_shares.iter().zip(&placement.tasks);
        let user = |(user, (share, tasks)): (User<'_>, (&f64, &u64))| Self {
            id: user.id().into(),
            dominant_share: *share,
            tasks: *tasks,
        };
        instance.users().zip(shares).map(user).collect()
    }
}

/// A row for each policy and user, where the comparison says what users have.
pub fn users_of_policies(comparison: &Comparison) -> Table<'_> {
    let rows = comparison
        .policies
        .iter()
        .flat_map(|policy| policy.users.iter().flatten().map(move |user| (policy.name.as_str(), user)));
    let rows: Vec<(&str, &ComparedUser)> = rows.collect();
    Table::over(rows.len(), move |row| rows[row])
        .column("policy", "policy", Kind::Name, |row| row.0)
        .column("user", "user", Kind::Id, |row| &row.1.id)
        .column("dominant_share", "dominant share", Kind::Share, |row| row.1.dominant_share)
        .column("tasks", "tasks", Kind::Count, |row| row.1.tasks)
        .done()
}

/// A row a group, those of which most tasks wait under some policy first, and a column for each policy: the group's share, and how many
/// of its tasks wait.
pub fn groups_of_policies(comparison: &Comparison) -> Table<'_> {
    let policies = &comparison.policies;
    let groups = policies.first().map_or(&[][..], |policy| &policy.groups);
    let of = move |policy: usize, group: usize| policies[policy].groups.get(group);
    let waiting = |group: usize| {
        let waiting = |policy: usize| of(policy, group).and_then(|group| group.waiting).unwrap_or(0);
        (0..policies.len()).map(waiting).max()
    };
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|group| std::cmp::Reverse(waiting(*group)));
    let mut columns = Table::over(order.len(), move |row| order[row])
        .column("group", "group", Kind::Id, move |group| groups[group].id.as_str())
        .column("parent", "inside", Kind::Name, move |group| groups[group].parent.as_ref());
    for (k, policy) in policies.iter().enumerate() {
        let told = move |group: usize| {
            let group = of(k, group)?;
            let waits = group.waiting.filter(|waiting| *waiting > 0);
            let waits = waits.map_or_else(String::new, |waiting| format!(" ({} wait)", thousands(waiting)));
            Some(format!("{}{waits}", share(group.share)))
        };
        columns = columns
            .column(&*policy.name, &*policy.name, Kind::Share, move |group| {
                of(k, group).map(|group| group.share)
            })
            .said(told);
    }
    columns.done()
}

/// What people read where a gap would be of a placement that breaks rules or guarantees, of which bounds say nothing.
const NO_GAP: &str = "breaks rules";
const ABOVE: &str = "breaks guarantees";

impl ComparedPolicy {
    /// Whether it was made elsewhere and breaks a rule, so that no bound holds for it.
    pub fn breaks_rules(&self) -> bool {
        self.judgement.as_ref().is_some_and(|judged| !judged.is_valid())
    }

    /// What people read instead of a gap to what whole tasks can reach.
    fn of_gap(&self, gap: Option<f64>) -> Option<&'static str> {
        match gap {
            _ if self.breaks_rules() => Some(NO_GAP),
            Some(gap) if gap <= 0.0 && self.short().is_some() => Some(ABOVE),
            _ => (self.proved_optimal == Some(true)).then_some("proved optimal"),
        }
    }

    /// The same where the placement breaks a rule: no bound holds for it.
    pub fn without_gaps(self) -> Self {
        let nothing = (None, None, None, None);
        let mut row = self;
        (row.gap_to_divisible, row.gap_to_divisible_level, row.gap_to_integral, row.gap_to_integral_level) =
            nothing;
        row
    }

    /// Who is short by the most of what it is guaranteed.
    pub fn short(&self) -> Option<&ShortOwner> {
        self.guarantees.as_ref()?.short.as_ref()
    }

    /// What a policy's placement comes to, held against the bounds.
    pub fn new(
        name: &str,
        instance: &Instance,
        figures: &PlacementFigures,
        bounds: Bounds,
        proved_optimal: Option<bool>,
        seconds: Option<f64>,
    ) -> Self {
        let part = |value: f64, bound: f64| if value == bound { 0.0 } else { 1.0 - value / bound };
        let gap = |bound: f64| part(figures.value, bound);
        Self {
            name: name.into(),
            file: None,
            value: figures.value,
            level: figures.level,
            unplaced: Some(figures.unplaced),
            utilization: ResourceMap::new(instance, figures.utilization.iter().copied()),
            tasks: figures.tasks,
            gap_to_divisible: Some(gap(bounds.divisible)),
            gap_to_divisible_level: figures
                .level
                .zip(bounds.divisible_level)
                .map(|(level, most)| part(level, most)),
            gap_to_integral_level: figures
                .level
                .zip(bounds.integral_level_upper)
                .map(|(level, most)| part(level, most)),
            gap_to_integral: bounds.integral_upper.map(gap),
            proved_optimal,
            allocated: None,
            seconds: seconds.map(|seconds| (seconds * 1e6).round() / 1e6),
            guarantees: figures.guarantees.clone(),
            judgement: None,
            groups: figures.groups.clone(),
            users: None,
        }
    }
}

impl Tabular for Comparison {
    /// A row a policy, in the order asked for; the utilization of each resource is a column of its own.
    fn table(&self) -> Table<'_> {
        let mut columns = Table::of(&self.policies)
            .column("name", "policy", Kind::Id, |policy| &policy.name)
            .column("value", "smallest share", Kind::Share, |policy| policy.value)
            .column("level", "level of who wants more", Kind::Share, |policy| policy.level)
            .column("tasks", "tasks", Kind::Count, |policy| policy.tasks)
            .column("unplaced", "waiting", Kind::Count, |policy| policy.unplaced)
            .column("gap_to_divisible", "below divisible", Kind::Part, |policy| policy.gap_to_divisible)
            .said(|policy| policy.breaks_rules().then_some(NO_GAP))
            .column("gap_to_divisible_level", "below that of divisible tasks", Kind::Part, |policy| {
                policy.gap_to_divisible_level
            })
            .said(|policy| (policy.breaks_rules() && policy.level.is_some()).then_some(NO_GAP))
            .column("gap_to_integral_level", "below that of whole tasks", Kind::Part, |policy| {
                policy.gap_to_integral_level
            })
            .said(|policy| policy.of_gap(policy.gap_to_integral_level))
            .column("gap_to_integral", "below whole-task bound", Kind::Part, |policy| policy.gap_to_integral)
            .said(|policy| policy.of_gap(policy.gap_to_integral))
            .column("proved_optimal", "proved optimal", Kind::Answer, |policy| policy.proved_optimal)
            .column("allocated", "taken", Kind::Number, |policy| policy.allocated.map(|taken| taken.amount))
            .column("gap_to_allocated", "below the most", Kind::Part, |policy| {
                policy.allocated.and_then(|taken| taken.gap)
            })
            .said(|policy| match policy.allocated {
                Some(taken) if taken.proved_optimal => Some("proved optimal"),
                Some(_) if policy.breaks_rules() => Some(NO_GAP),
                _ => None,
            })
            .column("guarantees_kept", "guarantees kept", Kind::Count, |policy| {
                policy.guarantees.as_ref().map(|sure| sure.kept)
            })
            .column("short_most", "short by the most", Kind::Name, |policy| {
                policy.short().map(|short| short.owner.as_str())
            })
            .column("short_part", "has of its guarantee", Kind::Part, |policy| {
                policy.short().map(|short| short.part)
            })
            .column("seconds", "seconds", Kind::Seconds, |policy| policy.seconds);
        let resources = self.policies.first().map_or(&[][..], |policy| &policy.utilization.0);
        for (r, (name, _)) in resources.iter().enumerate() {
            let used = move |policy: &ComparedPolicy| policy.utilization.0.get(r).map(|(_, part)| *part);
            columns = columns.column(format!("utilization_{name}"), format!("{name} used"), Kind::Part, used);
        }
        let mut hidden = Vec::new();
        if self.policies.iter().all(|policy| policy.guarantees.is_none()) {
            hidden.extend(["guarantees_kept", "short_most", "short_part"]);
        }
        if self.allocated.is_none() {
            hidden.extend(["allocated", "gap_to_allocated"]);
        }
        let hidden = &hidden[..];
        if self.policies.iter().all(|policy| policy.judgement.is_none()) {
            return columns.done().without(hidden);
        }
        let at_least = |policy: &ComparedPolicy| {
            policy.judgement.as_ref().is_some_and(|judged| judged.stranded_at_least)
        };
        let at_least = if self.policies.iter().any(at_least) { ", at least" } else { "" };
        for (name, _) in resources {
            let stranded = move |policy: &ComparedPolicy| {
                policy.judgement.as_ref().map(|judged| judged.stranded_part(name))
            };
            let title = format!("{name} stranded{at_least}");
            columns = columns.column(format!("stranded_{name}"), title, Kind::Part, stranded);
        }
        let judged =
            |of: fn(&Judgement) -> u64| move |policy: &ComparedPolicy| policy.judgement.as_ref().map(of);
        columns
            .column("empty_servers", "empty servers", Kind::Count, judged(|judged| judged.empty_servers))
            .column(
                "servers_needed_at_least",
                "servers needed at least",
                Kind::Count,
                judged(|judged| judged.servers_needed_at_least),
            )
            .column("emptied_servers", "can be emptied", Kind::Count, |policy| {
                policy.judgement.as_ref().and_then(|judged| judged.emptied_servers)
            })
            .column("emptied_servers_at_most", "at most", Kind::Count, |policy| {
                policy.judgement.as_ref().and_then(|judged| judged.emptied_servers_at_most)
            })
            .column("emptied_by_moving", "by moving", Kind::Count, |policy| {
                policy.judgement.as_ref().and_then(|judged| judged.emptied_by_moving)
            })
            .column(
                "over_committed_servers",
                "over-committed servers",
                Kind::Count,
                judged(Judgement::over_committed_servers),
            )
            .done()
            .without(hidden)
    }
}
