//! The figure by which a comparison tells policies apart, and the chart of just that figure.

use crate::comparison::{ComparedPolicy, Comparison};
use crate::figure::Bars;
use crate::tolerance::SAME;
use crate::units::{counted, share};

/// Whether users that have all their tasks decide the smallest share, under some policy: then it tells little.
pub(super) fn tells_by_level(document: &Comparison) -> bool {
    let tells =
        |policy: &ComparedPolicy| policy.level.is_none_or(|level| level > policy.value * (1.0 + SAME));
    // Results of before there was a level state none of this.
    document.policies.iter().any(|policy| policy.unplaced.is_some() && tells(policy))
}

/// The smallest share; where that says nothing, because who has it has all it asked for, the smallest of whoever wants more; and what
/// waits where somebody's policy leaves nobody wanting.
pub(super) fn bars(document: &Comparison) -> Bars {
    let bounds = document.bounds;
    let of_whole = "the most that whole tasks can reach";
    let of_divisible = "the most that divisible tasks can reach";
    let mark = |whole: Option<f64>, divisible: Option<f64>| {
        let whole = whole.map(|most| (most, of_whole.to_owned()));
        whole.or(divisible.map(|most| (most, of_divisible.to_owned()))).filter(|(most, _)| most.is_finite())
    };
    if !tells_by_level(document) {
        let mark = mark(bounds.integral_upper, Some(bounds.divisible));
        return drawn(document, "Smallest share that each policy reaches", |one| one.value, mark, share);
    }
    let levels: Option<Vec<f64>> = document.policies.iter().map(|policy| policy.level).collect();
    if levels.is_some() {
        let mark = mark(bounds.integral_level_upper, bounds.divisible_level);
        let caption = "Level of those who still want more under each policy";
        return drawn(document, caption, |one| one.level.unwrap_or(0.0), mark, share);
    }
    let unplaced = |one: &ComparedPolicy| one.unplaced.unwrap_or(0) as f64;
    let tasks = |count: f64| counted(count as u64, "task", "tasks");
    drawn(document, "Tasks that wait under each policy", unplaced, None, tasks)
}

fn drawn(
    document: &Comparison,
    caption: &str,
    value: impl Fn(&ComparedPolicy) -> f64,
    mark: Option<(f64, String)>,
    format: fn(f64) -> String,
) -> Bars {
    let groups = document.policies.iter().map(|policy| (policy.name.to_string(), vec![value(policy)]));
    Bars { caption: caption.into(), series: Vec::new(), groups: groups.collect(), mark, format }
}
