//! A vertex that is pointed to: its keys, splits and tight rows are set, and what they come to is worked out.

use super::super::number::Rational;
use super::super::sums::RowSums;
use super::super::system::Elimination;
use super::prices::product;
use super::{Amount, Vertex};

impl Vertex<'_> {
    /// What is left of each row with everybody on its key, but for what the level gives those who rise.
    pub fn left_by_keys(&self) -> Option<Vec<Rational>> {
        let rows = self.program.rows();
        let mut settled = RowSums::new(rows);
        let mut frozen: Vec<RowSums> = self.levels.iter().map(|_| RowSums::new(rows)).collect();
        for line in 0..self.keys.len() {
            let column = || self.program.column(line, self.keys[line] as usize);
            let take = |sums: &mut RowSums, by: &Rational| {
                column().iter().for_each(|(row, entry)| sums.add(*row, &(entry * by)));
            };
            match &self.amounts[line] {
                Amount::Rising => {}
                Amount::Settled { work, .. } => {
                    take(&mut settled, work);
                    continue;
                }
                Amount::Frozen(level) => take(&mut frozen[*level as usize], self.rate(line)),
            }
            let Some(rise) = self.rises.get(line).filter(|rise| !rise.above.is_nothing()) else { continue };
            take(&mut settled, rise.above.constant());
            for (level, times) in rise.above.levels() {
                take(&mut frozen[*level as usize], times);
            }
        }
        let mut left = self.program.amounts.clone();
        let mut take = |sums: RowSums, times: &Rational| {
            for (left, sum) in left.iter_mut().zip(sums.finish()?).filter(|(_, sum)| !sum.is_zero()) {
                *left = &*left - &(&sum * times);
            }
            Some(())
        };
        take(settled, &Rational::one())?;
        for (sums, level) in frozen.into_iter().zip(&self.levels) {
            take(sums, level)?;
        }
        Some(left)
    }

    /// What moving a unit to each split changes in each row.
    pub fn split_columns(&self) -> Vec<Vec<Rational>> {
        self.splits.iter().map(|split| self.move_column(split.line, split.place)).collect()
    }

    /// The level and the splits that use these rows up; `None` where they do not determine them, or time is over.
    pub fn level_on(
        &self,
        columns: &[Vec<Rational>],
        tight: &[usize],
        left: &[Rational],
        is_over: &dyn Fn() -> bool,
    ) -> Option<(Rational, Vec<Rational>)> {
        let system = Elimination::of(columns, tight, is_over)?;
        let prices = system.prices(tight, self.program.rows());
        let per_level = product(&prices, &self.rising);
        if per_level.is_zero() {
            return None;
        }
        let level = (&product(&prices, left) / &per_level).in_lowest_terms();
        let (of_left, of_level) = (system.solve(left), system.solve(&self.rising));
        let works = of_left.iter().zip(&of_level).map(|(left, by)| left - &(by * &level));
        Some((level.clone(), works.collect()))
    }

    /// The slack of all rows from the level and the splits; `None` where something falls below nothing.
    pub fn work_out_slack(&mut self, left: &[Rational], columns: &[Vec<Rational>]) -> Option<()> {
        for row in 0..left.len() {
            let mut slack = &left[row] - &(&self.rising[row] * &self.level);
            for (column, split) in
                columns.iter().zip(&self.splits).filter(|(column, _)| !column[row].is_zero())
            {
                slack = &slack - &(&column[row] * &split.work);
            }
            if slack.is_negative() {
                return None;
            }
            self.slack[row] = slack;
        }
        let lines: Vec<usize> = self.splits.iter().map(|split| split.line).collect();
        lines.into_iter().all(|line| !self.key_work(line).is_negative()).then_some(())
    }

    pub fn set_tight(&mut self, tight: Vec<usize>) {
        self.tight = tight;
    }
}
