//! Whole numbers in rows and columns, for schedulers that are told the sums of rows: each number is the one below or above its own, each
//! row comes to the whole number below or above its sum, and each column to no more than there is.

use crate::tolerance::WHOLE;
use std::collections::VecDeque;

/// What is to be rounded: a row a tenant, a column a class.
pub(crate) struct Rows<'a> {
    /// The numbers (each >= 0), row by row.
    pub(crate) exact: &'a [Vec<f64>],
    /// The most that each column may come to.
    pub(crate) most: &'a [u64],
    /// What all rows together should come to.
    pub(crate) wanted: u64,
    /// Whether a number, by row and column, may be rounded up.
    pub(crate) may_rise: &'a dyn Fn(usize, usize) -> bool,
    /// How many numbers of a row may be rounded up at most; `None` where that is not limited.
    pub(crate) rises: &'a [Option<u64>],
}

impl Rows<'_> {
    /// The whole numbers: all rows are rounded down first; then those with the largest remainders get one more until all come to what is
    /// wanted. Of equal ones the smaller, then the first. A row loses what no column has room for.
    pub(crate) fn rounded(&self) -> Vec<Vec<u64>> {
        let snapped =
            |number: &f64| if (number - number.round()).abs() <= WHOLE { number.round() } else { *number };
        let numbers: Vec<Vec<f64>> = self.exact.iter().map(|row| row.iter().map(snapped).collect()).collect();
        let mut whole: Vec<Vec<u64>> =
            numbers.iter().map(|row| row.iter().map(|number| number.floor() as u64).collect()).collect();
        let room = self.room(&numbers, &mut whole);
        let parts = |row: &Vec<f64>| row.iter().map(|number| number - number.floor()).sum::<f64>();
        let parts: Vec<f64> = numbers.iter().map(parts).collect();
        let below: Vec<u64> = parts.iter().map(|part| (part + WHOLE).floor() as u64).collect();
        let remainder = |row: usize| (parts[row] - below[row] as f64).max(0.0);
        let sum = |row: usize| numbers[row].iter().sum::<f64>();
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by(|&a, &b| {
            remainder(b).total_cmp(&remainder(a)).then(sum(a).total_cmp(&sum(b))).then(a.cmp(&b))
        });
        let mut all: u64 = whole.iter().flatten().sum();
        let mut matching = Matching::new(&numbers, room, self.may_rise);
        let surest = order.iter().flat_map(|row| (0..below[*row]).map(|_| *row));
        let more = order.iter().copied().filter(|row| remainder(*row) > WHOLE);
        for row in surest.chain(more) {
            let is_limited = self.rises[row].is_some_and(|most| matching.raised[row].len() as u64 >= most);
            if all < self.wanted && !is_limited && matching.raise(row) {
                all += 1;
            }
        }
        for (row, columns) in matching.raised.iter().enumerate() {
            columns.iter().for_each(|column| whole[row][*column] += 1);
        }
        whole
    }

    /// How many numbers of each column may be rounded up. Where already the numbers below come to more than there is, which is no case
    /// where the exact ones fit, the smallest remainders lose one each.
    fn room(&self, numbers: &[Vec<f64>], whole: &mut [Vec<u64>]) -> Vec<u64> {
        let mut room = Vec::with_capacity(self.most.len());
        for (column, most) in self.most.iter().enumerate() {
            let mut sum: u64 = whole.iter().map(|row| row[column]).sum();
            if sum > *most {
                let remainder = |row: usize| numbers[row][column] - numbers[row][column].floor();
                let mut order: Vec<usize> = (0..numbers.len()).collect();
                order.sort_by(|&a, &b| {
                    remainder(a)
                        .total_cmp(&remainder(b))
                        .then(numbers[b][column].total_cmp(&numbers[a][column]))
                });
                for row in order {
                    if sum > *most && whole[row][column] > 0 {
                        whole[row][column] -= 1;
                        sum -= 1;
                    }
                }
            }
            room.push(most.saturating_sub(sum));
        }
        room
    }
}

/// Which numbers are rounded up.
struct Matching {
    /// Of each row the columns where it may be, the largest remainder first.
    choices: Vec<Vec<usize>>,
    /// Of each row the columns where it is.
    raised: Vec<Vec<usize>>,
    /// Of each column the rows that are.
    rows: Vec<Vec<usize>>,
    /// How many of each column may be.
    room: Vec<u64>,
}

impl Matching {
    fn new(numbers: &[Vec<f64>], room: Vec<u64>, may_rise: &dyn Fn(usize, usize) -> bool) -> Self {
        let choices = |(row, numbers): (usize, &Vec<f64>)| {
            let remainder = |column: &usize| numbers[*column] - numbers[*column].floor();
            let mut choices: Vec<usize> = (0..numbers.len())
                .filter(|column| remainder(column) > 0.0 && may_rise(row, *column))
                .collect();
            choices.sort_by(|a, b| remainder(b).total_cmp(&remainder(a)));
            choices
        };
        Self {
            choices: numbers.iter().enumerate().map(choices).collect(),
            raised: vec![Vec::new(); numbers.len()],
            rows: vec![Vec::new(); room.len()],
            room,
        }
    }

