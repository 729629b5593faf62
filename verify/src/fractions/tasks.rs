//! An offline optimum over servers that is stated in fractions, proved without any tolerance.
//!
//! With multipliers `y >= 0` of the users and prices `p >= 0` of the capacities, whatever runs,
//! `Σ_i y_i G_i <= Σ_tlr C_lr p_tlr + Σ_it d_it max(0, max_l (y_i g_il − Σ_r D_ir p_tlr))`. If what is stated has just as much, then
//! whoever has a multiplier can have more only if another who has one has less. If nobody who has one stands above the level, then
//! nobody of this level can gain but from one who has no more: that is the lexicographic max-min.

use super::fraction::Fraction;
use super::rows::Rows;
use super::stated::task_share;
use crate::task_levels::{is_there, level_of};
use crate::tolerance::EXACT_DOUBLES;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{
    ClassId, ExactTaskLevel, ExactTasks, OfflineMeasure, ResourceId, TaskDemands, TaskLevel, UserId,
};

/// Everything that fractions state, held against the demands and against the doubles beside them.
pub(crate) fn prove(
    demands: &TaskDemands<'_>,
    doubles: &[f64],
    levels: &[TaskLevel],
    exact: &ExactTasks,
) -> Vec<Verdict> {
    let read = match Read::of(demands, levels.len(), exact) {
        Ok(read) => read,
        Err(problem) => {
            let mut form = Worst::of("exact-form", 0.0);
            form.fail(|| problem);
            return vec![form.verdict()];
        }
    };
    let users: Vec<Standing> = (0..demands.users().len()).map(|user| Standing::of(demands, user)).collect();
    let (mut verdicts, work) = read.fits(demands, &users);
    verdicts.push(read.levels(demands, levels, &users, &work));
    verdicts.push(read.numbers(&users, &work));
    verdicts.push(read.doubles(doubles, levels));
    verdicts
}

/// How a user's work counts.
struct Standing {
    user: UserId,
    /// The classes that it can use, and the work of one task there.
    rates: Vec<(usize, Fraction)>,
    /// The standing of a unit of its work.
    worth: Fraction,
    /// What it would have if all its tasks ran where they do most.
    most: Fraction,
    /// The dominant share of a unit of its work.
    share: Fraction,
}

impl Standing {
    fn of(demands: &TaskDemands<'_>, position: usize) -> Self {
        let instance = demands.instance();
        let user = instance.user(demands.users()[position]);
        let usable = (0..instance.classes().len()).filter(|class| user.can_use(ClassId(*class)));
        let rates: Vec<(usize, Fraction)> =
            usable.map(|class| (class, Fraction::decimal(user.rule().rate(ClassId(class))))).collect();
        let best = rates.iter().map(|(_, rate)| rate).max().cloned().unwrap_or_else(Fraction::zero);
        let most = best.times(&Fraction::whole(demands.series().totals()[position]));
        let share = task_share(user);
        let worth = match demands.measure() {
            OfflineMeasure::Totals => share.over(&Fraction::decimal(user.weight())),
            OfflineMeasure::Welfare if most.is_positive() => Fraction::whole(1).over(&most),
            OfflineMeasure::Welfare => Fraction::whole(1),
        };
        Self { user: user.index(), rates, most: most.times(&worth), worth, share }
    }
}

/// A level as fractions.
struct ReadLevel {
    value: Fraction,
    multipliers: Vec<Fraction>,
    prices: Vec<Fraction>,
}

struct Read {
    value: Fraction,
    levels: Vec<ReadLevel>,
    shares: Vec<Fraction>,
    tasks: Vec<Fraction>,
}

/// So many fractions.
fn fractions(what: &str, texts: &[String], expected: usize) -> Result<Vec<Fraction>, String> {
    if texts.len() != expected {
        return Err(format!("{what}: {} fractions are stated, {expected} are needed", texts.len()));
    }
    texts.iter().map(|text| Fraction::read(text).map_err(|problem| format!("{what}: {problem}"))).collect()
}

impl Read {
    fn of(demands: &TaskDemands<'_>, levels: usize, exact: &ExactTasks) -> Result<Self, String> {
        let (series, instance) = (demands.series(), demands.instance());
        let (users, classes) = (series.user_count(), instance.classes().len());
        let rows = series.quantum_count() * classes * instance.resources().len();
        if exact.levels.len() != levels {
            return Err(format!(
                "{} levels are stated in fractions, {levels} in doubles",
                exact.levels.len()
            ));
        }
        let level = |(k, level): (usize, &ExactTaskLevel)| {
            let place = |what: &str| format!("levels[{k}].{what}");
            Ok(ReadLevel {
                value: Fraction::read(&level.value)?,
                multipliers: fractions(&place("multipliers"), &level.multipliers, users)?,
                prices: fractions(&place("prices"), &level.prices, rows)?,
            })
        };
        Ok(Self {
            value: Fraction::read(&exact.value)?,
            levels: exact.levels.iter().enumerate().map(level).collect::<Result<_, String>>()?,
            shares: fractions("shares", &exact.shares, users)?,
            tasks: fractions("tasks", &exact.tasks, series.entry_count() * classes)?,
        })
    }

