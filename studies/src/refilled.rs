//! Much GPU in use by filling servers anew, one after the other: what a server holds goes back to the tasks that have no place, and of
//! many greedy fillings the one that uses the most GPU stays, with the least of the other resources where several do.
//!
//! A greedy filling takes tasks that want much GPU first, more or less those that want little else for it, with some chance. Servers
//! with little else for their GPU choose first; those whose GPU is all in use are left as they are. In the end each is filled together
//! with any other, which may change what they hold where nothing is lost.

use fairplan::instances::{ClassId, Placement, Random, ResourceId, User};
use fairplan::{Control, Instance, UserId};

/// Rounds over all servers, and fillings that are tried of each in a round.
const ROUNDS: usize = 6;
const TRIES: usize = 60;

/// Rounds of servers with another each.
const PAIRS: usize = 40;

/// How much it counts that a task wants little else: of the fillings in turn. The first of each are left to no chance.
const LEAN: [f64; 4] = [0.4, 1.2, 0.0, 3.6];

/// What chance may add to a task's worth in GPUs, of the others.
const CHANCE: [f64; 4] = [0.3, 1.0, 3.0, 8.0];

/// Where tasks of these users go, as far as they have a place. `gpu` has devices, which tasks take whole or a part of one.
pub(crate) fn refilled(
    instance: &Instance,
    gpu: ResourceId,
    tasks: &[UserId],
    control: &Control<'_>,
) -> Placement {
    let mut pool = vec![0u64; instance.user_count()];
    tasks.iter().for_each(|user| pool[user.0] += 1);
    let classes: Vec<Class> = (0..instance.classes().len())
        .map(|l| Class::new(instance, gpu, ClassId(l), |user| pool[user.index().0] > 0))
        .collect();
    let counts = instance.classes().iter().map(|class| class.count as usize).enumerate();
    let class_of: Vec<usize> = counts.flat_map(|(l, count)| std::iter::repeat_n(l, count)).collect();
    let mut order: Vec<usize> = (0..class_of.len()).filter(|s| classes[class_of[*s]].devices > 0).collect();
    let others = |s: usize| classes[class_of[s]].others;
    order.sort_by(|a, b| others(*a).total_cmp(&others(*b)).then(a.cmp(b)));
    let held = vec![Filling::default(); class_of.len()];
    let mut servers = Servers { classes: &classes, class_of, held, pool, random: Random::new(1, 0) };
    for round in 0..ROUNDS + PAIRS {
        if servers.pool.iter().all(|waiting| *waiting == 0) {
            break;
        }
        let open: Vec<usize> = order.iter().copied().filter(|s| !servers.is_full(*s)).collect();
        for s in open {
            if control.deadline.is_over() {
                break;
            }
            let other = order[servers.random.below(order.len() as u64) as usize];
            if round < ROUNDS || other == s {
                servers.refill(&[s], TRIES, false);
            } else {
                servers.refill(&[s, other], TRIES / 2, true);
            }
        }
    }
    let held = servers.held;
    let mut placement = Placement { tasks: vec![0; instance.user_count()], servers: Vec::new() };
    for mut filling in held {
        filling.tasks.sort_unstable();
        let runs = filling.tasks.chunk_by(|a, b| a == b);
        let server: Vec<(u32, u64)> = runs.map(|run| (run[0] as u32, run.len() as u64)).collect();
        server.iter().for_each(|(user, count)| placement.tasks[*user as usize] += count);
        placement.servers.push(server);
    }
    placement
}

/// All servers, and the tasks that have no place.
struct Servers<'a> {
    classes: &'a [Class],
    class_of: Vec<usize>,
    held: Vec<Filling>,
    /// Of each user.
    pool: Vec<u64>,
    random: Random,
}

impl Servers<'_> {
    fn is_full(&self, server: usize) -> bool {
        self.classes[self.class_of[server]].is_full(&self.held[server])
    }

    fn put_back(&mut self, fillings: &[Filling]) {
        fillings.iter().flat_map(|filling| &filling.tasks).for_each(|user| self.pool[*user] += 1);
    }

    /// Fills some servers one after the other, as well as is found; `sideways` one filling in three will do that is as good as another.
    fn refill(&mut self, servers: &[usize], tries: usize, sideways: bool) {
        let mut best: Vec<Filling> = servers.iter().map(|s| std::mem::take(&mut self.held[*s])).collect();
        self.put_back(&best);
        for number in 0..tries {
            let chance = match number < LEAN.len() {
                true => 0.0,
                false => CHANCE[self.random.below(CHANCE.len() as u64) as usize],
            };
            let lean = LEAN[number % LEAN.len()];
            let mut fillings = Vec::with_capacity(servers.len());
            for s in servers {
                let class = &self.classes[self.class_of[*s]];
                fillings.push(class.filled(&mut self.pool, lean, chance, &mut self.random));
            }
            self.put_back(&fillings);
            let sum = |fillings: &[Filling]| -> (u128, f64) {
                let gpu = fillings.iter().map(|filling| filling.gpu).sum();
                (gpu, fillings.iter().map(|filling| filling.others).sum())
            };
            let ((gpu, others), (most, least)) = (sum(&fillings), sum(&best));
            let is_as_good = if sideways { number % 3 == 0 } else { others < least };
            if gpu > most || gpu == most && is_as_good {
                best = fillings;
            }
        }
        for (s, filling) in servers.iter().zip(best) {
            filling.tasks.iter().for_each(|user| self.pool[*user] -= 1);
            self.held[*s] = filling;
        }
    }
}

