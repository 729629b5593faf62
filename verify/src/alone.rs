//! What a user could do alone on the whole cluster, at least and at most.
//!
//! With one kind of tasks that is a sum over classes. With several it is a linear program, whose solution comes with its proof: pieces
//! that servers hold are a lower bound, and any prices an upper one. Neither is trusted; both are counted here.

use crate::rounding::{Sum, at_least_nothing, decimal_down, decimal_up, down, largest, up};
use fairplan_instances::{ClassId, Decimal, Instance, Kind, ServerClass, User};

/// The most work the user could do alone if it were eligible everywhere, at least and at most.
pub(crate) fn work_alone(instance: &Instance, user: User<'_>) -> (f64, f64) {
    if user.has_kinds() { tasks_alone(instance, user) } else { work_of_one_kind(instance, user) }
}

/// `Σ_l N_l ρ_il min_r c_lr / D_ir`.
fn work_of_one_kind(instance: &Instance, user: User<'_>) -> (f64, f64) {
    let (mut least, mut most) = (Sum::new(), Sum::new());
    let needed_of = |class: &ServerClass| -> Vec<(Decimal, Decimal)> {
        let needs = user.demand().iter().copied().zip(class.capacity.iter().copied());
        needs.filter(|(demand, _)| !demand.is_zero()).collect()
    };
    for (l, class) in instance.measuring_classes().iter().enumerate() {
        let needed = needed_of(class);
        if class.count == 0 || needed.iter().any(|(_, capacity)| capacity.is_zero()) {
            continue;
        }
        let (mut few, mut many) = (f64::INFINITY, f64::INFINITY);
        for (demand, capacity) in needed {
            few = few.min(down(decimal_down(capacity) / decimal_up(demand)));
            many = many.min(up(decimal_up(capacity) / decimal_down(demand)));
        }
        let (rate, count) = (user.rule().rate(ClassId(l)), class.count as f64);
        least.add(down(count * down(decimal_down(rate) * few)));
        most.add(up(count * up(decimal_up(rate) * many)));
    }
    (least.below(), most.above())
}

/// With several kinds: `min_k Σ_l N_l y_lk` of pieces `y` that fit, and `(Σ_l N_l Σ_r q_lr + Σ_lk s_lk m_lk) / Σ_k w_k` at worths `w`
/// and prices `q` of all that a server has, where a kind that is worth more than it costs on a class gains `s_lk` for each
/// task, for `m_lk` tasks at most: what the class holds of it alone, and no more than any kind allows.
fn tasks_alone(instance: &Instance, user: User<'_>) -> (f64, f64) {
    let (alone, classes) = (user.alone(), instance.measuring_classes());
    let kinds: Vec<Kind<'_>> = user.kinds().collect();
    let parts = |class: &ServerClass| -> Vec<Vec<(f64, f64)>> {
        kinds.iter().map(|kind| parts_of(class, *kind)).collect()
    };
    let parts: Vec<_> = classes.iter().map(parts).collect();
    let mut of_kind = vec![Sum::new(); kinds.len()];
    for (class, parts) in classes.iter().zip(&parts) {
        of_kind.iter_mut().zip(parts).for_each(|(sum, part)| sum.add(most_on(class, part)));
    }
    let bound = of_kind.iter().map(Sum::above).fold(f64::INFINITY, f64::min);
    let mut done = vec![Sum::new(); kinds.len()];
    let mut worth = Sum::new();
    for (((class, parts), pieces), prices) in classes.iter().zip(&parts).zip(&alone.pieces).zip(&alone.prices)
    {
        let count = class.count as f64;
        let filled = largest((0..class.capacity.len()).map(|r| {
            let mut used = Sum::new();
            let taken = parts.iter().zip(pieces).filter(|(_, pieces)| **pieces > 0.0);
            taken.for_each(|(part, pieces)| used.add(up(part[r].1 * pieces)));
            used.above()
        }));
        // Pieces that overload a server count as far as it holds them.
        let held = if filled > 1.0 { down(1.0 / filled) } else { 1.0 };
        for (done, pieces) in done.iter_mut().zip(pieces) {
            done.add(down(count * down(pieces.max(0.0) * held)));
        }
        prices.iter().for_each(|price| worth.add(up(count * price.max(0.0))));
        for (part, of_a_task) in parts.iter().zip(&alone.worths) {
            let most = most_on(class, part).min(bound);
            if most > 0.0 {
                let mut cost = Sum::new();
                part.iter()
                    .zip(prices)
                    .for_each(|((least, _), price)| cost.add(down(least * price.max(0.0))));
                worth.add(up(at_least_nothing(up(of_a_task - cost.below())) * most));
            }
        }
    }
    let mut of_a_task = Sum::new();
    alone.worths.iter().for_each(|worth| of_a_task.add(*worth));
    let least = done.iter().map(Sum::below).fold(f64::INFINITY, f64::min);
    (least, up(worth.above() / of_a_task.below()).min(bound))
}

/// How many tasks' pieces of a kind the servers of a class hold at most, from the part of a server that a task's pieces take.
fn most_on(class: &ServerClass, part: &[(f64, f64)]) -> f64 {
    let least = part.iter().map(|(least, _)| *least).fold(0.0, f64::max);
    if least == f64::INFINITY { 0.0 } else { up(class.count as f64 * up(1.0 / least)) }
}

/// The part of a server's capacity of each resource that a task's pieces of a kind take, at least and at most; infinite of a
/// resource that the server has none of.
fn parts_of(class: &ServerClass, kind: Kind<'_>) -> Vec<(f64, f64)> {
    let part = |(piece, capacity): (&Decimal, &Decimal)| {
        if piece.is_zero() {
            return (0.0, 0.0);
        }
        if capacity.is_zero() {
            return (f64::INFINITY, f64::INFINITY);
        }
        let each = kind.each() as f64;
        let least = down(down(decimal_down(*piece) * down(each)) / decimal_up(*capacity));
        (least, up(up(decimal_up(*piece) * up(each)) / decimal_down(*capacity)))
    };
    kind.piece().iter().zip(&class.capacity).map(part).collect()
}
