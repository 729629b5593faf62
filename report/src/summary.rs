//! Short summaries for people, as wide as their terminal: what came out, in plain words and aligned numbers.

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
pub use grid::fit_terminal;
pub(crate) use planning::target;
pub use planning::{difference, growth, losses, plan, worth};
pub use simulation::simulation;
pub use tasks::{task_allocation, task_offline};
pub use traces::trace;
pub use warnings::warnings;

use crate::answer::{self, Fates};
use crate::bound::stated_bounds;
use crate::comparison::ComparisonDocument;
use crate::names::{self, beginning as shortened};
use crate::placement::PlacementFigures;
use crate::proportional_bound::{gap_per_weight, meets};
use crate::reproduction::ReproductionDocument;
use crate::solution::{Headline, LimitName, UserResults};
use crate::unchecked;
pub(crate) use crate::units::{counted, duration, money, number, percent, share, thousands, violation};
use fairplan_instances::{
    Certificate, ClassId, Instance, Objective, Placement, ProportionalBracket, Solution, Status, UserId,
    WholeTaskBracket,
};
use fairplan_verify::Verdict;
use grid::{Column, grid, paragraph};
use std::borrow::Cow;
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
    let limits = solution.limited_by.iter().map(|limit| LimitName::from(*limit));
    text += &paragraph(&Fates::of(limits).told());
    let (value, unit) = (value_of(solution.objective, headline.value), unit(&solution.certificate));
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
            user.id.into_owned(),
            label(&user.dominant_resource),
            share(user.dominant_share),
            number(user.tasks),
            limit.into(),
        ]
    });
    let columns = [
        Column::id("user"),
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
    let mut columns = vec![Column::id("server class"), Column::number("servers")];
    if !solution.allocation.is_pooled() {
        columns
            .extend(instance.resources().iter().map(|name| Column::number(format!("{} used", label(name)))));
    }
    if priced {
        let price = |name: &String| Column::number(format!("{} price", label(name)));
        columns.extend(instance.resources().iter().map(price));
    }
    let rows = instance.classes().iter().enumerate().take(ROWS).map(|(l, class)| {
        let mut row = vec![class.id.clone(), thousands(class.count)];
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

/// A bracket of a share as one number where it is closed.
pub(crate) fn bracket(lower: f64, upper: f64) -> String {
    if upper == lower { share(upper) } else { format!("{} to {}", share(lower), share(upper)) }
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

/// The value of an objective: a share, or a sum.
pub(crate) fn value_of(objective: Objective, value: f64) -> String {
    match objective {
        Objective::Drfh
        | Objective::DrfPooled
        | Objective::TaskShareFairness
        | Objective::BottleneckMaxFairness
        | Objective::DrfPerServer => share(value),
        Objective::ProportionalFairness | Objective::AlphaFair(_) | Objective::Utilitarian => number(value),
    }
}

/// The same of an objective by its name; a name that is none has a plain number.
pub(crate) fn value_by_name(objective: &str, value: f64) -> String {
    objective.parse().map_or_else(|_| number(value), |objective| value_of(objective, value))
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
    let _ = writeln!(text, "Smallest weighted dominant share: {}", share(figures.value));
    let _ = writeln!(text, "Used: {}\n", used(instance, &figures.utilization));
    let rows = (0..instance.user_count()).take(ROWS).map(|i| {
        let user = instance.user(UserId(i));
        vec![
            user.id().to_owned(),
            label(&instance.resources()[user.dominant_resource().0]),
            share(figures.dominant_shares[i]),
            thousands(placement.tasks[i]),
        ]
    });
    let columns = [
        Column::id("user"),
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
    text += &paragraph(&answer::comparison(document));
    let divisible = share(document.bounds.divisible);
    let _ = writeln!(text, "Best smallest share if tasks could be divided at will: {divisible}");
    let integral = document.bounds.integral_upper.zip(document.bounds.integral_lower);
    if let Some((upper, lower)) = integral {
        let _ = writeln!(text, "Best smallest share of whole tasks: {}", bracket(lower, upper));
    }
    text.push('\n');
    let mut columns =
        vec![Column::id("policy"), Column::number("smallest share"), Column::number("below divisible")];
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
        let mut row = vec![policy.name.to_string(), share(policy.value), percent(policy.gap_to_divisible)];
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
    let _ = writeln!(text, "Best smallest share if tasks could be divided at will: {}", share(divisible));
    let so = "So the smallest share of whole tasks is 0. What follows is about the others.";
    text += &without_tasks(instance, &bracket.without_tasks, so);
    let (upper, lower) = (bounds.upper_of_others, bounds.lower_of_others);
    if bounds.proved_optimal {
        let _ = writeln!(
            text,
            "Best smallest share of whole tasks: {} (placed, and proved optimal)",
            share(lower)
        );
    } else {
        let (below, upper, lower) = (1.0 - lower / upper, share(upper), share(lower));
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
    let (users, ids) = (counted(users.len() as u64, "user", "users"), ids.join(", "));
    format!("No task fits any server, or there are none, of {users}: {ids}{more}\n{so}\n")
}

fn truncated(searches: u64) -> String {
    match searches {
        0 => String::new(),
        _ => format!("Searches cut short, which may loosen the bound: {searches}\n"),
    }
}

/// The summary of a verification of a result of this format.
pub fn verification(format: &str, verdicts: &[Verdict]) -> String {
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
    let fields: Vec<Cow<'_, str>> = unchecked(format).map(|unchecked| unchecked.field).collect();
    if !fields.is_empty() {
        let _ = writeln!(text, "Not checked: {}.", fields.join(", "));
    }
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
            text += &paragraph(&format!("Why numbers differ: {}", reason.why));
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
    names::cut(name, ID_LENGTH)
}
