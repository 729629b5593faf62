//! What is to be packed: servers and tasks in whole units, identical servers in one class, tasks that pack alike in one
//! shape.

use crate::linear_program::power;
use crate::reduction::greatest_common_divisor;
use fairplan_instances::{ClassId, Instance, ResourceId, UserId, Violation};
use hashbrown::HashMap;

/// Resources are counted in arrays of this length.
pub(super) const WIDTH: usize = 8;

/// One number a resource, the rest 0.
pub(super) type Quantities = [u64; WIDTH];

/// A placement lists every server, and no more than these.
const MAX_SERVERS: u64 = 50_000_000;

/// The instance as whole tasks see it.
pub(super) struct Packing {
    pub resources: usize,
    pub classes: Vec<Class>,
    pub shapes: Vec<Shape>,
    /// The shape of each user's tasks; `None` for users that can have no task.
    pub shape_of: Vec<Option<u32>>,
    /// `copies[i * shapes + j]`: how many tasks of shape `j` fit in the place of one of shape `i` wherever that may be.
    pub in_place: Vec<u32>,
}

/// Servers of one capacity that all users treat alike.
pub(super) struct Class {
    pub capacity: Quantities,
    pub servers: u64,
    pub members: Vec<ClassId>,
}

/// Tasks of the same demand that may run on the same classes.
pub(super) struct Shape {
    pub demand: Quantities,
    pub users: Vec<UserId>,
    /// For each class, how many of these tasks one server holds.
    pub copies: Vec<u64>,
}

/// Tasks of a user are counted up to this on all servers together.
pub(super) const MANY: u64 = 1 << 50;

/// And up to this on one server: what a server holds is worth about 2^46 in whole numbers ([`SCALE`](super::rounds::SCALE)), of
/// which a task must have some for the bound to mean anything.
const MANY_ON_ONE: u64 = 1 << 40;

/// Programs count tasks one by one where no server holds more than these.
const COUNTED_SINGLY: u64 = 1 << 16;

impl Shape {
    /// So many tasks count for one in a program: HiGHS drops what is small beside what is large, and refuses the largest.
    pub fn unit(&self) -> f64 {
        match self.copies.iter().max() {
            Some(most) if *most > COUNTED_SINGLY => power(*most as f64),
            _ => 1.0,
        }
    }

    /// Refuses tasks of which a user has too many.
    fn can_be_counted(&self, instance: &Instance, classes: &[Class]) -> Result<(), Violation> {
        let limit = |user: &UserId| instance.user(*user).tasks().unwrap_or(u64::MAX);
        let on_all =
            classes.iter().zip(&self.copies).map(|(class, copies)| class.servers.saturating_mul(*copies));
        let on_all = on_all.fold(0, u64::saturating_add);
        let on_one = self.copies.iter().copied().max().unwrap_or(0);
        let many = |user: &&UserId| on_all.min(limit(user)) >= MANY || on_one.min(limit(user)) >= MANY_ON_ONE;
        let Some(user) = self.users.iter().find(many) else { return Ok(()) };
        let problem = "is so small that a server holds more than 2^40 of its tasks, or all together more than 2^50: too many to \
                       count; let a task be so many of them";
        Err(Violation::new(format!("users[{}].demand", user.0), "", problem))
    }
}

impl Packing {
    /// # Errors
    /// Rates, more than 8 resources, more servers than can be listed, amounts that span more than 63 bits, servers that hold more
    /// tasks of a user than are counted.
    pub fn new(instance: &Instance) -> Result<Self, Violation> {
        let m = instance.resources().len();
        if m > WIDTH {
            return Err(Violation::new(
                "resources",
                m,
                format!("whole tasks are bounded over at most {WIDTH}"),
            ));
        }
        let servers = instance.server_count();
        if servers > MAX_SERVERS {
            let problem = format!("whole tasks are placed on at most {MAX_SERVERS} servers");
            return Err(Violation::new("server_classes", servers, problem));
        }
        if let Some(user) = instance.users().find(|user| !user.rule().rates().is_empty()) {
            let problem = "whole-task bounds count tasks, which all do the same work; leave the rates out";
            return Err(Violation::new(format!("users[{}].rates", user.index().0), "", problem));
        }
        let units = Units::new(instance)?;
        let mut classes: Vec<Class> = Vec::new();
        let mut known = HashMap::new();
        for (l, class) in instance.classes().iter().enumerate().filter(|(_, class)| class.count > 0) {
            let capacity = units.measure(|r| instance.capacity_units(ClassId(l), r));
            let treatment: Vec<bool> = instance.rules().iter().map(|rule| rule.allows(ClassId(l))).collect();
            let position = *known.entry((capacity, treatment)).or_insert_with(|| {
                classes.push(Class { capacity, servers: 0, members: Vec::new() });
                classes.len() - 1
            });
            classes[position].servers += class.count;
            classes[position].members.push(ClassId(l));
        }
        let mut shapes: Vec<Shape> = Vec::new();
        let mut known = HashMap::new();
        let mut shape_of = Vec::with_capacity(instance.user_count());
        for user in instance.users() {
            let demand = units.measure(|r| user.demand_units(r));
            let shape = *known.entry((user.rule_id(), demand)).or_insert_with(|| {
                let copies = |class: &Class| {
                    if user.rule().allows(class.members[0]) { copies(&demand, &class.capacity) } else { 0 }
                };
                let copies: Vec<u64> = classes.iter().map(copies).collect();
                copies.iter().any(|copies| *copies > 0).then(|| {
                    shapes.push(Shape { demand, users: Vec::new(), copies });
                    (shapes.len() - 1) as u32
                })
            });
            let shape = shape.filter(|_| user.tasks() != Some(0));
            if let Some(shape) = shape {
                shapes[shape as usize].users.push(user.index());
            }
            shape_of.push(shape);
        }
        shapes.iter().try_for_each(|shape| shape.can_be_counted(instance, &classes))?;
        let in_place = in_place(&shapes);
        Ok(Self { resources: m, classes, shapes, shape_of, in_place })
    }

