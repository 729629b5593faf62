//! The summaries of planning: what to buy, what servers are worth, what failures cost, what changed, how long it lasts.

use super::grid::{Column, grid, paragraph};
use super::{ROWS, counted, cut, label, money, number, percent, share, shortened, thousands, value_by_name};
use crate::answer;
use crate::planning::{
    ChangeResult, DifferenceDocument, DifferenceSide, GrowthDocument, LossDocument, ObstacleResult,
    PlanDocument, PurchaseResult, ServersBought, ShortfallResult, TargetResult, TaskKind, UserDifference,
    WorthDocument,
};
use std::fmt::Write;

/// What to buy, or why nothing does it.
pub fn plan(document: &PlanDocument<'_>) -> String {
    let currency = unit(&document.catalog.currency);
    let mut text = format!("Target: {}.\n", target(&document.target));
    if let Some(part) = document.part_before {
        let _ = writeln!(text, "The servers that there are reach {} of it.", percent(part.min(1.0)));
    }
    if let Some(purchase) = &document.purchase {
        text += &bought(purchase, document.tasks, &currency);
    }
    if let Some(obstacle) = &document.obstacle {
        text += &stands_against(document, obstacle, &currency);
    }
    if !document.frontier.is_empty() {
        let has_shares = document.frontier.iter().any(|point| point.share.is_some());
        let mut columns = vec![Column::number("part of the target")];
        columns.extend(has_shares.then(|| Column::number("share")));
        columns.extend([Column::number("cost"), Column::text("servers")]);
        let rows = document.frontier.iter().map(|point| {
            let mut row = vec![percent(point.part)];
            row.extend(point.share.map(share));
            row.extend([money(point.cost), list(&point.servers)]);
            row
        });
        text += "\n";
        text += &grid(&columns, rows);
    }
    text
}

pub(crate) fn target(target: &TargetResult) -> String {
    let mut parts = Vec::new();
    if let Some(part) = target.share {
        parts.push(format!("a weighted dominant share of {} of today's cluster for every user", share(part)));
    }
    if let Some(tasks) = target.tasks {
        parts.push(format!("{} tasks for every user", number(tasks)));
    }
    if target.users_with_own_target > 0 {
        let users = counted(target.users_with_own_target as u64, "user", "users");
        parts.push(format!("tasks of their own for {users}"));
    }
    if target.as_today {
        parts.push("what every user has today".into());
    }
    let more = match target.more_users {
        0 => String::new(),
        more => format!(", with {}", counted(more, "more user", "more users")),
    };
    parts.join(" and ") + &more
}

fn bought(purchase: &PurchaseResult<'_>, tasks: TaskKind, currency: &str) -> String {
    if purchase.servers.is_empty() {
        return "Nothing need be bought.\n".into();
    }
    let placed = if tasks == TaskKind::Whole { "placed, and " } else { "" };
    let is_proved = purchase.proved_bound >= purchase.cost * (1.0 - 1e-9);
    let proof = match (purchase.gap, tasks) {
        (0.0, _) if is_proved => format!("{placed}proved the cheapest"),
        (0.0, _) => format!(
            "{placed}the cheapest by branch and bound (by prices alone it is proved to cost {} or more)",
            money(purchase.proved_bound)
        ),
        (_, TaskKind::Divisible) => format!("what is enough costs {} at least", money(purchase.bound)),
        (_, TaskKind::Whole) => {
            format!("placed; {} are needed even for divided tasks", money(purchase.bound))
        }
    };
    let mut text = format!("Buy for {}{currency}: {proof}\n\n", money(purchase.cost));
    let columns = [
        Column::id("server type"),
        Column::number("servers"),
        Column::number("price"),
        Column::number("cost"),
    ];
    let rows = purchase.servers.iter().map(|servers| {
        vec![servers.kind.to_string(), thousands(servers.count), money(servers.price), money(servers.cost)]
    });
    text += &grid(&columns, rows);
    if purchase.part_under_drfh < 1.0 - 1e-9 {
        text += &paragraph(&format!(
            "There is room for all targets together; where nobody is held to its own, DRFH gives every user {} of it.",
            percent(purchase.part_under_drfh)
        ));
    }
    text
}

