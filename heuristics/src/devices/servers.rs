//! What servers have free, device by device, and how many tasks of whom they have.

use super::Between;
use super::device::{Device, Make, Want};
use crate::packing::{Packing, fits, resized};
use fairplan_instances::{DeviceProfiles, Instance, KindId, ResourceId, TaskRules};
use std::collections::HashMap;
use std::ops::Range;

/// All servers, with shapes that are kinds of tasks: of users without kinds their tasks.
pub(crate) struct Servers {
    width: usize,
    /// Row-major `servers × width`.
    free: Vec<u128>,
    class_of: Vec<u32>,
    /// What is left of each device: those of a server one after another, its resources rising.
    devices: Vec<Device>,
    /// Where the devices of each server begin, and at last where all end.
    starts: Vec<usize>,
    /// Of each class the resources that it has devices of, and how many.
    layouts: Vec<Vec<(usize, usize)>>,
    /// Of each class its domain, where servers come and go.
    domains: Vec<usize>,
    /// The devices of each resource.
    makes: Vec<Make>,
    /// Of each shape: what a task needs, where it may run, and the most on one server.
    demands: Vec<Vec<u128>>,
    wants: Vec<Vec<Want>>,
    eligible: Vec<Vec<bool>>,
    most: Vec<Option<u64>>,
    /// Tasks on a server of shapes with a limit.
    on: HashMap<(usize, usize), u64>,
    between: Between,
    /// How often each server has changed, and one.
    versions: Vec<u32>,
    /// What the devices of servers had free when a task of several pieces began; `None` where none has.
    before: Option<HashMap<usize, Vec<Device>>>,
}

impl Servers {
    pub fn new(instance: &Instance, packing: &Packing) -> Self {
        let layout = |class: &fairplan_instances::ServerClass| -> Vec<(usize, usize)> {
            class.devices.iter().map(|(resource, count)| (resource.0, *count as usize)).collect()
        };
        let layouts: Vec<_> = instance.classes().iter().map(layout).collect();
        let makes: Vec<Make> = (0..packing.width).map(|r| Make::new(instance, ResourceId(r))).collect();
        let (mut class_of, mut devices, mut starts) = (Vec::new(), Vec::new(), vec![0]);
        for (l, class) in packing.classes.iter().enumerate() {
            for _ in class.servers.clone() {
                class_of.push(l as u32);
                for &(resource, count) in &layouts[l] {
                    devices.extend(std::iter::repeat_n(makes[resource].unused(), count));
                }
                starts.push(devices.len());
            }
        }
        let eligible = |shape: &crate::packing::Shape| {
            (0..packing.classes.len()).map(|l| shape.classes.binary_search(&l).is_ok()).collect()
        };
        let wants = |(kind, shape): (usize, &crate::packing::Shape)| {
            let of_resource = |(r, demand): (usize, &u128)| makes[r].wanted(instance, kind, r, *demand);
            shape.demand.iter().enumerate().map(of_resource).collect()
        };
        Self {
            wants: packing.shapes.iter().enumerate().map(wants).collect(),
            width: packing.width,
            free: packing.free(),
            versions: vec![1; class_of.len()],
            class_of,
            devices,
            starts,
            domains: Vec::new(),
            layouts,
            makes,
            demands: packing.shapes.iter().map(|shape| shape.demand.clone()).collect(),
            eligible: packing.shapes.iter().map(eligible).collect(),
            most: (0..packing.shapes.len()).map(|k| instance.kind(KindId(k)).user().per_server()).collect(),
            on: HashMap::new(),
            between: Between::new(instance, packing),
            before: None,
        }
    }

    /// No servers and no tasks yet, with devices of these sizes, one a resource, 0 where it has none.
    pub fn empty(sizes: &[u128]) -> Self {
        Self {
            width: sizes.len(),
            free: Vec::new(),
            class_of: Vec::new(),
            devices: Vec::new(),
            starts: vec![0],
            layouts: Vec::new(),
            domains: Vec::new(),
            makes: sizes.iter().map(|size| Make::of_size(*size)).collect(),
            demands: Vec::new(),
            wants: Vec::new(),
            eligible: Vec::new(),
            most: Vec::new(),
            on: HashMap::new(),
            between: Between::none(),
            versions: Vec::new(),
            before: None,
        }
    }

