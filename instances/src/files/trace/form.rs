//! What traces in files have in common, however they are written.

use crate::files::strict_json::Form;
use crate::trace::LATEST;
use crate::{Decimal, Violation};

/// The version that the reader expects and the writer states.
pub(super) const FORM: Form = Form {
    format: "fairplan.trace.v1",
    what: "trace",
    otherwise: "the first line of JSON Lines is its header",
};

/// The names of the events, in the order in which events of the same time stand.
pub(super) const EVENTS: [&str; 4] = ["server_removed", "server_added", "server_changed", "tasks_submitted"];

/// Seconds as whole microseconds.
pub(super) fn microseconds(seconds: Decimal) -> Result<u64, &'static str> {
    let whole = seconds.scaled(-6).ok_or("has more than 6 decimal places; times are whole microseconds")?;
    u64::try_from(whole).ok().filter(|&time| time <= LATEST).ok_or("must be less than 4e12 seconds")
}

/// A field that the event needs and does not have, or has and does not know.
pub(super) fn misplaced(field: &str, event: &str, is_there: bool) -> Violation {
    let problem = if is_there { "means nothing for" } else { "is missing from" };
    Violation::new(field, "", format!("{problem} {event}"))
}
