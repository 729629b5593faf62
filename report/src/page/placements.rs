//! What placements of whole tasks say: what each policy reaches, and how far from the best that is.

use super::{Block, Cell, Grid, Section, sizes, used, words};
use crate::answer;
use crate::bound::{BoundDocument, UserTotal};
use crate::comparison::ComparisonDocument;
use crate::figure::Bars;
use crate::json::MalformedResult;
use crate::placement::PlacementDocument;
use crate::proportional_bound::ProportionalBoundDocument;
use crate::summary::bracket;
use crate::units::{number, share, thousands};

/// A placement as a section.
pub(super) fn placement(document: PlacementDocument<'_>) -> Section {
    let tasks = document.users.iter().fold(0u64, |sum, user| sum.saturating_add(user.tasks));
    let shares = document.users.iter().map(|user| (user.id.to_string(), user.dominant_share)).collect();
    let header = words(["user", "dominant resource", "dominant share", "tasks"]);
    let rows = document.users.iter().map(|user| {
        vec![
            Cell::text(&*user.id),
            Cell::text(&*user.dominant_resource),
            Cell::share(user.dominant_share),
            Cell::count(user.tasks),
        ]
    });
    Section::new(format!("Whole tasks placed by {}", document.policy))
        .answer_in_shares(answer::placement(&document))
        .instance(&document.instance)
        .fact("Smallest weighted dominant share", share(document.value))
        .fact("Tasks placed", thousands(tasks))
        .fact("Used", used(&document.utilization))
        .block(sizes("Dominant shares by user", shares, share))
        .block(Block::Grid(Grid::new("Users", header, rows)))
}

/// A comparison as a section.
///
/// # Errors
/// Policies that use other resources than the first.
pub(super) fn comparison(file: &str, document: ComparisonDocument<'_>) -> Result<Section, MalformedResult> {
    let names = |policy: usize| document.policies[policy].utilization.0.iter().map(|(name, _)| name);
    if let Some(odd) = (1..document.policies.len()).find(|policy| !names(*policy).eq(names(0))) {
        return Err(MalformedResult {
            file: file.into(),
            place: format!("policies[{odd}].utilization"),
            problem: "names other resources than the first policy's; give a result as compare wrote it"
                .into(),
        });
    }
    let bounds = document.bounds;
    let mut section = Section::new("Placement policies compared")
        .answer_in_shares(answer::comparison(&document))
        .instance(&document.instance)
        .fact("Best smallest share if tasks could be divided at will", share(bounds.divisible));
    if let Some((upper, lower)) = bounds.integral_upper.zip(bounds.integral_lower) {
        section = section.fact("Best smallest share of whole tasks", bracket(lower, upper));
    }
    let mark = match bounds.integral_upper {
        Some(upper) => (upper, "the most that whole tasks can reach".to_owned()),
        None => (bounds.divisible, "the most that divisible tasks can reach".to_owned()),
    };
    let bars = Bars {
        caption: "Smallest share that each policy reaches".into(),
        series: Vec::new(),
        groups: document
            .policies
            .iter()
            .map(|policy| (policy.name.to_string(), vec![policy.value]))
            .collect(),
        mark: Some(mark),
        format: share,
    };
    let resources: Vec<String> = document
        .policies
        .first()
        .map(|policy| policy.utilization.0.iter().map(|(name, _)| name.to_string()).collect())
        .unwrap_or_default();
    let mut header =
        words(["policy", "smallest share", "below divisible", "below whole-task bound", "verdict", "tasks"]);
    header.extend(resources.iter().map(|name| format!("{name} used")));
    let rows = document.policies.iter().map(|policy| {
        let verdict = if policy.proved_optimal == Some(true) { "proved optimal" } else { "" };
        let mut row = vec![
            Cell::text(&*policy.name),
            Cell::share(policy.value),
            Cell::percent(policy.gap_to_divisible),
            Cell::maybe(policy.gap_to_integral, Cell::percent),
            Cell::text(verdict),
            Cell::count(policy.tasks),
        ];
        row.extend(resources.iter().map(|name| Cell::maybe(policy.utilization.get(name), Cell::percent)));
        row
    });
    Ok(section.block(Block::Bars(bars)).block(Block::Grid(Grid::new("Policies", header, rows))))
}

/// A bracket of what whole tasks can reach as a section.
pub(super) fn bound(document: BoundDocument<'_>) -> Section {
    let bars = Bars {
        caption: "Smallest share: what can be had, and what is proved to be out of reach".into(),
        series: Vec::new(),
        groups: vec![
            ("placed".into(), vec![document.integral_lower]),
            ("at most, whole tasks".into(), vec![document.integral_upper]),
            ("at most, divisible".into(), vec![document.divisible]),
        ],
        mark: None,
        format: share,
    };
    let mut section = Section::new("The best that whole tasks can do")
        .answer_in_shares(answer::bound(&document))
        .instance(&document.instance)
        .fact("Placed", share(document.integral_lower))
        .fact("At most", share(document.integral_upper))
        .fact("Proved optimal", proved(document.proved_optimal));
    if !document.users_without_tasks.is_empty() {
        section = section.fact("Users without any task", document.users_without_tasks.join(", "));
    }
    section.block(Block::Bars(bars)).block(tasks(&document.placement.users))
}

fn proved(is_optimal: bool) -> &'static str {
    if is_optimal { "yes" } else { "no: the best lies between the two" }
}

fn tasks(users: &[UserTotal<'_>]) -> Block {
    let header = words(["user", "tasks"]);
    let rows = users.iter().map(|user| vec![Cell::text(&*user.id), Cell::count(user.tasks)]);
    Block::Grid(Grid::new("Tasks placed", header, rows))
}

/// A bracket of the sum of logarithms as a section.
pub(super) fn proportional_bound(document: ProportionalBoundDocument<'_>) -> Section {
    let sum = |sum: Option<f64>| sum.map_or_else(|| "none".into(), number);
    let mut section = Section::new("The best that whole tasks can do: Σ w ln(dominant share)")
        .answer(answer::proportional_bound(&document))
        .instance(&document.instance)
        .fact("Placed", sum(document.integral_lower))
        .fact("At most", sum(document.integral_upper))
        .fact("Proved optimal", proved(document.proved_optimal));
    if let Some(gap) = document.gap_per_weight {
        section = section.fact("Apart for each unit of weight", number(gap));
    }
    if !document.users_without_tasks.is_empty() {
        section = section.fact("Users without any task", document.users_without_tasks.join(", "));
    }
    let placed =
        document.placement.users.iter().map(|user| (user.id.to_string(), user.tasks as f64)).collect();
    section.block(sizes("Tasks placed by user", placed, number)).block(tasks(&document.placement.users))
}