    /// From now on devices can be cut so.
    pub fn cut_devices(&mut self, profiles: &[DeviceProfiles]) {
        for cut in profiles {
            self.makes[cut.resource.0].cut(cut);
        }
    }

    /// Adds a server without tasks in a domain, all of whose capacity of what has devices is whole ones; servers of as many in one
    /// domain are of one class. Without any capacity it is not there yet.
    pub fn add_server(&mut self, capacity: &[u128], domain: usize) {
        let with = capacity.iter().zip(&self.makes).enumerate().filter(|(_, (_, make))| make.size > 0);
        let layout: Vec<(usize, usize)> =
            with.map(|(r, (amount, make))| (r, (amount / make.size) as usize)).collect();
        for &(resource, count) in &layout {
            self.devices.extend(std::iter::repeat_n(self.makes[resource].unused(), count));
        }
        self.starts.push(self.devices.len());
        let mut known = self.layouts.iter().zip(&self.domains);
        let known = known.position(|(other, of)| *other == layout && *of == domain);
        let class = known.unwrap_or_else(|| {
            self.layouts.push(layout);
            self.domains.push(domain);
            self.between.add_class(domain);
            self.eligible.iter_mut().for_each(|eligible| eligible.push(true));
            self.layouts.len() - 1
        });
        self.class_of.push(class as u32);
        if capacity.iter().any(|amount| *amount > 0) {
            self.between.server_comes(class);
        }
        self.free.extend_from_slice(capacity);
        self.versions.push(1);
    }

    /// Adds a kind of tasks that meet rules.
    pub fn add_shape(&mut self, demand: &[u128], rules: TaskRules) {
        let wants = self.makes.iter().zip(demand).enumerate().map(|(r, (make, demand))| {
            match rules.profile.filter(|profile| profile.resource.0 == r) {
                _ if make.size == 0 => Want::Nothing,
                Some(profile) => Want::Profile(profile.number),
                None => Want::of(*demand, make.size),
            }
        });
        self.wants.push(wants.collect());
        self.demands.push(demand.to_vec());
        self.eligible.push(vec![true; self.layouts.len()]);
        self.most.push(rules.per_server);
        self.between.add_shape(rules.spread);
    }

    /// Gives a server another capacity, of as many devices or of nothing; whether its tasks have room in it.
    pub fn resize(&mut self, server: usize, from: &[u128], to: &[u128]) -> bool {
        let Some(left) = resized(self.free(server), from, to) else { return false };
        self.free[server * self.width..(server + 1) * self.width].copy_from_slice(&left);
        let [was_there, is_there] = [from, to].map(|amounts| amounts.iter().any(|amount| *amount > 0));
        match (was_there, is_there) {
            (false, true) => self.between.server_comes(self.class_of(server)),
            (true, false) => self.between.server_leaves(self.class_of(server)),
            _ => {}
        }
        self.versions[server] += 1;
        true
    }

    /// Gives back the room of a task of a shape and what it took of devices: positions on the server, and what of each.
    pub fn give_back(&mut self, server: usize, shape: usize, devices: &[(usize, Device)]) {
        let free = &mut self.free[server * self.width..(server + 1) * self.width];
        free.iter_mut().zip(&self.demands[shape]).for_each(|(free, demand)| *free += demand);
        let start = self.starts[server];
        devices.iter().for_each(|(at, part)| self.devices[start + at].give_back(*part));
        if let Some(on) = self.on.get_mut(&(server, shape)) {
            *on = on.saturating_sub(1);
        }
        self.between.give_back(self.class_of[server] as usize, shape, 1);
        self.versions[server] += 1;
    }

    pub fn count(&self) -> usize {
        self.class_of.len()
    }

    pub fn class_of(&self, server: usize) -> usize {
        self.class_of[server] as usize
    }

    pub fn free(&self, server: usize) -> &[u128] {
        &self.free[server * self.width..(server + 1) * self.width]
    }

    /// What is left of each device of a server.
    pub fn devices(&self, server: usize) -> &[Device] {
        &self.devices[self.starts[server]..self.starts[server + 1]]
    }

    /// The devices of a resource.
    pub fn make(&self, resource: usize) -> &Make {
        &self.makes[resource]
    }

