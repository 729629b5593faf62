//! Bounds of whole tasks beside guarantees: the level is that of `solve`, whatever is guaranteed inside groups; nobody is bounded by what
//! placements that keep the guarantees exceed; and what is called the best is the best of these.

use fairplan::{
    BoundOptions, CompareOptions, Control, MoveTarget, MovesOptions, PlaceOptions, Placed, ResultFile,
    SolveOptions, bound, compare, moves, place, report, solve, verify,
};
use fairplan_instances::{
    ClassAmounts, ClassId, CountedGuarantees, DraftQuota, GroupId, Headline, Instance, NewGroup, Owner,
    Placement, PlacementFigures, Quota, Random, ResourceId, ServerTasks, User, UserId,
    guaranteed_whole_tasks, stated_bounds,
};
use fairplan_tests::{
    Draft, decimal, draft, kind, random_kinds_under_quotas, random_kinds_under_quotas_of_classes,
};
use fairplan_verify::guarantees_stay;

fn guaranteed(draft: &mut Draft, owner: &str, cpu: &str) {
    let quota = Quota { guarantee: vec![(ResourceId(0), decimal(cpu))], ..Quota::default() };
    let is_group = draft.groups.iter().any(|group| group.id == owner);
    draft.quotas.push(DraftQuota { is_group, owner: owner.into(), quota });
}

fn in_a_group(mut draft: Draft, members: usize) -> Draft {
    draft.groups = vec![NewGroup { id: "all".into(), weight: decimal("1"), parent: None }];
    draft.users.iter_mut().take(members).for_each(|user| user.group = Some(0));
    draft
}

/// Whether what is written of a bound is believed.
fn is_believed(
    instance: &Instance,
    bound: &fairplan::Bound,
    change: impl Fn(&mut serde_json::Value),
) -> bool {
    let mut bytes = Vec::new();
    report::write_json(&mut bytes, &bound.document(instance)).unwrap();
    let mut document: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    change(&mut document);
    let file = ResultFile::new("bound.json".into(), document.to_string().into()).unwrap();
    verify(instance, file, &Control::none()).is_ok_and(|verified| verified.holds)
}

/// Of ten cores one member of a group is guaranteed eight, and the other two: all is the group's.
#[test]
fn what_is_guaranteed_inside_a_group_counts_as_in_a_solution() {
    let mut draft = in_a_group(draft(&[(1, "10")], &["1", "1"]), 2);
    let ids: Vec<String> = draft.users.iter().map(|user| user.id.clone()).collect();
    guaranteed(&mut draft, &ids[0], "8");
    guaranteed(&mut draft, &ids[1], "2");
    let instance = draft.build().unwrap();
    let solved = solve(&instance, &SolveOptions::default(), &Control::none()).unwrap();
    assert!((Headline::new(&instance, &solved.solution).level.unwrap() - 1.0).abs() < 1e-9);
    let found = bound(&instance, &BoundOptions::default(), &Control::none()).unwrap();
    let document = found.document(&instance);
    let levels = [document.integral_level_upper, document.integral_level_lower].map(Option::unwrap);
    assert!(levels.iter().all(|level| (level - 1.0).abs() < 1e-9), "{levels:?}");
    assert!((document.divisible - 1.0).abs() < 1e-9 && document.proved_optimal);
    assert_eq!(document.counted_guarantees, Some(CountedGuarantees::All));
    let compared = compare(&instance, &CompareOptions::default(), &Control::none()).unwrap();
    let best_fit = compared.policies.iter().find(|policy| policy.name == "best-fit").unwrap();
    assert!((best_fit.level.unwrap() - 1.0).abs() < 1e-9 && best_fit.proved_optimal == Some(true));
    assert!(best_fit.gap_to_divisible.unwrap().abs() < 1e-9);
}

