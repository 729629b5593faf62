//! Steps that lead from one placement of whole tasks to another, and why no steps that cost less lead as far.

use crate::{Instance, KindId, Placement};

/// What happens to some pieces of a kind, tasks of a user without kinds: they move, start (from nowhere) or stop (to nowhere).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which pieces: of a user without kinds its tasks.
    pub kind: KindId,
    /// The server that they leave; `None`: they did not run.
    pub from: Option<u64>,
    /// The server that they go to; `None`: they run no more.
    pub to: Option<u64>,
    /// How many, at least one.
    pub count: u64,
}

/// What may move, and at which cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveRules {
    /// What it costs to move or stop a task of each user, or a piece of one, at least 1. Starting one costs nothing.
    pub costs: Vec<u64>,
    /// Users whose running tasks stay where they are.
    pub kept_users: Vec<bool>,
    /// Servers whose running tasks stay where they are; others may come.
    pub kept_servers: Vec<bool>,
}

impl MoveRules {
    /// Everything may move, each task at a cost of 1.
    pub fn new(instance: &Instance) -> Self {
        Self {
            costs: vec![1; instance.user_count()],
            kept_users: vec![false; instance.user_count()],
            kept_servers: vec![false; instance.server_count() as usize],
        }
    }

    /// Whether tasks of a user may leave a server that they run on.
    pub fn may_leave(&self, user: usize, server: usize) -> bool {
        !self.kept_users[user] && !self.kept_servers[server]
    }
}

/// Why no steps that lead as far cost less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MovesProof {
    /// Where the placement to reach is given: what runs on a server now and does not run there then has to leave it.
    Departures,
    /// Where so many tasks of each user are to run, wherever: with another task of user `i` worth `z_i`, what is missing is together
    /// worth `Σ_i z_i (k_i - K_i)`; and no server can take in tasks that are worth more than `G_s` beyond what leaving it costs.
    /// The difference, over `unit`, is what all steps cost at least. Where users have kinds the same is said of pieces, kind by kind.
    Values {
        /// So much counts for a cost of one.
        unit: u64,
        /// `z_i`, users in the instance's order; where users have kinds, what one piece of each kind is worth.
        task_values: Vec<u64>,
        /// `G_s`, servers in the instance's order: for any tasks that could leave the server and any others that then fit, the worth
        /// of those that come less the worth and the cost of those that leave is at most this.
        server_gains: Vec<u64>,
    },
}

/// Steps from one placement to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovePlan {
    /// In the order in which each can be made.
    pub steps: Vec<Step>,
    /// What runs where after them.
    pub after: Placement,
    /// Tasks of each user that the lower bound is about: no steps that cost less lead to as many. The target, or what was reached of
    /// it.
    pub required: Vec<u64>,
    /// What the steps cost: each task that moves or stops, at the cost of its user.
    pub cost: u64,
    /// No steps that lead to what is required cost less.
    pub lower_bound: u64,
    /// What proves that.
    pub proof: MovesProof,
}

impl MovePlan {
    /// How many pieces of each kind are moved, started and stopped; tasks of users without kinds.
    pub fn step_counts(&self, instance: &Instance) -> Vec<StepCounts> {
        let mut counts = vec![StepCounts::default(); instance.kind_count()];
        for step in &self.steps {
            let of_kind = &mut counts[step.kind.0];
            let count = match (step.from, step.to) {
                (Some(_), Some(_)) => &mut of_kind.moved,
                (None, _) => &mut of_kind.started,
                (Some(_), None) => &mut of_kind.stopped,
            };
            *count = count.saturating_add(step.count);
        }
        counts
    }
}

/// What steps do to pieces, or tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepCounts {
    /// They go from one server to another.
    pub moved: u64,
    /// They did not run before.
    pub started: u64,
    /// They run no more.
    pub stopped: u64,
}

impl StepCounts {
    /// Those of several kinds together.
    pub fn sum(counts: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> u64| counts.iter().map(of).fold(0, u64::saturating_add);
        Self {
            moved: sum(|kind| kind.moved),
            started: sum(|kind| kind.started),
            stopped: sum(|kind| kind.stopped),
        }
    }

    /// How many are stopped and started again: of each kind as many as are both.
    pub fn interrupted(counts: &[Self]) -> u64 {
        counts.iter().map(|kind| kind.started.min(kind.stopped)).fold(0, u64::saturating_add)
    }
}
