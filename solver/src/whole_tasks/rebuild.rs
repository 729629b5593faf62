//! Tasks for which no room was made: some servers are emptied, those that lose most and some others, and a dive fills them
//! again with what was on them and what is missing.

use super::dive::{COST, Dive, dive};
use super::master::Want;
use super::packing::Packing;
use super::patterns::Pattern;
use super::repair::Repair;
use super::servers::Servers;
use fairplan_instances::{Deadline, InstanceError, Random};

/// Servers that are emptied, try after try; half of them are those that lose most.
const EMPTIED: [usize; 8] = [30, 60, 120, 60, 120, 240, 120, 240];

/// Where more tasks are missing, a few servers do not hold what is lost.
const FEW: u64 = 20;

/// Of the servers that are filled anew, this part is rounded up at a time.
const PACE: f64 = 0.1;

/// What servers are filled by.
pub(super) struct Values<'a> {
    /// The patterns of the best mix.
    pub patterns: &'a [(Pattern, f64)],
    /// What a task of each shape is worth, and a server of each class.
    pub tasks: &'a [f64],
    pub servers: &'a [f64],
}

impl Values<'_> {
    /// What so many tasks of each shape are worth.
    pub fn worth(&self, tasks: &[u64]) -> f64 {
        tasks.iter().zip(self.tasks).map(|(count, value)| *count as f64 * value).sum()
    }

    /// What all servers are worth.
    pub fn of_servers(&self, packing: &Packing) -> f64 {
        packing.classes.iter().zip(self.servers).map(|(class, value)| class.servers as f64 * value).sum()
    }

    /// By how much a server holds less than it is worth.
    pub fn loss(&self, servers: &Servers, server: usize) -> f64 {
        let tasks = servers.tasks[server].iter();
        let held: f64 = tasks.map(|(shape, count)| self.tasks[*shape as usize] * *count as f64).sum();
        self.servers[servers.class[server] as usize] - held
    }
}

/// Finds room for what is missing: where tasks move to make it, or on servers filled anew.
pub(super) fn rebuild(
    packing: &Packing,
    repair: &mut Repair<'_>,
    values: &Values<'_>,
    stop: &Deadline,
) -> Result<(), InstanceError> {
    repair.place_missing(stop);
    let missing = |repair: &Repair<'_>| repair.missing.iter().sum::<u64>();
    if missing(repair) > FEW {
        return Ok(());
    }
    let mut random = Random::new(missing(repair), packing.shapes.len() as u64);
    for count in EMPTIED {
        if missing(repair) == 0 || stop.is_over() {
            break;
        }
        let chosen = choose(repair, values, count, &mut random);
        fill_again(packing, repair, values, &chosen, stop)?;
        repair.place_missing(stop);
    }
    Ok(())
}

/// Servers that lose most of what they are worth, and others.
fn choose(repair: &Repair<'_>, values: &Values<'_>, count: usize, random: &mut Random) -> Vec<usize> {
    let servers = &repair.servers;
    let mut others: Vec<(f64, usize)> =
        (0..servers.free.len()).map(|server| (values.loss(servers, server), server)).collect();
    others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let count = count.min(others.len());
    let mut chosen: Vec<usize> = others.drain(..count / 2).map(|(_, server)| server).collect();
    while chosen.len() < count {
        chosen.push(others.swap_remove(random.below(others.len() as u64) as usize).1);
    }
    chosen.sort_unstable();
    chosen
}

/// Fills these servers anew, unless that leaves out tasks that are worth more.
pub(super) fn fill_again(
    packing: &Packing,
    repair: &mut Repair<'_>,
    values: &Values<'_>,
    chosen: &[usize],
    stop: &Deadline,
) -> Result<(), InstanceError> {
    let mut servers = vec![0; packing.classes.len()];
    let mut needed = repair.missing.clone();
    let mut patterns = Vec::new();
    for server in chosen {
        let class = repair.servers.class[*server] as usize;
        servers[class] += 1;
        let tasks = &repair.servers.tasks[*server];
        tasks.iter().for_each(|(shape, tasks)| needed[*shape as usize] += tasks);
        patterns.push((Pattern::new(class, tasks.iter().copied()), 0.0));
    }
    let known = values.patterns.iter().filter(|(pattern, _)| servers[pattern.class] > 0);
    patterns.extend(known.map(|(pattern, _)| (pattern.clone(), 0.0)));
    let start = Dive {
        servers: &servers,
        patterns: &patterns,
        server_values: values.servers,
        cost: COST,
        pace: PACE,
        wants: &|needed| vec![Want::all(needed, 1.0)],
    };
    let filled = dive(packing, &mut needed, &start, stop)?;
    if values.worth(&needed) <= values.worth(&repair.missing) {
        let mut next: Vec<usize> = filled.of_class.iter().map(|range| range.start).collect();
        for server in chosen {
            let from = &mut next[repair.servers.class[*server] as usize];
            repair.servers.free[*server] = filled.free[*from];
            repair.servers.tasks[*server].clone_from(&filled.tasks[*from]);
            *from += 1;
        }
        repair.missing = needed;
        repair.has_no_room.fill(false);
    }
    Ok(())
}
