//! A sum over the users: its value, and the bound that its prices prove (see [`Total`]), rounded outward.
//!
//! In units of work `X_i = G_i / δ_i` a user pays `c_i = δ_i y_i`, the least of `(Σ_r D_ir p_lr + z_i) / ρ_il` over its
//! usable classes, and is worth `M_i = δ_i w_i U'(G_i)` at the margin. What the bound has above the value is
//!
//! ```text
//! Σ C_lr p_lr + Σ z_i T_i − Σ c_i X_i   +   Σ (max_G (w_i U(G) − y_i G) − (w_i U(G_i) − y_i G_i))
//! ```
//!
//! where no term of the second sum is negative, and each is small where `c_i` is near `M_i`. So it is never the
//! difference of two values, which would lose all digits where values are large.
//!
//! A group is one user in this: its members have fixed parts of what it has, so what a unit of its share costs is the sum of what its
//! parts cost its members (`members`).
//!
//! Limits are rows as capacities are: `Σ_j b_j q_j` is added to the first sum, and a user pays the limits above it for what it takes
//! where they cover. Nobody has less than it is guaranteed, so `max_G` goes from there on: who pays more than its last unit of share is worth to
//! it has by what it has above that too much.
//!
//! Logarithms and exponentials are those of the standard library. They are taken to be right to a thousand units in
//! the last place, and everything that rests on them is widened by that much.

mod beside;
mod dear;
mod hidden;
mod members;
mod moves;
mod offers;
mod own;
mod sums;

use crate::claim::{Printed, SolutionClaim};
use crate::groups::{Bounds, guarantees_kept};
use crate::limit_rows::{LimitPrices, LimitUse};
use crate::parts::in_parts;
use crate::prices::{capacity_value, cost_of_work, distinct_columns, usable_prices};
use crate::proof::SolutionProof;
use crate::rounding::{at_least_nothing, decimal_up, down, up};
use crate::tolerance;
use crate::tolerance::{BARELY, CANCELLED, LOOSE, SERIES};
use crate::used::Used;
use crate::users::{Subject, Usable, UsableClasses, UserShares};
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{Instance, LimitedBy, Total, User, UserId};
use members::Group;
use offers::response;
use std::cmp::Ordering;
use std::f64::consts::LN_10;
use std::ops::Range;
use sums::{HeldUp, Sums, add, sum_up};

