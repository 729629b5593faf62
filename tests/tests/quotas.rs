//! Guarantees and reserves of users and groups: the division against exact arithmetic, cases worked by hand, and claims that are
//! wrong.

use crate::conformance::backends;
use crate::groups::{conforms, in_groups};
use fairplan_heuristics::policy;
use fairplan_instances::{
    Allocation, Certificate, ClassAmounts, ClassId, Decimal, DraftQuota, GroupId, GuaranteeResult,
    InsideGroup, Instance, InstanceError, LimitedBy, Objective, Owner, Quota, ResourceId, Shortfall,
    Solution, Solver, UserId, files, guarantee_results,
};
use fairplan_report::solution::StatedNumbers;
use fairplan_solver::backend;
use fairplan_tests::{
    Dice, Draft, Fraction, Unkept, decimal, draft, exact_filling, exact_tree, random_crowd,
    random_kinds_under_quotas, random_kinds_under_quotas_of_classes, random_tree_with_quotas,
    random_tree_with_quotas_of_classes,
};
use fairplan_verify::{verify_shortfall, verify_solution};
use std::ops::Range;

/// Relative difference from the exact part of guarantees that is still the same part.
const SAME: f64 = 1e-8;

/// That guarantees are refused with the part that can be kept, and prices that prove it.
fn refuses(
    instance: &Instance,
    objective: Objective,
    solver: &dyn Solver,
    part: &Fraction,
) -> Result<(), String> {
    let shortfall = match solver.solve(instance, objective) {
        Err(InstanceError::Guarantees(shortfall)) => shortfall,
        Err(error) => return Err(format!("only {part:?} can be kept, and it says: {error}")),
        Ok(_) => return Err(format!("only {part:?} can be kept, and it is solved")),
    };
    let part = part.to_f64();
    if (shortfall.part - part).abs() > SAME * part {
        return Err(format!("{} can be kept, exactly {part}", shortfall.part));
    }
    let verdict = verify_shortfall(instance, objective, &shortfall);
    if verdict.holds { Ok(()) } else { Err(format!("the checker refuses it: {verdict:?}")) }
}

/// The same, and that the cases are of all sorts.
fn quotas_are_kept_exactly(seeds: Range<u64>, objective: Objective, random: fn(u64) -> Draft) {
    let draws = seeds.end - seeds.start;
    let Seen { built, refused, held_up, groups } = all_keep_quotas_exactly(seeds, objective, random);
    let told = format!("{refused} refused, {held_up} held up, {groups} by groups, of {built} cases");
    assert!(20 * refused > built && 10 * held_up > built && 20 * groups > built, "{told}");
    assert!(10 * built > 6 * draws, "{told}");
}

/// How many cases there were, of which guarantees cannot be kept, hold somebody up, and are of groups.
struct Seen {
    built: u64,
    refused: u64,
    held_up: u64,
    groups: u64,
}

