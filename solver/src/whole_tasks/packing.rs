//! What is to be packed: servers and tasks in whole units, identical servers in one class, tasks that pack alike in one
//! shape.

mod limit_rows;

use super::between::{AloneTasks, BetweenServers, OnServers};
use super::inside::{self, Devices, Make, Piece, Row};
pub(super) use super::quantities::{Quantities, WIDTH};
use crate::linear_program::power;
use crate::merged_classes::greatest_common_divisor;
use fairplan_instances::{
    ClassId, Instance, KindId, LimitedTasks, ProfileId, ResourceId, User, UserId, Violation,
};
use hashbrown::HashMap;
pub(super) use limit_rows::LimitRows;
use limit_rows::add_pieces;
use std::ops::Range;

/// A placement lists every server, and no more than these.
const MAX_SERVERS: u64 = 50_000_000;

/// The instance as whole tasks see it.
pub(super) struct Packing {
    /// Those of the instance, and after them rows that devices make.
    pub resources: usize,
    /// Whether there are rules inside servers.
    pub has_rules: bool,
    pub classes: Vec<Class>,
    /// How many classes the instance has, those without servers included.
    all_classes: usize,
    pub shapes: Vec<Shape>,
    /// The shape of each kind's pieces (a user without kinds has one, its task); `None` where the user can have no task.
    pub shape_of: Vec<Option<u32>>,
    /// `(shape, pieces of it in one task)`, user by user, each shape once; none of a user that can have no task.
    pieces: Vec<(u32, u64)>,
    of_user: Vec<Range<usize>>,
    /// `copies[i * shapes + j]`: how many tasks of shape `j` fit in the place of one of shape `i` wherever that may be.
    pub in_place: Vec<u32>,
    pub between: BetweenServers,
    /// Limits and reserves; none unless they are [asked for](Packing::under_limits).
    pub limits: LimitRows,
}

/// Servers of one capacity that all users treat alike.
pub(super) struct Class {
    pub capacity: Quantities,
    /// What it has devices of.
    pub devices: Vec<Devices>,
    pub servers: u64,
    pub members: Vec<ClassId>,
}

/// Pieces of the same demand that may run on the same classes.
pub(super) struct Shape {
    pub demand: Quantities,
    /// The profile of the part that a piece takes of a device.
    pub profile: Option<ProfileId>,
    pub kinds: Vec<KindId>,
    /// For each class, how many of these pieces one server holds.
    pub copies: Vec<u64>,
    /// The most on one server, whatever room there is; such a shape is of one user alone.
    pub most: u64,
}

/// Tasks of a user are counted up to this on all servers together.
pub(super) const MANY: u64 = 1 << 50;

/// And up to this on one server: what a server holds is worth about 2^46 in whole numbers ([`SCALE`](super::worth::SCALE)), of
/// which a task must have some for the bound to mean anything.
const MANY_ON_ONE: u64 = 1 << 40;

/// Programs count tasks one by one where no server holds more than these.
const COUNTED_SINGLY: u64 = 1 << 16;

