//! What other clusters would do: one more server, servers that fail, two instances side by side, demands that grow.

use super::{Block, Cell, Grid, Section, curves, limit, line, sizes_side_by_side, time, words};
use crate::answer;
use crate::figure::{Bars, Curve, Mark};
use crate::planning::{
    ChangeResult, DifferenceDocument, DifferenceSide, GrowthDocument, LossDocument, ShortfallResult,
    WorthDocument, WorthResult,
};
use crate::summary::{target, value_by_name};
use crate::units::{number, percent, share, thousands};

/// What servers are worth as a section.
pub(super) fn worth(document: WorthDocument<'_>) -> Section {
    let classes = &document.server_classes;
    let bars = Bars {
        caption: "What one more server adds to the smallest share".into(),
        series: words(["solved again", "by the prices"]),
        groups: (classes.iter().take(super::GROUPS / 2))
            .map(|class| (class.id.to_string(), vec![gain(class.gain, &document), class.by_price]))
            .collect(),
        mark: None,
        format: share,
    };
    let header = words([
        "server class",
        "servers",
        "solved again",
        "by the prices",
        "users that gain",
        "users that lose",
        "gains the most",
        "by",
    ]);
    let rows = classes.iter().map(|class| {
        let largest = class.largest_gain.as_ref();
        vec![
            Cell::text(&*class.id),
            Cell::count(class.count),
            Cell::share(gain(class.gain, &document)),
            Cell::share(class.by_price),
            Cell::count(class.gaining as u64),
            Cell::count(class.losing as u64),
            Cell::text(largest.map_or("", |gain| &*gain.id)),
            Cell::maybe(largest.map(|gain| gain.part), Cell::percent),
        ]
    });
    let section = Section::new("What one more server is worth")
        .answer_in_shares(answer::worth(&document))
        .instance(&document.instance)
        .fact("Smallest weighted dominant share now", share(document.value))
        .fact("Smallest that capacity limits", share(document.raised()))
        .block(Block::Bars(bars))
        .block(Block::Grid(Grid::new("One more server of each class", header, rows)));
    let header = words([
        "server class",
        "resource",
        "a server has",
        "that much more adds",
        "price a unit",
        "capacity",
        "price holds from",
        "to",
    ]);
    let row = |class: &WorthResult<'_>| -> Vec<Vec<Cell>> {
        let row = |more: &crate::planning::ResourceWorthResult<'_>| {
            vec![
                Cell::text(&*class.id),
                Cell::text(&*more.resource),
                Cell::number(more.amount),
                Cell::share(gain(more.gain, &document)),
                Cell::number(more.price),
                Cell::maybe(more.capacity, Cell::number),
                Cell::maybe(more.least, Cell::number),
                Cell::maybe(more.most, Cell::number),
            ]
        };
        class.resources.iter().map(row).collect()
    };
    let rows: Vec<Vec<Cell>> = classes.iter().flat_map(row).collect();
    section.table("More of one resource alone, and how far its price holds", header, rows.into_iter())
}

/// What is below what solutions are exact to is nothing.
fn gain(gain: f64, document: &WorthDocument<'_>) -> f64 {
    if gain < 1e-8 * document.raised() { 0.0 } else { gain }
}

/// Losses as a section.
pub(super) fn losses(document: LossDocument<'_>) -> Section {
    let losses = &document.losses;
    let groups = losses.iter().take(super::GROUPS);
    let groups = groups
        .map(|loss| (loss.class.to_string(), vec![loss.losers.first().map_or(0.0, |loser| loser.part)]));
    let bars = Bars {
        caption: "The largest part of its work that a user loses with servers of each class".into(),
        series: Vec::new(),
        groups: groups.collect(),
        mark: Some((1.0, "all".into())),
        format: percent,
    };
    let header = words([
        "server class",
        "servers lost",
        "smallest share then",
        "lost in all",
        "users that lose",
        "left with nothing",
        "users that gain",
        "worst off",
        "loses",
    ]);
    let rows = losses.iter().map(|loss| {
        let worst = loss.losers.first();
        vec![
            Cell::text(&*loss.class),
            Cell::count(loss.servers),
            Cell::share(loss.value),
            Cell::percent(loss.lost),
            Cell::count(loss.losing as u64),
            Cell::count(loss.stranded as u64),
            Cell::count(loss.gaining as u64),
            Cell::text(worst.map_or("", |loser| &*loser.id)),
            Cell::maybe(worst.map(|loser| loser.part), Cell::percent),
        ]
    });
    let users: Vec<Vec<Cell>> = (losses.iter())
        .flat_map(|loss| {
            loss.losers.iter().map(|loser| {
                vec![
                    Cell::text(&*loss.class),
                    Cell::text(&*loser.id),
                    Cell::number(loser.before),
                    Cell::number(loser.after),
                    Cell::percent(loser.part),
                ]
            })
        })
        .collect();
    Section::new("What failures cost")
        .answer(answer::losses(&document))
        .instance(&document.instance)
        .fact("Smallest weighted dominant share now", share(document.value))
        .block(Block::Bars(bars))
        .block(Block::Grid(Grid::new("Failures, the worst first", header, rows)))
        .table(
            "Who loses the most",
            words(["servers lost", "user", "tasks before", "tasks after", "loses"]),
            users.into_iter(),
        )
}

