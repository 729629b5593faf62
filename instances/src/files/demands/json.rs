//! Reading `fairplan.demands.v1`: users, and one row of demands a quantum.

use crate::{DemandSeries, DemandSeriesBuilder, InstanceError, QuantumLabel, Violation};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{FORM, Rounding};
use crate::files::source::Source;
use crate::files::strict_json::{Text, document, for_each, number};
use crate::stated;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<'a> {
    #[serde(borrow)]
    format: Text<'a>,
    #[serde(borrow)]
    users: &'a RawValue,
    /// The file of the instance whose tasks are demanded.
    #[serde(borrow, default, deserialize_with = "stated")]
    instance: Option<Text<'a>>,
    /// Labels of the quanta; absent: 0, 1, 2, …
    #[serde(borrow, default, deserialize_with = "stated")]
    quanta: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    demands: &'a RawValue,
}

pub(super) fn read(
    source: Source,
    rounding: Rounding,
) -> Result<(DemandSeries, Option<String>), InstanceError> {
    let file = source.name().to_owned();
    let content = source.read_all()?;
    let document: Document = document(&file, &content, &FORM)?;
    let named = document.instance.as_ref().map(|name| name.0.clone().into_owned());
    let series = series(&document, rounding);
    Ok((series.map_err(|violation| InstanceError::Invalid { file, violation })?, named))
}

fn series(document: &Document, rounding: Rounding) -> Result<DemandSeries, Violation> {
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
