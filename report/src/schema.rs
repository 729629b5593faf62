//! JSON Schema of every format, generated from the types that are written and read.

mod instance;
mod trace;

use crate::allocated_bound::AllocatedBoundDocument;
use crate::bound::BoundDocument;
use crate::comparison::Comparison;
use crate::entitlements::Entitlements;
use crate::flows::Flows;
use crate::moves::MovesBody;
use crate::offline::AnyOffline;
use crate::placement::PlacementDocument;
use crate::planning::PlanDocument;
use crate::proportional_bound::ProportionalBoundDocument;
use crate::reproduction::ReproductionDocument;
use crate::simulation::SimulationDocument;
use crate::solution::SolutionDocument;
use crate::task_allocation::AnyAllocation;
use crate::verification::Verification;
use fairplan_analysis::{Audit, Difference, Explanation, GroupExplanation, Growth, Losses, Worth};
use fairplan_exports::ExportBody;
use fairplan_instances::Document;
use fairplan_instances::files::{CatalogFile, DemandsFile, TrafficFile};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// A format and its schema.
pub struct Format {
    /// Its short name (`solution`), which `schema` takes.
    pub name: &'static str,
    /// Its full name, as documents state it (`fairplan.solution.v1`).
    pub id: &'static str,
    schema: fn() -> Schema,
}

/// Every format, inputs first.
pub static FORMATS: [Format; 28] = [
    Format { name: "instance", id: "fairplan.instance.v1", schema: schema_of::<instance::InstanceDocument> },
    Format { name: "demands", id: "fairplan.demands.v1", schema: schema_of::<DemandsFile<'static>> },
    Format { name: "traffic", id: "fairplan.traffic.v1", schema: schema_of::<TrafficFile<'static>> },
    Format { name: "catalog", id: "fairplan.catalog.v1", schema: schema_of::<CatalogFile<'static>> },
    Format { name: "trace", id: "fairplan.trace.v1", schema: schema_of::<trace::TraceLine> },
    Format { name: "solution", id: "fairplan.solution.v1", schema: schema_of::<SolutionDocument> },
    Format { name: "placement", id: "fairplan.placement.v1", schema: schema_of::<PlacementDocument> },
    Format { name: "bound", id: "fairplan.bound.v1", schema: schema_of::<BoundDocument> },
    Format {
        name: "proportional-bound",
        id: "fairplan.proportional-bound.v1",
        schema: schema_of::<ProportionalBoundDocument>,
    },
    Format {
        name: "allocated-bound",
        id: "fairplan.allocated-bound.v1",
        schema: schema_of::<AllocatedBoundDocument>,
    },
    Format { name: "comparison", id: "fairplan.comparison.v1", schema: schema_of::<Document<Comparison>> },
    Format { name: "allocation", id: "fairplan.allocation.v1", schema: schema_of::<AnyAllocation> },
    Format { name: "offline", id: "fairplan.offline.v1", schema: schema_of::<AnyOffline> },
    Format { name: "flows", id: "fairplan.flows.v1", schema: schema_of::<Document<Flows>> },
    Format { name: "simulation", id: "fairplan.simulation.v1", schema: schema_of::<SimulationDocument> },
    Format {
        name: "verification",
        id: "fairplan.verification.v1",
        schema: schema_of::<Document<Verification>>,
    },
    Format { name: "audit", id: "fairplan.audit.v1", schema: schema_of::<Document<Audit>> },
    Format {
        name: "entitlements",
        id: "fairplan.entitlements.v1",
        schema: schema_of::<Document<Entitlements>>,
    },
    Format { name: "explanation", id: "fairplan.explanation.v1", schema: schema_of::<Document<Explanation>> },
    Format {
        name: "group-explanation",
        id: "fairplan.group-explanation.v1",
        schema: schema_of::<Document<GroupExplanation>>,
    },
    Format { name: "plan", id: "fairplan.plan.v1", schema: schema_of::<PlanDocument> },
    Format { name: "moves", id: "fairplan.moves.v1", schema: schema_of::<Document<MovesBody>> },
    Format { name: "worth", id: "fairplan.worth.v1", schema: schema_of::<Document<Worth>> },
    Format { name: "loss", id: "fairplan.loss.v1", schema: schema_of::<Document<Losses>> },
    Format { name: "difference", id: "fairplan.difference.v1", schema: schema_of::<Document<Difference>> },
    Format { name: "growth", id: "fairplan.growth.v1", schema: schema_of::<Document<Growth>> },
    Format { name: "export", id: "fairplan.export.v1", schema: schema_of::<Document<ExportBody>> },
    Format {
        name: "reproduction",
        id: "fairplan.reproduction.v1",
        schema: schema_of::<ReproductionDocument>,
    },
];

impl Format {
    /// The format of documents that this type reads and writes.
    pub const fn of<T: JsonSchema>(name: &'static str, id: &'static str) -> Self {
        Self { name, id, schema: schema_of::<T> }
    }

    /// The format of this crate called `name`, by its short or its full name.
    #[cfg(test)]
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name || format.id == name)
    }

    /// Its JSON Schema (draft 2020-12).
    pub fn schema(&self) -> Schema {
        let mut schema = (self.schema)();
        schema.insert("title".into(), self.id.into());
        schema
    }
}

fn schema_of<T: JsonSchema>() -> Schema {
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
