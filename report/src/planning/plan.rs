//! `fairplan.plan.v1`: what to buy, with its bound; or what stands against any purchase.

use fairplan_instances::InstanceStamp;
use fairplan_instances::ResourceMap;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::wording::{printable, thousands};
use fairplan_instances::{
    Body, Catalog, Document, HeldNowhere, Instance, KeptOut, KindId, Obstacle, Purchase, ServersBought,
    StatedTarget, User, UserId, servers_bought,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The cheapest servers that have room for what is asked for of all users together. The same files and settings give the
/// same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Plan")]
pub struct PlanBody {
    /// The cluster and its users as they are.
    pub instance: InstanceStamp,
    /// What can be bought.
    pub catalog: CatalogStamp,
    /// Whether tasks are divided at will or whole.
    pub tasks: TaskKind,
    /// What every user shall reach.
    pub target: StatedTarget,
    /// The most that may be spent. Absent without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<f64>,
    /// Whether DRFH by itself has to give every user its target, with nobody held to it.
    pub under_drfh: bool,
    /// Whether some purchase that is allowed does it.
    pub reachable: bool,
    /// The part of what is asked for that every user reaches on the servers that there are (1 or more: nothing need be
    /// bought). Absent where nothing is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_before: Option<f64>,
    /// What to buy. Absent where nothing does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purchase: Option<PurchaseResult>,
    /// Why nothing does it. Absent where something does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<ObstacleResult>,
    /// What parts of the target cost, rising. Absent unless asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frontier: Vec<FrontierPoint>,
    /// The groups that have members, in the instance's order. Absent where users are in none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<PlannedGroup>,
    /// Every user, those that come included, in the instance's order.
    pub users: Vec<PlannedUser>,
}

impl Body for PlanBody {
    const FORMAT: &'static str = "fairplan.plan.v1";
}

/// The whole file.
pub type PlanDocument = Document<PlanBody>;

/// What can be bought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CatalogStamp {
    /// The catalog's name.
    pub name: String,
    /// What prices are counted in.
    pub currency: String,
}

/// How tasks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TaskKind {
    /// Divided at will.
    Divisible,
    /// Each on one server, checked by a placement.
    Whole,
}

/// What to buy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PurchaseResult {
    /// `optimal` where nothing cheaper is enough, `feasible` where that is not proved.
    pub status: String,
    /// What it costs; where the catalog has commitments: on demand, a period.
    pub cost: f64,
    /// What it costs a period where all is reserved that can be. Absent where nothing of it can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_cost: Option<f64>,
    /// No purchase that is enough costs less, by branch and bound.
    pub bound: f64,
    /// `1 - bound / cost`.
    pub gap: f64,
    /// No purchase that is enough costs less, proved by the prices below alone: computed anew from the files, rounded downward,
    /// and raised to the next cost that there is.
    pub proved_bound: f64,
    /// What prove it: a price for each resource of each class. Whoever works must pay; no type is worth more than it costs.
    pub prices: Vec<PricesOfClass>,
    /// The part of what is asked for that every user reaches, tasks divided at will.
    pub part: f64,
    /// The part of what is asked for that every user has where DRFH divides the bought cluster by itself, with nobody held
    /// to what is asked for: below 1 where some get more than that at the cost of others.
    pub part_under_drfh: f64,
    /// The types of which something is bought.
    pub servers: Vec<ServersBought>,
}

/// What the resources of servers are priced at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PricesOfClass {
    /// The server class, or the type that becomes one.
    pub class: String,
    /// For one unit of each resource.
    pub price: ResourceMap,
}

/// What a part of the target costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrontierPoint {
    /// The part of what is asked for that every user reaches.
    pub part: f64,
    /// That part of the target share. Absent unless the target is a share alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// What it costs.
    pub cost: f64,
    /// Nothing that is enough costs less.
    pub bound: f64,
    /// The types of which something is bought.
    pub servers: Vec<ServersBought>,
}

/// Why no purchase that is allowed is enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObstacleResult {
    /// Of those who need the resource below, the user whose work pays the most for what is short.
    pub user: String,
    /// The group that the user is in. Absent where it is in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The kind of its tasks of which that is so. Absent where its tasks have no kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The resource that is worth the most there.
    pub resource: String,
    /// Whether that user can run on nothing that there is or can be bought.
    pub nowhere: bool,
    /// The largest part of what is asked for that all users can reach together; of whole tasks, rounded up to whole ones, the largest for which
    /// a placement was found.
    pub part: f64,
    /// The part of its own target to which this user alone would have to go down with that purchase. Absent where that is
    /// not enough, and of whole tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_part: Option<f64>,
    /// Where that user can run on nothing: the tasks that no server holds, of all users that have such.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_nowhere: Vec<TaskHeldNowhere>,
    /// The tasks that no server on offer takes, of users that want more of them than the servers that there are hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_offered: Vec<TaskHeldNowhere>,
    /// Where there is room by resources, and rules that only whole tasks meet keep tasks of that user out. The part above is then that of its
    /// tasks that were placed, no other user having less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_rules: Option<TasksKeptOut>,
    /// Where divided tasks of that user have room, and no placement of whole ones was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_placed: Option<TasksKeptOut>,
    /// What the purchase that reaches this part costs.
    pub cost: f64,
    /// The purchase that reaches this part.
    pub servers: Vec<ServersBought>,
}