    /// Whether tasks run only where they can, no more than are demanded, and every quantum holds them; and what work each user has
    /// done.
    fn fits(&self, demands: &TaskDemands<'_>, users: &[Standing]) -> (Vec<Verdict>, Vec<Fraction>) {
        let (series, instance) = (demands.series(), demands.instance());
        let (classes, m) = (instance.classes().len(), instance.resources().len());
        let (mut within, mut capacity) =
            (Worst::of("exact-allocation", 0.0), Worst::of("exact-capacity", 0.0));
        let mut work = Rows::default();
        let mut rows = self.tasks.chunks_exact(classes);
        for quantum in 0..series.quantum_count() {
            let (demanders, wanted) = series.demands(quantum);
            let mut used = Rows::default();
            for ((position, wanted), row) in demanders.iter().zip(wanted).zip(&mut rows) {
                let (position, standing) = (*position as usize, &users[*position as usize]);
                let mut all = Fraction::zero();
                let mut rates = standing.rates.iter().peekable();
                for (class, tasks) in row.iter().enumerate() {
                    let rate = rates.next_if(|(usable, _)| *usable == class);
                    if tasks.is_zero() {
                        continue;
                    }
                    all = all.plus(tasks);
                    match rate {
                        Some((_, rate)) => work.add(position, &tasks.times(rate)),
                        None => within.fail(|| {
                            format!(
                                "{} runs tasks on a class that it cannot use",
                                place(demands, position, quantum)
                            )
                        }),
                    }
                    for r in (0..m).map(ResourceId) {
                        let units = Fraction::whole(instance.user(standing.user).demand_units(r));
                        used.add(class * m + r.0, &tasks.times(&units));
                    }
                }
                if all > Fraction::whole(*wanted) {
                    within.fail(|| {
                        format!(
                            "{} runs more than the {wanted} tasks it demands",
                            place(demands, position, quantum)
                        )
                    });
                }
            }
            for (row, used) in used.sums() {
                let (class, r) = (row / m, ResourceId(row % m));
                if used > Fraction::whole(units(demands, class, r)) {
                    capacity.fail(|| {
                        let id = instance.classes()[class].id.escape_debug();
                        let (resource, label) =
                            (instance.resources()[r.0].escape_debug(), series.label(quantum));
                        format!("class {id} has not enough {resource} in quantum {label}")
                    });
                }
            }
        }
        let mut sums = work.sums();
        let work = (0..users.len()).map(|user| sums.remove(&user).unwrap_or_else(Fraction::zero)).collect();
        (vec![within.verdict(), capacity.verdict()], work)
    }

    /// Whether the prices of each level prove it.
    fn levels(
        &self,
        demands: &TaskDemands<'_>,
        levels: &[TaskLevel],
        users: &[Standing],
        work: &[Fraction],
    ) -> Verdict {
        let mut worst = Worst::of("level-gaps", 0.0);
        let level_of = level_of(levels, users.len(), &mut worst);
        let stands: Vec<Fraction> =
            users.iter().zip(work).map(|(standing, work)| work.times(&standing.worth)).collect();
        let id = |user: usize| demands.series().user_id(user).escape_debug().to_string();
        for user in 0..users.len() {
            let has = stands[user].near();
            match level_of[user] {
                // Without a level it must run everything; with one, it must be able to have something.
                None if stands[user] != users[user].most => worst
                    .fail(|| format!("user {} is on no level and has {has}, less than it could", id(user))),
                Some(k) if !users[user].most.is_positive() || stands[user] != self.levels[k].value => {
                    worst.fail(|| format!("user {} has {has}, which is not level {k}", id(user)));
                }
                _ => {}
            }
        }
        for (k, level) in self.levels.iter().enumerate() {
            if k > 0 && level.value <= self.levels[k - 1].value {
                worst.fail(|| format!("level {k} is no higher than the one before"));
            }
            let is_priced =
                |(row, price): (usize, &Fraction)| price.is_zero() || is_there(demands.instance(), row);
            if !level.prices.iter().enumerate().all(is_priced) {
                worst.fail(|| format!("levels[{k}]: a price of what a class has none of"));
            }
            for user in 0..users.len() {
                let multiplier = &level.multipliers[user];
                if level_of[user] == Some(k) && multiplier.is_zero() {
                    worst.fail(|| format!("levels[{k}]: user {} has no multiplier", id(user)));
                }
                if multiplier.is_positive() && stands[user] > level.value {
                    worst.fail(|| format!("levels[{k}]: user {} has a multiplier and more", id(user)));
                }
            }
            let mut reached = Rows::default();
            for (multiplier, stands) in level.multipliers.iter().zip(&stands) {
                reached.add(0, &multiplier.times(stands));
            }
            let reached = reached.sums().remove(&0).unwrap_or_else(Fraction::zero);
            let bound = bound(demands, level, users);
            if reached != bound {
                let (reached, bound) = (reached.near(), bound.near());
                worst.fail(|| format!("levels[{k}]: {reached} is reached where {bound} is not excluded"));
            }
        }
        worst.verdict()
    }

