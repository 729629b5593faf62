//! The last steps of every solution: splits shrunk until no class is overloaded, rounding included, and divided over the
//! instance's own classes.

use crate::level::{Groups, LevelProblem};
use crate::reduction::Reduction;
use crate::sums::Compensated;
use crate::tolerance::allocation::{FILLS, MARGIN, SPECKS};

/// `ζ` with negative entries cleared and every class shrunk to its capacity less the rounding margin.
pub(crate) fn feasible_splits(problem: &LevelProblem<'_>, splits: &[f64]) -> Vec<f64> {
    let m = problem.resources;
    let mut splits: Vec<f64> = splits.iter().map(|z| z.max(0.0)).collect();
    let usage = usage(problem, &splits);
    let keep: Vec<f64> = problem
        .of_classes(&usage)
        .chunks(m)
        .zip(problem.capacities.chunks(m))
        .map(|(usage, capacity)| {
            usage
                .iter()
                .zip(capacity)
                .filter(|(usage, _)| **usage > 0.0)
                .map(|(usage, capacity)| capacity * (1.0 - MARGIN) / usage)
                .fold(1.0, f64::min)
        })
        .collect();
    for (z, class) in splits.iter_mut().zip(&problem.groups.class) {
        *z *= keep[*class as usize];
    }
    if problem.limits.is_some() {
        shrink_to_limits(problem, &mut splits);
    }
    splits
}

/// What splits take of every row. Compensated sums: the rounding of plain ones grows with the number of groups, and what is left unused for
/// it is a gap, which to the smallest of ten thousand users is as much as they have.
fn usage(problem: &LevelProblem<'_>, splits: &[f64]) -> Vec<f64> {
    let m = problem.resources;
    let mut usage = vec![Compensated::default(); problem.capacities.len()];
    for g in 0..problem.groups.len() {
        let load = problem.load(g);
        for pair in problem.groups.pairs(g) {
            let class = problem.groups.class[pair];
            let row = &mut usage[class as usize * m..][..m];
            row.iter_mut().zip(load).for_each(|(sum, a)| sum.add(a * splits[pair]));
            if problem.limits.is_some() {
                for (row, r) in problem.limits_met(g, class) {
                    usage[row].add(load[r] * splits[pair]);
                }
            }
        }
    }
    usage.into_iter().map(Compensated::value).collect()
}

/// The same for limits: whoever runs where one is passed has less there.
fn shrink_to_limits(problem: &LevelProblem<'_>, splits: &mut [f64]) {
    let usage = usage(problem, splits);
    for g in 0..problem.groups.len() {
        for pair in problem.groups.pairs(g) {
            let met = problem.limits_met(g, problem.groups.class[pair]);
            let met = met.filter(|(row, r)| problem.load(g)[*r] > 0.0 && usage[*row] > 0.0);
            let keep = met.map(|(row, _)| problem.capacities[row] * (1.0 - MARGIN) / usage[row]);
            splits[pair] *= keep.fold(1.0, f64::min);
        }
    }
}

/// What splits leave of each row, but for what rounding may take.
pub(crate) fn room(problem: &LevelProblem<'_>, splits: &[f64]) -> Vec<f64> {
    let usage = usage(problem, splits);
    let left = |(capacity, used): (&f64, &f64)| (capacity * (1.0 - MARGIN) - used).max(0.0);
    problem.capacities.iter().zip(&usage).map(left).collect()
}

/// Gives groups that lack some of their share what is left where they run: what rounding takes of one, all lack that are held at as much.
pub(crate) fn fill_up(problem: &LevelProblem<'_>, splits: &mut [f64]) {
    let mut left = room(problem, splits);
    for g in 0..problem.groups.len() {
        let mut lacking = 1.0 - problem.work(splits, g);
        for pair in problem.groups.pairs(g) {
            if lacking <= 0.0 {
                break;
            }
            let fits = problem.needs(g, pair).map(|(row, d)| left[row] / d).fold(f64::INFINITY, f64::min);
            let more = fits.min(lacking / problem.groups.rate[pair]);
            splits[pair] += more;
            lacking -= more * problem.groups.rate[pair];
            problem.needs(g, pair).for_each(|(row, d)| left[row] = (left[row] - d * more).max(0.0));
        }
    }
}

