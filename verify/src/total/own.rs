//! `own-optimality`: everybody has what it would take at the prices of what is used up, by its own measure.
//!
//! One gap proves a whole sum. It says nothing of users who are next to nothing in it: with a large α nearly all of the sum is that of the
//! smallest shares. So each user is looked at by itself. Let prices count only where next to all is used up: those are the prices of an
//! optimum but for rounding (complementary slackness), and at an optimum each user has what it would take at them, up to its tasks and
//! from what it is guaranteed on, where that costs least. A price that counts for nothing in the sum, and is wrong, misses that.

use super::Market;
use super::dear::DearTasks;
use super::hidden::Hidden;
use super::members::Group;
use super::offers::{Choice, Offers, Response};
use crate::claim::SolutionClaim;
use crate::feasibility::capacity_units;
use crate::parts::in_parts;
use crate::tolerance::{FREEZING, LEAST_PRICE, MEASURED, OWN};
use crate::used::Used;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{ClassId, Instance, ResourceId, User, UserId};
use std::ops::Range;

/// What somebody has beside what it would take, in dominant shares.
struct Has {
    share: f64,
    /// What it would take at its price, if its tasks had no end.
    want: f64,
    /// The most that it could have, where that counts, and the part of its tasks that runs.
    most: f64,
    running: f64,
    /// What it is guaranteed.
    floor: f64,
}

/// At prices in a unit in which all are numbers that anybody without all its tasks would pay.
/// Those who are seen otherwise need no price that is a number.
pub(super) fn judge(
    market: &Market<'_>,
    claim: &SolutionClaim<'_>,
    used: &Used<'_>,
    hidden: &Hidden,
) -> Verdict {
    let m = market.instance.resources().len();
    let least = |at: usize| (1.0 - OWN) * capacity_units(market.instance, at / m, at % m) as f64;
    let is_used_up: Vec<bool> = used.loads.iter().enumerate().map(|(at, load)| *load >= least(at)).collect();
    let limits = 0..market.instance.limit_rows().len();
    let is_full = |j: usize| used.limits.is_some_and(|used| used.part(market.instance, j) >= 1.0 - OWN);
    let full_limits: Vec<bool> = limits.map(is_full).collect();
    let at_used_up = market.at_prices_of_what_is_used_up(&is_used_up, &full_limits);
    let own = Own { market, at_used_up, is_used_up, full_limits, claim, hidden };
    let part = |users: Range<usize>| {
        let mut seen = Seen::new(market.instance);
        users.for_each(|i| own.judge_user(market.instance.user(UserId(i)), &mut seen));
        seen
    };
    let mut seen = Seen::new(market.instance);
    in_parts(market.instance.user_count(), part).into_iter().for_each(|part| seen.merge(part));
    market.groups.iter().for_each(|group| own.judge_group(group, &mut seen.worst));
    let Seen { mut worst, dear } = seen;
    own.judge_dear_tasks(&dear, &mut worst);
    worst.verdict()
}

impl Market<'_> {
    fn at_prices_of_what_is_used_up(&self, is_used_up: &[bool], full_limits: &[bool]) -> Self {
        let price = |(price, is_used_up): (&f64, &bool)| if *is_used_up { *price } else { 0.0 };
        let mut market = Self {
            prices: self.prices.iter().zip(is_used_up).map(price).collect(),
            limits: self.limits.as_ref().map(|limits| limits.of_those(|j| full_limits[j])),
            columns: Vec::new(),
            floors: self.floors.clone(),
            groups: Vec::new(),
            ..*self
        };
        market.set_columns();
        market
    }

    /// The share that somebody would take. Where a sum is linear that is all there is of what costs less than it is worth, and nothing of
    /// what costs more.
    fn want(&self, worth: f64, cost: f64, share: f64) -> f64 {
        let log_cheap = worth.ln() - self.log_unit - cost.ln();
        match self.alpha {
            0.0 if log_cheap.abs() <= OWN => share,
            0.0 if log_cheap > 0.0 => f64::INFINITY,
            0.0 => 0.0,
            alpha => (log_cheap / alpha).exp(),
        }
    }
}

/// What is seen user by user: who misses what it would take, and what tasks use where they are dear.
struct Seen {
    worst: Worst,
    dear: DearTasks,
}

