//! Room that every server loses a little of, gathered on a few: these are emptied, and from what they held and what is missing
//! the others take tasks for slightly less valuable ones of theirs, until they are full. What is left needs less room.
//!
//! Where servers hold many small tasks, a few tasks have so many sums that hardly any server stays short of the last bit
//! that patterns do not fill. The servers emptied are many at first, so that there is much to choose from, then fewer, and
//! at last one, which holds all that is left as soon as that is no more than it has room for.

use super::choices::{Choice, choices};
use super::packing::{Packing, WIDTH, fits, more};
use super::rebuild::{Values, fill_again};
use super::repair::Repair;
use super::servers::Servers;
use fairplan_instances::{Deadline, InstanceError, Random};

/// Servers that are emptied one time after the other, and how often all of that is done.
const EMPTIED: [usize; 4] = [64, 16, 4, 1];
const ROUNDS: usize = 12;

/// If no more than this part of the servers found tasks to exchange, more rounds will not help.
const WORTHWHILE: f64 = 0.1;

/// Choices of each size that a server considers to give, and that it considers to take.
const GIVEN: usize = 1_000;
const TAKEN: usize = 100_000;

/// Of those to take, as many are looked at, the most valuable first.
const LOOKED_AT: usize = 40;

/// Exchanges after which it is listed again what there is to take.
const LISTED_FOR: usize = 64;

/// Finds room for what is missing where servers lose little of what they are worth. What is missing is not worth more
/// afterwards.
pub(super) fn gather(
    packing: &Packing,
    repair: &mut Repair<'_>,
    values: &Values<'_>,
    stop: &Deadline,
) -> Result<(), InstanceError> {
    repair.place_missing(stop);
    let lost = (0..repair.servers.free.len()).map(|server| values.loss(&repair.servers, server));
    let spare = lost.sum::<f64>() - values.worth(&repair.missing);
    let is_done = |repair: &Repair<'_>| repair.missing.iter().all(|missing| *missing == 0) || stop.is_over();
    if spare < 0.0 || is_done(repair) {
        return Ok(());
    }
    let before = (values.worth(&repair.missing), repair.servers.clone(), repair.missing.clone());
    let mut random = Random::new(repair.missing.iter().sum(), packing.shapes.len() as u64);
    'rounds: for _ in 0..ROUNDS {
        for (at, count) in EMPTIED.into_iter().enumerate() {
            if is_done(repair) {
                break 'rounds;
            }
            let emptied = choose(&repair.servers, values, count, &mut random);
            let exchanged = gather_on(packing, repair, values, &emptied, spare, stop)?;
            repair.place_missing(stop);
            if at == 0 && exchanged < WORTHWHILE {
                break 'rounds;
            }
        }
    }
    if values.worth(&repair.missing) > before.0 {
        (_, repair.servers, repair.missing) = before;
        repair.has_no_room.fill(false);
    }
    Ok(())
}

/// Any servers, or for one the one that loses most.
fn choose(servers: &Servers, values: &Values<'_>, count: usize, random: &mut Random) -> Vec<usize> {
    let mut all: Vec<usize> = (0..servers.free.len()).collect();
    if count == 1 {
        let loss = |server: &usize| values.loss(servers, *server);
        return all
            .into_iter()
            .max_by(|a, b| loss(a).total_cmp(&loss(b)).then(b.cmp(a)))
            .into_iter()
            .collect();
    }
    let count = count.min(all.len());
    for at in 0..count {
        let other = at + random.below((all.len() - at) as u64) as usize;
        all.swap(at, other);
    }
    all.truncate(count);
    all.sort_unstable();
    all
}

/// Empties some servers, lets the others exchange tasks, and fills them again. All may lose together what is to spare.
/// Returns the part of the others that lost much and found an exchange.
fn gather_on(
    packing: &Packing,
    repair: &mut Repair<'_>,
    values: &Values<'_>,
    emptied: &[usize],
    spare: f64,
    stop: &Deadline,
) -> Result<f64, InstanceError> {
    let mut heap = Heap::new(packing, repair, emptied);
    let enough = 0.5 * spare / repair.servers.free.len() as f64;
    let others = (0..repair.servers.free.len()).filter(|server| emptied.binary_search(server).is_err());
    let mut others: Vec<(f64, usize)> =
        others.map(|server| (values.loss(&repair.servers, server), server)).collect();
    others.retain(|(loss, _)| *loss > enough);
    others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let considered = others.len().max(1);
    let mut exchanges = 0;
    let mut to_take = Vec::new();
    let mut list_again = 0;
    for (loss, server) in others {
        if stop.is_over() || emptied.len() == 1 && heap.fits() {
            break;
        }
        if exchanges == list_again {
            list_again += LISTED_FOR;
            to_take = choices(packing, values.tasks, &heap.kinds(), TAKEN);
            to_take.sort_by(|a, b| a.value.total_cmp(&b.value));
        }
        let given = choices(packing, values.tasks, &repair.servers.tasks[server], GIVEN);
        let at = Losing { server, loss, enough };
        if let Some((given, taken)) = heap.best_exchange(packing, &repair.servers, at, &given, &to_take) {
            heap.exchange(packing, &mut repair.servers, server, &given, &taken);
            exchanges += 1;
        }
    }
    match emptied {
        [server] if heap.fits_on(packing, &repair.servers, *server) => {
            for (shape, count) in heap.kinds() {
                repair.servers.add_many(packing, *server, shape as usize, count);
            }
            repair.missing.fill(0);
        }
        _ => {
            repair.missing = heap.tasks;
            fill_again(packing, repair, values, emptied, stop)?;
        }
    }
    repair.has_no_room.fill(false);
    Ok(exchanges as f64 / considered as f64)
}

