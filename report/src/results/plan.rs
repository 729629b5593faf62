//! What to buy, for people.

use super::sentences::{label, left_out, listed, name, of_group, price};
use crate::figure::Bars;
use crate::names::beginning;
use crate::page::{Block, Section, curves, line};
use crate::planning::{
    FrontierPoint, ObstacleResult, PlanDocument, PlannedGroup, PurchaseResult, TaskHeldNowhere, TaskKind,
    TasksKeptOut,
};
use crate::summary::grid::{grid, listed as listed_grid, paragraph};
use crate::tolerance::SAME;
use crate::units::{self, Rounded, counted, money, number, percent, share, thousands};
use fairplan_instances::{ServersBought, StatedTarget, servers_bought};
use std::fmt::Write;

/// A purchase.
pub(super) fn answer(document: &PlanDocument) -> String {
    match document.tasks {
        TaskKind::Divisible => asked(document) + &left_out(&document.instance),
        TaskKind::Whole => asked(document),
    }
}

fn asked(document: &PlanDocument) -> String {
    let currency = &*document.catalog.currency;
    match (&document.purchase, &document.obstacle) {
        (Some(purchase), _) if purchase.servers.is_empty() => "Nothing need be bought.".into(),
        (Some(purchase), _) => {
            let servers: Vec<String> = (purchase.servers.iter())
                .map(|bought| format!("{} {}", thousands(bought.count), name(&bought.kind)))
                .collect();
            let cheapest = if purchase.gap == 0.0 {
                "nothing cheaper is enough".into()
            } else {
                format!("less than {} cannot be enough", price(at_least(purchase.bound), currency))
            };
            format!("Buy {} for {}: {cheapest}.", listed(&servers), price(purchase.cost, currency))
        }
        (None, Some(obstacle)) if obstacle.nowhere => format!(
            "Out of reach: no server that there is or can be bought takes {} of user {}{}; {}.",
            a_task(obstacle),
            name(&obstacle.user),
            of_its_group(obstacle),
            what_is_short(obstacle)
        ),
        (None, Some(ObstacleResult { by_rules: Some(by_rules), user, .. })) => format!(
            "Out of reach: rules ({}) keep tasks of user {} out, which would have room. At most {} of {} were placed.",
            by_rules.rules.join(", "),
            name(user),
            thousands(by_rules.placed),
            thousands(by_rules.required)
        ),
        (None, Some(obstacle)) => format!(
            "Out of reach: {}. {} of the target can be had, for {}.",
            not_offered(obstacle)
                .or_else(|| not_placed(obstacle))
                .unwrap_or_else(|| format!("{} is short", name(&obstacle.resource))),
            match document.tasks {
                TaskKind::Divisible => format!("At most {}", percent(obstacle.part)),
                TaskKind::Whole => enough(document.tasks, obstacle.part),
            },
            price(obstacle.cost, currency)
        ),
        (None, None) => "What parts of the target cost.".into(),
    }
}

/// What to buy, or why nothing does it.
pub fn summary(document: &PlanDocument) -> String {
    let currency = unit(&document.catalog.currency);
    let mut text = format!("Target: {}{}.\n", target(&document.target), scaled_groups(document));
    if let Some(part) = document.part_before {
        text += &today(document, part);
    }
    if let Some(purchase) = &document.purchase {
        text += &bought(purchase, document.tasks, &currency);
    }
    if let Some(obstacle) = &document.obstacle {
        text += &stands_against(document, obstacle, &currency);
    }
    if !document.frontier.is_empty() {
        let parts = document.parts().without(&["bound"]).without_empty();
        text += "\n";
        text += &grid(&parts);
    }
    if !document.groups.is_empty() {
        text += OF_GROUPS;
        text += &listed_grid(&document.asked_of_groups().without_empty(), "groups");
    }
    text
}

/// How far the servers that there are reach: whether all targets fit together, and whether DRFH gives everybody its own, which may give
/// others more than they ask for.
fn today(document: &PlanDocument, part: f64) -> String {
    let falls_short =
        |group: &PlannedGroup| group.today.is_some_and(|today| today < group.required * (1.0 - SAME));
    match part >= 1.0 && document.groups.iter().any(falls_short) {
        true => "The servers that there are have room for all of it together; where nobody is held to its own, DRFH gives some groups less of it.\n".into(),
        false if part == 0.0 => "The servers that there are reach nothing of it: somebody's tasks, or a kind of their pieces, run on none of them.\n".into(),
        false => format!("The servers that there are reach {} of it{}.\n", percent(part.min(1.0)), divided(document.tasks)),
    }
}

