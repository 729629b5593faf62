//! Profiles of devices: the parts into which a device can be cut, each so many slices beside each other that begin at certain ones.
//!
//! What NVIDIA calls MIG is one case. A device is whole, shared by tasks that take any part of it, or cut: where a task with a profile
//! has slices of it, all its other tasks have profiles too. Which slices a task has is kept for as long as it runs.

use super::{Instance, InstanceBuilder, Kind, KindId, ResourceId, User, UserId};
use crate::violation::Violation;
use crate::wording::unknown;
use crate::{ClassId, Decimal};

/// Most slices of a device, which are kept as bits, and most profiles of a resource: more would be a typing error.
const MOST_SLICES: u32 = 64;
const MOST_PROFILES: usize = 64;

/// Into what each device of a resource can be cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceProfiles {
    /// Whose devices.
    pub resource: ResourceId,
    /// The equal slices of one device, at most 64.
    pub slices: u32,
    /// The profiles, by slices and then by name.
    pub profiles: Vec<DeviceProfile>,
}

/// A part of a device that a task can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceProfile {
    /// Unique among the profiles of all resources.
    pub name: String,
    /// How many slices beside each other it takes.
    pub slices: u32,
    /// The slices at which it may begin, counted from 0, rising.
    pub starts: Vec<u32>,
}

/// A profile of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProfileId {
    /// Of which resource's devices.
    pub resource: ResourceId,
    /// Position among their profiles.
    pub number: usize,
}

impl DeviceProfile {
    /// The slices that it takes from one on, as bits.
    pub fn from(&self, start: u32) -> u64 {
        (u64::MAX >> (MOST_SLICES - self.slices.clamp(1, MOST_SLICES))) << start
    }

    /// The starts of a device on which these slices are taken, where it has room.
    pub fn open(&self, taken: u64) -> impl Iterator<Item = u32> + '_ {
        self.starts.iter().copied().filter(move |start| self.from(*start) & taken == 0)
    }

    /// How often it fits between two slices of a device of which none is taken; the second is the first behind.
    pub fn times_within(&self, first: u32, end: u32) -> u64 {
        let (mut next, mut times) = (first, 0);
        for start in &self.starts {
            if *start >= next && start + self.slices <= end {
                (next, times) = (start + self.slices, times + 1);
            }
        }
        times
    }
}

impl DeviceProfiles {
    /// How many more parts could be made of a device of which these slices are taken, each counted alone: profiles with their starts.
    fn choices(&self, taken: u64) -> usize {
        self.profiles.iter().map(|profile| profile.open(taken).count()).sum()
    }

    /// Where a profile begins on a device of which these slices are taken: where it leaves the most starts of all profiles open, and of
    /// several such places at the last; `None` without room.
    pub fn start_for(&self, number: usize, taken: u64) -> Option<u32> {
        let profile = &self.profiles[number];
        profile.open(taken).max_by_key(|start| (self.choices(taken | profile.from(*start)), *start))
    }

    /// How many of a profile have room on a device of which these slices are taken, each begun where [`start_for`](Self::start_for)
    /// says.
    pub fn room_for(&self, number: usize, mut taken: u64) -> u64 {
        let mut room = 0;
        while let Some(start) = self.start_for(number, taken) {
            taken |= self.profiles[number].from(start);
            room += 1;
        }
        room
    }
}

impl DeviceProfiles {
    /// Checks them and puts them in order, for a device of this size, beside those of other resources; the size of a slice. `name` is the
    /// resource's.
    pub(crate) fn check(&mut self, name: &str, size: Decimal, known: &[Self]) -> Result<Decimal, Violation> {
        let cut = self;
        let place = |field: &str| format!("device_profiles.{name}{field}");
        if cut.slices == 0 || cut.slices > MOST_SLICES {
            let problem = format!("must be from 1 to {MOST_SLICES}");
            return Err(Violation::new(place(".slices"), cut.slices, problem));
        }
        let Some(slice) = size.part_of(cut.slices.into()) else {
            let problem = format!(
                "does not divide a device of {size} {name} into equal slices that are decimals; correct it, or state {name} in a unit of \
                 which a slice has a whole number"
            );
            return Err(Violation::new(place(".slices"), cut.slices, problem));
        };
        if cut.profiles.is_empty() || cut.profiles.len() > MOST_PROFILES {
            let problem =
                format!("name from 1 to {MOST_PROFILES} profiles, or leave out `device_profiles` of {name}");
            return Err(Violation::new(place(".profiles"), cut.profiles.len(), problem));
        }
        for profile in &cut.profiles {
            profile.check(cut.slices, &place(".profiles"))?;
        }
        cut.sort();
        if known.iter().any(|other| other.resource == cut.resource) {
            return Err(Violation::new(place(""), "", "a resource is named twice"));
        }
        let others = || known.iter().flat_map(|cut| &cut.profiles);
        for (position, profile) in cut.profiles.iter().enumerate() {
            let earlier = others().chain(&cut.profiles[..position]);
            if earlier.map(|other| &other.name).any(|other| *other == profile.name) {
                let problem = "another profile has this name; tasks name profiles by it";
                return Err(Violation::new(place(".profiles"), &profile.name, problem));
            }
        }
        Ok(slice)
    }

