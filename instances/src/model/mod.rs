//! The model: servers in classes, users with one task's demand, and the rules that make them an instance.

mod alone;
mod builder;
mod devices;
mod domains;
mod draft;
mod filled;
mod floors;
mod group_sums;
mod groups;
mod kinds;
mod one_task;
mod plain_users;
mod profiles;
mod quota_parts;
mod quotas;
mod reserves;
mod server_names;
mod small_program;
mod sure;

pub use alone::Alone;
pub use builder::{InstanceBuilder, NewUser};
pub(crate) use devices::MOST_DEVICES;
pub use domains::Gang;
pub use draft::{Draft, DraftKind, DraftUser};
pub use filled::FilledTree;
pub use floors::AloneGroup;
pub use group_sums::Part;
pub use groups::{Group, NewGroup};
pub use kinds::{Kind, KindId, NewKind};
pub use plain_users::{NumberRange, PlainUsers};
pub use profiles::{DeviceProfile, DeviceProfiles, ProfileId};
pub use quota_parts::QuotaPart;
pub use quotas::{ClassAmounts, DraftQuota, LimitRow, Owner, Quota, QuotaAmount, ResourceAmounts};
pub use server_names::ServerNames;

use crate::violation::Violation;
use crate::{Decimal, IdTable, compare_nearly, compare_ratios};
use std::collections::HashMap;
use std::fmt;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub usize);
    };
}
index!(
    /// Position of a server class in its instance.
    ClassId
);
index!(
    /// Position of a user in its instance.
    UserId
);
index!(
    /// Position of a group in its instance.
    GroupId
);
index!(
    /// Position of a domain in its instance.
    DomainId
);
index!(
    /// Position of a resource in its instance.
    ResourceId
);
index!(
    /// Position of a placement rule in its instance; rule 0 is "every class, at rate 1".
    RuleId
);

/// Identical servers: `count` of them, each with `capacity`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerClass {
    /// Unique name.
    pub id: String,
    /// How many servers.
    pub count: u64,
    /// One server's capacity, one entry a resource.
    pub capacity: Vec<Decimal>,
    /// What each server is called, one name a server; empty where they have none.
    pub names: Vec<String>,
    /// What the servers have in common beside their class, a rack or a zone; of all classes or of none.
    pub domain: Option<String>,
    /// How many devices of a resource each server has, rising by resource: equal parts of its capacity, of which a task takes
    /// whole ones or a part of one. Resources that are not here are amounts.
    pub devices: Vec<(ResourceId, u64)>,
}

impl ServerClass {
    /// Servers without names.
    pub fn new(id: impl Into<String>, count: u64, capacity: Vec<Decimal>) -> Self {
        Self { id: id.into(), count, capacity, names: Vec::new(), domain: None, devices: Vec::new() }
    }

    /// Makes it so many servers. Which of them were added or taken is not said, so where their number changes none keeps
    /// its name.
    pub fn set_count(&mut self, count: u64) {
        if count != self.count {
            self.names.clear();
        }
        self.count = count;
    }
}

/// Where tasks may run and how fast; shared by all users with the same rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct PlacementRule {
    eligible: Option<Vec<ClassId>>,
    rates: Vec<(ClassId, Decimal)>,
}

impl PlacementRule {
    /// A rule from the eligible classes (`None`: all) and the work a task does on some classes (others: 1).
    pub fn new(eligible: Option<Vec<ClassId>>, mut rates: Vec<(ClassId, Decimal)>) -> Self {
        rates.retain(|(_, rate)| *rate != Decimal::ONE);
        rates.sort_by_key(|(class, _)| *class);
        let eligible = eligible.map(|mut classes| {
            classes.sort();
            classes
        });
        Self { eligible, rates }
    }

    /// Whether tasks may run on `class`.
    pub fn allows(&self, class: ClassId) -> bool {
        self.eligible.as_ref().is_none_or(|classes| classes.binary_search(&class).is_ok())
    }

