//! The exact lexicographic max-min of weighted shares: one linear program a level, and a user is
//! frozen when an exact linear program says that it can rise no further.

use crate::simplex::Tableau;
use crate::{Fraction, reserved_together};
use fairplan_instances::{ClassId, Instance, Objective, QuotaAmount, ResourceId, User};
use num_bigint::BigInt;

/// A lexicographic optimum (DRFH eq. 7 and Sec. V-A); the shares are unique, the allocation behind them is not.
#[derive(Clone, Debug)]
pub struct ExactMaxMin {
    /// Dominant share of each user.
    pub shares: Vec<Fraction>,
    /// Weighted share of each user, `G_i / w_i` or its weighted task share.
    pub weighted: Vec<Fraction>,
}

impl ExactMaxMin {
    /// The smallest weighted share.
    pub fn value(&self) -> &Fraction {
        self.weighted.iter().min().expect("an instance has users")
    }

    /// The distinct weighted shares, rising.
    pub fn levels(&self) -> Vec<Fraction> {
        let mut levels = self.weighted.clone();
        levels.sort();
        levels.dedup();
        levels
    }
}

/// One task's dominant share in exact arithmetic, `δ_i = max_r D_ir / Σ_l C_lr`, of the servers by which shares are measured.
pub(crate) fn task_share(instance: &Instance, user: User<'_>) -> Fraction {
    (0..instance.resources().len())
        .map(ResourceId)
        .filter(|&r| user.demand_units(r) > 0)
        .map(|r| Fraction::new(user.demand_units(r), instance.measure_units(r)))
        .max()
        .expect("a task needs some resource")
}

/// A class's whole capacity of a resource in smallest units.
pub(crate) fn class_units(instance: &Instance, class: ClassId, resource: ResourceId) -> BigInt {
    BigInt::from(instance.capacity_units(class, resource)) * instance.classes()[class.0].count
}

/// The work that is worth a weighted share of one: of DRFH `w_i / δ_i`, of task share fairness `w_i` times what the user
/// could do alone if it were eligible everywhere (1 where that is nothing: its share is 0 in any unit).
pub(crate) fn work_per_level(instance: &Instance, objective: Objective, user: User<'_>) -> Fraction {
    let weight = Fraction::from(user.weight());
    if objective == Objective::Drfh {
        return &weight / &task_share(instance, user);
    }
    assert_eq!(objective, Objective::TaskShareFairness, "no max-min over servers");
    if user.has_kinds() {
        return match tasks_alone(instance, user) {
            nothing if nothing.is_zero() => Fraction::one(),
            alone => &weight * &alone,
        };
    }
    let alone = instance.measuring_classes().iter().enumerate().map(|(l, class)| {
        let units =
            |r: ResourceId| class.capacity[r.0].scaled(instance.unit_exponent(r)).expect("whole units");
        let fits = (0..instance.resources().len())
            .map(ResourceId)
            .filter(|&r| user.demand_units(r) > 0)
            .map(|r| Fraction::new(BigInt::from(units(r)) * class.count, user.demand_units(r)))
            .min()
            .expect("a task needs some resource");
        &fits * &Fraction::from(user.rule().rate(ClassId(l)))
    });
    match alone.sum::<Fraction>() {
        nothing if nothing.is_zero() => Fraction::one(),
        alone => &weight * &alone,
    }
}

/// The most tasks of several kinds that a user could have alone, as one linear program over all pieces on all classes.
fn tasks_alone(instance: &Instance, user: User<'_>) -> Fraction {
    let classes = instance.measuring_classes();
    let kinds: Vec<_> = user.kinds().collect();
    let tasks = kinds.len() * classes.len();
    let row = || vec![BigInt::ZERO; tasks + 1];
    let mut constraints = Vec::new();
    for (l, class) in classes.iter().enumerate() {
        for r in (0..instance.resources().len()).map(ResourceId) {
            let mut taken = row();
            for (k, kind) in kinds.iter().enumerate() {
                taken[k * classes.len() + l] = kind.demand_units(r).into();
            }
            let units = class.capacity[r.0].scaled(instance.unit_exponent(r)).expect("whole units");
            constraints.push((taken, BigInt::from(units) * class.count));
        }
    }
    for k in 0..kinds.len() {
        let mut pieces = row();
        pieces[k * classes.len()..(k + 1) * classes.len()].fill(BigInt::from(-1));
        pieces[tasks] = BigInt::from(1);
        constraints.push((pieces, BigInt::ZERO));
    }
    Tableau::new(tasks + 1, constraints).maximise(tasks)
}

