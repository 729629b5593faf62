//! `plan move` where whole tasks meet rules, quotas and kinds of tasks: each step keeps what a server keeps by itself and all limits,
//! what is reached keeps every rule, no plan costs less than the cheapest of all ways and no bound is above that, and the checker refuses
//! steps by the name of the rule that they break.

use crate::moves::file_of;
use crate::ruled_kinds;
use crate::ruled_quotas::{all_broken, with_quotas};
use crate::rules_of_whole_tasks::{broken, drawn, put, take};
use fairplan::{Control, MoveTarget, MovesBody, MovesOptions, ResultFile, moves, verify};
use fairplan_heuristics::place_along;
use fairplan_instances::{
    Deadline, Document, Instance, KeptGuarantees, KindId, Placement, Random, ServerNames, ServerTasks,
    tasks_of,
};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

/// What no step may break.
const ALWAYS: [&str; 5] = ["capacity", "devices", "eligibility", "limits", "per-server"];

type Rules = BTreeSet<&'static str>;

/// Random clusters of one sort, and which rules a placement breaks there.
struct Sort {
    stream: u64,
    drawn: fn(&mut Random, u64) -> Instance,
    broken: fn(&Instance, &[ServerTasks]) -> Rules,
}

const SORTS: [Sort; 4] = [
    Sort { stream: 26, drawn: |random, _| drawn(random, false), broken },
    Sort { stream: 27, drawn: |random, _| drawn(random, true), broken },
    Sort {
        stream: 28,
        drawn: |random, case| with_quotas(random, case % 3 == 0, case % 2 == 0, case % 5 < 3),
        broken: all_broken,
    },
    Sort { stream: 29, drawn: |random, _| ruled_kinds::drawn(random), broken: ruled_kinds::broken },
];

/// Pieces at random on servers, of which what keeps all rules stays, and no more.
fn partly(random: &mut Random, instance: &Instance) -> Placement {
    place_along(
        instance,
        &scattered(random, instance),
        Some(&vec![0; instance.user_count()]),
        &Deadline::never(),
    )
    .unwrap()
}

fn scattered(random: &mut Random, instance: &Instance) -> Placement {
    let mut servers = vec![ServerTasks::new(); instance.server_count() as usize];
    for _ in 0..random.below(14) {
        let server = random.below(servers.len() as u64) as usize;
        put(&mut servers[server], random.below(instance.kind_count() as u64) as u32);
    }
    placement(instance, servers)
}

fn placement(instance: &Instance, servers: Vec<ServerTasks>) -> Placement {
    let pieces = Placement { tasks: Vec::new(), servers };
    let mut counts = vec![0; instance.kind_count()];
    pieces.servers.iter().flatten().for_each(|(kind, count)| counts[*kind as usize] += count);
    Placement { tasks: tasks_of(instance, &counts), servers: pieces.servers }
}

/// What runs after the steps, made piece by piece; the rules that the first step breaks which breaks any, `steps` if it cannot be made.
fn replayed(
    sort: &Sort,
    instance: &Instance,
    before: &Placement,
    plan: &MovesBody,
) -> Result<Vec<ServerTasks>, Rules> {
    let names = ServerNames::new(instance);
    let at = |name: &Option<String>| name.as_ref().map(|name| names.position(name).unwrap() as usize);
    let mut servers = before.servers.clone();
    let cannot = || BTreeSet::from(["steps"]);
    for step in &plan.steps {
        let user = instance.users().find(|user| user.id() == step.user).unwrap();
        let kind = user.kinds().find(|kind| kind.id() == step.kind.as_deref()).unwrap();
        let own = kind.index().0 as u32;
        if at(&step.from) == at(&step.to) {
            return Err(cannot());
        }
        for _ in 0..step.tasks.or(step.pieces).unwrap() {
            if let Some(from) = at(&step.from) {
                servers[from].iter().find(|(other, _)| *other == own).ok_or_else(cannot)?;
                take(&mut servers[from], own);
            }
            if let Some(to) = at(&step.to) {
                put(&mut servers[to], own);
            }
        }
        let running: u64 = servers.iter().flatten().filter(|(other, _)| *other == own).map(|(_, n)| n).sum();
        if user.tasks().is_some_and(|all| running > all * kind.each()) {
            return Err(cannot());
        }
        let broken: Rules =
            (sort.broken)(instance, &servers).into_iter().filter(|rule| ALWAYS.contains(rule)).collect();
        if !broken.is_empty() {
            return Err(broken);
        }
    }
    Ok(servers)
}

