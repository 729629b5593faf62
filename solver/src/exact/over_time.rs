//! Tasks over several quanta in fractions: the lexicographic max-min of what users have over all of them, and prices that prove it.
//!
//! A user is a line whose places are the classes of all quanta in which it demands something; what it demands in a quantum is a row.
//! The levels are raised as those of one quantum are, from where a solution in doubles points to. A vertex has about as many splits as
//! there are demands, and the system of its tight rows is eliminated in fractions, so this is for hundreds of demands.

use super::guide::Guide;
use super::levels::{Raised, raise};
use super::number::Rational;
use super::program::{Program, task_share};
use super::result::in_whole_numbers;
use super::vertex::Amount;
use super::{UNGUIDED, told};
use crate::over_time::task_optimum_within;
use fairplan_instances::{
    Deadline, ExactTaskLevel, ExactTasks, InstanceError, ResourceId, TaskDemands, TaskLevel, TaskOptimum,
};
use std::borrow::Cow;

/// Rows of capacities and of demands up to which vertices are looked for: the crossover has a square of so many doubles, and of the
/// tight ones among them a system in fractions.
const MOST_ROWS: usize = 4_000;

/// Pairs of a demand and a class up to which fractions are looked for where doubles are not proved.
const SMALL: usize = 2_000;

/// The part of the time that doubles have where fractions may have to follow.
const IN_DOUBLES: f64 = 0.5;

/// The optimum of tasks over all quanta in doubles; of a small one that whoever asks does not accept, which is where its numbers are too far
/// apart, the optimum in fractions.
pub fn accepted_task_optimum_within(
    demands: &TaskDemands<'_>,
    deadline: &Deadline,
    accept: &mut dyn FnMut(&TaskOptimum) -> bool,
) -> TaskOptimum {
    let pairs = demands.series().entry_count() * demands.instance().classes().len();
    if pairs > SMALL {
        return task_optimum_within(demands, deadline);
    }
    let near = task_optimum_within(demands, &deadline.after_part(IN_DOUBLES));
    match accept(&near) {
        true => near,
        false => in_fractions(demands, Some(&near), deadline).unwrap_or(near),
    }
}

/// The optimum of tasks over all quanta, as doubles and as fractions.
///
/// # Errors
/// [`InstanceError::Unsupported`] where there are too many rows or the fractions are too long; [`InstanceError::OutOfTime`].
pub fn exact_task_optimum_within(
    demands: &TaskDemands<'_>,
    deadline: &Deadline,
) -> Result<TaskOptimum, InstanceError> {
    in_fractions(demands, None, deadline)
}

/// The same from what is found in doubles, if it is `known` already.
fn in_fractions(
    demands: &TaskDemands<'_>,
    known: Option<&TaskOptimum>,
    deadline: &Deadline,
) -> Result<TaskOptimum, InstanceError> {
    let (program, positions) = Program::over_time(demands);
    let rows = program.rows();
    if rows > MOST_ROWS {
        return Err(InstanceError::Unsupported(format!(
            "--exact over servers is for {MOST_ROWS} rows: capacities of each class and quantum, and demands; these are {rows}. Give \
             fewer quanta, or solve in doubles"
        )));
    }
    let pairs: usize = (0..program.lines.len()).map(|line| program.places(line).len()).sum();
    let near = || known.map_or_else(|| Cow::Owned(task_optimum_within(demands, deadline)), Cow::Borrowed);
    let near = (pairs > UNGUIDED).then(near);
    let guide = near.as_ref().map(|near| Guide::over_time(&program, &positions, demands, near));
    let raised =
        raise(&program, program.works_per_level(), guide.as_ref(), &|| deadline.is_over()).map_err(told)?;
    let iterations = near.as_deref().or(known).map_or(0, |near| near.iterations);
    Ok(Exactly { raised, positions: &positions, demands }.optimum(iterations))
}

/// The last vertex, and whose its lines are.
struct Exactly<'r, 'p> {
    raised: Raised<'p>,
    positions: &'r [usize],
    demands: &'r TaskDemands<'r>,
}

