//! The restricted master program of column generation: how many servers hold each known pattern, so that as much as
//! possible is had of what is wanted.
//!
//! Maximise `Σ_a worth_a α_a − Σ_q cost_q λ_q` with `Σ_q q_s λ_q >= Σ_a tasks_as α_a` for every shape, `α_a <= most_a` for
//! every want and `Σ_{q of l} λ_q <= N_l` for every class; where limits are asked for, within each of them.
//! Tasks and wants are counted in powers of two where servers hold very many ([`Shape::unit`]).
//! Patterns are added to a solved program, which goes on from where it was: solved anew each round, the same programs took many
//! times as long.

use super::alike::Alike;
use super::packing::Packing;
use super::patterns::Pattern;
use super::worth::Worth;
use crate::linear_program::{Column, Ended, Program, Row, Settings, power};
use crate::linear_solver::Growing;
use crate::tolerance::highs::MASTER;
use crate::tolerance::whole_tasks::NO_TASKS;
use fairplan_instances::{Deadline, InstanceError};
use hashbrown::HashMap;

/// Tasks that are wanted together, any fraction of them.
pub(super) struct Want {
    pub worth: f64,
    /// How often they are wanted.
    pub most: f64,
    /// `(shape, tasks)`.
    pub tasks: Vec<(u32, f64)>,
}

impl Want {
    /// A part of all that is needed, at most `most`.
    pub fn all(need: &[u64], most: f64) -> Self {
        let tasks = need.iter().enumerate().filter(|(_, tasks)| **tasks > 0);
        Self { worth: 1.0, most, tasks: tasks.map(|(s, tasks)| (s as u32, *tasks as f64)).collect() }
    }

    /// Worth so many times as much.
    pub fn times(&self, factor: f64) -> Self {
        Self { worth: self.worth * factor, most: self.most, tasks: self.tasks.clone() }
    }
}

/// The program as it grows.
pub(super) struct Master {
    program: Growing,
    /// What the column of each want is counted in.
    wants: Vec<f64>,
    /// The rows of shapes that are alike; none where nothing is wanted.
    rows: Vec<Option<Row>>,
    alike: Alike,
    classes: Vec<Row>,
    /// A row of each limit, all of which is one.
    limits: Vec<Row>,
    costs: Vec<f64>,
    /// The shapes that can be bought and sold, in the order of their columns, two each between those of wants and of patterns; and what
    /// each is sold for.
    traded: Vec<(u32, f64)>,
    /// The patterns, in the order of their columns.
    pub patterns: Vec<Pattern>,
}

/// An optimum over the patterns so far.
pub(super) struct Mix {
    /// How often each want is had.
    pub wanted: Vec<f64>,
    /// How many servers hold each pattern.
    pub servers: Vec<f64>,
    /// What one more task of each shape is worth, >= 0.
    pub values: Vec<f64>,
    /// What one more server of each class is worth, its cost included.
    pub server_values: Vec<f64>,
    /// What all of each limit is worth.
    pub limit_values: Vec<f64>,
    /// The shapes that are bought, or sold for more than nothing.
    pub traded: Vec<u32>,
}

impl Mix {
    /// What it says that all are worth.
    pub fn worth(&self) -> Worth<'_> {
        Worth { tasks: &self.values, servers: &self.server_values, limits: &self.limit_values }
    }
}

impl Master {
    /// The program without patterns.
    pub fn new(packing: &Packing, wants: &[Want], servers: &[u64], costs: &[f64]) -> Self {
        Self::of_alike(packing, Alike::alone(packing), wants, servers, costs)
    }

    /// The same, of shapes that share rows.
    pub fn of_alike(packing: &Packing, alike: Alike, wants: &[Want], servers: &[u64], costs: &[f64]) -> Self {
        let mut program = Program::maximise();
        let rows = wanted_rows(&mut program, &alike, wants);
        let classes = servers.iter().map(|count| program.at_most(*count as f64, [])).collect();
        let limits = (0..packing.limits.len()).map(|_| program.at_most(1.0, [])).collect();
        let columns = add_wants(&mut program, packing, (&alike, &rows), wants);
        let settings = Settings {
            primal: Some(MASTER),
            dual: Some(MASTER),
            simplex: true,
            as_it_is: true,
            ..Settings::default()
        };
        Self {
            program: Growing::new(program, settings),
            wants: columns,
            rows,
            alike,
            classes,
            limits,
            costs: costs.to_vec(),
            traded: Vec::new(),
            patterns: Vec::new(),
        }
    }

    pub fn add(&mut self, packing: &Packing, pattern: Pattern) {
        let tasks = pattern.tasks.iter().map(|(shape, tasks)| (*shape, *tasks as f64));
        let mut entries = entries(&self.alike, &self.rows, tasks, 1.0);
        entries.push((self.classes[pattern.class], 1.0));
        let mut taken = vec![0.0; self.limits.len()];
        for (shape, tasks) in
            pattern.tasks.iter().filter(|(shape, _)| self.rows[self.alike.rows[*shape as usize]].is_some())
        {
            let parts = packing.limits.parts(pattern.class, *shape as usize);
            parts.for_each(|(row, part)| taken[row] += part * *tasks as f64);
        }
        entries.extend(self.limits.iter().copied().zip(taken).filter(|(_, taken)| *taken > 0.0));
        let cost = -self.costs[pattern.class];
        self.program.add(Column { cost, most: f64::INFINITY, is_whole: false, entries });
        self.patterns.push(pattern);
    }