/// The properties that fail of a plan.
fn refused(instance: &Instance, plan: &MovesBody) -> BTreeSet<String> {
    let bytes = serde_json::to_vec(&Document::new(plan.clone())).unwrap();
    let file = ResultFile::new("m.json".into(), bytes).unwrap();
    let verified = verify(instance, file, &Control::none()).unwrap();
    let failing = verified.verdicts.iter().filter(|verdict| !verdict.holds);
    failing.map(|verdict| verdict.property.to_string()).collect()
}

/// What the cheapest steps cost after which everybody has at least so many tasks and no rule is broken, where no step breaks one of
/// those that always hold; `None` if there are too many ways, or none.
fn cheapest(sort: &Sort, instance: &Instance, before: &Placement, required: &[u64]) -> Option<u64> {
    const MOST: usize = 700;
    type State = Vec<ServerTasks>;
    let is_open = |state: &State| (sort.broken)(instance, state).iter().all(|rule| !ALWAYS.contains(rule));
    let mut least: HashMap<State, Option<u64>> = HashMap::from([(before.servers.clone(), Some(0))]);
    let mut open = BinaryHeap::from([Reverse((0, before.servers.clone()))]);
    while let Some(Reverse((cost, state))) = open.pop() {
        if least[&state].is_some_and(|known| known < cost) {
            continue;
        }
        let now = placement(instance, state.clone());
        if now.tasks.iter().zip(required).all(|(has, required)| has >= required)
            && (sort.broken)(instance, &state).is_empty()
        {
            return Some(cost);
        }
        if least.len() > MOST {
            return None;
        }
        let pieces = now.pieces(instance);
        let mut reach = |next: State, cost: u64| {
            let known = least.entry(next.clone()).or_insert_with(|| is_open(&next).then_some(u64::MAX));
            if let Some(known) = known.as_mut().filter(|known| cost < **known) {
                *known = cost;
                open.push(Reverse((cost, next)));
            }
        };
        for kind in 0..instance.kind_count() as u32 {
            let of = instance.kind(KindId(kind as usize));
            let waits = of.user().tasks().is_none_or(|all| pieces[kind as usize] < all * of.each());
            let runs = |at: &usize| state[*at].iter().any(|(other, _)| *other == kind);
            for from in (0..state.len()).filter(runs) {
                let mut left = state.clone();
                take(&mut left[from], kind);
                for to in (0..state.len()).filter(|to| *to != from) {
                    let mut moved = left.clone();
                    put(&mut moved[to], kind);
                    reach(moved, cost + 1);
                }
                reach(left, cost + 1);
            }
            for to in (0..state.len()).filter(|_| waits) {
                let mut started = state.clone();
                put(&mut started[to], kind);
                reach(started, cost);
            }
        }
    }
    None
}

/// What came of plans for random clusters.
#[derive(Default)]
struct Tried {
    plans: u64,
    steps: u64,
    starts: u64,
    /// Plans that all ways were tried for, those of them that are the cheapest, and those with a bound that says so.
    searched: [u64; 3],
    /// The rules by whose names changed plans were refused.
    refused: BTreeSet<String>,
}

fn plan_of(sort: &Sort, case: u64, searches: bool, tried: &mut Tried) {
    let mut random = Random::new(case, sort.stream);
    let instance = (sort.drawn)(&mut random, case);
    let before = partly(&mut random, &instance);
    let start = (sort.broken)(&instance, &before.servers);
    assert_eq!(start, BTreeSet::new(), "case {case}: {before:?}");
    let other = place_along(&instance, &scattered(&mut random, &instance), None, &Deadline::never()).unwrap();
    let target = match case % 3 {
        0 if instance.has_task_limits() => MoveTarget::Unplaced,
        1 => MoveTarget::Placement(file_of(&instance, &other)),
        _ => MoveTarget::Level(0.25 * random.between(1, 4) as f64),
    };
    let options = MovesOptions { target, ..MovesOptions::new(file_of(&instance, &before)) };
    let plan = match moves(&instance, &options, &Control::none()) {
        Ok(plan) => plan,
        Err(error) => {
            let told = error.to_string();
            let is_refused = case % 3 == 1 && told.contains("has what it is guaranteed before");
            let is_known = is_refused || told.contains("no user can have tasks");
            assert!(is_known, "case {case}: {told}");
            return;
        }
    };
    let servers = replayed(sort, &instance, &before, &plan);
    let servers = servers.unwrap_or_else(|rules| panic!("case {case}: a step breaks {rules:?}: {plan:?}"));
    assert_eq!((sort.broken)(&instance, &servers), BTreeSet::new(), "case {case}: {plan:?}");
    assert_eq!(refused(&instance, &plan), BTreeSet::new(), "case {case}: {plan:?}");
    assert!(plan.lower_bound <= plan.cost, "case {case}");
    let after = placement(&instance, servers);
    let kept = |placement| KeptGuarantees::of(&instance, placement).map(|kept| kept.kept);
    assert!(kept(&after) >= kept(&before), "case {case}: {plan:?}");
    tried.plans += 1;
    tried.steps += plan.steps.len() as u64;
    tried.starts += plan.starts;
    if searches {
        let required: Vec<u64> = plan.users.iter().map(|user| user.required).collect();
        if let Some(cheapest) = cheapest(sort, &instance, &before, &required) {
            assert!(
                plan.cost >= cheapest,
                "case {case}: {} is less than the cheapest, {cheapest}",
                plan.cost
            );
            // Of a given placement the bound is about that one, which many steps may be needed for.
            if case % 3 != 1 {
                let bound = plan.lower_bound;
                assert!(bound <= cheapest, "case {case}: a bound of {bound} above {cheapest}");
                tried.searched[0] += 1;
                tried.searched[1] += u64::from(plan.cost == cheapest);
                tried.searched[2] += u64::from(bound == cheapest);
            }
        }
    }
    for _ in 0..4 {
        let forged = forged(&mut random, &instance, &plan);
        let expected = match replayed(sort, &instance, &before, &forged) {
            Ok(servers) => (sort.broken)(&instance, &servers),
            Err(rules) => rules,
        };
        let refused = refused(&instance, &forged);
        let is_named = expected.is_empty() || expected.iter().any(|rule| refused.contains(*rule));
        assert!(is_named, "case {case}: {expected:?} is broken, {refused:?} refused: {forged:?}");
        tried.refused.extend(refused.into_iter().filter(|rule| expected.contains(&**rule)));
    }
}