/// Proves a sum: its value, the bound on it, what limits each user, and that the prices are in the value's unit.
pub(crate) fn prove(
    subject: Subject<'_>,
    claim: &SolutionClaim<'_>,
    total: &Total,
    used: &Used<'_>,
    floors: &[Bounds],
) -> SolutionProof {
    let alpha = claim.objective.alpha().unwrap_or(f64::NAN);
    let Subject { instance, usable_classes, .. } = subject;
    let market = Market::new(subject, alpha, &Stated::beside_the_value(total), floors);
    let sums = market.sums();
    let found = sums.found(alpha, market.worth());
    let hidden = hidden::judge(&market, claim, used, found.relative_gap * found.worth, sums.least);
    // Where prices are next to none beside the value they are judged by themselves.
    let apart = (total.price_exponent != total.exponent)
        .then(|| Market::new(subject, alpha, &Stated::by_themselves(total), floors));

    let mut optimality = Worst::of("optimality", tolerance::GAP);
    optimality.see(found.relative_gap, || match found.worth {
        worth if tolerance::WORTH.contains(&worth) => {
            format!(
                "the value is {}, and nothing better than {} is proved to be out of reach",
                found.primal, found.dual
            )
        }
        worth => format!("in the unit of the value, 10^{}, all are worth {worth:e}", total.exponent),
    });
    let may_miss = if apart.is_some() { tolerance::PRICES_APART } else { tolerance::GAP * (1.0 + alpha) };
    let mut scale = Worst::of("price-scale", may_miss);
    scale.see(found.imbalance, || {
        let part = found.imbalance;
        format!("users without binding limits pay {part:e} of the worth more or less than their margins")
    });
    if let Some(market) = &apart {
        let imbalance = market.sums().imbalance_of_prices();
        scale.see(imbalance, || {
            format!(
                "users without binding limits pay {imbalance:e} of what they are worth more or less than that"
            )
        });
    }
    scale.see(market.raised - 1.0, || {
        let part = market.raised - 1.0;
        format!("a user without a limit is worth {part:e} more than it pays at these prices")
    });
    let mut value = Worst::of("value", tolerance::ROUNDING);
    let stated = claim.printed.as_ref().map(|printed| (printed.value, "value"));
    let bracket = [(total.value, "primal"), (total.bound, "dual")];
    for (stated, what) in stated.into_iter().chain(bracket) {
        let computed = if what == "dual" { found.dual } else { found.primal };
        let size = found.worth.max(computed.abs());
        let off = if stated == computed && size == 0.0 { 0.0 } else { (stated - computed).abs() / size };
        value.see(off, || format!("{what}: {stated} is stated, {computed} is computed"));
    }
    value.see((total.relative_gap - found.relative_gap).abs(), || {
        format!("relative gap: {} is stated, {} is computed", total.relative_gap, found.relative_gap)
    });
    let mut verdicts = vec![
        reasons(instance, usable_classes, claim, used.limits),
        optimality.verdict(),
        own::judge(apart.as_ref().unwrap_or(&market), claim, used, &hidden),
        scale.verdict(),
        value.verdict(),
    ];
    if instance.has_groups() {
        verdicts.push(members::divide(subject, &market.groups));
    }
    if instance.has_guarantees() {
        let printed = claim.printed.as_ref();
        verdicts.push(guarantees_kept(subject, claim.limited_by, &claim.tasks, floors, printed));
    }
    verdicts.extend(hidden.verdict);
    verdicts.extend(claim.printed.as_ref().map(|stated| prices(instance, total, stated)));
    SolutionProof {
        primal: found.primal,
        dual: found.dual,
        relative_gap: found.relative_gap,
        level_gaps: Vec::new(),
        unseen: hidden.unseen,
        verdicts,
    }
}

/// Prices as they are stated, and the exponent of their unit.
struct Stated {
    prices: Vec<f64>,
    limit_prices: Vec<f64>,
    exponent: i32,
}

impl Stated {
    /// In their own unit.
    fn by_themselves(total: &Total) -> Self {
        let (prices, limit_prices) = (total.prices.clone(), total.limit_prices.clone());
        Self { prices, limit_prices, exponent: total.price_exponent }
    }

    /// In that of the value.
    fn beside_the_value(total: &Total) -> Self {
        let unit = (f64::from(total.price_exponent - total.exponent) * LN_10).exp();
        let in_unit = |prices: &[f64]| prices.iter().map(|price| price * unit).collect();
        let (prices, limit_prices) = (in_unit(&total.prices), in_unit(&total.limit_prices));
        Self { prices, limit_prices, exponent: total.exponent }
    }
}

/// What all users see: prices, and the unit in which everything is stated.
struct Market<'a> {
    instance: &'a Instance,
    usable_classes: &'a UsableClasses,
    shares: &'a [UserShares],
    alpha: f64,
    /// `ln` of the unit of value.
    log_unit: f64,
    prices: Vec<f64>,
    columns: Vec<Vec<f64>>,
    /// Prices of the limits, where there are any.
    limits: Option<LimitPrices>,
    /// The dominant share that each user is guaranteed; none where nobody is anything.
    floors: Vec<f64>,
    /// The groups that are children of the root.
    groups: Vec<Group>,
    /// By how much prices were raised.
    raised: f64,
    /// See [`tolerance::surely`].
    surely: f64,
}

impl<'a> Market<'a> {
    fn new(
        Subject { instance, usable_classes, shares }: Subject<'a>,
        alpha: f64,
        stated: &Stated,
        floors: &[Bounds],
    ) -> Self {
        let m = instance.resources().len();
        let mut market = Self {
            instance,
            usable_classes,
            shares,
            alpha,
            log_unit: f64::from(stated.exponent) * LN_10,
            prices: usable_prices(&stated.prices),
            columns: Vec::new(),
            limits: LimitPrices::of(&stated.limit_prices),
            floors: floors.iter().map(|floor| floor.low).collect(),
            groups: members::of_root(Subject { instance, usable_classes, shares }, floors),
            raised: 1.0,
            surely: tolerance::surely(m),
        };
        market.set_columns();
        if alpha == 0.0 {
            market.raised = market.raise_prices();
        }
        market
    }

