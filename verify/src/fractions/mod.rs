//! A max-min that is stated in fractions, proved without any tolerance.
//!
//! With prices `p >= 0` of the rows (capacities, limits, the tasks of those whose tasks do different work on different classes), a
//! unit of a user's work costs `y_i`, what it costs where it is cheapest. No allocation has `Σ y_i X_i` above what all rows are
//! worth. If everybody works only where that is cheapest, and every priced row is used up, this one has just as much: so whoever
//! pays (`y_i > 0`) can have more only if another who pays has less. If no one who pays has a larger weighted share than the level,
//! then nobody whose level this is can gain but from one who has no more: that is the lexicographic max-min (DRFH eq. 7). So it is
//! enough to add the rows up and to compare costs, in whole numbers.
//!
//! In a tree of groups the same proves each stage: those who pay have together all that the prices allow, and just what filling the tree
//! gives them at the level (see `filling`), which one of them would exceed at any higher one.

mod alone;
mod costs;
mod doubles;
mod filling;
pub(crate) mod fraction;
pub(crate) mod linear_program;
pub(crate) mod offline;
mod per_server;
mod rows;
mod stated;
pub(crate) mod tasks;
mod used_rows;

use crate::claim::{Printed, SolutionClaim};
use crate::proof::SolutionProof;
use crate::tolerance;
use crate::users::Subject;
use crate::verdict::{Verdict, Worst};
use costs::LevelCosts;
use doubles::doubles;
use fairplan_instances::{ClassId, ExactSolution, LimitedBy, Objective, ResourceId, User};
use filling::OfLevels;
use fraction::Fraction;
use stated::{Holding, Stated, Work, task_share};
use used_rows::{UsedRows, for_each_part, in_full, name_of_row};

/// Proves a claim that states fractions.
pub(crate) fn prove(subject: Subject<'_>, claim: &SolutionClaim<'_>, exact: &ExactSolution) -> SolutionProof {
    let Subject { instance, usable_classes, .. } = subject;
    let mut form = Worst::of("exact-form", 0.0);
    let stated = match Stated::read(instance, usable_classes, claim, exact) {
        Ok(stated) => stated,
        Err(problem) => {
            form.fail(|| problem);
            return refused(form.verdict());
        }
    };
    if claim.objective == Objective::DrfPerServer {
        return per_server::prove(&stated, claim);
    }
    let holdings: Result<Vec<Holding>, String> = instance.users().map(|user| stated.holding(user)).collect();
    let holdings = match holdings {
        Ok(holdings) => holdings,
        Err(problem) => {
            form.fail(|| problem);
            return refused(form.verdict());
        }
    };
    let rows = UsedRows::of(&stated, &holdings);
    let mut verdicts = vec![form.verdict(), rows.kept(&stated), reasons(&stated, &holdings, &rows)];
    verdicts.push(texts(&stated, &holdings));
    verdicts.push(levels(&stated, &holdings, &rows));
    verdicts.push(doubles(&stated, &holdings, claim));
    let (value, value_verdict) = value(&stated, &holdings);
    verdicts.push(value_verdict);
    if let Some(printed) = &claim.printed {
        verdicts.push(printed_value(printed, value));
        let not_held = match &stated.filling {
            Some(filling) => filling.out_of_tasks(),
            None => (instance.users().zip(&holdings))
                .filter(|(user, _)| !claim.limited_by[user.index().0].is_by_prices())
                .map(|(user, holding)| weighted(&stated, user, holding).near())
                .fold(f64::INFINITY, f64::min),
        };
        verdicts.push(crate::max_min::prices(
            instance,
            claim.certificate.levels().first(),
            not_held,
            printed,
        ));
    }
    let level_gaps = vec![0.0; stated.levels.len()];
    SolutionProof { level_gaps, ..SolutionProof::of(value, verdicts) }
}

/// Nothing is known but that.
fn refused(verdict: Verdict) -> SolutionProof {
    SolutionProof::nothing(verdict)
}

/// The weighted share of a user.
fn weighted(stated: &Stated<'_>, user: User<'_>, holding: &Holding) -> Fraction {
    match &holding.work {
        Work::OfLevel(level) => stated.levels[*level].value.clone(),
        Work::Of(work) if work.is_zero() => Fraction::zero(),
        work => stated.work(user, work).over(&stated.work_per_level(user)),
    }
}

