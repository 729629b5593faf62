//! Servers that hold very many tasks: placed at once exactly as one by one, at a cost that does not follow the tasks.

use crate::scan::Rule;
use fairplan_heuristics::{PlacementError, place_along, policy};
use fairplan_instances::{
    ClassAmounts, ClassId, Deadline, Decimal, Draft, DraftKind, Instance, InstanceBuilder, NewUser, Owner,
    Placement, PlacementRule, Quota, ResourceId, ServerClass, UserId,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::time::{Duration, Instant};

const RULES: [(&str, Rule); 5] = [
    ("first-fit", Rule::FirstFit),
    ("best-fit", Rule::BestFit),
    ("worst-fit", Rule::WorstFit),
    ("dot-product", Rule::DotProduct),
    ("slots=700", Rule::Slots(700)),
];

/// A user: its demand, its weight, most tasks, work per task on the first class.
type Person = (Vec<u64>, &'static str, Option<u64>, &'static str);

fn build(classes: &[(u64, Vec<u64>)], people: &[Person]) -> Option<Instance> {
    build_under(classes, people, Vec::new())
}

/// The same with what users may have at most or are guaranteed.
fn build_under(
    classes: &[(u64, Vec<u64>)],
    people: &[Person],
    quotas: Vec<(UserId, Quota)>,
) -> Option<Instance> {
    let resources = classes[0].1.len();
    let number = |n: &u64| Decimal::new(*n, 0).unwrap();
    let mut builder = InstanceBuilder::new("", (0..resources).map(|r| format!("r{r}")).collect()).unwrap();
    for (l, (count, capacity)) in classes.iter().enumerate() {
        let capacity = capacity.iter().map(number).collect();
        builder.class(ServerClass::new(format!("c{l}"), *count, capacity)).unwrap();
    }
    for (i, (demand, weight, tasks, rate)) in people.iter().enumerate() {
        let rates = if *rate == "1" { vec![] } else { vec![(ClassId(0), rate.parse().unwrap())] };
        let rule = builder.rule(PlacementRule::new(None, rates));
        let demand: Vec<Decimal> = demand.iter().map(number).collect();
        let user =
            NewUser { weight: weight.parse().unwrap(), tasks: *tasks, rule, ..NewUser::new("", &demand) };
        builder.user(NewUser { id: &format!("u{i}"), ..user }).unwrap();
    }
    for (user, quota) in quotas {
        builder.quota(Owner::User(user), quota).ok()?;
    }
    builder.build().ok()
}

/// Limits over all classes, over the first or of a part of what is guaranteed, and guarantees.
fn under_quotas() -> impl Strategy<Value = Instance> {
    let class = (1u64..=2, vec(500u64..=3_000, 1..=1));
    let quota = (select(vec!["limit", "of the first", "sure", "sure and limit", "none"]), 1u64..=2_000);
    let person = (vec(1u64..=7, 1..=1), select(vec!["1", "2", "0.3"]), Just(None), Just("1"));
    (vec(class, 1..=2), vec((person, quota), 1..=3)).prop_filter_map("no instance", |(classes, people)| {
        let quota = |(user, (_, (what, amount))): (usize, &(Person, (&str, u64)))| {
            let amounts = |amount: u64| vec![(ResourceId(0), Decimal::new(amount, 0).unwrap())];
            let mut quota = Quota::default();
            match *what {
                "limit" => quota.limit = amounts(*amount),
                "of the first" => {
                    quota.limits =
                        vec![ClassAmounts { classes: vec![ClassId(0)], amounts: amounts(*amount) }];
                }
                "sure" => quota.guarantee = amounts(*amount),
                "sure and limit" => {
                    (quota.guarantee, quota.limit) = (amounts(*amount / 2 + 1), amounts(*amount + 1));
                }
                _ => return None,
            }
            Some((UserId(user), quota))
        };
        let quotas: Vec<_> = people.iter().enumerate().filter_map(quota).collect();
        let people: Vec<Person> = people.into_iter().map(|(person, _)| person).collect();
        build_under(&classes, &people, quotas)
    })
}

/// The same with tasks of one piece of one kind, which are placed one by one.
fn of_kinds(instance: &Instance) -> Instance {
    let mut draft = Draft::from(instance);
    for user in &mut draft.users {
        let (demand, eligible) = (user.demand.clone(), user.eligible.clone());
        user.kinds = vec![DraftKind { id: "k".into(), each: 1, demand, profile: None, eligible }];
    }
    draft.build().unwrap()
}

/// Few users whose tasks are so small that most of them are placed at once: thousands fit.
fn instances() -> impl Strategy<Value = Instance> {
    (1usize..=2).prop_flat_map(|resources| {
        let class = (1u64..=2, vec(500u64..=3_000, resources));
        let tasks = prop_oneof![2 => Just(None), 1 => (0u64..1_500).prop_map(Some)];
        let person = (
            vec(1u64..=7, resources),
            select(vec!["1", "1", "2", "0.3"]),
            tasks,
            select(vec!["1", "1", "1", "1.25"]),
        );
        (vec(class, 1..=2), vec(person, 1..=3))
            .prop_filter_map("no instance", |(classes, people)| build(&classes, &people))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn what_is_placed_at_once_is_what_would_be_placed_one_by_one(instance in instances()) {
        for (name, rule) in RULES {
            let placement = policy(name, 0).unwrap().place(&instance).unwrap();
            prop_assert_eq!(placement, crate::scan::place(&instance, rule), "{}", name);
        }
    }

    #[test]
    fn under_quotas_too(instance in under_quotas()) {
        for name in ["first-fit", "best-fit", "worst-fit", "dot-product", "random", "slots=700"] {
            let placement = policy(name, 0).unwrap().place(&instance).unwrap();
            let singly = policy(name, 0).unwrap().place(&of_kinds(&instance)).unwrap();
            prop_assert_eq!(placement, singly, "{}", name);
        }
    }
}

#[test]
fn billions_of_tasks_under_quotas_cost_no_more_than_what_happens() {
    let start = Instant::now();
    let amounts = |amount: u64| vec![(ResourceId(0), Decimal::new(amount, 0).unwrap())];
    let limit = Quota { limit: amounts(8_000_000_000), ..Quota::default() };
    let sure = Quota { guarantee: amounts(48_000_000_000), ..Quota::default() };
    let people = [1, 1, 4].map(|demand| (vec![demand], "1", None, "1"));
    let quotas = vec![(UserId(0), limit), (UserId(2), sure)];
    let instance = build_under(&[(1, vec![64_000_000_000])], &people, quotas).unwrap();
    for name in ["first-fit", "best-fit", "worst-fit", "dot-product", "random"] {
        let placement = policy(name, 0).unwrap().place(&instance).unwrap();
        assert_eq!(placement.tasks, [8_000_000_000, 8_000_000_000, 12_000_000_000], "{name}");
    }
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

/// One server of 64 billion bytes, tasks of 1 and of 4.
fn tiny(servers: u64, resources: usize) -> Instance {
    let people = [1, 4].map(|demand| (vec![demand; resources], "1", None, "1"));
    build(&[(servers, vec![64_000_000_000; resources])], &people).unwrap()
}

#[test]
fn billions_of_tiny_tasks_cost_no_more_than_what_happens() {
    let start = Instant::now();
    for resources in [1, 2] {
        for name in ["first-fit", "best-fit", "worst-fit", "dot-product", "random", "slots=64000000"] {
            let placement = policy(name, 0).unwrap().place(&tiny(1, resources)).unwrap();
            // Slots of a thousand bytes hold one task each.
            let expected = if name.starts_with("slots") {
                vec![51_200_000, 12_800_000]
            } else {
                vec![32_000_000_000, 8_000_000_000]
            };
            assert_eq!(placement.tasks, expected, "{name}");
            assert_eq!(placement.servers, [vec![(0, expected[0]), (1, expected[1])]], "{name}");
        }
    }
    for name in ["first-fit", "slots=64000000"] {
        let placement = policy(name, 0).unwrap().place(&tiny(1_000, 2)).unwrap();
        assert_eq!(placement.tasks[0] / 1_000, placement.tasks[1] / 250, "{name}");
    }
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn where_every_task_must_be_looked_at_a_deadline_ends_it() {
    for name in ["worst-fit", "dot-product", "random"] {
        let start = Instant::now();
        let instance = tiny(3, 2);
        let ended =
            policy(name, 0).unwrap().place_within(&instance, &Deadline::after(Duration::from_millis(200)));
        assert!(matches!(ended, Err(PlacementError::OutOfTime { placed }) if placed > 0), "{name}");
        assert!(start.elapsed() < Duration::from_secs(20), "{name}");
    }
}

#[test]
fn where_every_piece_of_a_placement_must_be_put_down_again_a_deadline_ends_it() {
    let instance = tiny(3, 2);
    let along = Placement { tasks: vec![u64::MAX >> 8; 2], servers: vec![vec![(0, 1 << 55)]; 3] };
    let start = Instant::now();
    let ended = place_along(&instance, &along, None, &Deadline::after(Duration::from_millis(200)));
    assert!(matches!(ended, Err(PlacementError::OutOfTime { .. })));
    assert!(start.elapsed() < Duration::from_secs(20));
}
