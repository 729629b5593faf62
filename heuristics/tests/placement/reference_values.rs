//! The 100-server instance of Google shapes, whose whole-task optimum is known: Best-Fit reaches it.

use fairplan_heuristics::policy;
use fairplan_instances::{Instance, InstanceBuilder, NewUser, ServerClass};

fn hundred_servers(users: &[usize]) -> Instance {
    let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "memory".into()]).unwrap();
    let number = |text: &str| text.parse().unwrap();
    for (count, cpu, memory) in [
        (53, "0.5", "0.4995"),
        (31, "0.5", "0.2493"),
        (8, "0.5", "0.749"),
        (6, "1", "1"),
        (1, "0.25", "0.2498"),
        (1, "0.5", "0.1241"),
    ] {
        let capacity = vec![number(cpu), number(memory)];
        builder.class(ServerClass::new(format!("{cpu}-{memory}"), count, capacity)).unwrap();
    }
    let demands = [["0.2", "0.3"], ["0.5", "0.1"], ["0.1", "0.3"]];
    for user in users {
        builder.user(NewUser::new(&user.to_string(), &demands[user - 1].map(number))).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn best_fit_and_first_fit_reach_the_known_values_on_100_servers() {
    for (users, best_fit, first_fit) in [
        (&[1][..], "0.56047", "0.56047"),
        (&[1, 2], "0.45498", "0.41875"),
        (&[1, 2, 3], "0.27702", "0.23836"),
        (&[2, 3], "0.47673", "0.41875"),
    ] {
        let instance = hundred_servers(users);
        for (name, expected) in [("best-fit", best_fit), ("first-fit", first_fit)] {
            let placement = policy(name, 0).unwrap().place(&instance).unwrap();
            let shares = instance.users().zip(&placement.tasks).map(|(u, n)| u.task_share() * *n as f64);
            let value = shares.fold(f64::INFINITY, f64::min);
            assert_eq!(format!("{value:.5}"), expected, "{name}, users {users:?}");
        }
    }
}
