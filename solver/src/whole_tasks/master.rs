//! The master program: how many servers hold each known pattern, so that all requirements are met to the largest part.
//!
//! Maximise `θ − Σ_q cost_q λ_q` with `Σ_q q_s λ_q >= θ need_s` for every shape and `Σ_{q of l} λ_q <= N_l` for every class.
//! Patterns are added to a solved program, and HiGHS goes on from where it was: solved anew each round, the same programs
//! took many times as long.

use super::patterns::Pattern;
use crate::highs::ONE_MODEL_AT_A_TIME;
use fairplan_instances::SolverError;
use highs::{ColProblem, HighsModelStatus, Model, Row, Sense};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{MutexGuard, PoisonError};

/// The program, kept inside HiGHS.
pub(super) struct Master {
    model: Option<Model>,
    /// Row of each shape; none where nothing is needed.
    shapes: Vec<Option<Row>>,
    classes: Vec<Row>,
    costs: Vec<f64>,
    /// The patterns, in the order of their columns.
    pub patterns: Vec<Pattern>,
    // Dropped after the model.
    _alone: MutexGuard<'static, ()>,
}

/// An optimum over the patterns so far.
pub(super) struct Mix {
    /// The part of the requirements that is met.
    pub part: f64,
    /// How many servers hold each pattern.
    pub servers: Vec<f64>,
    /// What one more task of each shape is worth, >= 0; the requirements are worth 1.
    pub values: Vec<f64>,
    /// What one more server of each class is worth, its cost included.
    pub server_values: Vec<f64>,
}

impl Master {
    /// The program without patterns. `most` is the largest part of the requirements that counts.
    pub fn new(need: &[u64], servers: &[u64], costs: &[f64], most: f64) -> Result<Self, SolverError> {
        let alone = ONE_MODEL_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let build = || {
            let mut program = ColProblem::default();
            let require = |need: &u64| (*need > 0).then(|| program.add_row(0.0..));
            let shapes: Vec<Option<Row>> = need.iter().map(require).collect();
            let classes: Vec<Row> = servers.iter().map(|count| program.add_row(..=*count as f64)).collect();
            let needed = need.iter().zip(&shapes).filter_map(|(need, row)| Some(((*row)?, -(*need as f64))));
            program.add_column(1.0, 0.0..=most, needed);
            let mut model = program.optimise(Sense::Maximise);
            model.make_quiet();
            model.set_option("threads", 1);
            model.set_option("parallel", "off");
            model.set_option("solver", "simplex");
            model.set_option("presolve", "off");
            model.set_option("primal_feasibility_tolerance", 1e-9);
            model.set_option("dual_feasibility_tolerance", 1e-9);
            (model, shapes, classes)
        };
        let (model, shapes, classes) = catch_unwind(AssertUnwindSafe(build)).map_err(|_| panicked())?;
        Ok(Self {
            model: Some(model),
            shapes,
            classes,
            costs: costs.to_vec(),
            patterns: Vec::new(),
            _alone: alone,
        })
    }

    pub fn add(&mut self, pattern: Pattern) -> Result<(), SolverError> {
        let needed =
            |(shape, tasks): &(u32, u64)| self.shapes[*shape as usize].map(|row| (row, *tasks as f64));
        let mut rows: Vec<(Row, f64)> = pattern.tasks.iter().filter_map(needed).collect();
        rows.push((self.classes[pattern.class], 1.0));
        let cost = -self.costs[pattern.class];
        let Some(model) = &mut self.model else { return Err(panicked()) };
        catch_unwind(AssertUnwindSafe(|| model.try_add_column(cost, 0.0.., rows)))
            .map_err(|_| panicked())?
            .map_err(|status| broken(format!("refused a column: {status:?}")))?;
        self.patterns.push(pattern);
        Ok(())
    }

    pub fn solve(&mut self) -> Result<Mix, SolverError> {
        let Some(model) = self.model.take() else { return Err(panicked()) };
        let solved = catch_unwind(AssertUnwindSafe(|| model.try_solve()))
            .map_err(|_| panicked())?
            .map_err(|status| broken(format!("stopped with {status:?}")))?;
        let status = catch_unwind(AssertUnwindSafe(|| solved.status())).map_err(|_| panicked())?;
        if status != HighsModelStatus::Optimal {
            return Err(broken(format!("stopped with status {status:?}")));
        }
        let solution = solved.get_solution();
        let (columns, duals) = (solution.columns(), solution.dual_rows());
        if columns.iter().chain(duals).any(|x| !x.is_finite()) {
            return Err(broken("it returned numbers that are not finite".into()));
        }
        // Rows are numbered as they were added: the shapes with a requirement, then the classes.
        let mut rows = duals.iter();
        let mut next = |sign: f64| rows.next().map_or(0.0, |dual| (sign * dual).max(0.0));
        let values = self.shapes.iter().map(|row| if row.is_some() { next(-1.0) } else { 0.0 }).collect();
        let server_values = self.costs.iter().map(|cost| next(1.0) + cost).collect();
        let mix = Mix { part: columns[0], servers: columns[1..].to_vec(), values, server_values };
        self.model = Some(Model::from(solved));
        Ok(mix)
    }
}

pub(super) fn broken(problem: String) -> SolverError {
    SolverError::Backend { backend: "highs", problem }
}

pub(super) fn panicked() -> SolverError {
    broken("it panicked".into())
}
