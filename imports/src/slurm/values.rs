//! How Slurm writes numbers, states and amounts, which changed from version to version.

use crate::manifests::{in_field, plain};
use fairplan_instances::{Decimal, InstanceError, Violation};
use serde::Deserialize;
use serde_json::Value;
use serde_path_to_error::Segment;
use std::collections::{BTreeMap, BTreeSet};

/// Amounts by resource; what is not there is zero.
pub(super) type Amounts = BTreeMap<String, Decimal>;

/// A number: plain, wrapped to say that it is not set (data parsers from v0.0.39 on), or the name of what is no number
/// (the same parsers when asked for complex values).
#[derive(Deserialize)]
#[serde(untagged, expecting = "must be a number (without quotes), or {\"set\": true, \"number\": …}")]
pub(super) enum Number {
    Plain(f64),
    Wrapped {
        #[serde(default = "yes")]
        set: bool,
        #[serde(default)]
        infinite: bool,
        #[serde(default)]
        number: Option<f64>,
    },
    Named(NoNumber),
}

/// What stands where a number is not finite.
#[derive(Deserialize)]
pub(super) enum NoNumber {
    Infinity,
    #[serde(rename = "-Infinity")]
    MinusInfinity,
    NaN,
}

fn yes() -> bool {
    true
}

impl Number {
    /// The number, if it is set and finite.
    pub(super) fn value(&self) -> Option<f64> {
        match *self {
            Self::Plain(number) => Some(number),
            Self::Wrapped { set, infinite, number } => number.filter(|_| set && !infinite),
            Self::Named(NoNumber::Infinity | NoNumber::MinusInfinity | NoNumber::NaN) => None,
        }
    }
}

/// A number that may be missing or `null`.
pub(super) fn number(number: &Option<Number>) -> Option<f64> {
    number.as_ref().and_then(Number::value)
}

/// One word, or several in a list.
#[derive(Deserialize, Default)]
#[serde(untagged, expecting = "must be a text or a list of texts")]
pub(super) enum Words {
    #[default]
    None,
    One(String),
    Several(Vec<String>),
}

impl Words {
    /// Those of a list, whole.
    pub(super) fn texts(&self) -> &[String] {
        match self {
            Self::None => &[],
            Self::One(text) => std::slice::from_ref(text),
            Self::Several(words) => words,
        }
    }

    /// The states in lower case: `IDLE+CLOUD` is two.
    pub(super) fn states(&self) -> BTreeSet<String> {
        self.list().iter().flat_map(|word| word.split('+')).map(str::to_lowercase).collect()
    }

    /// The words; those of a text are separated by commas.
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
pub(super) struct Record<'a> {
    pub(super) file: &'a str,
    /// `node cs2` or `job 17`.
    pub(super) object: String,
}

impl Record<'_> {
    pub(super) fn refused(&self, field: &str, value: &str, problem: &str) -> InstanceError {
        let violation = Violation::new(in_field(&self.object, field), value, problem);
        InstanceError::Invalid { file: self.file.into(), violation }
    }

    /// The object as what it should be.
    pub(super) fn read<T: serde::de::DeserializeOwned>(&self, value: &Value) -> Result<T, InstanceError> {
        serde_path_to_error::deserialize(value).map_err(|error| {
            let at = error.path().iter().try_fold(value, |value, segment| match segment {
                Segment::Map { key } => value.get(key),
                Segment::Seq { index } => value.get(*index),
                _ => None,
            });
            // What is no list and no object says itself what it is.
            let shown = at.filter(|value| !value.is_object() && !value.is_array()).map(Value::to_string);
            let problem = plain(&error.inner().to_string());
            self.refused(&error.path().to_string(), &shown.unwrap_or_default(), &problem)
        })
    }

    /// A whole number from a field that must state one.
    pub(super) fn whole(&self, field: &str, value: &Option<Number>) -> Result<u64, InstanceError> {
        let stated = self.whole_if_stated(field, value)?;
        stated.ok_or_else(|| self.refused(field, "", "is missing or not set"))
    }

    /// A whole number from a field that may state one.
    pub(super) fn whole_if_stated(
        &self,
        field: &str,
        value: &Option<Number>,
    ) -> Result<Option<u64>, InstanceError> {
        match number(value) {
            Some(whole) if whole >= 0.0 && whole.fract() == 0.0 && whole < 1e15 => Ok(Some(whole as u64)),
            Some(other) => Err(self.refused(field, &other.to_string(), "must be a whole number >= 0")),
            None => Ok(None),
        }
    }
}

/// What a job asks for or a node has.
#[derive(Debug, Default)]
pub(super) struct Stated {
    /// By plain name: of a generic resource of several types the sum.
    pub(super) amounts: Amounts,
    /// The types that are named: `gpu:a100`.
    pub(super) types: BTreeSet<String>,
    /// On how many nodes; 0 where nothing is said.
    pub(super) nodes: u64,
}

