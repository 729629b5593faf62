//! The best of whole tasks by trying everything, smallest shares and sums of logarithms: oracles that know no bound.

use fairplan_instances::{
    Breakpoint, ClassId, Instance, Kind, KindId, ResourceId, User, UserId, compare_ratios,
};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

/// `δ_i / w_i`, exactly. Weights here have few digits.
fn one_task(instance: &Instance, user: usize) -> (u128, u128) {
    let user = instance.user(UserId(user));
    let resource = user.dominant_resource();
    let weight = user.weight().scaled(-6).expect("weights of at most six decimals");
    (user.demand_units(resource) * 1_000_000, instance.total_units(resource) * weight)
}

/// Compares two weighted dominant shares exactly.
pub fn compare_breakpoints(instance: &Instance, a: Breakpoint, b: Breakpoint) -> Ordering {
    let share = |at: Breakpoint| {
        let (over, under) = one_task(instance, at.user.0);
        (over * u128::from(at.tasks), under)
    };
    compare_ratios(share(a), share(b))
}

/// The highest level over the users that can have tasks, by all ways to fill all servers: infinite where one gives everybody all
/// its tasks. `None` where there are too many ways, or no such user.
pub fn best_whole_level(instance: &Instance, most_states: usize) -> Option<f64> {
    let (reached, can_have) = all_reached(instance, most_states)?;
    let levels = reached.iter().map(|tasks| level_of_tasks(instance, tasks, &can_have));
    levels.max_by(f64::total_cmp).filter(|_| !can_have.is_empty())
}

/// The level of so many tasks: the highest that gives nobody more than it has, found by halving; infinite if nobody wants more.
fn level_of_tasks(instance: &Instance, tasks: &[u64], can_have: &[usize]) -> f64 {
    let share = |i: usize, tasks: u64| tasks as f64 * instance.user(UserId(i)).task_share();
    let ceiling = |i: usize| match (can_have.contains(&i), instance.user(UserId(i)).tasks()) {
        (false, _) => 0.0,
        (true, tasks) => tasks.map_or(f64::INFINITY, |tasks| share(i, tasks)),
    };
    let ceilings: Vec<f64> = (0..tasks.len()).map(ceiling).collect();
    let is_reached = |level: f64| {
        let filled = fill_tree(instance, &ceilings, level);
        filled.iter().enumerate().all(|(i, filled)| share(i, tasks[i]) >= filled * (1.0 - 1e-12))
    };
    let (mut low, mut high) = (0.0, 1e12);
    if is_reached(high) {
        return f64::INFINITY;
    }
    while high - low > 1e-13 * high {
        let middle = if low == 0.0 && high > 1e-9 { high / 2.0 } else { (low + high) / 2.0 };
        if is_reached(middle) {
            low = middle
        } else {
            high = middle
        }
        if high < 1e-9 {
            return 0.0;
        }
    }
    low
}

/// What a level at the root comes to for each user, by giving and taking back: who has more than its ceiling leaves it to the
/// siblings, until nobody does.
fn fill_tree(instance: &Instance, ceilings: &[f64], level: f64) -> Vec<f64> {
    let top = instance.of_groups(0.0, |i| ceilings[i], |a, b| a + b);
    let groups = instance.groups();
    let mut has = vec![0.0; groups.len()];
    let mut filled = vec![0.0; ceilings.len()];
    let mut order: Vec<Option<usize>> =
        instance.groups_upwards().into_iter().map(|group| Some(group.0)).chain([None]).collect();
    order.reverse();
    for node in order {
        let of_groups = (0..groups.len()).filter(|g| groups[*g].parent.map(|parent| parent.0) == node);
        let of_groups = of_groups.map(|g| (true, g, groups[g].weight.to_f64(), top[g]));
        let users = instance.users().filter(|user| user.group().map(|group| group.0) == node);
        let users =
            users.map(|user| (false, user.index().0, user.weight().to_f64(), ceilings[user.index().0]));
        let mut children: Vec<(bool, usize, f64, f64)> = of_groups.chain(users).collect();
        let mut left = node.map(|node: usize| has[node]);
        loop {
            let weights: f64 = children.iter().map(|child| child.2).sum();
            let each = left.map_or(level, |left: f64| left.max(0.0) / weights);
            let (full, rest): (Vec<_>, Vec<_>) =
                children.into_iter().partition(|(_, _, weight, ceiling)| weight * each >= *ceiling);
            let done = full.is_empty();
            let given: Vec<_> = if done {
                rest.iter().map(|child| (child.0, child.1, child.2 * each)).collect()
            } else {
                full.iter().map(|child| (child.0, child.1, child.3)).collect()
            };
            for (is_group, at, amount) in given {
                if is_group {
                    has[at] = amount
                } else {
                    filled[at] = amount
                }
                left = left.map(|left| left - amount);
            }
            if done {
                break;
            }
            children = rest;
        }
    }
    filled
}