    /// Rounds up one more number of a row, for which others may go to another of their columns; tells whether that can be.
    fn raise(&mut self, row: usize) -> bool {
        // Of each column that can be reached the row that would take it.
        let mut taker: Vec<Option<usize>> = vec![None; self.room.len()];
        // Of each row but the first the column that it would leave.
        let mut leaves: Vec<Option<usize>> = vec![None; self.choices.len()];
        let mut next = VecDeque::from([row]);
        while let Some(at) = next.pop_front() {
            for &column in &self.choices[at] {
                if taker[column].is_some() || self.raised[at].contains(&column) {
                    continue;
                }
                taker[column] = Some(at);
                if (self.rows[column].len() as u64) < self.room[column] {
                    self.shift(column, &taker, &leaves);
                    return true;
                }
                for &other in &self.rows[column] {
                    if other != row && leaves[other].is_none() {
                        leaves[other] = Some(column);
                        next.push_back(other);
                    }
                }
            }
        }
        false
    }

    /// Gives a column to the row that would take it, the one that it leaves to the next, and so on.
    fn shift(&mut self, column: usize, taker: &[Option<usize>], leaves: &[Option<usize>]) {
        let mut at = Some(column);
        while let Some((column, row)) = at.and_then(|column| Some((column, taker[column]?))) {
            self.raised[row].push(column);
            self.rows[column].push(row);
            at = leaves[row];
            if let Some(left) = at {
                self.raised[row].retain(|other| *other != left);
                self.rows[left].retain(|other| *other != row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rounded(exact: &[Vec<f64>], most: &[u64]) -> Vec<Vec<u64>> {
        let sum: f64 = exact.iter().flatten().sum();
        let rises = vec![None; exact.len()];
        Rows { exact, most, wanted: sum.round() as u64, may_rise: &|_, _| true, rises: &rises }.rounded()
    }

    fn sums(whole: &[Vec<u64>]) -> Vec<u64> {
        whole.iter().map(|row| row.iter().sum()).collect()
    }

    #[test]
    fn a_whole_sum_in_parts_is_kept_whatever_the_columns_round() {
        // By columns the first two would have both units.
        let exact = [vec![0.6, 0.4], vec![0.4, 0.6], vec![0.5, 0.5], vec![2.5, 2.5]];
        assert_eq!(sums(&rounded(&exact, &[4, 4])), [1, 1, 1, 5]);
    }

    #[test]
    fn others_go_to_another_column_where_one_has_no_other() {
        // The first row would take the only column of the second.
        assert_eq!(rounded(&[vec![0.9, 0.1], vec![0.6, 0.0]], &[1, 1]), [[0, 1], [1, 0]]);
    }

    #[test]
    fn what_may_not_rise_or_has_no_room_is_rounded_down() {
        let exact = [vec![0.5, 0.5], vec![0.5, 0.5]];
        assert_eq!(sums(&rounded(&exact, &[1, 0])), [1, 0]);
        let rows = Rows {
            exact: &exact,
            most: &[1, 1],
            wanted: 2,
            may_rise: &|row, column| row == 0 || column == 0,
            rises: &[Some(0), None],
        };
        assert_eq!(rows.rounded(), [[0, 0], [1, 0]]);
        assert_eq!(rounded(&[vec![3.9999999], vec![6.0]], &[9]), [[4], [5]]);
    }

    proptest! {
        #[test]
        fn numbers_and_sums_are_within_one_and_columns_fit(
            exact in prop::collection::vec(prop::collection::vec(0.0..5.0f64, 4), 1..20)
        ) {
            let column = |c: usize| exact.iter().map(|row| row[c]).sum::<f64>().ceil() as u64;
            let most: Vec<u64> = (0..4).map(column).collect();
            let whole = rounded(&exact, &most);
            for (c, most) in most.iter().enumerate() {
                prop_assert!(whole.iter().map(|row| row[c]).sum::<u64>() <= *most);
            }
            for (row, exact) in whole.iter().zip(&exact) {
                let [has, by_answer] = [row.iter().sum::<u64>() as f64, exact.iter().sum::<f64>()];
                prop_assert!((has - by_answer).abs() < 1.0 + 4.0 * WHOLE, "{has} for {by_answer}");
                for (has, exact) in row.iter().zip(exact) {
                    prop_assert!((*has as f64 - exact).abs() < 1.0 + WHOLE);
                }
            }
            let all: f64 = exact.iter().flatten().sum();
            prop_assert_eq!(whole.iter().flatten().sum::<u64>(), all.round() as u64);
        }
    }
}
