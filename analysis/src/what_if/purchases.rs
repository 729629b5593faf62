//! What is bought by when, and what it costs from there to the end of a series: on demand, reserved, and the cheapest of both.
//!
//! What is bought in a stage is kept to the end. With commitments, prices are of a period: a server that is needed for `n` periods costs
//! `n` times its price on demand; or commitments of `P` periods at a lower price one after the other, the last of which may reach beyond
//! the end and is paid all the same; or so many commitments as are worth it, and on demand what is left.

use crate::tolerance::COSTS;
use fairplan_instances::table::{Kind, Table};
use fairplan_instances::{Catalog, DemandSeries, Label, ServerType};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is bought in a stage, so that nothing is missed until its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoughtBy {
    /// The first quantum that needs it; of the last stage, if nothing that may be bought is enough for some quanta, the first of these.
    pub by: Label,
    /// How many times the target is asked for and reached with it, and with what was bought before; where nothing that may be bought is enough,
    /// what is reached with all that is bought.
    pub scale: f64,
    /// What it costs; where the catalog has commitments: on demand, a period.
    pub cost: f64,
    /// The same with all that was bought before.
    pub total: f64,
    /// The servers; none where nothing that may be bought is enough.
    pub servers: Vec<BoughtServers>,
    /// Where nothing that may be bought is enough: what stands in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_of_reach: Option<OutOfReach>,
}

/// What stands in the way where nothing that may be bought is enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutOfReach {
    /// Of those who need that resource, the user who needs the most of what is short.
    pub user: String,
    /// The group that the user is in. Absent where it is in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The resource that is short.
    pub resource: String,
    /// Whether any server on offer takes its tasks.
    pub is_offered: bool,
}

/// Servers of a type that are bought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoughtServers {
    /// The type.
    pub id: String,
    /// How many.
    pub count: u64,
    /// What they cost until the end of the series. Absent where the catalog has no commitments, so that prices need not be of a period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<CostsOfServers>,
}

/// What servers cost from the quantum that needs them to the end of the series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CostsOfServers {
    /// The price of one on demand, a period.
    pub price: f64,
    /// For how many periods they are needed.
    pub needed: f64,
    /// What all cost on demand until the end.
    pub on_demand: f64,
    /// What they cost when they are reserved. Absent where they cannot be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved: Option<CostsReserved>,
}

/// What servers cost that are reserved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CostsReserved {
    /// The price of one reserved server a period.
    pub price: f64,
    /// How many periods one commits to, and pays for.
    pub periods: u64,
    /// Who needs a server for more periods than this saves by a commitment.
    pub break_even: f64,
    /// What all cost if they are reserved for as long as they are needed, the last commitment to its end.
    pub cost: f64,
    /// How many commitments one after the other are cheapest, with what is left on demand. 0: have them on demand.
    pub commitments: u64,
    /// What all cost then.
    pub cheapest: f64,
}

/// What all that is bought costs, in three ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// On demand.
    pub on_demand: f64,
    /// Reserved as long as it is needed, where it can be.
    pub reserved: f64,
    /// Reserved where that is worth it.
    pub cheapest: f64,
}

/// What all that is bought costs in a quantum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CostsOfQuantum {
    /// The quantum, as its file calls it.
    pub quantum: Label,
    /// On demand.
    pub on_demand: f64,
    /// Reserved as long as it is needed, where it can be.
    pub reserved: f64,
    /// Reserved where that is worth it.
    pub cheapest: f64,
}

/// What all that is bought costs, from the first quantum that needs something to the end of the series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CostsOverTime {
    /// What prices of a period are counted in; what is paid over periods is in the same money.
    pub currency: String,
    /// How many periods of the prices a quantum lasts.
    pub periods_per_quantum: f64,
    /// Every quantum from the first that needs something on, with `--per-quantum` or where the series has at most 400.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quanta: Vec<CostsOfQuantum>,
    /// What is to be paid after the last quantum for commitments that reach beyond it.
    pub after: Costs,
    /// All of it.
    pub total: Costs,
}

/// Servers of a type from a quantum on.
struct Batch {
    first: usize,
    count: f64,
    price: f64,
    /// Reserved: the price a period, and for how many periods from the first on where they are reserved as long as they are needed, and
    /// where that is worth it.
    reserved: Option<(f64, [f64; 2])>,
}

