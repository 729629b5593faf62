//! Short summaries for people, at most 100 columns wide: what came out, in plain words and aligned numbers.

mod allocation;
mod audits;
mod entitlements;
mod explanation;
mod figures;
mod flows;
mod grid;
mod planning;
mod simulation;
mod tasks;
mod traces;
mod warnings;

pub use allocation::{allocation, demands, offline};
pub use audits::audits;
pub use entitlements::entitlements;
pub use explanation::explanation;
pub use flows::{flows, traffic};
pub(crate) use planning::target;
pub use planning::{difference, growth, losses, plan, worth};
pub use simulation::simulation;
pub use tasks::{task_allocation, task_offline};
pub use traces::trace;
pub use warnings::warnings;

use crate::bound::stated_bounds;
use crate::comparison::ComparisonDocument;
use crate::placement::PlacementFigures;
use crate::proportional_bound::{gap_per_weight, meets};
use crate::reproduction::ReproductionDocument;
use crate::solution::{Headline, LimitName, UserResults};
pub(crate) use fairplan_instances::wording::thousands;
use fairplan_instances::wording::{counted, printable};
use fairplan_instances::{
    Certificate, ClassId, Instance, Objective, Placement, ProportionalBracket, Solution, Status, UserId,
    WholeTaskBracket,
};
use fairplan_verify::Verdict;
use grid::{Column, grid};
use std::fmt::Write;

/// Lists in a summary are cut after this many rows.
const ROWS: usize = 10;

/// Ids in a summary are cut after this many characters.
const ID_LENGTH: usize = 32;

/// The summary of a solution.
pub fn solution(instance: &Instance, solution: &Solution, headline: &Headline) -> String {
    let mut text = heading(instance);
    let proof = proof(solution.status == Status::Optimal, headline.relative_gap);
    let method = solution.method;
    let seconds = solution.statistics.seconds;
    let (value, unit) = (number(headline.value), unit(&solution.certificate));
    let _ = writeln!(text, "{}: {value}{unit} ({proof})", value_name(solution.objective));
    let _ = writeln!(text, "Used: {}", used(instance, &headline.utilization(instance)));
    let _ = writeln!(text, "Solved by {method} in {seconds:.3} s\n");

    let users = UserResults::new(instance, solution);
    let rows = users.iter().take(ROWS).map(|user| {
        let limit = match user.limited_by {
            LimitName::Capacity => "capacity",
            LimitName::Tasks => "its tasks",
            LimitName::NoUsableClass => "no usable class",
        };
        vec![
            label(&user.id),
            label(&user.dominant_resource),
            number(user.dominant_share),
            number(user.tasks),
            limit.into(),
        ]
    });
    let columns = [
        Column::text("user"),
        Column::text("dominant resource"),
        Column::number("dominant share"),
        Column::number("tasks"),
        Column::text("limited by"),
    ];
    text += &grid(&columns, rows);
    cut(&mut text, instance.user_count(), "users");
    text.push('\n');

    let m = instance.resources().len();
    let priced = headline.has_prices() && m <= 3;
    let mut columns = vec![Column::text("server class"), Column::number("servers")];
    if !solution.allocation.is_pooled() {
        columns
            .extend(instance.resources().iter().map(|name| Column::number(format!("{} used", label(name)))));
    }
    if priced {
        let price = |name: &String| Column::number(format!("{} price", label(name)));
        columns.extend(instance.resources().iter().map(price));
    }
    let rows = instance.classes().iter().enumerate().take(ROWS).map(|(l, class)| {
        let mut row = vec![label(&class.id), thousands(class.count)];
        row.extend(headline.class_utilization(instance, ClassId(l)).into_iter().flatten().map(percent));
        if priced {
            row.extend(headline.prices[l * m..(l + 1) * m].iter().map(|price| number(*price)));
        }
        row
    });
    text += &grid(&columns, rows);
    cut(&mut text, instance.classes().len(), "server classes");
    text
}

/// How far a result is proved to be the best.
pub(crate) fn proof(optimal: bool, gap: f64) -> String {
    match optimal {
        true if gap > 0.0 => format!("optimal, proved to within {gap:.1e}"),
        true => "optimal, proved".into(),
        false => format!("NOT PROVED: up to {gap:.1e} may be missing"),
    }
}

