//! Why a user has its share, and what would change it.

use super::{Block, Cell, Grid, Section, limit, words};
use crate::answer;
use crate::explanation::{ClassViewResult, ExplanationDocument};
use crate::figure::Bars;
use crate::units::{number, share};

/// An explanation as a section.
pub(super) fn explanation(document: ExplanationDocument<'_>) -> Section {
    let level = document.level.map_or_else(String::new, |level| {
        format!(", at level {} (weighted share {})", level.position, share(level.value))
    });
    let mut section =
        Section::new(format!("Why user {} has its share: {}", document.user, document.objective))
            .answer(answer::explanation(&document))
            .instance(&document.instance)
            .fact(
                "Dominant share",
                format!("{} of all {}", share(document.dominant_share), document.dominant_resource),
            )
            .fact("Tasks", number(document.tasks))
            .fact("Limited by", format!("{}{level}", limit(document.limited_by)));
    if !document.why_nothing.is_empty() {
        section = section.fact("Has nothing because", document.why_nothing.join("; "));
    }
    let bars = |caption: &str, of: &dyn Fn(&ClassViewResult<'_>) -> Option<f64>, mark, format| {
        let classes = document.server_classes.iter();
        let groups = classes.filter_map(|class| Some((class.id.to_string(), vec![of(class)?])));
        let groups = groups.take(super::GROUPS).collect();
        Block::Bars(Bars { caption: caption.into(), series: Vec::new(), groups, mark, format })
    };
    let cheapest = document.server_classes.iter().find(|class| class.cheapest);
    let mark = cheapest.and_then(|class| Some((class.cost_of_share?, "the cheapest".to_owned())));
    section = section.block(bars("Tasks by server class", &|class| Some(class.tasks), None, number));
    if !document.held_by.is_empty() {
        let caption = "What a whole share costs on each class where it can run";
        section = section.block(bars(caption, &|class| class.cost_of_share, mark, number));
    }

    let header = words(["server class", "can run there", "tasks there", "cost of a whole share", "cheapest"]);
    let yes = |is: bool| Cell::text(if is { "yes" } else { "" });
    let rows = document.server_classes.iter().map(|class| {
        vec![
            Cell::text(&*class.id),
            yes(class.usable),
            Cell::number(class.tasks),
            Cell::maybe(class.cost_of_share, Cell::number),
            yes(class.cheapest),
        ]
    });
    section = section.block(Block::Grid(Grid::new("Server classes, as this user sees them", header, rows)));

    let header = words(["server class", "resource", "price"]);
    let rows = document.held_by.iter();
    let rows = rows
        .map(|held| vec![Cell::text(&*held.class), Cell::text(&*held.resource), Cell::number(held.price)]);
    section = section.table("Full capacities that keep it from more", header, rows);

    let header = words(["server class", "resource", "price", "capacity", "holds from", "to"]);
    let rows = document.price_ranges.iter().map(|range| {
        let numbers = [range.price, range.capacity, range.least, range.most].map(Cell::number);
        [Cell::text(&*range.class), Cell::text(&*range.resource)].into_iter().chain(numbers).collect()
    });
    section = section.table("How far the prices it pays hold", header, rows);

    let header = words([
        "resource",
        "a task needs",
        "if it needed",
        "its tasks then",
        "others that gain",
        "others that lose",
        "gains the most",
        "by",
    ]);
    let rows = document.smaller_demands.iter().map(|change| {
        let largest = change.largest_gain.as_ref();
        vec![
            Cell::text(&*change.resource),
            Cell::number(change.demand),
            Cell::number(change.smaller),
            Cell::number(change.own_tasks),
            Cell::count(change.gain as u64),
            Cell::count(change.lose as u64),
            Cell::text(largest.map_or("", |gain| &*gain.user)),
            Cell::maybe(largest.map(|gain| gain.part), Cell::percent),
        ]
    });
    section.table("If its tasks needed less", header, rows)
}
