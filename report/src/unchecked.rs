//! What `verify` does not check of each format: names, settings and measures of the run, on which nothing rests. Every other
//! field is proved, recomputed or compared, and a test changes each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A field of a result that is taken as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UncheckedField {
    /// Its place; `[]` stands for every entry of a list.
    pub field: String,
    /// Why nothing rests on it.
    pub reason: String,
}

type Field = (&'static str, &'static str);

const VERSION: Field = ("fairplan_version", "names the program that wrote the result");
const WARNINGS: Field = ("instance.warnings", "remarks about the instance, for its author");
const BACKEND: Field = ("backend", "names the way to the result, which is judged whatever the way");
const METHOD: Field = ("method", "names the way to the result, which is judged whatever the way");
const STATS: Field = ("stats", "measures the run");
const POLICY: Field = ("policy", "names the way to the placement, which is judged whatever the way");
const SEED: Field = ("seed", "names the way to the placement, which is judged whatever the way");
const SEARCH: Field = ("search", "measures the run");
const SETTINGS: Field = ("settings", "the question that was asked: the answer is checked for it");
const PART: Field = ("target.part", "the question that was asked: the level aimed at is checked");
const BOUND: Field = ("target.bound", "the question that was asked: `bound` writes its proof");
const MECHANISM: Field = ("against[].mechanism", "mechanisms are not run again");
const VALUE: Field =
    ("against[].value", "mechanisms are not run again; the regret is checked for this value");
const ONLINE: Field = ("online_bound.mechanism", "mechanisms are not run again");
const ONLINE_VALUE: Field =
    ("online_bound.value", "mechanisms are not run again; the regret is checked for this value");

const TARGET: Field = ("target", "the question that was asked");
const SOLUTION: Field = ("solution_sha256", "`--exported` holds a file against its solution");
const NOTES: Field = ("notes", "words for people");
const NAME: Field = ("tenants[].name", "names the tenant for the scheduler");
const EXPORTED_SHARE: Field = ("tenants[].share", "the solution says and proves it");
const ENTITLED: Field = ("tenants[].entitled", "the scheduler's rule is not run again");
const KEPT: Field =
    ("tenants[].kept", "follows from the whole units and where tasks may run, and is not computed again");

/// The fields of a format that `verify` takes as they are.
pub fn unchecked(format: &str) -> impl Iterator<Item = UncheckedField> {
    let fields: &[Field] = match format {
        "fairplan.solution.v1" => &[VERSION, WARNINGS, BACKEND, METHOD, STATS],
        "fairplan.placement.v1" => &[VERSION, WARNINGS, POLICY, SEED],
        "fairplan.export.v1" => &[VERSION, TARGET, SOLUTION, NOTES, NAME, EXPORTED_SHARE, ENTITLED, KEPT],
        "fairplan.moves.v1" => &[VERSION, WARNINGS, PART, BOUND],
        "fairplan.bound.v1" | "fairplan.proportional-bound.v1" => &[VERSION, WARNINGS, SEARCH],
        "fairplan.offline.v1" => &[VERSION, WARNINGS, SETTINGS, MECHANISM, VALUE, ONLINE, ONLINE_VALUE],
        _ => &[],
    };
    fields.iter().map(|(field, reason)| UncheckedField { field: (*field).into(), reason: (*reason).into() })
}
