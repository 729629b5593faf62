//! Every format: its names, its JSON Schema, and what a page says of a result of it.

use crate::allocated_bound::AllocatedBoundDocument;
use crate::bound::BoundDocument;
use crate::comparison::Comparison;
use crate::entitlements::Entitlements;
use crate::flows::Flows;
use crate::json::{MalformedResult, format_of, read_json};
use crate::moves::MovesBody;
use crate::offline::AnyOffline;
use crate::page::{Section, is_over_instance};
use crate::placement::PlacementDocument;
use crate::planning::PlanDocument;
use crate::proportional_bound::ProportionalBoundDocument;
use crate::reproduction::ReproductionDocument;
use crate::results::*;
use crate::schema::{InstanceDocument, TraceLine, schema_of};
use crate::simulation::SimulationDocument;
use crate::solution::SolutionDocument;
use crate::task_allocation::AnyAllocation;
use crate::verification::Verification;
use fairplan_analysis::{Audit, Difference, Explanation, GroupExplanation, Growth, Losses, Worth};
use fairplan_exports::ExportBody;
use fairplan_instances::files::{CatalogFile, DemandsFile, TrafficFile};
use fairplan_instances::{Body, Document};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;

/// A format, its schema, and the section of a page that shows a result of it.
pub struct Format {
    /// Its short name (`solution`), which `schema` takes.
    pub name: &'static str,
    /// Its full name, as documents state it (`fairplan.solution.v1`).
    pub id: &'static str,
    schema: fn() -> Schema,
    section: Option<SectionOf>,
}

/// What a page says of a result that is read from a file of this name, with these bytes.
type SectionOf = fn(&str, &[u8]) -> Result<Section, MalformedResult>;

/// Every format, inputs first.
pub static FORMATS: [Format; 28] = [
    Format::of::<InstanceDocument>("instance", "fairplan.instance.v1"),
    Format::of::<DemandsFile<'static>>("demands", "fairplan.demands.v1"),
    Format::of::<TrafficFile<'static>>("traffic", "fairplan.traffic.v1"),
    Format::of::<CatalogFile<'static>>("catalog", "fairplan.catalog.v1"),
    Format::of::<TraceLine>("trace", "fairplan.trace.v1"),
    Format::shown::<SolutionDocument>("solution", "fairplan.solution.v1", |file, bytes| {
        Ok(solution::section(read_json(file, bytes)?))
    }),
    Format::shown::<PlacementDocument>("placement", "fairplan.placement.v1", |file, bytes| {
        Ok(placement::section(read_json(file, bytes)?))
    }),
    Format::shown::<BoundDocument>("bound", "fairplan.bound.v1", |file, bytes| {
        Ok(bound::section(read_json(file, bytes)?))
    }),
    Format::shown::<ProportionalBoundDocument>(
        "proportional-bound",
        "fairplan.proportional-bound.v1",
        |file, bytes| Ok(proportional_bound::section(read_json(file, bytes)?)),
    ),
    Format::shown::<AllocatedBoundDocument>(
        "allocated-bound",
        "fairplan.allocated-bound.v1",
        |file, bytes| Ok(allocated_bound::section(read_json(file, bytes)?)),
    ),
    Format::shown::<Document<Comparison>>("comparison", "fairplan.comparison.v1", |file, bytes| {
        comparison::section(file, body(file, bytes)?)
    }),
    Format::shown::<AnyAllocation>("allocation", "fairplan.allocation.v1", |file, bytes| {
        match is_over_instance(bytes) {
            true => Ok(task_allocation::section(read_json(file, bytes)?)),
            false => Ok(allocation::section(read_json(file, bytes)?)),
        }
    }),
    Format::shown::<AnyOffline>("offline", "fairplan.offline.v1", |file, bytes| {
        match is_over_instance(bytes) {
            true => Ok(task_offline::section(read_json(file, bytes)?)),
            false => Ok(offline::section(read_json(file, bytes)?)),
        }
    }),
    Format::shown::<Document<Flows>>("flows", "fairplan.flows.v1", |file, bytes| {
        Ok(flows::section(body(file, bytes)?))
    }),
    Format::shown::<SimulationDocument>("simulation", "fairplan.simulation.v1", |file, bytes| {
        Ok(simulation::section(read_json(file, bytes)?))
    }),
    Format::shown::<Document<Verification>>("verification", "fairplan.verification.v1", |file, bytes| {
        Ok(verification::section(body(file, bytes)?))
    }),
    Format::shown::<Document<Audit>>("audit", "fairplan.audit.v1", |file, bytes| {
        Ok(audit::section(body(file, bytes)?))
    }),
    Format::shown::<Document<Entitlements>>("entitlements", "fairplan.entitlements.v1", |file, bytes| {
        Ok(entitlements::section(body(file, bytes)?))
    }),
    Format::shown::<Document<Explanation>>("explanation", "fairplan.explanation.v1", |file, bytes| {
        Ok(explanation::section(body(file, bytes)?))
    }),
    Format::shown::<Document<GroupExplanation>>(
        "group-explanation",
        "fairplan.group-explanation.v1",
        |file, bytes| Ok(group_explanation::section(body(file, bytes)?)),
    ),
    Format::shown::<PlanDocument>("plan", "fairplan.plan.v1", |file, bytes| {
        Ok(plan::section(read_json(file, bytes)?))
    }),
    Format::shown::<Document<MovesBody>>("moves", "fairplan.moves.v1", |file, bytes| {
        Ok(moves::section(body(file, bytes)?))
    }),
    Format::shown::<Document<Worth>>("worth", "fairplan.worth.v1", |file, bytes| {
        Ok(worth::section(body(file, bytes)?))
    }),
    Format::shown::<Document<Losses>>("loss", "fairplan.loss.v1", |file, bytes| {
        Ok(losses::section(body(file, bytes)?))
    }),
    Format::shown::<Document<Difference>>("difference", "fairplan.difference.v1", |file, bytes| {
        Ok(difference::section(body(file, bytes)?))
    }),
    Format::shown::<Document<Growth>>("growth", "fairplan.growth.v1", |file, bytes| {
        Ok(growth::section(body(file, bytes)?))
    }),
    Format::shown::<Document<ExportBody>>("export", "fairplan.export.v1", |file, bytes| {
        Ok(export::section(body(file, bytes)?))
    }),
    Format::shown::<ReproductionDocument>("reproduction", "fairplan.reproduction.v1", |file, bytes| {
        Ok(reproduction::section(read_json(file, bytes)?))
    }),
];

impl Format {
    /// The format of documents that this type reads and writes.
    pub const fn of<T: JsonSchema>(name: &'static str, id: &'static str) -> Self {
        Self { name, id, schema: schema_of::<T>, section: None }
    }

    /// The same of results that pages show.
    const fn shown<T: JsonSchema>(name: &'static str, id: &'static str, section: SectionOf) -> Self {
        Self { section: Some(section), ..Self::of::<T>(name, id) }
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
