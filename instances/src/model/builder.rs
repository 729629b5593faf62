//! How an instance comes about: server classes, groups, then users, each checked against the rules of the model.

use super::groups::{NewGroup, tree};
use super::quotas::place_of;
use super::{
    ClassId, GroupId, Instance, Owner, PlacementRule, Quota, RuleId, ServerClass, UserId, server_names,
};
use crate::violation::Violation;
use crate::{Decimal, IdTable};
use std::collections::HashMap;

/// One user on its way into an instance.
#[derive(Clone, Copy, Debug)]
pub struct NewUser<'a> {
    /// Unique name.
    pub id: &'a str,
    /// One task's demand, one entry a resource.
    pub demand: &'a [Decimal],
    /// Weight (> 0).
    pub weight: Decimal,
    /// How many tasks; `None` is unlimited.
    pub tasks: Option<u64>,
    /// Where tasks may run, from [`InstanceBuilder::rule`].
    pub rule: RuleId,
    /// The group it belongs to; `None`: the root.
    pub group: Option<GroupId>,
}

impl<'a> NewUser<'a> {
    /// A user of weight 1 with unlimited tasks that may run anywhere, in no group.
    pub fn new(id: &'a str, demand: &'a [Decimal]) -> Self {
        Self { id, demand, weight: Decimal::ONE, tasks: None, rule: RuleId(0), group: None }
    }
}

/// Collects server classes, then users, and checks each rule of the model as they come.
pub struct InstanceBuilder {
    pub(super) instance: Instance,
    rule_positions: HashMap<PlacementRule, RuleId>,
    /// The largest demand of each resource.
    pub(super) largest: Vec<f64>,
}

impl InstanceBuilder {
    /// Starts an instance; resource names must be distinct and not empty.
    pub fn new(name: impl Into<String>, resources: Vec<String>) -> Result<Self, Violation> {
        if resources.is_empty() {
            return Err(Violation::new("resources", "", "name at least one resource"));
        }
        if resources.len() > MAX_RESOURCES {
            let names = format!("{} names", resources.len());
            return Err(Violation::new("resources", names, format!("at most {MAX_RESOURCES} are supported")));
        }
        for (r, resource) in resources.iter().enumerate() {
            if resource.is_empty() {
                return Err(Violation::new(format!("resources[{r}]"), "", "a resource needs a name"));
            }
            if resources[..r].contains(resource) {
                return Err(Violation::new(format!("resources[{r}]"), resource, "duplicate resource"));
            }
        }
        let m = resources.len();
        let anywhere = PlacementRule::default();
        Ok(Self {
            instance: Instance {
                name: name.into(),
                resources,
                classes: Vec::new(),
                class_positions: HashMap::new(),
                groups: Vec::new(),
                group_positions: HashMap::new(),
                ids: IdTable::default(),
                demands: Vec::new(),
                demand_doubles: Vec::new(),
                weights: None,
                tasks: None,
                rules: vec![anywhere.clone()],
                rule_of: None,
                group_of: None,
                kinds: None,
                quotas: Vec::new(),
                devices: None,
                domains: Default::default(),
                between_servers: None,
                limit_rows: Vec::new(),
                rows_of_reserves: Vec::new(),
                exponents: vec![0; m],
                totals: vec![0; m],
                total_doubles: vec![0.0; m],
                measured_by: None,
                measures: vec![0; m],
                measure_doubles: vec![0.0; m],
                measuring_doubles: Vec::new(),
            },
            rule_positions: HashMap::from([(anywhere, RuleId(0))]),
            largest: vec![0.0; m],
        })
    }

    /// The resource names given at the start.
    pub fn resources(&self) -> &[String] {
        &self.instance.resources
    }

    /// The class with this name, among those added so far.
    pub fn class_named(&self, id: &str) -> Option<ClassId> {
        self.instance.class_named(id)
    }

    /// The ids of all classes so far, in order.
    pub fn class_ids(&self) -> impl Iterator<Item = &str> {
        self.instance.classes.iter().map(|class| class.id.as_str())
    }