/// A bracket as one number where it is closed.
pub(crate) fn bracket(lower: f64, upper: f64) -> String {
    if upper == lower { number(upper) } else { format!("{} to {}", number(lower), number(upper)) }
}

/// What the value of an objective is.
pub(crate) fn value_name(objective: Objective) -> &'static str {
    match objective {
        Objective::Drfh | Objective::DrfPooled => "Smallest weighted dominant share",
        Objective::TaskShareFairness => "Smallest weighted task share",
        Objective::BottleneckMaxFairness | Objective::DrfPerServer => "Smallest dominant share",
        Objective::ProportionalFairness => "Sum of weighted ln(dominant share)",
        Objective::AlphaFair(_) => "Sum of weighted utilities of dominant shares",
        Objective::Utilitarian => "Sum of weighted dominant shares",
    }
}

/// What follows a value in the summary: its power of ten, if it has one.
fn unit(certificate: &Certificate) -> String {
    match certificate {
        Certificate::Total(total) if total.exponent != 0 => format!(" × 10^{}", total.exponent),
        _ => String::new(),
    }
}

/// The summary of a placement.
pub fn placement(
    instance: &Instance,
    placement: &Placement,
    figures: &PlacementFigures,
    policy: &str,
) -> String {
    let mut text = heading(instance);
    let _ = writeln!(text, "Placed by {policy}: {}", counted(figures.tasks, "task", "tasks"));
    let _ = writeln!(text, "Smallest weighted dominant share: {}", number(figures.value));
    let _ = writeln!(text, "Used: {}\n", used(instance, &figures.utilization));
    let rows = (0..instance.user_count()).take(ROWS).map(|i| {
        let user = instance.user(UserId(i));
        vec![
            label(user.id()),
            label(&instance.resources()[user.dominant_resource().0]),
            number(figures.dominant_shares[i]),
            thousands(placement.tasks[i]),
        ]
    });
    let columns = [
        Column::text("user"),
        Column::text("dominant resource"),
        Column::number("dominant share"),
        Column::number("tasks"),
    ];
    text += &grid(&columns, rows);
    cut(&mut text, instance.user_count(), "users");
    text
}

/// The summary of a comparison.
pub fn comparison(instance: &Instance, document: &ComparisonDocument<'_>) -> String {
    let mut text = heading(instance);
    let divisible = number(document.bounds.divisible);
    let _ = writeln!(text, "Best smallest share if tasks could be divided at will: {divisible}");
    let integral = document.bounds.integral_upper.zip(document.bounds.integral_lower);
    if let Some((upper, lower)) = integral {
        let _ = writeln!(text, "Best smallest share of whole tasks: {}", bracket(lower, upper));
    }
    text.push('\n');
    let mut columns =
        vec![Column::text("policy"), Column::number("smallest share"), Column::number("below divisible")];
    if integral.is_some() {
        columns.push(Column::number("below whole-task bound"));
    }
    columns.push(Column::number("tasks"));
    columns.extend(instance.resources().iter().map(|name| Column::number(format!("{} used", label(name)))));
    let timed = document.policies.iter().any(|policy| policy.seconds.is_some());
    if timed {
        columns.push(Column::number("seconds"));
    }
    let rows = document.policies.iter().map(|policy| {
        let mut row = vec![label(&policy.name), number(policy.value), percent(policy.gap_to_divisible)];
        row.extend(policy.gap_to_integral.map(|gap| {
            if policy.proved_optimal == Some(true) { "proved optimal".into() } else { percent(gap) }
        }));
        row.push(thousands(policy.tasks));
        row.extend(policy.utilization.0.iter().map(|(_, part)| percent(*part)));
        row.extend(policy.seconds.map(|seconds| format!("{seconds:.3}")));
        row
    });
    text += &grid(&columns, rows);
    text
}

