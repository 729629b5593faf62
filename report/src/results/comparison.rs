//! Placement policies side by side, for people.

use super::sentences::{all_of, bracket, heading, listed, name};
use crate::comparison::{ComparedPolicy, Comparison};
use crate::figure::Bars;
use crate::json::MalformedResult;
use crate::page::{Block, Section};
use crate::summary::grid::{grid, paragraph};
use crate::units::share;
use fairplan_instances::Instance;
use fairplan_instances::table::Tabular;
use std::fmt::Write;

/// A comparison: which policy does best, whether anything could do better, and how bad a bad choice is.
pub(super) fn answer(document: &Comparison) -> String {
    let policies = &document.policies;
    let Some(best) = policies.iter().max_by(|a, b| a.value.total_cmp(&b.value)) else {
        return "No policy was compared.".into();
    };
    if best.value == 0.0 && document.bounds.integral_upper == Some(0.0) {
        return "Under every policy the smallest share is 0: somebody can have no task on any server. `fairplan bound` tells \
                what the others can have."
            .into();
    }
    // What sums of doubles leave over does not tell policies apart.
    let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    let winners: Vec<String> = (policies.iter())
        .filter(|policy| same(policy.value, best.value))
        .map(|policy| name(&policy.name))
        .collect();
    let least = share(best.value);
    let all = winners.len() == policies.len() && policies.len() > 1;
    let first = match (all, winners.len()) {
        (true, n) => {
            format!("{} policies do equally well: the worst-off user has a share of {least}", all_of(n))
        }
        (false, 1) => format!("{} does best: the worst-off user has a share of {least}", listed(&winners)),
        (false, _) => format!("{} do best: the worst-off user has a share of {least}", listed(&winners)),
    };
    let better = better(document, best);
    let worst =
        policies.iter().min_by(|a, b| a.value.total_cmp(&b.value)).filter(|_| !all && policies.len() > 1);
    let worst = worst.map_or_else(String::new, |worst| {
        format!(" With {}, the worst, it has {}.", name(&worst.name), share(worst.value))
    });
    format!("{first}{better}.{worst}")
}

/// Whether anything could do better than the best policy.
fn better(document: &Comparison, best: &ComparedPolicy) -> String {
    let bounds = document.bounds;
    match (best.proved_optimal, bounds.integral_upper, bounds.integral_lower) {
        (Some(true), ..) => ", and no placement of whole tasks can give it more (proved)".into(),
        (_, Some(upper), Some(lower)) if lower > best.value && lower >= upper * (1.0 - 1e-9) => {
            format!("; the best placement there is (proved) has {}", share(lower))
        }
        (_, Some(upper), lower) => {
            let had = lower.filter(|lower| *lower > best.value);
            let had =
                had.map_or_else(String::new, |lower| format!(" a better placement has {},", share(lower)));
            format!(";{had} no placement of whole tasks can give it more than {}", share(upper))
        }
        _ => format!("; if tasks could be divided at will, it would have {}", share(bounds.divisible)),
    }
}

/// The columns that people read first.
const ORDER: [&str; 5] = ["name", "value", "gap_to_divisible", "gap_to_integral", "tasks"];

/// The summary of a comparison.
pub fn summary(instance: &Instance, document: &Comparison) -> String {
    let mut text = heading(instance);
    text += &paragraph(&answer(document));
    let divisible = share(document.bounds.divisible);
    let _ = writeln!(text, "Best smallest share if tasks could be divided at will: {divisible}");
    let integral = document.bounds.integral_upper.zip(document.bounds.integral_lower);
    if let Some((upper, lower)) = integral {
        let _ = writeln!(text, "Best smallest share of whole tasks: {}", bracket(lower, upper));
    }
    text.push('\n');
    let table = document.table().without(&["proved_optimal"]).without_empty();
    let used = table.columns().iter().map(|column| column.name.to_string());
    let used: Vec<String> = used.filter(|name| name.starts_with("utilization_")).collect();
    let order: Vec<&str> = ORDER.into_iter().chain(used.iter().map(String::as_str)).collect();
    text += &grid(&table.in_order(&order));
    text
}

/// A comparison as a section.
///
/// # Errors
/// Policies that use other resources than the first.
pub(crate) fn section(file: &str, document: Comparison) -> Result<Section, MalformedResult> {
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
        .answer_in_shares(answer(&document))
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
    let table = document.table().without(&["proved_optimal", "seconds"]).in_order(&ORDER);
    Ok(section.block(Block::Bars(bars)).grid("Policies", &table))
}