/// `exact-reasons`: who has no class has none; who has all its tasks has the level that follows.
fn reasons(stated: &Stated<'_>, holdings: &[Holding], rows: &UsedRows) -> Verdict {
    let mut worst = Worst::of("exact-reasons", 0.0);
    let instance = stated.instance;
    let can_run = |user: User<'_>| match stated.objective.is_pooled() {
        true => (0..instance.resources().len())
            .map(ResourceId)
            .all(|r| user.demand_units(r) == 0 || instance.total_units(r) > 0),
        false => stated.usable.can_run(user.index().0),
    };
    for (user, holding) in instance.users().zip(holdings) {
        let i = user.index().0;
        let (reason, level) = (stated.limited_by[i], stated.level_of[i] as usize);
        let problem = match reason {
            LimitedBy::NoUsableClass if can_run(user) => Some("it has a class that it can use"),
            LimitedBy::NoUsableClass => (level != 0).then_some("its level is 0"),
            _ if !can_run(user) => Some("it has no class that it can use"),
            // In groups the filling says so.
            LimitedBy::Tasks if user.tasks() != Some(0) && stated.filling.is_none() => {
                let has = weighted(stated, user, holding);
                let first = stated.levels.partition_point(|level| level.value < has);
                (level != first).then_some("its level is not the first that it does not exceed")
            }
            LimitedBy::Tasks => None,
            LimitedBy::Limit if !is_limited(stated, user, rows) => {
                Some("no limit above it is used up wherever it can run")
            }
            LimitedBy::Capacity if is_limited(stated, user, rows) => {
                Some("a limit above it is used up wherever it can run")
            }
            _ => None,
        };
        if let Some(problem) = problem {
            worst.fail(|| {
                format!("user {} is said to be limited by {}, but {problem}", user.id(), reason.name())
            });
        }
    }
    worst.verdict()
}

/// Whether some limit above a user is used up wherever one of its kinds can run. What others reserve is no limit of it.
fn is_limited(stated: &Stated<'_>, user: User<'_>, rows: &UsedRows) -> bool {
    let instance = stated.instance;
    let is_reserve = |j: &usize| instance.limit_rows()[*j].is_reserve();
    let above: Vec<usize> = instance.limits_above(user).into_iter().filter(|j| !is_reserve(j)).collect();
    if above.is_empty() {
        return false;
    }
    let pooled = stated.objective.is_pooled();
    let classes = |kind: usize| if pooled { vec![0] } else { stated.usable.of_kind(kind).classes.clone() };
    stated.usable.kinds(user).any(|kind| {
        classes(kind).iter().all(|class| {
            above.iter().any(|&j| {
                let row = &instance.limit_rows()[j];
                let takes = stated.usable.demand_units(user, kind, row.resource) > 0;
                takes && (pooled || row.covers(ClassId(*class))) && rows.is_full(rows.capacities + j)
            })
        })
    })
}

/// `exact-shares`: the stated shares and tasks are those that follow.
fn texts(stated: &Stated<'_>, holdings: &[Holding]) -> Verdict {
    let mut worst = Worst::of("exact-shares", 0.0);
    for (user, holding) in stated.instance.users().zip(holdings) {
        let texts = &stated.exact.users[user.index().0];
        let differs = |text: &Option<Box<str>>, truth: &dyn Fn() -> Fraction| match text.as_deref() {
            None => false,
            Some(text) => Fraction::read(text).map_or(true, |stated| stated != truth()),
        };
        let share = || stated.work(user, &holding.work).times(&task_share(user));
        if differs(&texts.dominant_share, &share) {
            worst.fail(|| format!("user {}: its dominant share in fractions is not what follows", user.id()));
        }
        if differs(&texts.tasks, &|| tasks(stated, user, holding)) {
            worst.fail(|| format!("user {}: its tasks in fractions are not what follows", user.id()));
        }
    }
    // Where nobody is in any, they have nothing.
    let nothing = || vec![OfLevels::constant(Fraction::zero()); stated.exact.groups.len()];
    let of_groups = stated.filling.as_ref().map_or_else(nothing, |filling| filling.of_groups());
    let groups = stated.instance.groups().iter().zip(&stated.exact.groups);
    for ((group, text), share) in groups.zip(of_groups) {
        let truth = || share.at(|level| &stated.levels[level].value);
        if text.as_deref().is_some_and(|text| Fraction::read(text).map_or(true, |text| text != truth())) {
            worst.fail(|| format!("group {}: its share in fractions is not what follows", group.id));
        }
    }
    worst.verdict()
}

/// All tasks of a user.
fn tasks(stated: &Stated<'_>, user: User<'_>, holding: &Holding) -> Fraction {
    let mut sum = Fraction::zero();
    let first = if stated.objective.is_pooled() { user.index().0 } else { user.kind_range().start };
    for_each_part(stated, user, holding, |kind, _, amount| {
        if kind == first {
            sum = sum.plus(&in_full(stated, amount));
        }
    });
    sum
}