    /// Whether the smallest standing and the dominant shares are what the tasks come to.
    fn numbers(&self, users: &[Standing], work: &[Fraction]) -> Verdict {
        let mut worst = Worst::of("exact-numbers", 0.0);
        let both = || users.iter().zip(work);
        let counting = both().filter(|(standing, _)| standing.most.is_positive());
        let least = counting.map(|(standing, work)| work.times(&standing.worth)).min();
        if self.value != least.unwrap_or_else(Fraction::zero) {
            worst.fail(|| "the value is not the smallest that anybody has".into());
        }
        for (user, ((standing, work), stated)) in both().zip(&self.shares).enumerate() {
            if *stated != work.times(&standing.share) {
                worst.fail(|| format!("user {user} is said to have a share of {}", stated.near()));
            }
        }
        worst.verdict()
    }

    /// Whether the doubles are next to the fractions.
    fn doubles(&self, tasks: &[f64], levels: &[TaskLevel]) -> Verdict {
        let mut worst = Worst::of("exact-doubles", EXACT_DOUBLES);
        for (entry, (double, fraction)) in tasks.iter().zip(&self.tasks).enumerate() {
            worst.compare(*double, fraction.near(), || format!("tasks, entry {entry}"));
        }
        for (k, (level, exact)) in levels.iter().zip(&self.levels).enumerate() {
            worst.compare(level.value, exact.value.near(), || format!("levels[{k}].value"));
            let doubles = || level.multipliers.iter().chain(&level.prices);
            let fractions = || exact.multipliers.iter().chain(&exact.prices);
            if doubles().count() != fractions().count() {
                worst.fail(|| format!("levels[{k}]: other multipliers and prices in doubles"));
                continue;
            }
            // Whole numbers may be too long for a double, but not in parts of the largest.
            let Some(largest) = fractions().max().filter(|largest| largest.is_positive()) else { continue };
            let scale = doubles().copied().fold(0.0, f64::max);
            for (double, fraction) in doubles().zip(fractions()) {
                worst.compare(*double, fraction.over(largest).near() * scale, || {
                    format!("levels[{k}]: a multiplier or a price")
                });
            }
        }
        worst.verdict()
    }
}

fn place(demands: &TaskDemands<'_>, user: usize, quantum: usize) -> String {
    let series = demands.series();
    format!("user {} in quantum {}", series.user_id(user).escape_debug(), series.label(quantum))
}

/// What a class has of a resource, in its smallest units.
fn units(demands: &TaskDemands<'_>, class: usize, r: ResourceId) -> u128 {
    let instance = demands.instance();
    instance.capacity_units(ClassId(class), r) * u128::from(instance.classes()[class].count)
}

/// The most that the standings, each times its multiplier, can come to at a level's prices.
fn bound(demands: &TaskDemands<'_>, level: &ReadLevel, users: &[Standing]) -> Fraction {
    let (series, instance) = (demands.series(), demands.instance());
    let (classes, m) = (instance.classes().len(), instance.resources().len());
    // Prices are of a unit, and what there is and what tasks take is counted in the smallest.
    let per_smallest: Vec<Fraction> = (0..m)
        .map(|r| {
            let exponent = instance.unit_exponent(ResourceId(r));
            let power = Fraction::whole(num_bigint::BigInt::from(10).pow(exponent.unsigned_abs().into()));
            if exponent < 0 { Fraction::whole(1).over(&power) } else { power }
        })
        .collect();
    let mut sum = Rows::default();
    for quantum in 0..series.quantum_count() {
        let prices: Vec<Fraction> = level.prices[quantum * classes * m..][..classes * m]
            .iter()
            .enumerate()
            .map(|(row, price)| price.times(&per_smallest[row % m]))
            .collect();
        for (row, price) in prices.iter().enumerate().filter(|(_, price)| price.is_positive()) {
            sum.add(0, &price.times(&Fraction::whole(units(demands, row / m, ResourceId(row % m)))));
        }
        for (position, wanted) in series.demands(quantum).0.iter().zip(series.demands(quantum).1) {
            let (standing, multiplier) = (&users[*position as usize], &level.multipliers[*position as usize]);
            if multiplier.is_zero() {
                continue;
            }
            let user = instance.user(standing.user);
            let worth_of_work = multiplier.times(&standing.worth);
            let most = standing.rates.iter().filter_map(|(class, rate)| {
                let cost = (0..m)
                    .map(|r| prices[class * m + r].times(&Fraction::whole(user.demand_units(ResourceId(r)))));
                let cost = cost.fold(Fraction::zero(), |sum, term| sum.plus(&term));
                let worth = worth_of_work.times(rate);
                (worth > cost).then(|| worth.minus(&cost))
            });
            if let Some(most) = most.max() {
                sum.add(0, &most.times(&Fraction::whole(*wanted)));
            }
        }
    }
    sum.sums().remove(&0).unwrap_or_else(Fraction::zero)
}
