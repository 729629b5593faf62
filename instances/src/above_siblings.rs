//! By how much users and groups are above others that stand beside them, want more and could have it if these had less.
//!
//! Filling a tree lets the children of a node rise together. A child is above a sibling that still wants more where something came before
//! weights, as what it is guaranteed does, or where the two are held by different servers. So what holds the sibling must cost the child
//! something: the prices of the level at which users of the sibling are held say what each unit of a resource that was had less would leave.

use crate::{ClassId, GroupId, Instance, Kind, Level, LimitedBy, Owner, User};

/// What every node of a tree has over its weight, and who below each wants more.
pub struct AboveSiblings<'a> {
    instance: &'a Instance,
    levels: &'a [Level],
    of_users: Vec<Node>,
    of_groups: Vec<Node>,
    /// The children of each group, then those of the root, that want more.
    wanting: Vec<Vec<Node>>,
}

/// What a user or a group has over its weight, and the last level at which somebody of it is held who wants more.
#[derive(Clone, Copy)]
struct Node {
    share: f64,
    held_at: Option<u32>,
}

impl<'a> AboveSiblings<'a> {
    /// Given what each user has, as its group counts shares, what limits it, and the levels with that at which each is held. `None` where users are
    /// held at none, as in a sum.
    pub fn of(
        instance: &'a Instance,
        (levels, level_of): (&'a [Level], &[u32]),
        limited_by: &[LimitedBy],
        user_has: impl Fn(usize) -> f64,
    ) -> Option<Self> {
        if level_of.len() < instance.user_count() {
            return None;
        }
        let of_user = |i: usize| {
            let held_at = (limited_by[i] == LimitedBy::Capacity).then_some(level_of[i]);
            Node { share: user_has(i), held_at }
        };
        let join = |a: Node, b: Node| Node { share: a.share + b.share, held_at: a.held_at.max(b.held_at) };
        let together = instance.of_groups(Node { share: 0.0, held_at: None }, of_user, join);
        let root = together.len();
        let mut wanting = vec![Vec::new(); root + 1];
        let mut over = |node: Node, weight: f64, parent: Option<GroupId>| {
            let node = Node { share: node.share / weight, ..node };
            if node.held_at.is_some() {
                wanting[parent.map_or(root, |group| group.0)].push(node);
            }
            node
        };
        let users = instance.users();
        let of_users =
            users.map(|user| over(of_user(user.index().0), user.weight().to_f64(), user.group())).collect();
        let of_groups = instance.groups().iter().zip(together);
        let of_groups =
            of_groups.map(|(group, node)| over(node, group.weight.to_f64(), group.parent)).collect();
        // The lowest first, so that who is above none is soon known to be.
        wanting.iter_mut().for_each(|nodes| nodes.sort_by(|a, b| a.share.total_cmp(&b.share)));
        Some(Self { instance, levels, of_users, of_groups, wanting })
    }

    /// By how much an owner is above others: the largest part, over siblings of it and of the groups that it is in, by which it or that group is above
    /// one that wants more, or that what the owner takes costs at the prices that hold the sibling, in parts of all that there is, whichever
    /// is less. 0 where there is no such sibling.
    pub fn by(&self, owner: Owner) -> f64 {
        let root = self.of_groups.len();
        let (mut node, mut parent) = match owner {
            Owner::User(user) => (self.of_users[user.0], self.instance.user(user).group()),
            Owner::Group(group) => (self.of_groups[group.0], self.instance.groups()[group.0].parent),
        };
        let mut costs = vec![None; self.levels.len()];
        let mut most = 0.0f64;
        loop {
            for lower in &self.wanting[parent.map_or(root, |group| group.0)] {
                if lower.share >= node.share {
                    break;
                }
                let Some(held_at) = lower.held_at.map(|level| level as usize) else { continue };
                let Some(level) = self.levels.get(held_at) else { continue };
                let cost = *costs[held_at].get_or_insert_with(|| self.cost(owner, level));
                most = most.max(cost.min(1.0 - lower.share / node.share));
            }
            let Some(group) = parent else { return most };
            (node, parent) = (self.of_groups[group.0], self.instance.groups()[group.0].parent);
        }
    }

    /// What a share of one costs the users of an owner at the prices of a level, each where it is cheapest, over what all capacity costs: the most
    /// that one of them pays.
    fn cost(&self, owner: Owner, level: &Level) -> f64 {
        let instance = self.instance;
        let m = instance.resources().len();
        let of_class = |(class, prices): (&crate::ServerClass, &[f64])| -> f64 {
            let worth = prices.iter().zip(&class.capacity).map(|(price, all)| price * all.to_f64());
            worth.sum::<f64>() * class.count as f64
        };
        let classes = instance.classes().iter().zip(level.prices.chunks_exact(m.max(1)));
        let rows = instance.limit_rows().iter().zip(&level.limit_prices);
        let worth =
            classes.map(of_class).sum::<f64>() + rows.map(|(row, p)| p * row.amount.to_f64()).sum::<f64>();
        let of_user = |user: User<'_>| -> f64 {
            let rows = instance.limits_above(user);
            let on_class = |kind: Kind<'_>, class: ClassId| -> f64 {
                let prices = level.prices.get(class.0 * m..(class.0 + 1) * m).unwrap_or_default();
                let servers: f64 = kind.demand_doubles().iter().zip(prices).map(|(d, p)| d * p).sum();
                let limits = rows.iter().filter(|j| instance.limit_rows()[**j].covers(class));
                let of_limit = |j: &usize| {
                    kind.demand_doubles()[instance.limit_rows()[*j].resource.0]
                        * level.limit_prices.get(*j).copied().unwrap_or(0.0)
                };
                (servers + limits.map(of_limit).sum::<f64>()) / kind.rule().rate(class).to_f64()
            };
            let cheapest = |kind: Kind<'_>| {
                let usable = (0..instance.classes().len()).map(ClassId).filter(|l| kind.can_use(*l));
                usable.map(|class| on_class(kind, class)).fold(f64::INFINITY, f64::min)
            };
            user.kinds().map(cheapest).filter(|cost| cost.is_finite()).sum::<f64>() / user.task_share()
        };
        let most = match owner {
            Owner::User(user) => of_user(instance.user(user)),
            Owner::Group(group) => {
                let inside = instance.groups_inside(group);
                let is_member = |user: &User<'_>| user.group().is_some_and(|group| inside[group.0]);
                instance.users().filter(is_member).map(of_user).fold(0.0, f64::max)
            }
        };
        if worth > 0.0 { most / worth } else { 0.0 }
    }
}