/// Trackable resources that are no part of a node: their kind is what stands before the `/`.
const NOT_ON_NODES: [&str; 9] =
    ["billing", "energy", "vmem", "pages", "fs", "ic", "bb", "license", "licenses"];

/// What a list of trackable resources says: `cpu=22,mem=87072M,node=1,billing=22,gres/gpu:a100=2`. Memory is counted in
/// MiB. A generic resource is its plain name: where a type is named beside the total, the total counts. Licences and
/// what else no node has are passed over.
pub(super) fn tres(text: &str) -> Result<Stated, (&str, &'static str)> {
    let mut stated = Stated::default();
    let mut typed = BTreeMap::<String, u64>::new();
    for entry in text.split(',').filter(|entry| !entry.is_empty()) {
        let (name, amount) = entry.split_once('=').ok_or((entry, "must be NAME=AMOUNT"))?;
        let kind = name.split('/').next().unwrap_or(name);
        match name {
            _ if NOT_ON_NODES.contains(&kind) => {}
            "node" => {
                stated.nodes = amount.parse().map_err(|_| (entry, "must be a whole number of nodes"))?
            }
            "mem" => {
                let memory =
                    binary(amount, 20, 20).ok_or((entry, "must be an amount of memory such as 62.50G"))?;
                stated.amounts.insert("memory".into(), memory);
            }
            _ => {
                let amount = binary(amount, 0, 0).ok_or((entry, "must be a number >= 0"))?;
                let name = name.strip_prefix("gres/").unwrap_or(name);
                match name.split_once(':') {
                    Some((plain, _)) => {
                        let whole = amount.scaled(0).and_then(|count| u64::try_from(count).ok());
                        let count = whole.ok_or((entry, "must be a whole number"))?;
                        let sum = typed.entry(plain.into()).or_default();
                        *sum = sum.saturating_add(count);
                        if count > 0 {
                            stated.types.insert(name.into());
                        }
                    }
                    None => {
                        stated.amounts.entry(name.into()).or_insert(amount);
                    }
                }
            }
        }
    }
    for (name, count) in typed {
        let amount = Decimal::new(count, 0).map_err(|_| (text, "names too many of a generic resource"))?;
        stated.amounts.entry(name).or_insert(amount);
    }
    stated.amounts.retain(|_, amount| !amount.is_zero());
    Ok(stated)
}

/// `62.50G` in units of `2^unit`: Slurm's suffixes are powers of 1024, a number without one counts `2^bare`.
fn binary(text: &str, bare: i32, unit: i32) -> Option<Decimal> {
    let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let power = match text[number.len()..].to_ascii_uppercase().as_str() {
        "" => bare,
        suffix => power_of(suffix)?,
    } - unit;
    let value = Decimal::parse(number.as_bytes()).ok()?;
    let exponent = i32::from(value.exponent().min(0));
    let units = value.scaled(exponent.try_into().ok()?)?;
    match u32::try_from(power) {
        Ok(doublings) => {
            Decimal::from_units(units.checked_mul(1u128.checked_shl(doublings)?)?, exponent).ok()
        }
        // A half is five tenths.
        Err(_) => {
            let halvings = power.unsigned_abs();
            Decimal::from_units(units.checked_mul(5u128.checked_pow(halvings)?)?, exponent + power).ok()
        }
    }
}

/// The power of two that a suffix stands for.
fn power_of(suffix: &str) -> Option<i32> {
    Some(match suffix {
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        "P" => 50,
        _ => return None,
    })
}

/// What `gpu:a100:4(S:0-1),gpu:v100:2,shard:8,tmp:1860G` adds up to. Counts may have a suffix, and a resource that is
/// named without a count is one.
///
/// Source: Slurm's documentation, `slurm.conf`, "Gres": `NAME[:TYPE][:no_consume][:COUNT[K|M|G|T|P]]`.
pub(super) fn gres(text: &str) -> Result<Stated, (&str, &'static str)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut types = BTreeSet::new();
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
        let parts = entry.split(':').filter(|part| !part.eq_ignore_ascii_case("no_consume"));
        let parts: Vec<&str> = parts.collect();
        let (kind, count) = match parts[..] {
            [_] => ("", Some(1)),
            [_, last] => match count(last) {
                Some(count) => ("", Some(count)),
                None if is_bad_count(last) => ("", None),
                None => (last, Some(1)),
            },
            [_, kind, last] => (kind, count(last)),
            _ => ("", None),
        };
        let count = count.ok_or((
            text,
            "must be NAME:COUNT or NAME:TYPE:COUNT with whole counts, perhaps in K, M, G, T or P, such as gpu:a100:4 or tmp:1860G",
        ))?;
        let sum = counts.entry(parts[0].to_owned()).or_default();
        *sum = sum.saturating_add(count);
        if !kind.is_empty() && count > 0 {
            types.insert(format!("{}:{kind}", parts[0]));
        }
    }
    let mut amounts = Amounts::new();
    for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        let amount = Decimal::new(count, 0).map_err(|_| (text, "names too many of a generic resource"))?;
        amounts.insert(name, amount);
    }
    Ok(Stated { amounts, types, nodes: 0 })
}