    /// What all users add up to.
    fn sums(&self) -> Sums {
        let part = |users: Range<usize>| {
            let mut part = Sums::new();
            users.for_each(|i| self.add(UserId(i), &mut part));
            part
        };
        let mut sums = Sums::new();
        in_parts(self.instance.user_count(), part).into_iter().for_each(|part| sums.merge(&part));
        self.groups.iter().for_each(|group| self.add_group(group, &mut sums));
        sums
    }

    fn set_columns(&mut self) {
        let m = self.instance.resources().len();
        self.columns = self
            .usable_classes
            .distinct()
            .iter()
            .map(|usable| distinct_columns(usable, &self.prices, m))
            .collect();
    }

    /// A user without a limit that is worth more at the margin than it pays leaves a linear sum without any bound:
    /// all prices are raised until there is none. Returns by how much: prices that are stated are not raised by more than rounding.
    fn raise_prices(&mut self) -> f64 {
        let part = |users: Range<usize>| {
            let dearer = |i: usize| {
                let user = self.instance.user(UserId(i));
                let alone = user.tasks().is_none() && user.group().is_none();
                if alone && self.usable_classes.can_run(i) {
                    up(self.margin(user) / self.cost(user))
                } else {
                    0.0
                }
            };
            users.map(dearer).fold(1.0, f64::max)
        };
        let of_group = |group: &Group| up(self.margin_of(group.weight, group.share) / self.cost_of(group));
        let factor = in_parts(self.instance.user_count(), part).into_iter().fold(1.0, f64::max);
        let factor = self.groups.iter().map(of_group).fold(factor, f64::max);
        let factor = if factor > 1.0 { factor * (1.0 + LOOSE) } else { 1.0 };
        self.prices.iter_mut().for_each(|price| *price = (*price * factor).min(f64::MAX));
        self.limits.iter_mut().for_each(|limits| limits.raise(factor));
        self.set_columns();
        factor
    }

    /// What all capacity and all limits are worth, rounded up.
    fn worth(&self) -> f64 {
        let capacity = capacity_value(self.instance, &self.prices);
        self.limits.as_ref().map_or(capacity, |limits| sum_up(capacity, limits.worth(self.instance)))
    }

    /// The dominant share that a user is guaranteed, as far as it has that.
    fn floor(&self, user: User<'_>) -> f64 {
        let i = user.index().0;
        self.floors.get(i).map_or(0.0, |floor| floor.min(self.shares[i].share))
    }

    /// The least that a unit of work costs, tasks being free; rounded down.
    fn cost(&self, user: User<'_>) -> f64 {
        if let Some(limits) = &self.limits {
            let (cost, roundings) = limits.cheapest(user, self.usable_classes, &self.prices);
            return down(cost.min(f64::MAX) * tolerance::surely(self.instance.resources().len() + roundings));
        }
        cost_of_work(user, self.usable_classes, &self.columns, self.surely)
    }

    /// The least that a unit of a group's share costs; rounded down.
    fn cost_of(&self, group: &Group) -> f64 {
        group.cost(|member| self.cost(self.instance.user(UserId(member))))
    }

    /// What the last unit of its work is worth to a user.
    fn margin(&self, user: User<'_>) -> f64 {
        let worth = user.weight().to_f64() * user.task_share();
        self.margin_of(worth, self.shares[user.index().0].share)
    }

    /// `w U'(G)`, the worth `w` in whatever unit.
    fn margin_of(&self, worth: f64, share: f64) -> f64 {
        if self.alpha == 0.0 {
            worth * (-self.log_unit).exp()
        } else if self.alpha == 1.0 && self.log_unit == 0.0 {
            worth / share
        } else {
            (worth.ln() - self.alpha * share.ln() - self.log_unit).exp()
        }
    }