fn stands_against(document: &PlanDocument<'_>, obstacle: &ObstacleResult<'_>, currency: &str) -> String {
    let (user, resource) = (label(&obstacle.user), label(&obstacle.resource));
    let limits = match document.budget {
        Some(budget) => format!("for {}{currency}", money(budget)),
        None => "within the limits of the catalog".into(),
    };
    if obstacle.nowhere {
        return format!(
            "NOT REACHABLE: no server that there is or can be bought takes a task of user {user} (most of all {resource} is \
             missing); offer one that does, or ask nothing for it.\n"
        );
    }
    let mut text = format!(
        "NOT REACHABLE {limits}: {resource} is short, and user {user} needs the most of what is short.\n\
         Enough would be {} of the target for everybody",
        percent(obstacle.part)
    );
    if let Some(part) = obstacle.own_part {
        let _ = write!(text, ", or {} of its own for user {user} alone", percent(part));
    }
    let servers = if obstacle.servers.is_empty() { "nothing".into() } else { list(&obstacle.servers) };
    let _ = writeln!(text, "\n(with {servers} bought for {}{currency}).", money(obstacle.cost));
    text
}

/// `3 large, 2 small`.
fn list(servers: &[ServersBought<'_>]) -> String {
    let each = |servers: &ServersBought<'_>| format!("{} {}", thousands(servers.count), label(&servers.kind));
    servers.iter().map(each).collect::<Vec<_>>().join(", ")
}

fn unit(currency: &str) -> String {
    if currency.is_empty() { String::new() } else { format!(" {}", shortened(currency, 20)) }
}

/// What servers are worth.
pub fn worth(document: &WorthDocument<'_>) -> String {
    let mut text = paragraph(&answer::worth(document));
    if let Some(limited) = document.limited_by_capacity {
        let _ = writeln!(
            text,
            "\nThe smallest share of all is that of a user who has no more tasks; the smallest that capacity limits is {}.",
            share(limited)
        );
    }
    text += "\nWhat one more server of a class adds to the smallest weighted dominant share that capacity limits:\n\n";
    let columns = [
        Column::id("server class"),
        Column::number("servers"),
        Column::number("solved again"),
        Column::number("by the prices"),
        Column::number("users that gain"),
        Column::number("that lose"),
    ];
    let rows = document.server_classes.iter().take(ROWS).map(|class| {
        // What is below what solutions are exact to is nothing.
        let gain = if class.gain < 1e-8 * document.raised() { 0.0 } else { class.gain };
        vec![
            class.id.to_string(),
            thousands(class.count),
            share(gain),
            share(class.by_price),
            thousands(class.gaining as u64),
            thousands(class.losing as u64),
        ]
    });
    text += &grid(&columns, rows);
    cut(&mut text, document.server_classes.len(), "server classes");
    let ranged: Vec<_> = (document.server_classes.iter())
        .flat_map(|class| class.resources.iter().map(move |resource| (class, resource)))
        .filter(|(_, resource)| resource.price > 0.0)
        .filter_map(|(class, more)| Some((class, more, more.capacity?, more.least?, more.most?)))
        .collect();
    if !ranged.is_empty() {
        let columns = [
            Column::id("server class"),
            Column::text("resource"),
            Column::number("price a unit"),
            Column::number("capacity"),
            Column::number("holds from"),
            Column::number("to"),
        ];
        let rows = ranged.iter().take(ROWS).map(|(class, more, capacity, least, most)| {
            let words = [class.id.to_string(), label(&more.resource)];
            words.into_iter().chain([more.price, *capacity, *least, *most].map(number)).collect()
        });
        text += "\n";
        text += &grid(&columns, rows);
        cut(&mut text, ranged.len(), "prices");
    }
    text
}

/// What failures cost.
pub fn losses(document: &LossDocument<'_>) -> String {
    let mut text = paragraph(&answer::losses(document));
    text += "\nThe worst first:\n\n";
    let columns = [
        Column::id("server class"),
        Column::number("servers lost"),
        Column::number("users that lose"),
        Column::number("left with nothing"),
        Column::id("worst off"),
        Column::number("loses"),
        Column::number("lost in all"),
    ];
    let rows = document.losses.iter().take(ROWS).map(|loss| {
        let worst = loss.losers.first();
        vec![
            loss.class.to_string(),
            thousands(loss.servers),
            thousands(loss.losing as u64),
            thousands(loss.stranded as u64),
            worst.map_or("nobody".into(), |loser| loser.id.to_string()),
            worst.map_or(String::new(), |loser| percent(loser.part)),
            percent(loss.lost),
        ]
    });
    text += &grid(&columns, rows);
    cut(&mut text, document.losses.len(), "server classes");
    text += "Lost in all: dominant shares of the whole cluster, summed over the users that lose.\n";
    text
}

/// What changed, and for whom.
pub fn difference(document: &DifferenceDocument<'_>) -> String {
    let mut text = paragraph(&answer::difference(document));
    text.push('\n');
    let changes = |text: &mut String, changes: &[ChangeResult<'_>], what: &str| {
        for change in changes.iter().take(ROWS) {
            let detail = change.changes.join(", ");
            let colon = if detail.is_empty() { "" } else { ": " };
            let _ = writeln!(
                text,
                "{what} {} {}{colon}{}",
                label(&change.id),
                change.kind,
                shortened(&detail, 60)
            );
        }
        cut(text, changes.len(), &format!("changes of a {}", what.to_lowercase()));
    };
    changes(&mut text, &document.server_classes, "Class");
    changes(&mut text, &document.changed_users, "User");
    if !document.steps.is_empty() {
        let columns = [
            Column::text("after the change of"),
            Column::number("smallest share"),
            Column::number("users that gain"),
            Column::number("that lose"),
        ];
        let rows = document.steps.iter().map(|step| {
            vec![
                step.change.to_string(),
                step.value.map_or("no cluster".into(), share),
                thousands(step.gaining as u64),
                thousands(step.losing as u64),
            ]
        });
        let _ = write!(text, "\n{}", grid(&columns, rows));
    } else {
        let value = |side: &DifferenceSide<'_>| {
            side.value.map_or("unknown".into(), |value| value_by_name(&side.objective, value))
        };
        let (before, after) = (&document.before, &document.after);
        let _ = writeln!(
            text,
            "Value: {} ({}) before, {} ({}) after",
            value(before),
            before.objective,
            value(after),
            after.objective
        );
    }
    let moved = |user: &&UserDifference<'_>| user.part.is_none_or(|part| part.abs() > 1e-6);
    let rows: Vec<&UserDifference<'_>> = document.users.iter().filter(moved).collect();
    if rows.is_empty() {
        text += "\nNobody has more or less.\n";
        return text;
    }
    let columns = [
        Column::id("user"),
        Column::number("tasks before"),
        Column::number("after"),
        Column::number("change"),
    ];
    let cells = rows.iter().take(ROWS).map(|user| {
        let tasks = |tasks: Option<f64>| tasks.map_or("not there".into(), number);
        let change = user.part.map_or(String::new(), |part| format!("{:+.2}%", part * 100.0));
        vec![user.id.to_string(), tasks(user.before), tasks(user.after), change]
    });
    let _ = write!(text, "\n{}", grid(&columns, cells));
    cut(&mut text, rows.len(), "users");
    text
}

