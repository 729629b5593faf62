//! Numbers that were published or computed apart from this project.

use crate::solving::{solve, value_of};
use fairplan_instances::generate::{drfh_fig1, drfh_fig4};
use fairplan_tests::{Fraction, exact_max_min};

#[test]
fn fig_1_and_3_of_the_drfh_paper() {
    // Ten tasks each, share 5/7; DRF inside each server apart gives six each.
    let instance = drfh_fig1().unwrap();
    let solution = solve(&instance);
    for user in instance.users() {
        assert!((solution.allocation.tasks(user.index()) - 10.0).abs() < 1e-8);
    }
    assert!((value_of(&instance, &solution) - 5.0 / 7.0).abs() < 1e-9);
    assert_eq!(exact_max_min(&instance).value(), &Fraction::new(5, 7));
}

#[test]
fn the_divisible_optima_of_one_hundred_servers() {
    for (users, published) in [(&[1][..], 1.0), (&[1, 2], 0.60658), (&[1, 2, 3], 0.45340), (&[2, 3], 0.75512)]
    {
        let instance = drfh_fig4(users).unwrap();
        let value = value_of(&instance, &solve(&instance));
        assert!((value - published).abs() < 1e-5, "users {users:?}: {value}, published {published}");
        let exact = exact_max_min(&instance).value().to_f64();
        assert!((value - exact).abs() < 1e-9 * exact, "users {users:?}: {value}, exactly {exact}");
    }
}

/// The table of whole tasks on the same servers: what each policy reaches.
#[test]
fn whole_tasks_on_one_hundred_servers() {
    for (users, best_fit, first_fit) in [
        (&[1][..], 0.61965, 0.61965),
        (&[1, 2], 0.43843, 0.43843),
        (&[1, 2, 3], 0.28436, 0.26306),
        (&[2, 3], 0.46181, 0.45498),
    ] {
        let instance = drfh_fig4(users).unwrap();
        for (name, published) in [("best-fit", best_fit), ("first-fit", first_fit)] {
            let placement = fairplan_heuristics::policy(name, 0).unwrap().place(&instance).unwrap();
            let shares = instance.users().zip(&placement.tasks);
            let value = shares.map(|(user, tasks)| user.task_share() * *tasks as f64).fold(1.0, f64::min);
            assert!(
                (value - published).abs() < 1e-5,
                "{name}, users {users:?}: {value}, published {published}"
            );
        }
    }
}
