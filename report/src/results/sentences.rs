//! Pieces of the sentences that tell results: names, lists, how users fare, how far something is proved.

use crate::names::{beginning, cut};
use crate::tolerance::PROVED;
use crate::units::{counted, money, number, percent, share, thousands};
use fairplan_instances::{
    DemandSeries, Instance, InstanceStamp, LimitedBy, Objective, ResourceMap, UserId, WarningKind,
};

/// Letters of a name in a sentence, where it stands alone and must tell who is meant.
const NAME: usize = 64;

/// Names in a list, before the rest is counted.
const NAMES: usize = 3;

/// What a share is, where a result states shares.
pub(crate) const OF_SHARES: &str = "A user's share is the part of the whole cluster that it has of the resource it needs most; \
                                    where users have weights, shares are compared after dividing them by those.";

/// What an answer in divided tasks leaves out of an instance, as a sentence behind it; nothing where it knows all rules.
pub(super) fn left_out(stamp: &InstanceStamp) -> String {
    let kind = WarningKind::RulesInsideServers.name();
    let warning = stamp.warnings.iter().find(|warning| warning.kind == kind);
    warning.map_or_else(String::new, |warning| format!(" But {}.", warning.message))
}

pub(super) fn name(name: &str) -> String {
    cut(name, NAME)
}

/// ` of group research`, behind the name of a user; nothing of who is in none.
pub(super) fn of_group(group: Option<&str>) -> String {
    group.map_or_else(String::new, |group| format!(" of group {}", label(group)))
}

pub(super) fn users(n: usize) -> String {
    counted(n as u64, "user", "users")
}

/// `a, b and c`; of many, the first ones and how many there are besides.
pub(super) fn listed(names: &[String]) -> String {
    let more = format!("{} more", thousands(names.len().saturating_sub(NAMES) as u64));
    match names {
        [] => String::new(),
        [only] => only.clone(),
        all if all.len() > NAMES + 1 => format!("{} and {more}", all[..NAMES].join(", ")),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `All 5`, or `5 of 6`.
pub(super) fn all_of(n: usize, of: usize) -> String {
    match n {
        _ if n < of => format!("{n} of {of}"),
        2 => "Both".into(),
        _ => format!("All {n}"),
    }
}

/// How users fare: of so many, so many have all their tasks, so many are held by full servers, so many have nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fates {
    all_tasks: u64,
    held: u64,
    limited: u64,
    nothing: u64,
}

impl Fates {
    /// Counts what limits each user.
    pub fn of(limits: impl Iterator<Item = LimitedBy>) -> Self {
        let mut fates = Self::default();
        for limit in limits {
            match limit {
                LimitedBy::Tasks => fates.all_tasks += 1,
                LimitedBy::Capacity => fates.held += 1,
                LimitedBy::Limit => fates.limited += 1,
                LimitedBy::NoUsableClass => fates.nothing += 1,
            }
        }
        fates
    }

    /// The sentence.
    pub fn told(self) -> String {
        let users = |n: u64| counted(n, "user", "users");
        let all = self.all_tasks + self.held + self.limited + self.nothing;
        let nothing = match self.nothing {
            0 => String::new(),
            n => format!("; {} can run on no server", users(n)),
        };
        if self.limited > 0 {
            let by = |n: u64, by: &str| match n {
                0 => String::new(),
                n => format!("; {} {by}", users(n)),
            };
            let is_are = |n: u64| if n == 1 { "is" } else { "are" };
            let limited = match self.limited {
                1 if all == 1 => "The only user".into(),
                n if n == all => format!("All {}", users(n)),
                n => format!("{} of {}", thousands(n), users(all)),
            };
            return format!(
                "{limited} {} held by limits{}{}{nothing}.",
                is_are(self.limited),
                by(self.held, &format!("{} held by full servers", is_are(self.held))),
                by(
                    self.all_tasks,
                    if self.all_tasks == 1 { "has all asked for" } else { "have all asked for" }
                ),
            );
        }
        match (self.all_tasks, self.held) {
            (0, 0) => format!("No user can run on any server ({}).", users(all)),
            (1, 0) if all == 1 => "The only user has all the tasks that it asks for.".into(),
            (_, 0) if self.nothing == 0 => {
                format!("All {} have all the tasks that they ask for.", users(all))
            }
            (some, 0) => format!(
                "{} {} all the tasks asked for{nothing}.",
                users(some),
                if some == 1 { "has" } else { "have" }
            ),
            (0, held) if held == all => format!(
                "{} by full servers: {} would take more.",
                if all == 1 {
                    "The only user is held".into()
                } else {
                    format!("All {} are held", users(all))
                },
                if all == 1 { "it" } else { "they" }
            ),
            (some, held) => {
                let some = match some {
                    0 => String::new(),
                    some => {
                        format!("; {} {} all asked for", users(some), if some == 1 { "has" } else { "have" })
                    }
                };
                format!("{} of {} are held by full servers{some}{nothing}.", thousands(held), users(all))
            }
        }
    }
}

/// Whose tasks wait, most first, as the end of a sentence: by users, where there are groups by the children of the root. Nothing where
/// there is one user.
pub(super) fn of_whom(instance: &Instance, waiting: impl Fn(UserId) -> Option<f64>) -> String {
    if instance.user_count() < 2 {
        return String::new();
    }
    let of_user = |i: usize| waiting(UserId(i)).unwrap_or(0.0);
    let alone = instance.users().filter(|user| user.group().is_none());
    let mut all: Vec<(&str, f64)> = alone.map(|user| (user.id(), of_user(user.index().0))).collect();
    if instance.has_groups() {
        let sums = instance.of_groups(0.0, of_user, |a, b| a + b);
        let groups = instance.groups().iter().zip(sums).filter(|(group, _)| group.parent.is_none());
        all.extend(groups.map(|(group, sum)| (group.id.as_str(), sum)));
    }
    all.retain(|(_, tasks)| *tasks > 0.0);
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let others: f64 = all.iter().skip(NAMES).map(|(_, tasks)| tasks).sum();
    let mut told: Vec<String> =
        all.iter().take(NAMES).map(|(id, tasks)| format!("{} of {}", number(*tasks), name(id))).collect();
    if others > 0.0 {
        told.push(format!(
            "{} of {}",
            number(others),
            counted((all.len() - NAMES) as u64, "other", "others")
        ));
    }
    format!(": {}", listed(&told))
}

/// Who of these has the least.
pub(super) fn worst_off<'a>(shares: impl Iterator<Item = (&'a str, f64)>) -> String {
    match shares.min_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((id, least)) => format!("the smallest share is {} (user {})", share(least), name(id)),
        None => "there are no users".into(),
    }
}

