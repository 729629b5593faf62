//! Every bottleneck max fair allocation, found by trying all ways to assign users to resources that hold them.

use crate::Fraction;
use fairplan_instances::{Instance, ResourceId};

/// All bottleneck max fair allocations of the pool.
#[derive(Clone, Debug)]
pub struct ExactBottlenecks {
    /// Tasks of each user, one list an allocation, no two alike.
    pub allocations: Vec<Vec<Fraction>>,
    /// Whether some assignment leaves its levels open, so that there may be more than these, in a continuum.
    pub may_be_more: bool,
}

/// Tries every assignment (MRF Sec. 3.3); meant for a handful of users.
pub fn exact_bottlenecks(instance: &Instance) -> ExactBottlenecks {
    let m = instance.resources().len();
    let users: Vec<_> = instance.users().collect();
    let part = |i: usize, r: usize| match users[i].demand_units(ResourceId(r)) {
        0 => Fraction::zero(),
        demand => Fraction::new(demand, instance.total_units(ResourceId(r))),
    };
    let weights: Vec<Fraction> = users.iter().map(|user| Fraction::from(user.weight())).collect();
    let mut found = ExactBottlenecks { allocations: Vec::new(), may_be_more: false };
    let mut holder = vec![0; users.len()];
    loop {
        if (0..users.len()).all(|i| !part(i, holder[i]).is_zero()) {
            let used: Vec<usize> = (0..m).filter(|r| holder.contains(r)).collect();
            // Of each used resource: the sum over users of a_iq w_i M_r(i) / a_i,r(i) is 1.
            let rows = used.iter().map(|&q| {
                let mut row = vec![Fraction::zero(); used.len() + 1];
                row[used.len()] = Fraction::one();
                for i in 0..users.len() {
                    let column = used.iter().position(|&r| r == holder[i]).expect("it holds the user");
                    let per_level = &(&part(i, q) * &weights[i]) / &part(i, holder[i]);
                    row[column] = &row[column] + &per_level;
                }
                row
            });
            match solved(rows.collect()) {
                None => found.may_be_more = true,
                Some(levels) => {
                    let level =
                        |i: usize| &levels[used.iter().position(|&r| r == holder[i]).expect("as above")];
                    let tasks: Vec<Fraction> =
                        (0..users.len()).map(|i| &(&weights[i] * level(i)) / &part(i, holder[i])).collect();
                    let share = |i: usize, r: usize| &(&tasks[i] * &part(i, r)) / &weights[i];
                    let load = |r: usize| (0..users.len()).map(|i| &tasks[i] * &part(i, r)).sum::<Fraction>();
                    let fair = tasks.iter().all(|tasks| *tasks > Fraction::zero())
                        && (0..m).all(|r| load(r) <= Fraction::one())
                        && (0..users.len())
                            .all(|i| (0..users.len()).all(|j| share(j, holder[i]) <= share(i, holder[i])));
                    if fair && !found.allocations.contains(&tasks) {
                        found.allocations.push(tasks);
                    }
                }
            }
        }
        let Some(next) = holder.iter().rposition(|&r| r + 1 < m) else { return found };
        holder[next] += 1;
        holder[next + 1..].fill(0);
    }
}

/// The solution of square linear equations, each a row with its right side last; `None` where there is none or many.
fn solved(mut rows: Vec<Vec<Fraction>>) -> Option<Vec<Fraction>> {
    for k in 0..rows.len() {
        let pivot = (k..rows.len()).find(|&row| !rows[row][k].is_zero())?;
        rows.swap(k, pivot);
        let pivot_row: Vec<Fraction> = rows[k].iter().map(|entry| entry / &rows[k][k]).collect();
        for row in (0..rows.len()).filter(|&row| row != k) {
            let factor = rows[row][k].clone();
            rows[row].iter_mut().zip(&pivot_row).for_each(|(entry, p)| *entry = &*entry - &(&factor * p));
        }
        rows[k] = pivot_row;
    }
    rows.into_iter().map(|mut row| row.pop()).collect()
}
