//! What everybody runs where, from what all have in the end.

use super::Stages;
use crate::aggregation::Solved;
use crate::bins::{Amounts, NO_BIN, level_problem};
use crate::repair::{SplitRows, feasible_splits, fill_up};
use crate::sums::column;
use crate::tolerance::allocation::MARGIN;
use fairplan_instances::{Allocation, InstanceError};

/// A stage that settled everybody, each at its rate times the level.
pub(super) struct Only {
    pub(super) rates: Vec<f64>,
    pub(super) level: f64,
    pub(super) solved: Solved,
}

impl Stages<'_> {
    /// Tasks from shares: everybody takes its bin's split, shrunk where rounding had overloaded a class.
    pub(super) fn allocate(&mut self) -> Result<Allocation, InstanceError> {
        let (instance, n) = (self.question.instance, self.reduction.users.len());
        let classes = instance.classes().len();
        let shares = Amounts::new(self.in_dominant_shares(&self.shares), vec![true; n]);
        let pooled = self.question.objective.is_pooled();
        if !shares.amount.iter().any(|share| *share > 0.0) {
            let nobody = vec![0.0; self.shares.len()];
            return Ok(match pooled {
                true => Allocation::pooled(nobody),
                false => Allocation::of_kinds(instance, classes, nobody, vec![0; n], vec![0.0; classes]),
            });
        }
        // At most so much of its amount has each.
        let only = self.only.take();
        let has_shares = only.is_none();
        let (amounts, level, solved) = match only {
            Some(Only { rates, level, solved }) => {
                (Amounts { amount: self.in_dominant_shares(&rates), ..shares }, level, solved)
            }
            None => {
                let solved = self.solve(&shares, &mut vec![0.0; n])?;
                (shares, 1.0, solved)
            }
        };
        let groups = &solved.grouping.groups;
        let problem = level_problem(self.reduction, &solved.grouping);
        let mut splits = feasible_splits(&problem, &solved.solution.splits);
        if has_shares {
            fill_up(&problem, &mut splits);
        }
        let SplitRows { work, placed, rows } = SplitRows::new(self.reduction, groups, &splits, classes);
        let users = &self.reduction.users;
        let group = |i: usize| {
            let has_share = self.bins.of[i] != NO_BIN && amounts.amount[i] > 0.0;
            has_share.then(|| solved.grouping.group(self.bins.of[i], true))
        };
        let tasks = |i: usize| {
            let Some(g) = group(i) else { return 0.0 };
            let view = instance.user(users.user_id(users.user_of(i)));
            let per_task = users.task_share(instance, i) * work[g] / placed[g];
            let most = view.tasks().map_or(f64::INFINITY, |limit| limit as f64) * (1.0 - MARGIN);
            (amounts.amount[i] * work[g].min(level) / per_task).min(most)
        };
        // A task runs as far as all its kinds do.
        let mut tasks = users.by_user(column(n, tasks), f64::min);
        self.told.keep(users, &mut tasks);
        if pooled {
            return Ok(Allocation::pooled(tasks));
        }
        let split_of = column(n, |i| group(i).unwrap_or(groups.len()) as u32);
        Ok(Allocation::of_kinds(instance, classes, tasks, users.by_position(split_of), rows))
    }
}
