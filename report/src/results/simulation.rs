//! Jobs of a trace on a cluster, for people.

use super::sentences::all_of;
use crate::figure::Bars;
use crate::names::beginning;
use crate::page::{Block, Section};
use crate::simulation::{PolicyRun, SimulationDocument};
use crate::summary::grid::{grid, paragraph};
use crate::units::{counted, duration, percent};
use fairplan_instances::table::Tabular;
use std::fmt::Write;

/// A simulation.
pub(super) fn answer(document: &SimulationDocument) -> String {
    let runs = &document.policies;
    let by = |a: &&PolicyRun, b: &&PolicyRun| a.completion_ratio.total_cmp(&b.completion_ratio);
    let (Some(most), Some(least)) = (runs.iter().rev().max_by(by), runs.iter().min_by(by)) else {
        return "No policy was run.".into();
    };
    let done = |run: &PolicyRun| percent(run.completion_ratio);
    if runs.len() == 1 {
        let waiting = counted(most.tasks.waiting, "task waits", "tasks wait");
        return format!("{} completes {} of the tasks; {waiting} at the end.", most.policy, done(most));
    }
    if most.completion_ratio == least.completion_ratio {
        return format!("{} policies complete {} of the tasks.", all_of(runs.len(), runs.len()), done(most));
    }
    format!(
        "{} completes the most tasks, {}, and {} the fewest, {}.",
        most.policy,
        done(most),
        least.policy,
        done(least)
    )
}

/// The summary of what policies did to the jobs of a trace.
pub fn summary(document: &SimulationDocument) -> String {
    let name = &document.trace.name;
    let mut text = beginning(if name.is_empty() { "Unnamed trace" } else { name }, 60);
    let Some(first) = document.policies.first() else { return text };
    let _ = writeln!(
        text,
        ": {} in {} of {}, {} simulated",
        counted(first.tasks.submitted, "task", "tasks"),
        counted(first.jobs, "job", "jobs"),
        counted(first.users.iter().filter(|user| user.submitted > 0).count() as u64, "user", "users"),
        duration(document.policies.iter().map(|run| run.end - run.start).fold(0.0, f64::max)),
    );
    if let Some(start) = &document.starting_placement {
        let tasks = counted(start.tasks, "task that runs", "tasks that run");
        let until = start.remaining.map_or_else(
            || "to the end of the run".to_owned(),
            |seconds| format!("for {}", duration(seconds)),
        );
        let _ = writeln!(text, "It begins with {tasks} already, each {until}");
    }
    if let Some(tenants) = &document.tenants {
        let name = if tenants.name.is_empty() { "an unnamed instance" } else { &tenants.name };
        let _ = writeln!(text, "Users are in the groups of {}", beginning(name, 60));
    }
    if document.partial {
        text += "STOPPED before the end: the numbers tell how things stood then\n";
    }
    let too_large = first.tasks.too_large;
    if too_large > 0 {
        let tasks = counted(too_large, "waiting task has", "waiting tasks have");
        let _ = writeln!(text, "{tasks} no room on the servers, whatever else runs");
    }
    text += &paragraph(&answer(document));
    text.push('\n');
    let hidden = ["submitted", "completed", "running", "evicted"];
    let table = document.table().without(&hidden);
    text +=
        &grid(&if first.worse_by_sharing.is_some() { table } else { table.without(&["worse_by_sharing"]) });
    text
}

/// A simulation as a section.
pub(crate) fn section(document: SimulationDocument) -> Section {
    let policies = &document.policies;
    let resources: Vec<String> = policies
        .first()
        .map(|run| run.utilization.0.iter().map(|(name, _)| name.to_string()).collect())
        .unwrap_or_default();
    let chart = |caption: &str, series: &[String], values: &dyn Fn(usize) -> Vec<f64>| {
        Block::Bars(Bars {
            caption: caption.into(),
            series: series.to_vec(),
            groups: policies.iter().enumerate().map(|(p, run)| (run.policy.to_string(), values(p))).collect(),
            mark: Some((1.0, "all".into())),
            format: percent,
        })
    };
    let part = |p: usize, name: &str| policies[p].utilization.get(name);
    let used = |p: usize| resources.iter().map(|name| part(p, name).unwrap_or(0.0)).collect();
    let mut section = Section::new("Jobs of a trace on a cluster")
        .answer(answer(&document))
        .fact("Trace", document.trace.name.clone());
    if document.partial {
        section = section.fact("Partial", "stopped before its end: the numbers tell how things stood then");
    }
    section
        .block(chart("Used on average", &resources, &used))
        .block(chart("Tasks completed of those submitted", &[], &|p| vec![policies[p].completion_ratio]))
        .grid("Policies", &document.table().without(&["completion_ratio", "p90", "worse_by_sharing"]))
}
