//! What users may take once others are settled: what is left, and of what others have paid for next to nothing, at its price.
//!
//! A class of which some resource is paid for costs that price besides. Where that is more than what somebody pays elsewhere it is no use: so
//! first only those are offered it who have nothing else, and then those who would rather have it.

use super::settled::Sum;
use super::{Known, User};
use crate::level::LevelProblem;
use crate::smooth::utility::Utility;
use crate::tolerance::sum::OWN;

/// What is left of each row, and the prices of those that are paid for where these are offered too.
pub(super) struct Offers {
    pub left: Vec<f64>,
    paid: Option<PaidFor>,
}

/// Which rows are paid for, their prices, and whose unit that is.
struct PaidFor {
    is_priced: Vec<bool>,
    prices: Vec<f64>,
    utility: Utility,
}

impl Offers {
    /// To these users, by what is known. Who has task rows, and whoever shares bins with such users, is offered only what is left; so is everybody in a
    /// linear sum, where a price says nothing of how much one would take.
    pub fn to(
        known: &Known,
        problem: &LevelProblem<'_>,
        all: &[User],
        users: &[usize],
        left: &[f64],
    ) -> Self {
        let mut lines = users.iter().flat_map(|user| all[*user].lines.clone());
        let has_task_rows = lines.any(|line| problem.groups.limit[line] < f64::INFINITY);
        let utility = known.utility.filter(|utility| !has_task_rows && utility.alpha > 0.0);
        let paid = utility.map(|utility| PaidFor {
            is_priced: known.is_priced.clone(),
            prices: known.prices.clone(),
            utility,
        });
        Self { left: left.to_vec(), paid }
    }

    /// Whether a kind may have something of what is left, if need be beside what is paid for.
    pub fn has_some_left(&self, problem: &LevelProblem<'_>, line: usize) -> bool {
        let some_left = |pair: usize| problem.needs(line, pair).any(|(row, _)| self.left[row] > 0.0);
        let is_offered = |pair: usize| self.price(problem, line, pair).is_some();
        problem.groups.pairs(line).any(|pair| is_offered(pair) && some_left(pair))
    }

    /// The pairs of a kind that are left, and those whose price is less than this for a unit of work; each with its price.
    pub fn pairs(&self, problem: &LevelProblem<'_>, line: usize, most: f64) -> Vec<(usize, f64)> {
        let offered = |pair: usize| {
            let price = self.price(problem, line, pair)?;
            let is_left = self.is_left(problem, line, pair);
            (is_left || price < most * problem.groups.rate[pair]).then_some((pair, price))
        };
        problem.groups.pairs(line).filter_map(offered).collect()
    }

    /// Whether all that a kind needs on a pair is left.
    pub fn is_left(&self, problem: &LevelProblem<'_>, line: usize, pair: usize) -> bool {
        problem.needs(line, pair).all(|(row, _)| self.left[row] > 0.0)
    }

    /// What a split of one costs on a pair of which each resource is left or paid for: nothing where all are left.
    fn price(&self, problem: &LevelProblem<'_>, line: usize, pair: usize) -> Option<f64> {
        let paid = |row: usize| self.paid.as_ref().filter(|paid| paid.is_priced[row]);
        problem.needs(line, pair).try_fold(0.0, |sum, (row, d)| match self.left[row] > 0.0 {
            true => Some(sum),
            false => Some(sum + d * paid(row)?.prices[row]),
        })
    }

    /// The unit of prices.
    pub fn log_scale(&self) -> Option<f64> {
        self.paid.as_ref().map(|paid| paid.utility.log_scale())
    }

    /// What rows hold where some of what is paid for is taken: of that as much as anybody wants.
    pub fn with_paid(&self) -> Vec<f64> {
        let Some(paid) = &self.paid else { return self.left.clone() };
        let room = |(left, is_priced): (&f64, &bool)| if *is_priced { f64::INFINITY } else { *left };
        self.left.iter().zip(&paid.is_priced).map(room).collect()
    }

    /// Where somebody would rather have something of what is paid for than what it has in a sum: what a unit of work of each kind costs there, in the
    /// order of its part.
    pub fn dearer(
        &self,
        problem: &LevelProblem<'_>,
        all: &[User],
        users: &[usize],
        sum: &Sum<'_>,
    ) -> Option<Vec<f64>> {
        let unit = (self.log_scale()? - sum.found.utility.log_scale()).exp();
        let costs: Vec<f64> = (0..sum.part.groups.len()).map(|line| unit * sum.cheapest(line)).collect();
        let lines = users.iter().flat_map(|user| all[*user].lines.clone());
        let would = |(line, cost): (usize, &f64)| {
            let most = cost * (1.0 - OWN);
            self.pairs(problem, line, most).iter().any(|(_, price)| *price > 0.0)
        };
        lines.zip(&costs).any(would).then_some(costs)
    }
}
