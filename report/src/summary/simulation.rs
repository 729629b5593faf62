//! The summary of a simulation: a line for each policy, side by side.

use super::grid::{Column, grid, paragraph};
use super::{counted, duration, number, percent, shortened, thousands};
use crate::answer;
use crate::simulation::SimulationDocument;
use std::fmt::Write;

/// The summary of what policies did to the jobs of a trace.
pub fn simulation(document: &SimulationDocument<'_>) -> String {
    let name = &document.trace.name;
    let mut text = shortened(if name.is_empty() { "Unnamed trace" } else { name }, 60);
    let Some(first) = document.policies.first() else { return text };
    let _ = writeln!(
        text,
        ": {} in {} of {}, {} simulated",
        counted(first.tasks.submitted, "task", "tasks"),
        counted(first.jobs, "job", "jobs"),
        counted(first.users.iter().filter(|user| user.submitted > 0).count() as u64, "user", "users"),
        duration(document.policies.iter().map(|run| run.end - run.start).fold(0.0, f64::max)),
    );
    if document.partial {
        text += "STOPPED before the end: the numbers tell how things stood then\n";
    }
    let too_large = first.tasks.too_large;
    if too_large > 0 {
        let tasks = counted(too_large, "waiting task is", "waiting tasks are");
        let _ = writeln!(text, "{tasks} larger than every server");
    }
    text += &paragraph(&answer::simulation(document));
    text.push('\n');
    let mut columns = vec![Column::id("policy")];
    columns.extend(first.utilization.0.iter().map(|(name, _)| Column::number(format!("{name} used"))));
    columns.extend(
        ["tasks done", "waiting", "jobs done", "mean job time (s)", "median", "90%"].map(Column::number),
    );
    let shared = first.worse_by_sharing.is_some();
    if shared {
        columns.push(Column::number("users worse off than alone"));
    }
    let rows = document.policies.iter().map(|run| {
        let mut row = vec![run.policy.to_string()];
        row.extend(run.utilization.0.iter().map(|(_, part)| percent(*part)));
        row.push(percent(run.completion_ratio));
        row.push(thousands(run.tasks.waiting));
        row.push(thousands(run.jobs_completed));
        let times = run.completion_time.map(|times| [times.mean, times.median, times.p90]);
        row.extend((0..3).map(|k| times.map_or("-".into(), |times| number(times[k]))));
        if shared {
            row.push(run.worse_by_sharing.map_or(String::new(), thousands));
        }
        row
    });
    text += &grid(&columns, rows);
    text
}
