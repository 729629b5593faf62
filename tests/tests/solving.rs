//! Solving a draft with the default backend, and comparing shares.

use fairplan_instances::{Instance, Objective, Solution, Status, UserId};
use fairplan_solver::backend;
use fairplan_tests::{Draft, printed};

/// The properties of those who add next to nothing to a sum.
pub const OF_SMALL_USERS: [&str; 2] = ["own-optimality", "hidden-optimality"];

/// The certified solution of the default backend for DRFH.
pub fn solve(instance: &Instance) -> Solution {
    solve_for(instance, Objective::Drfh)
}

/// The certified solution of the default backend.
pub fn solve_for(instance: &Instance, objective: Objective) -> Solution {
    let solution = backend("auto").unwrap().solve(instance, objective);
    let solution = solution.unwrap_or_else(|error| panic!("{error}\n{}", printed(instance)));
    assert_eq!(solution.status, Status::Optimal, "{}", printed(instance));
    solution
}

/// The dominant share of every user under DRFH.
pub fn shares(draft: &Draft) -> Vec<f64> {
    shares_for(draft, Objective::Drfh)
}

/// The dominant share of every user.
pub fn shares_for(draft: &Draft, objective: Objective) -> Vec<f64> {
    let instance = draft.build().unwrap_or_else(|violation| panic!("{violation}\n{draft:?}"));
    shares_of(&instance, &solve_for(&instance, objective))
}

/// The dominant share of every user in a solution.
pub fn shares_of(instance: &Instance, solution: &Solution) -> Vec<f64> {
    (0..instance.user_count()).map(|i| solution.allocation.dominant_share(instance, UserId(i))).collect()
}

/// The smallest weighted dominant share.
pub fn value_of(instance: &Instance, solution: &Solution) -> f64 {
    let weighted = |(share, user): (&f64, fairplan_instances::User)| share / user.weight().to_f64();
    shares_of(instance, solution).iter().zip(instance.users()).map(weighted).fold(f64::INFINITY, f64::min)
}

/// Whether two lists agree, each number to `tolerance` relative to the larger.
pub fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * a.abs().max(b.abs()))
}