fn all_keep_quotas_exactly(seeds: Range<u64>, objective: Objective, random: fn(u64) -> Draft) -> Seen {
    let (backends, mut unproved) = (backends(), 0);
    let (mut failures, mut refused, mut held_up, mut built, mut groups) = (Vec::new(), 0, 0, 0, 0);
    for seed in seeds {
        let draft = random(seed);
        // A group may be guaranteed more than its limit, or what a member inside a guaranteed group does not need.
        let Ok(instance) = draft.build() else { continue };
        if objective.applies_to(&instance).is_err() {
            continue;
        }
        built += 1;
        let exact = exact_filling(&instance, objective);
        let mut plain = draft.clone();
        for DraftQuota { quota, .. } in &mut plain.quotas {
            quota.guarantee.clear();
            quota.guarantees.clear();
        }
        match &exact {
            Err(_) => refused += 1,
            Ok(_) if !instance.guaranteed_groups().unwrap().is_empty() => groups += 1,
            Ok(shares) => held_up += u64::from(*shares != exact_tree(&plain.build().unwrap(), objective)),
        }
        for solver in &backends {
            let told = match &exact {
                Ok(_) => conforms(&instance, objective, solver.as_ref()),
                Err(Unkept::Part(part)) => refuses(&instance, objective, solver.as_ref(), part),
                Err(Unkept::Inside) => match solver.solve(&instance, objective) {
                    Err(InstanceError::Guarantees(shortfall)) if !shortfall.inside.is_empty() => {
                        let verdict = verify_shortfall(&instance, objective, &shortfall);
                        verdict.holds.then_some(()).ok_or(verdict.witness)
                    }
                    other => Err(format!("{other:?}")),
                },
            };
            // One way alone may leave a case unproved, and says so; all together leave none.
            let is_first = solver.name() == backends[0].name();
            unproved += u64::from(told.is_err() && !is_first);
            if let (Err(problem), true) = (told, is_first) {
                failures.push(format!("seed {seed}, {}: {problem}\n{draft}", solver.name()));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(50 * unproved <= built, "{unproved} of {built} left unproved by one way");
    Seen { built, refused, held_up, groups }
}

#[test]
fn guarantees_and_reserves_are_kept_in_five_hundred_random_trees_exactly() {
    quotas_are_kept_exactly(0..500, Objective::Drfh, random_tree_with_quotas);
}

#[test]
fn guarantees_and_reserves_are_kept_in_random_trees_by_task_shares_exactly() {
    quotas_are_kept_exactly(500..650, Objective::TaskShareFairness, random_tree_with_quotas);
}

/// What an owner has in all, of what each user has.
fn of_owner(instance: &Instance, shares: &[Fraction], owner: Owner) -> f64 {
    let sums = instance.of_groups(0.0, |i| shares[i].to_f64(), |a, b| a + b);
    match owner {
        Owner::Group(group) => sums[group.0],
        Owner::User(user) => shares[user.0].to_f64(),
    }
}

#[test]
fn nearly_all_who_are_said_to_be_held_up_by_a_guarantee_and_nearly_nobody_else_have_less_without_it() {
    let (mut held_up, mut at_floor, mut missed, mut wrong) = (0, 0, 0, Vec::new());
    let solver = &backends()[0];
    for seed in 0..400 {
        let mut draft = random_tree_with_quotas(seed);
        // Half of those that are guaranteed something may have no more: what a user cannot exceed is no less by weight either.
        for (k, DraftQuota { quota, .. }) in draft.quotas.iter_mut().enumerate() {
            if k % 2 == 0 && !quota.guarantee.is_empty() {
                quota.limit.clone_from(&quota.guarantee);
            }
        }
        let Ok(instance) = draft.build() else { continue };
        let (Ok(solution), Ok(exact)) =
            (solver.solve(&instance, Objective::Drfh), exact_filling(&instance, Objective::Drfh))
        else {
            continue;
        };
        let owners = instance.quotas().iter().filter(|(_, quota)| quota.has_guarantee());
        for ((owner, _), told) in owners.zip(guarantee_results(&instance, &solution)) {
            let mut without = draft.clone();
            let name = instance.name_of(*owner);
            for DraftQuota { owner, is_group, quota, .. } in &mut without.quotas {
                let kind = if *is_group { "group" } else { "user" };
                if name == format!("{kind} {owner}") {
                    quota.guarantee.clear();
                }
            }
            let without = without.build().unwrap();
            let Ok(exact_without) = exact_filling(&without, Objective::Drfh) else { continue };
            let [with, without] = [&exact, &exact_without].map(|shares| of_owner(&instance, shares, *owner));
            let has_less = without < with * (1.0 - 1e-6);
            held_up += u64::from(told.held_up);
            at_floor += u64::from(GuaranteeResult::is_at_floor(told.floor, told.share) && told.share > 0.0);
            missed += u64::from(has_less && !told.held_up);
            if told.held_up && !has_less {
                wrong.push(format!("seed {seed}, {name}: {with} with, {without} without\n{draft}"));
            }
        }
    }
    let (count, wrong) = (wrong.len() as u64, wrong.concat());
    let told = format!(
        "{held_up} held up of {at_floor} with just their guarantee; {missed} missed, {count} wrong: {wrong}"
    );
    // What one gives up may go round by others, so that what costs nothing nearby does not tell all.
    assert!(10 * (count + missed) <= at_floor && held_up > 50 && at_floor > 2 * held_up, "{told}");
}

#[test]
fn guarantees_and_reserves_over_some_classes_are_kept_in_random_trees_exactly() {
    quotas_are_kept_exactly(0..300, Objective::Drfh, random_tree_with_quotas_of_classes);
}

#[test]
fn guarantees_of_users_with_kinds_and_of_their_groups_are_kept_in_random_trees_exactly() {
    kinds_keep_quotas_exactly(0..160, Objective::Drfh, random_kinds_under_quotas);
}

#[test]
fn guarantees_of_users_with_kinds_over_some_classes_are_kept_in_random_trees_exactly() {
    kinds_keep_quotas_exactly(0..160, Objective::Drfh, random_kinds_under_quotas_of_classes);
}

#[test]
fn guarantees_of_users_with_kinds_are_kept_in_random_trees_by_task_shares_exactly() {
    kinds_keep_quotas_exactly(400..550, Objective::TaskShareFairness, random_kinds_under_quotas_of_classes);
}

/// The same where the cases have to be of all sorts, fewer of each: bundles of kinds come to fewer tasks than are guaranteed.
fn kinds_keep_quotas_exactly(seeds: Range<u64>, objective: Objective, random: fn(u64) -> Draft) {
    let draws = seeds.end - seeds.start;
    let Seen { built, refused, held_up, groups } = all_keep_quotas_exactly(seeds, objective, random);
    let told = format!("{refused} refused, {held_up} held up, {groups} by groups, of {built} cases");
    assert!(40 * refused > built && 20 * held_up > built && 20 * groups > built, "{told}");
    assert!(10 * built > 5 * draws, "{told}");
}

fn of(is_group: bool, owner: &str, quota: Quota) -> DraftQuota {
    DraftQuota { is_group, owner: owner.into(), quota }
}

fn guarantee(is_group: bool, owner: &str, amount: &str) -> DraftQuota {
    let guarantee = vec![(ResourceId(0), decimal(amount))];
    of(is_group, owner, Quota { guarantee, ..Quota::default() })
}

fn reserve(is_group: bool, owner: &str, amount: &str) -> DraftQuota {
    let reserve = vec![(ResourceId(0), decimal(amount))];
    of(is_group, owner, Quota { reserve, ..Quota::default() })
}

/// Three users of one server of 12.
fn three(quotas: Vec<DraftQuota>) -> Draft {
    let mut users = draft(&[(1, "12")], &["1", "1", "1"]);
    users.quotas = quotas;
    users
}

/// The same in a group of two and a group of one.
fn two_groups(quotas: Vec<DraftQuota>) -> Draft {
    in_groups(three(quotas), &[("a", None), ("b", None)], &[Some(0), Some(0), Some(1)])
}

fn shares_in_twelfths(draft: &Draft, expected: [u32; 3]) -> Solution {
    let instance = draft.build().unwrap();
    let expected: Vec<Fraction> = expected.iter().map(|n| Fraction::new(*n, 12)).collect();
    assert_eq!(exact_tree(&instance, Objective::Drfh), expected);
    for solver in backends() {
        conforms(&instance, Objective::Drfh, solver.as_ref())
            .unwrap_or_else(|problem| panic!("{}: {problem}", solver.name()));
    }
    backends()[0].solve(&instance, Objective::Drfh).unwrap()
}

/// A group's members on classes of their own, or some anywhere, whose guarantees are all that there is of a class: filling meets floors
/// and ceilings at one level.
#[test]
fn guarantees_of_all_of_a_class_leave_the_other_members_theirs() {
    for amounts in [&[4, 4, 8][..], &[10, 10, 20], &[100, 50, 50], &[2, 2, 8], &[4, 8, 16], &[3, 3]] {
        let texts: Vec<String> = amounts.iter().map(u32::to_string).collect();
        let classes: Vec<(u64, &str)> = texts.iter().map(|amount| (1, amount.as_str())).collect();
        let mut members = draft(&classes, &vec!["1"; amounts.len()]);
        members.users.iter_mut().enumerate().for_each(|(i, user)| user.eligible = Some(vec![i]));
        members.quotas = texts
            .iter()
            .enumerate()
            .map(|(i, amount)| guarantee(false, &format!("user-{i}"), amount))
            .collect();
        let members = in_groups(members, &[("g", None)], &vec![Some(0); amounts.len()]);
        let instance = members.build().unwrap();
        for solver in backends() {
            conforms(&instance, Objective::Drfh, solver.as_ref())
                .unwrap_or_else(|problem| panic!("{amounts:?}, {}: {problem}", solver.name()));
        }
    }
    let mut some = draft(&[(1, "4"), (1, "4")], &["1", "1", "1"]);
    some.users[0].eligible = Some(vec![0]);
    some.quotas = vec![guarantee(false, "user-0", "4")];
    let instance = in_groups(some, &[("g", None)], &[Some(0); 3]).build().unwrap();
    for solver in backends() {
        conforms(&instance, Objective::Drfh, solver.as_ref())
            .unwrap_or_else(|problem| panic!("{}: {problem}", solver.name()));
    }
}

#[test]
fn a_user_is_never_below_what_it_is_guaranteed_and_the_others_divide_the_rest() {
    let solution = shares_in_twelfths(&three(vec![guarantee(false, "user-0", "6")]), [6, 3, 3]);
    assert_eq!(solution.limited_by, [LimitedBy::Capacity; 3]);
}

#[test]
fn a_guarantee_of_less_than_the_part_changes_nothing() {
    shares_in_twelfths(&three(vec![guarantee(false, "user-0", "3")]), [4, 4, 4]);
}

#[test]
fn guarantees_that_are_all_there_is_leave_nothing_to_divide() {
    let all =
        ["6", "4", "2"].iter().enumerate().map(|(i, amount)| guarantee(false, &format!("user-{i}"), amount));
    shares_in_twelfths(&three(all.collect()), [6, 4, 2]);
}

#[test]
fn what_a_member_is_guaranteed_is_taken_from_its_siblings_first() {
    shares_in_twelfths(&two_groups(vec![guarantee(false, "user-0", "5")]), [5, 1, 6]);
    // Beyond the part of the group the rest pay, too.
    shares_in_twelfths(&two_groups(vec![guarantee(false, "user-0", "8")]), [8, 0, 4]);
}

#[test]
fn what_a_group_is_guaranteed_its_members_divide_as_if_alone_and_the_rest_goes_by_weight() {
    // By its weight the group would have 6; alone with 8 its members have 4 each.
    shares_in_twelfths(&two_groups(vec![guarantee(true, "a", "8")]), [4, 4, 4]);
    shares_in_twelfths(&two_groups(vec![guarantee(true, "a", "4")]), [3, 3, 6]);
    // What a member is guaranteed itself is a part of that.
    let both = vec![guarantee(true, "a", "8"), guarantee(false, "user-0", "7")];
    shares_in_twelfths(&two_groups(both), [7, 1, 4]);
}

#[test]
fn what_is_guaranteed_inside_a_group_is_no_more_than_the_group_is() {
    let both = vec![guarantee(true, "a", "4"), guarantee(false, "user-0", "7")];
    let instance = two_groups(both).build().unwrap();
    let short = shortfall(&instance);
    let told = "what is guaranteed inside group a cannot be kept with what that is guaranteed itself, at most 57.15% of each, as far as its tasks and limits take it: user \
                user-0 is guaranteed more than fits; what stands against it is the 4 resource-0 that group a is guaranteed; lower \
                guarantees inside it or raise its own";
    assert_eq!(short.to_string(), told);
    let holds = |short: &Shortfall| verify_shortfall(&instance, Objective::Drfh, short).holds;
    assert!(holds(&short));
    // The proof is of what that group would divide, and of no other.
    assert!(!holds(&Shortfall { inside: Vec::new(), ..short.clone() }));
    let elsewhere = InsideGroup { group: GroupId(1), name: "group b".into() };
    assert!(!holds(&Shortfall { inside: vec![elsewhere], ..short }));
}

#[test]
fn a_forged_division_of_what_a_group_is_guaranteed_is_seen() {
    let draft = two_groups(vec![guarantee(true, "a", "8")]);
    assert!(found(&draft, |_| {}).is_empty());
    let forged = |forge: &dyn Fn(&mut Solution)| found(&draft, |solution| forge(&mut solution.guaranteed[0]));
    let less = |alone: &mut Solution| {
        alone.allocation = Allocation::new(1, vec![3.0, 3.0], vec![0; 2], vec![1.0]);
    };
    assert!(forged(&less).contains(&"guaranteed-groups"));
    assert!(forged(&|alone| alone.objective = Objective::TaskShareFairness).contains(&"guaranteed-groups"));
    assert!(found(&draft, |solution| solution.guaranteed.clear()).contains(&"guaranteed-groups"));
}

#[test]
fn what_is_reserved_for_an_idle_owner_stays_unused() {
    let mut users = three(vec![reserve(false, "user-0", "5")]);
    users.users[0].tasks = Some(1);
    let instance = users.build().unwrap();
    let exact = exact_tree(&instance, Objective::Drfh);
    assert_eq!(exact, [Fraction::new(1, 12), Fraction::new(7, 24), Fraction::new(7, 24)]);
    for solver in backends() {
        conforms(&instance, Objective::Drfh, solver.as_ref()).unwrap();
    }
    let solution = backends()[0].solve(&instance, Objective::Drfh).unwrap();
    assert_eq!(solution.limited_by, [LimitedBy::Tasks, LimitedBy::Capacity, LimitedBy::Capacity]);
    let numbers = StatedNumbers::new(&instance, &solution);
    let reserve = &numbers.headline().limits[0];
    assert!(
        (reserve.used - 1.0).abs() < 1e-9 && reserve.reserve.as_ref().unwrap().0[0].1 == 5.0,
        "{reserve:?}"
    );
    assert!((reserve.limit.0[0].1 - 7.0).abs() < 1e-12);
}

#[test]
fn a_reserve_that_its_owner_uses_holds_nobody() {
    shares_in_twelfths(&three(vec![reserve(false, "user-0", "2")]), [4, 4, 4]);
}

fn shortfall(instance: &Instance) -> Shortfall {
    match backends()[0].solve(instance, Objective::Drfh) {
        Err(InstanceError::Guarantees(shortfall)) => *shortfall,
        other => panic!("{other:?}"),
    }
}

#[test]
fn guarantees_that_cannot_be_kept_together_say_how_much_of_them_can_and_what_stands_against_it() {
    let instance =
        three(vec![guarantee(false, "user-0", "10"), guarantee(false, "user-2", "6")]).build().unwrap();
    for solver in backends() {
        refuses(&instance, Objective::Drfh, solver.as_ref(), &Fraction::new(3, 4)).unwrap();
    }
    let told = "the guarantees cannot be kept together, at most 75.00% of each, as far as its tasks and limits take it: user user-0 and user user-2 are together \
                guaranteed more than fits; what stands against it is resource-0; lower guarantees or add servers";
    assert_eq!(shortfall(&instance).to_string(), told);
}

#[test]
fn where_a_limit_alone_stands_against_guarantees_servers_are_not_what_is_missing() {
    let mut draft = two_groups(vec![guarantee(false, "user-0", "4"), guarantee(false, "user-1", "2")]);
    let limit = vec![(ResourceId(0), decimal("5"))];
    draft.quotas.push(of(true, "a", Quota { limit, ..Quota::default() }));
    let instance = draft.build().unwrap();
    let told = "the guarantees cannot be kept together, at most 83.34% of each, as far as its tasks and limits take it: user user-0 and user user-1 are together \
                guaranteed more than fits; what stands against it is the limit of group a of 5 resource-0; lower guarantees or \
                raise limits";
    assert_eq!(shortfall(&instance).to_string(), told);
}

#[test]
fn a_reserve_can_stand_against_a_guarantee() {
    let draft = three(vec![guarantee(false, "user-0", "10"), reserve(false, "user-1", "4")]);
    let told = shortfall(&draft.build().unwrap()).to_string();
    assert!(told.ends_with("lower guarantees or add servers"), "{told}");
    assert!(told.contains("at most 80.00% of each, as far as its tasks and limits take it: user user-0 is guaranteed more than fits; what stands against it is the 4 resource-0 that user user-1 reserves"), "{told}");
}

#[test]
fn a_part_that_is_too_small_or_prices_that_prove_less_are_refused() {
    let instance =
        three(vec![guarantee(false, "user-0", "10"), guarantee(false, "user-2", "6")]).build().unwrap();
    let honest = shortfall(&instance);
    let holds = |forge: &dyn Fn(&mut Shortfall)| {
        let mut forged = honest.clone();
        forge(&mut forged);
        verify_shortfall(&instance, Objective::Drfh, &forged).holds
    };
    assert!(holds(&|_| {}));
    assert!(!holds(&|shortfall| shortfall.part *= 1.0 - 1e-6));
    assert!(!holds(&|shortfall| shortfall.prices.iter_mut().for_each(|price| *price = 0.0)));
    assert!(!holds(&|shortfall| shortfall.prices[0] = f64::NAN));
    assert!(!holds(&|shortfall| shortfall.limit_prices.push(1.0)));
    // Those that can be kept have no such prices.
    let fits = three(vec![guarantee(false, "user-0", "6"), guarantee(false, "user-2", "6")]).build().unwrap();
    assert!(!verify_shortfall(&fits, Objective::Drfh, &honest).holds);
}

/// What the checker finds wrong with the solution of a draft after a change.
fn found(draft: &Draft, change: impl FnOnce(&mut Solution)) -> Vec<&'static str> {
    let instance = draft.build().unwrap();
    let mut solution = backends()[0].solve(&instance, Objective::Drfh).unwrap();
    change(&mut solution);
    let numbers = StatedNumbers::new(&instance, &solution);
    verify_solution(&instance, &numbers.claim(&solution)).failures().map(|verdict| verdict.property).collect()
}

fn with_tasks(solution: &mut Solution, tasks: [f64; 3]) {
    solution.allocation = Allocation::new(1, tasks.to_vec(), vec![0; 3], vec![1.0]);
}

#[test]
fn a_user_that_has_less_than_it_is_guaranteed_is_seen() {
    let draft = three(vec![guarantee(false, "user-0", "6")]);
    assert!(found(&draft, |_| {}).is_empty());
    let less = 1.0 - 1e-6;
    let failures = found(&draft, |solution| with_tasks(solution, [6.0 * less, 3.0 * less, 3.0 * less]));
    assert!(failures.contains(&"guarantees"), "{failures:?}");
    // Equal parts are a fair division, but not of these guarantees.
    let failures = found(&draft, |solution| with_tasks(solution, [4.0 * less, 4.0 * less, 4.0 * less]));
    assert!(failures.contains(&"guarantees"), "{failures:?}");
}

#[test]
fn a_user_that_has_more_than_it_is_guaranteed_while_others_have_less_is_seen() {
    let draft = three(vec![guarantee(false, "user-0", "6")]);
    let failures = found(&draft, |solution| with_tasks(solution, [7.0 - 1e-9, 2.5, 2.5]));
    assert!(failures.contains(&"levels"), "{failures:?}");
}

#[test]
fn forged_levels_above_guarantees_are_refused() {
    let draft = three(vec![guarantee(false, "user-0", "6")]);
    let forged = |change: &dyn Fn(&mut fairplan_instances::Level)| {
        found(&draft, |solution| match &mut solution.certificate {
            Certificate::Levels { levels, .. } => change(&mut levels[0]),
            _ => panic!("a max-min has levels"),
        })
    };
    assert!(!forged(&|level| level.value *= 1.0 + 1e-6).is_empty());
    assert!(!forged(&|level| level.bound *= 1.0 + 1e-6).is_empty());
    assert!(!forged(&|level| level.prices[0] *= 1.0 + 1e-4).is_empty());
    assert!(!forged(&|level| level.prices[0] = 0.0).is_empty());
}

/// Three users of a server of 8 and one of 4.
fn on_two(quotas: Vec<DraftQuota>) -> Draft {
    let mut users = draft(&[(1, "8"), (1, "4")], &["1", "1", "1"]);
    users.quotas = quotas;
    users
}

fn on_class(class: usize, amount: &str) -> Vec<ClassAmounts> {
    vec![ClassAmounts { classes: vec![ClassId(class)], amounts: vec![(ResourceId(0), decimal(amount))] }]
}

#[test]
fn amounts_on_two_classes_are_guaranteed_together_and_may_be_had_anywhere() {
    let guarantees = [on_class(0, "5"), on_class(1, "2")].concat();
    let both = of(false, "user-0", Quota { guarantees: guarantees.clone(), ..Quota::default() });
    let instance = on_two(vec![both]).build().unwrap();
    let seventh = |n: u32| Fraction::new(n, 24);
    assert_eq!(exact_tree(&instance, Objective::Drfh), [seventh(14), seventh(5), seventh(5)]);
    for solver in backends() {
        conforms(&instance, Objective::Drfh, solver.as_ref()).unwrap();
    }
    // Over all classes it may be less than on each of them.
    let guarantee = vec![(ResourceId(0), decimal("6"))];
    let less = of(false, "user-0", Quota { guarantee, guarantees, ..Quota::default() });
    let instance = on_two(vec![less]).build().unwrap();
    assert_eq!(exact_tree(&instance, Objective::Drfh)[0], Fraction::new(1, 2));
    conforms(&instance, Objective::Drfh, backends()[0].as_ref()).unwrap();
}

#[test]
fn what_is_guaranteed_where_a_user_cannot_run_is_nothing() {
    let guarantees = on_class(0, "7");
    let mut draft = on_two(vec![of(false, "user-0", Quota { guarantees, ..Quota::default() })]);
    draft.users[0].eligible = Some(vec![1]);
    let instance = draft.build().unwrap();
    assert_eq!(exact_tree(&instance, Objective::Drfh), vec![Fraction::new(1, 3); 3]);
    conforms(&instance, Objective::Drfh, backends()[0].as_ref()).unwrap();
}

#[test]
fn a_groups_guarantee_on_a_class_is_for_members_that_can_run_there() {
    let mut draft = in_groups(on_two(Vec::new()), &[("a", None), ("b", None)], &[Some(0), Some(0), Some(1)]);
    draft.users[1].eligible = Some(vec![1]);
    draft.quotas = vec![of(true, "a", Quota { guarantees: on_class(0, "7"), ..Quota::default() })];
    let instance = draft.build().unwrap();
    let alone = instance.guaranteed_groups().unwrap();
    assert_eq!(alone[0].members, [UserId(0)]);
    // The seven of `user-0` are more than its group's six, which leaves nothing to the other member.
    let exact = exact_tree(&instance, Objective::Drfh);
    assert_eq!(exact, [Fraction::new(7, 12), Fraction::zero(), Fraction::new(5, 12)]);
    for solver in backends() {
        conforms(&instance, Objective::Drfh, solver.as_ref()).unwrap();
    }
}

#[test]
fn a_guarantee_beyond_the_classes_of_its_groups_is_refused_with_both_named() {
    let mut draft = in_groups(on_two(Vec::new()), &[("a", None), ("b", None)], &[Some(0), Some(0), Some(1)]);
    draft.quotas = vec![
        of(true, "a", Quota { guarantees: on_class(0, "6"), ..Quota::default() }),
        guarantee(false, "user-0", "3"),
    ];
    let refusal = Objective::Drfh.applies_to(&draft.build().unwrap()).unwrap_err().to_string();
    let told = "groups[0].guarantees = group a: user user-0 can have nothing of it on some classes, but of what user user-0 is \
                guaranteed, which is inside it; state the classes in both";
    assert_eq!(refusal, told);
}

#[test]
fn a_reserve_on_a_class_leaves_the_others_free() {
    let mut draft =
        on_two(vec![of(false, "user-0", Quota { reserves: on_class(1, "3"), ..Quota::default() })]);
    draft.users[0].tasks = Some(1);
    let instance = draft.build().unwrap();
    let exact = exact_tree(&instance, Objective::Drfh);
    // One more is left beside the reserve and the task of its owner, who may run on either server.
    assert_eq!(exact, [Fraction::new(1, 12), Fraction::new(3, 8), Fraction::new(3, 8)]);
    for solver in backends() {
        conforms(&instance, Objective::Drfh, solver.as_ref()).unwrap();
    }
    let mut solution = backends()[0].solve(&instance, Objective::Drfh).unwrap();
    // One task of `user-0` and 4.5 of the others on the small server: 1 too much beside the reserve.
    solution.allocation = Allocation::new(2, vec![1.0, 4.0, 4.0], vec![0, 1, 1], vec![1.0, 0.0, 0.75, 0.25]);
    let numbers = StatedNumbers::new(&instance, &solution);
    let proof = verify_solution(&instance, &numbers.claim(&solution));
    let failures: Vec<_> = proof.failures().map(|verdict| verdict.property).collect();
    assert!(failures.contains(&"limits"), "{failures:?}");
}

#[test]
fn sets_of_classes_that_cross_are_known_of_users_and_of_groups() {
    let over = |classes: [usize; 2], amount: &str| ClassAmounts {
        classes: classes.map(ClassId).into(),
        amounts: vec![(ResourceId(0), decimal(amount))],
    };
    let quota = Quota { guarantees: vec![over([0, 1], "3"), over([1, 2], "4")], ..Quota::default() };
    let mut draft = draft(&[(1, "4"), (1, "4"), (1, "4")], &["1", "1", "1"]);
    draft.quotas = vec![of(false, "user-0", quota.clone())];
    let mut grouped = in_groups(draft.clone(), &[("a", None)], &[Some(0), None, None]);
    grouped.quotas = vec![of(true, "a", quota)];
    for draft in [draft, grouped] {
        let instance = draft.build().unwrap();
        // Three on the first and four on the last.
        assert_eq!(exact_tree(&instance, Objective::Drfh)[0], Fraction::new(7, 12));
        conforms(&instance, Objective::Drfh, backends()[0].as_ref()).unwrap();
    }
}

#[test]
fn others_that_take_what_is_reserved_are_seen() {
    let mut draft = three(vec![reserve(false, "user-0", "5")]);
    draft.users[0].tasks = Some(1);
    assert!(found(&draft, |_| {}).is_empty());
    let failures = found(&draft, |solution| with_tasks(solution, [1.0 - 1e-9, 3.5 + 1e-6, 3.5]));
    assert!(failures.contains(&"limits"), "{failures:?}");
}

#[test]
fn a_pool_keeps_guarantees_and_reserves() {
    let quotas = vec![guarantee(false, "user-0", "6"), reserve(false, "user-1", "4")];
    let instance = three(quotas).build().unwrap();
    for solver in backends() {
        let solution = solver.solve(&instance, Objective::DrfPooled).unwrap();
        let numbers = StatedNumbers::new(&instance, &solution);
        let proof = verify_solution(&instance, &numbers.claim(&solution));
        assert!(proof.holds(), "{:?}", proof.failures().collect::<Vec<_>>());
        let tasks = |i: usize| solution.allocation.tasks(UserId(i));
        assert!(
            (tasks(0) - 6.0).abs() < 1e-8 && (tasks(2) - 2.0).abs() < 1e-8 && (tasks(1) - 4.0).abs() < 1e-8
        );
    }
}

#[test]
fn guarantees_of_tasks_that_do_different_work_are_refused_by_name() {
    let mut draft = three(vec![guarantee(false, "user-0", "6")]);
    draft.users[0].rates = vec![(0, decimal("2"))];
    let refusal = backends()[0].solve(&draft.build().unwrap(), Objective::Drfh).unwrap_err().to_string();
    assert!(
        refusal.starts_with(
            "users[0].guarantee = user user-0: what is guaranteed to a user whose tasks do different"
        ),
        "{refusal}"
    );
}

/// Where a member rises from nothing, and cannot, the prices are those of all that the others have.
#[test]
fn a_member_that_has_nothing_beside_a_guaranteed_sibling_is_held_by_prices() {
    let solver = &backends()[0];
    for seed in [8, 409, 560, 581] {
        let mut draft = random_tree_with_quotas(seed);
        draft
            .quotas
            .iter_mut()
            .filter(|quota| quota.is_group)
            .for_each(|quota| quota.quota.guarantee.clear());
        let instance = draft.build().unwrap();
        for objective in [Objective::Drfh, Objective::TaskShareFairness] {
            let told = match exact_filling(&instance, objective) {
                Ok(_) => conforms(&instance, objective, solver.as_ref()),
                Err(Unkept::Part(part)) => refuses(&instance, objective, solver.as_ref(), &part),
                Err(Unkept::Inside) => Err("no group is guaranteed anything".into()),
            };
            told.unwrap_or_else(|problem| panic!("seed {seed}, {objective}: {problem}"));
        }
    }
}

/// Case 277 of the random trees, with these reserves of its group: by every backend.
fn beside_reserves(reserves: &[(Option<&[usize]>, &str)]) {
    let mut draft = random_tree_with_quotas(277);
    let of_group = draft.quotas.iter_mut().find(|quota| quota.is_group).unwrap();
    of_group.quota.reserve.clear();
    for (classes, amount) in reserves {
        let amounts = vec![(ResourceId(0), decimal(amount))];
        match classes {
            None => of_group.quota.reserve = amounts,
            Some(classes) => {
                let classes = classes.iter().map(|class| ClassId(*class)).collect();
                of_group.quota.reserves.push(ClassAmounts { classes, amounts });
            }
        }
    }
    let instance = draft.build().unwrap();
    for solver in backends() {
        conforms(&instance, Objective::Drfh, solver.as_ref())
            .unwrap_or_else(|problem| panic!("{reserves:?}, {}: {problem}", solver.name()));
    }
}

/// The same where each group is guaranteed just what its members are together, so that all of it is theirs, and odd amounts of servers
/// that nobody runs on.
fn all_is_the_members(mut draft: Draft) -> Draft {
    let Ok(instance) = draft.build() else { return draft };
    let of_users: Vec<DraftQuota> = draft.quotas.iter().filter(|quota| !quota.is_group).cloned().collect();
    let mut changed = Vec::new();
    for (position, group) in instance.groups().iter().enumerate() {
        let inside = instance.groups_inside(GroupId(position));
        let is_inside = |id: &str| {
            let user = instance.users().find(|user| user.id() == id);
            user.and_then(|user| user.group()).is_some_and(|group| inside[group.0])
        };
        let mut quota = Quota::default();
        for of_user in of_users.iter().filter(|quota| is_inside(&quota.owner)) {
            for (resource, amount) in &of_user.quota.guarantee {
                match quota.guarantee.iter_mut().find(|(other, _)| other == resource) {
                    Some((_, sum)) => *sum = decimal(&(sum.to_f64() + amount.to_f64()).to_string()),
                    None => quota.guarantee.push((*resource, *amount)),
                }
            }
        }
        if !quota.guarantee.is_empty() {
            changed.push(of(true, &group.id, quota));
        }
    }
    draft.quotas.retain(|quota| !quota.is_group);
    draft.quotas.extend(changed);
    draft
}

#[test]
fn groups_whose_guarantees_are_all_their_members_are_divided_exactly() {
    let random = |seed| all_is_the_members(random_tree_with_quotas(seed));
    all_keep_quotas_exactly(0..120, Objective::Drfh, random);
}

/// What members are guaranteed leaves the next to nothing but for rounding, by limits and where floors of several end together.
#[test]
fn members_that_use_up_what_their_group_is_guaranteed_are_solved() {
    let classes = r#""server_classes": [{"id": "D", "count": 1, "capacity": {"cpu": 1, "memory": 3}}, {"id": "A", "count": 1, "capacity":
        {"cpu": 5, "memory": 304}}, {"id": "B", "count": 1, "capacity": {"cpu": 9, "memory": 242}}, {"id": "C", "count": 1,
        "capacity": {"cpu": 7, "memory": 51}}]"#;
    let users = r#""users": [{"id": "x", "demand": {"cpu": 1, "memory": 22}, "group": "T", "eligible": ["B"], "guarantee": {"cpu": 4}},
        {"id": "y", "demand": {"memory": 1}, "group": "S", "eligible": ["A"], "guarantee": {"memory": 1}},
        {"id": "z", "demand": {"cpu": 1}, "group": "S", "eligible": ["B"]}]"#;
    let amounts = r#"[{"classes": ["A"], "amounts": {"memory": 1}}, {"classes": ["B"], "amounts": {"cpu": 4, "memory": 89}}]"#;
    let tree = |quota: &str| {
        format!(
            r#"{classes}, "groups": [{{"id": "T", "{quota}": {amounts}}}, {{"id": "S", "parent": "T"}}], {users}"#
        )
    };
    // Floors that end together but for the twelfth digit of weights.
    let together = r#""server_classes": [{"id": "a", "count": 1, "capacity": {"cpu": 4, "memory": 64000000000}}, {"id": "b", "count": 1,
        "capacity": {"cpu": 16, "memory": 34359738368}}, {"id": "c", "count": 1, "capacity": {"cpu": 16, "memory": 16655360000}}],
        "groups": [{"id": "g", "guarantee": {"cpu": 11, "memory": 12884901888}}],
        "users": [{"id": "x", "demand": {"cpu": 1, "memory": 402653184}, "group": "g", "weight": 0.222222222222,
            "guarantee": {"cpu": 8, "memory": 3221225472}},
        {"id": "y", "demand": {"cpu": 1, "memory": 2147483648}, "group": "g", "weight": 0.0277777777778,
            "guarantee": {"cpu": 1, "memory": 2147483648}},
        {"id": "z", "demand": {"cpu": 1, "memory": 3758096384}, "group": "g", "weight": 0.065349618221,
            "guarantee": {"cpu": 2, "memory": 7516192768}}]"#;
    // A guarantee that comes to the fair part but for the twelfth digit of weights.
    let fair = r#""server_classes": [{"id": "a", "count": 1, "capacity": {"cpu": 36, "memory": 1}}],
        "groups": [{"id": "g", "weight": 0.305555555556}, {"id": "h", "weight": 0.694444444444, "guarantee": {"cpu": 25}}],
        "users": [{"id": "x", "demand": {"cpu": 1}, "group": "g"}, {"id": "y", "demand": {"cpu": 1}, "group": "h"}]"#;
    for text in [tree("guarantees"), tree("limits"), together.into(), fair.into()] {
        let text = format!(r#"{{"format": "fairplan.instance.v1", "resources": ["cpu", "memory"], {text}}}"#);
        let source = files::source::in_memory("i.json", text.clone().into_bytes()).unwrap();
        let instance = files::read_json(source).unwrap();
        let solution = backends()[0].solve(&instance, Objective::Drfh).unwrap();
        let numbers = StatedNumbers::new(&instance, &solution);
        let proof = verify_solution(&instance, &numbers.claim(&solution));
        let failures: Vec<_> = proof.failures().collect();
        assert!(failures.is_empty(), "{failures:?}\n{text}");
    }
}