    /// Adds what a group contributes, which is a user whose tasks have no end.
    fn add_group(&self, group: &Group, sums: &mut Sums) {
        let (share, weight) = (group.share, group.weight);
        let (cost, margin) = (self.cost_of(group), self.margin_of(weight, share));
        sums.any = true;
        if group.floor > 0.0 && self.is_held_up(cost, self.margin_of(weight, group.floor)) {
            let sure = group.floor.min(share);
            return sums.add_held_up(HeldUp { cost, margin, has: share, sure, weight, share });
        }
        if share == 0.0 {
            match self.alpha {
                alpha if alpha >= 1.0 || cost == 0.0 => sums.unbounded = true,
                alpha if alpha > 0.0 => self.add_wish(weight, cost, sums),
                _ => sums.unbounded |= margin.partial_cmp(&cost).is_none_or(Ordering::is_gt),
            }
            return;
        }
        let part = usize::from(is_barely_above(group.floor, share));
        add(&mut sums.paid_freely[part], cost * share, &mut sums.unbounded);
        add(&mut sums.worth_freely[part], margin * share, &mut sums.unbounded);
        add(&mut sums.paid, down(cost * share), &mut sums.unbounded);
        sums.add_worth(margin * share);
        add(&mut sums.regrets, self.regret(cost, margin, share), &mut sums.unbounded);
        sums.add_logarithm(weight, share);
    }

    /// Adds what one user contributes.
    fn add(&self, i: UserId, sums: &mut Sums) {
        let (user, usable) = (self.instance.user(i), self.usable_classes.of_user(i.0));
        if !self.usable_classes.can_run(i.0) || user.tasks() == Some(0) || user.group().is_some() {
            return;
        }
        sums.any = true;
        let (share, work) = (self.shares[i.0].share, self.shares[i.0].work);
        let (mut cost, margin) = (self.cost(user), self.margin(user));
        if share == 0.0 {
            return self.add_nothing(user, cost, sums);
        }
        let floor = self.floor(user);
        if floor > 0.0 {
            let weight = user.weight().to_f64();
            let at_floor = self.margin_of(weight * user.task_share(), self.floors[i.0]);
            if self.is_held_up(cost, at_floor) {
                let sure = down(work * down(floor / share));
                return sums.add_held_up(HeldUp { cost, margin, has: work, sure, weight, share });
            }
        }
        let mut limit = 0.0;
        if let Some(tasks) = user.tasks() {
            let each = self.price_of_a_task(user, usable, margin, tasks);
            if each > 0.0 {
                limit = each * tasks as f64;
                cost = self.cost_with(user, usable, each);
            }
        }
        if limit <= BARELY * cost * work {
            let part = usize::from(limit > 0.0 || is_barely_above(floor, share));
            add(&mut sums.paid_freely[part], cost * work, &mut sums.unbounded);
            add(&mut sums.worth_freely[part], margin * work, &mut sums.unbounded);
        }
        add(&mut sums.limits, up(limit), &mut sums.unbounded);
        add(&mut sums.paid, down(cost * work), &mut sums.unbounded);
        sums.add_worth(margin * work);
        add(&mut sums.regrets, self.regret(cost, margin, work), &mut sums.unbounded);
        sums.add_logarithm(user.weight().to_f64(), share);
    }

    /// Whether somebody pays more than the last unit of what it is guaranteed is worth to it.
    fn is_held_up(&self, cost: f64, at_floor: f64) -> bool {
        cost > at_floor * (1.0 + LOOSE)
    }

    /// A user that could have something and has nothing: what it would be worth at best is the loss.
    fn add_nothing(&self, user: User<'_>, cost: f64, sums: &mut Sums) {
        let (alpha, weight) = (self.alpha, user.weight().to_f64());
        if alpha >= 1.0 || (cost == 0.0 && user.tasks().is_none()) {
            sums.unbounded = true;
        } else if alpha > 0.0 {
            self.add_wish(weight, cost / user.task_share(), sums);
        } else if let Some(tasks) = user.tasks() {
            // Without a limit prices are high enough, where the sum is linear, that nothing is wished.
            let usable = self.usable_classes.of_user(user.index().0);
            let each = self.price_of_a_task(user, usable, self.margin(user), tasks);
            add(&mut sums.limits, up(each * tasks as f64), &mut sums.unbounded);
        } else {
            sums.unbounded |= self.margin(user).partial_cmp(&cost).is_none_or(Ordering::is_gt);
        }
    }

