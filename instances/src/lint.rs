//! Facts about a valid instance that are more often a slip than meant: wrong denominators, mixed units, idle servers.

use crate::wording::{counted, printable};
use crate::{
    Catalog, ClassId, Decimal, Instance, Kind, KindId, LimitRoom, ResourceId, ResourceKind, User, is_memory,
};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

/// Something about an instance that its author may want to look at. It changes no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What kind of thing it is.
    pub kind: WarningKind,
    /// One sentence with the names and numbers.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.message, 400))
    }
}

/// What a [`Warning`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningKind {
    /// No user demands a resource.
    UndemandedResource,
    /// No user can use a class, though its capacity counts in the totals that shares are measured against.
    UnusableServers,
    /// A class has a resource that nobody who demands it can use there, though it counts in the total.
    UnreachableCapacity,
    /// No server can run one of the kinds of a user's tasks, so that none of them runs.
    KindWithoutServers,
    /// A whole task fits on no server that its user may run on.
    OversizedTask,
    /// A whole task fits on hardly any of the servers that its user may run on.
    ScarceServers,
    /// Limits leave room for less than a whole gang of a user, so that none of its tasks is placed.
    GangAboveLimit,
    /// Only whole tasks meet devices, their profiles, limits a server, gangs and spread.
    RulesInsideServers,
    /// The numbers of a resource lie so far apart that they look like different units.
    MixedUnits,
}

impl WarningKind {
    /// The name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::UndemandedResource => "undemanded-resource",
            Self::UnusableServers => "unusable-servers",
            Self::UnreachableCapacity => "unreachable-capacity",
            Self::KindWithoutServers => "kind-without-servers",
            Self::OversizedTask => "oversized-task",
            Self::ScarceServers => "scarce-servers",
            Self::GangAboveLimit => "gang-above-limit",
            Self::RulesInsideServers => "rules-inside-servers",
            Self::MixedUnits => "mixed-units",
        }
    }
}

/// All warnings about an instance: by kind, then in the instance's order.
pub fn lint(instance: &Instance) -> Vec<Warning> {
    let kinds = representatives(instance);
    let mut warnings = Vec::new();
    let mut warn = |kind, message| warnings.push(Warning { kind, message });
    let resources = instance.resources();
    let demanded: Vec<bool> =
        (0..resources.len()).map(|r| kinds.iter().any(|kind| needs(*kind, r))).collect();
    for r in (0..resources.len()).filter(|&r| !demanded[r]) {
        warn(WarningKind::UndemandedResource, format!("no user demands {}", resources[r]));
    }
    for (l, class) in instance.classes().iter().enumerate().filter(|(_, class)| class.count > 0) {
        let class_id = ClassId(l);
        if !kinds.iter().any(|kind| kind.can_use(class_id)) {
            let message = format!(
                "no user can use class {}; its {} in the totals that shares are measured against",
                class.id,
                counted(class.count, "server still counts", "servers still count")
            );
            warn(WarningKind::UnusableServers, message);
            continue;
        }
        for r in (0..resources.len()).filter(|&r| demanded[r] && !class.capacity[r].is_zero()) {
            if !kinds.iter().any(|kind| needs(*kind, r) && kind.can_use(class_id)) {
                let part = part_of_total(instance, class_id, ResourceId(r));
                let message = format!(
                    "class {} has {:.1}% of all {name}, but nobody who demands {name} can use it; \
                     it still counts in the total that shares are measured against",
                    class.id,
                    100.0 * part,
                    name = resources[r]
                );
                warn(WarningKind::UnreachableCapacity, message);
            }
        }
    }
    if let Some(message) = kind_without_servers(instance) {
        warn(WarningKind::KindWithoutServers, message);
    }
    let (oversized, scarce) = tasks_and_servers(instance);
    if let Some(message) = oversized {
        warn(WarningKind::OversizedTask, message);
    }
    if let Some(message) = scarce {
        warn(WarningKind::ScarceServers, message);
    }
    if let Some(message) = gang_above_limit(instance) {
        warn(WarningKind::GangAboveLimit, message);
    }
    if instance.has_server_rules() {
        let message = format!(
            "answers in divided tasks ignore {}: whole tasks reach at most as much",
            rules_of_whole_tasks(instance)
        );
        warn(WarningKind::RulesInsideServers, message);
    }
    for r in (0..resources.len()).filter(|&r| demanded[r]) {
        let amounts = Amounts::of(instance, ResourceId(r));
        // Asked last: it looks at every user.
        let below = || amounts.tasks_far_below_servers().filter(|_| is_small_in_this_alone(instance, r));
        if let Some(message) = amounts.in_two_groups().or_else(below) {
            warn(WarningKind::MixedUnits, message);
        }
    }
    warnings
}