/// What is reached before a purchase is of divided tasks, whatever is bought for.
fn divided(tasks: TaskKind) -> &'static str {
    match tasks {
        TaskKind::Divisible => "",
        TaskKind::Whole => " with divided tasks",
    }
}

/// What the table of groups says.
const OF_GROUPS: &str =
    "\nWhat groups ask for and what DRFH gives them of it, in shares of today's servers:\n\n";

/// Whose users have a factor of their own because their group has.
fn scaled_groups(document: &PlanDocument) -> String {
    let each: Vec<String> = (document.groups.iter())
        .filter_map(|group| Some(format!("group {} {} times", label(&group.id), number(group.scale?))))
        .collect();
    if each.is_empty() { String::new() } else { format!(" ({})", listed(&each)) }
}

pub(super) fn target(target: &StatedTarget) -> String {
    let mut parts = Vec::new();
    if let Some(part) = target.share {
        let whom = match target.share_in_groups {
            true => "for every group and user at the top, divided inside groups by weights",
            false => "for every user",
        };
        parts.push(format!(
            "a weighted dominant share of {} of today's cluster {whom}, or all its tasks",
            share(part)
        ));
    }
    if target.users_with_own_share > 0 {
        let users = counted(target.users_with_own_share as u64, "user", "users");
        parts.push(format!("a share of its own, or its part of its group's, for {users}"));
    }
    if let Some(tasks) = target.tasks {
        let noun = if tasks == 1.0 { "task" } else { "tasks" };
        parts.push(format!("{} {noun} for every user, or all it has", number(tasks)));
    }
    if target.users_with_own_target > 0 {
        let users = counted(target.users_with_own_target as u64, "user", "users");
        parts.push(format!("tasks of their own for {users}"));
    }
    if target.as_today {
        parts.push("what every user has today".into());
    }
    if let Some(factor) = target.scale {
        parts.push(format!("{} times what every user asks for today", number(factor)));
    }
    if target.users_with_own_scale > 0 {
        let users = counted(target.users_with_own_scale as u64, "user", "users");
        let (own, ask) = if target.users_with_own_scale == 1 {
            ("a factor of its own", "asks")
        } else {
            ("factors of their own", "ask")
        };
        parts.push(format!("{own} for what {users} {ask} for today"));
    }
    let more = match target.more_users {
        0 => String::new(),
        more => format!(", with {}", counted(more, "more user", "more users")),
    };
    parts.join(" and ") + &more
}

fn bought(purchase: &PurchaseResult, tasks: TaskKind, currency: &str) -> String {
    if purchase.servers.is_empty() {
        return "Nothing need be bought.\n".into();
    }
    let placed = if tasks == TaskKind::Whole { "placed, and " } else { "" };
    let is_proved = purchase.proved_bound >= purchase.cost * (1.0 - SAME);
    let proof = match (purchase.gap, tasks) {
        (0.0, _) if is_proved => format!("{placed}proved the cheapest"),
        (0.0, _) => format!(
            "{placed}the cheapest by branch and bound (by prices alone it is proved to cost {} or more)",
            money(at_least(purchase.proved_bound))
        ),
        (_, TaskKind::Divisible) => {
            format!("what is enough costs {} at least", money(at_least(purchase.bound)))
        }
        (_, TaskKind::Whole) => {
            format!("placed; {} are needed even for divided tasks", money(at_least(purchase.bound)))
        }
    };
    let mut text = format!("Buy for {}{currency}: {proof}\n\n", money(purchase.cost));
    text += &grid(&servers_bought(&purchase.servers).without_empty());
    if let Some(reserved) = purchase.reserved_cost {
        text += &paragraph(&reservation(purchase, reserved, currency));
    }
    text.extend(counted_by_quotas(&purchase.servers).map(|told| paragraph(&told)));
    if purchase.part_under_drfh < 1.0 - SAME {
        text += &paragraph(&format!(
            "There is room for all targets together; where nobody is held to its own, DRFH gives every user {} of it.",
            percent(purchase.part_under_drfh)
        ));
    }
    text
}

