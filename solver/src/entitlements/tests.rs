//! Each rule against its own definition, by hand and on random instances.

use super::*;
use fairplan_instances::{Draft, generate};

fn tasks(instance: &Instance, rule: SchedulerRule) -> Vec<f64> {
    entitlements(instance, rule, None)
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-12 * expected.max(1.0), "{found} instead of {expected}");
    }
}

/// The example of the DRF paper, Fig. 3: 9 cpus and 18 GB; tasks of (1, 4) and (3, 1).
fn drf_paper() -> Draft {
    let mut draft = Draft::from(&generate::drfh_fig1().unwrap());
    draft.classes.truncate(1);
    draft.classes[0].count = 1;
    draft.classes[0].capacity = vec![9u32.into(), 18u32.into()];
    draft.users[0].demand = vec![1u32.into(), 4u32.into()];
    draft.users[1].demand = vec![3u32.into(), 1u32.into()];
    draft
}

#[test]
fn yarn_and_kueue_give_the_allocation_of_the_drf_paper() {
    let instance = drf_paper().build().unwrap();
    close(&tasks(&instance, SchedulerRule::YarnDrf), &[3.0, 2.0]);
    close(&tasks(&instance, SchedulerRule::KueueDominantShare), &[3.0, 2.0]);
}

#[test]
fn volcano_divides_each_resource_by_itself() {
    // Half of 9 cpus and of 18 GB each: 9 GB are 2.25 tasks of 4, 4.5 cpus 1.5 of 3.
    let mut draft = drf_paper();
    close(&tasks(&draft.build().unwrap(), SchedulerRule::VolcanoProportion), &[2.25, 1.5]);
    // One task asks for 1 cpu and 4 GB; the other has the 8 cpus that are left, and 14 GB.
    draft.users[0].tasks = Some(1);
    close(&tasks(&draft.build().unwrap(), SchedulerRule::VolcanoProportion), &[1.0, 8.0 / 3.0]);
    // Weights 1 and 2: 3 cpus and 6 GB for the first.
    draft.users[0].tasks = None;
    draft.users[1].weight = 2u32.into();
    close(&tasks(&draft.build().unwrap(), SchedulerRule::VolcanoProportion), &[1.5, 2.0]);
}

#[test]
fn within_its_quota_kueue_lets_a_queue_have_what_others_may_not_borrow() {
    let instance = drf_paper().build().unwrap();
    // The first has all 18 GB and 4 cpus as its quota, the second 5 cpus: it borrows memory from the start.
    let quotas = vec![vec![4.0, 18.0], vec![5.0, 0.0]];
    let found = entitlements(&instance, SchedulerRule::KueueDominantShare, Some(&quotas));
    // At level λ the first may have 4 + 9λ cpus and 18 + 18λ GB, the second 5 + 9λ and 18λ. With x = 4 + 9λ capped by
    // memory at 4.5 + 4.5λ, and y = min((5 + 9λ)/3, 18λ): 4x + y = 18 at λ = 1/27, x = 13/3, y = 2/3.
    close(&found, &[13.0 / 3.0, 2.0 / 3.0]);
}

#[test]
fn with_quotas_in_proportion_to_weights_kueue_is_yarn() {
    let options = generate::PopulationOptions {
        kind: generate::PopulationKind::Weighted,
        users: 60,
        cluster: generate::Cluster::Distinct { servers: 9 },
        seed: 3,
    };
    let mut draft = Draft::from(&generate::population(&options).unwrap());
    for (position, user) in draft.users.iter_mut().enumerate() {
        user.tasks = (position % 3 == 0).then_some(position as u64);
    }
    let instance = draft.build().unwrap();
    close(&tasks(&instance, SchedulerRule::KueueDominantShare), &tasks(&instance, SchedulerRule::YarnDrf));
}

#[test]
fn nothing_is_promised_beyond_the_pool_and_no_rule_wastes_what_somebody_needs() {
    let options = |seed| generate::PopulationOptions {
        kind: generate::PopulationKind::Zeros,
        users: 25,
        cluster: generate::Cluster::Distinct { servers: 5 },
        seed,
    };
    for seed in 0..20 {
        let instance = generate::population(&options(seed)).unwrap();
        for rule in SCHEDULER_RULES.entries().iter().map(|entry| entry.make) {
            let tasks = tasks(&instance, rule);
            let used = |r: usize| -> f64 {
                let of =
                    |(user, tasks): (fairplan_instances::User<'_>, &f64)| user.demand()[r].to_f64() * tasks;
                instance.users().zip(&tasks).map(of).sum::<f64>() / instance.total(ResourceId(r))
            };
            let used: Vec<f64> = (0..instance.resources().len()).map(used).collect();
            assert!(used.iter().all(|used| *used <= 1.0 + 1e-9), "{seed}: {rule:?} {used:?}");
            if rule != SchedulerRule::VolcanoProportion {
                for (user, tasks) in instance.users().zip(&tasks) {
                    let stopped = user.tasks().is_some_and(|most| *tasks >= most as f64)
                        || (0..used.len()).any(|r| !user.demand()[r].is_zero() && used[r] > 1.0 - 1e-9);
                    assert!(stopped, "{seed}: {rule:?} leaves {} waiting for what nobody uses", user.id());
                }
            }
        }
    }
}
