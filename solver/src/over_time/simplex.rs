//! A level as one linear program over all quanta, by the simplex method: the next way where the interior point does not close.
//!
//! Numbers of users may be twenty orders of magnitude apart, of which doubles hold sixteen. So every user's
//! share is counted in what is due to it, and its tasks in those that give as much: what takes less than 1e-12 of a class at
//! the level takes nothing, and a vertex is right to the last digits of every user's own. Who takes little at the level is
//! seen in the rows of classes and in the row of its own by the square root of that each.

use super::interior_point::{Role, Snapshot};
use super::problem::{Member, Problem};
use crate::linear_program::{Col, Ended, Program, Settings, power};
use crate::linear_solver::solve;
use crate::tolerance::over_time::{SIMPLEX, SMALLEST_ENTRY};
use fairplan_instances::Deadline;

/// What a held share costs that is missing, in parts of the level. It is missing by the rounding of earlier levels.
const PENALTY: f64 = 1e6;

/// A point of the level with these roles, which is at most `upper`; `None` where no optimum is found.
pub(super) fn level(problem: &Problem, roles: &[Role], upper: f64, deadline: &Deadline) -> Option<Snapshot> {
    let users = roles.len();
    let due: Vec<f64> = roles.iter().map(|role| role.due(upper)).collect();
    // A column of tasks is counted in these.
    let unit = |user: usize, slot: usize, limit: f64| {
        let member = &problem.users[user];
        let enough = if due[user] > 0.0 { due[user] / member.gain[slot] } else { f64::INFINITY };
        limit.min(member.alone[slot]).min(enough)
    };
    let mut part = vec![SMALLEST_ENTRY; users];
    for (user, limit) in problem.quanta.iter().flat_map(|quantum| quantum.users.iter().zip(&quantum.limit)) {
        let alone = problem.users[*user].alone.iter().enumerate();
        let parts = alone.map(|(slot, alone)| unit(*user, slot, *limit) / alone);
        part[*user] = parts.fold(part[*user], f64::max);
    }
    let weight: Vec<f64> = part.iter().map(|part| power(part.sqrt())).collect();
    let mut program = Program::maximise();
    let level = program.column(1.0, 2.0, false, []);
    let mut shares: Vec<Vec<(Col, f64)>> = vec![Vec::new(); users];
    let (mut units, mut capacities, mut demands) = (Vec::new(), Vec::new(), Vec::new());
    for quantum in &problem.quanta {
        let mut used: Vec<Vec<(Col, f64)>> = vec![Vec::new(); problem.rows];
        for (user, limit) in quantum.users.iter().zip(&quantum.limit) {
            let member = &problem.users[*user];
            let mut running = Vec::new();
            for (slot, class) in member.classes.iter().enumerate() {
                let tasks = unit(*user, slot, *limit);
                let column = program.column(0.0, f64::INFINITY, false, []);
                units.push(tasks / weight[*user]);
                running.push((column, tasks / limit));
                shares[*user].push((column, member.gain[slot] * tasks / due[*user]));
                for (r, load) in member.loads(slot, problem.resources).iter().enumerate() {
                    used[class * problem.resources + r].push((column, load * tasks / weight[*user]));
                }
            }
            demands.push((running, weight[*user]));
        }
        capacities.extend(used);
    }
    let of_capacities = capacities.iter().map(|row| (row, 1.0));
    for (row, most) in of_capacities.chain(demands.iter().map(|(row, most)| (row, *most))) {
        program.at_most(most, row.iter().copied().filter(|(_, entry)| *entry >= SMALLEST_ENTRY));
    }
    for (user, mut row) in shares.into_iter().enumerate().filter(|(user, _)| due[*user] > 0.0) {
        let least = match roles[user] {
            Role::Rising { base } => {
                row.push((level, -upper / due[user] * weight[user]));
                -base / due[user]
            }
            _ => {
                row.push((program.column(-PENALTY, f64::INFINITY, false, []), weight[user]));
                1.0
            }
        };
        program.at_least(
            least * weight[user],
            row.into_iter().filter(|(_, entry)| entry.abs() >= SMALLEST_ENTRY),
        );
    }
    let (columns, duals) = optimum(&program, deadline)?;
    let tasks = columns[1..].iter().zip(&units).map(|(column, unit)| column.max(0.0) * unit);
    let (prices, duals) = duals.split_at(capacities.len());
    let (worths, duals) = duals.split_at(demands.len());
    let mut duals = duals.iter();
    let mut of_share = |user: usize| match due[user] {
        due if due > 0.0 => duals.next().map_or(0.0, |dual| dual.abs() * weight[user] * upper / due),
        _ => 0.0,
    };
    let y: Vec<f64> = (0..users).map(&mut of_share).collect();
    let prices: Vec<f64> = prices.iter().map(|dual| dual.abs() * upper).collect();
    let worths: Vec<f64> = worths.iter().map(|dual| dual.abs() * upper).collect();
    Some(point(
        problem,
        roles,
        &due,
        Optimum { level: columns[0] * upper, tasks: tasks.collect(), prices, worths, weight, y },
    ))
}

