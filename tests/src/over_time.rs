//! The lexicographic max-min of shares summed over quanta, in exact arithmetic: one row a capacity, a demand, a user.

use crate::Fraction;
use crate::max_min::{class_units, raise, share_row, task_share};
use crate::simplex::Tableau;
use fairplan_instances::{ClassId, ResourceId, TaskDemands};
use num_bigint::BigInt;

/// Every user's weighted dominant share over all quanta; meant for a handful of users, classes and quanta.
pub fn exact_over_time(demands: &TaskDemands<'_>) -> Vec<Fraction> {
    let (instance, series) = (demands.instance(), demands.series());
    let (users, classes) = (series.user_count(), instance.classes().len());
    let quanta = series.quantum_count();
    let variables = quanta * users * classes;
    let at = |quantum: usize, user: usize, class: usize| (quantum * users + user) * classes + class;
    let row = || vec![BigInt::ZERO; variables];
    let of = |user: usize| instance.user(demands.users()[user]);
    let mut constraints = Vec::new();
    for quantum in 0..quanta {
        for class in 0..classes {
            for resource in (0..instance.resources().len()).map(ResourceId) {
                let mut usage = row();
                for user in 0..users {
                    usage[at(quantum, user, class)] = of(user).demand_units(resource).into();
                }
                constraints.push((usage, class_units(instance, ClassId(class), resource)));
            }
        }
        let (demanders, wanted) = series.demands(quantum);
        for user in 0..users {
            let (mut everywhere, mut not_allowed) = (row(), row());
            for class in 0..classes {
                everywhere[at(quantum, user, class)] = BigInt::from(1);
                let allowed = of(user).rule().allows(ClassId(class));
                not_allowed[at(quantum, user, class)] = BigInt::from(u8::from(!allowed));
            }
            constraints.push((not_allowed, BigInt::ZERO));
            let wanted = demanders.binary_search(&(user as u32)).map_or(0, |entry| wanted[entry]);
            constraints.push((everywhere, BigInt::from(wanted)));
        }
    }
    let first_share_row = constraints.len();
    let mut level_coefficients = Vec::new();
    for user in 0..users {
        let per_level = &Fraction::from(of(user).weight()) / &task_share(instance, of(user));
        let (of_level, of_classes) = share_row(instance, &per_level, of(user));
        let mut work = row();
        for quantum in 0..quanta {
            work[at(quantum, user, 0)..][..classes].clone_from_slice(&of_classes);
        }
        constraints.push((work, BigInt::ZERO));
        level_coefficients.push(of_level);
    }
    raise(Tableau::new(variables, constraints), first_share_row, &level_coefficients)
}
