//! What the instance and the claimed tasks say about each user: usable classes, shares, caps.

use crate::alone::work_alone;
use crate::claim::Tasks;
use crate::rounding::{Sum, decimal_down, decimal_up, down, up};
use crate::tolerance;
use fairplan_instances::{
    ClassId, Decimal, FEW_USERS, Instance, Kind, KindId, Objective, ResourceId, User, UserId,
};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// Where some users can run tasks, and the work that a task does there.
pub(crate) struct Usable {
    /// The usable classes, in order.
    pub classes: Vec<usize>,
    /// Whether a class is usable, one entry a class.
    usable: Vec<bool>,
    /// The rate on each class; `None` when all are 1.
    rates: Option<Vec<Decimal>>,
}

impl Usable {
    fn of(kind: Kind<'_>, classes: usize) -> Self {
        let usable: Vec<bool> = (0..classes).map(|class| kind.can_use(ClassId(class))).collect();
        let rates = (!kind.rule().rates().is_empty())
            .then(|| (0..classes).map(|class| kind.rule().rate(ClassId(class))).collect());
        let classes = (0..classes).filter(|&class| usable[class]).collect();
        Self { classes, usable, rates }
    }

    /// Whether tasks can run on `class`.
    pub fn contains(&self, class: usize) -> bool {
        self.usable.get(class).is_some_and(|usable| *usable)
    }

    /// The work a task does on `class`.
    pub fn rate(&self, class: usize) -> Decimal {
        self.rates.as_ref().map_or(Decimal::ONE, |rates| rates[class])
    }

    /// Whether a task does more work on some usable class than on another.
    pub fn rates_differ(&self) -> bool {
        self.rates.is_some() && self.classes.windows(2).any(|pair| self.rate(pair[0]) != self.rate(pair[1]))
    }

    fn largest_rate_up(&self) -> f64 {
        self.classes.iter().map(|&class| decimal_up(self.rate(class))).fold(0.0, f64::max)
    }
}

/// The usable classes of every kind of every user; those with the same rule and the same zeros in their demands share one.
/// Where all servers are one, every user is one kind.
pub(crate) struct UsableClasses {
    distinct: Vec<Usable>,
    of_kind: Vec<u32>,
    /// Where each user's kinds begin, and at last where all end; `None` where each user has one.
    starts: Option<Vec<u32>>,
    pooled: bool,
}

