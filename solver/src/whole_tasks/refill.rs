//! More of a resource in use by filling servers anew: what one or two servers hold goes back to the tasks that wait, and of many greedy
//! fillings those stay that take most, with the least of the other resources where several take as much.
//!
//! A greedy filling takes tasks first that want much of the resource, more or less those that want little else for it, with some chance.
//! Servers with little else for the resource choose first; those that have none of it left are left as they are. After some rounds each
//! server is filled together with any other, which may change what they hold where nothing is lost.

use super::inside::{Devices, Piece, Want};
use super::packing::{Packing, Quantities, copies, fits, less, times};
use super::servers::Servers;
use fairplan_instances::{Deadline, Instance, Random, ResourceId};

/// Rounds over all servers, fillings that are tried of each in a round, and rounds and fillings of servers with another each.
const ROUNDS: usize = 4;
const TRIES: usize = 60;
const PAIRS: usize = 240;
const TRIES_OF_PAIRS: usize = 30;

/// Shapes that are looked at in all fillings together, at most: some seconds' work.
const LOOKED_AT: u64 = 1_500_000_000;

/// How much it counts that a task wants little else: of the fillings in turn. The first of each are left to no chance.
const LEAN: [f64; 4] = [0.4, 1.2, 0.0, 3.6];

/// What chance may add to a task's worth in devices, of the others.
const CHANCE: [f64; 4] = [0.1, 0.3, 1.0, 3.0];

/// Where there are no devices, the largest task is worth as many.
const LARGEST: f64 = 8.0;

/// Fills servers with tasks of `waiting`, the tasks of each shape that are on none, so that they take more of a resource; never less.
pub(super) fn refill(
    instance: &Instance,
    packing: &Packing,
    resource: ResourceId,
    servers: &mut Servers,
    waiting: Vec<u64>,
    stop: &Deadline,
) {
    let classes = Class::all(instance, packing, resource.0);
    let held = |server: usize| {
        let class = &classes[servers.class[server] as usize];
        Filling::new(class, servers.tasks[server].clone(), servers.free[server])
    };
    let held = (0..servers.free.len()).map(held).collect();
    let mut order: Vec<usize> =
        (0..servers.free.len()).filter(|server| classes[servers.class[*server] as usize].has > 0).collect();
    let others = |server: &usize| classes[servers.class[*server] as usize].others;
    order.sort_by(|a, b| others(a).total_cmp(&others(b)).then(a.cmp(b)));
    let class_of = &servers.class;
    let (random, room) = (Random::new(1, 0), Room::default());
    let mut refill = Refill { packing, classes, class_of, held, waiting, random, looked_at: 0, room };
    refill.run(&order, stop);
    for (server, filling) in refill.held.into_iter().enumerate() {
        (servers.tasks[server], servers.free[server]) = (filling.tasks, filling.free);
    }
}

/// All servers, and the tasks of each shape that are on none.
struct Refill<'a> {
    packing: &'a Packing,
    classes: Vec<Class>,
    class_of: &'a [u32],
    held: Vec<Filling>,
    waiting: Vec<u64>,
    random: Random,
    looked_at: u64,
    room: Room,
}