impl Shape {
    /// What the rules inside servers see of it.
    pub fn piece(&self) -> Piece<'_> {
        Piece { demand: &self.demand, profile: self.profile }
    }

    /// So many tasks count for one in a program: what is small beside what is large is lost in a double.
    pub fn unit(&self) -> f64 {
        match self.copies.iter().max() {
            Some(most) if *most > COUNTED_SINGLY => power(*most as f64),
            _ => 1.0,
        }
    }

    /// The pieces that all servers hold if they hold nothing else.
    fn on_all(&self, classes: &[Class]) -> u64 {
        let held =
            classes.iter().zip(&self.copies).map(|(class, copies)| class.servers.saturating_mul(*copies));
        held.fold(0, u64::saturating_add)
    }

    /// Refuses tasks of which a user has too many.
    fn can_be_counted(&self, instance: &Instance, classes: &[Class]) -> Result<(), Violation> {
        let limit = |kind: &KindId| {
            let kind = instance.kind(*kind);
            kind.user().tasks().unwrap_or(u64::MAX).saturating_mul(kind.each())
        };
        let on_all = self.on_all(classes);
        let on_one = self.copies.iter().copied().max().unwrap_or(0);
        let many = |kind: &&KindId| on_all.min(limit(kind)) >= MANY || on_one.min(limit(kind)) >= MANY_ON_ONE;
        let Some(kind) = self.kinds.iter().find(many) else { return Ok(()) };
        let problem = "is so small that a server holds more than 2^40 of its tasks, or all together more than 2^50: too many to \
                       count; let a task be so many of them";
        let user = instance.kind(*kind).user();
        let place = match user.has_kinds() {
            true => format!("users[{}].kinds[{}].demand", user.index().0, kind.0 - user.kind_range().start),
            false => format!("users[{}].demand", user.index().0),
        };
        Err(Violation::new(place, "", problem))
    }
}

