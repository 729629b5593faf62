//! `fairplan.proportional-bound.v1`: the largest sum of logarithms of shares that whole tasks can have, from both sides,
//! with what proves it.

use crate::bound_placement::BoundPlacement;
use crate::divisible_bound::DivisibleBound;
use crate::foreign::{Foreign, check_quotas, check_stamp};
use crate::placement::{ServerResult, ServerResults};
use crate::solution::ClassPrice;
use fairplan_instances::table::{Table, Tabular};
use fairplan_instances::{
    Body, Deadline, Document, Instance, InstanceStamp, LogarithmProof, Objective, ProportionalBracket,
};
use fairplan_verify::{ProportionalClaim, Verdict, is_best_sum, verify_divisible, verify_proportional};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The objective that is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum BoundedSum {
    /// Proportional fairness, `Σ w ln(dominant share)`.
    #[serde(rename = "pf")]
    ProportionalFairness,
}

/// The largest `Σ w ln(dominant share)` that whole tasks can have, over the users that can have tasks. The same instance
/// gives the same bytes, unless a time limit ended the search.
// `S` is the sequence of servers: a list when read, computed one by one when written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "S: Deserialize<'de>"))]
#[schemars(rename = "ProportionalBound")]
pub struct ProportionalBoundBody<S = Vec<ServerResult>> {
    /// The instance.
    pub instance: InstanceStamp,
    /// Whether anybody has guarantees, limits or reserves. What is proved of whole tasks counts of limits how many tasks they
    /// leave each user, what is proved of divided ones limits and reserves, and nothing counts guarantees: with these it may be out of reach.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub under_quotas: bool,
    /// The objective.
    pub objective: BoundedSum,
    /// No allocation of divisible tasks has more: the proved bound of the PF optimum. Absent where some users can have no
    /// whole task, since divisible tasks have shares for them too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divisible: Option<f64>,
    /// The prices that prove it: of that sum for one more unit. Absent with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divisible_prices: Option<Vec<ClassPrice>>,
    /// The prices of limits and reserves beside these, in the order of `limits` in a solution. Absent where none is counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub divisible_limit_prices: Vec<f64>,
    /// No placement of whole tasks has more: the certificate proves it. Absent where no user can have tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integral_upper: Option<f64>,
    /// What the placement below has. Absent if some of the users have no task in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integral_lower: Option<f64>,
    /// How far apart the two are for each unit of weight: the part by which a user's share might be larger, if all gained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_per_weight: Option<f64>,
    /// Whether the two are the same, to within 1e-8 for each unit of weight.
    pub proved_optimal: bool,
    /// Users that can have no task at all, because none fits on a server that they may use, or they have none. They are in
    /// no sum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users_without_tasks: Vec<String>,
    /// What proves the upper bound. Absent where no user can have tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<SumCertificate>,
    /// How the search went.
    pub search: SumSearch,
    /// A placement that has the lower bound.
    pub placement: BoundPlacement<S>,
}

impl<S> Body for ProportionalBoundBody<S> {
    const FORMAT: &'static str = "fairplan.proportional-bound.v1";
}

impl<S: Sync> Tabular for ProportionalBoundBody<S> {
    /// A row a user of the placement.
    fn table(&self) -> Table<'_> {
        self.placement.table()
    }
}

/// The whole file.
pub type ProportionalBoundDocument<S = Vec<ServerResult>> = Document<ProportionalBoundBody<S>>;

/// What proves the upper bound, in whole numbers. With `W` the sum of the weights and `u` the values that count for one in
/// the mean of logarithms, the sum is at most `W` times `Σ_i max_k (w_i / W · ln(δ_i k) − task_values[i] k / u) +
/// Σ_l count_l server_values[l] / u`, `k` from 1 to the tasks that the user has and servers have room for; a task with kinds is worth
/// what its pieces are. Gangs are whole as in the certificate of the smallest share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SumCertificate {
    /// What one task of each user is worth, in the instance's order; where users have kinds, what one piece of each kind is worth.
    pub task_values: Vec<u64>,
    /// What the tasks on one server of each class are worth at most, in the instance's order.
    pub server_values: Vec<u64>,
    /// How many of these values count for one in the mean of logarithms.
    pub values_per_log: u64,
}

/// How the search went. Nothing here decides what the bounds are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SumSearch {
    /// Knapsack searches that were cut short, each of which may loosen the upper bound.
    pub truncated_searches: u64,
    /// Linear programs solved.
    pub rounds: u64,
}