/// Tasks that were not placed though there is room by resources, whatever was bought of what may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TasksKeptOut {
    /// The rules of the user, as the instance states them. Without them its tasks would have room. Absent where it is not rules that keep them out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// How many of its tasks were placed, at most, in the placements that were tried.
    pub placed: u64,
    /// How many are asked for.
    pub required: u64,
    /// What to do.
    pub advice: String,
}

/// A task that no server holds which there is or can be bought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskHeldNowhere {
    /// The user.
    pub user: String,
    /// The kind of its tasks. Absent where they have no kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The group that the user is in. Absent where it is in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The resource that is short on the server that comes nearest to holding the task.
    pub resource: String,
    /// How much of it the task needs.
    pub needs: f64,
    /// That server: the one of which the scarcest resource is scarce the least. Absent where the user may run on no server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<NearestServer>,
}

/// The server that comes nearest to holding a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NearestServer {
    /// Its class, or its type in the catalog.
    pub server: String,
    /// How much of the resource it has.
    pub has: f64,
}

/// What is asked for of a group, all its members together: sums of dominant shares of the cluster as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlannedGroup {
    /// The group's id.
    pub id: String,
    /// How many users are below it, those that come included.
    pub users: u64,
    /// The factor of its own for what its members ask for today. Absent where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// What the work asked for of its members is worth.
    pub required: f64,
    /// How much of that its members have where DRFH divides the servers that there are. Absent where that has no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub today: Option<f64>,
    /// The same of the servers after the purchase. Absent without a purchase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<f64>,
}

/// What is asked for of a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlannedUser {
    /// The user's id.
    pub id: String,
    /// The work that it shall be able to do, in tasks (of rate 1); whole for whole tasks.
    pub required: f64,
    /// Its tasks in the placement that checks the plan. Absent where tasks are divided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placed: Option<u64>,
}

