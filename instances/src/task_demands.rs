//! Demands over time on different servers: tasks a quantum, what a task needs and the servers from an instance.

use crate::{ClassId, DemandSeries, Instance, Metrics, OfflineMeasure, ResourceId, UserId, Violation};

/// A series of demands in tasks, whose users are users of an instance. Every quantum has all the instance's servers. Users
/// who join or leave demand nothing while they are no members.
#[derive(Clone)]
pub struct TaskDemands<'a> {
    instance: &'a Instance,
    series: &'a DemandSeries,
    users: Vec<UserId>,
    measure: OfflineMeasure,
    /// By user what a unit of its work adds to its standing.
    worth: Vec<f64>,
}

impl<'a> TaskDemands<'a> {
    /// Matches the users by their ids; one that the instance does not have is refused. How many tasks a user has the series says
    /// for each quantum, whatever number the instance states. Standings are weighted dominant shares.
    pub fn new(instance: &'a Instance, series: &'a DemandSeries) -> Result<Self, Violation> {
        let named = |position: usize| {
            let id = series.user_id(position);
            let unknown = || Violation::new("user", id, "the instance has no user with this id");
            instance.user_named(id).ok_or_else(unknown)
        };
        let users: Vec<UserId> = (0..series.user_count()).map(named).collect::<Result<_, _>>()?;
        let demands = Self { instance, series, users, measure: OfflineMeasure::Totals, worth: Vec::new() };
        Ok(demands.measured_by(OfflineMeasure::Totals))
    }

    /// The same demands, standings measured so: as totals, which are weighted dominant shares, or as welfare, which is the
    /// part of what all the user's tasks would do where they do most.
    pub fn measured_by(mut self, measure: OfflineMeasure) -> Self {
        self.worth = match measure {
            OfflineMeasure::Totals => self.weighted_share_of_work().collect(),
            OfflineMeasure::Welfare => {
                let most = self.most_work();
                most.map(|most| if most > 0.0 { 1.0 / most } else { 1.0 }).collect()
            }
        };
        self.measure = measure;
        self
    }

    /// How many of the users have a number of tasks in the instance, which does not count.
    pub fn limits_replaced(&self) -> usize {
        self.users.iter().filter(|user| self.instance.user(**user).tasks().is_some()).count()
    }

    /// What standings are.
    pub fn measure(&self) -> OfflineMeasure {
        self.measure
    }

    /// By user what a unit of its work adds to its standing; above 0.
    pub fn worth(&self) -> &[f64] {
        &self.worth
    }

    /// By user the weighted dominant share that a unit of its work gives.
    fn weighted_share_of_work(&self) -> impl Iterator<Item = f64> {
        self.users.iter().map(|user| {
            let user = self.instance.user(*user);
            user.task_share() / user.weight().to_f64()
        })
    }

    /// By user the work of all its tasks over all quanta where they do most; 0 for who demands nothing or can use no class.
    fn most_work(&self) -> impl Iterator<Item = f64> {
        let best = |user: &UserId| {
            let user = self.instance.user(*user);
            let classes = (0..self.instance.classes().len()).map(ClassId);
            let rates = classes.filter(|class| user.can_use(*class)).map(|class| user.rule().rate(class));
            rates.map(crate::Decimal::to_f64).fold(0.0, f64::max)
        };
        self.users.iter().zip(self.series.totals()).map(move |(user, tasks)| best(user) * tasks as f64)
    }