/// Who of these has the smallest part of what it asked for, as the end of a sentence; nothing where nobody asked.
pub(super) fn least_served<'a>(welfare: impl Iterator<Item = (&'a str, Option<f64>)>) -> String {
    let asked = welfare.filter_map(|(id, welfare)| Some((id, welfare?)));
    asked.min_by(|a, b| a.1.total_cmp(&b.1)).map_or_else(String::new, |(id, welfare)| {
        format!("; the least served user, {}, has {} of what it asked for", name(id), percent(welfare))
    })
}

/// What a measure of the optimum over all quanta comes to.
pub(super) fn measured(measure: &str, value: f64) -> String {
    if measure == "welfare" { percent(value) } else { number(value) }
}

/// A sum of money with its currency.
pub(super) fn price(amount: f64, currency: &str) -> String {
    format!("{} {}", money(amount), cut(currency, 20)).trim_end().to_owned()
}

/// How far a result is proved to be the best.
pub(super) fn proof(optimal: bool, gap: f64) -> String {
    match optimal {
        true if gap > 0.0 => format!("optimal, proved to within {gap:.1e}"),
        true => "optimal, proved".into(),
        false if gap > PROVED => format!("NOT PROVED: up to {gap:.1e} may be missing"),
        // What is open is not this number.
        false => "NOT PROVED".into(),
    }
}

/// A bracket of a share as one number where both sides look alike.
pub(super) fn bracket(lower: f64, upper: f64) -> String {
    let (lower, upper) = (share(lower), share(upper));
    if upper == lower { upper } else { format!("{lower} to {upper}") }
}

/// The value of an objective: a share, or a sum.
pub(super) fn value_of(objective: Objective, value: f64) -> String {
    if objective.alpha().is_some() { number(value) } else { share(value) }
}

/// The same of an objective by its name; a name that is none has a plain number.
pub(super) fn value_by_name(objective: &str, value: f64) -> String {
    objective.parse().map_or_else(|_| number(value), |objective| value_of(objective, value))
}

/// The name of a smallest share: where there are groups, one without a parent counts as far as its members divide what it has by
/// their weights. A group whose members do not have all their parts counts for less than it has.
pub(super) fn smallest(name: &str, has_groups: bool) -> String {
    format!("{name}{}", if has_groups { ", groups counted as their members divide them" } else { "" })
}

/// The part of each resource that is used.
pub(super) fn used(utilization: &ResourceMap) -> String {
    let parts = utilization.0.iter().map(|(name, part)| format!("{} {}", label(name), percent(*part)));
    parts.collect::<Vec<_>>().join(", ")
}

/// Resources that a line of a summary names.
const FEW: usize = 5;

/// The part of each resource that is used, of the first few.
pub(super) fn few_used(instance: &Instance, parts: &[f64]) -> String {
    let few = ResourceMap::new(instance, parts.iter().copied().take(FEW));
    format!("{}{}", used(&few), if parts.len() > FEW { ", …" } else { "" })
}

/// One line on an instance: its name and size.
pub fn heading(instance: &Instance) -> String {
    let users = counted(instance.user_count() as u64, "user", "users");
    let servers = counted(instance.server_count(), "server", "servers");
    let classes = counted(instance.classes().len() as u64, "class", "classes");
    let name = if instance.name().is_empty() { "Unnamed instance" } else { instance.name() };
    format!("{}: {users} on {servers} in {classes}\n", beginning(name, 60))
}

/// One line on a series: its size.
pub fn demands(series: &DemandSeries) -> String {
    let users = counted(series.user_count() as u64, "user", "users");
    let quanta = counted(series.quantum_count() as u64, "quantum", "quanta");
    let demands = counted(series.entry_count() as u64, "demand", "demands");
    format!(
        "{users}, {quanta} from {} to {}, {demands} above zero\n",
        label(&series.label(0).to_string()),
        label(&series.label(series.quantum_count() - 1).to_string())
    )
}

/// Letters of a name in a list.
const LABEL: usize = 32;

/// A name from a file: one line, no control characters, not too long.
pub(super) fn label(name: &str) -> String {
    cut(name, LABEL)
}

/// What is said beside the share of whoever wants more, where of some users no server holds a task: they want more and have nothing.
pub(super) fn but_for_oversized(is_any: bool) -> &'static str {
    if is_any { ", but for users of whom no server holds a task" } else { "" }
}

/// Some words, or nothing where there are none.
pub(super) fn words<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).into()
}
