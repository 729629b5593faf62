//! Kinds of tasks needed together: against exact arithmetic, on random cases and on cases worked by hand.

use crate::conformance::{backends, conforms};
use crate::groups::conforms as conforms_in_groups;
use crate::solving::shares_of;
use fairplan_instances::generate::{Cluster, PopulationKind, PopulationOptions, population};
use fairplan_instances::{
    Certificate, Decimal, DraftKind, Instance, LimitedBy, Objective, Solution, Solver, Status, UserId,
};
use fairplan_solver::backend;
use fairplan_tests::{
    Draft, Fraction, decimal, draft, exact_max_min, exact_max_min_of, exact_tree, kind, random_draft,
    random_tree, with_bundles_as_tasks, with_random_kinds,
};
use fairplan_verify::verify_solution;

fn every_backend(draft: &Draft, shares: &[Fraction]) {
    let instance = draft.build().unwrap();
    let exact = exact_max_min(&instance);
    assert_eq!(exact.shares, shares);
    for solver in &backends() {
        conforms(&instance, Objective::Drfh, &exact, solver.as_ref()).unwrap_or_else(|problem| {
            panic!("{}: {problem}\n{draft}", solver.name());
        });
    }
}

/// A class of 10 cpu, and one of 10 cpu and 4 gpu; a user of so many tasks that each need two workers on gpus and a driver
/// anywhere.
fn trainer() -> Draft {
    let mut draft = draft(&[(1, "10 0"), (1, "10 4")], &["1 1"]);
    draft.users[0].kinds = vec![kind("worker", 2, "1 1", None), kind("driver", 1, "4 0", None)];
    draft
}

#[test]
fn pieces_run_where_each_may_and_not_where_their_sum_would() {
    // The sum, 6 cpu and 2 gpu, fits the gpu server only: 10/6 tasks. Drivers elsewhere leave its cpu to workers: 2 tasks.
    let draft = trainer();
    every_backend(&draft, &[Fraction::one()]);
    let instance = draft.build().unwrap();
    for solver in &backends() {
        let solution = solver.solve(&instance, Objective::Drfh).unwrap();
        assert!((solution.allocation.tasks(UserId(0)) - 2.0).abs() < 1e-8, "{}", solver.name());
    }
}

#[test]
fn a_user_is_held_where_one_of_its_kinds_is() {
    // Drivers of u are bound to the small server, which v shares: 4 drivers' worth each is what is there.
    let mut draft = draft(&[(1, "8"), (1, "92")], &["1", "1", "1"]);
    draft.users[0].kinds = vec![kind("driver", 1, "1", Some(vec![0])), kind("worker", 3, "1", None)];
    draft.users[1].eligible = Some(vec![0]);
    // G = 4t/100 of u and s/100 of v: t + s = 8 and 4t = s, so t = 8/5; w has what is left of the large server.
    let share = Fraction::new(32, 500);
    every_backend(&draft, &[share.clone(), share, Fraction::new(872, 1000)]);
}

#[test]
fn a_user_of_which_a_kind_runs_nowhere_has_nothing_and_the_others_all() {
    let mut draft = draft(&[(1, "10")], &["1", "1"]);
    draft.users[0].kinds = vec![kind("here", 1, "1", None), kind("nowhere", 1, "1", Some(Vec::new()))];
    every_backend(&draft, &[Fraction::zero(), Fraction::one()]);
    let instance = draft.build().unwrap();
    let limited_by = backends()[0].solve(&instance, Objective::Drfh).unwrap().limited_by;
    assert_eq!(limited_by[0], LimitedBy::NoUsableClass);
    let warnings = fairplan_instances::lint(&instance);
    let told: Vec<&str> = warnings.iter().map(|warning| warning.message.as_str()).collect();
    let expected = "no server can run kind nowhere of user user-0, which therefore gets nothing: a task needs all of its kinds";
    assert_eq!(told, [expected]);
}

