//! Solutions worked by hand, and what the checker says about them.
#![cfg(test)]

use fairplan_instances::{
    Allocation, Decimal, Instance, InstanceBuilder, Level, LimitedBy, NewUser, Objective, ServerClass,
};
use fairplan_verify::{SolutionClaim, Tasks, verify_solution};

fn decimals(numbers: &[&str]) -> Vec<Decimal> {
    numbers.iter().map(|number| number.parse().unwrap()).collect()
}

/// DRFH Fig. 1: two servers, two users, mirror images of each other.
fn fig1() -> Instance {
    let mut builder = InstanceBuilder::new("Fig. 1", vec!["cpu".into(), "memory".into()]).unwrap();
    for (id, capacity) in [("high-memory", ["2", "12"]), ("high-cpu", ["12", "2"])] {
        builder.class(ServerClass { id: id.into(), count: 1, capacity: decimals(&capacity) }).unwrap();
    }
    builder.user(NewUser::new("user-1", &decimals(&["0.2", "1"]))).unwrap();
    builder.user(NewUser::new("user-2", &decimals(&["1", "0.2"]))).unwrap();
    builder.build().unwrap()
}

#[test]
fn the_optimum_of_the_paper_is_accepted() {
    let instance = fig1();
    let allocation = Allocation::from_matrix(2, &[10.0, 0.0, 0.0, 10.0]);
    // Cpu is full on the one server, memory on the other: y_i = 14/5 p, so Σ y_i = 1 and C·p = 4 p = 5/7.
    let level = Level { value: 5.0 / 7.0, bound: 5.0 / 7.0, prices: vec![5.0 / 28.0, 0.0, 0.0, 5.0 / 28.0] };
    let claim = SolutionClaim {
        objective: Objective::Drfh,
        tasks: Tasks::Allocation(&allocation),
        levels: &[level],
        level_of: &[0, 0],
        limited_by: &[LimitedBy::Capacity; 2],
        printed: None,
    };
    let proof = verify_solution(&instance, &claim);
    assert!(proof.holds(), "{:?}", proof.failures().collect::<Vec<_>>());
    assert!(proof.primal <= 5.0 / 7.0 && 5.0 / 7.0 <= proof.dual && proof.relative_gap < 1e-14);
}