impl Refill<'_> {
    fn run(&mut self, order: &[usize], stop: &Deadline) {
        for round in 0..ROUNDS + PAIRS {
            let is_wanted = |kind: &Kind| self.waiting[kind.shape as usize] > 0;
            if !self.classes.iter().flat_map(|class| &class.kinds).any(is_wanted) {
                return;
            }
            let open: Vec<usize> = order.iter().copied().filter(|server| self.has_left(*server)).collect();
            for server in open {
                if stop.is_over() || self.looked_at > LOOKED_AT {
                    return;
                }
                let other = order[self.random.below(order.len() as u64) as usize];
                if round < ROUNDS || other == server {
                    self.fill(&[server], TRIES, false);
                } else {
                    self.fill(&[server, other], TRIES_OF_PAIRS, true);
                }
            }
        }
    }

    fn class(&self, server: usize) -> &Class {
        &self.classes[self.class_of[server] as usize]
    }

    fn has_left(&self, server: usize) -> bool {
        self.held[server].free[self.class(server).resource] > 0
    }

    fn put_back(&mut self, fillings: &[Filling]) {
        let tasks = fillings.iter().flat_map(|filling| &filling.tasks);
        tasks.for_each(|(shape, count)| self.waiting[*shape as usize] += count);
    }

    fn take_out(&mut self, filling: &Filling) {
        filling.tasks.iter().for_each(|(shape, count)| self.waiting[*shape as usize] -= count);
    }

    /// Fills some servers one after the other, as well as is found; `sideways` one filling in three will do that is as good as another.
    fn fill(&mut self, servers: &[usize], tries: usize, sideways: bool) {
        let mut best: Vec<Filling> = servers.iter().map(|s| std::mem::take(&mut self.held[*s])).collect();
        self.put_back(&best);
        let resource = self.class(servers[0]).resource;
        // What is left of the resource, and what is taken of the others: the less the better.
        let sum = |fillings: &[Filling]| -> (u64, f64) {
            let left = fillings.iter().map(|filling| filling.free[resource]).sum();
            (left, fillings.iter().map(|filling| filling.others).sum())
        };
        for number in 0..tries {
            let chance = match number < LEAN.len() {
                true => 0.0,
                false => CHANCE[self.random.below(CHANCE.len() as u64) as usize],
            };
            let mut fillings = Vec::with_capacity(servers.len());
            for server in servers {
                let filling = self.filled(*server, LEAN[number % LEAN.len()], chance);
                self.take_out(&filling);
                fillings.push(filling);
            }
            self.put_back(&fillings);
            let ((left, others), (least, fewest)) = (sum(&fillings), sum(&best));
            let is_as_good = if sideways { number % 3 == 0 } else { others < fewest };
            if left < least || left == least && is_as_good {
                best = fillings;
            }
        }
        for (server, filling) in servers.iter().zip(best) {
            self.take_out(&filling);
            self.held[*server] = filling;
        }
    }

    /// What an empty server takes of the tasks that wait.
    fn filled(&mut self, server: usize, lean: f64, chance: f64) -> Filling {
        let class = &self.classes[self.class_of[server] as usize];
        self.looked_at += class.kinds.len() as u64;
        // Made anew for each of millions of fillings they would take most of the time.
        let Room { worth, devices } = &mut self.room;
        worth.clear();
        for (at, kind) in class.kinds.iter().enumerate() {
            if self.waiting[kind.shape as usize] > 0 {
                let luck = if chance > 0.0 { chance * self.random.unit() } else { 0.0 };
                worth.push((kind.wants - lean * kind.weight + luck, at));
            }
        }
        worth.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        devices.resize_with(class.devices.len(), Vec::new);
        for (free, of) in devices.iter_mut().zip(&class.devices) {
            free.clear();
            free.resize(of.count as usize, Left { room: of.make.size, taken: 0 });
        }
        let mut filling = Filling::new(class, Vec::new(), class.capacity);
        for (_, at) in worth {
            let kind = &class.kinds[*at];
            let shape = &self.packing.shapes[kind.shape as usize];
            if !fits(&shape.demand, &filling.free) {
                continue;
            }
            let room = copies(&shape.demand, &filling.free).min(self.waiting[kind.shape as usize]);
            let room = room.min(shape.most);
            let count = match class.devices.is_empty() {
                true => room,
                false => {
                    (0..room).take_while(|_| take(&class.devices, devices, shape.piece())).count() as u64
                }
            };
            if count > 0 {
                filling.tasks.push((kind.shape, count));
                filling.free = less(&filling.free, &times(&shape.demand, count));
                filling.others += kind.others * count as f64;
            }
            if filling.free[class.resource] == 0 {
                break;
            }
        }
        filling
    }
}

/// What a filling is worked out in.
#[derive(Default)]
struct Room {
    /// What tasks are worth, and which of the class they are.
    worth: Vec<(f64, usize)>,
    /// What is left of each device of the server.
    devices: Vec<Vec<Left>>,
}

/// What is left of a device.
#[derive(Clone, Copy)]
struct Left {
    room: u64,
    /// The slices that are taken, as bits; 0 unless it is cut.
    taken: u64,
}

impl Left {
    /// Whether it is one of those that a want can be of.
    fn has_room(&self, want: Want<'_>, size: u64) -> bool {
        match want {
            Want::Nothing => true,
            Want::Part(part) => self.taken == 0 && self.room >= part,
            Want::Whole(_) => self.room == size,
            Want::Profile(cuts, profile) => {
                (self.taken > 0 || self.room == size) && cuts.has_start(profile, self.taken)
            }
        }
    }
}

/// Takes what a task needs of the devices, whole ones or a part of the one with the least room for it, if all have it.
fn take(devices: &[Devices], left: &mut [Vec<Left>], piece: Piece<'_>) -> bool {
    let has_room = |(of, left): (&Devices, &Vec<Left>)| {
        let want = of.make.want(piece);
        let mut with_room = left.iter().filter(|device| device.has_room(want, of.make.size));
        match want {
            Want::Nothing => true,
            Want::Part(_) | Want::Profile(..) => with_room.next().is_some(),
            Want::Whole(devices) => with_room.count() as u64 >= devices,
        }
    };
    if !devices.iter().zip(&*left).all(has_room) {
        return false;
    }
    for (of, left) in devices.iter().zip(left) {
        let (want, size) = (of.make.want(piece), of.make.size);
        let with_room = left.iter_mut().filter(|device| device.has_room(want, size));
        match want {
            Want::Nothing => {}
            Want::Part(part) => {
                let tightest = with_room.min_by_key(|device| device.room);
                tightest.into_iter().for_each(|device| device.room -= part);
            }
            Want::Profile(cuts, profile) => {
                if let Some(device) = with_room.min_by_key(|device| device.room) {
                    device.taken |= cuts.begun(profile, device.taken);
                    device.room -= piece.demand[of.make.resource];
                }
            }
            Want::Whole(devices) => {
                with_room.take(devices as usize).for_each(|device| device.room = 0);
            }
        }
    }
    true
}

