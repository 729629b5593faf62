//! What the rules of production schedulers entitle users to, on a pool: all servers as one.
//!
//! None of these rules knows servers. Each measures against the totals of the cluster, fills the pool as if tasks could be
//! divided at will, and takes every class to be open to everybody; so what it promises may be more than the servers hold.

mod filling;
mod pool;
mod pooled;
mod proportion;

pub use pooled::PooledQuota;

use fairplan_instances::{Entry, Instance, Registry, ResourceId};
use pool::Pool;

/// A rule by which a production scheduler decides who is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerRule {
    /// YARN's fair scheduler with the policy `drf`: the queue whose usage, in its dominant resource and over its weight,
    /// is the smallest part of the cluster. Where it comes to rest is weighted DRF over the pool.
    ///
    /// Source: Hadoop, `DominantResourceFairnessPolicy.DominantResourceFairnessComparatorN`, without minimum shares.
    YarnDrf,
    /// Hierarchical DRF: that of YARN, but what a group uses is the dominant share of what those below it use once those that can have more
    /// are scaled down to the one of them that has least. Without groups it is weighted DRF over the pool.
    ///
    /// Source: Bhattacharya et al., "Hierarchical Scheduling for Diverse Datacenter Workloads", SoCC 2013, Section 4.
    HierarchicalDrf,
    /// Kueue's fair sharing: the queue with the smallest share value, which is what it uses above its nominal quota as a
    /// part of all nominal quotas, in the resource where that is largest, over its weight. What is within the quota is
    /// always admitted.
    ///
    /// Source: Kueue, KEP-1714 "Fair Sharing", "Share value function and weights".
    KueueDominantShare,
    /// Volcano's `proportion`: each resource by itself is divided in proportion to the weights, what a queue does not
    /// request, or may not have, going to the others; what it is guaranteed comes first. A queue runs the tasks that fit into what it
    /// deserves of each resource. Of a tree of queues each divides among its own.
    ///
    /// Source: Volcano, `pkg/scheduler/plugins/proportion`. (Its plugin `drf`, which orders the jobs within a queue, is
    /// the rule of YARN with equal weights.)
    VolcanoProportion,
}

/// Every rule, in the order in which results list them.
pub const SCHEDULER_RULES: Registry<SchedulerRule> = Registry::new(
    "rule",
    &[
        Entry {
            name: "yarn-drf",
            line: "the least usage of a dominant resource over its weight is served first",
            make: SchedulerRule::YarnDrf,
        },
        Entry {
            name: "hdrf",
            line: "the same, of a group once its members are scaled down to the one that has least",
            make: SchedulerRule::HierarchicalDrf,
        },
        Entry {
            name: "kueue",
            line: "the same of what is used above the nominal quota",
            make: SchedulerRule::KueueDominantShare,
        },
        Entry {
            name: "volcano-proportion",
            line: "each resource by itself in proportion to the weights; tasks run as far as every part goes",
            make: SchedulerRule::VolcanoProportion,
        },
    ],
);

/// How many tasks, in fractions, each user is entitled to by a rule, in the instance's order. The rules of YARN and Kueue, and hierarchical DRF, are those of users
/// side by side, without guarantees and limits in the instance; Volcano's knows them.
///
/// `quotas` are the users' nominal quotas for Kueue, one row a user, in the units of the instance: together they are the
/// pool, whatever the servers hold. Without them a user's quota is the part that its weight is of all weights, of every
/// resource. With such quotas Kueue's rule is YARN's: a user of weight `w` among `W` that has `s` of the pool in its
/// dominant resource borrows `s − w/W`, and `(s − w/W)/w` is as large for two users as `s/w` is.
pub fn entitlements(instance: &Instance, rule: SchedulerRule, quotas: Option<&[Vec<f64>]>) -> Vec<f64> {
    let resources = 0..instance.resources().len();
    if let (SchedulerRule::KueueDominantShare, Some(quotas)) = (rule, quotas) {
        let totals: Vec<f64> = resources.map(|r| quotas.iter().map(|quota| quota[r]).sum()).collect();
        let part = |user: usize, r: usize| quotas[user][r] / totals[r];
        return filling::fill(&Pool::new(instance, &totals), part);
    }
    let pool = Pool::new(instance, &resources.map(|r| instance.total(ResourceId(r))).collect::<Vec<_>>());
    match rule {
        SchedulerRule::YarnDrf | SchedulerRule::HierarchicalDrf => filling::fill(&pool, |_, _| 0.0),
        SchedulerRule::KueueDominantShare => {
            let all: f64 = pool.users.iter().map(|user| user.weight).sum();
            filling::fill(&pool, |user, _| pool.users[user].weight / all)
        }
        SchedulerRule::VolcanoProportion => proportion::divide(instance, &pool),
    }
}

#[cfg(test)]
mod tests;
