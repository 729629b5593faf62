//! Solutions in fractions: equal to the rational oracle, proved without tolerance, and refused when anything in them is changed.

use fairplan_instances::generate::{
    Cluster, GoogleOptions, PopulationKind, PopulationOptions, drfh_fig1, google, population,
};
use fairplan_instances::{Deadline, DraftQuota, Headline, Instance, Objective, Solution, files::sha256_hex};
use fairplan_report::solution::{SolutionDocument, StatedSolution, solution_document};
use fairplan_report::{read_json, write_json};
use fairplan_solver::{backend, exact_within, sparse};
use fairplan_tests::{
    Dice, Draft, draft, is_as_the_oracle_of_servers_says, is_as_the_oracle_of_trees_says,
    is_as_the_oracle_says, odd_draft, random_draft, random_draft_with_task_rows, random_kinds_under_limits,
    random_tree, random_tree_with_limits, random_tree_with_quotas, with_random_kinds,
};
use fairplan_verify::{SolutionClaim, verify_solution};
use serde_json::Value;

fn exactly(instance: &Instance, objective: Objective) -> Solution {
    exact_within(&Deadline::never()).solve(instance, objective).unwrap()
}

fn file(instance: &Instance, solution: &Solution) -> Vec<u8> {
    let mut file = Vec::new();
    let headline = Headline::new(instance, solution);
    let sha256 = sha256_hex(instance);
    write_json(&mut file, &solution_document(instance, solution, &headline, &sha256, false)).unwrap();
    file
}

/// What `verify` finds wrong with a file.
fn refusal(instance: &Instance, file: &[u8]) -> Option<String> {
    let document = match read_json::<SolutionDocument>("solution.json", file) {
        Ok(document) => document,
        Err(error) => return Some(error.to_string()),
    };
    match StatedSolution::new(&document, instance, &sha256_hex(instance)) {
        Err(foreign) => Some(foreign.to_string()),
        Ok(stated) => {
            let proof = stated.proof(instance);
            proof.failures().next().map(|verdict| format!("{}: {}", verdict.property, verdict.witness))
        }
    }
}

fn agrees(draft: &Draft, objective: Objective) {
    // Some of the odd ones are no instances.
    let Ok(instance) = draft.build() else { return };
    let solution = exactly(&instance, objective);
    let agrees = match objective {
        Objective::DrfPerServer => is_as_the_oracle_of_servers_says(&instance, &solution),
        _ if instance.has_groups() || !instance.limit_rows().is_empty() => {
            is_as_the_oracle_of_trees_says(&instance, &solution)
        }
        _ => is_as_the_oracle_says(&instance, &solution),
    };
    agrees.unwrap_or_else(|problem| panic!("{objective}: {problem}\n{draft}"));
    let proof = verify_solution(&instance, &SolutionClaim::from(&solution));
    let failed: Vec<_> = proof.failures().collect();
    assert!(failed.is_empty(), "{objective}: {failed:?}\n{draft}");
    assert_eq!(refusal(&instance, &file(&instance, &solution)), None, "{objective}\n{draft}");
    if instance.limit_rows().is_empty() {
        return;
    }
    // Who is held by a limit is the same in doubles.
    let in_doubles = verify_solution(&instance, &SolutionClaim::from(&Solution { exact: None, ..solution }));
    let failed: Vec<_> = in_doubles.failures().filter(|verdict| verdict.property == "limited-by").collect();
    assert!(failed.is_empty(), "{objective}, in doubles: {failed:?}\n{draft}");
}

fn random(seed: u64) {
    for objective in [Objective::Drfh, Objective::TaskShareFairness] {
        agrees(&random_draft(seed), objective);
        agrees(&odd_draft(seed), objective);
        agrees(&random_draft_with_task_rows(seed), objective);
        agrees(&with_random_kinds(random_draft(seed), seed), objective);
    }
    for mut draft in [random_draft(seed), odd_draft(seed), with_random_kinds(random_draft(seed), seed)] {
        draft.users.iter_mut().for_each(|user| user.tasks = None);
        agrees(&draft, Objective::DrfPerServer);
    }
}