    /// The servers, and what a task of each user needs.
    pub fn instance(&self) -> &'a Instance {
        self.instance
    }

    /// The tasks that each user demands in each quantum.
    pub fn series(&self) -> &'a DemandSeries {
        self.series
    }

    /// For each user of the series the user of the instance.
    pub fn users(&self) -> &[UserId] {
        &self.users
    }

    /// For each user of the series the standing that all its tasks would give it where they give most; 0 for who demands
    /// nothing or can use no class.
    pub fn most(&self) -> Vec<f64> {
        self.most_work().zip(&self.worth).map(|(most, worth)| most * worth).collect()
    }

    /// Each user's standing when `tasks` run: row by row the tasks of a demand above zero on each class, in the order of the
    /// series.
    pub fn standings(&self, tasks: &[f64]) -> Vec<f64> {
        self.summed(tasks, &self.worth)
    }

    /// Each user's dominant share over its weight, summed over the quanta, when `tasks` run, however standings are measured.
    pub fn weighted_shares(&self, tasks: &[f64]) -> Vec<f64> {
        self.summed(tasks, &self.weighted_share_of_work().collect::<Vec<f64>>())
    }

    /// Each user's dominant share, summed over the quanta, when `tasks` run.
    pub fn dominant_shares(&self, tasks: &[f64]) -> Vec<f64> {
        let mut shares = self.weighted_shares(tasks);
        for (share, user) in shares.iter_mut().zip(&self.users) {
            *share *= self.instance.user(*user).weight().to_f64();
        }
        shares
    }

    /// Each user's work over all quanta at so much a unit.
    fn summed(&self, tasks: &[f64], worth: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.users.len()];
        self.for_each_demand(tasks, |_, user, _, row| {
            let rule = self.instance.user(self.users[user]).rule();
            let rates = (0..row.len()).map(|class| rule.rate(ClassId(class)).to_f64());
            let work: f64 = rates.zip(row).map(|(rate, tasks)| rate * tasks).sum();
            sums[user] += work * worth[user];
        });
        sums
    }

    /// Each user's tasks over all quanta.
    pub fn totals(&self, tasks: &[f64]) -> Vec<f64> {
        let mut totals = vec![0.0; self.users.len()];
        self.for_each_demand(tasks, |_, user, _, row| totals[user] += row.iter().sum::<f64>());
        totals
    }

    /// Calls `each` with every demand above zero: its quantum, user, tasks demanded and the row of tasks over the classes.
    pub fn for_each_demand<T>(&self, tasks: &[T], mut each: impl FnMut(usize, usize, u64, &[T])) {
        let mut rows = tasks.chunks_exact(self.instance.classes().len());
        for quantum in 0..self.series.quantum_count() {
            let (users, wanted) = self.series.demands(quantum);
            for ((user, wanted), row) in users.iter().zip(wanted).zip(&mut rows) {
                each(quantum, *user as usize, *wanted, row);
            }
        }
    }

    /// The smallest standing over all quanta when `tasks` run, of who demands anything and can use some class; 0 if nobody does.
    pub fn smallest(&self, tasks: &[f64]) -> f64 {
        let standings = self.standings(tasks).into_iter().zip(self.most());
        let counting = standings.filter(|(_, most)| *most > 0.0);
        counting.map(|(standing, _)| standing).reduce(f64::min).unwrap_or(0.0)
    }

    /// The measures of the whole when `tasks` run, in tasks where others have slices; utilization is that of the resource used most.
    pub fn metrics(&self, tasks: &[f64]) -> Metrics {
        let mut used = vec![0.0; self.instance.resources().len()];
        let mut amounts = Vec::with_capacity(self.series.entry_count());
        self.for_each_demand(tasks, |_, user, _, row| {
            let amount: f64 = row.iter().sum();
            let need = self.instance.user(self.users[user]).demand_doubles();
            used.iter_mut().zip(need).for_each(|(used, need)| *used += need * amount);
            amounts.push(amount);
        });
        let part = |(r, used): (usize, &f64)| {
            let total = self.instance.total(ResourceId(r)) * self.series.quantum_count() as f64;
            if total > 0.0 { used / total } else { 0.0 }
        };
        let utilization = used.iter().enumerate().map(part).fold(0.0, f64::max);
        Metrics::of_amounts(self.series, &amounts, &self.weighted_shares(tasks), utilization)
    }

    /// Tasks that were allocated to what is reported, cut down to what is demanded here, in the order of this series.
    pub fn useful(&self, reported: &TaskDemands<'_>, tasks: &[f64]) -> Vec<f64> {
        let classes = self.instance.classes().len();
        let mut useful = vec![0.0; self.series.entry_count() * classes];
        let mut starts = Vec::with_capacity(self.series.quantum_count());
        let mut entries = 0;
        for quantum in 0..self.series.quantum_count() {
            starts.push(entries);
            entries += self.series.demands(quantum).0.len();
        }
        reported.for_each_demand(tasks, |quantum, user, _, row| {
            let (users, wanted) = self.series.demands(quantum);
            if let Ok(entry) = users.binary_search(&(user as u32)) {
                let all: f64 = row.iter().sum();
                let part = if all > wanted[entry] as f64 { wanted[entry] as f64 / all } else { 1.0 };
                let start = (starts[quantum] + entry) * classes;
                let cut = useful[start..start + classes].iter_mut();
                cut.zip(row).for_each(|(useful, tasks)| *useful = tasks * part);
            }
        });
        useful
    }
}

