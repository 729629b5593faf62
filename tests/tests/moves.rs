//! The fewest moves: against trying everything, replayed by a second checker, against forgeries.

use fairplan::{Control, MoveTarget, MovesBody, MovesOptions, ResultFile, moves, verify};
use fairplan_heuristics::policy;
use fairplan_instances::{
    ClassId, Deadline, Document, Instance, MovePlan, MoveRules, Placement, PlacementFigures, ResourceId,
    ServerNames, Step, UserId, files, files::sha256_hex, generate,
};
use fairplan_report::placement::{PlacementSettings, placement_document};
use fairplan_report::write_json;
use fairplan_solver::{fewest_moves, level_target, steps_between};
use fairplan_tests::{Dice, decimal, plain_draft, plain_user};
use fairplan_verify::{MovesClaim, verify_moves};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Two or three servers, two or three users of few tasks, some of whom run somewhere.
fn small(seed: u64) -> Option<(Instance, Placement, MoveRules)> {
    let mut dice = Dice::new(seed);
    let resources = 1 + dice.below(2) as usize;
    let servers = 2 + dice.below(2);
    let amounts = |dice: &mut Dice, least: u64, most: u64| {
        (0..resources)
            .map(|_| decimal(&(least + dice.below(most - least + 1)).to_string()))
            .collect::<Vec<_>>()
    };
    let classes = (0..servers)
        .map(|l| fairplan_instances::ServerClass::new(format!("c{l}"), 1, amounts(&mut dice, 3, 6)));
    let classes = classes.collect();
    let users = 2 + dice.below(2);
    let mut of_users = Vec::new();
    for i in 0..users {
        let mut user = plain_user(i as usize, amounts(&mut dice, 1, 3));
        user.tasks = Some(1 + dice.below(3));
        if dice.percent(20) {
            user.eligible = Some(vec![dice.below(servers) as usize]);
        }
        of_users.push(user);
    }
    let resources = (0..resources).map(|r| format!("r{r}")).collect();
    let draft = plain_draft(resources, classes, of_users);
    let instance = draft.build().ok()?;
    // Tasks come at random where they fit.
    let mut placement =
        Placement { tasks: vec![0; users as usize], servers: vec![Vec::new(); servers as usize] };
    for _ in 0..8 {
        let (user, server) = (dice.below(users) as u32, dice.below(servers) as usize);
        let mut next = placement.clone();
        add(&mut next.servers[server], user);
        next.tasks[user as usize] += 1;
        let all = instance.user(UserId(user as usize)).tasks().unwrap_or(0);
        if next.tasks[user as usize] <= all && holds(&instance, server, &next.servers[server]) {
            placement = next;
        }
    }
    let mut rules = MoveRules::new(&instance);
    for cost in &mut rules.costs {
        *cost = 1 + dice.below(2);
    }
    if dice.percent(20) {
        rules.kept_users[dice.below(users) as usize] = true;
    }
    if dice.percent(20) {
        rules.kept_servers[dice.below(servers) as usize] = true;
    }
    Some((instance, placement, rules))
}

fn add(tasks: &mut Vec<(u32, u64)>, user: u32) {
    match tasks.binary_search_by_key(&user, |(user, _)| *user) {
        Ok(at) => tasks[at].1 += 1,
        Err(at) => tasks.insert(at, (user, 1)),
    }
}

fn take(tasks: &mut Vec<(u32, u64)>, user: u32) {
    let at = tasks.iter().position(|(other, _)| *other == user).unwrap();
    tasks[at].1 -= 1;
    tasks.retain(|(_, count)| *count > 0);
}

/// Whether a server, each of a class of its own, may and can hold these tasks.
fn holds(instance: &Instance, server: usize, tasks: &[(u32, u64)]) -> bool {
    let may = |user: u32| instance.user(UserId(user as usize)).rule().allows(ClassId(server));
    let load = |r: usize| -> u128 {
        let part = |(user, count): &(u32, u64)| {
            instance.user(UserId(*user as usize)).demand_units(ResourceId(r)) * u128::from(*count)
        };
        tasks.iter().map(part).sum()
    };
    tasks.iter().all(|(user, _)| may(*user))
        && (0..instance.resources().len())
            .all(|r| load(r) <= instance.capacity_units(ClassId(server), ResourceId(r)))
}

