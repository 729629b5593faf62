//! How Slurm writes numbers, states and amounts, which changed from version to version.

use fairplan_instances::{Decimal, InstanceError, Violation};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Amounts by resource; what is not there is zero.
pub(super) type Amounts = BTreeMap<String, Decimal>;

/// A number, which may be wrapped to say that it is not set.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Number {
    Plain(f64),
    Wrapped { set: bool, infinite: bool, number: f64 },
}

impl Number {
    /// The number, if it is set and finite.
    pub(super) fn value(&self) -> Option<f64> {
        match *self {
            Self::Plain(number) => Some(number),
            Self::Wrapped { set, infinite, number } => (set && !infinite).then_some(number),
        }
    }
}

/// A number that may be missing or `null`.
pub(super) fn number(number: &Option<Number>) -> Option<f64> {
    number.as_ref().and_then(Number::value)
}

/// One word, or several in a list.
#[derive(Deserialize, Default)]
#[serde(untagged)]
pub(super) enum Words {
    #[default]
    None,
    One(String),
    Several(Vec<String>),
}

impl Words {
    /// The words in lower case; those of a text are separated by commas.
    pub(super) fn lower(&self) -> BTreeSet<String> {
        self.list().iter().map(|word| word.to_lowercase()).collect()
    }

    pub(super) fn list(&self) -> Vec<String> {
        let split = |text: &str| {
            text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        match self {
            Self::None => Vec::new(),
            Self::One(text) => split(text),
            Self::Several(words) => words.clone(),
        }
    }
}

/// Names the object that a problem is in.
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    /// `node cs2` or `job 17`.
    pub(super) object: String,
}

impl Place<'_> {
    pub(super) fn refused(&self, field: &str, value: &str, problem: &str) -> InstanceError {
        let field = if field.is_empty() || field == "." { "" } else { &format!(": {field}") };
        let violation = Violation::new(format!("{}{field}", self.object), value, problem);
        InstanceError::Invalid { file: self.file.into(), violation }
    }

    /// The object as what it should be.
    pub(super) fn read<T: serde::de::DeserializeOwned>(&self, value: &Value) -> Result<T, InstanceError> {
        serde_path_to_error::deserialize(value)
            .map_err(|error| self.refused(&error.path().to_string(), "", &error.inner().to_string()))
    }

    /// A whole number from a field that must state one.
    pub(super) fn whole(&self, field: &str, value: &Option<Number>) -> Result<u64, InstanceError> {
        match number(value) {
            Some(whole) if whole >= 0.0 && whole.fract() == 0.0 && whole < 1e15 => Ok(whole as u64),
            Some(other) => Err(self.refused(field, &other.to_string(), "must be a whole number >= 0")),
            None => Err(self.refused(field, "", "is missing or not set")),
        }
    }
}

/// What a list of trackable resources says: `cpu=22,mem=87072M,node=1,billing=22,gres/gpu:a100=2`. Memory is counted in
/// MiB; nodes and billing are no resources. A generic resource is its plain name: where a type is named beside
/// the total, the total counts.
pub(super) fn tres(text: &str) -> Result<(Amounts, u64), (&str, &'static str)> {
    let mut amounts = Amounts::new();
    let mut typed = Amounts::new();
    let mut nodes = 0;
    for entry in text.split(',').filter(|entry| !entry.is_empty()) {
        let (name, amount) = entry.split_once('=').ok_or((entry, "must be NAME=AMOUNT"))?;
        match name {
            "billing" | "energy" => {}
            "node" => nodes = amount.parse().map_err(|_| (entry, "must be a whole number of nodes"))?,
            "mem" => {
                let memory =
                    mebibytes(amount).ok_or((entry, "must be an amount of memory such as 62.50G"))?;
                amounts.insert("memory".into(), memory);
            }
            _ => {
                let amount =
                    Decimal::parse(amount.as_bytes()).map_err(|_| (entry, "must be a number >= 0"))?;
                let name = name.strip_prefix("gres/").unwrap_or(name);
                match name.split_once(':') {
                    Some((plain, _)) => typed.entry(plain.into()).or_insert(amount),
                    None => amounts.entry(name.into()).or_insert(amount),
                };
            }
        }
    }
    for (name, amount) in typed {
        amounts.entry(name).or_insert(amount);
    }
    amounts.retain(|_, amount| !amount.is_zero());
    Ok((amounts, nodes))
}

