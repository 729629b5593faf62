//! One value of a parameter, as a specification says it: what a word on the command line and a cell of the table are made of.

use fairplan_instances::table::{Cell, Kind};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};
use std::fmt;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// None: the argument is not said.
    Missing,
    /// Yes or no: of an argument without a value, whether it is said.
    Answer(bool),
    /// A whole number.
    Count(u64),
    /// Another number.
    Number(f64),
    /// A text.
    Text(String),
}

impl Value {
    /// The word that says it; `None` where nothing is said.
    pub fn word(&self) -> Option<String> {
        match self {
            Self::Missing => None,
            Self::Answer(answer) => Some(answer.to_string()),
            Self::Count(count) => Some(count.to_string()),
            Self::Number(number) => Some(number.to_string()),
            Self::Text(text) => Some(text.clone()),
        }
    }

    /// The number that a text in decimals means.
    pub(crate) fn of_decimal(text: &str) -> Self {
        match (text.parse(), text.parse()) {
            (Ok(count), _) => Self::Count(count),
            (_, Ok(number)) => Self::Number(number),
            _ => Self::Text(text.into()),
        }
    }

    /// The cell that it is in a column of this kind.
    pub(crate) fn cell(&self, kind: Kind) -> Cell<'_> {
        match (self, kind) {
            (Self::Missing, _) => Cell::Missing,
            (Self::Answer(answer), Kind::Answer) => Cell::Answer(*answer),
            (Self::Count(count), Kind::Count) => Cell::Count(*count),
            // Counts that stand among other numbers.
            (Self::Count(count), Kind::Number) => Cell::Number(*count as f64),
            (Self::Number(number), Kind::Number) => Cell::Number(*number),
            (Self::Text(text), _) => Cell::Text(text.as_str().into()),
            (other, _) => other.word().map_or(Cell::Missing, |word| Cell::Text(word.into())),
        }
    }

    /// The kind of column that holds this value and those of `kind`; `None` is a column without any yet.
    pub(crate) fn kind_with(&self, kind: Option<Kind>) -> Option<Kind> {
        let own = match self {
            Self::Missing => return kind,
            Self::Answer(_) => Kind::Answer,
            Self::Count(_) => Kind::Count,
            Self::Number(_) => Kind::Number,
            Self::Text(_) => Kind::Words,
        };
        Some(match (kind, own) {
            (None, own) => own,
            (Some(kind), own) if kind == own => own,
            (Some(Kind::Count | Kind::Number), Kind::Count | Kind::Number) => Kind::Number,
            _ => Kind::Words,
        })
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Missing => serializer.serialize_unit(),
            Self::Answer(answer) => serializer.serialize_bool(*answer),
            Self::Count(count) => serializer.serialize_u64(*count),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneValue)
    }
}

struct OneValue;

impl OneValue {
    fn number<E: de::Error>(number: f64) -> Result<Value, E> {
        match number.is_finite() {
            true => Ok(Value::Number(number)),
            false => Err(E::custom(format!("{number} is no number that can be said"))),
        }
    }
}

impl Visitor<'_> for OneValue {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, true, false or null")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Missing)
    }
    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Missing)
    }
    fn visit_bool<E>(self, answer: bool) -> Result<Value, E> {
        Ok(Value::Answer(answer))
    }
    fn visit_u64<E>(self, count: u64) -> Result<Value, E> {
        Ok(Value::Count(count))
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        u64::try_from(number).map_or_else(|_| Self::number(number as f64), |count| Ok(Value::Count(count)))
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Self::number(number)
    }
    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_said_as_it_is_written() {
        let values: Vec<Value> = serde_json::from_str(r#"[null, true, 7, 0.1, -3, "a b", 1e-7]"#).unwrap();
        let words: Vec<Option<String>> = values.iter().map(Value::word).collect();
        let said: Vec<Option<&str>> = words.iter().map(Option::as_deref).collect();
        let expected =
            [None, Some("true"), Some("7"), Some("0.1"), Some("-3"), Some("a b"), Some("0.0000001")];
        assert_eq!(said, expected);
    }

    #[test]
    fn a_column_of_counts_and_numbers_has_numbers_and_any_other_mixture_words() {
        let kind = |values: &[Value]| values.iter().fold(None, |kind, value| value.kind_with(kind));
        assert_eq!(kind(&[Value::Missing, Value::Count(1)]), Some(Kind::Count));
        assert_eq!(kind(&[Value::Count(1), Value::Number(0.5)]), Some(Kind::Number));
        assert_eq!(kind(&[Value::Number(0.5), Value::Missing, Value::Count(1)]), Some(Kind::Number));
        assert_eq!(kind(&[Value::Answer(true), Value::Count(1)]), Some(Kind::Words));
        assert_eq!(Value::Count(1).cell(Kind::Number), Cell::Number(1.0));
        assert_eq!(Value::Answer(true).cell(Kind::Words), Cell::Text("true".into()));
    }
}
