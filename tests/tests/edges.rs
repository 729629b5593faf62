//! The edges of the model: tasks larger than any server, nothing to give, nobody to give it to.

use crate::conformance::backends;
use crate::solving::{close, shares_of, value_of};
use fairplan_instances::{Instance, LimitedBy, Objective, Random, Solution, Status};
use fairplan_tests::{decimal, draft};
use fairplan_verify::{SolutionClaim, verify_solution};

/// The proved solution of every backend.
fn solutions(instance: &Instance) -> Vec<Solution> {
    let mut solutions = Vec::new();
    for solver in backends() {
        let solution = solver.solve(instance, Objective::Drfh).unwrap();
        assert_eq!(solution.status, Status::Optimal, "{}", solver.name());
        let proof = verify_solution(instance, &SolutionClaim::from(&solution));
        assert!(proof.holds(), "{}: {:?}", solver.name(), proof.failures().next());
        solutions.push(solution);
    }
    solutions
}

#[test]
fn a_task_larger_than_every_server_is_divided_but_never_placed() {
    let instance = draft(&[(3, "1 1")], &["2 1", "0.5 0.5"]).build().unwrap();
    for solution in solutions(&instance) {
        // cpu: 2 a + 0.5 b = 3 with shares 2a/3 = b/6.
        assert!(close(&shares_of(&instance, &solution), &[0.5, 0.5], 1e-9), "{solution:?}");
    }
    for name in fairplan_heuristics::POLICIES.names() {
        let policy = fairplan_heuristics::policy(&name.replace('N', "2"), 0).unwrap();
        let placement = policy.place(&instance).unwrap();
        assert_eq!(placement.tasks[0], 0, "{name}");
        assert!(placement.tasks[1] > 0, "{name}");
    }
}

#[test]
fn users_that_can_run_nowhere_get_nothing_and_take_nothing() {
    let mut draft = draft(&[(1, "4 0"), (1, "0 4")], &["1 1", "1 0", "0 1"]);
    let instance = draft.build().unwrap();
    for solution in solutions(&instance) {
        assert!(close(&shares_of(&instance, &solution), &[0.0, 1.0, 1.0], 1e-9), "{solution:?}");
        assert_eq!(solution.limited_by[0], LimitedBy::NoUsableClass);
    }
    draft.users.truncate(1);
    let instance = draft.build().unwrap();
    for solution in solutions(&instance) {
        assert!(
            value_of(&instance, &solution) == 0.0 && solution.certificate.levels().is_empty(),
            "{solution:?}"
        );
    }
}

#[test]
fn users_with_fewer_tasks_than_there_is_room_for_get_them_all() {
    let mut draft = draft(&[(5, "2 2")], &["1 1", "1 0", "0 1"]);
    for (user, tasks) in draft.users.iter_mut().zip([0, 3, 1]) {
        user.tasks = Some(tasks);
    }
    let instance = draft.build().unwrap();
    for solution in solutions(&instance) {
        assert!(close(&shares_of(&instance, &solution), &[0.0, 0.3, 0.1], 1e-9), "{solution:?}");
        assert_eq!(solution.limited_by, [LimitedBy::Tasks; 3]);
    }
}

#[test]
fn a_user_with_few_tasks_runs_them_where_they_do_more() {
    // Class 1 does three times the work for user 0, which has tasks for half of it.
    let mut draft = draft(&[(1, "4"), (1, "4")], &["1", "1"]);
    draft.users[0].rates = vec![(1, decimal("3"))];
    draft.users[0].tasks = Some(2);
    let instance = draft.build().unwrap();
    for solution in solutions(&instance) {
        // All its tasks on class 1: work 6 of 8 each, the other user 6 tasks.
        assert!(close(&shares_of(&instance, &solution), &[0.75, 0.75], 1e-9), "{solution:?}");
    }
    // Where the other user needs that class, y of the 2 tasks run there: (2 - y) + 3 y = 4 - y.
    draft.users[1].eligible = Some(vec![1]);
    let instance = draft.build().unwrap();
    for solution in solutions(&instance) {
        assert!(close(&shares_of(&instance, &solution), &[5.0 / 12.0, 5.0 / 12.0], 1e-9), "{solution:?}");
    }
}

/// Servers hold just what is asked for: nobody would take more, whatever rounding leaves of the last task.
#[test]
fn where_servers_and_tasks_end_together_everybody_is_held_by_its_tasks() {
    let mut random = Random::new(7, 1);
    for case in 0..60 {
        let asked: Vec<(u64, u64)> =
            (0..random.between(1, 5)).map(|_| (random.between(1, 4), random.between(1, 9))).collect();
        let all: u64 = asked.iter().map(|(cpu, tasks)| cpu * tasks).sum();
        let demands: Vec<String> = asked.iter().map(|(cpu, _)| cpu.to_string()).collect();
        let mut draft =
            draft(&[(1, &*all.to_string())], &demands.iter().map(String::as_str).collect::<Vec<_>>());
        draft.users.iter_mut().zip(&asked).for_each(|(user, (_, tasks))| user.tasks = Some(*tasks));
        for solution in solutions(&draft.build().unwrap()) {
            assert!(
                solution.limited_by.iter().all(|by| *by == LimitedBy::Tasks),
                "case {case}, {asked:?}, {}: {:?}",
                solution.backend,
                solution.limited_by
            );
        }
    }
}