/// `62.50G` in MiB; a bare number counts MiB already.
fn mebibytes(text: &str) -> Option<Decimal> {
    let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let (numerator, denominator): (u128, u128) = match &text[number.len()..] {
        "K" => (1, 1 << 10),
        "" | "M" => (1, 1),
        "G" => (1 << 10, 1),
        "T" => (1 << 20, 1),
        "P" => (1 << 30, 1),
        _ => return None,
    };
    let value = Decimal::parse(number.as_bytes()).ok()?;
    // Ten more decimals make a division by 2^10 exact.
    let exponent = value.exponent().min(0) - 10;
    let scaled = value.scaled(exponent)?.checked_mul(numerator)? / denominator;
    Decimal::from_units(scaled, exponent.into()).ok()
}

/// What `gpu:a100:4(S:0-1),gpu:v100:2,shard:8` adds up to, by plain name.
pub(super) fn gres(text: &str) -> Result<Amounts, (&str, &'static str)> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut depth = 0;
    let mut outside = String::new();
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 => outside.push(letter),
            _ => {}
        }
    }
    for entry in outside.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let (name, rest) = entry.split_once(':').unwrap_or((entry, "1"));
        let count = rest.rsplit(':').next().unwrap_or(rest);
        // A resource named without a number is one.
        let count = match count.parse::<u32>() {
            Ok(count) => count,
            Err(_) if !rest.contains(':') && !count.starts_with(|letter: char| letter.is_ascii_digit()) => 1,
            Err(_) => return Err((text, "must be NAME:COUNT or NAME:TYPE:COUNT")),
        };
        let sum = counts.entry(name.to_owned()).or_default();
        *sum = sum.saturating_add(count);
    }
    Ok(counts.into_iter().filter(|(_, count)| *count > 0).map(|(name, count)| (name, count.into())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(amounts: &Amounts) -> String {
        amounts.iter().map(|(name, amount)| format!("{name}={amount} ")).collect()
    }

    #[test]
    fn trackable_resources_are_read_in_every_unit_and_typed_ones_once() {
        let (amounts, nodes) =
            tres("cpu=22,mem=87072M,node=3,billing=22,gres/gpu=4,gres/gpu:a100=4").unwrap();
        assert_eq!((shown(&amounts).as_str(), nodes), ("cpu=22 gpu=4 memory=87072 ", 3));
        for (text, memory) in
            [("62.50G", "64000"), ("1T", "1048576"), ("512K", "0.5"), ("7", "7"), ("0.5M", "0.5")]
        {
            assert_eq!(
                shown(&tres(&format!("mem={text}")).unwrap().0),
                format!("memory={memory} "),
                "{text}"
            );
        }
        assert_eq!(shown(&tres("gres/gpu:a100=2").unwrap().0), "gpu=2 ");
        assert!(tres("cpu=x").is_err() && tres("mem=5X").is_err() && tres("cpu").is_err());
    }

    #[test]
    fn generic_resources_of_a_node_add_up() {
        assert_eq!(shown(&gres("gpu:a100:4(S:0-1),gpu:v100:2,shard:8").unwrap()), "gpu=6 shard=8 ");
        assert_eq!(shown(&gres("gpu:1").unwrap()), "gpu=1 ");
        assert_eq!(shown(&gres("license").unwrap()), "license=1 ");
        assert_eq!(shown(&gres("").unwrap()), "");
        assert!(gres("gpu:a100:x").is_err());
    }
}
