//! What is known of the best placement of whole tasks: an upper bound with its proof, and a placement.

use crate::{FilledTree, Instance, Placement, ResourceId, User, UserId};

/// A level that whole tasks can have: the one at which a user has so many tasks, `k δ_i / w_i`, in groups the one that filling
/// the tree turns into `k δ_i`. The level of every placement is of this form, so levels can be stated, and compared exactly where
/// there are no groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breakpoint {
    /// The user `i`.
    pub user: UserId,
    /// Its tasks `k`.
    pub tasks: u64,
}

/// The level of a breakpoint; 0 where no user can have tasks.
pub fn breakpoint_value(instance: &Instance, at: Option<Breakpoint>) -> f64 {
    at.map_or(0.0, |at| {
        let user = instance.user(at.user);
        let share = at.tasks as f64 * user.task_share();
        match instance.has_groups() {
            true => FilledTree::of_whole_tasks(instance).level(at.user, share),
            false => share / user.weight().to_f64(),
        }
    })
}

/// Why no placement gives those who still want more a higher level than a breakpoint `U`.
///
/// To have more, every user `i` needs `k_i = min(⌊S_i(U) / δ_i⌋ + 1, T_i)` tasks, `S_i(U)` being what the level comes to for it
/// (`U w_i` where users stand side by side) and `T_i` all its tasks; of gangs of `g` tasks, `⌈k_i / g⌉ g` of them, at most `T_i`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WholeTaskProof {
    /// At this level everybody has all its tasks, this user as the last. (Of results of versions that bounded the smallest share of
    /// all: this user does not have that many tasks.)
    TaskLimit(UserId),
    /// This user cannot have that many tasks even where nothing else runs: its gangs are whole, those within a domain in each domain, and
    /// no domain has more than its spread beyond what the domain holds that holds fewest.
    Alone(UserId),
    /// With each task of user `i` worth `z_i`, those tasks are together worth more than all servers can hold:
    /// `Σ_i z_i k_i > Σ_l N_l V_l`. Where users have kinds, `z_i` is the worth of the pieces that a task of `i` consists of. Where gangs are
    /// within a domain, the servers of each domain hold no more than [whole gangs](GANG_SUMS) of what `V_l` comes to there.
    ///
    /// Where all that a limit or a reserve leaves, `b_j`, is worth `Q_j`, a piece that takes `d` of it is worth `⌊Q_j d / b_j⌋` less on the classes that it
    /// is over, and nothing where `d > b_j`; then it is `Σ_i z_i k_i > Σ_l N_l V_l + Σ_j Q_j`, whatever gangs there are.
    Values {
        /// `z_i`, users in the instance's order; where users have kinds, what one piece of each kind is worth.
        task_values: Vec<u64>,
        /// `V_l`, at least the worth of any whole tasks (pieces) that fit on one server of class `l`.
        server_values: Vec<u64>,
        /// `Q_j`, in the order of [`Instance::limit_rows`]; empty where limits are not counted.
        limit_values: Vec<u64>,
    },
}

/// The best level that whole tasks can have, from both sides: the smallest weighted dominant share of those that still want more.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeTaskBracket {
    /// Users that can have no task at all: none fits on any server that they may use, or they have none. What follows is about
    /// the other users alone.
    pub without_tasks: Vec<UserId>,
    /// The highest level that is not excluded; `None` without other users.
    pub upper: Option<Breakpoint>,
    /// What excludes higher ones.
    pub proof: Option<WholeTaskProof>,
    /// The level of `placement`.
    pub lower: Option<Breakpoint>,
    /// A placement, as good as was found.
    pub placement: Placement,
    /// Whether `lower` is as much as `upper`, compared exactly: the placement is proved optimal.
    pub is_closed: bool,
    /// Whether servers holding fractions of patterns reach `upper`, so that this way of bounding ends there.
    pub is_tight: bool,
    /// Searches for the most valuable content of a server that were cut short, each of which may loosen the bound.
    pub truncated_searches: u64,
    /// Linear programs solved.
    pub rounds: u64,
}