/// Side by side the same two have four fifths and a fifth, and no placement that keeps the guarantees gives the second more.
#[test]
fn who_stands_beside_somebody_with_a_guarantee_is_bounded_by_what_that_leaves() {
    let mut draft = draft(&[(1, "10")], &["1", "1"]);
    let first = draft.users[0].id.clone();
    guaranteed(&mut draft, &first, "8");
    let instance = draft.build().unwrap();
    let found = bound(&instance, &BoundOptions::default(), &Control::none()).unwrap();
    let document = found.document(&instance);
    assert!((document.integral_upper - 0.2).abs() < 1e-9 && document.proved_optimal);
    assert_eq!(found.bracket.placement.tasks, [8, 2]);
    assert!((document.divisible - 0.2).abs() < 1e-9);
    assert!(is_believed(&instance, &found, |_| {}));
    for forged in ["none", "of-users"] {
        assert!(!is_believed(&instance, &found, |document| document["counted_guarantees"] = forged.into()));
    }
    assert!(!is_believed(&instance, &found, |document| document["divisible"] = 0.15.into()));
    // A policy that knows no guarantees gives it more: it is not above anything, and not the best.
    let options =
        CompareOptions { policies: vec!["best-fit".into(), "slots=14".into()], ..Default::default() };
    let compared = compare(&instance, &options, &Control::none()).unwrap();
    assert_eq!(compared.policies[1].guarantees.as_ref().unwrap().kept, 0);
    assert_eq!(
        compared.policies.iter().map(|policy| policy.proved_optimal).collect::<Vec<_>>(),
        [Some(true), Some(false)]
    );
}

/// A group of two is guaranteed six of ten cores, three tasks for each of them: beside these its neighbour, which weighs more, has four.
#[test]
fn what_a_group_is_guaranteed_counts_as_its_members_divide_it() {
    let mut draft = in_a_group(draft(&[(1, "10")], &["1", "1", "1"]), 2);
    draft.users[2].weight = decimal("4");
    guaranteed(&mut draft, "all", "6");
    let instance = draft.build().unwrap();
    let solved = solve(&instance, &SolveOptions::default(), &Control::none()).unwrap();
    let level = Headline::new(&instance, &solved.solution).level.unwrap();
    assert!((level - 0.1).abs() < 1e-9);
    let found = bound(&instance, &BoundOptions::default(), &Control::none()).unwrap();
    let document = found.document(&instance);
    assert_eq!(document.counted_guarantees, Some(CountedGuarantees::All));
    let levels = [document.integral_level_upper, document.integral_level_lower].map(Option::unwrap);
    assert!(levels.iter().all(|stated| (stated - level).abs() < 1e-9), "{levels:?}");
    assert!((document.divisible - level).abs() < 1e-9 && document.proved_optimal);
    assert_eq!(found.bracket.placement.tasks, [3, 3, 4]);
    assert!(is_believed(&instance, &found, |_| {}));
    let compared = compare(&instance, &CompareOptions::default(), &Control::none()).unwrap();
    assert_eq!(compared.counted_guarantees, Some(CountedGuarantees::All));
    assert_eq!(compared.bounds.integral_level_upper, document.integral_level_upper);

    type Change = fn(&mut serde_json::Value);
    let forgeries: [Change; 5] = [
        |document| document["counted_guarantees"] = "of-users".into(),
        |document| document["guaranteed_groups"] = serde_json::json!([]),
        |document| {
            document.as_object_mut().unwrap().remove("guaranteed_groups");
        },
        // Whoever has less of it leaves others more, and whoever has more less.
        |document| document["guaranteed_groups"][0]["members"][0]["placement"][0]["tasks"] = 1.into(),
        |document| document["guaranteed_groups"][0]["members"][1]["placement"][0]["tasks"] = 5.into(),
    ];
    for (at, forgery) in forgeries.into_iter().enumerate() {
        assert!(!is_believed(&instance, &found, forgery), "forgery {at}");
    }
}

/// Of ten cores a group of two inside another is guaranteed six; beside it there is a user of weight 4.
fn with_a_guarantee_inside() -> Instance {
    let mut draft = in_a_group(draft(&[(1, "10")], &["1", "1", "1"]), 2);
    draft.groups[0].parent = Some("outer".into());
    draft.groups.push(NewGroup { id: "outer".into(), weight: decimal("1"), parent: None });
    draft.users[2].group = Some(1);
    draft.users[2].weight = decimal("4");
    guaranteed(&mut draft, "all", "6");
    draft.build().unwrap()
}

/// Whether `verify` believes a document with this change.
fn is_believed_so(
    instance: &Instance,
    document: &serde_json::Value,
    change: impl Fn(&mut serde_json::Value),
) -> bool {
    let mut document = document.clone();
    change(&mut document);
    let file = ResultFile::new("it.json".into(), document.to_string().into()).unwrap();
    verify(instance, file, &Control::none()).is_ok_and(|verified| verified.holds)
}

/// A change of a result that makes it false.
type Forgery = Box<dyn Fn(&mut serde_json::Value)>;

