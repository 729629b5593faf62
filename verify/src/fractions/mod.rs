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
mod filling;
pub(crate) mod fraction;
pub(crate) mod linear_program;
pub(crate) mod offline;
mod per_server;
mod rows;
mod stated;
pub(crate) mod tasks;

use crate::claim::{Printed, SolutionClaim};
use crate::proof::SolutionProof;
use crate::task_limits::has_task_row;
use crate::tolerance;
use crate::users::Subject;
use crate::verdict::{Verdict, Worst};
use costs::LevelCosts;
use fairplan_instances::{ClassId, ExactSolution, LimitedBy, Objective, ResourceId, User, UserId};
use filling::OfLevels;
use fraction::Fraction;
use num_bigint::BigInt;
use rows::Rows;
use stated::{Holding, Stated, Work, task_share};

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
    SolutionProof { primal: value, dual: value, relative_gap: 0.0, level_gaps, verdicts }
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

/// What is taken of each row: capacities, class by class, and limits.
struct UsedRows {
    taken: Vec<Fraction>,
    amounts: Vec<Fraction>,
    capacities: usize,
}

impl UsedRows {
    fn of(stated: &Stated<'_>, holdings: &[Holding]) -> Self {
        let instance = stated.instance;
        let (m, pooled) = (instance.resources().len(), stated.objective.is_pooled());
        let classes = if pooled { 1 } else { instance.classes().len() };
        let mut amounts = Vec::with_capacity(classes * m);
        for (class, r) in (0..classes).flat_map(|class| (0..m).map(move |r| (class, ResourceId(r)))) {
            amounts.push(Fraction::whole(match pooled {
                true => BigInt::from(instance.total_units(r)),
                false => {
                    BigInt::from(instance.capacity_units(ClassId(class), r)) * instance.classes()[class].count
                }
            }));
        }
        let capacities = amounts.len();
        amounts.extend(instance.limit_rows().iter().map(|row| Fraction::whole(instance.limit_units(row))));
        // What a unit of each level takes, what is known as a fraction, and what is known as a long one.
        let mut of_levels: Vec<Rows> = stated.levels.iter().map(|_| Rows::default()).collect();
        let mut known = Rows::default();
        let mut long = Vec::new();
        for (user, holding) in instance.users().zip(holdings) {
            for_each_part(stated, user, holding, |kind, class, amount| {
                let mut add = |row: usize, units: u128| {
                    let units = Fraction::whole(units);
                    match &amount {
                        PartAmount::OfLevels(tasks) => {
                            known.add(row, &tasks.constant.times(&units));
                            for (level, tasks) in &tasks.levels {
                                of_levels[*level].add(row, &tasks.times(&units));
                            }
                        }
                        PartAmount::Known(tasks) if tasks.below().bits() < LONG => {
                            known.add(row, &tasks.times(&units))
                        }
                        PartAmount::Known(tasks) => long.push((row, tasks.times(&units))),
                    }
                };
                for r in (0..m).map(ResourceId) {
                    add(class * m + r.0, stated.usable.demand_units(user, kind, r));
                }
                for j in instance.limits_above(user) {
                    let row = &instance.limit_rows()[j];
                    if pooled || row.covers(ClassId(class)) {
                        add(capacities + j, stated.usable.demand_units(user, kind, row.resource));
                    }
                }
            });
        }
        let mut taken = vec![Fraction::zero(); amounts.len()];
        for (row, sum) in known.sums() {
            taken[row] = sum;
        }
        for (rows, level) in of_levels.into_iter().zip(&stated.levels) {
            for (row, sum) in rows.sums() {
                taken[row] = taken[row].plus(&sum.times(&level.value));
            }
        }
        for (row, term) in long {
            taken[row] = taken[row].plus(&term);
        }
        Self { taken, amounts, capacities }
    }

    fn is_full(&self, row: usize) -> bool {
        self.taken[row] == self.amounts[row]
    }

    /// `exact-capacity`: nothing is overloaded, not by the smallest fraction.
    fn kept(&self, stated: &Stated<'_>) -> Verdict {
        let mut worst = Worst::of("exact-capacity", 0.0);
        if let Some(row) = (0..self.taken.len()).find(|row| self.taken[*row] > self.amounts[*row]) {
            worst.fail(|| format!("{} is overloaded", name_of_row(stated, self.capacities, row)));
        }
        worst.verdict()
    }
}

/// Bits from which a denominator is added apart: few are so long.
const LONG: u64 = 256;

fn name_of_row(stated: &Stated<'_>, capacities: usize, row: usize) -> String {
    let instance = stated.instance;
    let m = instance.resources().len();
    match row.checked_sub(capacities) {
        Some(limit) => format!("limit {limit}, of {}", instance.name_of(instance.limit_rows()[limit].owner)),
        None if stated.objective.is_pooled() => format!("{} of the pool", instance.resources()[row % m]),
        None => format!("{} of class {}", instance.resources()[row % m], instance.classes()[row / m].id),
    }
}

/// Tasks on a class.
enum PartAmount {
    /// So many for each unit of some levels.
    OfLevels(OfLevels),
    Known(Fraction),
}