impl Seen {
    fn new(instance: &Instance) -> Self {
        Self { worst: Worst::of("own-optimality", OWN), dear: DearTasks::none(instance) }
    }

    fn merge(&mut self, Self { worst, dear }: Self) {
        self.worst.merge(worst);
        self.dear.merge(dear);
    }
}

/// Everybody by its own measure.
pub(super) struct Own<'a> {
    pub market: &'a Market<'a>,
    /// The same at the prices of what is used up.
    pub at_used_up: Market<'a>,
    pub is_used_up: Vec<bool>,
    pub full_limits: Vec<bool>,
    pub claim: &'a SolutionClaim<'a>,
    pub hidden: &'a Hidden,
}

/// Whether all tasks of a user run, of whom so many do, but for next to nothing.
pub(super) fn has_all_tasks(user: User<'_>, running: f64) -> bool {
    user.tasks().is_some_and(|tasks| running >= tasks as f64 * (1.0 - OWN))
}

impl Own<'_> {
    /// Whether the prices that somebody would pay are too small for numbers in their unit, so that there are none.
    fn is_worth_no_price(&self, user: User<'_>) -> bool {
        let largest = user.demand_doubles().iter().copied().fold(0.0, f64::max);
        user.group().is_none() && self.market.margin(user) < LEAST_PRICE * largest
    }

    /// Whether a user could run more than next to nothing of what it has where all that it needs is left, and its limits leave it something.
    fn leaves_much_idle(&self, user: User<'_>) -> bool {
        let usable_classes = self.market.usable_classes;
        let instance = self.market.instance;
        let (m, limits) = (instance.resources().len(), instance.limit_rows());
        let full: Vec<usize> =
            instance.limits_above(user).into_iter().filter(|j| self.full_limits[*j]).collect();
        let is_held = |kind: usize, class: usize| {
            let needs = |r: ResourceId| usable_classes.demand_units(user, kind, r) > 0;
            (0..m).any(|r| needs(ResourceId(r)) && self.is_used_up[class * m + r])
                || full.iter().any(|j| limits[*j].covers(ClassId(class)) && needs(limits[*j].resource))
        };
        let has = self.market.shares[user.index().0].work;
        usable_classes.kinds(user).all(|kind| {
            let usable = usable_classes.of_kind(kind);
            let idle = usable.classes.iter().filter(|class| !is_held(kind, **class));
            let work = |class: &usize| usable.rate(*class).to_f64() * self.tasks_on(user, kind, *class);
            idle.map(work).sum::<f64>() > OWN * has
        })
    }

    /// How many tasks of a kind a class could run.
    pub fn tasks_on(&self, user: User<'_>, kind: usize, class: usize) -> f64 {
        let room = |r: usize| match self.market.usable_classes.demand_units(user, kind, ResourceId(r)) {
            0 => f64::INFINITY,
            units => capacity_units(self.market.instance, class, r) as f64 / units as f64,
        };
        (0..self.market.instance.resources().len()).map(room).fold(f64::INFINITY, f64::min)
    }

    /// No more than this could be the share of a user, were it alone.
    fn most(&self, user: User<'_>) -> f64 {
        let usable_classes = self.market.usable_classes;
        let of_kind = |kind: usize| {
            let usable = usable_classes.of_kind(kind);
            let work = |class: &usize| usable.rate(*class).to_f64() * self.tasks_on(user, kind, *class);
            usable.classes.iter().map(work).sum::<f64>()
        };
        let work = usable_classes.kinds(user).map(of_kind).fold(f64::INFINITY, f64::min);
        (work * user.task_share()).min(self.market.shares[user.index().0].cap * user.weight().to_f64())
    }

    fn judge_user(&self, user: User<'_>, seen: &mut Seen) {
        let worst = &mut seen.worst;
        let Self { market, .. } = self;
        let UserId(i) = user.index();
        if !market.usable_classes.can_run(i) || user.tasks() == Some(0) {
            return;
        }
        let choice = self.choice(user);
        let has_all = has_all_tasks(user, choice.running);
        self.add_dear_tasks(user, &choice, &mut seen.dear);
        let share = market.shares[i].share;
        if self.is_worth_no_price(user) {
            let id = user.id();
            if !has_all && !self.hidden.seen[i] {
                worst.fail(|| {
                    format!("the price that user {id} would pay is too small a number in the unit of prices")
                });
            }
            if let (Some(tasks), Some(_), false) = (user.tasks(), &choice.few, self.hidden.seen[i]) {
                let free: f64 = choice.offers.iter().map(Offers::fastest_for_nothing).sum();
                let could = tasks as f64 * free * user.task_share();
                worst.see(1.0 - share / could.max(share), || {
                    format!(
                        "user {id} has a share of {share}, and {could} where its tasks would cost nothing"
                    )
                });
            }
            return;
        }
        if market.alpha < 1.0 && user.group().is_none() && !has_all && self.leaves_much_idle(user) {
            worst.fail(|| format!("user {} could have more: what it needs is not used up", user.id()));
        }
        self.judge_places(user, &choice, worst);
        if user.group().is_some() {
            return;
        }
        let worth = user.weight().to_f64() * user.task_share();
        let all = choice.few.as_ref().and_then(|few| few.work).map(|work| work * user.task_share());
        let has = Has {
            share,
            want: all.unwrap_or_else(|| market.want(worth, choice.least(), share)),
            most: if market.alpha < 1.0 { self.most(user) } else { f64::INFINITY },
            running: match (&choice.few, user.tasks()) {
                (None, Some(tasks)) => choice.running / tasks as f64,
                // All of few tasks may run where they do little.
                _ => 0.0,
            },
            floor: market.floor(user),
        };
        has.judge(self.market.alpha, || format!("user {}", user.id()), worst);
    }

    fn judge_group(&self, group: &Group, worst: &mut Worst) {
        let cost = group.cost(|member| self.choice(self.market.instance.user(UserId(member))).least());
        let want = self.market.want(group.weight, cost, group.share);
        let Group { share, floor, .. } = *group;
        let has = Has { share, want, most: f64::INFINITY, running: 0.0, floor };
        let first = || self.market.instance.user(UserId(group.members[0].user)).id();
        has.judge(self.market.alpha, || format!("the group of user {}", first()), worst);
    }

    /// Nobody runs tasks where they are dear, and few tasks that are worth something beside what they cost all run.
    fn judge_places(&self, user: User<'_>, choice: &Choice, worst: &mut Worst) {
        let Self { market, claim, .. } = self;
        let UserId(i) = user.index();
        let mut paid = choice.each() * choice.running;
        for (kind, offers) in market.usable_classes.kinds(user).zip(&choice.offers) {
            claim.tasks.visit(i, kind, |class, here| {
                paid += here * offers.on(class).map_or(f64::INFINITY, |offer| offer.paid);
            });
        }
        if let (Some(tasks), Some(Response { gain, .. })) = (user.tasks(), &choice.few) {
            worst.see((1.0 - choice.running / tasks as f64) * gain, || {
                format!("all tasks of user {} are worth more than they cost, and some do not run", user.id())
            });
        }
        // Where all tasks run, what they cost may be next to nothing of what they are worth: then it is rounding.
        let due = choice.least() * market.shares[i].work;
        // In a group nobody runs out of tasks.
        let worth = if user.group().is_none() { market.margin(user) * market.shares[i].work } else { 0.0 };
        let counts = market.alpha >= 1.0 || market.shares[i].share > FREEZING * MEASURED;
        if paid > due && paid.is_finite() && counts {
            worst.see((paid - due) / paid.max(worth), || {
                format!("user {} pays {paid:e} for its tasks, and elsewhere {due:e} would do", user.id())
            });
        }
    }
}

impl Has {
    fn judge(&self, alpha: f64, who: impl Fn() -> String, worst: &mut Worst) {
        let &Self { share, want, most, running, floor } = self;
        // Below one nobody needs anything, and a millionth of the cluster is as good as nothing.
        let counts = |share: f64| alpha >= 1.0 || share > FREEZING * MEASURED;
        if share < want {
            let lacks = (1.0 - share / want).min(1.0 - running);
            if counts(want.min(most) - share) {
                worst.see(lacks, || match want.is_infinite() {
                    true => format!("{} could have more: what it needs is not used up", who()),
                    false => {
                        let who = who();
                        format!("{who} has a share of {share} and would take {want} at the prices of what is used up")
                    }
                });
            }
        } else {
            let enough = want.max(floor);
            if counts(share - enough) {
                worst.see(1.0 - enough / share, || {
                    format!(
                        "{} has a share of {share} and would take {enough} at the prices of what is used up",
                        who()
                    )
                });
            }
        }
    }
}
