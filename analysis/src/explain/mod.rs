//! Why a user has its share: what froze it, what it pays, what would change it.
//!
//! What cannot be read off the solution is asked of the solver: the same instance with a smaller demand, or with more
//! or less of a capacity.

mod group;
mod nothing;
mod quotas;
mod ranges;

use crate::tolerance::{FULL, NOTICED};
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{
    Body, Certificate, ClassId, Decimal, Draft, GroupResult, GuaranteeResult, Instance, InstanceError,
    InstanceStamp, LimitResult, LimitedBy, ResourceId, Solution, Solver, Status, User, UserId, group_results,
    waiting,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use group::{GroupExplanation, GroupHolding, Member, Sibling, explain_group};
pub use ranges::PriceRange;
pub(crate) use ranges::PricedCapacity;
pub(crate) use ranges::range_of_price;

/// Why one user has its share, and what would change it. The same instance and settings give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// The instance.
    pub instance: InstanceStamp,
    /// The objective, by its name on the command line.
    pub objective: String,
    /// The user's id.
    pub user: String,
    /// The resource of which one task takes the largest part of the whole cluster.
    pub dominant_resource: String,
    /// The part of the whole cluster's dominant resource that the user gets.
    pub dominant_share: f64,
    /// The same over its weight.
    pub weighted_share: f64,
    /// How many tasks it gets.
    pub tasks: f64,
    /// How many of its tasks wait. Absent where it has no number of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<f64>,
    /// What limits it.
    pub limited_by: LimitedBy,
    /// The groups that it is in, its own first: what the members of each have together, and what limits them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupResult>,
    /// The level at which it is frozen, counted from 0; in groups that at the root. Absent where the objective has no levels or
    /// none reaches it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<LevelReached>,
    /// The full, priced capacities that keep it from more: it needs one of them on every class that it can use.
    pub held_by: Vec<Holding>,
    /// The limits above it, its own and those of its groups, and what others reserve, that are used up or priced at its level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitResult>,
    /// What it and the groups that it is in are guaranteed, and have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guarantees: Vec<GuaranteeResult>,
    /// Every server class, as this user sees it.
    pub server_classes: Vec<ClassView>,
    /// What happens when one of its tasks needs less of one resource.
    pub smaller_demands: Vec<SmallerDemand>,
    /// How far the prices it pays hold. Empty where they change with every unit (objectives that are sums), and in groups where
    /// others are held at lower levels: what these leave moves the level too.
    pub price_ranges: Vec<PriceRange>,
    /// The smallest set of facts that leaves the user without any share. Empty when it has one.
    pub why_nothing: Vec<String>,
    /// The questions that were not asked, and why if it was not for want of time.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_asked: Vec<String>,
}

impl Body for Explanation {
    const FORMAT: &'static str = "fairplan.explanation.v1";
}

/// A level of the lexicographic max-min.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LevelReached {
    /// Its position, from 0.
    pub position: usize,
    /// The weighted share of the users frozen there; in groups, to which each child of the root is filled there, at most.
    pub value: f64,
}

/// A full capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Holding {
    /// The server class.
    pub class: String,
    /// The resource.
    pub resource: String,
    /// Increase of the user's level (or of the sum) per unit.
    pub price: f64,
}

/// A server class as a user sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassView {
    /// The server class.
    pub id: String,
    /// The kind of its tasks that the rest is about, where it has kinds: each has every class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Whether the user's tasks can run there.
    pub usable: bool,
    /// What a whole share (of kinds, this kind's part of it) would cost there at the prices of its level. Absent where it cannot run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_of_share: Option<f64>,
    /// Whether no class is cheaper for it.
    pub cheapest: bool,
    /// The tasks it has there; of kinds, those of which this kind is there.
    pub tasks: f64,
}

/// What a smaller demand would change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmallerDemand {
    /// The resource.
    pub resource: String,
    /// The kind of its tasks that needs less, where it has kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// One task's demand now; of kinds, one piece's.
    pub demand: f64,
    /// One unit less; half, where that would leave nothing.
    pub smaller: f64,
    /// The user's own tasks then.
    pub own_tasks: f64,
    /// How many other users do more work then.
    pub gain: usize,
    /// How many other users do less.
    pub lose: usize,
    /// The other user that gains the largest part. Absent when nobody gains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_gain: Option<Gain>,
}

/// A user that gains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gain {
    /// The user.
    pub user: String,
    /// By which part of its work.
    pub part: f64,
}

impl Tabular for Explanation {
    /// A row a server class.
    fn table(&self) -> Table<'_> {
        self.classes()
    }
}