impl Packing {
    /// # Errors
    /// Rates, more than 8 resources, more servers than can be listed, amounts that span more than 63 bits, servers that hold more
    /// pieces of a user than are counted.
    pub fn new(instance: &Instance) -> Result<Self, Violation> {
        let m = instance.resources().len();
        let units = Units::new(instance)?;
        let servers = instance.server_count();
        if servers > MAX_SERVERS {
            let problem = format!("whole tasks are placed on at most {MAX_SERVERS} servers");
            return Err(Violation::new("server_classes", servers, problem));
        }
        if let Some(user) = instance.users().find(|user| !user.rule().rates().is_empty()) {
            let problem = "whole-task bounds count tasks, which all do the same work; leave the rates out";
            return Err(Violation::new(format!("users[{}].rates", user.index().0), "", problem));
        }
        let makes = inside::makes(instance, |r, size| units.amount(r, size));
        let rows = match makes.is_empty() {
            true => Vec::new(),
            false => {
                let kinds = (0..instance.kind_count()).map(|k| instance.kind(KindId(k)));
                let demands: Vec<(Quantities, Option<ProfileId>)> =
                    kinds.map(|kind| (units.measure(|r| kind.piece_units(r)), kind.profile())).collect();
                let piece = |(demand, profile)| Piece { demand, profile };
                let pieces: Vec<Piece<'_>> =
                    demands.iter().map(|(demand, profile)| piece((demand, *profile))).collect();
                Row::of(&makes, &pieces, WIDTH - m)
            }
        };
        let demanded = |mut demand: Quantities, profile: Option<ProfileId>| {
            let piece = Piece { demand: &demand, profile };
            let of_rows = rows.iter().map(|row| row.counts(piece)).collect::<Vec<u64>>();
            demand[m..m + rows.len()].copy_from_slice(&of_rows);
            demand
        };
        let mut classes: Vec<Class> = Vec::new();
        let mut known = HashMap::new();
        for (l, class) in instance.classes().iter().enumerate().filter(|(_, class)| class.count > 0) {
            let mut capacity = units.measure(|r| instance.capacity_units(ClassId(l), r));
            let devices = inside::of_class(instance, ClassId(l), &makes);
            for (j, row) in rows.iter().enumerate() {
                capacity[m + j] = row.has(capacity[row.resource()], &devices);
            }
            let treatment: Vec<bool> = instance.rules().iter().map(|rule| rule.allows(ClassId(l))).collect();
            let counts: Vec<(usize, u64)> =
                devices.iter().map(|devices| (devices.make.resource, devices.count)).collect();
            let position = *known.entry((capacity, counts, treatment)).or_insert_with(|| {
                classes.push(Class { capacity, devices, servers: 0, members: Vec::new() });
                classes.len() - 1
            });
            classes[position].servers += class.count;
            classes[position].members.push(ClassId(l));
        }
        let mut shapes: Vec<Shape> = Vec::new();
        let mut known = HashMap::new();
        let mut shape_of: Vec<Option<u32>> = Vec::with_capacity(instance.kind_count());
        let mut pieces: Vec<(u32, u64)> = Vec::with_capacity(instance.kind_count());
        let mut of_user = Vec::with_capacity(instance.user_count());
        for user in instance.users() {
            for kind in user.kinds() {
                let profile = kind.profile();
                let demand = demanded(units.measure(|r| kind.piece_units(r)), profile);
                let most = user.per_server();
                let own = most.map(|_| kind.index());
                let most = most.unwrap_or(u64::MAX);
                let shape = *known.entry((kind.rule_id(), demand, profile, own)).or_insert_with(|| {
                    let on_devices = |class: &Class| {
                        let piece = Piece { demand: &demand, profile };
                        class.devices.iter().map(|devices| devices.copies(piece)).min().unwrap_or(u64::MAX)
                    };
                    let copies = |class: &Class| match kind.rule().allows(class.members[0]) {
                        true => copies(&demand, &class.capacity).min(most).min(on_devices(class)),
                        false => 0,
                    };
                    let copies: Vec<u64> = classes.iter().map(copies).collect();
                    copies.iter().any(|copies| *copies > 0).then(|| {
                        shapes.push(Shape { demand, profile, kinds: Vec::new(), copies, most });
                        (shapes.len() - 1) as u32
                    })
                });
                shape_of.push(shape);
            }
            let first = pieces.len();
            for kind in user.kinds() {
                let Some(shape) = shape_of[kind.index().0] else { continue };
                add_pieces(&mut pieces, first, shape, kind.each());
            }
            // Where a kind has no room anywhere, all servers hold too few pieces for a task, pieces of one are in one another's way or there are no
            // tasks, no piece counts.
            let is_short = |(shape, each): &(u32, u64)| shapes[*shape as usize].on_all(&classes) < *each;
            let own = &mut shape_of[user.kind_range()];
            if user.tasks() == Some(0)
                || own.iter().any(Option::is_none)
                || pieces[first..].iter().any(is_short)
                || !user.holds_few_pieces()
            {
                own.fill(None);
                pieces.truncate(first);
            }
            for kind in user.kinds() {
                if let Some(shape) = shape_of[kind.index().0] {
                    shapes[shape as usize].kinds.push(kind.index());
                }
            }
            of_user.push(first..pieces.len());
        }
        shapes.iter().try_for_each(|shape| shape.can_be_counted(instance, &classes))?;
        let in_place = in_place(&shapes, m, &makes);
        let (resources, has_rules) = (m + rows.len(), instance.has_server_rules());
        let all_classes = instance.classes().len();
        let between = BetweenServers::default();
        let packing = Self {
            resources,
            has_rules,
            classes,
            all_classes,
            shapes,
            shape_of,
            pieces,
            of_user,
            in_place,
            between,
            limits: LimitRows::default(),
        };
        let between = BetweenServers::of(instance, &packing.alone_on_servers());
        Ok(Self { between, ..packing })
    }

    /// These shapes alone on so many servers of each class, which knows no users: for servers to be filled where there are no rules.
    pub fn part(&self, shapes: &[usize], servers: &[u64]) -> Self {
        let class = |(class, servers): (&Class, &u64)| {
            let (devices, members) = (Vec::new(), Vec::new());
            Class { capacity: class.capacity, devices, servers: *servers, members }
        };
        let shape = |s: &usize| {
            let Shape { demand, profile, copies, most, .. } = &self.shapes[*s];
            Shape {
                demand: *demand,
                profile: *profile,
                kinds: Vec::new(),
                copies: copies.clone(),
                most: *most,
            }
        };
        let shapes: Vec<Shape> = shapes.iter().map(shape).collect();
        Self {
            resources: self.resources,
            has_rules: false,
            classes: self.classes.iter().zip(servers).map(class).collect(),
            all_classes: 0,
            in_place: in_place(&shapes, self.resources, &[]),
            shapes,
            shape_of: Vec::new(),
            pieces: Vec::new(),
            of_user: Vec::new(),
            between: BetweenServers::default(),
            limits: LimitRows::default(),
        }
    }