    /// Work one task does on `class` (1 unless stated).
    pub fn rate(&self, class: ClassId) -> Decimal {
        match self.rates.binary_search_by_key(&class, |(other, _)| *other) {
            Ok(found) => self.rates[found].1,
            Err(_) => Decimal::ONE,
        }
    }

    /// The eligible classes in order, when they are restricted.
    pub fn eligible(&self) -> Option<&[ClassId]> {
        self.eligible.as_deref()
    }

    /// The rates that are not 1, by class.
    pub fn rates(&self) -> &[(ClassId, Decimal)] {
        &self.rates
    }
}

/// A cluster and its users. Immutable; every instance has passed [`InstanceBuilder::build`].
#[derive(Clone)]
pub struct Instance {
    name: String,
    resources: Vec<String>,
    classes: Vec<ServerClass>,
    class_positions: HashMap<String, usize>,
    groups: Vec<Group>,
    group_positions: HashMap<String, usize>,
    ids: IdTable,
    /// One task's demand, row-major `users × resources`.
    demands: Vec<Decimal>,
    demand_doubles: Vec<f64>,
    weights: Option<Vec<Decimal>>,
    tasks: Option<Vec<Option<u64>>>,
    rules: Vec<PlacementRule>,
    rule_of: Option<Vec<u32>>,
    /// One more than the position of each user's group; 0 for users without one.
    group_of: Option<Vec<u32>>,
    /// Where some user has kinds of tasks.
    kinds: Option<kinds::Kinds>,
    quotas: Vec<(Owner, Quota)>,
    /// Where there are rules inside servers.
    devices: Option<devices::Devices>,
    domains: domains::Domains,
    /// Where there are rules between servers.
    between_servers: Option<domains::BetweenServers>,
    limit_rows: Vec<LimitRow>,
    /// Which of them are reserves.
    rows_of_reserves: Vec<usize>,
    /// Per resource: the power of ten of which every capacity and demand is a whole multiple.
    exponents: Vec<i8>,
    totals: Vec<u128>,
    total_doubles: Vec<f64>,
    /// The servers by which shares are measured, class by class; `None`: its own.
    measured_by: Option<Vec<ServerClass>>,
    /// What a share of one is of each resource: the totals of the servers by which shares are measured.
    measures: Vec<u128>,
    measure_doubles: Vec<f64>,
    /// What a server of each class has by which shares are measured, as nearest doubles; row-major `classes × resources`.
    measuring_doubles: Vec<f64>,
}

impl Instance {
    /// The instance's name (may be empty).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Resource names, in the order of every capacity and demand.
    pub fn resources(&self) -> &[String] {
        &self.resources
    }

    /// Server classes, in the instance's order.
    pub fn classes(&self) -> &[ServerClass] {
        &self.classes
    }

    /// How many users there are (at least one).
    pub fn user_count(&self) -> usize {
        self.ids.len()
    }

    /// How many servers there are over all classes (at least one).
    pub fn server_count(&self) -> u64 {
        self.classes.iter().map(|class| class.count).sum()
    }