    /// Adds a server class. The violation's place starts at the class (`server_classes[2].id`).
    pub fn class(&mut self, mut class: ServerClass) -> Result<ClassId, Violation> {
        let position = self.instance.classes.len();
        let place = |field: &str| format!("server_classes[{position}].{field}");
        if class.id.is_empty() {
            return Err(Violation::new(place("id"), "", "a server class needs an id"));
        }
        if class.count > MAX_COUNT {
            return Err(Violation::new(place("count"), class.count, format!("must be <= {MAX_COUNT}")));
        }
        if class.capacity.len() != self.instance.resources.len() {
            return Err(Violation::new(
                place("capacity"),
                format!("{} numbers", class.capacity.len()),
                "one number a resource",
            ));
        }
        if self.instance.class_positions.insert(class.id.clone(), position).is_some() {
            return Err(Violation::new(place("id"), &class.id, "duplicate id"));
        }
        if class.domain.as_deref() == Some("") {
            let problem = "a domain needs a name; leave it out of all classes where there are none";
            return Err(Violation::new(place("domain"), "", problem));
        }
        self.note_devices(&mut class)?;
        for (exponent, capacity) in self.instance.exponents.iter_mut().zip(&class.capacity) {
            *exponent = (*exponent).min(capacity.exponent());
        }
        self.instance.classes.push(class);
        Ok(ClassId(position))
    }

    /// Measures shares by other servers than the instance's own: what a share of one is, and what a user could run alone. Its
    /// classes come first among those of the instance, in the same order; counts and capacities may be others. This is how
    /// variants of a cluster are compared in shares of the same; it is in no file.
    pub fn measured_by(&mut self, classes: Vec<ServerClass>) {
        self.instance.measured_by = Some(classes);
    }

    /// Sets the groups, all at once since they name each other. The violation's place starts at the group (`groups[2].parent`).
    pub fn groups(&mut self, groups: Vec<NewGroup>) -> Result<(), Violation> {
        (self.instance.groups, self.instance.group_positions) = tree(groups)?;
        Ok(())
    }

    /// Whether there are groups so far.
    pub fn has_groups(&self) -> bool {
        !self.instance.groups.is_empty()
    }

    /// The group with this name.
    pub fn group_named(&self, id: &str) -> Option<GroupId> {
        self.instance.group_named(id)
    }

    /// The ids of all groups, in order.
    pub fn group_ids(&self) -> impl Iterator<Item = &str> {
        self.instance.groups.iter().map(|group| group.id.as_str())
    }

    /// The id of a placement rule; equal rules share one.
    pub fn rule(&mut self, rule: PlacementRule) -> RuleId {
        let next = RuleId(self.instance.rules.len());
        let rules = &mut self.instance.rules;
        *self.rule_positions.entry(rule).or_insert_with_key(|rule| {
            rules.push(rule.clone());
            next
        })
    }

    /// How many users there are so far.
    pub fn user_count(&self) -> usize {
        self.instance.ids.len()
    }

    /// Makes room for `users` users more, so that columns need not be moved as they grow. It is only a guess of the
    /// caller: room that is not to be had may never be needed.
    pub fn reserve(&mut self, users: usize) {
        let numbers = users.saturating_mul(self.instance.resources.len());
        self.instance.ids.reserve(users);
        let _ = self.instance.demands.try_reserve_exact(numbers);
        let _ = self.instance.demand_doubles.try_reserve_exact(numbers);
    }

    /// Adds a user. The violation's place starts at the user (`users[3].demand.cpu`). Whether its id is another's is
    /// left to [`InstanceBuilder::check_ids`].
    pub fn user(&mut self, user: NewUser<'_>) -> Result<UserId, Violation> {
        let added = self.add_user(user)?;
        if let Some(kinds) = &mut self.instance.kinds {
            kinds.push_plain(user.rule, user.demand);
        }
        Ok(added)
    }

    /// Adds the users that were added to another builder of the same resources, which has nothing else: parts of a table are read side
    /// by side so. No user has kinds, there or here, nor rules or a group there.
    pub(crate) fn append(&mut self, part: Self) {
        let (Self { instance, largest, .. }, users) = (self, part.instance);
        let (before, count) = (instance.ids.len(), users.ids.len());
        instance.ids.append(&users.ids);
        instance.demands.extend_from_slice(&users.demands);
        instance.demand_doubles.extend_from_slice(&users.demand_doubles);
        for (exponent, other) in instance.exponents.iter_mut().zip(users.exponents) {
            *exponent = other.min(*exponent);
        }
        for (largest, other) in largest.iter_mut().zip(part.largest) {
            *largest = other.max(*largest);
        }
        append_unless_default(&mut instance.weights, before, (users.weights, count), Decimal::ONE);
        append_unless_default(&mut instance.tasks, before, (users.tasks, count), None);
        append_unless_default(&mut instance.rule_of, before, (None, count), 0);
        append_unless_default(&mut instance.group_of, before, (None, count), 0);
    }

