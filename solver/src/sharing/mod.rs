//! Allocations of a pool that is shared by so many transactions of each class (MRF Sec. 2), in microseconds: what a
//! Markov chain or a simulation asks for in every state.

mod bottleneck_max;
mod dominant;
mod parts;
mod proportional;

use bottleneck_max::BottleneckMax;
use dominant::Dominant;
use fairplan_instances::{InstanceError, Objective, SharingRule, Traffic};
use parts::Parts;
use proportional::Proportional;

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
) -> Result<Box<SharingRule<'static>>, InstanceError> {
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
            return Err(InstanceError::Unsupported(format!(
                "transactions do not share by {other}; use {known}"
            )));
        }
    })
}
