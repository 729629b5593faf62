//! Servers that are bought, and what they cost: on demand, and where they are reserved.

use crate::table::{Kind, Table};
use crate::{Catalog, Instance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Servers of one type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServersBought {
    /// The type of the catalog.
    #[serde(rename = "type")]
    pub kind: String,
    /// How many.
    pub count: u64,
    /// The price of one; where it can be reserved too: on demand, a period.
    pub price: f64,
    /// The price of all.
    pub cost: f64,
    /// What they cost when they are reserved. Absent where they cannot be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved: Option<ReservedServers>,
    /// Whose guarantees, limits and reserves over some classes count these servers too, since the class that they are like is one of them:
    /// `group research`. Absent where nobody's do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted_by: Vec<String>,
}

/// Servers of one type, reserved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReservedServers {
    /// The price of one a period.
    pub price: f64,
    /// How many periods one commits to, and pays for.
    pub periods: u64,
    /// The price of all a period.
    pub cost: f64,
    /// What all cost less a period than on demand, where they are needed throughout.
    pub saved: f64,
    /// After so many periods on demand has cost as much as the whole commitment: who needs them for longer saves by it.
    pub break_even: f64,
}

impl ServersBought {
    /// So many of each type of a catalog for an instance, of which there are any.
    pub fn of(instance: &Instance, catalog: &Catalog, counts: &[u64]) -> Vec<Self> {
        let all = catalog.types.iter().zip(counts).filter(|(_, count)| **count > 0);
        all.map(|(kind, count)| {
            let price = kind.price.to_f64();
            let cost = price * *count as f64;
            let reserved = kind.commitment.map(|commitment| {
                let price = commitment.price.to_f64();
                let all = price * *count as f64;
                let (periods, break_even) = (commitment.periods, commitment.break_even(kind.price));
                ReservedServers { price, periods, cost: all, saved: cost - all, break_even }
            });
            let counted_by = catalog.counted_by(instance, kind);
            Self { kind: kind.id.as_str().into(), count: *count, price, cost, reserved, counted_by }
        })
        .collect()
    }

    /// What servers cost a period where all are reserved that can be; `None` where none can.
    pub fn reserved_cost(servers: &[Self]) -> Option<f64> {
        let cost = |bought: &Self| bought.reserved.as_ref().map_or(bought.cost, |reserved| reserved.cost);
        servers.iter().any(|bought| bought.reserved.is_some()).then(|| servers.iter().map(cost).sum())
    }
}

/// What is bought, a row a type; the columns of reservations are empty where there are none.
pub fn servers_bought(servers: &[ServersBought]) -> Table<'_> {
    let reserved = |row: &ServersBought, of: fn(&ReservedServers) -> f64| row.reserved.as_ref().map(of);
    Table::of(servers)
        .column("type", "server type", Kind::Id, |row| &row.kind)
        .column("count", "servers", Kind::Count, |row| row.count)
        .column("price", "price", Kind::Money, |row| row.price)
        .column("cost", "cost", Kind::Money, |row| row.cost)
        .column("commitment_price", "reserved: price", Kind::Money, move |row| reserved(row, |all| all.price))
        .column("commitment_periods", "periods", Kind::Count, |row| {
            row.reserved.as_ref().map(|all| all.periods)
        })
        .column("reserved_cost", "cost", Kind::Money, move |row| reserved(row, |all| all.cost))
        .column("saved", "saved", Kind::Money, move |row| reserved(row, |all| all.saved))
        .column("break_even", "worth it after", Kind::Number, move |row| reserved(row, |all| all.break_even))
        .said(|row| row.reserved.as_ref().map(|all| periods(all.break_even)))
        .done()
}

/// `8.25 periods`.
fn periods(count: f64) -> String {
    let count = (count * 100.0).round() / 100.0;
    format!("{count} {}", if count == 1.0 { "period" } else { "periods" })
}