/// A difference as a section.
pub(super) fn difference(document: DifferenceDocument<'_>) -> Section {
    let side = |side: &DifferenceSide<'_>| {
        let name = if side.instance.name.is_empty() { "" } else { &side.instance.name };
        let value = (side.value)
            .map_or_else(|| "value unknown".into(), |value| value_by_name(&side.objective, value));
        [name, &side.objective, &value]
            .iter()
            .filter(|word| !word.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join(", ")
    };
    let moved = document.users.iter().filter(|user| user.part.is_none_or(|part| part.abs() > 1e-6));
    let users = moved.clone().map(|user| {
        (user.id.to_string(), [user.before, user.after].map(|tasks| tasks.unwrap_or(0.0)).to_vec())
    });
    let users: Vec<_> = users.collect();
    let count = moved.count();
    let mut section = Section::new("What differs, and for whom")
        .answer(answer::difference(&document))
        .fact("Before", side(&document.before))
        .fact("After", side(&document.after))
        .fact("Users with more or less", thousands(count as u64));
    if !users.is_empty() {
        let caption = "Tasks of the users that have more or less";
        section = section.block(sizes_side_by_side(caption, &["before", "after"], users, number));
    }
    let change = |change: &ChangeResult<'_>| {
        vec![Cell::text(&*change.id), Cell::text(&*change.kind), Cell::text(change.changes.join(", "))]
    };
    let header = words(["server class", "is", "what changed"]);
    section = section.table("Server classes", header, document.server_classes.iter().map(change));
    let header = words(["user", "is", "what changed"]);
    section = section.table("Changed users", header, document.changed_users.iter().map(change));
    let steps = document.steps.iter().map(|step| {
        vec![
            Cell::text(&*step.change),
            Cell::maybe(step.value, Cell::share),
            Cell::count(step.gaining as u64),
            Cell::count(step.losing as u64),
        ]
    });
    let header = words(["after the change of", "smallest share", "users that gain", "users that lose"]);
    section = section.table("From the first to the second, kind of change by kind of change", header, steps);
    let header =
        words(["user", "tasks before", "tasks after", "change", "limited by, before", "limited by, after"]);
    let rows = document.users.iter().map(|user| {
        vec![
            Cell::text(&*user.id),
            Cell::maybe(user.before, Cell::number),
            Cell::maybe(user.after, Cell::number),
            Cell::maybe(user.part, Cell::change),
            Cell::text(user.limited_before.map_or("", limit)),
            Cell::text(user.limited_after.map_or("", limit)),
        ]
    });
    section.table("Users", header, rows)
}

/// Growth as a section.
pub(super) fn growth(document: GrowthDocument<'_>) -> Section {
    let short = |short: &ShortfallResult<'_>| {
        let (quantum, part, resource) = (&short.quantum, percent(short.part), &short.resource);
        format!("{quantum}: {part} can be reached; {resource} is short")
    };
    let first = document.first_missed.as_ref();
    let mut section = Section::new("How long the cluster lasts")
        .answer(answer::growth(&document))
        .instance(&document.instance)
        .fact("Target at a scale of 1", target(&document.target))
        .fact("The cluster reaches of it", percent(document.part_at_one))
        .fact("First missed", first.map_or_else(|| "never".into(), short))
        .fact(
            "Missed",
            format!("{} of {} quanta", thousands(document.missed), thousands(document.series.quanta)),
        );
    if let Some(tightest) = &document.tightest {
        section = section.fact("Tightest", short(tightest));
    }
    let Some(quanta) = &document.quanta else { return section.block(asked_and_had(&document)) };
    let scales: Vec<f64> = quanta.iter().map(|quantum| quantum.scale).collect();
    let end = scales.len() as f64;
    let reached = Curve {
        mark: Mark::Dashes,
        ..line("reached", vec![[0.0, document.part_at_one], [end, document.part_at_one]])
    };
    let asked = line("asked for", time::thinned(&scales, time::Keep::Largest));
    let horizontal = time::axis(quanta.first().map(|one| &one.quantum));
    section = section.block(Block::Curves(curves(
        "How many times the target is asked for",
        &horizontal,
        "times the target",
        vec![asked, reached],
    )));
    let missed: Vec<_> = quanta.iter().filter(|quantum| quantum.missed).collect();
    let rows = missed.iter();
    let rows = rows.map(|quantum| vec![Cell::text(quantum.quantum.to_string()), Cell::number(quantum.scale)]);
    section.table("Quanta that are missed", words(["quantum", "times the target"]), rows)
}

/// What there is room for beside what is asked for, of a result without its quanta.
fn asked_and_had(document: &GrowthDocument<'_>) -> Block {
    let asked = |short: &ShortfallResult<'_>, what: &str| {
        (format!("{what}: {}", short.quantum), vec![document.part_at_one / short.part])
    };
    let mut groups = vec![("at a scale of 1".to_owned(), vec![1.0])];
    groups.extend(document.first_missed.as_ref().map(|first| asked(first, "first missed")));
    groups.extend(document.tightest.as_ref().map(|tightest| asked(tightest, "tightest")));
    groups.retain(|(_, times)| times[0].is_finite());
    Block::Bars(Bars {
        caption: "How many times the target is asked for".into(),
        series: Vec::new(),
        groups,
        mark: Some((document.part_at_one, "there is room for".into())),
        format: |times| number((times * 1000.0).round() / 1000.0),
    })
}