/// Visits the kinds and classes where a user has tasks; the pool is class 0 and the user itself its kind.
fn for_each_part(
    stated: &Stated<'_>,
    user: User<'_>,
    holding: &Holding,
    mut visit: impl FnMut(usize, usize, PartAmount),
) {
    let of_level = |rate: Option<Fraction>| match &holding.work {
        Work::Of(work) => PartAmount::Known(rate.map_or_else(|| work.clone(), |rate| work.over(&rate))),
        Work::OfLevel(level) => {
            let per_level = stated.work_per_level(user);
            let tasks = rate.map_or_else(|| per_level.clone(), |rate| per_level.over(&rate));
            PartAmount::OfLevels(OfLevels::level(*level, tasks))
        }
        Work::OfLevels(sum) => {
            PartAmount::OfLevels(rate.map_or_else(|| (**sum).clone(), |rate| sum.over(&rate)))
        }
    };
    if stated.objective.is_pooled() {
        visit(user.index().0, 0, of_level(None));
        return;
    }
    for part in &holding.parts {
        let amount = match &part.tasks {
            Some(tasks) => PartAmount::Known(tasks.clone()),
            None => of_level(Some(Fraction::decimal(user.rule().rate(ClassId(part.class))))),
        };
        visit(part.kind, part.class, amount);
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

fn in_full(stated: &Stated<'_>, amount: PartAmount) -> Fraction {
    match amount {
        PartAmount::OfLevels(tasks) => tasks.at(|level| &stated.levels[level].value),
        PartAmount::Known(tasks) => tasks,
    }
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

/// What one more of a level costs all who have it, at its fractions' prices: doubles are in this unit, so that they are the derivative
/// of the level.
fn unit_of_prices(stated: &Stated<'_>, holdings: &[Holding], k: usize) -> Fraction {
    let costs = LevelCosts::of(stated.instance, stated.objective, stated.usable, &stated.levels[k]);
    if let Some(filling) = &stated.filling {
        let rise = filling.rise(k);
        let cost = |(user, holding): (User<'_>, &Holding)| {
            let rises = rise.of(filling, user.index().0)?;
            let per_level = stated.work_per_level(user);
            let per_share = per_level.over(&Fraction::decimal(user.weight()));
            Some(costs.of_work(user, holding).times(&per_share).times(&rises))
        };
        let users = stated.instance.users().zip(holdings).filter_map(cost);
        return users.fold(Fraction::zero(), |sum, cost| sum.plus(&cost));
    }
    // Whose tasks do different work on different classes is held by prices, with all its tasks too.
    let does_unlike_work = |i: usize| {
        !stated.objective.is_pooled()
            && has_task_row(stated.instance.user(UserId(i)), stated.usable.of_user(i))
    };
    let rises = |i: usize| match stated.limited_by[i] {
        LimitedBy::NoUsableClass => false,
        LimitedBy::Tasks => stated.level_of[i] as usize + usize::from(does_unlike_work(i)) > k,
        LimitedBy::Capacity | LimitedBy::Limit => stated.level_of[i] as usize >= k,
    };
    let users = stated.instance.users().zip(holdings).filter(|(user, _)| rises(user.index().0));
    let cost = |(user, holding): (User<'_>, &Holding)| {
        costs.of_work(user, holding).times(&stated.work_per_level(user))
    };
    users.map(cost).fold(Fraction::zero(), |sum, cost| sum.plus(&cost))
}

/// `exact-doubles`: every double is next to its fraction.
fn doubles(stated: &Stated<'_>, holdings: &[Holding], claim: &SolutionClaim<'_>) -> Verdict {
    let mut worst = Worst::of("exact-doubles", tolerance::EXACT_DOUBLES);
    let of_levels = claim.certificate.levels();
    for (k, (level, exact)) in of_levels.iter().zip(&stated.levels).enumerate() {
        worst.compare(level.value, exact.value.near(), || format!("level {k}"));
        worst.compare(level.bound, exact.value.near(), || format!("bound of level {k}"));
        // Whole numbers may be too long for a double, but not in parts of the largest.
        let largest =
            exact.prices.iter().chain(&exact.limit_prices).max().filter(|price| price.is_positive());
        let Some(largest) = largest else { continue };
        let doubles: Vec<f64> = level.prices.iter().chain(&level.limit_prices).copied().collect();
        let fractions: Vec<f64> =
            exact.prices.iter().chain(&exact.limit_prices).map(|price| price.over(largest).near()).collect();
        let scale = doubles.iter().copied().fold(0.0, f64::max);
        for (double, fraction) in doubles.iter().zip(&fractions) {
            worst.compare(*double, fraction * scale, || format!("a price of level {k}"));
        }
        if exact.task_prices.is_empty() {
            let unit = unit_of_prices(stated, holdings, k);
            if !unit.is_positive() {
                worst.fail(|| format!("the prices of level {k} cost nobody who has it anything"));
                continue;
            }
            worst.compare(scale, largest.over(&unit).near(), || {
                format!("the unit of the prices of level {k}")
            });
        }
    }
    for (user, holding) in stated.instance.users().zip(holdings) {
        let mut parts = Vec::new();
        for_each_part(stated, user, holding, |kind, class, amount| {
            let tasks = in_full(stated, amount).near();
            if tasks > 0.0 {
                parts.push((kind, class, tasks));
            }
        });
        let mut next = parts.into_iter();
        for kind in claim.tasks.kinds(user) {
            claim.tasks.visit(user.index().0, kind, |class, here| match next.next() {
                Some((of_kind, of_class, tasks)) if (of_kind, of_class) == (kind, class) => {
                    worst.compare(here, tasks, || format!("tasks of user {}", user.id()));
                }
                _ => worst
                    .fail(|| format!("user {}: doubles and fractions are on different classes", user.id())),
            });
        }
        if next.next().is_some() {
            worst.fail(|| format!("user {}: fractions are on more classes than doubles", user.id()));
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
