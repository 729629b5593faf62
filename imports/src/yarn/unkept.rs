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
const APPLICATIONS_FIRST: &str =
    "queues whose priorities of applications are left out: here shares alone decide";
const BELOW: &str = "queues whose maxChildResources are not read";
const RESERVATION: &str = "queues for reservations, which are not kept";

/// Of queues of the capacity scheduler.
pub(super) const CAPACITY: [Unkept; 17] = [
    ("auto-create-child-queue.enabled", &["false"], TO_COME),
    ("auto-queue-creation-v2.enabled", &["false"], TO_COME),
    ("default-application-priority", &["0"], APPLICATIONS_FIRST),
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

const OF_ALL_MASTERS: &str = "limits of application masters in all queues left out";
const OF_ALL_APPLICATIONS: &str = "limits of the number of applications in all queues left out";
const OF_ALL_USERS: &str = "limits of single users in all queues left out";
const PLACEMENT: &str =
    "rules for the queue of an application left out: here there are the queues of the file, and no others";
const OF_ALL_PRIORITIES: &str = "priorities of applications in all queues left out: here shares alone decide";

/// Of the capacity scheduler itself.
pub(super) const CAPACITY_OF_ALL: [Unkept; 12] = [
    ("default-application-priority", &["0"], OF_ALL_PRIORITIES),
    ("mapping-rule-json", &[""], PLACEMENT),
    ("mapping-rule-json-file", &[""], PLACEMENT),
    ("max-parallel-apps", &[], OF_ALL_APPLICATIONS),
    ("maximum-am-resource-percent", &["1", "1.0"], OF_ALL_MASTERS),
    ("maximum-applications", &["10000"], OF_ALL_APPLICATIONS),
    ("minimum-user-limit-percent", &["100"], OF_ALL_USERS),
    ("queue-mappings", &[""], PLACEMENT),
    ("queue-placement-rules.app-name", &[""], PLACEMENT),
    ("user-limit-factor", &["-1", "1", "1.0"], OF_ALL_USERS),
    ("user.max-parallel-apps", &[], OF_ALL_USERS),
    ("workflow-priority-mappings", &[""], OF_ALL_PRIORITIES),
];

/// What else the capacity scheduler itself is told: how it works, not who gets what.
pub(super) const WORKINGS: [&str; 14] = [
    "application.fail-fast",
    "fail-fast",
    "lazy-preemption-enabled",
    "legacy-queue-mode.enabled",
    "mapping-rule-format",
    "node-locality-delay",
    "queue-mappings-override.enable",
    "queue-mappings.override.enable",
    "rack-locality-additional-delay",
    "rack-locality-full-reset",
    "reservations-continue-look-all-nodes",
    "resource-calculator",
    "skip-allocate-on-nodes-with-reserved-containers",
    "workflow-priority-mappings-override.enable",
];
/// How the names of more of this begin.
pub(super) const OF_WORKINGS: [&str; 5] = [
    "configuration.",
    "multi-node-",
    "per-node-heartbeat.",
    "queue.auto.refresh.",
    "schedule-asynchronously.",
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

/// Of the fair scheduler itself.
pub(super) const FAIR_OF_ALL: [Unkept; 1] = [("queuePlacementPolicy", &[], PLACEMENT)];

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
