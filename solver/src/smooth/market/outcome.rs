//! From final prices to a solution: everybody at its best, the undecided as they were decided, no class overloaded.

use super::demand::BestResponse;
use super::undecided::Decided;
use super::users::Users;
use crate::level::dot;
use crate::limits::Limits;
use crate::population::CHUNK;
use crate::repair::fills_class;
use crate::smooth::duality::DualityGap;
use crate::smooth::result::{Claim, nothing};
use crate::smooth::utility::Utility;
use crate::sums::{Compensated, in_parts};
use crate::tolerance::allocation::{MARGIN, SPECKS};
use fairplan_instances::{Allocation, FEW_USERS, Instance, Status, Total, UserId};
use rayon::prelude::*;

/// What a user's tasks are worth at rate 1 on up to two classes; an undecided user has its place among the decided ones
/// instead.
#[derive(Clone, Copy, Default)]
struct Splits {
    classes: [u32; 2],
    splits: [f64; 2],
}

/// Tasks of everybody at these prices.
pub(super) fn allocate(
    instance: &Instance,
    users: &Users,
    utility: Utility,
    decided: &Decided,
) -> Allocation {
    let (k, m) = (users.class_count(), users.resources);
    let mut splits = vec![Splits::default(); users.len()];
    splits.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, splits)| {
        let mut costs = vec![0.0; k];
        for (offset, splits) in splits.iter_mut().enumerate() {
            let consumer = users.consumer(chunk * CHUNK + offset, utility, &decided.prices, &mut costs);
            if let Some(best) = consumer.and_then(|consumer| BestResponse::of(&consumer)) {
                for (at, (class, split)) in best.pairs().enumerate() {
                    (splits.classes[at], splits.splits[at]) = (class as u32, split);
                }
            }
        }
    });
    decided.splits.iter().for_each(|(user, _)| splits[*user] = Splits::default());

    let add = |usage: &mut [Compensated], user: usize, class: usize, split: f64| {
        let rows = usage[class * m..(class + 1) * m].iter_mut().zip(users.direction(user));
        rows.for_each(|(sum, part)| sum.add(split * part));
    };
    let parts = in_parts(users.len(), |range| {
        let mut usage = vec![Compensated::default(); k * m];
        for i in range {
            let Splits { classes, splits } = splits[i];
            classes.iter().zip(splits).for_each(|(class, split)| add(&mut usage, i, *class as usize, split));
        }
        usage
    });
    let mut usage = vec![Compensated::default(); k * m];
    for part in parts {
        usage.iter_mut().zip(part).for_each(|(sum, x)| sum.add(x.value()));
    }
    for (user, row) in &decided.splits {
        row.iter().enumerate().for_each(|(class, split)| add(&mut usage, *user, class, *split));
    }
    let usage: Vec<f64> = usage.into_iter().map(Compensated::value).collect();
    let keep = |(usage, capacities): (&[f64], &[f64])| {
        let taken = usage.iter().zip(capacities).filter(|(usage, _)| **usage > 0.0);
        taken.map(|(usage, capacity)| capacity * (1.0 - MARGIN) / usage).fold(1.0, f64::min)
    };
    let keep: Vec<f64> = usage.chunks(m).zip(users.classes.capacities.chunks(m)).map(keep).collect();

    // A row of splits for each merged class, and one of its own for everybody that runs on several.
    let classes = instance.classes().len();
    let mut rows = vec![0.0; (k + 1) * classes];
    let enter = |row: &mut [f64], class: usize, part: f64| {
        users.classes.members[class].iter().for_each(|l| row[l.0] = part * users.classes.part_of_merged[l.0]);
    };
    rows.chunks_mut(classes).take(k).enumerate().for_each(|(class, row)| enter(row, class, 1.0));
    let (mut tasks, mut split_of) = (vec![0.0; users.len()], vec![k as u32; users.len()]);
    let mut give = |i: usize, pairs: &mut dyn Iterator<Item = (usize, f64)>| {
        let kept: Vec<(usize, f64)> = pairs.map(|(class, split)| (class, split * keep[class])).collect();
        let total: f64 = kept.iter().map(|(_, split)| split).sum();
        let user = instance.user(UserId(i));
        let limit = user.tasks().map_or(f64::INFINITY, |limit| limit as f64 * (1.0 - MARGIN));
        tasks[i] = (total / user.task_share()).min(limit);
        if let [(class, _)] = kept.as_slice() {
            split_of[i] = *class as u32;
        } else {
            split_of[i] = (rows.len() / classes) as u32;
            rows.resize(rows.len() + classes, 0.0);
            let start = rows.len() - classes;
            kept.iter().for_each(|(class, split)| enter(&mut rows[start..], *class, split / total));
        }
    };
    for (i, Splits { classes, splits }) in splits.iter().enumerate() {
        let mut pairs = classes.iter().zip(splits).filter(|(_, split)| **split > 0.0);
        if splits.iter().any(|split| *split > 0.0) {
            give(i, &mut pairs.by_ref().map(|(class, split)| (*class as usize, *split)));
        }
    }
    for (user, row) in &decided.splits {
        let least = SPECKS * row.iter().sum::<f64>();
        let fills = |class: usize, split: f64| {
            fills_class(split, users.direction(*user), &users.classes.capacities[class * m..(class + 1) * m])
        };
        let is_used = |(class, split): &(usize, f64)| *split > least || fills(*class, *split);
        give(*user, &mut row.iter().copied().enumerate().filter(is_used));
    }
    Allocation::new(classes, tasks, split_of, rows)
}

/// Value, bound and prices over the users themselves; and whether they prove the allocation.
pub(super) fn certify(
    instance: &Instance,
    users: &Users,
    utility: Utility,
    prices: &[f64],
    allocation: &Allocation,
) -> (Total, Status) {
    let is_able = |i: usize| users.tasks(i) > 0.0 && users.rates(i).iter().any(|rate| *rate > 0.0);
    if !(0..users.len()).any(is_able) {
        return nothing(instance);
    }
    let share = |i: usize| allocation.dominant_share(instance, UserId(i));
    let shares: Vec<f64> = (0..users.len()).into_par_iter().with_min_len(FEW_USERS).map(share).collect();
    let judge = |utility: Utility, unit: f64| {
        let prices: Vec<f64> = prices.iter().map(|price| price * unit).collect();
        let parts = in_parts(users.len(), |range| {
            let mut costs = vec![0.0; users.class_count()];
            let mut sums = [Compensated::default(); 5];
            for i in range {
                if let Some(consumer) = users.consumer(i, utility, &prices, &mut costs) {
                    sums.iter_mut().zip(consumer.dual_terms(shares[i])).for_each(|(sum, x)| sum.add(x));
                }
            }
            sums
        });
        DualityGap::from_parts(&parts, dot(&prices, &users.classes.capacities))
    };
    let (members, limits) = (&users.classes.members, &Limits::default());
    Claim { instance, members, limits, prices, utility, shares: &shares }
        .prove(|i| is_able(i).then(|| users.weight(i)), judge)
}
