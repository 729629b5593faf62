//! The shape of a line of `fairplan.trace.v1` as its schema describes it. Reading and writing it is the business of
//! `fairplan-instances`, which checks more than a schema can say.

use super::instance::DeviceProfiles;
use schemars::JsonSchema;
use std::collections::BTreeMap;

/// One line of a trace: the first is the header, each other one an event. Events come in the order of time; at one time
/// servers are removed, then added, then changed, then tasks submitted.
#[derive(JsonSchema)]
#[schemars(rename = "TraceLine", untagged)]
#[allow(dead_code)]
pub(crate) enum TraceLine {
    /// The first line.
    Header(Header),
    /// Any other line.
    Event(Event),
}

/// What a trace says before its first event.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
pub(crate) struct Header {
    /// The format and its version.
    format: TraceFormat,
    /// What to call the trace.
    #[schemars(default)]
    name: String,
    /// Where it comes from.
    #[schemars(default)]
    source: String,
    /// The names of the resources.
    #[schemars(length(min = 1, max = 1000), extend("uniqueItems" = true))]
    resources: Vec<String>,
    /// How many decimal places amounts of a resource have at most; one left out has 9.
    decimal_places: Option<BTreeMap<String, DecimalPlaces>>,
    /// The size of one device of a resource: every server has it as whole devices, of which a task takes a part of one or whole ones.
    devices: Option<BTreeMap<String, PositiveAmount>>,
    /// Into what each device of a resource can be cut, as in an instance.
    device_profiles: Option<BTreeMap<String, DeviceProfiles>>,
    /// Rules that tasks can meet, by name.
    rules: Option<BTreeMap<String, Rules>>,
    /// Servers that are there from the beginning. Those of a class called c are the servers c/1, c/2 and so on.
    server_classes: Option<Vec<Class>>,
    /// All users. Absent: users are those who submit tasks, and each has weight 1.
    users: Option<Vec<User>>,
    /// What was counted when the trace was made, such as what was left out and why.
    counts: Option<BTreeMap<String, u64>>,
}

/// The format and its version.
#[derive(JsonSchema)]
#[allow(dead_code)]
pub(crate) enum TraceFormat {
    /// Version 1.
    #[schemars(rename = "fairplan.trace.v1")]
    V1,
}

/// Identical servers.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
pub(crate) struct Class {
    /// Unique name.
    #[schemars(length(min = 1))]
    id: String,
    /// How many servers.
    #[schemars(range(max = 10_000_000_u64))]
    count: u64,
    /// The rack or zone that they are in: of all servers where some rules are about domains.
    #[schemars(length(min = 1))]
    domain: Option<String>,
    /// One server's capacity; a resource left out is 0.
    capacity: BTreeMap<String, Amount>,
}

/// Rules that tasks which are submitted together meet.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
pub(crate) struct Rules {
    /// So many tasks start at once, or none; the tasks of an event are a multiple of it.
    #[schemars(range(min = 2))]
    gang: Option<u64>,
    /// Whether each gang runs within one domain.
    gang_in_domain: Option<bool>,
    /// By how many the tasks in two domains differ at most when one of them starts.
    #[schemars(range(min = 1))]
    spread: Option<u64>,
    /// At most so many of the tasks on one server.
    #[schemars(range(min = 1))]
    per_server: Option<u64>,
    /// The profile of the part of a device that each task takes; its demand may leave out that resource.
    profile: Option<String>,
}

/// A user.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
pub(crate) struct User {
    /// Unique name.
    #[schemars(length(min = 1))]
    id: String,
    /// Its weight; absent: 1.
    #[schemars(extend("exclusiveMinimum" = 0))]
    weight: Option<f64>,
}

/// What happens, and when.
#[derive(JsonSchema)]
#[schemars(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
#[allow(dead_code)]
pub(crate) enum Event {
    /// A server leaves; what runs on it is lost.
    ServerRemoved {
        /// When.
        time: Seconds,
        /// Its name.
        #[schemars(length(min = 1))]
        server: String,
    },
    /// A server comes that was not there.
    ServerAdded {
        /// When.
        time: Seconds,
        /// Its name.
        #[schemars(length(min = 1))]
        server: String,
        /// The rack or zone that it is in: of all servers where some rules are about domains.
        #[schemars(length(min = 1))]
        domain: Option<String>,
        /// What it has; a resource left out is 0.
        capacity: BTreeMap<String, Amount>,
    },
    /// A server that is there has another capacity from now on.
    ServerChanged {
        /// When.
        time: Seconds,
        /// Its name.
        #[schemars(length(min = 1))]
        server: String,
        /// What it has; a resource left out is 0.
        capacity: BTreeMap<String, Amount>,
    },
    /// Identical tasks of one job are submitted.
    TasksSubmitted {
        /// When.
        time: Seconds,
        /// Whose tasks they are.
        #[schemars(length(min = 1))]
        user: String,
        /// The job they belong to; all its tasks are of one user.
        #[schemars(length(min = 1))]
        job: String,
        /// What one task needs while it runs; a resource left out is 0, not all are.
        demand: BTreeMap<String, Amount>,
        /// How long each task runs once it has started, in seconds with at most six decimal places, more than 0.
        #[schemars(extend("exclusiveMinimum" = 0))]
        duration: f64,
        /// How many tasks; absent: 1.
        #[schemars(range(min = 1))]
        count: Option<u32>,
        /// Which of the header's rules these tasks meet, counted together; absent: none but devices.
        rules: Option<String>,
        /// Whether more tasks of the job are submitted later; absent: no, and a later job may have the same name.
        more: Option<bool>,
    },
}

/// A time in seconds with at most six decimal places.
#[derive(JsonSchema)]
#[allow(dead_code)]
pub(crate) struct Seconds(#[schemars(range(min = 0))] f64);

/// An exact decimal.
#[derive(JsonSchema)]
#[allow(dead_code)]
pub(crate) struct Amount(#[schemars(range(min = 0))] f64);

/// An exact decimal above 0.
#[derive(JsonSchema)]
#[allow(dead_code)]
pub(crate) struct PositiveAmount(#[schemars(extend("exclusiveMinimum" = 0))] f64);

/// A number of decimal places.
#[derive(JsonSchema)]
#[allow(dead_code)]
pub(crate) struct DecimalPlaces(#[schemars(range(max = 18))] u8);
