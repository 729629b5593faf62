//! The same shares with hardly anybody on more than one class: a vertex of all divisions that give everybody what it has.

use super::crossover::Crossover;
use super::fit::overloads;
use super::guide::places_of;
use super::program::Program;
use crate::sums::Compensated;
use crate::tolerance::exact::{SPECK, THINNED};
use fairplan_instances::{
    Allocation, Deadline, Instance, InstanceError, KindId, Objective, Solution, Solver, UserId,
};

/// A solver whose solutions are thinned out before anybody judges them, by a deadline or not at all.
pub(crate) struct Sparse(pub Box<dyn Solver>, pub Deadline);

impl Solver for Sparse {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn solve(&self, instance: &Instance, objective: Objective) -> Result<Solution, InstanceError> {
        self.solve_for(instance, objective, &mut |_| true)
    }

    fn solve_for(
        &self,
        instance: &Instance,
        objective: Objective,
        accept: &mut dyn FnMut(&Solution) -> bool,
    ) -> Result<Solution, InstanceError> {
        if objective == Objective::DrfPerServer {
            return Err(InstanceError::Unsupported(format!(
                "{objective} says what everybody has on each class, so nothing can be put together; leave --sparse out"
            )));
        }
        let mut accepted = None;
        let solution = self.0.solve_for(instance, objective, &mut |solution| {
            let thinned = thinned(instance, solution, &self.1);
            let holds = accept(&thinned);
            accepted = holds.then_some(thinned);
            holds
        })?;
        let statistics = solution.statistics.clone();
        let thinned = accepted.unwrap_or_else(|| thinned(instance, &solution, &self.1));
        Ok(Solution { statistics, ..thinned })
    }
}

fn thinned(instance: &Instance, solution: &Solution, deadline: &Deadline) -> Solution {
    // Fractions are at a vertex already, and a pool has no classes.
    if solution.exact.is_some() || solution.allocation.is_pooled() {
        return solution.clone();
    }
    let program = Program::new(instance, solution.objective);
    let places = places_of(&program, &solution.allocation);
    let rows = program.first_task_row();
    let own = |line: usize| places[line].iter().map(move |(place, work)| (line, *place, *work));
    let slack = left(&program, rows, (0..places.len()).flat_map(own));
    let slack: Vec<f64> = slack.into_iter().map(Compensated::value).collect();
    let is_over = || deadline.is_over();
    let mut crossover = Crossover::new(&program, &slack, vec![false; rows], &is_over);
    // Where tasks do more work on some classes and their number is limited, moving work changes how many there are.
    let stays = |line: usize| program.lines[line].task_row.is_some();
    for (line, places) in places.iter().enumerate().filter(|(line, _)| !stays(*line)) {
        if is_over() {
            return solution.clone();
        }
        crossover.line(line, places);
    }
    let at_key = |line: usize| {
        let work = places[line].iter().map(|(_, work)| work).sum();
        crossover.keys[line].map(|key| (line, key, work))
    };
    let placed = (0..places.len()).flat_map(|line| {
        let staying = stays(line).then(|| own(line)).into_iter().flatten();
        staying.chain(at_key(line))
    });
    crossover.settle(left(&program, rows, placed));
    let splits = crossover.splits();
    let mut rest = splits.as_slice();
    let classes = instance.classes().len();
    let mut rows = vec![0.0; (classes + 1) * classes];
    (0..classes).for_each(|class| rows[class * classes + class] = 1.0);
    let mut split_of = vec![classes as u32; instance.kind_count()];
    let mut tasks: Vec<f64> =
        (0..instance.user_count()).map(|i| solution.allocation.tasks(UserId(i))).collect();
    for (line, places) in places.iter().enumerate() {
        let of = &program.lines[line];
        let own = rest.iter().take_while(|(other, ..)| *other == line).count();
        let (own, later) = rest.split_at(own);
        rest = later;
        let class = |place: u32| program.places(line)[place as usize].class;
        let split = &mut split_of[of.kind as usize];
        if stays(line) {
            *split = (rows.len() / classes) as u32;
            rows.extend(solution.allocation.split_of_kind(KindId(of.kind as usize)));
            continue;
        }
        let Some(key) = crossover.keys[line].filter(|_| !places.is_empty()) else { continue };
        let all: f64 = places.iter().map(|(_, work)| work).sum();
        let on_others: f64 = own.iter().map(|(_, _, work)| work.max(0.0)).sum();
        let mut of_classes: Vec<(usize, f64)> = own
            .iter()
            .map(|(_, place, work)| (*place, work.max(0.0)))
            .chain([(key, (all - on_others).max(0.0))])
            .filter(|(_, work)| *work > SPECK * all)
            .map(|(place, work)| (class(place), work / program.places(line)[place as usize].rough_rate))
            .collect();
        // Tasks do different work on different classes, so there may be more of them or fewer.
        let number: f64 = of_classes.iter().map(|(_, tasks)| tasks).sum();
        if program.places(line).iter().any(|place| place.rough_rate != 1.0) {
            tasks[of.user as usize] = number;
        }
        match of_classes.as_slice() {
            [(class, _)] => *split = *class as u32,
            _ => {
                *split = (rows.len() / classes) as u32;
                let start = rows.len();
                rows.resize(start + classes, 0.0);
                of_classes.drain(..).for_each(|(class, tasks)| rows[start + class] = tasks / number);
            }
        }
    }
    for part in THINNED {
        let tasks: Vec<f64> = tasks.iter().map(|tasks| tasks * (1.0 - part)).collect();
        let allocation = Allocation::of_kinds(instance, classes, tasks, split_of.clone(), rows.clone());
        if !overloads(&program, &allocation) {
            return Solution { allocation, ..solution.clone() };
        }
    }
    solution.clone()
}

/// What work, each by its line and place, leaves of each of the first rows, in parts of it.
fn left(
    program: &Program<'_>,
    rows: usize,
    placed: impl Iterator<Item = (usize, u32, f64)>,
) -> Vec<Compensated> {
    let mut left = vec![Compensated::default(); rows];
    left.iter_mut().for_each(|left| left.add(1.0));
    for (line, place, work) in placed {
        let column = program.rough_column(line, place as usize);
        for (row, entry) in column.into_iter().filter(|(row, _)| *row < rows) {
            left[row].add(-entry * work / program.rough_amount(row));
        }
    }
    left
}
