//! What is asked for quantum by quantum, and what of it is known to be reached, or to be beyond all that can be bought.
//!
//! Who reaches what a quantum asks for reaches all that asks for no more of anybody: quanta are compared column by column of the series.

use super::growth::Scaling;
use crate::Error;
use crate::tolerance::REACHED;
use fairplan_instances::Instance;
use std::ops::Range;

/// What is asked for over time.
pub(super) struct Work<'a> {
    scaling: &'a Scaling,
    /// The work of each piece at a scale of 1, and the column that scales it.
    pieces: Vec<(f64, usize)>,
    /// Scales of the columns that are reached together; none is within another.
    reached: Vec<Vec<f64>>,
    /// Of each quantum, whether nothing that may be bought is enough for it.
    beyond: Vec<bool>,
}

impl<'a> Work<'a> {
    /// `pieces` have the work of all kinds of the users, in their order.
    pub fn new(scaling: &'a Scaling, users: &Instance, pieces: &[f64], quanta: usize) -> Self {
        let columns = users.users().flat_map(|user| {
            let column = scaling.column_of(user.index().0);
            user.kinds().map(move |_| column)
        });
        let pieces = pieces.iter().copied().zip(columns).collect();
        Self { scaling, pieces, reached: Vec::new(), beyond: vec![false; quanta] }
    }

    /// The work of each piece that a quantum asks for.
    pub fn required(&self, quantum: usize) -> Vec<f64> {
        let scales = self.scaling.of_columns(quantum);
        self.pieces.iter().map(|(work, column)| work * scales[*column]).collect()
    }

    /// These scales are reached.
    pub fn reach(&mut self, scales: Vec<f64>) {
        if !self.reached.iter().any(|more| is_within(&scales, more)) {
            self.reached.retain(|less| !is_within(less, &scales));
            self.reached.push(scales);
        }
    }

    /// Whether a quantum is known to be reached, as all are that ask for no more than others that are.
    pub fn is_reached(&self, quantum: usize) -> bool {
        let scales = self.scaling.of_columns(quantum);
        self.reached.iter().any(|more| is_within(scales, more))
    }

    fn is_missed(&self, quantum: usize) -> bool {
        !self.beyond[quantum] && !self.is_reached(quantum)
    }

    /// The first quantum that is not known to be reached, and not beyond all that can be bought.
    pub fn first_missed(&self) -> Option<usize> {
        (0..self.beyond.len()).find(|quantum| self.is_missed(*quantum))
    }

    /// Those of these quanta that are not known to be reached, and not beyond all that can be bought.
    pub fn missed(&self, quanta: Range<usize>) -> Vec<usize> {
        quanta.filter(|quantum| self.is_missed(*quantum)).collect()
    }

    /// Those of these quanta that ask for no less than any other: whoever reaches them reaches all.
    pub fn largest(&self, quanta: &[usize]) -> Vec<usize> {
        let is_within = |less: usize, more: usize| {
            is_within(self.scaling.of_columns(less), self.scaling.of_columns(more))
        };
        let mut largest: Vec<usize> = Vec::new();
        for quantum in quanta {
            if !largest.iter().any(|other| is_within(*quantum, *other)) {
                largest.retain(|other| !is_within(*other, *quantum));
                largest.push(*quantum);
            }
        }
        largest
    }

    /// Finds which of these quanta are beyond all that can be bought, as one at least is: `is_beyond` is asked of the work of one in the middle
    /// of them, which decides of all that ask for no less, or no more.
    ///
    /// # Errors
    /// None of them is by itself.
    pub fn sort_out(
        &mut self,
        mut quanta: Vec<usize>,
        is_beyond: impl Fn(Vec<f64>) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let total = |quantum: &usize| self.scaling.of_columns(*quantum).iter().sum::<f64>();
        quanta.sort_by(|a, b| total(a).total_cmp(&total(b)));
        let mut found = false;
        while !quanta.is_empty() {
            let middle = quanta[quanta.len() / 2];
            let scales = self.scaling.of_columns(middle);
            if is_beyond(self.required(middle))? {
                found = true;
                for (quantum, beyond) in self.beyond.iter_mut().enumerate() {
                    *beyond |= is_within(scales, self.scaling.of_columns(quantum));
                }
                quanta.retain(|quantum| !self.beyond[*quantum]);
            } else {
                quanta.retain(|quantum| !is_within(self.scaling.of_columns(*quantum), scales));
            }
        }
        let problem = "what to buy was found for each quantum of a stage, and not for all together";
        if found { Ok(()) } else { Err(Error::uncertified(problem)) }
    }

    /// The first quantum that asks for more than can be bought.
    pub fn first_beyond(&self) -> Option<usize> {
        self.beyond.iter().position(|beyond| *beyond)
    }
}

/// Whether scales ask for no more than others of any column, as far as it matters.
fn is_within(less: &[f64], more: &[f64]) -> bool {
    less.iter().zip(more).all(|(less, more)| *less <= more * (1.0 + REACHED))
}