impl Explanation {
    /// The server classes as this user sees them.
    pub fn classes(&self) -> Table<'_> {
        let yes = |is: bool| if is { "yes" } else { "" };
        Table::of(&self.server_classes)
            .column("class", "server class", Kind::Id, |class| &class.id)
            .column("kind", "kind", Kind::Name, |class| class.kind.as_ref())
            .column("usable", "can run there", Kind::Answer, |class| class.usable)
            .said(move |class| Some(yes(class.usable)))
            .column("tasks", "tasks there", Kind::Number, |class| class.tasks)
            .column("cost_of_share", "cost of a whole share", Kind::Number, |class| class.cost_of_share)
            .column("cheapest", "cheapest", Kind::Answer, |class| class.cheapest)
            .said(move |class| Some(yes(class.cheapest)))
            .done()
            .without(self.without_kinds())
    }

    /// What tables leave out where the user has no kinds of tasks.
    fn without_kinds(&self) -> &'static [&'static str] {
        if self.server_classes.iter().any(|class| class.kind.is_some()) { &[] } else { &["kind"] }
    }

    /// The full capacities that keep it from more.
    pub fn holding(&self) -> Table<'_> {
        Table::of(&self.held_by)
            .column("class", "server class", Kind::Id, |held| &held.class)
            .column("resource", "resource", Kind::Name, |held| &held.resource)
            .column("price", "price", Kind::Number, |held| held.price)
            .done()
    }

    /// How far prices hold.
    pub fn ranges(&self) -> Table<'_> {
        Table::of(&self.price_ranges)
            .column("class", "server class", Kind::Id, |range| &range.class)
            .column("resource", "resource", Kind::Name, |range| &range.resource)
            .column("price", "price", Kind::Number, |range| range.price)
            .column("capacity", "capacity", Kind::Number, |range| range.capacity)
            .column("least", "holds from", Kind::Number, |range| range.least)
            .column("most", "to", Kind::Number, |range| range.most)
            .done()
    }

    /// What smaller demands would change.
    pub fn smaller(&self) -> Table<'_> {
        let most = |change: &SmallerDemand| change.largest_gain.as_ref().map(|gain| gain.user.clone());
        Table::of(&self.smaller_demands)
            .column("resource", "resource", Kind::Name, |change| &change.resource)
            .column("kind", "kind", Kind::Name, |change| change.kind.as_ref())
            .column("demand", "a task needs", Kind::Number, |change| change.demand)
            .column("smaller", "if it needed", Kind::Number, |change| change.smaller)
            .column("own_tasks", "its tasks then", Kind::Number, |change| change.own_tasks)
            .column("gain", "others that gain", Kind::Count, |change| change.gain)
            .column("lose", "others that lose", Kind::Count, |change| change.lose)
            .column("largest_gain", "gains the most", Kind::Id, most)
            .column("part", "by", Kind::Part, |change| change.largest_gain.as_ref().map(|gain| gain.part))
            .done()
            .without(self.without_kinds())
    }
}

/// Explains `user` in `solution`, which `solver` found for `instance`; that comes with its hash. What the solver has no time for
/// ([`InstanceError::OutOfTime`]) is not asked.
pub fn explain(
    instance: &Instance,
    sha256: &str,
    solution: &Solution,
    solver: &dyn Solver,
    user: UserId,
) -> Result<Explanation, InstanceError> {
    let view = instance.user(user);
    let levels = solution.certificate.levels();
    let frozen_at = solution.certificate.level_of().map(|level_of| level_of[user.0] as usize);
    let level = frozen_at.and_then(|k| Some(LevelReached { position: k, value: levels.get(k)?.value }));
    let prices = match frozen_at {
        Some(k) => levels.get(k).map(|level| level.prices.as_slice()),
        None => solution.certificate.prices().first().copied(),
    };
    let of_limits = match &solution.certificate {
        Certificate::Total(total) => &total.limit_prices[..],
        _ => frozen_at.and_then(|k| levels.get(k)).map_or(&[][..], |level| &level.limit_prices),
    };
    let limited_by = solution.limited_by[user.0];
    let (held_by, server_classes) = match prices.filter(|_| limited_by != LimitedBy::NoUsableClass) {
        Some(prices) => {
            let seen = quotas::prices_seen(view, prices, of_limits);
            let held_by = full(instance, solution, holdings(view, instance, prices), limited_by);
            (held_by, class_views(view, instance, solution, &seen))
        }
        None => (Vec::new(), class_views(view, instance, solution, &[])),
    };
    let mut not_asked = Vec::new();
    let smaller_demands = smaller_demands(instance, solution, solver, user, &mut not_asked)?;
    let price_ranges = match level {
        Some(level)
            if limited_by == LimitedBy::Capacity && !(instance.has_groups() && level.position > 0) =>
        {
            ranges::price_ranges(instance, solution, solver, level.position, &held_by, &mut not_asked)?
        }
        _ => Vec::new(),
    };
    let share = solution.allocation.dominant_share(instance, user);
    Ok(Explanation {
        instance: InstanceStamp::new(instance, sha256),
        objective: solution.objective.to_string(),
        user: view.id().into(),
        dominant_resource: instance.resources()[view.dominant_resource().0].clone(),
        dominant_share: share,
        weighted_share: share / view.weight().to_f64(),
        tasks: solution.allocation.tasks(user),
        waiting: waiting(instance, solution, user),
        limited_by,
        groups: groups_above(instance, solution, view),
        level,
        held_by: (held_by.iter())
            .map(|held| Holding {
                class: instance.classes()[held.class.0].id.clone(),
                resource: instance.resources()[held.resource.0].clone(),
                price: held.price,
            })
            .collect(),
        limits: quotas::limits_above(view, solution, of_limits),
        guarantees: quotas::guarantees_of(instance, solution, view.group(), Some(user)),
        server_classes,
        smaller_demands,
        price_ranges,
        why_nothing: if share > 0.0 { Vec::new() } else { nothing::why(view, instance, limited_by) },
        not_asked,
    })
}

