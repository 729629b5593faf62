//! What simulated clusters say: what each policy made of the same jobs.

use super::{Block, Cell, Grid, Section, words};
use crate::answer;
use crate::figure::Bars;
use crate::simulation::SimulationDocument;
use crate::units::percent;

/// A simulation as a section.
pub(super) fn simulation(document: SimulationDocument<'_>) -> Section {
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
    let mut header = words(["policy"]);
    header.extend(resources.iter().map(|name| format!("{name} used")));
    header.extend(words([
        "tasks submitted",
        "completed",
        "running",
        "waiting",
        "evicted",
        "jobs completed",
        "mean completion time (s)",
        "median (s)",
    ]));
    let rows = policies.iter().map(|run| {
        let mut row = vec![Cell::text(&*run.policy)];
        row.extend(resources.iter().map(|name| Cell::maybe(run.utilization.get(name), Cell::percent)));
        let tasks = run.tasks;
        row.extend(
            [tasks.submitted, tasks.completed, tasks.running, tasks.waiting, tasks.evicted].map(Cell::count),
        );
        row.push(Cell::count(run.jobs_completed));
        row.push(Cell::maybe(run.completion_time.map(|times| times.mean), Cell::number));
        row.push(Cell::maybe(run.completion_time.map(|times| times.median), Cell::number));
        row
    });
    let mut section = Section::new("Jobs of a trace on a cluster")
        .answer(answer::simulation(&document))
        .fact("Trace", document.trace.name.clone());
    if document.partial {
        section = section.fact("Partial", "stopped before its end: the numbers tell how things stood then");
    }
    section
        .block(chart("Used on average", &resources, &used))
        .block(chart("Tasks completed of those submitted", &[], &|p| vec![policies[p].completion_ratio]))
        .block(Block::Grid(Grid::new("Policies", header, rows)))
}
