//! What one more server of each class is worth: the same cluster with it solved again, beside what the prices say.
//!
//! The level, the smallest weighted share of those that want more today, is measured by today's servers throughout, as prices
//! are. It is a concave function of every capacity, and prices never say less than a server is worth. Whoever has all its tasks with one server
//! more counts with these: others that want more may have more all the time. In groups it is the level of a group, to which prices belong only if nobody is held below it: what a member that is held leaves goes to its
//! siblings first.

use super::group_change::{self, GroupChange, most_changed};
use super::standing::Standing;
use super::variants::solved_near;
use super::work::{change, part_changed};
use crate::explain::{PricedCapacity, range_of_price};
use crate::tolerance::{NO_GAIN, NO_WORTH, NOTICED};
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{
    Body, ClassId, Decimal, Draft, Instance, InstanceError, InstanceStamp, Level, LimitedBy, ResourceId,
    Solution, Solver, UserId,
};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What one more server of each class is worth under DRFH, shares measured by today's servers throughout. The same
/// instance gives the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Worth {
    /// The instance.
    pub instance: InstanceStamp,
    /// The smallest weighted dominant share now, as in a solution: of users without a group, and of groups.
    pub value: f64,
    /// The same of those that still want more, which is what gains add to, where it is more.
    #[serde(default, alias = "limited_by_capacity", skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// How many users still want more, and no limit holds them. Absent in results of versions that did not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanting: Option<usize>,
    /// Every server class, the most valuable first.
    pub server_classes: Vec<ServerWorth>,
}

impl Body for Worth {
    const FORMAT: &'static str = "fairplan.worth.v1";
}

impl Worth {
    /// What gains add to: the smallest share of those that still want more.
    pub fn raised(&self) -> f64 {
        self.level.unwrap_or(self.value)
    }

    /// Whether any group gains or loses by a server.
    pub fn has_groups(&self) -> bool {
        self.server_classes.iter().any(|class| !class.groups.is_empty())
    }

    /// A row for each class and group that has more or less with one more server of it.
    pub fn groups(&self) -> Table<'_> {
        let classes = self.server_classes.iter();
        let rows = classes.flat_map(|class| class.groups.iter().map(|group| (&*class.id, group)));
        group_change::table_by("class", "one more of", rows.collect())
    }
}

/// One more server of a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerWorth {
    /// The class.
    pub id: String,
    /// How many servers it has.
    pub count: u64,
    /// By how much the smallest weighted share of those that want more today rises with one more, solved again in shares of today's servers. Who solves the cluster with
    /// that server afresh measures shares by all servers with it, which may divide them otherwise: `plan diff` tells that.
    pub gain: f64,
    /// By how much it rises by the prices: never less, unless limits hold somebody or members of groups leave what they have no use for.
    pub by_price: f64,
    /// The groups whose members have more or less together then, those that gain the largest part first, at most 20: in
    /// dominant shares of today's servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupChange>,
    /// How many users do more work then, shares measured by today's servers.
    pub gaining: usize,
    /// How many do less, measured so.
    pub losing: usize,
    /// The user whose work grows by the largest part. Absent where nobody gains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_gain: Option<GainingUser>,
    /// One server's amount more of each resource alone, spread over the servers of the class.
    pub resources: Vec<ResourceWorth>,
}

impl ServerWorth {
    /// The group that gains the largest part. `None` where none gains.
    pub fn largest_gain_of_groups(&self) -> Option<&GroupChange> {
        self.groups.first().filter(|group| group.part.is_none_or(|part| part > 0.0))
    }
}

/// A user that gains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GainingUser {
    /// The user's id.
    pub id: String,
    /// By which part its work grows. Absent where it had nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<f64>,
}

/// More of one resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceWorth {
    /// The resource.
    pub resource: String,
    /// How much of it one server has.
    pub amount: f64,
    /// By how much the smallest weighted share rises with that much more, solved again.
    pub gain: f64,
    /// Its rise per unit, by the prices.
    pub price: f64,
    /// The capacity of the class, all servers together. Absent where ranges were not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<f64>,
    /// The least capacity at which the price holds (searched down to a tenth).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
    /// The largest capacity at which it holds (searched up to tenfold).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
}

