//! The quanta of a series and what their file calls them: whole numbers at even steps, or texts that sort.

use crate::{IdTable, Violation};
use std::fmt;

/// Most quanta of a series: half a year of seconds fits.
const MAX_QUANTA: usize = 1 << 24;

/// Most quanta that nobody mentions, between those that are: what a slip in a number makes of a few rows is refused.
const MAX_UNMENTIONED: usize = 1 << 20;

/// What a file calls a quantum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, schemars::JsonSchema)]
#[schemars(untagged)]
pub enum QuantumLabel<'a> {
    /// A whole number, such as a second.
    Number(u64),
    /// Anything else that sorts in the order of time, such as `2020-05-01 00:05:00`.
    Text(&'a str),
}

impl<'a> QuantumLabel<'a> {
    /// The label in a cell: digits are a number.
    pub fn parse(cell: &'a str) -> Self {
        let digits = !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit());
        match cell.parse() {
            Ok(number) if digits => Self::Number(number),
            _ => Self::Text(cell),
        }
    }
}

impl fmt::Display for QuantumLabel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// The labels of all quanta, in order.
#[derive(Clone)]
pub(super) enum Quanta {
    /// Whole numbers from `first` on, `step` apart.
    Numbered { first: u64, step: u64, count: usize },
    /// Texts in ascending order.
    Named(IdTable),
}

impl Quanta {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Numbered { count, .. } => *count,
            Self::Named(texts) => texts.len(),
        }
    }

    pub(super) fn label(&self, position: usize) -> QuantumLabel<'_> {
        match self {
            Self::Numbered { first, step, .. } => QuantumLabel::Number(first + step * position as u64),
            Self::Named(texts) => QuantumLabel::Text(texts.get(position)),
        }
    }

    pub(super) fn position(&self, label: QuantumLabel<'_>) -> Option<usize> {
        match (self, label) {
            (Self::Numbered { first, step, count }, QuantumLabel::Number(number)) => {
                let offset = number.checked_sub(*first)?;
                let position = (offset / step) as usize;
                (offset.is_multiple_of(*step) && position < *count).then_some(position)
            }
            (Self::Named(texts), QuantumLabel::Text(text)) => texts.position(text),
            _ => None,
        }
    }
}

/// The labels that were met, on their way to [`Quanta`].
#[derive(Default)]
pub(super) struct MetLabels {
    numbers: Vec<u64>,
    texts: IdTable,
}

impl MetLabels {
    pub(super) fn len(&self) -> usize {
        self.numbers.len() + self.texts.len()
    }

    pub(super) fn last(&self) -> Option<QuantumLabel<'_>> {
        match self.numbers.last() {
            Some(number) => Some(QuantumLabel::Number(*number)),
            None => self.texts.len().checked_sub(1).map(|last| QuantumLabel::Text(self.texts.get(last))),
        }
    }

    /// Takes the label of the next quantum, which must come after all others.
    pub(super) fn push(&mut self, label: QuantumLabel<'_>) -> Result<(), Violation> {
        let refused = |problem: String| Err(Violation::new("quantum", label, problem));
        if self.len() == MAX_QUANTA {
            return refused(format!("at most {MAX_QUANTA} quanta are supported; make them longer"));
        }
        match (self.last(), label) {
            (Some(last), _) if last == label => return refused("occurs twice".into()),
            (Some(last @ QuantumLabel::Number(_)), QuantumLabel::Text(_))
            | (Some(last @ QuantumLabel::Text(_)), QuantumLabel::Number(_)) => {
                return refused(format!("follows {last}: number the quanta, or name them all with texts"));
            }
            (Some(last @ QuantumLabel::Text(_)), _) if last > label => {
                return refused(format!(
                    "follows {last}: names must rise as text does, letter by letter, as 2026-01, 2026-02 do; number the \
                     quanta, or sort the rows"
                ));
            }
            (Some(last), _) if last > label => {
                return refused(format!("follows {last}: sort the rows by quantum"));
            }
            _ => {}
        }
        match label {
            QuantumLabel::Number(number) => self.numbers.push(number),
            QuantumLabel::Text("") => return refused("a quantum needs a name".into()),
            // Ascending texts are distinct.
            QuantumLabel::Text(text) => drop(self.texts.insert(text)),
        }
        Ok(())
    }

    /// The quanta, and for each of them which of the met ones it is. Numbers must be multiples of their smallest
    /// difference apart; the quanta in between that nobody mentions are quanta without demand.
    pub(super) fn finish(self) -> Result<(Quanta, Vec<Option<usize>>), Violation> {
        let [first, .., last] = self.numbers[..] else {
            let count = self.len();
            let quanta = match self.numbers.first() {
                Some(first) => Quanta::Numbered { first: *first, step: 1, count },
                None => Quanta::Named(self.texts),
            };
            return Ok((quanta, (0..count).map(Some).collect()));
        };
        let step = self.numbers.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(1);
        if let Some(pair) = self.numbers.windows(2).find(|pair| !(pair[1] - pair[0]).is_multiple_of(step)) {
            let problem = format!("follows {}, but others are {step} apart: space quanta evenly", pair[0]);
            return Err(Violation::new("quantum", pair[1], problem));
        }
        let steps = (last - first) / step;
        if steps >= MAX_QUANTA as u64 {
            let problem = format!(
                "is {steps} quanta of {step} after {first}; at most {MAX_QUANTA} are supported, make them longer"
            );
            return Err(Violation::new("quantum", last, problem));
        }
        let count = steps as usize + 1;
        let unmentioned = count - self.numbers.len();
        if unmentioned > MAX_UNMENTIONED {
            let problem = format!(
                "is {steps} quanta of {step} after {first}, and {unmentioned} of them are nowhere mentioned; \
                 at most {MAX_UNMENTIONED} may be: state those without demand too, or make quanta longer"
            );
            return Err(Violation::new("quantum", last, problem));
        }
        let mut met = vec![None; count];
        for (position, number) in self.numbers.iter().enumerate() {
            met[((number - first) / step) as usize] = Some(position);
        }
        Ok((Quanta::Numbered { first, step, count }, met))
    }
}
