//! What queues of YARN state that an instance cannot: by field of each scheduler what is told of it.

use crate::report::ImportReport;

/// A field, the values with which it says nothing, and what is told of others.
pub(super) type Unkept = (&'static str, &'static [&'static str], &'static str);

const USERS: &str = "queues whose limits of single users are left out";
const WEIGHTS: &str = "queues whose weights of single users are left out";
const APPLICATIONS: &str = "queues whose limits of the number of applications are left out";
const CONTAINERS: &str = "queues whose limits of the size of a container are left out";
const MASTERS: &str = "queues whose limits of application masters are left out";
const PREEMPTION: &str = "queues that are not to be preempted, which is left out";
const DEFAULT_LABEL: &str = "queues whose label for applications that name none is left out: here these run on all nodes that a queue may use";
const TO_COME: &str = "queues whose queues to come, made for users, are left out";
const PRIORITY: &str = "queues whose priorities are left out: here shares alone decide";
const BELOW: &str = "queues whose maxChildResources are not read";
const RESERVATION: &str = "queues for reservations, which are not kept";

/// Of queues of the capacity scheduler.
pub(super) const CAPACITY: [Unkept; 16] = [
    ("auto-create-child-queue.enabled", &["false"], TO_COME),
    ("auto-queue-creation-v2.enabled", &["false"], TO_COME),
    ("default-node-label-expression", &[""], DEFAULT_LABEL),
    ("disable_preemption", &["false"], PREEMPTION),
    ("intra-queue-preemption.disable_preemption", &["false"], PREEMPTION),
    ("max-parallel-apps", &[], APPLICATIONS),
    ("maximum-allocation", &[], CONTAINERS),
    ("maximum-allocation-mb", &[], CONTAINERS),
    ("maximum-allocation-vcores", &[], CONTAINERS),
    ("maximum-am-resource-percent", &["1", "1.0"], MASTERS),
    ("maximum-applications", &[], APPLICATIONS),
    ("minimum-user-limit-percent", &["100"], USERS),
    ("priority", &["0"], PRIORITY),
    ("reservable", &["false"], RESERVATION),
    ("user-limit-factor", &["-1", "1", "1.0"], USERS),
    ("user-settings", &[], WEIGHTS),
];

/// Of queues of the fair scheduler.
pub(super) const FAIR: [Unkept; 6] = [
    ("allowPreemptionFrom", &["true"], PREEMPTION),
    ("maxAMShare", &["1", "1.0", "-1", "-1.0"], MASTERS),
    ("maxChildResources", &[], BELOW),
    ("maxContainerAllocation", &[], CONTAINERS),
    ("maxRunningApps", &[], APPLICATIONS),
    ("reservation", &[], RESERVATION),
];

/// Tells of the fields of one queue, by name and value, once of each kind.
pub(super) fn tell<'a>(
    table: &[Unkept],
    queue: &str,
    fields: impl Iterator<Item = (&'a str, &'a str)>,
    report: &mut ImportReport,
) {
    let of = |(field, value): (&str, &str)| {
        let (_, usual, told) = table.iter().find(|(known, ..)| *known == field)?;
        (!usual.iter().any(|usual| usual.eq_ignore_ascii_case(value.trim()))).then_some(*told)
    };
    let mut told: Vec<&str> = Vec::new();
    for what in fields.filter_map(of) {
        if !told.contains(&what) {
            told.push(what);
            report.named(what, queue);
        }
    }
}