/// The same for who is answered in whole tasks alone: without what answers in divided tasks leave out.
pub fn lint_of_whole_tasks(instance: &Instance) -> Vec<Warning> {
    let mut warnings = lint(instance);
    warnings.retain(|warning| warning.kind != WarningKind::RulesInsideServers);
    warnings
}

/// Warnings about what a catalog offers beside an instance: the numbers of its types look like another unit.
pub fn lint_catalog(instance: &Instance, catalog: &Catalog) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (r, resource) in instance.resources().iter().enumerate() {
        let is_demanded = || instance.demand_doubles().iter().skip(r).step_by(instance.resources().len());
        let classes = instance.classes().iter().filter(|class| class.count > 0);
        let classes = || classes.clone().map(|class| class.capacity[r].to_f64());
        let types = || catalog.types.iter().map(|kind| kind.capacity[r].to_f64());
        let told = Orders::of(classes()).gap().is_none().then(|| Orders::of(classes().chain(types())).gap());
        let Some((below, above)) = told.flatten() else { continue };
        if is_demanded().any(|demand| *demand > 0.0) {
            let message = format!(
                "capacities of {resource} in the catalog and the instance are at most {below} or at least {above}: are they all in one unit?"
            );
            warnings.push(Warning { kind: WarningKind::MixedUnits, message });
        }
    }
    if warnings.is_empty() {
        let message = memory_of_a_core(instance, catalog);
        warnings.extend(message.map(|message| Warning { kind: WarningKind::MixedUnits, message }));
    }
    warnings
}

/// What a core comes with of memory in the catalog and in the instance, where these are far apart.
fn memory_of_a_core(instance: &Instance, catalog: &Catalog) -> Option<String> {
    let names = instance.resources();
    let cores = names.iter().position(|name| ResourceKind::of(name) == ResourceKind::Cores)?;
    let memory = names.iter().position(|name| is_memory(name))?;
    let of_a_core = |capacity: &Vec<Decimal>| {
        let [cores, memory] = [cores, memory].map(|r| capacity[r].to_f64());
        (cores > 0.0 && memory > 0.0).then(|| memory / cores)
    };
    let range = |all: Vec<f64>| {
        let least = all.iter().copied().reduce(f64::min)?;
        Some((least, all.iter().copied().fold(0.0, f64::max)))
    };
    let classes = instance.classes().iter().filter(|class| class.count > 0);
    let (least, most) = range(classes.filter_map(|class| of_a_core(&class.capacity)).collect())?;
    let (least_bought, most_bought) =
        range(catalog.types.iter().filter_map(|kind| of_a_core(&kind.capacity)).collect())?;
    let far = |below: f64, above: f64| above / below >= FAR;
    let (bought, there) = match (far(most_bought, least), far(most, least_bought)) {
        (true, _) => (format!("at most {most_bought}"), format!("at least {least}")),
        (_, true) => (format!("at least {least_bought}"), format!("at most {most}")),
        _ => return None,
    };
    Some(format!(
        "a core comes with {bought} of {} in the catalog and with {there} in the instance: are they in one unit?",
        names[memory]
    ))
}

/// Who can have no gang within its limits, if anybody.
fn gang_above_limit(instance: &Instance) -> Option<String> {
    if !instance.has_rules_between_servers() || instance.limit_rows().is_empty() {
        return None;
    }
    let room = LimitRoom::empty(instance);
    let mut held = instance.users().filter(|user| user.gang().is_some() && room.holds(*user));
    let first = held.next()?;
    let more = match held.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!(
        "limits have no room for a whole gang of user {}{more}, of {}: none of its tasks is placed",
        first.id(),
        counted(first.at_once(), "task", "tasks")
    ))
}

/// The rules that only whole tasks meet, of those that there are.
fn rules_of_whole_tasks(instance: &Instance) -> String {
    let rules = [
        ("devices", instance.has_devices()),
        ("`profile`", instance.has_profiles()),
        ("`per_server`", instance.users().any(|user| user.per_server().is_some())),
        ("`gang`", instance.users().any(|user| user.gang().is_some())),
        ("`spread`", instance.users().any(|user| user.spread().is_some())),
    ];
    let present: Vec<&str> = rules.iter().filter(|(_, is_there)| *is_there).map(|(rule, _)| *rule).collect();
    match present.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => present.concat(),
    }
}