impl UsableClasses {
    /// Which classes each kind of each user of `instance` can use.
    pub fn of(instance: &Instance) -> Self {
        let classes = instance.classes();
        let kinds = instance.kind_count();
        let starts = instance.has_kinds().then(|| {
            let starts = instance.users().map(|user| user.kind_range().start as u32);
            starts.chain([kinds as u32]).collect()
        });
        // Only a resource that some class lacks can make a class unusable.
        let scarce: Vec<usize> = (0..instance.resources().len())
            .filter(|&r| classes.iter().any(|class| class.capacity[r].is_zero()))
            .collect();
        if let (true, [_]) = (scarce.is_empty(), instance.rules()) {
            let everybody = Usable::of(instance.kind(KindId(0)), classes.len());
            return Self { distinct: vec![everybody], of_kind: vec![0; kinds], starts, pooled: false };
        }
        let mut known: HashMap<(usize, Vec<bool>), u32> = HashMap::new();
        let (mut distinct, mut of_kind) = (Vec::new(), Vec::with_capacity(kinds));
        // Neighbours are mostly alike: look up only what differs from the user before.
        let alike = |one: Kind<'_>, other: Kind<'_>| {
            let both = |&r: &usize| one.piece()[r].is_zero() == other.piece()[r].is_zero();
            one.rule_id() == other.rule_id() && scarce.iter().all(both)
        };
        let mut last: Option<(Kind<'_>, u32)> = None;
        for kind in (0..kinds).map(|kind| instance.kind(KindId(kind))) {
            let position = match last {
                Some((before, position)) if alike(before, kind) => position,
                _ => {
                    let needed = scarce.iter().map(|&r| !kind.piece()[r].is_zero()).collect();
                    *known.entry((kind.rule_id().0, needed)).or_insert_with(|| {
                        distinct.push(Usable::of(kind, classes.len()));
                        distinct.len() as u32 - 1
                    })
                }
            };
            last = Some((kind, position));
            of_kind.push(position);
        }
        Self { distinct, of_kind, starts, pooled: false }
    }

    /// Where all servers are one, everybody can use them all.
    pub fn pooled(instance: &Instance) -> Self {
        let classes = instance.classes().len();
        let everything = Usable { classes: (0..classes).collect(), usable: vec![true; classes], rates: None };
        Self {
            distinct: vec![everything],
            of_kind: vec![0; instance.user_count()],
            starts: None,
            pooled: true,
        }
    }

    fn range(&self, user: usize) -> Range<usize> {
        match &self.starts {
            None => user..user + 1,
            Some(starts) => starts[user] as usize..starts[user + 1] as usize,
        }
    }

    /// The positions of a user's kinds.
    pub fn kinds(&self, user: User<'_>) -> Range<usize> {
        self.range(user.index().0)
    }

    /// What one of a user's tasks needs of one of its [`Self::kinds`], as doubles.
    pub fn demand_doubles<'a>(&self, user: User<'a>, kind: usize) -> &'a [f64] {
        if self.pooled { user.demand_doubles() } else { user.instance().kind(KindId(kind)).demand_doubles() }
    }

    /// The same of one resource in whole smallest units.
    pub fn demand_units(&self, user: User<'_>, kind: usize, resource: ResourceId) -> u128 {
        match self.pooled {
            true => user.demand_units(resource),
            false => user.instance().kind(KindId(kind)).demand_units(resource),
        }
    }

    /// Those of the kind at this position.
    pub fn of_kind(&self, kind: usize) -> &Usable {
        &self.distinct[self.of_kind[kind] as usize]
    }

    /// Those of the user at this position; of its first kind where it has several.
    pub fn of_user(&self, user: usize) -> &Usable {
        self.of_kind(self.range(user).start)
    }

    /// The classes that the user at this position can use, for that of its kinds which can use the fewest.
    pub fn fewest(&self, user: usize) -> usize {
        self.range(user).map(|kind| self.of_kind(kind).classes.len()).min().unwrap_or(0)
    }

    /// Whether every kind of the user at this position has a class that it can use.
    pub fn can_run(&self, user: usize) -> bool {
        self.fewest(user) > 0
    }

    /// The classes on which the user at this position can run whole tasks: those that all its kinds can use, in order.
    pub fn of_whole_tasks(&self, user: usize) -> impl Iterator<Item = usize> + '_ {
        let runs_all = move |class: &usize| self.range(user).all(|kind| self.of_kind(kind).contains(*class));
        self.of_user(user).classes.iter().copied().filter(runs_all)
    }

    /// Which of the [`UsableClasses::distinct`] ones the kind at this position has.
    pub fn position(&self, kind: usize) -> usize {
        self.of_kind[kind] as usize
    }

    /// The distinct ones.
    pub fn distinct(&self) -> &[Usable] {
        &self.distinct
    }
}

/// An instance with what is proved of its users, whatever the certificate of a claim.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub instance: &'a Instance,
    pub usable_classes: &'a UsableClasses,
    pub shares: &'a [UserShares],
}

/// Proved figures of one user.
pub(crate) struct UserShares {
    /// Work done, `Σ_l ρ_il x_il`, at least.
    pub work: f64,
    /// Dominant share `G_i`, at least.
    pub share: f64,
    /// The weighted share `G_i / w_i`, at least; of task share fairness the work over `w_i H_i`, where `H_i` is the most
    /// that the user could do alone if it were eligible everywhere.
    pub weighted: f64,
    /// `w_i / δ_i` (`w_i H_i`), at least: the work that is worth a weighted share of one.
    pub work_per_level: f64,
    /// The weighted share of `T_i max_l ρ_il` of work, at most: what the tasks allow; infinite without a limit, 0
    /// without a class.
    pub cap: f64,
}

impl UserShares {
    /// The figures of all users' `tasks`, all of them finite and >= 0, in the instance's order.
    pub fn of_all(
        instance: &Instance,
        objective: Objective,
        usable_classes: &UsableClasses,
        tasks: &Tasks<'_>,
    ) -> Vec<Self> {
        let measures: Vec<f64> =
            (0..instance.resources().len()).map(|r| instance.measure(ResourceId(r))).collect();
        let of_user =
            |i| Self::of(instance, instance.user(UserId(i)), objective, usable_classes, tasks, &measures);
        (0..instance.user_count()).into_par_iter().with_min_len(FEW_USERS).map(of_user).collect()
    }