/// The plan with one step changed, left out or added.
fn forged(random: &mut Random, instance: &Instance, plan: &MovesBody) -> MovesBody {
    let mut forged = plan.clone();
    let names = ServerNames::new(instance);
    let server = |random: &mut Random| Some(names.name(random.below(instance.server_count())).into_owned());
    let Some(at) = (!plan.steps.is_empty()).then(|| random.below(plan.steps.len() as u64) as usize) else {
        return forged;
    };
    match random.below(4) {
        0 => drop(forged.steps.remove(at)),
        1 if forged.steps[at].to.is_some() => forged.steps[at].to = server(random),
        2 => {
            // One more task starts beside.
            let mut step = forged.steps[at].clone();
            (step.from, step.to) = (None, server(random));
            forged.steps.push(step);
        }
        _ => {
            let step = &mut forged.steps[at];
            step.tasks.iter_mut().chain(&mut step.pieces).for_each(|count| *count += 1);
        }
    }
    forged
}

fn tried(sort: &Sort, cases: std::ops::Range<u64>, searches: bool) -> Tried {
    let mut tried = Tried::default();
    cases.for_each(|case| plan_of(sort, case, searches, &mut tried));
    let Tried { plans, steps, starts, searched, refused } = &tried;
    println!("{plans} plans, {steps} steps, {starts} starts, searched {searched:?}, refused by {refused:?}");
    tried
}

fn are_named(tried: &Tried, rules: &[&str]) {
    for rule in rules {
        assert!(tried.refused.contains(*rule), "no plan is refused by {rule}: {:?}", tried.refused);
    }
}

#[test]
fn steps_keep_rules_and_changed_ones_are_refused_by_name() {
    let tried = tried(&SORTS[0], 0..150, true);
    assert!(tried.steps > 200 && tried.starts > 200 && tried.searched[0] > 15);
    are_named(&tried, &["steps", "capacity", "per-server", "gangs", "gangs-in-domains", "spread"]);
}

#[test]
fn steps_keep_devices_and_changed_ones_are_refused_by_name() {
    let tried = tried(&SORTS[1], 0..150, true);
    assert!(tried.steps > 200 && tried.starts > 200 && tried.searched[0] > 15);
    are_named(&tried, &["steps", "devices", "per-server"]);
}

#[test]
fn steps_keep_quotas_and_changed_ones_are_refused_by_name() {
    let tried = tried(&SORTS[2], 0..150, true);
    assert!(tried.steps > 200 && tried.starts > 200 && tried.searched[0] > 15);
    are_named(&tried, &["steps", "limits", "capacity"]);
}

#[test]
fn steps_keep_rules_of_kinds_and_changed_ones_are_refused_by_name() {
    let tried = tried(&SORTS[3], 0..150, true);
    assert!(tried.steps > 150 && tried.starts > 100 && tried.searched[0] > 10);
    are_named(&tried, &["steps", "capacity", "tasks", "spread"]);
}

#[test]
#[ignore = "minutes: ten times as many of each sort"]
fn steps_of_many_plans_keep_the_rules_and_changed_ones_are_refused() {
    SORTS.iter().for_each(|sort| drop(tried(sort, 1_000..1_700, false)));
}
