//! Questions about clusters of groups: what servers are worth to them, what failures cost them, what differs, against the exact
//! division of every variant and cases worked by hand.

use crate::groups::in_groups;
use fairplan_analysis::{
    Failure, GroupChange, differences, explain, explain_group, losses, worth_of_servers,
};
use fairplan_instances::{
    ClassId, GroupId, Headline, Instance, Objective, Solution, Solver, UserId, stated_level,
};
use fairplan_report::solution::StatedNumbers;
use fairplan_solver::backend;
use fairplan_tests::{Draft, Fraction, decimal, draft, exact_max_min_of, exact_tree, random_tree};
use fairplan_verify::verify_solution;

/// Of all that is compared here, shares are the most: a part of them that is still nothing.
const SAME: f64 = 1e-8;

fn solve(instance: &Instance, solver: &dyn Solver) -> Solution {
    solver.solve(instance, Objective::Drfh).unwrap()
}

/// The dominant shares of users by exact arithmetic, in shares of `today`.
fn exact_shares(instance: &Instance, today: &Instance) -> Vec<f64> {
    let in_todays = |(user, share): (fairplan_instances::User<'_>, Fraction)| {
        share.to_f64() / user.task_share() * today.user(user.index()).task_share()
    };
    instance.users().zip(exact_tree(instance, Objective::Drfh)).map(in_todays).collect()
}

fn sums(instance: &Instance, shares: &[f64]) -> Vec<f64> {
    instance.of_groups(0.0, |i| shares[i], |a, b| a + b)
}

/// The highest level that gives nobody with a usable class more than it has: nobody's tasks are limited.
fn exact_level(instance: &Instance, shares: &[f64]) -> f64 {
    let runs = |i: usize| {
        let classes = (0..instance.classes().len()).map(ClassId);
        classes.filter(|class| instance.user(UserId(i)).can_use(*class)).count() > 0
    };
    let is_running = instance.of_groups(false, runs, |a, b| a || b);
    // Of each group the weights of the children that run anything.
    let mut weights = vec![0.0; instance.groups().len()];
    for user in instance.users().filter(|user| runs(user.index().0)) {
        if let Some(group) = user.group() {
            weights[group.0] += user.weight().to_f64();
        }
    }
    for (group, _) in instance.groups().iter().zip(is_running).filter(|(_, is_running)| *is_running) {
        if let Some(parent) = group.parent {
            weights[parent.0] += group.weight.to_f64();
        }
    }
    let level = |user: fairplan_instances::User<'_>| {
        let (mut level, mut above) = (shares[user.index().0] / user.weight().to_f64(), user.group());
        while let Some(group) = above {
            level *= weights[group.0] / instance.groups()[group.0].weight.to_f64();
            above = instance.groups()[group.0].parent;
        }
        level
    };
    instance.users().filter(|user| runs(user.index().0)).map(level).fold(f64::INFINITY, f64::min)
}

/// The listed groups have what is expected before and after, and all groups that change much are listed.
fn agree(instance: &Instance, listed: &[GroupChange], before: &[f64], after: &[f64]) -> Result<(), String> {
    for (g, group) in instance.groups().iter().enumerate() {
        let found = listed.iter().find(|change| change.id == group.id);
        let near = |told: Option<f64>, exact: f64| told.is_some_and(|told| (told - exact).abs() <= SAME);
        match found {
            Some(told) if near(told.before, before[g]) && near(told.after, after[g]) => {}
            None if (before[g] - after[g]).abs() <= 1e-5 * before[g] => {}
            _ => return Err(format!("{}: {} and {}, told {found:?}", group.id, before[g], after[g])),
        }
    }
    Ok(())
}

