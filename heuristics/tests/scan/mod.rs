//! The plain scan: looks at every user and every server for every task. Written from the rules alone, it
//! shares no code with the policies and is what they are compared with.

use fairplan_instances::{ClassId, Instance, Placement, ResourceId, compare_ratios};
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
    let demand = |i: usize| resources().map(|r| instance.users().nth(i).unwrap().demand_units(r)).collect();
    let demands: Vec<Vec<u128>> = (0..instance.user_count()).map(demand).collect();
    // What is packed: resources, or slots.
    let (mut free, sizes): (Vec<Vec<u128>>, Vec<Vec<u128>>) = match rule {
        Rule::Slots(n) => slots(&class_of.iter().map(capacity).collect::<Vec<_>>(), &demands, n.into()),
        _ => (class_of.iter().map(capacity).collect(), demands.clone()),
    };

    let mut tasks = vec![0u64; instance.user_count()];
    let mut shares: Vec<(u128, u128)> = vec![(0, 1); instance.user_count()];
    let mut servers = vec![vec![0u64; instance.user_count()]; class_of.len()];
    let mut active: Vec<usize> = (0..instance.user_count()).collect();
    // `min_by` keeps the first of equals.
    while let Some(i) = active.iter().copied().min_by(|a, b| compare_ratios(shares[*a], shares[*b])) {
        let user = instance.users().nth(i).unwrap();
        let with_room = (0..free.len()).filter(|&s| {
            user.rule().allows(class_of[s]) && sizes[i].iter().zip(&free[s]).all(|(size, free)| size <= free)
        });
        let limit_reached = user.tasks() == Some(tasks[i]);
        let best = with_room.reduce(|best, s| {
            let order = match rule {
                Rule::FirstFit | Rule::Slots(_) => Ordering::Equal,
                Rule::BestFit => mismatch(&sizes[i], &free[s], &free[best]),
                Rule::WorstFit => compare_ratios(copies(&sizes[i], &free[best]), copies(&sizes[i], &free[s])),
                Rule::DotProduct => {
                    alignment(&sizes[i], &free[best], &totals).cmp(&alignment(&sizes[i], &free[s], &totals))
                }
            };
            if order.is_lt() { s } else { best }
        });
        match best {
            Some(s) if !limit_reached => {
                free[s].iter_mut().zip(&sizes[i]).for_each(|(free, size)| *free -= size);
                servers[s][i] += 1;
                tasks[i] += 1;
                let r = user.dominant_resource().0;
                let rate = user.rule().rate(class_of[s]);
                shares[i] = share_after(shares[i], (demands[i][r], totals[r]), rate, user.weight());
            }
            _ => active.retain(|other| *other != i),
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