    /// The class of every server, in the order in which a [`Placement`](crate::Placement) lists servers: all of the first class, then of the
    /// second, and so on.
    pub fn classes_of_servers(&self) -> impl Iterator<Item = ClassId> + '_ {
        let counts = self.classes.iter().map(|class| class.count as usize).enumerate();
        counts.flat_map(|(l, count)| std::iter::repeat_n(ClassId(l), count))
    }

    /// One user.
    pub fn user(&self, id: UserId) -> User<'_> {
        User { instance: self, id }
    }

    /// All users in order.
    pub fn users(&self) -> impl ExactSizeIterator<Item = User<'_>> + Clone {
        (0..self.user_count()).map(|i| self.user(UserId(i)))
    }

    /// The class with this name.
    pub fn class_named(&self, id: &str) -> Option<ClassId> {
        self.class_positions.get(id).map(|&position| ClassId(position))
    }

    /// The names of all users, in their order.
    pub fn user_ids(&self) -> &IdTable {
        &self.ids
    }

    /// The user with this name.
    pub fn user_named(&self, id: &str) -> Option<UserId> {
        self.ids.position(id).map(UserId)
    }

    /// All demands as nearest doubles, row-major `users × resources`.
    pub fn demand_doubles(&self) -> &[f64] {
        &self.demand_doubles
    }

    /// The groups, in the instance's order; parents may come after their children.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The group with this name.
    pub fn group_named(&self, id: &str) -> Option<GroupId> {
        self.group_positions.get(id).map(|&position| GroupId(position))
    }

    /// Whether any user is in a group: without, users alone divide the cluster.
    pub fn has_groups(&self) -> bool {
        self.group_of.is_some()
    }

    /// For what does not know groups.
    ///
    /// # Errors
    /// If users are in groups; `what` asks.
    pub fn without_groups(&self, what: &str) -> Result<(), Violation> {
        if !self.has_groups() {
            return Ok(());
        }
        let problem =
            format!("{what} does not know groups yet; leave them out (an import does with --group user)");
        Err(Violation::new("groups", "", problem))
    }

    /// The distinct placement rules; rule 0 is "every class, at rate 1".
    pub fn rules(&self) -> &[PlacementRule] {
        &self.rules
    }

    /// Whether any user has a weight other than 1.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// Whether anybody, a user or a group, has another weight than 1.
    pub fn has_weights(&self) -> bool {
        self.is_weighted() || self.groups().iter().any(|group| group.weight != Decimal::ONE)
    }

    /// Whether any user has a number of tasks.
    pub fn has_task_limits(&self) -> bool {
        self.tasks.is_some()
    }

    /// The power of ten that is this resource's smallest exact unit.
    pub fn unit_exponent(&self, resource: ResourceId) -> i8 {
        self.exponents[resource.0]
    }

    /// A decimal of this resource as a whole number of its smallest units.
    pub(crate) fn in_units(&self, resource: ResourceId, value: Decimal) -> u128 {
        // Validation chose the unit so that every value of the instance fits.
        value.scaled(self.exponents[resource.0]).unwrap_or(u128::MAX)
    }

    /// One server's capacity in whole smallest units.
    pub fn capacity_units(&self, class: ClassId, resource: ResourceId) -> u128 {
        self.in_units(resource, self.classes[class.0].capacity[resource.0])
    }

    /// The whole cluster's capacity in whole smallest units.
    pub fn total_units(&self, resource: ResourceId) -> u128 {
        self.totals[resource.0]
    }

    /// The whole cluster's capacity as the nearest double.
    pub fn total(&self, resource: ResourceId) -> f64 {
        self.total_doubles[resource.0]
    }

    /// Whole smallest units of a resource as the nearest double amount, but for the rounding of a quotient.
    pub fn amount(&self, resource: ResourceId, units: u128) -> f64 {
        match self.total_units(resource) {
            0 => 0.0,
            total => units as f64 / total as f64 * self.total(resource),
        }
    }

    /// Whole smallest units of a resource as messages tell the amount: exactly, and as the nearest double where that has too many digits.
    pub fn written(&self, resource: ResourceId, units: u128) -> String {
        let exact = self.decimal(resource, units);
        exact.map_or_else(|| self.amount(resource, units).to_string(), |amount| amount.to_string())
    }

    /// The same as a decimal; `None` with too many digits.
    pub(crate) fn decimal(&self, resource: ResourceId, units: u128) -> Option<Decimal> {
        Decimal::from_units(units, self.exponents[resource.0].into()).ok()
    }

    /// The servers by which shares are measured: its own, unless it is a variant that is measured by those of another
    /// ([`InstanceBuilder::measured_by`]).
    pub fn measuring_classes(&self) -> &[ServerClass] {
        self.measured_by.as_deref().unwrap_or(&self.classes)
    }

    /// The same as how many servers of a class there are and what one of them has, in nearest doubles.
    fn measuring_doubles(&self) -> impl Iterator<Item = (f64, &[f64])> {
        let capacities = self.measuring_doubles.chunks_exact(self.resources.len().max(1));
        self.measuring_classes().iter().map(|class| class.count as f64).zip(capacities)
    }

    /// The most of a resource that one server has, in whole smallest units: one of its own, or of those by which shares are measured.
    pub fn largest_server_units(&self, resource: ResourceId) -> u128 {
        let present = self.classes.iter().chain(self.measuring_classes()).filter(|class| class.count > 0);
        present.map(|class| self.in_units(resource, class.capacity[resource.0])).max().unwrap_or(0)
    }

    /// What a share of one is of a resource (DRFH Sec. III-A normalises by this), as the nearest double: the whole cluster's
    /// capacity, unless shares are measured by other servers.
    pub fn measure(&self, resource: ResourceId) -> f64 {
        self.measure_doubles[resource.0]
    }

    /// The same in whole smallest units.
    pub fn measure_units(&self, resource: ResourceId) -> u128 {
        self.measures[resource.0]
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Instance({:?}, {} classes, {} users)", self.name, self.classes.len(), self.user_count())
    }
}

