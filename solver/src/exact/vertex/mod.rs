//! A vertex of the level problem, and the way from one to the next: a simplex method that keeps one *key* place a line out of its system.
//!
//! Every line's work is on its key place, but for the *splits*: the few lines that work on further places. A split moves work from
//! the key to another place, so its column in the rows is the difference of the two. The rows that are used up (*tight*) are as many
//! as the splits, or one more where the level is free to move: so the system to solve has the size of the tight rows, whatever the
//! number of users (generalised upper bounds, Dantzig and Van Slyke 1967). All numbers are fractions, so ties are real
//! ties, and Bland's rule ends them.

mod led;
mod prices;

use super::number::Rational;
use super::of_levels::{OfLevels, Rise};
use super::program::Program;
use super::sums::RowSums;
use super::system::Elimination;
use prices::product;

/// What a line has.
#[derive(Clone)]
pub(crate) enum Amount {
    /// The level times its rate; in groups that above what it has there.
    Rising,
    /// So much work, all its tasks, which it has had since the level of this position was sought.
    Settled { work: Rational, stage: u32 },
    /// The same as one that rises, at the level of this position.
    Frozen(u32),
}

/// Work of a line away from its key place.
#[derive(Clone)]
pub(crate) struct Split {
    pub line: usize,
    pub place: usize,
    pub work: Rational,
}

/// A vertex.
#[derive(Clone)]
pub(crate) struct Vertex<'p> {
    pub program: &'p Program<'p>,
    pub amounts: Vec<Amount>,
    /// The work of every line that is worth a weighted share of one.
    per_level: Vec<Rational>,
    /// How lines rise in groups; empty where there are none: then the work that a weighted share of one is worth each level.
    rises: Vec<Rise>,
    /// The key place of every line.
    pub keys: Vec<u32>,
    pub splits: Vec<Split>,
    tight: Vec<usize>,
    /// What is left of every row.
    pub slack: Vec<Rational>,
    pub level: Rational,
    /// Levels that lines are frozen at.
    pub levels: Vec<Rational>,
    /// What a unit of the level takes of each row where every line has its key place.
    rising: Vec<Rational>,
    /// Steps so far.
    pub steps: u64,
    /// Bits from which values are brought into lowest terms again.
    long: u64,
}

/// How raising the level ended.
pub(crate) enum End {
    /// At the bound.
    Bound,
    /// The rows' prices hold it: 0 or more, of any scale.
    Prices(Vec<Rational>),
}

/// What enters or leaves the basis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Variable {
    Level,
    Slack(usize),
    /// The work of a line at a place.
    Work(usize, usize),
}

/// Why there is no further vertex.
#[derive(Debug)]
pub(crate) enum Stuck {
    /// What can only be a mistake of the method.
    Contradiction(&'static str),
    OutOfTime,
    /// Sums over the users have too long denominators.
    TooLong,
}

/// Bits up to which values are left as they are.
const LONG: u64 = 4096;

/// Steps that change nothing before Bland's rule decides.
const PATIENCE: u32 = 30;

impl<'p> Vertex<'p> {
    /// Nobody has anything; given is the work of each line that is worth a level of one.
    pub fn start(program: &'p Program<'p>, per_level: Vec<Rational>) -> Self {
        let lines = program.lines.len();
        let mut vertex = Self {
            program,
            amounts: vec![Amount::Rising; lines],
            per_level,
            rises: Vec::new(),
            keys: vec![0; lines],
            splits: Vec::new(),
            tight: Vec::new(),
            slack: program.amounts.clone(),
            level: Rational::zero(),
            levels: Vec::new(),
            rising: Vec::new(),
            steps: 0,
            long: LONG,
        };
        if program.instance.has_groups() {
            let alone = |rate: &Rational| Rise { above: OfLevels::nothing(), rate: rate.clone() };
            vertex.rises = vertex.per_level.iter().map(alone).collect();
        }
        vertex
    }

    pub fn per_level(&self, line: usize) -> &Rational {
        &self.per_level[line]
    }

    /// The work that a line gains with each level while it rises.
    pub fn rate(&self, line: usize) -> &Rational {
        self.rises.get(line).map_or(&self.per_level[line], |rise| &rise.rate)
    }

