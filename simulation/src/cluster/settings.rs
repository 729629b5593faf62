//! What decides a run beside its trace: settings, rules, and who watches.

use super::{Present, Tenants};
use fairplan_instances::trace::{EventSource, ShapeNumber};
use fairplan_instances::{Decimal, Objective, ServerRule, Solver, TaskCounts, Violation};

/// What decides a run beside the trace and the rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterSettings {
    /// Servers give so many times their capacity to tasks. Shares and utilization are parts of what they have.
    pub over_commit: Decimal,
    /// Whether tasks that lose their server wait again, to run from their beginning, or are lost.
    pub resubmit: bool,
    /// Nothing later than this is simulated, in microseconds.
    pub horizon: Option<u64>,
    /// How things stand is told at every multiple of this, in microseconds.
    pub sample_every: Option<u64>,
    /// The DRFH optimum is told at every multiple of this, in microseconds.
    pub optimum_every: Option<u64>,
    /// Ideal shares are computed anew no sooner than so many microseconds after they were.
    pub resolve_every: u64,
}

impl Default for ClusterSettings {
    fn default() -> Self {
        Self {
            over_commit: Decimal::ONE,
            resubmit: true,
            horizon: None,
            sample_every: None,
            optimum_every: None,
            resolve_every: 0,
        }
    }
}

/// Who is served, and where.
#[derive(Clone, Copy)]
pub struct ClusterRules<'a> {
    /// Where tasks go.
    pub choice: &'a ServerRule<'a>,
    /// Who is served first.
    pub order: ServiceOrder,
    /// Finds ideal shares and the optimum.
    pub solver: &'a dyn Solver,
    /// What runs when the trace begins; nothing on dedicated clouds.
    pub present: Option<&'a Present>,
    /// The groups that users are in; without, they stand side by side.
    pub tenants: Option<&'a Tenants>,
}

/// Which of the users with tasks that fit somewhere starts one. In groups the lowest share and the fewest tasks are those of the child of the
/// root that has least over its weight, its members together, then of its child, down to a user; an ideal is that of the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ServiceOrder {
    /// The one with the lowest weighted dominant share (DRFH Sec. V-B).
    LowestShare,
    /// The one with the fewest running tasks over its weight.
    FewestTasks,
    /// The one whose dominant share is farthest below that in the divisible allocation by this objective (MRF Sec. 3.1
    /// and 3.2).
    BelowIdeal(Objective),
    /// The one whose smallest rank in any bottleneck is largest (MRF Sec. 3.3), which makes for bottleneck max fairness.
    /// A resource is a bottleneck while tasks wait and more than half of it is on servers that have less of it free than
    /// waiting tasks need on average; what is a bottleneck after a round counts in the next.
    LargestRank,
    /// Down the tree the child with the lowest share over its weight by hierarchical DRF (Bhattacharya et al. 2013): that of what its
    /// children hold together, those that can have more scaled down to the one of them that has least. Without groups the lowest share.
    Hierarchical,
}

/// What happens to tasks, for whoever watches a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskEvent {
    /// A task of this user and shape begins on this server.
    Started {
        /// Whose.
        user: u32,
        /// What it needs.
        demand: ShapeNumber,
        /// Where.
        server: u32,
    },
    /// It is done.
    Ended {
        /// Whose.
        user: u32,
        /// What it needed.
        demand: ShapeNumber,
        /// Where.
        server: u32,
    },
    /// It has lost its server.
    Evicted {
        /// Whose.
        user: u32,
        /// What it needed.
        demand: ShapeNumber,
        /// Where.
        server: u32,
    },
}

/// What a run tells while it goes on.
pub trait Watch {
    /// Something happens to a task at a time.
    fn task(&mut self, _time: u64, _event: TaskEvent) {}

    /// Everything at `time` has happened; whether to stop before all is done.
    fn instant(&mut self, _time: u64, _tasks: &TaskCounts) -> bool {
        false
    }
}

/// Nobody watches.
impl Watch for () {}

/// Most that a server may give of itself.
const MOST_OVER_COMMIT: f64 = 1000.0;

/// Weights in their common unit stay below this, so that shares are compared exactly.
const MOST_WEIGHT: u128 = 1 << 40;

/// Refuses settings and weights that mean nothing.
pub(super) fn check(
    source: &dyn EventSource,
    settings: ClusterSettings,
    rules: &ClusterRules<'_>,
) -> Result<(), Violation> {
    let factor = settings.over_commit.to_f64();
    if !(factor > 0.0 && factor <= MOST_OVER_COMMIT) {
        let problem = format!("must be > 0 and at most {MOST_OVER_COMMIT}");
        return Err(Violation::new("over_commit", settings.over_commit, problem));
    }
    let has_devices = !source.register().devices().is_empty();
    if has_devices && settings.over_commit != Decimal::ONE {
        let problem = "devices are not given twice, and the trace has some; leave it at 1";
        return Err(Violation::new("over_commit", settings.over_commit, problem));
    }
    for (name, every) in [("sample_every", settings.sample_every), ("optimum_every", settings.optimum_every)]
    {
        if every == Some(0) {
            return Err(Violation::new(name, 0, "must be > 0"));
        }
    }
    let exponent = weight_exponent(source, rules.tenants);
    for (place, weight) in rules.tenants.iter().flat_map(|tenants| tenants.weights()) {
        if weight.scaled(exponent).is_none_or(|weight| weight >= MOST_WEIGHT) {
            let problem = "weights differ in more than 12 digits; round them";
            return Err(Violation::new(format!("weight of {place}"), weight, problem));
        }
    }
    let is_plain = rules.tenants.is_none_or(|tenants| tenants.groups.is_empty());
    if rules.order == ServiceOrder::LargestRank && !is_plain {
        let problem = "ranks in bottlenecks are those of users and do not know groups; take another policy";
        return Err(Violation::new("groups", "", problem));
    }
    for (position, (_, weight)) in source.register().header().users.iter().flatten().enumerate() {
        if weight.scaled(exponent).is_none_or(|weight| weight >= MOST_WEIGHT) {
            let problem = "weights differ in more than 12 digits; round them";
            return Err(Violation::new(format!("users[{position}].weight"), weight, problem));
        }
    }
    Ok(())
}

/// The unit of which all weights are whole multiples.
pub(super) fn weight_exponent(source: &dyn EventSource, tenants: Option<&Tenants>) -> i8 {
    let users = source.register().header().users.iter().flatten().map(|(_, weight)| *weight);
    let of_tenants = tenants.iter().flat_map(|tenants| tenants.weights()).map(|(_, weight)| weight);
    users.chain(of_tenants).map(Decimal::exponent).min().unwrap_or(0).min(0)
}
