//! `fairplan.bound.v1`: the best any placement of whole tasks can do, from both sides, with what proves it.

use crate::bound_placement::BoundPlacement;
use crate::divisible_bound::DivisibleBound;
use crate::foreign::{Foreign, check_quotas, check_stamp};
use crate::placement::{ServerResult, ServerResults};
use crate::solution::{AloneResult, ClassPrice, divisions_of_groups, whole_tasks_of_groups};
use fairplan_instances::table::{Table, Tabular};
use fairplan_instances::{
    Body, Breakpoint, CountedGuarantees, Deadline, Document, Instance, InstanceStamp, Objective, Solution,
    StatedBounds, UserId, WholeTaskBracket, WholeTaskProof, stated, stated_bounds,
};
use fairplan_verify::{Verdict, WholeTaskClaim, verify_divisible, verify_whole_tasks};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest smallest weighted dominant share that whole tasks can have, from both sides. The same instance gives the
/// same bytes, unless a time limit ended the search.
// `S` is the sequence of servers: a list when read, computed one by one when written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "S: Deserialize<'de>"))]
#[schemars(rename = "Bound")]
pub struct BoundBody<S = Vec<ServerResult>> {
    /// The instance.
    pub instance: InstanceStamp,
    /// Whether anybody has guarantees, limits or reserves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub under_quotas: bool,
    /// Which guarantees are counted: what is proved is of placements that keep these, in whole tasks. Absent where nobody has any.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub counted_guarantees: Option<CountedGuarantees>,
    /// How the members of groups would divide what these are guaranteed, alone in the cluster: the whole tasks of that are counted. Of groups
    /// inside others of them it is said there. Absent where no group is guaranteed more than its members are, or nothing of that is counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guaranteed_groups: Vec<AloneResult>,
    /// No allocation of divisible tasks within limits and reserves, and above the guarantees that are counted, is better: the proved bound
    /// of the DRFH optimum.
    pub divisible: f64,
    /// The prices that prove it: of that value for one more unit. Absent where nobody is held by capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divisible_prices: Option<Vec<ClassPrice>>,
    /// The prices of limits and reserves beside these, in the order of `limits` in a solution. Absent where none is counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub divisible_limit_prices: Vec<f64>,
    /// No placement of whole tasks is better: the certificate proves it, or what is proved of divisible tasks.
    pub integral_upper: f64,
    /// The placement below reaches this.
    pub integral_lower: f64,
    /// The same for the level: no placement of whole tasks gives those who still want more a larger smallest share (where there are
    /// groups: divided among groups first); whom a limit holds does not. Absent where all may have all that they ask for or their limits
    /// let them have, and where nobody's tasks are limited, nobody has a limit and nobody is in a group, so that it is `integral_upper`.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub integral_level_upper: Option<f64>,
    /// The level of the placement below. Absent where nobody wants more in it, and where nothing tells it from `integral_lower`.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub integral_level_lower: Option<f64>,
    /// Tasks that wait in the placement below, of users who have a number of them. Absent where nobody's tasks are limited.
    #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
    pub unplaced: Option<u64>,
    /// Whether the placement is proved optimal: no other has a higher level. Compared exactly; where there are groups, to 1e-9.
    /// (Results without a level that state a `task_limit`: none has a larger smallest share.)
    pub proved_optimal: bool,
    /// Users that can have no task at all, because none fits on a server that they may use, or they have none. If there
    /// are any, both bounds are 0 (more if others of their groups are guaranteed something), and `others` tells about the users that
    /// remain. What they are guaranteed themselves no placement keeps: `counted_guarantees` is without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users_without_tasks: Vec<String>,
    /// The bounds over the users that can have tasks. Absent where those are all users, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<OtherUsers>,
    /// What proves the bounds. Absent where no user can have tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<BoundCertificate>,
    /// How the search went.
    pub search: SearchResult,
    /// A placement that has the lower bound.
    pub placement: BoundPlacement<S>,
}

impl<S> Body for BoundBody<S> {
    const FORMAT: &'static str = "fairplan.bound.v1";
}

impl<S: Sync> Tabular for BoundBody<S> {
    /// A row a user of the placement.
    fn table(&self) -> Table<'_> {
        self.placement.table()
    }
}

/// The whole file.
pub type BoundDocument<S = Vec<ServerResult>> = Document<BoundBody<S>>;

/// Bounds over the users that can have tasks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OtherUsers {
    /// No placement of whole tasks is better for them.
    pub integral_upper: f64,
    /// The placement reaches this.
    pub integral_lower: f64,
}