    /// Adds a user whose kinds are added elsewhere.
    pub(super) fn add_user(&mut self, user: NewUser<'_>) -> Result<UserId, Violation> {
        let instance = &mut self.instance;
        let position = instance.ids.len();
        let place = |field: &str| format!("users[{position}].{field}");
        if user.id.is_empty() {
            return Err(Violation::new(place("id"), "", "a user needs an id"));
        }
        if user.demand.len() != instance.resources.len() {
            return Err(Violation::new(
                place("demand"),
                format!("{} numbers", user.demand.len()),
                "one number a resource",
            ));
        }
        if user.demand.iter().all(|demand| demand.is_zero()) {
            return Err(Violation::new(place("demand"), "", "a task must need some resource"));
        }
        if user.weight.is_zero() {
            return Err(Violation::new(place("weight"), user.weight, Violation::ABOVE_ZERO));
        }
        if user.tasks.is_some_and(|tasks| tasks > MAX_COUNT) {
            return Err(Violation::new(
                place("tasks"),
                user.tasks.unwrap_or_default(),
                format!("must be <= {MAX_COUNT}; leave it out for unlimited"),
            ));
        }
        let rule = &instance.rules[user.rule.0];
        if rule.rates.iter().any(|(_, rate)| rate.is_zero()) {
            return Err(Violation::new(place("rates"), "0", "a rate must be > 0"));
        }
        instance.ids.push(user.id);
        for (exponent, demand) in instance.exponents.iter_mut().zip(user.demand) {
            *exponent = (*exponent).min(demand.exponent());
        }
        instance.demands.extend_from_slice(user.demand);
        instance.demand_doubles.extend(user.demand.iter().map(|demand| demand.to_f64()));
        for (largest, demand) in
            self.largest.iter_mut().zip(&instance.demand_doubles[position * instance.resources.len()..])
        {
            *largest = largest.max(*demand);
        }
        set_unless_default(&mut instance.weights, position, user.weight, Decimal::ONE);
        set_unless_default(&mut instance.tasks, position, user.tasks, None);
        let group = user.group.map_or(0, |group| group.0 as u32 + 1);
        set_unless_default(&mut instance.group_of, position, group, 0);
        set_unless_default(&mut instance.rule_of, position, user.rule.0 as u32, 0);
        Ok(UserId(position))
    }

    /// Sets the quota of a group or of a user that was added before. The violation's place starts at its owner
    /// (`groups[2].limit.cpu`).
    pub fn quota(&mut self, owner: Owner, quota: Quota) -> Result<(), Violation> {
        let instance = &mut self.instance;
        let quota = quota.check(&place_of(owner), &instance.resources, instance.classes.len())?;
        for (resource, amount) in quota.amounts() {
            let exponent = &mut instance.exponents[resource.0];
            *exponent = (*exponent).min(amount.exponent());
        }
        if !quota.is_empty() {
            instance.quotas.push((owner, quota));
        }
        Ok(())
    }

    /// The id of a user that was added.
    pub fn user_id(&self, user: UserId) -> &str {
        self.instance.ids.get(user.0)
    }

    /// Checks that the users added so far have different ids, which [`InstanceBuilder::build`] does at the latest.
    ///
    /// # Errors
    /// The first user with the id of an earlier one.
    pub fn check_ids(&mut self) -> Result<(), UserId> {
        self.instance.ids.index().map_err(UserId)
    }