#[test]
fn tasks_that_run_out_leave_what_all_their_kinds_would_take() {
    let mut draft = trainer();
    draft.users[0].tasks = Some(1);
    draft.users.push(fairplan_tests::plain_user(1, vec![decimal("1"), decimal("0")]));
    // One task of 6 cpu in all; the other user has the 14 cpu that are left, of 20.
    every_backend(&draft, &[Fraction::new(1, 2), Fraction::new(14, 20)]);
}

fn every_backend_divides(
    seeds: std::ops::Range<u64>,
    draw: impl Fn(u64) -> Draft,
    conforms: impl Fn(&Instance, &dyn Solver) -> Result<(), String>,
) {
    let backends = backends();
    let (mut failures, mut with_kinds) = (Vec::new(), 0);
    for seed in seeds.clone() {
        let draft = draw(seed);
        let instance = draft.build().unwrap();
        with_kinds += u64::from(instance.kind_count() > instance.user_count());
        for solver in &backends {
            if let Err(problem) = conforms(&instance, solver.as_ref()) {
                failures.push(format!("seed {seed}, {}: {problem}\n{draft}", solver.name()));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(with_kinds * 2 > seeds.end - seeds.start, "only {with_kinds} cases have several kinds");
}

#[test]
fn every_backend_divides_five_hundred_random_cases_of_kinds_exactly() {
    let draw = |seed| with_random_kinds(random_draft(seed), seed);
    every_backend_divides(0..500, draw, |instance, solver| {
        conforms(instance, Objective::Drfh, &exact_max_min(instance), solver)
    });
}

#[test]
fn every_backend_finds_the_exact_task_shares_of_users_with_kinds() {
    let draw = |seed| with_random_kinds(random_draft(seed), seed);
    every_backend_divides(500..800, draw, |instance, solver| {
        let exact = exact_max_min_of(instance, Objective::TaskShareFairness);
        conforms(instance, Objective::TaskShareFairness, &exact, solver)
    });
    let draw = |seed| with_random_kinds(random_tree(seed), seed);
    every_backend_divides(500..700, draw, |instance, solver| {
        conforms_in_groups(instance, Objective::TaskShareFairness, solver)
    });
}

#[test]
fn a_user_is_measured_by_what_its_kinds_could_run_on_all_servers() {
    // Alone: two tasks, the gpus held by workers, whose servers lend their cpu to drivers. The other user alone: 20 tasks.
    let mut draft = trainer();
    draft.users.push(fairplan_tests::plain_user(1, vec![decimal("1"), decimal("0")]));
    let instance = draft.build().unwrap();
    assert!((instance.user(UserId(0)).work_alone() - 2.0).abs() < 1e-15);
    // 2 s tasks of 6 cpu and 20 s of one cpu, of 20: s = 20/32.
    let exact = exact_max_min_of(&instance, Objective::TaskShareFairness);
    assert_eq!(exact.weighted, [Fraction::new(5, 8), Fraction::new(5, 8)]);
    for solver in &backends() {
        conforms(&instance, Objective::TaskShareFairness, &exact, solver.as_ref()).unwrap();
    }
}

#[test]
fn a_user_alone_has_all_that_it_could_have_alone() {
    let mut seen = 0;
    for seed in 0..400 {
        let mut draft = with_random_kinds(random_draft(seed), seed);
        draft.users.retain(|user| user.kinds.len() > 1);
        draft.users.truncate(1);
        for user in &mut draft.users {
            (user.weight, user.tasks) = (decimal("1"), None);
            for (k, kind) in user.kinds.iter_mut().enumerate() {
                kind.eligible = None;
                // Kinds of which a server holds up to 10^12 beside kinds of which it holds one.
                let smaller = 10f64.powi(-(((seed as usize + k) % 13) as i32));
                kind.demand
                    .iter_mut()
                    .for_each(|demand| *demand = Decimal::from_f64(demand.to_f64() * smaller).unwrap());
            }
        }
        let Ok(instance) = draft.build() else { continue };
        let runs = |kind: fairplan_instances::Kind<'_>| {
            (0..instance.classes().len()).any(|class| kind.can_use(fairplan_instances::ClassId(class)))
        };
        if !instance.users().all(|user| user.kinds().all(runs)) {
            continue;
        }
        let tasks = exact_max_min(&instance).shares[0].to_f64() / instance.user(UserId(0)).task_share();
        let alone = instance.user(UserId(0)).work_alone();
        assert!((alone / tasks - 1.0).abs() <= 1e-13, "{alone} instead of {tasks}\n{draft}");
        assert!(
            (shares(&draft, Objective::TaskShareFairness)[0] / instance.user(UserId(0)).task_share() / alone
                - 1.0)
                .abs()
                < 1e-9
        );
        seen += 1;
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn a_kind_that_needs_next_to_nothing_is_proved_beside_one_that_needs_nearly_all() {
    let mut draft = draft(&[(1, "1000000")], &["1", "1"]);
    for exponent in -7..6 {
        let sidecar = 10f64.powi(exponent);
        draft.users[1].kinds = vec![kind("sidecar", 1, "1", None), kind("big", 1, "900000", None)];
        draft.users[1].kinds[0].demand = vec![Decimal::from_f64(sidecar).unwrap()];
        // Both have half of what they could have alone.
        let expected = 0.5 * 1e6 / (sidecar + 900_000.0);
        let share = shares(&draft, Objective::TaskShareFairness)[1];
        let tasks = share / draft.build().unwrap().user(UserId(1)).task_share();
        assert!((tasks / expected - 1.0).abs() < 1e-9, "{tasks} instead of {expected}\n{draft}");
    }
}

#[test]
fn task_shares_on_one_class_are_those_of_the_kinds_added_up() {
    for seed in 0..100 {
        let draft = on_one_class(seed);
        if draft.build().is_ok() {
            let [ours, other] =
                [&draft, &added_up(&draft)].map(|draft| shares(draft, Objective::TaskShareFairness));
            assert!(close(&ours, &other), "{draft}");
        }
    }
}

#[test]
fn every_backend_divides_random_trees_of_users_with_kinds_exactly() {
    let draw = |seed| with_random_kinds(random_tree(seed), seed);
    every_backend_divides(0..500, draw, |instance, solver| {
        conforms_in_groups(instance, Objective::Drfh, solver)
    });
}

/// The shares, which must be proved.
fn shares(draft: &Draft, objective: Objective) -> Vec<f64> {
    let instance = draft.build().unwrap();
    let solution = backends()[0].solve(&instance, objective).unwrap();
    assert_eq!(solution.status, Status::Optimal, "{draft}");
    let claim = fairplan_verify::SolutionClaim::from(&solution);
    let proof = fairplan_verify::verify_solution(&instance, &claim);
    assert!(proof.holds(), "{:?}\n{draft}", proof.failures().next());
    shares_of(&instance, &solution)
}

/// The same with each user's kinds added up to one demand.
fn added_up(draft: &Draft) -> Draft {
    let instance = draft.build().unwrap();
    let mut sums = draft.clone();
    for (user, view) in sums.users.iter_mut().zip(instance.users()) {
        (user.demand, user.kinds) = (view.demand().to_vec(), Vec::new());
    }
    sums
}

fn close(one: &[f64], other: &[f64]) -> bool {
    one.iter().zip(other).all(|(a, b)| (a - b).abs() <= 1e-8 * b.abs())
}

/// Random users with kinds, all of whom may run on the only class.
fn on_one_class(seed: u64) -> Draft {
    let mut draft = with_random_kinds(random_draft(seed), seed);
    draft.classes.truncate(1);
    for user in &mut draft.users {
        (user.eligible, user.rates) = (None, Vec::new());
        user.kinds.iter_mut().for_each(|kind| kind.eligible = None);
    }
    draft
}

#[test]
fn on_one_class_kinds_are_as_good_as_their_sum() {
    for seed in 0..200 {
        let draft = on_one_class(seed);
        if draft.build().is_ok() {
            let sums = added_up(&draft);
            assert!(close(&shares(&draft, Objective::Drfh), &shares(&sums, Objective::Drfh)), "{draft}");
        }
    }
}

#[test]
fn where_all_servers_are_one_kinds_are_as_good_as_their_sum() {
    for seed in 0..100 {
        let mut draft = with_random_kinds(random_draft(seed), seed);
        for user in &mut draft.users {
            (user.eligible, user.rates) = (None, Vec::new());
            user.kinds.iter_mut().for_each(|kind| kind.eligible = None);
        }
        let sums = added_up(&draft);
        assert!(
            close(&shares(&draft, Objective::DrfPooled), &shares(&sums, Objective::DrfPooled)),
            "{draft}"
        );
    }
}

#[test]
fn a_kind_divided_in_two_halves_changes_nothing() {
    for seed in 0..200 {
        let draft = with_random_kinds(random_draft(seed), seed);
        let mut halves = draft.clone();
        for user in &mut halves.users {
            if let Some(first) = user.kinds.first_mut().filter(|kind| kind.each > 1) {
                let mut other = first.clone();
                (first.each, other.each) = (1, first.each - 1);
                other.id = "other half".into();
                user.kinds.push(other);
            }
        }
        assert!(close(&shares(&halves, Objective::Drfh), &shares(&draft, Objective::Drfh)), "{draft}");
    }
}

#[test]
fn a_group_of_users_with_kinds_counts_as_one() {
    let mut draft = trainer();
    draft.users.push(draft.users[0].clone());
    draft.users.push(fairplan_tests::plain_user(2, vec![decimal("0"), decimal("1")]));
    draft.users[1].id = "user-1".into();
    let draft = crate::groups::in_groups(draft, &[("trainers", None)], &[Some(0), Some(0), None]);
    let instance = draft.build().unwrap();
    let quarter = Fraction::new(1, 4);
    assert_eq!(exact_tree(&instance, Objective::Drfh), [quarter.clone(), quarter, Fraction::new(1, 2)]);
    for solver in &backends() {
        conforms_in_groups(&instance, Objective::Drfh, solver.as_ref()).unwrap();
    }
}

fn sums() -> [Objective; 4] {
    [
        Objective::ProportionalFairness,
        Objective::alpha_fair(0.5).unwrap(),
        Objective::alpha_fair(4.0).unwrap(),
        Objective::Utilitarian,
    ]
}

#[test]
fn sums_over_users_with_kinds_are_proved() {
    let mut proved = 0;
    for objective in sums() {
        for seed in 0..200 {
            let draft = with_random_kinds(random_draft(seed), seed);
            let instance = draft.build().unwrap();
            // Users without kinds may have few tasks that are faster on some classes: that is refused by name.
            match backends()[0].solve(&instance, objective) {
                Ok(_) => proved += shares(&draft, objective).len().min(1),
                Err(error) => assert!(error.to_string().contains("beside users with kinds"), "{error}"),
            }
        }
    }
    assert!(proved > 700, "only {proved}");
}

/// So many were solved one by one, which takes a thousand times as long as with the sums of their kinds.
#[test]
fn sums_over_many_users_with_kinds_are_solved_kind_by_kind_and_as_one_by_one() {
    let (kind, cluster) = (PopulationKind::Weighted, Cluster::Google);
    let options = PopulationOptions { kind, users: 6_600, cluster, seed: 3 };
    let mut draft = Draft::from(&population(&options).unwrap());
    let all = std::mem::take(&mut draft.users);
    for (i, three) in all.chunks_exact(3).enumerate() {
        let mut user = three[0].clone();
        let kinds = three.iter().take(1 + i % 3).enumerate().map(|(k, part)| DraftKind {
            profile: None,
            id: format!("kind-{k}"),
            each: 1 + k as u64,
            demand: part.demand.clone(),
            eligible: (i % 5 == 0).then(|| (1..10).collect()),
        });
        user.kinds = kinds.collect();
        draft.users.push(user);
    }
    // One can run nowhere with one of its kinds, and so not at all.
    draft.users[2].kinds[1].eligible = Some(Vec::new());
    let instance = draft.build().unwrap();
    let solved = |name: &str, objective: Objective| {
        let solution = backend(name).unwrap().solve(&instance, objective).unwrap();
        let proof = verify_solution(&instance, &(&solution).into());
        assert!(proof.holds(), "{name}, {objective}: {:?}", proof.failures().collect::<Vec<_>>());
        solution
    };
    for objective in ["pf", "alpha=2", "alpha=0.5"] {
        let objective: Objective = objective.parse().unwrap();
        let (binned, one_by_one) = (solved("auto", objective), solved("ipm", objective));
        assert_eq!((binned.method, one_by_one.method), ("aggregation", "interior-point"), "{objective}");
        let value = |solution: &Solution| match &solution.certificate {
            Certificate::Total(total) => (total.value, total.bound),
            other => panic!("{other:?}"),
        };
        let (a, b) = (value(&binned), value(&one_by_one));
        // Neither is above what the other proves.
        let apart = 1e-12 * a.0.abs();
        assert!(a.0 <= b.1 + apart && b.0 <= a.1 + apart, "{objective}: {a:?} and {b:?}");
        assert_eq!(binned.limited_by[2], LimitedBy::NoUsableClass, "{objective}");
    }
}

#[test]
fn sums_on_one_class_are_those_of_the_kinds_added_up() {
    let mut compared = 0;
    for seed in 0..60 {
        let draft = on_one_class(seed);
        if draft.build().is_ok() {
            for objective in &sums()[..3] {
                let (ours, other) = (shares(&draft, *objective), shares(&added_up(&draft), *objective));
                let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-3 * b.max(1e-3);
                assert!(ours.iter().zip(&other).all(near), "{objective}: {ours:?}, {other:?}\n{draft}");
                compared += 1;
            }
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn a_sum_gives_drivers_their_own_servers() {
    // Proportional fairness of the trainer and of one that needs gpus only: half of the gpus each.
    let mut draft = trainer();
    draft.users.push(fairplan_tests::plain_user(1, vec![decimal("0"), decimal("1")]));
    assert!(close(&shares(&draft, Objective::ProportionalFairness), &[0.5, 0.5]));
}

#[test]
fn on_one_class_servers_are_worth_and_lose_as_much_as_of_the_kinds_added_up() {
    let lose = fairplan::LoseOptions { servers: Some(1), ..fairplan::LoseOptions::default() };
    let worth = fairplan::WorthOptions { ranges: false, ..fairplan::WorthOptions::default() };
    let control = fairplan::Control::none();
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-8 * b.abs().max(1e-3);
    let mut losing = 0;
    for seed in 0..60 {
        let mut draft = with_random_kinds(random_draft(seed), seed);
        draft.classes.truncate(1);
        draft.classes[0].set_count(3);
        for user in &mut draft.users {
            (user.eligible, user.rates) = (None, Vec::new());
            user.kinds.iter_mut().for_each(|kind| kind.eligible = None);
        }
        let Ok(instance) = draft.build() else { continue };
        let sums = added_up(&draft).build().unwrap();
        let [ours, other] =
            [&instance, &sums].map(|instance| fairplan::losses(instance, &lose, &control).unwrap());
        let [ours, other] = [&ours.losses[0], &other.losses[0]];
        assert!(near(ours.value, other.value) && near(ours.lost, other.lost), "{ours:?}\n{other:?}\n{draft}");
        assert_eq!((ours.losing, ours.stranded), (other.losing, other.stranded), "{draft}");
        losing += ours.losing;
        let [ours, other] = [&instance, &sums]
            .map(|instance| fairplan::worth_of_servers(instance, &worth, &control).unwrap());
        let [ours, other] = [&ours.server_classes[0], &other.server_classes[0]];
        assert!(near(ours.gain, other.gain) && near(ours.by_price, other.by_price), "{draft}");
    }
    assert!(losing > 20, "{losing}");
}

#[test]
fn a_server_apart_has_whole_bundles_and_their_sum_as_one_demand_gives_the_same() {
    let mut several = 0;
    for seed in 0..300 {
        let mut draft = with_random_kinds(random_draft(seed), seed);
        draft.users.iter_mut().for_each(|user| user.tasks = None);
        let instance = draft.build().unwrap();
        // Some draws have no class for a bundle, which no plain user can state.
        let Ok(plain) = with_bundles_as_tasks(&instance).build() else { continue };
        let solve = |instance: &Instance| {
            let solution = fairplan_solver::backend("auto").unwrap().solve(instance, Objective::DrfPerServer);
            solution.unwrap_or_else(|problem| panic!("seed {seed}: {problem}"))
        };
        let (of_kinds, of_plain) = (solve(&instance), solve(&plain));
        let (shares, expected) = (shares_of(&instance, &of_kinds), shares_of(&plain, &of_plain));
        for (share, expected) in shares.iter().zip(&expected) {
            assert!((share - expected).abs() <= 1e-12, "seed {seed}: {shares:?}, not {expected:?}\n{draft}");
        }
        several += usize::from(instance.users().any(|user| user.kinds().len() > 1));
    }
    assert!(several > 100, "{several}");
}

#[test]
fn inside_servers_a_bundle_is_whole_where_elsewhere_its_pieces_are_apart() {
    // Two workers and a driver, 6 cpu and 2 gpu, fit the gpu server only: 10/6 tasks, where drfh has 2 with the drivers elsewhere.
    let mut draft = trainer();
    let tasks_of = |draft: &Draft| {
        let instance = draft.build().unwrap();
        let solution =
            fairplan_solver::backend("auto").unwrap().solve(&instance, Objective::DrfPerServer).unwrap();
        let proof = fairplan_verify::verify_solution(&instance, &(&solution).into());
        assert!(proof.holds(), "{:?}", proof.failures().collect::<Vec<_>>());
        let on: Vec<Vec<_>> = instance
            .user(UserId(0))
            .kinds()
            .map(|kind| solution.allocation.placement_of_kind(UserId(0), kind.index()).collect())
            .collect();
        assert!(on.iter().all(|kind| *kind == on[0]), "{on:?}");
        (solution.allocation.tasks(UserId(0)), solution.limited_by[0])
    };
    let (tasks, held) = tasks_of(&draft);
    assert!((tasks - 10.0 / 6.0).abs() < 1e-9 && held == LimitedBy::Capacity, "{tasks}, {held:?}");
    // Where its kinds can run nowhere together it has nothing, as who fits nowhere.
    draft.users[0].kinds[1].eligible = Some(vec![0]);
    assert_eq!(tasks_of(&draft), (0.0, LimitedBy::NoUsableClass));
}

#[test]
fn pieces_on_servers_apart_that_make_no_whole_tasks_are_refused() {
    let instance = trainer().build().unwrap();
    let mut solution =
        fairplan_solver::backend("auto").unwrap().solve(&instance, Objective::DrfPerServer).unwrap();
    let tasks = vec![solution.allocation.tasks(UserId(0))];
    // The drivers on the other server: it all fits, and is no server's.
    solution.allocation =
        fairplan_instances::Allocation::of_kinds(&instance, 2, tasks, vec![0, 1], vec![0.0, 1.0, 1.0, 0.0]);
    let proof = fairplan_verify::verify_solution(&instance, &(&solution).into());
    let failed: Vec<&str> = proof.failures().map(|verdict| verdict.property).collect();
    assert!(failed.contains(&"whole-tasks"), "{failed:?}");
}
