//! `fairplan.allocated-bound.v1`: the most of a resource that whole tasks can take, from both sides, with what proves it.

use crate::bound_placement::BoundPlacement;
use crate::foreign::{Foreign, check_quotas, check_stamp};
use crate::placement::{ServerResult, ServerResults};
use crate::proportional_bound::SumSearch;
use crate::tolerance::SAME;
use fairplan_instances::table::{Table, Tabular};
use fairplan_instances::{
    AllocatedBracket, AllocationProof, Body, Deadline, Document, Instance, InstanceStamp, Placement,
    ResourceId,
};
use fairplan_verify::{AllocatedClaim, Verdict, verify_allocated};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most of a resource that any placement of whole tasks can take: tasks may be refused, and nobody has more than all its own. The
/// same instance gives the same bytes, unless a time limit ended the search.
// `S` is the sequence of servers: a list when read, computed one by one when written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "S: Deserialize<'de>"))]
#[schemars(rename = "AllocatedBound")]
pub struct AllocatedBoundBody<S = Vec<ServerResult>> {
    /// The instance.
    pub instance: InstanceStamp,
    /// Whether anybody has guarantees, limits or reserves. What is proved counts of limits how many tasks they leave each user, and nothing
    /// else of these: with them it may be out of reach.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub under_quotas: bool,
    /// The resource.
    pub resource: String,
    /// All that the servers have of it.
    pub total: f64,
    /// No placement takes more: the certificate proves it.
    pub integral_upper: f64,
    /// What the placement below takes.
    pub integral_lower: f64,
    /// Whether the two are the same, compared exactly.
    pub proved_optimal: bool,
    /// What proves the upper bound.
    pub certificate: AllocationCertificate,
    /// How the search went.
    pub search: SumSearch,
    /// A placement that takes the lower bound.
    pub placement: BoundPlacement<S>,
}

impl<S> Body for AllocatedBoundBody<S> {
    const FORMAT: &'static str = "fairplan.allocated-bound.v1";
}

impl<S: Sync> Tabular for AllocatedBoundBody<S> {
    /// A row a user of the placement.
    fn table(&self) -> Table<'_> {
        self.placement.table()
    }
}

/// The whole file.
pub type AllocatedBoundDocument<S = Vec<ServerResult>> = Document<AllocatedBoundBody<S>>;

/// What proves the upper bound, in whole numbers. With all of the resource worth `S = values_in_all`, a task of user `i` is worth `w_i`
/// for the part of it that it takes, rounded up. What is taken, as a part of all, is at most `(Σ_l count_l server_values[l] +
/// Σ_i T_i max(0, w_i − task_values[i])) / S`, where `T_i` are its tasks, or those that all servers hold of it alone where these are fewer.
/// Gangs are whole there, and where each is within a domain, the servers of a domain hold the largest sum of whole gangs and single pieces
/// within what they come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllocationCertificate {
    /// What the room of one task of each user is worth, in the instance's order; where users have kinds, of one piece of each kind.
    pub task_values: Vec<u64>,
    /// What the tasks on one server of each class are worth at most, in the instance's order.
    pub server_values: Vec<u64>,
    /// How many of these values all of the resource is worth.
    #[schemars(range(min = 1))]
    pub values_in_all: u64,
}

/// What a bracket says, for [`fairplan_verify::verify_allocated`].
pub fn allocated_claim<'a>(instance: &Instance, bracket: &'a AllocatedBracket) -> AllocatedClaim<'a> {
    AllocatedClaim {
        resource: bracket.resource,
        proof: &bracket.proof,
        placement: &bracket.placement,
        upper: instance.amount(bracket.resource, bracket.upper),
        lower: instance.amount(bracket.resource, bracket.lower(instance)),
        proved_optimal: bracket.is_closed(instance),
    }
}

/// The document of a bracket, ready to be written.
pub fn allocated_bound_document<'a>(
    instance: &'a Instance,
    sha256: &'a str,
    bracket: &'a AllocatedBracket,
) -> AllocatedBoundDocument<ServerResults<'a>> {
    let claim = allocated_claim(instance, bracket);
    let AllocationProof { task_values, server_values, values_in_all } = bracket.proof.clone();
    Document::new(AllocatedBoundBody {
        instance: InstanceStamp::new(instance, sha256),
        under_quotas: !instance.quotas().is_empty(),
        resource: instance.resources()[bracket.resource.0].clone(),
        total: instance.total(bracket.resource),
        integral_upper: claim.upper,
        integral_lower: claim.lower,
        proved_optimal: claim.proved_optimal,
        certificate: AllocationCertificate { task_values, server_values, values_in_all },
        search: SumSearch { truncated_searches: bracket.truncated_searches, rounds: bracket.rounds },
        placement: BoundPlacement::new(instance, &bracket.placement),
    })
}

/// What a document states, matched with its instance.
#[derive(Clone, Debug)]
pub struct StatedAllocatedBracket {
    resource: ResourceId,
    proof: AllocationProof,
    placement: Placement,
    upper: f64,
    lower: f64,
    proved_optimal: bool,
}

impl StatedAllocatedBracket {
    /// Matches a document with the instance it says it belongs to. Fails where the two cannot be matched.
    pub fn new(
        document: &AllocatedBoundDocument,
        instance: &Instance,
        sha256: &str,
    ) -> Result<Self, Foreign> {
        check_stamp(&document.instance, instance, sha256)?;
        check_quotas(document.under_quotas, instance)?;
        let placement = document.placement.read(instance)?;
        let resource = instance.resources().iter().position(|name| *name == document.resource);
        let Some(resource) = resource.map(ResourceId) else {
            return Err(Foreign::new("resource", &document.resource, "there is no such resource"));
        };
        let total = instance.total(resource);
        if (document.total - total).abs() > SAME * total {
            let problem = format!("the servers have {total}");
            return Err(Foreign::new("total", &document.total.to_string(), problem));
        }
        let AllocationCertificate { task_values, server_values, values_in_all } =
            document.certificate.clone();
        Ok(Self {
            resource,
            proof: AllocationProof { task_values, server_values, values_in_all },
            placement,
            upper: document.integral_upper,
            lower: document.integral_lower,
            proved_optimal: document.proved_optimal,
        })
    }

    /// Everything that is found of it.
    pub fn verdicts(&self, instance: &Instance) -> Vec<Verdict> {
        verify_allocated(instance, &self.claim(), &Deadline::never())
    }

    /// The claim, for [`fairplan_verify::verify_allocated`].
    pub fn claim(&self) -> AllocatedClaim<'_> {
        AllocatedClaim {
            resource: self.resource,
            proof: &self.proof,
            placement: &self.placement,
            upper: self.upper,
            lower: self.lower,
            proved_optimal: self.proved_optimal,
        }
    }
}
