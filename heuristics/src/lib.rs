//! Placement policies for whole tasks: progressive filling, one rule a file, all counted in exact integers.
//!
//! Every policy serves the user with the lowest weighted dominant share `G_i / w_i` (ties: the lowest index)
//! one task at a time; of users in groups the group with the lowest `S_g / w_g` comes first, then who has the lowest inside.
//! Who is below what it is guaranteed is served before all others; limits and reserves are kept (`quotas.rs`).
//! A user whose next task fits on no server leaves the round, and so does a user that has
//! no more tasks. The policies differ only in the server they choose among those with room.

mod asked;
mod asked_choice;
mod at_once;
mod best_fit;
mod blocks;
mod chooser;
mod devices;
mod dot_product;
mod emptying;
mod error;
mod filling;
mod first_fit;
mod first_with_room;
mod hadoop_slots;
mod journal;
mod packing;
mod policy;
mod process;
mod quotas;
mod random;
mod rule;
mod scoring;
mod shares;
mod slots;
mod states;
mod together;
mod told_apart;
mod tolerance;
mod tournament;
mod tree;
mod turns;
mod worst_fit;

pub use asked::{Asked, Cluster};
pub use best_fit::BestFit;
pub use chooser::Chooser;
pub use devices::place_along;
pub use dot_product::DotProduct;
pub use emptying::{Emptied, emptied};
pub use error::{PlacementError, ProcessFailure};
pub use first_fit::FirstFit;
pub use hadoop_slots::HadoopSlots;
pub use policy::{InOrder, PlacementPolicy, Turn};
pub use process::{ClusterNames, FailureNote, OutsidePolicy};
pub use random::Random;
pub use slots::Slots;
pub use worst_fit::WorstFit;

use devices::{ByScore, Fgd, GpuBestFit, GpuClustering, GpuDotProduct, GpuPacking};
use fairplan_instances::{Entry, Registry};

/// Makes a policy of the number in its name and a seed.
pub type MakePolicy = fn(Option<&str>, u64) -> Result<Box<dyn PlacementPolicy>, PlacementError>;

/// Every policy.
pub const POLICIES: Registry<MakePolicy> = Registry::new(
    "policy",
    &[
        Entry {
            name: "best-fit",
            line: "the server whose free resources are most like the task's demand (DRFH eq. 9)",
            make: |_, _| Ok(Box::new(BestFit)),
        },
        Entry { name: "first-fit", line: "the first server with room", make: |_, _| Ok(Box::new(FirstFit)) },
        Entry {
            name: "worst-fit",
            line: "the server with room for the most copies of the task",
            make: |_, _| Ok(Box::new(WorstFit)),
        },
        Entry {
            name: "dot-product",
            line: "the server whose free resources align most with the demand (Tetris)",
            make: |_, _| Ok(Box::new(DotProduct)),
        },
        Entry {
            name: "random",
            line: "any server with room, all equally likely",
            make: |_, seed| Ok(Box::new(Random { seed })),
        },
        Entry {
            name: "slots=N",
            line: "the first server with enough free slots, N of them the size of the largest server",
            make: |count, _| Ok(Box::new(Slots::named(count)?)),
        },
        Entry {
            name: "hadoop-slots=N",
            line: "one slot a task, the fewest tasks first, N slots in the largest server and none for what is larger",
            make: |count, _| Ok(Box::new(HadoopSlots::named(count)?)),
        },
    ],
);

/// Every policy that looks at the devices of one resource (`devices` of server classes), and places nothing without.
pub const DEVICE_POLICIES: Registry<MakePolicy> = Registry::new(
    "policy",
    &[
        Entry {
            name: "fgd",
            line: "where the task makes least GPU unusable for others (Fragmentation Gradient Descent, ATC'23)",
            make: |_, seed| Ok(Box::new(ByScore::<Fgd>::new(seed))),
        },
        Entry {
            name: "gpu-packing",
            line: "GPUs in use first, then servers in use",
            make: |_, seed| Ok(Box::new(ByScore::<GpuPacking>::new(seed))),
        },
        Entry {
            name: "gpu-clustering",
            line: "beside tasks that want as many GPUs",
            make: |_, seed| Ok(Box::new(ByScore::<GpuClustering>::new(seed))),
        },
        Entry {
            name: "gpu-best-fit",
            line: "the least CPU and GPU left, as in ATC'23",
            make: |_, seed| Ok(Box::new(ByScore::<GpuBestFit>::new(seed))),
        },
        Entry {
            name: "gpu-dot-product",
            line: "the least product of free and demand, as in ATC'23",
            make: |_, seed| Ok(Box::new(ByScore::<GpuDotProduct>::new(seed))),
        },
    ],
);

/// The policy of [`DEVICE_POLICIES`] called `name`. All draw on `seed`.
pub fn device_policy(name: &str, seed: u64) -> Result<Box<dyn PlacementPolicy>, PlacementError> {
    let (policy, number) = DEVICE_POLICIES.find(name)?;
    (policy.make)(number, seed)
}

/// The policy of [`POLICIES`] called `name`. Only `random` draws on `seed`.
///
/// ```
/// assert_eq!(fairplan_heuristics::policy("slots=14", 0).unwrap().name(), "slots=14");
/// ```
pub fn policy(name: &str, seed: u64) -> Result<Box<dyn PlacementPolicy>, PlacementError> {
    let (policy, number) = POLICIES.find(name)?;
    (policy.make)(number, seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_policy_is_found_under_its_name() {
        for entry in POLICIES.entries() {
            let name = entry.name.replace('N', "3");
            assert_eq!(policy(&name, 1).unwrap().name(), name);
            assert!(!entry.line.is_empty());
        }
        for name in DEVICE_POLICIES.names() {
            assert_eq!(device_policy(name, 1).unwrap().name(), name);
        }
    }

    #[test]
    fn unknown_policies_and_impossible_slots_say_what_would_do() {
        let message = |name| policy(name, 0).err().unwrap().to_string();
        assert_eq!(
            message("bestfit"),
            "unknown policy bestfit (did you mean best-fit?): use best-fit, first-fit, worst-fit, dot-product, random, \
             slots=N, hadoop-slots=N"
        );
        for name in ["slots", "slots=", "slots=0", "slots=-1", "slots=1.5", "slots=99999999999999999999"] {
            assert_eq!(
                message(name),
                format!(
                    "policy {name}: into how many slots is the largest server divided? Use slots=N, N from 1 to 4294967295"
                )
            );
        }
    }
}