/// What is forged of the division of a guarantee, and of what counts it.
fn forgeries(level: &'static str) -> [Forgery; 5] {
    let member = |position: usize, tasks: u64| -> Forgery {
        Box::new(move |document| {
            document["guaranteed_groups"][0]["members"][position]["placement"][0]["tasks"] = tasks.into();
        })
    };
    [
        member(0, 1),
        member(1, 5),
        Box::new(|document| document["guaranteed_groups"][0]["levels"][0]["value"] = 0.1.into()),
        Box::new(move |document| document[level] = 0.5.into()),
        Box::new(|document| {
            document.as_object_mut().unwrap().remove("guaranteed_groups");
        }),
    ]
}

/// Without what it is guaranteed the group would count as a fourth of what its neighbour has.
#[test]
fn the_level_of_a_placement_counts_what_a_group_inside_another_is_guaranteed() {
    let instance = with_a_guarantee_inside();
    let solved = solve(&instance, &SolveOptions::default(), &Control::none()).unwrap();
    assert!((Headline::new(&instance, &solved.solution).level.unwrap() - 1.0).abs() < 1e-9);
    for policy in ["best-fit", "pattern"] {
        let options = PlaceOptions { policy: policy.into(), ..PlaceOptions::default() };
        let placed = place(&instance, &options, &Control::none()).unwrap();
        assert_eq!(placed.placement.tasks, [3, 3, 4]);
        assert!((placed.figures.level.unwrap() - 1.0).abs() < 1e-9, "{policy}: {:?}", placed.figures.level);
        assert_eq!(placed.figures.guarantees.as_ref().unwrap().kept, 1);
        let document = serde_json::to_value(placed.document(&instance, true)).unwrap();
        assert!(is_believed_so(&instance, &document, |_| {}));
        for (at, forgery) in forgeries("level").into_iter().enumerate() {
            assert!(!is_believed_so(&instance, &document, forgery), "{policy}: forgery {at}");
        }
        // What counts guarantees of users alone says so by what it leaves out.
        let counts_less = |document: &mut serde_json::Value| {
            document.as_object_mut().unwrap().remove("guaranteed_groups");
            (document["level"], document["value"]) = (0.5.into(), 0.5.into());
        };
        assert!(is_believed_so(&instance, &document, counts_less));
    }
}

/// Where no group is guaranteed more than its members are there is nothing to divide.
#[test]
fn a_placement_says_nothing_of_groups_that_are_guaranteed_nothing_themselves() {
    let mut draft = in_a_group(draft(&[(1, "10")], &["1", "1"]), 2);
    let first = draft.users[0].id.clone();
    guaranteed(&mut draft, &first, "8");
    let instance = draft.build().unwrap();
    let placed = place(&instance, &PlaceOptions::default(), &Control::none()).unwrap();
    let document = serde_json::to_value(placed.document(&instance, true)).unwrap();
    assert!(document.get("guaranteed_groups").is_none() && is_believed_so(&instance, &document, |_| {}));
    let other = with_a_guarantee_inside();
    let of_other = place(&other, &PlaceOptions::default(), &Control::none()).unwrap();
    let division = serde_json::to_value(&of_other.document(&other, true).guaranteed_groups).unwrap();
    let with_division =
        move |document: &mut serde_json::Value| document["guaranteed_groups"] = division.clone();
    assert!(!is_believed_so(&instance, &document, with_division));
}

#[test]
fn steps_to_a_level_count_what_a_group_inside_another_is_guaranteed() {
    let instance = with_a_guarantee_inside();
    let before = Placement { tasks: vec![3, 3, 0], servers: vec![vec![(0, 3), (1, 3)]] };
    let mut bytes = Vec::new();
    let now = Placed::present(&instance, before, "now");
    report::write_json(&mut bytes, &now.document(&instance, true)).unwrap();
    let from = ResultFile::new("now.json".into(), bytes).unwrap();
    let options = MovesOptions { target: MoveTarget::Level(1.0), ..MovesOptions::new(from) };
    let body = moves(&instance, &options, &Control::none()).unwrap();
    assert!((body.target.bound.unwrap() - 1.0).abs() < 1e-9, "{:?}", body.target);
    assert!((body.level_after.unwrap() - 1.0).abs() < 1e-9 && body.target.reached, "{:?}", body.level_after);
    assert_eq!(body.users.iter().map(|user| user.tasks_after).collect::<Vec<_>>(), [3, 3, 4]);
    let document = serde_json::to_value(fairplan_instances::Document::new(body)).unwrap();
    assert!(is_believed_so(&instance, &document, |_| {}));
    for (at, forgery) in forgeries("level_after").into_iter().enumerate() {
        assert!(!is_believed_so(&instance, &document, forgery), "forgery {at}");
    }
}