/// What a plan is made of.
pub struct PlanParts<'a> {
    /// The cluster and its users as they are.
    pub instance: &'a Instance,
    /// The hash of that instance.
    pub sha256: &'a str,
    /// With the users that come.
    pub extended: &'a Instance,
    /// What can be bought.
    pub catalog: &'a Catalog,
    /// How tasks run.
    pub tasks: TaskKind,
    /// What every user shall reach.
    pub target: StatedTarget,
    /// The most that may be spent.
    pub budget: Option<f64>,
    /// Whether DRFH by itself has to do it.
    pub under_drfh: bool,
    /// What is reached without buying.
    pub part_before: f64,
    /// What DRFH makes of the bought cluster.
    pub part_under_drfh: f64,
    /// The same of each user, on the servers that there are and after the purchase; empty where that is not known.
    pub parts_under_drfh: [&'a [f64]; 2],
    /// The factor that each group has of its own for what it asks for today.
    pub scale_of_groups: &'a [Option<f64>],
    /// The work asked for of each user.
    pub required: &'a [f64],
    /// Tasks placed, by user.
    pub placed: Option<&'a [u64]>,
    /// What prices prove that it costs at least: the bound, and a row a class of the cluster and type that becomes one.
    pub proof: (f64, &'a [Vec<f64>]),
    /// The answer; the users of an obstacle are the kinds of those here.
    pub outcome: Result<&'a Purchase, &'a Obstacle>,
    /// What parts of the target cost.
    pub frontier: &'a [(f64, Purchase)],
}

/// The document of a plan, ready to be written.
pub fn plan_document(parts: &PlanParts<'_>) -> PlanDocument {
    let PlanParts { instance, catalog, extended, .. } = *parts;
    let servers = |counts: &[u64]| ServersBought::of(instance, catalog, counts);
    let purchase = parts.outcome.ok().map(|purchase| PurchaseResult {
        status: if purchase.gap() == 0.0 { "optimal" } else { "feasible" }.into(),
        cost: purchase.cost,
        reserved_cost: ServersBought::reserved_cost(&servers(&purchase.counts)),
        bound: purchase.bound,
        gap: purchase.gap(),
        proved_bound: parts.proof.0.min(purchase.cost),
        prices: prices(extended, catalog, parts.proof.1),
        part: purchase.part,
        part_under_drfh: parts.part_under_drfh,
        servers: servers(&purchase.counts),
    });
    let kept_out = |by_rules: bool, obstacle: &Obstacle| {
        let kept_out = obstacle.kept_out.as_ref().filter(|kept_out| kept_out.rules.is_empty() != by_rules)?;
        let KeptOut { rules, placed, required, advice } = kept_out.clone();
        Some(TasksKeptOut { rules, placed, required, advice })
    };
    let obstacle = parts.outcome.err().map(|obstacle| ObstacleResult {
        user: extended.kind(KindId(obstacle.user.0)).user().id().into(),
        group: group_of(extended, extended.kind(KindId(obstacle.user.0)).user()),
        kind: extended.kind(KindId(obstacle.user.0)).id().map(str::to_owned),
        resource: extended.resources()[obstacle.resource.0].as_str().into(),
        nowhere: obstacle.nowhere,
        part: obstacle.part,
        own_part: obstacle.own_part,
        held_nowhere: obstacle.held_nowhere.iter().map(|task| task_held_nowhere(extended, task)).collect(),
        not_offered: obstacle.not_offered.iter().map(|task| task_held_nowhere(extended, task)).collect(),
        by_rules: kept_out(true, obstacle),
        not_placed: kept_out(false, obstacle),
        cost: catalog.cost(&obstacle.counts),
        servers: servers(&obstacle.counts),
    });
    let only_share = StatedTarget { share: None, ..parts.target } == StatedTarget::default();
    let point = |(part, purchase): &(f64, Purchase)| FrontierPoint {
        part: *part,
        share: parts.target.share.filter(|_| only_share).map(|share| share * part),
        cost: purchase.cost,
        bound: purchase.bound,
        servers: servers(&purchase.counts),
    };
    let user = |(i, user): (usize, User<'_>)| PlannedUser {
        id: user.id().into(),
        required: parts.required[i],
        placed: parts.placed.map(|placed| placed[i]),
    };
    Document::new(PlanBody {
        instance: InstanceStamp::new(instance, parts.sha256),
        catalog: CatalogStamp {
            name: catalog.name.as_str().into(),
            currency: catalog.currency.as_str().into(),
        },
        tasks: parts.tasks,
        target: parts.target,
        budget: parts.budget,
        under_drfh: parts.under_drfh,
        reachable: parts.outcome.is_ok(),
        part_before: Some(parts.part_before).filter(|part| part.is_finite()),
        purchase,
        obstacle,
        frontier: parts.frontier.iter().map(point).collect(),
        groups: planned_groups(parts),
        users: extended.users().enumerate().map(user).collect(),
    })
}

/// The id of the group that a user is in.
fn group_of(instance: &Instance, user: User<'_>) -> Option<String> {
    user.group().map(|group| instance.groups()[group.0].id.clone())
}

fn planned_groups(parts: &PlanParts<'_>) -> Vec<PlannedGroup> {
    let extended = parts.extended;
    if !extended.has_groups() {
        return Vec::new();
    }
    let sums = |of_user: &dyn Fn(usize) -> f64| extended.of_groups(0.0, of_user, |a, b| a + b);
    let asked = |i: usize| parts.required[i] * extended.user(UserId(i)).task_share();
    let users = extended.of_groups(0, |_| 1u64, |a, b| a + b);
    let required = sums(&asked);
    let has = parts.parts_under_drfh.map(|of_users| {
        let share = |i: usize| if of_users[i] < 1.0 { of_users[i] * asked(i) } else { asked(i) };
        (!of_users.is_empty()).then(|| sums(&share))
    });
    let [today, after] = has.map(|of_groups| move |g: usize| of_groups.as_ref().map(|sums| sums[g]));
    let group = |(g, group): (usize, &fairplan_instances::Group)| PlannedGroup {
        id: group.id.clone(),
        users: users[g],
        scale: parts.scale_of_groups.get(g).copied().flatten(),
        required: required[g],
        today: today(g),
        after: after(g),
    };
    let groups = extended.groups().iter().enumerate().map(group);
    groups.filter(|group| group.users > 0).collect()
}

fn task_held_nowhere(instance: &Instance, task: &HeldNowhere) -> TaskHeldNowhere {
    let kind = instance.kind(KindId(task.user.0));
    let user = kind.user();
    TaskHeldNowhere {
        user: user.id().into(),
        kind: kind.id().map(str::to_owned),
        group: group_of(instance, user),
        resource: instance.resources()[task.resource.0].clone(),
        needs: task.needs,
        nearest: task
            .nearest
            .as_ref()
            .map(|(server, has)| NearestServer { server: server.clone(), has: *has }),
    }
}

/// Prices under the names of classes and of types that become classes.
fn prices(cluster: &Instance, catalog: &Catalog, prices: &[Vec<f64>]) -> Vec<PricesOfClass> {
    let classes = cluster.classes().iter().map(|class| class.id.as_str());
    let types = catalog.types.iter().filter(|kind| kind.more_of.is_none()).map(|kind| kind.id.as_str());
    let named = classes.chain(types).zip(prices);
    named
        .map(|(id, row)| PricesOfClass {
            class: id.into(),
            price: ResourceMap::new(cluster, row.iter().copied()),
        })
        .collect()
}

impl Tabular for PlanBody {
    /// The servers to buy, a row a type; or, where parts of the target were asked for, a row a part and type.
    fn table(&self) -> Table<'_> {
        if self.frontier.is_empty() {
            return servers_bought(self.purchase.as_ref().map_or(&[], |purchase| &purchase.servers));
        }
        let rows: Vec<(&FrontierPoint, &str, u64)> = (self.frontier.iter())
            .flat_map(|point| {
                let servers = point.servers.iter().map(move |servers| (point, &*servers.kind, servers.count));
                let nothing = point.servers.is_empty().then_some((point, "", 0));
                servers.chain(nothing)
            })
            .collect();
        Table::over(rows.len(), move |row| rows[row])
            .column("part", "part of the target", Kind::Part, |row| row.0.part)
            .column("share", "share", Kind::Share, |row| row.0.share)
            .column("cost", "cost", Kind::Money, |row| row.0.cost)
            .column("bound", "costs at least", Kind::Money, |row| row.0.bound)
            .column("type", "server type", Kind::Id, |row| row.1)
            .column("count", "servers", Kind::Count, |row| row.2)
            .done()
    }
}