    /// What a task of a shape wants of the devices of a resource.
    pub fn want(&self, shape: usize, resource: usize) -> Want {
        self.wants[shape][resource]
    }

    pub fn demand(&self, shape: usize) -> &[u128] {
        &self.demands[shape]
    }

    pub fn shapes(&self) -> usize {
        self.demands.len()
    }

    /// Whether tasks of a shape may run on a class.
    pub fn is_eligible(&self, shape: usize, class: usize) -> bool {
        self.eligible[shape][class]
    }

    /// From now on tasks of a shape may run on these classes.
    pub fn allow(&mut self, shape: usize, classes: &[usize]) {
        let mut is_otherwise = false;
        for (class, is_eligible) in self.eligible[shape].iter_mut().enumerate() {
            let is_now = classes.binary_search(&class).is_ok();
            is_otherwise |= std::mem::replace(is_eligible, is_now) != is_now;
        }
        if !is_otherwise {
            return;
        }
        // What was known of any server may be otherwise.
        self.versions.iter_mut().for_each(|version| *version = version.wrapping_add(1).max(1));
    }

    /// Changes whenever a server does; never 0.
    pub fn version(&self, server: usize) -> u32 {
        self.versions[server]
    }

    /// Whether one more task of a shape has room on a server.
    pub fn has_room(&self, server: usize, shape: usize) -> bool {
        self.between.allows(self.class_of(server), shape) && self.has_room_inside(server, shape)
    }

    /// The same, rules between servers aside.
    fn has_room_inside(&self, server: usize, shape: usize) -> bool {
        let demand = &self.demands[shape];
        self.eligible[shape][self.class_of(server)]
            && fits(demand, self.free(server))
            && self.most[shape]
                .is_none_or(|most| self.on.get(&(server, shape)).is_none_or(|count| *count < most))
            && self.have_devices(server, shape)
    }

    /// Takes the room of a task on a server, rules between servers aside; whether there is any.
    pub fn take_inside(&mut self, server: usize, shape: usize) -> bool {
        let has_room = self.has_room_inside(server, shape);
        if has_room {
            self.take(server, shape, None);
        }
        has_room
    }

    /// What a task of a shape needs of the resources with devices: where the most of it goes first, the rest fills gaps.
    pub fn of_devices(&self, shape: usize) -> Vec<u128> {
        let demand = self.makes.iter().zip(&self.demands[shape]);
        demand.filter(|(make, _)| make.size > 0).map(|(_, demand)| *demand).collect()
    }

    /// Whether the devices of a server have room for one more task of a shape.
    fn have_devices(&self, server: usize, shape: usize) -> bool {
        self.groups(server).all(|(resource, devices)| {
            self.makes[resource].have_room(&self.devices[devices], self.wants[shape][resource])
        })
    }

    /// For how many more tasks of a shape a server has room, rules between servers aside.
    pub fn room(&self, server: usize, shape: usize) -> u64 {
        let demand = &self.demands[shape];
        if !self.eligible[shape][self.class_of(server)] {
            return 0;
        }
        let needed = demand.iter().zip(self.free(server)).filter(|(demand, _)| **demand > 0);
        let of_amounts = needed.map(|(demand, free)| free / demand).min().unwrap_or(u128::MAX);
        let of_devices = self.groups(server).map(|(resource, devices)| {
            self.makes[resource].room(&self.devices[devices], self.wants[shape][resource])
        });
        let room = of_devices.fold(of_amounts, u128::min);
        let room = u64::try_from(room).unwrap_or(u64::MAX);
        self.most[shape].map_or(room, |most| {
            room.min(most - self.on.get(&(server, shape)).copied().unwrap_or(0).min(most))
        })
    }

    /// Rules between servers.
    pub fn between(&self) -> &Between {
        &self.between
    }

    /// The same, to open domains to a gang.
    pub fn between_mut(&mut self) -> &mut Between {
        &mut self.between
    }

