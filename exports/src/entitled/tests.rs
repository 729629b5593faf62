//! Small clusters whose answers are known, by each rule.

use super::parts::fair;
use super::*;

fn told(parent: Option<usize>, weight: f64, given: &[f64], uses: &[f64]) -> Told {
    Told {
        parent,
        weight,
        weights: Vec::new(),
        priority: 0.0,
        compares: None,
        given: given.to_vec(),
        limit: vec![None; given.len()],
        kept: Vec::new(),
        pool: Vec::new(),
        uses: uses.to_vec(),
        billed: 0.0,
        most: vec![f64::INFINITY; 2],
    }
}

fn times(measure: Measure, resources: usize, room: &[f64], tenants: Vec<Told>) -> Vec<f64> {
    let shared = Shared { measure, resources, compares: None, room: room.to_vec(), tenants };
    shared.entitled().into_iter().map(|classes| classes.iter().sum()).collect()
}

/// Of Kueue's queues and cohorts: what they do not lend is their own, used or not, and of a cohort of those in it.
#[test]
fn what_is_not_lent_is_none_of_what_others_borrow() {
    let keeps = |kept: f64, tenant: Told| Told { kept: vec![kept], ..tenant };
    let idle = |kept| keeps(kept, told(None, 1.0, &[10.0], &[0.0]));
    let busy = |parent| told(parent, 1.0, &[10.0], &[1.0]);
    let found = times(Measure::Borrowed, 1, &[30.0], vec![idle(10.0), idle(4.0), busy(None)]);
    near(&found[2..], &[16.0]);
    // A cohort that lends 5 of its 20 keeps 15 for whoever is in it.
    let cohort = keeps(15.0, told(None, 1.0, &[20.0], &[0.0]));
    let found = times(Measure::Borrowed, 1, &[30.0], vec![cohort, busy(Some(0)), busy(None)]);
    near(&found[1..], &[20.0, 10.0]);
    let away = keeps(15.0, told(None, 1.0, &[20.0], &[0.0]));
    let little = Told { most: vec![2.0], ..told(Some(0), 1.0, &[10.0], &[1.0]) };
    let found = times(Measure::Borrowed, 1, &[30.0], vec![away, little, busy(None)]);
    near(&found[1..], &[2.0, 15.0]);
}

fn near(found: &[f64], expected: &[f64]) {
    let is_near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= 4e-3 * expected.max(1.0);
    assert!(found.iter().zip(expected).all(is_near), "{found:?}, not {expected:?}");
}

#[test]
fn what_a_closed_or_idle_queue_cannot_take_goes_to_its_siblings() {
    let mut closed = told(None, 5.0, &[0.0], &[1.0]);
    closed.limit = vec![Some(0.0)];
    let idle = told(None, 5.0, &[0.0], &[0.0]);
    let tenants = vec![closed, told(None, 1.0, &[0.0], &[1.0]), idle, told(None, 1.0, &[4.0], &[1.0])];
    let shared =
        Shared { measure: Measure::OverFair, resources: 1, compares: None, room: vec![12.0], tenants };
    assert_eq!(fair(&shared), [[0.0], [4.0], [0.0], [8.0]]);
}

#[test]
fn without_anything_given_the_pool_is_shared_by_dominant_shares() {
    // 9 cores and 18 GB, tasks of (1, 4) and (3, 1): the example of the paper on DRF, three and two tasks.
    let tenants = vec![told(None, 1.0, &[0.0; 2], &[1.0, 4.0]), told(None, 1.0, &[0.0; 2], &[3.0, 1.0])];
    near(&times(Measure::Dominant, 2, &[9.0, 18.0], tenants), &[3.0, 2.0]);
}

#[test]
fn each_measure_shares_by_its_own_rule_what_nobody_is_given() {
    let tenants = || vec![told(None, 1.0, &[2.0], &[1.0]), told(None, 3.0, &[4.0], &[1.0])];
    near(&times(Measure::OverGiven, 1, &[12.0], tenants()), &[4.0, 8.0]);
    near(&times(Measure::Borrowed, 1, &[12.0], tenants()), &[3.5, 8.5]);
    near(&times(Measure::OverFair, 1, &[12.0], tenants()), &[3.5, 8.5]);
    near(&times(Measure::Dominant, 1, &[12.0], tenants()), &[3.0, 9.0]);
}

#[test]
fn under_the_fair_scheduler_a_group_below_its_minimum_comes_first() {
    let mut tenants = vec![
        told(None, 1.0, &[8.0], &[0.0]),
        told(Some(0), 1.0, &[0.0], &[1.0]),
        told(Some(0), 3.0, &[0.0], &[1.0]),
        told(None, 1.0, &[0.0], &[1.0]),
    ];
    near(&times(Measure::Dominant, 1, &[12.0], tenants.clone())[1..], &[2.0, 6.0, 4.0]);
    tenants[0].given = vec![3.0];
    near(&times(Measure::Dominant, 1, &[12.0], tenants)[1..], &[1.5, 4.5, 6.0]);
}

