//! The tasks that a user's own guarantee holds: the most of which no amount is exceeded, counted in fractions.
//!
//! Over all classes that is `min_r a_r / D_ir`. Over some it is a linear program over what runs of each kind on classes that the same amounts
//! count: as many tasks as of every kind run, only where whatever the kind needs of what is guaranteed anywhere is guaranteed.

use crate::fractions::fraction::Fraction;
use crate::fractions::linear_program::maximise;
use crate::rounding::{decimal_down, decimal_up, up};
use fairplan_instances::{ClassId, Instance, Kind, Owner, Quota, QuotaAmount, User};

/// The tasks that a user is guaranteed, at most all its own; rounded up.
pub(crate) fn guaranteed_tasks(instance: &Instance, user: User<'_>) -> f64 {
    let quota = instance.quota_of(Owner::User(user.index())).filter(|quota| quota.has_guarantee());
    let Some(quota) = quota else { return 0.0 };
    let tasks = match quota.guarantees.is_empty() {
        true => {
            let holds = |sure: QuotaAmount<'_>| {
                up(decimal_up(sure.amount) / decimal_down(user.demand()[sure.resource.0]))
            };
            quota.guaranteed().map(holds).fold(f64::INFINITY, f64::min)
        }
        false => match within(user, quota) {
            none if none.is_zero() => 0.0,
            tasks => up(tasks.near()),
        },
    };
    user.tasks().map_or(tasks, |all| tasks.min(all as f64))
}

/// The most tasks within all amounts.
fn within(user: User<'_>, quota: &Quota) -> Fraction {
    let amounts: Vec<QuotaAmount<'_>> = quota.guaranteed().collect();
    let needs = |kind: &Kind<'_>, at: usize| !kind.piece()[amounts[at].resource.0].is_zero();
    let kinds: Vec<Kind<'_>> =
        user.kinds().filter(|kind| (0..amounts.len()).any(|at| needs(kind, at))).collect();
    // By kind and the amounts that count it: a kind has no more places than there are sets of these.
    let mut places: Vec<(usize, Vec<usize>)> = Vec::new();
    for (k, kind) in kinds.iter().enumerate() {
        for class in (0..user.instance().classes().len()).map(ClassId).filter(|class| kind.can_use(*class)) {
            let counted: Vec<usize> =
                (0..amounts.len()).filter(|at| needs(kind, *at) && amounts[*at].covers(class)).collect();
            let is_there = |at: usize| counted.iter().any(|c| amounts[*c].resource == amounts[at].resource);
            let is_sure = (0..amounts.len()).all(|at| !needs(kind, at) || is_there(at));
            let place = (k, counted);
            if is_sure && !places.contains(&place) {
                places.push(place);
            }
        }
    }
    let zero = Fraction::zero;
    let one = || Fraction::whole(1);
    let mut gains = vec![zero(); 1 + places.len()];
    gains[0] = one();
    let mut rows: Vec<Vec<Fraction>> = Vec::new();
    for k in 0..kinds.len() {
        let of_kind = |(of, _): &(usize, Vec<usize>)| if *of == k { zero().minus(&one()) } else { zero() };
        rows.push(std::iter::once(one()).chain(places.iter().map(of_kind)).collect());
    }
    for (at, amount) in amounts.iter().enumerate() {
        let takes = |(k, counted): &(usize, Vec<usize>)| match counted.contains(&at) {
            true => Fraction::decimal(kinds[*k].piece()[amount.resource.0])
                .times(&Fraction::whole(kinds[*k].each())),
            false => zero(),
        };
        rows.push(std::iter::once(zero()).chain(places.iter().map(takes)).collect());
    }
    let mut right = vec![zero(); kinds.len()];
    right.extend(amounts.iter().map(|amount| Fraction::decimal(amount.amount)));
    let (point, _) = maximise(gains, rows, right);
    point.into_iter().next().unwrap_or_else(zero)
}
