//! Reading `fairplan.demands.v1`: users, and one row of demands a quantum.

use crate::{DemandSeries, DemandSeriesBuilder, InstanceError, QuantumLabel, Violation};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::form::FORM;
use super::rounding::Rounding;
use crate::files::source::Source;
use crate::files::strict_json::{Text, document, for_each, number};
use crate::stated;

/// Demands over time: how many slices of one resource, or tasks over the servers of an instance, each user asks for in
/// each quantum.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Demands")]
pub struct DemandsFile<'a> {
    /// The format and its version.
    #[serde(borrow)]
    #[schemars(extend("const" = FORM.format))]
    format: Text<'a>,
    /// The users' ids, each a unique name.
    #[serde(borrow)]
    #[schemars(with = "Vec<String>", length(min = 1), inner(length(min = 1)), extend("uniqueItems" = true))]
    users: &'a RawValue,
    /// The file of the instance whose tasks are demanded, relative to this one. Absent: slices of one resource.
    #[serde(borrow, default, deserialize_with = "stated")]
    instance: Option<Text<'a>>,
    /// What the quanta are called: whole numbers in ascending order at even steps, or texts that sort in the order of
    /// time. Absent: 0, 1, 2 and so on. Whole numbers left out are quanta without demand.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<Vec<QuantumLabel<'a>>>")]
    quanta: Option<Vec<&'a RawValue>>,
    /// One row a quantum, one number a user: a demand in slices, a whole number unless fractions are asked to be rounded.
    #[serde(borrow)]
    #[schemars(
        with = "Vec<Vec<f64>>",
        length(min = 1),
        inner(inner(range(min = 0, max = 100_000_000_000_u64)))
    )]
    demands: &'a RawValue,
}

impl DemandsFile<'_> {
    /// The format's name and version.
    pub const FORMAT: &'static str = FORM.format;
}

pub(super) fn read(
    source: Source,
    rounding: Rounding,
) -> Result<(DemandSeries, Option<String>), InstanceError> {
    let file = source.name().to_owned();
    let content = source.read_all()?;
    let document: DemandsFile = document(&file, &content, &FORM)?;
    let named = document.instance.as_ref().map(|name| name.0.clone().into_owned());
    let series = series(&document, rounding);
    Ok((series.map_err(|violation| InstanceError::Invalid { file, violation })?, named))
}

fn series(document: &DemandsFile, rounding: Rounding) -> Result<DemandSeries, Violation> {
    FORM.expect(&document.format)?;
    let mut builder = DemandSeriesBuilder::default();
    let mut users = 0;
    for_each(document.users, "users", |position, id: Text| {
        users += 1;
        let at = |violation| Violation { place: format!("users[{position}]"), ..violation };
        builder.user(&id.0).map(|_| ()).map_err(at)
    })?;
    let mut quanta = 0;
    for_each(document.demands, "demands", |quantum, row: Vec<&RawValue>| {
        quanta += 1;
        match document.quanta.as_ref().map(|labels| labels.get(quantum)) {
            None => builder.quantum(QuantumLabel::Number(quantum as u64))?,
            Some(Some(raw)) => {
                let place = || format!("quanta[{quantum}]");
                let at = |violation| Violation { place: place(), ..violation };
                let text = serde_json::from_str::<Text>(raw.get()).ok();
                let label = match &text {
                    Some(text) => QuantumLabel::Text(&text.0),
                    None => QuantumLabel::Number(Rounding::Refused.apply(number(raw, place)?, place)?),
                };
                builder.quantum(label).map_err(at)?
            }
            Some(None) => return Ok(()), // Counted below.
        }
        if row.len() != users {
            let entries = format!("{} entries", row.len());
            return Err(Violation::new(
                format!("demands[{quantum}]"),
                entries,
                format!("there are {users} users"),
            ));
        }
        for (user, raw) in row.into_iter().enumerate() {
            let place = || format!("demands[{quantum}][{user}]");
            let slices = rounding.apply(number(raw, place)?, place)?;
            builder.demand(user, slices).map_err(|violation| Violation { place: place(), ..violation })?;
        }
        Ok(())
    })?;
    if let Some(labels) = &document.quanta
        && labels.len() != quanta
    {
        let entries = format!("{} entries", labels.len());
        return Err(Violation::new("quanta", entries, format!("there are demands of {quanta} quanta")));
    }
    builder.build()
}