/// A view of one user of an [`Instance`].
#[derive(Clone, Copy)]
pub struct User<'a> {
    instance: &'a Instance,
    id: UserId,
}

impl<'a> User<'a> {
    /// The instance that it is a user of.
    pub fn instance(self) -> &'a Instance {
        self.instance
    }

    /// Position in the instance.
    pub fn index(self) -> UserId {
        self.id
    }

    /// Unique name.
    pub fn id(self) -> &'a str {
        self.instance.ids.get(self.id.0)
    }

    /// Whether it is one part of a queue that an importer divides by places or by what tasks ask for: it is called `QUEUE@PART`, where
    /// its group is called `QUEUE`.
    pub fn is_part_of_queue(self) -> bool {
        let queue = self.group().map(|group| self.instance.groups()[group.0].id.as_str());
        let behind = queue.and_then(|queue| self.id().strip_prefix(queue));
        behind.is_some_and(|behind| behind.starts_with('@'))
    }

    /// One task's demand, one entry a resource; of all kinds together where it has kinds.
    pub fn demand(self) -> &'a [Decimal] {
        let m = self.instance.resources.len();
        &self.instance.demands[self.id.0 * m..(self.id.0 + 1) * m]
    }

    /// One task's demand as doubles.
    pub fn demand_doubles(self) -> &'a [f64] {
        let m = self.instance.resources.len();
        &self.instance.demand_doubles[self.id.0 * m..(self.id.0 + 1) * m]
    }

    /// One task's demand of `resource` in whole smallest units.
    pub fn demand_units(self, resource: ResourceId) -> u128 {
        self.instance.in_units(resource, self.demand()[resource.0])
    }

    /// Weight (> 0, default 1).
    pub fn weight(self) -> Decimal {
        self.instance.weights.as_ref().map_or(Decimal::ONE, |weights| weights[self.id.0])
    }

    /// How many tasks the user has; `None` is unlimited.
    pub fn tasks(self) -> Option<u64> {
        self.instance.tasks.as_ref().and_then(|tasks| tasks[self.id.0])
    }

    /// The group that the user belongs to; `None`: the root.
    pub fn group(self) -> Option<GroupId> {
        let group = self.instance.group_of.as_ref().map_or(0, |groups| groups[self.id.0]);
        group.checked_sub(1).map(|position| GroupId(position as usize))
    }

    /// Which placement rule the user has; "anywhere" where its kinds have their own.
    pub fn rule_id(self) -> RuleId {
        RuleId(self.instance.rule_of.as_ref().map_or(0, |rules| rules[self.id.0] as usize))
    }

    /// Where the user's tasks may run and how fast.
    pub fn rule(self) -> &'a PlacementRule {
        &self.instance.rules[self.rule_id().0]
    }

    /// Whether the divisible model lets the user run on `class`: eligible, and the class has some of every
    /// resource that a task needs. (A whole task may still be larger than each server.) Where the user has kinds, whether one
    /// of them can.
    pub fn can_use(self, class: ClassId) -> bool {
        if self.has_kinds() {
            return self.kinds().any(|kind| kind.can_use(class));
        }
        self.rule().allows(class)
            && self.instance.classes[class.0].count > 0
            && self
                .demand()
                .iter()
                .zip(&self.instance.classes[class.0].capacity)
                .all(|(demand, capacity)| demand.is_zero() || !capacity.is_zero())
    }

    /// Whether divisible tasks can run at all: the user can use a class, or one with each of its kinds.
    pub fn can_run(self) -> bool {
        self.kinds().all(Kind::can_run)
    }

    /// Whether a task does more work on one class that the user can use than on another.
    pub fn rates_differ(self) -> bool {
        let classes = (0..self.instance.classes.len()).map(ClassId).filter(|class| self.can_use(*class));
        let mut rates = classes.map(|class| self.rule().rate(class));
        !self.rule().rates().is_empty() && rates.next().is_some_and(|first| rates.any(|rate| rate != first))
    }

    /// Whether a whole task fits some empty server that the user may run on; where it has kinds, whether all servers together hold the
    /// pieces of each in one task, if they hold nothing else, and few pieces all together.
    pub fn fits_somewhere(self) -> bool {
        if self.has_kinds() {
            return self.kinds().all(Kind::has_room_for_a_task) && self.holds_few_pieces();
        }
        let resources = (0..self.instance.resources.len()).map(ResourceId);
        let fits = |class: ClassId| {
            let fits = |r: ResourceId| self.demand_units(r) <= self.instance.capacity_units(class, r);
            self.can_use(class) && resources.clone().all(fits)
        };
        (0..self.instance.classes.len()).map(ClassId).any(fits)
    }

    /// The resource of which one task takes the largest part of the whole cluster (of the servers by which shares are
    /// measured); ties: the first (DRFH Sec. III-A, `r*_i`). Decided in exact integers.
    pub fn dominant_resource(self) -> ResourceId {
        let doubles = self.demand_doubles();
        let near = |r: usize| doubles[r] / self.instance.measure_doubles[r];
        let exact = |r: usize| (self.demand_units(ResourceId(r)), self.instance.measures[r]);
        let exceeds = |r: usize, best: usize| {
            let order = compare_nearly(near(r), near(best));
            order.unwrap_or_else(|| compare_ratios(exact(r), exact(best))).is_gt()
        };
        let mut best = None;
        for r in (0..self.instance.resources.len()).filter(|&r| !self.demand()[r].is_zero()) {
            if best.is_none_or(|best| exceeds(r, best)) {
                best = Some(r);
            }
        }
        ResourceId(best.unwrap_or(0))
    }

    /// One task's dominant share as an exact fraction: what it needs of its dominant resource, and what a share of one is of that.
    pub fn exact_task_share(self) -> (u128, u128) {
        let resource = self.dominant_resource();
        (self.demand_units(resource), self.instance.measure_units(resource))
    }

    /// One task's dominant share `δ_i = max_r D_ir / Σ_l C_lr` (DRFH Sec. III-A), of the servers by which shares are measured.
    pub fn task_share(self) -> f64 {
        self.demand_doubles()
            .iter()
            .zip(&self.instance.measure_doubles)
            .filter(|(demand, _)| **demand > 0.0)
            .map(|(demand, measure)| demand / measure)
            .fold(0.0, f64::max)
    }
}
