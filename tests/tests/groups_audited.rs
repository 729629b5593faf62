//! Audits of groups: what filling the tree is, and mechanisms that are unfair to groups in a known way are found out.

use crate::groups::in_groups;
use crate::groups_asked::company;
use fairplan_analysis::{AuditSettings, Finding, GROUP_PROPERTIES, Holds, NotTested, PROPERTIES, audit};
use fairplan_instances::{
    Allocation, Decimal, Draft, GroupId, Instance, InstanceError, NewGroup, Objective, Solution, Solver,
    User, UserId,
};
use fairplan_solver::backend;
use fairplan_tests::{Fraction, decimal, draft, exact_tree, random_tree};

const SETTINGS: AuditSettings = AuditSettings { users: 20, seed: 1 };

fn audited(instance: &Instance, mechanism: &dyn Solver) -> Vec<Finding> {
    audit(instance, "", Objective::Drfh, mechanism, &*backend("auto").unwrap(), SETTINGS).unwrap().properties
}

fn of<'a>(findings: &'a [Finding], property: &str) -> &'a Finding {
    findings.iter().find(|finding| finding.name == property).unwrap()
}

fn failing(findings: &[Finding]) -> Vec<&str> {
    let fails = |finding: &&Finding| finding.holds == Holds::Tested(false);
    findings.iter().filter(fails).map(|finding| &*finding.name).collect()
}

#[test]
fn filling_a_tree_of_one_resource_is_fair_to_groups_and_inside_them() {
    let findings = audited(&company().build().unwrap(), &*backend("auto").unwrap());
    let names = PROPERTIES.names().chain(GROUP_PROPERTIES.names());
    assert!(findings.iter().map(|finding| &*finding.name).eq(names), "those of groups come last");
    assert_eq!(failing(&findings), [""; 0], "{findings:#?}");
    for property in ["single-server-drf", "single-resource-fairness"] {
        let finding = of(&findings, property);
        assert_eq!(finding.holds, Holds::NotTested(NotTested::NotApplicable));
        assert!(finding.witness.contains("groups are served first"), "{finding:?}");
    }
    for property in GROUP_PROPERTIES.names().chain([
        "envy-freeness",
        "pareto-optimality",
        "sharing-incentive",
        "truthfulness",
    ]) {
        assert_eq!(of(&findings, property).holds, Holds::Tested(true), "{property} is tested");
    }
}

#[test]
fn without_groups_there_are_no_properties_of_groups() {
    let instance = draft(&[(1, "12")], &["1", "1"]).build().unwrap();
    let findings = audited(&instance, &*backend("auto").unwrap());
    assert!(findings.iter().map(|finding| &*finding.name).eq(PROPERTIES.names()));
}

/// Answers for a changed instance, and lets its solution change what users get.
struct Unfair<C, S> {
    /// What is solved instead.
    changed: C,
    /// The part of its solution that everybody gets, given what was asked.
    part: S,
}

impl<C: Fn(&mut Draft) + Sync, S: Fn(&Instance) -> f64 + Sync> Solver for Unfair<C, S> {
    fn name(&self) -> &'static str {
        "unfair"
    }

    fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, InstanceError> {
        let mut draft = Draft::from(instance);
        (self.changed)(&mut draft);
        let solution = backend("auto").unwrap().solve(&draft.build().unwrap(), objective)?;
        let part = (self.part)(instance);
        let tasks: Vec<f64> =
            (0..instance.user_count()).map(|i| part * solution.allocation.tasks(UserId(i))).collect();
        assert_eq!(instance.classes().len(), 1);
        Ok(Solution { allocation: Allocation::from_matrix(1, &tasks), ..solution })
    }
}

#[test]
fn a_mechanism_that_counts_every_group_alike_rewards_splitting() {
    let changed = |draft: &mut Draft| draft.groups.iter_mut().for_each(|group| group.weight = Decimal::ONE);
    let findings = audited(&company().build().unwrap(), &Unfair { changed, part: |_: &Instance| 1.0 });
    let splitting = of(&findings, "group-splitting");
    assert_eq!(splitting.holds, Holds::Tested(false), "{splitting:?}");
    // `company` has half; as two of three children of the root it has two thirds.
    assert!((splitting.residual.unwrap() - 0.25).abs() < 1e-6, "{splitting:?}");
    assert!(splitting.witness.contains("group company has 66.666667% of the cluster"), "{splitting:?}");
}