#[test]
fn doubles_beside_fractions_may_be_off_by_their_tolerance_and_no_more() {
    let instance = drfh_fig1().unwrap();
    let file = file(&instance, &exactly(&instance, Objective::Drfh));
    let refused = |place: &str, off: f64| {
        let mut document: Value = serde_json::from_slice(&file).unwrap();
        let number = document.pointer_mut(place).unwrap();
        *number = (number.as_f64().unwrap() * (1.0 + off)).into();
        refusal(&instance, &serde_json::to_vec(&document).unwrap())
    };
    for (place, property) in [("/value", "value"), ("/certificate/levels/0/value", "exact-doubles")] {
        assert_eq!((refused(place, 0.9e-13), refused(place, -0.9e-13)), (None, None), "{place}");
        let outside = refused(place, 1.1e-13).unwrap();
        assert!(outside.starts_with(property), "{place}: {outside}");
    }
}

#[test]
fn fractions_are_those_of_the_oracle() {
    (0..60).for_each(random);
}

#[test]
#[ignore = "1,000 instances of four kinds take half a minute"]
fn fractions_are_those_of_the_oracle_on_four_hundred_instances() {
    (0..400).for_each(random);
}

fn random_in_groups(seed: u64) {
    for objective in [Objective::Drfh, Objective::TaskShareFairness] {
        agrees(&random_tree(seed), objective);
        let mut without_guarantees = random_tree_with_quotas(seed);
        for DraftQuota { quota, .. } in &mut without_guarantees.quotas {
            quota.guarantee.clear();
        }
        for draft in [random_tree_with_limits(seed), random_kinds_under_limits(seed), without_guarantees] {
            agrees(&draft, objective);
        }
        agrees(&with_random_kinds(random_tree(seed), seed), objective);
    }
}

#[test]
fn fractions_of_users_in_groups_are_those_of_the_oracle() {
    (0..40).for_each(random_in_groups);
}

#[test]
#[ignore = "1,000 trees of four kinds take minutes"]
fn fractions_of_users_in_groups_are_those_of_the_oracle_on_four_hundred_trees() {
    (0..400).for_each(random_in_groups);
}

#[test]
fn the_papers_example_is_five_sevenths() {
    let instance = drfh_fig1().unwrap();
    let solution = exactly(&instance, Objective::Drfh);
    let exact = solution.exact.as_deref().unwrap();
    assert_eq!((exact.value.as_str(), exact.levels.len()), ("5/7", 1));
    let tasks: Vec<_> = exact.users.iter().map(|user| user.tasks.as_deref().unwrap()).collect();
    assert_eq!(tasks, ["10", "10"]);
    let headline = Headline::new(&instance, &solution);
    assert!((headline.value - 5.0 / 7.0).abs() < 1e-15 && headline.relative_gap == 0.0, "{headline:?}");
}

#[test]
fn a_pool_and_servers_apart_have_fractions_too() {
    let instance = drfh_fig1().unwrap();
    for objective in [Objective::DrfPooled, Objective::DrfPerServer] {
        let solution = exactly(&instance, objective);
        assert!(verify_solution(&instance, &SolutionClaim::from(&solution)).holds(), "{objective}");
        assert_eq!(refusal(&instance, &file(&instance, &solution)), None, "{objective}");
        if objective == Objective::DrfPerServer {
            // DRFH Fig. 1: six tasks each, where it could be ten.
            let exact = solution.exact.as_deref().unwrap();
            let tasks: Vec<_> = exact.users.iter().map(|user| user.tasks.as_deref().unwrap()).collect();
            assert_eq!(tasks, ["6", "6"]);
        }
    }
}

/// Servers apart know no groups, but a file may declare some that nobody is in.
#[test]
fn servers_apart_have_fractions_beside_a_group_without_users() {
    let mut draft = draft(&[(2, "4")], &["1", "1"]);
    draft.groups = vec![fairplan_instances::NewGroup {
        id: "empty".into(),
        weight: fairplan_tests::decimal("1"),
        parent: None,
    }];
    agrees(&draft, Objective::DrfPerServer);
}

