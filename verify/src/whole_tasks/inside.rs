//! Rules inside a server, as its contents are bounded: further resources that devices make, device by device whether tasks fit, and how
//! many of one user's tasks a server takes.
//!
//! A task that takes the part `x` of a device counts `min(k, ⌈(k + 1) x⌉ − 1)` of such a resource, one that takes `n` devices counts
//! `n k`, and a device has `k`. As `⌈y⌉ − 1 < y`, parts on one device count less than `k + 1` together, so no content that fits takes
//! more than there is. A task with a profile counts more than its part where every way to cut a device allows it.

use super::devices_alone;
use super::task::Task;
use super::units::Units;
use crate::cuts::Cuts;
use crate::devices::holds;
use fairplan_instances::{ClassId, Instance, Kind, ResourceId};
use std::sync::Arc;

/// The `k` that are used, beside as many as a device holds of a profile.
const PARTS: [u128; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/// The devices of a resource, wherever they are.
#[derive(Clone, Debug)]
struct Make {
    resource: usize,
    /// Of one, in [`Units`].
    size: u128,
    cuts: Option<Arc<Cuts>>,
}

/// A further resource.
struct Row {
    make: Make,
    k: u128,
    /// What a task of each profile counts.
    of_profiles: Vec<u128>,
}

/// What every server has in common.
pub(super) struct Sizes {
    makes: Vec<Make>,
    rows: Vec<Row>,
}

/// The rules inside a server of a class.
#[derive(Clone, Debug, Default)]
pub(super) struct Inside {
    /// How many resources, the last ones, are made by devices.
    pub rows: usize,
    /// Devices, and how many.
    devices: Vec<(Make, u64)>,
    /// All devices that there are anywhere.
    makes: Vec<Make>,
}

impl Make {
    /// The profile that a task has of these devices, if it has one.
    fn profile(&self, task: &Task) -> Option<usize> {
        task.profile.filter(|(resource, _)| *resource == self.resource).map(|(_, profile)| profile)
    }
}

impl Row {
    fn new(make: &Make, k: u128) -> Self {
        let of_profiles = make.cuts.as_ref().map(|cuts| {
            let of_part = |profile| {
                let (slices, all) = cuts.part(profile);
                counts(slices.into(), all.into(), k)
            };
            cuts.counting_more(k, (0..cuts.len()).map(of_part).collect())
        });
        Self { make: make.clone(), k, of_profiles: of_profiles.unwrap_or_default() }
    }

    fn all(make: &Make) -> Vec<Self> {
        let mut ks = PARTS.to_vec();
        let alone = |cuts: &Arc<Cuts>| {
            (0..cuts.len()).map(|profile| u128::from(cuts.alone(profile))).collect::<Vec<_>>()
        };
        ks.extend(make.cuts.as_ref().map(alone).unwrap_or_default());
        ks.sort_unstable();
        ks.dedup();
        ks.into_iter().map(|k| Self::new(make, k)).collect()
    }
}

/// What so much of a device counts.
fn counts(demand: u128, size: u128, k: u128) -> u128 {
    match demand {
        0 => 0,
        part if part < size => (((k + 1) * part).div_ceil(size) - 1).min(k),
        // What is no whole number of devices runs only where there are none.
        whole => k * whole / size,
    }
}

impl Sizes {
    pub fn of(instance: &Instance, units: &Units) -> Self {
        let make = |r: ResourceId| {
            let size = units.of_device(instance, r)?;
            Some(Make { resource: r.0, size, cuts: Cuts::of(instance, r).map(Arc::new) })
        };
        let makes: Vec<Make> = (0..instance.resources().len()).map(ResourceId).filter_map(make).collect();
        Self { rows: makes.iter().flat_map(Row::all).collect(), makes }
    }

    /// The profile of a kind of tasks, as tasks have it: its resource, and which it is.
    pub fn profile(&self, kind: Kind<'_>) -> Option<(usize, usize)> {
        let of = kind.profile()?;
        let make = self.makes.iter().find(|make| make.resource == of.resource.0)?;
        Some((make.resource, make.cuts.as_ref()?.position(of)?))
    }

    /// What a task takes, followed by what it counts of the resources that devices make.
    pub fn counted(&self, mut demand: Vec<u128>, profile: Option<(usize, usize)>) -> Vec<u128> {
        let of_row = |row: &Row| match profile.filter(|(resource, _)| *resource == row.make.resource) {
            Some((_, profile)) => row.of_profiles[profile],
            None => counts(demand[row.make.resource], row.make.size, row.k),
        };
        let counted: Vec<u128> = self.rows.iter().map(of_row).collect();
        demand.extend(counted);
        demand
    }

    /// What a server of a class has, in the same order, and its rules.
    pub fn inside(
        &self,
        instance: &Instance,
        class: ClassId,
        mut capacity: Vec<u128>,
    ) -> (Vec<u128>, Inside) {
        let of_class = &instance.classes()[class.0];
        let has = |row: &Row| match of_class.devices_of(ResourceId(row.make.resource)) {
            Some(count) => u128::from(count) * row.k,
            // Without devices nothing that fits counts more.
            None => (row.k + 1) * capacity[row.make.resource] / row.make.size,
        };
        let rows: Vec<u128> = self.rows.iter().map(has).collect();
        capacity.extend(&rows);
        let devices = |make: &Make| Some((make.clone(), of_class.devices_of(ResourceId(make.resource))?));
        let devices = self.makes.iter().filter_map(devices).collect();
        (capacity, Inside { rows: rows.len(), devices, makes: self.makes.clone() })
    }
}

impl Inside {
    /// Whether any task takes what these rules are about.
    pub fn concerns(&self, demand: &[u128]) -> bool {
        self.devices.iter().any(|(make, _)| demand[make.resource] > 0)
    }

    /// No content is worth more than this if nothing but the devices of one resource counts; `None` where none tells.
    pub fn most_on_devices(&self, tasks: &[Task]) -> Option<u128> {
        let on = |(make, count): &(Make, u64)| devices_alone::most(tasks, make.resource, make.size, *count);
        self.devices.iter().filter_map(on).min()
    }

    /// Whether tasks, so many of each, fit on the devices as far as is found out.
    pub fn may_hold<'a>(&self, tasks: impl Iterator<Item = (&'a Task, u64)> + Clone) -> bool {
        self.devices.iter().all(|(make, count)| {
            let wanted =
                tasks.clone().map(|(task, count)| (task.demand[make.resource], make.profile(task), count));
            holds(make.cuts.as_deref(), wanted, make.size, *count) != Some(false)
        })
    }

    /// How many tasks like `other` fit, as to devices, in the place of one task, whatever is around them.
    pub fn in_place(&self, one: &Task, other: &Task) -> u128 {
        let fitting = |make: &Make| {
            let (demand, room) = (other.demand[make.resource], one.demand[make.resource]);
            match (make.profile(one), make.profile(other), &make.cuts) {
                _ if demand == 0 => u128::MAX,
                (Some(one), Some(other), Some(cuts)) => cuts.in_place(one, other).into(),
                // Of whole devices some are cut instead.
                (None, Some(other), Some(cuts)) if room >= make.size => {
                    room / make.size * u128::from(cuts.alone(other))
                }
                (Some(_), _, _) | (_, Some(_), _) => 0,
                _ if room >= make.size && demand < make.size => (room / make.size) * (make.size / demand),
                _ => room / demand,
            }
        };
        self.makes.iter().map(fitting).min().unwrap_or(u128::MAX)
    }
}