/// The groups that a user is in, its own first.
fn groups_above(instance: &Instance, solution: &Solution, user: User<'_>) -> Vec<GroupResult> {
    let Some(own) = user.group() else { return Vec::new() };
    let all = group_results(instance, solution);
    let upwards = std::iter::successors(Some(own), |group| instance.groups()[group.0].parent);
    upwards.map(|group| all[group.0].clone()).collect()
}

/// The priced capacities that the user (of kinds, any of its kinds) needs on the classes it can use.
fn holdings(user: User<'_>, instance: &Instance, prices: &[f64]) -> Vec<PricedCapacity> {
    let m = instance.resources().len();
    let needs = |holding: &PricedCapacity| {
        let mut kinds = user.kinds();
        kinds.any(|kind| kind.can_use(holding.class) && !kind.piece()[holding.resource.0].is_zero())
    };
    (0..instance.classes().len())
        .map(ClassId)
        .flat_map(|class| (0..m).map(move |r| (class, ResourceId(r))))
        .map(|(class, resource)| PricedCapacity { class, resource, price: prices[class.0 * m + resource.0] })
        .filter(|holding| holding.price > 0.0 && needs(holding))
        .collect()
}

/// Those of priced capacities that are used up; all of them where none is that holds whom capacity limits. What is priced at a level is; but a
/// sum is proved as a whole, and what rounding leaves of the price of idle capacity is no price.
fn full(
    instance: &Instance,
    solution: &Solution,
    held_by: Vec<PricedCapacity>,
    limited_by: LimitedBy,
) -> Vec<PricedCapacity> {
    let Certificate::Total(_) = &solution.certificate else { return held_by };
    let (m, loads) = (instance.resources().len(), solution.allocation.loads(instance));
    let is_used_up = |held: &PricedCapacity| {
        let class = &instance.classes()[held.class.0];
        let all = class.capacity[held.resource.0].to_f64() * class.count as f64;
        is_full(loads[held.class.0 * m + held.resource.0], all)
    };
    let full: Vec<PricedCapacity> = held_by.iter().copied().filter(is_used_up).collect();
    if full.is_empty() && limited_by == LimitedBy::Capacity { held_by } else { full }
}

fn is_full(load: f64, capacity: f64) -> bool {
    load >= FULL * capacity
}

fn class_views(user: User<'_>, instance: &Instance, solution: &Solution, prices: &[f64]) -> Vec<ClassView> {
    user.kinds().flat_map(|kind| kind_views(kind, instance, solution, prices)).collect()
}

/// The classes as a kind of the user's tasks sees them; its tasks, where it has no kinds.
fn kind_views(
    kind: fairplan_instances::Kind<'_>,
    instance: &Instance,
    solution: &Solution,
    prices: &[f64],
) -> Vec<ClassView> {
    let (user, m) = (kind.user(), instance.resources().len());
    // Where all servers are one, nothing is on any class.
    let split = match solution.allocation.is_pooled() {
        true => &[],
        false => solution.allocation.split_of_kind(kind.index()),
    };
    let on = |class: ClassId| {
        split.get(class.0).map_or(0.0, |part| solution.allocation.tasks(user.index()) * part)
    };
    let mut views: Vec<ClassView> = (0..instance.classes().len())
        .map(ClassId)
        .map(|class| {
            let row = prices.get(class.0 * m..(class.0 + 1) * m).unwrap_or_default();
            let task: f64 = kind.demand_doubles().iter().zip(row).map(|(demand, price)| demand * price).sum();
            let cost = || task / (user.task_share() * kind.rule().rate(class).to_f64());
            ClassView {
                id: instance.classes()[class.0].id.clone(),
                kind: kind.id().map(str::to_owned),
                usable: kind.can_use(class),
                cost_of_share: kind.can_use(class).then(cost),
                cheapest: false,
                tasks: on(class),
            }
        })
        .collect();
    let least = views.iter().filter_map(|view| view.cost_of_share).fold(f64::INFINITY, f64::min);
    for view in &mut views {
        view.cheapest = view.cost_of_share.is_some_and(|cost| cost <= least * (1.0 + NOTICED));
    }
    views
}

