//! JSON read strictly through serde: nothing ignored, nothing taken for something else, errors with their path.

use crate::{Decimal, InstanceError, Violation};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Serialize, de};
use serde_json::value::RawValue;
use serde_path_to_error::{Path, Segment, Track};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use super::stated_format;
use super::values::{decimal, whole_number};

/// A text, borrowed from the file when it has no escapes.
#[derive(Deserialize, Serialize, Default)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

impl JsonSchema for Text<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// A map from names to numbers with every entry kept, so that duplicates can be refused.
#[derive(Default)]
pub(super) struct Entries<'a>(pub(super) Vec<(Text<'a>, &'a RawValue)>);

impl JsonSchema for Entries<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Amounts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let amount = json_schema!({"type": "number", "minimum": 0, "maximum": 1e30});
        json_schema!({"description": "Amounts of resources, each a decimal of at most 19 significant digits, 0 or between 1e-30 and 1e30.", "type": "object", "additionalProperties": amount})
    }
}

/// For schemas: a number above 0.
pub(super) enum AboveZero {}

impl JsonSchema for AboveZero {
    fn schema_name() -> Cow<'static, str> {
        "PositiveAmount".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "An amount above 0.", "type": "number", "exclusiveMinimum": 0, "maximum": 1e30})
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Collect<'a> {
            type Value = Entries<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of names and numbers")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'a>, A::Error> {
                let mut entries = Vec::with_capacity(4);
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Collect(PhantomData))
    }
}

/// A struct that must be written as an object; derived ones would take an array of their fields too.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Object<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(Fields(PhantomData))
    }
}

/// Hands each element of an array to a function, without keeping any.
struct Elements<T, F>(F, PhantomData<T>);

impl<'de, T: Deserialize<'de>, F> DeserializeSeed<'de> for Elements<T, F>
where
    F: FnMut(usize, T) -> Result<(), Violation>,
{
    type Value = Result<(), Violation>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>, F> Visitor<'de> for Elements<T, F>
where
    F: FnMut(usize, T) -> Result<(), Violation>,
{
    type Value = Result<(), Violation>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut position = 0;
        while let Some(element) = elements.next_element()? {
            if let Err(violation) = self.0(position, element) {
                while elements.next_element::<de::IgnoredAny>()?.is_some() {}
                return Ok(Err(violation));
            }
            position += 1;
        }
        Ok(Ok(()))
    }
}

/// Reads the array `raw`, which stands at `place`, element by element.
pub(super) fn for_each<'a, T: Deserialize<'a>>(
    raw: &'a RawValue,
    place: &str,
    each: impl FnMut(usize, T) -> Result<(), Violation>,
) -> Result<(), Violation> {
    let mut text = serde_json::Deserializer::from_str(raw.get());
    Elements(each, PhantomData).deserialize(&mut text).unwrap_or_else(|error| {
        // Tracking the path costs time, so only a second run over the bad file does it.
        let mut track = Track::new();
        let mut text = serde_json::Deserializer::from_str(raw.get());
        let text = serde_path_to_error::Deserializer::new(&mut text, &mut track);
        let _ = Elements(|_, _: T| Ok(()), PhantomData).deserialize(text);
        Err(Violation::new(path(place, &track.path()), "", problem(&error)))
    })
}

/// Reads the value `raw`, which stands at `place`.
pub(super) fn one<'a, T: Deserialize<'a>>(raw: &'a RawValue, place: &str) -> Result<T, Violation> {
    let mut text = serde_json::Deserializer::from_str(raw.get());
    serde_path_to_error::deserialize(&mut text).map_err(|error: serde_path_to_error::Error<_>| {
        Violation::new(path(place, error.path()), "", problem(error.inner()))
    })
}

/// A format of input documents.
pub(super) struct Form {
    /// Its name and version, as documents state it.
    pub(super) format: &'static str,
    /// What such a document is, in a message.
    pub(super) what: &'static str,
    /// What else could have been meant by a file that is no JSON object.
    pub(super) otherwise: &'static str,
}

impl Form {
    /// Refuses a document that states another format.
    pub(super) fn expect(&self, stated: &Text) -> Result<(), Violation> {
        if stated.0 == self.format {
            return Ok(());
        }
        let problem = format!("this is no {}; expected \"{}\"", self.what, self.format);
        Err(Violation::new("format", &stated.0, problem))
    }

