//! What whole tasks meet inside one server: devices, of which a task takes whole ones or a part of one, and how many tasks of a
//! user run there at most.
//!
//! All devices of a resource have one size, on whatever class. A task that demands at most that takes its demand of a single
//! device; one that demands more takes so many whole devices that nobody else uses; `profiles.rs` has what devices can be cut into.
//! Divided tasks know nothing of this, so what they reach is an upper bound.

use super::{
    ClassId, DeviceProfiles, Draft, Instance, InstanceBuilder, KindId, ProfileId, ResourceId, ServerClass,
    User, UserId,
};
use crate::Decimal;
use crate::violation::Violation;
use std::borrow::Cow;

/// Most devices of a resource on one server: more would be a typing error.
pub(crate) const MOST_DEVICES: u64 = 1024;

/// The sizes of devices and the limits a server, of instances that have any.
#[derive(Clone, Default)]
pub(super) struct Devices {
    /// The size of one device of each resource, where some class has devices of it.
    sizes: Vec<Option<Decimal>>,
    /// The most tasks of each user on one server.
    per_server: Vec<Option<u64>>,
    /// Into what devices can be cut, rising by resource.
    pub(super) cut: Vec<DeviceProfiles>,
    /// The profile of each kind of tasks, as far as some have one.
    pub(super) profile_of: Vec<Option<ProfileId>>,
}

impl Instance {
    /// Whether there are rules that only whole tasks meet: devices, users with at most so many tasks a server, or rules between
    /// servers ([`Instance::has_rules_between_servers`]).
    pub fn has_server_rules(&self) -> bool {
        self.devices.is_some() || self.has_rules_between_servers()
    }

    /// Whether any class has devices.
    pub fn has_devices(&self) -> bool {
        self.classes.iter().any(|class| !class.devices.is_empty())
    }

    /// The size of one device of a resource; `None` where no class has devices of it.
    pub fn device_size(&self, resource: ResourceId) -> Option<Decimal> {
        self.devices.as_ref().and_then(|devices| devices.sizes.get(resource.0).copied().flatten())
    }

    /// The same in whole smallest units.
    pub fn device_units(&self, resource: ResourceId) -> Option<u128> {
        self.device_size(resource).map(|size| self.in_units(resource, size))
    }

    /// The same as divided tasks see it, which know none of these rules: for questions about variants that the rules would forbid, such as
    /// of a user who says to want half a device more.
    ///
    /// # Errors
    /// None that is known: without rules no other rule of the model is broken.
    pub fn divided(&self) -> Result<Cow<'_, Self>, Violation> {
        if !self.has_server_rules() {
            return Ok(Cow::Borrowed(self));
        }
        let mut draft = Draft::from(self);
        draft.divide();
        draft.build().map(Cow::Owned)
    }

    /// For what does not know the rules that only whole tasks meet.
    ///
    /// # Errors
    /// If there are such rules, naming the first; `what` asks.
    pub fn without_server_rules(&self, what: &str) -> Result<(), Violation> {
        if !self.has_server_rules() {
            return Ok(());
        }
        self.without_devices(what)?;
        let limited = self.users().find_map(|user| user.per_server().map(|most| (user.index().0, most)));
        if let Some((user, most)) = limited {
            let problem = format!("{what} does not know limits a server yet; leave it out");
            return Err(Violation::new(format!("users[{user}].per_server"), most, problem));
        }
        self.without_rules_between_servers(what)
    }

    /// For what knows all rules but devices.
    ///
    /// # Errors
    /// If a class has some, naming the first; `what` asks.
    pub fn without_devices(&self, what: &str) -> Result<(), Violation> {
        let Some(class) = self.classes.iter().position(|class| !class.devices.is_empty()) else {
            return Ok(());
        };
        let problem = format!("{what} does not know devices yet; leave them out");
        Err(Violation::new(format!("server_classes[{class}].devices"), "", problem))
    }

    /// Checks that each task takes whole devices or a part of one wherever it may run.
    pub(super) fn settle_devices(&self) -> Result<(), Violation> {
        let Some(devices) = &self.devices else { return Ok(()) };
        self.settle_profiles()?;
        for (r, size) in devices.sizes.iter().enumerate().filter_map(|(r, size)| Some((r, (*size)?))) {
            let resource = ResourceId(r);
            let units = self.in_units(resource, size);
            let has = |class: &ClassId| self.classes[class.0].devices_of(resource).is_some();
            let with: Vec<ClassId> = (0..self.classes.len()).map(ClassId).filter(has).collect();
            for kind in (0..self.kind_count()).map(|k| self.kind(KindId(k))) {
                let demand = kind.piece_units(resource);
                if demand <= units || demand.is_multiple_of(units) {
                    continue;
                }
                if let Some(class) = with.iter().find(|class| kind.rule().allows(**class)) {
                    let name = &self.resources[r];
                    let user = kind.user();
                    let field = match user.kind_range().len() {
                        _ if !user.has_kinds() => "demand".to_owned(),
                        _ => format!("kinds[{}].demand", kind.index().0 - user.kind_range().start),
                    };
                    let problem = format!(
                        "a task takes a part of one device or whole ones, and a device of class {} has {size} {name}; round it to a \
                         whole number of devices",
                        self.classes[class.0].id
                    );
                    let place = format!("users[{}].{field}.{name}", user.index().0);
                    return Err(Violation::new(place, kind.piece()[r], problem));
                }
            }
        }
        Ok(())
    }
}