    fn of(
        instance: &Instance,
        user: User<'_>,
        objective: Objective,
        usable_classes: &UsableClasses,
        tasks: &Tasks<'_>,
        measures: &[f64],
    ) -> Self {
        let UserId(i) = user.index();
        let usable = usable_classes.of_user(i);
        let of_kind = |kind: usize| {
            let mut work = Sum::new();
            tasks.visit(i, kind, |class, here| {
                let done = match usable.rates {
                    None => here,
                    Some(_) => down(decimal_down(usable.rate(class)) * here),
                };
                work.add(done);
            });
            work.below()
        };
        // A task needs all its kinds, and those of users that have several do all the same work.
        let work = usable_classes.kinds(user).map(of_kind).fold(f64::INFINITY, f64::min);
        let (least, most) = task_share(user, measures);
        let weight = (decimal_down(user.weight()), decimal_up(user.weight()));
        let share = down(least * work);
        // What all tasks do, at most. Exactly 0 for none: rounding up would leave room for a share that no task can fill.
        let all = match user.tasks() {
            _ if !usable_classes.can_run(i) => 0.0,
            None => f64::INFINITY,
            Some(0) => 0.0,
            Some(tasks) => up(tasks as f64 * usable.largest_rate_up()),
        };
        let (weighted, work_per_level, cap) = if objective == Objective::TaskShareFairness {
            let alone = work_alone(instance, user);
            let per_level = down(weight.0 * alone.0);
            (down(work / up(weight.1 * alone.1)), per_level, up(all / per_level))
        } else {
            let weighted = if weight.1 == 1.0 { share } else { down(share / weight.1) };
            (weighted, down(weight.0 / most), up(up(most * all) / weight.0))
        };
        let cap = if all == 0.0 { 0.0 } else { cap };
        Self { work, share, weighted, work_per_level, cap }
    }

    /// The work that a user's gains are measured by: what it has, but no more than the share [`tolerance::MEASURED`]. So a gain
    /// that is let pass is small beside what the user has and beside the cluster.
    pub fn measure(&self) -> f64 {
        let part = down(self.share.min(tolerance::MEASURED) / self.share);
        if self.share > 0.0 { down(self.work * part) } else { 0.0 }
    }

    /// Whether its tasks allow the user no gain worth mentioning, whatever capacity does.
    pub fn nearly_all_tasks(&self) -> bool {
        let small = down(tolerance::NEARLY_ALL / self.share).min(1.0);
        self.cap - self.weighted <= tolerance::NEARLY_ALL * self.weighted * small
    }
}

/// The share that half of the users that have any have at least; 0 where nobody has one.
pub(crate) fn usual_share(shares: &[UserShares]) -> f64 {
    let mut all: Vec<f64> = shares
        .par_iter()
        .with_min_len(FEW_USERS)
        .map(|user| user.share)
        .filter(|share| *share > 0.0)
        .collect();
    if all.is_empty() {
        return 0.0;
    }
    let middle = (all.len() - 1) / 2;
    *all.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// One task's dominant share `δ_i`, at least and at most.
pub(crate) fn task_share(user: User<'_>, measures: &[f64]) -> (f64, f64) {
    let (mut least, mut most) = (0.0f64, 0.0f64);
    for (demand, measure) in user.demand_doubles().iter().zip(measures) {
        if *demand > 0.0 {
            // Demand, measure and quotient are each rounded once.
            least = least.max(down(down(*demand) / up(*measure)));
            most = most.max(up(up(*demand) / down(*measure)));
        }
    }
    (least, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tolerance::{MEASURED, NEARLY_ALL};

    fn user(share: f64, cap: f64) -> UserShares {
        UserShares { work: 1.0, share, weighted: share, work_per_level: 1.0, cap }
    }

    #[test]
    fn all_tasks_are_nearly_run_just_inside_the_tolerance_and_not_just_outside() {
        for (share, part) in [(0.5 * NEARLY_ALL, NEARLY_ALL), (2.0 * NEARLY_ALL, 0.5 * NEARLY_ALL)] {
            assert!(user(share, share * (1.0 + 0.99 * part)).nearly_all_tasks());
            assert!(!user(share, share * (1.0 + 1.01 * part)).nearly_all_tasks());
        }
    }

    #[test]
    fn gains_are_measured_by_no_more_than_is_stated() {
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        assert!(near(user(0.5 * MEASURED, 1.0).measure(), 1.0));
        assert!(near(user(2.0 * MEASURED, 1.0).measure(), 0.5));
        assert!(near(user(1e-9, 1.0).measure(), 1.0));
    }
}