impl CostsOverTime {
    /// What purchases cost, each from its quantum (`first`) on; writes beside each what it costs. `None` where the catalog has no
    /// commitments, or nothing is bought.
    pub fn of(
        purchases: &mut [BoughtBy],
        first: &[usize],
        catalog: &Catalog,
        series: &DemandSeries,
        periods_per_quantum: f64,
    ) -> Option<Self> {
        // What is out of reach comes last, whenever it is asked for.
        let (start, end) = (first.iter().copied().min()?, series.quantum_count());
        if !catalog.has_commitments() || purchases.iter().all(|stage| stage.servers.is_empty()) {
            return None;
        }
        let mut batches = Vec::new();
        for (purchase, first) in purchases.iter_mut().zip(first) {
            let needed = (end - first) as f64 * periods_per_quantum;
            for servers in &mut purchase.servers {
                let kind = catalog.types.iter().find(|kind| kind.id == servers.id)?;
                servers.costs = Some(costs_of(kind, servers.count, needed));
                batches.push(batch(kind, servers.count, *first, needed));
            }
        }
        let mut total = Costs::default();
        let mut add = |costs: &Costs| {
            total.on_demand += costs.on_demand;
            total.reserved += costs.reserved;
            total.cheapest += costs.cheapest;
        };
        let mut quanta = Vec::with_capacity(end - start);
        for quantum in start..end {
            let costs = in_quantum(&batches, quantum, periods_per_quantum);
            add(&costs);
            let Costs { on_demand, reserved, cheapest } = costs;
            quanta.push(CostsOfQuantum {
                quantum: series.label(quantum).into(),
                on_demand,
                reserved,
                cheapest,
            });
        }
        let after = after(&batches, end, periods_per_quantum);
        add(&after);
        let currency = catalog.currency.clone();
        Some(Self { currency, periods_per_quantum, quanta, after, total })
    }

    /// What it costs, a row a quantum.
    pub fn table(&self) -> Table<'_> {
        Table::of(&self.quanta)
            .column("quantum", "quantum", Kind::Id, |row| row.quantum.to_string())
            .column("on_demand", "on demand", Kind::Money, |row| row.on_demand)
            .column("reserved", "reserved", Kind::Money, |row| row.reserved)
            .column("cheapest", "cheapest", Kind::Money, |row| row.cheapest)
            .done()
    }

    /// The same where it is not as in the quantum before.
    pub fn changes(&self) -> Table<'_> {
        let is_new = |row: usize| {
            let costs = |at: usize| {
                let row = &self.quanta[at];
                [row.on_demand, row.reserved, row.cheapest]
            };
            row == 0
                || costs(row)
                    .iter()
                    .zip(costs(row - 1))
                    .any(|(now, before)| (now - before).abs() > COSTS * before)
        };
        self.table().only_rows(is_new)
    }
}

fn costs_of(kind: &ServerType, count: u64, needed: f64) -> CostsOfServers {
    let (price, all) = (kind.price.to_f64(), count as f64);
    let reserved = kind.commitment.map(|commitment| {
        let cost = |commitments| all * commitment.cost_with(commitments, kind.price, needed);
        let commitments = commitment.cheapest(kind.price, needed);
        CostsReserved {
            price: commitment.price.to_f64(),
            periods: commitment.periods,
            break_even: commitment.break_even(kind.price),
            cost: cost(commitment.covering(needed)),
            commitments,
            cheapest: cost(commitments),
        }
    });
    CostsOfServers { price, needed, on_demand: all * price * needed, reserved }
}

fn batch(kind: &ServerType, count: u64, first: usize, needed: f64) -> Batch {
    let reserved = kind.commitment.map(|commitment| {
        let commitments = [commitment.covering(needed), commitment.cheapest(kind.price, needed)];
        (commitment.price.to_f64(), commitments.map(|number| number as f64 * commitment.periods as f64))
    });
    Batch { first, count: count as f64, price: kind.price.to_f64(), reserved }
}

