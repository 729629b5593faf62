//! The shape of `fairplan.instance.v1` as its schema describes it. Reading and writing it is the business of
//! `fairplan-instances`, which checks more than a schema can say; a test holds the two together.

use schemars::JsonSchema;
use std::collections::BTreeMap;

/// A cluster of servers and the users that share it. Numbers are decimals and mean exactly what they say.
#[derive(JsonSchema)]
#[schemars(rename = "Instance", deny_unknown_fields)]
#[allow(dead_code)]
pub(crate) struct InstanceDocument {
    /// The format and its version.
    format: InstanceFormat,
    /// What to call the instance.
    #[schemars(default)]
    name: String,
    /// The names of the resources, in the order in which they are reported.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    resources: Vec<String>,
    /// The servers, in classes of identical ones.
    #[schemars(length(min = 1))]
    server_classes: Vec<ServerClass>,
    /// Into what the devices of a resource can be cut.
    device_profiles: Option<BTreeMap<String, DeviceProfiles>>,
    /// Groups of users, and of groups; parents in any order. A group counts as one beside its siblings.
    #[schemars(default)]
    groups: Vec<Group>,
    /// The users.
    #[schemars(length(min = 1))]
    users: Vec<User>,
}

/// The format and its version.
#[derive(JsonSchema)]
#[allow(dead_code)]
enum InstanceFormat {
    /// Version 1.
    #[schemars(rename = "fairplan.instance.v1")]
    V1,
}

/// Identical servers.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct ServerClass {
    /// Unique name.
    #[schemars(length(min = 1))]
    id: String,
    /// How many servers.
    #[schemars(range(max = 1_000_000_000_000_000_u64))]
    count: u64,
    /// What each server is called, unique over the whole cluster: as many names as there are servers. A server without a
    /// name of its own is called `CLASS/1`, `CLASS/2` and so on.
    #[schemars(extend("uniqueItems" = true))]
    names: Option<Vec<String>>,
    /// The rack or zone that the servers are in: of all classes or of none.
    #[schemars(length(min = 1))]
    domain: Option<String>,
    /// One server's capacity by resource; a resource left out is 0.
    capacity: BTreeMap<String, Amount>,
    /// Into how many equal devices the capacity of a resource is divided: a task takes a part of one, or whole ones.
    devices: Option<BTreeMap<String, DeviceCount>>,
}

/// How many devices a server has.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct DeviceCount(#[schemars(range(min = 1, max = 1024))] u64);

/// Into what each device of a resource can be cut. A device is whole, shared by tasks that take any part of it, or cut.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
pub(crate) struct DeviceProfiles {
    /// The equal slices of one device.
    #[schemars(range(min = 1, max = 64))]
    slices: u64,
    /// The profiles by name, which is unique over all resources.
    #[schemars(extend("minProperties" = 1, "maxProperties" = 64))]
    profiles: BTreeMap<String, DeviceProfile>,
}

/// A part of a device that a task can have.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct DeviceProfile {
    /// How many slices beside each other it takes.
    #[schemars(range(min = 1, max = 64))]
    slices: u64,
    /// The slices at which it may begin, counted from 0, rising.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    starts: Vec<Slice>,
}

/// A slice of a device, counted from 0.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct Slice(#[schemars(range(max = 63))] u64);

/// Users, and other groups, that count as one beside their siblings.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct Group {
    /// Unique name among groups.
    #[schemars(length(min = 1))]
    id: String,
    /// Weight among its siblings.
    #[schemars(default = "one", range(max = 1e30), extend("exclusiveMinimum" = 0))]
    weight: f64,
    /// The group it belongs to; absent: none.
    parent: Option<String>,
    /// What comes first, before anybody has more by its weight: amounts of resources that its tasks need.
    guarantee: Option<BTreeMap<String, Amount>>,
    /// The same over some classes together: it counts for tasks that run there, and of a resource that is guaranteed on some classes
    /// only nothing is on the others.
    guarantees: Option<Vec<SomeClasses>>,
    /// The most of a resource that it may have, over all classes.
    limit: Option<BTreeMap<String, PositiveAmount>>,
    /// The most of a resource that it may have over some classes together.
    limits: Option<Vec<ClassLimit>>,
    /// What all others leave unused.
    reserve: Option<BTreeMap<String, Amount>>,
    /// The same over some classes together.
    reserves: Option<Vec<SomeClasses>>,
}