/// What rounding leaves of a part is nothing: HiGHS refuses rows in which it is stretched to one.
#[test]
fn members_that_guarantees_leave_nothing_are_solved_by_every_backend() {
    beside_reserves(&[(None, "3")]);
}

#[test]
fn a_reserve_that_is_said_twice_is_solved_by_every_backend() {
    beside_reserves(&[(None, "3"), (Some(&[0, 1, 2, 3]), "3")]);
    beside_reserves(&[(None, "3"), (Some(&[0, 1, 2, 3]), "2")]);
}

#[test]
fn thousands_of_users_with_guarantees_share_bins_and_are_proved() {
    for seed in 0..6 {
        let mut draft = random_crowd(seed, 3_000);
        draft.users.iter_mut().for_each(|user| user.rates.clear());
        let total = |r: usize| -> f64 {
            draft.classes.iter().map(|class| class.capacity[r].to_f64() * class.count as f64).sum()
        };
        let totals: Vec<f64> = (0..draft.resources.len()).map(total).collect();
        let plain = draft.build().unwrap();
        let fair = backends()[0].solve(&plain, Objective::Drfh).unwrap();
        // Every hundredth user is guaranteed three times what it would have, of its dominant resource.
        draft.quotas = (0..3_000)
            .step_by(100)
            .filter_map(|i| {
                let has = fair.allocation.dominant_share(&plain, UserId(i));
                let r = plain.user(UserId(i)).dominant_resource();
                let amount = format!("{:.9}", 3.0 * has * totals[r.0]);
                let guarantee = vec![(r, decimal(&amount))];
                (has > 0.0).then(|| of(false, &draft.users[i].id, Quota { guarantee, ..Quota::default() }))
            })
            .collect();
        let instance = draft.build().unwrap();
        let solution = backends()[0].solve(&instance, Objective::Drfh).unwrap();
        let numbers = StatedNumbers::new(&instance, &solution);
        let proof = verify_solution(&instance, &numbers.claim(&solution));
        let failures: Vec<_> = proof.failures().collect();
        assert!(failures.is_empty(), "seed {seed}, {}: {failures:?}", solution.method);
        assert_eq!(solution.status, fairplan_instances::Status::Optimal, "seed {seed}, {}", solution.method);
    }
}