/// Where each gang of some users is within a domain, the servers of a domain hold the largest sum, within what those of its servers come
/// to, of whole gangs, each of these as often as the domain holds it, and of single pieces of all others. That is counted for gangs and pieces of
/// different worth together where there are no more ways to combine them than this; else what the servers come to stands.
pub const GANG_SUMS: u128 = 1 << 14;

/// Why no placement has a larger sum of logarithms.
///
/// With a task of user `i` worth `z_i` and a server of class `l` holding at most `V_l`, in units of which `u` count for one
/// in the mean `Σ_i w_i ln(δ_i k_i) / W` (`W = Σ_i w_i`), no mean is above
/// `Σ_i max_k (w_i / W · ln(δ_i k) − z_i k / u) + Σ_l N_l V_l / u`, where `k` is from 1 to the tasks that the user has, or can have alone;
/// domains hold whole gangs, as for [`WholeTaskProof::Values`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogarithmProof {
    /// `z_i`, users in the instance's order; above 0 for users without a limit.
    pub task_values: Vec<u64>,
    /// `V_l`, at least the worth of any whole tasks that fit on one server of class `l`.
    pub server_values: Vec<u64>,
    /// `u`, at least 1.
    pub values_per_log: u64,
}

/// The largest `Σ_i w_i ln(δ_i k_i)` that whole tasks can have, `δ_i k_i` being dominant shares, from both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct ProportionalBracket {
    /// Users that can have no task at all. All that follows is about the other users alone.
    pub without_tasks: Vec<UserId>,
    /// No placement has more; `None` without other users.
    pub upper: Option<f64>,
    /// What excludes more.
    pub proof: Option<LogarithmProof>,
    /// What `placement` has; `None` if some of the users have no task in it.
    pub lower: Option<f64>,
    /// A placement, as good as was found.
    pub placement: Placement,
    /// Searches for the most valuable content of a server that were cut short, each of which may loosen the bound.
    pub truncated_searches: u64,
    /// Linear programs solved.
    pub rounds: u64,
}

impl ProportionalBracket {
    /// How far apart the two sides are for each unit of weight of the users that can have tasks; `None` where one of them is not known.
    pub fn gap_per_weight(&self, instance: &Instance) -> Option<f64> {
        let can_have = |user: &User<'_>| self.without_tasks.binary_search(&user.index()).is_err();
        let weights: f64 = instance.users().filter(can_have).map(|user| user.weight().to_f64()).sum();
        Some((self.upper? - self.lower?) / weights)
    }
}

/// Why no placement allocates more of a resource.
///
/// With all that there is of the resource worth `S`, a task of user `i` is worth `w_i = ⌈S d_i / C⌉` for what it takes of it, and any
/// `z_i` for its room. What is allocated, as a part of all, is at most `(Σ_l N_l V_l + Σ_i T_i max(0, w_i − z_i)) / S`, where `T_i` are
/// its tasks, or those that all servers hold of it alone where these are fewer, by whole gangs and spread; domains hold whole gangs, as for
/// [`WholeTaskProof::Values`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationProof {
    /// `z_i`, users in the instance's order; where users have kinds, what one piece of each kind is worth.
    pub task_values: Vec<u64>,
    /// `V_l`, at least the worth of any whole tasks (pieces) that fit on one server of class `l`.
    pub server_values: Vec<u64>,
    /// `S`, at least 1.
    pub values_in_all: u64,
}

/// The most of a resource that whole tasks can take, any of which may be refused, from both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct AllocatedBracket {
    /// The resource.
    pub resource: ResourceId,
    /// No placement takes more, in whole smallest units: as much as `proof` leaves, down to a multiple of what all demands are
    /// multiples of.
    pub upper: u128,
    /// What excludes more.
    pub proof: AllocationProof,
    /// A placement, as good as was found.
    pub placement: Placement,
    /// Searches for the most valuable content of a server that were cut short, each of which may loosen the bound.
    pub truncated_searches: u64,
    /// Linear programs solved.
    pub rounds: u64,
}

impl AllocatedBracket {
    /// What `placement` takes, in whole smallest units.
    pub fn lower(&self, instance: &Instance) -> u128 {
        self.placement.units_of(instance, self.resource)
    }

    /// Whether the placement takes as much as is not excluded.
    pub fn is_closed(&self, instance: &Instance) -> bool {
        self.lower(instance) >= self.upper
    }
}
