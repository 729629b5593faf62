//! `fairplan.bound.v1`: the best any placement of whole tasks can do, from both sides, with what proves it.

use crate::foreign::{Foreign, check_quotas, check_stamp, in_order, list};
use crate::placement::{ServerResult, ServerResults, tasks_on_servers};
use crate::solution::ClassPrice;
use crate::tolerance::same;
use fairplan_instances::InstanceStamp;
use fairplan_instances::ResourceMap;
use fairplan_instances::stated;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{
    Body, Breakpoint, CountedGuarantees, Deadline, Document, FilledTree, Headline, Instance, LimitRoom,
    LimitedTasks, Objective, Part, Placement, ServerClass, Solution, UserId, WholeTaskBracket,
    WholeTaskProof, guaranteed_whole_shares, wants_beyond_limits,
};
use fairplan_verify::{
    DivisibleClaim, StatedBounds, Verdict, WholeTaskClaim, verify_divisible, verify_whole_tasks,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

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
    /// are any, both bounds are 0, and `others` tells about the users that remain.
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

/// A placement, server by server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "S: Deserialize<'de>"))]
pub struct BoundPlacement<S = Vec<ServerResult>> {
    /// How many tasks each user has on all servers, in the instance's order.
    pub users: Vec<UserTotal>,
    /// How many tasks of each group wait, in the instance's order. Absent where there are no groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupWaiting>,
    /// The tasks on each server: all servers of the first class, then of the second, and so on.
    pub servers: S,
}

impl<'a> BoundPlacement<ServerResults<'a>> {
    /// What a document says of a placement.
    pub(crate) fn new(instance: &'a Instance, placement: &'a Placement) -> Self {
        let (of_users, of_groups) = waiting(instance, placement);
        let users = instance.users().zip(&placement.tasks).zip(of_users);
        let users =
            users.map(|((user, tasks), waiting)| UserTotal { id: user.id().into(), tasks: *tasks, waiting });
        let groups = instance.groups().iter().zip(of_groups);
        let groups = groups.map(|(group, waiting)| GroupWaiting { id: group.id.clone(), waiting });
        let servers = ServerResults { instance, placement };
        Self { users: users.collect(), groups: groups.collect(), servers }
    }
}

/// How many tasks of each user and of each group wait; `None` of those of whom nobody has a number of tasks.
fn waiting(instance: &Instance, placement: &Placement) -> (Vec<Option<u64>>, Vec<Option<u64>>) {
    let of_user = |i: usize| placement.waiting(instance.user(UserId(i)));
    let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    };
    ((0..instance.user_count()).map(of_user).collect(), instance.of_groups(None, of_user, add))
}

impl BoundPlacement {
    /// The placement, matched with its instance. Fails where the two cannot be matched.
    pub(crate) fn read(&self, instance: &Instance) -> Result<Placement, Foreign> {
        let ids = self.users.iter().map(|user| &*user.id);
        list("placement.users", ids, instance.users().map(|user| user.id()))?;
        let ids = self.groups.iter().map(|group| &*group.id);
        list("placement.groups", ids, instance.groups().iter().map(|group| &*group.id))?;
        let placement = Placement {
            tasks: self.users.iter().map(|user| user.tasks).collect(),
            servers: tasks_on_servers(&self.servers, instance, "placement.servers")?,
        };
        let (of_users, of_groups) = waiting(instance, &placement);
        let stated = |list: &str, (i, (stated, computed)): (usize, (Option<u64>, Option<u64>))| {
            let told = |tasks: Option<u64>| tasks.map_or_else(|| "nothing".into(), |tasks| tasks.to_string());
            let place = format!("placement.{list}[{i}].waiting");
            let problem = || format!("by the tasks that are placed it is {}", told(computed));
            if stated == computed { Ok(()) } else { Err(Foreign::new(place, &told(stated), problem())) }
        };
        let users = self.users.iter().map(|user| user.waiting).zip(of_users).enumerate();
        users.into_iter().try_for_each(|user| stated("users", user))?;
        let groups = self.groups.iter().map(|group| group.waiting).zip(of_groups).enumerate();
        groups.into_iter().try_for_each(|group| stated("groups", group))?;
        Ok(placement)
    }
}