/// The summary of a bracket of what whole tasks can reach.
pub fn bound(instance: &Instance, divisible: f64, bracket: &WholeTaskBracket) -> String {
    let mut text = heading(instance);
    let bounds = stated_bounds(instance, bracket);
    let _ = writeln!(text, "Best smallest share if tasks could be divided at will: {}", number(divisible));
    let so = "So the smallest share of whole tasks is 0. What follows is about the others.";
    text += &without_tasks(instance, &bracket.without_tasks, so);
    let (upper, lower) = (bounds.upper_of_others, bounds.lower_of_others);
    if bounds.proved_optimal {
        let _ = writeln!(
            text,
            "Best smallest share of whole tasks: {} (placed, and proved optimal)",
            number(lower)
        );
    } else {
        let (below, upper, lower) = (1.0 - lower / upper, number(upper), number(lower));
        let _ = writeln!(
            text,
            "Best smallest share of whole tasks: at most {upper}, proved; {lower} placed ({below:.1e} below)"
        );
        text += &truncated(bracket.truncated_searches);
    }
    text
}

/// The summary of a bracket of the sum of logarithms.
pub fn proportional_bound(
    instance: &Instance,
    divisible: Option<f64>,
    bracket: &ProportionalBracket,
) -> String {
    let mut text = heading(instance);
    if let Some(divisible) = divisible {
        let _ = writeln!(
            text,
            "Best sum of w ln(share) if tasks could be divided at will: {}",
            number(divisible)
        );
    }
    text += &without_tasks(instance, &bracket.without_tasks, "They are left out of the sums.");
    let upper = bracket.upper.unwrap_or_default();
    let _ = match (bracket.lower, gap_per_weight(instance, bracket)) {
        (Some(lower), Some(_)) if meets(instance, bracket) => {
            writeln!(text, "Best sum of whole tasks: {} (placed, and proved optimal)", number(lower))
        }
        (Some(lower), Some(gap)) => writeln!(
            text,
            "Best sum of whole tasks: at most {}, proved; {} placed (less by {gap:.1e} for each unit of weight)",
            number(upper),
            number(lower)
        ),
        _ => writeln!(
            text,
            "Best sum of whole tasks: at most {}, proved; no placement was found that gives every user a task",
            number(upper)
        ),
    };
    if !meets(instance, bracket) {
        text += &truncated(bracket.truncated_searches);
    }
    text
}

/// Who has no tasks, if there is anybody, and what that means.
fn without_tasks(instance: &Instance, users: &[UserId], so: &str) -> String {
    if users.is_empty() {
        return String::new();
    }
    let ids = users.iter().take(ROWS).map(|user| label(instance.user(*user).id()));
    let ids: Vec<_> = ids.map(|id| id.to_string()).collect();
    let more = if users.len() > ROWS { ", …" } else { "" };
    let (count, ids) = (counted(users.len() as u64, "user", "users"), ids.join(", "));
    format!("No task fits any server, or there are none, of {count}: {ids}{more}\n{so}\n")
}

fn truncated(searches: u64) -> String {
    match searches {
        0 => String::new(),
        _ => format!("Searches cut short, which may loosen the bound: {searches}\n"),
    }
}

/// The summary of a verification.
pub fn verification(verdicts: &[Verdict]) -> String {
    let columns = [
        Column::text("property"),
        Column::text("verdict"),
        Column::number("largest violation"),
        Column::number("allowed"),
    ];
    let rows = verdicts.iter().map(|verdict| {
        vec![
            verdict.property.to_owned(),
            if verdict.holds { "holds" } else { "FAILS" }.into(),
            violation(verdict.residual),
            violation(verdict.tolerance),
        ]
    });
    let mut text = grid(&columns, rows);
    for verdict in verdicts.iter().filter(|verdict| !verdict.holds) {
        let _ = writeln!(text, "{}: {}", verdict.property, shortened(&verdict.witness, 300));
    }
    let failed = verdicts.iter().filter(|verdict| !verdict.holds).count();
    let _ = match failed {
        0 => writeln!(text, "Verified: every property holds."),
        1 => writeln!(text, "NOT verified: 1 property fails."),
        failed => writeln!(text, "NOT verified: {failed} properties fail."),
    };
    text
}