/// What the purchase costs on demand and reserved, and from when on which is cheaper.
fn reservation(purchase: &PurchaseResult, reserved: f64, currency: &str) -> String {
    let of_types = || purchase.servers.iter().filter_map(|bought| bought.reserved.as_ref());
    // A difference of sums would be what rounding leaves of them.
    let saved: f64 = of_types().map(|all| all.saved).sum();
    let ends: Vec<f64> = of_types().map(|all| all.break_even).collect();
    let (first, last) = ends.iter().fold((f64::INFINITY, 0.0f64), |(a, b), x| (a.min(*x), b.max(*x)));
    let after = |periods: f64| number((periods * 100.0).round() / 100.0);
    let after = if after(first) == after(last) {
        format!("{} periods", after(first))
    } else {
        format!("{} to {} periods, type by type", after(first), after(last))
    };
    format!(
        "On demand it costs {}{currency}; with all reserved that can be, {}: {} less. A reservation is cheaper where servers are needed for \
         more than {after}.",
        money(purchase.cost),
        money(reserved),
        money(saved)
    )
}

fn stands_against(document: &PlanDocument, obstacle: &ObstacleResult, currency: &str) -> String {
    let (user, resource) = (label(&obstacle.user), label(&obstacle.resource));
    let limits = match document.budget {
        Some(budget) => format!("for {}{currency}", money(budget)),
        None => "with what the catalog offers".into(),
    };
    if obstacle.nowhere {
        let mut text = paragraph(&format!(
            "NOT REACHABLE: no server that there is or can be bought takes {} of user {user}{}; {}. Offer one that does, or \
             ask nothing for it.",
            a_task(obstacle),
            of_its_group(obstacle),
            what_is_short(obstacle)
        ));
        if obstacle.held_nowhere.len() > 1 {
            text += "\n";
            text += &listed_grid(&obstacle.tasks_held_nowhere().without_empty(), "users");
        }
        return text;
    }
    if let Some(by_rules) = &obstacle.by_rules {
        let bought = match obstacle.servers.is_empty() {
            true => "with nothing bought".into(),
            false => {
                format!("with {} bought for {}{currency}", list(&obstacle.servers), money(obstacle.cost))
            }
        };
        return paragraph(&format!(
            "NOT REACHABLE {limits}: user {user}{} was left with {} of {} tasks in every placement tried ({bought}); without its rules ({}) \
             they would have room; {}.",
            of_its_group(obstacle),
            thousands(by_rules.placed),
            thousands(by_rules.required),
            by_rules.rules.join(", "),
            by_rules.advice
        ));
    }
    let mut text = match (not_offered(obstacle), not_placed(obstacle)) {
        (Some(told), _) => paragraph(&format!("NOT REACHABLE {limits}: {told}.")),
        (None, Some(told)) => {
            let advice = obstacle.not_placed.as_ref().map_or("", |not_placed| &not_placed.advice);
            paragraph(&format!("NOT REACHABLE {limits}: {told}; {advice}."))
        }
        (None, None) => format!(
            "NOT REACHABLE {limits}: {resource} is short, and user {user}{}{} needs the most of what is short.\n",
            of_its_group(obstacle),
            with_kind(obstacle)
        ),
    };
    let _ =
        write!(text, "Enough would be {} of the target for everybody", enough(document.tasks, obstacle.part));
    if let Some(part) = obstacle.own_part {
        let _ = write!(text, ", or {} of its own for user {user} alone", percent(part));
    }
    if obstacle.servers.is_empty() {
        text += match (document.budget, document.tasks) {
            (Some(_), _) => {
                ".\nNothing that helps can be bought within the budget: raise it, or offer cheaper servers.\n"
            }
            (None, TaskKind::Whole) => {
                ".\nNothing that the catalog offers helps: a whole task needs a server that holds it, and one that its user may run on. \
                 To users of some classes a server type is one only if its column `like` names one of them.\n"
            }
            (None, TaskKind::Divisible) => {
                ".\nNothing that the catalog offers helps: see that no `limit` of it is 0. A server type is of use to users that may run on \
                 some classes only if its column `like` names one of them.\n"
            }
        };
        return text;
    }
    let _ =
        writeln!(text, "\n(with {} bought for {}{currency}).", list(&obstacle.servers), money(obstacle.cost));
    text
}

/// That divided tasks have room and whole ones were not placed.
fn not_placed(obstacle: &ObstacleResult) -> Option<String> {
    let TasksKeptOut { placed, required, .. } = obstacle.not_placed.as_ref()?;
    Some(format!(
        "divided tasks would have room, but in every placement tried user {}{}{} was left with {} of {} whole ones",
        name(&obstacle.user),
        of_its_group(obstacle),
        with_kind(obstacle),
        thousands(*placed),
        thousands(*required)
    ))
}