    /// How a line rises where there are groups.
    pub fn rise(&self, line: usize) -> Option<&Rise> {
        self.rises.get(line)
    }

    /// Tells a line how it rises from now on.
    pub fn set_rise(&mut self, line: usize, rise: Rise) {
        self.rises[line] = rise;
    }

    /// The work of a line that rises, or is frozen, at a level.
    fn work_at(&self, line: usize, level: &Rational) -> Rational {
        let work = self.rate(line) * level;
        match self.rises.get(line).filter(|rise| !rise.above.is_nothing()) {
            Some(rise) => &rise.above.at(&self.levels) + &work,
            None => work,
        }
    }

    pub fn is_rising(&self, line: usize) -> bool {
        matches!(self.amounts[line], Amount::Rising)
    }

    pub fn any_rises(&self) -> bool {
        self.amounts.iter().any(|amount| matches!(amount, Amount::Rising))
    }

    /// All work of a line.
    pub fn work(&self, line: usize) -> Rational {
        match &self.amounts[line] {
            Amount::Rising => self.work_at(line, &self.level),
            Amount::Settled { work, .. } => work.clone(),
            Amount::Frozen(level) => self.work_at(line, &self.levels[*level as usize]),
        }
    }

    /// The work that a line keeps, as a sum over levels; nothing while it rises.
    pub fn work_at_end(&self, line: usize) -> OfLevels {
        match &self.amounts[line] {
            Amount::Rising => OfLevels::nothing(),
            Amount::Settled { work, .. } => OfLevels::so_much(work.clone()),
            Amount::Frozen(level) => {
                let mut work = self.rise(line).map_or_else(OfLevels::nothing, |rise| rise.above.clone());
                work.add_level(*level, self.rate(line));
                work
            }
        }
    }

    /// The same in doubles, where the level is this one.
    pub fn rough_work(&self, line: usize, level: f64) -> f64 {
        let rough = |level: f64| {
            let above = self.rises.get(line).map_or(0.0, |rise| rise.above.at(&self.levels).to_f64());
            above + self.rate(line).to_f64() * level
        };
        match &self.amounts[line] {
            Amount::Rising => rough(level),
            Amount::Settled { work, .. } => work.to_f64(),
            Amount::Frozen(level) => rough(self.levels[*level as usize].to_f64()),
        }
    }

    /// The work of a line at its key place.
    pub fn key_work(&self, line: usize) -> Rational {
        let own = self.splits.iter().filter(|split| split.line == line);
        own.fold(self.work(line), |work, split| &work - &split.work)
    }

    /// To be called when others rise than before.
    pub fn add_up_rising(&mut self) -> Result<(), Stuck> {
        let mut sums = RowSums::new(self.program.rows());
        for line in (0..self.keys.len()).filter(|line| self.is_rising(*line)) {
            for (row, entry) in self.program.column(line, self.keys[line] as usize) {
                sums.add(row, &(&entry * self.rate(line)));
            }
        }
        self.rising = sums.finish().ok_or(Stuck::TooLong)?;
        Ok(())
    }

    /// What moving a unit of work from the key place to another changes in each row.
    fn move_column(&self, line: usize, place: usize) -> Vec<Rational> {
        let mut column = vec![Rational::zero(); self.program.rows()];
        for (row, entry) in self.program.column(line, place) {
            column[row] = &column[row] + &entry;
        }
        for (row, entry) in self.program.column(line, self.keys[line] as usize) {
            column[row] = &column[row] - &entry;
        }
        column
    }

