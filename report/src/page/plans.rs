//! What a purchase plan says: what to buy, for how much, and whether anything cheaper would do.

use super::{Block, Cell, Grid, Section, curves, line, words};
use crate::answer;
use crate::figure::Bars;
use crate::planning::{FrontierPoint, ObstacleResult, PlanDocument, PurchaseResult, ServersBought, TaskKind};
use crate::summary::target;
use crate::units::{self, percent};

/// A plan as a section.
pub(super) fn plan(document: PlanDocument<'_>) -> Section {
    let currency = &document.catalog.currency;
    let money = |amount: f64| answer::price(amount, currency);
    let mut section = Section::new("What to buy")
        .answer(answer::plan(&document))
        .instance(&document.instance)
        .fact("Target", target(&document.target));
    if let Some(part) = document.part_before {
        section = section.fact("Reached of it by the servers that there are", percent(part.min(1.0)));
    }
    if let Some(budget) = document.budget {
        section = section.fact("Budget", money(budget));
    }
    let servers = match (&document.purchase, &document.obstacle) {
        (Some(purchase), _) => {
            section = bought(section, purchase, document.tasks, &money);
            &purchase.servers[..]
        }
        (None, Some(obstacle)) => {
            section = stands_against(section, obstacle, &money);
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
    let header = words(["type", "servers", "price", "cost"]);
    let row = |bought: &ServersBought<'_>| {
        vec![
            Cell::text(&*bought.kind),
            Cell::count(bought.count),
            Cell::money(bought.price),
            Cell::money(bought.cost),
        ]
    };
    section = section.table("Servers to buy", header, servers.iter().map(row));
    if !document.frontier.is_empty() {
        section = frontier(section, &document.frontier, currency);
    }
    let header = words(["user", "tasks asked for", "tasks placed"]);
    let rows = document.users.iter().map(|user| {
        let placed = user.placed.map_or_else(|| Cell::text(""), Cell::count);
        vec![Cell::text(&*user.id), Cell::number(user.required), placed]
    });
    section.block(Block::Grid(Grid::new("Users", header, rows)))
}

fn bought(
    section: Section,
    purchase: &PurchaseResult<'_>,
    tasks: TaskKind,
    money: &dyn Fn(f64) -> String,
) -> Section {
    let divided = if tasks == TaskKind::Whole { " even for divided tasks" } else { "" };
    let proof = match &*purchase.status {
        "optimal" => "nothing cheaper is enough".to_owned(),
        _ => format!("{} or more is needed{divided}", money(purchase.bound)),
    };
    section
        .fact("Cost", money(purchase.cost))
        .fact("By branch and bound", proof)
        .fact("Proved by prices alone: it costs at least", money(purchase.proved_bound))
        .fact("What every user has under DRFH by itself, of its target", percent(purchase.part_under_drfh))
}

fn stands_against(section: Section, obstacle: &ObstacleResult<'_>, money: &dyn Fn(f64) -> String) -> Section {
    let (user, resource) = (&obstacle.user, &obstacle.resource);
    if obstacle.nowhere {
        let why = format!(
            "no server that there is or can be bought takes a task of user {user}: most of all {resource}"
        );
        return section.fact("Out of reach", why);
    }
    let mut section = section
        .fact("Out of reach", format!("{resource} is short, and user {user} needs the most of what is short"))
        .fact("Enough would be, of the target of everybody", percent(obstacle.part))
        .fact("For", money(obstacle.cost));
    if let Some(part) = obstacle.own_part {
        section = section.fact(&format!("Or, of the target of user {user} alone"), percent(part));
    }
    section
}

fn frontier(section: Section, frontier: &[FrontierPoint<'_>], currency: &str) -> Section {
    let is_share = frontier.iter().all(|point| point.share.is_some());
    let what = if is_share { "weighted dominant share of every user" } else { "part of the target" };
    let height = |point: &FrontierPoint<'_>| point.share.unwrap_or(point.part);
    let points = |cost: fn(&FrontierPoint<'_>) -> f64| {
        frontier.iter().map(|point| [cost(point), height(point)]).collect()
    };
    let mut lines = vec![line("can be had", points(|point| point.cost))];
    if frontier.iter().any(|point| point.bound < point.cost) {
        lines.push(line("cannot cost less", points(|point| point.bound)));
    }
    let cost = if currency.is_empty() { "cost".into() } else { format!("cost ({currency})") };
    let header = words(["part of the target", "share", "cost", "costs at least", "servers"]);
    let rows = frontier.iter().map(|point| {
        let servers = point.servers.iter().map(|servers| format!("{} {}", servers.count, servers.kind));
        vec![
            Cell::percent(point.part),
            Cell::maybe(point.share, Cell::share),
            Cell::money(point.cost),
            Cell::money(point.bound),
            Cell::text(servers.collect::<Vec<_>>().join(", ")),
        ]
    });
    section
        .block(Block::Curves(curves("What parts of the target cost", &cost, what, lines)))
        .block(Block::Grid(Grid::new("What parts of the target cost", header, rows)))
}
