//! JSON Schema of every format, generated from the types that are written and read.

pub use crate::formats::{FORMATS, Format};

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The schema of documents that this type reads and writes.
pub(crate) fn schema_of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(tidy))
        .into_generator()
        .into_root_schema_for::<T>()
}

/// Optional fields are left out, never null; and comments are wrapped for the source, descriptions are not.
fn tidy(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = &choices[..] {
            let only = only.clone();
            schema.remove("anyOf");
            only.into_iter().for_each(|(key, value)| _ = schema.ensure_object().entry(key).or_insert(value));
        }
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Set this variable and run the tests to write the schemas anew.
    const UPDATE: &str = "FAIRPLAN_UPDATE_SCHEMAS";

    #[test]
    fn the_committed_schemas_are_those_of_the_types() {
        for format in &FORMATS {
            let path = format!("{}/schemas/{}.json", env!("CARGO_MANIFEST_DIR"), format.id);
            let generated = serde_json::to_string_pretty(&format.schema()).unwrap() + "\n";
            if std::env::var_os(UPDATE).is_some() {
                std::fs::write(&path, generated).unwrap();
            } else {
                let committed = std::fs::read_to_string(&path).unwrap_or_default();
                assert!(committed == generated, "{path} is out of date: run the tests once with {UPDATE}=1");
            }
        }
    }

    #[test]
    fn every_schema_is_valid_and_describes_every_field() {
        for format in &FORMATS {
            let schema = format.schema();
            jsonschema::meta::validate(schema.as_value()).unwrap();
            let mut nameless = Vec::new();
            undescribed("", schema.as_value(), &mut nameless);
            assert!(nameless.is_empty(), "{}: {nameless:?}", format.id);
        }
    }

    fn undescribed(place: &str, schema: &serde_json::Value, found: &mut Vec<String>) {
        let Some(object) = schema.as_object() else { return };
        for (name, property) in object.get("properties").and_then(|p| p.as_object()).into_iter().flatten() {
            if property.get("description").is_none() {
                found.push(format!("{place}.{name}"));
            }
        }
        for (name, definition) in object.get("$defs").and_then(|d| d.as_object()).into_iter().flatten() {
            undescribed(name, definition, found);
        }
    }
}
