//! What stands in `fairplan.instance.v1`: the fields that are read, and what its schema says of them. The reader checks more than a schema
//! can say.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use super::canonical::FORM;
use super::profiles::CutFields;
use super::quotas::{ClassAmountsFields, QuotaFields};
use super::strict_json::{AboveZero, Entries, Text};
use crate::stated;

/// A cluster of servers and the users that share it. Numbers are decimals and mean exactly what they say.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Instance")]
pub struct InstanceFile<'a> {
    /// The format and its version.
    #[serde(borrow)]
    #[schemars(extend("const" = FORM.format))]
    pub(super) format: Text<'a>,
    /// What to call the instance.
    #[serde(borrow, default)]
    pub(super) name: Text<'a>,
    /// The names of the resources, in the order in which they are reported.
    #[serde(borrow)]
    #[schemars(with = "Vec<String>", length(min = 1), extend("uniqueItems" = true))]
    pub(super) resources: &'a RawValue,
    /// The servers, in classes of identical ones.
    #[serde(borrow)]
    #[schemars(with = "Vec<ClassFields<'a>>", length(min = 1))]
    pub(super) server_classes: &'a RawValue,
    /// Into what the devices of a resource can be cut.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<BTreeMap<String, CutFields<'a>>>")]
    pub(super) device_profiles: Option<Entries<'a>>,
    /// Groups of users, and of groups; parents in any order. A group counts as one beside its siblings.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<Vec<GroupFields<'a>>>")]
    pub(super) groups: Option<&'a RawValue>,
    /// The users.
    #[serde(borrow)]
    #[schemars(with = "Vec<UserFields<'a>>", length(min = 1))]
    pub(super) users: &'a RawValue,
}

impl InstanceFile<'_> {
    /// The format's name and version.
    pub const FORMAT: &'static str = FORM.format;
}

/// Identical servers.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ServerClass")]
pub(super) struct ClassFields<'a> {
    /// Unique name.
    #[serde(borrow)]
    #[schemars(length(min = 1))]
    pub id: Text<'a>,
    /// How many servers.
    #[serde(borrow)]
    #[schemars(with = "u64", range(max = 1_000_000_000_000_000_u64))]
    pub count: &'a RawValue,
    /// What each server is called, unique over the whole cluster: as many names as there are servers. A server without a
    /// name of its own is called `CLASS/1`, `CLASS/2` and so on.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(extend("uniqueItems" = true))]
    pub names: Option<Vec<Text<'a>>>,
    /// The rack or zone that the servers are in: of all classes or of none.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(length(min = 1))]
    pub domain: Option<Text<'a>>,
    /// One server's capacity by resource; a resource left out is 0.
    #[serde(borrow)]
    pub capacity: Entries<'a>,
    /// Into how many equal devices the capacity of a resource is divided: a task takes a part of one, or whole ones.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(
        with = "Option<BTreeMap<String, u64>>",
        extend("additionalProperties" = {"type": "integer", "minimum": 1, "maximum": 1024})
    )]
    pub devices: Option<Entries<'a>>,
}

/// Users, and other groups, that count as one beside their siblings.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Group")]
pub(super) struct GroupFields<'a> {
    /// Unique name among groups.
    #[serde(borrow)]
    #[schemars(length(min = 1))]
    pub id: Text<'a>,
    /// Weight among its siblings.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<AboveZero>", extend("default" = 1.0))]
    pub weight: Option<&'a RawValue>,
    /// The group it belongs to; absent: none.
    #[serde(borrow, default, deserialize_with = "stated")]
    pub parent: Option<Text<'a>>,
    /// What comes first, before anybody has more by its weight: amounts of resources that its tasks need.
    #[serde(borrow, default, deserialize_with = "stated")]
    pub guarantee: Option<Entries<'a>>,
    /// The same over some classes together: it counts for tasks that run there, and of a resource that is guaranteed on some classes
    /// only nothing is on the others.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<Vec<ClassAmountsFields<'a>>>")]
    pub guarantees: Option<&'a RawValue>,
    /// The most of a resource that it may have, over all classes.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<BTreeMap<String, AboveZero>>")]
    pub limit: Option<Entries<'a>>,
    /// The most of a resource that it may have over some classes together.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(
        with = "Option<Vec<ClassAmountsFields<'a>>>",
        extend("items" = {
            "$ref": "#/$defs/SomeClasses",
            "properties": {"amounts": {"additionalProperties": {"exclusiveMinimum": 0}}}
        })
    )]
    pub limits: Option<&'a RawValue>,
    /// What all others leave unused.
    #[serde(borrow, default, deserialize_with = "stated")]
    pub reserve: Option<Entries<'a>>,
    /// The same over some classes together.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<Vec<ClassAmountsFields<'a>>>")]
    pub reserves: Option<&'a RawValue>,
}