/// What is bought, in a few words.
fn listed(servers: &[ServersBought], count: impl Fn(u64) -> String) -> String {
    let each = servers.iter().map(|servers| format!("{} {}", count(servers.count), servers.kind));
    each.collect::<Vec<_>>().join(", ")
}

impl ObstacleResult {
    /// The tasks that no server holds, a row a user or kind.
    pub fn tasks_held_nowhere(&self) -> Table<'_> {
        let nearest = |task: &TaskHeldNowhere| task.nearest.as_ref().map(|nearest| nearest.has);
        Table::of(&self.held_nowhere)
            .column("user", "user", Kind::Id, |task| &task.user)
            .column("kind", "kind", Kind::Name, |task| task.kind.as_deref().unwrap_or(""))
            .column("group", "group", Kind::Name, |task| task.group.as_deref().unwrap_or(""))
            .column("resource", "short of", Kind::Name, |task| &task.resource)
            .column("needs", "a task needs", Kind::Number, |task| task.needs)
            .column("server", "nearest server", Kind::Name, |task| {
                task.nearest.as_ref().map_or("", |nearest| nearest.server.as_str())
            })
            .column("has", "has", Kind::Number, nearest)
            .done()
    }
}

impl PlanBody {
    /// What parts of the target cost, a row a part.
    pub fn parts(&self) -> Table<'_> {
        Table::of(&self.frontier)
            .column("part", "part of the target", Kind::Part, |point| point.part)
            .column("share", "share", Kind::Share, |point| point.share)
            .column("cost", "cost", Kind::Money, |point| point.cost)
            .column("bound", "costs at least", Kind::Money, |point| point.bound)
            .column("servers", "servers", Kind::Words, |point| {
                listed(&point.servers, |count| count.to_string())
            })
            .said(|point| Some(printable(&listed(&point.servers, thousands), usize::MAX)))
            .done()
    }

    /// What is asked for of groups, a row a group.
    pub fn asked_of_groups(&self) -> Table<'_> {
        Table::of(&self.groups)
            .column("group", "group", Kind::Id, |group| &group.id)
            .column("users", "users", Kind::Count, |group| group.users)
            .column("scale", "times today", Kind::Number, |group| group.scale)
            .column("required", "asked for", Kind::Share, |group| group.required)
            .column("today", "today", Kind::Share, |group| group.today)
            .column("after", "with the purchase", Kind::Share, |group| group.after)
            .done()
    }

    /// What is asked for, a row a user.
    pub fn asked_for(&self) -> Table<'_> {
        Table::of(&self.users)
            .column("user", "user", Kind::Id, |user| &user.id)
            .column("required", "tasks asked for", Kind::Number, |user| user.required)
            .column("placed", "tasks placed", Kind::Count, |user| user.placed)
            .done()
    }
}
