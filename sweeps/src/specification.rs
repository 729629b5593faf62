//! What shall be run: a command, what is always said to it, and the parameters with their values.

use crate::SweepError;
use crate::ordered::Ordered;
use crate::pattern;
use crate::value::Value;
use fairplan_instances::files::source;
use fairplan_instances::{Decimal, InstanceError};
use serde::de::{
    self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer,
};
use std::fmt;

/// Values of one parameter, at most.
const MOST_VALUES: u64 = 10_000_000;

/// A sweep as its author writes it.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Specification {
    /// Where it stands, as messages call it.
    #[serde(skip)]
    pub(crate) file: String,
    /// What makes the standard input of the command, with parameters of its own: runs of another command.
    #[serde(default)]
    pub(crate) from: Option<Box<Specification>>,
    pub(crate) command: Words,
    #[serde(default)]
    pub(crate) arguments: Vec<Value>,
    /// Each with each.
    #[serde(default)]
    pub(crate) parameters: Ordered<Values>,
    /// Groups of parameters that go together, value by value.
    #[serde(default)]
    pub(crate) zip: Zips,
}

impl Specification {
    /// Reads a specification: YAML, of which JSON is a part. `-` is standard input.
    ///
    /// # Errors
    /// Names file, line and what is not understood.
    pub fn read(path: &str) -> Result<Self, SweepError> {
        let source = source::open(path)?;
        let file = source.name().to_owned();
        Self::parse(&file, &source.read_all()?)
    }

    /// The commands of a task in the order in which they run, each with what is said to it.
    pub(crate) fn stages(&self) -> Vec<&Self> {
        let mut stages = self.from.as_ref().map_or_else(Vec::new, |from| from.stages());
        stages.push(self);
        stages
    }

    /// The same of bytes in memory, called `file` in messages.
    ///
    /// # Errors
    /// As [`Specification::read`].
    pub fn parse(file: &str, content: &[u8]) -> Result<Self, SweepError> {
        let options = serde_saphyr::options! { with_snippet: false };
        let read: Result<Self, _> = serde_saphyr::from_slice_with_options(content, options);
        read.map(|specification| Self { file: file.into(), ..specification }).map_err(|error| {
            let place = error.location().map_or_else(
                || "specification".into(),
                |at| format!("line {}, column {}", at.line(), at.column()),
            );
            let problem = problem(&error.to_string());
            InstanceError::Malformed { file: file.into(), place, problem }.into()
        })
    }
}

/// What a message of the YAML reader says to who wrote the file: without the place, which stands before it, and without advice for
/// who calls the reader.
fn problem(told: &str) -> String {
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = told.rsplit_once(" at line ").map_or(told.as_str(), |(told, _)| told);
    let told =
        [", set ", "; set "].iter().fold(told, |told, advice| told.split(advice).next().unwrap_or(told));
    match told {
        "invalid u64" => "must be a whole number >= 0".into(),
        told => told.replace("duplicate mapping key: ", "stands here twice: "),
    }
}

/// Words in a list, or in one text between blanks.
#[derive(Clone, Debug)]
pub(crate) struct Words(pub Vec<String>);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged, expecting = "the name of a command, such as solve or plan buy")]
        enum Either {
            Text(String),
            List(Vec<String>),
        }
        Ok(Self(match Either::deserialize(deserializer)? {
            Either::Text(text) => text.split_whitespace().map(str::to_owned).collect(),
            Either::List(words) => words,
        }))
    }
}

/// One group, or several in a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Zips(pub Vec<Ordered<Values>>);

