//! The restricted master: how many servers of each type to buy by the rows known so far, a mixed-integer program through
//! HiGHS.
//!
//! Its only whole numbers are the counts, so that it is small whatever the number of users.

use super::cuts::Cut;
use crate::linear_program::{broken, end_by, guarded, no_other_model, power, quiet};
use crate::tolerance::planning::{ROW, SLACK, SPENT};
use fairplan_instances::{Catalog, Deadline, SolverError};
use highs::{Col, HighsModelStatus, Model, RowProblem, Sense, SolvedModel};

/// Nodes after which branching stops with what it has: the same on every machine, unlike a time.
const MOST_NODES: i32 = 200_000;

/// What can be bought, and for how much.
pub(super) struct Master {
    prices: Vec<f64>,
    limits: Vec<Option<u64>>,
    /// The most that may be spent.
    pub budget: Option<f64>,
    /// When HiGHS has to end.
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
    pub fn cheapest(&self, cuts: &[Cut], part: f64, whole: bool) -> Result<Option<Proposal>, SolverError> {
        let unit = power(self.prices.iter().copied().fold(0.0, f64::max));
        let build = || {
            let mut program = RowProblem::default();
            let counts = self.columns(&mut program, |price| price / unit, whole);
            require(&mut program, &counts, cuts, part);
            self.within_budget(&mut program, &counts);
            run(program.optimise(Sense::Minimise), &self.deadline)
        };
        let found = finish(build)?;
        Ok(found.map(|(columns, bound)| Proposal { counts: columns, bound: bound * unit }))
    }

    /// What each row is worth where fractions of servers can be bought, in cost; nothing where none are enough.
    pub fn multipliers(&self, cuts: &[Cut], part: f64) -> Result<Vec<f64>, SolverError> {
        let unit = power(self.prices.iter().copied().fold(0.0, f64::max));
        let build = || {
            let mut program = RowProblem::default();
            let counts = self.columns(&mut program, |price| price / unit, false);
            require(&mut program, &counts, cuts, part);
            run(program.optimise(Sense::Minimise), &self.deadline)
        };
        let _alone = no_other_model();
        let solved = guarded(|| {
            let solved = build();
            (solved.status(), solved.get_solution().dual_rows().to_vec())
        });
        match solved? {
            (HighsModelStatus::Optimal, rows) if rows.iter().all(|row| row.is_finite()) => {
                Ok(rows.into_iter().map(|row| row.max(0.0) * unit).collect())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The servers with which the rows allow the largest part, up to `most`.
    pub fn largest_part(
        &self,
        cuts: &[Cut],
        most: f64,
        whole: bool,
    ) -> Result<Option<Proposal>, SolverError> {
        let build = || {
            let mut program = RowProblem::default();
            let counts = self.columns(&mut program, |_| 0.0, whole);
            let part = program.add_column(1.0, 0.0..=most);
            for cut in cuts {
                let row = entries(&counts, &cut.worth).chain([(part, -cut.asked * (1.0 - SLACK))]);
                program.add_row(-cut.owned.., row);
            }
            self.within_budget(&mut program, &counts);
            run(program.optimise(Sense::Maximise), &self.deadline)
        };
        Ok(finish(build)?.map(|(mut columns, bound)| {
            columns.pop();
            Proposal { counts: columns, bound }
        }))
    }

    fn columns(&self, program: &mut RowProblem, cost: impl Fn(f64) -> f64, whole: bool) -> Vec<Col> {
        let mut column = |(price, limit): (&f64, &Option<u64>)| {
            let most = limit.map_or(f64::INFINITY, |limit| limit as f64);
            program.add_column_with_integrality(cost(*price), 0.0..=most, whole)
        };
        self.prices.iter().zip(&self.limits).map(&mut column).collect()
    }

    fn within_budget(&self, program: &mut RowProblem, counts: &[Col]) {
        if let Some(budget) = self.budget {
            let unit = power(self.prices.iter().copied().fold(0.0, f64::max));
            let prices: Vec<f64> = self.prices.iter().map(|price| price / unit).collect();
            program.add_row(..=budget * (1.0 + SPENT) / unit, entries(counts, &prices));
        }
    }
}

/// A row a cut: the servers must be worth what `part` of what is asked for costs.
fn require(program: &mut RowProblem, counts: &[Col], cuts: &[Cut], part: f64) {
    for cut in cuts {
        let needed = part * cut.asked * (1.0 - SLACK) - cut.owned;
        program.add_row(needed.., entries(counts, &cut.worth));
    }
}

fn entries<'a>(counts: &'a [Col], numbers: &'a [f64]) -> impl Iterator<Item = (Col, f64)> + 'a {
    counts.iter().zip(numbers).filter(|(_, x)| **x > 0.0).map(|(column, x)| (*column, *x))
}

fn run(mut model: Model, deadline: &Deadline) -> SolvedModel {
    quiet(&mut model);
    model.set_option("mip_rel_gap", 0.0);
    model.set_option("mip_abs_gap", 0.0);
    model.set_option("mip_max_nodes", MOST_NODES);
    model.set_option("mip_feasibility_tolerance", ROW);
    model.set_option("primal_feasibility_tolerance", ROW);
    model.set_option("dual_feasibility_tolerance", ROW);
    end_by(&mut model, deadline);
    model.solve()
}

/// The columns and the bound of what was solved; `None` where no servers are enough.
fn finish(solve: impl FnOnce() -> SolvedModel) -> Result<Option<(Vec<f64>, f64)>, SolverError> {
    let _alone = no_other_model();
    let (status, columns, value, bound) = guarded(|| {
        let solved = solve();
        let bound = solved.double_info_value(c"mip_dual_bound").unwrap_or(f64::NAN);
        (solved.status(), solved.get_solution().columns().to_vec(), solved.objective_value(), bound)
    })?;
    let found = columns.iter().all(|x| x.is_finite()) && value.is_finite();
    match status {
        HighsModelStatus::Infeasible | HighsModelStatus::UnboundedOrInfeasible => Ok(None),
        HighsModelStatus::Optimal if found => Ok(Some((columns, value))),
        // Stopped at the most nodes.
        HighsModelStatus::ReachedSolutionLimit if found && bound.is_finite() => Ok(Some((columns, bound))),
        HighsModelStatus::ReachedTimeLimit => Err(SolverError::OutOfTime),
        status => Err(broken(format!("stopped with status {status:?}"))),
    }
}
