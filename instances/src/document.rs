//! A result file: its format and version on top, below them what was computed.
//!
//! What was computed is a [`Body`], declared once, beside the code that computes it. Its members stand directly below the
//! header, so that a file reads as one object: `{"format": "fairplan.worth.v1", "fairplan_version": "0.1.0", "instance": …}`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Unexpected, Visitor,
};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// The version written into every result.
pub const FAIRPLAN_VERSION: &str = env!("CARGO_PKG_VERSION");

/// For a key that may be left out: where it is there it has a value, and `null` is none.
///
/// # Errors
/// What the value refuses.
pub fn stated<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// What a result file holds below its header: an object whose members are not called like those of the header.
pub trait Body {
    /// The format and its version, as the file states it: `fairplan.worth.v1`.
    const FORMAT: &'static str;
}

/// A result with its header. It reads as its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Document<B> {
    /// The version of fairplan that wrote it.
    pub fairplan_version: Cow<'static, str>,
    /// What was computed.
    pub body: B,
}

impl<B> Document<B> {
    /// A result of this version of fairplan.
    pub fn new(body: B) -> Self {
        Self { fairplan_version: FAIRPLAN_VERSION.into(), body }
    }
}

impl<B> Deref for Document<B> {
    type Target = B;
    fn deref(&self) -> &B {
        &self.body
    }
}

const MEMBERS: [&str; 2] = ["format", "fairplan_version"];

impl<B: Body + Serialize> Serialize for Document<B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Members<'a, B> {
            format: &'static str,
            fairplan_version: &'a str,
            #[serde(flatten)]
            body: &'a B,
        }
        let (fairplan_version, body) = (&*self.fairplan_version, &self.body);
        Members { format: B::FORMAT, fairplan_version, body }.serialize(serializer)
    }
}

impl<'de, B: Body + Deserialize<'de>> Deserialize<'de> for Document<B> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole<B>(PhantomData<B>);
        impl<'de, B: Body + Deserialize<'de>> Visitor<'de> for Whole<B> {
            type Value = Document<B>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a {}", B::FORMAT)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Document<B>, A::Error> {
                let mut header = Header { format: B::FORMAT, is_stated: false, fairplan_version: None };
                let body = B::deserialize(MapAccessDeserializer::new(Below { map, header: &mut header }))?;
                if !header.is_stated {
                    return Err(de::Error::missing_field(MEMBERS[0]));
                }
                let version = header.fairplan_version.ok_or_else(|| de::Error::missing_field(MEMBERS[1]))?;
                Ok(Document { fairplan_version: version.into(), body })
            }
        }
        deserializer.deserialize_map(Whole(PhantomData))
    }
}

/// What was read of the header.
struct Header {
    format: &'static str,
    is_stated: bool,
    fairplan_version: Option<String>,
}

impl Header {
    fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        if key == MEMBERS[0] {
            let stated: Cow<'de, str> = map.next_value()?;
            if stated != self.format {
                return Err(de::Error::invalid_value(Unexpected::Str(&stated), &self.format));
            }
            if std::mem::replace(&mut self.is_stated, true) {
                return Err(de::Error::duplicate_field(MEMBERS[0]));
            }
        } else if self.fairplan_version.replace(map.next_value()?).is_some() {
            return Err(de::Error::duplicate_field(MEMBERS[1]));
        }
        Ok(())
    }
}

/// The members that are not of the header, those of which are taken note of on the way.
struct Below<'a, A> {
    map: A,
    header: &'a mut Header,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Below<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key::<Key<'de>>()? {
            if MEMBERS.contains(&&*key.0) {
                self.header.read(&key.0, &mut self.map)?;
            } else {
                return seed.deserialize(key.0.into_deserializer()).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// The name of a member, borrowed from the file where it can be.
struct Key<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Letters;
        impl<'de> Visitor<'de> for Letters {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a member")
            }
            fn visit_borrowed_str<E: de::Error>(self, name: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(name.into()))
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<Key<'de>, E> {
                Ok(Key(name.to_owned().into()))
            }
        }
        deserializer.deserialize_str(Letters)
    }
}