impl Tabular for Worth {
    /// A row a class for a whole server (no resource), then one a resource.
    fn table(&self) -> Table<'_> {
        type Row<'a> = (&'a ServerWorth, Option<&'a ResourceWorth>);
        let rows: Vec<Row<'_>> = (self.server_classes.iter())
            .flat_map(|class| {
                let resources = class.resources.iter().map(move |resource| (class, Some(resource)));
                std::iter::once((class, None)).chain(resources)
            })
            .collect();
        let gain = |row: Row<'_>| row.1.map_or(row.0.gain, |more| more.gain);
        Table::over(rows.len(), move |row| rows[row])
            .column("class", "server class", Kind::Id, |row| &row.0.id)
            .column("resource", "resource", Kind::Name, |row| row.1.map_or("", |more| &more.resource))
            .column("gain", "that much more adds", Kind::Share, gain)
            .said(move |row| self.is_nothing(gain(row)).then_some(NOTHING))
            .column("by_price", "by the prices", Kind::Share, |row| {
                row.1.map_or(row.0.by_price, |more| more.price * more.amount)
            })
            .column("amount", "a server has", Kind::Number, |row| row.1.map(|more| more.amount))
            .column("price", "price a unit", Kind::Number, |row| row.1.map(|more| more.price))
            .column("capacity", "capacity", Kind::Number, |row| row.1.and_then(|more| more.capacity))
            .column("least", "price holds from", Kind::Number, |row| row.1.and_then(|more| more.least))
            .said(|row| holds_only_now(row.1).then_some("now"))
            .column("most", "to", Kind::Number, |row| row.1.and_then(|more| more.most))
            .said(|row| holds_only_now(row.1).then_some("now"))
            .done()
    }
}

/// The smallest gain that is more than what solutions are exact to, above a level.
fn smallest_gain(level: f64) -> f64 {
    (NO_WORTH * level).max(NO_GAIN)
}

/// Whether the price is another one as soon as there is more or less.
fn holds_only_now(resource: Option<&ResourceWorth>) -> bool {
    resource
        .is_some_and(|more| more.least.is_some() && more.least == more.capacity && more.most == more.capacity)
}

/// How people read a gain that is none.
const NOTHING: &str = "0.00%";

impl Worth {
    /// Whether a gain is below what solutions are exact to.
    pub fn is_nothing(&self, gain: f64) -> bool {
        gain < smallest_gain(self.raised())
    }

    /// A row a class.
    pub fn classes(&self) -> Table<'_> {
        let table = Table::of(&self.server_classes)
            .column("class", "server class", Kind::Id, |class| &class.id)
            .column("count", "servers", Kind::Count, |class| class.count)
            .column("gain", "solved again", Kind::Share, |class| class.gain)
            .said(|class| self.is_nothing(class.gain).then_some(NOTHING))
            .column("by_price", "by the prices", Kind::Share, |class| class.by_price)
            .column("largest_gain_of_groups", "group that gains the most", Kind::Id, |class| {
                class.largest_gain_of_groups().map(|group| &group.id)
            })
            .column("group_part", "by", Kind::Part, |class| {
                class.largest_gain_of_groups().and_then(|group| group.part)
            })
            .column("gaining", "users that gain", Kind::Count, |class| class.gaining)
            .column("losing", "users that lose", Kind::Count, |class| class.losing)
            .column("largest_gain", "gains the most", Kind::Id, |class| {
                class.largest_gain.as_ref().map(|gain| &gain.id)
            })
            .column("part", "by", Kind::Part, |class| class.largest_gain.as_ref().and_then(|gain| gain.part))
            .said(|class| {
                let from_nothing = class.largest_gain.as_ref().is_some_and(|gain| gain.part.is_none());
                from_nothing.then_some("from nothing")
            })
            .done();
        if self.has_groups() { table } else { table.without(&["largest_gain_of_groups", "group_part"]) }
    }
}