#[test]
fn who_is_given_nothing_shares_by_weight_what_those_leave_that_are_given_some() {
    let of = |weight, given: &[f64]| told(None, weight, given, &[1.0, 4.0]);
    let alike = vec![of(1.0, &[0.0; 2]), of(1.0, &[0.0; 2])];
    near(&times(Measure::OverGiven, 2, &[16.0, 64.0], alike.clone()), &[8.0, 8.0]);
    near(&times(Measure::OverGivenElseAll, 2, &[16.0, 64.0], alike), &[8.0, 8.0]);
    let weighted = vec![of(1.0, &[0.0; 2]), of(3.0, &[0.0; 2])];
    near(&times(Measure::OverGiven, 2, &[16.0, 64.0], weighted), &[4.0, 12.0]);
    // Of the second resource nobody is given anything, which is no bound.
    let of_one = vec![of(1.0, &[0.0; 2]), of(1.0, &[4.0, 0.0]), of(1.0, &[8.0, 0.0])];
    near(&times(Measure::OverGiven, 2, &[16.0, 64.0], of_one.clone()), &[0.0, 16.0 / 3.0, 32.0 / 3.0]);
    near(&times(Measure::OverGivenElseAll, 2, &[16.0, 64.0], of_one), &[4.0, 4.0, 8.0]);
}

#[test]
fn those_that_are_given_more_than_there_is_have_their_parts_of_it() {
    for measure in [Measure::OverGiven, Measure::OverFair] {
        let tenants = vec![told(None, 1.0, &[12.0], &[1.0]), told(None, 1.0, &[12.0], &[1.0])];
        near(&times(measure, 1, &[12.0], tenants), &[6.0, 6.0]);
    }
}

#[test]
fn borrowing_is_summed_over_classes_and_other_measures_take_each_by_itself() {
    // One class each beside a common one: whoever borrows on its own class gets less of the common one under Kueue.
    let tenants =
        || vec![told(None, 1.0, &[2.0, 2.0], &[1.0, 1.0]), told(None, 1.0, &[0.0, 2.0], &[0.0, 1.0])];
    near(&times(Measure::OverGiven, 1, &[6.0, 8.0], tenants()), &[10.0, 4.0]);
    // Four borrowed on the first class, four more are free on the second: all go to the other.
    near(&times(Measure::Borrowed, 1, &[6.0, 8.0], tenants()), &[8.0, 6.0]);
}

#[test]
fn an_account_is_billed_for_each_of_its_jobs() {
    // One account with a user of cores and one of memory, and an account of both: of two thirds each, one third for each job.
    let mut tenants = vec![
        told(None, 2.0, &[0.0; 2], &[0.0; 2]),
        told(Some(0), 1.0, &[0.0; 2], &[1.0, 0.0]),
        told(Some(0), 1.0, &[0.0; 2], &[0.0, 1.0]),
        told(None, 2.0, &[0.0; 2], &[1.0, 1.0]),
    ];
    for tenant in &mut tenants[1..] {
        tenant.billed = 1.0 / 12.0;
    }
    near(&times(Measure::Billed, 2, &[12.0; 2], tenants.clone())[1..], &[4.0, 4.0, 8.0]);
    near(&times(Measure::Dominant, 2, &[12.0; 2], tenants)[1..], &[6.0, 6.0, 6.0]);
}

#[test]
fn hierarchical_drf_starves_and_blocks_nobody_in_its_paper_s_cases() {
    // The numbers of Volcano's tests of H-DRF.
    let rescaling = vec![
        told(None, 1.0, &[0.0; 2], &[0.0; 2]),
        told(None, 1.0, &[0.0; 2], &[1.0, 1.0]),
        told(Some(0), 1.0, &[0.0; 2], &[1.0, 0.0]),
        told(Some(0), 1.0, &[0.0; 2], &[0.0, 1.0]),
    ];
    near(&times(Measure::Scaled, 2, &[10.0; 2], rescaling)[1..], &[5.0, 5.0, 5.0]);
    // What is given to the group comes first.
    let sure = vec![
        told(None, 1.0, &[8.0], &[0.0]),
        told(Some(0), 1.0, &[0.0], &[1.0]),
        told(Some(0), 1.0, &[0.0], &[1.0]),
        told(None, 1.0, &[0.0], &[1.0]),
    ];
    near(&times(Measure::Scaled, 1, &[12.0], sure)[1..], &[4.0, 4.0, 4.0]);
    let blocking = vec![
        told(None, 1.0, &[0.0; 2], &[0.0; 2]),
        told(None, 1.0, &[0.0; 2], &[1.0, 0.0]),
        told(None, 1.0, &[0.0; 2], &[1.0, 0.0]),
        told(Some(0), 1.0, &[0.0; 2], &[1.0, 0.0]),
        told(Some(0), 1.0, &[0.0; 2], &[0.0, 1.0]),
        told(None, 1.0, &[0.0; 2], &[0.0, 1.0]),
    ];
    near(&times(Measure::Scaled, 2, &[30.0; 2], blocking)[1..], &[10.0, 10.0, 10.0, 15.0, 15.0]);
}

#[test]
fn groups_share_before_those_in_them_and_limits_hold_for_both() {
    let mut tenants = vec![
        told(None, 1.0, &[0.0], &[0.0]),
        told(Some(0), 1.0, &[0.0], &[1.0]),
        told(Some(0), 2.0, &[0.0], &[1.0]),
        told(None, 1.0, &[0.0], &[1.0]),
    ];
    near(&times(Measure::Dominant, 1, &[12.0], tenants.clone())[1..], &[2.0, 4.0, 6.0]);
    tenants[0].limit = vec![Some(3.0)];
    near(&times(Measure::Dominant, 1, &[12.0], tenants.clone())[1..], &[1.0, 2.0, 9.0]);
    tenants[3].most = vec![5.0];
    near(&times(Measure::Dominant, 1, &[12.0], tenants)[1..], &[1.0, 2.0, 5.0]);
}