    /// Raises the level as far as the rows allow, but not beyond the bound.
    pub fn raise(&mut self, bound: Option<&Rational>, is_over: &dyn Fn() -> bool) -> Result<End, Stuck> {
        let mut is_basic = false;
        let mut idle = 0;
        loop {
            if is_over() {
                return Err(Stuck::OutOfTime);
            }
            self.steps += 1;
            let columns: Vec<_> =
                self.splits.iter().map(|split| self.move_column(split.line, split.place)).collect();
            let system = Elimination::of(&columns, &self.tight, is_over).ok_or_else(|| match is_over() {
                true => Stuck::OutOfTime,
                false => Stuck::Contradiction("the splits are not independent"),
            })?;
            let prices = is_basic.then(|| {
                let prices = system.prices(&self.tight, self.program.rows());
                let of_level = product(&prices, &self.rising);
                match of_level.is_negative() {
                    true => (prices.iter().map(|price| -price).collect(), -&of_level),
                    false => (prices, of_level),
                }
            });
            let entering = match &prices {
                None => Variable::Level,
                Some((_, of_level)) if of_level.is_zero() => {
                    return Err(Stuck::Contradiction("the level is not determined"));
                }
                Some((prices, _)) => match self.entering(prices, idle > PATIENCE) {
                    Some(entering) => entering,
                    None => {
                        self.release_level(prices)?;
                        return Ok(End::Prices(prices.clone()));
                    }
                },
            };
            // How everything moves with a unit of what enters.
            let column = match entering {
                Variable::Level => self.rising.clone(),
                Variable::Slack(row) => {
                    let mut column = vec![Rational::zero(); self.program.rows()];
                    column[row] = Rational::one();
                    column
                }
                Variable::Work(line, place) => self.move_column(line, place),
            };
            let (of_splits, of_level) = match &prices {
                None => (system.solve(&column).iter().map(|x| -x).collect::<Vec<_>>(), Rational::one()),
                Some((prices, per_level)) => {
                    let of_level = -&(&product(prices, &column) / per_level);
                    let (own, by_level) = (system.solve(&column), system.solve(&self.rising));
                    let both = own.iter().zip(&by_level).map(|(own, by)| -&(own + &(&of_level * by)));
                    (both.collect(), of_level)
                }
            };
            let (step, leaving) =
                self.longest_step(entering, &column, &columns, &of_splits, &of_level, bound);
            let leaving = leaving.ok_or(Stuck::Contradiction("nothing ends a step"))?;
            let step = if step.bits() > self.long { step.in_lowest_terms() } else { step };
            let mut rates = column;
            if entering != Variable::Level && !of_level.is_zero() {
                rates.iter_mut().zip(&self.rising).for_each(|(rate, by)| *rate = &*rate + &(&of_level * by));
            }
            for (column, by) in columns.iter().zip(&of_splits) {
                rates.iter_mut().zip(column).filter(|(_, entry)| !entry.is_zero()).for_each(
                    |(rate, entry)| {
                        *rate = &*rate + &(entry * by);
                    },
                );
            }
            idle = if step.is_zero() { idle + 1 } else { 0 };
            if !step.is_zero() {
                for row in (0..rates.len()).filter(|row| !self.tight.contains(row)) {
                    self.slack[row] = &self.slack[row] - &(&step * &rates[row]);
                }
                self.level = &self.level + &(&step * &of_level);
                for (split, by) in self.splits.iter_mut().zip(&of_splits) {
                    split.work = &split.work + &(&step * by);
                }
                self.shorten();
            }
            // The new basis.
            match entering {
                Variable::Level => is_basic = leaving != Variable::Level,
                Variable::Slack(row) => {
                    self.slack[row] = step.clone();
                    self.tight.retain(|tight| *tight != row);
                }
                Variable::Work(line, place) => self.splits.push(Split { line, place, work: step.clone() }),
            }
            match leaving {
                Variable::Level => return Ok(End::Bound),
                Variable::Slack(row) => {
                    self.slack[row] = Rational::zero();
                    self.tight.push(row);
                }
                Variable::Work(line, place) => self.leave(line, place)?,
            }
        }
    }

    /// Brings values into lowest terms where they have grown: not at every step, since that takes long where they are long.
    fn shorten(&mut self) {
        let values =
            || self.slack.iter().chain(self.splits.iter().map(|split| &split.work)).chain([&self.level]);
        if values().all(|value| value.bits() <= self.long) {
            return;
        }
        let values = self.slack.iter_mut().chain(self.splits.iter_mut().map(|split| &mut split.work));
        let mut longest = LONG;
        for value in values.chain([&mut self.level]) {
            *value = std::mem::replace(value, Rational::zero()).in_lowest_terms();
            longest = longest.max(2 * value.bits());
        }
        self.long = longest;
    }