fn smaller_demands(
    instance: &Instance,
    solution: &Solution,
    solver: &dyn Solver,
    user: UserId,
    not_asked: &mut Vec<String>,
) -> Result<Vec<SmallerDemand>, InstanceError> {
    let draft = Draft::from(instance);
    let mut changes = Vec::new();
    let kinds = instance.user(user).kinds().enumerate();
    let needed =
        kinds.flat_map(|(k, kind)| kind.piece().iter().enumerate().map(move |(r, demand)| (k, r, demand)));
    for (k, r, demand) in needed.filter(|(_, _, demand)| !demand.is_zero()) {
        let mut changed = draft.clone();
        let Some(smaller) = one_less(*demand) else { continue };
        let of_user = &mut changed.users[user.0];
        match of_user.kinds.get_mut(k) {
            Some(kind) => kind.demand[r] = smaller,
            None => of_user.demand[r] = smaller,
        }
        let kind = draft.users[user.0].kinds.get(k).map(|kind| kind.id.clone());
        let of_kind = kind.as_ref().map_or_else(String::new, |kind| format!(" of kind {kind}"));
        let Ok(variant) = changed.build() else { continue };
        let answer = match solver.solve(&variant, solution.objective) {
            Err(InstanceError::OutOfTime) => {
                not_asked
                    .push(format!("what a smaller demand of {}{of_kind} changes", instance.resources()[r]));
                continue;
            }
            // What is guaranteed in tasks of another size may be more than fits.
            Err(InstanceError::Guarantees(_)) => {
                let resource = &instance.resources()[r];
                let what = format!(
                    "what a smaller demand of {resource}{of_kind} changes: guarantees cannot be kept then"
                );
                not_asked.push(what);
                continue;
            }
            answer => answer?,
        };
        if answer.status != Status::Optimal {
            continue;
        }
        let part = |other: UserId| {
            let work = |instance: &Instance, of: &Solution| {
                of.allocation.dominant_share(instance, other) / instance.user(other).task_share()
            };
            let (before, after) = (work(instance, solution), work(&variant, &answer));
            if before > 0.0 { after / before - 1.0 } else { after }
        };
        let others = || (0..instance.user_count()).map(UserId).filter(|other| *other != user);
        changes.push(SmallerDemand {
            resource: instance.resources()[r].clone(),
            kind,
            demand: demand.to_f64(),
            smaller: smaller.to_f64(),
            own_tasks: answer.allocation.tasks(user),
            gain: others().filter(|other| part(*other) > NOTICED).count(),
            lose: others().filter(|other| part(*other) < -NOTICED).count(),
            largest_gain: others()
                .map(|other| (other, part(other)))
                .filter(|(_, gain)| *gain > NOTICED)
                .reduce(|most, next| if next.1 > most.1 { next } else { most })
                .map(|(other, part)| Gain { user: instance.user(other).id().into(), part }),
        });
    }
    Ok(changes)
}

/// One unit less; a hundredth less in three digits where that is more, as of bytes; half, where the demand is one unit or less.
fn one_less(demand: Decimal) -> Option<Decimal> {
    let half = || format!("{:.8e}", demand.to_f64() / 2.0).parse().ok();
    if demand.to_f64() > 100.0 {
        return format!("{:.2e}", demand.to_f64() * 0.99).parse().ok();
    }
    match (demand.to_f64() > 1.0, demand.scaled(demand.exponent().min(0))) {
        (true, Some(units)) => {
            let exponent = demand.exponent().min(0);
            let one = Decimal::ONE.scaled(exponent)?;
            Decimal::new(u64::try_from(units - one).ok()?, i32::from(exponent)).ok()
        }
        _ => half(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capacity_of_a_sum_is_full_just_inside_the_tolerance_and_not_just_outside() {
        let idle = |part: f64| 7.0 * (1.0 - part * (1.0 - FULL));
        assert!(is_full(idle(0.999), 7.0) && !is_full(idle(1.001), 7.0));
    }
}