/// The cheapest steps by which every user comes to have as many tasks as required, over all placements; `None` if nothing does, or
/// there are too many. Tasks of what is kept never leave.
fn cheapest(instance: &Instance, before: &Placement, required: &[u64], rules: &MoveRules) -> Option<u64> {
    type State = Vec<Vec<(u32, u64)>>;
    let mut least: HashMap<State, u64> = HashMap::new();
    let mut open: BinaryHeap<Reverse<(u64, State)>> = BinaryHeap::new();
    least.insert(before.servers.clone(), 0);
    open.push(Reverse((0, before.servers.clone())));
    while let Some(Reverse((cost, state))) = open.pop() {
        if least.get(&state).is_some_and(|known| *known < cost) {
            continue;
        }
        let mut totals = vec![0u64; required.len()];
        state.iter().flatten().for_each(|(user, count)| totals[*user as usize] += count);
        if totals.iter().zip(required).all(|(has, required)| has >= required) {
            return Some(cost);
        }
        if least.len() > 200_000 {
            return None;
        }
        let mut reach = |next: State, cost: u64| {
            if least.get(&next).is_none_or(|known| cost < *known) {
                least.insert(next.clone(), cost);
                open.push(Reverse((cost, next)));
            }
        };
        for to in 0..state.len() {
            for user in 0..required.len() as u32 {
                let mut arrived = state.clone();
                add(&mut arrived[to], user);
                if !holds(instance, to, &arrived[to]) {
                    continue;
                }
                if totals[user as usize] < instance.user(UserId(user as usize)).tasks().unwrap() {
                    reach(arrived.clone(), cost);
                }
                for from in (0..state.len()).filter(|from| *from != to) {
                    let runs = state[from].iter().any(|(other, _)| *other == user);
                    if runs && rules.may_leave(user as usize, from) {
                        let mut moved = arrived.clone();
                        take(&mut moved[from], user);
                        reach(moved, cost + rules.costs[user as usize]);
                    }
                }
            }
        }
        for from in 0..state.len() {
            for (user, _) in &state[from] {
                if rules.may_leave(*user as usize, from) {
                    let mut stopped = state.clone();
                    take(&mut stopped[from], *user);
                    reach(stopped, cost + rules.costs[*user as usize]);
                }
            }
        }
    }
    None
}

/// A replay that knows nothing but names and amounts; what runs where in the end.
fn replayed(instance: &Instance, before: &Placement, steps: &[Step]) -> Vec<Vec<(u32, u64)>> {
    let mut servers = before.servers.clone();
    for step in steps {
        for _ in 0..step.count {
            let user = step.kind.0 as u32;
            if let Some(from) = step.from {
                take(&mut servers[from as usize], user);
            }
            if let Some(to) = step.to {
                add(&mut servers[to as usize], user);
                assert!(holds(instance, to as usize, &servers[to as usize]), "no room for {step:?}");
            }
        }
    }
    servers
}

fn failing(instance: &Instance, before: &Placement, rules: &MoveRules, plan: &MovePlan) -> Vec<&'static str> {
    let claim = MovesClaim {
        before,
        steps: &plan.steps,
        rules,
        required: &plan.required,
        level: None,
        cost: plan.cost,
        lower_bound: plan.lower_bound,
        proof: &plan.proof,
        whole_guarantees: None,
        printed: None,
    };
    let (verdicts, after) = verify_moves(instance, &claim);
    let failing: Vec<_> =
        verdicts.iter().filter(|verdict| !verdict.holds).map(|verdict| verdict.property).collect();
    assert!(!failing.is_empty() || after.as_ref() == Some(&plan.after));
    failing
}

