//! What is lost when servers of one class fail or are drained: the remaining cluster divided anew, class by class.
//!
//! The remaining servers are divided as DRFH divides any cluster, dominant shares measured against what is left. What users
//! lose is told in work, which does not depend on how shares are measured.

use super::{NOTICED, solved, works};
use fairplan_instances::{ClassId, Draft, Instance, Solution, Solver, SolverError, UserId};

/// What the loss of servers of one class means.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The class.
    pub class: ClassId,
    /// How many of its servers are lost.
    pub servers: u64,
    /// The smallest weighted dominant share then, still measured against the totals of the whole cluster.
    pub value: f64,
    /// The work that is lost, in dominant shares of the whole cluster, over all users that lose.
    pub lost: f64,
    /// Users that do less work, those that lose the largest part first.
    pub losers: Vec<Loser>,
    /// How many of them can do nothing any more.
    pub stranded: usize,
    /// How many users do more work.
    pub gaining: usize,
}

/// A user that does less work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loser {
    /// The user.
    pub user: UserId,
    /// Its work before, in tasks of rate 1.
    pub before: f64,
    /// Its work after.
    pub after: f64,
}

impl Loser {
    /// The part of its work that is lost.
    pub fn part(&self) -> f64 {
        1.0 - self.after / self.before
    }
}

/// The loss of `servers` servers of each class (all of them where there are fewer, or where none is stated), the worst
/// first: by the largest part that any user loses, then by what is lost in all. `solution` is the DRFH of `instance`.
pub fn losses(
    instance: &Instance,
    solution: &Solution,
    solver: &dyn Solver,
    servers: Option<u64>,
) -> Result<Vec<Loss>, SolverError> {
    let before = works(instance, solution);
    let mut losses = Vec::new();
    for (l, class) in instance.classes().iter().enumerate().filter(|(_, class)| class.count > 0) {
        let lost = servers.map_or(class.count, |servers| servers.min(class.count));
        let mut draft = Draft::from(instance);
        draft.classes[l].count -= lost;
        let after = works_left(draft, solver)?;
        let mut losers: Vec<Loser> = before
            .iter()
            .zip(&after)
            .enumerate()
            .map(|(i, (before, after))| Loser { user: UserId(i), before: *before, after: *after })
            .filter(|loser| loser.before > 0.0 && loser.part() > NOTICED)
            .collect();
        // Parts that differ by rounding are the same.
        let rounded = |loser: &Loser| (loser.part() * 1e6).round();
        losers.sort_by(|a, b| rounded(b).total_cmp(&rounded(a)));
        let share = |user: UserId| instance.user(user).task_share();
        let weighted = |i: usize| after[i] * share(UserId(i)) / instance.user(UserId(i)).weight().to_f64();
        losses.push(Loss {
            class: ClassId(l),
            servers: lost,
            value: (0..after.len()).map(weighted).fold(f64::INFINITY, f64::min),
            // From 0.0 on: the sum of nothing is -0.0.
            lost: losers
                .iter()
                .fold(0.0, |sum, loser| sum + (loser.before - loser.after) * share(loser.user)),
            stranded: losers.iter().filter(|loser| loser.after == 0.0).count(),
            gaining: before.iter().zip(&after).filter(|(b, a)| **a > **b * (1.0 + NOTICED)).count(),
            losers,
        });
    }
    let rounded = |x: f64| (x * 1e6).round();
    let worst = |loss: &Loss| loss.losers.first().map_or(0.0, |loser| rounded(loser.part()));
    losses.sort_by(|a, b| worst(b).total_cmp(&worst(a)).then(rounded(b.lost).total_cmp(&rounded(a.lost))));
    Ok(losses)
}

/// The work of every user of a cluster that may have nothing left of some resource.
fn works_left(mut draft: Draft, solver: &dyn Solver) -> Result<Vec<f64>, SolverError> {
    let mut works_of_all = vec![0.0; draft.users.len()];
    let is_there =
        |r: usize| draft.classes.iter().any(|class| class.count > 0 && !class.capacity[r].is_zero());
    let there: Vec<bool> = (0..draft.resources.len()).map(is_there).collect();
    let has_a_chance = |i: &usize| {
        draft.users[*i].demand.iter().zip(&there).all(|(demand, there)| *there || demand.is_zero())
    };
    let kept: Vec<usize> = (0..draft.users.len()).filter(has_a_chance).collect();
    if kept.is_empty() || !there.contains(&true) {
        return Ok(works_of_all);
    }
    draft.users = kept.iter().map(|i| draft.users[*i].clone()).collect();
    let variant = draft.build().map_err(SolverError::Inapplicable)?;
    let left = works(&variant, &solved(solver, &variant)?);
    kept.iter().zip(left).for_each(|(i, work)| works_of_all[*i] = work);
    Ok(works_of_all)
}