    /// Which rule keeps one more task of a shape away from a server that has what it needs of every resource; `None` where none does.
    pub fn rule_against(&self, server: usize, shape: usize) -> Option<&'static str> {
        if !self.have_devices(server, shape) {
            return Some("its devices have no room");
        }
        let there = self.on.get(&(server, shape)).copied().unwrap_or(0);
        if self.most[shape].is_some_and(|most| there >= most) {
            return Some("it has as many of the user's tasks as it may (per_server)");
        }
        if !self.between.is_open(self.class_of(server)) {
            return Some(
                "its domain is not open to this gang, which has no room there as a whole or is in another (gang)",
            );
        }
        let is_open = self.between.allows(self.class_of(server), shape);
        (!is_open).then_some("its domain may have no more of the user's tasks before the others do (spread)")
    }

    /// The servers with room for one more task of a shape, rising.
    pub fn with_room(&self, shape: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.count()).filter(move |server| self.has_room(*server, shape))
    }

    /// The devices with room for the part that a task of a shape takes of one, at will or by a profile, counted over all devices of the
    /// server; none if it takes parts of several resources or of none.
    pub fn for_a_part(&self, server: usize, shape: usize) -> impl Iterator<Item = usize> + '_ {
        let wants = &self.wants[shape];
        let mut parts = self.groups(server).filter(|(r, _)| wants[*r].is_of_one()).fuse();
        let only = parts.next().filter(|_| parts.next().is_none());
        let start = self.starts[server];
        only.into_iter().flat_map(move |(resource, devices)| {
            let has_room =
                move |at: &usize| self.makes[resource].has_room(self.devices[*at], wants[resource]);
            devices.filter(has_room).map(move |at| at - start)
        })
    }

    /// The resources of which a server has devices, and where these are among all.
    fn groups(&self, server: usize) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let mut start = self.starts[server];
        self.layouts[self.class_of(server)].iter().map(move |&(resource, count)| {
            let devices = start..start + count;
            start = devices.end;
            (resource, devices)
        })
    }

    /// A task of several pieces begins: what it takes may be taken back.
    pub fn begin(&mut self) {
        self.before.get_or_insert_default().clear();
    }

    /// Gives back the room of so many pieces that were taken since then, with all else that was taken on that server.
    pub fn take_back(&mut self, server: usize, shape: usize, count: u64) {
        let free = &mut self.free[server * self.width..(server + 1) * self.width];
        let demand = &self.demands[shape];
        free.iter_mut().zip(demand).for_each(|(free, demand)| *free += demand * u128::from(count));
        if let Some(devices) = self.before.as_mut().and_then(|before| before.remove(&server)) {
            self.devices[self.starts[server]..self.starts[server + 1]].copy_from_slice(&devices);
        }
        if let Some(on) = self.on.get_mut(&(server, shape)) {
            *on = on.saturating_sub(count);
        }
        self.between.give_back(self.class_of[server] as usize, shape, count);
        self.versions[server] += 1;
    }

    /// Takes the room of a task on a server that has it; a part of this device, counted over all devices of the server, if
    /// one is named.
    pub fn take(&mut self, server: usize, shape: usize, device: Option<usize>) {
        if let Some(before) = &mut self.before {
            let devices = &self.devices[self.starts[server]..self.starts[server + 1]];
            before.entry(server).or_insert_with(|| devices.to_vec());
        }
        let free = &mut self.free[server * self.width..(server + 1) * self.width];
        free.iter_mut().zip(&self.demands[shape]).for_each(|(free, demand)| *free -= demand);
        let named = device.map(|device| self.starts[server] + device);
        let groups: Vec<_> = self.groups(server).collect();
        for (resource, range) in groups {
            let (make, want) = (&self.makes[resource], self.wants[shape][resource]);
            if !want.is_of_one() {
                let mut left = want.devices();
                for device in self.devices[range].iter_mut().filter(|device| make.has_room(**device, want)) {
                    if left == 0 {
                        break;
                    }
                    make.take(device, want);
                    left -= 1;
                }
                continue;
            }
            let tightest = || {
                let with_room = range.clone().filter(|at| make.has_room(self.devices[*at], want));
                with_room.min_by_key(|at| self.devices[*at].free)
            };
            let at = named.filter(|at| range.contains(at)).or_else(tightest);
            if let Some(at) = at {
                make.take(&mut self.devices[at], want);
            }
        }
        if self.most[shape].is_some() {
            *self.on.entry((server, shape)).or_default() += 1;
        }
        self.between.take(self.class_of[server] as usize, shape);
        self.versions[server] += 1;
    }
}
