//! Solutions in fractions, held against the rational oracle.

use crate::{Fraction, exact_max_min_of, exact_tree, with_bundles_as_tasks};
use fairplan_instances::{ClassId, Instance, Objective, ResourceId, Solution, UserId};
use num_bigint::BigInt;

/// A fraction as results write it; `None` where it is none.
pub fn read_fraction(text: &str) -> Option<Fraction> {
    let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
    let whole = |digits: &str| BigInt::parse_bytes(digits.as_bytes(), 10);
    Some(Fraction::new(whole(numerator)?, whole(denominator)?))
}

/// Whether every fraction of a solution of DRFH or task share fairness is the oracle's; if not, which is not.
///
/// # Errors
/// The first that differs, with both.
pub fn is_as_the_oracle_says(instance: &Instance, solution: &Solution) -> Result<(), String> {
    let exact = solution.exact.as_ref().ok_or("there are no fractions")?;
    let truth = exact_max_min_of(instance, solution.objective);
    let same = |what: &str, stated: &str, truth: &Fraction| match read_fraction(stated) {
        Some(stated) if stated == *truth => Ok(()),
        _ => Err(format!("{what}: {stated} is stated, {truth:?} is the truth")),
    };
    same("value", &exact.value, truth.value())?;
    for ((user, stated), share) in instance.users().zip(&exact.users).zip(&truth.shares) {
        let what = format!("share of {}", user.id());
        // Long ones are left out.
        if let Some(stated) = &stated.dominant_share {
            same(&what, stated, share)?;
        }
    }
    let levels = truth.levels();
    for level in &exact.levels {
        let known = read_fraction(&level.value).is_some_and(|level| levels.contains(&level));
        if !known {
            return Err(format!("level {} is none of {levels:?}", level.value));
        }
    }
    Ok(())
}

/// Whether the shares of all users in groups, and of their groups, are those of the oracle; if not, which is not.
///
/// # Errors
/// The first that differs, with both.
pub fn is_as_the_oracle_of_trees_says(instance: &Instance, solution: &Solution) -> Result<(), String> {
    let exact = solution.exact.as_ref().ok_or("there are no fractions")?;
    let truth = exact_tree(instance, solution.objective);
    for ((user, stated), share) in instance.users().zip(&exact.users).zip(&truth) {
        let dominant = match (&stated.dominant_share, &stated.tasks) {
            (None, None) => continue,
            (Some(share), _) => read_fraction(share),
            (None, Some(tasks)) => return Err(format!("{} has {tasks} tasks and no share", user.id())),
        };
        // The objective may count shares otherwise: in parts of what a user could run alone.
        let per_share = match solution.objective {
            Objective::TaskShareFairness => {
                let work = crate::max_min::work_per_level(instance, solution.objective, user);
                let of_drfh = crate::max_min::work_per_level(instance, Objective::Drfh, user);
                &work / &of_drfh
            }
            _ => Fraction::one(),
        };
        if dominant.as_ref() != Some(&(share * &per_share)) {
            return Err(format!("share of {}: {dominant:?} is stated, {share:?} is the truth", user.id()));
        }
    }
    let of_groups = instance.of_groups(Fraction::zero(), |i| truth[i].clone(), |a, b| &a + &b);
    for ((group, stated), share) in instance.groups().iter().zip(&exact.groups).zip(of_groups) {
        if stated.as_deref().is_some_and(|stated| read_fraction(stated) != Some(share.clone())) {
            return Err(format!("share of {}: {stated:?} is stated, {share:?} is the truth", group.id));
        }
    }
    Ok(())
}

/// Whether the tasks of all users under DRF inside each server are those of max-min fairness on each server alone; if not, whose are not.
///
/// # Errors
/// The first that differs, with both.
pub fn is_as_the_oracle_of_servers_says(instance: &Instance, solution: &Solution) -> Result<(), String> {
    let exact = solution.exact.as_ref().ok_or("there are no fractions")?;
    let mut truth = vec![Fraction::zero(); instance.user_count()];
    for (l, class) in instance.classes().iter().enumerate() {
        let here: Vec<usize> = (0..truth.len())
            .filter(|i| instance.user(UserId(*i)).kinds().all(|kind| kind.can_use(ClassId(l))))
            .collect();
        if here.is_empty() {
            continue;
        }
        let whole = with_bundles_as_tasks(instance);
        let mut alone = whole.clone();
        alone.classes = vec![whole.classes[l].clone()];
        alone.classes[0].count = 1;
        alone.users = here.iter().map(|i| whole.users[*i].clone()).collect();
        for user in &mut alone.users {
            (user.eligible, user.rates) = (None, Vec::new());
        }
        let alone = alone.build().map_err(|problem| problem.to_string())?;
        let shares = exact_max_min_of(&alone, Objective::Drfh).shares;
        for ((position, i), share) in here.iter().enumerate().zip(shares) {
            let user = alone.user(UserId(position));
            let part = |r: usize| {
                let units = user.demand_units(ResourceId(r));
                (units > 0).then(|| Fraction::new(units, alone.total_units(ResourceId(r))))
            };
            let task = (0..alone.resources().len()).filter_map(part).max().ok_or("a user needs nothing")?;
            let tasks = &(&share / &task) * &Fraction::from(class.count);
            truth[*i] = &truth[*i] + &tasks;
        }
    }
    for ((user, stated), tasks) in instance.users().zip(&exact.users).zip(&truth) {
        if stated.tasks.as_deref().is_some_and(|stated| read_fraction(stated).as_ref() != Some(tasks)) {
            return Err(format!(
                "tasks of {}: {:?} is stated, {tasks:?} is the truth",
                user.id(),
                stated.tasks
            ));
        }
    }
    Ok(())
}
