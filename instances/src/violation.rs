//! A value that breaks a rule, told in one line.

use crate::DecimalError;
use crate::wording::printable;
use std::fmt;

/// A value that breaks a rule of the model: `users[3].demand.cpu = -2: must be >= 0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Path of the field inside the instance (`users[3].demand.cpu`); empty for the whole.
    pub place: String,
    /// The offending value as text; empty when there is none to show.
    pub value: String,
    /// The rule, as an instruction.
    pub problem: String,
}

impl Violation {
    /// The rule of what must be more than nothing, such as weights and prices.
    pub(crate) const ABOVE_ZERO: &str = "must be > 0";

    /// A violation at `place`.
    pub fn new(place: impl Into<String>, value: impl fmt::Display, problem: impl Into<String>) -> Self {
        Self { place: place.into(), value: value.to_string(), problem: problem.into() }
    }

    /// The same of what must be more than nothing: what is refused for being below zero is told in the words in which zero is.
    pub(crate) fn above_zero(self) -> Self {
        match self.problem == DecimalError::Negative.to_string() {
            true => Self { problem: Self::ABOVE_ZERO.into(), ..self },
            false => self,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.place, 200))?;
        if !self.value.is_empty() {
            let equals = if self.place.is_empty() { "" } else { " = " };
            // White space at an end is seen between quotes only.
            let quote = if self.value.trim() == self.value { "" } else { "\"" };
            write!(f, "{equals}{quote}{}{quote}", printable(&self.value, 60))?;
        }
        if !self.place.is_empty() || !self.value.is_empty() {
            f.write_str(": ")?;
        }
        f.write_str(&printable(&self.problem, 400))
    }
}

impl std::error::Error for Violation {}

#[cfg(test)]
mod tests {
    use super::Violation;

    #[test]
    fn white_space_around_a_value_is_seen_and_a_value_without_a_place_has_no_sign_before_it() {
        for (place, value, told) in [
            ("column cpu", "1.x", "column cpu = 1.x: is wrong"),
            ("column cpu", " 1.0", "column cpu = \" 1.0\": is wrong"),
            ("column cpu", "1.0 ", "column cpu = \"1.0 \": is wrong"),
            ("column cpu", "", "column cpu: is wrong"),
            ("", "html", "html: is wrong"),
            ("", "", "is wrong"),
        ] {
            assert_eq!(Violation::new(place, value, "is wrong").to_string(), told);
        }
    }
}