/// A member of a group has what it is guaranteed at any level, also where what is on the servers does not come to that.
#[test]
fn kinds_beside_what_is_guaranteed_under_a_limit_are_bounded() {
    let mut draft = in_a_group(draft(&[(2, "8")], &["1", "0.5"]), 2);
    let first = draft.users[0].id.clone();
    guaranteed(&mut draft, &first, "2");
    let limit = ClassAmounts { classes: vec![ClassId(0)], amounts: vec![(ResourceId(0), decimal("2"))] };
    let quota = Quota { limits: vec![limit], ..Quota::default() };
    draft.quotas.push(DraftQuota { is_group: true, owner: "all".into(), quota });
    draft.users[1].kinds = vec![kind("worker", 1, "0.5", None), kind("driver", 1, "0.25", None)];
    let instance = draft.build().unwrap();
    let found = bound(&instance, &BoundOptions::default(), &Control::none()).unwrap();
    assert!(is_believed(&instance, &found, |_| {}));
    assert_eq!(found.bracket.placement.tasks[0], 2);
}

#[test]
fn kinds_under_random_quotas_are_bounded_or_it_is_said_why_not() {
    let mut bounded = 0;
    for seed in 0..300 {
        let draft =
            if seed % 2 == 0 { random_kinds_under_quotas } else { random_kinds_under_quotas_of_classes };
        let Ok(instance) = draft(seed).build() else { continue };
        if let Ok(found) = bound(&instance, &BoundOptions::default(), &Control::none()) {
            assert!(is_believed(&instance, &found, |_| {}), "seed {seed}");
            bounded += 1;
        }
    }
    assert!(bounded > 100, "{bounded}");
}

/// The group has no room within its guarantee for another task, and would have with one task of the other member instead.
#[test]
fn steps_to_a_level_keep_what_a_group_is_guaranteed() {
    let mut draft = in_a_group(draft(&[(1, "8 16")], &["1.5 6", "1 3", "0 8"]), 2);
    guaranteed(&mut draft, "all", "2");
    let instance = draft.build().unwrap();
    let before = Placement { tasks: vec![1, 0, 1], servers: vec![vec![(0, 1), (2, 1)]] };
    let mut bytes = Vec::new();
    let now = Placed::present(&instance, before.clone(), "now");
    report::write_json(&mut bytes, &now.document(&instance, true)).unwrap();
    let from = ResultFile::new("now.json".into(), bytes).unwrap();
    for level in [0.2, 0.5, 1.0] {
        let options = MovesOptions { target: MoveTarget::Level(level), ..MovesOptions::new(from.clone()) };
        let body = moves(&instance, &options, &Control::none()).unwrap();
        let after: Vec<u64> = body.users.iter().map(|user| user.tasks_after).collect();
        assert!(guarantees_stay(&instance, &before.tasks, &after).holds, "{level}: {after:?}");
    }
}

/// Of what their group is guaranteed one member would have two tasks of two cores, and no server of three holds more than one: on two servers
/// beside one of somebody outside, who is guaranteed a server.
#[test]
fn what_no_placement_gives_members_of_a_guaranteed_group_is_left_out_and_that_is_said() {
    let mut draft = in_a_group(draft(&[(2, "3")], &["2", "2"]), 1);
    let outside = draft.users[1].id.clone();
    guaranteed(&mut draft, "all", "4");
    guaranteed(&mut draft, &outside, "2");
    let instance = draft.build().unwrap();
    let found = bound(&instance, &BoundOptions::default(), &Control::none()).unwrap();
    let document = found.document(&instance);
    assert_eq!(document.counted_guarantees, Some(CountedGuarantees::OfUsers));
    assert!(document.guaranteed_groups.is_empty() && is_believed(&instance, &found, |_| {}));
    assert!(!is_believed(&instance, &found, |document| document["counted_guarantees"] = "all".into()));
}