/// `a task`, or `a task of kind worker`: what is in the way.
fn a_task(obstacle: &ObstacleResult) -> String {
    obstacle.kind.as_ref().map_or_else(|| "a task".into(), |kind| format!("a task of kind {}", label(kind)))
}

/// ` with tasks of kind worker`, of whom most is asked that is short.
fn with_kind(obstacle: &ObstacleResult) -> String {
    obstacle.kind.as_ref().map_or_else(String::new, |kind| format!(" with tasks of kind {}", label(kind)))
}

/// ` of group research`, in which the user is that stands in the way.
fn of_its_group(obstacle: &ObstacleResult) -> String {
    let group = obstacle.held_nowhere.first().map_or(&obstacle.group, |task| &task.group);
    of_group(group.as_deref())
}

/// Whose tasks no server on offer takes, and why; the first of them.
fn not_offered(obstacle: &ObstacleResult) -> Option<String> {
    let task = obstacle.not_offered.first()?;
    let of_kind = task.kind.as_ref().map_or_else(String::new, |kind| format!(" of kind {}", label(kind)));
    let of_group = of_group(task.group.as_deref());
    let others = match obstacle.not_offered.len() {
        1 => String::new(),
        more => format!(", and none takes those of {}", counted(more as u64 - 1, "other", "others")),
    };
    Some(format!(
        "no server on offer takes a task{of_kind} of user {}{of_group}, {}, and those that there are hold too few of them{others}",
        label(&task.user),
        why_not(task)
    ))
}

/// A part that is enough: of whole tasks a little more may be one task more, so that it is not rounded up.
fn enough(tasks: TaskKind, part: f64) -> String {
    match tasks {
        TaskKind::Whole => percent((part * 1e4 * (1.0 + 1e-9)).floor() / 1e4),
        TaskKind::Divisible => percent(part),
    }
}

/// Which resource no server has enough of, for a task that runs nowhere.
fn what_is_short(obstacle: &ObstacleResult) -> String {
    let resource = label(&obstacle.resource);
    let Some(task) = obstacle.held_nowhere.first() else {
        return format!("most of all {resource} is missing");
    };
    why_not(task)
}

/// What a task needs that the nearest server has not.
fn why_not(task: &TaskHeldNowhere) -> String {
    match &task.nearest {
        Some(nearest) => format!(
            "it needs {} {}, and the nearest server, {}, has {}",
            number(task.needs),
            label(&task.resource),
            label(&nearest.server),
            number(nearest.has)
        ),
        None => "it may run on none of them (in a catalog, `like` says of which class of servers those of a type count)".into(),
    }
}

/// Whose quotas over classes count servers that are bought.
fn counted_by_quotas(servers: &[ServersBought]) -> Option<String> {
    let mut told = servers.iter().filter_map(|servers| {
        let (first, others) = servers.counted_by.split_first()?;
        let more = match others.len() {
            0 => String::new(),
            others => format!(" and {} more", thousands(others as u64)),
        };
        Some(format!("{} in those of {}{more}", label(&servers.kind), label(first)))
    });
    let first = told.next()?;
    let all = told.fold(first, |all, one| all + ", " + &one);
    Some(format!("Bought servers count in quotas over the class that they are like: {all}."))
}

/// `3 large, 2 small`.
fn list(servers: &[ServersBought]) -> String {
    let each = |servers: &ServersBought| format!("{} {}", thousands(servers.count), label(&servers.kind));
    servers.iter().map(each).collect::<Vec<_>>().join(", ")
}

fn unit(currency: &str) -> String {
    if currency.is_empty() { String::new() } else { format!(" {}", beginning(currency, 20)) }
}

/// A plan as a section.
pub(crate) fn section(document: PlanDocument) -> Section {
    let currency = &document.catalog.currency;
    let money = |amount: f64| price(amount, currency);
    let mut section = Section::new("What to buy")
        .answer(answer(&document))
        .instance(&document.instance)
        .fact("Target", target(&document.target) + &scaled_groups(&document));
    if let Some(part) = document.part_before {
        let what = format!("Reached of it by the servers that there are{}", divided(document.tasks));
        section = section.fact(&what, percent(part.min(1.0)));
    }
    if let Some(budget) = document.budget {
        section = section.fact("Budget", money(budget));
    }
    let servers = match (&document.purchase, &document.obstacle) {
        (Some(purchase), _) => {
            section = facts_of_purchase(section, purchase, document.tasks, &money);
            &purchase.servers[..]
        }
        (None, Some(obstacle)) => {
            section = facts_of_obstacle(section, document.tasks, obstacle, &money);
            &obstacle.servers
        }
        (None, None) => &[],
    };
    if !servers.is_empty() {
        section = section.block(Block::Bars(Bars {
            caption: "Cost by server type".into(),
            series: Vec::new(),
            groups: servers.iter().map(|bought| (bought.kind.to_string(), vec![bought.cost])).collect(),
            mark: None,
            format: units::money,
        }));
    }
    section = section.table("Servers to buy", &servers_bought(servers).without_empty());
    if !document.frontier.is_empty() {
        section = frontier(section, &document, currency);
    }
    if !document.groups.is_empty() {
        section = section.grid("Groups, all members together", &document.asked_of_groups().without_empty());
    }
    section.grid("Users", &document.asked_for().without_empty())
}