fn needs(kind: Kind<'_>, resource: usize) -> bool {
    !kind.piece()[resource].is_zero()
}

/// One kind of each placement rule and pattern of zero demands: what one of them can use, all can.
fn representatives(instance: &Instance) -> Vec<Kind<'_>> {
    let pattern = |kind: Kind<'_>| kind.piece().iter().map(|demand| demand.is_zero()).collect::<Vec<_>>();
    let mut seen = HashSet::new();
    let mut found: Vec<Kind<'_>> = Vec::new();
    let mut last: Option<Kind<'_>> = None;
    for kind in (0..instance.kind_count()).map(|k| instance.kind(KindId(k))) {
        let alike = |other: Kind<'_>| {
            let zeros = other.piece().iter().zip(kind.piece());
            other.rule_id() == kind.rule_id() && zeros.into_iter().all(|(a, b)| a.is_zero() == b.is_zero())
        };
        // Neighbours are mostly alike.
        if !last.is_some_and(alike) && seen.insert((kind.rule_id(), pattern(kind))) {
            found.push(kind);
        }
        last = Some(kind);
    }
    found
}

/// Users of whose kinds one runs nowhere, told by the first.
fn kind_without_servers(instance: &Instance) -> Option<String> {
    let users = instance.users().filter(|user| user.has_kinds());
    let mut stuck = users.filter_map(|user| user.kinds().find(|kind| !kind.can_run()));
    let first = stuck.next()?;
    let others = match stuck.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!(
        "no server can run kind {} of user {}{others}, which therefore gets nothing: a task needs all of its kinds",
        first.id().unwrap_or_default(),
        first.user().id()
    ))
}

fn part_of_total(instance: &Instance, class: ClassId, resource: ResourceId) -> f64 {
    let one = instance.capacity_units(class, resource) as f64;
    one * instance.classes()[class.0].count as f64 / instance.total_units(resource) as f64
}

/// A task that fits on less than one in so many of the servers that it may run on is worth a look.
const SCARCE: u64 = 10;

/// So many times as much memory with each core is that of no other machine, but another unit.
const FAR: f64 = 100.0;

/// The users of which a whole task (a piece of a kind of it) fits on no server, and those of which one fits on hardly any, if
/// there are any. Those without a usable class are not meant.
fn tasks_and_servers(instance: &Instance) -> (Option<String>, Option<String>) {
    let classes = instance.classes();
    let capacities: Vec<Vec<f64>> = classes
        .iter()
        .map(|class| class.capacity.iter().map(|capacity| capacity.to_f64()).collect())
        .collect();
    let fits = |kind: Kind<'_>, piece: &[f64], l: usize| {
        // Rounding keeps the order, so doubles decide unless they are equal.
        let at_most = |(r, (piece, capacity)): (usize, (&f64, &f64))| {
            piece < capacity
                || piece == capacity
                    && kind.piece_units(ResourceId(r)) <= instance.capacity_units(ClassId(l), ResourceId(r))
        };
        piece.iter().zip(&capacities[l]).enumerate().all(at_most)
    };
    let named = |kind: Kind<'_>| match kind.id() {
        None => format!("task of user {}", kind.user().id()),
        Some(id) => format!("piece of kind {id} of user {}", kind.user().id()),
    };
    let (mut oversized, mut scarce) = (Vec::new(), Vec::new());
    for kind in (0..instance.kind_count()).map(|k| instance.kind(KindId(k))) {
        let usable = (0..classes.len()).filter(|l| kind.can_use(ClassId(*l)));
        let piece: Cow<'_, [f64]> = match kind.each() {
            1 => kind.demand_doubles().into(),
            _ => kind.piece().iter().map(|demand| demand.to_f64()).collect(),
        };
        let (mut all, mut fitting) = (0, 0);
        for l in usable {
            all += classes[l].count;
            fitting += if fits(kind, &piece, l) { classes[l].count } else { 0 };
        }
        if all > 0 && fitting == 0 {
            oversized.push((kind, 0, all));
        } else if fitting < all / SCARCE {
            scarce.push((kind, fitting, all));
        }
    }
    let others = |users: &Vec<_>| match users.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let too_large = oversized.first().map(|(kind, ..)| {
        format!(
            "a {}{} is larger than every server it may run on: \
             divisible shares ignore that, no placement can",
            named(*kind),
            others(&oversized)
        )
    });
    let hardly = scarce.first().map(|(kind, fitting, all)| {
        format!(
            "a {}{} fits on {fitting} of the {all} servers it may run on: \
             placements of whole tasks leave the others to whoever has smaller tasks",
            named(*kind),
            others(&scarce)
        )
    });
    (too_large, hardly)
}

