//! The test that a checker needs: solve, write, change every field of the document, verify. Each change is refused, or the
//! field is on the list of what `verify` says it does not check, or the changed document is just as true, which each kind
//! of document decides by arithmetic of its own.

use crate::quotas_placed::small;
use crate::second_checker::second_checker;
use fairplan_heuristics::policy;
use fairplan_instances::Headline;
use fairplan_instances::files::{demands_sha256_hex, sha256_hex};
use fairplan_instances::{
    Against, Breakpoint, ClassId, Deadline, DemandSeries, FairShares, GuaranteedFraction, Instance,
    Objective, OfflineMeasure, OfflineProblem, PlacementFigures, ResourceId, TaskDemands, UserId,
};
use fairplan_report::allocation::AllocationSettings;
use fairplan_report::bound::{BoundDocument, StatedBracket, bound_document};
use fairplan_report::divisible_bound::DivisibleBound;
use fairplan_report::offline::{
    Held, OfflineDocument, StatedOffline, StatedTaskOffline, TaskOfflineDocument, offline_document,
    stated_measure, task_offline_document,
};
use fairplan_report::placement::{PlacementDocument, PlacementSettings, StatedPlacement, placement_document};
use fairplan_report::proportional_bound::{
    ProportionalBoundDocument, StatedProportionalBracket, proportional_bound_document,
};
use fairplan_report::solution::{SolutionDocument, StatedSolution, solution_document};
use fairplan_report::{read_json, unchecked, write_json};
use fairplan_solver::{
    backend, exact_offline_optimum_within, offline_optimum, proportional_bracket, task_optimum,
    whole_task_bracket,
};
use fairplan_tests::{
    Dice, compare_breakpoints, odd_draft, random_draft_without_rates, random_tree,
    random_tree_with_quotas_of_classes,
};
use fairplan_verify::{
    OfflineClaim, TaskClaim, Verdict, verify_offline, verify_placement, verify_task_optimum,
};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether `verify` accepts a file.
type Accepts = dyn Fn(&[u8]) -> bool + Send + Sync;

/// Whether a changed document is still true.
type IsTrue = dyn Fn(&Value, &Change) -> bool + Send + Sync;

/// A true document, what `verify` does with it, and which changes leave it true.
struct Case {
    name: String,
    document: Value,
    accepts: Box<Accepts>,
    is_true: Box<IsTrue>,
}

/// One change of a document.
struct Change {
    /// Where, as a JSON pointer.
    place: String,
    /// What was there.
    before: Value,
    /// What is there now; `None` if it was removed.
    after: Option<Value>,
    document: Value,
}

impl Change {
    fn numbers(&self) -> Option<(f64, f64)> {
        Some((self.before.as_f64()?, self.after.as_ref()?.as_f64()?))
    }

    /// Whether a number is the same up to the tolerance of stated numbers.
    fn is_rounding(&self) -> bool {
        // What is below the normal doubles is nothing.
        let most = |a: f64, b: f64| (1e-9 * a.abs().max(b.abs())).max(f64::MIN_POSITIVE);
        self.numbers().is_some_and(|(a, b)| (a - b).abs() <= most(a, b))
    }

    /// Whether two lists differ by so little in each number.
    fn is_within(&self, most: f64) -> bool {
        let Some(after) = &self.after else { return false };
        let (before, after) = (places(&self.before), places(after));
        let alike = before.iter().zip(&after).all(|((a, x), (b, y))| {
            a == b
                && (x == y
                    || !x.is_number()
                    || matches!((x.as_f64(), y.as_f64()), (Some(x), Some(y)) if (x - y).abs() <= most))
        });
        before.len() == after.len() && alike
    }

    /// The parts of the pointer.
    fn parts(&self) -> Vec<&str> {
        self.place.split('/').skip(1).collect()
    }

    /// How `unchecked` writes the place.
    fn field(&self) -> String {
        let mut field = String::new();
        for part in self.parts() {
            if part.parse::<usize>().is_ok() {
                field.push_str("[]");
            } else {
                field.push_str(if field.is_empty() { "" } else { "." });
                field.push_str(part);
            }
        }
        field
    }
}

/// A document as `verify` reads it.
macro_rules! written {
    ($document:expr) => {{
        let mut file = Vec::new();
        write_json(&mut file, $document).unwrap();
        serde_json::from_slice::<Value>(&file).unwrap()
    }};
}

fn hold(verdicts: &[Verdict]) -> bool {
    verdicts.iter().all(|verdict| verdict.holds)
}

/// Every place of a document, with what is there.
fn places(document: &Value) -> Vec<(String, Value)> {
    fn walk(value: &Value, place: String, found: &mut Vec<(String, Value)>) {
        match value {
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(k, item)| walk(item, format!("{place}/{k}"), found));
            }
            Value::Object(fields) => {
                fields.iter().for_each(|(name, field)| walk(field, format!("{place}/{name}"), found));
            }
            _ => {}
        }
        found.push((place, value.clone()));
    }
    let mut found = Vec::new();
    walk(document, String::new(), &mut found);
    found.pop();
    found
}

