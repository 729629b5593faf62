//! How long a cluster lasts, for people.

use super::plan::target;
use super::sentences::{label, left_out, name, of_group};
use crate::figure::{Bars, Curve, Mark};
use crate::page::{Block, Section, line, time};
use crate::summary::grid::{listed, paragraph};
use crate::units::{counted, money, number, percent, thousands};
use fairplan_analysis::{BoughtBy, CostsOverTime, Growth, Shortfall, purchases_table, reservations_table};
use fairplan_instances::table::Tabular;
use std::fmt::Write;

/// How long a cluster lasts.
pub(super) fn answer(document: &Growth) -> String {
    lasting(document) + &left_out(&document.instance)
}

fn lasting(document: &Growth) -> String {
    let times = number((document.part_at_one * 100.0).round() / 100.0);
    let quanta = counted(document.series.quanta, "quantum", "quanta");
    match &document.first_missed {
        None => format!("The cluster lasts through all {quanta}: it has room for {times} times the target."),
        Some(first) => format!(
            "The cluster has room for {times} times the target; that is first not enough in {}, where {} is short and only {} \
             of what is asked for can be had.",
            name(&first.quantum.to_string()),
            name(&first.resource),
            percent(first.part)
        ),
    }
}

/// How long a cluster lasts.
pub fn summary(document: &Growth) -> String {
    let mut text = paragraph(&answer(document));
    let scaled = match document.scaled_by.as_str() {
        "user" => "each user by its own column".to_owned(),
        "group" => {
            "each user by its own column, or else by that of the nearest group that it is in".to_owned()
        }
        "total" => "all users by the total of the columns".to_owned(),
        column => format!("all users by the column {}", label(column)),
    };
    let _ = writeln!(text, "Target, at a scale of 1: {}; scaled: {scaled}.", target(&document.target));
    let needs = |short: &Shortfall, what: &str| {
        let (user, times) = (label(&short.user), number(short.scale));
        let group = of_group(short.group.as_deref());
        format!("user {user}{group} needs the most of what is {what}, at {times} times its target")
    };
    if let Some(first) = &document.first_missed {
        let quanta = counted(document.series.quanta, "quantum", "quanta");
        let missed = thousands(document.missed);
        text += &paragraph(&format!("Missed in {missed} of {quanta}; {}.", needs(first, "short")));
    }
    let is_first = |tightest: &Shortfall| {
        document.first_missed.as_ref().is_some_and(|first| first.quantum == tightest.quantum)
    };
    if let Some(tightest) = document.tightest.as_ref().filter(|tightest| !is_first(tightest)) {
        let quantum = label(&tightest.quantum.to_string());
        let (part, resource) = (percent(tightest.part), label(&tightest.resource));
        let needs = needs(tightest, if tightest.part < 1.0 { "short" } else { "scarcest" });
        let room = format!("room for {part} of what is asked for, by {resource}; {needs}.");
        text += &paragraph(&format!("Tightest in {quantum}: {room}"));
    }
    if !document.purchases.is_empty() {
        text += "\nWhat to buy by when:\n\n";
        text += &listed(&purchases_table(&document.purchases), "stages");
    }
    if let Some(stage) = beyond_reach(document) {
        text += &paragraph(&format!("\n{}.", out_of_reach(stage)));
    }
    if let Some(costs) = &document.costs {
        text += &what_it_costs(document, costs);
    }
    text
}

/// The first quantum for which nothing that may be bought is enough.
fn beyond_reach(document: &Growth) -> Option<&BoughtBy> {
    document.purchases.last().filter(|stage| stage.servers.is_empty())
}

fn out_of_reach(stage: &BoughtBy) -> String {
    let (by, times) = (label(&stage.by.to_string()), number(stage.scale));
    let why = stage.out_of_reach.as_ref().map_or_else(String::new, |why| {
        let offered = match why.is_offered {
            true => "",
            false => ", and no server on offer takes its tasks (to a user of some classes a server type is one only if its column `like` names one of them)",
        };
        let (user, group, resource) = (label(&why.user), of_group(why.group.as_deref()), label(&why.resource));
        format!("; {resource} is short, and user {user}{group} needs the most of it{offered}")
    });
    format!(
        "{by} is the first quantum that asks for more than can be bought; what there is and is bought reaches {times} times the target{why}"
    )
}

