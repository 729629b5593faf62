//! What is asked of a backend, and how large that is.

use crate::aggregation::work;
use crate::level::Rates;
use crate::reduction::Reduction;
use fairplan_instances::{AloneGroup, Deadline, Instance, InstanceError, Objective, Solution};
use std::cell::OnceCell;

/// Pairs of a user and a class up to which linear programs over all of them are worth trying.
const SMALL: usize = 20_000;

/// An instance with what is asked of it.
pub(crate) struct Question<'a> {
    pub instance: &'a Instance,
    pub objective: Objective,
    /// Which backend was asked for.
    pub backend: &'static str,
    /// When to end.
    pub deadline: &'a Deadline,
    /// What the first level is thought to be, if anything.
    pub near: Option<f64>,
    reduction: OnceCell<Reduction>,
    guaranteed: OnceCell<Guaranteed>,
}

/// The groups that are guaranteed something, and how each would divide that alone.
#[derive(Default)]
pub(crate) struct Guaranteed {
    pub groups: Vec<AloneGroup>,
    pub solutions: Vec<Solution>,
}

impl<'a> Question<'a> {
    pub fn new(
        instance: &'a Instance,
        objective: Objective,
        backend: &'static str,
        deadline: &'a Deadline,
    ) -> Self {
        Self {
            instance,
            objective,
            backend,
            deadline,
            near: None,
            reduction: OnceCell::new(),
            guaranteed: OnceCell::new(),
        }
    }

    /// The same where the first level is thought to be near this one.
    pub fn near(self, level: f64) -> Self {
        Self { near: Some(level), ..self }
    }

    /// The same with each weight `w` counting as `w^(1/α)`.
    pub fn tempered(self, alpha: f64) -> Self {
        let mut reduction = Reduction::new(self.instance, self.objective);
        if let Some(weights) = &mut reduction.users.weights {
            weights.iter_mut().for_each(|weight| *weight = weight.powf(1.0 / alpha));
        }
        Self { reduction: OnceCell::from(reduction), ..self }
    }