/// `exact-levels`: at every level's prices all work where it is cheapest, every priced row is used up, who is held there pays, and
/// nobody who pays has more.
fn levels(stated: &Stated<'_>, holdings: &[Holding], rows: &UsedRows) -> Verdict {
    let mut worst = Worst::of("exact-levels", 0.0);
    for (k, level) in stated.levels.iter().enumerate() {
        let costs = LevelCosts::of(stated.instance, stated.objective, stated.usable, level);
        for row in costs.priced_rows() {
            if !rows.is_full(row) {
                let row = name_of_row(stated, rows.capacities, row);
                worst.fail(|| format!("level {k}: {row} has a price and is not used up"));
            }
        }
        let mut holds_somebody = false;
        for (user, holding) in stated.instance.users().zip(holdings) {
            let i = user.index().0;
            let (held_at, reason) = (stated.level_of[i] as usize, stated.limited_by[i]);
            if costs.of_tasks(user).is_positive() && reason != LimitedBy::Tasks {
                worst.fail(|| format!("level {k}: user {} pays for its tasks and has some left", user.id()));
            }
            let mut pays = false;
            let mut dear = false;
            for_each_part(stated, user, holding, |kind, class, _| {
                dear |= !costs.is_cheapest(user, kind, class);
                pays |= costs.is_positive(user, kind, class);
            });
            if dear {
                worst.fail(|| format!("level {k}: user {} works where it is not cheapest", user.id()));
            }
            if pays {
                let has_more = match &holding.work {
                    Work::OfLevel(own) => *own > k,
                    // The filling says at which stage.
                    _ if stated.filling.is_some() => held_at > k,
                    _ => weighted(stated, user, holding) > level.value,
                };
                if has_more {
                    worst.fail(|| format!("level {k}: user {} pays and has more than the level", user.id()));
                }
            }
            if held_at == k {
                holds_somebody |= pays
                    && match &holding.work {
                        Work::OfLevel(_) | Work::OfLevels(_) => true,
                        Work::Of(_) => {
                            stated.filling.is_none() && weighted(stated, user, holding) == level.value
                        }
                    };
                // Whose tasks could do more work is held by prices, too.
                let is_held = reason.is_by_prices()
                    || reason == LimitedBy::Tasks && costs::could_do_more(stated, user, holding);
                if is_held && !pays {
                    worst.fail(|| format!("level {k}: nothing that user {} needs has a price", user.id()));
                }
            }
        }
        if !holds_somebody {
            worst.fail(|| format!("level {k} holds nobody"));
        }
    }
    // Whose tasks could do more work elsewhere must be held by a level.
    for (user, holding) in stated.instance.users().zip(holdings) {
        let i = user.index().0;
        if stated.limited_by[i] == LimitedBy::Tasks && costs::could_do_more(stated, user, holding) {
            let level = stated.levels.get(stated.level_of[i] as usize);
            if level.is_none_or(|level| weighted(stated, user, holding) != level.value) {
                worst.fail(|| {
                    format!("user {}: its tasks could do more work, and no level holds it", user.id())
                });
            }
        }
    }
    worst.verdict()
}

/// `exact-value`: the smallest weighted share; where there are groups, of the children of the root.
fn value(stated: &Stated<'_>, holdings: &[Holding]) -> (f64, Verdict) {
    let mut worst = Worst::of("exact-value", 0.0);
    // Of those on one level the level itself.
    let mut least: Option<Fraction> = None;
    let mut lowest = usize::MAX;
    for (user, holding) in stated.instance.users().zip(holdings) {
        match &holding.work {
            Work::OfLevel(level) => lowest = lowest.min(*level),
            _ if stated.filling.is_some() => {}
            _ => {
                let own = weighted(stated, user, holding);
                least = Some(least.map_or_else(|| own.clone(), |least| least.min(own.clone())));
            }
        }
    }
    let of_levels = stated.levels.get(lowest).map(|level| level.value.clone());
    let truth = match &stated.filling {
        Some(filling) => filling.least(&stated.values()),
        None => least.into_iter().chain(of_levels).min().unwrap_or_else(Fraction::zero),
    };
    if truth != stated.value {
        let text = fraction::shown(&stated.exact.value);
        worst.fail(|| format!("{text} is stated, {} is the smallest weighted share", truth.near()));
    }
    (truth.near(), worst.verdict())
}

/// `value`: its doubles, and no gap.
fn printed_value(printed: &Printed<'_>, value: f64) -> Verdict {
    let mut worst = Worst::of("value", tolerance::EXACT_DOUBLES);
    worst.compare(printed.value, value, || "value".into());
    worst.compare(printed.primal, value, || "primal".into());
    worst.compare(printed.dual, value, || "dual".into());
    if printed.relative_gap != 0.0 {
        worst.fail(|| format!("relative gap: {} is stated, there is none", printed.relative_gap));
    }
    worst.verdict()
}
