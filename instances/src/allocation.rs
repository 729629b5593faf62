//! A divisible allocation: how many tasks each user runs and how it splits them over the server classes.

use crate::{ClassId, Instance, KindId, UserId};
use std::ops::Range;

/// Tasks per user and class. Users that agree on how to divide their tasks share one split, which is what
/// keeps a million users small.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocation {
    classes: usize,
    tasks: Vec<f64>,
    /// Where each user's kinds begin, and at last where all end; `None` where each user has one, its task.
    kinds: Option<Vec<u32>>,
    /// The split of each kind.
    split_of: Vec<u32>,
    splits: Vec<f64>,
}

impl Allocation {
    /// `tasks[i]` tasks of user `i`, divided over the classes in the proportions of row `split_of[i]` of
    /// `splits` (row-major, `classes` numbers a row, each row summing to one, or all zero).
    pub fn new(classes: usize, tasks: Vec<f64>, split_of: Vec<u32>, splits: Vec<f64>) -> Self {
        debug_assert_eq!(tasks.len(), split_of.len());
        debug_assert_eq!(splits.len() % classes.max(1), 0);
        Self { classes, tasks, kinds: None, split_of, splits }
    }

    /// The same where users have kinds: the pieces of kind `k` are divided by row `split_of[k]`.
    pub fn of_kinds(
        instance: &Instance,
        classes: usize,
        tasks: Vec<f64>,
        split_of: Vec<u32>,
        splits: Vec<f64>,
    ) -> Self {
        debug_assert_eq!(instance.kind_count(), split_of.len());
        let starts = instance.users().map(|user| user.kind_range().start as u32);
        let kinds = instance.has_kinds().then(|| starts.chain([instance.kind_count() as u32]).collect());
        Self { classes, tasks, kinds, split_of, splits }
    }

    /// An allocation that treats all servers as one: tasks per user, on no class.
    pub fn pooled(tasks: Vec<f64>) -> Self {
        let split_of = vec![0; tasks.len()];
        Self { classes: 0, tasks, kinds: None, split_of, splits: Vec::new() }
    }

    /// Whether all servers are treated as one.
    pub fn is_pooled(&self) -> bool {
        self.classes == 0
    }

    /// An allocation from a full `users × classes` matrix of tasks.
    pub fn from_matrix(classes: usize, matrix: &[f64]) -> Self {
        let tasks: Vec<f64> = matrix.chunks(classes).map(|row| row.iter().sum()).collect();
        let splits = matrix
            .chunks(classes)
            .zip(&tasks)
            .flat_map(|(row, total)| row.iter().map(move |x| if *total > 0.0 { x / total } else { 0.0 }))
            .collect();
        Self::new(classes, tasks, (0..matrix.len() / classes.max(1)).map(|i| i as u32).collect(), splits)
    }

    /// How many users there are.
    pub fn user_count(&self) -> usize {
        self.tasks.len()
    }

    /// The tasks of a user over all classes.
    pub fn tasks(&self, user: UserId) -> f64 {
        self.tasks[user.0]
    }

    /// How many kinds all users have: as many as there are users where none has kinds, or all servers are one.
    pub fn kind_count(&self) -> usize {
        self.split_of.len()
    }

    /// The kinds of a user.
    pub fn kinds(&self, user: UserId) -> Range<usize> {
        match &self.kinds {
            None => user.0..user.0 + 1,
            Some(starts) => starts[user.0] as usize..starts[user.0 + 1] as usize,
        }
    }

    /// The fractions of a user's tasks on each class; empty where all servers are one. Of its first kind where it has kinds.
    pub fn split(&self, user: UserId) -> &[f64] {
        self.split_of_kind(KindId(self.kinds(user).start))
    }

    /// The fractions on each class of the tasks of the user that has this kind, as far as it is concerned.
    pub fn split_of_kind(&self, kind: KindId) -> &[f64] {
        let start = self.split_of[kind.0] as usize * self.classes;
        &self.splits[start..start + self.classes]
    }

    /// The tasks of a user on one class. This product, rounded to a double, is *the* allocation: what is
    /// printed, summed and certified.
    pub fn tasks_on(&self, user: UserId, class: ClassId) -> f64 {
        self.tasks[user.0] * self.split(user)[class.0]
    }

    /// The classes on which a user without kinds runs anything, with its tasks there.
    pub fn placement(&self, user: UserId) -> impl Iterator<Item = (ClassId, f64)> + '_ {
        self.placement_of_kind(user, KindId(self.kinds(user).start))
    }

    /// The same of one of a user's kinds: tasks as far as this kind is concerned, each so many pieces as the kind has in one.
    pub fn placement_of_kind(&self, user: UserId, kind: KindId) -> impl Iterator<Item = (ClassId, f64)> + '_ {
        let tasks = self.tasks[user.0];
        self.split_of_kind(kind)
            .iter()
            .enumerate()
            .map(move |(class, fraction)| (ClassId(class), tasks * fraction))
            .filter(|(_, tasks)| *tasks > 0.0)
    }

    /// Dominant share `G_i = δ_i Σ_l ρ_il x_il` of a user.
    pub fn dominant_share(&self, instance: &Instance, user: UserId) -> f64 {
        let view = instance.user(user);
        let rule = view.rule();
        let work: f64 = if self.is_pooled() {
            self.tasks[user.0]
        } else if rule.rates().is_empty() {
            let whole = |k: usize| self.split_of_kind(KindId(k)).iter().sum::<f64>();
            self.tasks[user.0] * self.kinds(user).map(whole).fold(1.0, f64::min)
        } else {
            self.placement(user).map(|(class, tasks)| tasks * rule.rate(class).to_f64()).sum()
        };
        work * view.task_share()
    }

    /// The load of every class, row-major `classes × resources`, in the units of the instance; of the pool, one row,
    /// where all servers are one.
    pub fn loads(&self, instance: &Instance) -> Vec<f64> {
        let m = instance.resources().len();
        let rows = if self.is_pooled() { 1 } else { self.splits.len() / self.classes };
        let mut of_split = vec![0.0; rows * m];
        if self.is_pooled() {
            for (user, tasks) in instance.users().zip(&self.tasks) {
                of_split
                    .iter_mut()
                    .zip(user.demand_doubles())
                    .for_each(|(sum, demand)| *sum += tasks * demand);
            }
            return of_split;
        }
        for (user, tasks) in instance.users().zip(&self.tasks) {
            for kind in user.kinds() {
                let row = self.split_of[kind.index().0] as usize;
                for (sum, demand) in of_split[row * m..(row + 1) * m].iter_mut().zip(kind.demand_doubles()) {
                    *sum += tasks * demand;
                }
            }
        }
        let mut loads = vec![0.0; self.classes * m];
        for (split, demand) in self.splits.chunks(self.classes).zip(of_split.chunks(m)) {
            for (load, fraction) in loads.chunks_mut(m).zip(split) {
                for (sum, demand) in load.iter_mut().zip(demand) {
                    *sum += fraction * demand;
                }
            }
        }
        loads
    }
}
