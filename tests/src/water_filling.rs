//! Progressive water-filling on a single server class: raise all weighted shares together until a resource
//! or a user's tasks run out, stop the users concerned, go on. No linear program: the oracle's own oracle.

use crate::Fraction;
use crate::max_min::{class_units, task_share};
use fairplan_instances::{ClassId, Instance, ResourceId};

/// The weighted dominant share of each user; panics unless there is one class, open to all at rate 1.
pub fn water_filling(instance: &Instance) -> Vec<Fraction> {
    assert!(instance.classes().len() == 1 && instance.rules().len() == 1, "one class, open to all");
    let m = instance.resources().len();
    let users: Vec<_> = instance.users().collect();
    // Units of each resource that a user takes when its weighted share rises by one.
    let rate = |i: usize, r: usize| {
        let demand = Fraction::new(users[i].demand_units(ResourceId(r)), 1);
        &(&demand * &Fraction::from(users[i].weight())) / &task_share(instance, users[i])
    };
    let mut left: Vec<Fraction> =
        (0..m).map(|r| Fraction::new(class_units(instance, ClassId(0), ResourceId(r)), 1)).collect();
    let mut level = Fraction::zero();
    let mut shares = vec![Fraction::zero(); users.len()];
    let mut rising: Vec<usize> = (0..users.len()).collect();
    while !rising.is_empty() {
        let takes = |r: usize| rising.iter().map(|&i| rate(i, r)).sum::<Fraction>();
        let cap = |i: usize| {
            users[i].tasks().map(|tasks| {
                &(&Fraction::from(tasks) * &task_share(instance, users[i]))
                    / &Fraction::from(users[i].weight())
            })
        };
        let until_full = (0..m).filter(|&r| !takes(r).is_zero()).map(|r| &left[r] / &takes(r));
        let until_done = rising.iter().filter_map(|&i| cap(i)).map(|cap| &cap - &level);
        let rise = until_full.chain(until_done).min().expect("every user needs some resource");
        for (r, left) in left.iter_mut().enumerate() {
            *left = &*left - &(&takes(r) * &rise);
        }
        level = &level + &rise;
        let stopped: Vec<usize> = rising
            .iter()
            .copied()
            .filter(|&i| {
                cap(i).is_some_and(|cap| cap == level)
                    || (0..m).any(|r| left[r].is_zero() && !rate(i, r).is_zero())
            })
            .collect();
        assert!(!stopped.is_empty(), "every round stops a user");
        for &i in &stopped {
            shares[i] = level.clone();
        }
        rising.retain(|i| !stopped.contains(i));
    }
    shares
}