impl Exactly<'_, '_> {
    fn optimum(&self, iterations: usize) -> TaskOptimum {
        let (levels, exact_levels) = self.levels().into_iter().unzip();
        let tasks = self.tasks();
        let vertex = &self.raised.vertex;
        let standing = |line: usize| &vertex.work(line) / vertex.per_level(line);
        let value = (0..self.positions.len()).map(standing).min().unwrap_or_else(Rational::zero);
        let mut shares = vec![Rational::zero(); self.demands.users().len()];
        for (line, position) in self.positions.iter().enumerate() {
            shares[*position] = &vertex.work(line) * &task_share(vertex.program.user(line));
        }
        let texts = |numbers: &[Rational]| {
            numbers.iter().map(|number| number.clone().in_lowest_terms().to_string()).collect()
        };
        TaskOptimum {
            tasks: tasks.iter().map(Rational::to_f64_below).collect(),
            levels,
            iterations: iterations + vertex.steps as usize,
            exact: Some(ExactTasks {
                value: value.in_lowest_terms().to_string(),
                levels: exact_levels,
                shares: texts(&shares),
                tasks: texts(&tasks),
            }),
        }
    }

    /// Tasks of each demand on each class, in the order of the series.
    fn tasks(&self) -> Vec<Rational> {
        let vertex = &self.raised.vertex;
        let (series, classes) = (self.demands.series(), self.demands.instance().classes().len());
        let rows = series.quantum_count() * classes;
        let mut of_lines = vec![None; series.user_count()];
        for (line, position) in self.positions.iter().enumerate() {
            let places = vertex.program.places(line);
            let mut of_classes = vec![Rational::zero(); rows];
            let mut run = |place: usize, work: &Rational| {
                of_classes[places[place].class] = places[place].tasks(work);
            };
            run(vertex.keys[line] as usize, &vertex.key_work(line));
            let splits = vertex.splits.iter().filter(|split| split.line == line);
            splits.for_each(|split| run(split.place, &split.work));
            of_lines[*position] = Some(of_classes);
        }
        let mut tasks = Vec::with_capacity(series.entry_count() * classes);
        for quantum in 0..series.quantum_count() {
            for position in series.demands(quantum).0 {
                match &of_lines[*position as usize] {
                    Some(of_classes) => tasks.extend_from_slice(&of_classes[quantum * classes..][..classes]),
                    None => tasks.extend(std::iter::repeat_n(Rational::zero(), classes)),
                }
            }
        }
        tasks
    }

    /// The levels that capacity sets: those at which somebody is held who does not run everything.
    fn levels(&self) -> Vec<(TaskLevel, ExactTaskLevel)> {
        let vertex = &self.raised.vertex;
        let held_at = |line: usize| match &vertex.amounts[line] {
            Amount::Frozen(level) if !self.runs_everything(line) => Some(*level as usize),
            _ => None,
        };
        let mut users = vec![Vec::new(); vertex.levels.len()];
        for (line, position) in self.positions.iter().enumerate() {
            if let Some(level) = held_at(line) {
                users[level].push(*position as u32);
            }
        }
        let levels = users.into_iter().enumerate().filter(|(_, users)| !users.is_empty());
        levels.map(|(k, users)| self.level(k, users)).collect()
    }

    /// Whether all that a user demands runs where it does most.
    fn runs_everything(&self, line: usize) -> bool {
        let vertex = &self.raised.vertex;
        vertex.program.most_work(line) == Some(vertex.work(line))
    }

    /// What holds the users of a level: prices of the capacities, and what a level more would cost each user.
    fn level(&self, k: usize, users: Vec<u32>) -> (TaskLevel, ExactTaskLevel) {
        let (raised, vertex) = (&self.raised, &self.raised.vertex);
        let m = self.demands.instance().resources().len();
        let mut multipliers = vec![Rational::zero(); self.demands.users().len()];
        for (line, position) in self.positions.iter().enumerate() {
            // Not that of the key place, at which there may be no work any more.
            let costs = (0..vertex.program.places(line).len())
                .map(|place| vertex.cost(&raised.prices[k], line, place));
            let least = costs.min().unwrap_or_else(Rational::zero);
            multipliers[*position] = &least * vertex.per_level(line);
        }
        let capacities = raised.prices[k][..vertex.program.limits().start].iter().enumerate();
        let prices: Vec<Rational> =
            capacities.map(|(row, price)| raised.per_unit(price, ResourceId(row % m))).collect();
        let doubles = |numbers: &[Rational]| {
            numbers.iter().map(|number| (number / &raised.scales[k]).to_f64()).collect()
        };
        let level = &vertex.levels[k];
        let whole = in_whole_numbers(&[&multipliers[..], &prices].concat());
        let (own, others) = whole.split_at(multipliers.len());
        let exact = ExactTaskLevel {
            value: level.clone().in_lowest_terms().to_string(),
            multipliers: own.iter().map(ToString::to_string).collect(),
            prices: others.iter().map(ToString::to_string).collect(),
        };
        let (multipliers, prices) = (doubles(&multipliers), doubles(&prices));
        (TaskLevel { value: level.to_f64(), users, multipliers, prices }, exact)
    }
}