/// What proves the bounds, in whole numbers. A level of whole tasks is excluded if the tasks that it gives, `k_i` of user `i` and
/// never more than all that it has or the fewest with which a limit may hold it, are more than the servers can hold: `Σ_i
/// task_values[i] k_i > Σ_l count_l server_values[l]`, where limits have values `+ Σ_j limit_values[j]`; or if everybody has all the tasks that it can have at the upper breakpoint; or if a
/// user cannot have so many alone. Tasks of gangs are counted in whole gangs, and where each is within a domain, the servers of a domain
/// hold the largest sum of whole gangs and single pieces within what they come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundCertificate {
    /// The upper bound, exactly.
    pub upper: BreakpointResult,
    /// The lower bound, exactly.
    pub lower: BreakpointResult,
    /// The user that is the last to have all its tasks; absent where task values prove the bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_limit: Option<String>,
    /// The user that cannot have more tasks even where nothing else runs, by its gangs and spread; absent where something else proves the
    /// bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<String>,
    /// What one task of each user is worth, in the instance's order; where users have kinds, what one piece of each kind is worth, and
    /// a task what its pieces are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_values: Option<Vec<u64>>,
    /// What the tasks on one server of each class are worth at most, in the instance's order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_values: Option<Vec<u64>>,
    /// What all that each limit and reserve leaves is worth, in the order of `limits` in a solution: on the classes that it is over a piece is worth
    /// less by the part of this that it takes, rounded down. Absent where limits are not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limit_values: Vec<u64>,
}

/// A level that whole tasks can have: the one that gives a user so many tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BreakpointResult {
    /// The user.
    pub user: String,
    /// Its tasks.
    pub tasks: u64,
}

/// How the search went. Nothing here decides what the bounds are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchResult {
    /// Whether servers that hold fractions of patterns reach the upper bound, so that no worth of the tasks excludes more.
    pub is_tight: bool,
    /// Knapsack searches that were cut short, each of which may loosen the upper bound.
    pub truncated_searches: u64,
    /// Linear programs solved.
    pub rounds: u64,
}

/// The document of a bracket, ready to be written; with the divisions of what groups are guaranteed, where that is counted.
pub fn bound_document<'a>(
    instance: &'a Instance,
    sha256: &'a str,
    divisible: &DivisibleBound,
    divisions: &[Solution],
    bracket: &'a WholeTaskBracket,
) -> BoundDocument<ServerResults<'a>> {
    let id = |user: &UserId| instance.user(*user).id().to_owned();
    let stated = stated_bounds(&divisible.counted(instance), bracket, Some(divisible.bound));
    let has_others = !bracket.without_tasks.is_empty() && bracket.upper.is_some();
    let at = |at: Breakpoint| BreakpointResult { user: id(&at.user), tasks: at.tasks };
    let certificate = bracket.upper.zip(bracket.lower).zip(bracket.proof.as_ref());
    let certificate = certificate.map(|((upper, lower), proof)| {
        let (mut task_limit, mut alone, mut task_values, mut server_values) = (None, None, None, None);
        let mut of_limits = Vec::new();
        match proof {
            WholeTaskProof::TaskLimit(user) => task_limit = Some(id(user)),
            WholeTaskProof::Alone(user) => alone = Some(id(user)),
            WholeTaskProof::Values { task_values: tasks, server_values: servers, limit_values } => {
                (task_values, server_values) = (Some(tasks.clone()), Some(servers.clone()));
                of_limits.clone_from(limit_values);
            }
        }
        let (upper, lower) = (at(upper), at(lower));
        let limit_values = of_limits;
        BoundCertificate { upper, lower, task_limit, alone, task_values, server_values, limit_values }
    });
    Document::new(BoundBody {
        instance: InstanceStamp::new(instance, sha256),
        under_quotas: !instance.quotas().is_empty(),
        counted_guarantees: divisible.counted_guarantees,
        guaranteed_groups: divisions_of_groups(instance, divisions),
        divisible: divisible.bound,
        divisible_prices: divisible.stated(instance),
        divisible_limit_prices: divisible.limit_prices.clone(),
        integral_upper: stated.upper,
        integral_lower: stated.lower,
        integral_level_upper: stated.level_upper,
        integral_level_lower: stated.level_lower,
        unplaced: stated.unplaced,
        proved_optimal: stated.proved_optimal,
        users_without_tasks: bracket.without_tasks.iter().map(id).collect(),
        others: has_others.then_some(OtherUsers {
            integral_upper: stated.upper_of_others,
            integral_lower: stated.lower_of_others,
        }),
        certificate,
        search: SearchResult {
            is_tight: bracket.is_tight,
            truncated_searches: bracket.truncated_searches,
            rounds: bracket.rounds,
        },
        placement: BoundPlacement::new(instance, &bracket.placement),
    })
}

/// What a document states, matched with its instance.
#[derive(Clone, Debug)]
pub struct StatedBracket {
    bracket: WholeTaskBracket,
    stated: StatedBounds,
    divisible: DivisibleBound,
    /// On how what groups are guaranteed is divided.
    divided: Option<Verdict>,
}

