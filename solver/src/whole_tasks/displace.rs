//! Tasks that found no room take that of others which are worth less and are then missing instead: what is missing is worth less each time, and what is
//! small finds room more easily.

use super::packing::{Packing, Quantities, fits, more};
use super::repair::Repair;
use super::servers::Servers;
use fairplan_instances::Deadline;
use rayon::prelude::*;

/// At most two tasks that leave a server together.
type Leaving = [Option<u32>; 2];

/// Who leaves which server for a task, and by how much less they are worth.
struct Place {
    gain: f64,
    server: usize,
    leaving: Leaving,
}

/// What is worth less by a smaller part stays.
const HARDLY: f64 = 1e-9;

/// Servers that are looked at by one thread at least.
const TOGETHER: usize = 512;

/// Places missing tasks, the most valuable first, where others that leave are worth least.
pub(super) fn displace(packing: &Packing, repair: &mut Repair<'_>, values: &[f64], stop: &Deadline) {
    let mut waiting: Vec<usize> = (0..values.len()).filter(|s| repair.missing[*s] > 0).collect();
    let by_worth = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]).then(b.cmp(a));
    waiting.sort_by(by_worth);
    while let Some(s) = waiting.pop() {
        if stop.is_over() {
            break;
        }
        let Some(Place { server, leaving, .. }) = best_place(packing, &repair.servers, values, s) else {
            continue;
        };
        let mut enter = |other: usize| {
            if let Err(at) = waiting.binary_search_by(|there| by_worth(there, &other)) {
                waiting.insert(at, other);
            }
        };
        for other in leaving.into_iter().flatten().map(|other| other as usize) {
            repair.servers.remove(packing, server, other);
            repair.missing[other] += 1;
            enter(other);
        }
        repair.servers.add(packing, server, s);
        repair.missing[s] -= 1;
        if repair.missing[s] > 0 {
            enter(s);
        }
    }
    repair.has_no_room.fill(false);
}

/// The server on which a task gains most.
fn best_place(packing: &Packing, servers: &Servers, values: &[f64], s: usize) -> Option<Place> {
    let demand = &packing.shapes[s].demand;
    let of_server = |server: usize| -> Option<Place> {
        if packing.shapes[s].copies[servers.class[server] as usize] == 0 {
            return None;
        }
        let gain = |leaving: &Leaving| {
            let worth = |other: &u32| values[*other as usize];
            values[s] - leaving.iter().flatten().map(worth).sum::<f64>()
        };
        let makes_room = |leaving: &Leaving| {
            let room = |room: Quantities, other: &u32| more(&room, &packing.shapes[*other as usize].demand);
            fits(demand, &leaving.iter().flatten().fold(servers.free[server], room))
        };
        let all = leaving(&servers.tasks[server]).map(|leaving| (gain(&leaving), leaving));
        let all = all.filter(|(gain, leaving)| *gain > HARDLY * values[s] && makes_room(leaving));
        let best = all.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map(|(gain, leaving)| Place { gain, server, leaving })
    };
    let better = |a: Option<Place>, b: Option<Place>| match (&a, &b) {
        (Some(one), Some(other))
            if one.gain.total_cmp(&other.gain).then(other.server.cmp(&one.server)).is_ge() =>
        {
            a
        }
        (Some(_), None) => a,
        _ => b,
    };
    let servers = (0..servers.free.len()).into_par_iter().with_min_len(TOGETHER);
    servers.map(of_server).reduce(|| None, better)
}

/// Nobody, one task, or two.
fn leaving(tasks: &[(u32, u64)]) -> impl Iterator<Item = Leaving> + '_ {
    let ones = tasks.iter().map(|(one, _)| [Some(*one), None]);
    let twos = tasks.iter().enumerate().flat_map(|(at, (one, count))| {
        let others = &tasks[if *count > 1 { at } else { at + 1 }..];
        others.iter().map(|(other, _)| [Some(*one), Some(*other)])
    });
    std::iter::once([None, None]).chain(ones).chain(twos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{Decimal, InstanceBuilder, NewUser, ServerClass};

    #[test]
    fn a_large_task_takes_the_place_of_smaller_ones_which_go_where_there_is_room() {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
        builder.class(ServerClass::new("s", 2, vec![Decimal::from(10)])).unwrap();
        for (id, demand) in [("large", 9), ("small", 3)] {
            builder.user(NewUser::new(id, &[Decimal::from(demand)])).unwrap();
        }
        let packing = Packing::new(&builder.build().unwrap()).unwrap();
        let mut servers = Servers::new(&packing, &[2]);
        servers.add(&packing, 0, 1);
        servers.add(&packing, 1, 1);
        let mut repair = Repair::new(&packing, servers, vec![1, 0]);
        displace(&packing, &mut repair, &[0.9, 0.3], &Deadline::never());
        assert_eq!(repair.missing, [0, 0]);
        let mut tasks = repair.servers.tasks.clone();
        tasks.sort_unstable();
        assert_eq!(tasks, [vec![(0, 1)], vec![(1, 2)]]);
    }
}