    /// Whether the document states the expected format, whatever else it contains, or ends inside a value before it states one.
    fn check(&self, text: &str) -> Result<(), Violation> {
        match stated_format(text.as_bytes()) {
            (Some(format), _) => self.expect(&Text(format.into())),
            (None, Ok(())) => self.expect(&Text::default()),
            (None, Err(_)) => Ok(()),
        }
    }
}

/// Reads the one object that a file consists of; its format is the first thing to be named if it is another one.
pub(super) fn document<'a, T: Deserialize<'a>>(
    file: &str,
    content: &'a [u8],
    form: &Form,
) -> Result<T, InstanceError> {
    let malformed =
        |place: String, problem: String| InstanceError::Malformed { file: file.to_owned(), place, problem };
    if !content.trim_ascii_start().starts_with(b"{") {
        let article = if form.what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        let problem = format!("{article} {} is a JSON object in UTF-8; {}", form.what, form.otherwise);
        return Err(malformed("line 1".into(), problem));
    }
    let text = std::str::from_utf8(content).map_err(|error| {
        let valid = &content[..error.valid_up_to()];
        let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
        let column = 1 + valid.iter().rev().take_while(|byte| **byte != b'\n').count();
        malformed(format!("line {line}, column {column}"), "is not valid UTF-8".into())
    })?;
    object(text).map_err(|(path, error)| {
        let other_format = if error.is_data() || error.is_eof() { form.check(text).err() } else { None };
        match other_format {
            Some(violation) => InstanceError::Invalid { file: file.to_owned(), violation },
            None => {
                let at = if path.is_empty() { path } else { format!(" ({path})") };
                let problem = match error.is_eof() {
                    true => format!("it ends inside a value: the file is truncated, or no {}", form.what),
                    false => problem(&error),
                };
                malformed(format!("line {}, column {}{at}", error.line(), error.column()), problem)
            }
        }
    })
}

/// Reads the one object that a line consists of. What is wrong is looked for again with its path, since keeping track of
/// that costs time.
pub(super) fn line<'a, T: Deserialize<'a>>(
    file: &str,
    number: u64,
    content: &'a [u8],
) -> Result<T, InstanceError> {
    let malformed = |column: String, problem: String| InstanceError::Malformed {
        file: file.to_owned(),
        place: format!("line {number}{column}"),
        problem,
    };
    let text = std::str::from_utf8(content).map_err(|error| {
        malformed(format!(", column {}", error.valid_up_to() + 1), "is not valid UTF-8".into())
    })?;
    if let Ok(Object(value)) = serde_json::from_str(text) {
        return Ok(value);
    }
    object(text).map_err(|(path, error)| {
        let at = if path.is_empty() { path } else { format!(" ({path})") };
        // A number that ends in its point is no number yet.
        let is_cut = error.is_eof() || error.is_syntax() && text.ends_with(['.', 'e', 'E', '-', '+']);
        let problem = match is_cut {
            true => "it ends inside a value; where it is the last line, the file is truncated".into(),
            false => problem(&error),
        };
        malformed(format!(", column {}{at}", error.column()), problem)
    })
}

/// A number, which must be written as one.
pub(super) fn number(raw: &RawValue, place: impl Fn() -> String) -> Result<Decimal, Violation> {
    match raw.get().as_bytes() {
        text @ [b'-' | b'0'..=b'9', ..] => decimal(text, place),
        [b'"', ..] => Err(Violation::new(place(), raw, "must be a number, without quotes")),
        _ => Err(Violation::new(place(), raw, "must be a number")),
    }
}

/// A count, which must be written as a number.
pub(super) fn whole(raw: &RawValue, place: impl Fn() -> String) -> Result<u64, Violation> {
    whole_number(number(raw, &place)?, place)
}

/// Reads one object, naming the path of what is wrong.
fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, (String, serde_json::Error)> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let Object(value) = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| (path("", error.path()), error.into_inner()))?;
    reader.end().map_err(|error| (String::new(), error))?;
    Ok(value)
}

/// The path in the notation of [`Violation`], from `start` on and as far as it is known.
fn path(start: &str, path: &Path) -> String {
    let mut text = start.to_owned();
    for segment in path {
        match segment {
            Segment::Seq { index } => text.push_str(&format!("[{index}]")),
            Segment::Map { key } if text.is_empty() => text.push_str(key),
            Segment::Map { key } => text.push_str(&format!(".{key}")),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    text
}

/// What serde_json says, without its line and column, which are relative to the part it was given.
fn problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let location = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&location).map(str::to_owned).unwrap_or(text)
}
