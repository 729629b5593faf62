use super::*;
use fairplan_instances::generate::drfh_fig4;

fn random_google(users: usize, seed: u64) -> Instance {
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
    for (users, best) in [(&[1][..], 0.56047), (&[1, 2], 0.45498), (&[1, 2, 3], 0.27702), (&[2, 3], 0.47673)]
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
