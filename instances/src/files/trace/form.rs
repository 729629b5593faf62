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

/// What an event may say beside its name and `time`.
pub(super) struct EventForm {
    pub name: &'static str,
    /// What happens, for people.
    pub what: &'static str,
    /// The fields that it must have, in the order in which they are missed.
    pub needs: &'static [&'static str],
    /// Those that it may leave out.
    pub may_have: &'static [&'static str],
}

/// The events, in the order in which events of the same time stand.
pub(super) const EVENTS: [EventForm; 4] = [
    EventForm {
        name: "server_removed",
        what: "A server leaves; what runs on it is lost.",
        needs: &["server"],
        may_have: &[],
    },
    EventForm {
        name: "server_added",
        what: "A server comes that was not there.",
        needs: &["server", "capacity"],
        may_have: &["domain"],
    },
    EventForm {
        name: "server_changed",
        what: "A server that is there has another capacity from now on.",
        needs: &["server", "capacity"],
        may_have: &[],
    },
    EventForm {
        name: "tasks_submitted",
        what: "Identical tasks of one job are submitted.",
        needs: &["user", "job", "demand", "duration"],
        may_have: &["count", "rules", "more"],
    },
];

/// The position of an event of this name.
pub(super) fn event_named(name: &str) -> Result<usize, Violation> {
    EVENTS.iter().position(|event| event.name == name).ok_or_else(|| {
        let names = EVENTS.map(|event| event.name).join(", ");
        Violation::new("event", name, format!("there are {names}"))
    })
}

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
