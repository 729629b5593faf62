//! Limits and reserves of users and groups: whether they are kept, decided exactly; what they cost those below them; and who is held
//! by a limit. A reserve is a limit of all others: what there is besides.
//!
//! `Σ D_ir x_il <= b` over the users below its owner and the classes that a limit covers is a row as a capacity is. So at prices
//! `q` of the limits besides those of the classes no feasible allocation costs more than `Σ_lr C_lr p_lr + Σ_j b_j q_j`, where on
//! a class a user pays for what it takes the prices of the class and of the limits above it that cover the class. Of a user with
//! kinds each kind takes and pays for what it needs itself.

use crate::claim::{Printed, Tasks};
use crate::exact::{Dyadic, Tally, excess};
use crate::prices::usable_prices;
use crate::rounding::{Sum, decimal_up, up};
use crate::tolerance::{self, USED_UP};
use crate::users::{Usable, UsableClasses};
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{ClassId, Instance, LimitedBy, User, UserId};

/// What the users take of each limit.
pub(crate) struct LimitUse {
    /// In whole smallest units, at most a rounding above what is taken.
    taken: Vec<f64>,
}

impl LimitUse {
    /// Adds up tasks that are finite and >= 0; and the verdict `limits`.
    pub fn judge(instance: &Instance, usable_classes: &UsableClasses, tasks: &Tasks<'_>) -> (Self, Verdict) {
        let rows = instance.limit_rows();
        let mut tallies: Vec<Tally> =
            rows.iter().map(|row| Tally::against(instance.limit_units(row))).collect();
        for user in instance.users() {
            for j in instance.limits_above(user) {
                for kind in tasks.kinds(user) {
                    let units = Dyadic::at_least(usable_classes.demand_units(user, kind, rows[j].resource));
                    tasks.visit(user.index().0, kind, |class, here| {
                        if rows[j].covers(ClassId(class)) {
                            tallies[j].add(Dyadic::of(here), units);
                        }
                    });
                }
            }
        }
        let mut worst = Worst::of("limits", 0.0);
        for j in (0..rows.len()).filter(|j| !tallies[*j].fits()) {
            let over =
                excess(terms_below(instance, usable_classes, tasks, j), instance.limit_units(&rows[j]));
            worst.see(over, || {
                let (owner, resource) =
                    (instance.name_of(rows[j].owner), &instance.resources()[rows[j].resource.0]);
                match rows[j].reserve {
                    None => format!("{owner} has {over:e} of its limit of {} {resource} too much", rows[j].amount),
                    Some(reserve) => {
                        format!("others have {over:e} too much beside the {reserve} {resource} that {owner} reserves")
                    }
                }
            });
        }
        (Self { taken: tallies.iter().map(Tally::units).collect() }, worst.verdict())
    }

    /// What is taken of a limit, in whole smallest units.
    pub fn taken(&self, j: usize) -> f64 {
        self.taken[j]
    }

    /// The part of a limit that is taken.
    pub fn part(&self, instance: &Instance, j: usize) -> f64 {
        self.taken[j] / instance.limit_units(&instance.limit_rows()[j]) as f64
    }

    /// `limit-use`: the stated parts that are taken.
    pub fn printed(&self, instance: &Instance, stated: &Printed<'_>) -> Verdict {
        let mut worst = Worst::of("limit-use", tolerance::STATED);
        for (j, limit) in stated.limits.iter().enumerate() {
            let part = self.part(instance, j);
            if (limit.used - part).abs() > tolerance::COUNTED {
                let owner = || instance.name_of(instance.limit_rows()[j].owner);
                worst.compare(limit.used, part, || format!("used part of limit {j}, of {}", owner()));
            }
        }
        worst.verdict()
    }

    /// A user is said to be held by a limit where some limit above it is used up wherever it, or one of its kinds, can run, and only
    /// there.
    pub fn judge_reason(
        &self,
        user: User<'_>,
        usable_classes: &UsableClasses,
        reason: LimitedBy,
        worst: &mut Worst,
    ) {
        let instance_rows = user.instance().limit_rows();
        let above = user.instance().limits_above(user);
        // Of a kind the least over its classes of what the fullest limit there is full to; of a user its fullest kind.
        let fullest = |kind: usize, class: usize| {
            let covers = |j: &&usize| {
                let row = &instance_rows[**j];
                let needed = usable_classes.demand_units(user, kind, row.resource) > 0;
                needed && !row.is_reserve() && row.covers(ClassId(class))
            };
            above.iter().filter(covers).map(|j| self.part(user.instance(), *j)).fold(0.0, f64::max)
        };
        let full_for = |kind: usize| {
            let classes = &usable_classes.of_kind(kind).classes;
            classes.iter().map(|class| fullest(kind, *class)).fold(f64::INFINITY, f64::min)
        };
        let full = usable_classes.kinds(user).map(full_for).fold(0.0, f64::max);
        match reason {
            LimitedBy::Limit if full < 1.0 - USED_UP.0 => worst.fail(|| {
                format!("user {} is held by limits that are used up to {full} where it can run", user.id())
            }),
            LimitedBy::Capacity if full > 1.0 - USED_UP.1 => {
                worst.fail(|| format!("user {} is held by a limit, not by capacity", user.id()));
            }
            _ => {}
        }
    }
}