/// Three and a half tasks are guaranteed, which three whole ones keep: beside the four of a solution, seven of ten are left.
#[test]
fn parts_of_tasks_that_are_guaranteed_are_not_counted() {
    let mut draft = draft(&[(1, "10")], &["2", "1"]);
    let first = draft.users[0].id.clone();
    guaranteed(&mut draft, &first, "7");
    let instance = draft.build().unwrap();
    assert_eq!(guaranteed_whole_tasks(&instance), [3, 0]);
    let found = bound(&instance, &BoundOptions::default(), &Control::none()).unwrap();
    let document = found.document(&instance);
    assert!((document.integral_upper - 0.4).abs() < 1e-9 && document.proved_optimal);
    assert!((document.divisible - 0.4).abs() < 1e-9 && is_believed(&instance, &found, |_| {}));
}

/// Half of all is guaranteed to one user on servers of one and a half of its tasks: whole ones cannot keep that, and bounds of who keeps it
/// would say nothing.
#[test]
fn guarantees_that_no_whole_tasks_keep_are_left_out() {
    let mut draft = draft(&[(2, "3"), (1, "1")], &["2", "1"]);
    let first = draft.users[0].id.clone();
    guaranteed(&mut draft, &first, "6");
    let instance = draft.build().unwrap();
    let found = bound(&instance, &BoundOptions::default(), &Control::none()).unwrap();
    let document = found.document(&instance);
    assert_eq!(document.counted_guarantees, Some(CountedGuarantees::None));
    assert!(document.integral_lower > 0.0 && document.integral_lower <= document.integral_upper);
    assert!(is_believed(&instance, &found, |_| {}));
    let compared = compare(&instance, &CompareOptions::default(), &Control::none()).unwrap();
    assert_eq!(compared.bounds.integral_upper, Some(document.integral_upper));
}

/// Who is guaranteed all that there is leaves nothing, and that is proved.
#[test]
fn who_is_guaranteed_everything_leaves_nothing_to_others() {
    for members in [0, 1] {
        let mut draft = in_a_group(draft(&[(1, "4")], &["1", "1"]), members);
        let first = draft.users[0].id.clone();
        guaranteed(&mut draft, &first, "4");
        let instance = draft.build().unwrap();
        let found = bound(&instance, &BoundOptions::default(), &Control::none()).unwrap();
        let document = found.document(&instance);
        assert_eq!(document.counted_guarantees, Some(CountedGuarantees::All));
        assert_eq!((document.divisible, document.integral_upper, document.proved_optimal), (0.0, 0.0, true));
        assert!(is_believed(&instance, &found, |_| {}));
    }
}

/// One of three has nothing where two servers are left: the level is what it has, not what another is guaranteed.
#[test]
fn a_level_of_nothing_beside_guarantees_and_limits_is_proved() {
    let mut draft = draft(&[(1, "2")], &["1", "1", "1"]);
    draft.groups = vec![NewGroup { id: "g".into(), weight: decimal("1"), parent: None }];
    draft.users[2].group = Some(0);
    let ids: Vec<String> = draft.users.iter().map(|user| user.id.clone()).collect();
    guaranteed(&mut draft, &ids[0], "1");
    let limit = Quota { limit: vec![(ResourceId(0), decimal("2"))], ..Quota::default() };
    draft.quotas.push(DraftQuota { is_group: false, owner: ids[2].clone(), quota: limit });
    let instance = draft.build().unwrap();
    let found = bound(&instance, &BoundOptions::default(), &Control::none()).unwrap();
    assert!(is_believed(&instance, &found, |_| {}));
    assert_eq!(found.document(&instance).integral_level_lower, Some(0.0));
}

#[test]
fn guarantees_that_cannot_be_kept_together_are_left_out_and_that_is_said() {
    let mut draft = draft(&[(1, "10")], &["1", "1"]);
    for id in draft.users.iter().map(|user| user.id.clone()).collect::<Vec<_>>() {
        guaranteed(&mut draft, &id, "8");
    }
    let instance = draft.build().unwrap();
    let found = bound(&instance, &BoundOptions::default(), &Control::none()).unwrap();
    let document = found.document(&instance);
    assert_eq!(document.counted_guarantees, Some(CountedGuarantees::None));
    assert_eq!((document.integral_upper, document.integral_lower), (0.5, 0.5));
    assert!(is_believed(&instance, &found, |_| {}));
    assert!(!is_believed(&instance, &found, |document| document["counted_guarantees"] = "all".into()));
}