/// A gap of this many binary orders in the numbers of a resource looks like two units (1024 and 1000 are such steps).
const GAP: usize = 9;

/// Whether somebody's tasks are small in this resource and not in another. Where tasks are small in everything they are small, as
/// those made up for queues; a unit goes wrong in one resource.
fn is_small_in_this_alone(instance: &Instance, resource: usize) -> bool {
    let classes = instance.classes();
    let capacities: Vec<Vec<f64>> = classes
        .iter()
        .map(|class| class.capacity.iter().map(|capacity| capacity.to_f64()).collect())
        .collect();
    let is_large_in_another = |user: User<'_>| {
        let demands = user.demand_doubles();
        let others = (0..demands.len()).filter(|&r| r != resource && demands[r] > 0.0);
        let usable: Vec<usize> = (0..classes.len()).filter(|&l| user.can_use(ClassId(l))).collect();
        let fit = |r: usize| usable.iter().map(|&l| capacities[l][r] / demands[r]).fold(0.0, f64::max);
        others.map(fit).any(|fit| fit > 0.0 && fit < 2f64.powi(GAP as i32))
    };
    let needs = |user: User<'_>, resource: usize| !user.demand()[resource].is_zero();
    instance.users().any(|user| needs(user, resource) && is_large_in_another(user))
}

/// How the numbers of a resource are spread.
struct Amounts<'a> {
    resource: &'a str,
    capacities: Orders,
    demands: Orders,
}

impl<'a> Amounts<'a> {
    fn of(instance: &'a Instance, ResourceId(r): ResourceId) -> Self {
        let servers = instance.classes().iter().filter(|class| class.count > 0);
        let demands = instance.demand_doubles().iter().skip(r).step_by(instance.resources().len());
        Self {
            resource: &instance.resources()[r],
            capacities: Orders::of(servers.map(|class| class.capacity[r].to_f64())),
            demands: Orders::of(demands.copied()),
        }
    }

    /// Told if there is a gap in the capacities, or in the demands.
    fn in_two_groups(&self) -> Option<String> {
        [("capacities", &self.capacities), ("demands", &self.demands)].into_iter().find_map(
            |(what, orders)| {
                let ((below, above), name) = (orders.gap()?, self.resource);
                Some(format!(
                    "{what} of {name} are at most {below} or at least {above}: are they all in one unit?"
                ))
            },
        )
    }

    /// Told if there is one between the demands and the capacities.
    fn tasks_far_below_servers(&self) -> Option<String> {
        let (least, most, name) = (self.capacities.least?, self.demands.most?, self.resource);
        (least / most >= 2f64.powi(GAP as i32)).then(|| {
            format!(
                "no task demands more than {most} {name}, and no server has less than {least}: are they in one unit?"
            )
        })
    }
}

/// Positive numbers by binary order of magnitude.
struct Orders {
    /// Smallest and largest number of each order that occurs, by order.
    ranges: Vec<Option<(f64, f64)>>,
    least: Option<f64>,
    most: Option<f64>,
}

