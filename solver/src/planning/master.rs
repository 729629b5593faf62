//! The restricted master: how many servers of each type to buy by the rows known so far, a mixed-integer program.
//!
//! Its only whole numbers are the counts, so that it is small whatever the number of users.

use super::cuts::Cut;
use crate::linear_program::{Branching, Col, Ended, Program, Settings, power};
use crate::linear_solver::solve;
use crate::tolerance::planning::{ROW, SLACK, SPENT};
use fairplan_instances::{Catalog, Deadline, InstanceError};

/// Nodes after which branching stops with what it has: the same on every machine, unlike a time.
const MOST_NODES: i32 = 200_000;

/// What can be bought, and for how much.
pub(super) struct Master {
    prices: Vec<f64>,
    limits: Vec<Option<u64>>,
    /// The most that may be spent.
    pub budget: Option<f64>,
    /// When solving has to end.
    pub deadline: Deadline,
}

/// An optimum over the rows so far.
pub(super) struct Proposal {
    /// Servers of each type; whole numbers if asked for.
    pub counts: Vec<f64>,
    /// Nothing that the rows allow is better: of cost, or of the part reached.
    pub bound: f64,
}

impl Master {
    pub fn new(catalog: &Catalog, budget: Option<f64>) -> Self {
        let prices = catalog.types.iter().map(|kind| kind.price.to_f64()).collect();
        let limits = catalog.types.iter().map(|kind| kind.limit).collect();
        Self { prices, limits, budget, deadline: Deadline::never() }
    }

    /// The cheapest servers that the rows allow to reach `part`; `None` if there are none.
    pub fn cheapest(&self, cuts: &[Cut], part: f64, whole: bool) -> Result<Option<Proposal>, InstanceError> {
        let unit = power(self.prices.iter().copied().fold(0.0, f64::max));
        let mut program = Program::minimise();
        let counts = self.columns(&mut program, |price| price / unit, whole);
        require(&mut program, &counts, cuts, part);
        self.within_budget(&mut program, &counts);
        let found = finish(&program, &self.deadline)?;
        Ok(found.map(|(columns, bound)| Proposal { counts: columns, bound: bound * unit }))
    }

    /// What each row is worth where fractions of servers can be bought, in cost; nothing where none are enough.
    pub fn multipliers(&self, cuts: &[Cut], part: f64) -> Result<Vec<f64>, InstanceError> {
        let unit = power(self.prices.iter().copied().fold(0.0, f64::max));
        let mut program = Program::minimise();
        let counts = self.columns(&mut program, |price| price / unit, false);
        require(&mut program, &counts, cuts, part);
        let solved = solve(&program, SETTINGS, &self.deadline)?;
        if solved.ended != Ended::Optimal || !solved.is_finite() {
            return Ok(Vec::new());
        }
        Ok(solved.multipliers.into_iter().map(|row| row.max(0.0) * unit).collect())
    }

    /// The servers with which the rows allow the largest part, up to `most`.
    pub fn largest_part(
        &self,
        cuts: &[Cut],
        most: f64,
        whole: bool,
    ) -> Result<Option<Proposal>, InstanceError> {
        let mut program = Program::maximise();
        let counts = self.columns(&mut program, |_| 0.0, whole);
        let part = program.column(1.0, most, false, []);
        for cut in cuts {
            let row = entries(&counts, &cut.worth).chain([(part, -cut.asked * (1.0 - SLACK))]);
            program.at_least(-cut.owned, row);
        }
        self.within_budget(&mut program, &counts);
        Ok(finish(&program, &self.deadline)?.map(|(mut columns, bound)| {
            columns.pop();
            Proposal { counts: columns, bound }
        }))
    }

    fn columns(&self, program: &mut Program, cost: impl Fn(f64) -> f64, whole: bool) -> Vec<Col> {
        let mut column = |(price, limit): (&f64, &Option<u64>)| {
            let most = limit.map_or(f64::INFINITY, |limit| limit as f64);
            program.column(cost(*price), most, whole, [])
        };
        self.prices.iter().zip(&self.limits).map(&mut column).collect()
    }

    fn within_budget(&self, program: &mut Program, counts: &[Col]) {
        if let Some(budget) = self.budget {
            let unit = power(self.prices.iter().copied().fold(0.0, f64::max));
            let prices: Vec<f64> = self.prices.iter().map(|price| price / unit).collect();
            program.at_most(budget * (1.0 + SPENT) / unit, entries(counts, &prices));
        }
    }
}

/// A row a cut: the servers must be worth what `part` of what is asked for costs.
fn require(program: &mut Program, counts: &[Col], cuts: &[Cut], part: f64) {
    for cut in cuts {
        let needed = part * cut.asked * (1.0 - SLACK) - cut.owned;
        program.at_least(needed, entries(counts, &cut.worth));
    }
}

fn entries<'a>(counts: &'a [Col], numbers: &'a [f64]) -> impl Iterator<Item = (Col, f64)> + 'a {
    counts.iter().zip(numbers).filter(|(_, x)| **x > 0.0).map(|(column, x)| (*column, *x))
}

const SETTINGS: Settings = Settings {
    primal: Some(ROW),
    dual: Some(ROW),
    simplex: false,
    as_it_is: false,
    smallest_entry: None,
    branching: Some(Branching { whole: ROW, most_nodes: MOST_NODES }),
};

/// The columns and the bound of what was solved; `None` where no servers are enough.
fn finish(program: &Program, deadline: &Deadline) -> Result<Option<(Vec<f64>, f64)>, InstanceError> {
    let solved = solve(program, SETTINGS, deadline)?;
    let found = solved.columns.iter().all(|x| x.is_finite()) && solved.value.is_finite();
    match solved.ended {
        Ended::Infeasible => Ok(None),
        Ended::Optimal if found => Ok(Some((solved.columns, solved.value))),
        Ended::MostNodes if found && solved.bound.is_finite() => Ok(Some((solved.columns, solved.bound))),
        Ended::OutOfTime => Err(InstanceError::OutOfTime),
        _ => Err(solved.unusable()),
    }
}