    /// Puts the profiles in their order, by slices and then by name.
    pub(crate) fn sort(&mut self) {
        self.profiles.sort_by(|a, b| a.slices.cmp(&b.slices).then_with(|| a.name.cmp(&b.name)));
    }

    /// The profile called so, of those that there are; what is wrong is wrong at `place`.
    pub(crate) fn named(
        of_all: &[Self],
        name: &str,
        place: impl Fn() -> String,
    ) -> Result<ProfileId, Violation> {
        for cut in of_all {
            if let Some(number) = cut.profiles.iter().position(|profile| profile.name == name) {
                return Ok(ProfileId { resource: cut.resource, number });
            }
        }
        if of_all.is_empty() {
            let problem = "there are no profiles; state them in `device_profiles`";
            return Err(Violation::new(place(), name, problem));
        }
        let names = of_all.iter().flat_map(|cut| &cut.profiles).map(|profile| profile.name.as_str());
        Err(Violation::new(place(), name, unknown("profile", name, names)))
    }

    /// How much a profile takes of a device of this size; `None` if that has too many digits.
    pub(crate) fn amount(&self, number: usize, size: Decimal) -> Option<Decimal> {
        let slice = size.part_of(self.slices.into())?;
        let slices = u128::from(self.profiles.get(number)?.slices);
        let units = slice.scaled(slice.exponent())?.checked_mul(slices)?;
        Decimal::from_units(units, i32::from(slice.exponent())).ok()
    }
}

impl Instance {
    /// Into what devices can be cut, rising by resource; empty where none is.
    pub fn device_profiles(&self) -> &[DeviceProfiles] {
        self.devices.as_ref().map_or(&[], |devices| &devices.cut)
    }

    /// The same of one resource.
    pub fn profiles_of(&self, resource: ResourceId) -> Option<&DeviceProfiles> {
        self.device_profiles().iter().find(|cut| cut.resource == resource)
    }

    /// Whether some task has a profile.
    pub fn has_profiles(&self) -> bool {
        self.devices.as_ref().is_some_and(|devices| devices.profile_of.iter().any(Option::is_some))
    }

    /// How many tasks of a profile fit on one device that nobody uses, if nothing else does; 0 if there is no such profile.
    pub fn most_on_a_device(&self, profile: ProfileId) -> u64 {
        let cut = self.profiles_of(profile.resource);
        let profile = cut.and_then(|cut| Some((cut.slices, cut.profiles.get(profile.number)?)));
        profile.map_or(0, |(slices, profile)| profile.times_within(0, slices))
    }

    /// Checks that what has a profile may run only where there are devices to cut.
    pub(super) fn settle_profiles(&self) -> Result<(), Violation> {
        if !self.has_profiles() {
            return Ok(());
        }
        for kind in (0..self.kind_count()).map(|k| self.kind(KindId(k))) {
            let Some(ProfileId { resource, .. }) = kind.profile() else { continue };
            let has_none = |l: &usize| {
                let class = &self.classes[*l];
                kind.rule().allows(ClassId(*l))
                    && !class.capacity[resource.0].is_zero()
                    && class.devices_of(resource).is_none()
            };
            if let Some(l) = (0..self.classes.len()).find(has_none) {
                let (class, name) = (&self.classes[l].id, &self.resources[resource.0]);
                let problem = format!(
                    "class {class}, on which the task may run, has {name} and no devices of it; state its `devices`, or leave the class \
                     out of `eligible`"
                );
                let id = kind.profile_name().unwrap_or_default();
                return Err(Violation::new(place(kind.user(), kind.index()), id, problem));
            }
        }
        Ok(())
    }
}

/// Where the profile of a kind stands.
fn place(user: User<'_>, kind: KindId) -> String {
    match user.has_kinds() {
        true => format!("users[{}].kinds[{}].profile", user.index().0, kind.0 - user.kind_range().start),
        false => format!("users[{}].profile", user.index().0),
    }
}

impl<'a> Kind<'a> {
    /// The profile of the part that one piece takes of a device; `None` where it takes whole ones, any part, or none.
    pub fn profile(self) -> Option<ProfileId> {
        let devices = self.user().instance().devices.as_ref()?;
        devices.profile_of.get(self.index().0).copied().flatten()
    }

    /// What that is called.
    pub fn profile_name(self) -> Option<&'a str> {
        let id = self.profile()?;
        let cut = self.user().instance().profiles_of(id.resource)?;
        cut.profiles.get(id.number).map(|profile| profile.name.as_str())
    }
}

impl<'a> User<'a> {
    /// The profile of the part that one task takes of a device; `None` where it has none, or kinds that may have their own.
    pub fn profile_name(self) -> Option<&'a str> {
        let only = self.kinds().next().filter(|_| !self.has_kinds());
        only.and_then(Kind::profile_name)
    }
}