/// The largest `Σ w ln(dominant share)` over the users that can have tasks, by all ways to fill all servers, minus infinity
/// where no way gives all of them tasks; `None` where there are too many ways, or no such user.
pub fn best_whole_sum(instance: &Instance, most_states: usize) -> Option<f64> {
    let (reached, can_have) = all_reached(instance, most_states)?;
    let of = |i: usize, tasks: u64| {
        let user = instance.user(UserId(i));
        user.weight().to_f64() * (tasks as f64 * user.task_share()).ln()
    };
    let sums = reached.iter().map(|tasks| can_have.iter().map(|&i| of(i, tasks[i])).sum::<f64>());
    sums.max_by(f64::total_cmp).filter(|_| !can_have.is_empty())
}

/// The most units of a resource that whole tasks take, by all ways to fill all servers; `None` where there are too many.
pub fn best_whole_allocation(instance: &Instance, resource: ResourceId, most_states: usize) -> Option<u128> {
    let (reached, _) = all_reached(instance, most_states)?;
    let units = |i: usize, tasks: u64| u128::from(tasks) * instance.user(UserId(i)).demand_units(resource);
    let taken = |tasks: &Vec<u64>| (0..tasks.len()).map(|i| units(i, tasks[i])).sum();
    reached.iter().map(taken).max()
}

