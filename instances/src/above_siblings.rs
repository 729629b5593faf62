//! By how much users and groups are above others that stand beside them, want more and could have it if these had less.
//!
//! Filling a tree lets the children of a node rise together. A child is above a sibling that still wants more where something came before
//! weights, as what it is guaranteed does, or where the two are held by different servers. So what holds the sibling must cost the child
//! something: the prices of the level at which users of the sibling are held say what each unit of a resource that was had less would leave.
//! Whom a limit holds counts where that limit is over both, as one of their group is: what the child leaves of it is the sibling's. Where a limit of
//! the sibling itself has a price, nobody else can leave it anything.

use crate::tolerance::PRICED;
use crate::{ClassId, GroupId, Instance, Kind, Level, LimitedBy, Owner, User, UserId};

/// What every node of a tree has over its weight, and who below each wants more.
pub struct AboveSiblings<'a> {
    instance: &'a Instance,
    levels: &'a [Level],
    of_users: Vec<Node>,
    of_groups: Vec<Node>,
    /// The children of each group, then those of the root, that want more.
    wanting: Vec<Vec<Node>>,
}

/// What a user or a group has over its weight, and the last levels at which somebody of it who wants more is held by capacity, and by a limit
/// that is not its own.
#[derive(Clone, Copy)]
struct Node {
    share: f64,
    held_at: [Option<u32>; 2],
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
        let worths: Vec<f64> = levels.iter().map(|level| worth(instance, level)).collect();
        let is_priced = |owner: Owner, k: usize| {
            levels.get(k).is_some_and(|level| has_priced_limit(instance, owner, level, worths[k]))
        };
        let own = |owner: Owner, node: Node| match node.held_at {
            [capacity, Some(k)] if is_priced(owner, k as usize) => Node { held_at: [capacity, None], ..node },
            _ => node,
        };
        let of_user = |i: usize| {
            let at = |reason: LimitedBy| (limited_by[i] == reason).then_some(level_of[i]);
            let held_at = [at(LimitedBy::Capacity), at(LimitedBy::Limit)];
            own(Owner::User(UserId(i)), Node { share: user_has(i), held_at })
        };
        let nothing = Node { share: 0.0, held_at: [None; 2] };
        let root = instance.groups().len();
        let (mut wanting, mut sums) = (vec![Vec::new(); root + 1], vec![nothing; root]);
        let mut over = |node: Node, weight: f64, parent: Option<GroupId>, sums: &mut Vec<Node>| {
            if let Some(GroupId(group)) = parent {
                let [capacity, limit] = sums[group].held_at;
                let held_at = [capacity.max(node.held_at[0]), limit.max(node.held_at[1])];
                sums[group] = Node { share: sums[group].share + node.share, held_at };
            }
            let node = Node { share: node.share / weight, ..node };
            if node.held_at != [None; 2] {
                wanting[parent.map_or(root, |group| group.0)].push(node);
            }
            node
        };
        let mut of_users = Vec::with_capacity(instance.user_count());
        for user in instance.users() {
            let node = of_user(user.index().0);
            of_users.push(over(node, user.weight().to_f64(), user.group(), &mut sums));
        }
        let mut of_groups = vec![nothing; root];
        for id in instance.groups_upwards() {
            let group = &instance.groups()[id.0];
            let node = own(Owner::Group(id), sums[id.0]);
            of_groups[id.0] = over(node, group.weight.to_f64(), group.parent, &mut sums);
        }
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
                for held_at in lower.held_at.into_iter().flatten().map(|level| level as usize) {
                    let Some(level) = self.levels.get(held_at) else { continue };
                    let cost = *costs[held_at].get_or_insert_with(|| self.cost(owner, level));
                    most = most.max(cost.min(1.0 - lower.share / node.share));
                }
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
        let worth = worth(instance, level);
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

/// What all that there is costs at the prices of a level, with what limits are worth.
fn worth(instance: &Instance, level: &Level) -> f64 {
    let m = instance.resources().len();
    let of_class = |(class, prices): (&crate::ServerClass, &[f64])| -> f64 {
        let worth = prices.iter().zip(&class.capacity).map(|(price, all)| price * all.to_f64());
        worth.sum::<f64>() * class.count as f64
    };
    let classes = instance.classes().iter().zip(level.prices.chunks_exact(m.max(1)));
    let rows = instance.limit_rows().iter().zip(&level.limit_prices);
    classes.map(of_class).sum::<f64>() + rows.map(|(row, p)| p * row.amount.to_f64()).sum::<f64>()
}

/// Whether a limit of the owner itself has a price at a level at which all costs so much.
fn has_priced_limit(instance: &Instance, owner: Owner, level: &Level, worth: f64) -> bool {
    instance.limits_of(owner).any(|j| {
        let price = level.limit_prices.get(j).copied().unwrap_or(0.0);
        price * instance.limit_rows()[j].amount.to_f64() > PRICED * worth
    })
}