/// The lexicographic max-min of the standings over all quanta, and what proves it.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskOptimum {
    /// Tasks of each demand above zero on each class, row-major `demands × classes`, in the order of the series.
    pub tasks: Vec<f64>,
    /// The levels that capacity sets, rising. Users on none of them run all their tasks where they give most, or have
    /// no class that they can use.
    pub levels: Vec<TaskLevel>,
    /// Iterations of the interior point, and steps from vertex to vertex.
    pub iterations: usize,
    /// The same as fractions, if asked for; then the tasks as doubles are no larger than they.
    pub exact: Option<ExactTasks>,
}

/// An optimum of tasks as fractions: texts in lowest terms, `5/7` or `3`, as in [`ExactSolution`](crate::ExactSolution).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExactTasks {
    /// The smallest standing of all who demand anything and can use some class; 0 if nobody does.
    pub value: String,
    /// The levels that capacity sets.
    pub levels: Vec<ExactTaskLevel>,
    /// Each user's dominant share, summed over the quanta.
    pub shares: Vec<String>,
    /// Tasks of each demand above zero on each class, as [`TaskOptimum::tasks`].
    pub tasks: Vec<String>,
}

/// A level with its proof: as [`TaskLevel`], with multipliers and prices as whole numbers of any common scale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExactTaskLevel {
    /// The standing over all quanta.
    pub value: String,
    /// By user of the series.
    pub multipliers: Vec<String>,
    /// Value per unit of capacity, row-major `quanta × classes × resources`.
    pub prices: Vec<String>,
}

/// What a rule without foresight makes of the demands, quantum by quantum.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskAllocation {
    /// Tasks of each demand above zero on each class, row-major `demands × classes`, in the order of the series.
    pub tasks: Vec<f64>,
    /// Everybody's credits after each quantum, row-major `quanta × users`, of rules that have credits; 0 for who is no member.
    pub credits: Option<Vec<f64>>,
    /// By quantum, how far a share may be from what the rule asks for: in parts of what was decided in it, at least of a
    /// tenth of the largest share that anybody could have. Infinite where nothing is known.
    pub gaps: Vec<f64>,
}

impl TaskAllocation {
    /// The widest gap of all quanta.
    pub fn widest_gap(&self) -> f64 {
        self.gaps.iter().copied().fold(0.0, f64::max)
    }
}

/// A level with its proof: multipliers `y` of the users and prices `p` of the capacities, all `>= 0`.
///
/// With `c_itl = Σ_r D_ir p_tlr` what a task costs and `g_il = ρ_il` times the worth of work what it gives (`δ_i ρ_il / w_i` of
/// a weighted dominant share), whatever runs:
/// `Σ_i y_i G_i <= Σ_tlr C_lr p_tlr + Σ_it d_it max(0, max_l (y_i g_il − c_itl))`, where `G_i` is the user's standing over all
/// quanta and `d_it` the tasks that it demands. Users of lower levels, and those whose tasks all run at a
/// lower share, keep what they have; so the others cannot all have more than what that leaves, over the sum of their
/// multipliers.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskLevel {
    /// The standing over all quanta.
    pub value: f64,
    /// The users that capacity holds at it, by position in the series, ascending.
    pub users: Vec<u32>,
    /// By user of the series.
    pub multipliers: Vec<f64>,
    /// Value per unit of capacity, row-major `quanta × classes × resources`.
    pub prices: Vec<f64>,
}