    /// What somebody who has nothing would gain at best, a unit of share costing so much; `0 < α < 1`.
    fn add_wish(&self, weight: f64, price: f64, sums: &mut Sums) {
        let log_wish = ((weight / price).ln() - self.log_unit) / self.alpha;
        let best = (log_wish + price.ln()).exp() * (self.alpha / (1.0 - self.alpha));
        add(&mut sums.regrets, best * (1.0 + LOOSE), &mut sums.unbounded);
    }

    /// What a task of a kind with this demand costs on a class, `Σ_r D_ir p_lr` and its limits; rounded down.
    fn cost_on(&self, user: User<'_>, demand: &[f64], class: usize) -> f64 {
        let prices = &self.prices[class * demand.len()..];
        let cost: f64 = demand.iter().zip(prices).map(|(demand, price)| demand * price).sum();
        let Some(limits) = &self.limits else { return down(cost.min(f64::MAX) * self.surely) };
        let (more, roundings) = limits.on_class(user, demand, class);
        down((cost + more).min(f64::MAX) * tolerance::surely(demand.len() + roundings))
    }

    /// The same of a user without kinds.
    fn cost_of_a_task(&self, user: User<'_>, class: usize) -> f64 {
        self.cost_on(user, user.demand_doubles(), class)
    }

    /// The price of a task at which the user would wish for what its tasks do, were all of them running where work is
    /// cheapest; none if that is less. Any price that is not negative proves a bound.
    fn price_of_a_task(&self, user: User<'_>, usable: &Usable, margin: f64, tasks: u64) -> f64 {
        let has = self.shares[user.index().0].work;
        let classes: Vec<(f64, f64)> = match user.has_kinds() {
            // Wherever its pieces run, a task does the same work.
            true => vec![(1.0, self.cost(user))],
            false => {
                let of_class =
                    |&class: &usize| (usable.rate(class).to_f64(), self.cost_of_a_task(user, class));
                usable.classes.iter().map(of_class).collect()
            }
        };
        let margin_at = |work: f64| match self.alpha {
            0.0 => margin,
            alpha => margin * (-alpha * (work / has).ln()).exp(),
        };
        response(classes.iter().copied(), tasks as f64, margin_at).each
    }

    /// The least that a unit of work costs when each task costs `each` more; rounded down.
    fn cost_with(&self, user: User<'_>, usable: &Usable, each: f64) -> f64 {
        if user.has_kinds() {
            return down(self.cost(user) + each);
        }
        let per_work = |&class: &usize| {
            down(down(self.cost_of_a_task(user, class) + each) / decimal_up(usable.rate(class)))
        };
        usable.classes.iter().map(per_work).fold(f64::INFINITY, f64::min)
    }

    /// `max (w U − y G)` less what the user has of it, where it pays `cost` a unit of work; rounded up.
    fn regret(&self, cost: f64, margin: f64, work: f64) -> f64 {
        let alpha = self.alpha;
        if alpha == 0.0 {
            // Nobody is worth more than it pays, so the best is nothing.
            return up(up(at_least_nothing(cost - margin)) * up(work));
        }
        if cost == 0.0 {
            // Work is free, so there is a best only where all of it is worth a finite sum.
            return if alpha > 1.0 {
                up(margin * work / (alpha - 1.0) * (1.0 + LOOSE))
            } else {
                f64::INFINITY
            };
        }
        // The share over the one that the user would wish at its price, in logarithms.
        let ratio = (cost / margin).ln() / alpha;
        let ratio = if ratio < 0.0 { ratio - LOOSE } else { ratio + LOOSE };
        let part = if ratio.abs() * alpha.max(1.0) < SERIES {
            0.5 * alpha * ratio * ratio * (1.0 + (alpha + 3.0) * ratio.abs())
        } else {
            let power = 1.0 - alpha;
            let shortfall = if power == 0.0 { -ratio } else { -(power * ratio).exp_m1() / power };
            // Terms of first order cancel, which leaves eight digits at the least.
            (shortfall + ratio.exp_m1()) * (-ratio).exp() * (1.0 + CANCELLED)
        };
        let regret = up(up(cost * work) * part);
        // Where α is above one nobody is ever worth more than nothing, which tells more where a price is next to none.
        let most = margin * work / (alpha - 1.0) * (1.0 + LOOSE) + cost * work;
        if alpha <= 1.0 || regret <= most { regret } else { up(most) }
    }
}

