//! The table of policies of a comparison; the utilization of each resource is a column of its own.

use super::TableFormat;
use super::sheet::{Cells, Sheet};
use crate::comparison::ComparisonDocument;
use crate::output::Sink;
use std::io;

/// Writes the policies of a comparison, in the order asked for. Whether one is proved optimal is left empty where no bound
/// of whole tasks was computed.
pub fn write_comparison(
    out: &mut Sink,
    format: TableFormat,
    document: &ComparisonDocument<'_>,
) -> io::Result<()> {
    let policies = &document.policies;
    let resources = policies.first().map_or(&[][..], |policy| &policy.utilization.0);
    let names: Vec<String> = resources.iter().map(|(name, _)| format!("utilization_{name}")).collect();
    let mut columns = vec![
        ("name", Cells::Words(policies.iter().map(|policy| &*policy.name).collect())),
        ("value", Cells::Numbers(policies.iter().map(|policy| policy.value).collect())),
        ("tasks", Cells::Counts(policies.iter().map(|policy| policy.tasks).collect())),
        ("gap_to_divisible", Cells::Numbers(policies.iter().map(|policy| policy.gap_to_divisible).collect())),
        ("gap_to_integral", Cells::Optional(policies.iter().map(|policy| policy.gap_to_integral).collect())),
        ("proved_optimal", Cells::Answers(policies.iter().map(|policy| policy.proved_optimal).collect())),
        ("seconds", Cells::Optional(policies.iter().map(|policy| policy.seconds).collect())),
    ];
    for (r, name) in names.iter().enumerate() {
        let part = policies.iter().map(|policy| policy.utilization.0.get(r).map(|(_, part)| *part)).collect();
        columns.push((name, Cells::Optional(part)));
    }
    Sheet(columns).write(out, format)
}