/// What one more server of each class is worth, the most valuable first. `solution` is the DRFH of the instance, which comes
/// with its hash; `ranges` asks how far each price holds, which takes some ten solutions each. `told` hears how many of
/// the classes are done.
pub fn worth_of_servers(
    instance: &Instance,
    sha256: &str,
    solution: &Solution,
    solver: &dyn Solver,
    ranges: bool,
    told: &(dyn Fn(usize, usize) + Sync),
) -> Result<Worth, InstanceError> {
    let m = instance.resources().len();
    let today = Standing::of(instance, solution);
    let (now, before) = (today.raised(), &today.works);
    let raised = level_of_those_that_want_more(instance, solution);
    let prices = match raised.and_then(|k| solution.certificate.levels().get(k)) {
        Some(level) => prices_with_reserves(instance, level),
        // Everybody has all its tasks, or can have nothing.
        None => vec![0.0; m * instance.classes().len()],
    };
    let first = solution.certificate.levels().first().map_or(0.0, |level| level.value);
    let mut draft = Draft::from(instance).measured_as(instance);
    // Capacities change by parts that are no devices.
    draft.divide();
    let asked = |draft: Draft| -> Result<(f64, Standing), InstanceError> {
        let variant = draft.build().map_err(|_| too_long())?;
        let then = Standing::of(&variant, &solved_near(solver, &variant, first)?);
        Ok((then.raised_from(&today) - now, then))
    };
    let done = AtomicUsize::new(0);
    let worth = |l: usize| {
        let class = &instance.classes()[l];
        let mut one_more = draft.clone();
        one_more.classes[l].set_count(class.count + 1);
        let (gain, then) = asked(one_more)?;
        let changes: Vec<f64> = before.iter().zip(&then.works).map(|(b, a)| change(*b, *a)).collect();
        let row = &prices[l * m..(l + 1) * m];
        let mut resources = Vec::new();
        for (r, amount) in class.capacity.iter().enumerate().filter(|(_, c)| !c.is_zero() && class.count > 0)
        {
            let mut more = draft.clone();
            more.classes[l].capacity[r] =
                scaled(*amount, 1.0 + 1.0 / class.count as f64).ok_or_else(too_long)?;
            let range = match ranges {
                true => {
                    let priced = PricedCapacity { class: ClassId(l), resource: ResourceId(r), price: row[r] };
                    range_of_price(instance, solution, solver, raised.unwrap_or(0), priced)?
                }
                false => None,
            };
            let (gain, amount) = (asked(more)?.0, amount.to_f64());
            resources.push(ResourceWorth {
                resource: instance.resources()[r].clone(),
                amount,
                gain,
                price: row[r],
                capacity: range.as_ref().map(|range| range.capacity),
                least: range.as_ref().map(|range| range.least),
                most: range.as_ref().map(|range| range.most),
            });
        }
        let largest = changes.iter().enumerate().filter(|(_, part)| **part > NOTICED);
        told(done.fetch_add(1, Ordering::Relaxed) + 1, instance.classes().len());
        Ok(ServerWorth {
            id: class.id.clone(),
            count: class.count,
            gain,
            by_price: class.capacity.iter().zip(row).map(|(capacity, price)| capacity.to_f64() * price).sum(),
            groups: most_changed(instance, &today.groups, &then.groups, true),
            gaining: changes.iter().filter(|part| **part > NOTICED).count(),
            losing: changes.iter().filter(|part| **part < -NOTICED).count(),
            largest_gain: largest.reduce(|most, next| if next.1 > most.1 { next } else { most }).map(
                |(i, _)| GainingUser {
                    id: instance.user(UserId(i)).id().into(),
                    part: part_changed(Some(before[i]), Some(then.works[i])),
                },
            ),
            resources,
        })
    };
    let classes = (0..instance.classes().len()).into_par_iter();
    let mut worths = classes.map(worth).collect::<Result<Vec<_>, InstanceError>>()?;
    // What differs by less than solutions are exact stays in the instance's order.
    let rounded = |worth: &ServerWorth| (worth.gain.max(0.0) / smallest_gain(now)).round();
    worths.sort_by(|a, b| rounded(b).total_cmp(&rounded(a)));
    Ok(Worth {
        instance: InstanceStamp::new(instance, sha256),
        value: today.value,
        level: today.stated_level(),
        wanting: Some(solution.limited_by.iter().filter(|reason| **reason == LimitedBy::Capacity).count()),
        server_classes: worths,
    })
}

/// The level that gains add to: the first, where there are limits the first that capacity holds somebody at.
fn level_of_those_that_want_more(instance: &Instance, solution: &Solution) -> Option<usize> {
    if instance.limit_rows().is_empty() {
        return Some(0);
    }
    let held = solution.limited_by.iter().zip(solution.certificate.level_of()?);
    held.filter(|(reason, _)| **reason == LimitedBy::Capacity).map(|(_, level)| *level as usize).min()
}

/// The prices of capacities. Of more servers others may use all that is not reserved: more capacity is more beside a reserve, too.
fn prices_with_reserves(instance: &Instance, level: &Level) -> Vec<f64> {
    let m = instance.resources().len();
    let mut prices = level.prices.clone();
    for (row, price) in instance.limit_rows().iter().zip(&level.limit_prices) {
        for class in (0..instance.classes().len()).filter(|_| row.is_reserve()) {
            if row.covers(ClassId(class)) {
                prices[class * m + row.resource.0] += price;
            }
        }
    }
    prices
}

fn scaled(amount: Decimal, factor: f64) -> Option<Decimal> {
    format!("{:.12e}", amount.to_f64() * factor).parse().ok()
}

fn too_long() -> InstanceError {
    InstanceError::Unsupported(
        "a variant of the instance has numbers that are too long to be exact; round them".into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_nothing_below_what_solutions_are_exact_to_and_above_a_level_of_0_too() {
        for (level, least) in [(0.5, 0.5 * NO_WORTH), (0.0, NO_GAIN)] {
            let worth = Worth {
                instance: InstanceStamp { name: String::new(), sha256: String::new(), warnings: Vec::new() },
                value: level,
                level: None,
                wanting: None,
                server_classes: Vec::new(),
            };
            assert!(worth.is_nothing(0.9 * least) && !worth.is_nothing(1.1 * least), "above {level}");
        }
    }
}
