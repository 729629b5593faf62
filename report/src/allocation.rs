//! `fairplan.allocation.v1`: demands over time divided by a mechanism, as `allocate` writes it.

use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{
    Body, CacheMetrics, CacheModel, DemandSeries, Document, DynamicOutcome, Metrics, UserTotals,
};
use fairplan_instances::{DemandsStamp, Label};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The slices of one resource, divided by a mechanism quantum by quantum. Every user of the series appears, in the
/// series' order. The same series, mechanism and settings give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Allocation")]
pub struct AllocationBody {
    /// The demands that were served.
    pub demands: DemandsStamp,
    /// The mechanism that divided the slices.
    pub mechanism: String,
    /// Everything else that decided the outcome.
    pub settings: AllocationSettings,
    /// What each user demanded and got over all quanta.
    pub users: Vec<AllocatedUser>,
    /// Measures of the whole. Users without any demand do not count in any of them.
    pub metrics: Metrics,
    /// What the slices do for their users if they are a cache; with `--cache-slowdown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMetrics>,
    /// Every quantum, with `--per-quantum`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quanta: Option<Vec<AllocatedQuantum>>,
}

impl Body for AllocationBody {
    const FORMAT: &'static str = "fairplan.allocation.v1";
}

/// The whole file.
pub type AllocationDocument = Document<AllocationBody>;

/// What decides an outcome beside the demands; settings of other mechanisms are left out.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllocationSettings {
    /// Slices that every member is due in a quantum; the capacity is this times the members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_share: Option<u64>,
    /// Slices in a quantum, shared equally by its members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u64>,
    /// Slices that each user is due in a quantum, users in order; the capacity is the sum over the members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_shares: Option<Vec<u64>>,
    /// Karma: the guaranteed fraction of the fair share, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub alpha: Option<f64>,
    /// Karma: credits of every user at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_credits: Option<u64>,
    /// Tickets: how many there are for every slice.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub oversubscription: Option<u64>,
    /// Tickets: quanta until a claim ends, that of its grant included.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub term: Option<u64>,
    /// Who comes first among equals: the user that stands `lowest` or `highest` in the input, or that with the
    /// largest `demand`.
    pub ties: String,
    /// The seed of everything drawn: who is not conformant, bids, tickets.
    pub seed: u64,
    /// What users who are not conformant do: report at least their fair share (`hoarding`), bid other than their
    /// valuation (`bidding`), or report what another series says (`series`). Absent when everybody is honest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// SHA-256 of the series that was reported, with the strategy `series`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub reported_sha256: Option<String>,
}

/// What one user demanded and got, in slices over all quanta.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllocatedUser {
    /// The user's id.
    pub id: String,
    /// Its true demand.
    pub demand: u64,
    /// What it was allocated.
    pub allocated: u64,
    /// What it was allocated and truly demanded: in each quantum the smaller of the two.
    pub useful: u64,
    /// The part of its demand that was satisfied, 0 to 1; in an auction, weighed by what it paid for (Fair Shares
    /// eq. 2). Absent when it demanded nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub welfare: Option<f64>,
    /// Credits left after the last quantum. Absent for mechanisms without credits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credits: Option<f64>,
    /// Requests answered over all quanta, as a part of those that all in memory would be. With `--cache-slowdown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub throughput: Option<f64>,
    /// Mean latency of its requests, in latencies of memory. With `--cache-slowdown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub latency: Option<f64>,
    /// Whether it reported and bid the truth. Absent when everybody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conformant: Option<bool>,
    /// The first quantum in which it was a member. Absent when nobody joins or leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Label>,
    /// The last quantum in which it was a member. Absent when nobody joins or leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Label>,
}

/// One quantum; users in the order of the document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllocatedQuantum {
    /// The quantum, as its file calls it.
    pub quantum: Label,
    /// Slices allocated to each user.
    pub allocated: Vec<u64>,
    /// Credits of each user after the quantum. Absent for mechanisms without credits.
    #[serde(default, skip_serializing_if = "<[f64]>::is_empty")]
    pub credits: Vec<f64>,
}

/// The document of an outcome, ready to be written.
pub fn allocation_document(
    series: &DemandSeries,
    sha256: &str,
    mechanism: &str,
    settings: AllocationSettings,
    outcome: &DynamicOutcome,
    cache: Option<CacheModel>,
) -> AllocationDocument {
    let quanta = outcome.quanta.as_ref().map(|quanta| {
        let quantum = |(position, kept): (usize, &fairplan_instances::QuantumOutcome)| AllocatedQuantum {
            quantum: series.label(position).into(),
            allocated: kept.allocated.clone(),
            credits: kept.credits.clone(),
        };
        quanta.iter().enumerate().map(quantum).collect()
    });
    Document::new(AllocationBody {
        demands: DemandsStamp::new(series, sha256),
        mechanism: mechanism.into(),
        settings,
        users: users(series, &outcome.users),
        metrics: outcome.metrics.clone(),
        cache: cache.map(|model| model.metrics(&outcome.users)),
        quanta,
    })
}

fn users(series: &DemandSeries, totals: &[UserTotals]) -> Vec<AllocatedUser> {
    let all_honest = totals.iter().all(|user| user.conformant);
    let user = |(position, totals): (usize, &UserTotals)| {
        let member = series.membership(position);
        let label = |quantum| series.has_churn().then(|| series.label(quantum).into());
        AllocatedUser {
            id: series.user_id(position).into(),
            demand: totals.demand,
            allocated: totals.allocated,
            useful: totals.useful,
            welfare: totals.welfare,
            credits: totals.credits,
            throughput: totals.throughput,
            latency: totals.throughput.map(|throughput| 1.0 / throughput),
            conformant: (!all_honest).then_some(totals.conformant),
            first: label(member.start),
            last: label(member.end - 1),
        }
    };
    totals.iter().enumerate().map(user).collect()
}

impl Tabular for AllocationBody {
    /// A row a user, in the series' order. What a mechanism or a user does not have is missing.
    fn table(&self) -> Table<'_> {
        Table::of(&self.users)
            .column("id", "user", Kind::Id, |user| &user.id)
            .column("demand", "demand", Kind::Count, |user| user.demand)
            .column("allocated", "allocated", Kind::Count, |user| user.allocated)
            .column("useful", "useful", Kind::Count, |user| user.useful)
            .column("welfare", "welfare", Kind::Part, |user| user.welfare)
            .column("credits", "credits", Kind::Number, |user| user.credits)
            .column("throughput", "throughput", Kind::Part, |user| user.throughput)
            .done()
    }
}

/// A row for every user in every quantum that was kept: what it demanded, what it was allocated, and its credits afterwards.
pub fn quanta_of_users<'a>(series: &'a DemandSeries, outcome: &'a DynamicOutcome) -> Table<'a> {
    let quanta = outcome.quanta.as_deref().unwrap_or_default();
    let users = series.user_count();
    Table::over(quanta.len() * users, move |row| (row / users, row % users))
        .column("quantum", "quantum", Kind::Id, |(quantum, _)| series.label(quantum).to_string())
        .column("user", "user", Kind::Id, |(_, user)| series.user_id(user))
        .column("demand", "demand", Kind::Count, |(quantum, user)| {
            let (demanders, slices) = series.demands(quantum);
            demanders.binary_search(&(user as u32)).map_or(0, |entry| slices[entry])
        })
        .column("allocated", "allocated", Kind::Count, |(quantum, user)| quanta[quantum].allocated[user])
        .column("credits", "credits", Kind::Number, |(quantum, user)| {
            quanta[quantum].credits.get(user).copied()
        })
        .done()
}