#[test]
fn three_hundred_small_plans_cost_no_less_than_the_cheapest_and_bounds_no_more() {
    let (mut tried, mut seed, mut fewest, mut tight, mut total) = (0, 0, 0, 0, [0u64; 3]);
    while tried < 300 {
        seed += 1;
        let Some((instance, before, rules)) = small(seed) else { continue };
        // Either what waits is placed, or a random number of tasks is required.
        let mut dice = Dice::new(!seed);
        let all: Vec<u64> = instance.users().map(|user| user.tasks().unwrap()).collect();
        let wanted: Vec<u64> = match seed % 2 {
            0 => all,
            _ => all.iter().map(|all| dice.below(all + 1)).collect(),
        };
        let plan = fewest_moves(&instance, &before, &wanted, &rules, None, &Deadline::never()).unwrap();
        assert_eq!(failing(&instance, &before, &rules, &plan), [""; 0], "seed {seed}");
        assert_eq!(replayed(&instance, &before, &plan.steps), plan.after.servers, "seed {seed}");
        let Some(cheapest) = cheapest(&instance, &before, &plan.required, &rules) else {
            panic!("seed {seed}: the plan reaches what no steps do");
        };
        if before.tasks.iter().zip(&plan.required).all(|(has, required)| has >= required) {
            continue;
        }
        tried += 1;
        assert!(plan.cost >= cheapest, "seed {seed}: {} is less than the cheapest, {cheapest}", plan.cost);
        assert!(plan.lower_bound <= cheapest, "seed {seed}: bound {} above {cheapest}", plan.lower_bound);
        fewest += u64::from(plan.cost == cheapest);
        tight += u64::from(plan.lower_bound == cheapest);
        for (sum, part) in total.iter_mut().zip([plan.lower_bound, cheapest, plan.cost]) {
            *sum += part;
        }
    }
    println!(
        "of 300: {fewest} plans are the cheapest, {tight} bounds are; bounds, cheapest, plans: {total:?}"
    );
    assert!(fewest >= 295, "only {fewest} of 300 plans are the cheapest");
    assert!(tight >= 290, "only {tight} of 300 bounds are tight");
}

/// Two hundred servers of three sizes, and users of one to six tasks a server, as Best-Fit places them.
fn crowded(seed: u64) -> (Instance, Placement) {
    let mut dice = Dice::new(seed);
    let classes = [(120, 50, 50), (50, 50, 25), (30, 100, 100)].into_iter().enumerate();
    let classes = classes.map(|(l, (count, cpu, memory))| {
        let capacity = [cpu, memory].map(|amount: u64| decimal(&amount.to_string())).to_vec();
        fairplan_instances::ServerClass::new(format!("c{l}"), count, capacity)
    });
    let users = (0..12).map(|user| {
        let amounts = [0; 2].map(|_| decimal(&(4 + dice.below(22)).to_string())).to_vec();
        plain_user(user, amounts)
    });
    let resources = vec!["cpu".to_string(), "memory".to_string()];
    let instance = plain_draft(resources, classes.collect(), users.collect()).build().unwrap();
    let before = policy("best-fit", 0).unwrap().place(&instance).unwrap();
    (instance, before)
}

#[test]
fn where_much_is_missing_plans_reach_the_level_near_their_bound() {
    let mut far = 0;
    for seed in 1..=6 {
        let (instance, before) = crowded(seed);
        let target = level_target(&instance, 0.97, &Deadline::never()).unwrap().unwrap();
        let missing: u64 =
            target.required.iter().zip(&before.tasks).map(|(need, has)| need.saturating_sub(*has)).sum();
        far += u64::from(missing > 10);
        let rules = MoveRules::new(&instance);
        let plan =
            fewest_moves(&instance, &before, &target.required, &rules, None, &Deadline::never()).unwrap();
        assert_eq!(plan.required, target.required, "seed {seed}: {missing} were missing");
        assert_eq!(failing(&instance, &before, &rules, &plan), [""; 0], "seed {seed}");
        let (cost, bound) = (plan.cost, plan.lower_bound);
        assert!(cost <= bound + bound * 3 / 10 + 3, "seed {seed}: {cost} for {missing}, at least {bound}");
    }
    assert!(far >= 3, "only {far} are far from the level");
}