/// What owners cannot use of their reserves is nobody's, whoever's they are: `Σ max(R, used) + used by others <= C`.
#[test]
fn what_idle_owners_reserve_is_left_by_divided_tasks_and_by_whole_ones() {
    let solver = backend("auto").unwrap();
    let mut kept = 0;
    for seed in 0..60 {
        let mut dice = Dice::new(seed);
        let classes = [(1 + dice.below(3), "10"), (1 + dice.below(3), "7")];
        let mut draft = draft(&classes, &["1", "2", "1", "3", "1"]);
        let total = classes[0].0 * 10 + classes[1].0 * 7;
        let most = total / 4;
        let mut reserved = [0; 5];
        for (i, amount) in reserved.iter_mut().enumerate().take(3) {
            *amount = 1 + dice.below(most);
            let reserve = vec![(ResourceId(0), Decimal::new(*amount, 0).unwrap())];
            let quota = Quota { reserve, ..Quota::default() };
            draft.quotas.push(DraftQuota { is_group: false, owner: format!("user-{i}"), quota });
            draft.users[i].tasks = Some(dice.below(3));
        }
        let instance = draft.build().unwrap();
        let solution = solver.solve(&instance, Objective::Drfh).unwrap();
        assert!(verify_solution(&instance, &(&solution).into()).holds(), "seed {seed}");
        let placed = policy("best-fit", 0).unwrap().place(&instance).unwrap();
        let divided = (0..5).map(|i| solution.allocation.tasks(UserId(i))).collect::<Vec<f64>>();
        for tasks in [divided, placed.tasks.iter().map(|tasks| *tasks as f64).collect()] {
            let used = |i: usize| tasks[i] * instance.user(UserId(i)).demand_doubles()[0];
            let taken: f64 = (0..5).map(|i| used(i).max(reserved[i] as f64)).sum();
            assert!(taken <= total as f64 * (1.0 + 1e-9), "seed {seed}: {taken} of {total}, {tasks:?}");
            kept += usize::from((0..3).filter(|i| used(*i) < reserved[*i] as f64).count() > 1);
        }
    }
    assert!(kept > 60, "{kept} cases in which several leave some of what they reserve");
}