/// A server, by how much it holds less than it is worth, and how much less is little enough.
#[derive(Clone, Copy)]
struct Losing {
    server: usize,
    loss: f64,
    enough: f64,
}

/// What some servers held and what was missing.
struct Heap {
    /// Tasks of each shape.
    tasks: Vec<u64>,
    /// The room they take, and the room of the servers.
    load: [u128; WIDTH],
    capacity: [u128; WIDTH],
}

impl Heap {
    /// Takes what is missing, and all from some servers.
    fn new(packing: &Packing, repair: &mut Repair<'_>, emptied: &[usize]) -> Self {
        let mut heap = Self { tasks: repair.missing.clone(), load: [0; WIDTH], capacity: [0; WIDTH] };
        for server in emptied {
            for (shape, count) in std::mem::take(&mut repair.servers.tasks[*server]) {
                heap.tasks[shape as usize] += count;
            }
            let capacity = packing.classes[repair.servers.class[*server] as usize].capacity;
            repair.servers.free[*server] = capacity;
            heap.capacity.iter_mut().zip(capacity).for_each(|(sum, own)| *sum += u128::from(own));
        }
        for (count, shape) in heap.tasks.iter().zip(&packing.shapes) {
            let parts = heap.load.iter_mut().zip(shape.demand);
            parts.for_each(|(load, demand)| *load += u128::from(demand) * u128::from(*count));
        }
        heap
    }

    fn fits(&self) -> bool {
        self.load.iter().zip(&self.capacity).all(|(load, capacity)| load <= capacity)
    }

    fn kinds(&self) -> Vec<(u32, u64)> {
        let there = self.tasks.iter().enumerate().filter(|(_, count)| **count > 0);
        there.map(|(shape, count)| (shape as u32, *count)).collect()
    }

    fn fits_on(&self, packing: &Packing, servers: &Servers, server: usize) -> bool {
        let class = servers.class[server] as usize;
        self.fits() && self.kinds().iter().all(|(shape, _)| packing.shapes[*shape as usize].copies[class] > 0)
    }

    /// Tasks of a server, and others worth more that fit instead: the first found with which it loses little enough, or those
    /// with which it loses least.
    fn best_exchange(
        &self,
        packing: &Packing,
        servers: &Servers,
        Losing { server, loss, enough }: Losing,
        given: &[Choice],
        to_take: &[Choice],
    ) -> Option<(Choice, Choice)> {
        let class = servers.class[server] as usize;
        let mut best: Option<(f64, Choice, Choice)> = None;
        for given in given {
            let room = more(&servers.free[server], &given.load);
            // What the heap already holds too much of it is not left with more of.
            let can_go = |taken: &Choice| {
                let mut amounts =
                    taken.load.iter().zip(&given.load).zip(self.load.iter().zip(&self.capacity));
                let runs = |shape: &u32| packing.shapes[*shape as usize].copies[class] > 0;
                fits(&taken.load, &room)
                    && amounts.all(|((taken, given), (load, capacity))| {
                        load + u128::from(*given) <= u128::from(*taken) + load.max(capacity)
                    })
                    && taken.shapes().iter().all(|s| runs(s) && taken.count(*s) <= self.tasks[*s as usize])
            };
            let to = to_take.partition_point(|taken| taken.value <= given.value + loss);
            let least = best.map_or(0.0, |best| best.0);
            let candidates = to_take[..to].iter().rev().take(LOOKED_AT);
            let mut better = candidates.take_while(|taken| taken.value - given.value > least);
            if let Some(taken) = better.find(|taken| can_go(taken)) {
                let gain = taken.value - given.value;
                best = Some((gain, *given, *taken));
                if loss - gain <= enough {
                    break;
                }
            }
        }
        best.map(|(_, given, taken)| (given, taken))
    }

    fn exchange(
        &mut self,
        packing: &Packing,
        servers: &mut Servers,
        server: usize,
        given: &Choice,
        taken: &Choice,
    ) {
        for shape in given.shapes() {
            servers.remove(packing, server, *shape as usize);
            self.tasks[*shape as usize] += 1;
        }
        for shape in taken.shapes() {
            servers.add(packing, server, *shape as usize);
            self.tasks[*shape as usize] -= 1;
        }
        for ((load, given), taken) in self.load.iter_mut().zip(given.load).zip(taken.load) {
            *load = *load + u128::from(given) - u128::from(taken);
        }
    }
}
