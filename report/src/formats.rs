//! Every format: its names, its JSON Schema, and of a result of it the main table and what a page says.

use crate::allocated_bound::AllocatedBoundBody;
use crate::allocation::AllocationBody;
use crate::bound::BoundBody;
use crate::comparison::Comparison;
use crate::flows::Flows;
use crate::json::{MalformedResult, format_of, read_json};
use crate::moves::MovesBody;
use crate::offline::{AnyOffline, OfflineBody, TaskOfflineBody};
use crate::page::{Section, is_over_instance};
use crate::placement::PlacementBody;
use crate::planning::PlanBody;
use crate::proportional_bound::ProportionalBoundBody;
use crate::reproduction::ReproductionBody;
use crate::results::*;
use crate::schema::schema_of;
use crate::simulation::SimulationBody;
use crate::solution::SolutionBody;
use crate::task_allocation::{AnyAllocation, TaskAllocationBody};
use crate::verification::Verification;
use fairplan_analysis::{
    Audit, Difference, Entitlements, Explanation, GroupExplanation, Growth, Losses, Worth,
};
use fairplan_exports::ExportBody;
use fairplan_instances::files::{CatalogFile, DemandsFile, InstanceFile, TraceLine, TrafficFile};
use fairplan_instances::table::Tabular;
use fairplan_instances::{Body, Document};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;

/// A format, its schema, and of a result of it the section of a page that shows it and its main table.
pub struct Format {
    /// Its short name (`solution`), which `schema` takes.
    pub name: &'static str,
    /// Its full name, as documents state it (`fairplan.solution.v1`).
    pub id: &'static str,
    schema: fn() -> Schema,
    section: Option<SectionOf>,
    table: Option<TableOf>,
}

/// What a page says of a result that is read from a file of this name, with these bytes.
type SectionOf = fn(&str, &[u8]) -> Result<Section, MalformedResult>;

/// What has the main table of such a result.
type TableOf = fn(&str, &[u8]) -> Result<Box<dyn Tabular>, MalformedResult>;

/// Every format, inputs first.
pub static FORMATS: [Format; 28] = [
    Format::of::<InstanceFile<'static>>("instance", InstanceFile::FORMAT),
    Format::of::<DemandsFile<'static>>("demands", DemandsFile::FORMAT),
    Format::of::<TrafficFile<'static>>("traffic", TrafficFile::FORMAT),
    Format::of::<CatalogFile<'static>>("catalog", CatalogFile::FORMAT),
    Format::of::<TraceLine>("trace", TraceLine::FORMAT),
    Format::shown::<SolutionBody>("solution", |file, bytes| Ok(solution::section(read_json(file, bytes)?))),
    Format::shown::<PlacementBody>("placement", |file, bytes| {
        Ok(placement::section(read_json(file, bytes)?))
    }),
    Format::shown::<BoundBody>("bound", |file, bytes| Ok(bound::section(read_json(file, bytes)?))),
    Format::shown::<ProportionalBoundBody>("proportional-bound", |file, bytes| {
        Ok(proportional_bound::section(read_json(file, bytes)?))
    }),
    Format::shown::<AllocatedBoundBody>("allocated-bound", |file, bytes| {
        Ok(allocated_bound::section(read_json(file, bytes)?))
    }),
    Format::shown::<Comparison>("comparison", |file, bytes| comparison::section(file, body(file, bytes)?)),
    Format {
        section: Some(|file, bytes| match is_over_instance(bytes) {
            true => Ok(task_allocation::section(read_json(file, bytes)?)),
            false => Ok(allocation::section(read_json(file, bytes)?)),
        }),
        table: Some(|file, bytes| match is_over_instance(bytes) {
            true => tabular::<TaskAllocationBody>(file, bytes),
            false => tabular::<AllocationBody>(file, bytes),
        }),
        ..Format::of::<AnyAllocation>("allocation", AllocationBody::FORMAT)
    },
    Format {
        section: Some(|file, bytes| match is_over_instance(bytes) {
            true => Ok(task_offline::section(read_json(file, bytes)?)),
            false => Ok(offline::section(read_json(file, bytes)?)),
        }),
        table: Some(|file, bytes| match is_over_instance(bytes) {
            true => tabular::<TaskOfflineBody>(file, bytes),
            false => tabular::<OfflineBody>(file, bytes),
        }),
        ..Format::of::<AnyOffline>("offline", OfflineBody::FORMAT)
    },
    Format::shown::<Flows>("flows", |file, bytes| Ok(flows::section(body(file, bytes)?))),
    Format::shown::<SimulationBody>("simulation", |file, bytes| {
        Ok(simulation::section(read_json(file, bytes)?))
    }),
    Format::shown::<Verification>("verification", |file, bytes| {
        Ok(verification::section(body(file, bytes)?))
    }),
    Format::shown::<Audit>("audit", |file, bytes| Ok(audit::section(body(file, bytes)?))),
    Format::shown::<Entitlements>("entitlements", |file, bytes| {
        Ok(entitlements::section(body(file, bytes)?))
    }),
    Format::shown::<Explanation>("explanation", |file, bytes| Ok(explanation::section(body(file, bytes)?))),
    Format::shown::<GroupExplanation>("group-explanation", |file, bytes| {
        Ok(group_explanation::section(body(file, bytes)?))
    }),
    Format::shown::<PlanBody>("plan", |file, bytes| Ok(plan::section(read_json(file, bytes)?))),
    Format::shown::<MovesBody>("moves", |file, bytes| Ok(moves::section(body(file, bytes)?))),
    Format::shown::<Worth>("worth", |file, bytes| Ok(worth::section(body(file, bytes)?))),
    Format::shown::<Losses>("loss", |file, bytes| Ok(losses::section(body(file, bytes)?))),
    Format::shown::<Difference>("difference", |file, bytes| Ok(difference::section(body(file, bytes)?))),
    Format::shown::<Growth>("growth", |file, bytes| Ok(growth::section(body(file, bytes)?))),
    Format::shown::<ExportBody>("export", |file, bytes| Ok(export::section(body(file, bytes)?))),
    Format::shown::<ReproductionBody>("reproduction", |file, bytes| {
        Ok(reproduction::section(read_json(file, bytes)?))
    }),
];