/// How long a cluster lasts.
pub fn growth(document: &GrowthDocument<'_>) -> String {
    let mut text = paragraph(&answer::growth(document));
    let _ = writeln!(text, "Target, at a scale of 1: {}.", target(&document.target));
    let needs = |short: &ShortfallResult<'_>| {
        let (user, times) = (label(&short.user), number(short.scale));
        format!("user {user} needs the most of what is short, at {times} times its target")
    };
    if let Some(first) = &document.first_missed {
        let quanta = counted(document.series.quanta, "quantum", "quanta");
        let missed = thousands(document.missed);
        text += &paragraph(&format!("Missed in {missed} of {quanta}; {}.", needs(first)));
    }
    let is_first = |tightest: &ShortfallResult<'_>| {
        document.first_missed.as_ref().is_some_and(|first| first.quantum == tightest.quantum)
    };
    if let Some(tightest) = document.tightest.as_ref().filter(|tightest| !is_first(tightest)) {
        let quantum = label(&tightest.quantum.to_string());
        let (part, resource) = (percent(tightest.part), label(&tightest.resource));
        let needs = needs(tightest);
        let room = format!("room for {part} of what is asked for, by {resource}; {needs}.");
        text += &paragraph(&format!("Tightest in {quantum}: {room}"));
    }
    text
}