    /// The rows of shapes.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// No servers hold anything.
    pub fn nothing(&self) -> Mix {
        Mix {
            wanted: vec![0.0; self.wants.len()],
            servers: vec![0.0; self.patterns.len()],
            values: vec![0.0; self.alike.rows.len()],
            server_values: self.costs.clone(),
            limit_values: vec![0.0; self.limits.len()],
            traded: Vec::new(),
        }
    }

    /// Lets tasks be bought and sold beside servers at these prices of each shape: what a task is worth then lies between the two.
    /// First before any pattern is there.
    pub fn trade(&mut self, buys: &[f64], sells: &[f64]) {
        let is_first = self.traded.is_empty();
        self.traded.clear();
        let mut column = self.wants.len();
        for (s, row) in self.alike.first.iter().zip(&self.rows).filter_map(|(s, row)| Some((*s, (*row)?))) {
            for (price, sign) in [(-buys[s], 1.0), (sells[s], -1.0)] {
                let cost = price / self.alike.counts[s];
                match is_first {
                    true => {
                        let entries = vec![(row, sign)];
                        self.program.add(Column { cost, most: f64::INFINITY, is_whole: false, entries });
                    }
                    false => self.program.cost(column, cost),
                }
                column += 1;
            }
            self.traded.push((s as u32, sells[s]));
        }
    }

    /// `None` if time was over before; the program is then of no more use.
    pub fn solve(&mut self, stop: &Deadline) -> Result<Option<Mix>, InstanceError> {
        let solved = self.program.solve(stop)?;
        match solved.ended {
            Ended::OutOfTime => return Ok(None),
            // What is bounded and placed from here on holds whatever the numbers are, so nearly optimal ones do.
            Ended::Optimal | Ended::Undecided if solved.is_finite() => {}
            _ => return Err(solved.unusable()),
        }
        // Rows are numbered as they were added: the shapes with a requirement, then the classes and the limits.
        let mut rows = solved.multipliers.iter();
        let mut next = |sign: f64| rows.next().map_or(0.0, |dual| (sign * dual).max(0.0));
        let of_rows: Vec<f64> =
            self.rows.iter().map(|row| if row.is_some() { next(-1.0) } else { 0.0 }).collect();
        let values = self.alike.rows.iter().zip(&self.alike.counts);
        let values = values.map(|(row, count)| of_rows[*row] * count).collect();
        let server_values = self.costs.iter().map(|cost| next(1.0) + cost).collect();
        let limit_values = self.limits.iter().map(|_| next(1.0)).collect();
        let (wants, others) = solved.columns.split_at(self.wants.len());
        let (trades, servers) = others.split_at(2 * self.traded.len());
        // What is sold for nothing is left over.
        let is_traded = |amounts: &[f64], sold_for: f64| {
            amounts[0] > NO_TASKS || (amounts[1] > NO_TASKS && sold_for > 0.0)
        };
        let traded = self.traded.iter().zip(trades.chunks_exact(2));
        let traded = traded.filter(|((_, sold_for), amounts)| is_traded(amounts, *sold_for));
        Ok(Some(Mix {
            wanted: wants.iter().zip(&self.wants).map(|(had, unit)| had * unit).collect(),
            servers: servers.to_vec(),
            values,
            server_values,
            limit_values,
            traded: traded.map(|((shape, _), _)| *shape).collect(),
        }))
    }
}

/// A row for all shapes that share one of which tasks are wanted.
pub(super) fn wanted_rows(program: &mut Program, alike: &Alike, wants: &[Want]) -> Vec<Option<Row>> {
    let mut is_wanted = vec![false; alike.first.len()];
    let tasks = wants.iter().flat_map(|want| &want.tasks);
    tasks.for_each(|(shape, _)| is_wanted[alike.rows[*shape as usize]] = true);
    is_wanted.into_iter().map(|is_wanted| is_wanted.then(|| program.at_least(0.0, []))).collect()
}

/// What so many tasks of each shape, times `factor`, count for in rows.
fn entries(
    alike: &Alike,
    rows: &[Option<Row>],
    tasks: impl Iterator<Item = (u32, f64)>,
    factor: f64,
) -> Vec<(Row, f64)> {
    let mut entries: Vec<(Row, f64)> = Vec::new();
    let mut known: HashMap<usize, usize> = HashMap::new();
    for (shape, tasks) in tasks {
        let Some(row) = rows[alike.rows[shape as usize]] else { continue };
        let at = *known.entry(row.0).or_insert(entries.len());
        if at == entries.len() {
            entries.push((row, 0.0));
        }
        entries[at].1 += tasks * alike.counts[shape as usize] * factor;
    }
    entries
}

/// The first columns; returns what each is counted in.
pub(super) fn add_wants(
    program: &mut Program,
    packing: &Packing,
    (alike, rows): (&Alike, &[Option<Row>]),
    wants: &[Want],
) -> Vec<f64> {
    let mut columns = Vec::with_capacity(wants.len());
    for want in wants {
        let in_units = |(shape, tasks): &(u32, f64)| tasks / packing.shapes[*shape as usize].unit();
        let is_scaled = want.tasks.iter().any(|(shape, _)| packing.shapes[*shape as usize].unit() > 1.0);
        let unit =
            if is_scaled { 1.0 / power(want.tasks.iter().map(in_units).fold(0.0, f64::max)) } else { 1.0 };
        let of_rows = entries(alike, rows, want.tasks.iter().copied(), -unit);
        program.column(want.worth * unit, want.most / unit, false, of_rows);
        columns.push(unit);
    }
    columns
}
