use super::*;
use fairplan_instances::generate::drfh_fig4;
use std::time::Instant;

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
fn measure_whole_tasks() {
    let sizes: Vec<usize> =
        std::env::var("SIZES").unwrap_or("3,10,100".into()).split(',').map(|x| x.parse().unwrap()).collect();
    for users in sizes {
        for seed in 1..=std::env::var("SEEDS").map_or(2, |s| s.parse().unwrap()) {
            let instance = random_google(users, seed);
            let start = Instant::now();
            let b = whole_task_bracket(&instance, &|| false).unwrap();
            let share = |at: Breakpoint| at.tasks as f64 * instance.user(at.user).task_share();
            let (u, l) = (share(b.upper.unwrap()), share(b.lower.unwrap()));
            eprintln!(
                "{users} {seed}: {:.2}s upper {u:.6} lower {l:.6} gap {:.2e} tight {} trunc {} rounds {}",
                start.elapsed().as_secs_f64(),
                1.0 - l / u,
                b.is_tight,
                b.truncated_searches,
                b.rounds
            );
        }
    }
}

#[test]
fn the_published_table_comes_out() {
    for (users, best) in [(&[1][..], 0.56047), (&[1, 2], 0.45498), (&[1, 2, 3], 0.27702), (&[2, 3], 0.47673)]
    {
        let instance = drfh_fig4(users).unwrap();
        let bracket = whole_task_bracket(&instance, &|| false).unwrap();
        let share = |at: Option<Breakpoint>| {
            let at = at.unwrap();
            at.tasks as f64 * instance.user(at.user).task_share()
        };
        let (upper, lower) = (share(bracket.upper), share(bracket.lower));
        assert!((upper - best).abs() < 5e-6 && (lower - best).abs() < 5e-6, "{users:?}: {lower} {upper}");
    }
}
