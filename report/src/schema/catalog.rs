//! The shape of `fairplan.catalog.v1` as its schema describes it. Reading it is the business of `fairplan-instances`, which
//! checks more than a schema can say.

use schemars::JsonSchema;
use std::collections::BTreeMap;

/// What can be bought: types of servers with prices, for an instance whose resources they name.
#[derive(JsonSchema)]
#[schemars(rename = "Catalog", deny_unknown_fields)]
#[allow(dead_code)]
pub(super) struct CatalogDocument {
    /// The format and its version.
    format: CatalogFormat,
    /// What to call the catalog.
    #[schemars(default)]
    name: String,
    /// What prices are counted in, such as `EUR a month`.
    #[schemars(default)]
    currency: String,
    /// The types.
    #[schemars(length(min = 1))]
    server_types: Vec<ServerType>,
}

/// The format and its version.
#[derive(JsonSchema)]
#[allow(dead_code)]
enum CatalogFormat {
    /// Version 1.
    #[schemars(rename = "fairplan.catalog.v1")]
    V1,
}

/// A type of server.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct ServerType {
    /// Unique name. That of a server class of the instance means more servers of that class.
    #[schemars(length(min = 1))]
    id: String,
    /// One server's capacity; a resource left out is 0. Absent: that of the class which `id` or `like` names.
    capacity: Option<BTreeMap<String, Amount>>,
    /// The price of one server; where there is a commitment: on demand, for a period.
    price: Price,
    /// What it costs when it is reserved. Absent: it cannot be.
    commitment: Option<Commitment>,
    /// The most that can be bought; absent: any number.
    limit: Option<u64>,
    /// The server class as which users treat such servers: who may run there, and at which rates. Absent: every user may
    /// that is not restricted to certain classes.
    like: Option<String>,
}

/// A lower price for those who commit to some periods.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct Commitment {
    /// The price of one reserved server for a period, at most that on demand.
    price: Price,
    /// How many periods one commits to, and pays for.
    #[schemars(range(min = 1))]
    periods: u64,
}

/// An amount of a resource: 0 or more.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct Amount(#[schemars(range(min = 0, max = 1e30))] f64);

/// A price above 0.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct Price(#[schemars(range(max = 1e30), extend("exclusiveMinimum" = 0))] f64);