impl Orders {
    fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let mut ranges: Vec<Option<(f64, f64)>> = vec![None; 2048];
        for number in numbers.filter(|number| *number > 0.0) {
            let range = &mut ranges[(number.to_bits() >> 52) as usize & 2047];
            *range =
                Some(range.map_or((number, number), |(least, most)| (least.min(number), most.max(number))));
        }
        let mut present = ranges.iter().flatten();
        let least = present.next().map(|range| range.0);
        let most = ranges.iter().flatten().next_back().map(|range| range.1);
        Self { ranges, least, most }
    }

    /// The numbers around the first gap of [`GAP`] orders.
    fn gap(&self) -> Option<(f64, f64)> {
        let mut present = self.ranges.iter().flatten();
        let mut below = present.next()?.1;
        for (least, most) in present {
            if *least >= below * 2f64.powi(GAP as i32) {
                return Some((below, *least));
            }
            below = *most;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decimal, InstanceBuilder, NewUser, PlacementRule, ServerClass};

    fn decimals(numbers: &[&str]) -> Vec<Decimal> {
        numbers.iter().map(|number| number.parse().unwrap()).collect()
    }

    /// Servers `a` (with gpu) and `b` (without), and users by demand, on the classes named.
    fn cluster(users: &[(&[&str], Option<&[usize]>)]) -> Instance {
        let names = ["cpu", "memory", "gpu"].map(str::to_owned).to_vec();
        let mut builder = InstanceBuilder::new("", names).unwrap();
        for (id, capacity) in [("a", ["8", "32", "4"]), ("b", ["16", "64", "0"])] {
            builder.class(ServerClass::new(id, 3, decimals(&capacity))).unwrap();
        }
        for (position, (demand, eligible)) in users.iter().enumerate() {
            let classes = eligible.map(|classes| classes.iter().map(|&l| ClassId(l)).collect());
            let rule = builder.rule(PlacementRule::new(classes, Vec::new()));
            let id = format!("u{position}");
            builder.user(NewUser { rule, ..NewUser::new(&id, &decimals(demand)) }).unwrap();
        }
        builder.build().unwrap()
    }

    fn kinds(instance: &Instance) -> Vec<WarningKind> {
        lint(instance).into_iter().map(|warning| warning.kind).collect()
    }

    #[test]
    fn nothing_is_said_of_an_ordinary_cluster() {
        let instance = cluster(&[(&["1", "2", "1"], None), (&["2", "1", "0"], None)]);
        assert_eq!(lint(&instance), []);
        assert_eq!(lint(&crate::generate::drfh_fig1().unwrap()), []);
    }

    #[test]
    fn a_resource_nobody_demands_is_named() {
        let warnings = lint(&cluster(&[(&["1", "2", "0"], None)]));
        assert_eq!(warnings.len(), 1);
        assert_eq!(warnings[0].message, "no user demands gpu");
    }

    #[test]
    fn servers_nobody_can_use_are_named_with_what_they_do_to_shares() {
        let warnings = lint(&cluster(&[(&["1", "2", "1"], Some(&[0]))]));
        let only = "no user can use class b; its 3 servers still count in the totals that shares are measured against";
        assert_eq!(warnings.iter().map(|warning| warning.message.as_str()).collect::<Vec<_>>(), [only]);
    }

    #[test]
    fn a_resource_out_of_reach_of_those_who_demand_it_is_a_wrong_denominator() {
        // Memory of class b is used by nobody who may run there.
        let instance = cluster(&[(&["1", "2", "1"], Some(&[0])), (&["1", "0", "0"], Some(&[1]))]);
        let warnings = lint(&instance);
        assert_eq!(kinds(&instance), [WarningKind::UnreachableCapacity]);
        assert!(
            warnings[0].message.starts_with("class b has 66.7% of all memory, but nobody"),
            "{warnings:?}"
        );
    }

    #[test]
    fn a_task_larger_than_each_server_is_named_though_the_divisible_model_takes_it() {
        let instance =
            cluster(&[(&["10", "1", "1"], None), (&["9", "1", "1"], None), (&["9", "1", "0"], None)]);
        assert_eq!(kinds(&instance), [WarningKind::OversizedTask]);
        assert!(lint(&instance)[0].message.starts_with("a task of user u0 (and 1 more) is larger"));
    }

    #[test]
    fn numbers_a_thousandfold_apart_look_like_two_units() {
        let demands = cluster(&[(&["1", "2", "1"], None), (&["1", "0.001", "0"], None)]);
        assert_eq!(kinds(&demands), [WarningKind::MixedUnits]);
        assert_eq!(
            lint(&demands)[0].message,
            "demands of memory are at most 0.001 or at least 2: are they all in one unit?"
        );
        let against_capacity = cluster(&[(&["1", "0.002", "1"], None), (&["1", "0.001", "0"], None)]);
        assert!(lint(&against_capacity)[0].message.starts_with("no task demands more than 0.002 memory"));
    }

    #[test]
    fn tasks_that_are_small_in_every_resource_are_in_its_units() {
        let tiny = cluster(&[(&["0.001", "0.002", "0.001"], None), (&["0.001", "0.002", "0"], None)]);
        assert_eq!(lint(&tiny), []);
    }
}