/// Whether a text that is no count was meant as one: nothing, `-1`, `1860X`, `4GB`, `1.8T`; but not the types `2080ti` and `1g.10gb`.
fn is_bad_count(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let unit = unsigned.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let has_digits = unit.len() < unsigned.len();
    let unit = unit
        .strip_prefix('.')
        .map_or(unit, |rest| rest.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    let letters = unit.to_ascii_lowercase();
    let is_bytes =
        ["kb", "mb", "gb", "tb", "pb", "kib", "mib", "gib", "tib", "pib"].contains(&letters.as_str());
    text.is_empty() || (has_digits || text.starts_with('-')) && (letters.len() < 2 || is_bytes)
}

/// A whole number with or without a suffix.
fn count(text: &str) -> Option<u64> {
    u64::try_from(binary(text, 0, 0)?.scaled(0)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(amounts: &Amounts) -> String {
        amounts.iter().map(|(name, amount)| format!("{name}={amount} ")).collect()
    }

    #[test]
    fn trackable_resources_are_read_in_every_unit_and_typed_ones_once() {
        let stated = tres("cpu=22,mem=87072M,node=3,billing=22,gres/gpu=4,gres/gpu:a100=4").unwrap();
        assert_eq!((shown(&stated.amounts).as_str(), stated.nodes), ("cpu=22 gpu=4 memory=87072 ", 3));
        for (text, memory) in
            [("62.50G", "64000"), ("1T", "1048576"), ("512K", "0.5"), ("7", "7"), ("0.5M", "0.5")]
        {
            let amounts = tres(&format!("mem={text}")).unwrap().amounts;
            assert_eq!(shown(&amounts), format!("memory={memory} "), "{text}");
        }
        let stated = tres("gres/gpu:a100=2,gres/gpu:v100=1").unwrap();
        assert_eq!(shown(&stated.amounts), "gpu=3 ");
        assert_eq!(Vec::from_iter(stated.types), ["gpu:a100", "gpu:v100"]);
        assert!(tres("cpu=x").is_err() && tres("mem=5X").is_err() && tres("cpu").is_err());
    }

    #[test]
    fn local_storage_has_units_and_licences_are_on_no_node() {
        let stated =
            tres("cpu=1.5K,mem=1M,gres/tmp=10G,license/matlab=2,fs/disk=7,bb/cray=4T,energy=9").unwrap();
        assert_eq!(shown(&stated.amounts), "cpu=1536 memory=1 tmp=10737418240 ");
    }

    #[test]
    fn generic_resources_of_a_node_add_up() {
        for (text, amounts, types) in [
            ("gpu:a100:4(S:0-1),gpu:v100:2,shard:8", "gpu=6 shard=8 ", "gpu:a100 gpu:v100"),
            ("gpu:p100:2(S:0-1),tmp:1860G", "gpu=2 tmp=1997159792640 ", "gpu:p100"),
            ("gpu:1", "gpu=1 ", ""),
            ("gpu:(null):2(IDX:0,3-4)", "gpu=2 ", ""),
            ("gpu:1g.10gb:7,gpu:2080ti", "gpu=8 ", "gpu:1g.10gb gpu:2080ti"),
            ("license", "license=1 ", ""),
            ("bandwidth:lustre:no_consume:4K", "bandwidth=4096 ", "bandwidth:lustre"),
            ("tmp:2T,x:3k,y:1M,z:1P", "tmp=2199023255552 x=3072 y=1048576 z=1125899906842624 ", ""),
            ("(null)", "", ""),
            ("", "", ""),
        ] {
            let stated = gres(text).unwrap();
            assert_eq!(shown(&stated.amounts), amounts, "{text}");
            assert_eq!(Vec::from_iter(stated.types).join(" "), types, "{text}");
        }
        for text in [
            "gpu:a100:x",
            "tmp:1860X",
            "gpu:a100:1:2",
            "gpu:-1",
            "gpu:a:99999999P",
            "tmp:4GB",
            "tmp:4gib",
            "tmp:1.8T",
            "tmp:1.5",
            "tmp:",
            "gpu:2,tmp:0.5X",
        ] {
            assert!(gres(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_number_is_plain_wrapped_or_named() {
        let value = |json: &str| serde_json::from_str::<Number>(json).ok().map(|number| number.value());
        for (json, expected) in [
            ("7", Some(Some(7.0))),
            (r#"{"set": true, "infinite": false, "number": 7}"#, Some(Some(7.0))),
            (r#"{"set": true, "number": 7}"#, Some(Some(7.0))),
            (r#"{"set": false, "infinite": false, "number": 0}"#, Some(None)),
            (r#"{"set": true, "infinite": true, "number": 0}"#, Some(None)),
            (r#""Infinity""#, Some(None)),
            (r#""7x""#, None),
            ("true", None),
        ] {
            assert_eq!(value(json), expected, "{json}");
        }
    }
}