impl InstanceBuilder {
    /// Says into what the devices of a resource can be cut, after all classes and before users. The violation's place starts at the
    /// field (`device_profiles.gpu.slices`).
    ///
    /// # Errors
    /// Devices that nobody has, slices that are no equal decimals, profiles that no device has room for, names that are there twice.
    pub fn device_profiles(&mut self, mut cut: DeviceProfiles) -> Result<(), Violation> {
        let Some(name) = self.resources().get(cut.resource.0).cloned() else {
            return Err(Violation::new("device_profiles", cut.resource.0, "there is no such resource"));
        };
        let Some(size) = self.instance.device_size(cut.resource) else {
            let problem = format!(
                "no server class has devices of {name}; state `devices` on those whose devices can be cut"
            );
            return Err(Violation::new(format!("device_profiles.{name}"), "", problem));
        };
        let slice = cut.check(&name, size, self.instance.device_profiles())?;
        let exponent = &mut self.instance.exponents[cut.resource.0];
        *exponent = (*exponent).min(slice.exponent());
        let devices = self.instance.devices.get_or_insert_default();
        devices.cut.push(cut);
        devices.cut.sort_by_key(|cut| cut.resource);
        Ok(())
    }

    /// What a task with this profile takes of which resource, so that its demand need not state it.
    ///
    /// # Errors
    /// At `place`, if there is no such profile.
    pub fn taken_by_profile(
        &self,
        name: &str,
        place: impl Fn() -> String,
    ) -> Result<(ResourceId, Decimal), Violation> {
        let id = self.profile_named(name, &place)?;
        let instance = &self.instance;
        let cut = instance.profiles_of(id.resource);
        let taken = cut.and_then(|cut| cut.amount(id.number, instance.device_size(id.resource)?));
        let amount = taken.ok_or_else(|| Violation::new(place(), name, "its amount has too many digits"))?;
        Ok((id.resource, amount))
    }

    fn profile_named(&self, name: &str, place: impl Fn() -> String) -> Result<ProfileId, Violation> {
        DeviceProfiles::named(self.instance.device_profiles(), name, place)
    }

    /// Says that each task of a user that was added last takes a part of this profile of a device; of a user with kinds each piece of
    /// the one at this position. The violation's place starts at the user (`users[3].kinds[1].profile`).
    ///
    /// # Errors
    /// If there is no such profile, or the demand is another than the profile's.
    pub fn profile(&mut self, user: UserId, kind: Option<usize>, name: &str) -> Result<(), Violation> {
        let place = |field: &str| match kind {
            Some(kind) => format!("users[{}].kinds[{kind}].{field}", user.0),
            None => format!("users[{}].{field}", user.0),
        };
        let id = self.profile_named(name, || place("profile"))?;
        let (resource, amount) = self.taken_by_profile(name, || place("profile"))?;
        let range = self.instance.user(user).kind_range();
        let of = KindId(range.start + kind.unwrap_or(0).min(range.len().saturating_sub(1)));
        let demand = self.instance.kind(of).piece()[resource.0];
        if demand != amount {
            let of_resource = &self.resources()[resource.0];
            let problem = format!(
                "a part of profile {name} is {amount} {of_resource}; leave it out, or correct the demand or the profile"
            );
            return Err(Violation::new(place(&format!("demand.{of_resource}")), demand, problem));
        }
        let profile_of = &mut self.instance.devices.get_or_insert_default().profile_of;
        if profile_of.len() <= of.0 {
            profile_of.resize(of.0 + 1, None);
        }
        profile_of[of.0] = Some(id);
        Ok(())
    }
}

impl DeviceProfile {
    /// Checks that a device of so many slices has room for it at each of its starts.
    fn check(&self, slices: u32, place: &str) -> Result<(), Violation> {
        let at = |field: &str| format!("{place}.{}{field}", self.name);
        if self.name.is_empty() {
            return Err(Violation::new(place, "", "a profile needs a name"));
        }
        if self.slices == 0 || self.slices > slices {
            let problem = format!("must be from 1 to {slices}, the slices of a device");
            return Err(Violation::new(at(".slices"), self.slices, problem));
        }
        if self.starts.is_empty() {
            let problem = "name the slices at which it may begin, counted from 0";
            return Err(Violation::new(at(".starts"), "", problem));
        }
        for (position, start) in self.starts.iter().enumerate() {
            let refused = |problem| Err(Violation::new(at(&format!(".starts[{position}]")), start, problem));
            if position > 0 && self.starts[position - 1] >= *start {
                let before = self.starts[position - 1];
                return refused(format!("comes after {before}; name each start once, in rising order"));
            }
            if start.checked_add(self.slices).is_none_or(|end| end > slices) {
                return refused(format!(
                    "{} from there on end behind the last slice of a device, which has {slices}",
                    crate::wording::counted(self.slices.into(), "slice", "slices")
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