/// Up to four users, two of them in a group, perhaps one more in a group inside it, on up to three servers, with guarantees.
fn drawn(random: &mut Random) -> Instance {
    loop {
        let servers: Vec<(u64, String)> = (0..random.between(1, 2))
            .map(|_| (random.between(1, 2), random.between(2, 6).to_string()))
            .collect();
        let servers: Vec<(u64, &str)> = servers.iter().map(|(count, cpu)| (*count, cpu.as_str())).collect();
        let demands: Vec<String> =
            (0..random.between(2, 4)).map(|_| random.between(1, 2).to_string()).collect();
        let mut draft = draft(&servers, &demands.iter().map(String::as_str).collect::<Vec<_>>());
        draft.groups = vec![
            NewGroup { id: "outer".into(), weight: decimal("1"), parent: None },
            NewGroup { id: "inner".into(), weight: decimal("2"), parent: Some("outer".into()) },
        ];
        let is_flat = random.below(4) == 0;
        for user in &mut draft.users {
            user.group = [None, Some(0), Some(1)][random.below(3) as usize].filter(|_| !is_flat);
            user.weight = decimal(["1", "2", "0.5"][random.below(3) as usize]);
            user.tasks = Some(random.between(1, 6)).filter(|_| random.below(3) == 0);
        }
        if is_flat {
            draft.groups.clear();
        }
        for id in draft.users.iter().map(|user| user.id.clone()).collect::<Vec<_>>() {
            if random.below(2) == 0 {
                guaranteed(&mut draft, &id, ["1", "2", "2.5", "4"][random.below(4) as usize]);
            }
        }
        if !is_flat && random.below(2) == 0 {
            let group = ["outer", "inner"][random.below(2) as usize];
            guaranteed(&mut draft, group, ["2", "3", "4.5", "6"][random.below(4) as usize]);
        }
        match draft.build() {
            Ok(instance) if instance.has_guarantees() => return instance,
            _ => {}
        }
    }
}

/// A member of a group, or a group in it: its weight, what it is guaranteed and what it can have, in cores.
struct Claimant {
    weight: f64,
    sure: f64,
    most: f64,
    users: Vec<usize>,
    group: Option<usize>,
}

/// Who divides what a group has, given the cores that users are guaranteed and can have.
fn claimants(instance: &Instance, group: usize, of_users: &[(f64, f64)]) -> Vec<Claimant> {
    let in_group = |user: &User<'_>| user.group() == Some(GroupId(group));
    let users = instance.users().filter(in_group).map(|user| {
        let (sure, most) = of_users[user.index().0];
        Claimant { weight: user.weight().to_f64(), sure, most, users: vec![user.index().0], group: None }
    });
    let inner = instance.groups().iter().enumerate().filter(|(_, it)| it.parent == Some(GroupId(group)));
    let groups = inner.map(|(g, it)| {
        let inside = claimants(instance, g, of_users);
        let sum = |of: fn(&Claimant) -> f64| inside.iter().map(of).sum();
        Claimant {
            weight: it.weight.to_f64(),
            sure: sum(|it| it.sure),
            most: sum(|it| it.most),
            users: inside.iter().flat_map(|it| it.users.clone()).collect(),
            group: Some(g),
        }
    });
    users.chain(groups).filter(|it| it.most > 0.0).collect()
}

/// Divides so many cores of a group by weights, between what everybody is guaranteed and can have; by bisection.
fn divide(instance: &Instance, group: usize, cores: f64, of_users: &[(f64, f64)], has: &mut [f64]) {
    let all = claimants(instance, group, of_users);
    let at = |it: &Claimant, level: f64| (it.weight * level).max(it.sure).min(it.most);
    let (mut low, mut high) = (0.0, 1e6);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        let taken: f64 = all.iter().map(|it| at(it, middle)).sum();
        if taken > cores { high = middle } else { low = middle }
    }
    for it in all {
        match it.group {
            Some(inner) => divide(instance, inner, at(&it, low), of_users, has),
            None => has[it.users[0]] = at(&it, low),
        }
    }
}

/// The cores that members have of what a group is guaranteed, or nothing where less is than its members are.
fn divided(instance: &Instance, own: &[f64]) -> Vec<f64> {
    let cores = instance.total_units(ResourceId(0)) as f64 / unit(instance);
    let most = |user: User<'_>| {
        let all = user.tasks().map_or(f64::INFINITY, |all| all as f64) * user.demand()[0].to_f64();
        if user.can_run() { all.min(cores) } else { 0.0 }
    };
    let of_users: Vec<(f64, f64)> =
        instance.users().map(|user| (own[user.index().0].min(most(user)), most(user))).collect();
    let mut has = vec![0.0; own.len()];
    for g in 0..instance.groups().len() {
        let quota = instance.quota_of(Owner::Group(GroupId(g)));
        if let Some((_, sure)) = quota.and_then(|quota| quota.guarantee.first()) {
            divide(instance, g, sure.to_f64().min(cores), &of_users, &mut has);
        }
    }
    has
}