/// Someone whose tasks run on the servers.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "User")]
pub(super) struct UserFields<'a> {
    /// Unique name.
    #[serde(borrow)]
    #[schemars(length(min = 1))]
    pub id: Text<'a>,
    /// One task's demand by resource, in the unit of the capacities; a resource left out is 0, or what the `profile` has of it. Absent
    /// where the user has `kinds`.
    #[serde(borrow, default, deserialize_with = "stated")]
    pub demand: Option<Entries<'a>>,
    /// The profile of the part of a device that a task takes; absent: whole devices, or any part of one.
    #[serde(borrow, default, deserialize_with = "stated")]
    pub profile: Option<Text<'a>>,
    /// Weight: shares are compared after division by it.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<AboveZero>", extend("default" = 1.0))]
    pub weight: Option<&'a RawValue>,
    /// How many tasks the user has; absent: unlimited.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<u64>", range(max = 1_000_000_000_000_000_u64))]
    pub tasks: Option<&'a RawValue>,
    /// So many tasks run at once or none: its tasks that run are a multiple of it.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<u64>", range(min = 2, max = 1_000_000_000_000_000_u64))]
    pub gang: Option<&'a RawValue>,
    /// Whether each gang runs within one domain.
    #[serde(default, deserialize_with = "stated")]
    #[schemars(extend("default" = false))]
    pub gang_in_domain: Option<bool>,
    /// By how many its tasks in two domains differ at most, of those with a server of an eligible class; where it has kinds, the pieces of
    /// each; absent: any number.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<u64>", range(min = 1))]
    pub spread: Option<&'a RawValue>,
    /// How many of its tasks one server takes at most, where it has kinds how many pieces of each; absent: any number.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<u64>", range(min = 1))]
    pub per_server: Option<&'a RawValue>,
    /// The server classes its tasks may run on; absent: all.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(extend("uniqueItems" = true))]
    pub eligible: Option<Vec<Text<'a>>>,
    /// Work that one task does on a server class, by class; a class left out counts 1.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<BTreeMap<String, AboveZero>>", extend("default" = {}))]
    pub rates: Option<Entries<'a>>,
    /// The group it belongs to; absent: none.
    #[serde(borrow, default, deserialize_with = "stated")]
    pub group: Option<Text<'a>>,
    /// What comes first, before anybody has more by its weight: amounts of resources that its tasks need.
    #[serde(borrow, default, deserialize_with = "stated")]
    pub guarantee: Option<Entries<'a>>,
    /// The same over some classes together: it counts for tasks that run there, and of a resource that is guaranteed on some classes
    /// only nothing is on the others.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<Vec<ClassAmountsFields<'a>>>")]
    pub guarantees: Option<&'a RawValue>,
    /// The most of a resource that it may have, over all classes.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<BTreeMap<String, AboveZero>>")]
    pub limit: Option<Entries<'a>>,
    /// The most of a resource that it may have over some classes together.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(
        with = "Option<Vec<ClassAmountsFields<'a>>>",
        extend("items" = {
            "$ref": "#/$defs/SomeClasses",
            "properties": {"amounts": {"additionalProperties": {"exclusiveMinimum": 0}}}
        })
    )]
    pub limits: Option<&'a RawValue>,
    /// What all others leave unused.
    #[serde(borrow, default, deserialize_with = "stated")]
    pub reserve: Option<Entries<'a>>,
    /// The same over some classes together.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<Vec<ClassAmountsFields<'a>>>")]
    pub reserves: Option<&'a RawValue>,
    /// The kinds of which one task consists, instead of `demand`, `eligible` and `rates`: so many pieces of each, which may run
    /// on different servers, anywhere each may run.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<Vec<KindFields<'a>>>", length(min = 1))]
    pub kinds: Option<&'a RawValue>,
}

/// One of the kinds of which a task consists.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TaskKind")]
pub(super) struct KindFields<'a> {
    /// Unique name among the kinds of its user.
    #[serde(borrow)]
    #[schemars(length(min = 1))]
    pub id: Text<'a>,
    /// Pieces of this kind in one task.
    #[serde(borrow)]
    #[schemars(with = "u64", range(min = 1, max = 1_000_000_000))]
    pub each: &'a RawValue,
    /// One piece's demand by resource, in the unit of the capacities; a resource left out is 0, or what the `profile` has of it.
    #[serde(borrow, default, deserialize_with = "stated")]
    pub demand: Option<Entries<'a>>,
    /// The profile of the part of a device that a piece takes; absent: whole devices, or any part of one.
    #[serde(borrow, default, deserialize_with = "stated")]
    pub profile: Option<Text<'a>>,
    /// The server classes its pieces may run on; absent: all.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(extend("uniqueItems" = true))]
    pub eligible: Option<Vec<Text<'a>>>,
}

impl<'f, 'a> QuotaFields<'f, 'a> {
    pub fn of_group(group: &'f GroupFields<'a>) -> Self {
        let GroupFields { guarantee, guarantees, limit, limits, reserve, reserves, .. } = group;
        Self { guarantee, guarantees: *guarantees, limit, limits: *limits, reserve, reserves: *reserves }
    }

    pub fn of_user(user: &'f UserFields<'a>) -> Self {
        let UserFields { guarantee, guarantees, limit, limits, reserve, reserves, .. } = user;
        Self { guarantee, guarantees: *guarantees, limit, limits: *limits, reserve, reserves: *reserves }
    }
}
