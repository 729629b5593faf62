use super::*;
use fairplan_instances::generate::drfh_fig4;

pub(super) fn random_google(users: usize, seed: u64) -> Instance {
    use fairplan_instances::generate::{Cluster, PopulationKind, PopulationOptions, population};
    use fairplan_instances::{Decimal, InstanceBuilder, NewUser, Random};
    let options =
        PopulationOptions { kind: PopulationKind::Spread, users: 1, cluster: Cluster::Google, seed };
    let servers = population(&options).unwrap();
    let mut random = Random::new(seed, 7);
    let mut builder = InstanceBuilder::new("google", servers.resources().to_vec()).unwrap();
    for class in servers.classes() {
        builder.class(class.clone()).unwrap();
    }
    for i in 0..users {
        let mut draw = || Decimal::new(random.between(2_000, 50_000), -5).unwrap();
        let demand = [draw(), draw()];
        builder.user(NewUser::new(&format!("u{i}"), &demand)).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn a_hundred_users_on_twelve_thousand_servers_are_proved_optimal() {
    let instance = random_google(100, 1);
    let bracket = whole_task_bracket(&instance, &Deadline::never()).unwrap();
    assert!(bracket.is_closed && bracket.is_tight, "{:?} {:?}", bracket.lower, bracket.upper);
    assert_eq!(bracket.truncated_searches, 0);
}

#[test]
fn the_published_table_comes_out() {
    for (users, best) in [(&[1][..], 0.61965), (&[1, 2], 0.43843), (&[1, 2, 3], 0.28436), (&[2, 3], 0.46181)]
    {
        let instance = drfh_fig4(users).unwrap();
        let bracket = whole_task_bracket(&instance, &Deadline::never()).unwrap();
        let share = |at: Option<Breakpoint>| {
            let at = at.unwrap();
            at.tasks as f64 * instance.user(at.user).task_share()
        };
        let (upper, lower) = (share(bracket.upper), share(bracket.lower));
        assert!((upper - best).abs() < 5e-6 && (lower - best).abs() < 5e-6, "{users:?}: {lower} {upper}");
    }
}

/// Draws whose last task finds room only on servers that are filled anew.
#[test]
fn ten_users_on_twelve_thousand_servers_are_proved_optimal_in_every_draw() {
    let open: Vec<u64> = (1..=30)
        .filter(|seed| {
            let instance = random_google(10, *seed);
            !whole_task_bracket(&instance, &Deadline::never()).unwrap().is_closed
        })
        .collect();
    assert!(open.is_empty(), "{open:?}");
}

/// One server of 2.27e9, and tasks of these sizes, each user with these many.
fn on_one_large_server(tasks: &[(&str, Option<u64>)]) -> Instance {
    use fairplan_instances::{InstanceBuilder, NewUser, ServerClass};
    let mut builder = InstanceBuilder::new("", vec!["r".into()]).unwrap();
    let capacity = vec!["2270000000".parse().unwrap()];
    builder.class(ServerClass::new("large", 1, capacity)).unwrap();
    for (i, (demand, tasks)) in tasks.iter().enumerate() {
        let demand = [demand.parse().unwrap()];
        builder.user(NewUser { tasks: *tasks, ..NewUser::new(&format!("u{i}"), &demand) }).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn tasks_too_small_to_count_are_refused_for_both_objectives() {
    for tiny in ["1.28e-7", "1.28e-5"] {
        let instance = on_one_large_server(&[(tiny, None), ("1e8", None)]);
        let never = Deadline::never();
        for refused in [
            whole_task_bracket(&instance, &never).unwrap_err(),
            proportional_bracket(&instance, &never).unwrap_err(),
        ] {
            let told = refused.to_string();
            assert!(
                told.starts_with("users[0].demand: is so small that a server holds more than 2^40"),
                "{told}"
            );
        }
    }
}

#[test]
fn few_tasks_are_bounded_however_many_a_server_would_hold() {
    // More than a double counts: 1.8e16.
    let instance = on_one_large_server(&[("1.28e-7", Some(1000)), ("1e6", None)]);
    let bracket = whole_task_bracket(&instance, &Deadline::never()).unwrap();
    let [upper, lower] = [bracket.upper, bracket.lower].map(Option::unwrap);
    // One with few tasks has them all, and the other what is left: so little less than 2270 tasks that doubles do not tell.
    assert_eq!((upper.user.0, lower.tasks), (1, 2269), "{upper:?} {lower:?}");
    assert!((2269..=2270).contains(&upper.tasks), "{upper:?}");
    assert_eq!(bracket.placement.tasks[0], 1000);
    proportional_bracket(&instance, &Deadline::never()).unwrap();
}