    /// The servers of each class.
    pub fn servers(&self) -> Vec<u64> {
        self.classes.iter().map(|class| class.servers).collect()
    }
}

/// How many tasks of `demand` fit in `room`.
pub(super) fn copies(demand: &Quantities, room: &Quantities) -> u64 {
    demand.iter().zip(room).filter(|(d, _)| **d > 0).map(|(d, c)| c / d).min().unwrap_or(0)
}

/// What `amounts` come to with these weights.
pub(super) fn size(weights: &[f64; WIDTH], amounts: &Quantities) -> f64 {
    weights.iter().zip(amounts).map(|(weight, amount)| weight * *amount as f64).sum()
}

/// Weights that measure a server as 1 in sum: even ones, ones that lean to a resource, and ones for each alone.
pub(super) fn directions(capacity: &Quantities, resources: usize) -> Vec<[f64; WIDTH]> {
    let mut mixes: Vec<Vec<f64>> = Vec::new();
    if resources == 2 {
        for part in [0.0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 1.0] {
            mixes.push(vec![part, 1.0 - part]);
        }
    } else {
        mixes.push(vec![1.0; resources]);
        for r in 0..resources {
            for (own, other) in [(1.0, 0.0), (2.0, 1.0), (4.0, 1.0), (1.0, 2.0), (0.0, 1.0)] {
                let mut mix = vec![other; resources];
                mix[r] = own;
                mixes.push(mix);
            }
        }
    }
    let weigh = |mix: Vec<f64>| {
        let mut weights = [0.0; WIDTH];
        for (r, part) in mix.iter().enumerate() {
            // A resource that the server lacks is not demanded by what fits on it.
            weights[r] = if capacity[r] > 0 { part / capacity[r] as f64 } else { 0.0 };
        }
        weights
    };
    mixes.into_iter().map(weigh).collect()
}

/// Whether a task of `demand` fits in `room`.
pub(super) fn fits(demand: &Quantities, room: &Quantities) -> bool {
    demand.iter().zip(room).all(|(d, c)| d <= c)
}

/// `a - b`, which must fit.
pub(super) fn less(a: &Quantities, b: &Quantities) -> Quantities {
    let mut rest = *a;
    rest.iter_mut().zip(b).for_each(|(rest, b)| *rest -= b);
    rest
}

/// `count` times `amounts`.
pub(super) fn times(amounts: &Quantities, count: u64) -> Quantities {
    amounts.map(|amount| amount * count)
}

/// `a + b`.
pub(super) fn more(a: &Quantities, b: &Quantities) -> Quantities {
    let mut sum = *a;
    sum.iter_mut().zip(b).for_each(|(sum, b)| *sum += b);
    sum
}

/// More shapes than these are not compared with each other, which saves time and only makes searches longer.
const MAX_COMPARED: usize = 2_000;

fn in_place(shapes: &[Shape]) -> Vec<u32> {
    if shapes.len() > MAX_COMPARED {
        return Vec::new();
    }
    // The classes that each shape can be on, as bits: there may be thousands of classes.
    let bits = |copies: &[u64]| copies.iter().fold(0u64, |bits, copies| bits << 1 | u64::from(*copies > 0));
    let classes: Vec<Vec<u64>> = shapes.iter().map(|s| s.copies.chunks(64).map(bits).collect()).collect();
    let pair = |i: usize, j: usize| {
        let copies = copies(&shapes[j].demand, &shapes[i].demand).min(u64::from(u32::MAX)) as u32;
        let follows = || classes[i].iter().zip(&classes[j]).all(|(i, j)| i & !j == 0);
        if copies > 0 && follows() { copies } else { 0 }
    };
    let pair = &pair;
    (0..shapes.len()).flat_map(|i| (0..shapes.len()).map(move |j| pair(i, j))).collect()
}

/// The largest unit of each resource that measures all its amounts.
struct Units(Vec<u128>);

impl Units {
    fn new(instance: &Instance) -> Result<Self, Violation> {
        let unit = |r: usize| {
            let r = ResourceId(r);
            let mut largest = 0;
            let mut divisor = 0;
            let capacities = (0..instance.classes().len()).map(|l| instance.capacity_units(ClassId(l), r));
            for amount in capacities.clone().chain(instance.users().map(|user| user.demand_units(r))) {
                divisor = greatest_common_divisor(divisor, amount);
                largest = amount.max(largest);
            }
            let divisor = divisor.max(1);
            // Sums of two amounts must fit too.
            if largest >= 1 << 62 {
                let place = format!("resources[{}]", r.0);
                let problem =
                    "amounts have too many digits in all to count whole tasks in 63 bits; round them";
                return Err(Violation::new(place, &instance.resources()[r.0], problem));
            }
            Ok(divisor)
        };
        (0..instance.resources().len()).map(unit).collect::<Result<_, _>>().map(Self)
    }

    fn measure(&self, amount: impl Fn(ResourceId) -> u128) -> Quantities {
        let mut amounts = [0; WIDTH];
        for (r, unit) in self.0.iter().enumerate() {
            amounts[r] = (amount(ResourceId(r)) / unit) as u64;
        }
        amounts
    }
}