/// What a server holds.
#[derive(Clone, Default)]
struct Filling {
    /// A user for each task.
    tasks: Vec<usize>,
    gpu: u128,
    /// The parts of the server's other resources that are used, summed.
    others: f64,
}

/// Tasks of a user on a server of a class.
struct Kind {
    user: usize,
    /// In units, one number a resource.
    demand: Vec<u128>,
    /// In GPUs.
    wants: f64,
    /// The largest part of another resource of the server that a task takes, over the part of its GPUs.
    weight: f64,
    others: f64,
}

/// Servers that are alike.
struct Class {
    gpu: usize,
    capacity: Vec<u128>,
    devices: usize,
    /// A device in units.
    size: u128,
    /// What a server has of the other resources for a GPU, in parts of all there is.
    others: f64,
    kinds: Vec<Kind>,
}

impl Class {
    fn new(instance: &Instance, gpu: ResourceId, class: ClassId, comes: impl Fn(&User<'_>) -> bool) -> Self {
        let m = instance.resources().len();
        let capacity: Vec<u128> = (0..m).map(|r| instance.capacity_units(class, ResourceId(r))).collect();
        let devices = instance.classes()[class.0].devices_of(gpu).unwrap_or(0) as usize;
        let size = instance.device_units(gpu).unwrap_or(1);
        let others = || (0..m).filter(|r| *r != gpu.0);
        let of_all = |r: usize| capacity[r] as f64 / instance.total_units(ResourceId(r)) as f64;
        let kind = |user: User<'_>| {
            let demand: Vec<u128> = (0..m).map(|r| user.demand_units(ResourceId(r))).collect();
            let wants = demand[gpu.0] as f64 / size as f64;
            let part = |r: usize| demand[r] as f64 / capacity[r].max(1) as f64;
            let largest = others().map(part).fold(0.0, f64::max);
            let weight = largest / (wants / devices.max(1) as f64);
            Kind { user: user.index().0, wants, weight, others: others().map(part).sum(), demand }
        };
        let can_run =
            |user: &User<'_>| comes(user) && user.rule().allows(class) && user.demand_units(gpu) > 0;
        let others = others().map(of_all).sum::<f64>() / devices.max(1) as f64;
        let kinds = instance.users().filter(can_run).map(kind).collect();
        Self { gpu: gpu.0, devices, size, others, kinds, capacity }
    }

    fn is_full(&self, filling: &Filling) -> bool {
        filling.gpu >= self.size * self.devices as u128
    }

    /// An empty server filled with tasks of the pool, which are taken out of it.
    fn filled(&self, pool: &mut [u64], lean: f64, chance: f64, random: &mut Random) -> Filling {
        let mut worth: Vec<(f64, &Kind)> = Vec::with_capacity(self.kinds.len());
        for kind in self.kinds.iter().filter(|kind| pool[kind.user] > 0) {
            let luck =
                if chance > 0.0 { chance * random.below(1 << 20) as f64 / f64::from(1 << 20) } else { 0.0 };
            worth.push((kind.wants - lean * kind.weight + luck, kind));
        }
        worth.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.user.cmp(&b.1.user)));
        let (mut free, mut devices) = (self.capacity.clone(), vec![self.size; self.devices]);
        let mut filling = Filling::default();
        for (_, kind) in worth {
            while pool[kind.user] > 0
                && kind.demand.iter().zip(&free).all(|(need, free)| need <= free)
                && self.take(&mut devices, kind.demand[self.gpu])
            {
                pool[kind.user] -= 1;
                free.iter_mut().zip(&kind.demand).for_each(|(free, need)| *free -= need);
                filling.tasks.push(kind.user);
                filling.gpu += kind.demand[self.gpu];
                filling.others += kind.others;
            }
        }
        filling
    }

    /// Takes whole devices, or a part of the one with the least room for it, if there are such.
    fn take(&self, devices: &mut [u128], want: u128) -> bool {
        let whole = (want / self.size) as usize;
        if whole == 0 {
            let least = devices.iter_mut().filter(|room| **room >= want).min_by_key(|room| **room);
            return least.map(|room| *room -= want).is_some();
        }
        let free = devices.iter_mut().filter(|room| **room == self.size);
        let taken: Vec<&mut u128> = free.take(whole).collect();
        let is_enough = taken.len() == whole;
        if is_enough {
            taken.into_iter().for_each(|room| *room = 0);
        }
        is_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan::InstanceBuilder;
    use fairplan::instances::{NewUser, ServerClass};
    use fairplan_verify::{PlacementClaim, verify_placement};

    #[test]
    fn servers_are_filled_device_by_device_and_break_no_rule() {
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
        ]
        .map(|(id, demand)| builder.user(NewUser::new(id, &demand.map(number))).unwrap());
        let instance = builder.build().unwrap();
        let tasks: Vec<UserId> = users.into_iter().flat_map(|user| [user; 3]).collect();
        let placement = refilled(&instance, ResourceId(1), &tasks, &Control::none());
        assert_eq!(placement.tasks, [0, 3, 3, 3]);
        let verdicts = verify_placement(&instance, &PlacementClaim::from(&placement));
        assert!(verdicts.iter().all(|verdict| verdict.holds), "{verdicts:?}");
    }
}