impl<B: Body + JsonSchema> JsonSchema for Document<B> {
    fn schema_name() -> Cow<'static, str> {
        B::schema_name()
    }
    fn inline_schema() -> bool {
        B::inline_schema()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = B::json_schema(generator);
        let object = schema.ensure_object();
        let properties = object.entry("properties").or_insert_with(|| serde_json::json!({}));
        if let Some(properties) = properties.as_object_mut() {
            let described = |description: &str, mut schema: Schema| {
                schema.insert("description".into(), description.into());
                serde_json::Value::from(schema)
            };
            let format = json_schema!({"type": "string", "const": B::FORMAT});
            properties.insert(MEMBERS[0].into(), described("The format and its version.", format));
            let version = json_schema!({"type": "string"});
            let told = "The version of fairplan that wrote this.";
            properties.insert(MEMBERS[1].into(), described(told, version));
        }
        let required = object.entry("required").or_insert_with(|| serde_json::json!([]));
        if let Some(required) = required.as_array_mut() {
            required.splice(0..0, MEMBERS.map(serde_json::Value::from));
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_str, to_string};

    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Answer {
        value: f64,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        users: Vec<String>,
    }

    impl Body for Answer {
        const FORMAT: &'static str = "fairplan.answer.v1";
    }

    #[test]
    fn header_and_body_are_one_object_in_any_order() {
        let document = Document::new(Answer { value: 0.1, users: vec!["a".into()] });
        let text = to_string(&document).unwrap();
        let version = FAIRPLAN_VERSION;
        assert_eq!(
            text,
            format!(
                r#"{{"format":"fairplan.answer.v1","fairplan_version":"{version}","value":0.1,"users":["a"]}}"#
            )
        );
        assert_eq!(from_str::<Document<Answer>>(&text).unwrap(), document);
        let turned = r#"{"value": 1, "fairplan_version": "9", "f\u006frmat": "fairplan.answer.v1"}"#;
        let read: Document<Answer> = from_str(turned).unwrap();
        assert_eq!((&*read.fairplan_version, read.value), ("9", 1.0));
    }

    #[test]
    fn what_is_of_another_format_or_says_a_thing_twice_is_refused() {
        let refused = |text: &str| from_str::<Document<Answer>>(text).unwrap_err().to_string();
        let other = refused(r#"{"format": "fairplan.answer.v2", "fairplan_version": "0", "value": 1}"#);
        assert!(other.contains("invalid value: string \"fairplan.answer.v2\", expected fairplan.answer.v1"));
        assert!(refused(r#"{"fairplan_version": "0", "value": 1}"#).contains("missing field `format`"));
        let format = r#""format": "fairplan.answer.v1""#;
        assert!(refused(&format!("{{{format}, \"value\": 1}}")).contains("`fairplan_version`"));
        let start = format!("{{{format}, \"fairplan_version\": \"0\", \"value\": 1");
        assert!(refused(&format!("{start}, {format}}}")).contains("duplicate field `format`"));
        assert!(refused(&format!("{start}, \"value\": 1}}")).contains("duplicate field `value`"));
        assert!(refused(&format!("{start}, \"values\": 1}}")).contains("unknown field `values`"));
    }

    #[test]
    fn the_schema_is_that_of_the_whole_object() {
        let schema = schemars::schema_for!(Document<Answer>);
        assert_eq!(
            schema.get("required").unwrap(),
            &serde_json::json!(["format", "fairplan_version", "value"])
        );
        assert_eq!(schema.pointer("/properties/format/const").unwrap(), "fairplan.answer.v1");
        assert_eq!(schema.get("additionalProperties").unwrap(), false);
    }
}
