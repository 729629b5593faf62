//! Every policy places what the plain scan places, task for task, and breaks no rule of the model.

use crate::scan::Rule;
use fairplan_heuristics::policy;
use fairplan_instances::{
    ClassId, Decimal, Draft, DraftKind, Instance, InstanceBuilder, KindId, NewUser, Placement, PlacementRule,
    ResourceId, ServerClass, tasks_of,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

const RULES: [(&str, Rule); 6] = [
    ("first-fit", Rule::FirstFit),
    ("best-fit", Rule::BestFit),
    ("worst-fit", Rule::WorstFit),
    ("dot-product", Rule::DotProduct),
    ("slots=1", Rule::Slots(1)),
    ("slots=5", Rule::Slots(5)),
];

/// What a user of a random instance is made of.
#[derive(Clone, Debug)]
struct Person {
    demand: Vec<u64>,
    weight: &'static str,
    tasks: Option<u64>,
    eligible: Option<Vec<usize>>,
    rates: Vec<(usize, &'static str)>,
}

/// Small whole numbers, so that ties, zeros, exact fits and tasks larger than every server are frequent.
pub(crate) fn instances(servers: u64, most: u64) -> impl Strategy<Value = Instance> {
    (1usize..=3, 1usize..=4).prop_flat_map(move |(resources, classes)| {
        let class = (0..=servers, vec(0..=most, resources));
        let person = (
            vec(prop_oneof![1 => Just(0), 4 => 0..=most / 2 + 1], resources),
            select(vec!["1", "1", "1", "2", "0.5", "3"]),
            prop_oneof![2 => Just(None), 1 => (0u64..6).prop_map(Some)],
            proptest::option::weighted(0.3, subsequence((0..classes).collect::<Vec<_>>(), 0..=classes)),
            prop_oneof![3 => Just(vec![]), 1 => vec((0..classes, select(vec!["0.5", "2", "1.25"])), 1)],
        );
        let person = person.prop_map(|(demand, weight, tasks, eligible, rates)| Person {
            demand,
            weight,
            tasks,
            eligible,
            rates,
        });
        (vec(class, classes), vec(person, 1..=6))
            .prop_filter_map("no instance", move |(classes, people)| build(resources, &classes, &people))
    })
}

/// Some users of such an instance with kinds: the first piece is what was their task, the others are drawn.
fn with_kinds(servers: u64, most: u64) -> impl Strategy<Value = Instance> {
    let piece = (1u64..=4, vec(0..=most / 2 + 1, 3), proptest::option::weighted(0.3, 0..4usize));
    (instances(servers, most), vec((1u64..=4, vec(piece, 0..=2)), 6)).prop_filter_map(
        "no kinds",
        |(plain, drawn)| {
            let mut draft = Draft::from(&plain);
            for (user, (each, others)) in draft.users.iter_mut().zip(drawn) {
                let first = (each, user.demand.clone(), user.eligible.take());
                let others = others.into_iter().map(|(each, demand, only)| {
                    let has = |r: usize| plain.total_units(ResourceId(r)) > 0;
                    let demand = demand.into_iter().take(plain.resources().len()).enumerate();
                    let demand = demand.map(|(r, d)| Decimal::new(if has(r) { d } else { 0 }, -1).unwrap());
                    (each, demand.collect(), only.map(|l| vec![l % plain.classes().len()]))
                });
                let kind = |(k, (each, demand, eligible)): (usize, (u64, Vec<Decimal>, _))| DraftKind {
                    profile: None,
                    id: format!("k{k}"),
                    each,
                    demand,
                    eligible,
                };
                user.kinds = std::iter::once(first).chain(others).enumerate().map(kind).collect();
                user.rates.clear();
            }
            draft.build().ok().filter(Instance::has_kinds)
        },
    )
}

/// The same instance twice, the second time in units so fine that products of amounts exceed 128 bits.
fn in_two_units() -> impl Strategy<Value = (Instance, Instance)> {
    instances(4, 9).prop_map(|coarse| {
        let mut builder = InstanceBuilder::new("", coarse.resources().to_vec()).unwrap();
        for class in coarse.classes() {
            builder.class(class.clone()).unwrap();
        }
        for user in coarse.users() {
            let rule = builder.rule(user.rule().clone());
            let (id, demand, weight, tasks) = (user.id(), user.demand(), user.weight(), user.tasks());
            builder.user(NewUser { id, demand, weight, tasks, rule, group: None }).unwrap();
        }
        // A user without tasks, whose demand only sets the unit.
        let crumb = |r| {
            let absent = coarse.total_units(ResourceId(r)) == 0;
            if absent { Decimal::ZERO } else { Decimal::new(1, -30).unwrap() }
        };
        let demand: Vec<Decimal> = (0..coarse.resources().len()).map(crumb).collect();
        builder.user(NewUser { tasks: Some(0), ..NewUser::new("crumb", &demand) }).unwrap();
        (coarse, builder.build().unwrap())
    })
}

fn build(resources: usize, classes: &[(u64, Vec<u64>)], people: &[Person]) -> Option<Instance> {
    let number = |n: u64| Decimal::new(n, -1).unwrap();
    let mut builder = InstanceBuilder::new("", (0..resources).map(|r| format!("r{r}")).collect()).unwrap();
    for (l, (count, capacity)) in classes.iter().enumerate() {
        let capacity = capacity.iter().copied().map(number).collect();
        builder.class(ServerClass::new(format!("c{l}"), *count, capacity)).unwrap();
    }
    for (i, person) in people.iter().enumerate() {
        let present = |r: usize| classes.iter().any(|(count, capacity)| *count > 0 && capacity[r] > 0);
        let demand: Vec<Decimal> =
            person.demand.iter().enumerate().map(|(r, &d)| number(if present(r) { d } else { 0 })).collect();
        if demand.iter().all(|d| d.is_zero()) {
            continue;
        }
        let eligible = person.eligible.as_ref().map(|list| list.iter().copied().map(ClassId).collect());
        let rates = person.rates.iter().map(|(l, rate)| (ClassId(*l), rate.parse().unwrap())).collect();
        let rule = builder.rule(PlacementRule::new(eligible, rates));
        let user = NewUser {
            weight: person.weight.parse().unwrap(),
            tasks: person.tasks,
            rule,
            ..NewUser::new("", &demand)
        };
        builder.user(NewUser { id: &format!("u{i}"), ..user }).unwrap();
    }
    builder.build().ok()
}

/// No server over its capacity, no user over its limit or on a class it may not run on, sums that agree; with
/// `full`, also no room left for anyone who has tasks left.
fn check(instance: &Instance, placement: &Placement, full: bool) {
    let resources = instance.resources().len();
    let classes: Vec<ClassId> = (instance.classes().iter().enumerate())
        .flat_map(|(l, class)| (0..class.count).map(move |_| ClassId(l)))
        .collect();
    assert_eq!(placement.servers.len(), classes.len());
    let mut pieces = vec![0; instance.kind_count()];
    for (class, server) in classes.iter().zip(&placement.servers) {
        assert!(server.is_sorted_by(|a, b| a.0 < b.0), "users in order, each once");
        let mut free: Vec<u128> =
            (0..resources).map(|r| instance.capacity_units(*class, ResourceId(r))).collect();
        for (kind, count) in server {
            let kind = instance.kind(KindId(*kind as usize));
            assert!(*count > 0 && kind.rule().allows(*class));
            pieces[kind.index().0] += count;
            for (r, free) in free.iter_mut().enumerate() {
                let used = kind.piece_units(ResourceId(r)) * u128::from(*count);
                *free = free.checked_sub(used).expect("no server holds more than its capacity");
            }
        }
        // Of kinds a piece may fit, and not the whole task.
        for user in instance.users().filter(|user| full && !user.has_kinds()) {
            let fits = (0..resources).all(|r| user.demand_units(ResourceId(r)) <= free[r]);
            let has_more = user.tasks() != Some(placement.tasks[user.index().0]);
            assert!(!(fits && has_more && user.rule().allows(*class)), "nothing more fits");
        }
    }
    assert_eq!(tasks_of(instance, &pieces), placement.tasks);
    assert!(placement.loose_pieces(instance).is_empty(), "no pieces without their task");
    for user in instance.users() {
        assert!(user.tasks().is_none_or(|limit| placement.tasks[user.index().0] <= limit));
    }
}

fn check_all(instance: &Instance) {
    for (name, rule) in RULES {
        let placement = policy(name, 0).unwrap().place(instance).unwrap();
        check(instance, &placement, !name.starts_with("slots"));
        assert_eq!(placement, crate::scan::place(instance, rule), "{name}");
    }
    let placement = policy("random", 7).unwrap().place(instance).unwrap();
    check(instance, &placement, true);
    assert_eq!(placement, policy("random", 7).unwrap().place(instance).unwrap(), "same seed, same placement");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn small_instances_full_of_ties(instance in instances(4, 9)) {
        check_all(&instance);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn small_instances_of_users_with_kinds(instance in with_kinds(4, 9)) {
        check_all(&instance);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn hundreds_of_servers_and_kinds(instance in with_kinds(60, 60)) {
        check_all(&instance);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn hundreds_of_servers_in_many_states(instance in instances(150, 60)) {
        check_all(&instance);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn units_of_any_fineness_give_the_same_placement((coarse, fine) in in_two_units()) {
        for name in RULES.iter().map(|(name, _)| *name).chain(["random"]) {
            let policy = policy(name, 3).unwrap();
            let (coarse, mut fine) = (policy.place(&coarse).unwrap(), policy.place(&fine).unwrap());
            prop_assert_eq!(fine.tasks.pop(), Some(0));
            prop_assert_eq!(coarse, fine, "{}", name);
        }
    }
}
