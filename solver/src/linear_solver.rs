//! Solves linear programs by our own simplex method; where that does not decide, by HiGHS if it is built in.

use crate::highs;
use crate::linear_program::{Column, Ended, Outcome, Program, Settings};
use crate::simplex::{Simplex, solve_whole};
use fairplan_instances::{Deadline, InstanceError};

/// Solves a program in the time that is left.
pub(crate) fn solve(
    program: &Program,
    settings: Settings,
    deadline: &Deadline,
) -> Result<Outcome, InstanceError> {
    let solved = match settings.branching {
        Some(_) => solve_whole(program, settings, deadline),
        None => Simplex::new(program, settings).solve(deadline),
    };
    or_highs(solved, program, settings, deadline)
}

/// A program to which columns are added after it was solved; solving goes on from where it was.
pub(crate) struct Growing {
    program: Program,
    settings: Settings,
    simplex: Simplex,
}

impl Growing {
    pub fn new(program: Program, settings: Settings) -> Self {
        let simplex = Simplex::new(&program, settings);
        Self { program, settings, simplex }
    }

    pub fn add(&mut self, column: Column) {
        self.simplex.add(&column);
        self.program.columns.push(column);
    }

    /// Another cost for a column, as numbered when it was added.
    pub fn cost(&mut self, column: usize, cost: f64) {
        self.simplex.cost(column, cost);
        self.program.columns[column].cost = cost;
    }

    pub fn solve(&mut self, deadline: &Deadline) -> Result<Outcome, InstanceError> {
        let solved = self.simplex.solve(deadline);
        or_highs(solved, &self.program, self.settings, deadline)
    }
}

/// What HiGHS says of a program that was not decided, if it is built in.
fn or_highs(
    solved: Outcome,
    program: &Program,
    settings: Settings,
    deadline: &Deadline,
) -> Result<Outcome, InstanceError> {
    let is_decided = matches!(solved.ended, Ended::Optimal | Ended::Infeasible) && solved.is_finite();
    if is_decided || !highs::HAS_HIGHS || matches!(solved.ended, Ended::OutOfTime | Ended::MostNodes) {
        return Ok(solved);
    }
    highs::solve(program, settings, deadline)
}
