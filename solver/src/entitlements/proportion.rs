//! Each resource divided by itself in proportion to weights, from the root of the tree down: nobody gets more than it requests or may
//! have, nor less than it is guaranteed of that.

use super::pool::Pool;
use super::pooled::PooledQuota;
use fairplan_instances::{GroupId, Instance, Owner, User};

/// What divides among its children: the root, then the groups.
struct Node {
    children: Vec<Child>,
}

#[derive(Clone, Copy)]
enum Child {
    Group(usize),
    User(usize),
}

/// A child to be served: its weight, what it is sure of and what it takes at most.
#[derive(Clone, Copy)]
struct Asking {
    weight: f64,
    floor: f64,
    most: f64,
}

/// Tasks of each user that fit into its part of each resource, the pool being the instance's servers.
pub(super) fn divide(instance: &Instance, pool: &Pool) -> Vec<f64> {
    let mut tasks: Vec<f64> = pool.users.iter().map(|user| user.most).collect();
    let nodes = nodes(instance);
    let quota = |owner: Owner| PooledQuota::of(instance, owner);
    let (of_groups, of_users): (Vec<PooledQuota>, Vec<PooledQuota>) = match instance.quotas().is_empty() {
        true => (Vec::new(), Vec::new()),
        false => (
            (0..instance.groups().len()).map(|group| quota(Owner::Group(GroupId(group)))).collect(),
            instance.users().map(|user| quota(Owner::User(user.index()))).collect(),
        ),
    };
    for r in 0..pool.resources {
        let total = instance.total(fairplan_instances::ResourceId(r));
        // In parts of the pool.
        let part = |amount: f64| if total > 0.0 { amount / total } else { 0.0 };
        let asking = |quota: Option<&PooledQuota>, weight: f64, request: f64| {
            let most = quota.and_then(|quota| quota.limit[r]).map_or(request, |most| request.min(part(most)));
            let floor = quota.map_or(0.0, |quota| part(quota.guarantee[r]).min(most));
            Asking { weight, floor, most }
        };
        let user = |user: User<'_>| {
            let i = user.index().0;
            let request = match pool.users[i].demand[r] {
                0.0 => 0.0,
                demand => pool.users[i].tasks * demand,
            };
            asking(of_users.get(i), pool.users[i].weight, request)
        };
        let users: Vec<Asking> = instance.users().map(user).collect();
        let mut groups = vec![Asking { weight: 1.0, floor: 0.0, most: 0.0 }; instance.groups().len()];
        for GroupId(group) in instance.groups_upwards() {
            let request = of(&nodes[group + 1], &users, &groups).map(|child| child.most).sum();
            let weight = instance.groups()[group].weight.to_f64();
            let own = asking(of_groups.get(group), weight, request);
            // A group is sure of what those below it are sure of.
            let below: f64 = of(&nodes[group + 1], &users, &groups).map(|child| child.floor).sum();
            groups[group] = Asking { floor: own.floor.max(below).min(own.most), ..own };
        }
        let mut deserved = vec![0.0; nodes.len()];
        deserved[0] = 1.0;
        let downwards = instance.groups_upwards().into_iter().rev().map(|GroupId(group)| group + 1);
        for node in std::iter::once(0).chain(downwards) {
            let children: Vec<Asking> = of(&nodes[node], &users, &groups).collect();
            for (child, part) in nodes[node].children.iter().zip(shared_out(deserved[node], &children)) {
                match *child {
                    Child::Group(group) => deserved[group + 1] = part,
                    Child::User(i) if pool.users[i].demand[r] > 0.0 => {
                        tasks[i] = tasks[i].min(part / pool.users[i].demand[r]);
                    }
                    Child::User(_) => {}
                }
            }
        }
    }
    tasks
}

fn nodes(instance: &Instance) -> Vec<Node> {
    let mut nodes: Vec<Node> = (0..=instance.groups().len()).map(|_| Node { children: Vec::new() }).collect();
    let place = |group: Option<GroupId>| group.map_or(0, |group| group.0 + 1);
    for (g, group) in instance.groups().iter().enumerate() {
        nodes[place(group.parent)].children.push(Child::Group(g));
    }
    for user in instance.users() {
        nodes[place(user.group())].children.push(Child::User(user.index().0));
    }
    nodes
}

fn of<'a>(node: &'a Node, users: &'a [Asking], groups: &'a [Asking]) -> impl Iterator<Item = Asking> + 'a {
    node.children.iter().map(|child| match *child {
        Child::Group(group) => groups[group],
        Child::User(user) => users[user],
    })
}

/// Divides an amount: everybody gets its weight times one number, or what it is sure of where that is more, or the most it takes where
/// that is less. If not all can have what they are sure of, they have equal parts of it.
fn shared_out(all: f64, asking: &[Asking]) -> Vec<f64> {
    let most: Vec<f64> = asking.iter().map(|child| child.most.min(all)).collect();
    if most.iter().sum::<f64>() <= all {
        return most;
    }
    let floor: Vec<f64> = asking.iter().map(|child| child.floor.min(child.most)).collect();
    let floors: f64 = floor.iter().sum();
    if floors >= all {
        return floor.iter().map(|floor| floor * (all / floors)).collect();
    }
    let mut parts = vec![0.0; asking.len()];
    let mut rising: Vec<usize> = (0..asking.len()).collect();
    let mut left = all;
    while !rising.is_empty() {
        let weights: f64 = rising.iter().map(|k| asking[*k].weight).sum();
        let even = |k: usize| left * (asking[k].weight / weights);
        let below: f64 = rising.iter().map(|k| (floor[*k] - even(*k)).max(0.0)).sum();
        let above: f64 = rising.iter().map(|k| (even(*k) - most[*k]).max(0.0)).sum();
        // Whoever puts the others off by more is settled for good.
        let settles = |k: usize| match below > above {
            true => (floor[k] > even(k)).then_some(floor[k]),
            false => (even(k) >= most[k]).then_some(most[k]),
        };
        let settled: Vec<(usize, f64)> =
            rising.iter().filter_map(|k| settles(*k).map(|part| (*k, part))).collect();
        if settled.is_empty() {
            rising.iter().for_each(|k| parts[*k] = even(*k));
            break;
        }
        for (k, part) in settled {
            parts[k] = part;
            left = f64::max(left - part, 0.0);
            rising.retain(|other| *other != k);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_weights_times_one_number_between_what_is_sure_and_the_most() {
        let child = |weight, floor, most| Asking { weight, floor, most };
        let out = |all, children: &[Asking]| shared_out(all, children);
        let free = f64::INFINITY;
        assert_eq!(out(12.0, &[child(1.0, 0.0, free), child(3.0, 0.0, free)]), [3.0, 9.0]);
        // One is sure of 6, one takes 1 at most; the others share what is left.
        let children =
            [child(1.0, 6.0, free), child(1.0, 0.0, 1.0), child(1.0, 0.0, free), child(4.0, 0.0, free)];
        assert_eq!(out(12.0, &children), [6.0, 1.0, 1.0, 4.0]);
        assert_eq!(
            out(6.0, &[child(1.0, 8.0, free), child(1.0, 4.0, free)]),
            [4.0, 2.0],
            "less than is sure"
        );
        assert_eq!(
            out(6.0, &[child(1.0, 0.0, 2.0), child(1.0, 0.0, 3.0)]),
            [2.0, 3.0],
            "more than is asked for"
        );
    }
}