impl Draft {
    /// Leaves out the rules that only whole tasks meet.
    pub fn divide(&mut self) {
        self.device_profiles.clear();
        for class in self.classes.iter_mut().chain(self.measured_by.iter_mut().flatten()) {
            (class.devices, class.domain) = (Vec::new(), None);
        }
        for user in &mut self.users {
            (user.per_server, user.gang, user.spread, user.profile) = (None, None, None, None);
            user.kinds.iter_mut().for_each(|kind| kind.profile = None);
        }
    }
}

impl ServerClass {
    /// How many devices of a resource one server has; `None` where it has an amount and no devices.
    pub fn devices_of(&self, resource: ResourceId) -> Option<u64> {
        self.devices.iter().find(|(other, _)| *other == resource).map(|(_, count)| *count)
    }
}

impl User<'_> {
    /// The most tasks of the user on one server, where it has kinds the most pieces of each kind; `None` is any number.
    pub fn per_server(self) -> Option<u64> {
        let devices = self.instance.devices.as_ref()?;
        devices.per_server.get(self.id.0).copied().flatten()
    }
}

impl InstanceBuilder {
    /// Notes the devices of a class about to be added. The violation's place starts at the class
    /// (`server_classes[2].devices.gpu`).
    pub(super) fn note_devices(&mut self, class: &mut ServerClass) -> Result<(), Violation> {
        let position = self.instance.classes.len();
        class.devices.sort_by_key(|(resource, _)| *resource);
        for &(resource, count) in &class.devices {
            let Some(name) = self.instance.resources.get(resource.0) else {
                let problem = "there is no such resource";
                return Err(Violation::new(
                    format!("server_classes[{position}].devices"),
                    resource.0,
                    problem,
                ));
            };
            let refused = |problem: String| {
                Violation::new(format!("server_classes[{position}].devices.{name}"), count, problem)
            };
            let capacity = class.capacity[resource.0];
            if count == 0 || capacity.is_zero() {
                let problem = "leave it out: without devices or without capacity there are none";
                return Err(refused(problem.into()));
            }
            if count > MOST_DEVICES {
                return Err(refused(format!("must be <= {MOST_DEVICES}")));
            }
            let Some(size) = capacity.part_of(count) else {
                let problem = format!(
                    "does not divide the capacity of {capacity} {name} into equal devices; correct either"
                );
                return Err(refused(problem));
            };
            let sizes = &mut self.instance.devices.get_or_insert_default().sizes;
            sizes.resize(self.instance.resources.len(), None);
            if let Some(other) = sizes[resource.0].filter(|other| *other != size) {
                let problem = format!(
                    "makes devices of {size} {name}, and those of an earlier class have {other}; all have one size"
                );
                return Err(refused(problem));
            }
            sizes[resource.0] = Some(size);
            let exponent = &mut self.instance.exponents[resource.0];
            *exponent = (*exponent).min(size.exponent());
        }
        if class.devices.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            let place = format!("server_classes[{position}].devices");
            return Err(Violation::new(place, "", "a resource is named twice"));
        }
        Ok(())
    }

    /// Sets how many tasks of a user that was added before, or pieces of each of its kinds, run on one server at most. The violation's place starts at the
    /// user (`users[3].per_server`).
    pub fn per_server(&mut self, user: UserId, most: u64) -> Result<(), Violation> {
        let place = || format!("users[{}].per_server", user.0);
        if most == 0 {
            let problem = "lets no task run; give the user `tasks` 0, or leave it out for any number";
            return Err(Violation::new(place(), most, problem));
        }
        let limits = &mut self.instance.devices.get_or_insert_default().per_server;
        if limits.len() <= user.0 {
            limits.resize(user.0 + 1, None);
        }
        limits[user.0] = Some(most);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NewUser;

    fn cluster(capacity: &str, devices: u64) -> Result<InstanceBuilder, Violation> {
        let mut builder = InstanceBuilder::new("", vec!["gpu".into()])?;
        let mut class = ServerClass::new("a", 2, vec![capacity.parse().unwrap()]);
        class.devices = vec![(ResourceId(0), devices)];
        builder.class(class)?;
        Ok(builder)
    }

    fn with_task(capacity: &str, devices: u64, demand: &str) -> Result<Instance, String> {
        let mut builder = cluster(capacity, devices).map_err(|violation| violation.to_string())?;
        builder.user(NewUser::new("u", &[demand.parse().unwrap()])).unwrap();
        builder.build().map_err(|violation| violation.to_string())
    }

    #[test]
    fn a_device_is_an_equal_part_of_the_capacity_however_fine() {
        let sizes = [("8", 8, "1"), ("8000", 8, "1000"), ("1", 8, "0.125"), ("4.8", 3, "1.6")];
        for (capacity, devices, size) in sizes {
            let instance = with_task(capacity, devices, size).unwrap();
            assert_eq!(instance.device_size(ResourceId(0)), Some(size.parse().unwrap()));
            assert!(instance.has_server_rules());
        }
    }

    #[test]
    fn devices_that_cannot_be_are_named_with_place_and_value() {
        let told = |capacity, devices| cluster(capacity, devices).err().unwrap().to_string();
        assert_eq!(
            told("8", 3),
            "server_classes[0].devices.gpu = 3: does not divide the capacity of 8 gpu into equal devices; correct either"
        );
        let none = "leave it out: without devices or without capacity there are none";
        assert_eq!(told("8", 0), format!("server_classes[0].devices.gpu = 0: {none}"));
        assert_eq!(told("2048", 2048), "server_classes[0].devices.gpu = 2048: must be <= 1024");
        assert_eq!(told("0", 2), format!("server_classes[0].devices.gpu = 2: {none}"));
        let mut builder = cluster("8", 8).unwrap();
        let mut other = ServerClass::new("b", 1, vec!["8".parse().unwrap()]);
        other.devices = vec![(ResourceId(0), 4)];
        assert_eq!(
            builder.class(other).unwrap_err().to_string(),
            "server_classes[1].devices.gpu = 4: makes devices of 2 gpu, and those of an earlier class have 1; all have one size"
        );
    }

    #[test]
    fn a_part_of_a_device_above_one_must_be_whole() {
        for demand in ["0.3", "1", "2", "8", "9"] {
            assert!(with_task("8", 8, demand).is_ok(), "{demand}");
        }
        assert_eq!(
            with_task("8", 8, "1.5").err().unwrap(),
            "users[0].demand.gpu = 1.5: a task takes a part of one device or whole ones, and a device of class a has 1 gpu; round \
             it to a whole number of devices"
        );
    }

    #[test]
    fn a_limit_of_no_task_a_server_is_refused_and_others_are_kept() {
        let mut builder = cluster("8", 8).unwrap();
        let user = builder.user(NewUser::new("u", &["1".parse().unwrap()])).unwrap();
        let told = builder.per_server(user, 0).unwrap_err().to_string();
        assert!(told.starts_with("users[0].per_server = 0: lets no task run"), "{told}");
        builder.per_server(user, 2).unwrap();
        let instance = builder.build().unwrap();
        assert_eq!(instance.user(user).per_server(), Some(2));
        let told = instance.without_server_rules("plan move").unwrap_err().to_string();
        assert_eq!(told, "server_classes[0].devices: plan move does not know devices yet; leave them out");
        let divided = instance.divided().unwrap();
        assert!(!divided.has_server_rules() && divided.user(user).per_server().is_none());
        assert_eq!(divided.total(ResourceId(0)), 16.0);
    }
}
