//! The independent second way to the first level: one linear program over all quanta, by HiGHS.

use super::problem::Problem;
use crate::highs::{HighsAlgorithm, largest};
use fairplan_instances::{InstanceError, TaskDemands};
use good_lp::{Expression, ProblemVariables, constraint, variable};

/// The largest weighted dominant share over all quanta that every user can have who demands anything and can use some
/// class.
pub fn task_level_by_highs(
    demands: &TaskDemands<'_>,
    algorithm: HighsAlgorithm,
) -> Result<f64, InstanceError> {
    let problem = Problem::new(demands);
    let mut variables = ProblemVariables::new();
    let level = variables.add(variable().min(0.0));
    let mut shares = vec![Expression::default(); problem.users.len()];
    let mut rows = Vec::new();
    for quantum in &problem.quanta {
        let mut used = vec![Expression::default(); problem.rows];
        for (user, limit) in quantum.users.iter().zip(&quantum.limit) {
            let member = &problem.users[*user];
            let mut all = Expression::default();
            for (slot, class) in member.classes.iter().enumerate() {
                // In parts of a class, which are numbers near one.
                let part = variables.add(variable().min(0.0));
                all.add_mul(member.alone[slot] / limit, part);
                shares[*user].add_mul(member.alone[slot] * member.gain[slot], part);
                for (r, load) in member.loads(slot, problem.resources).iter().enumerate() {
                    used[class * problem.resources + r].add_mul(load * member.alone[slot], part);
                }
            }
            rows.push(constraint!(all <= 1.0));
        }
        rows.extend(used.into_iter().map(|used| constraint!(used <= 1.0)));
    }
    let counting = shares.into_iter().zip(problem.most()).filter(|(_, most)| *most > 0.0);
    rows.extend(counting.map(|(share, _)| constraint!(Expression::from(level) - share <= 0.0)));
    Ok(largest(variables, level, rows, Vec::new(), algorithm)?.0)
}