    /// Solves first what groups are guaranteed, each by what `solve` does.
    ///
    /// # Errors
    /// If what is guaranteed inside a group is more than it is itself, or there is no answer for one.
    pub fn solve_guaranteed(
        &self,
        mut solve: impl FnMut(&Question<'_>) -> Result<Solution, InstanceError>,
    ) -> Result<(), InstanceError> {
        if !self.instance.has_guarantees() {
            return Ok(());
        }
        let (groups, inside) = (self.instance.guaranteed_groups()?, self.objective.inside_groups());
        let mut solve = |alone: &AloneGroup| {
            let question = Question::new(&alone.instance, inside, self.backend, self.deadline);
            solve(&question).map_err(|error| match error {
                InstanceError::Guarantees(shortfall) => {
                    InstanceError::Guarantees(Box::new(shortfall.inside(self.instance, alone.group)))
                }
                other => other,
            })
        };
        let solutions = groups.iter().map(&mut solve).collect::<Result<_, InstanceError>>()?;
        let _ = self.guaranteed.set(Guaranteed { groups, solutions });
        Ok(())
    }

    /// What groups are guaranteed, once that is solved.
    pub fn guaranteed(&self) -> &Guaranteed {
        self.guaranteed.get_or_init(Guaranteed::default)
    }

    /// α of a sum; 0 where the objective is none.
    pub fn alpha(&self) -> f64 {
        self.objective.alpha().unwrap_or(0.0)
    }

    /// The instance in the solver's terms, made when it is first needed.
    pub fn reduction(&self) -> &Reduction {
        self.reduction.get_or_init(|| Reduction::new(self.instance, self.objective))
    }

    /// Whether a sum is asked for over users of which some have kinds of tasks, over groups, or under quotas.
    pub fn is_sum_over_bundles(&self) -> bool {
        let instance = self.instance;
        self.objective.alpha().is_some()
            && (instance.has_kinds() || instance.has_groups() || !instance.quotas().is_empty())
    }

    /// Whether that is a sum over so many users with kinds, and nothing else, that they are worth putting into bins kind by kind.
    pub fn is_sum_over_many_kinds(&self) -> bool {
        let instance = self.instance;
        self.is_sum_over_bundles()
            && !instance.has_groups()
            && instance.quotas().is_empty()
            && instance.user_count() >= MANY_WITH_KINDS
            && self.reduction().users.tasks.is_none()
    }

    fn users(&self) -> usize {
        if self.objective.is_pooled() { self.instance.user_count() } else { self.instance.kind_count() }
    }

    /// Whether it is small enough for linear programs over all pairs of a user and a class, HiGHS' too.
    pub fn is_small(&self) -> bool {
        self.pairs() <= SMALL
    }

    /// Pairs of a user and a class, with proportional classes merged.
    pub fn pairs(&self) -> usize {
        self.users() * self.reduction().classes()
    }

    /// Multiplications of a step over all rows of capacity and limits, from which users are eliminated one by one.
    pub fn work_over_rows(&self) -> f64 {
        let (reduction, instance) = (self.reduction(), self.instance);
        let resources = instance.resources().len();
        let rows = (reduction.classes() * resources + instance.limit_rows().len()) as f64;
        let of_users = self.allowed_classes().map(|classes| ((classes * resources) as f64).powi(2));
        rows.powi(3) / 6.0 + of_users.sum::<f64>() / 2.0
    }

    /// The pairs of them where the user may run.
    pub fn allowed_pairs(&self) -> usize {
        self.allowed_classes().sum()
    }

    /// On how many classes users, or kinds of their tasks, may run, one by one.
    fn allowed_classes(&self) -> impl Iterator<Item = usize> {
        let reduction = self.reduction();
        let allowed = |rates: &Rates| rates.iter().filter(|rate| **rate > 0.0).count();
        let of_pattern: Vec<usize> = reduction.patterns.iter().map(allowed).collect();
        let patterns = reduction.users.pattern.iter();
        patterns.filter_map(move |pattern| of_pattern.get(*pattern as usize).copied())
    }

    /// Whether it is a max-min in which hardly any users may run on the same classes, so that its levels use up some classes each.
    pub fn uses_up_classes_one_by_one(&self) -> bool {
        let instance = self.instance;
        let is_plain = !instance.has_groups() && instance.quotas().is_empty();
        if self.objective.alpha().is_some() || self.objective.is_pooled() || !is_plain {
            return false;
        }
        let reduction = self.reduction();
        let patterns = reduction.patterns.len();
        patterns >= UNLIKE.0
            && patterns * UNLIKE.1 >= self.users()
            && !reduction.has_task_rows.contains(&true)
    }

    /// About what solving for all users takes; see [`work_of_a_step`](crate::aggregation::work_of_a_step).
    pub fn work_in_full(&self) -> f64 {
        let rows = self.reduction().capacities.len();
        USUAL_STEPS * work(self.pairs(), self.users(), rows, self.reduction().resources)
    }

    /// How many bins by direction to begin with.
    pub fn bins(&self) -> usize {
        FIRST_BINS.most.min(FIRST_BINS.pairs / self.reduction().classes().max(1)).max(FIRST_BINS.least)
    }

    /// Whether there are more users than bins to put them in.
    pub fn shares_bins(&self) -> bool {
        self.users() > self.bins()
    }

    /// Whether there are no more users than rows of classes, and none are in groups: prices that tell so many classes apart tell all
    /// users apart too, and no few bins will do.
    pub fn is_wide(&self) -> bool {
        let is_plain = !self.instance.has_groups() && self.instance.quotas().is_empty();
        is_plain && self.users() <= self.reduction().capacities.len()
    }
}

/// From so many placement rules on, and with at most so many users for each, levels are solved over what is open.
const UNLIKE: (usize, usize) = (16, 8);

/// From so many users with kinds on, solving for them one by one takes seconds.
const MANY_WITH_KINDS: usize = 2_000;

/// Bins that aggregation starts with: so many, and fewer where each of them would meet so many classes that there were
/// more than `pairs`, but not below `least`.
struct FirstBins {
    most: usize,
    least: usize,
    pairs: usize,
}

const FIRST_BINS: FirstBins = FirstBins { most: 128, least: 32, pairs: 100_000 };

/// Steps that an interior point over all users usually takes.
const USUAL_STEPS: f64 = 30.0;
