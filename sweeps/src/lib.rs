//! Many runs of one command: a specification becomes a list of tasks, each task a result under its own name, all results one
//! table.
//!
//! What is promised holds without any help of whoever runs the tasks: a task's id is the SHA-256 of its arguments, of what its
//! inputs contain and of the version; its result is there whole under that name or not at all ([`record`]); running a task twice makes the same result twice; a result that is there is not computed again.
//!
//! How a command is run is not known here: [`Commands`] is who knows it.

mod axes;
mod collect;
mod commands;
mod engines;
mod error;
mod headline;
mod indices;
mod inputs;
mod missing;
mod ordered;
mod pattern;
mod plan;
pub mod record;
mod results;
mod run;
mod said;
mod schema;
mod specification;
mod spool;
mod stage;
mod task;
mod tasks;
mod value;
mod words;

pub use collect::{CollectOptions, Collected, collect};
pub use commands::{Argument, Commands, Given, Outcome, PIPE, Role, Shape};
pub use engines::{KubernetesOptions, SlurmOptions, kubernetes_job, slurm_script};
pub use error::SweepError;
pub use indices::Indices;
pub use missing::{Chunks, Missing, missing};
pub use plan::{Plan, plan};
pub use results::results;
pub use run::{Ran, RunOptions, Standing, run};
pub use schema::FORMATS;
pub use specification::Specification;
pub use task::{Header, Task};
pub use tasks::TaskFile;
pub use value::Value;