/// The document of a bracket, ready to be written.
pub fn proportional_bound_document<'a>(
    instance: &'a Instance,
    sha256: &'a str,
    divisible: Option<&DivisibleBound>,
    bracket: &'a ProportionalBracket,
) -> ProportionalBoundDocument<ServerResults<'a>> {
    let certificate = |proof: &LogarithmProof| SumCertificate {
        task_values: proof.task_values.clone(),
        server_values: proof.server_values.clone(),
        values_per_log: proof.values_per_log,
    };
    let without_tasks = bracket.without_tasks.iter().map(|user| instance.user(*user).id().into());
    Document::new(ProportionalBoundBody {
        instance: InstanceStamp::new(instance, sha256),
        under_quotas: !instance.quotas().is_empty(),
        objective: BoundedSum::ProportionalFairness,
        divisible: divisible.map(|divisible| divisible.bound),
        divisible_prices: divisible.and_then(|divisible| divisible.stated(instance)),
        divisible_limit_prices: divisible.map_or_else(Vec::new, |divisible| divisible.limit_prices.clone()),
        integral_upper: bracket.upper,
        integral_lower: bracket.lower,
        gap_per_weight: bracket.gap_per_weight(instance),
        proved_optimal: is_best_sum(instance, bracket),
        users_without_tasks: without_tasks.collect(),
        certificate: bracket.proof.as_ref().map(certificate),
        search: SumSearch { truncated_searches: bracket.truncated_searches, rounds: bracket.rounds },
        placement: BoundPlacement::new(instance, &bracket.placement),
    })
}

/// What a document states, matched with its instance.
#[derive(Clone, Debug)]
pub struct StatedProportionalBracket {
    bracket: ProportionalBracket,
    proved_optimal: bool,
    divisible: Option<DivisibleBound>,
}

impl StatedProportionalBracket {
    /// Matches a document with the instance it says it belongs to. Fails where the two cannot be matched.
    pub fn new(
        document: &ProportionalBoundDocument,
        instance: &Instance,
        sha256: &str,
    ) -> Result<Self, Foreign> {
        check_stamp(&document.instance, instance, sha256)?;
        check_quotas(document.under_quotas, instance)?;
        let placement = document.placement.read(instance)?;
        let without_tasks = document.users_without_tasks.iter().enumerate().map(|(i, id)| {
            let place = || format!("users_without_tasks[{i}]");
            instance.user_named(id).ok_or_else(|| Foreign::new(place(), id, "no such user"))
        });
        let certificate = document.certificate.as_ref();
        let bracket = ProportionalBracket {
            without_tasks: without_tasks.collect::<Result<_, _>>()?,
            upper: document.integral_upper,
            proof: certificate.map(|certificate| LogarithmProof {
                task_values: certificate.task_values.clone(),
                server_values: certificate.server_values.clone(),
                values_per_log: certificate.values_per_log,
            }),
            lower: document.integral_lower,
            placement,
            truncated_searches: document.search.truncated_searches,
            rounds: document.search.rounds,
        };
        // What follows from the rest is compared as it is written.
        let gap = bracket.gap_per_weight(instance);
        if document.gap_per_weight != gap {
            let stated = document.gap_per_weight.map_or_else(String::new, |stated| stated.to_string());
            let problem = match gap {
                Some(gap) if gap.is_finite() => format!("{gap} follows from the bounds"),
                _ => "none follows from the bounds".into(),
            };
            return Err(Foreign::new("gap_per_weight", &stated, problem));
        }
        // Divisible tasks have shares for everybody, so the two compare only where whole ones do.
        if document.divisible.is_some() != bracket.without_tasks.is_empty()
            || document.divisible_prices.is_some() != document.divisible.is_some()
            || document.divisible.is_none() && !document.divisible_limit_prices.is_empty()
        {
            let problem =
                "is stated, with its prices, where every user can have a whole task, and nowhere else";
            return Err(Foreign::new("divisible", "", problem));
        }
        let prices = (document.divisible_prices.as_ref(), document.divisible_limit_prices.as_slice());
        let divisible = document.divisible.map(|bound| DivisibleBound::read(bound, prices, None, instance));
        Ok(Self { bracket, proved_optimal: document.proved_optimal, divisible: divisible.transpose()? })
    }

    /// Everything that is found of it.
    pub fn verdicts(&self, instance: &Instance) -> Vec<Verdict> {
        let mut verdicts = verify_proportional(instance, &self.claim(), &Deadline::never());
        let divisible = self.divisible.as_ref();
        let claim = divisible.map(|divisible| divisible.claim(Objective::ProportionalFairness));
        verdicts.extend(claim.map(|claim| verify_divisible(instance, claim)));
        verdicts
    }

    /// The claim, for [`fairplan_verify::verify_proportional`].
    pub fn claim(&self) -> ProportionalClaim<'_> {
        ProportionalClaim { bracket: &self.bracket, proved_optimal: Some(self.proved_optimal) }
    }
}
