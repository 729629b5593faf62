//! The plain scan: looks at every user and every server for every piece of every task. Written from the rules alone, it
//! shares no code with the policies and is what they are compared with.

use fairplan_instances::{ClassId, Instance, Kind, KindId, Placement, ResourceId, compare_ratios};
use std::cmp::Ordering;

/// The rules that the scan knows. (`random` is not a function of the instance alone.)
#[allow(dead_code)] // the speed example compares two of them
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    FirstFit,
    BestFit,
    WorstFit,
    DotProduct,
    Slots(u32),
}

/// Fills the servers. Panics where numbers exceed 128 bits.
pub fn place(instance: &Instance, rule: Rule) -> Placement {
    let resources = || (0..instance.resources().len()).map(ResourceId);
    let totals: Vec<u128> = resources().map(|r| instance.total_units(r)).collect();
    let mut class_of = Vec::new();
    for (l, class) in instance.classes().iter().enumerate() {
        (0..class.count).for_each(|_| class_of.push(ClassId(l)));
    }
    let capacity = |l: &ClassId| resources().map(|r| instance.capacity_units(*l, r)).collect::<Vec<_>>();
    // Of kinds; users without kinds have one each.
    let demand = |k: usize| resources().map(|r| instance.kind(KindId(k)).piece_units(r)).collect();
    let demands: Vec<Vec<u128>> = (0..instance.kind_count()).map(demand).collect();
    // What is packed: resources, or slots.
    let (mut free, sizes): (Vec<Vec<u128>>, Vec<Vec<u128>>) = match rule {
        Rule::Slots(n) => slots(&class_of.iter().map(capacity).collect::<Vec<_>>(), &demands, n.into()),
        _ => (class_of.iter().map(capacity).collect(), demands.clone()),
    };

    let mut tasks = vec![0u64; instance.user_count()];
    let mut shares: Vec<(u128, u128)> = vec![(0, 1); instance.user_count()];
    let mut servers = vec![vec![0u64; instance.kind_count()]; class_of.len()];
    let mut active: Vec<usize> = (0..instance.user_count()).collect();
    // `min_by` keeps the first of equals.
    while let Some(i) = active.iter().copied().min_by(|a, b| compare_ratios(shares[*a], shares[*b])) {
        let user = instance.users().nth(i).unwrap();
        let chosen = |free: &[Vec<u128>], kind: Kind<'_>| {
            let k = kind.index().0;
            let with_room = (0..free.len()).filter(|&s| {
                kind.rule().allows(class_of[s])
                    && sizes[k].iter().zip(&free[s]).all(|(size, free)| size <= free)
            });
            with_room.reduce(|best, s| {
                let order = match rule {
                    Rule::FirstFit | Rule::Slots(_) => Ordering::Equal,
                    Rule::BestFit => mismatch(&sizes[k], &free[s], &free[best]),
                    Rule::WorstFit => {
                        compare_ratios(copies(&sizes[k], &free[best]), copies(&sizes[k], &free[s]))
                    }
                    Rule::DotProduct => {
                        let alignment = |s: usize| alignment(&sizes[k], &free[s], &totals);
                        alignment(best).cmp(&alignment(s))
                    }
                };
                if order.is_lt() { s } else { best }
            })
        };
        // All pieces of a task, the kind furthest behind first, or none.
        let (mut free_then, mut servers_then) = (free.clone(), servers.clone());
        let mut has = vec![0u64; user.kinds().len()];
        let mut last = None;
        let is_placed = user.tasks() != Some(tasks[i])
            && loop {
                let part = |k: usize| (u128::from(has[k]), u128::from(user.kinds().nth(k).unwrap().each()));
                let missing = (0..has.len()).filter(|k| part(*k).0 < part(*k).1);
                let Some(k) = missing.min_by(|a, b| compare_ratios(part(*a), part(*b))) else { break true };
                let kind = user.kinds().nth(k).unwrap();
                let Some(s) = chosen(&free_then, kind) else { break false };
                let size = &sizes[kind.index().0];
                free_then[s].iter_mut().zip(size).for_each(|(free, size)| *free -= size);
                servers_then[s][kind.index().0] += 1;
                has[k] += 1;
                last = Some(s);
            };
        match last.filter(|_| is_placed) {
            Some(s) => {
                (free, servers) = (free_then, servers_then);
                tasks[i] += 1;
                let r = user.dominant_resource();
                let rate = user.rule().rate(class_of[s]);
                let of_task = (user.demand_units(r), totals[r.0]);
                shares[i] = share_after(shares[i], of_task, rate, user.weight());
            }
            None => active.retain(|other| *other != i),
        }
    }
    let listed = |counts: Vec<u64>| {
        counts.into_iter().enumerate().filter(|(_, n)| *n > 0).map(|(i, n)| (i as u32, n)).collect()
    };
    Placement { tasks, servers: servers.into_iter().map(listed).collect() }
}

/// `share + rate · D / (C w)`.
fn share_after(
    share: (u128, u128),
    (demand, total): (u128, u128),
    rate: fairplan_instances::Decimal,
    weight: fairplan_instances::Decimal,
) -> (u128, u128) {
    let exponent = rate.exponent().min(weight.exponent());
    let step = (demand * rate.scaled(exponent).unwrap(), total * weight.scaled(exponent).unwrap());
    if share.1 == step.1 {
        return (share.0 + step.0, share.1);
    }
    reduced((share.0 * step.1 + step.0 * share.1, share.1 * step.1))
}

fn reduced((p, q): (u128, u128)) -> (u128, u128) {
    let (mut a, mut b) = (p, q);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    (p / a, q / a)
}

/// Compares DRFH eq. 9 for two servers.
fn mismatch(demand: &[u128], a: &[u128], b: &[u128]) -> Ordering {
    let reference = demand.iter().position(|d| *d > 0).unwrap();
    let h = |free: &[u128]| {
        let terms = demand.iter().zip(free);
        (terms.map(|(d, c)| (d * free[reference]).abs_diff(c * demand[reference])).sum(), free[reference])
    };
    compare_ratios(h(a), h(b))
}

fn copies(demand: &[u128], free: &[u128]) -> (u128, u128) {
    let ratios = free.iter().copied().zip(demand.iter().copied()).filter(|(_, d)| *d > 0);
    ratios.min_by(|x, y| compare_ratios(*x, *y)).unwrap()
}

fn alignment(demand: &[u128], free: &[u128], totals: &[u128]) -> u128 {
    let others = |r: usize| (0..totals.len()).filter(|s| *s != r).map(|s| totals[s].max(1)).product::<u128>();
    (0..demand.len()).map(|r| demand[r] * free[r] * others(r) * others(r)).sum()
}

/// Servers and tasks in slots, each slot one `n`-th of the largest server.
fn slots(capacities: &[Vec<u128>], demands: &[Vec<u128>], n: u128) -> (Vec<Vec<u128>>, Vec<Vec<u128>>) {
    let largest = |r: usize| capacities.iter().map(|c| c[r]).max().unwrap();
    let present: Vec<usize> = (0..demands[0].len()).filter(|&r| largest(r) > 0).collect();
    let held = |c: &Vec<u128>| vec![present.iter().map(|&r| c[r] * n / largest(r)).min().unwrap()];
    let taken = |d: &Vec<u128>| vec![present.iter().map(|&r| (d[r] * n).div_ceil(largest(r))).max().unwrap()];
    (capacities.iter().map(held).collect(), demands.iter().map(taken).collect())
}