impl<S: Sync> Tabular for BoundPlacement<S> {
    /// A row a user, in the instance's order.
    fn table(&self) -> Table<'_> {
        Table::of(&self.users)
            .column("id", "user", Kind::Id, |user| &user.id)
            .column("tasks", "tasks", Kind::Count, |user| user.tasks)
            .column("waiting", "tasks waiting", Kind::Count, |user| user.waiting)
            .done()
    }
}

/// How many tasks a user has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserTotal {
    /// The user's id.
    pub id: String,
    /// Tasks placed.
    pub tasks: u64,
    /// Tasks that wait. Absent for a user without a number of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
}

/// How many tasks of a group wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupWaiting {
    /// The group's id.
    pub id: String,
    /// Tasks of all users below it that wait. Absent where none of them has a number of tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u64>,
}

/// What divisible tasks reach at most, beside what whole ones do.
#[derive(Clone, Debug, PartialEq)]
pub struct DivisibleBound {
    /// The bound.
    pub bound: f64,
    /// The prices that prove it, row-major `classes × resources`; `None` where tasks that run out do.
    pub prices: Option<Vec<f64>>,
    /// Those of limits and reserves beside them, one for each of [`Instance::limit_rows`]; empty where none is counted.
    pub limit_prices: Vec<f64>,
    /// Which guarantees are counted; `None` where nobody has any, and for sums, which count none.
    pub counted_guarantees: Option<CountedGuarantees>,
}

impl DivisibleBound {
    /// The bound of a proved solution, of an instance whose guarantees are those that are counted, in whole tasks
    /// ([`Instance::with_whole_guarantees`]). Prices of a level that not everybody reaches prove nothing of all users.
    pub fn new(
        instance: &Instance,
        solution: &Solution,
        counted_guarantees: Option<CountedGuarantees>,
    ) -> Self {
        let prices = solution.certificate.prices().first().map(|prices| prices.to_vec());
        let limit_prices = solution.certificate.first_limit_prices().to_vec();
        let bound = Headline::new(instance, solution).bound;
        let priced = Self { bound, prices, limit_prices, counted_guarantees };
        if verify_divisible(instance, priced.claim(solution.objective)).holds {
            return priced;
        }
        Self { prices: None, limit_prices: Vec::new(), ..priced }
    }

    /// The same for an instance whose limits, which were left out, let users have only so many tasks.
    pub fn within_limits(self, instance: &Instance, objective: Objective) -> Self {
        let floors = if self.is_above_guarantees() { guaranteed_whole_shares(instance) } else { Vec::new() };
        match by_limits(instance, objective, &floors).filter(|most| *most < self.bound) {
            Some(bound) => Self { bound, prices: None, limit_prices: Vec::new(), ..self },
            None => self,
        }
    }

    /// Whether any guarantees are counted.
    pub fn is_above_guarantees(&self) -> bool {
        self.counted_guarantees.is_some_and(|counted| counted != CountedGuarantees::None)
    }

    /// The instance that bounds are of: without guarantees where none is counted.
    pub fn counted<'a>(&self, instance: &'a Instance) -> Cow<'a, Instance> {
        CountedGuarantees::instance(self.counted_guarantees, instance)
    }

    /// The prices class by class.
    pub(crate) fn stated(&self, instance: &Instance) -> Option<Vec<ClassPrice>> {
        let rows = self.prices.as_ref()?.chunks(instance.resources().len());
        let price = |(class, row): (&ServerClass, &[f64])| ClassPrice {
            class: class.id.as_str().into(),
            price: ResourceMap::new(instance, row.iter().copied()),
        };
        Some(instance.classes().iter().zip(rows).map(price).collect())
    }

    /// What a document states of it, matched with its instance.
    pub(crate) fn read(
        bound: f64,
        (stated, limit_prices): (Option<&Vec<ClassPrice>>, &[f64]),
        counted_guarantees: Option<CountedGuarantees>,
        instance: &Instance,
    ) -> Result<Self, Foreign> {
        let prices = stated.map(|rows| {
            let ids = instance.classes().iter().map(|class| class.id.as_str());
            list("divisible_prices", rows.iter().map(|row| &*row.class), ids)?;
            let mut prices = Vec::new();
            for (l, row) in rows.iter().enumerate() {
                prices.extend(in_order(&row.price, instance, || format!("divisible_prices[{l}].price"))?);
            }
            Ok(prices)
        });
        let limit_prices = limit_prices.to_vec();
        Ok(Self { bound, prices: prices.transpose()?, limit_prices, counted_guarantees })
    }

    /// The claim, for [`fairplan_verify::verify_divisible`].
    pub fn claim(&self, objective: Objective) -> DivisibleClaim<'_> {
        let (prices, limit_prices) = (self.prices.as_deref(), self.limit_prices.as_slice());
        let above_guarantees = self.is_above_guarantees();
        DivisibleClaim { objective, bound: self.bound, prices, limit_prices, above_guarantees }
    }
}