/// The summary of a reproduction.
pub fn reproduction(document: &ReproductionDocument<'_>) -> String {
    let mut text = String::new();
    for numbers in document.numbers.chunk_by(|a, b| a.exhibit == b.exhibit) {
        let _ = writeln!(text, "{}: {}", numbers[0].exhibit, numbers[0].source);
        let columns = [
            Column::text("quantity"),
            Column::number("published"),
            Column::number("ours"),
            Column::text("verdict"),
        ];
        let rows = numbers.iter().map(|row| {
            vec![
                row.quantity.clone().into_owned(),
                number(row.published),
                number(row.ours),
                if row.agrees { "agrees" } else { "DIFFERS" }.into(),
            ]
        });
        text += &grid(&columns, rows);
        for reason in document.reasons.iter().filter(|reason| reason.exhibit == numbers[0].exhibit) {
            let _ = writeln!(text, "Why numbers differ: {}", reason.why);
        }
        text.push('\n');
    }
    document.figures.iter().for_each(|figure| text += &figures::figure(figure));
    text
}

/// One line on an instance: its name and size.
pub fn heading(instance: &Instance) -> String {
    let users = counted(instance.user_count() as u64, "user", "users");
    let servers = counted(instance.server_count(), "server", "servers");
    let classes = counted(instance.classes().len() as u64, "class", "classes");
    let name = if instance.name().is_empty() { "Unnamed instance" } else { instance.name() };
    format!("{}: {users} on {servers} in {classes}\n", shortened(name, 60))
}

fn used(instance: &Instance, parts: &[f64]) -> String {
    let used = |(name, part): (&String, &f64)| format!("{} {}", label(name), percent(*part));
    let all: Vec<String> = instance.resources().iter().zip(parts).take(ROWS / 2).map(used).collect();
    let more = if all.len() < parts.len() { ", …" } else { "" };
    format!("{}{more}", all.join(", "))
}

fn cut(text: &mut String, count: usize, what: &str) {
    if count > ROWS {
        let _ = writeln!(text, "… and {} more {what}", thousands((count - ROWS) as u64));
    }
}

/// A name from a file: one line, no control characters, not too long.
fn label(name: &str) -> String {
    shortened(name, ID_LENGTH)
}

fn shortened(text: &str, length: usize) -> String {
    printable(text, length)
}

/// Six significant digits.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..15.0).contains(&magnitude) {
        return format!("{value:.5e}");
    }
    let places = (5.0 - magnitude).max(0.0) as usize;
    let fixed = format!("{value:.places$}");
    if fixed.contains('.') { fixed.trim_end_matches('0').trim_end_matches('.').to_owned() } else { fixed }
}

/// With two decimals; what rounds to zero has no sign.
pub(crate) fn percent(part: f64) -> String {
    let hundredths = (part * 10_000.0).round();
    format!("{:.2}%", if hundredths == 0.0 { 0.0 } else { part * 100.0 })
}

fn violation(value: f64) -> String {
    if value == 0.0 { "0".into() } else { format!("{value:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits_and_no_idle_zeros() {
        let shown = [0.0, 1.0, 5.0 / 7.0, 10.0, 123_456.78, 3e-9, 1e20, -0.00001234567].map(number);
        let expected = ["0", "1", "0.714286", "10", "123457", "3.00000e-9", "1.00000e20", "-0.0000123457"];
        assert_eq!(shown, expected);
        assert_eq!(
            [0, 999, 1000, 12_583, 1_234_567].map(thousands),
            ["0", "999", "1,000", "12,583", "1,234,567"]
        );
    }

    #[test]
    fn what_rounds_to_no_percent_has_no_sign() {
        assert_eq!(
            [-1e-9, 0.0, -0.0, -0.0001, 0.5, -0.000_049].map(percent),
            ["0.00%", "0.00%", "0.00%", "-0.01%", "50.00%", "0.00%"]
        );
    }

    #[test]
    fn names_from_files_cannot_reach_the_terminal_raw_or_break_the_layout() {
        assert_eq!(label("a\u{1b}[31m\nb"), "a\\u{1b}[31m\\nb");
        assert_eq!(label(&"x".repeat(1000)), format!("{}…", "x".repeat(ID_LENGTH)));
    }
}