/// An optimum in the problem's own terms; what demands are worth in those of `weight`.
struct Optimum {
    level: f64,
    tasks: Vec<f64>,
    prices: Vec<f64>,
    worths: Vec<f64>,
    weight: Vec<f64>,
    y: Vec<f64>,
}

/// The optimum as a point of the interior point, for prices that hold also where the program did not look.
fn point(problem: &Problem, roles: &[Role], due: &[f64], optimum: Optimum) -> Snapshot {
    let Optimum { level, tasks, prices, worths, weight, y } = optimum;
    let (mut tasks, mut worths) = (tasks.into_iter(), worths.into_iter());
    let mut work = vec![0.0; roles.len()];
    let mut blocks = Vec::new();
    for (quantum, prices) in problem.quanta.iter().zip(prices.chunks(problem.rows)) {
        let mut p = prices.to_vec();
        for ((user, limit), worth) in quantum.users.iter().zip(&quantum.limit).zip(worths.by_ref()) {
            let member = &problem.users[*user];
            raise(problem, member, y[*user], worth * weight[*user] / limit, &mut p);
        }
        let (mut x, mut z) = (Vec::new(), Vec::new());
        for user in &quantum.users {
            let member = &problem.users[*user];
            let dear = |slot: usize| member.cost(slot, problem.resources, &p) - member.gain[slot] * y[*user];
            let best = (0..member.classes.len()).map(dear).fold(0.0, f64::min);
            for (slot, tasks) in (0..member.classes.len()).zip(tasks.by_ref()) {
                work[*user] += member.gain[slot] * tasks;
                x.push(tasks);
                z.push(dear(slot) - best);
            }
        }
        blocks.push((x, z, p));
    }
    let beyond = |user: usize| work[user] - roles[user].due(level);
    let over = (0..roles.len()).map(|user| beyond(user).max(0.0)).collect();
    let missing = |user: usize| match roles[user] {
        Role::Held(_) => (due[user] - work[user]).max(0.0),
        _ => 0.0,
    };
    let missing = (0..roles.len()).map(missing).collect();
    Snapshot { level, blocks, work, over, y, missing }
}

/// Raises prices until no task of a user is worth more than `worth` beyond what it costs: on classes that have next to nothing
/// of what the user needs, and which the program did not see.
fn raise(problem: &Problem, user: &Member, y: f64, worth: f64, prices: &mut [f64]) {
    let m = problem.resources;
    for (slot, class) in user.classes.iter().enumerate() {
        let more = user.gain[slot] * y - user.cost(slot, m, prices) - worth;
        let loads = user.loads(slot, m).iter().enumerate();
        let largest = loads.max_by(|a, b| a.1.total_cmp(b.1)).filter(|(_, load)| more > 0.0 && **load > 0.0);
        if let Some((r, load)) = largest {
            prices[class * m + r] += more / load;
        }
    }
}

/// The columns and the rows' multipliers of an optimum.
fn optimum(program: &Program, deadline: &Deadline) -> Option<(Vec<f64>, Vec<f64>)> {
    let settings = Settings {
        primal: Some(SIMPLEX),
        dual: Some(SIMPLEX),
        simplex: true,
        as_it_is: true,
        smallest_entry: Some(SMALLEST_ENTRY),
        branching: None,
    };
    let solved = solve(program, settings, deadline).ok()?;
    let is_optimal = solved.ended == Ended::Optimal && solved.is_finite();
    is_optimal.then_some((solved.columns, solved.multipliers))
}