    /// Checks what can only be seen at the end and returns the instance.
    pub fn build(mut self) -> Result<Instance, Violation> {
        self.check_ids().map_err(|UserId(position)| {
            let id = self.instance.ids.get(position);
            Violation::new(format!("users[{position}].id"), id, "duplicate id")
        })?;
        self.check_measure()?;
        let instance = &mut self.instance;
        server_names::check(&instance.classes, &instance.class_positions)?;
        if instance.server_count() == 0 {
            return Err(Violation::new("server_classes", "", "the cluster has no servers"));
        }
        if instance.ids.is_empty() {
            return Err(Violation::new("users", "", "there are no users"));
        }
        for r in 0..instance.resources.len() {
            let total = total_of(&instance.classes, r, instance.exponents[r]);
            let fits = |demand: &Decimal| demand.scaled(instance.exponents[r]).is_some_and(|d| d < MAX_UNITS);
            let column = || instance.demands.iter().skip(r).step_by(instance.resources.len());
            // Mostly the largest is so small that no rounding of it matters.
            let amounts = || instance.quotas.iter().flat_map(|(_, quota)| quota.amounts());
            let quotas_fit =
                amounts().filter(|(resource, _)| resource.0 == r).all(|(_, amount)| fits(&amount));
            let clearly =
                self.largest[r] < 0.5 * MAX_UNITS as f64 * 10f64.powi(i32::from(instance.exponents[r]));
            match total {
                Some(total) if total < MAX_UNITS && quotas_fit && (clearly || column().all(fits)) => {
                    instance.totals[r] = total
                }
                _ => {
                    return Err(Violation::new(
                        format!("resource {}", instance.resources[r]),
                        "",
                        "its largest and smallest numbers are too far apart to count exactly; round the small ones",
                    ));
                }
            }
            if instance.totals[r] == 0
                && let Some(user) = column().position(|demand| !demand.is_zero())
            {
                let name = &instance.resources[r];
                let (field, demand) = instance.user(UserId(user)).demand_stated(r);
                return Err(Violation::new(
                    format!("users[{user}].{field}.{name}"),
                    demand,
                    format!("no server has any {name}; add servers with {name} or drop the demand"),
                ));
            }
            instance.total_doubles[r] = nearest(instance.totals[r], instance.exponents[r]);
        }
        instance.settle_devices()?;
        instance.settle_quotas()?;
        self.measure()?;
        self.instance.settle_domains()?;
        Ok(self.instance)
    }

    /// The classes by which shares are measured, if they are not the instance's own, must be the same ones; their last digits
    /// count where a resource's unit is chosen.
    fn check_measure(&mut self) -> Result<(), Violation> {
        let Instance { classes, measured_by: Some(others), exponents, .. } = &mut self.instance else {
            return Ok(());
        };
        let are_alike = |(one, other): (&ServerClass, &ServerClass)| {
            one.id == other.id && one.capacity.len() == other.capacity.len()
        };
        if classes.len() < others.len() || !classes.iter().zip(others.iter()).all(are_alike) {
            let problem = "shares can only be measured by servers of classes with which the instance begins";
            return Err(Violation::new("server_classes", format!("{} classes", others.len()), problem));
        }
        for class in others.iter() {
            for (exponent, capacity) in exponents.iter_mut().zip(&class.capacity) {
                *exponent = (*exponent).min(capacity.exponent());
            }
        }
        Ok(())
    }

    /// What a share of one is of each resource.
    fn measure(&mut self) -> Result<(), Violation> {
        let instance = &mut self.instance;
        let capacities = instance.measuring_classes().iter().flat_map(|class| &class.capacity);
        instance.measuring_doubles = capacities.map(|capacity| capacity.to_f64()).collect();
        let Some(others) = &instance.measured_by else {
            instance.measures.clone_from(&instance.totals);
            instance.measure_doubles.clone_from(&instance.total_doubles);
            return Ok(());
        };
        for (r, name) in instance.resources.iter().enumerate() {
            let units = total_of(others, r, instance.exponents[r]).filter(|units| *units < MAX_UNITS);
            instance.measures[r] = units.ok_or_else(|| {
                Violation::new(
                    format!("resource {name}"),
                    "",
                    "the servers by which shares are measured have too much of it",
                )
            })?;
            instance.measure_doubles[r] = nearest(instance.measures[r], instance.exponents[r]);
            if instance.measures[r] == 0 && self.largest[r] > 0.0 {
                let problem = "users need it, and the servers by which shares are measured have none";
                return Err(Violation::new(format!("resource {name}"), "", problem));
            }
        }
        Ok(())
    }
}

/// The capacity of all servers in units of `10^exponent`; `None` beyond 128 bits.
fn total_of(classes: &[ServerClass], resource: usize, exponent: i8) -> Option<u128> {
    classes.iter().try_fold(0u128, |sum, class| {
        let one = class.capacity[resource].scaled(exponent)?;
        sum.checked_add(one.checked_mul(u128::from(class.count))?)
    })
}

/// Dividing by the exact power of ten keeps the nearest double for all but enormous totals.
fn nearest(units: u128, exponent: i8) -> f64 {
    format!("{units}e{exponent}").parse().unwrap_or(f64::INFINITY)
}

/// Largest count of servers of a class or of tasks of a user: a billion billions would be a typing error.
const MAX_COUNT: u64 = 1_000_000_000_000_000;

/// Most resources of an instance: more is a table read the wrong way round.
const MAX_RESOURCES: usize = 1000;

/// Totals stay below this many smallest units, so that sums of products in 256 bits cannot overflow.
const MAX_UNITS: u128 = 1 << 120;

