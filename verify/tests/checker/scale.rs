//! A million users: what checking costs. Run with `cargo test --release -p fairplan-verify scale -- --ignored --nocapture`.

use crate::{assert_accepted, cluster};
use fairplan_instances::{
    Allocation, Certificate, Decimal, Instance, InstanceBuilder, Level, LimitedBy, NewUser, Objective,
    Solution, Statistics, Status,
};
use fairplan_verify::{SolutionClaim, Tasks, verify_solution};
use std::time::Instant;

const CLASSES: usize = 10;
const SPLITS: usize = 256;

/// `pairs` pairs of equal users on ten servers of one shape, which act as one pool: the resource that runs out
/// first has the only price. The users of a pair divide their tasks differently, and evenly together.
fn pooled(pairs: usize, resources: usize) -> (Instance, Solution) {
    let capacities: Vec<Vec<Decimal>> =
        (1..=CLASSES as u64).map(|size| vec![Decimal::new(size * 1000, 0).unwrap(); resources]).collect();
    let mut builder: InstanceBuilder = cluster(&capacities);
    for pair in 0..pairs as u64 {
        let demand: Vec<Decimal> = (0..resources as u64)
            .map(|r| Decimal::new(1 + (pair * 7919 + r * 104_729) % 9973, -4).unwrap())
            .collect();
        for side in ["a", "b"] {
            builder.user(NewUser::new(&format!("{side}{pair}"), &demand)).unwrap();
        }
    }
    let instance = builder.build().unwrap();

    // Every user's share is that of its dominant resource; the loads follow.
    let per_share: Vec<f64> = (0..resources)
        .map(|r| instance.users().map(|user| user.demand_doubles()[r] / user.task_share()).sum())
        .collect();
    let total = instance.total(fairplan_instances::ResourceId(0));
    let scarce = (0..resources).max_by(|&a, &b| per_share[a].total_cmp(&per_share[b])).unwrap();
    let value = total / per_share[scarce] * (1.0 - 1e-13);
    let tasks = instance.users().map(|user| value / user.task_share()).collect();
    let even = |class: usize| (class + 1) as f64 / (CLASSES * (CLASSES + 1) / 2) as f64;
    let splits: Vec<f64> = (0..SPLITS)
        .flat_map(|split| {
            let sign = if split % 2 == 0 { 1.0 } else { -1.0 };
            let shift = sign * 0.015 * (split / 2) as f64 / SPLITS as f64;
            (0..CLASSES).map(move |class| even(class) + if class % 2 == 0 { shift } else { -shift })
        })
        .collect();
    let split_of = (0..2 * pairs).map(|user| (user % SPLITS) as u32).collect();
    let mut prices = vec![0.0; CLASSES * resources];
    prices.iter_mut().skip(scarce).step_by(resources).for_each(|price| *price = 1.0 / per_share[scarce]);
    let solution = Solution {
        objective: Objective::Drfh,
        backend: "test",
        method: "test",
        status: Status::Optimal,
        allocation: Allocation::new(CLASSES, tasks, split_of, splits),
        exact: None,
        certificate: Certificate::Levels {
            levels: vec![Level { value, bound: total / per_share[scarce], prices, limit_prices: Vec::new() }],
            level_of: vec![0; 2 * pairs],
        },
        limited_by: vec![LimitedBy::Capacity; 2 * pairs],
        statistics: Statistics::default(),
        guaranteed: Vec::new(),
    };
    (instance, solution)
}

#[test]
fn ten_thousand_users_with_shared_splits_are_accepted() {
    let (instance, solution) = pooled(5_000, 3);
    assert_accepted(&verify_solution(&instance, &SolutionClaim::from(&solution)));
}

#[test]
#[ignore = "a measurement"]
fn a_million_users() {
    for resources in [2, 4] {
        let (instance, solution) = pooled(500_000, resources);
        let claim = SolutionClaim::from(&solution);
        let start = Instant::now();
        let proof = verify_solution(&instance, &claim);
        println!("{resources} resources, shared splits: {:.3} s", start.elapsed().as_secs_f64());
        assert_accepted(&proof);

        let (mut starts, mut entries) = (vec![0], Vec::new());
        for user in instance.users() {
            let here = solution.allocation.placement(user.index());
            entries.extend(here.map(|(class, tasks)| (class.0 as u32, tasks)));
            starts.push(entries.len());
        }
        let listed = SolutionClaim { tasks: Tasks::Listed { starts, entries }, ..claim };
        let start = Instant::now();
        let proof = verify_solution(&instance, &listed);
        println!("{resources} resources, listed tasks: {:.3} s", start.elapsed().as_secs_f64());
        assert_accepted(&proof);
    }
}