/// A group of weight 2 beside a user: the group has two thirds, of which a member with one task leaves the rest to the other.
#[test]
fn what_a_member_leaves_goes_to_the_others_of_its_group_in_fractions() {
    let mut draft = draft(&[(1, "7")], &["1", "1", "1"]);
    draft.groups = vec![fairplan_instances::NewGroup {
        id: "team".into(),
        weight: fairplan_tests::decimal("2"),
        parent: None,
    }];
    draft.users[1].group = Some(0);
    draft.users[2].group = Some(0);
    draft.users[2].tasks = Some(1);
    let instance = draft.build().unwrap();
    let solution = exactly(&instance, Objective::Drfh);
    let exact = solution.exact.as_deref().unwrap();
    let tasks: Vec<_> = exact.users.iter().map(|user| user.tasks.as_deref().unwrap()).collect();
    assert_eq!(tasks, ["7/3", "11/3", "1"]);
    assert_eq!((exact.value.as_str(), exact.groups[0].as_deref()), ("1/3", Some("2/3")));
}

#[test]
fn what_has_no_fractions_is_refused_by_name() {
    let instance = drfh_fig1().unwrap();
    for (objective, why) in
        [("pf", "irrational"), ("alpha=2", "irrational"), ("bmf", "drfh, tsf, drf and drf-per-server")]
    {
        let refused = exact_within(&Deadline::never()).solve(&instance, objective.parse().unwrap());
        let problem = refused.unwrap_err().to_string();
        assert!(problem.contains(why) && problem.contains(objective), "{problem}");
    }
}

/// Real demands, so fractions of thousands of digits.
#[test]
fn real_users_on_googles_cluster_have_fractions() {
    let instance = google(&GoogleOptions::default()).unwrap();
    let solution = exactly(&instance, Objective::Drfh);
    let exact = solution.exact.as_deref().unwrap();
    println!(
        "{} users: {} digits, {:.30}",
        instance.user_count(),
        exact.value.len() - 1,
        Headline::new(&instance, &solution).value
    );
    assert!(verify_solution(&instance, &SolutionClaim::from(&solution)).holds());
    let near = backend("auto").unwrap().solve(&instance, Objective::Drfh).unwrap();
    let (value, near) = (Headline::new(&instance, &solution).value, Headline::new(&instance, &near).value);
    assert!((value / near - 1.0).abs() < 1e-9, "{value} {near}");
}