#[test]
fn steps_between_random_placements_can_all_be_made_and_interrupt_only_where_nothing_else_helps() {
    let mut pairs = 0;
    for seed in 1..600 {
        let Some((instance, before, _)) = small(seed) else { continue };
        let rules = MoveRules::new(&instance);
        // The same tasks, elsewhere.
        let mut dice = Dice::new(seed + 10_000);
        let mut after =
            Placement { tasks: before.tasks.clone(), servers: vec![Vec::new(); before.servers.len()] };
        let mut is_placed = true;
        for (user, count) in before.tasks.iter().enumerate() {
            for _ in 0..*count {
                let first = dice.below(after.servers.len() as u64) as usize;
                let servers = (0..after.servers.len()).map(|k| (first + k) % after.servers.len());
                let fitting = servers.into_iter().find(|server| {
                    let mut tasks = after.servers[*server].clone();
                    add(&mut tasks, user as u32);
                    holds(&instance, *server, &tasks)
                });
                match fitting {
                    Some(server) => add(&mut after.servers[server], user as u32),
                    None => is_placed = false,
                }
            }
        }
        if !is_placed {
            continue;
        }
        pairs += 1;
        let (steps, cost) = steps_between(&instance, &before, &after, &rules).unwrap();
        assert_eq!(replayed(&instance, &before, &steps), after.servers, "seed {seed}");
        let left: u64 = before
            .servers
            .iter()
            .zip(&after.servers)
            .flat_map(|(before, after)| {
                before.iter().map(|(user, had)| {
                    had.saturating_sub(
                        after.iter().find(|(other, _)| other == user).map_or(0, |(_, has)| *has),
                    )
                })
            })
            .sum();
        assert!(cost >= left, "seed {seed}");
        assert!(cost <= 2 * left, "seed {seed}: {cost} for {left} that leave");
    }
    assert!(pairs > 100, "only {pairs} pairs");
}

pub(crate) fn file_of(instance: &Instance, placement: &Placement) -> ResultFile {
    let settings = PlacementSettings { policy: "somebody", seed: 0, servers: true, divisions: &[] };
    let figures = PlacementFigures::new(instance, placement);
    let sha256 = sha256_hex(instance);
    let mut bytes = Vec::new();
    write_json(&mut bytes, &placement_document(instance, placement, &figures, &sha256, settings)).unwrap();
    ResultFile::new("now.json".into(), bytes).unwrap()
}

fn document(instance: &Instance, target: MoveTarget) -> MovesBody {
    let now = policy("first-fit", 0).unwrap().place(instance).unwrap();
    let options = MovesOptions { target, ..MovesOptions::new(file_of(instance, &now)) };
    moves(instance, &options, &Control::none()).unwrap()
}

/// The properties that fail of a document, in the order in which they are checked.
fn refused(instance: &Instance, document: &Value) -> Vec<String> {
    let bytes = serde_json::to_vec(document).unwrap();
    let verified =
        verify(instance, ResultFile::new("m.json".into(), bytes).unwrap(), &Control::none()).unwrap();
    verified
        .verdicts
        .iter()
        .filter(|verdict| !verdict.holds)
        .map(|verdict| verdict.property.to_string())
        .collect()
}