/// Whether so many pieces of the first kinds fit on the devices of a class: by all ways to hand them out one after the other.
fn fit_devices(instance: &Instance, class: ClassId, kinds: &[Kind<'_>], counts: &[u64]) -> bool {
    instance.classes()[class.0].devices.iter().all(|(resource, devices)| {
        let size = instance.device_units(*resource).expect("a size of devices");
        // Of every device what is free, and its slices that are taken; devices that are alike are one.
        let mut ways: HashSet<Vec<(u128, u64)>> = HashSet::from([vec![(size, 0); *devices as usize]]);
        for (kind, count) in kinds.iter().zip(counts).filter(|(kind, _)| kind.piece_units(*resource) > 0) {
            for _ in 0..*count {
                let after = |way: &Vec<(u128, u64)>| handed_out(*kind, *resource, size, way);
                ways = ways.iter().flat_map(after).collect();
            }
        }
        !ways.is_empty()
    })
}

/// All ways in which one more piece has devices.
fn handed_out(
    kind: Kind<'_>,
    resource: ResourceId,
    size: u128,
    way: &[(u128, u64)],
) -> Vec<Vec<(u128, u64)>> {
    let demand = kind.piece_units(resource);
    let instance = kind.user().instance();
    let profile = kind.profile().filter(|of| of.resource == resource);
    let mut ways = Vec::new();
    let mut add = |changed: &[(usize, (u128, u64))]| {
        let mut next = way.to_vec();
        changed.iter().for_each(|(at, device)| next[*at] = *device);
        next.sort_unstable();
        ways.push(next);
    };
    let unused: Vec<usize> = (0..way.len()).filter(|at| way[*at] == (size, 0)).collect();
    match profile {
        Some(of) => {
            let cut = instance.profiles_of(resource).expect("profiles of the resource");
            let profile = &cut.profiles[of.number];
            for (at, (free, taken)) in way.iter().enumerate() {
                let may_be_cut = *taken > 0 || *free == size;
                for start in profile.starts.iter().filter(|_| may_be_cut) {
                    let slices = (*start..start + profile.slices).fold(0, |bits, slice| bits | 1 << slice);
                    if slices & taken == 0 {
                        add(&[(at, (free - demand, taken | slices))]);
                    }
                }
            }
        }
        None if demand >= size => {
            let number = (demand / size) as usize;
            if unused.len() >= number {
                let whole: Vec<_> = unused[..number].iter().map(|at| (*at, (0, 0))).collect();
                add(&whole);
            }
        }
        None => {
            for (at, (free, taken)) in way.iter().enumerate() {
                if *taken == 0 && *free >= demand {
                    add(&[(at, (free - demand, 0))]);
                }
            }
        }
    }
    ways
}

/// Pieces of a task of several kinds up to which it is asked whether all of them fit together.
const FEW_PIECES: u64 = 6;

/// Whether all servers hold the few pieces of one task of kinds together, devices aside: by all ways to put each piece on any server.
pub fn holds_few_pieces(instance: &Instance, user: User<'_>) -> bool {
    let pieces: Vec<Kind<'_>> =
        user.kinds().flat_map(|kind| (0..kind.each().min(FEW_PIECES + 1)).map(move |_| kind)).collect();
    if user.kinds().len() < 2 || pieces.len() as u64 > FEW_PIECES {
        return true;
    }
    let resources = || (0..instance.resources().len()).map(ResourceId);
    let of_class = |l: usize| (0..instance.classes()[l].count.min(FEW_PIECES)).map(move |_| ClassId(l));
    let servers: Vec<ClassId> = (0..instance.classes().len()).flat_map(of_class).collect();
    let fits = |mut way: usize| {
        let mut left: Vec<Vec<u128>> =
            servers.iter().map(|l| resources().map(|r| instance.capacity_units(*l, r)).collect()).collect();
        pieces.iter().all(|kind| {
            let s = way % servers.len();
            way /= servers.len();
            kind.rule().allows(servers[s])
                && resources().all(|r| match left[s][r.0].checked_sub(kind.piece_units(r)) {
                    Some(less) => {
                        left[s][r.0] = less;
                        true
                    }
                    None => false,
                })
        })
    };
    (0..servers.len().pow(pieces.len() as u32)).any(fits)
}

/// The users' tasks in all ways to fill all servers, and the users of whose every kind some way holds as many pieces as a task has, and all few
/// pieces together; `None` where there are too many.
/// What is placed are pieces of kinds, users without kinds having one. The last kind's pieces fill what all others leave, however small
/// they are.
fn all_reached(instance: &Instance, most_states: usize) -> Option<(Vec<Vec<u64>>, Vec<usize>)> {
    let m = instance.resources().len();
    let kinds: Vec<Kind<'_>> = (0..instance.kind_count()).map(|k| instance.kind(KindId(k))).collect();
    let demand = |kind: &Kind<'_>| -> Vec<u128> { (0..m).map(|r| kind.piece_units(ResourceId(r))).collect() };
    let demands: Vec<Vec<u128>> = kinds.iter().map(demand).collect();
    let last = demands.len().checked_sub(1)?;
    let contents = |l: usize| -> Vec<Vec<u64>> {
        let capacity: Vec<u128> =
            (0..m).map(|r| instance.capacity_units(ClassId(l), ResourceId(r))).collect();
        let copies = |i: usize, room: &[u128]| {
            let parts = demands[i].iter().zip(room).filter(|(d, _)| **d > 0).map(|(d, c)| c / d);
            let most = kinds[i].user().per_server().unwrap_or(u64::MAX);
            if kinds[i].rule().allows(ClassId(l)) { (parts.min().unwrap_or(0) as u64).min(most) } else { 0 }
        };
        let keeps_rules = |counts: &[u64]| fit_devices(instance, ClassId(l), &kinds, counts);
        let mut found: Vec<(Vec<u64>, Vec<u128>)> = vec![(Vec::new(), capacity)];
        for (i, demand) in demands.iter().enumerate() {
            let mut next = Vec::new();
            for (tasks, room) in found {
                let fits = |count: &u64| keeps_rules(&[&tasks[..], &[*count]].concat());
                let most = (0..=copies(i, &room)).rev().find(fits).unwrap_or(0);
                for count in if i == last { most } else { 0 }..=most {
                    let left = room.iter().zip(demand).map(|(c, d)| c - d * u128::from(count)).collect();
                    next.push(([&tasks[..], &[count]].concat(), left));
                }
            }
            found = next;
        }
        let all: Vec<Vec<u64>> = found.into_iter().map(|(tasks, _)| tasks).collect();
        let is_less = |a: &Vec<u64>, b: &Vec<u64>| a != b && a.iter().zip(b).all(|(a, b)| a <= b);
        all.iter().filter(|a| !all.iter().any(|b| is_less(a, b))).cloned().collect()
    };
    let limit = |kind: &Kind<'_>| kind.user().tasks().unwrap_or(u64::MAX).saturating_mul(kind.each());
    let limits: Vec<u64> = kinds.iter().map(limit).collect();
    // The tasks of all others, and the most of the last beside them.
    let mut reached: HashMap<Vec<u64>, u64> = HashMap::from([(vec![0; last], 0)]);
    for (l, class) in instance.classes().iter().enumerate() {
        let contents = contents(l);
        for _ in 0..class.count {
            let mut next: HashMap<Vec<u64>, u64> = HashMap::new();
            for (before, of_last) in &reached {
                for content in &contents {
                    let sums = before.iter().zip(content).zip(&limits);
                    let after = sums.map(|((a, b), limit)| (a + b).min(*limit)).collect();
                    let most = next.entry(after).or_default();
                    *most = (of_last + content[last]).min(limits[last]).max(*most);
                }
            }
            if next.len() > most_states {
                return None;
            }
            reached = next;
        }
    }
    let reached: Vec<Vec<u64>> =
        reached.into_iter().map(|(others, of_last)| [&others[..], &[of_last]].concat()).collect();
    // Some way to fill all servers must hold as many of a task's pieces that are alike as a task has.
    let has_room = |kind: Kind<'_>| {
        let own = |kind: &Kind<'_>| kind.user().per_server().map(|_| kind.index());
        let what = |kind: &Kind<'_>| (kind.rule_id(), &demands[kind.index().0], kind.profile(), own(kind));
        let user = kind.user();
        let alike: Vec<Kind<'_>> = user.kinds().filter(|other| what(other) == what(&kind)).collect();
        let held = |pieces: &Vec<u64>| alike.iter().map(|kind| pieces[kind.index().0]).sum::<u64>();
        reached.iter().any(|pieces| held(pieces) >= alike.iter().map(|kind| kind.each()).sum())
    };
    let can_have = |user: &User<'_>| {
        user.tasks() != Some(0) && user.kinds().all(has_room) && holds_few_pieces(instance, *user)
    };
    let can_have = instance.users().filter(can_have).map(|user| user.index().0).collect();
    let tasks = |pieces: &Vec<u64>| -> Vec<u64> {
        let whole = |user: User<'_>| user.kinds().map(|kind| pieces[kind.index().0] / kind.each()).min();
        instance.users().map(|user| whole(user).unwrap_or(0)).collect()
    };
    Some((reached.iter().map(tasks).collect(), can_have))
}
