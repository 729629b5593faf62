//! Reading `fairplan.traffic.v1`.

use crate::{InstanceError, Traffic, TrafficClass, Violation, Work, WorkDistribution};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::FORM;
use crate::files::amounts::Amounts;
use crate::files::source;
use crate::files::strict_json::{Entries, Object, Text, document, for_each, number};
use crate::stated;

/// Stochastic demand: classes of transactions that arrive as Poisson processes, bring work and share a pool.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Traffic")]
pub struct TrafficFile<'a> {
    /// The format and its version.
    #[serde(borrow)]
    #[schemars(extend("const" = FORM.format))]
    format: Text<'a>,
    /// What to call the traffic.
    #[serde(borrow, default)]
    name: Text<'a>,
    /// The names of the resources.
    #[serde(borrow)]
    #[schemars(with = "Vec<String>", length(min = 1, max = 64), extend("uniqueItems" = true))]
    resources: &'a RawValue,
    /// How much there is of each resource, above 0; a resource left out has 1.
    #[serde(borrow, default, deserialize_with = "stated")]
    capacity: Option<Entries<'a>>,
    /// The classes.
    #[serde(borrow)]
    #[schemars(with = "Vec<Class<'a>>", length(min = 1, max = 64))]
    classes: &'a RawValue,
}

impl TrafficFile<'_> {
    /// The format's name and version.
    pub const FORMAT: &'static str = FORM.format;
}

/// Transactions that are alike: jobs of many tasks, or flows of many packets.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Class<'a> {
    /// Unique name.
    #[serde(borrow)]
    #[schemars(length(min = 1))]
    id: Text<'a>,
    /// What a transaction takes of each resource to do one unit of work in a unit of time; a resource left out is 0.
    #[serde(borrow)]
    demand: Entries<'a>,
    /// Transactions that arrive in a unit of time, above 0.
    #[serde(borrow)]
    #[schemars(with = "f64", range(max = 1e30), extend("exclusiveMinimum" = 0))]
    arrival_rate: &'a RawValue,
    /// The work that each brings; absent: exponential with mean 1.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<WorkFields<'a>>")]
    work: Option<Object<WorkFields<'a>>>,
    /// What it claims to take instead of its demand.
    #[serde(borrow, default, deserialize_with = "stated")]
    claim: Option<Entries<'a>>,
    /// Packets: time that the answer to one travels; absent: 0.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1e30))]
    propagation_time: Option<&'a RawValue>,
    /// Packets: what they take one after the other, and again from the first. Their mean is the demand.
    #[serde(borrow, default, deserialize_with = "stated")]
    packet_demands: Option<Vec<Entries<'a>>>,
}

/// The work of a transaction, a random number.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Work")]
struct WorkFields<'a> {
    /// Its mean, above 0; absent: 1.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<f64>", range(max = 1e30), extend("exclusiveMinimum" = 0))]
    mean: Option<&'a RawValue>,
    /// How it is distributed around its mean; absent: exponential. `deterministic` is always the mean, `hyper-exponential` one of two
    /// exponential phases, each of which brings half of the work, `pareto` heavy tailed.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(extend("enum" = ["exponential", "deterministic", "hyper-exponential", "pareto"]))]
    distribution: Option<Text<'a>>,
    /// Hyper-exponential work: variance over the square of the mean, at least 1.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<f64>")]
    squared_variation: Option<&'a RawValue>,
    /// Pareto work: how the tail falls, above 1.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<f64>")]
    shape: Option<&'a RawValue>,
}

/// Reads traffic from `fairplan.traffic.v1` JSON, gzipped or not; `-` is standard input.
///
/// Refused: another format version, unknown or duplicate keys at any level, numbers that are no exact non-negative
/// decimals, and whatever [`Traffic::new`] refuses.
pub fn read_traffic(path: &str) -> Result<Traffic, InstanceError> {
    let source = source::open(path)?;
    let file = source.name().to_owned();
    read_traffic_in_memory(&file, &source.read_all()?)
}

/// The same of JSON in memory, which messages call `file`.
pub fn read_traffic_in_memory(file: &str, content: &[u8]) -> Result<Traffic, InstanceError> {
    let document: TrafficFile = document(file, content, &FORM)?;
    traffic(&document).map_err(|violation| InstanceError::Invalid { file: file.to_owned(), violation })
}