#[test]
fn a_mechanism_that_sees_no_groups_rewards_those_that_disband_only_where_weights_do() {
    // `batch` has one user of weight 1 and counts ten times: on its own that user would have the weight of the group.
    let mut draft = company();
    draft.groups[2].weight = decimal("10");
    let changed = |draft: &mut Draft| {
        draft.groups.clear();
        draft.users.iter_mut().for_each(|user| user.group = None);
    };
    let findings = audited(&draft.build().unwrap(), &Unfair { changed, part: |_: &Instance| 1.0 });
    let disbanding = of(&findings, "group-disbanding");
    assert_eq!(disbanding.holds, Holds::Tested(false), "{disbanding:?}");
    // A fifth before, ten of fourteen after.
    assert!((disbanding.residual.unwrap() - (1.0 - 0.2 / (10.0 / 14.0))).abs() < 1e-6, "{disbanding:?}");
    assert_eq!(of(&findings, "group-splitting").holds, Holds::Tested(true));
}

#[test]
fn mechanisms_that_take_from_groups_when_others_leave_servers_come_or_nobody_lies_are_found_out() {
    let instance = company().build().unwrap();
    let fails = |instance: &Instance, part: &(dyn Fn(&Instance) -> f64 + Sync), property: &str| {
        let findings = audited(instance, &Unfair { changed: |_: &mut Draft| (), part });
        let finding = of(&findings, property);
        assert_eq!(finding.holds, Holds::Tested(false), "{finding:?}");
        finding.witness.clone()
    };
    let crowded = |asked: &Instance| (asked.user_count() as f64 / 5.0).powi(3);
    let told = fails(&instance, &crowded, "group-population-monotonicity");
    assert!(told.starts_with("when group web leaves, group batch has"), "{told}");
    let small = |asked: &Instance| (12.0 / asked.server_count() as f64).powi(2);
    let told = fails(&instance, &small, "group-resource-monotonicity");
    assert!(told.starts_with("when class class-0 has one more server, group"), "{told}");
    // Twice as much of everything, half as often, is the same: it takes two resources to lie.
    let mut of_two = company();
    of_two.resources.push("memory".into());
    of_two.classes.iter_mut().for_each(|class| class.capacity.push(decimal("1")));
    of_two.users.iter_mut().for_each(|user| user.demand.push(decimal("1")));
    let instance = of_two.build().unwrap();
    let claims_more = |asked: &Instance| {
        let search = asked.user_named("search").map(|search| asked.user(search).demand_doubles().to_vec());
        search.is_some_and(|demand| demand[0] > demand[1])
    };
    let lies = |asked: &Instance| if claims_more(asked) { 1.0 } else { 0.5 };
    let told = fails(&instance, &lies, "group-truthfulness");
    assert!(told.contains("when user search claims"), "{told}");
}

/// What a group's members have together in a variant by exact arithmetic, in shares of the instance.
fn exact_sum(variant: &Draft, instance: &Instance, is_member: &dyn Fn(&str) -> bool) -> f64 {
    let variant = variant.build().unwrap();
    let shares = exact_tree(&variant, Objective::Drfh);
    let of_user = |(user, share): (User<'_>, Fraction)| {
        let then = instance.user(instance.user_named(user.id()).unwrap());
        if is_member(user.id()) { share.to_f64() / user.task_share() * then.task_share() } else { 0.0 }
    };
    variant.users().zip(shares).map(of_user).sum()
}