/// What stands in place of a value: a little and a lot more or less, nothing, another sign, huge, tiny, of another type,
/// another one of its list, an entry fewer, double or elsewhere.
fn replacements(value: &Value, strings: &[String]) -> Vec<Value> {
    let mut all = vec![Value::Null];
    match value {
        Value::Number(number) => {
            if let Some(whole) = number.as_u64() {
                all.extend(
                    [whole + 1, whole.saturating_sub(1), whole * 2 + 1, 0, u64::MAX].map(|x| json!(x)),
                );
                all.push(json!(-1));
            }
            if number.is_f64() {
                let x = value.as_f64().unwrap();
                let changed = [
                    x * (1.0 + 1e-3),
                    x * (1.0 - 1e-3),
                    x * 2.0,
                    x / 2.0,
                    -x,
                    x + 1e-3,
                    -1e-3,
                    0.0,
                    1.0,
                    1e300,
                    -1e300,
                    5e-324,
                    f64::MAX,
                ];
                all.extend(changed.into_iter().filter(|x| x.is_finite()).map(|x| json!(x)));
            }
            all.push(json!("1"));
        }
        Value::Bool(is) => all.push(json!(!is)),
        Value::String(_) => {
            all.push(json!("someone"));
            all.push(json!(1));
            all.extend(strings.iter().map(|text| json!(text)));
        }
        Value::Array(items) => {
            all.push(json!([]));
            for k in 0..items.len() {
                let mut fewer = items.clone();
                fewer.remove(k);
                let mut twice = items.clone();
                twice.insert(k, items[k].clone());
                let mut last = items.clone();
                last.push(items[k].clone());
                all.extend([fewer, twice, last].map(Value::Array));
                if k > 0 {
                    let mut swapped = items.clone();
                    swapped.swap(k - 1, k);
                    all.push(Value::Array(swapped));
                }
            }
        }
        Value::Object(fields) => {
            for name in fields.keys() {
                let mut fewer = fields.clone();
                fewer.remove(name);
                all.push(Value::Object(fewer));
            }
            let mut more = fields.clone();
            more.insert("more".into(), json!(1.0));
            all.extend([Value::Object(more), json!({})]);
        }
        Value::Null => {}
    }
    all
}

/// Every change of a document.
fn changes(document: &Value) -> Vec<Change> {
    let places = places(document);
    let mut strings: Vec<String> = places.iter().filter_map(|(_, v)| v.as_str().map(str::to_owned)).collect();
    strings.sort();
    strings.dedup();
    strings.retain(|text| text.len() < 40);
    let mut all = Vec::new();
    for (place, before) in &places {
        for after in replacements(before, &strings) {
            let mut changed = document.clone();
            *changed.pointer_mut(place).unwrap() = after.clone();
            if changed != *document && !are_equal(before, &after) {
                let (place, before) = (place.clone(), before.clone());
                all.push(Change { place, before, after: Some(after), document: changed });
            }
        }
    }
    all
}

/// The same number, if -0 is 0.
fn are_equal(a: &Value, b: &Value) -> bool {
    matches!((a.as_f64(), b.as_f64()), (Some(a), Some(b)) if a == b)
}