/// What purchases cost over time, and how to have them.
fn what_it_costs(document: &Growth, costs: &CostsOverTime) -> String {
    let total = costs.total;
    let prices = match &*costs.currency {
        "" => String::new(),
        currency => format!(" (prices are in {})", label(currency)),
    };
    let mut text = "\n".to_owned();
    let what = if beyond_reach(document).is_some() { "what is bought" } else { "that" };
    text += &paragraph(&format!(
        "To the end of the series {what} costs {} on demand, {} reserved throughout, and {} the cheapest way{prices}: reserved where it is \
         needed for longer than the break-even, where a commitment costs as much as the same on demand.",
        money(total.on_demand),
        money(total.reserved),
        money(total.cheapest)
    ));
    text += "\n";
    text += &listed(&reservations_table(&document.purchases).without_empty(), "purchases");
    if !costs.quanta.is_empty() {
        text += "\nWhat a quantum costs, from each on where that changes:\n\n";
        text += &listed(&costs.changes(), "changes");
    }
    if costs.after.reserved > 0.0 {
        text += &paragraph(&format!(
            "After the end, commitments cost {} more if all is reserved throughout, {} the cheapest way; that is counted above.",
            money(costs.after.reserved),
            money(costs.after.cheapest)
        ));
    }
    text
}

/// Growth as a section.
pub(crate) fn section(document: Growth) -> Section {
    let short = |short: &Shortfall| {
        let (quantum, part, resource) = (&short.quantum, percent(short.part), &short.resource);
        format!("{quantum}: {part} can be reached; {resource} is short")
    };
    let first = document.first_missed.as_ref();
    let mut section = Section::new("How long the cluster lasts")
        .answer(answer(&document))
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
    if !document.purchases.is_empty() {
        section = section.table("What to buy by when", &purchases_table(&document.purchases));
    }
    if let Some(stage) = beyond_reach(&document) {
        section = section.fact("Out of reach", out_of_reach(stage));
    }
    if let Some(costs) = &document.costs {
        section = costs_over_time(section, &document, costs);
    }
    let Some(quanta) = &document.quanta else { return section.block(asked_and_had(&document)) };
    let scales: Vec<f64> = quanta.iter().map(|quantum| quantum.scale).collect();
    let end = scales.len().saturating_sub(1).max(1) as f64;
    let reached = Curve {
        mark: Mark::Dashes,
        ..line("reached", vec![[0.0, document.part_at_one], [end, document.part_at_one]])
    };
    let asked = line("asked for", time::thinned(&scales, time::Keep::Largest));
    section = section.block(Block::Curves(time::over(
        "How many times the target is asked for",
        quanta.iter().map(|one| &one.quantum),
        "times the target",
        vec![asked, reached],
    )));
    let missed = document.table().without(&["missed"]).only_rows(|row| quanta[row].missed);
    section.table("Quanta that are missed", &missed)
}

/// What there is room for beside what is asked for, of a result without its quanta.
fn asked_and_had(document: &Growth) -> Block {
    let asked = |short: &Shortfall, what: &str| {
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

/// What purchases cost over time.
fn costs_over_time(mut section: Section, document: &Growth, costs: &CostsOverTime) -> Section {
    if !costs.currency.is_empty() {
        section = section.fact("Prices are in", costs.currency.clone());
    }
    for (what, all, after) in [
        ("Cost to the end, on demand", costs.total.on_demand, costs.after.on_demand),
        ("Cost to the end, reserved throughout", costs.total.reserved, costs.after.reserved),
        ("Cost to the end, the cheapest way", costs.total.cheapest, costs.after.cheapest),
    ] {
        let after =
            if after > 0.0 { format!(", of it {} after the end", money(after)) } else { String::new() };
        section = section.fact(what, money(all) + &after);
    }
    section =
        section.table("How to have what is bought", &reservations_table(&document.purchases).without_empty());
    if costs.quanta.is_empty() {
        return section;
    }
    let curve = |name: &str, of: fn(&fairplan_analysis::CostsOfQuantum) -> f64| {
        let values: Vec<f64> = costs.quanta.iter().map(of).collect();
        line(name, time::thinned(&values, time::Keep::Mean))
    };
    let lines = vec![
        curve("on demand", |quantum| quantum.on_demand),
        curve("reserved throughout", |quantum| quantum.reserved),
        curve("the cheapest way", |quantum| quantum.cheapest),
    ];
    let quanta = costs.quanta.iter().map(|one| &one.quantum);
    section
        .block(Block::Curves(time::over("What purchases cost a quantum", quanta, "cost", lines)))
        .table("What purchases cost a quantum, from each on where that changes", &costs.changes())
}