/// What a server holds.
#[derive(Clone, Default)]
struct Filling {
    tasks: Vec<(u32, u64)>,
    free: Quantities,
    /// The parts of the server's other resources that are taken, summed.
    others: f64,
}

impl Filling {
    fn new(class: &Class, tasks: Vec<(u32, u64)>, free: Quantities) -> Self {
        let of =
            |shape: u32| class.kinds.iter().find(|kind| kind.shape == shape).map_or(0.0, |kind| kind.others);
        let others = tasks.iter().map(|(shape, count)| of(*shape) * *count as f64).sum();
        Self { tasks, free, others }
    }
}

/// Tasks of a shape on a server of a class.
struct Kind {
    shape: u32,
    /// In devices.
    wants: f64,
    /// The largest part of another resource of the server that a task takes, over the part of this one, in devices.
    weight: f64,
    others: f64,
}

/// Servers that are alike.
struct Class {
    resource: usize,
    capacity: Quantities,
    /// How much it has of the resource.
    has: u64,
    devices: Vec<Devices>,
    /// What a server has of the other resources for what it has of this one, in parts of all there is.
    others: f64,
    /// Those that take of the resource.
    kinds: Vec<Kind>,
}

impl Class {
    fn all(instance: &Instance, packing: &Packing, resource: usize) -> Vec<Self> {
        let others = || (0..instance.resources().len()).filter(|r| *r != resource);
        let total = |r: usize| -> f64 {
            packing.classes.iter().map(|class| class.servers as f64 * class.capacity[r] as f64).sum()
        };
        let totals: Vec<f64> = (0..instance.resources().len()).map(|r| total(r).max(1.0)).collect();
        let largest = packing.shapes.iter().map(|shape| shape.demand[resource]).max().unwrap_or(0);
        let class = |(l, class): (usize, &super::packing::Class)| {
            let has = class.capacity[resource];
            let devices = class.devices.iter().find(|devices| devices.make.resource == resource);
            let device =
                devices.map_or((largest as f64 / LARGEST).max(1.0), |devices| devices.make.size as f64);
            let kind = |(shape, of): (usize, &super::packing::Shape)| {
                let part = |r: usize| of.demand[r] as f64 / class.capacity[r].max(1) as f64;
                let wants = of.demand[resource] as f64 / device;
                let largest = others().map(part).fold(0.0, f64::max);
                Kind {
                    shape: shape as u32,
                    wants,
                    weight: largest * has as f64 / (wants * device),
                    others: others().map(part).sum(),
                }
            };
            let takes =
                |(_, of): &(usize, &super::packing::Shape)| of.copies[l] > 0 && of.demand[resource] > 0;
            let of_all = |r: usize| class.capacity[r] as f64 / totals[r];
            Self {
                resource,
                capacity: class.capacity,
                has,
                devices: class.devices.clone(),
                others: others().map(of_all).sum::<f64>() / of_all(resource),
                kinds: packing.shapes.iter().enumerate().filter(takes).map(kind).collect(),
            }
        };
        packing.classes.iter().enumerate().map(class).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::allocated_placement;
    use fairplan_instances::{Deadline, InstanceBuilder, NewUser, ResourceId, ServerClass};

    #[test]
    fn servers_are_filled_device_by_device_with_what_leaves_none_of_them() {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "gpu".into()]).unwrap();
        let number = |text: &str| text.parse().unwrap();
        let mut class = ServerClass::new("a", 3, vec![number("8"), number("2")]);
        class.devices = vec![(ResourceId(1), 2)];
        builder.class(class).unwrap();
        // One whole GPU beside 0.7 and 0.3 fills a server; who wants many cpus leaves half of it.
        let users = [
            ("greedy", ["7", "1"]),
            ("lean", ["5", "1"]),
            ("most", ["1.5", "0.7"]),
            ("rest", ["1.5", "0.3"]),
        ];
        for (id, demand) in users {
            let demand = demand.map(number);
            builder.user(NewUser { tasks: Some(3), ..NewUser::new(id, &demand) }).unwrap();
        }
        let instance = builder.build().unwrap();
        let placement = allocated_placement(&instance, ResourceId(1), &Deadline::never()).unwrap();
        assert_eq!(placement.tasks, [0, 3, 3, 3]);
    }
}