/// The smallest weighted share that tasks and limits alone allow; `None` of sums, and where nobody has a limit.
fn by_limits(instance: &Instance, objective: Objective, floors: &[f64]) -> Option<f64> {
    if !instance.has_limits() || objective != Objective::Drfh {
        return None;
    }
    let LimitedTasks { divided, .. } = LimitedTasks::of(instance);
    let cap = |i: usize| match instance.user(UserId(i)) {
        user if user.rule().rates().is_empty() => divided[i] * user.task_share(),
        _ => f64::INFINITY,
    };
    // Whom a limit holds wants more, and its siblings count as far as that is their part.
    let part = |i: usize| {
        let user = instance.user(UserId(i));
        let floor = floors.get(i).copied().unwrap_or(0.0);
        Part { floor, ..Part::new(cap(i), user.can_run() && wants_beyond_limits(user, divided[i])) }
    };
    let [least, _] = Part::smallest(&instance.parts_at_the_root(part));
    Some(least)
}

/// The level of a breakpoint; 0 where no user can have tasks.
pub fn breakpoint_value(instance: &Instance, at: Option<Breakpoint>) -> f64 {
    at.map_or(0.0, |at| {
        let user = instance.user(at.user);
        let share = at.tasks as f64 * user.task_share();
        match instance.has_groups() {
            true => FilledTree::of_whole_tasks(instance).level(at.user, share),
            false => share / user.weight().to_f64(),
        }
    })
}