/// Units in a core.
fn unit(instance: &Instance) -> f64 {
    let user = instance.user(UserId(0));
    user.demand_units(ResourceId(0)) as f64 / user.demand()[0].to_f64()
}

/// All ways to fill servers one after the other.
fn all_ways(instance: &Instance) -> Vec<Vec<ServerTasks>> {
    let cpu = ResourceId(0);
    let room = instance.classes_of_servers().map(|class| instance.capacity_units(class, cpu));
    let mut ways = vec![(vec![0; instance.user_count()], Vec::new())];
    for room in room {
        let mut filled = vec![(room, ServerTasks::new())];
        for user in instance.users() {
            let next = |(room, tasks): (u128, ServerTasks)| {
                (0..=(room / user.demand_units(cpu)) as u64).map(move |count| {
                    let mut tasks = tasks.clone();
                    if count > 0 {
                        tasks.push((user.index().0 as u32, count));
                    }
                    (room - u128::from(count) * user.demand_units(cpu), tasks)
                })
            };
            filled = filled.into_iter().flat_map(next).collect();
        }
        let with = |(all, servers): (Vec<u64>, Vec<ServerTasks>)| {
            let filled = &filled;
            filled
                .iter()
                .map(move |(_, tasks)| {
                    let (mut all, mut servers) = (all.clone(), servers.clone());
                    tasks.iter().for_each(|(user, count)| all[*user as usize] += count);
                    servers.push(tasks.clone());
                    (all, servers)
                })
                .collect::<Vec<_>>()
        };
        ways = ways.into_iter().flat_map(with).collect();
        ways.retain(|(all, _)| {
            instance.users().all(|user| user.tasks().is_none_or(|most| all[user.index().0] <= most))
        });
        // Only who has how many tasks matters.
        ways.sort();
        ways.dedup_by(|one, other| one.0 == other.0);
    }
    ways.into_iter().map(|(_, servers)| servers).collect()
}

/// The whole tasks that a user is guaranteed, counted on fingers.
fn sure(user: User<'_>, cpu: f64) -> u64 {
    let tasks = (cpu / user.demand()[0].to_f64() + 1e-9).floor() as u64;
    user.tasks().map_or(tasks, |all| tasks.min(all))
}

/// What a group has as far as its members divide it above what they are guaranteed, and whether any wants more: the most of which each
/// member that wants more has its part, found by raising what every weight gets step by step over all places where it could end.
fn part_of(instance: &Instance, group: usize, has: &[u64], floors: &[f64]) -> (f64, f64, bool) {
    let mut children: Vec<(f64, f64, f64, bool)> = Vec::new();
    for user in instance.users().filter(|user| user.group() == Some(GroupId(group))) {
        let i = user.index().0;
        let wants = user.fits_somewhere() && user.tasks().is_none_or(|all| has[i] < all);
        children.push((user.weight().to_f64(), has[i] as f64 * user.task_share(), floors[i], wants));
    }
    for (inner, _) in instance.groups().iter().enumerate().filter(|(_, it)| it.parent == Some(GroupId(group)))
    {
        let (share, floor, wants) = part_of(instance, inner, has, floors);
        children.push((instance.groups()[inner].weight.to_f64(), share, floor, wants));
    }
    let wanting = children.iter().filter(|(.., wants)| *wants);
    let each = wanting.map(|(weight, share, ..)| share / weight).fold(f64::INFINITY, f64::min);
    let takes = |(weight, share, floor, _): &(f64, f64, f64, bool)| (weight * each).max(*floor).min(*share);
    let floor = children.iter().map(|(_, _, floor, _)| floor).sum();
    (children.iter().map(takes).sum(), floor, each < f64::INFINITY)
}

/// The level of so many tasks of everybody; infinite where nobody wants more.
fn level(instance: &Instance, has: &[u64], floors: &[f64]) -> f64 {
    let mut least = f64::INFINITY;
    for user in instance.users().filter(|user| user.group().is_none()) {
        let i = user.index().0;
        if user.fits_somewhere() && user.tasks().is_none_or(|all| has[i] < all) {
            least = least.min(has[i] as f64 * user.task_share() / user.weight().to_f64());
        }
    }
    for (g, group) in instance.groups().iter().enumerate().filter(|(_, group)| group.parent.is_none()) {
        let (share, _, wants) = part_of(instance, g, has, floors);
        if wants {
            least = least.min(share / group.weight.to_f64());
        }
    }
    least
}