/// The tree of the guide: what `product` leaves goes to `research`, which needs memory where `guests` do.
#[test]
fn a_group_may_have_less_when_another_leaves_as_exact_division_says() {
    let users = draft(&[(8, "4 16"), (2, "64 128")], &["8 16", "1 4", "1 1", "2 16", "1 2"]);
    let company = Some("company");
    let groups = [("company", None), ("research", company), ("product", company), ("guests", None)];
    let mut draft = in_groups(users, &groups, &[Some(1), Some(1), Some(2), Some(2), Some(3)]);
    (draft.groups[0].weight, draft.groups[2].weight) = (decimal("3"), decimal("2"));
    let instance = draft.build().unwrap();
    let mut without = draft.clone();
    without.users.retain(|user| user.group != Some(2));
    let guests = |draft: &Draft| exact_sum(draft, &instance, &|id| id == "user-4");
    let expected = 1.0 - guests(&without) / guests(&draft);
    assert!((expected - (1.0 - (12.0 / 43.0) / (6.0 / 19.0))).abs() < 1e-12, "{expected}");
    let findings = audited(&instance, &*backend("auto").unwrap());
    let found = of(&findings, "group-population-monotonicity");
    assert!((found.residual.unwrap() - expected).abs() < 1e-6, "{found:?}, not {expected}");
}

/// Filling the tree does reward some for it: what is found is what exact arithmetic finds.
#[test]
fn what_a_group_gains_by_splitting_or_loses_when_another_leaves_is_what_exact_division_says() {
    let solver = backend("auto").unwrap();
    let mut gaining = 0;
    for seed in 0..50 {
        let draft = random_tree(seed);
        let instance = draft.build().unwrap();
        // Many resources are many misreports, which take long.
        if draft.resources.len() > 2 || !instance.has_groups() {
            continue;
        }
        let settings = AuditSettings { users: 1, seed: 1 };
        let found = audit(&instance, "", Objective::Drfh, &*solver, &*solver, settings).unwrap();
        // The first group with members is the one that is asked.
        let has_members = instance.of_groups(false, |_| true, |a, b| a || b);
        let g = has_members.iter().position(|has| *has).unwrap();
        let inside = instance.groups_inside(GroupId(g));
        let is_in = |id: &str| {
            let group = instance.user(instance.user_named(id).unwrap()).group();
            group.is_some_and(|group| inside[group.0])
        };
        let mut cut = draft.clone();
        cut.groups[g].weight = decimal(&format!("{}", 0.5 * draft.groups[g].weight.to_f64()));
        cut.groups.push(NewGroup { id: "second".into(), ..cut.groups[g].clone() });
        let second = cut.groups.len() - 1;
        let own = draft.groups[g].id.clone();
        let users = cut.users.iter_mut().filter(|user| user.group == Some(g)).map(|user| &mut user.group);
        let count = users
            .enumerate()
            .map(|(k, group)| {
                if k % 2 == 1 {
                    *group = Some(second)
                }
            })
            .count();
        let groups = cut.groups.iter_mut().filter(|group| group.parent.as_ref() == Some(&own));
        for (k, group) in groups.enumerate() {
            if (count + k) % 2 == 1 {
                group.parent = Some("second".into());
            }
        }
        let (before, after) = (exact_sum(&draft, &instance, &is_in), exact_sum(&cut, &instance, &is_in));
        let expected = if after > before { 1.0 - before / after } else { 0.0 };
        let splitting = of(&found.properties, "group-splitting");
        assert!(
            (splitting.residual.unwrap() - expected).abs() < 1e-6,
            "seed {seed}: {splitting:?}, not {expected}"
        );
        gaining += usize::from(expected > 1e-6);

        let mut without = draft.clone();
        without.users.retain(|user| !is_in(&user.id));
        let population = of(&found.properties, "group-population-monotonicity");
        if without.build().is_err() {
            continue;
        }
        let mut expected = 0.0f64;
        for other in 0..instance.groups().len() {
            let inside = instance.groups_inside(GroupId(other));
            let is_other = |id: &str| {
                let group = instance.user(instance.user_named(id).unwrap()).group();
                group.is_some_and(|group| inside[group.0])
            };
            if draft.users.iter().any(|user| is_other(&user.id) && is_in(&user.id)) {
                continue;
            }
            let sums = [&draft, &without].map(|draft| exact_sum(draft, &instance, &is_other));
            if sums[1] < sums[0] {
                expected = expected.max(1.0 - sums[1] / sums[0]);
            }
        }
        assert!(
            (population.residual.unwrap() - expected).abs() < 1e-6,
            "seed {seed}: {population:?}, not {expected}"
        );
    }
    assert!(gaining > 1, "{gaining} gain by splitting");
}