/// What is said to be the least that something costs.
fn at_least(amount: f64) -> f64 {
    Rounded::Down.of_money(amount)
}

fn facts_of_purchase(
    section: Section,
    purchase: &PurchaseResult,
    tasks: TaskKind,
    money: &dyn Fn(f64) -> String,
) -> Section {
    let divided = if tasks == TaskKind::Whole { " even for divided tasks" } else { "" };
    let proof = match &*purchase.status {
        "optimal" => "nothing cheaper is enough".to_owned(),
        _ => format!("{} or more is needed{divided}", money(at_least(purchase.bound))),
    };
    let mut section = section.fact("Cost", money(purchase.cost));
    if let Some(reserved) = purchase.reserved_cost {
        section = section.fact("Cost with all reserved that can be", money(reserved));
    }
    section
        .fact("By branch and bound", proof)
        .fact("Proved by prices alone: it costs at least", money(at_least(purchase.proved_bound)))
        .fact("What every user has under DRFH by itself, of its target", percent(purchase.part_under_drfh))
}

fn facts_of_obstacle(
    section: Section,
    tasks: TaskKind,
    obstacle: &ObstacleResult,
    money: &dyn Fn(f64) -> String,
) -> Section {
    let (user, resource) = (&obstacle.user, &obstacle.resource);
    if obstacle.nowhere {
        let why = format!(
            "no server that there is or can be bought takes {} of user {user}{}",
            a_task(obstacle),
            of_its_group(obstacle)
        );
        return section
            .fact("Out of reach", format!("{why}; {}", what_is_short(obstacle)))
            .table("Tasks that no server holds", &obstacle.tasks_held_nowhere().without_empty());
    }
    if let Some(by_rules) = &obstacle.by_rules {
        let rules = by_rules.rules.join(", ");
        return section
            .fact(
                "Out of reach",
                format!("rules ({rules}) keep tasks of user {user} out, which would have room"),
            )
            .fact(
                "Placed of them at most",
                format!("{} of {}", thousands(by_rules.placed), thousands(by_rules.required)),
            )
            .fact("For", money(obstacle.cost))
            .fact("What to do", by_rules.advice.clone());
    }
    let mut section = section
        .fact(
            "Out of reach",
            not_offered(obstacle).or_else(|| not_placed(obstacle)).unwrap_or_else(|| {
                format!(
                    "{resource} is short, and user {user}{}{} needs the most of what is short",
                    of_its_group(obstacle),
                    with_kind(obstacle)
                )
            }),
        )
        .fact("Enough would be, of the target of everybody", enough(tasks, obstacle.part))
        .fact("For", money(obstacle.cost));
    if let Some(part) = obstacle.own_part {
        section = section.fact(&format!("Or, of the target of user {user} alone"), percent(part));
    }
    section
}

fn frontier(section: Section, document: &PlanDocument, currency: &str) -> Section {
    let frontier = &document.frontier;
    let is_share = frontier.iter().all(|point| point.share.is_some());
    let what = if is_share { "weighted dominant share of every user" } else { "part of the target" };
    let height = |point: &FrontierPoint| point.share.unwrap_or(point.part);
    let points =
        |cost: fn(&FrontierPoint) -> f64| frontier.iter().map(|point| [cost(point), height(point)]).collect();
    let mut lines = vec![line("can be had", points(|point| point.cost))];
    if frontier.iter().any(|point| point.bound < point.cost) {
        lines.push(line("cannot cost less", points(|point| point.bound)));
    }
    let cost = if currency.is_empty() { "cost".into() } else { format!("cost ({currency})") };
    section
        .block(Block::Curves(curves("What parts of the target cost", &cost, what, lines)))
        .grid("What parts of the target cost", &document.parts())
}
