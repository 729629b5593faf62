//! Stochastic demand (MRF Sec. 4): what transactions that come and go at random get from a pool that is shared by some
//! objective. Exactly, where a Markov chain allows it; by simulation, where it does not.
//!
//! How a pool is shared is asked of a [`SharingRule`](fairplan_instances::SharingRule), state by state.

mod arrivals;
mod cluster;
mod error;
mod flow_level;
mod markov;
mod memory;
mod packet_level;
mod ranks;
mod replications;
mod task_level;
mod tolerance;
mod variates;

pub use cluster::{
    ClusterRules, ClusterSettings, Present, PresentServer, PresentTasks, ServiceOrder, TaskEvent, Tenants,
    Watch, dedicated_clouds, simulate_cluster,
};
pub use error::SimulationError;
pub use flow_level::flow_level;
pub use markov::{MarkovSettings, markov};
pub use packet_level::{PacketSettings, packet_level};
pub use replications::SimulationSettings;
pub use task_level::{TaskLevelSettings, task_level};