/// The DRFH optimum by exact arithmetic; meant for instances of a handful of users and classes.
pub fn exact_max_min(instance: &Instance) -> ExactMaxMin {
    exact_max_min_of(instance, Objective::Drfh)
}

/// The same for DRFH or task share fairness.
pub fn exact_max_min_of(instance: &Instance, objective: Objective) -> ExactMaxMin {
    let mut rows = ExactRows::of(instance);
    // a_i t - Σ ρ_il x_il <= 0 in whole numbers, and the coefficient of t that goes with it.
    let first_share_row = rows.constraints.len();
    let mut level_coefficients = Vec::new();
    for user in instance.users() {
        let per_level = work_per_level(instance, objective, user);
        let (of_level, work) = rows.work_row(instance, &per_level, user);
        rows.constraints.push((work, BigInt::ZERO));
        level_coefficients.push(of_level);
    }
    let tableau = Tableau::new(rows.variables, rows.constraints);
    let weighted = raise(tableau, first_share_row, &level_coefficients);
    let share = |(user, level): (User<'_>, &Fraction)| {
        &(level * &work_per_level(instance, objective, user)) * &task_share(instance, user)
    };
    ExactMaxMin { shares: instance.users().zip(&weighted).map(share).collect(), weighted }
}

/// What servers hold, and tasks and limits allow, in whole numbers over the tasks of each kind of each user on each class, and
/// after them the tasks of each user with kinds: no more than each of its kinds has on all classes.
pub(crate) struct ExactRows {
    pub variables: usize,
    pub constraints: Vec<(Vec<BigInt>, BigInt)>,
}

impl ExactRows {
    pub fn of(instance: &Instance) -> Self {
        let classes = instance.classes().len();
        let with_kinds = instance.users().filter(|user| user.has_kinds()).count();
        let variables = instance.kind_count() * classes + with_kinds;
        let row = || vec![BigInt::ZERO; variables];
        let mut constraints = Vec::new();
        for class in (0..classes).map(ClassId) {
            for resource in (0..instance.resources().len()).map(ResourceId) {
                let mut usage = row();
                for kind in instance.users().flat_map(|user| user.kinds()) {
                    usage[kind.index().0 * classes + class.0] = kind.demand_units(resource).into();
                }
                constraints.push((usage, class_units(instance, class, resource)));
            }
        }
        for kind in instance.users().flat_map(|user| user.kinds()) {
            let (mut everywhere, mut not_allowed) = (row(), row());
            for class in (0..classes).map(ClassId) {
                let position = kind.index().0 * classes + class.0;
                everywhere[position] = BigInt::from(1);
                not_allowed[position] = BigInt::from(u8::from(!kind.rule().allows(class)));
            }
            constraints.push((not_allowed, BigInt::ZERO));
            if kind.user().has_kinds() {
                let mut of_kind: Vec<BigInt> = everywhere.iter().map(|one| -one).collect();
                of_kind[Self::bundle(instance, kind.user())] = BigInt::from(1);
                constraints.push((of_kind, BigInt::ZERO));
            }
            if let Some(tasks) = kind.user().tasks() {
                constraints.push((everywhere, BigInt::from(tasks)));
            }
        }
        for (owner, quota) in instance.quotas() {
            for reserve in quota.reserved() {
                let QuotaAmount { classes: over, resource, .. } = reserve;
                for kept in reserved_together(instance, *owner, &reserve) {
                    let mut taken = row();
                    let there = |class: &ClassId| over.is_none_or(|over| over.contains(class));
                    for class in (0..classes).map(ClassId).filter(there) {
                        let others = instance.users().filter(|user| kept.holds(*user));
                        for kind in others.flat_map(|user| user.kinds()) {
                            taken[kind.index().0 * classes + class.0] = kind.demand_units(resource).into();
                        }
                    }
                    constraints.push((taken, kept.left.into()));
                }
            }
        }
        let limits = instance.limit_rows().iter().enumerate();
        for (j, limit) in limits.filter(|(_, limit)| limit.reserve.is_none()) {
            let mut taken = row();
            let below = instance.users().filter(|user| instance.limits_above(*user).contains(&j));
            for kind in below.flat_map(|user| user.kinds()) {
                for class in (0..classes).map(ClassId).filter(|class| limit.covers(*class)) {
                    taken[kind.index().0 * classes + class.0] = kind.demand_units(limit.resource).into();
                }
            }
            constraints.push((taken, instance.limit_units(limit).into()));
        }
        Self { variables, constraints }
    }