impl Format {
    /// The format of documents that this type reads and writes.
    pub const fn of<T: JsonSchema>(name: &'static str, id: &'static str) -> Self {
        Self { name, id, schema: schema_of::<T>, section: None, table: None }
    }

    /// The same of results, which have a table, and which pages show.
    const fn shown<B>(name: &'static str, section: SectionOf) -> Self
    where
        B: Body + Tabular + JsonSchema + 'static,
        Document<B>: DeserializeOwned,
    {
        Self { section: Some(section), table: Some(tabular::<B>), ..Self::of::<Document<B>>(name, B::FORMAT) }
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

impl Section {
    /// What the result in `bytes`, read from `file`, says.
    ///
    /// # Errors
    /// It is no result of fairplan, or one that has no page.
    pub fn read(file: &str, bytes: &[u8]) -> Result<Self, MalformedResult> {
        let mut section = of_result(file, bytes)?;
        section.source = file.into();
        Ok(section)
    }
}

fn of_result(file: &str, bytes: &[u8]) -> Result<Section, MalformedResult> {
    let of_lines = match series::section(file, bytes)? {
        None => audit::section_of_several(file, bytes)?,
        series => series,
    };
    if let Some(section) = of_lines {
        return Ok(section);
    }
    let format = format_of(file, bytes)?;
    let known = FORMATS.iter().find(|known| known.id == format);
    let section = known.and_then(|known| known.section).ok_or_else(|| MalformedResult {
        file: file.into(),
        place: "format".into(),
        problem: format!("a page cannot show {format}; give a result of {SHOWN}"),
    })?;
    section(file, bytes)
}

/// What has the main table of the result in `bytes`, read from `file`.
///
/// # Errors
/// It is no result of fairplan, or one that has no table.
pub fn read_tabular(file: &str, bytes: &[u8]) -> Result<Box<dyn Tabular>, MalformedResult> {
    let format = format_of(file, bytes)?;
    let known = FORMATS.iter().find(|known| known.id == format);
    let table = known.and_then(|known| known.table).ok_or_else(|| MalformedResult {
        file: file.into(),
        place: "format".into(),
        problem: format!("a {format} has no table"),
    })?;
    table(file, bytes)
}

fn tabular<B: Body + Tabular + 'static>(file: &str, bytes: &[u8]) -> Result<Box<dyn Tabular>, MalformedResult>
where
    Document<B>: DeserializeOwned,
{
    Ok(Box::new(body::<B>(file, bytes)?))
}

/// The commands whose results have a page.
const SHOWN: &str = "solve, place, compare, bound, explain, entitlements, audit, verify, allocate, offline, flows, simulate, \
                     plan, export or reproduce";

/// What a result states, without its header.
fn body<B: Body>(file: &str, bytes: &[u8]) -> Result<B, MalformedResult>
where
    Document<B>: DeserializeOwned,
{
    Ok(read_json::<Document<B>>(file, bytes)?.body)
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