#[test]
fn forged_plans_are_refused_by_the_property_that_they_break() {
    let instance = generate::drfh_fig1().unwrap();
    let value = |body: MovesBody| serde_json::to_value(Document::new(body)).unwrap();
    let plan = value(document(&instance, MoveTarget::Level(1.0)));
    assert_eq!(refused(&instance, &plan), [""; 0]);
    assert!(plan["steps"].as_array().unwrap().len() > 2, "{plan}");
    let forged = |change: &dyn Fn(&mut Value)| {
        let mut forged = plan.clone();
        change(&mut forged);
        refused(&instance, &forged)
    };
    // The first step makes the room for all others.
    assert_eq!(forged(&|plan| drop(plan["steps"].as_array_mut().unwrap().remove(0))), ["capacity"]);
    assert_eq!(forged(&|plan| plan["steps"].as_array_mut().unwrap().reverse()), ["capacity"]);
    let of_others = |plan: &mut Value| {
        let step =
            plan["steps"].as_array_mut().unwrap().iter_mut().find(|step| !step["from"].is_null()).unwrap();
        step["tasks"] = json!(1_000);
    };
    assert_eq!(forged(&of_others), ["steps"]);
    assert_eq!(
        forged(&|plan| plan["lower_bound"] = json!(plan["lower_bound"].as_u64().unwrap() + 1)),
        ["lower-bound"]
    );
    assert!(
        forged(&|plan| plan["users"][0]["task_value"] = json!(1u64 << 39))
            .contains(&"server-gains".to_owned())
    );
    assert_eq!(forged(&|plan| plan["proof"]["unit"] = json!(0)), ["well-formed"]);
    assert_eq!(forged(&|plan| plan["cost"] = json!(0)), ["cost"]);
    assert_eq!(forged(&|plan| plan["users"][0]["required"] = json!(11)), ["required"]);
    // Less than the level takes, with a bound that asks for nothing.
    let asks_less = |required: u64| {
        move |plan: &mut Value| {
            plan["lower_bound"] = json!(0);
            plan["users"]
                .as_array_mut()
                .unwrap()
                .iter_mut()
                .for_each(|user| user["required"] = json!(required));
        }
    };
    assert!(forged(&asks_less(0)).contains(&"required".to_owned()));
    assert!(forged(&asks_less(6)).contains(&"required".to_owned()));
    // The same steps for another target.
    let for_what_waits = |plan: &mut Value| {
        plan["target"] = json!({"kind": "unplaced", "reached": true});
    };
    assert_eq!(forged(&for_what_waits), ["stated-numbers"]);
    assert_eq!(forged(&|plan| plan["level_after"] = json!(0.9)), ["levels"]);
    assert_eq!(forged(&|plan| plan["unplaced_after"] = json!(3)), ["levels"]);
    assert_eq!(forged(&|plan| plan["moves"] = json!(77)), ["stated-numbers"]);
    assert_eq!(forged(&|plan| plan["users"][1]["tasks_after"] = json!(77)), ["stated-numbers"]);
    assert_eq!(
        forged(&|plan| plan["kept_servers"] = json!([plan["steps"][0]["from"]])),
        ["kept", "server-gains"][..1]
    );
    assert_eq!(forged(&|plan| plan["target"]["part"] = json!(1.5)), ["stated-numbers"]);
    assert_eq!(forged(&|plan| plan["target"]["bound"] = json!(9.0)), ["stated-numbers"]);
    assert_eq!(forged(&|plan| plan["target"]["bound"] = json!(0.1)), ["stated-numbers"]);
    let sha256 = "0".repeat(64);
    assert_eq!(forged(&|plan| plan["instance"]["sha256"] = json!(sha256)), ["belongs-to-instance"]);
    assert_eq!(forged(&|plan| plan["steps"][0]["user"] = json!("nobody")), ["belongs-to-instance"]);
}

/// Who fits no server has no part in what a group divides; a true plan was refused as if it had.
#[test]
fn levels_of_groups_with_a_member_that_fits_no_server_are_verified() {
    let text = r#"{"format": "fairplan.instance.v1", "resources": ["cpu"], "server_classes": [{"id": "c0", "count": 1, "capacity": {"cpu": 1}},
        {"id": "c1", "count": 1, "capacity": {"cpu": 20}}], "groups": [{"id": "g0"}, {"id": "g1", "parent": "g0"}], "users": [
        {"id": "u0", "demand": {"cpu": 1}, "tasks": 5, "group": "g1"}, {"id": "u1", "demand": {"cpu": 1}, "tasks": 3, "group": "g0"},
        {"id": "u2", "demand": {"cpu": 2}, "eligible": ["c0"], "group": "g0"}, {"id": "u3", "demand": {"cpu": 1}, "tasks": 4}]}"#;
    let source = files::source::in_memory("it", text.as_bytes().to_vec()).unwrap();
    let instance = files::read_json(source).unwrap();
    let plan = serde_json::to_value(Document::new(document(&instance, MoveTarget::Level(1.0)))).unwrap();
    assert_eq!(
        plan["target"]["level"]["value"].as_f64().map(|level| (level * 21.0).round()),
        Some(8.0),
        "{plan}"
    );
    assert_eq!(refused(&instance, &plan), [""; 0]);
}

