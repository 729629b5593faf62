//! What each resource of a server must cost so that no task is worth more than what it takes, and the whole server costs least: the
//! simplex method over tasks that can be divided, whose multipliers these costs are.
//!
//! In doubles, and stopped where it takes long: any costs measure size, and what follows from a measure is proved in whole numbers.

use crate::tolerance::{TAKES, WORTH_MORE};

/// Steps of the method for each resource.
const STEPS: usize = 30;

/// The costs of all of each resource, for tasks of these `values` that take these `parts` of each, task by task.
pub(super) fn least_costs(values: &[f64], parts: &[f64], resources: usize) -> Vec<f64> {
    let m = resources;
    // Row by row: what of each resource a task of the basis stands for, at first one of nothing for each resource; and what it fills.
    let mut inverse: Vec<f64> = (0..m * m).map(|at| if at / m == at % m { 1.0 } else { 0.0 }).collect();
    let mut held = vec![1.0; m];
    let mut worth = vec![0.0; m];
    let mut costs = vec![0.0; m];
    let enough = WORTH_MORE * values.iter().copied().fold(0.0, f64::max);
    for _ in 0..STEPS * m {
        for (r, cost) in costs.iter_mut().enumerate() {
            *cost = (0..m).map(|row| worth[row] * inverse[row * m + r]).sum();
        }
        // Tasks that are worth more than they cost, and resources that it would pay to leave free.
        let gain = |(value, parts): (&f64, &[f64])| {
            value - parts.iter().zip(&costs).map(|(part, cost)| part * cost).sum::<f64>()
        };
        let of_tasks = values.iter().zip(parts.chunks_exact(m)).map(gain).enumerate();
        let of_resources =
            costs.iter().map(|cost| -cost).enumerate().map(|(r, gain)| (values.len() + r, gain));
        let best = of_tasks.chain(of_resources).max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((entering, _)) = best.filter(|(_, gain)| *gain > enough) else { break };
        let of_resource = entering.checked_sub(values.len());
        let takes = |row: usize| -> f64 {
            let inverse = &inverse[row * m..(row + 1) * m];
            match of_resource {
                Some(r) => inverse[r],
                None => {
                    let parts = &parts[entering * m..(entering + 1) * m];
                    inverse.iter().zip(parts).map(|(of, part)| of * part).sum()
                }
            }
        };
        let column: Vec<f64> = (0..m).map(takes).collect();
        let driven_out = (0..m).filter(|row| column[*row] > TAKES);
        let leaving = driven_out.min_by(|a, b| (held[*a] / column[*a]).total_cmp(&(held[*b] / column[*b])));
        let Some(leaving) = leaving else { break };
        let pivot = column[leaving];
        (0..m).for_each(|r| inverse[leaving * m + r] /= pivot);
        held[leaving] /= pivot;
        for row in (0..m).filter(|row| *row != leaving && column[*row] != 0.0) {
            (0..m).for_each(|r| inverse[row * m + r] -= column[row] * inverse[leaving * m + r]);
            held[row] = (held[row] - column[row] * held[leaving]).max(0.0);
        }
        worth[leaving] = of_resource.map_or_else(|| values[entering], |_| 0.0);
    }
    costs.iter().map(|cost| cost.max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_task_is_worth_more_than_it_costs_and_the_server_costs_what_divided_tasks_are_worth() {
        // The second and the third fill both resources: at 50/9 and 44/9 each is worth what it costs, and the first is not.
        let costs = least_costs(&[2.0, 3.0, 4.0], &[0.5, 0.1, 0.1, 0.5, 0.5, 0.25], 2);
        let costs_of = |parts: [f64; 2]| parts[0] * costs[0] + parts[1] * costs[1];
        assert!(costs_of([0.5, 0.1]) >= 2.0 - 1e-9 && costs_of([0.1, 0.5]) >= 3.0 - 1e-9);
        assert!((costs[0] - 50.0 / 9.0).abs() < 1e-9 && (costs[1] - 44.0 / 9.0).abs() < 1e-9, "{costs:?}");
    }

    #[test]
    fn a_resource_that_is_never_short_costs_nothing() {
        assert_eq!(least_costs(&[1.0], &[0.5, 0.1, 0.2], 3), [2.0, 0.0, 0.0]);
        assert_eq!(least_costs(&[], &[], 2), [0.0, 0.0]);
    }
}