    /// Where the tasks of a user with kinds stand.
    fn bundle(instance: &Instance, user: User<'_>) -> usize {
        let before = instance.users().take(user.index().0).filter(|other| other.has_kinds()).count();
        instance.kind_count() * instance.classes().len() + before
    }

    /// The row that holds so much work a level against the work of a user, in whole numbers: the coefficient of the level, and
    /// those of all variables.
    pub fn work_row(
        &self,
        instance: &Instance,
        per_level: &Fraction,
        user: User<'_>,
    ) -> (BigInt, Vec<BigInt>) {
        let mut row = vec![BigInt::ZERO; self.variables];
        if user.has_kinds() {
            row[Self::bundle(instance, user)] = -per_level.denominator();
            return (per_level.numerator().clone(), row);
        }
        let (of_level, of_classes) = share_row(instance, per_level, user);
        row[user.kind_range().start * of_classes.len()..][..of_classes.len()].clone_from_slice(&of_classes);
        (of_level, row)
    }
}

/// Every user's weighted share when all are raised together, those that cannot rise further staying where they are. User
/// `i` has row `first_share_row + i`, which a level of one adds its coefficient to.
pub(crate) fn raise(
    mut tableau: Tableau,
    first_share_row: usize,
    level_coefficients: &[BigInt],
) -> Vec<Fraction> {
    let users = level_coefficients.len();
    let mut weighted = vec![Fraction::zero(); users];
    let mut active: Vec<usize> = (0..users).collect();
    let mut level = Fraction::zero();
    while !active.is_empty() {
        let column: Vec<_> =
            active.iter().map(|&i| (first_share_row + i, level_coefficients[i].clone())).collect();
        let rise = tableau.add_variable(&column);
        level = &level + &tableau.maximise(rise);
        tableau.keep_maxima_of(rise);
        let before = active.len();
        active.retain(|&i| {
            weighted[i] = level.clone();
            !tableau.maximise(tableau.slack(first_share_row + i)).is_zero()
        });
        assert!(active.len() < before, "some user is frozen at every level");
    }
    weighted
}

/// The work that is worth a level of one, over the rates of the classes, in whole numbers: the coefficient of the level
/// and those of the classes, negated.
pub(crate) fn share_row(instance: &Instance, per_level: &Fraction, user: User<'_>) -> (BigInt, Vec<BigInt>) {
    let classes = instance.classes().len();
    let rates: Vec<_> = (0..classes).map(|l| user.rule().rate(ClassId(l))).collect();
    let unit = rates.iter().map(|rate| rate.exponent()).fold(0, i8::min);
    let whole = |value: fairplan_instances::Decimal| value.scaled(unit).expect("its unit was chosen so");
    let units = BigInt::from(10).pow(u32::from(unit.unsigned_abs()));
    let per_level = per_level * &Fraction::new(units, 1);
    let coefficients = rates.iter().map(|rate| -(per_level.denominator() * whole(*rate))).collect();
    (per_level.numerator().clone(), coefficients)
}