    /// What a line does at a place, nothing, leaves the basis.
    fn leave(&mut self, line: usize, place: usize) -> Result<(), Stuck> {
        if self.keys[line] as usize != place {
            self.splits.retain(|split| (split.line, split.place) != (line, place));
            return Ok(());
        }
        let next = self.splits.iter().position(|split| split.line == line);
        let next = self.splits.remove(next.ok_or(Stuck::Contradiction("a line's only place is taken away"))?);
        self.change_key(line, next.place);
        Ok(())
    }

    fn change_key(&mut self, line: usize, place: usize) {
        if self.is_rising(line) {
            let rate = self.rate(line).clone();
            for (row, entry) in self.move_column(line, place).into_iter().enumerate() {
                if !entry.is_zero() {
                    self.rising[row] = &self.rising[row] + &(&entry * &rate);
                }
            }
        }
        self.keys[line] = place as u32;
    }

    /// Takes the level out of the basis where it is, and a priced row instead.
    fn release_level(&mut self, prices: &[Rational]) -> Result<(), Stuck> {
        let priced = self.tight.iter().position(|row| prices[*row].is_positive());
        self.tight.remove(priced.ok_or(Stuck::Contradiction("a level without prices"))?);
        Ok(())
    }

    /// How all lines rise where there are groups; nothing where that never changes.
    pub fn rates(&self) -> Vec<Rational> {
        self.rises.iter().map(|rise| rise.rate.clone()).collect()
    }

    /// How far what enters can go, and what ends it; of several by Bland's rule the first.
    fn longest_step(
        &self,
        entering: Variable,
        column: &[Rational],
        columns: &[Vec<Rational>],
        of_splits: &[Rational],
        of_level: &Rational,
        bound: Option<&Rational>,
    ) -> (Rational, Option<Variable>) {
        let mut shortest: Option<(Rational, Variable)> = None;
        let mut ends = |left: &Rational, falls: &Rational, variable: Variable| {
            let step = left / falls;
            let is_shorter = shortest.as_ref().is_none_or(|(known, other)| match step.cmp(known) {
                std::cmp::Ordering::Less => true,
                std::cmp::Ordering::Equal => variable < *other,
                std::cmp::Ordering::Greater => false,
            });
            if is_shorter {
                shortest = Some((step, variable));
            }
        };
        if let Some(bound) = bound
            && of_level.is_positive()
        {
            ends(&(bound - &self.level), of_level, Variable::Level);
        }
        for row in (0..self.slack.len()).filter(|row| !self.tight.contains(row)) {
            let mut falls = column[row].clone();
            if entering != Variable::Level && !self.rising[row].is_zero() {
                falls = &falls + &(of_level * &self.rising[row]);
            }
            for (column, by) in columns.iter().zip(of_splits).filter(|(column, _)| !column[row].is_zero()) {
                falls = &falls + &(&column[row] * by);
            }
            if falls.is_positive() {
                ends(&self.slack[row], &falls, Variable::Slack(row));
            }
        }
        for (split, by) in self.splits.iter().zip(of_splits).filter(|(_, by)| by.is_negative()) {
            ends(&split.work, &-by, Variable::Work(split.line, split.place));
        }
        // The level never falls, so keys without splits do not either.
        let mut lines: Vec<usize> = self.splits.iter().map(|split| split.line).collect();
        if let Variable::Work(line, _) = entering {
            lines.push(line);
        }
        lines.sort_unstable();
        lines.dedup();
        for line in lines {
            let mut rises = match self.is_rising(line) {
                true => self.rate(line) * of_level,
                false => Rational::zero(),
            };
            for (_, by) in self.splits.iter().zip(of_splits).filter(|(split, _)| split.line == line) {
                rises = &rises - by;
            }
            if matches!(entering, Variable::Work(own, _) if own == line) {
                rises = &rises - &Rational::one();
            }
            if rises.is_negative() {
                ends(&self.key_work(line), &-&rises, Variable::Work(line, self.keys[line] as usize));
            }
        }
        match shortest {
            Some((step, variable)) => (step, Some(variable)),
            None => (Rational::zero(), None),
        }
    }
}