/// What the splits of the groups come to on the classes of the instance.
pub(crate) struct SplitRows {
    /// `Σ_l ρ ζ` of each group.
    pub work: Vec<f64>,
    /// `Σ_l ζ` of each group.
    pub placed: Vec<f64>,
    /// The parts of a group's tasks on each class of the instance, one row a group, and a last one of zeros for users
    /// without a group.
    pub rows: Vec<f64>,
}

/// Whether a split of a load is something to a class of these capacities: of a small one a speck of a large group may be all that is used.
pub(crate) fn fills_class(split: f64, load: &[f64], capacities: &[f64]) -> bool {
    load.iter().zip(capacities).any(|(load, capacity)| load * split > FILLS * capacity)
}

impl SplitRows {
    /// From splits that are feasible, for an instance with so many classes.
    pub fn new(reduction: &Reduction, groups: &Groups, splits: &[f64], classes: usize) -> Self {
        let m = reduction.resources;
        let mut work = vec![0.0; groups.len()];
        let mut placed = vec![0.0; groups.len()];
        let mut rows = vec![0.0; (groups.len() + 1) * classes];
        for g in 0..groups.len() {
            let pairs = groups.pairs(g);
            let specks = SPECKS * splits[pairs.clone()].iter().sum::<f64>() / pairs.len() as f64;
            let load = &groups.loads[g * m..(g + 1) * m];
            let fills = |pair: usize| {
                let capacities = &reduction.capacities[groups.class[pair] as usize * m..][..m];
                fills_class(splits[pair], load, capacities)
            };
            let is_used = |pair: &usize| splits[*pair] > specks || fills(*pair);
            let used: Vec<usize> = pairs.filter(is_used).collect();
            work[g] = used.iter().map(|pair| groups.rate[*pair] * splits[*pair]).sum();
            placed[g] = used.iter().map(|pair| splits[*pair]).sum();
            for pair in used {
                for class in &reduction.members[groups.class[pair] as usize] {
                    rows[g * classes + class.0] =
                        splits[pair] / placed[g] * reduction.part_of_merged[class.0];
                }
            }
        }
        Self { work, placed, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bins::Bins;
    use crate::level::Groups;
    use crate::question::Question;
    use fairplan_instances::{Deadline, Decimal, InstanceBuilder, NewUser, Objective, ServerClass};

    #[test]
    fn who_lacks_some_of_its_share_gets_what_is_left_where_it_runs_and_no_more_than_it_lacks() {
        let mut groups = Groups::new();
        groups.push(&[1.0], 0, false, [(0, 1.0)].into_iter());
        groups.push(&[1.0], 0, false, [(0, 1.0), (1, 2.0)].into_iter());
        groups.push(&[1.0], 0, false, [(1, 1.0)].into_iter());
        let capacities = [1.0, 1.2];
        let problem = LevelProblem { resources: 1, capacities: &capacities, groups: &groups, limits: None };
        let mut splits = vec![0.75, 0.25, 0.25, 0.75];
        fill_up(&problem, &mut splits);
        // The first class is full; on the second the next takes what it lacks, and the last what is left, which is not all.
        let expected = [0.75, 0.25, 0.375, 0.825 * (1.0 - MARGIN)];
        for (split, expected) in splits.iter().zip(expected) {
            assert!((split - expected).abs() < 1e-14, "{splits:?}");
        }
    }

    #[test]
    fn a_speck_of_a_large_user_stays_where_it_is_just_something_to_the_class_and_not_where_it_is_nothing() {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "memory".into()]).unwrap();
        for (id, cores) in [("large", "1e20"), ("small", "1")] {
            let capacity = vec![cores.parse().unwrap(), Decimal::ONE];
            builder.class(ServerClass::new(id, 1, capacity)).unwrap();
        }
        builder.user(NewUser::new("u", &[Decimal::ONE, Decimal::ZERO])).unwrap();
        let instance = builder.build().unwrap();
        let deadline = Deadline::never();
        let question = Question::new(&instance, Objective::Utilitarian, "auto", &deadline);
        let reduction = question.reduction();
        let mut groups = Groups::new();
        groups.push(&[1.0, 0.0], 0, true, [(0, 1.0), (1, 1.0)].into_iter());
        assert_eq!(Bins::alike(reduction, 0.0).pattern.len(), 1);
        let stays = |part: f64| {
            let splits = [1.0, part * FILLS * 1e-20];
            SplitRows::new(reduction, &groups, &splits, 2).rows[1] > 0.0
        };
        assert!(stays(1.1) && !stays(0.9));
    }
}