    /// What servers hold of the pieces of users, rules between servers aside.
    fn alone_on_servers(&self) -> OnServers<'_> {
        OnServers {
            classes: self.classes.iter().map(|class| &class.members[..]).collect(),
            copies: self.shapes.iter().map(|shape| &shape.copies[..]).collect(),
            shape_of: &self.shape_of,
            tasks: self
                .of_user
                .iter()
                .enumerate()
                .map(|(user, pieces)| {
                    let (most, _) = self.alone(UserId(user))?;
                    Some(AloneTasks { pieces: &self.pieces[pieces.clone()], most })
                })
                .collect(),
        }
    }

    /// The pieces of one task of a user, `(shape, how many)`; none if it can have no task.
    pub fn pieces(&self, user: UserId) -> &[(u32, u64)] {
        &self.pieces[self.of_user[user.0].clone()]
    }

    /// The users that can have no task.
    pub fn without_tasks(&self) -> Vec<UserId> {
        let without = self.of_user.iter().enumerate().filter(|(_, pieces)| pieces.is_empty());
        without.map(|(user, _)| UserId(user)).collect()
    }

    /// The pieces of each shape that so many tasks of each user take.
    pub fn need(&self, tasks: &[u64]) -> Vec<u64> {
        let mut need = vec![0u64; self.shapes.len()];
        for (range, tasks) in self.of_user.iter().zip(tasks) {
            for (shape, each) in &self.pieces[range.clone()] {
                let need = &mut need[*shape as usize];
                *need = need.saturating_add(each.saturating_mul(*tasks));
            }
        }
        need
    }

    /// The tasks for which all servers hold pieces enough of a shape, if they hold nothing else; and the shape of which there are
    /// fewest.
    pub fn alone(&self, user: UserId) -> Option<(u64, usize)> {
        let tasks = |(shape, each): &(u32, u64)| {
            (self.shapes[*shape as usize].on_all(&self.classes) / each, *shape as usize)
        };
        self.pieces(user).iter().map(tasks).min()
    }

    /// The most tasks of a user where nothing else runs, as far as servers and the rules between them tell.
    pub fn most(&self, user: UserId) -> u64 {
        let alone = || self.alone(user).map_or(0, |(tasks, _)| tasks);
        self.between.most(user).unwrap_or_else(alone)
    }

    /// The most tasks that a user can have alone: its own, in whole gangs, as servers have room for them and limits let it have them.
    pub fn most_within(&self, limited: &LimitedTasks, user: User<'_>) -> u64 {
        let most = limited.most[user.index().0].min(self.most(user.index()));
        most - most % user.at_once()
    }

    /// Whether contents of a class, which have room, keep the rules inside a server; `None` if that is not found out.
    pub fn keeps_rules(
        &self,
        class: usize,
        content: impl Iterator<Item = (usize, u64)> + Clone,
    ) -> Option<bool> {
        if !self.has_rules {
            return Some(true);
        }
        if content.clone().any(|(shape, count)| count > self.shapes[shape].most) {
            return Some(false);
        }
        let pieces = content.map(|(shape, count)| (self.shapes[shape].piece(), count));
        inside::hold(&self.classes[class].devices, pieces)
    }

    /// Values of shapes and of merged classes as those of the instance's kinds and classes, in its order.
    pub fn in_instance_order(&self, shapes: &[u64], classes: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let value = |shape: &Option<u32>| shape.map_or(0, |shape| shapes[shape as usize]);
        // Classes without servers are none of ours.
        let mut of_classes = vec![0; self.all_classes];
        for (class, value) in self.classes.iter().zip(classes) {
            class.members.iter().for_each(|l| of_classes[l.0] = *value);
        }
        (self.shape_of.iter().map(value).collect(), of_classes)
    }

    /// The most that a server has of a resource.
    pub fn largest(&self, r: usize) -> u64 {
        self.classes.iter().map(|class| class.capacity[r]).max().unwrap_or(0)
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

/// `resources` are those of the instance, of which some have devices.
fn in_place(shapes: &[Shape], resources: usize, makes: &[Make]) -> Vec<u32> {
    if shapes.len() > MAX_COMPARED {
        return Vec::new();
    }
    // The classes that each shape can be on, as bits: there may be thousands of classes.
    let bits = |copies: &[u64]| copies.iter().fold(0u64, |bits, copies| bits << 1 | u64::from(*copies > 0));
    let classes: Vec<Vec<u64>> = shapes.iter().map(|s| s.copies.chunks(64).map(bits).collect()).collect();
    let pair = |i: usize, j: usize| {
        let copies = match makes {
            [] => copies(&shapes[j].demand, &shapes[i].demand),
            _ => {
                let own = |s: usize| {
                    let mut own = Quantities::default();
                    own[..resources].copy_from_slice(&shapes[s].demand[..resources]);
                    own
                };
                let (one, other) = (own(i), own(j));
                let [one_piece, other_piece] =
                    [(&one, i), (&other, j)].map(|(demand, s)| Piece { demand, profile: shapes[s].profile });
                copies(&other, &one).min(inside::in_place(makes, one_piece, other_piece))
            }
        };
        // What a server takes only so many of can replace others only so often.
        let copies = if shapes[j].most < u64::MAX { 0 } else { copies.min(u64::from(u32::MAX)) as u32 };
        let follows = || classes[i].iter().zip(&classes[j]).all(|(i, j)| i & !j == 0);
        if copies > 0 && follows() { copies } else { 0 }
    };
    let pair = &pair;
    (0..shapes.len()).flat_map(|i| (0..shapes.len()).map(move |j| pair(i, j))).collect()
}

/// The largest unit of each resource that measures all its amounts.
pub(super) struct Units(Vec<u128>);

impl Units {
    pub fn new(instance: &Instance) -> Result<Self, Violation> {
        let m = instance.resources().len();
        if m > WIDTH {
            let problem = format!(
                "whole tasks are bounded over at most {WIDTH}; leave out resources that are never short"
            );
            return Err(Violation::new("resources", m, problem));
        }
        let unit = |r: usize| {
            let r = ResourceId(r);
            let mut largest = 0;
            let mut divisor = 0;
            let capacities = (0..instance.classes().len()).map(|l| instance.capacity_units(ClassId(l), r));
            let pieces = (0..instance.kind_count()).map(|k| instance.kind(KindId(k)).piece_units(r));
            for amount in capacities.clone().chain(pieces) {
                divisor = greatest_common_divisor(divisor, amount);
                largest = amount.max(largest);
            }
            let divisor = greatest_common_divisor(divisor, instance.device_units(r).unwrap_or(0)).max(1);
            // Sums of two amounts must fit too.
            if largest / divisor >= 1 << 62 {
                let place = format!("resources[{}]", r.0);
                let problem =
                    "amounts have too many digits in all to count whole tasks in 63 bits; round them";
                return Err(Violation::new(place, &instance.resources()[r.0], problem));
            }
            Ok(divisor)
        };
        (0..m).map(unit).collect::<Result<_, _>>().map(Self)
    }

    pub fn measure(&self, amount: impl Fn(ResourceId) -> u128) -> Quantities {
        let mut amounts = [0; WIDTH];
        for r in (0..self.0.len()).map(ResourceId) {
            amounts[r.0] = self.amount(r, amount(r));
        }
        amounts
    }

    pub fn amount(&self, r: ResourceId, amount: u128) -> u64 {
        (amount / self.0[r.0]) as u64
    }
}
