//! Numbers by resource, in the instance's order: `{"cpu": 1.0, "memory": 0.25}`. A repeated name is refused.

use crate::Instance;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// One number a resource, under the resource's name.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceMap(pub Vec<(String, f64)>);

impl ResourceMap {
    /// `numbers[r]` under the name of resource `r`.
    pub fn new(instance: &Instance, numbers: impl IntoIterator<Item = f64>) -> Self {
        Self(instance.resources().iter().cloned().zip(numbers).collect())
    }

    /// The number of a resource; `None` when it is not named.
    pub fn get(&self, resource: &str) -> Option<f64> {
        self.0.iter().find(|(name, _)| name == resource).map(|(_, number)| *number)
    }

    /// The numbers in the instance's order; `None` unless exactly its resources are named.
    pub fn in_order(&self, instance: &Instance) -> Option<Vec<f64>> {
        if self.0.len() != instance.resources().len() {
            return None;
        }
        instance.resources().iter().map(|name| self.get(name)).collect()
    }
}

impl Serialize for ResourceMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, number)| (name, number)))
    }
}

impl<'de> Deserialize<'de> for ResourceMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers;
        impl<'de> Visitor<'de> for Numbers {
            type Value = Vec<(String, f64)>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a number for each resource")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut numbers = Self::Value::new();
                while let Some((name, number)) = map.next_entry::<String, f64>()? {
                    numbers.push((name, number));
                }
                let mut names: Vec<&str> = numbers.iter().map(|(name, _)| name.as_str()).collect();
                names.sort_unstable();
                match names.windows(2).find(|pair| pair[0] == pair[1]) {
                    Some(pair) => Err(de::Error::custom(format_args!("duplicate resource `{}`", pair[0]))),
                    None => Ok(numbers),
                }
            }
        }
        deserializer.deserialize_map(Numbers).map(ResourceMap)
    }
}

impl JsonSchema for ResourceMap {
    fn schema_name() -> Cow<'static, str> {
        "ResourceMap".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One number a resource, under the resource's name.",
            "type": "object",
            "additionalProperties": {"type": "number"}
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_kept_and_a_repeated_resource_refused() {
        let text = r#"{"memory":1.0,"cpu":0.5}"#;
        let map: ResourceMap = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&map).unwrap(), text);
        let error = serde_json::from_str::<ResourceMap>(r#"{"cpu":1,"cpu":2}"#).unwrap_err().to_string();
        assert!(error.contains("duplicate resource `cpu`"), "{error}");
    }
}