impl StatedBracket {
    /// Matches a document with the instance it says it belongs to. Fails where the two cannot be matched.
    pub fn new(document: &BoundDocument, instance: &Instance, sha256: &str) -> Result<Self, Foreign> {
        check_stamp(&document.instance, instance, sha256)?;
        check_quotas(document.under_quotas, instance)?;
        let counted = document.counted_guarantees;
        let (whole_guarantees, divided) = guarantees_of_groups(document, instance)?;
        let placement = document.placement.read(instance)?;
        let position = |place: String, id: &str| {
            instance.user_named(id).ok_or_else(|| Foreign::new(place, id, "no such user"))
        };
        let at = |name: &str, at: &BreakpointResult| {
            let user = position(format!("certificate.{name}.user"), &at.user)?;
            Ok(Breakpoint { user, tasks: at.tasks })
        };
        let (mut upper, mut lower, mut proof) = (None, None, None);
        if let Some(certificate) = &document.certificate {
            upper = Some(at("upper", &certificate.upper)?);
            lower = Some(at("lower", &certificate.lower)?);
            let BoundCertificate { task_limit, alone, task_values, server_values, limit_values, .. } =
                certificate;
            proof = match (task_limit, alone, task_values, server_values) {
                (Some(user), None, None, None) if limit_values.is_empty() => {
                    Some(WholeTaskProof::TaskLimit(position("certificate.task_limit".into(), user)?))
                }
                (None, Some(user), None, None) if limit_values.is_empty() => {
                    Some(WholeTaskProof::Alone(position("certificate.alone".into(), user)?))
                }
                (None, None, Some(tasks), Some(servers)) => Some(WholeTaskProof::Values {
                    task_values: tasks.clone(),
                    server_values: servers.clone(),
                    limit_values: limit_values.clone(),
                }),
                _ => {
                    let problem = "states either task_limit, or alone, or task_values and server_values, with which limit_values may be";
                    return Err(Foreign::new("certificate", "", problem));
                }
            };
        }
        let without_tasks = document.users_without_tasks.iter().enumerate();
        let without_tasks = without_tasks.map(|(i, id)| position(format!("users_without_tasks[{i}]"), id));
        let has_others = !document.users_without_tasks.is_empty() && document.certificate.is_some();
        if document.others.is_some() != has_others {
            let problem = "is stated where some users can have tasks and some cannot, and nowhere else";
            return Err(Foreign::new("others", "", problem));
        }
        let others = document.others.unwrap_or(OtherUsers {
            integral_upper: document.integral_upper,
            integral_lower: document.integral_lower,
        });
        let prices = (document.divisible_prices.as_ref(), document.divisible_limit_prices.as_slice());
        Ok(Self {
            divisible: DivisibleBound {
                whole_guarantees,
                ..DivisibleBound::read(document.divisible, prices, counted, instance)?
            },
            divided,
            bracket: WholeTaskBracket {
                without_tasks: without_tasks.collect::<Result<_, _>>()?,
                upper,
                proof,
                lower,
                placement,
                is_closed: document.proved_optimal,
                is_tight: document.search.is_tight,
                truncated_searches: document.search.truncated_searches,
                rounds: document.search.rounds,
            },
            stated: StatedBounds {
                divisible: Some(document.divisible),
                upper: document.integral_upper,
                lower: document.integral_lower,
                upper_of_others: others.integral_upper,
                lower_of_others: others.integral_lower,
                level_upper: document.integral_level_upper,
                level_lower: document.integral_level_lower,
                unplaced: document.unplaced,
                proved_optimal: document.proved_optimal,
            },
        })
    }

    /// Everything that is found of it.
    pub fn verdicts(&self, instance: &Instance) -> Vec<Verdict> {
        let instance = &*self.divisible.counted(instance);
        let mut verdicts = verify_whole_tasks(instance, &self.claim(), &Deadline::never());
        verdicts.push(verify_divisible(instance, self.divisible.claim(Objective::Drfh)));
        verdicts.extend(self.divided.clone());
        verdicts
    }

    /// The claim, for [`fairplan_verify::verify_whole_tasks`].
    pub fn claim(&self) -> WholeTaskClaim<'_> {
        WholeTaskClaim { bracket: &self.bracket, stated: Some(self.stated) }
    }
}

/// The whole tasks that a document counts of each user where what groups are guaranteed is counted, and the verdict on its divisions; nothing
/// where no group is guaranteed more than its members are, or only guarantees of users are counted, or none.
fn guarantees_of_groups(
    document: &BoundDocument,
    instance: &Instance,
) -> Result<(Vec<u64>, Option<Verdict>), Foreign> {
    let counted = document.counted_guarantees;
    let of_users = CountedGuarantees::of(instance, counted != Some(CountedGuarantees::None));
    let of_groups = counted == Some(CountedGuarantees::All) && of_users == Some(CountedGuarantees::OfUsers);
    if counted != of_users && !of_groups {
        let problem = "is stated where somebody has guarantees; `of-users` where a group is guaranteed more than its members";
        return Err(Foreign::new("counted_guarantees", "", problem));
    }
    if !of_groups {
        let problem = "is stated where all guarantees are counted and a group is guaranteed more than its members are, and nowhere else";
        let refused = || Err(Foreign::new("guaranteed_groups", "", problem));
        return if document.guaranteed_groups.is_empty() { Ok((Vec::new(), None)) } else { refused() };
    }
    whole_tasks_of_groups(&document.guaranteed_groups, instance)
}
