//! The format that a document states of itself, found without reading what follows it.

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The `format` member of a JSON object, wherever it stands, and what was wrong before it was found. What follows it may be broken or
/// missing, and there may be none.
///
/// ```
/// use fairplan_instances::files::stated_format;
///
/// assert_eq!(stated_format(br#"{"users": [], "format": "x", broken"#).0.as_deref(), Some("x"));
/// assert!(stated_format(br#"{"users": "#).1.is_err());
/// ```
pub fn stated_format(bytes: &[u8]) -> (Option<String>, Result<(), serde_json::Error>) {
    let mut format = None;
    let outcome = serde_json::Deserializer::from_slice(bytes).deserialize_map(Find(&mut format));
    (format, outcome)
}

struct Find<'a>(&'a mut Option<String>);

impl<'de> Visitor<'de> for Find<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a `format`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == "format" {
                *self.0 = Some(map.next_value()?);
                break; // The rest is left unread, which `deserialize_map` reports.
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}