/// All texts that are fractions, by their paths.
pub(crate) fn fractions(document: &Value) -> Vec<String> {
    fn walk(value: &Value, path: String, within: bool, found: &mut Vec<String>) {
        match value {
            Value::Array(items) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(k, item)| walk(item, format!("{path}/{k}"), within, found));
            }
            Value::Object(fields) => fields.iter().for_each(|(name, field)| {
                walk(field, format!("{path}/{name}"), within || name == "exact", found);
            }),
            Value::String(text) if within && text.starts_with(|digit: char| digit.is_ascii_digit()) => {
                found.push(path);
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(document, String::new(), false, &mut found);
    found
}

#[test]
fn a_thousand_forged_fractions_are_refused() {
    forge(5, 1_000, Objective::Drfh, random_draft);
}

#[test]
fn forged_fractions_of_groups_and_of_servers_apart_are_refused() {
    forge(6, 1_000, Objective::Drfh, random_tree);
    let without_tasks = |seed| {
        let mut draft = random_draft(seed);
        draft.users.iter_mut().for_each(|user| user.tasks = None);
        draft
    };
    forge(7, 300, Objective::DrfPerServer, without_tasks);
    forge(8, 300, Objective::DrfPerServer, |seed| with_random_kinds(without_tasks(seed), seed));
}

/// A document with another fraction in one place, and that place; none where that says as much.
pub(crate) fn forged(dice: &mut Dice, document: &Value, paths: &[String]) -> (String, Option<Value>) {
    let path = dice.pick(&paths.iter().map(String::as_str).collect::<Vec<_>>()).to_owned();
    let mut forgery = document.clone();
    let field = forgery.pointer_mut(&path).unwrap();
    let text = field.as_str().unwrap().to_owned();
    let (above, below) = text.split_once('/').unwrap_or((&text, "1"));
    let other = match dice.below(4) {
        0 => format!("{above}1/{below}"),
        1 => format!("{above}000000000000000000001/{below}000000000000000000000"),
        2 => format!("{below}/{above}"),
        _ => format!("{}/{below}", above.parse::<u64>().unwrap_or(0) + 1),
    };
    *field = other.clone().into();
    // Prices count in their proportions only: a level with one price may have it at any height.
    let says_as_much = path.contains("/price") && !text.starts_with('0') || other == text;
    (path, (!says_as_much).then_some(forgery))
}

fn forge(stream: u64, times: usize, objective: Objective, draft: impl Fn(u64) -> Draft) {
    let mut dice = Dice::new(stream);
    let mut tried = 0;
    for seed in 0.. {
        if tried >= times {
            break;
        }
        let instance = draft(seed).build().unwrap();
        let solution = exactly(&instance, objective);
        let document: Value = serde_json::from_slice(&file(&instance, &solution)).unwrap();
        let paths = fractions(&document);
        for _ in 0..20 {
            let (path, forgery) = forged(&mut dice, &document, &paths);
            let Some(forgery) = forgery else { continue };
            let bytes = serde_json::to_vec(&forgery).unwrap();
            let field = |document: &Value| document.pointer(&path).unwrap().to_string();
            let (text, other) = (field(&document), field(&forgery));
            assert!(refusal(&instance, &bytes).is_some(), "{path}: {text} became {other}\n{instance:?}");
            tried += 1;
        }
    }
}

#[test]
fn prices_in_doubles_are_refused_in_another_unit_than_their_levels() {
    // Each level has one price, which in any unit is in proportion to its fraction.
    let mut draft = draft(&[(1, "10 0"), (1, "0 10")], &["1 0", "0 1"]);
    draft.users[1].weight = fairplan_tests::decimal("3");
    let instance = draft.build().unwrap();
    let honest = file(&instance, &exactly(&instance, Objective::Drfh));
    assert_eq!(refusal(&instance, &honest), None);
    let honest: Value = serde_json::from_slice(&honest).unwrap();
    for level in 0..2 {
        let mut forged = honest.clone();
        let classes = forged["certificate"]["levels"][level]["prices"].as_array_mut().unwrap();
        for price in classes.iter_mut().flat_map(|class| class["price"].as_object_mut().unwrap().values_mut())
        {
            *price = (2.0 * price.as_f64().unwrap()).into();
        }
        let refused = refusal(&instance, &serde_json::to_vec(&forged).unwrap()).unwrap_or_default();
        assert!(refused.contains(&format!("unit of the prices of level {level}")), "{refused}");
    }
}

#[test]
fn sparse_solutions_are_as_good_and_have_hardly_anybody_on_two_classes() {
    for seed in 0..40 {
        let instance = random_draft(seed).build().unwrap();
        for objective in ["drfh", "tsf", "pf", "utilitarian"] {
            let objective: Objective = objective.parse().unwrap();
            let plain = backend("auto").unwrap().solve(&instance, objective).unwrap();
            let thin =
                sparse(backend("auto").unwrap(), &Deadline::never()).solve(&instance, objective).unwrap();
            let on_several = |solution: &Solution| {
                let several = |user: &fairplan_instances::User<'_>| {
                    solution.allocation.placement(user.index()).count() > 1 && user.tasks().is_none()
                };
                instance.users().filter(several).count()
            };
            let rows = instance.classes().len() * instance.resources().len();
            assert!(on_several(&thin) <= on_several(&plain).min(rows), "{objective}, seed {seed}");
            let holds =
                |solution: &Solution| verify_solution(&instance, &SolutionClaim::from(solution)).holds();
            assert!(!holds(&plain) || holds(&thin), "{objective}, seed {seed}");
        }
    }
}

/// Beyond some two hundred pairs of users and classes exact levels begin where doubles point to.
#[test]
fn a_guided_start_ends_at_what_is_proved() {
    for kind in [PopulationKind::Spread, PopulationKind::Alike, PopulationKind::Zeros] {
        let cluster = Cluster::Random { classes: 5, resources: 3 };
        let instance = population(&PopulationOptions { kind, users: 100, cluster, seed: 1 }).unwrap();
        let solution = exactly(&instance, Objective::Drfh);
        let proof = verify_solution(&instance, &SolutionClaim::from(&solution));
        assert!(proof.holds(), "{kind}: {:?}", proof.failures().collect::<Vec<_>>());
    }
}
