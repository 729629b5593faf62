//! Allocations of a pool that is shared by so many transactions of each class (MRF Sec. 2), in microseconds: what a
//! Markov chain or a simulation asks for in every state.

mod bottleneck_max;
mod dominant;
mod proportional;

use bottleneck_max::BottleneckMax;
use dominant::Dominant;
use fairplan_instances::{Objective, SharingRule, SolverError, Traffic};
use proportional::Proportional;

/// The parts of each resource that a unit of work takes in a unit of time, by class; row-major.
#[derive(Clone, Debug)]
struct Parts {
    resources: usize,
    parts: Vec<f64>,
}

impl Parts {
    fn of(&self, class: usize) -> &[f64] {
        &self.parts[class * self.resources..(class + 1) * self.resources]
    }

    fn classes(&self) -> usize {
        self.parts.len() / self.resources
    }
}

/// The objectives that [`sharing_rule`] knows.
pub const SHARED: [Objective; 3] =
    [Objective::DrfPooled, Objective::ProportionalFairness, Objective::BottleneckMaxFairness];

/// How transactions of these classes share the pool under an objective.
///
/// # Errors
/// An objective that is not among [`SHARED`].
pub fn sharing_rule(
    traffic: &Traffic,
    objective: Objective,
) -> Result<Box<SharingRule<'static>>, SolverError> {
    let resources = traffic.resources().len();
    let classes = 0..traffic.classes().len();
    let parts = classes.flat_map(|k| (0..resources).map(move |r| traffic.part(k, r))).collect();
    let parts = Parts { resources, parts };
    Ok(match objective {
        Objective::DrfPooled => Box::new(move || Box::new(Dominant::new(parts.clone()))),
        Objective::ProportionalFairness => Box::new(move || Box::new(Proportional::new(parts.clone()))),
        Objective::BottleneckMaxFairness => Box::new(move || Box::new(BottleneckMax::new(parts.clone()))),
        other => {
            let known = SHARED.map(|objective| objective.to_string()).join(", ");
            return Err(SolverError::Unsupported(format!(
                "transactions do not share by {other}; use {known}"
            )));
        }
    })
}

/// An allocation whose conditions are missed by `missed`.
fn uncertified(objective: Objective, counts: &[u32], missed: f64) -> SolverError {
    let problem = format!("the allocation of {counts:?} transactions misses its conditions by {missed:.1e}");
    SolverError::Backend { backend: "sharing", problem: format!("{objective}: {problem}") }
}
