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

/// Patterns that nearly tie leave users a task from what is best for them, which costs up to 3e-6, and a bound of the first programs up
/// to 3e-5.
#[test]
fn the_sum_of_logarithms_of_ten_users_on_twelve_thousand_servers_is_known_to_a_millionth_in_every_draw() {
    let gap = |seed: u64| {
        let instance = random_google(10, seed);
        let bracket = proportional_bracket(&instance, &Deadline::never()).unwrap();
        bracket.gap_per_weight(&instance).unwrap()
    };
    let wide: Vec<(u64, f64)> =
        (1..=30).map(|seed| (seed, gap(seed))).filter(|(_, gap)| *gap > 1e-6).collect();
    assert!(wide.is_empty(), "{wide:?}");
}

/// Every combination of three shapes, as far as there is room, and what it is worth.
fn every_content(packing: &Packing, class: usize, values: &[f64]) -> Vec<(f64, patterns::Pattern)> {
    let most = |shape: usize| packing.shapes[shape].copies[class];
    let mut all = Vec::new();
    for a in 0..=most(0) {
        for (b, c) in (0..=most(1)).flat_map(|b| (0..=most(2)).map(move |c| (b, c))) {
            let counts = [(0, a), (1, b), (2, c)].into_iter().filter(|(_, count)| *count > 0);
            let pattern = patterns::Pattern::new(class, counts);
            if packing::fits(&pattern.load(packing), &packing.classes[class].capacity) {
                all.push((pattern.worth(values), pattern));
            }
        }
    }
    all
}

#[test]
fn all_contents_worth_more_than_a_threshold_are_listed_or_none_of_too_many() {
    let packing = Packing::new(&drfh_fig4(&[1, 2, 3]).unwrap()).unwrap();
    // None takes another's place and is worth as much.
    let values: Vec<f64> =
        packing.shapes.iter().map(|shape| shape.demand.iter().sum::<u64>() as f64).collect();
    let table = table::Table::new(&packing, &values);
    for class in 0..packing.classes.len() {
        let all = every_content(&packing, class, &values);
        let best = all.iter().map(|(worth, _)| *worth).fold(0.0, f64::max);
        let threshold = 0.9 * best;
        let worth_more = all.into_iter().filter(|(worth, _)| *worth > threshold);
        let mut expected: Vec<patterns::Pattern> = worth_more.map(|(_, pattern)| pattern).collect();
        // The smallest servers hold none of these tasks.
        if expected.is_empty() {
            continue;
        }
        expected.sort_unstable();
        let never = Deadline::never();
        let listed = |kept: usize| {
            let search = knapsack::Search {
                packing: &packing,
                class,
                values: &values,
                limits: None,
                threshold,
                slack: 0.0,
                budget: 1_000_000,
                kept,
                stop: &never,
            };
            search.all(&table)
        };
        let mut found = listed(expected.len()).unwrap();
        found.sort_unstable();
        assert_eq!(found, expected, "class {class}");
        assert!(listed(expected.len() - 1).is_none(), "class {class}");
    }
}