#[test]
fn a_server_is_worth_to_groups_what_the_exact_division_with_it_gives_them() {
    let solver = backend("auto").unwrap();
    let (mut gains, mut priced, mut moved) = (0, 0, 0);
    for seed in 0..250 {
        let mut draft = random_tree(seed);
        draft.users.iter_mut().for_each(|user| user.tasks = None);
        let today = draft.build().unwrap();
        if !today.has_groups() {
            continue;
        }
        let worth =
            worth_of_servers(&today, "", &solve(&today, &*solver), &*solver, false, &|_, _| ()).unwrap();
        let before = exact_shares(&today, &today);
        let level = exact_level(&today, &before);
        if level == f64::INFINITY {
            continue;
        }
        assert!((worth.raised() - level).abs() <= SAME, "seed {seed}: {} is not {level}", worth.raised());
        for class in &worth.server_classes {
            let mut more = draft.clone().measured_as(&today);
            more.classes[today.class_named(&class.id).unwrap().0].count += 1;
            let variant = more.build().unwrap();
            let after = exact_shares(&variant, &today);
            let gain = exact_level(&variant, &after) - level;
            assert!((class.gain - gain).abs() <= SAME, "seed {seed}: {class:?}, exactly {gain}\n{draft}");
            agree(&today, &class.groups, &sums(&today, &before), &sums(&today, &after))
                .unwrap_or_else(|problem| panic!("seed {seed}, class {}: {problem}\n{draft}", class.id));
            moved += class.groups.len();
            gains += usize::from(gain > 1e-3);
            // What a server is worth to one member never makes another's part smaller while nobody's tasks are limited.
            assert!(gain <= class.by_price + 1e-7, "seed {seed}: {class:?}");
            priced += usize::from(class.by_price > 1e-3);
        }
    }
    assert!(gains > 100 && priced > 100 && moved > 300, "{gains} {priced} {moved}");
}

#[test]
fn what_groups_lose_with_servers_is_what_the_exact_division_of_the_rest_leaves_them() {
    let solver = backend("auto").unwrap();
    let mut moved = 0;
    for seed in 0..250 {
        let draft = random_tree(seed);
        let today = draft.build().unwrap();
        let solution = solve(&today, &*solver);
        let told = losses(&today, "", &solution, &*solver, &Failure::of_each_class(&today, Some(1))).unwrap();
        let headline = Headline::new(&today, &solution);
        assert!((told.value - headline.value).abs() <= 1e-14, "seed {seed}: one value, whoever tells it");
        let [told_level, level] =
            [told.level, stated_level(headline.value, headline.level)].map(|level| level.unwrap_or(0.0));
        assert!((told_level - level).abs() <= 1e-14, "seed {seed}: one level, whoever tells it");
        let before = exact_shares(&today, &today);
        for loss in &told.losses {
            let mut rest = draft.clone();
            rest.classes[today.class_named(&loss.class).unwrap().0].count -= 1;
            // Where nothing is left of something that users need, they are left out, which changes what others have.
            let Ok(variant) = rest.build() else { continue };
            let after = exact_shares(&variant, &today);
            agree(&today, &loss.groups, &sums(&today, &before), &sums(&today, &after))
                .unwrap_or_else(|problem| panic!("seed {seed}, class {}: {problem}\n{draft}", loss.class));
            moved += loss.groups.len();
        }
        let part =
            |loss: &fairplan_analysis::Loss| loss.worst_group().and_then(|group| group.part).unwrap_or(0.0);
        let of_groups: Vec<f64> = told.losses.iter().map(part).filter(|part| *part < 0.0).collect();
        if told.losses.iter().all(|loss| loss.worst_group().is_some()) {
            assert!(
                of_groups.is_sorted_by(|a, b| *a <= b + 1e-6),
                "seed {seed}: the worst comes first: {of_groups:?}"
            );
        }
    }
    assert!(moved > 500, "{moved}");
}

#[test]
fn variants_measured_by_other_servers_are_divided_and_proved_as_exact_arithmetic_has_them() {
    let solver = backend("auto").unwrap();
    let mut other = 0;
    for seed in 0..200 {
        let mut draft = random_tree(seed);
        if seed % 2 == 0 {
            draft.groups.clear();
            draft.users.iter_mut().for_each(|user| user.group = None);
        }
        let today = draft.build().unwrap();
        let own = {
            draft.classes[0].count += 2;
            draft.build().unwrap()
        };
        let variant = draft.measured_as(&today).build().unwrap();
        for objective in [Objective::Drfh, Objective::TaskShareFairness] {
            let exact = |instance: &Instance| match instance.has_groups() {
                true => exact_tree(instance, objective),
                false => (instance.users())
                    .zip(exact_max_min_of(instance, objective).weighted)
                    .map(|(user, weighted)| &weighted * &Fraction::from(user.weight()))
                    .collect(),
            };
            let solution = match solver.solve(&variant, objective) {
                Ok(solution) => solution,
                // Rates beside limits of tasks.
                Err(error) => panic!("seed {seed}: {error}"),
            };
            let shares = exact(&variant);
            for (user, share) in variant.users().zip(&shares) {
                let per_share = objective.share_per_level(user) / user.weight().to_f64();
                let (has, exact) =
                    (solution.allocation.dominant_share(&variant, user.index()), share.to_f64() * per_share);
                assert!(
                    (has - exact).abs() <= SAME * exact,
                    "seed {seed}, {objective}: {has} is not {exact}"
                );
            }
            let numbers = StatedNumbers::new(&variant, &solution);
            let proof = verify_solution(&variant, &numbers.claim(&solution));
            assert_eq!(proof.failures().next(), None, "seed {seed}, {objective}");
            let by_own: Vec<f64> = exact(&own).iter().map(Fraction::to_f64).collect();
            let work = |instance: &Instance, shares: &[f64]| -> Vec<f64> {
                let per_share = |user: fairplan_instances::User<'_>| {
                    objective.share_per_level(user) / user.weight().to_f64() / user.task_share()
                };
                instance.users().zip(shares).map(|(user, share)| share * per_share(user)).collect()
            };
            let by_today: Vec<f64> = shares.iter().map(Fraction::to_f64).collect();
            let differ = work(&own, &by_own)
                .iter()
                .zip(work(&variant, &by_today))
                .any(|(a, b)| (a - b).abs() > 1e-3 * b);
            other += usize::from(differ);
        }
    }
    assert!(other > 20, "what shares are measured by decides something: {other}");
}

