//! One device of a server: whole, shared by tasks that take any part of it, or cut, by tasks that take slices of it as profiles say.
//!
//! A task that has slices keeps them, and a device that is cut has room for no other part until all of them are free again.

use fairplan_instances::{DeviceProfiles, Instance, KindId, ResourceId};

/// What is left of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    /// In units of its resource.
    pub free: u128,
    /// The slices that tasks with profiles have, as bits; 0 unless it is cut.
    taken: u64,
}

/// What a task wants of the devices of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// None of them.
    Nothing,
    /// So many units of a single one.
    Part(u128),
    /// What a profile, by its number, has of a single one.
    Profile(usize),
    /// So many whole ones.
    Whole(u128),
}

impl Want {
    /// Of a task without a profile.
    pub fn of(demand: u128, size: u128) -> Self {
        match demand {
            0 => Self::Nothing,
            part if part < size => Self::Part(part),
            whole => Self::Whole(whole / size.max(1)),
        }
    }

    /// Whether it is of a single device that others may have parts of.
    pub fn is_of_one(self) -> bool {
        matches!(self, Self::Part(_) | Self::Profile(_))
    }

    /// How many devices it is of.
    pub fn devices(self) -> u128 {
        match self {
            Self::Nothing => 0,
            Self::Part(_) | Self::Profile(_) => 1,
            Self::Whole(count) => count,
        }
    }
}

/// What the devices of a resource have in common.
#[derive(Clone, Default)]
pub(crate) struct Make {
    /// In units of the resource; 0 where nobody has any.
    pub size: u128,
    profiles: Option<DeviceProfiles>,
}

impl Make {
    /// Of a resource of an instance.
    pub fn new(instance: &Instance, resource: ResourceId) -> Self {
        let size = instance.device_units(resource).unwrap_or(0);
        Self { size, profiles: instance.profiles_of(resource).cloned() }
    }

    /// Without profiles.
    pub fn of_size(size: u128) -> Self {
        Self { size, profiles: None }
    }

    /// From now on they can be cut so.
    pub fn cut(&mut self, profiles: &DeviceProfiles) {
        self.profiles = Some(profiles.clone());
    }

    /// What a kind of tasks wants of them; nothing where there are none.
    pub fn wanted(&self, instance: &Instance, kind: usize, resource: usize, demand: u128) -> Want {
        let profile = instance.kind(KindId(kind)).profile().filter(|of| of.resource.0 == resource);
        match profile {
            _ if self.size == 0 => Want::Nothing,
            Some(profile) => Want::Profile(profile.number),
            None => Want::of(demand, self.size),
        }
    }

    /// A device that nobody uses.
    pub fn unused(&self) -> Device {
        Device { free: self.size, taken: 0 }
    }

    /// Where a profile begins on a device, if it has room.
    fn start(&self, device: Device, profile: usize) -> Option<u32> {
        let may_be_cut = device.taken > 0 || device.free == self.size;
        self.profiles.as_ref().filter(|_| may_be_cut)?.start_for(profile, device.taken)
    }

    /// Whether a device is one of those that a want can be of.
    pub fn has_room(&self, device: Device, want: Want) -> bool {
        match want {
            Want::Nothing => true,
            Want::Part(part) => device.taken == 0 && device.free >= part,
            Want::Whole(_) => device.free == self.size,
            Want::Profile(number) => {
                let has_start =
                    |cut: &DeviceProfiles| cut.profiles[number].open(device.taken).next().is_some();
                (device.taken > 0 || device.free == self.size)
                    && self.profiles.as_ref().is_some_and(has_start)
            }
        }
    }

    /// Takes what is wanted of a device that has room for it.
    pub fn take(&self, device: &mut Device, want: Want) {
        match want {
            Want::Nothing => {}
            Want::Part(part) => device.free -= part,
            Want::Whole(_) => device.free = 0,
            Want::Profile(number) => {
                if let (Some(start), Some(cut)) = (self.start(*device, number), &self.profiles) {
                    let profile = &cut.profiles[number];
                    device.taken |= profile.from(start);
                    device.free -= self.size / u128::from(cut.slices) * u128::from(profile.slices);
                }
            }
        }
    }

    /// How many wants devices have room for.
    pub fn room(&self, devices: &[Device], want: Want) -> u128 {
        match want {
            Want::Nothing => u128::MAX,
            Want::Part(part) => {
                let shared = devices.iter().filter(|device| device.taken == 0);
                shared.map(|device| device.free / part).sum()
            }
            Want::Whole(count) => {
                devices.iter().filter(|device| device.free == self.size).count() as u128 / count
            }
            Want::Profile(number) => {
                let of_one = |device: &Device| match (self.has_room(*device, want), &self.profiles) {
                    (true, Some(cut)) => u128::from(cut.room_for(number, device.taken)),
                    _ => 0,
                };
                devices.iter().map(of_one).sum()
            }
        }
    }

    /// Whether devices have room for a want.
    pub fn have_room(&self, devices: &[Device], want: Want) -> bool {
        let with_room = devices.iter().filter(|device| self.has_room(**device, want));
        match want {
            Want::Whole(count) => with_room.count() as u128 >= count,
            Want::Nothing => true,
            Want::Part(_) | Want::Profile(_) => with_room.take(1).count() > 0,
        }
    }
}

impl Device {
    /// What was taken of it since it was as `before`: an amount, and slices.
    pub fn taken_since(self, before: Self) -> Self {
        Self { free: before.free - self.free, taken: self.taken & !before.taken }
    }

    /// What was taken of it is free again.
    pub fn give_back(&mut self, part: Self) {
        self.free += part.free;
        self.taken &= !part.taken;
    }
}