/// Whether a share is so little above what is guaranteed that its guarantee may be said to hold somebody up or not: what is paid for that
/// is known to the root of what a sum is solved to.
fn is_barely_above(floor: f64, share: f64) -> bool {
    floor > 0.0 && share <= floor * (1.0 + BARELY)
}

/// `limited-by`: users without usable class are those said to have none, users said to be limited by their tasks have
/// them all running, and those said to be limited by capacity do not.
fn reasons(
    instance: &Instance,
    usable_classes: &UsableClasses,
    claim: &SolutionClaim<'_>,
    limits: Option<&LimitUse>,
) -> Verdict {
    let part = |users: Range<usize>| {
        let mut worst = Worst::of("limited-by", tolerance::STATED);
        for i in users {
            let (user, reason) = (instance.user(UserId(i)), claim.limited_by[i]);
            let usable = usable_classes.can_run(i);
            let running = claim.tasks.running(user);
            let idle = match user.tasks() {
                None => 1.0,
                Some(0) => 0.0,
                Some(tasks) => 1.0 - running / tasks as f64,
            };
            let id = user.id();
            match reason {
                LimitedBy::NoUsableClass if !usable => {}
                LimitedBy::Tasks if usable => worst.see(idle, || {
                    format!("user {id} is said to have no more tasks, but {idle:e} of them are not running")
                }),
                // A hair's breadth either way both is true.
                LimitedBy::Capacity if usable && idle > tolerance::ALL_BUT_ROUNDING => {}
                LimitedBy::Limit if usable && idle > tolerance::ALL_BUT_ROUNDING && limits.is_some() => {}
                _ => worst.fail(|| format!("user {id} is not limited by {}", reason.name())),
            }
            if let Some(limits) = limits {
                limits.judge_reason(user, usable_classes, reason, &mut worst);
            }
        }
        worst
    };
    let mut worst = Worst::of("limited-by", tolerance::STATED);
    in_parts(instance.user_count(), part).into_iter().for_each(|part| worst.merge(part));
    worst.verdict()
}

/// `prices`: those stated for the classes and limits are those of the certificate.
fn prices(instance: &Instance, total: &Total, stated: &Printed<'_>) -> Verdict {
    let m = instance.resources().len();
    let mut worst = Worst::of("prices", tolerance::STATED);
    for (position, (stated, price)) in stated.prices.iter().zip(&total.prices).enumerate() {
        worst.compare(*stated, *price, || {
            let (class, r) = (&instance.classes()[position / m].id, &instance.resources()[position % m]);
            format!("price of {r} in class {class}")
        });
    }
    for (j, (stated, price)) in stated.limits.iter().zip(&total.limit_prices).enumerate() {
        worst.compare(stated.price, *price, || {
            format!("price of limit {j}, of {}", instance.name_of(instance.limit_rows()[j].owner))
        });
    }
    worst.verdict()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_barely_above_a_guarantee_just_inside_the_tolerance_and_not_just_outside() {
        for floor in [1e-9, 0.3, 7.0] {
            assert!(is_barely_above(floor, floor) && is_barely_above(floor, floor * (1.0 + 0.99 * BARELY)));
            assert!(!is_barely_above(floor, floor * (1.0 + 1.01 * BARELY)));
        }
        assert!(!is_barely_above(0.0, 0.0), "who is guaranteed nothing is not above it");
    }
}