/// `u` can only use the small server, which alone raises the level; what others leave of the large one goes to its sibling, so that
/// both servers are worth the same to both groups.
#[test]
fn a_member_held_below_its_group_decides_the_level_and_groups_gain_all_the_same() {
    let mut users = draft(&[(1, "2"), (1, "18")], &["1", "1", "1"]);
    users.users[0].eligible = Some(vec![0]);
    let instance =
        in_groups(users, &[("a", None), ("b", None)], &[Some(0), Some(0), Some(1)]).build().unwrap();
    let solver = backend("auto").unwrap();
    let worth =
        worth_of_servers(&instance, "", &solve(&instance, &*solver), &*solver, true, &|_, _| ()).unwrap();
    assert!((worth.raised() - 0.2).abs() < 1e-9, "{worth:?}");
    for (id, exact) in [("class-0", 0.2), ("class-1", 0.0)] {
        let class = worth.server_classes.iter().find(|class| class.id == id).unwrap();
        assert!((class.gain - exact).abs() < 1e-9 && (class.by_price - exact).abs() < 1e-9, "{worth:?}");
        assert_eq!(class.groups.len(), 2, "{class:?}");
    }
}

#[test]
fn a_satisfied_user_does_not_decide_what_a_server_is_worth() {
    let mut users = draft(&[(1, "10")], &["1", "1"]);
    users.users[0].tasks = Some(1);
    let instance = users.build().unwrap();
    let solver = backend("auto").unwrap();
    let told = |tasks: Option<u64>| {
        let mut users = Draft::from(&instance);
        users.users[1].tasks = tasks;
        let instance = users.build().unwrap();
        worth_of_servers(&instance, "", &solve(&instance, &*solver), &*solver, false, &|_, _| ()).unwrap()
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    let worth = told(None);
    near(worth.value, 0.1);
    near(worth.level.unwrap(), 0.9);
    near(worth.server_classes[0].gain, 1.0);
    // With a server more, its 15 tasks all run: that is what it gains, not that the other has 1 of 10.
    near(told(Some(15)).server_classes[0].gain, 0.6);
}

#[test]
fn differences_between_trees_name_groups_and_what_they_have() {
    let users = draft(&[(2, "10")], &["1", "1", "1"]);
    let before =
        in_groups(users, &[("web", None), ("batch", None), ("old", None)], &[Some(0), Some(1), Some(2)]);
    let mut after = before.clone();
    after.groups[0].weight = decimal("2");
    after.groups[2].id = "new".into();
    after.groups[1].parent = Some("new".into());
    after.classes[0].count = 4;
    let solver = backend("auto").unwrap();
    let found = differences([&before.build().unwrap(), &after.build().unwrap()], [""; 2], &*solver).unwrap();
    let told: Vec<(&str, &str, String)> = found
        .changed_groups
        .iter()
        .map(|group| (&*group.id, &*group.kind, group.changes.join(", ")))
        .collect();
    let expected = [
        ("web", "changed", "weight 1 -> 2".to_owned()),
        ("batch", "changed", "parent none -> new".to_owned()),
        ("old", "removed", String::new()),
        ("new", "added", String::new()),
    ];
    assert_eq!(told, expected);
    assert_eq!(found.changed_users[0].changes, ["group old -> new"]);
    let steps: Vec<&str> = found.steps.iter().map(|step| &*step.change).collect();
    assert_eq!(steps, ["before", "servers", "users removed", "groups", "users changed", "users added"]);
    // In shares of the first cluster, of which the second is twice: 40 for 20.
    let of = |id: &str| found.groups.iter().find(|group| group.id == id).unwrap();
    let near = |told: Option<f64>, exact: f64| assert!((told.unwrap() - exact).abs() < 1e-9, "{found:?}");
    near(of("web").before, 1.0 / 3.0);
    near(of("web").after, 4.0 / 3.0);
    near(of("web").part, 3.0);
    near(of("batch").after, 1.0 / 3.0);
    near(of("new").after, 2.0 / 3.0);
    assert_eq!((of("new").before, of("old").after, of("new").part), (None, None, None));
    // The user of the group that is gone is where the second has it before users change.
    near(found.steps[3].value, 1.0 / 3.0);
}

#[test]
fn a_group_that_loses_members_to_another_is_told_in_the_shares_of_both() {
    let users = draft(&[(1, "12")], &["1", "1"]);
    let before = in_groups(users, &[("a", None), ("b", None)], &[Some(0), Some(1)]);
    let mut after = before.clone();
    after.users[0].group = Some(1);
    let solver = backend("auto").unwrap();
    let found = differences([&before.build().unwrap(), &after.build().unwrap()], [""; 2], &*solver).unwrap();
    assert_eq!(found.changed_users[0].changes, ["group a -> b"]);
    let told: Vec<(&str, f64)> = found.groups.iter().map(|group| (&*group.id, group.part.unwrap())).collect();
    assert_eq!((told[0].0, told[1].0), ("a", "b"), "who loses most comes first");
    assert!((told[0].1 + 1.0).abs() < 1e-9 && (told[1].1 - 1.0).abs() < 1e-9, "{told:?}");
}

/// Twelve cores. `company` (weight 3) has `web` (weight 2) with `shop`, `search` and `mail`, and `batch` (weight 1) with
/// `nightly`; `alone` is beside it. So `company` has 9 cores, `web` 6 and `batch` 3.
pub fn company() -> Draft {
    let mut draft = in_groups(
        draft(&[(12, "1")], &["1"; 5]),
        &[("company", None), ("web", Some("company")), ("batch", Some("company"))],
        &[Some(1), Some(1), Some(1), Some(2), None],
    );
    (draft.groups[0].weight, draft.groups[1].weight) = (decimal("3"), decimal("2"));
    for (user, id) in draft.users.iter_mut().zip(["shop", "search", "mail", "nightly", "alone"]) {
        user.id = id.into();
    }
    draft
}

#[test]
fn a_group_is_explained_by_its_members_what_holds_them_and_who_gains_if_it_asks_for_less() {
    let instance = company().build().unwrap();
    let solver = backend("auto").unwrap();
    let solution = solve(&instance, &*solver);
    let explained = |id: &str| {
        let group = instance.group_named(id).unwrap();
        explain_group(&instance, "", &solution, &*solver, group).unwrap()
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    let web = explained("web");
    near(web.group.share, 0.5);
    near(web.group.level, 0.25);
    let members: Vec<&str> = web.members.iter().map(|member| &*member.id).collect();
    assert_eq!(members, ["shop", "search", "mail"]);
    for member in &web.members {
        near(member.share, 1.0 / 6.0);
        near(member.pays.unwrap(), 1.0 / 6.0);
        near(member.level.unwrap().value, 0.25);
    }
    let [held] = &web.held_by[..] else { panic!("{web:?}") };
    assert_eq!((&*held.class, held.members, held.level), ("class-0", 3, 0));
    near(held.part, 0.5);
    near(held.price, 1.0 / 48.0);
    // A tenth less of 6 cores leaves 0.6, which goes to its only sibling, `batch`, and not to `alone`.
    assert_eq!((web.siblings_in_all, web.siblings.len(), &*web.siblings[0].id), (1, 1, "batch"));
    near(web.siblings[0].share, 0.25);
    near(web.siblings[0].then.unwrap(), 0.3);
    let company = explained("company");
    assert_eq!(company.members.len(), 4);
    let inside: Vec<&str> = company.groups.iter().map(|group| &*group.id).collect();
    assert_eq!(inside, ["web", "batch"]);
    let [alone] = &company.siblings[..] else { panic!("{company:?}") };
    assert_eq!((&*alone.id, &*alone.kind), ("alone", "user"));
    near(alone.then.unwrap(), 0.25 + 0.075);
}

#[test]
fn what_siblings_would_have_if_a_group_asked_for_less_is_what_exact_division_gives_them() {
    let solver = backend("auto").unwrap();
    let mut gains = 0;
    for seed in 0..120 {
        let mut draft = random_tree(seed);
        draft.users.iter_mut().for_each(|user| user.rates.clear());
        let instance = draft.build().unwrap();
        let solution = solve(&instance, &*solver);
        let told = explain_group(&instance, "", &solution, &*solver, GroupId(0)).unwrap();
        assert!(told.not_asked.is_empty(), "seed {seed}: {:?}", told.not_asked);
        let together: f64 = told.members.iter().map(|member| member.share).sum();
        assert!((together - told.group.share).abs() <= SAME, "seed {seed}: members make up the group");
        // In so small tasks that a whole number of them is nearly what it asks for.
        for member in &told.members {
            let user = &mut draft.users[instance.user_named(&member.id).unwrap().0];
            user.demand.iter_mut().for_each(|demand| *demand = decimal(&format!("{demand}e-6")));
            user.tasks = Some((0.9e6 * member.tasks) as u64);
        }
        let variant = draft.build().unwrap();
        let shares: Vec<f64> = exact_tree(&variant, Objective::Drfh).iter().map(Fraction::to_f64).collect();
        let groups = sums(&variant, &shares);
        for sibling in &told.siblings {
            let exact = match &*sibling.kind {
                "group" => groups[variant.group_named(&sibling.id).unwrap().0],
                _ => shares[variant.user_named(&sibling.id).unwrap().0],
            };
            let then = sibling.then.unwrap();
            assert!((then - exact).abs() <= 1e-5, "seed {seed}: {sibling:?}, exactly {exact}\n{draft}");
            gains += usize::from(sibling.gain() > 1e-3);
        }
        assert!(
            told.siblings.is_sorted_by(|a, b| a.gain() >= b.gain() - 2e-9),
            "seed {seed}: who gains most is first"
        );
    }
    assert!(gains > 30, "{gains}");
}

#[test]
fn a_user_in_groups_is_explained_with_the_groups_above_it() {
    let instance = company().build().unwrap();
    let solver = backend("auto").unwrap();
    let solution = solve(&instance, &*solver);
    let told = explain(&instance, "", &solution, &*solver, instance.user_named("mail").unwrap()).unwrap();
    let groups: Vec<(&str, f64)> =
        told.groups.iter().map(|group| (&*group.id, (group.level * 1e6).round())).collect();
    assert_eq!(groups, [("web", 250_000.0), ("company", 250_000.0)]);
    assert_eq!(told.level.unwrap().position, 0);
    assert_eq!((told.held_by.len(), told.price_ranges.len()), (1, 1), "{told:?}");
    // A task of half a core: what it leaves of memory is nothing, and its share is measured by its own tasks.
    assert_eq!((told.smaller_demands[0].gain, told.smaller_demands[0].lose), (0, 0));
    let alone = explain(&instance, "", &solution, &*solver, instance.user_named("alone").unwrap()).unwrap();
    assert!(alone.groups.is_empty());
}

/// `u` holds the small server at the first level; `v` and `w` rise above it, where a price of the small server says nothing.
#[test]
fn prices_of_levels_above_others_have_no_ranges_in_groups() {
    let mut users = draft(&[(1, "2"), (1, "18")], &["1", "1", "1"]);
    users.users[0].eligible = Some(vec![0]);
    let instance =
        in_groups(users, &[("a", None), ("b", None)], &[Some(0), Some(0), Some(1)]).build().unwrap();
    let solver = backend("auto").unwrap();
    let solution = solve(&instance, &*solver);
    let told = |user| explain(&instance, "", &solution, &*solver, UserId(user)).unwrap();
    let (first, above) = (told(0), told(1));
    assert_eq!((first.level.unwrap().position, above.level.unwrap().position), (0, 1));
    assert!(!first.price_ranges.is_empty() && above.price_ranges.is_empty());
    let group = explain_group(&instance, "", &solution, &*solver, GroupId(0)).unwrap();
    let held: Vec<(&str, usize, usize)> =
        group.held_by.iter().map(|held| (&*held.class, held.members, held.level)).collect();
    assert_eq!(held[0].2, 0, "the small server holds a member at the first level already: {held:?}");
    assert_eq!(held.last().unwrap(), &("class-1", 1, 1));
}