/// The bounds of a bracket as doubles: of the smallest share, which is no more than anybody's tasks and limits allow, nor than what is proved of
/// `divisible` tasks, and of the level where tasks, limits or groups tell the two apart.
pub fn stated_bounds(
    instance: &Instance,
    bracket: &WholeTaskBracket,
    divisible: Option<&DivisibleBound>,
) -> StatedBounds {
    let divisible = divisible.map(|divisible| divisible.bound);
    let share = |i: usize, tasks: u64| tasks as f64 * instance.user(UserId(i)).task_share();
    let has_none = |i: usize| bracket.without_tasks.binary_search(&UserId(i)).is_ok();
    let tasks = &bracket.placement.tasks;
    // Of all users, who can have no whole task lacks what divisible tasks could have.
    let lacks_all = |i: usize| {
        let user = instance.user(UserId(i));
        has_none(i) && user.tasks() != Some(0) && user.can_run()
    };
    let has_left =
        |i: usize| !has_none(i) && instance.user(UserId(i)).tasks().is_none_or(|all| tasks[i] < all);
    let room = LimitRoom::of(instance, &bracket.placement);
    let wants_more = |i: usize| has_left(i) && !room.holds(instance.user(UserId(i)));
    let LimitedTasks { most, .. } = LimitedTasks::of(instance);
    let cap = |i: usize| match most[i] {
        _ if has_none(i) => 0.0,
        u64::MAX => f64::INFINITY,
        tasks => share(i, tasks),
    };
    let floors = guaranteed_whole_shares(instance);
    let parts = |has: &dyn Fn(usize) -> f64, wants_more: &dyn Fn(usize) -> bool| {
        let floor = |i: usize| if has_none(i) { 0.0 } else { floors[i] };
        instance.parts_at_the_root(|i| Part { floor: floor(i), ..Part::new(has(i), wants_more(i)) })
    };
    let has = |i: usize| share(i, tasks[i]);
    let beyond = |i: usize| !has_none(i) && wants_beyond_limits(instance.user(UserId(i)), most[i] as f64);
    let caps = parts(&cap, &beyond);
    let children = parts(&has, &has_left);
    // Who can have tasks is among the others, even if a limit has no room for one.
    let can_have = parts(&|i| if has_none(i) { 0.0 } else { 1.0 }, &|_| false);
    let of_others = |of: &[Part]| {
        let others = can_have.iter().zip(of).filter(|(can, _)| can.share > 0.0);
        others.map(|(_, part)| part.share).fold(f64::INFINITY, f64::min)
    };
    let upper = breakpoint_value(instance, bracket.upper);
    let [lower, _] = Part::smallest(&parts(&has, &|i| has_left(i) || lacks_all(i)));
    let [_, level] = Part::smallest(&parts(&has, &wants_more));
    let is_level = !matches!(bracket.proof, None | Some(WholeTaskProof::TaskLimit(_)));
    let tells_apart = instance.has_task_limits() || instance.has_groups() || instance.has_limits();
    let anybody = |value: f64| if bracket.upper.is_some() { value } else { 0.0 };
    // Whole tasks can be divided, too; but where some users can have none the others may have more than all of them.
    // What differs by rounding alone is the same.
    let by_division =
        divisible.filter(|bound| *bound < upper && !same(*bound, upper)).unwrap_or(f64::INFINITY);
    let of_all = if bracket.without_tasks.is_empty() { by_division } else { f64::INFINITY };
    let by_tasks = Part::smallest(&parts(&cap, &|i| beyond(i) || lacks_all(i)))[0];
    StatedBounds {
        divisible,
        upper: upper.min(by_tasks).min(by_division),
        lower,
        upper_of_others: anybody(upper.min(of_others(&caps)).min(of_all)),
        lower_of_others: anybody(of_others(&children)),
        level_upper: (tells_apart && is_level).then_some(upper),
        level_lower: (tells_apart && level < f64::INFINITY).then_some(level),
        unplaced: instance.has_task_limits().then(|| bracket.placement.all_waiting(instance)),
        proved_optimal: bracket.is_closed,
    }
}

/// The document of a bracket, ready to be written.
pub fn bound_document<'a>(
    instance: &'a Instance,
    sha256: &'a str,
    divisible: &DivisibleBound,
    bracket: &'a WholeTaskBracket,
) -> BoundDocument<ServerResults<'a>> {
    let id = |user: &UserId| instance.user(*user).id().to_owned();
    let stated = stated_bounds(&divisible.counted(instance), bracket, Some(divisible));
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
}

impl StatedBracket {
    /// Matches a document with the instance it says it belongs to. Fails where the two cannot be matched.
    pub fn new(document: &BoundDocument, instance: &Instance, sha256: &str) -> Result<Self, Foreign> {
        check_stamp(&document.instance, instance, sha256)?;
        check_quotas(document.under_quotas, instance)?;
        let counted = document.counted_guarantees;
        if counted != CountedGuarantees::of(instance, counted != Some(CountedGuarantees::None)) {
            let problem =
                "is `all` where users have guarantees, `of-users` where groups have any, or `none` of either";
            return Err(Foreign::new("counted_guarantees", "", problem));
        }
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
            divisible: DivisibleBound::read(document.divisible, prices, counted, instance)?,
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
        verdicts
    }

    /// The claim, for [`fairplan_verify::verify_whole_tasks`].
    pub fn claim(&self) -> WholeTaskClaim<'_> {
        WholeTaskClaim { bracket: &self.bracket, stated: Some(self.stated) }
    }
}

/// How many tasks each user has.
pub fn tasks_placed(users: &[UserTotal]) -> Table<'_> {
    Table::of(users)
        .column("user", "user", Kind::Id, |user| &user.id)
        .column("tasks", "tasks", Kind::Count, |user| user.tasks)
        .column("waiting", "tasks waiting", Kind::Count, |user| user.waiting)
        .done()
}