/// Columns that hold only defaults are not stored.
fn set_unless_default<T: Clone + PartialEq>(
    column: &mut Option<Vec<T>>,
    position: usize,
    value: T,
    default: T,
) {
    match column {
        Some(values) => values.push(value),
        None if value == default => {}
        None => {
            let mut values = vec![default; position];
            values.push(value);
            *column = Some(values);
        }
    }
}

/// The same of `count` more, whose column is `others`.
fn append_unless_default<T: Clone>(
    column: &mut Option<Vec<T>>,
    before: usize,
    (others, count): (Option<Vec<T>>, usize),
    default: T,
) {
    if column.is_some() || others.is_some() {
        let values = column.get_or_insert_with(|| vec![default.clone(); before]);
        match others {
            Some(others) => values.extend(others),
            None => values.resize(before + count, default),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ResourceId;

    fn decimals(numbers: &[&str]) -> Vec<Decimal> {
        numbers.iter().map(|number| number.parse().unwrap()).collect()
    }

    fn two_resources() -> InstanceBuilder {
        let mut builder = InstanceBuilder::new("test", vec!["cpu".into(), "memory".into()]).unwrap();
        builder.class(ServerClass::new("a", 2, decimals(&["2", "12"]))).unwrap();
        builder.class(ServerClass::new("b", 1, decimals(&["12", "0"]))).unwrap();
        builder
    }

    #[test]
    fn an_instance_knows_totals_dominant_resources_and_usable_classes() {
        let mut builder = two_resources();
        builder.user(NewUser::new("u", &decimals(&["0.2", "1"]))).unwrap();
        builder.user(NewUser::new("v", &decimals(&["1", "0"]))).unwrap();
        let instance = builder.build().unwrap();
        assert_eq!(instance.total(ResourceId(0)), 16.0);
        assert_eq!(instance.total_units(ResourceId(0)), 160);
        let (u, v) = (instance.user(UserId(0)), instance.user(UserId(1)));
        assert_eq!((u.dominant_resource(), v.dominant_resource()), (ResourceId(1), ResourceId(0)));
        assert_eq!(u.task_share(), 1.0 / 24.0);
        assert!(!u.can_use(ClassId(1)), "class b has no memory");
        assert!(v.can_use(ClassId(1)));
    }

    #[test]
    fn each_broken_rule_names_its_place_and_value() {
        let text = |violation: Violation| violation.to_string();
        let mut builder = two_resources();
        let zero = decimals(&["0", "0"]);
        assert_eq!(
            text(builder.user(NewUser::new("u", &zero)).unwrap_err()),
            "users[0].demand: a task must need some resource"
        );
        let one = decimals(&["1", "1"]);
        builder.user(NewUser::new("u", &one)).unwrap();
        let weightless = NewUser { weight: Decimal::ZERO, ..NewUser::new("v", &one) };
        assert_eq!(text(builder.user(weightless).unwrap_err()), "users[1].weight = 0: must be > 0");
        builder.user(NewUser::new("u", &one)).unwrap();
        assert_eq!(text(builder.build().unwrap_err()), "users[1].id = u: duplicate id");
        assert_eq!(
            text(InstanceBuilder::new("", vec!["cpu".into(), "cpu".into()]).err().unwrap()),
            "resources[1] = cpu: duplicate resource"
        );
        assert_eq!(text(two_resources().build().unwrap_err()), "users: there are no users");
    }

    #[test]
    fn a_demanded_resource_that_no_server_has_is_refused() {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "gpu".into()]).unwrap();
        builder.class(ServerClass::new("a", 1, decimals(&["1", "0"]))).unwrap();
        builder.user(NewUser::new("u", &decimals(&["1", "2"]))).unwrap();
        let message = builder.build().unwrap_err().to_string();
        assert_eq!(
            message,
            "users[0].demand.gpu = 2: no server has any gpu; add servers with gpu or drop the demand"
        );
    }

    #[test]
    fn columns_of_defaults_are_filled_in_when_the_first_other_value_comes() {
        let mut builder = two_resources();
        let one = decimals(&["1", "1"]);
        builder.user(NewUser::new("u", &one)).unwrap();
        builder.user(NewUser { tasks: Some(7), ..NewUser::new("v", &one) }).unwrap();
        let instance = builder.build().unwrap();
        let tasks: Vec<_> = instance.users().map(|user| user.tasks()).collect();
        assert_eq!(tasks, [None, Some(7)]);
    }
}