impl<'de> Deserialize<'de> for Zips {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Groups;
        impl<'de> Visitor<'de> for Groups {
            type Value = Zips;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("parameters that go together, or a list of such groups")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Zips, A::Error> {
                Ok(Zips(vec![Ordered::deserialize(MapAccessDeserializer::new(map))?]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Zips, A::Error> {
                let mut groups = Vec::new();
                while let Some(group) = seq.next_element()? {
                    groups.push(group);
                }
                Ok(Zips(groups))
            }
        }
        deserializer.deserialize_any(Groups)
    }
}

/// The values of a parameter, as they are written.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    List(Vec<Value>),
    /// From the first to the last that is not above the end.
    Range {
        from: Decimal,
        to: Decimal,
        step: Decimal,
    },
    /// So many whole numbers from the first on.
    Seeds {
        count: u64,
        first: u64,
    },
    /// The files that match.
    Files(Vec<String>),
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    from: Option<Value>,
    to: Option<Value>,
    step: Option<Value>,
    seeds: Option<u64>,
    first: Option<u64>,
    files: Option<Patterns>,
}

#[derive(serde::Deserialize)]
#[serde(untagged, expecting = "a pattern of file names, or a list of patterns")]
enum Patterns {
    One(String),
    Several(Vec<String>),
}

const FORMS: &str = "values as a list, {from: 0, to: 1, step: 0.1}, {seeds: 10} or {files: \"data/*.json\"}";

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Values;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(FORMS)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Values, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(Values::List(values))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Values, A::Error> {
                Described::deserialize(MapAccessDeserializer::new(map))?.values().map_err(de::Error::custom)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Described {
    fn values(self) -> Result<Values, String> {
        let number = |name: &str, value: &Value| -> Result<Decimal, String> {
            let word = value.word().unwrap_or_default();
            word.parse().map_err(|problem| format!("{name} = {word}: {problem}"))
        };
        match self {
            Self { from: Some(from), to: Some(to), step, seeds: None, first: None, files: None } => {
                let step = step.unwrap_or(Value::Count(1));
                let (from, to, step) = (number("from", &from)?, number("to", &to)?, number("step", &step)?);
                if step.is_zero() {
                    return Err("step = 0: must be above 0".into());
                }
                Ok(Values::Range { from, to, step })
            }
            Self { from: None, to: None, step: None, seeds: Some(count), first, files: None } => {
                Ok(Values::Seeds { count, first: first.unwrap_or(0) })
            }
            Self { from: None, to: None, step: None, seeds: None, first: None, files: Some(files) } => {
                Ok(Values::Files(match files {
                    Patterns::One(pattern) => vec![pattern],
                    Patterns::Several(patterns) => patterns,
                }))
            }
            _ => Err(format!("write {FORMS}")),
        }
    }
}

impl Values {
    /// All of them in order; at least one.
    pub(crate) fn all(&self, parameter: &str) -> Result<Vec<Value>, SweepError> {
        let refused = |problem: String| SweepError::refused(format!("parameter {parameter}: {problem}"));
        let none =
            |why: &str| refused(format!("{why}, so that there is nothing to run; state one value at least"));
        let few = |count: u64| match count <= MOST_VALUES {
            true => Ok(count),
            false => Err(refused(format!("{count} values are more than {MOST_VALUES}; make several sweeps"))),
        };
        match self {
            Self::List(values) if values.is_empty() => Err(none("the list is empty")),
            Self::List(values) => Ok(values.clone()),
            Self::Seeds { count: 0, .. } => Err(none("seeds = 0")),
            Self::Seeds { count, first } => {
                let end = first.checked_add(few(*count)?);
                let end = end.ok_or_else(|| refused(format!("first = {first}: is too large")))?;
                Ok((*first..end).map(Value::Count).collect())
            }
            Self::Range { from, to, step } => {
                let exponent = [from, to, step].iter().map(|number| number.exponent()).min().unwrap_or(0);
                let units = |number: &Decimal| {
                    let too_fine = || refused(format!("{number} has too many digits beside the others"));
                    number.scaled(exponent).ok_or_else(too_fine)
                };
                let (first, last, by) = (units(from)?, units(to)?, units(step)?);
                let Some(steps) = last.checked_sub(first).map(|length| length / by) else {
                    return Err(none(&format!("from = {from} is above to = {to}")));
                };
                few(u64::try_from(steps).unwrap_or(u64::MAX).saturating_add(1))?;
                let value = |at: u128| {
                    let exact = Decimal::from_units(first + at * by, exponent.into());
                    let exact = exact.map_err(|problem| refused(problem.to_string()))?;
                    Ok(Value::of_decimal(&exact.to_string()))
                };
                (0..=steps).map(value).collect()
            }
            Self::Files(patterns) => {
                let mut found = Vec::new();
                for pattern in patterns {
                    let files = pattern::files(pattern)
                        .map_err(|(folder, error)| SweepError::reading(&folder, error))?;
                    if files.is_empty() {
                        return Err(none(&format!("no file matches {pattern}")));
                    }
                    found.extend(files.into_iter().map(Value::Text));
                }
                Ok(found)
            }
        }
    }

    /// Positions of values that show whether the command understands all: every one of a list; of numbers in a row the first two
    /// and the last; of files one, since their names are texts.
    pub(crate) fn telling(&self, count: usize) -> Vec<usize> {
        let mut positions: Vec<usize> = match self {
            Self::List(_) => (0..count).collect(),
            Self::Range { .. } | Self::Seeds { .. } => vec![0, 1.min(count - 1), count - 1],
            Self::Files(_) => vec![0],
        };
        positions.dedup();
        positions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Specification, SweepError> {
        Specification::parse("s.yaml", text.as_bytes())
    }

    fn words(values: &Values) -> Vec<String> {
        values.all("p").unwrap().iter().filter_map(Value::word).collect()
    }

    #[test]
    fn yaml_and_json_say_the_same_and_keep_the_order() {
        let yaml = "command: plan buy\narguments: [a.json, --users, 7]\nparameters:\n  zeta: [1, x]\n  alpha: {from: 0, to: 0.3, step: 0.1}\nzip:\n  seed: {seeds: 2, first: 5}\n";
        let json = r#"{"command": ["plan", "buy"], "arguments": ["a.json", "--users", 7],
            "parameters": {"zeta": [1, "x"], "alpha": {"from": 0, "to": 0.3, "step": 0.1}}, "zip": [{"seed": {"seeds": 2, "first": 5}}]}"#;
        for text in [yaml, json] {
            let read = parsed(text).unwrap();
            assert_eq!(read.command.0, ["plan", "buy"]);
            assert_eq!(
                read.arguments.iter().filter_map(Value::word).collect::<Vec<_>>(),
                ["a.json", "--users", "7"]
            );
            let names: Vec<&str> = read.parameters.0.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["zeta", "alpha"]);
            assert_eq!(words(&read.parameters.0[1].1), ["0", "0.1", "0.2", "0.3"], "exact, to the end");
            assert_eq!(words(&read.zip.0[0].0[0].1), ["5", "6"]);
        }
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (text, told) in [
            ("command: solve\nparameter: {}\n", "parameter"),
            ("command: solve\nparameters:\n  a: 3\n", "expected values as a list"),
            (
                "command: solve\nparameters:\n  a: {seeds: 1.5}\n",
                "line 3, column 14: must be a whole number >= 0",
            ),
            ("command: solve\ncommand: place\n", "line 2, column 1: stands here twice: command"),
            ("command: solve\nparameters:\n  a: {from: 1}\n", "write values as a list"),
            ("command: solve\nparameters:\n  a: {from: 1, to: 2, step: 0}\n", "step = 0"),
            ("command: solve\nparameters:\n  a: [1]\n  a: [2]\n", "a"),
            ("command: solve\nparameters:\n  a: {seeds: 3, form: 2}\n", "form"),
            ("parameters: {}\n", "command"),
        ] {
            let refused = parsed(text).unwrap_err().to_string();
            assert!(refused.starts_with("s.yaml: ") && refused.contains(told), "{text}: {refused}");
            assert_eq!(refused.lines().count(), 1);
        }
    }

    #[test]
    fn a_parameter_without_values_is_refused_by_name() {
        for (text, told) in [
            ("[]", "the list is empty"),
            ("{seeds: 0}", "seeds = 0"),
            ("{from: 2, to: 1}", "from = 2 is above to = 1"),
            ("{files: /missing/*.json}", "no file matches /missing/*.json"),
            ("{seeds: 99999999999}", "more than"),
            ("{from: 0, to: 1, step: 0.000000000001}", "more than"),
        ] {
            let read = parsed(&format!("command: solve\nparameters:\n  load: {text}\n")).unwrap();
            let refused = read.parameters.0[0].1.all("load").unwrap_err().to_string();
            assert!(refused.starts_with("parameter load: ") && refused.contains(told), "{refused}");
        }
    }
}