fn traffic(document: &TrafficFile) -> Result<Traffic, Violation> {
    FORM.expect(&document.format)?;
    let mut resources: Vec<String> = Vec::new();
    for_each(document.resources, "resources", |_, name: Text| {
        resources.push(name.0.into_owned());
        Ok(())
    })?;
    let mut amounts = Amounts::new(resources.clone());
    let mut read = |entries: &Entries, place: &dyn Fn() -> String| {
        amounts.read(entries, place)?;
        Ok((amounts.values.iter().map(|amount| amount.to_f64()).collect::<Vec<f64>>(), amounts.named.clone()))
    };
    let mut capacity = vec![1.0; resources.len()];
    if let Some(entries) = &document.capacity {
        let (given, named) = read(entries, &|| "capacity".into())?;
        for r in (0..capacity.len()).filter(|r| named[*r]) {
            capacity[r] = given[r];
        }
    }
    let mut classes = Vec::new();
    for_each(document.classes, "classes", |position, Object(class): Object<Class>| {
        let place = |field: &str| format!("classes[{position}].{field}");
        let number_at =
            |raw: &RawValue, field: &str| number(raw, || place(field)).map(|number| number.to_f64());
        let demand = read(&class.demand, &|| place("demand"))?.0;
        let mut packets = Vec::new();
        for (packet, entries) in class.packet_demands.iter().flatten().enumerate() {
            packets.push(read(entries, &|| place(&format!("packet_demands[{packet}]")))?.0);
        }
        classes.push(TrafficClass {
            id: class.id.0.into_owned(),
            demand,
            claim: class
                .claim
                .as_ref()
                .map(|claim| read(claim, &|| place("claim")))
                .transpose()?
                .map(|read| read.0),
            arrival_rate: number_at(class.arrival_rate, "arrival_rate")?,
            work: work(class.work.as_ref().map(|work| &work.0), &number_at, place)?,
            propagation_time: match class.propagation_time {
                Some(raw) => number_at(raw, "propagation_time")?,
                None => 0.0,
            },
            packet_demands: packets,
        });
        Ok(())
    })?;
    Traffic::new(document.name.0.as_ref(), resources, capacity, classes)
}

fn work(
    fields: Option<&WorkFields>,
    number_at: &dyn Fn(&RawValue, &str) -> Result<f64, Violation>,
    place: impl Fn(&str) -> String,
) -> Result<Work, Violation> {
    let mean = fields.and_then(|fields| fields.mean).map(|raw| number_at(raw, "work.mean")).transpose()?;
    let name = fields.and_then(|fields| fields.distribution.as_ref()).map_or("exponential", |name| &name.0);
    let squared_variation = fields.and_then(|fields| fields.squared_variation);
    let shape = fields.and_then(|fields| fields.shape);
    let parameter = |raw: Option<&RawValue>, field: &str| match raw {
        Some(raw) => number_at(raw, &format!("work.{field}")),
        None => {
            let problem = format!("must be given for {name} work");
            Err(Violation::new(place(&format!("work.{field}")), "", problem))
        }
    };
    let distribution = match name {
        "exponential" => WorkDistribution::Exponential,
        "deterministic" => WorkDistribution::Deterministic,
        "hyper-exponential" => WorkDistribution::HyperExponential {
            squared_variation: parameter(squared_variation, "squared_variation")?,
        },
        "pareto" => WorkDistribution::Pareto { shape: parameter(shape, "shape")? },
        _ => {
            let problem = "use exponential, deterministic, hyper-exponential or pareto";
            return Err(Violation::new(place("work.distribution"), name, problem));
        }
    };
    let idle = |field: &str| {
        let problem = format!("means nothing for {name} work; leave it out");
        Err(Violation::new(place(&format!("work.{field}")), "", problem))
    };
    match distribution {
        WorkDistribution::HyperExponential { .. } => {}
        _ if squared_variation.is_some() => return idle("squared_variation"),
        _ => {}
    }
    match distribution {
        WorkDistribution::Pareto { .. } => {}
        _ if shape.is_some() => return idle("shape"),
        _ => {}
    }
    Ok(Work { mean: mean.unwrap_or(1.0), distribution })
}