/// Someone whose tasks run on the servers.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct User {
    /// Unique name.
    #[schemars(length(min = 1))]
    id: String,
    /// One task's demand by resource, in the unit of the capacities; a resource left out is 0, or what the `profile` has of it. Absent
    /// where the user has `kinds`.
    demand: Option<BTreeMap<String, Amount>>,
    /// The profile of the part of a device that a task takes; absent: whole devices, or any part of one.
    profile: Option<String>,
    /// Weight: shares are compared after division by it.
    #[schemars(default = "one", range(max = 1e30), extend("exclusiveMinimum" = 0))]
    weight: f64,
    /// How many tasks the user has; absent: unlimited.
    #[schemars(range(max = 1_000_000_000_000_000_u64))]
    tasks: Option<u64>,
    /// So many tasks run at once or none: its tasks that run are a multiple of it.
    #[schemars(range(min = 2, max = 1_000_000_000_000_000_u64))]
    gang: Option<u64>,
    /// Whether each gang runs within one domain.
    #[schemars(default)]
    gang_in_domain: bool,
    /// By how many its tasks in two domains differ at most, of those with a server of an eligible class; where it has kinds, the pieces of
    /// each; absent: any number.
    #[schemars(range(min = 1))]
    spread: Option<u64>,
    /// How many of its tasks one server takes at most, where it has kinds how many pieces of each; absent: any number.
    #[schemars(range(min = 1))]
    per_server: Option<u64>,
    /// The server classes its tasks may run on; absent: all.
    #[schemars(extend("uniqueItems" = true))]
    eligible: Option<Vec<String>>,
    /// Work that one task does on a server class, by class; a class left out counts 1.
    #[schemars(default)]
    rates: BTreeMap<String, Rate>,
    /// The group it belongs to; absent: none.
    group: Option<String>,
    /// What comes first, before anybody has more by its weight: amounts of resources that its tasks need.
    guarantee: Option<BTreeMap<String, Amount>>,
    /// The same over some classes together: it counts for tasks that run there, and of a resource that is guaranteed on some classes
    /// only nothing is on the others.
    guarantees: Option<Vec<SomeClasses>>,
    /// The most of a resource that it may have, over all classes.
    limit: Option<BTreeMap<String, PositiveAmount>>,
    /// The most of a resource that it may have over some classes together.
    limits: Option<Vec<ClassLimit>>,
    /// What all others leave unused.
    reserve: Option<BTreeMap<String, Amount>>,
    /// The same over some classes together.
    reserves: Option<Vec<SomeClasses>>,
    /// The kinds of which one task consists, instead of `demand`, `eligible` and `rates`: so many pieces of each, which may run
    /// on different servers, anywhere each may run.
    #[schemars(length(min = 1))]
    kinds: Option<Vec<TaskKind>>,
}

/// One of the kinds of which a task consists.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct TaskKind {
    /// Unique name among the kinds of its user.
    #[schemars(length(min = 1))]
    id: String,
    /// Pieces of this kind in one task.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    each: u64,
    /// One piece's demand by resource, in the unit of the capacities; a resource left out is 0, or what the `profile` has of it.
    demand: Option<BTreeMap<String, Amount>>,
    /// The profile of the part of a device that a piece takes; absent: whole devices, or any part of one.
    profile: Option<String>,
    /// The server classes its pieces may run on; absent: all.
    #[schemars(extend("uniqueItems" = true))]
    eligible: Option<Vec<String>>,
}

/// The most of some resources over some server classes together.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct ClassLimit {
    /// The server classes.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    classes: Vec<String>,
    /// The most of each resource.
    #[schemars(extend("minProperties" = 1))]
    amounts: BTreeMap<String, PositiveAmount>,
}

/// Amounts of some resources over some server classes together.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct SomeClasses {
    /// The server classes.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    classes: Vec<String>,
    /// The amount of each resource.
    #[schemars(extend("minProperties" = 1))]
    amounts: BTreeMap<String, Amount>,
}

/// An amount above 0.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct PositiveAmount(#[schemars(range(max = 1e30), extend("exclusiveMinimum" = 0))] f64);

/// An amount of a resource: a decimal of at most 19 significant digits, 0 or between 1e-30 and 1e30.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct Amount(#[schemars(range(min = 0, max = 1e30))] f64);

/// Work per task, above 0.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct Rate(#[schemars(range(max = 1e30), extend("exclusiveMinimum" = 0))] f64);

fn one() -> f64 {
    1.0
}
