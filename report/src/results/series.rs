//! How a simulated cluster stands over time, for people: the lines that `simulate --series` writes.

use crate::figure::{Curve, Mark, Panel};
use crate::json::{MalformedResult, numbered_lines, read_json};
use crate::page::{Block, Section, figure, line, time};
use crate::table::{SampleLine, UserLine};
use crate::units::{counted, duration, thousands};

/// Users that have a curve of their own.
const USERS: usize = 7;

/// A series as a section; `None` of anything else.
///
/// # Errors
/// A line is none of a series.
pub(crate) fn section(file: &str, bytes: &[u8]) -> Result<Option<Section>, MalformedResult> {
    if numbered_lines(bytes)
        .next()
        .is_none_or(|(_, first)| serde_json::from_slice::<SampleLine>(first).is_err())
    {
        return Ok(None);
    }
    let mut samples: Vec<SampleLine> = Vec::new();
    for (number, line) in numbered_lines(bytes) {
        samples.push(read_json(&format!("{file}: line {number}"), line)?);
    }
    let mut runs: Vec<Run<'_>> = Vec::new();
    for sample in &samples {
        match runs.iter_mut().find(|run| run.policy == sample.policy) {
            Some(run) => run.samples.push(sample),
            None => runs.push(Run { policy: &sample.policy, samples: vec![sample] }),
        }
    }
    let policies: Vec<&str> = runs.iter().map(|run| run.policy).collect();
    let mut section = Section::new("How a simulated cluster stands over time")
        .answer(answer(&samples))
        .fact("Policies", policies.join(", "))
        .fact("Samples", thousands(samples.len() as u64));
    let panels = |title: &str, vertical: &str, curves: &dyn Fn(&Run<'_>) -> Vec<Curve>| {
        let panel = |run: &Run<'_>| Panel { title: run.policy.to_owned(), curves: curves(run) };
        Block::Curves(figure(title, "seconds", vertical, runs.iter().map(panel).collect()))
    };
    if let Some(ids) = few_users(&samples) {
        section = section.block(panels("Dominant shares", "dominant share", &|run| run.shares(&ids)));
    }
    let tasks = |run: &Run<'_>| {
        let running = run.line("running", |sample| Some(sample.running as f64));
        vec![running, run.line("waiting", |sample| Some(sample.waiting as f64))]
    };
    Ok(Some(
        section
            .block(panels("Capacity used", "part of the capacity", &|run| run.utilization()))
            .block(panels("Tasks", "tasks", &tasks)),
    ))
}

/// How long was simulated, and how full the cluster was.
fn answer(samples: &[SampleLine]) -> String {
    let first = samples.iter().map(|sample| sample.time).fold(f64::INFINITY, f64::min);
    let last = samples.iter().map(|sample| sample.time).fold(f64::NEG_INFINITY, f64::max);
    let waiting = samples.iter().max_by_key(|sample| sample.waiting);
    let most = waiting.map_or_else(String::new, |sample| {
        let tasks = counted(sample.waiting, "task waits", "tasks wait");
        format!(" At most {tasks}: under {}, {} on.", sample.policy, duration(sample.time))
    });
    format!("The cluster is shown over {}.{most}", duration(last - first))
}

/// The users, if there are few.
fn few_users(samples: &[SampleLine]) -> Option<Vec<&str>> {
    let mut ids: Vec<&str> = Vec::new();
    for user in samples.iter().flat_map(|sample| &sample.users) {
        if !ids.contains(&&*user.id) {
            ids.push(&user.id);
        }
        if ids.len() > USERS {
            return None;
        }
    }
    Some(ids)
}

/// The samples of one policy.
struct Run<'a> {
    policy: &'a str,
    samples: Vec<&'a SampleLine>,
}

impl Run<'_> {
    /// A number over time, where there is one.
    fn line(&self, name: &str, of: impl Fn(&SampleLine) -> Option<f64>) -> Curve {
        let points: Vec<(f64, f64)> =
            self.samples.iter().filter_map(|sample| Some((sample.time, of(sample)?))).collect();
        let (times, values): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        let [times, values] = [times, values].map(|all| time::thinned(&all, time::Keep::Mean));
        line(name, times.iter().zip(values).map(|(time, value)| [time[1], value[1]]).collect())
    }

    fn utilization(&self) -> Vec<Curve> {
        let resources = self.samples.first().map_or(&[][..], |sample| &sample.utilization.0);
        let used = |(name, _): &(String, f64)| self.line(name, |sample| sample.utilization.get(name));
        resources.iter().map(used).collect()
    }

    /// What users have; beside it, dashed, what they would have at the optimum, where that was computed.
    fn shares(&self, ids: &[&str]) -> Vec<Curve> {
        let of = |sample: &SampleLine, id: &str, share: fn(&UserLine) -> Option<f64>| {
            sample.users.iter().find(|user| user.id == id).and_then(share)
        };
        let has = |id: &&str| {
            self.line(id, |sample| Some(of(sample, id, |user| Some(user.dominant_share)).unwrap_or(0.0)))
        };
        let optimum = |id: &&str| Curve {
            kind: "optimum".into(),
            mark: Mark::Dashes,
            ..self.line(id, |sample| of(sample, id, |user| user.optimal_share))
        };
        let optima = ids.iter().map(optimum).filter(|curve| !curve.points.is_empty());
        ids.iter().map(has).chain(optima).collect()
    }
}