/// Changes everything in all cases; returns how many changes there were, of which none may pass.
fn nothing_false_passes(cases: Vec<Case>) -> u64 {
    let (tried, unseen) = (AtomicU64::new(0), AtomicU64::new(0));
    cases.par_iter().for_each(|case| {
        let accepts = |document: &Value| (case.accepts)(&serde_json::to_vec(document).unwrap());
        assert!(
            accepts(&case.document),
            "{}: the document itself is refused:\n{:#}",
            case.name,
            case.document
        );
        let format = case.document["format"].as_str().unwrap();
        let listed: Vec<String> = unchecked(format).map(|one| one.field).collect();
        for change in changes(&case.document) {
            let field = change.field();
            let is_listed = listed.iter().any(|known| {
                field
                    .strip_prefix(known.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || rest.starts_with('['))
            });
            if is_listed {
                unseen.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            tried.fetch_add(1, Ordering::Relaxed);
            if !accepts(&change.document) || change.is_rounding() {
                continue;
            }
            // An object that lacks or gains only what is not checked.
            let children = |name: &String| {
                let inside = if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
                listed.contains(&inside)
            };
            if let (Some(before), Some(Some(after))) =
                (change.before.as_object(), change.after.as_ref().map(Value::as_object))
                && before.iter().all(|(name, value)| after.get(name) == Some(value) || children(name))
                && after.keys().all(|name| before.contains_key(name))
            {
                continue;
            }
            assert!(
                (case.is_true)(&case.document, &change),
                "{}: {} may be {} instead of {}\n{:#}",
                case.name,
                change.place,
                change.after.as_ref().unwrap(),
                change.before,
                case.document
            );
        }
    });
    println!(
        "{} changes of {} documents refused, {} of unchecked fields",
        tried.load(Ordering::Relaxed),
        cases.len(),
        unseen.load(Ordering::Relaxed)
    );
    tried.load(Ordering::Relaxed)
}

/// All of a class together.
fn capacity(instance: &Instance, class: &str, resource: &str) -> f64 {
    let l = instance.class_named(class).unwrap();
    let r = instance.resources().iter().position(|name| name == resource).unwrap();
    let class = &instance.classes()[l.0];
    class.count as f64 * class.capacity[r].to_f64()
}

/// Whether a changed price in a list of prices by class is within the tolerance: what it adds is below this part of what
/// all are worth.
fn is_slight_price(
    instance: &Instance,
    rows: &Value,
    id: &str,
    at: (&str, &str),
    by: f64,
    part: f64,
) -> bool {
    let rows = rows.as_array().unwrap();
    let worth: f64 = rows
        .iter()
        .flat_map(|row| {
            let class = row[id].as_str().unwrap().to_owned();
            row["price"]
                .as_object()
                .unwrap()
                .iter()
                .map(move |(r, p)| (class.clone(), r.clone(), p.as_f64().unwrap()))
        })
        .map(|(class, r, price)| price * capacity(instance, &class, &r))
        .sum();
    by.abs() * capacity(instance, at.0, at.1) <= part * worth
}

/// Whether prices prove as much to the second checker, which is written from the mathematics alone: where users run out of
/// tasks, several prices are right.
fn is_proved_elsewhere(instance: &Instance, document: &Value) -> bool {
    let scratch = tempfile::tempdir().unwrap();
    let path = |name: &str| scratch.path().join(name);
    let mut file = Vec::new();
    fairplan_instances::files::write_json(instance, &mut file).unwrap();
    std::fs::write(path("instance.json"), file).unwrap();
    std::fs::write(path("solution.json"), document.to_string()).unwrap();
    second_checker(&path("instance.json"), &path("solution.json")).is_none_or(|told| told.is_ok())
}

/// Prices row by row.
fn price_rows(instance: &Instance, rows: &Value) -> Option<Vec<Vec<f64>>> {
    let row = |row: &Value| {
        instance.resources().iter().map(|r| row["price"].get(r)?.as_f64()).collect::<Option<Vec<f64>>>()
    };
    rows.as_array()?.iter().map(row).collect()
}

/// What prices prove of divisible tasks, in plain doubles: of the smallest weighted share, and of the sum of logarithms
/// with the weights' sum.
fn divisible_by(instance: &Instance, rows: &[Vec<f64>]) -> (f64, f64, f64) {
    let worth: f64 = instance
        .classes()
        .iter()
        .zip(rows)
        .flat_map(|(class, row)| {
            class.capacity.iter().zip(row).map(|(c, p)| class.count as f64 * c.to_f64() * p)
        })
        .sum();
    let (mut scale, mut sum, mut weights) = (0.0, worth, 0.0);
    for user in instance.users() {
        let cost = (0..rows.len())
            .filter(|l| user.can_use(ClassId(*l)))
            .map(|l| user.demand_doubles().iter().zip(&rows[l]).map(|(d, p)| d * p).sum::<f64>())
            .fold(f64::INFINITY, f64::min);
        let (weight, price) = (user.weight().to_f64(), cost / user.task_share());
        scale += weight * price;
        let most = user.tasks().map_or(f64::INFINITY, |tasks| tasks as f64 * user.task_share());
        let share = (weight / price).min(most);
        sum += weight * share.ln() - price * share;
        weights += weight;
    }
    (worth / scale, sum, weights)
}

fn is_true_solution(instance: &Instance, objective: Objective, original: &Value, change: &Change) -> bool {
    let parts = change.parts();
    match (parts.as_slice(), change.numbers()) {
        (["certificate", "relative_gap"], Some((a, b))) => (a - b).abs() <= 2e-10,
        (["server_classes", l, "price", r], Some((a, b))) => {
            let rows = &original["server_classes"];
            let class = rows[l.parse::<usize>().unwrap()]["id"].as_str().unwrap();
            is_slight_price(instance, rows, "id", (class, r), a - b, 1e-9)
                || is_proved_elsewhere(instance, &change.document)
        }
        (["certificate", "levels", k, "prices", l, "price", r], Some((a, b))) => {
            let rows = &original["certificate"]["levels"][k.parse::<usize>().unwrap()]["prices"];
            let class = rows[l.parse::<usize>().unwrap()]["class"].as_str().unwrap();
            is_slight_price(instance, rows, "class", (class, r), a - b, 1e-9)
                || is_proved_elsewhere(instance, &change.document)
        }
        (["users", i, "placement", _, "tasks"], Some((a, b))) => {
            let all = original["users"][i.parse::<usize>().unwrap()]["tasks"].as_f64().unwrap();
            (a - b).abs() <= 2e-9 * all
        }
        (["users", i, "placement"], None) => {
            let all = original["users"][i.parse::<usize>().unwrap()]["tasks"].as_f64().unwrap();
            let tasks = |list: &Value| -> f64 {
                list.as_array().unwrap().iter().map(|entry| entry["tasks"].as_f64().unwrap()).sum()
            };
            change
                .after
                .as_ref()
                .is_some_and(|after| (tasks(&change.before) - tasks(after)).abs() <= 1e-9 * all)
        }
        (["server_classes", _, "utilization", _] | ["utilization", _], Some((a, b))) => {
            (a - b).abs() <= 1e-27
        }
        // A user whose tasks run out right at its level may be said to be held by either.
        (["users", i, "limited_by" | "level"], _) => {
            let i: usize = i.parse().unwrap();
            let user = instance.user(UserId(i));
            let stated = &change.document["users"][i];
            let running = stated["tasks"].as_f64().unwrap();
            let runs_all = user.tasks().is_some_and(|tasks| running >= tasks as f64 * (1.0 - 2e-9));
            let Some(levels) = original["certificate"]["levels"].as_array() else { return runs_all };
            let share = stated["dominant_share"].as_f64().unwrap() / objective.share_per_level(user);
            let value = |k: u64| {
                levels.get(k as usize).map_or(f64::INFINITY, |level| level["value"].as_f64().unwrap())
            };
            let k = stated["level"].as_u64().unwrap();
            if stated["limited_by"] == "capacity" {
                (value(k) - share).abs() <= 2e-9 * share
            } else {
                let before = if k == 0 { 0.0 } else { value(k - 1) };
                runs_all && before <= share * (1.0 + 2e-9) && share <= value(k) * (1.0 + 2e-9)
            }
        }
        _ => false,
    }
}

fn solution_case(name: String, instance: Instance, objective: Objective) -> Option<Case> {
    objective.applies_to(&instance).ok()?;
    let solution = backend("auto").unwrap().solve(&instance, objective).unwrap();
    let (headline, sha256) = (Headline::new(&instance, &solution), sha256_hex(&instance));
    let document = written!(&solution_document(&instance, &solution, &headline, &sha256, false));
    let of_result = |instance: &Instance, bytes: &[u8]| {
        let Ok(document) = read_json::<SolutionDocument>("solution.json", bytes) else { return false };
        StatedSolution::new(&document, instance, &sha256_hex(instance))
            .is_ok_and(|stated| stated.proof(instance).holds())
    };
    // What is not proved is no result.
    if !of_result(&instance, &serde_json::to_vec(&document).unwrap()) {
        return None;
    }
    let theirs = instance.clone();
    Some(Case {
        name: format!("{objective} of {name}"),
        document,
        accepts: Box::new(move |bytes| of_result(&instance, bytes)),
        is_true: Box::new(move |original, change| is_true_solution(&theirs, objective, original, change)),
    })
}

const OBJECTIVES: [&str; 10] =
    ["drfh", "tsf", "drf", "drf-per-server", "bmf", "pf", "utilitarian", "alpha=2", "alpha=0.3", "alpha=40"];

#[test]
#[ignore = "half a minute"]
fn every_field_of_a_solution_is_checked() {
    let mut cases = Vec::new();
    let mut seed = 0;
    for objective in OBJECTIVES {
        let objective: Objective = objective.parse().unwrap();
        let before = cases.len();
        while cases.len() < before + 10 {
            seed += 1;
            let Ok(instance) = odd_draft(seed).build() else { continue };
            cases.extend(solution_case(format!("seed {seed}"), instance, objective));
        }
    }
    for seed in 0..10 {
        let instance = random_tree(seed).build().unwrap();
        cases.extend(solution_case(format!("tree of seed {seed}"), instance, Objective::Drfh));
    }
    assert!(nothing_false_passes(cases) > 50_000);
}

/// Whether only servers of one class changed places.
fn are_like_servers_swapped(change: &Change) -> bool {
    let (Some(before), Some(Some(after))) =
        (change.before.as_array(), change.after.as_ref().map(Value::as_array))
    else {
        return false;
    };
    let classes = |list: &[Value]| list.iter().map(|server| server["class"].clone()).collect::<Vec<_>>();
    let sorted = |list: &[Value]| {
        let mut texts: Vec<String> = list.iter().map(Value::to_string).collect();
        texts.sort();
        texts
    };
    change.place.ends_with("/servers") && classes(before) == classes(after) && sorted(before) == sorted(after)
}

#[test]
fn every_field_of_a_placement_is_checked() {
    let mut cases = Vec::new();
    // Groups and guarantees are told of, too.
    let with_quotas =
        (0..60).filter_map(|seed| Some((seed, small(random_tree_with_quotas_of_classes(seed))?))).take(10);
    for (seed, instance) in whole_instances().take(40).chain(with_quotas) {
        let placement = policy("best-fit", 7).unwrap().place(&instance);
        let Ok(placement) = placement else { continue };
        let (figures, sha256) = (PlacementFigures::new(&instance, &placement), sha256_hex(&instance));
        let settings = PlacementSettings { policy: "best-fit", seed: 7, servers: true, divisions: &[] };
        let document = written!(&placement_document(&instance, &placement, &figures, &sha256, settings));
        cases.push(Case {
            name: format!("placement of seed {seed}"),
            document,
            accepts: Box::new(move |bytes| {
                let Ok(document) = read_json::<PlacementDocument>("p", bytes) else { return false };
                StatedPlacement::new(&document, &instance, &sha256_hex(&instance))
                    .is_ok_and(|stated| hold(&verify_placement(&instance, &stated.claim())))
            }),
            is_true: Box::new(|_, change| are_like_servers_swapped(change)),
        });
    }
    assert!(nothing_false_passes(cases) > 10_000);
}

/// The most that a server's contents are worth, by trying all.
fn best_content(instance: &Instance, class: usize, values: &[u64]) -> u128 {
    fn fill(instance: &Instance, class: usize, values: &[u64], user: usize, room: &mut Vec<u128>) -> u128 {
        let Some(value) = values.get(user) else { return 0 };
        let m = room.len();
        let demand: Vec<u128> =
            (0..m).map(|r| instance.user(UserId(user)).demand_units(ResourceId(r))).collect();
        let allowed = instance.user(UserId(user)).rule().allows(ClassId(class)) && *value > 0;
        let most = demand.iter().zip(room.iter()).filter(|(d, _)| **d > 0).map(|(d, c)| c / d).min().unwrap();
        let mut best = 0;
        for count in 0..=if allowed { most } else { 0 } {
            room.iter_mut().zip(&demand).for_each(|(room, d)| *room -= d * count);
            best = best.max(u128::from(*value) * count + fill(instance, class, values, user + 1, room));
            room.iter_mut().zip(&demand).for_each(|(room, d)| *room += d * count);
        }
        best
    }
    let m = instance.resources().len();
    let mut room = (0..m).map(|r| instance.capacity_units(ClassId(class), ResourceId(r))).collect();
    fill(instance, class, values, 0, &mut room)
}

fn whole_numbers(list: &Value) -> Option<Vec<u64>> {
    list.as_array()?.iter().map(Value::as_u64).collect()
}

fn breakpoint(instance: &Instance, at: &Value) -> Option<Breakpoint> {
    Some(Breakpoint { user: instance.user_named(at["user"].as_str()?)?, tasks: at["tasks"].as_u64()? })
}

/// Whether the values of a changed certificate prove the bound all the same.
fn do_values_prove(instance: &Instance, document: &Value) -> bool {
    let certificate = &document["certificate"];
    let (Some(tasks), Some(servers), Some(upper)) = (
        whole_numbers(&certificate["task_values"]),
        whole_numbers(&certificate["server_values"]),
        breakpoint(instance, &certificate["upper"]),
    ) else {
        return false;
    };
    let mut worth = 0u128;
    for user in instance.users() {
        let more = |tasks: u64| {
            compare_breakpoints(instance, Breakpoint { user: user.index(), tasks }, upper).is_gt()
        };
        let needed = (1..1_000_000).find(|tasks| more(*tasks)).unwrap_or(u64::MAX);
        let needed = needed.min(user.tasks().unwrap_or(u64::MAX));
        worth = worth.saturating_add(u128::from(needed).saturating_mul(u128::from(tasks[user.index().0])));
    }
    let held: u128 = instance
        .classes()
        .iter()
        .zip(&servers)
        .map(|(class, value)| u128::from(class.count) * u128::from(*value))
        .sum();
    let holds = |l: usize| {
        instance.classes()[l].count == 0 || best_content(instance, l, &tasks) <= u128::from(servers[l])
    };
    worth > held && (0..servers.len()).all(holds)
}

fn is_true_bound(instance: &Instance, original: &Value, change: &Change) -> bool {
    if are_like_servers_swapped(change) {
        return true;
    }
    let parts = change.parts();
    match parts.as_slice() {
        ["certificate", "task_values" | "server_values", ..] => do_values_prove(instance, &change.document),
        ["certificate", side @ ("upper" | "lower"), ..] => {
            let at = |document: &Value| breakpoint(instance, &document["certificate"][*side]);
            let (Some(a), Some(b)) = (at(original), at(&change.document)) else { return false };
            compare_breakpoints(instance, a, b).is_eq()
        }
        ["certificate", "task_limit"] => {
            let upper = breakpoint(instance, &original["certificate"]["upper"]).unwrap();
            let named = change.after.as_ref().and_then(Value::as_str).and_then(|id| instance.user_named(id));
            named
                .and_then(|user| Some(Breakpoint { user, tasks: instance.user(user).tasks()? }))
                .is_some_and(|all| compare_breakpoints(instance, all, upper).is_le())
        }
        ["divisible_prices", l, "price", r] => {
            let rows = &original["divisible_prices"];
            let class = rows[l.parse::<usize>().unwrap()]["class"].as_str().unwrap();
            let proved = price_rows(instance, &change.document["divisible_prices"])
                .map(|rows| divisible_by(instance, &rows).0)
                .is_some_and(|bound| (bound - original["divisible"].as_f64().unwrap()).abs() <= 1e-8 * bound);
            change.numbers().is_some_and(|(a, b)| {
                proved
                    || is_slight_price(instance, rows, "class", (class, r), a - b, 2e-9)
                    || is_bound_by_tasks(instance, original)
            })
        }
        ["divisible_prices"] | [] => is_bound_by_tasks(instance, original),
        _ => false,
    }
}

/// Whether what somebody's tasks allow is the divisible bound, so that prices prove nothing.
fn is_bound_by_tasks(instance: &Instance, document: &Value) -> bool {
    let caps = instance.users().map(|user| {
        let can_run = (0..instance.classes().len()).any(|l| user.can_use(ClassId(l)));
        let tasks = if can_run { user.tasks().map_or(f64::INFINITY, |tasks| tasks as f64) } else { 0.0 };
        if tasks == 0.0 { 0.0 } else { tasks * user.task_share() / user.weight().to_f64() }
    });
    let cap = caps.fold(f64::INFINITY, f64::min);
    let stated = document["divisible"].as_f64().unwrap();
    (cap - stated).abs() <= 1e-9 * cap
}

/// Small instances of whole tasks, some with classes of no servers, users of no tasks and users that fit nowhere.
fn whole_instances() -> impl Iterator<Item = (u64, Instance)> {
    (0..400).filter_map(|seed| {
        let mut draft = random_draft_without_rates(seed);
        let mut dice = Dice::new(seed ^ 0x0dd);
        if dice.percent(40) {
            let mut twin = draft.classes[0].clone();
            (twin.id, twin.count) = ("none".into(), 0);
            draft.classes.insert(0, twin);
            let shift = |l: &mut usize| *l += 1;
            draft.users.iter_mut().flat_map(|user| &mut user.eligible).flatten().for_each(shift);
        }
        if dice.percent(30) {
            draft.users[0].tasks = Some(dice.below(3));
        }
        let instance = draft.build().ok()?;
        let total: u64 = instance.server_count();
        (total <= 8 && instance.user_count() <= 4).then_some((seed, instance))
    })
}

#[test]
fn every_field_of_a_bound_is_checked() {
    let mut cases = Vec::new();
    for (seed, instance) in whole_instances().take(40) {
        let Ok(bracket) = whole_task_bracket(&instance, &Deadline::never()) else { continue };
        let solution = backend("auto").unwrap().solve(&instance, Objective::Drfh).unwrap();
        let (divisible, sha256) = (DivisibleBound::new(&instance, &solution, None), sha256_hex(&instance));
        let theirs = instance.clone();
        cases.push(Case {
            name: format!("bound of seed {seed}"),
            document: written!(&bound_document(&instance, &sha256, &divisible, &[], &bracket)),
            accepts: Box::new(move |bytes| {
                let Ok(document) = read_json::<BoundDocument>("b", bytes) else { return false };
                StatedBracket::new(&document, &instance, &sha256_hex(&instance))
                    .is_ok_and(|stated| hold(&stated.verdicts(&instance)))
            }),
            is_true: Box::new(move |original, change| is_true_bound(&theirs, original, change)),
        });
    }
    assert!(nothing_false_passes(cases) > 10_000);
}

#[test]
fn every_field_of_a_bound_of_a_sum_is_checked() {
    let mut cases = Vec::new();
    for (seed, instance) in whole_instances().take(40) {
        let Ok(bracket) = proportional_bracket(&instance, &Deadline::never()) else { continue };
        let solution = backend("auto").unwrap().solve(&instance, Objective::ProportionalFairness).unwrap();
        let sha256 = sha256_hex(&instance);
        let divisible =
            bracket.without_tasks.is_empty().then(|| DivisibleBound::new(&instance, &solution, None));
        let theirs = instance.clone();
        cases.push(Case {
            name: format!("bound of the sum of seed {seed}"),
            document: written!(&proportional_bound_document(
                &instance,
                &sha256,
                divisible.as_ref(),
                &bracket
            )),
            accepts: Box::new(move |bytes| {
                let Ok(document) = read_json::<ProportionalBoundDocument>("b", bytes) else { return false };
                StatedProportionalBracket::new(&document, &instance, &sha256_hex(&instance))
                    .is_ok_and(|stated| hold(&stated.verdicts(&instance)))
            }),
            is_true: Box::new(move |original, change| {
                if are_like_servers_swapped(change) {
                    return true;
                }
                let per_log = original["certificate"]["values_per_log"].as_f64().unwrap_or(f64::NAN);
                let weights: f64 = theirs.users().map(|user| user.weight().to_f64()).sum();
                let most = theirs.classes().iter().map(|class| class.count).max().unwrap_or(1).max(1) as f64;
                match (change.parts().as_slice(), change.numbers()) {
                    // Sums of logarithms are right to a billionth of a logarithm.
                    (["divisible" | "integral_lower" | "integral_upper"], Some((a, b))) => {
                        (a - b).abs() <= 1e-9 * weights
                    }
                    // What a value moves in the bound is within the tolerance.
                    (["certificate", "server_values", l], Some((a, b))) => {
                        let count = theirs.classes()[l.parse::<usize>().unwrap()].count as f64;
                        (a - b).abs() * count / per_log <= 2e-10
                    }
                    (["certificate", "task_values", _], Some((a, b))) => {
                        (a - b).abs() * 1e3 / per_log <= 1e-9
                    }
                    // Values that hardly differ may change places where either proves as much.
                    (["certificate", "server_values"], None) => {
                        let values = original["certificate"]["server_values"].as_array().unwrap();
                        let largest = values.iter().filter_map(Value::as_f64).fold(0.0, f64::max);
                        change.is_within((2e-10 * per_log / most).max(2e-9 * largest))
                    }
                    (["certificate", "task_values"], None) => change.is_within(1e-13 * per_log),
                    // Nor does their unit move it, where they come to nothing.
                    (["certificate", "values_per_log"], Some((_, after))) => {
                        let certificate = &original["certificate"];
                        let sum = |name: &str| {
                            whole_numbers(&certificate[name]).unwrap().iter().sum::<u64>() as f64
                        };
                        (sum("server_values") * 8.0 + sum("task_values") * 1e3) / per_log.min(after) <= 1e-9
                    }
                    (["divisible_prices", l, "price", r], Some((a, b))) => {
                        let rows = &original["divisible_prices"];
                        let class = rows[l.parse::<usize>().unwrap()]["class"].as_str().unwrap();
                        is_slight_price(&theirs, rows, "class", (class, r), a - b, 2e-9)
                            || price_rows(&theirs, &change.document["divisible_prices"]).is_some_and(|rows| {
                                let (_, sum, weights) = divisible_by(&theirs, &rows);
                                let stated = original["divisible"].as_f64().unwrap();
                                (sum - stated).abs() <= 1e-8 * weights.max(stated.abs())
                            })
                    }
                    _ => false,
                }
            }),
        });
    }
    assert!(nothing_false_passes(cases) > 10_000);
}

/// A small series of slices.
fn small_series(seed: u64) -> DemandSeries {
    let mut dice = Dice::new(seed);
    let users = 1 + dice.below(4) as usize;
    let mut builder = fairplan_instances::DemandSeriesBuilder::default();
    (0..users).for_each(|user| {
        builder.user(&format!("user-{user}")).unwrap();
    });
    for quantum in 0..1 + dice.below(4) {
        builder.quantum(fairplan_instances::QuantumLabel::Number(quantum)).unwrap();
        for user in 0..users {
            builder.demand(user, if dice.percent(30) { 0 } else { dice.below(8) }).unwrap();
        }
    }
    builder.build().unwrap()
}

#[test]
fn every_field_of_an_offline_optimum_is_checked() {
    let half = GuaranteedFraction::new("0.5".parse().unwrap()).unwrap();
    let mut cases = Vec::new();
    for seed in 0..60u64 {
        let series = small_series(seed);
        let capacity = 1 + seed % 7;
        let shares = FairShares::Capacity(capacity * series.user_count() as u64);
        let (measure, whole_slices) =
            ([OfflineMeasure::Totals, OfflineMeasure::Welfare][seed as usize % 2], seed % 3 == 0);
        let guaranteed = (seed % 5 == 0).then_some(half);
        let problem = OfflineProblem { series: &series, shares: &shares, guaranteed, measure, whole_slices };
        let optimum = match whole_slices || seed % 4 == 0 {
            true => offline_optimum(&problem),
            false => exact_offline_optimum_within(&problem, &Deadline::never()).unwrap(),
        };
        let claim = OfflineClaim::from(&optimum);
        let proof = verify_offline(&problem, claim);
        let settings = AllocationSettings {
            capacity: Some(capacity * series.user_count() as u64),
            alpha: Some(0.5),
            ties: "lowest".into(),
            ..AllocationSettings::default()
        };
        let totals: Vec<f64> = series.totals().into_iter().map(|slices| slices as f64).collect();
        let one = Against::new("karma", problem.smallest(&totals), 3.0, series.quantum_count());
        let held = Held { against: vec![one.clone()], online_bound: Some(one) };
        let sha256 = demands_sha256_hex(&series);
        let mut document = offline_document(&problem, &sha256, settings, &optimum, &proof, held, true);
        let value = document.value;
        let body = &mut document.body;
        for one in body.against.iter_mut().chain(&mut body.online_bound) {
            one.regret = if value == 0.0 { 0.0 } else { 1.0 - one.value / value };
            one.regret_per_quantum = (value - one.value) / series.quantum_count() as f64;
        }
        let document = written!(&document);
        cases.push(Case {
            name: format!("offline optimum of seed {seed}"),
            document,
            accepts: Box::new(move |bytes| {
                let Ok(document) = read_json::<OfflineDocument>("o", bytes) else { return false };
                let sha256 = demands_sha256_hex(&series);
                StatedOffline::new(&document, &series, &sha256)
                    .is_ok_and(|stated| hold(&stated.verdicts(&document, &series, &sha256)))
            }),
            // They are the question, and the answer was proved for the other one.
            is_true: Box::new(|_, change| {
                matches!(change.parts().as_slice(), ["measure" | "whole_slices" | "guaranteed"])
                    || changes_only_question(change)
            }),
        });
    }
    assert!(nothing_false_passes(cases) > 10_000);
}

/// Whether a change of the whole document is the lack of what may be absent.
fn changes_only_question(change: &Change) -> bool {
    let lacks = |name: &str| {
        change.place.is_empty() && change.document.get(name).is_none() && change.before.get(name).is_some()
    };
    // Nothing is said of mechanisms then.
    lacks("against")
        || lacks("online_bound")
        || matches!(change.parts().as_slice(), ["against"] | ["online_bound"])
            && !change.document.to_string().contains("\"more\"")
}

#[test]
#[ignore = "half a minute"]
fn every_field_of_an_offline_optimum_over_servers_is_checked() {
    let mut cases = Vec::new();
    for seed in 0..200u64 {
        let (instance, series) = crate::over_time::random_case(seed, 3, 6);
        let measure = [OfflineMeasure::Totals, OfflineMeasure::Welfare][seed as usize % 2];
        let demands = TaskDemands::new(&instance, &series).unwrap().measured_by(measure);
        let optimum = task_optimum(&demands);
        let proof = verify_task_optimum(&demands, TaskClaim::from(&optimum));
        if !proof.holds() || cases.len() >= 40 {
            continue;
        }
        let sha256 = [demands_sha256_hex(&series), sha256_hex(&instance)];
        let sha256 = sha256.each_ref().map(String::as_str);
        let value = demands.smallest(&optimum.tasks);
        let one = Against::new("karma", value, value, series.quantum_count());
        let held = Held { against: vec![one], online_bound: None };
        let document = written!(&task_offline_document(&demands, sha256, &optimum, &proof, held, true));
        let theirs = instance.clone();
        cases.push(Case {
            name: format!("offline optimum over servers of seed {seed}"),
            document,
            accepts: Box::new(move |bytes| {
                let Ok(document) = read_json::<TaskOfflineDocument>("o", bytes) else { return false };
                let sha256 = [demands_sha256_hex(&series), sha256_hex(&instance)];
                let sha256 = sha256.each_ref().map(String::as_str);
                let Ok(measure) = stated_measure(&document) else { return false };
                let demands = TaskDemands::new(&instance, &series).unwrap().measured_by(measure);
                StatedTaskOffline::new(&document, &demands, sha256)
                    .is_ok_and(|stated| hold(&stated.verdicts(&document, &demands, sha256)))
            }),
            is_true: Box::new(move |original, change| is_true_task_optimum(&theirs, original, change)),
        });
    }
    assert!(nothing_false_passes(cases) > 10_000);
}

/// Whether the tasks of every quantum are as many and fit, but for rounding.
fn is_another_split(instance: &Instance, change: &Change) -> bool {
    let ids: Vec<&str> = change.document["users"]
        .as_array()
        .unwrap()
        .iter()
        .map(|user| user["id"].as_str().unwrap())
        .collect();
    let sum = |row: &Value| row.as_array().unwrap().iter().map(|tasks| tasks.as_f64().unwrap()).sum::<f64>();
    let Some(after) = change.after.as_ref().filter(|after| after.is_array()) else { return false };
    if (sum(&change.before) - sum(after)).abs() > 1e-12 * sum(after) {
        return false;
    }
    let fits = |quantum: &Value| {
        (0..instance.classes().len()).all(|l| {
            (0..instance.resources().len()).all(|r| {
                let rows = quantum["tasks"].as_array().unwrap().iter().zip(&ids);
                let used: f64 = rows
                    .map(|(row, id)| {
                        let user = instance.user(instance.user_named(id).unwrap());
                        row[l].as_f64().unwrap_or(0.0) * user.demand_doubles()[r]
                    })
                    .sum();
                let class = &instance.classes()[l];
                used <= class.count as f64 * class.capacity[r].to_f64() * (1.0 + 1e-12)
            })
        })
    };
    change.document["quanta"].as_array().unwrap().iter().all(fits)
}

fn is_true_task_optimum(instance: &Instance, original: &Value, change: &Change) -> bool {
    if changes_only_question(change) {
        return true;
    }
    // Prices and multipliers prove as well what they prove within the tolerance.
    let slight = |k: &str, name: &str| {
        let numbers = places(&original["levels"][k.parse::<usize>().unwrap()][name]);
        1e-5 * numbers.iter().filter_map(|(_, value)| value.as_f64()).sum::<f64>()
    };
    match change.parts().as_slice() {
        ["measure"] => true,
        ["quanta", _, "tasks", _] => is_another_split(instance, change),
        ["levels", k, name @ ("prices" | "multipliers"), ..] if change.is_within(slight(k, name)) => true,
        // Any multiplier is right of users who keep what they have, and of the only one who does not.
        ["levels", k, "multipliers", user] => {
            let (k, user): (u64, usize) = (k.parse().unwrap(), user.parse().unwrap());
            let level = original["users"][user]["level"].as_u64();
            let all = original["levels"][k as usize]["multipliers"].as_array().unwrap();
            let sum: f64 = all.iter().filter_map(Value::as_f64).sum();
            let own = all[user].as_f64().unwrap();
            let is_number = change.after.as_ref().is_some_and(Value::is_number);
            is_number && (level.is_none_or(|level| level < k) || own >= sum * (1.0 - 1e-5))
        }
        _ => false,
    }
}

/// Whether a changed plan of moves is just as true: its proof is still one, or another question was asked.
fn is_true_plan(_: &Value, change: &Change) -> bool {
    let parts = change.parts();
    let question = ["kept_users", "kept_servers", "servers"];
    let is_other_proof = parts.first() == Some(&"proof") || parts.last() == Some(&"task_value");
    let is_question = parts.first().is_some_and(|first| question.contains(first))
        || parts.last() == Some(&"cost") && parts.len() == 3;
    let lowers = |part: &str| {
        let number = |value: Option<&Value>| value.and_then(Value::as_u64);
        parts.last() == Some(&part)
            && number(change.after.as_ref()).is_some_and(|after| Some(after) <= number(Some(&change.before)))
    };
    // Steps may change places where both have room, and servers alike may change names.
    let is_other_way = parts.first() == Some(&"steps");
    // Two users may have the same level with as many tasks: the value is checked.
    let is_same_level = parts == ["target", "level", "user"];
    is_other_proof
        || is_question
        || is_other_way
        || is_same_level
        || lowers("lower_bound")
        || lowers("required")
}

#[test]
fn every_field_of_a_plan_of_moves_is_checked() {
    use fairplan::{Control, MoveTarget, MovesOptions, ResultFile};
    let instance = fairplan_instances::generate::drfh_fig1().unwrap();
    let placement = policy("first-fit", 0).unwrap().place(&instance).unwrap();
    let settings = PlacementSettings { policy: "first-fit", seed: 0, servers: true, divisions: &[] };
    let figures = PlacementFigures::new(&instance, &placement);
    let sha256 = sha256_hex(&instance);
    let mut bytes = Vec::new();
    write_json(&mut bytes, &placement_document(&instance, &placement, &figures, &sha256, settings)).unwrap();
    let from = ResultFile::new("now.json".into(), bytes).unwrap();
    let options = MovesOptions { target: MoveTarget::Level(1.0), ..MovesOptions::new(from) };
    let body = fairplan::moves(&instance, &options, &Control::none()).unwrap();
    let document = written!(&fairplan_instances::Document::new(body));
    let case = Case {
        name: "moves".into(),
        document,
        accepts: Box::new(move |bytes| {
            let Ok(file) = ResultFile::new("m".into(), bytes.to_vec()) else { return false };
            fairplan::verify(&instance, file, &Control::none()).is_ok_and(|verified| verified.holds)
        }),
        is_true: Box::new(is_true_plan),
    };
    assert!(nothing_false_passes(vec![case]) > 100);
}