#[test]
fn a_level_is_reached_by_steps_that_pass_and_a_given_placement_exactly() {
    let instance = generate::drfh_fig4(&[1, 2, 3]).unwrap();
    let body = document(&instance, MoveTarget::Level(0.95));
    assert!(body.target.reached && body.cost >= body.lower_bound, "{body:?}");
    let reached = level_target(&instance, 0.95, &Deadline::never()).unwrap().unwrap();
    assert!(body.users.iter().zip(&reached.required).all(|(user, required)| user.tasks_after >= *required));
    // To the placement of another policy: what leaves has to.
    let [now, then] =
        ["first-fit", "best-fit"].map(|name| policy(name, 0).unwrap().place(&instance).unwrap());
    let target = MoveTarget::Placement(file_of(&instance, &then));
    let options = MovesOptions { target, ..MovesOptions::new(file_of(&instance, &now)) };
    let body = moves(&instance, &options, &Control::none()).unwrap();
    assert!(body.target.reached);
    let after: Vec<u64> = body.users.iter().map(|user| user.tasks_after).collect();
    assert_eq!(after, then.tasks);
    let mut forged = serde_json::to_value(Document::new(body.clone())).unwrap();
    assert_eq!(refused(&instance, &forged), [""; 0]);
    forged["users"][0]["required"] = json!(0);
    assert_eq!(refused(&instance, &forged), ["stated-numbers"]);
    // What is to stay cannot leave.
    let names = ServerNames::new(&instance);
    let leaving = body.steps.iter().find_map(|step| step.from.clone()).unwrap();
    assert!(names.position(&leaving).is_some());
    let kept = MovesOptions { keep_servers: vec![leaving.clone()], ..options.clone() };
    let refused = moves(&instance, &kept, &Control::none()).unwrap_err().to_string();
    assert!(refused.contains(&leaving) && refused.contains("are to stay there"), "{refused}");
    for (options, told) in [
        (MovesOptions { keep_users: vec!["nobody".into()], ..options.clone() }, "nobody"),
        (MovesOptions { keep_servers: vec!["nowhere".into()], ..options.clone() }, "keep-server"),
        (MovesOptions { costs: vec![("user-1".into(), 0)], ..options.clone() }, "cost user-1=0"),
        (MovesOptions { target: MoveTarget::Level(0.0), ..options.clone() }, "level 0"),
        (MovesOptions { target: MoveTarget::Level(f64::NAN), ..options.clone() }, "level NaN"),
        (MovesOptions { target: MoveTarget::Unplaced, ..options }, "--level PART"),
    ] {
        let refused = moves(&instance, &options, &Control::none()).unwrap_err().to_string();
        assert!(refused.contains(told), "{refused}");
    }
}

#[test]
fn whatever_waits_and_fits_is_started_even_where_not_all_that_waits_can_be() {
    let mut short = 0;
    for (instance, before, rules) in (0..300).filter_map(small) {
        let required: Vec<u64> = instance.users().map(|user| user.tasks().unwrap_or(0)).collect();
        let plan = fewest_moves(&instance, &before, &required, &rules, None, &Deadline::never()).unwrap();
        for (user, required) in required.iter().enumerate() {
            if plan.after.tasks[user] >= *required {
                continue;
            }
            short += 1;
            for (server, tasks) in plan.after.servers.iter().enumerate() {
                let mut more = tasks.clone();
                add(&mut more, user as u32);
                assert!(!holds(&instance, server, &more), "user {user} fits server {server}");
            }
        }
    }
    assert!(short > 50, "{short}");
}