/// What the users below a limit take of it.
fn terms_below(
    instance: &Instance,
    usable_classes: &UsableClasses,
    tasks: &Tasks<'_>,
    j: usize,
) -> impl Iterator<Item = (f64, u128)> {
    let row = &instance.limit_rows()[j];
    (0..instance.user_count()).flat_map(move |i| {
        let user = instance.user(UserId(i));
        let mut terms = Vec::new();
        if instance.limits_above(user).contains(&j) {
            for kind in tasks.kinds(user) {
                let units = usable_classes.demand_units(user, kind, row.resource);
                tasks.visit(i, kind, |class, here| {
                    if row.covers(ClassId(class)) {
                        terms.push((here, units));
                    }
                });
            }
        }
        terms
    })
}

/// The prices of the limits, on a level or of a sum.
pub(crate) struct LimitPrices(Vec<f64>);

impl LimitPrices {
    /// Without what is too small to count; `None` where there are no limits.
    pub fn of(limit_prices: &[f64]) -> Option<Self> {
        (!limit_prices.is_empty()).then(|| Self(usable_prices(limit_prices)))
    }

    /// The price of one limit.
    pub fn price(&self, limit: usize) -> f64 {
        self.0[limit]
    }

    /// So many times as high, and no higher than a number can be.
    pub fn raise(&mut self, factor: f64) {
        self.0.iter_mut().for_each(|price| *price = (*price * factor).min(f64::MAX));
    }

    /// The same where other limits have no price.
    pub fn of_those(&self, have_prices: impl Fn(usize) -> bool) -> Self {
        let price = |(j, price): (usize, &f64)| if have_prices(j) { *price } else { 0.0 };
        Self(self.0.iter().enumerate().map(price).collect())
    }

    /// What a task of a kind with this demand pays for the limits above its user on a class, in plain doubles; and how many roundings
    /// that takes.
    pub fn on_class(&self, user: User<'_>, demand: &[f64], class: usize) -> (f64, usize) {
        let above = user.instance().limits_above(user);
        (self.paid_on(user.instance(), &above, demand, class), 2 * above.len())
    }

    /// The same below these limits.
    fn paid_on(&self, instance: &Instance, above: &[usize], demand: &[f64], class: usize) -> f64 {
        let rows = above.iter().map(|j| (&instance.limit_rows()[*j], self.0[*j]));
        let here = rows.filter(|(row, _)| row.covers(ClassId(class)));
        here.map(|(row, price)| demand[row.resource.0] * price).sum()
    }

    /// `Σ_j b_j q_j`, rounded up.
    pub fn worth(&self, instance: &Instance) -> f64 {
        let mut sum = Sum::new();
        for (row, price) in instance.limit_rows().iter().zip(&self.0).filter(|(_, price)| **price > 0.0) {
            let value = up(decimal_up(row.amount) * price);
            if value.is_infinite() {
                return value;
            }
            sum.add(value);
        }
        sum.above()
    }

    /// What a unit of work costs a user, each of its kinds on the class that is cheapest for it, in plain doubles; and how many
    /// roundings that takes besides those of a product over the resources.
    pub fn cheapest(
        &self,
        user: User<'_>,
        usable_classes: &UsableClasses,
        of_classes: &[f64],
    ) -> (f64, usize) {
        let above = user.instance().limits_above(user);
        let of_kind = |kind: usize| {
            let demand = usable_classes.demand_doubles(user, kind);
            self.cheapest_of(user, demand, usable_classes.of_kind(kind), (&above, of_classes))
        };
        let kinds = usable_classes.kinds(user);
        let roundings = 2 * above.len() + kinds.len() - 1;
        (kinds.map(of_kind).fold(0.0, |sum, cost| sum + cost), roundings)
    }

    /// The same of one kind, below these limits and at these prices of classes.
    fn cheapest_of(
        &self,
        user: User<'_>,
        demand: &[f64],
        usable: &Usable,
        (above, of_classes): (&[usize], &[f64]),
    ) -> f64 {
        let instance = user.instance();
        let m = instance.resources().len();
        let cost = |class: &usize| {
            let prices = &of_classes[class * m..(class + 1) * m];
            let cost: f64 = demand.iter().zip(prices).map(|(demand, price)| demand * price).sum();
            (cost + self.paid_on(instance, above, demand, *class)) / usable.rate(*class).to_f64()
        };
        usable.classes.iter().map(cost).fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{Decimal, InstanceBuilder, NewUser, Owner, Quota, ResourceId, ServerClass};

    /// One user with a limit of 10.
    fn limited() -> Instance {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
        builder.class(ServerClass::new("c", 1, vec![Decimal::from(20)])).unwrap();
        let user = builder.user(NewUser::new("u", &[Decimal::ONE])).unwrap();
        let quota = Quota { limit: vec![(ResourceId(0), Decimal::from(10))], ..Quota::default() };
        builder.quota(Owner::User(user), quota).unwrap();
        builder.build().unwrap()
    }

    #[test]
    fn a_limit_holds_who_leaves_just_less_of_it_than_the_tolerance_and_not_who_leaves_just_more() {
        let instance = limited();
        let usable = UsableClasses::of(&instance);
        let all = instance.limit_units(&instance.limit_rows()[0]) as f64;
        let accepts = |left: f64, reason: LimitedBy| {
            let mut worst = Worst::of("limited-by", 0.0);
            let taken = LimitUse { taken: vec![all * (1.0 - left)] };
            taken.judge_reason(instance.user(UserId(0)), &usable, reason, &mut worst);
            worst.verdict().holds
        };
        assert!(accepts(0.9 * USED_UP.0, LimitedBy::Limit) && !accepts(1.1 * USED_UP.0, LimitedBy::Limit));
        assert!(
            accepts(1.1 * USED_UP.1, LimitedBy::Capacity) && !accepts(0.9 * USED_UP.1, LimitedBy::Capacity)
        );
    }
}