#[test]
fn the_best_of_all_placements_that_keep_guarantees_lies_within_the_bounds() {
    let mut random = Random::new(53, 2);
    let (mut tried, mut closed, mut lower, mut together, mut of_groups) = (0, 0, 0, 0, 0);
    for case in 0..400 {
        let instance = drawn(&mut random);
        let ways = all_ways(&instance);
        let found = bound(&instance, &BoundOptions::default(), &Control::none()).unwrap();
        assert!(is_believed(&instance, &found, |_| {}), "case {case}");
        let counted = found.divisible.counted_guarantees;
        if counted == Some(CountedGuarantees::None) {
            continue;
        }
        together += 1;
        let cpu = |user: User<'_>| {
            let quota = instance.quota_of(Owner::User(user.index()));
            quota.and_then(|quota| quota.guarantee.first()).map_or(0.0, |(_, cpu)| cpu.to_f64())
        };
        let own: Vec<f64> = instance.users().map(cpu).collect();
        let mut sure: Vec<u64> = instance.users().map(|user| sure(user, cpu(user))).collect();
        let counts_groups = counted == Some(CountedGuarantees::All);
        let has_more = instance.quotas().iter().any(|(owner, _)| matches!(owner, Owner::Group(_)));
        if counts_groups && has_more {
            of_groups += 1;
            for (user, cores) in instance.users().zip(divided(&instance, &own)) {
                let tasks = (cores / user.demand()[0].to_f64() * (1.0 + 1e-9)) as u64;
                let i = user.index().0;
                sure[i] = sure[i].max(if user.fits_somewhere() { tasks } else { 0 });
            }
        }
        let counting = found.divisible.counted(&instance);
        let floors: Vec<f64> =
            instance.users().zip(&sure).map(|(user, tasks)| *tasks as f64 * user.task_share()).collect();
        let mut best = None;
        for servers in &ways {
            let mut tasks = vec![0; instance.user_count()];
            servers.iter().flatten().for_each(|(user, count)| tasks[*user as usize] += count);
            let here = level(&instance, &tasks, &floors);
            let placement = Placement { tasks: tasks.clone(), servers: servers.clone() };
            let stated = PlacementFigures::new(&counting, &placement).level.unwrap_or(f64::INFINITY);
            assert!(
                stated == here || (stated - here).abs() <= 1e-9 * here,
                "case {case}: {stated} {here} {tasks:?} {sure:?}"
            );
            if (0..tasks.len()).all(|i| tasks[i] >= sure[i] || !instance.user(UserId(i)).fits_somewhere()) {
                best = Some(best.map_or(here, |best: f64| best.max(here)));
            }
        }
        let Some(best) = best else { continue };
        tried += 1;
        let stated = stated_bounds(&counting, &found.bracket, Some(found.divisible.bound));
        let upper =
            stated.level_upper.unwrap_or(if best == f64::INFINITY { best } else { stated.upper_of_others });
        assert!(best <= upper * (1.0 + 1e-9), "case {case}: {best} above {stated:?}");
        let own = level(&instance, &found.bracket.placement.tasks, &floors);
        if stated.proved_optimal {
            closed += 1;
            assert!(own >= best * (1.0 - 1e-9), "case {case}: {own} is said to be best, {best} can be had");
        }
        let free = instance.without_parts(&[fairplan_instances::QuotaPart::Guarantees]).unwrap();
        let without = bound(&free, &BoundOptions::default(), &Control::none()).unwrap();
        lower += u32::from(found.divisible.bound < without.divisible.bound * (1.0 - 1e-9));
        for policy in ["best-fit", "worst-fit"] {
            let options = PlaceOptions { policy: policy.into(), ..PlaceOptions::default() };
            let placed = place(&instance, &options, &Control::none()).unwrap();
            let keeps = placed.placement.tasks.iter().zip(&sure).all(|(has, sure)| has >= sure);
            let reached = PlacementFigures::new(&counting, &placed.placement).level.unwrap_or(f64::INFINITY);
            assert!(!keeps || reached <= upper * (1.0 + 1e-9), "case {case}, {policy}: {reached} {stated:?}");
        }
    }
    assert!(
        tried > 200 && closed > 150 && lower > 40 && together > 200 && of_groups > 40,
        "{tried} {closed} {lower} {together} {of_groups}"
    );
}