/// What is paid in a quantum: the price of a commitment for the periods that it covers, that on demand for the others.
fn in_quantum(batches: &[Batch], quantum: usize, length: f64) -> Costs {
    let mut costs = Costs::default();
    for batch in batches.iter().filter(|batch| batch.first <= quantum) {
        let on_demand = batch.count * batch.price * length;
        let begin = (quantum - batch.first) as f64 * length;
        let with = |way: usize| match batch.reserved {
            Some((price, covered)) => {
                let covered = (covered[way] - begin).clamp(0.0, length);
                batch.count * (covered * price + (length - covered) * batch.price)
            }
            None => on_demand,
        };
        costs.on_demand += on_demand;
        costs.reserved += with(0);
        costs.cheapest += with(1);
    }
    costs
}

/// What is owed at the end for the rest of commitments.
fn after(batches: &[Batch], end: usize, length: f64) -> Costs {
    let mut costs = Costs::default();
    for batch in batches {
        let Some((price, covered)) = batch.reserved else { continue };
        let needed = (end - batch.first) as f64 * length;
        let owed = covered.map(|covered| batch.count * price * (covered - needed).max(0.0));
        costs.reserved += owed[0];
        costs.cheapest += owed[1];
    }
    costs
}

/// What is bought by when, a row a stage.
pub fn purchases_table(purchases: &[BoughtBy]) -> Table<'_> {
    let servers = |stage: &BoughtBy| {
        let each: Vec<String> =
            stage.servers.iter().map(|servers| format!("{} {}", servers.count, servers.id)).collect();
        if each.is_empty() { "nothing that may be bought is enough".to_owned() } else { each.join(", ") }
    };
    Table::of(purchases)
        .column("by", "needed by", Kind::Id, |stage| stage.by.to_string())
        .column("scale", "enough for", Kind::Number, |stage| stage.scale)
        .column("cost", "cost", Kind::Money, |stage| stage.cost)
        .column("total", "in all", Kind::Money, |stage| stage.total)
        .column("servers", "servers", Kind::Words, servers)
        .done()
}

/// Servers of a stage and a type with what they cost.
type Priced<'a> = (&'a Label, &'a BoughtServers, &'a CostsOfServers);

fn priced(stage: &BoughtBy) -> impl Iterator<Item = Priced<'_>> {
    stage.servers.iter().filter_map(|servers| Some((&stage.by, servers, servers.costs.as_ref()?)))
}

/// How to have what is bought, a row a stage and type; no row without commitments.
pub fn reservations_table(purchases: &[BoughtBy]) -> Table<'_> {
    let rows: Vec<Priced<'_>> = purchases.iter().flat_map(priced).collect();
    let reserved = |costs: &CostsOfServers, of: fn(&CostsReserved) -> f64| costs.reserved.as_ref().map(of);
    Table::over(rows.len(), move |row| rows[row])
        .column("by", "needed by", Kind::Id, |(by, ..)| by.to_string())
        .column("type", "server type", Kind::Name, |(_, servers, _)| &servers.id)
        .column("count", "servers", Kind::Count, |(_, servers, _)| servers.count)
        .column("needed", "periods", Kind::Number, |(.., costs)| costs.needed)
        .column("break_even", "break-even", Kind::Number, move |(.., costs)| {
            reserved(costs, |all| all.break_even)
        })
        .said(|(.., costs)| {
            costs.reserved.as_ref().map(|all| ((all.break_even * 100.0).round() / 100.0).to_string())
        })
        .column("on_demand", "on demand", Kind::Money, |(.., costs)| costs.on_demand)
        .column("reserved", "reserved", Kind::Money, move |(.., costs)| reserved(costs, |all| all.cost))
        .column("cheapest", "cheapest", Kind::Money, |(.., costs)| {
            costs.reserved.as_ref().map_or(costs.on_demand, |reserved| reserved.cheapest)
        })
        .column("way", "by", Kind::Words, |(.., costs)| way(costs))
        .done()
}

/// The cheapest way, in words.
fn way(costs: &CostsOfServers) -> String {
    match &costs.reserved {
        None => "on demand, the only way".into(),
        Some(reserved) if reserved.commitments == 0 => "on demand".into(),
        Some(reserved) => {
            let (number, periods) = (reserved.commitments, reserved.periods);
            let times = if number == 1 { String::new() } else { format!("{number} times ") };
            let rest = number as f64 * (periods as f64) < costs.needed * (1.0 - COSTS);
            format!("reserved {times}for {periods} periods{}", if rest { ", then on demand" } else { "" })
        }
    }
}
