//! What a user could do alone on the whole cluster, as a fraction.
//!
//! With several kinds of tasks: all servers are divided between mixes of kinds, each the best on every class at some worths of the kinds;
//! when no mix is worth more than those that are known, the division is the best.

use super::fraction::Fraction;
use super::linear_program::maximise;
use fairplan_instances::{ClassId, ResourceId, ServerClass, User};
use num_bigint::BigInt;

/// The work that a user could do alone if it were eligible everywhere; 1 for none.
pub(super) fn work_alone(user: User<'_>) -> Fraction {
    let work = if user.has_kinds() { tasks_of_kinds(user) } else { work_of_one_kind(user) };
    if work.is_zero() { Fraction::whole(1) } else { work }
}

/// Capacity in whole smallest units.
fn units(user: User<'_>, class: &ServerClass, r: ResourceId) -> BigInt {
    BigInt::from(class.capacity[r.0].scaled(user.instance().unit_exponent(r)).unwrap_or(0))
}

fn resources(user: User<'_>) -> impl Iterator<Item = ResourceId> + Clone {
    (0..user.instance().resources().len()).map(ResourceId)
}

fn work_of_one_kind(user: User<'_>) -> Fraction {
    let most = |(l, class): (usize, &ServerClass)| {
        let needed = resources(user).filter(|r| user.demand_units(*r) > 0);
        let fits = needed.map(|r| Fraction::of(units(user, class, r) * class.count, user.demand_units(r)));
        let rate = Fraction::decimal(user.rule().rate(ClassId(l)));
        fits.min().map_or_else(Fraction::zero, |fits| fits.times(&rate))
    };
    let classes = user.instance().measuring_classes().iter().enumerate();
    classes.map(most).fold(Fraction::zero(), |sum, part| sum.plus(&part))
}

/// All servers of a class: row by row what a task's pieces of each kind take of what there is. Kinds that cannot run have no column.
struct Servers {
    kinds: Vec<usize>,
    rows: Vec<Vec<Fraction>>,
}

impl Servers {
    fn of(user: User<'_>, class: &ServerClass) -> Self {
        let has = |r: ResourceId| class.count > 0 && !class.capacity[r.0].is_zero();
        let runs = user.kinds().map(|kind| resources(user).all(|r| kind.demand_units(r) == 0 || has(r)));
        let kinds: Vec<usize> = runs.enumerate().filter(|(_, runs)| *runs).map(|(k, _)| k).collect();
        let row = |r: ResourceId| -> Vec<Fraction> {
            let all = units(user, class, r) * class.count;
            let demand = |k: &usize| user.kinds().nth(*k).map_or(0, |kind| kind.demand_units(r));
            kinds.iter().map(|k| Fraction::of(demand(k), all.clone())).collect()
        };
        let rows = resources(user).filter(|r| has(*r)).map(row).collect();
        Self { kinds, rows }
    }

    /// Adds the mix that is worth most.
    fn add_best_mix(&self, worths: &[Fraction], mix: &mut [Fraction]) {
        let gains = self.kinds.iter().map(|k| worths[*k].clone()).collect();
        let right = vec![Fraction::whole(1); self.rows.len()];
        let (best, _) = maximise(gains, self.rows.clone(), right);
        for (k, amount) in self.kinds.iter().zip(best) {
            mix[*k] = mix[*k].plus(&amount);
        }
    }
}

fn tasks_of_kinds(user: User<'_>) -> Fraction {
    let classes = user.instance().measuring_classes();
    let servers: Vec<Servers> = classes.iter().map(|class| Servers::of(user, class)).collect();
    let kinds = user.kinds().len();
    let mut worths = vec![Fraction::whole(1); kinds];
    let (mut mixes, mut tasks) = (Vec::<Vec<Fraction>>::new(), Fraction::zero());
    let mut held = Fraction::zero();
    loop {
        let mut mix = vec![Fraction::zero(); kinds];
        servers.iter().for_each(|servers| servers.add_best_mix(&worths, &mut mix));
        let worth = mix
            .iter()
            .zip(&worths)
            .fold(Fraction::zero(), |sum, (amount, worth)| sum.plus(&amount.times(worth)));
        if !mixes.is_empty() && worth <= held {
            return tasks;
        }
        mixes.push(mix);
        // The tasks, then the part that each mix has: no more tasks than there are pieces, no more parts than one whole.
        let minus = |amount: &Fraction| Fraction::zero().minus(amount);
        let mut rows: Vec<Vec<Fraction>> = (0..kinds)
            .map(|k| {
                std::iter::once(Fraction::whole(1)).chain(mixes.iter().map(|mix| minus(&mix[k]))).collect()
            })
            .collect();
        rows.push(
            std::iter::once(Fraction::zero()).chain(mixes.iter().map(|_| Fraction::whole(1))).collect(),
        );
        let mut gains = vec![Fraction::zero(); mixes.len() + 1];
        gains[0] = Fraction::whole(1);
        let mut right = vec![Fraction::zero(); kinds];
        right.push(Fraction::whole(1));
        let (point, mut prices) = maximise(gains, rows, right);
        tasks = point[0].clone();
        held = prices.pop().unwrap_or_else(Fraction::zero);
        worths = prices;
    }
}
